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

/* 16 x 16 in 32 shuffles: 128-bit quarters of four rows meet in a register as they are loaded, which
 * takes no shuffle, unlike four rounds of zipping whole rows. */
#define HAVE_V_LOAD_COLUMNS
static inline __m512 load_quarters(const char *const *rows, int64_t at) {
    const __m128 *row[4] = {(const __m128 *)(rows[0] + at), (const __m128 *)(rows[4] + at),
                            (const __m128 *)(rows[8] + at), (const __m128 *)(rows[12] + at)};
    __m512 x = _mm512_broadcast_f32x4(_mm_loadu_ps((const float *)row[0]));
    x = _mm512_mask_broadcast_f32x4(x, 0x00f0, _mm_loadu_ps((const float *)row[1]));
    x = _mm512_mask_broadcast_f32x4(x, 0x0f00, _mm_loadu_ps((const float *)row[2]));
    return _mm512_mask_broadcast_f32x4(x, 0xf000, _mm_loadu_ps((const float *)row[3]));
}

static inline void v_load_columns(const char *const *rows, int64_t at, vr *columns) {
    __m512 x[4][4]; /* quarter, row of four */
    for (int i = 0; i < 4; i++) {
        for (int quarter = 0; quarter < 4; quarter++)
            x[quarter][i] = load_quarters(rows + i, at + 16 * quarter);
    }
    for (int quarter = 0; quarter < 4; quarter++) {
        __m512d low[2], high[2];
        for (int i = 0; i < 2; i++) {
            low[i] = _mm512_castps_pd(_mm512_unpacklo_ps(x[quarter][2 * i], x[quarter][2 * i + 1]));
            high[i] =
                _mm512_castps_pd(_mm512_unpackhi_ps(x[quarter][2 * i], x[quarter][2 * i + 1]));
        }
        columns[4 * quarter] = (vr)_mm512_unpacklo_pd(low[0], low[1]);
        columns[4 * quarter + 1] = (vr)_mm512_unpackhi_pd(low[0], low[1]);
        columns[4 * quarter + 2] = (vr)_mm512_unpacklo_pd(high[0], high[1]);
        columns[4 * quarter + 3] = (vr)_mm512_unpackhi_pd(high[0], high[1]);
    }
}

#define HAVE_V_LOAD_F16
static inline vr v_load_f16(const uint16_t *p) {
    return (vr)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)p));
}

/* 16 pairs of f16 -> the first and the second of each pair. */
#define HAVE_V_SPLIT_F16
static inline void v_split_f16(vr pairs, vr *first, vr *second) {
    const __m512i order =
        _mm512_set_epi16(31, 29, 27, 25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1, 30, 28, 26, 24,
                         22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    const __m512i sorted = _mm512_permutexvar_epi16(order, (__m512i)pairs);
    *first = (vr)_mm512_cvtph_ps(_mm512_castsi512_si256(sorted));
    *second = (vr)_mm512_cvtph_ps(_mm512_extracti64x4_epi64(sorted, 1));
}
#else
static inline vr v_fma(vr a, vr b, vr c) {
    return (vr)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
}
static inline vr v_max(vr a, vr b) { return (vr)_mm512_max_pd((__m512d)a, (__m512d)b); }
#endif
