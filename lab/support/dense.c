/* SPDX-License-Identifier: Apache-2.0 */
/* dense.c - see dense.h. */
#include "support/dense.h"

#include "core/base.h"
#include "layers/gemm.h"

#include <math.h>

/* A matrix as it is read: transposed or not. */
typedef struct view {
    const float *data;
    ptrdiff_t row, column;
} view;

static view plain(const float *data, int64_t columns) {
    return (view){.data = data, .row = columns, .column = 1};
}

static view turned(const float *data, int64_t columns) {
    return (view){.data = data, .row = 1, .column = columns};
}

typedef struct shape {
    int64_t rows, inner, columns;
} shape;

/* c (rows, columns) = a (rows, inner) b (inner, columns) */
static attn_status multiply(attn_ctx *ctx, shape s, view a, view b, float *c, attn_error *err) {
    const attni_gemm g = {.m = s.rows,
                          .n = s.columns,
                          .k = s.inner,
                          .a = a.data,
                          .a_row = a.row,
                          .a_column = a.column,
                          .b = b.data,
                          .b_row = b.row,
                          .b_column = b.column,
                          .c = c,
                          .c_row = s.columns};
    return attni_gemm_on(ctx, false, &g, err);
}

static float scale_of(int64_t d) { return 1 / sqrtf((float)d); }

/* row (n) of products -> weights */
static void softmax_row(float *row, int64_t n, float scale) {
    float largest = -INFINITY, sum = 0;
    for (int64_t j = 0; j < n; j++) largest = row[j] > largest ? row[j] : largest;
    for (int64_t j = 0; j < n; j++) {
        row[j] = expf(scale * (row[j] - largest));
        sum += row[j];
    }
    for (int64_t j = 0; j < n; j++) row[j] /= sum;
}

attn_status lab_dense_forward(attn_ctx *ctx, const lab_dense *dense, attn_error *err) {
    const int64_t n = dense->n, d = dense->d;
    ATTN_TRY(multiply(ctx, (shape){n, d, n}, plain(dense->q, d), turned(dense->k, d),
                      dense->weights, err));
    for (int64_t i = 0; i < n; i++) softmax_row(dense->weights + i * n, n, scale_of(d));
    return multiply(ctx, (shape){n, n, d}, plain(dense->weights, n), plain(dense->v, d), dense->out,
                    err);
}

/* softmax: row (n) of d weights -> d products of q and k */
static void softmax_row_backward(const float *weight, float *row, int64_t n, float scale) {
    float dot = 0;
    for (int64_t j = 0; j < n; j++) dot += weight[j] * row[j];
    for (int64_t j = 0; j < n; j++) row[j] = scale * weight[j] * (row[j] - dot);
}

attn_status lab_dense_backward(attn_ctx *ctx, const lab_dense *dense, const lab_dense_gradients *g,
                               attn_error *err) {
    const int64_t n = dense->n, d = dense->d;
    const shape narrow = {n, n, d};
    /* out = weights v */
    ATTN_TRY(multiply(ctx, narrow, turned(dense->weights, n), plain(g->dout, d), g->dv, err));
    ATTN_TRY(
        multiply(ctx, (shape){n, d, n}, plain(g->dout, d), turned(dense->v, d), g->dscores, err));
    for (int64_t i = 0; i < n; i++) {
        softmax_row_backward(dense->weights + i * n, g->dscores + i * n, n, scale_of(d));
    }
    /* scores = q k^T */
    ATTN_TRY(multiply(ctx, narrow, plain(g->dscores, n), plain(dense->k, d), g->dq, err));
    return multiply(ctx, narrow, turned(g->dscores, n), plain(dense->q, d), g->dk, err);
}
