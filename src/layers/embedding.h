/* SPDX-License-Identifier: Apache-2.0 */
/* embedding.h - looks up rows of a table by number: tokens, or learned positions. Touches only its
 * arguments; the arrays of a call must not overlap. Tests: tests/layers/test_embedding.c */
#ifndef ATTNI_EMBEDDING_H
#define ATTNI_EMBEDDING_H

#include "layers/real.h"

typedef struct attni_embedding {
    int64_t rows, width;
    const real *table; /* (rows, width) */
} attni_embedding;

/* y (n, width) = table[ids[i]], or y += if add is set (adding positions to tokens). An id outside 0
 * .. rows-1 gives ATTN_E_VALUE and leaves y untouched. */
attn_status R(embedding_forward)(const attni_embedding *embedding, int64_t n, const int32_t *ids,
                                 bool add, real *y, attn_error *err);
/* dtable[ids[i]] += dy[i], in ascending order of i. forward has validated ids; dy (n, width). */
void R(embedding_backward)(const attni_embedding *embedding, int64_t n, const int32_t *ids,
                           const real *dy, real *dtable);

#endif
