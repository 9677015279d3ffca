/* SPDX-License-Identifier: Apache-2.0 */
/* base.h - what every room may use: checked size arithmetic, error reporting, small inline helpers.
 * Nothing here is specific to attention. Tests: tests/core/test_core.c */
#ifndef ATTNI_BASE_H
#define ATTNI_BASE_H

#include "attn/attn.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

/* Results are exact only if the compiler keeps the arithmetic as written. gcc sets __GCC_IEC_559 to
 * 0 for any option that -ffast-math implies; for clang and clang-cl, which do not announce all of
 * them, the pragmas turn them off. */
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__) ||           \
    (defined(__GCC_IEC_559) && __GCC_IEC_559 == 0)
#error "attn must not be compiled with -ffast-math or a part of it: its results would be wrong"
#endif
#if defined(__clang__)
#pragma clang fp contract(off) reassociate(off)
#endif

#define ATTN_TRY(e)                                                                                \
    do {                                                                                           \
        attn_status try_status_ = (e);                                                             \
        if (try_status_ != ATTN_OK) {                                                              \
            return try_status_;                                                                    \
        }                                                                                          \
    } while (0)

#define attni_assert(condition) assert(condition)

#if defined(__clang__)
#define ATTNI_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#elif defined(__GNUC__) /* the formats of C99 on every system */
#define ATTNI_PRINTF(fmt, args) __attribute__((format(gnu_printf, fmt, args)))
#else
#define ATTNI_PRINTF(fmt, args)
#endif

/* The instruction sets of attn_isa, AUTO included. No public struct or array may depend on it. */
enum { ATTNI_ISA_COUNT = ATTN_ISA_SIMD128 + 1 };

#define ATTNI_INLINE static inline __attribute__((always_inline))

/* Writes the message (unless err is NULL) and returns status, so that callers can write
 * `return attni_fail(...)`. */
attn_status attni_fail(attn_error *err, attn_status status, const char *format, ...)
    ATTNI_PRINTF(3, 4);

/* *out = a * b or a + b; false on overflow. */
static inline bool attni_mul(size_t a, size_t b, size_t *out) {
    return !__builtin_mul_overflow(a, b, out);
}
static inline bool attni_add(size_t a, size_t b, size_t *out) {
    return !__builtin_add_overflow(a, b, out);
}

static inline int64_t attni_min(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t attni_max(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t attni_clamp(int64_t x, int64_t lo, int64_t hi) {
    return attni_max(lo, attni_min(x, hi));
}
static inline int64_t attni_ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/* a + b, saturated to the range of int64_t: callers may pass "infinite" offsets and windows. */
static inline int64_t attni_add_sat(int64_t a, int64_t b) {
    int64_t sum;
    if (!__builtin_add_overflow(a, b, &sum)) return sum;
    return a < 0 ? INT64_MIN : INT64_MAX;
}

#endif
