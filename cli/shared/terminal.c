/* SPDX-License-Identifier: Apache-2.0 */
/* terminal.c - see terminal.h: what both systems share, then one section for each. */
#include "shared/terminal.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

typedef void handler(int signal_number);

#if defined(_WIN32)
/* ------------------------------------------------------------------------------------- Windows */
#define WIN32_LEAN_AND_MEAN
#include <conio.h>
#include <fcntl.h>
#include <io.h>
#include <windows.h>

static const int ending_signals[] = {SIGINT, SIGTERM};
static const char path_separator[] = ";", less[] = "less.exe";

/* Whether the stream is a console, with its modes. */
static bool console_of(FILE *stream, HANDLE *console, DWORD *modes) {
    *console = (HANDLE)_get_osfhandle(_fileno(stream));
    return GetConsoleMode(*console, modes) != 0;
}

void terminal_begin(void) {
    enum { BUFFER = 1 << 16 };
    FILE *const out[] = {stdout, stderr};
    HANDLE console;
    DWORD modes;
    for (int fd = 0; fd < 3; fd++) _setmode(fd, _O_BINARY);
    for (int i = 0; i < 2; i++) {
        if (!console_of(out[i], &console, &modes)) continue;
        SetConsoleOutputCP(CP_UTF8);
        SetConsoleMode(console, modes | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
        setvbuf(out[i], NULL, _IOFBF, BUFFER); /* a console does not join the bytes of a letter */
    }
}

bool terminal_is(FILE *stream) {
    HANDLE console;
    DWORD modes;
    return console_of(stream, &console, &modes);
}

int terminal_columns(FILE *stream) {
    CONSOLE_SCREEN_BUFFER_INFO info;
    const HANDLE console = (HANDLE)_get_osfhandle(_fileno(stream));
    if (!GetConsoleScreenBufferInfo(console, &info)) return 0;
    return info.srWindow.Right - info.srWindow.Left + 1;
}

bool terminal_keys_begin(void) { return true; }
int terminal_key(void) { return _getch(); }
void terminal_keys_end(void) {}

static bool is_program(const char *path) { return _access(path, 4) == 0; }

static handler *interrupt_before;

FILE *terminal_pager_begin(const char *pager) {
    if (!getenv("LESS")) _putenv_s("LESS", "FRX");
    FILE *pipe = _popen(pager, "wb");
    if (pipe) interrupt_before = signal(SIGINT, SIG_IGN);
    return pipe;
}

void terminal_pager_end(FILE *pipe) {
    _pclose(pipe);
    signal(SIGINT, interrupt_before);
}

static HANDLE told_to_end;

static BOOL WINAPI note_end(DWORD why) {
    (void)why;
    return SetEvent(told_to_end);
}

void terminal_hold_end(void) {
    told_to_end = CreateEventA(NULL, TRUE, FALSE, NULL);
    SetConsoleCtrlHandler(note_end, TRUE);
}

void terminal_wait_for_end(void) { WaitForSingleObject(told_to_end, INFINITE); }

void terminal_release_end(void) {
    SetConsoleCtrlHandler(note_end, FALSE);
    CloseHandle(told_to_end);
}

#else
/* --------------------------------------------------------------------------------------- POSIX */
#include <pthread.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
static const char path_separator[] = ":", less[] = "less";

void terminal_begin(void) {}

bool terminal_is(FILE *stream) { return isatty(fileno(stream)); }

int terminal_columns(FILE *stream) {
    struct winsize size;
    return ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

static struct termios modes_before;

/* Ctrl-C arrives as a key, so that the modes can be put back. */
bool terminal_keys_begin(void) {
    if (tcgetattr(STDIN_FILENO, &modes_before) != 0) return false;
    struct termios keys = modes_before;
    keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG);
    keys.c_cc[VMIN] = 1;
    keys.c_cc[VTIME] = 0;
    return tcsetattr(STDIN_FILENO, TCSANOW, &keys) == 0;
}

int terminal_key(void) {
    unsigned char key;
    ssize_t n;
    do n = read(STDIN_FILENO, &key, 1);
    while (n < 0 && errno == EINTR);
    return n == 1 ? key : TERMINAL_END;
}

void terminal_keys_end(void) { tcsetattr(STDIN_FILENO, TCSANOW, &modes_before); }

static bool is_program(const char *path) { return access(path, X_OK) == 0; }

static handler *interrupt_before, *pipe_before;

FILE *terminal_pager_begin(const char *pager) {
    setenv("LESS", "FRX", 0); /* looks pass through; a short page ends it */
    FILE *pipe = popen(pager, "w");
    if (!pipe) return NULL;
    pipe_before = signal(SIGPIPE, SIG_IGN);
    interrupt_before = signal(SIGINT, SIG_IGN);
    return pipe;
}

void terminal_pager_end(FILE *pipe) {
    pclose(pipe);
    signal(SIGPIPE, pipe_before);
    signal(SIGINT, interrupt_before);
}

static sigset_t held, mask_before;

void terminal_hold_end(void) {
    sigemptyset(&held);
    for (size_t i = 0; i < sizeof ending_signals / sizeof *ending_signals; i++) {
        struct sigaction now;
        const int number = ending_signals[i];
        if (number != SIGPIPE && sigaction(number, NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaddset(&held, number);
    }
    pthread_sigmask(SIG_BLOCK, &held, &mask_before);
}

void terminal_wait_for_end(void) {
    int number;
    sigwait(&held, &number);
}

void terminal_release_end(void) { pthread_sigmask(SIG_SETMASK, &mask_before, NULL); }
#endif

/* ---------------------------------------------------------------------------------------- both */

void terminal_on_end(void (*stop)(int signal_number)) {
    for (size_t i = 0; i < sizeof ending_signals / sizeof *ending_signals; i++)
        if (signal(ending_signals[i], stop) == SIG_IGN) signal(ending_signals[i], SIG_IGN);
}

static bool is_installed(const char *name) {
    char path[4096];
    const char *folder = getenv("PATH");
    while (folder && *folder) {
        const int n = (int)strcspn(folder, path_separator);
        snprintf(path, sizeof path, "%.*s/%s", n, folder, name);
        if (is_program(path)) return true;
        folder += n + (folder[n] != 0);
    }
    return false;
}

const char *terminal_pager(void) {
    const char *pager = getenv("PAGER");
    if (!terminal_is(stdout) || !terminal_is(stdin)) return NULL;
    if (pager) return *pager ? pager : NULL;
    return is_installed(less) ? less : NULL;
}
