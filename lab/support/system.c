/* SPDX-License-Identifier: Apache-2.0 */
/* system.c - see system.h: what both systems share, then one section for each. */
#if !defined(_WIN32) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* O_DIRECTORY, fdopendir, realpath in every libc */
#endif
#include "support/system.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

system_kind system_kind_of(const char *path) {
    struct stat info;
    if (stat(path, &info) != 0) return SYSTEM_NOTHING;
    return S_ISDIR(info.st_mode)   ? SYSTEM_FOLDER
           : S_ISREG(info.st_mode) ? SYSTEM_FILE
                                   : SYSTEM_OTHER;
}

bool system_bytes_left(FILE *stream, size_t *left) {
    struct stat info;
    const off_t at = ftello(stream);
    if (at < 0 || fstat(fileno(stream), &info) != 0 || !S_ISREG(info.st_mode)) return false;
    *left = info.st_size > at ? (size_t)(info.st_size - at) : 0;
    return true;
}

/* Cuts off the last component of a path. */
static void cut_name(char *path, const char *separators) {
    char *last = NULL;
    for (char *at = path; *at; at++)
        if (strchr(separators, *at)) last = at;
    if (last) *last = 0;
}

#if defined(_WIN32)
#define seek_to _fseeki64
#define tell_at _ftelli64
#else
#define seek_to fseeko
#define tell_at ftello
#endif

bool system_size(FILE *stream, uint64_t *size) {
    if (seek_to(stream, 0, SEEK_END) != 0) return false;
    const int64_t end = tell_at(stream);
    *size = (uint64_t)end;
    return end >= 0;
}

bool system_seek(FILE *stream, uint64_t at) {
    return at <= INT64_MAX && seek_to(stream, (int64_t)at, SEEK_SET) == 0;
}

#if defined(_WIN32)
/* ------------------------------------------------------------------------------------- Windows */
#define WIN32_LEAN_AND_MEAN
#include <direct.h>
#include <dirent.h>
#include <fcntl.h>
#include <io.h>
#include <windows.h>

#include <shellapi.h>

double system_clock(void) {
    LARGE_INTEGER now, per_second;
    QueryPerformanceCounter(&now);
    QueryPerformanceFrequency(&per_second);
    return (double)now.QuadPart / (double)per_second.QuadPart;
}

double system_thread_clock(void) { return system_clock(); }

double system_memory(void) {
    MEMORYSTATUSEX status = {.dwLength = sizeof status};
    return GlobalMemoryStatusEx(&status) ? (double)status.ullTotalPhys : 0x1p53;
}

char *system_true_path(const char *path) { return _fullpath(NULL, path, 0); }

FILE *system_open_temp(char *temp, const char *path) {
    static volatile LONG counter;
    (void)path; /* permissions come from the directory */
    for (int tries = 0; tries < 1000; tries++) {
        const unsigned number =
            (unsigned)GetCurrentProcessId() * 31 + (unsigned)InterlockedIncrement(&counter);
        snprintf(temp + strlen(temp) - 6, 7, "%06x", number & 0xffffff);
        const int descriptor =
            _open(temp, _O_WRONLY | _O_CREAT | _O_EXCL | _O_BINARY, _S_IREAD | _S_IWRITE);
        if (descriptor >= 0) return _fdopen(descriptor, "wb");
        if (errno != EEXIST) break;
    }
    return NULL;
}

bool system_replace(const char *from, const char *to) {
    if (MoveFileExA(from, to, MOVEFILE_REPLACE_EXISTING)) return true;
    errno = EACCES;
    return false;
}

void system_remove(const char *path) { DeleteFileA(path); }
void system_remove_folder(const char *path) { RemoveDirectoryA(path); }

bool system_make_folder(const char *path) {
    return _mkdir(path) == 0 || (errno == EEXIST && system_kind_of(path) == SYSTEM_FOLDER);
}

/* A file that is kept in the cache and deleted when it is closed. */
bool system_text_begin(system_text *text) {
    char folder[MAX_PATH], path[MAX_PATH];
    *text = (system_text){NULL, NULL, 0};
    if (GetTempPathA(sizeof folder, folder) && GetTempFileNameA(folder, "attn", 0, path))
        text->stream = fopen(path, "w+bTD");
    return text->stream != NULL;
}

char *system_text_end(system_text *text) {
    const long size = ftell(text->stream);
    text->text = size >= 0 ? calloc((size_t)size + 1, 1) : NULL;
    rewind(text->stream);
    if (text->text) text->size = fread(text->text, 1, (size_t)size, text->stream);
    fclose(text->stream);
    return text->text;
}

struct system_folder {
    DIR *list;
    char *path;
};

/* Takes path. */
static system_folder *open_folder(char *path) {
    system_folder *folder = malloc(sizeof *folder);
    DIR *list = folder && path ? opendir(path) : NULL;
    if (!list) {
        free(folder);
        free(path);
        return NULL;
    }
    *folder = (system_folder){list, path};
    return folder;
}

system_folder *system_folder_open(const char *path) { return open_folder(_strdup(path)); }

const char *system_folder_next(system_folder *folder) {
    const struct dirent *entry = readdir(folder->list);
    return entry ? entry->d_name : NULL;
}

system_entry system_folder_entry(system_folder *folder, const char *name) {
    system_entry entry = {SYSTEM_NOTHING, NULL, 0, NULL};
    const size_t size = strlen(folder->path) + strlen(name) + 2;
    char *path = malloc(size);
    if (!path) return entry;
    snprintf(path, size, "%s/%s", folder->path, name);
    const DWORD is = GetFileAttributesA(path);
    errno = ENOENT;
    if (is != INVALID_FILE_ATTRIBUTES && (is & FILE_ATTRIBUTE_REPARSE_POINT)) {
        entry.kind = SYSTEM_OTHER;
    } else if (is != INVALID_FILE_ATTRIBUTES && (is & FILE_ATTRIBUTE_DIRECTORY)) {
        entry.folder = system_folder_open(path);
        if (entry.folder) entry.kind = SYSTEM_FOLDER;
    } else if (is != INVALID_FILE_ATTRIBUTES) {
        entry.file = fopen(path, "rb");
        if (entry.file && system_bytes_left(entry.file, &entry.size)) entry.kind = SYSTEM_FILE;
    }
    free(path);
    return entry;
}

void system_folder_close(system_folder *folder) {
    if (!folder) return;
    closedir(folder->list);
    free(folder->path);
    free(folder);
}

char *system_program_folder(void) {
    char path[MAX_PATH];
    const DWORD length = GetModuleFileNameA(NULL, path, sizeof path);
    if (length == 0 || length == sizeof path) return NULL;
    cut_name(path, "/\\");
    return _strdup(path);
}

void *system_library_open(const char *name) { return (void *)LoadLibraryA(name); }

system_function *system_library_function(void *library, const char *name) {
    return (system_function *)GetProcAddress((HMODULE)library, name);
}

const char *const system_openblas_names[] = {"libopenblas.dll", "openblas.dll", NULL};

int system_open_url(const char *url) {
    const intptr_t code = (intptr_t)ShellExecuteA(NULL, "open", url, NULL, NULL, SW_SHOWNORMAL);
    return code > 32 ? 0 : ENOENT; /* as its manual says */
}

#else
/* --------------------------------------------------------------------------------------- POSIX */
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

static double seconds_of(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double system_clock(void) { return seconds_of(CLOCK_MONOTONIC); }
double system_thread_clock(void) { return seconds_of(CLOCK_THREAD_CPUTIME_ID); }

double system_memory(void) {
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (double)pages * (double)size : 0x1p53;
}

char *system_true_path(const char *path) { return realpath(path, NULL); }

/* The permissions of the file to be replaced, or those of any new file. */
static mode_t wanted_mode(const char *path) {
    struct stat info;
    if (stat(path, &info) == 0) return info.st_mode & 0777;
    const mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

FILE *system_open_temp(char *temp, const char *path) {
    FILE *stream = NULL;
    const int descriptor = mkstemp(temp);
    if (descriptor < 0) return NULL;
    if (fchmod(descriptor, wanted_mode(path)) == 0) stream = fdopen(descriptor, "wb");
    if (!stream) {
        close(descriptor);
        unlink(temp);
    }
    return stream;
}

bool system_replace(const char *from, const char *to) { return rename(from, to) == 0; }

void system_remove(const char *path) { unlink(path); }
void system_remove_folder(const char *path) { rmdir(path); }

bool system_make_folder(const char *path) {
    return mkdir(path, 0777) == 0 || (errno == EEXIST && system_kind_of(path) == SYSTEM_FOLDER);
}

bool system_text_begin(system_text *text) {
    *text = (system_text){NULL, NULL, 0};
    text->stream = open_memstream(&text->text, &text->size);
    return text->stream != NULL;
}

char *system_text_end(system_text *text) {
    fclose(text->stream);
    return text->text;
}

/* A directory is its stream of names; the descriptor of the stream opens its entries. */
system_folder *system_folder_open(const char *path) { return (system_folder *)opendir(path); }

const char *system_folder_next(system_folder *folder) {
    const struct dirent *entry = readdir((DIR *)folder);
    return entry ? entry->d_name : NULL;
}

system_entry system_folder_entry(system_folder *folder, const char *name) {
    system_entry entry = {SYSTEM_NOTHING, NULL, 0, NULL};
    struct stat info;
    const int fd = openat(dirfd((DIR *)folder), name,
                          O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) {
        if (errno == ELOOP) entry.kind = SYSTEM_OTHER; /* a link */
        return entry;
    }
    if (fstat(fd, &info) != 0) {
        close(fd);
        return entry;
    }
    if (S_ISDIR(info.st_mode)) {
        entry.folder = (system_folder *)fdopendir(fd);
        if (entry.folder) entry.kind = SYSTEM_FOLDER;
    } else if (S_ISREG(info.st_mode)) {
        entry.file = fdopen(fd, "rb");
        entry.size = (size_t)info.st_size;
        if (entry.file) entry.kind = SYSTEM_FILE;
    } else {
        entry.kind = SYSTEM_OTHER;
    }
    if (!entry.folder && !entry.file) close(fd);
    return entry;
}

void system_folder_close(system_folder *folder) {
    if (folder) closedir((DIR *)folder);
}

char *system_program_folder(void) {
    char *path = realpath("/proc/self/exe", NULL);
    if (path) cut_name(path, "/");
    return path;
}

void *system_library_open(const char *name) { return dlopen(name, RTLD_NOW); }

/* dlsym() returns an object pointer where a function is meant; POSIX guarantees that the bits are
 * the same. */
system_function *system_library_function(void *library, const char *name) {
    system_function *function = NULL;
    void *symbol = dlsym(library, name);
    memcpy(&function, &symbol, sizeof function);
    return function;
}

const char *const system_openblas_names[] = {"libopenblas.so.0", "libopenblas.so", NULL};

/* Discards what the browser prints. */
int system_open_url(const char *url) {
    char program[] = "xdg-open", address[256];
    char *const argv[] = {program, address, NULL};
    sigset_t none;
    posix_spawn_file_actions_t quiet;
    posix_spawnattr_t attributes;
    pid_t child;
    extern char **environ;
    snprintf(address, sizeof address, "%s", url);
    sigemptyset(&none);
    posix_spawn_file_actions_init(&quiet);
    for (int fd = 0; fd < 3; fd++)
        posix_spawn_file_actions_addopen(&quiet, fd, "/dev/null", O_RDWR, 0);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&attributes, &none); /* ours may be blocked */
    const int failed = posix_spawnp(&child, program, &quiet, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&quiet);
    return failed;
}
#endif
