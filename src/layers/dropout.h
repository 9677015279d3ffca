/* SPDX-License-Identifier: Apache-2.0 */
/* dropout.h - inverted dropout on activations without a stored mask: whether element i is kept is a
 * pure function of (seed, stream, i), so backward is the same call on the gradient. Touches only
 * its arguments; cannot fail. Tests: tests/layers/test_dropout.c */
#ifndef ATTNI_DROPOUT_H
#define ATTNI_DROPOUT_H

#include "layers/real.h"

typedef struct attni_drop {
    double p;        /* 0 <= p < 1: probability that an element becomes 0; 0 copies */
    uint64_t seed;   /* new for every training step */
    uint32_t stream; /* one per place in the model; never coincides with attention's dropout */
    int64_t first; /* index of x[0], so that a shard of a batch draws what the whole batch would */
} attni_drop;

/* y (n) = x (n) / (1 - p) where kept, else 0 (also for Inf and NaN); y may be x. */
void R(dropout_apply)(const attni_drop *drop, int64_t n, const real *x, real *y);

#endif
