/* SPDX-License-Identifier: Apache-2.0 */
/* layer_cost.c - see layer_cost.h. */
#include "support/layer_cost.h"

#include "core/base.h"

/* FLOP of the projections for each row of X (queries) and each row of the memory (keys). */
static double per_query(const attn_args *args, int64_t d_model) {
    const double H = (double)args->q.shape[1], d_k = (double)args->q.shape[3],
                 d_v = (double)args->v.shape[3];
    return 2 * (double)d_model * H * (d_k + d_v); /* W_Q and W_O; 2 per multiply-add */
}

static double per_key(const attn_args *args, int64_t d_model) {
    const double H_kv = (double)args->k.shape[1], d_k = (double)args->k.shape[3],
                 d_v = (double)args->v.shape[3];
    return 2 * (double)d_model * H_kv * (d_k + d_v); /* W_K and W_V */
}

attn_status lab_layer_count(attn_ctx *ctx, const attn_args *args, int64_t d_model,
                            lab_layer_cost *cost, attn_error *err) {
    attn_cost_info info;
    attn_cost_info_init(&info);
    ATTN_TRY(attn_cost(ctx, args, &info, err));
    const double B = (double)args->q.shape[0], n_q = (double)args->q.shape[2],
                 n_k = (double)args->k.shape[2];
    cost->projections = B * (n_q * per_query(args, d_model) + n_k * per_key(args, d_model));
    cost->products = info.flops;
    cost->softmax = LAB_SOFTMAX_OPS * info.visible_pairs;
    cost->core = cost->products + cost->softmax;
    cost->total = cost->core + cost->projections;
    return ATTN_OK;
}

double lab_layer_crossover(const attn_args *args, int64_t d_model) {
    const double H = (double)args->q.shape[1], d_k = (double)args->q.shape[3],
                 d_v = (double)args->v.shape[3];
    /* n (per_query + per_key) = n^2 H (2 d_k + 2 d_v + softmax) */
    return (per_query(args, d_model) + per_key(args, d_model)) /
           (H * (2 * d_k + 2 * d_v + LAB_SOFTMAX_OPS));
}
