/* SPDX-License-Identifier: Apache-2.0 */
/* chunk.h - rows are processed in chunks of CHUNK reals on the stack, the last one padded: loops of
 * constant length, which compilers vectorise, and sums in one fixed order on every machine. Used by
 * the layers in this directory. Tests: those of the layers. */
#ifndef ATTNI_CHUNK_H
#define ATTNI_CHUNK_H

#include "layers/real.h"

/* A multiple of every kernel table's vl; several arrays of 64 doubles fit in a small stack
 * frame. */
enum { CHUNK = 64, LANES = 8 };

#define LOG2E ((real)1.4426950408889634074)

/* The number of elements of the chunk that begins at i. */
static inline int chunk_length(int64_t n, int64_t i) { return (int)attni_min(CHUNK, n - i); }

static inline void chunk_load(int n, const real *x, real fill, real chunk[CHUNK]) {
    memcpy(chunk, x, (size_t)n * sizeof *x);
    for (int i = n; i < CHUNK; i++) chunk[i] = fill;
}

/* A sum has LANES partial sums: lane l takes elements l, l + LANES, ... This adds them up in
 * pairs. */
static inline real lanes_sum(const real lane[LANES]) {
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) +
           ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

static inline real chunk_sum(const real chunk[CHUNK]) {
    real lane[LANES] = {0};
    for (int i = 0; i < CHUNK; i += LANES) {
        for (int l = 0; l < LANES; l++) lane[l] += chunk[i + l];
    }
    return lanes_sum(lane);
}

#endif
