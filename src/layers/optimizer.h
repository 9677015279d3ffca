/* SPDX-License-Identifier: Apache-2.0 */
/* optimizer.h - AdamW and global-norm clipping. Touches only its arguments; cannot fail. Learning
 * rates over time: schedule.h. Tests: tests/layers/test_optimizer.c */
#ifndef ATTNI_OPTIMIZER_H
#define ATTNI_OPTIMIZER_H

#include "layers/real.h"

/* One step (Loshchilov and Hutter, "Decoupled Weight Decay Regularization", 2019), g = gradient *
 * grad_factor:
 *   m = beta1 m + (1 - beta1) g,  v = beta2 v + (1 - beta2) g^2
 *   param -= rate * (m' / (sqrt(v') + eps) + weight_decay * param)
 * with m' = m / (1 - beta1^step), v' = v / (1 - beta2^step). */
typedef struct attni_adamw {
    double rate, beta1, beta2, eps;
    double weight_decay; /* decoupled: multiplied by rate, not passed through m and v */
    double grad_factor;  /* from attni_clip_factor(), or 1 */
    int64_t step;        /* 1 for the first update */
} attni_adamw;

/* beta1 0.9, beta2 0.999, eps 1e-8, no decay, no clipping, step 1. */
static inline attni_adamw attni_adamw_defaults(double rate) {
    return (attni_adamw){
        .rate = rate, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .grad_factor = 1, .step = 1};
}

/* param, grad, m, v (n) each; m and v start as zeros. */
void R(adamw_step)(const attni_adamw *adamw, int64_t n, real *param, const real *grad, real *m,
                   real *v);

/* The sum of squares of x (n), in double precision. The norm of several arrays is the root of the
 * sum of these. */
double R(sum_of_squares)(int64_t n, const real *x);

/* The factor that brings gradients of this global norm within max_norm: 1 if they already are, or
 * if max_norm <= 0 (no clipping). */
static inline double attni_clip_factor(double norm, double max_norm) {
    return max_norm > 0 && norm > max_norm ? max_norm / norm : 1;
}

#endif
