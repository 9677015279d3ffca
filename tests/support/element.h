/* SPDX-License-Identifier: Apache-2.0 */
/* element.h - one element of a tensor, as a number. Inline, because the oracles and bounds spend
 * half of their time here. */
#ifndef ELEMENT_H
#define ELEMENT_H

#include "core/dtype.h"

static inline int64_t tensor_place(const attn_tensor *t, const int64_t at[4]) {
    return at[0] * t->stride[0] + at[1] * t->stride[1] + at[2] * t->stride[2] +
           at[3] * t->stride[3];
}

/* The address of an element. Strides are taken as they are. */
static inline void *tensor_at(const attn_tensor *t, const int64_t at[4]) {
    return (char *)t->data + tensor_place(t, at) * (int64_t)attn_dtype_size(t->dtype);
}

/* An element as double, and back, rounded to the dtype. */
static inline double tensor_get(const attn_tensor *t, int64_t b, int64_t h, int64_t i, int64_t j) {
    return attni_load_as(t->dtype, t->data, tensor_place(t, (const int64_t[4]){b, h, i, j}));
}

static inline void tensor_set(const attn_tensor *t, const int64_t at[4], double x) {
    attni_store_as(t->dtype, t->data, tensor_place(t, at), x);
}

#endif
