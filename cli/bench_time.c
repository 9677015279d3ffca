/* SPDX-License-Identifier: Apache-2.0 */
/* bench_time.c - see bench_time.h. */
#include "bench_time.h"

#include "core/half.h"
#include "core/rng.h"
#include "kernels/kernels.h"
#include "out.h"

#include <stdlib.h>
#include <time.h>

static double thread_clock(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double peak[ATTN_ISA_COUNT][2];

void bench_probe(attn_isa isa, bool f64) {
    const attni_kernels *kernels = attni_kernels_get(isa, f64);
    const double begin = thread_clock();
    const double flops = kernels->burn(200000);
    const double rate = flops / (thread_clock() - begin);
    if (rate > peak[isa][f64]) peak[isa][f64] = rate;
}

double bench_peak(attn_isa isa, bool f64) {
    if (peak[isa][f64] == 0) {
        for (int i = 0; i < 50; i++) bench_probe(isa, f64);
    }
    return peak[isa][f64];
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Runs per sample: long enough for the clock, short enough to be undisturbed now and then. */
static int64_t runs_per_sample(const bench_contender *c, bool wall) {
    enum { WARM_UP = 3 };
    const double enough = 200e-6;
    double begin = 0;
    for (int i = 0; i < WARM_UP; i++) {
        begin = wall ? out_clock() : thread_clock();
        c->run(c->arg);
    }
    const double one = (wall ? out_clock() : thread_clock()) - begin;
    return one >= enough ? 1 : (int64_t)(enough / (one + 1e-9)) + 1;
}

void bench_race(const bench_contender *contenders, int n, double seconds, bool wall, attn_isa isa,
                bool f64, bench_times *times) {
    double samples[BENCH_CONTENDERS][BENCH_MAX_SAMPLES];
    int64_t runs[BENCH_CONTENDERS];
    int count = 0;
    for (int c = 0; c < n; c++) runs[c] = runs_per_sample(&contenders[c], wall);
    const double end = out_clock() + seconds;
    do {
        for (int c = 0; c < n; c++) {
            const double begin = wall ? out_clock() : thread_clock();
            for (int64_t r = 0; r < runs[c]; r++) contenders[c].run(contenders[c].arg);
            samples[c][count] = ((wall ? out_clock() : thread_clock()) - begin) / (double)runs[c];
        }
        if (count++ % 8 == 0) bench_probe(isa, f64);
    } while (count < BENCH_MAX_SAMPLES && (out_clock() < end || count < 5));
    for (int c = 0; c < n; c++) {
        qsort(samples[c], (size_t)count, sizeof(double), by_value);
        times[c] =
            (bench_times){.n = count, .best = samples[c][0], .median = samples[c][count / 2]};
    }
}

void bench_fill(void *data, attn_dtype dtype, int64_t n, uint64_t seed) {
    for (int64_t i = 0; i < n; i++) {
        const attni_philox r = attni_philox4x32(seed, (uint32_t)i, (uint32_t)(i >> 32), 0, 0);
        const double x = ((double)r.word[0] + 0.5) / 2147483648.0 - 1;
        switch (dtype) {
        case ATTN_F64: ((double *)data)[i] = x; break;
        case ATTN_F32: ((float *)data)[i] = (float)x; break;
        case ATTN_F16: ((uint16_t *)data)[i] = attni_f32_to_f16((float)x); break;
        default: ((uint16_t *)data)[i] = attni_f32_to_bf16((float)x); break;
        }
    }
}
