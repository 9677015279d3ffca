/* SPDX-License-Identifier: Apache-2.0 */
/* dense.h - attention in the plain way, which experiments compare the engine with: it builds the n
 * x n matrix. Products are those of the layers, softmax is a loop over rows with the C library's
 * expf. One head, f32, no mask, scale 1/sqrt(d). Only experiments may use it. Tests:
 * tests/lab/test_beyond_structure.c */
#ifndef LAB_DENSE_H
#define LAB_DENSE_H

#include "attn/attn.h"

typedef struct lab_dense {
    int64_t n, d;
    const float *q, *k, *v; /* (n, d) each */
    float *weights; /* (n, n) scores, then weights; backward needs them as forward left them */
    float *out;     /* (n, d) */
} lab_dense;

typedef struct lab_dense_gradients {
    const float *dout;   /* (n, d) */
    float *dscores;      /* (n, n) d weights, then d scores */
    float *dq, *dk, *dv; /* (n, d) each */
} lab_dense_gradients;

/* Errors: MEMORY. */
attn_status lab_dense_forward(attn_ctx *ctx, const lab_dense *dense, attn_error *err);
attn_status lab_dense_backward(attn_ctx *ctx, const lab_dense *dense,
                               const lab_dense_gradients *gradients, attn_error *err);

#endif
