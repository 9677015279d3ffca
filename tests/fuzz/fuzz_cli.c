/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_cli.c - a whole command line. The input is one argument per line; after an empty line
 * follow the bytes of the file @x. Arguments @a (2, 1, 3, 4), @b (3, 4), @m (mask), @l (a list
 * of 2), @x name tiny files. Arguments with a '/' are not run, so nothing outside the target's
 * own folder is touched. */
#include "fuzz.h"

#include "shared/cli.h"
#include "shared/npy.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define QKV "run\n--q\n@a\n--k\n@a\n--v\n@a\n"
#define ONE "run\n--q\n@b\n--k\n@b\n--v\n@b\n"

const fuzz_seed fuzz_seeds[] = {
    FUZZ_SEED("run\n--demo\n--causal\n--json"),
    FUZZ_SEED(QKV "-o\no.npy\n--lse\nl.npy\n--causal\n--offset\n1,-2\n--reference"),
    FUZZ_SEED(QKV "--window\n1,0\n--mask\n@m\n--alibi\n--dtype\nf16\n--weights\nw"),
    FUZZ_SEED(ONE "--pattern\nlongformer:1,1&causal+prefix:2\n--explain\n--topk\n2:t.npy"),
    FUZZ_SEED(ONE "--pattern\n(strided:2+!random:1,1,7)&bigbird:1,1,1,0\n--json"),
    FUZZ_SEED(ONE "--scores\nraw:r\n--scores\nbiased:b\n--softcap\n2\n--temperature\n.5"),
    FUZZ_SEED(ONE "--lengths\n2\n--lengths-q\n3\n--entropy\ne\n--received\nv\n--dropout\n.5"),
    FUZZ_SEED(ONE "--cu-q\n0,1,3\n--causal\n--scale\n-1e3\n--seed\n99\n--dtype\nbf16"),
    FUZZ_SEED(QKV "--lengths\n@l\n--layout\nbshd\n--progress\nalways\n--threads\n2"),
    FUZZ_SEED("run\n--q\n@x\n--k\n@x\n--v\n@x\n--bias\n@x\n--isa\nscalar\n\n"
              "\x93NUMPY\x01\x00\x3c\x00"
              "{'descr': '<f2', 'fortran_order': False, 'shape': (2, 2), }\nabcdefgh"),
    FUZZ_SEED(QKV "--dout\n@a\n--dq\nq\n--dk\nk\n--dv\nv\n--dscale\n--causal\n--json"),
    FUZZ_SEED(ONE "--dout\n@b\n--bias\n@b\n--dbias\nb\n--dv\nv\n--dtype\nbf16"),
    FUZZ_SEED("cost\n--n\n64\n--nk\n99\n--heads\n8\n--kv-heads\n2\n--window\n3,-1"),
    FUZZ_SEED("cost\n--n\n50\n--pattern\nglobal:3&window:4,4\n--dtype\nf16\n--json"),
    FUZZ_SEED("trace\nthe cat, the dog.\n--causal\n--heads\n2\n--d-model\n6\n--json"),
    FUZZ_SEED("trace\n--x\n@b\n--pick\n1,2\n--temperature\n.1\n--color\nalways"),
    FUZZ_SEED("trace\n--example\n003\n--markdown\n--step\nweights"),
    FUZZ_SEED("help\nrun"),
    FUZZ_SEED("info\n--color\nalways"),
};
const size_t fuzz_n_seeds = sizeof fuzz_seeds / sizeof *fuzz_seeds;

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

/* Numbers of 4 to 18 digits ask for sizes that are legal but take too long here, as do many
 * threads. */
static bool is_expensive(const char *text) {
    const bool threads = strstr(text, "threads") != NULL;
    for (size_t run = 0; *text; text++) {
        run = isdigit((unsigned char)*text) ? run + 1 : 0;
        if (run > 1 && threads) return true;
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

static bool may_run(int argc, char **argv) {
    const char *command = argc > 1 ? argv[1] : "";
    return strcmp(command, "bench") != 0 && strcmp(command, "selftest") != 0 &&
           strcmp(command, "gradcheck") != 0 && strcmp(command, "explore") != 0;
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
