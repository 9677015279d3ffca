/* SPDX-License-Identifier: Apache-2.0 */
/* gemm.h - matrix products with the attention micro-kernel: no BLAS, bit-identical for any thread
 * count and vector width. Tests: tests/engine/test_gemm.c */
#ifndef ATTNI_GEMM_H
#define ATTNI_GEMM_H

#include "attention/context.h"

/* C (m, n) = A (m, k) B (k, n), or C += A B if add is set. Strides are in elements; rows of C are
 * contiguous. */
typedef struct attni_gemm {
    int64_t m, n, k;
    bool add;
    const void *a;
    ptrdiff_t a_row, a_column;
    const void *b;
    ptrdiff_t b_row, b_column;
    void *c;
    ptrdiff_t c_row;
} attni_gemm;

/* The size in bytes of the 64-byte aligned scratch that attni_gemm_run() needs with a pool of this
 * many threads. */
size_t attni_gemm_scratch(const attni_kernels *kernels, bool f64, const attni_gemm *g, int threads);
void attni_gemm_run(attni_pool *pool, const attni_kernels *kernels, bool f64, const attni_gemm *g,
                    void *scratch);
/* The same with the kernels, threads and scratch of the context. Returns ATTN_E_MEMORY if there is
 * no scratch; c is then untouched. Small products stay on the calling thread. */
attn_status attni_gemm_on(attn_ctx *ctx, bool f64, const attni_gemm *g, attn_error *err);

#endif
