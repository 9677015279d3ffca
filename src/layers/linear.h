/* SPDX-License-Identifier: Apache-2.0 */
/* linear.h - y = x W + b and its gradients, as GEMMs. Touches its arguments and the scratch of the
 * context; the arrays of a call must not overlap. Tests: tests/layers/test_linear.c */
#ifndef ATTNI_LINEAR_H
#define ATTNI_LINEAR_H

#include "layers/real.h"

typedef struct attni_linear {
    int64_t n_in, n_out; /* >= 0 */
    const real *w;       /* (n_in, n_out) */
    const real *b;       /* (n_out), or NULL: none */
} attni_linear;

/* What a backward pass reads (x, dy) and writes; dx, dw, db may each be NULL. */
typedef struct attni_linear_grad {
    const real *x;  /* (n, n_in) of the forward pass; may be NULL if dw is */
    const real *dy; /* (n, n_out) */
    real *dx;       /* (n, n_in), set; or added to if add_dx is set */
    bool add_dx;
    real *dw; /* (n_in, n_out), added to */
    real *db; /* (n_out), added to */
} attni_linear_grad;

/* y (n, n_out) = x (n, n_in) W + b. Fails only with ATTN_E_MEMORY; y is then untouched. */
attn_status R(linear_forward)(attn_ctx *ctx, const attni_linear *layer, int64_t n, const real *x,
                              real *y, attn_error *err);

/* dx = dy W^T, dW += x^T dy, db += sum of the rows of dy. layer->b is not read. Fails only with
 * ATTN_E_MEMORY. */
attn_status R(linear_backward)(attn_ctx *ctx, const attni_linear *layer, int64_t n,
                               const attni_linear_grad *grad, attn_error *err);

#endif
