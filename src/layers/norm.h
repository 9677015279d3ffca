/* SPDX-License-Identifier: Apache-2.0 */
/* norm.h - layer norm and RMS norm over rows. Touches only its arguments; cannot fail; the arrays
 * of a call must not overlap. Tests: tests/layers/test_norm.c */
#ifndef ATTNI_NORM_H
#define ATTNI_NORM_H

#include "layers/real.h"

/* Layer norm: y = gain * (x - mean) * inverse + bias with inverse = 1 / sqrt(variance + eps), the
 * variance divided by width. RMS norm: the same with mean = 0. */
typedef struct attni_norm {
    int64_t width;    /* >= 1 */
    bool rms;         /* RMS norm instead of layer norm */
    double eps;       /* usually 1e-5 */
    const real *gain; /* (width), or NULL: 1 */
    const real *bias; /* (width), or NULL: 0 */
} attni_norm;

/* What forward saves for backward, in the caller's memory. */
typedef struct attni_norm_saved {
    real *mean;    /* (n); NULL for RMS norm */
    real *inverse; /* (n) */
} attni_norm_saved;

typedef struct attni_norm_grad {
    const real *x;  /* (n, width) of the forward pass */
    const real *dy; /* (n, width) */
    real *dx;       /* (n, width), set, or added to if add_dx is set; or NULL */
    bool add_dx;
    real *dgain; /* (width), added to; or NULL */
    real *dbias; /* (width), added to; or NULL */
} attni_norm_grad;

/* x, y (n, width) */
void R(norm_forward)(const attni_norm *norm, int64_t n, const real *x, real *y,
                     const attni_norm_saved *saved);
void R(norm_backward)(const attni_norm *norm, int64_t n, const attni_norm_saved *saved,
                      const attni_norm_grad *grad);

#endif
