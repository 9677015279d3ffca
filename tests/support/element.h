/* SPDX-License-Identifier: Apache-2.0 */
/* element.h - one element of a tensor, as a number. Inline, because the oracles and bounds spend half
 * of their time here. */
#ifndef ELEMENT_H
#define ELEMENT_H

#include "attn/attn.h"
#include "core/half.h"

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
    const int64_t e = tensor_place(t, (const int64_t[4]){b, h, i, j});
    switch (t->dtype) {
    case ATTN_F32: return ((const float *)t->data)[e];
    case ATTN_F64: return ((const double *)t->data)[e];
    case ATTN_F16: return attni_f16_to_f32(((const uint16_t *)t->data)[e]);
    case ATTN_BF16: return attni_bf16_to_f32(((const uint16_t *)t->data)[e]);
    case ATTN_BOOL: return ((const uint8_t *)t->data)[e];
    default: return (double)((const int64_t *)t->data)[e];
    }
}

static inline void tensor_set(const attn_tensor *t, const int64_t at[4], double x) {
    const int64_t e = tensor_place(t, at);
    switch (t->dtype) {
    case ATTN_F32: ((float *)t->data)[e] = (float)x; break;
    case ATTN_F64: ((double *)t->data)[e] = x; break;
    case ATTN_F16: ((uint16_t *)t->data)[e] = attni_f32_to_f16((float)x); break;
    case ATTN_BF16: ((uint16_t *)t->data)[e] = attni_f32_to_bf16((float)x); break;
    case ATTN_BOOL: ((uint8_t *)t->data)[e] = (uint8_t)x; break;
    default: ((int64_t *)t->data)[e] = (int64_t)x; break;
    }
}

#endif
