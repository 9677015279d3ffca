/* SPDX-License-Identifier: Apache-2.0 */
/* linear.c - each pass is one GEMM per matrix; biases are rows that are added or summed. Compiled
 * per real type. Test: tests/layers/test_linear.c */
#include "layers/linear.h"

#include "layers/add.h"
#include "layers/gemm.h"

attn_status R(linear_forward)(attn_ctx *ctx, const attni_linear *layer, int64_t n, const real *x,
                              real *y, attn_error *err) {
    const int64_t n_in = layer->n_in, n_out = layer->n_out;
    const attni_gemm xw = {.m = n,
                           .n = n_out,
                           .k = n_in,
                           .a = x,
                           .a_row = (ptrdiff_t)n_in,
                           .a_column = 1,
                           .b = layer->w,
                           .b_row = (ptrdiff_t)n_out,
                           .b_column = 1,
                           .c = y,
                           .c_row = (ptrdiff_t)n_out};
    ATTN_TRY(attni_gemm_on(ctx, REAL_IS_F64, &xw, err));
    if (layer->b) R(add_rows)(n, n_out, layer->b, 0, y, n_out);
    return ATTN_OK;
}

/* y = x W: dx = dy W^T */
static attn_status input_gradient(attn_ctx *ctx, const attni_linear *layer, int64_t n,
                                  const attni_linear_grad *grad, attn_error *err) {
    const attni_gemm dy_wt = {.m = n,
                              .n = layer->n_in,
                              .k = layer->n_out,
                              .add = grad->add_dx,
                              .a = grad->dy,
                              .a_row = (ptrdiff_t)layer->n_out,
                              .a_column = 1,
                              .b = layer->w,
                              .b_row = 1,
                              .b_column = (ptrdiff_t)layer->n_out,
                              .c = grad->dx,
                              .c_row = (ptrdiff_t)layer->n_in};
    return attni_gemm_on(ctx, REAL_IS_F64, &dy_wt, err);
}

/* y = x W: dW += x^T dy */
static attn_status weight_gradient(attn_ctx *ctx, const attni_linear *layer, int64_t n,
                                   const attni_linear_grad *grad, attn_error *err) {
    const attni_gemm xt_dy = {.m = layer->n_in,
                              .n = layer->n_out,
                              .k = n,
                              .add = true,
                              .a = grad->x,
                              .a_row = 1,
                              .a_column = (ptrdiff_t)layer->n_in,
                              .b = grad->dy,
                              .b_row = (ptrdiff_t)layer->n_out,
                              .b_column = 1,
                              .c = grad->dw,
                              .c_row = (ptrdiff_t)layer->n_out};
    return attni_gemm_on(ctx, REAL_IS_F64, &xt_dy, err);
}

attn_status R(linear_backward)(attn_ctx *ctx, const attni_linear *layer, int64_t n,
                               const attni_linear_grad *grad, attn_error *err) {
    if (grad->dx) ATTN_TRY(input_gradient(ctx, layer, n, grad, err));
    if (grad->dw) ATTN_TRY(weight_gradient(ctx, layer, n, grad, err));
    if (grad->db) R(add_rows)(n, layer->n_out, grad->dy, layer->n_out, grad->db, 0);
    return ATTN_OK;
}
