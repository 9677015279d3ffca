/* SPDX-License-Identifier: Apache-2.0 */
/* activation.h - the nonlinear functions of an MLP on arrays, with the vector 2^x and tanh of the
 * kernels: without libm, bit-identical on every ISA of a class. Touches only its arguments; cannot
 * fail. Tests: tests/layers/test_activation.c */
#ifndef ATTNI_ACTIVATION_H
#define ATTNI_ACTIVATION_H

#include "layers/real.h"

typedef enum attni_activation {
    ATTNI_RELU,      /* max(x, 0), slope 0 at 0 */
    ATTNI_GELU,      /* x Phi(x), where Phi is the normal distribution function: the exact form */
    ATTNI_GELU_TANH, /* x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2 */
    ATTNI_SILU,      /* x / (1 + e^-x) */
} attni_activation;

/* y (n) = f(x (n)); y may be x. */
void R(activation_forward)(const attn_ctx *ctx, attni_activation f, int64_t n, const real *x,
                           real *y);
/* dx (n) = dy (n) f'(x (n)); dx may be dy, or x. */
void R(activation_backward)(const attn_ctx *ctx, attni_activation f, int64_t n, const real *x,
                            const real *dy, real *dx);

#endif
