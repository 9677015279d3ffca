/* SPDX-License-Identifier: Apache-2.0 */
/* avx2.h - AVX2 with FMA and F16C: 16 registers of 32 bytes. 3 query vectors x 4 rows = 12 sums + 3 operands + 1
 * broadcast fill them exactly. */
#include <immintrin.h>

#define VBYTES 32
typedef real vr __attribute__((vector_size(VBYTES)));
typedef real_int vi __attribute__((vector_size(VBYTES)));

#define FUSED        true
#define ACCUMULATORS 12
#define MAX_VECS     3

#if defined(ATTNI_REAL_f32)
static inline vr v_fma(vr a, vr b, vr c) {
    return (vr)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
}
static inline vr v_max(vr a, vr b) { return (vr)_mm256_max_ps((__m256)a, (__m256)b); }
#define HAVE_V_LOAD_F16
static inline vr v_load_f16(const uint16_t *p) {
    return (vr)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)p));
}
#else
static inline vr v_fma(vr a, vr b, vr c) {
    return (vr)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
}
static inline vr v_max(vr a, vr b) { return (vr)_mm256_max_pd((__m256d)a, (__m256d)b); }
#endif
