/* SPDX-License-Identifier: Apache-2.0 */
/* mlp.h - the feed-forward block: linear, activation, linear; or gated, with a third linear layer
 * (SwiGLU). Touches its arguments and the scratch of the context; the arrays of a call must not
 * overlap. Tests: tests/layers/test_mlp.c */
#ifndef ATTNI_MLP_H
#define ATTNI_MLP_H

#include "layers/activation.h"

/* Plain: hidden = f(x W_up + b_up).
 * Gated (w_gate given): hidden = f(x W_gate + b_gate) * (x W_up + b_up); SwiGLU with ATTNI_SILU.
 * Both: y = hidden W_down + b_down. Each bias may be NULL. */
typedef struct attni_mlp {
    int64_t d_model, d_hidden;
    attni_activation activation;
    const real *w_up, *b_up;     /* (d_model, d_hidden), (d_hidden) */
    const real *w_gate, *b_gate; /* (d_model, d_hidden), (d_hidden); w_gate NULL: plain */
    const real *w_down, *b_down; /* (d_hidden, d_model), (d_model) */
} attni_mlp;

/* One pass over n rows; the caller owns all memory. forward reads x and writes the rest, backward
 * reads all of it. The intermediates remain readable. */
typedef struct attni_mlp_pass {
    int64_t n;
    const real *x; /* (n, d_model) */
    real *up;      /* (n, d_hidden) before the activation */
    real *gate;    /* (n, d_hidden) before the activation; gated only */
    real *hidden;  /* (n, d_hidden) input of the last linear layer */
    real *y;       /* (n, d_model) */
} attni_mlp_pass;

/* Shapes as above. Gradients of activations are set (dx: or added to if add_dx is set), those of
 * parameters are added to. dx and each parameter gradient may be NULL. */
typedef struct attni_mlp_grad {
    const real *dy;
    real *dhidden, *dup, *dgate; /* dgate gated only; plain: dup may be dhidden */
    real *dx;
    bool add_dx;
    real *dw_up, *db_up;
    real *dw_gate, *db_gate;
    real *dw_down, *db_down;
} attni_mlp_grad;

/* Both fail only with ATTN_E_MEMORY. */
attn_status R(mlp_forward)(attn_ctx *ctx, const attni_mlp *mlp, const attni_mlp_pass *pass,
                           attn_error *err);
attn_status R(mlp_backward)(attn_ctx *ctx, const attni_mlp *mlp, const attni_mlp_pass *pass,
                            const attni_mlp_grad *grad, attn_error *err);

#endif
