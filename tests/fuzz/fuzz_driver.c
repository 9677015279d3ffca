/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_driver.c - runs a fuzz target without libFuzzer: every seed, then seeds changed at random
 * for a number of iterations or seconds, the same ones every time.
 *     target [--seconds S] [--iterations N] [--dump FOLDER] [FILE...]
 * The environment variable ATTN_FUZZ_SECONDS changes the default of 4 seconds. FILEs are run and
 * nothing else: to see a crash again. --dump writes the seeds, for libFuzzer. */
#include "fuzz.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROOM = 8192 };

static uint8_t input[ROOM];
static size_t input_size;

/* When a sanitizer ends the program, the input that did it is kept. */
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static void keep_input(void) {
    FILE *file = fopen("fuzz-crash", "wb");
    if (!file) return;
    fwrite(input, 1, input_size, file);
    fclose(file);
}

static uint64_t random_state = 0x9e3779b97f4a7c15u;

static size_t draw(size_t below) { /* xorshift64 */
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return below ? (size_t)(random_state % below) : 0;
}

static void take_seed(size_t which) {
    input_size = fuzz_seeds[which].size < ROOM ? fuzz_seeds[which].size : ROOM;
    memcpy(input, fuzz_seeds[which].bytes, input_size);
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
        const fuzz_seed *seed = &fuzz_seeds[draw(fuzz_n_seeds)];
        const size_t from = draw(seed->size);
        if (n > seed->size - from) n = seed->size - from;
        insert(at, seed->bytes + from, n);
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

static int dump_seeds(const char *folder) {
    for (size_t i = 0; i < fuzz_n_seeds; i++) {
        char path[400];
        snprintf(path, sizeof path, "%s/seed-%02zu", folder, i);
        FILE *file = fopen(path, "wb");
        if (!file) return 1;
        fwrite(fuzz_seeds[i].bytes, 1, fuzz_seeds[i].size, file);
        if (fclose(file) != 0) return 1;
    }
    return 0;
}

static int run_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) return 1;
    input_size = fread(input, 1, ROOM, file);
    fclose(file);
    run_input();
    return 0;
}

int main(int argc, char **argv) {
    const char *wish = getenv("ATTN_FUZZ_SECONDS");
    double seconds = wish && *wish ? atof(wish) : 4;
    long iterations = LONG_MAX, done = 0;
    int at = 1;
    FILE *out = stdout; /* a target may send standard output elsewhere */
    if (__sanitizer_set_death_callback) __sanitizer_set_death_callback(keep_input);
    for (; at + 1 < argc && argv[at][0] == '-'; at += 2) {
        if (strcmp(argv[at], "--dump") == 0) return dump_seeds(argv[at + 1]);
        if (strcmp(argv[at], "--seconds") == 0) seconds = atof(argv[at + 1]);
        if (strcmp(argv[at], "--iterations") == 0) iterations = atol(argv[at + 1]);
    }
    if (at < argc) {
        for (; at < argc; at++)
            if (run_file(argv[at]) != 0) return 1;
        return 0;
    }
    const double end = now() + seconds;
    for (size_t i = 0; i < fuzz_n_seeds; i++) {
        take_seed(i);
        run_input();
    }
    for (; done < iterations && now() < end; done++) {
        take_seed(draw(fuzz_n_seeds));
        for (size_t n = 1 + draw(4); n > 0; n--) change();
        run_input();
    }
    fprintf(out, "%zu seeds, %ld changed inputs, no crash\n", fuzz_n_seeds, done);
    fflush(out);
    return 0;
}
