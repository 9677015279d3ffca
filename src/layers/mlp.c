/* SPDX-License-Identifier: Apache-2.0 */
/* mlp.c - the linear layers and the activation of the block in sequence, and their gradients.
 * Compiled per real type. Test: tests/layers/test_mlp.c */
#include "layers/mlp.h"

#include "layers/linear.h"

static attni_linear up_layer(const attni_mlp *mlp) {
    return (attni_linear){mlp->d_model, mlp->d_hidden, mlp->w_up, mlp->b_up};
}
static attni_linear gate_layer(const attni_mlp *mlp) {
    return (attni_linear){mlp->d_model, mlp->d_hidden, mlp->w_gate, mlp->b_gate};
}
static attni_linear down_layer(const attni_mlp *mlp) {
    return (attni_linear){mlp->d_hidden, mlp->d_model, mlp->w_down, mlp->b_down};
}

static void multiply(int64_t n, const real *restrict by, real *restrict x) {
    for (int64_t i = 0; i < n; i++) x[i] *= by[i];
}

attn_status R(mlp_forward)(attn_ctx *ctx, const attni_mlp *mlp, const attni_mlp_pass *pass,
                           attn_error *err) {
    const attni_linear up = up_layer(mlp), gate = gate_layer(mlp), down = down_layer(mlp);
    const int64_t n = pass->n, n_hidden = n * mlp->d_hidden;
    ATTN_TRY(R(linear_forward)(ctx, &up, n, pass->x, pass->up, err));
    if (mlp->w_gate) {
        ATTN_TRY(R(linear_forward)(ctx, &gate, n, pass->x, pass->gate, err));
        R(activation_forward)(ctx, mlp->activation, n_hidden, pass->gate, pass->hidden);
        multiply(n_hidden, pass->up, pass->hidden);
    } else {
        R(activation_forward)(ctx, mlp->activation, n_hidden, pass->up, pass->hidden);
    }
    return R(linear_forward)(ctx, &down, n, pass->hidden, pass->y, err);
}

/* hidden = f(gate) * up, or f(up): sets dup and dgate from dhidden. */
static void hidden_backward(attn_ctx *ctx, const attni_mlp *mlp, const attni_mlp_pass *pass,
                            const attni_mlp_grad *grad) {
    const int64_t n_hidden = pass->n * mlp->d_hidden;
    const attni_activation f = mlp->activation;
    if (!mlp->w_gate) {
        R(activation_backward)(ctx, f, n_hidden, pass->up, grad->dhidden, grad->dup);
        return;
    }
    R(activation_forward)(ctx, f, n_hidden, pass->gate, grad->dup);
    multiply(n_hidden, grad->dhidden, grad->dup);
    R(activation_backward)(ctx, f, n_hidden, pass->gate, grad->dhidden, grad->dgate);
    multiply(n_hidden, pass->up, grad->dgate);
}

attn_status R(mlp_backward)(attn_ctx *ctx, const attni_mlp *mlp, const attni_mlp_pass *pass,
                            const attni_mlp_grad *grad, attn_error *err) {
    const attni_linear up = up_layer(mlp), gate = gate_layer(mlp), down = down_layer(mlp);
    const int64_t n = pass->n;
    const attni_linear_grad from_y = {.x = pass->hidden,
                                      .dy = grad->dy,
                                      .dx = grad->dhidden,
                                      .dw = grad->dw_down,
                                      .db = grad->db_down};
    ATTN_TRY(R(linear_backward)(ctx, &down, n, &from_y, err));
    hidden_backward(ctx, mlp, pass, grad);
    const attni_linear_grad from_up = {.x = pass->x,
                                       .dy = grad->dup,
                                       .dx = grad->dx,
                                       .add_dx = grad->add_dx,
                                       .dw = grad->dw_up,
                                       .db = grad->db_up};
    ATTN_TRY(R(linear_backward)(ctx, &up, n, &from_up, err));
    if (!mlp->w_gate) return ATTN_OK;
    const attni_linear_grad from_gate = {.x = pass->x,
                                         .dy = grad->dgate,
                                         .dx = grad->dx,
                                         .add_dx = true, /* added to the gradient through up */
                                         .dw = grad->dw_gate,
                                         .db = grad->db_gate};
    return R(linear_backward)(ctx, &gate, n, &from_gate, err);
}
