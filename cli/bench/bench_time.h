/* SPDX-License-Identifier: Apache-2.0 */
/* bench_time.h - how the benchmarks measure: contenders take turns in one process, each is timed
 * by the clock of its thread and by the wall, and figures are ratios to the multiply-add limit
 * probed in the same run, since a slow phase of a shared machine moves absolute times by 20 %. */
#ifndef CLI_BENCH_TIME_H
#define CLI_BENCH_TIME_H

#include "attn/attn.h"

#include <stdbool.h>

enum { BENCH_MAX_SAMPLES = 2000, BENCH_CONTENDERS = 2 };

/* One thing to time. run() does the work `calls` times over. */
typedef struct bench_contender {
    const char *name;
    void (*run)(void *arg);
    void *arg;
    double flops; /* of one run */
} bench_contender;

typedef struct bench_times {
    int n;               /* samples */
    double best, median; /* seconds per run, thread CPU clock (wall clock with several threads) */
} bench_times;

/* Multiply-add limit of one core in flops per second: the best of all probes so far in this
 * process. */
double bench_peak(attn_isa isa, bool f64);
/* One more probe, a few milliseconds. */
void bench_probe(attn_isa isa, bool f64);

/* Times the contenders turn by turn, each for about `seconds`, with probes in between. wall: by the
 * wall clock, for work on several threads; then one contender after the other. */
void bench_race(const bench_contender *contenders, int n, double seconds, bool wall, attn_isa isa,
                bool f64, bench_times *times);

#endif
