/* SPDX-License-Identifier: Apache-2.0 */
/* tensor.h - checks on tensors (is it valid, does it overlap another?) and addresses of rows and
 * elements. */
#ifndef ATTNI_TENSOR_H
#define ATTNI_TENSOR_H

#include "core/dtype.h"

extern const char *const attni_dim_name[4]; /* "batch", "heads", "rows", "columns" */

static inline bool attni_tensor_is_empty(const attn_tensor *t) {
    return t->shape[0] == 0 || t->shape[1] == 0 || t->shape[2] == 0 || t->shape[3] == 0;
}

/* An optional tensor is absent if it has neither data nor elements. */
static inline bool attni_tensor_is_given(const attn_tensor *t) {
    return t->data || !attni_tensor_is_empty(t);
}

/* Checks one tensor by itself: a dtype in the set of bits 1 << dtype, a shape, reachable and
 * aligned elements, data unless it is empty or not needed. */
attn_status attni_check_tensor(const char *name, const attn_tensor *t, unsigned dtypes,
                               bool need_data, attn_error *err);
attn_status attni_check_row_contiguous(const char *name, const attn_tensor *t, attn_error *err);

/* Checks that no two elements share memory, as is required of results. */
attn_status attni_check_distinct(const char *name, const attn_tensor *t, attn_error *err);

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

/* Element (b, h, i, j); a dimension of size 1 repeats. */
static inline double attni_element(const attn_tensor *t, int64_t b, int64_t h, int64_t i,
                                   int64_t j) {
    return attni_load_as(t->dtype, attni_row_at(t, b, h, i), j * t->stride[3]);
}

#endif
