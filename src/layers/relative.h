/* SPDX-License-Identifier: Apache-2.0 */
/* relative.h - learned relative position bias as in T5 (Raffel et al. 2020): distances fall into
 * buckets, small ones each into their own, larger ones into logarithmic ranges; each bucket has one
 * number per head. Memory is O(n): attention reads the values by distance through a sliding view.
 * Touches its arguments; never allocates. Tests: tests/layers/test_relative.c */
#ifndef ATTNI_RELATIVE_H
#define ATTNI_RELATIVE_H

#include "layers/real.h"

typedef struct attni_relative {
    bool bidirectional;   /* half of the buckets for keys after the query; false: those share bucket
                             0 with distance 0, which fits causal attention */
    int64_t num_buckets;  /* >= 4 and even if bidirectional, else >= 2; T5: 32 */
    int64_t max_distance; /* distances from here on share one bucket; > num_buckets / 2
                             (bidirectional: / 4); T5: 128 */
} attni_relative;

/* ATTN_E_VALUE if a field is out of its range. */
attn_status R(relative_check)(const attni_relative *relative, attn_error *err);

/* Bucket of the distance j - i (key minus query), 0 .. num_buckets - 1. */
int64_t R(relative_bucket)(const attni_relative *relative, int64_t distance);

/* One problem: H heads, n_q queries and n_k keys, all > 0; the first query is aligned with key
 * `first`. */
typedef struct attni_relative_shape {
    int64_t H, n_q, n_k, first;
} attni_relative_shape;

/* by_distance (H, n_q + n_k - 1) from table (num_buckets, H): entry r of a head is the bias of the
 * distance j - i = r - (n_q - 1) - first. ATTN_E_VALUE if a field of attni_relative is out of
 * range; by_distance is then untouched. */
attn_status R(relative_forward)(const attni_relative *relative, const attni_relative_shape *shape,
                                const real *table, real *by_distance, attn_error *err);

/* by_distance as the bias (1, H, n_q, n_k) of attn_args, or as dbias of attn_gradients. */
attn_tensor R(relative_view)(const attni_relative_shape *shape, const real *by_distance);

/* dtable (num_buckets, H) += from dby_distance (H, n_q + n_k - 1). Errors as forward. */
attn_status R(relative_backward)(const attni_relative *relative, const attni_relative_shape *shape,
                                 const real *dby_distance, real *dtable, attn_error *err);

#endif
