/* SPDX-License-Identifier: Apache-2.0 */
/* race.c - race OLD.so NEW.so SECONDS ISA [TEXT]: both libraries compute each problem whose name
 * contains TEXT in turns, for SECONDS. Prints the speed of the new one relative to the old one: the
 * median over all turns, and the quartiles. Turns are short, and both libraries get one within
 * about a millisecond, so that whatever slows the machine down slows both. */
#define _POSIX_C_SOURCE 200809L
#include "subject.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const problem problems[] = {
    {"forward 8 heads n=1 d=64", .heads = 8, .n = 1, .d = 64},
    {"forward 8 heads n=4 d=64", .heads = 8, .n = 4, .d = 64},
    {"forward 8 heads n=16 d=64", .heads = 8, .n = 16, .d = 64},
    {"forward 8 heads n=64 d=64", .heads = 8, .n = 64, .d = 64},
    {"forward 8 heads n=64 d=64 causal", .heads = 8, .n = 64, .d = 64, .causal = 1},
    {"forward n=128 d=64", .heads = 1, .n = 128, .d = 64},
    {"forward n=1024 d=64", .heads = 1, .n = 1024, .d = 64},
    {"forward n=1024 d=128", .heads = 1, .n = 1024, .d = 128},
    {"forward n=4096 d=64", .heads = 1, .n = 4096, .d = 64},
    {"forward n=4096 d=128", .heads = 1, .n = 4096, .d = 128},
    {"forward n=1024 d=64 causal", .heads = 1, .n = 1024, .d = 64, .causal = 1},
    {"forward n=1024 d=128 causal", .heads = 1, .n = 1024, .d = 128, .causal = 1},
    {"forward n=4096 d=64 causal", .heads = 1, .n = 4096, .d = 64, .causal = 1},
    {"forward n=1000 d=40", .heads = 1, .n = 1000, .d = 40},
    {"forward n=777 d=100", .heads = 1, .n = 777, .d = 100},
    {"backward n=512 d=64", .backward = 1, .heads = 1, .n = 512, .d = 64},
    {"backward n=1024 d=64", .backward = 1, .heads = 1, .n = 1024, .d = 64},
    {"backward n=1024 d=128", .backward = 1, .heads = 1, .n = 1024, .d = 128},
    {"backward n=4096 d=64", .backward = 1, .heads = 1, .n = 4096, .d = 64},
    {"backward n=4096 d=128", .backward = 1, .heads = 1, .n = 4096, .d = 128},
    {"backward n=512 d=64 causal", .backward = 1, .heads = 1, .n = 512, .d = 64, .causal = 1},
    {"backward n=512 d=128 causal", .backward = 1, .heads = 1, .n = 512, .d = 128, .causal = 1},
    {"backward n=1024 d=64 causal", .backward = 1, .heads = 1, .n = 1024, .d = 64, .causal = 1},
    {"backward n=1024 d=128 causal", .backward = 1, .heads = 1, .n = 1024, .d = 128, .causal = 1},
    {"backward n=4096 d=64 causal", .backward = 1, .heads = 1, .n = 4096, .d = 64, .causal = 1},
    {"backward n=4096 d=128 causal", .backward = 1, .heads = 1, .n = 4096, .d = 128, .causal = 1},
    {"backward n=1000 d=40", .backward = 1, .heads = 1, .n = 1000, .d = 40},
    {"backward n=777 d=72", .backward = 1, .heads = 1, .n = 777, .d = 72},
};

typedef struct subject {
    subject_begin_function *begin;
    subject_run_function *run;
} subject;

static void fail(const char *what, const char *why) {
    fprintf(stderr, "race: %s: %s\n", what, why ? why : "no reason known");
    exit(1);
}

static subject load(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) fail(path, dlerror());
    subject s;
    *(void **)&s.begin = dlsym(library, "subject_begin");
    *(void **)&s.run = dlsym(library, "subject_run");
    if (!s.begin || !s.run) fail(path, dlerror());
    return s;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds of one call, over so many. */
static double turn(const subject *s, long calls) {
    const double begin = now();
    for (long i = 0; i < calls; i++) {
        if (s->run() != 0) fail("a call", "failed");
    }
    return (now() - begin) / (double)calls;
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void race(const problem *p, const subject *both, double seconds, int isa) {
    enum { MAX_TURNS = 100000, WARM_UP = 3 };
    static double ratios[MAX_TURNS];
    const double long_enough = 300e-6;
    for (int s = 0; s < 2; s++) {
        if (both[s].begin(p, isa) != 0) fail(p->name, "the library refused it");
        turn(&both[s], WARM_UP);
    }
    const double once = turn(&both[0], 1);
    const long calls = once < long_enough ? (long)(long_enough / once) + 1 : 1;
    const double end = now() + seconds;
    int n = 0;
    do {
        double time[2];
        for (int k = 0; k < 2; k++) time[(n + k) % 2] = turn(&both[(n + k) % 2], calls);
        ratios[n++] = time[0] / time[1];
    } while (n < MAX_TURNS && now() < end);
    qsort(ratios, (size_t)n, sizeof *ratios, compare);
    printf("| %s | %.3f | %.3f .. %.3f |\n", p->name, ratios[n / 2], ratios[n / 4],
           ratios[3 * n / 4]);
    fflush(stdout);
}

int main(int argc, char **argv) {
    if (argc < 5) fail("usage", "race OLD.so NEW.so SECONDS ISA [TEXT]");
    const subject both[2] = {load(argv[1]), load(argv[2])};
    int n = 0;
    printf("| problem | speed, new / old | quartiles |\n|---|---|---|\n");
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        if (argc > 5 && !strstr(problems[i].name, argv[5])) continue;
        race(&problems[i], both, atof(argv[3]), atoi(argv[4]));
        n++;
    }
    if (n == 0) fail(argv[5], "no problem has that in its name");
    return 0;
}
