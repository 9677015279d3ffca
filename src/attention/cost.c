/* SPDX-License-Identifier: Apache-2.0 */
/* cost.c - counts pairs, flops and bytes of a problem without computing it. Test:
 * tests/attention/test_cost.c */
#include "attention/plan.h"
#include "attention/structs.h"
#include "attention/visible.h"

/* The keys of the view that lane 0 sees and whose bias is above -inf. */
static double count_view(const attni_rows *rows, const attni_view *view, int64_t first) {
    const attn_tensor *bias = &rows->args->bias;
    if (!bias->data) return view->n_keys;
    double n = 0;
    for (int32_t g = 0; g < view->n_segments; g++) {
        for (int32_t j = 0; j < view->segments[g].n; j++) {
            const int64_t key = first + view->segments[g].key + j;
            n += attni_element(bias, rows->seq->index, rows->head[0], rows->i[0], key) > -HUGE_VAL;
        }
    }
    return n;
}

static double count_row(const attn_args *a, const attni_sequence *seq, int64_t head, int64_t i,
                        attni_view *view) {
    attni_rows rows = {.args = a, .seq = seq, .n = 1, .head = {head}, .i = {i}};
    attni_rows_begin(&rows);
    if (!a->pattern && !a->mask.data && !a->bias.data) return (double)(rows.hi[0] - rows.lo[0]);
    double n = 0;
    for (int64_t t = attni_rows_next_tile(&rows, 0); t != INT64_MAX;
         t = attni_rows_next_tile(&rows, t + 1)) {
        if (attni_rows_view(&rows, t * ATTNI_KEY_TILE, ATTNI_KEY_TILE, view))
            n += count_view(&rows, view, t * ATTNI_KEY_TILE);
    }
    return n;
}

/* The visible pairs of all heads. Heads differ only if mask or bias have a head dimension. */
static double count_visible(const attn_args *a) {
    const int64_t H = a->q.shape[1];
    const bool heads_differ =
        (a->mask.data && a->mask.shape[1] > 1) || (a->bias.data && a->bias.shape[1] > 1);
    attni_view view;
    double pairs = 0;
    for (int64_t s = 0; s < attni_sequence_count(a); s++) {
        const attni_sequence seq = attni_sequence_at(a, s);
        for (int64_t h = 0; h < (heads_differ ? H : 1); h++) {
            double of_head = 0;
            for (int64_t i = 0; i < seq.n_q; i++) of_head += count_row(a, &seq, h, i, &view);
            pairs += heads_differ ? of_head : of_head * (double)H;
        }
    }
    return pairs;
}

static double count_pairs(const attn_args *a) {
    double pairs = 0;
    for (int64_t s = 0; s < attni_sequence_count(a); s++) {
        const attni_sequence seq = attni_sequence_at(a, s);
        pairs += (double)seq.rows * (double)(a->cu_q ? seq.n_k : a->k.shape[2]);
    }
    return pairs * (double)a->q.shape[1];
}

static double elements(const int64_t shape[4]) {
    return (double)shape[0] * (double)shape[1] * (double)shape[2] * (double)shape[3];
}

attn_status attn_cost(attn_ctx *ctx, const attn_args *args, attn_cost_info *cost, attn_error *err) {
    attn_args a;
    attni_plan plan;
    if (!ctx)
        return attni_fail(err, ATTN_E_NULL, "ctx: NULL, expected a context from attn_ctx_create()");
    ATTN_TRY(attni_struct_check(&attni_struct_cost_info, "cost", cost, err));
    ATTN_TRY(attni_args_check_shapes(args, &a, err));
    ATTN_TRY(attni_plan_make(ctx, &a, &plan, err));
    if (!args->mask.data) a.mask.data = NULL; /* a mask that cannot be read masks nothing */
    if (!args->bias.data) a.bias.data = NULL;
    const double d_k = (double)a.q.shape[3], d_v = (double)a.v.shape[3];
    const double size = (double)attn_dtype_size(a.q.dtype), pairs = count_pairs(&a),
                 visible = count_visible(&a);
    const int64_t out[4] = {a.q.shape[0], a.q.shape[1], a.q.shape[2], a.v.shape[3]};
    const attn_cost_info full = {
        .pairs = pairs,
        .visible_pairs = visible,
        .flops = 2 * (d_k + d_v) * visible,
        .flops_backward =
            2 * (3 * d_k + 2 * d_v) * visible, /* S, dQ, dK take d_k; dP, dV take d_v */
        .bytes_io = size * (elements(a.q.shape) + elements(a.k.shape) + elements(a.v.shape) +
                            elements(out)),
        .bytes_dense = pairs * (double)plan.real_size,
        .bytes_scratch = (double)plan.workspace,
    };
    attni_struct_write(&full, cost);
    return ATTN_OK;
}
