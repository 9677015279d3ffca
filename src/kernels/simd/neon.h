/* SPDX-License-Identifier: Apache-2.0 */
/* neon.h - aarch64 Advanced SIMD: 32 registers of 16 bytes, fused multiply-add; 3 query vectors x 6
 * rows = 18 sums (with 24, gcc 12 spills). v_max returns the second operand if either is NaN, as on
 * x86. */
#include <arm_neon.h>

#define VBYTES 16
typedef real vr __attribute__((vector_size(VBYTES)));
typedef real_int vi __attribute__((vector_size(VBYTES)));

#define FUSED        true
#define ACCUMULATORS 18
#define MAX_VECS     3
#define MAX_ROWS     8

#if defined(ATTNI_REAL_f32)
static inline vr v_fma(vr a, vr b, vr c) {
    return (vr)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
}
#define HAVE_V_LOAD_F16
static inline vr v_load_f16(const uint16_t *p) {
    return (vr)vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(p)));
}
#else
static inline vr v_fma(vr a, vr b, vr c) {
    return (vr)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
}
#endif
static inline vr v_max(vr a, vr b) {
    const vi greater = a > b;
    return (vr)(((vi)a & greater) | ((vi)b & ~greater));
}
