/* SPDX-License-Identifier: Apache-2.0 */
/* work.c - see work.h. */
#include "work.h"

#include "core/base.h"

#include <math.h>

static attn_tensor absent(int64_t heads, int64_t n, int64_t d) {
    return attn_tensor_bhsd(NULL, ATTN_F32, 1, heads, n, d);
}

attn_status lab_work(attn_ctx *ctx, const lab_work_shape *shape, attn_cost_info *cost,
                     attn_error *err) {
    attn_args args;
    attn_args_init(&args);
    args.q = args.k = args.v = absent(shape->heads, shape->n, shape->d);
    attn_cost_info_init(cost);
    return attn_cost(ctx, &args, cost, err);
}

attn_status lab_gpt3_flops(attn_ctx *ctx, double flops[LAB_GPT3_READINGS], attn_error *err) {
    static const lab_work_shape shape[] = {{16384, 128, 96}, {16384, 64, 8}, {2048, 128, 96}};
    for (int i = 0; i < 3; i++) {
        attn_cost_info cost = {.struct_size = sizeof cost};
        ATTN_TRY(lab_work(ctx, &shape[i], &cost, err));
        flops[i] = 96 * cost.flops;
    }
    flops[3] = 2 * 174.6e9 * 2048; /* 2 flops per weight and position */
    return ATTN_OK;
}

bool lab_gpt3_reading(const double flops[LAB_GPT3_READINGS], double stated) {
    for (int i = 0; i < LAB_GPT3_READINGS; i++) {
        if (fabs(flops[i] / stated - 1) < 0.15 || fabs(flops[i] / 2 / stated - 1) < 0.15)
            return true;
    }
    return false;
}

/* Counts the pairs of a pattern and destroys it. */
static double count_pairs(attn_pattern *pattern) {
    const double pairs = (double)attn_pattern_count(pattern);
    attn_pattern_destroy(pattern);
    return pairs;
}

attn_status lab_longformer_count(int64_t n, lab_longformer_pairs *pairs, attn_error *err) {
    enum { SIDE = 256, GLOBAL = 64 };
    attn_pattern *pattern;
    ATTN_TRY(attn_pattern_longformer(n, SIDE, GLOBAL, NULL, &pattern, err));
    pairs->visible = count_pairs(pattern);
    ATTN_TRY(attn_pattern_window(n, n, 0, SIDE, SIDE, NULL, &pattern, err));
    pairs->parts = count_pairs(pattern);
    ATTN_TRY(attn_pattern_global(n, n, GLOBAL, NULL, &pattern, err));
    pairs->parts += count_pairs(pattern);
    return ATTN_OK;
}

double lab_rnn_multiplies(int64_t n, int64_t d) {
    double count = 0;
    for (int64_t t = 0; t < n; t++) {
        for (int64_t row = 0; row < d; row++)
            count += (double)(d + d); /* a row of W h and of U x */
    }
    return count;
}

attn_status lab_linformer_check(attn_ctx *ctx, lab_linformer_shapes *shapes, attn_error *err) {
    enum { N = 512, K = 256, D = 64 };
    attn_args args;
    attn_cost_info cost = {.struct_size = sizeof cost};
    const int64_t e_columns = K, k_rows = N;
    shapes->product_fits = e_columns == k_rows;
    attn_args_init(&args);
    args.q = absent(1, N, D);
    args.k = absent(1, K, D); /* E K, with E k x n */
    args.v = absent(1, N, D);
    shapes->only_keys = attn_cost(ctx, &args, &cost, NULL);
    args.v = absent(1, K, D); /* F V */
    const attn_status status = attn_cost(ctx, &args, &cost, err);
    shapes->projected_values = status == ATTN_OK;
    return status;
}
