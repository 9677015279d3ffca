/* SPDX-License-Identifier: Apache-2.0 */
/* attend.h - one head of attention in double precision, computed by the engine, and statistics of a
 * row of weights. Tests: tests/lab/test_attend.c */
#ifndef LAB_ATTEND_H
#define LAB_ATTEND_H

#include "attn/attn.h"

#include <stdbool.h>

typedef struct lab_head {
    int64_t n_q, n_k, d_k, d_v;
    const double *q;    /* (n_q, d_k) */
    const double *k;    /* (n_k, d_k) */
    const double *v;    /* (n_k, d_v) or NULL: weights only */
    double scale;       /* 0: 1/sqrt(d_k) */
    double temperature; /* 0: 1 */
    bool causal;
} lab_head;

/* The arguments of the engine for this head; they borrow its arrays. */
void lab_head_args(const lab_head *head, attn_args *args);
/* weights (n_q, n_k), after softmax. Errors: as attn_inspect(). */
attn_status lab_head_weights(attn_ctx *ctx, const lab_head *head, double *weights, attn_error *err);
/* out (n_q, d_v). Errors: as attn_forward(). */
attn_status lab_head_output(attn_ctx *ctx, const lab_head *head, double *out, attn_error *err);

/* Of a row of n weights. */
double lab_entropy(const double *weight, int64_t n); /* nats; 0 ln 0 = 0 */
double lab_largest(const double *weight, int64_t n);
/* Frobenius norm of the softmax Jacobian, dA_j/ds_k = A_j (delta_jk - A_k). */
double lab_jacobian_norm(const double *weight, int64_t n);

/* Of n numbers. Even n: the mean of the middle two. lab_median() sorts x. */
double lab_mean(const double *x, int64_t n);
double lab_deviation(const double *x, int64_t n); /* standard deviation, divided by n */
double lab_median(double *x, int64_t n);
double lab_norm(const double *x, int64_t n); /* square root of the sum of squares */

#endif
