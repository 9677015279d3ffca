/* SPDX-License-Identifier: Apache-2.0 */
/* sse2.h - the x86-64 baseline: 16 registers of 16 bytes, no fused multiply-add. The product needs
 * a register of its own, so two query vectors are the maximum without spilling (3 x 4: 0.47 of
 * peak, 2 x 6: 0.58). */
#include <emmintrin.h>

#define VBYTES 16
typedef real vr __attribute__((vector_size(VBYTES)));
typedef real_int vi __attribute__((vector_size(VBYTES)));

#define FUSED        false
#define ACCUMULATORS 12
#define MAX_VECS     2
#define MAX_ROWS     8

static inline vr v_fma(vr a, vr b, vr c) { return a * b + c; }
#if defined(ATTNI_REAL_f32)
static inline vr v_max(vr a, vr b) { return (vr)_mm_max_ps((__m128)a, (__m128)b); }
#else
static inline vr v_max(vr a, vr b) { return (vr)_mm_max_pd((__m128d)a, (__m128d)b); }
#endif
