/* SPDX-License-Identifier: Apache-2.0 */
/* web_cost.c - the cost of attention, and how sharp its rows are: as `attn cost` and figures F3 and
 * F4 of `attn report`. */
#include "engine.h"
#include "lab/steps/scaling.h"
#include "lab/steps/stream.h"
#include "lab/steps/weight_rows.h"

#include <stdlib.h>

EXPORT(cost) web_cost(double n, double d, double heads, int32_t causal) {
    attn_args args;
    attn_cost_info cost = {.struct_size = sizeof cost};
    web_begin();
    attn_ctx *ctx = web_ctx();
    if (!ctx) return ATTN_E_MEMORY;
    attn_args_init(&args);
    args.q = attn_tensor_bhsd(NULL, ATTN_F32, 1, (int64_t)heads, (int64_t)n, (int64_t)d);
    for (int k = 0; k < 3; k++)
        args.q.stride[k] = 0; /* counted, not read: need not fit in memory */
    args.k = args.v = args.q;
    args.causal = causal != 0;
    ATTN_TRY(attn_cost(ctx, &args, &cost, &web_error));
    web_put_number("pairs", cost.pairs);
    web_put_number("visible_pairs", cost.visible_pairs);
    web_put_number("flops", cost.flops);
    web_put_number("flops_backward", cost.flops_backward);
    web_put_number("bytes_io", cost.bytes_io);
    web_put_number("bytes_dense", cost.bytes_dense);
    web_put_number("bytes_scratch", cost.bytes_scratch);
    return web_result_status();
}

/* ------------------------------------------------------------------------------------ sharpness */

/* Random queries and keys, and their weights. */
typedef struct draw {
    int64_t d_k, n;
    double *qk;      /* (2, n, d_k) */
    double *weights; /* (n, n) */
    double *rows;    /* (2, n) */
} draw;

enum { MOST_TOKENS = 1024, MOST_WIDTH = 4096 };

static attn_status draw_create(double d_k, double n, draw *w) {
    if (!(d_k >= 1 && d_k <= (double)MOST_WIDTH && n >= 1 && n <= (double)MOST_TOKENS))
        return attni_fail(&web_error, ATTN_E_VALUE, "d_k: %g, n: %g, expected 1 .. %d and 1 .. %d",
                          d_k, n, MOST_WIDTH, MOST_TOKENS);
    *w = (draw){.d_k = (int64_t)d_k, .n = (int64_t)n};
    w->qk = malloc((size_t)(2 * w->n * w->d_k + w->n * w->n + 2 * w->n) * sizeof *w->qk);
    if (!w->qk) return attni_fail(&web_error, ATTN_E_MEMORY, "out of memory for the draw");
    w->weights = w->qk + 2 * w->n * w->d_k;
    w->rows = w->weights + w->n * w->n;
    return ATTN_OK;
}

static void roll(draw *w, uint32_t seed) {
    lab_stream stream;
    lab_stream_seed(&stream, seed);
    lab_stream_normals(&stream, (size_t)(2 * w->n * w->d_k), 1, w->qk);
}

static attn_status weigh(attn_ctx *ctx, const draw *w, lab_scaling scaling, double *weights) {
    const lab_head head = {.n_q = w->n,
                           .n_k = w->n,
                           .d_k = w->d_k,
                           .q = w->qk,
                           .k = w->qk + w->n * w->d_k,
                           .scale = lab_scaling_factor(scaling, w->d_k)};
    return lab_head_weights(ctx, &head, weights, &web_error);
}

/* Adds the means over the rows of one trial to found (LAB_SCALINGS, 2): entropy, largest weight. */
static attn_status measure(attn_ctx *ctx, draw *w, double *found) {
    for (int s = 0; s < LAB_SCALINGS; s++) {
        ATTN_TRY(weigh(ctx, w, (lab_scaling)s, w->weights));
        lab_rows_measure(w->weights, w->n, w->rows, w->rows + w->n, NULL);
        found[2 * s] += lab_mean(w->rows, w->n);
        found[2 * s + 1] += lab_mean(w->rows + w->n, w->n);
    }
    return ATTN_OK;
}

/* As in F4: trial t uses seed + t. */
EXPORT(sharpness) web_sharpness(double d_k, double n, double trials, double seed) {
    draw w;
    web_begin();
    attn_ctx *ctx = web_ctx();
    double *found = web_put("found", WEB_F64, WEB_SHAPE(LAB_SCALINGS, 2));
    if (!ctx || !found) return ATTN_E_MEMORY;
    ATTN_TRY(draw_create(d_k, n, &w));
    attn_status status = ATTN_OK;
    for (int32_t t = 0; t < (int32_t)trials && status == ATTN_OK; t++) {
        roll(&w, (uint32_t)seed + (uint32_t)t);
        status = measure(ctx, &w, found);
    }
    free(w.qk);
    for (int i = 0; i < 2 * LAB_SCALINGS; i++) found[i] /= trials;
    return status;
}

/* As in F3: one draw, with weights for each scaling. */
EXPORT(scaling_maps) web_scaling_maps(double d_k, double n, double seed) {
    draw w;
    web_begin();
    attn_ctx *ctx = web_ctx();
    if (!ctx) return ATTN_E_MEMORY;
    ATTN_TRY(draw_create(d_k, n, &w));
    double *maps = web_put("maps", WEB_F64, WEB_SHAPE(LAB_SCALINGS, w.n, w.n));
    attn_status status = web_result_status();
    roll(&w, (uint32_t)seed);
    for (int s = 0; s < LAB_SCALINGS && status == ATTN_OK; s++)
        status = weigh(ctx, &w, (lab_scaling)s, maps + s * w.n * w.n);
    free(w.qk);
    return status;
}
