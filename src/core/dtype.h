/* SPDX-License-Identifier: Apache-2.0 */
/* dtype.h - loads one element of an array of any dtype as a double, and stores it back (rounded to
 * nearest even; f16 and bf16 by way of f32). In a loop where the dtype is a compile-time constant,
 * through ATTNI_INLINE, the switch disappears. Tests: tests/golden/,
 * tests/attention/test_inspect.c */
#ifndef ATTNI_DTYPE_H
#define ATTNI_DTYPE_H

#include "core/base.h"
#include "core/half.h"

#include <math.h>

static inline double attni_load_as(attn_dtype dtype, const void *array, int64_t at) {
    switch (dtype) {
    case ATTN_F32: return ((const float *)array)[at];
    case ATTN_F64: return ((const double *)array)[at];
    case ATTN_F16: return attni_f16_to_f32(((const uint16_t *)array)[at]);
    case ATTN_BF16: return attni_bf16_to_f32(((const uint16_t *)array)[at]);
    case ATTN_BOOL: return ((const uint8_t *)array)[at] != 0;
    case ATTN_I64: return (double)((const int64_t *)array)[at];
    }
    return NAN;
}

/* There are many NaN bit patterns, and which of them an operation gives depends on the machine.
 * Results use only one: quiet, positive, without payload. */
static inline double attni_one_nan(double x) { return x == x ? x : (double)NAN; }

static inline void attni_store_as(attn_dtype dtype, void *array, int64_t at, double x) {
    x = attni_one_nan(x);
    switch (dtype) {
    case ATTN_F32: ((float *)array)[at] = (float)x; break;
    case ATTN_F64: ((double *)array)[at] = x; break;
    case ATTN_F16: ((uint16_t *)array)[at] = attni_f32_to_f16((float)x); break;
    case ATTN_BF16: ((uint16_t *)array)[at] = attni_f32_to_bf16((float)x); break;
    case ATTN_BOOL: ((uint8_t *)array)[at] = x != 0; break;
    case ATTN_I64: ((int64_t *)array)[at] = (int64_t)x; break;
    }
}

#endif
