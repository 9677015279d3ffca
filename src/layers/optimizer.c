/* SPDX-License-Identifier: Apache-2.0 */
/* optimizer.c - one pass over the parameters per step. Compiled per real type. Test:
 * tests/layers/test_optimizer.c */
#include "layers/optimizer.h"

/* x^n by repeated squaring: pow() differs between platforms. */
static double power(double x, int64_t n) {
    double result = 1;
    for (; n > 0; n >>= 1, x *= x) {
        if (n & 1) result *= x;
    }
    return result;
}

void R(adamw_step)(const attni_adamw *adamw, int64_t n, real *param, const real *grad, real *m,
                   real *v) {
    attni_assert(adamw->step >= 1);
    real *restrict p = param, *restrict first = m, *restrict second = v;
    const real *restrict g = grad;
    const real factor = (real)adamw->grad_factor, rate = (real)adamw->rate, eps = (real)adamw->eps,
               decay = (real)adamw->weight_decay;
    const real keep1 = (real)adamw->beta1, take1 = (real)(1 - adamw->beta1),
               keep2 = (real)adamw->beta2, take2 = (real)(1 - adamw->beta2);
    const real unbias1 = (real)(1 / (1 - power(adamw->beta1, adamw->step))),
               unbias2 = (real)(1 / (1 - power(adamw->beta2, adamw->step)));
    for (int64_t i = 0; i < n; i++) {
        const real d = g[i] * factor;
        first[i] = keep1 * first[i] + take1 * d;
        second[i] = keep2 * second[i] + take2 * d * d;
        const real direction = first[i] * unbias1 / (real_sqrt(second[i] * unbias2) + eps);
        p[i] -= rate * (direction + decay * p[i]);
    }
}

double R(sum_of_squares)(int64_t n, const real *x) {
    double lane[8] = {0};
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        for (int l = 0; l < 8; l++) lane[l] += (double)x[i + l] * (double)x[i + l];
    }
    for (int l = 0; i < n; i++, l++) lane[l] += (double)x[i] * (double)x[i];
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) +
           ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}
