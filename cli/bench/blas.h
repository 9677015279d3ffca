/* SPDX-License-Identifier: Apache-2.0 */
/* blas.h - OpenBLAS, if the machine has it, as a peer to measure against; loaded at run time, never
 * linked. */
#ifndef CLI_BLAS_H
#define CLI_BLAS_H

#include <stdbool.h>
#include <stdint.h>

/* True if OpenBLAS is there; it then uses this many threads. Debian: libopenblas0-pthread. */
bool blas_open(int threads);

/* Row-major C (m, n) = alpha A B, added to C if `add`, with A (m, k), or (k, m) if transposed, and
 * B (k, n), or (n, k) if transposed. */
typedef struct blas_sgemm_args {
    bool transpose_a, transpose_b;
    int64_t m, n, k;
    float alpha;
    const float *a, *b;
    float *c;
    bool add;
} blas_sgemm_args;

void blas_sgemm(const blas_sgemm_args *args);

#endif
