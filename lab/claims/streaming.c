/* SPDX-License-Identifier: Apache-2.0 */
/* streaming.c - claims about computing attention in pieces: tiles, a cache of keys and values, and
 * the growth of time. Tests: tests/lab/test_claims.c */
#include "core/base.h"
#include "drawn.h"
#include "outcome.h"
#include "steps/stream.h"
#include "support/dense.h"
#include "support/meter.h"
#include "support/system.h"
#include "worked.h"

#include <math.h>
#include <stdlib.h>

/* CPU seconds of this thread, which does the work of contexts of one thread; other processes do not
 * count. */
static double now(void) { return system_thread_clock(); }

/* ------------------------------------------------------------------------------- f32 problems */

typedef struct problem {
    int64_t n, d;
    float *q, *k, *v, *out; /* (n, d) each */
    float *weights;         /* (n, n), for the dense implementation only */
} problem;

static attn_status problem_create(problem *p, bool dense, uint32_t seed, attn_error *err) {
    const size_t part = (size_t)(p->n * p->d);
    lab_stream stream;
    p->q = malloc(4 * part * sizeof *p->q);
    p->weights = dense ? malloc((size_t)(p->n * p->n) * sizeof *p->weights) : NULL;
    if (!p->q || (dense && !p->weights))
        return attni_fail(err, ATTN_E_MEMORY, "%lld rows", (long long)p->n);
    p->k = p->q + part;
    p->v = p->k + part;
    p->out = p->v + part;
    lab_stream_seed(&stream, seed);
    for (size_t i = 0; i < 3 * part; i++) p->q[i] = (float)lab_stream_normal(&stream);
    return ATTN_OK;
}

static void problem_free(problem *p) {
    free(p->q);
    free(p->weights);
}

static attn_status tiled(attn_ctx *ctx, const problem *p, attn_error *err) {
    attn_args args;
    attn_args_init(&args);
    args.q = attn_tensor_bhsd(p->q, ATTN_F32, 1, 1, p->n, p->d);
    args.k = attn_tensor_bhsd(p->k, ATTN_F32, 1, 1, p->n, p->d);
    args.v = attn_tensor_bhsd(p->v, ATTN_F32, 1, 1, p->n, p->d);
    const attn_tensor out = attn_tensor_bhsd(p->out, ATTN_F32, 1, 1, p->n, p->d);
    return attn_forward(ctx, &args, &out, NULL, err);
}

static attn_status dense(attn_ctx *ctx, const problem *p, attn_error *err) {
    const lab_dense way = {p->n, p->d, p->q, p->k, p->v, p->weights, p->out};
    return lab_dense_forward(ctx, &way, err);
}

/* The shortest of several runs, in seconds. */
static attn_status best_time(attn_ctx *ctx, const problem *p,
                             attn_status (*way)(attn_ctx *, const problem *, attn_error *),
                             double *seconds, attn_error *err) {
    enum { RUNS = 5 };
    *seconds = INFINITY;
    for (int run = 0; run < RUNS; run++) {
        const double begin = now();
        ATTN_TRY(way(ctx, p, err));
        *seconds = fmin(*seconds, now() - begin);
    }
    return ATTN_OK;
}

/* --------------------------------------------------------------------------------------- tiles */

/* The largest error of the tiled output against weights times values, in f64. */
static attn_status tiled_error(const lab_settings *settings, double *worst, attn_error *err) {
    enum { N = 300, D = 16 };
    lab_drawn drawn = {.head = {.n_q = N, .n_k = N, .d_k = D, .d_v = D}};
    attn_status status = lab_drawn_create(&drawn, settings->seed, err);
    if (status == ATTN_OK) status = lab_head_output(settings->ctx, &drawn.head, drawn.out, err);
    if (status == ATTN_OK)
        status = lab_head_weights(settings->ctx, &drawn.head, drawn.weights, err);
    for (int i = 0; i < N && status == ATTN_OK; i++) {
        for (int c = 0; c < D; c++) {
            double sum = 0;
            for (int j = 0; j < N; j++) sum += drawn.weights[i * N + j] * drawn.v[j * D + c];
            drawn.other[i * D + c] = sum;
        }
    }
    if (status == ATTN_OK) *worst = lab_largest_difference(drawn.out, drawn.other, N * D);
    lab_drawn_free(&drawn);
    return status;
}

typedef struct ratios {
    double speed, memory; /* dense over tiled */
} ratios;

static attn_status compare_ways(problem *p, lab_meter *meter, attn_ctx *ctx, ratios *found,
                                attn_error *err) {
    double by_tiles, by_matrix;
    ATTN_TRY(best_time(ctx, p, tiled, &by_tiles, err));
    const size_t io = 4 * (size_t)(p->n * p->d) * sizeof(float), scratch = meter->peak;
    ATTN_TRY(best_time(ctx, p, dense, &by_matrix, err));
    const size_t matrix = (size_t)(p->n * p->n) * sizeof(float);
    found->speed = by_matrix / by_tiles;
    found->memory = (double)(io + matrix) / (double)(io + scratch);
    return ATTN_OK;
}

static attn_status measure_ways(const lab_settings *settings, ratios *found, attn_error *err) {
    problem p = {.n = 2048, .d = 64};
    lab_meter meter = {0};
    attn_ctx_options options;
    attn_ctx *ctx = NULL;
    attn_ctx_options_init(&options);
    options.alloc = lab_meter_alloc(&meter);
    attn_status status = attn_ctx_create(&options, &ctx, err);
    if (status == ATTN_OK) status = problem_create(&p, true, settings->seed, err);
    if (status == ATTN_OK) status = compare_ways(&p, &meter, ctx, found, err);
    problem_free(&p);
    attn_ctx_destroy(ctx);
    return status;
}

static attn_status tiles(const lab_settings *settings, const lab_claim *claim, lab_outcome *outcome,
                         attn_error *err) {
    double worst;
    ratios found;
    ATTN_TRY(tiled_error(settings, &worst, err));
    ATTN_TRY(measure_ways(settings, &found, err));
    lab_say(outcome->computed,
            "error %.1e in f64; at n = 2048 %.1f times as fast, 1/%.0f of the memory", worst,
            found.speed, found.memory);
    lab_conclude(claim, outcome, worst < 1e-14 ? LAB_HOLDS : LAB_WRONG,
                 "exact to rounding; compared with a plain n x n implementation, one thread, f32");
    return ATTN_OK;
}

/* -------------------------------------------------------------------------------------- a cache */

static attn_status decode(attn_ctx *ctx, lab_drawn *drawn, double *worst, attn_error *err) {
    const int64_t n = drawn->head.n_q, d = drawn->head.d_v;
    ATTN_TRY(lab_head_output(ctx, &drawn->head, drawn->out, err));
    for (int64_t t = 0; t < n; t++) { /* one new query; keys and values 0 .. t are cached */
        lab_head step = drawn->head;
        step.n_q = 1;
        step.n_k = t + 1;
        step.q = drawn->q + t * step.d_k;
        ATTN_TRY(lab_head_output(ctx, &step, drawn->other + t * d, err));
    }
    *worst = lab_largest_difference(drawn->out, drawn->other, n * d);
    return ATTN_OK;
}

static attn_status cache(const lab_settings *settings, const lab_claim *claim, lab_outcome *outcome,
                         attn_error *err) {
    lab_drawn drawn = {.head = {.n_q = 200, .n_k = 200, .d_k = 16, .d_v = 16, .causal = true}};
    double worst;
    attn_status status = lab_drawn_create(&drawn, settings->seed, err);
    if (status == ATTN_OK) status = decode(settings->ctx, &drawn, &worst, err);
    lab_drawn_free(&drawn);
    if (status != ATTN_OK) return status;
    lab_say(outcome->computed, "200 single steps against one causal pass: largest difference %.2g",
            worst);
    lab_conclude(claim, outcome, worst < 1e-14 ? LAB_HOLDS : LAB_WRONG,
                 "keys and values do not depend on later tokens, so they can be reused");
    return ATTN_OK;
}

/* ---------------------------------------------------------------------------------------- time */

enum { SIZES = 4, FIRST = 512 };

/* slope (SIZES - 1): log2 of the times of neighbouring sizes; overall: from first to last, per
 * doubling. */
static attn_status slopes(const lab_settings *settings, double *slope, double *overall,
                          attn_error *err) {
    double seconds[SIZES];
    attn_ctx *ctx;
    ATTN_TRY(attn_ctx_create(NULL, &ctx, err)); /* one thread */
    attn_status status = ATTN_OK;
    for (int i = 0; i < SIZES && status == ATTN_OK; i++) {
        problem p = {.n = FIRST << i, .d = 64};
        status = problem_create(&p, false, settings->seed, err);
        if (status == ATTN_OK) status = best_time(ctx, &p, tiled, &seconds[i], err);
        problem_free(&p);
    }
    attn_ctx_destroy(ctx);
    if (status != ATTN_OK) return status;
    for (int i = 1; i < SIZES; i++) slope[i - 1] = log2(seconds[i] / seconds[i - 1]);
    *overall = log2(seconds[SIZES - 1] / seconds[0]) / (SIZES - 1);
    return ATTN_OK;
}

static attn_status time_growth(const lab_settings *settings, const lab_claim *claim,
                               lab_outcome *outcome, attn_error *err) {
    double slope[SIZES - 1], overall;
    ATTN_TRY(slopes(settings, slope, &overall, err));
    lab_say(outcome->computed, "slopes of log2 time %.2f, %.2f, %.2f for n = 512 .. 4096", slope[0],
            slope[1], slope[2]);
    if (overall > 1.6 && overall < 2.4) {
        lab_conclude(claim, outcome, LAB_HOLDS, "mean slope %.2f; one thread, f32, d = 64",
                     overall);
    } else { /* a disturbed clock is not a wrong computation */
        outcome->verdict = LAB_MEASURED;
        lab_say(outcome->why, "mean slope %.2f: the machine was busy; run it again", overall);
    }
    return ATTN_OK;
}

static const lab_claim rows[] = {
    {"C-29", "001", "tiled attention (FlashAttention)", "exact; 2x speed, 3x memory", 0.6, tiles,
     .data = LAB_RECORDED(LAB_HOLDS)},
    {"C-30", "000", "a cache of keys and values", "gives the same result", 0.01, cache,
     .data = LAB_RECORDED(LAB_HOLDS)},
    {"C-49", "001", "growth of time with n", "O(n^2)", 0.5, time_growth,
     .data = LAB_RECORDED(LAB_HOLDS)},
};
const lab_claim_list lab_streaming = LAB_ROWS(rows);
