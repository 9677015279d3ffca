/* SPDX-License-Identifier: Apache-2.0 */
/* rows.h - operations of backward on whole rows of reals: dot products, a test for large numbers,
 * the final scaling. Accesses only its arguments. Tests: tests/engine/test_rows.c */
#ifndef ATTNI_ROWS_H
#define ATTNI_ROWS_H

#include "kernels/simd/simd.h"

/* A dot product is eight partial sums on every ISA, so that its bits do not depend on the width of
 * the vectors. They are vectors of their own, because gcc 12 confuses the masks of conditional
 * loads when it makes them from plain C. */
enum { PARTS = 8 };
#define WIDTH (VBYTES < 8 ? 1 : VBYTES / 8) /* doubles in a vector */
typedef double part __attribute__((vector_size(WIDTH * sizeof(double))));
typedef int64_t part_mask __attribute__((vector_size(WIDTH * sizeof(int64_t))));
typedef real part_reals
    __attribute__((vector_size(WIDTH * sizeof(real)), aligned(sizeof(real)), may_alias));

/* Where the output is exactly 0 the product is 0 whatever dout holds: a row that sees no key has
 * only such outputs. */
INLINE void add_terms(const real *dout, const real *out, part *sums) {
    UNROLL for (int i = 0; i < PARTS / WIDTH; i++) {
        const part x = __builtin_convertvector(((const part_reals *)dout)[i], part),
                   y = __builtin_convertvector(((const part_reals *)out)[i], part);
        sums[i] = sums[i] + (part)((part_mask)(x * y) & (part_mask)(y != 0));
    }
}

/* dout . out in double. */
static double dot(int64_t n, const void *dout, const void *out) {
    const real *a = dout, *b = out;
    part sums[PARTS / WIDTH] = {{0}};
    int64_t c = 0;
    for (; c + PARTS <= n; c += PARTS) add_terms(a + c, b + c, sums);
    if (c < n) {
        real last_a[PARTS] = {0}, last_b[PARTS] = {0};
        memcpy(last_a, a + c, (size_t)(n - c) * sizeof(real));
        memcpy(last_b, b + c, (size_t)(n - c) * sizeof(real));
        add_terms(last_a, last_b, sums);
    }
    double s[PARTS];
    memcpy(s, sums, sizeof s);
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

/* Are all magnitudes below the limit? A NaN is not. */
static bool are_below(int64_t n, const void *numbers, double limit) {
    const real *x = numbers;
    const vr most = v_set((real)limit);
    vi below = v_zero() == v_zero();
    int64_t i = 0;
    for (; i + VL <= n; i += VL) below &= v_abs(v_load(x + i)) < most;
    bool all = !v_any(~below);
    for (; i < n; i++) all = all && x[i] < most[0] && -x[i] < most[0];
    return all;
}

/* Multiplies by factor and replaces every NaN by the same one, as unpack_rows() does. */
static void scale_row(int64_t n, double factor, void *row) {
    real *x = row;
    for (int64_t i = 0; i < n; i++) {
        const real y = x[i] * (real)factor;
        x[i] = y == y ? y : (real)__builtin_nanf("");
    }
}

#endif
