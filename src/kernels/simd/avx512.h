/* SPDX-License-Identifier: Apache-2.0 */
/* avx512.h - AVX-512 F, BW, DQ, VL: 32 registers of 64 bytes; 3 query vectors x 6 rows = 18
 * sums; with more rows gcc 12 runs out of address registers. */
#include <immintrin.h>

#define VBYTES 64
typedef real vr __attribute__((vector_size(VBYTES)));
typedef real_int vi __attribute__((vector_size(VBYTES)));

#define FUSED        true
#define ACCUMULATORS 18
#define MAX_VECS     3
#define MAX_ROWS     6

#define HAVE_V_ANY
static inline bool v_any(vi mask) {
    return _mm512_test_epi64_mask((__m512i)mask, (__m512i)mask) != 0;
}

#if defined(ATTNI_REAL_f32)
static inline vr v_fma(vr a, vr b, vr c) {
    return (vr)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
}
static inline vr v_max(vr a, vr b) { return (vr)_mm512_max_ps((__m512)a, (__m512)b); }
#define HAVE_V_LOAD_F16
static inline vr v_load_f16(const uint16_t *p) {
    return (vr)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)p));
}
#else
static inline vr v_fma(vr a, vr b, vr c) {
    return (vr)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
}
static inline vr v_max(vr a, vr b) { return (vr)_mm512_max_pd((__m512d)a, (__m512d)b); }
#endif
