/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_cli.c - a whole command line. The input is one argument per line; after an empty line
 * follow the bytes of the file @x. Arguments @a (2, 1, 3, 4), @b (3, 4), @m (mask), @l (a list
 * of 2), @x name tiny files. Only commands that end soon and use no network are run. Arguments with
 * a '/' are not run either, so nothing outside the target's own folder is written. */
#include "fuzz.h"

#include "shared/cli.h"
#include "shared/npy.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_WORDS = 40, MAX_SIZE = 4096 };

static char folder[] = P_tmpdir "/attn-fuzz-XXXXXX";

static void write_array(const char *path, char kind, int item_size, int rank,
                        const int64_t *shape) {
    char elements[400];
    npy_array a = {.kind = kind, .item_size = item_size, .rank = rank, .count = 1};
    for (int r = 0; r < rank; r++) {
        a.shape[r] = shape[r];
        a.count *= (size_t)shape[r];
    }
    memset(elements, kind == 'f' ? 0x3f : 0, sizeof elements); /* 0.747..., or 0 */
    for (size_t i = 0; i < a.count; i += 2) elements[i * (size_t)item_size] = 1;
    a.data = elements;
    FILE *stream = fopen(path, "wb");
    if (!stream || !npy_write(stream, &a) || fclose(stream) != 0) abort();
}

static void empty_folder(void) {
    DIR *here = opendir(".");
    for (struct dirent *entry; here && (entry = readdir(here));) unlink(entry->d_name);
    if (here) closedir(here);
}

static void leave(void) {
    empty_folder();
    static const char *const names[] = {"in/a.npy", "in/b.npy", "in/m.npy", "in/l.npy", "in/x.npy"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) unlink(names[i]);
    rmdir("in");
    if (chdir("/") == 0) rmdir(folder);
}

/* A folder with the tiny files; what the command says goes nowhere, but the descriptor of standard
 * error stays for the sanitizers. */
static void begin(void) {
    if (!mkdtemp(folder) || chdir(folder) != 0 || mkdir("in", 0700) != 0) abort();
    atexit(leave);
    write_array("in/a.npy", 'f', 4, 4, (const int64_t[]){2, 1, 3, 4});
    write_array("in/b.npy", 'f', 8, 2, (const int64_t[]){3, 4});
    write_array("in/m.npy", 'b', 1, 2, (const int64_t[]){3, 3});
    write_array("in/l.npy", 'i', 8, 1, (const int64_t[]){2});
    if (!freopen("/dev/null", "rb", stdin)) abort();
    stdout = fopen("/dev/null", "wb");
    stderr = fopen("/dev/null", "wb");
    if (!stdout || !stderr) abort();
}

/* Numbers of 4 to 18 digits, or with a suffix or an exponent (9k, 1e9), ask for sizes that are legal
 * but take too long here, as do many threads. */
static bool is_expensive(const char *text) {
    const bool threads = strstr(text, "threads") != NULL;
    for (size_t run = 0; *text; text++) {
        run = isdigit((unsigned char)*text) ? run + 1 : 0;
        if (run > 1 && threads) return true;
        if (run > 0 && text[1] && strchr("kKMGeE", text[1])) return true;
        if (run >= 4 && run <= 18 && !isdigit((unsigned char)text[1])) return true;
    }
    return false;
}

/* Where the first empty line begins, or size. */
static size_t find_empty_line(const char *text, size_t size) {
    size_t at = 0;
    while (at < size && !(text[at] == '\n' && at + 1 < size && text[at + 1] == '\n')) at++;
    return at;
}

/* Splits text at newlines into argv[1..] and gives the files their names. */
static int split(char *text, char **argv) {
    int argc = 1;
    for (char *next = text; next && argc < MAX_WORDS;) {
        char *word = next, *end = strchr(word, '\n');
        next = end ? end + 1 : NULL;
        if (end) *end = 0;
        argv[argc++] = word;
    }
    argv[argc] = NULL;
    static char names[5][12] = {"in/a.npy", "in/b.npy", "in/m.npy", "in/l.npy", "in/x.npy"};
    for (int i = 1; i < argc; i++)
        for (int n = 0; n < 5; n++)
            if (argv[i][0] == '@' && argv[i][1] == names[n][3] && !argv[i][2]) argv[i] = names[n];
    return argc;
}

/* The others measure, train or prove for minutes, write reports or open a port. Words that are no
 * command at all are run: they must be refused. */
static bool may_run(int argc, char **argv) {
    static const char *const quick[] = {"run",   "cost", "trace", "attend",
                                        "learn", "help", "info",  "completion"};
    const char *command = argc > 1 ? argv[1] : "help";
    for (size_t i = 0; i < sizeof quick / sizeof *quick; i++)
        if (strcmp(command, quick[i]) == 0) return true;
    for (size_t i = 0; i < cli_n_commands; i++)
        if (strcmp(command, cli_commands[i].name) == 0) return false;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static bool begun;
    char text[MAX_SIZE + 1], name[] = "attn", *argv[MAX_WORDS + 1] = {name};
    if (!begun) begin();
    begun = true;
    if (size > MAX_SIZE) return 0;
    memcpy(text, data, size);
    text[size] = 0;
    const size_t used = find_empty_line(text, size);
    text[used] = 0;
    if (strlen(text) != used || strchr(text, '/') || is_expensive(text)) return 0;
    unlink("in/x.npy");
    if (used < size) {
        FILE *stream = fopen("in/x.npy", "wb");
        if (!stream) return 0;
        fwrite(data + used + 2, 1, size - used - 2, stream);
        fclose(stream);
    }
    const int argc = split(text, argv);
    if (!may_run(argc, argv)) return 0;
    const int code = cli_main(argc, argv);
    if (code < CLI_OK || code > CLI_FILE) abort();
    empty_folder();
    return 0;
}
