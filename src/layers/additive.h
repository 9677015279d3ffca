/* SPDX-License-Identifier: Apache-2.0 */
/* additive.h - additive attention (Bahdanau et al. 2015), the predecessor of the dot product:
 *     e_ij = v . tanh(W_s s_i + W_h h_j),  a_i = softmax over j of e_ij,  c_i = sum_j a_ij h_j
 * It takes a tanh per (i, j, column) instead of a multiply-add, and an n_q x n_k matrix. It is here
 * for comparison, in plain loops. Tests: tests/layers/test_additive.c */
#ifndef ATTNI_ADDITIVE_H
#define ATTNI_ADDITIVE_H

#include "layers/real.h"

/* Weights, or gradients of weights (which are added to; NULL: not requested). */
typedef struct attni_additive_params {
    real *w_s; /* (d_s, d_a) */
    real *w_h; /* (d_h, d_a) */
    real *v;   /* (d_a) */
} attni_additive_params;

typedef struct attni_additive {
    int64_t B, n_q, n_k;
    int64_t d_s, d_h, d_a; /* sizes of a state, of an annotation, of the hidden layer */
    const real *s;         /* (B, n_q, d_s) states: the queries */
    const real *h;         /* (B, n_k, d_h) annotations: the keys */
    const int64_t *len_k;  /* (B) annotations that are not padding, or NULL: all */
    attni_additive_params params;
    /* Written by forward, read by backward: */
    real *from_s;  /* (B, n_q, d_a) W_s s_i */
    real *from_h;  /* (B, n_k, d_a) W_h h_j */
    real *weights; /* (B, n_q, n_k) 0 for padding; a row without annotations is all 0 */
} attni_additive;

/* context (B, n_q, d_h). ctx is used for the two products with W. */
attn_status R(additive_forward)(attn_ctx *ctx, const attni_additive *layer, real *context,
                                attn_error *err);

typedef struct attni_additive_gradients {
    const real *dcontext; /* (B, n_q, d_h) */
    real *ds;             /* (B, n_q, d_s) set */
    real *dh;             /* (B, n_k, d_h) set */
    attni_additive_params params;
    real *dfrom_s;  /* (B, n_q, d_a) scratch */
    real *dfrom_h;  /* (B, n_k, d_a) scratch */
    real *dweights; /* (n_k) scratch */
} attni_additive_gradients;

attn_status R(additive_backward)(attn_ctx *ctx, const attni_additive *layer,
                                 const attni_additive_gradients *g, attn_error *err);

#endif
