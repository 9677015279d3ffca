/* SPDX-License-Identifier: Apache-2.0 */
/* half.h - conversion of f16 and bf16 to and from f32, in portable C, rounding to nearest even; NaN
 * stays NaN. Used by every room that handles single elements; kernels have vector versions. Tests:
 * tests/core/test_core.c */
#ifndef ATTNI_HALF_H
#define ATTNI_HALF_H

#include <stdint.h>
#include <string.h>

static inline uint32_t attni_bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float attni_float_of(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline float attni_f16_to_f32(uint16_t h) {
    const uint32_t sign = (uint32_t)(h & 0x8000u) << 16;
    const uint32_t rest = (uint32_t)(h & 0x7fffu);
    if (rest >= 0x7c00u) return attni_float_of(sign | 0x7f800000u | (rest << 13)); /* Inf, NaN */
    if (rest >= 0x0400u) return attni_float_of(sign | ((rest << 13) + 0x38000000u));
    const float tiny = (float)rest * 0x1p-24f; /* zero and subnormals, exact */
    return sign ? -tiny : tiny;
}

static inline uint16_t attni_f32_to_f16(float x) {
    const uint32_t bits = attni_bits_of(x);
    const uint16_t sign = (uint16_t)((bits >> 16) & 0x8000u);
    const uint32_t a = bits & 0x7fffffffu;
    if (a > 0x7f800000u) return (uint16_t)(sign | 0x7e00u | ((a >> 13) & 0x3ffu)); /* NaN */
    if (a >= 0x477ff000u) return (uint16_t)(sign | 0x7c00u); /* rounds to Inf */
    if (a < 0x38800000u) { /* subnormal result: adding 0.5 rounds at 2^-24 to nearest even */
        const float shifted = attni_float_of(a) + 0.5f;
        return (uint16_t)(sign | (attni_bits_of(shifted) - 0x3f000000u));
    }
    const uint32_t rounded = a + 0xfffu + ((a >> 13) & 1u);
    return (uint16_t)(sign | ((rounded - 0x38000000u) >> 13));
}

static inline float attni_bf16_to_f32(uint16_t h) { return attni_float_of((uint32_t)h << 16); }

static inline uint16_t attni_f32_to_bf16(float x) {
    const uint32_t bits = attni_bits_of(x);
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return (uint16_t)((bits >> 16) | 0x40u); /* NaN, made quiet */
    return (uint16_t)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

#endif
