/* SPDX-License-Identifier: Apache-2.0 */
/* drawn.h - a random head, its weights by the forward pass in any precision, and its gradients.
 * Called by: the files of this folder. Tests: tests/lab/test_claims.c */
#ifndef LAB_DRAWN_H
#define LAB_DRAWN_H

#include "steps/attend.h"

typedef struct lab_drawn {
    lab_head head;       /* set n_q, n_k, d_k, d_v before lab_drawn_create() */
    double *q, *k, *v;   /* N(0, 1), drawn in this order: (n_q, d_k), (n_k, d_k), (n_k, d_v) */
    double *dout;        /* (n_q, d_v) drawn last */
    double *weights;     /* (n_q, n_k) for the caller */
    double *out, *other; /* (n_q, d_v) for the caller */
} lab_drawn;

/* Errors: MEMORY. Call lab_drawn_free() after a failure too. */
attn_status lab_drawn_create(lab_drawn *drawn, uint32_t seed, attn_error *err);
void lab_drawn_free(lab_drawn *drawn);

/* weights (n_q, n_k) by attn_forward() in that dtype, f32 or f64, with unit vectors as values;
 * bias (n_q, n_k) is added to the scores, NULL: nothing. */
attn_status lab_forward_weights(attn_ctx *ctx, const lab_head *head, attn_dtype dtype,
                                const double *bias, double *weights, attn_error *err);

typedef struct lab_gradient {
    double *dq;      /* (n_q, d_k) or NULL */
    double *dk;      /* (n_k, d_k) or NULL */
    double *dv;      /* (n_k, d_v) or NULL */
    double *dscores; /* (n_q, n_k) of the scores after scaling, or NULL */
} lab_gradient;

/* Gradients of sum(dout * out), by attn_forward() and attn_backward(). */
attn_status lab_head_gradient(attn_ctx *ctx, const lab_head *head, const double *dout,
                              const lab_gradient *gradient, attn_error *err);

/* max |a - b| over n numbers. */
double lab_largest_difference(const double *a, const double *b, int64_t n);

#endif
