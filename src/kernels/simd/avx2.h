/* SPDX-License-Identifier: Apache-2.0 */
/* avx2.h - AVX2 with FMA and F16C: 16 registers of 32 bytes. 3 query vectors x 4 rows = 12 sums
 * + 3 operands + 1 broadcast fill them exactly. */
#include <immintrin.h>

#define VBYTES 32
typedef real vr __attribute__((vector_size(VBYTES)));
typedef real_int vi __attribute__((vector_size(VBYTES)));

#define FUSED        true
#define ACCUMULATORS 12
#define MAX_VECS     3
#define MAX_ROWS     8

#define HAVE_V_ANY
static inline bool v_any(vi mask) { return !_mm256_testz_si256((__m256i)mask, (__m256i)mask); }

#if defined(ATTNI_REAL_f32)
static inline vr v_fma(vr a, vr b, vr c) {
    return (vr)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
}
static inline vr v_max(vr a, vr b) { return (vr)_mm256_max_ps((__m256)a, (__m256)b); }

/* 8 x 8 in 24 shuffles, 16 of them inside 128-bit halves; the general zips take 48 that cross them.
 * It makes a call with 16 queries, d = 64, 1.2 times as fast. */
#define HAVE_V_TRANSPOSE
static inline void v_transpose(vr *r) {
    vr a[8], b[8];
    for (int i = 0; i < 8; i += 2) {
        a[i] = (vr)_mm256_unpacklo_ps((__m256)r[i], (__m256)r[i + 1]);
        a[i + 1] = (vr)_mm256_unpackhi_ps((__m256)r[i], (__m256)r[i + 1]);
    }
    for (int i = 0; i < 8; i += 4) {
        b[i] = (vr)_mm256_shuffle_ps((__m256)a[i], (__m256)a[i + 2], 0x44);
        b[i + 1] = (vr)_mm256_shuffle_ps((__m256)a[i], (__m256)a[i + 2], 0xee);
        b[i + 2] = (vr)_mm256_shuffle_ps((__m256)a[i + 1], (__m256)a[i + 3], 0x44);
        b[i + 3] = (vr)_mm256_shuffle_ps((__m256)a[i + 1], (__m256)a[i + 3], 0xee);
    }
    for (int i = 0; i < 4; i++) {
        r[i] = (vr)_mm256_permute2f128_ps((__m256)b[i], (__m256)b[i + 4], 0x20);
        r[i + 4] = (vr)_mm256_permute2f128_ps((__m256)b[i], (__m256)b[i + 4], 0x31);
    }
}

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
