/* SPDX-License-Identifier: Apache-2.0 */
/* gemm.h - matrix products by the attention micro-kernel: no BLAS, the same bits for any thread
 * count and vector width.
 * Tests: tests/engine/test_gemm.c */
#ifndef ATTNI_GEMM_H
#define ATTNI_GEMM_H

#include "attention/context.h"

/* C (m, n) = A (m, k) B (k, n), or C += A B with add. Strides in elements; columns of C are
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

/* Bytes of scratch, 64-byte aligned, that attni_gemm_run() needs with a pool of this many
 * threads. */
size_t attni_gemm_scratch(const attni_kernels *kernels, bool f64, const attni_gemm *g, int threads);
void attni_gemm_run(attni_pool *pool, const attni_kernels *kernels, bool f64, const attni_gemm *g,
                    void *scratch);
/* The same with kernels, threads and scratch of the context. ATTN_E_MEMORY when there is no
 * scratch; c is untouched then. Small products stay on the calling thread. */
attn_status attni_gemm_on(attn_ctx *ctx, bool f64, const attni_gemm *g, attn_error *err);

#endif
