/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_driver.c - runs a fuzz target without libFuzzer: every file of a corpus, then these files
 * changed at random for a number of seconds, the same changes every time.
 *     target CORPUS [SECONDS]      4 seconds if not given
 *     target --run FILE...         these inputs only: to see a crash again */
#include "fuzz.h"

#include "random.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ROOM = 8192, MOST_SEEDS = 1000 };

typedef struct seed {
    uint8_t *bytes;
    size_t size;
} seed;

static seed seeds[MOST_SEEDS];
static size_t n_seeds;

static uint8_t input[ROOM];
static size_t input_size;

/* When a sanitizer ends the program, the input that did it is kept where the program began. */
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static char crash_path[PATH_MAX];

static void keep_input(void) {
    FILE *file = fopen(crash_path, "wb");
    if (!file) return;
    fwrite(input, 1, input_size, file);
    fclose(file);
}

static random_stream numbers;

static size_t draw(size_t below) { return (size_t)random_below(&numbers, (int64_t)below); }

static void take_seed(size_t which) {
    input_size = seeds[which].size;
    memcpy(input, seeds[which].bytes, input_size);
}

/* Puts n bytes in at `at`; drops what does not fit. */
static void insert(size_t at, const void *bytes, size_t n) {
    if (n > ROOM - at) n = ROOM - at;
    const size_t rest = input_size - at < ROOM - at - n ? input_size - at : ROOM - at - n;
    memmove(input + at + n, input + at, rest);
    memcpy(input + at, bytes, n);
    input_size = at + n + rest;
}

static void delete(size_t at, size_t n) {
    if (n > input_size - at) n = input_size - at;
    memmove(input + at, input + at + n, input_size - at - n);
    input_size -= n;
}

static void change(void) {
    static const char *const words[] = {"0",
                                        "-1",
                                        "9223372036854775807",
                                        "99999999999999999999",
                                        "1",
                                        "-",
                                        "\n",
                                        ",",
                                        "(",
                                        "'",
                                        "\xff\xff\xff\xff",
                                        "1e308"};
    uint8_t piece[64];
    const size_t at = draw(input_size + 1), other = draw(input_size + 1);
    size_t n = draw(sizeof piece);
    switch (draw(7)) {
    case 0:
        if (at < input_size) input[at] ^= (uint8_t)(1u << draw(8));
        break;
    case 1:
        if (at < input_size) input[at] = (uint8_t)draw(256);
        break;
    case 2: delete (at, 1 + draw(8)); break;
    case 3: { /* a number or a sign that parsers dislike */
        const char *word = words[draw(sizeof words / sizeof *words)];
        insert(at, word, strlen(word));
        break;
    }
    case 4: /* a piece of itself */
        if (n > input_size - other) n = input_size - other;
        memcpy(piece, input + other, n);
        insert(at, piece, n);
        break;
    case 5: { /* a piece of another seed */
        const seed *other_seed = &seeds[draw(n_seeds)];
        const size_t from = draw(other_seed->size + 1);
        if (n > other_seed->size - from) n = other_seed->size - from;
        insert(at, other_seed->bytes + from, n);
        break;
    }
    default: delete (at, 1); insert(at, &(uint8_t){(uint8_t)('0' + draw(10))}, 1);
    }
}

static void run_input(void) {
    uint8_t *exact = malloc(input_size ? input_size : 1);
    if (!exact) return;
    memcpy(exact, input, input_size);
    LLVMFuzzerTestOneInput(exact, input_size);
    free(exact);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Reads a file into the input; false if it cannot be read. */
static bool load(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) return false;
    input_size = fread(input, 1, ROOM, file);
    return fclose(file) == 0;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Reads the files of a folder, in the order of their names: the changes depend on it. */
static bool load_corpus(const char *folder) {
    char *names[MOST_SEEDS], path[PATH_MAX];
    size_t n = 0;
    DIR *here = opendir(folder);
    for (struct dirent *entry; here && n < MOST_SEEDS && (entry = readdir(here));)
        if (entry->d_name[0] != '.') names[n++] = strdup(entry->d_name);
    if (here) closedir(here);
    qsort(names, n, sizeof *names, by_name);
    for (size_t i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        free(names[i]);
        if (!load(path)) continue;
        seeds[n_seeds] = (seed){malloc(input_size + 1), input_size};
        if (!seeds[n_seeds].bytes) abort();
        memcpy(seeds[n_seeds++].bytes, input, input_size);
    }
    return n_seeds > 0;
}

static int run_files(int n, char **paths) {
    for (int i = 0; i < n; i++) {
        if (!load(paths[i])) return 1;
        run_input();
    }
    return 0;
}

static long fuzz(double seconds) {
    const double end = now() + seconds;
    long done = 0;
    for (size_t i = 0; i < n_seeds; i++) {
        take_seed(i);
        run_input();
    }
    for (; now() < end; done++) {
        take_seed(draw(n_seeds));
        for (size_t n = 1 + draw(4); n > 0; n--) change();
        run_input();
    }
    return done;
}

int main(int argc, char **argv) {
    FILE *out = stdout; /* a target may send standard output elsewhere */
    if (!getcwd(crash_path, sizeof crash_path - sizeof "/fuzz-crash")) return 1;
    strcat(crash_path, "/fuzz-crash");
    if (__sanitizer_set_death_callback) __sanitizer_set_death_callback(keep_input);
    if (argc > 2 && strcmp(argv[1], "--run") == 0) return run_files(argc - 2, argv + 2);
    if (argc < 2 || !load_corpus(argv[1])) {
        fprintf(stderr, "usage: %s CORPUS [SECONDS] | --run FILE...\n", argv[0]);
        return 2;
    }
    numbers = random_begin(1, 0);
    const long done = fuzz(argc > 2 ? atof(argv[2]) : 4);
    for (size_t i = 0; i < n_seeds; i++) free(seeds[i].bytes);
    fprintf(out, "%zu files, %ld changed inputs, no crash\n", n_seeds, done);
    return fflush(out) == 0 ? 0 : 1;
}
