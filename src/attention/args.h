/* SPDX-License-Identifier: Apache-2.0 */
/* args.h - the door: everything a caller can get wrong is found here, once. Behind it, attn_args
 * are complete and true.
 * Called by every public function that takes attn_args. Tests: tests/unit/test_args.c */
#ifndef ATTNI_ARGS_H
#define ATTNI_ARGS_H

#include "core/base.h"
#include "core/half.h"

/* Checks args and copies them to *full with defaults completed (scale filled in). need_data: q,
 * k, v must have data. */
attn_status attni_args_check_shapes(const attn_args *args, bool need_data, attn_args *full,
                                    attn_error *err);
attn_status attni_args_check(const attn_args *args, attn_args *full, attn_error *err);

/* Checks one tensor by itself: a dtype in the set of bits 1 << dtype, a shape, reachable and
 * aligned elements, data unless it is empty or not needed. */
attn_status attni_check_tensor(const char *name, const attn_tensor *t, unsigned dtypes,
                               bool need_data, attn_error *err);
attn_status attni_check_row_contiguous(const char *name, const attn_tensor *t, attn_error *err);

/* Checks out (B, H, n_q, d_v) and lse (B, H, n_q, 1) or NULL against checked arguments. */
attn_status attni_output_check(const attn_args *full, const attn_tensor *out,
                               const attn_tensor *lse, bool allow_f64, attn_error *err);

/* Checks an output that must have this shape, a dtype in the set of bits 1 << dtype, and not
 * overlap q, k, v, mask, bias. row_contiguous: the last dimension must have stride 1. */
attn_status attni_check_result(const attn_args *full, const char *name, const attn_tensor *t,
                               const int64_t shape[4], unsigned dtypes, bool row_contiguous,
                               attn_error *err);

/* Could the two views share an element? Exact for packed layouts such as q, k, v, out side by
 * side in one buffer. */
bool attni_tensors_overlap(const attn_tensor *a, const attn_tensor *b);

/* attn_dtype_size() of a valid dtype, inline. */
static inline int64_t attni_dtype_size(attn_dtype dtype) {
    static const int8_t sizes[] = {4, 8, 2, 2, 1, 8};
    return sizes[dtype];
}

/* Address of element (b, h, i, 0); a dimension of size 1 repeats. */
static inline void *attni_row_at(const attn_tensor *t, int64_t b, int64_t h, int64_t i) {
    const int64_t at = (t->shape[0] > 1 ? b * t->stride[0] : 0) +
                       (t->shape[1] > 1 ? h * t->stride[1] : 0) +
                       (t->shape[2] > 1 ? i * t->stride[2] : 0);
    return (char *)t->data + at * attni_dtype_size(t->dtype);
}

/* Element (b, h, i, j) of a float tensor. */
static inline double attni_element(const attn_tensor *t, int64_t b, int64_t h, int64_t i,
                                   int64_t j) {
    const void *row = attni_row_at(t, b, h, i);
    const int64_t at = j * t->stride[3];
    switch (t->dtype) {
    case ATTN_F32: return ((const float *)row)[at];
    case ATTN_F64: return ((const double *)row)[at];
    case ATTN_F16: return attni_f16_to_f32(((const uint16_t *)row)[at]);
    default: return attni_bf16_to_f32(((const uint16_t *)row)[at]);
    }
}

/* One batch entry, or one packed sequence: the unit in which i and j are counted. */
typedef struct attni_sequence {
    int64_t index;        /* in mask, bias, offsets, dropout */
    int64_t batch;        /* in q, k, v, out */
    int64_t q_row, k_row; /* where it starts */
    int64_t rows;         /* output rows that belong to it, padding included */
    int64_t n_q, n_k;     /* real rows and keys */
    int64_t offset;       /* key position of query 0 */
} attni_sequence;

int64_t attni_sequence_count(const attn_args *full);
attni_sequence attni_sequence_at(const attn_args *full, int64_t index);
/* The longest sequence: most rows (padding included) and most keys. */
void attni_sequence_longest(const attn_args *full, int64_t *rows, int64_t *keys);

#endif
