/* SPDX-License-Identifier: Apache-2.0 */
/* multiply.h - the micro-kernel of every product: attention scores, weighted values, matrix
 * products. Included by the kernels of this folder. tests/arch checks that its loop never
 * touches the stack. */
#ifndef ATTNI_MULTIPLY_H
#define ATTNI_MULTIPLY_H

#include "kernels/simd/simd.h"

/* Rows of the register block for n_v query vectors; more than MAX_ROWS would need more address
 * registers than there are. */
#define ROWS(n_v)  (ACCUMULATORS / (n_v) < MAX_ROWS ? ACCUMULATORS / (n_v) : MAX_ROWS)
#define LANES(n_v) ((n_v) * VL)

/* sums[i][v] += a[i*a_row] * b[v] */
INLINE void multiply_step(const int n_i, const int n_v, const real *restrict a, ptrdiff_t a_row,
                          const real *restrict b, vr *sums) {
    vr column[MAX_VECS];
    UNROLL for (int v = 0; v < n_v; v++) column[v] = v_load(b + v * VL);
    UNROLL for (int i = 0; i < n_i; i++) {
        KEEP_ORDER();
        const vr x = v_set(a[i * a_row]);
        UNROLL for (int v = 0; v < n_v; v++) {
            sums[i * n_v + v] = v_fma(x, column[v], sums[i * n_v + v]);
        }
    }
}

/* The only micro-kernel: sums[i][v] += sum over c of a[i*a_row + c*a_step] * b[c*b_step + v]. */
INLINE void multiply(const int n_i, const int n_v, int64_t n, const real *restrict a,
                     ptrdiff_t a_row, ptrdiff_t a_step, const real *restrict b, ptrdiff_t b_step,
                     vr *sums) {
#if MIN_VECS > 1
    /* Compiled for size, only a loop tested at its end is fast; compiled for speed, clang spills in
     * such a loop. */
    if (n <= 0) return;
    do {
        multiply_step(n_i, n_v, a, a_row, b, sums);
        a += a_step;
        b += b_step;
    } while (--n > 0);
#else
    UNROLL_4 for (int64_t c = 0; c < n; c++) {
        multiply_step(n_i, n_v, a, a_row, b, sums);
        a += a_step;
        b += b_step;
    }
#endif
}

#endif
