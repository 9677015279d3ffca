/* SPDX-License-Identifier: Apache-2.0 */
/* bench_time.c - see bench_time.h. */
#include "bench/bench_time.h"

#include "kernels/kernels.h"
#include "lab/steps/attend.h"
#include "lab/support/system.h"
#include "shared/out.h"

static double peak[ATTNI_ISA_COUNT][2];

void bench_probe(attn_isa isa, bool f64) {
    const attni_kernels *kernels = attni_kernels_get(isa, f64);
    const double begin = system_thread_clock();
    const double flops = kernels->burn(200000);
    const double rate = flops / (system_thread_clock() - begin);
    if (rate > peak[isa][f64]) peak[isa][f64] = rate;
}

double bench_peak(attn_isa isa, bool f64) {
    if (peak[isa][f64] == 0) {
        for (int i = 0; i < 50; i++) bench_probe(isa, f64);
    }
    return peak[isa][f64];
}

/* Runs per sample: long enough for the clock, short enough to be undisturbed now and then. */
static int64_t runs_per_sample(const bench_contender *c, bool wall) {
    enum { WARM_UP = 3 };
    const double enough = 200e-6;
    double begin = 0;
    for (int i = 0; i < WARM_UP; i++) {
        begin = wall ? out_clock() : system_thread_clock();
        c->run(c->arg);
    }
    const double one = (wall ? out_clock() : system_thread_clock()) - begin;
    return one >= enough ? 1 : (int64_t)(enough / (one + 1e-9)) + 1;
}

/* A contender at work. */
typedef struct racer {
    const bench_contender *contender;
    int64_t runs; /* per sample */
    int n;
    double spent; /* seconds in all */
    double samples[BENCH_MAX_SAMPLES];
} racer;

static void take_sample(racer *r, bool wall) {
    const double begin = wall ? out_clock() : system_thread_clock();
    for (int64_t i = 0; i < r->runs; i++) r->contender->run(r->contender->arg);
    const double taken = (wall ? out_clock() : system_thread_clock()) - begin;
    r->samples[r->n++] = taken / (double)r->runs;
    r->spent += taken;
}

static bool has_finished(const racer *r, double seconds) {
    enum { LEAST = 20 }; /* long runs are disturbed now and then */
    return r->n == BENCH_MAX_SAMPLES || (r->n >= LEAST && r->spent >= seconds);
}

/* The one that has had the least time so far, so that a slow peer does not take all of it. With
 * several threads the first finishes before the second begins: worker threads of a peer that wait
 * busily would slow the other down. */
static racer *next_racer(racer *racers, int n, double seconds, bool in_turn) {
    racer *next = NULL;
    for (int c = 0; c < n; c++) {
        if (has_finished(&racers[c], seconds)) continue;
        if (!next || (in_turn && racers[c].spent < next->spent)) next = &racers[c];
    }
    return next;
}

void bench_race(const bench_contender *contenders, int n, double seconds, bool wall, attn_isa isa,
                bool f64, bench_times *times) {
    static racer racers[BENCH_CONTENDERS];
    for (int c = 0; c < n; c++) racers[c] = (racer){.contender = &contenders[c]};
    int count = 0;
    for (racer *r; (r = next_racer(racers, n, seconds, !wall)) != NULL; count++) {
        if (r->n == 0) r->runs = runs_per_sample(r->contender, wall);
        take_sample(r, wall);
        if (count % 8 == 0) bench_probe(isa, f64);
    }
    for (int c = 0; c < n; c++) {
        racer *r = &racers[c];
        const double median = lab_median(r->samples, r->n); /* sorts */
        times[c] = (bench_times){.n = r->n, .best = r->samples[0], .median = median};
    }
}
