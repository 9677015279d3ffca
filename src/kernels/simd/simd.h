/* SPDX-License-Identifier: Apache-2.0 */
/* simd.h - the vector operations: one set of names for every ISA and both real types, built on
 * GCC/Clang vector extensions. An ISA header adds what the extensions cannot express: the width,
 * v_fma, v_max, half-precision loads, register count. Only kernel sources include this. Arithmetic
 * is written with the operators + - * / and comparisons on vr. */
#ifndef ATTNI_SIMD_H
#define ATTNI_SIMD_H

#include "core/base.h"

#include <float.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(ATTNI_REAL_f32)
typedef float real;
typedef int32_t real_int;
#define REAL(f32_value, f64_value) f32_value##f
#define REAL_BITS                  32
#define REAL_MAX                   FLT_MAX
#elif defined(ATTNI_REAL_f64)
typedef double real;
typedef int64_t real_int;
#define REAL(f32_value, f64_value) f64_value
#define REAL_BITS                  64
#define REAL_MAX                   DBL_MAX
#else
#error "define ATTNI_REAL_f32 or ATTNI_REAL_f64"
#endif

#if defined(ATTNI_ISA_SCALAR)
#include "kernels/simd/scalar.h"
#elif defined(ATTNI_ISA_SSE2)
#include "kernels/simd/sse2.h"
#elif defined(ATTNI_ISA_AVX2)
#include "kernels/simd/avx2.h"
#elif defined(ATTNI_ISA_AVX512)
#include "kernels/simd/avx512.h"
#elif defined(ATTNI_ISA_NEON)
#include "kernels/simd/neon.h"
#elif defined(ATTNI_ISA_SIMD128)
#include "kernels/simd/wasm.h"
#else
#error "define one ATTNI_ISA_*"
#endif

/* A size-optimised build may leave out the narrow panels, since the wide ones handle every case;
 * with ATTNI_SMALL it also leaves out unrolling and attention itself, keeping only products. */
#ifdef ATTNI_MIN_VECS
#define MIN_VECS ATTNI_MIN_VECS
#else
#define MIN_VECS 1
#endif

/* VBYTES comes from the ISA header. */
#define VL ((int)(VBYTES / sizeof(real)))

#define INLINE ATTNI_INLINE
#ifdef ATTNI_SMALL
#define UNROLL
#define UNROLL_4
#elif defined(__clang__)
#define UNROLL   _Pragma("clang loop unroll(full)")
#define UNROLL_4 _Pragma("clang loop unroll(disable)") /* clang spills where gcc does not */
#else
#define UNROLL   _Pragma("GCC unroll 32")
#define UNROLL_4 _Pragma("GCC unroll 4")
#endif

/* Stops the compiler from moving a later load up. The micro-kernel fills the register file
 * exactly; a broadcast hoisted by clang 19 spills it and halves the speed. Costs gcc nothing. */
#define KEEP_ORDER() __asm__ volatile("" ::: "memory")

typedef real vr_unaligned __attribute__((vector_size(VBYTES), aligned(sizeof(real)), may_alias));

INLINE vr v_load(const real *p) { return *(const vr_unaligned *)p; }
INLINE void v_store(real *p, vr x) { *(vr_unaligned *)p = x; }
INLINE vr v_zero(void) { return (vr){0}; }
INLINE vr v_set(real x) { return x - v_zero(); }
INLINE vi v_set_int(real_int x) { return x - (vi){0}; }
INLINE vr v_select(vi mask, vr a, vr b) { return (vr)(((vi)a & mask) | ((vi)b & ~mask)); }
INLINE vr v_and(vi mask, vr a) { return (vr)((vi)a & mask); }
INLINE vr v_abs(vr x) { return (vr)((vi)x & ~((vi)v_set(REAL(-0.0, -0.0)))); }
#ifndef HAVE_V_ANY
INLINE bool v_any(vi mask) {
    real_int any = 0;
    UNROLL for (int i = 0; i < VL; i++) any |= mask[i];
    return any != 0;
}
#endif

#ifndef HAVE_V_TRANSPOSE
/* VL x VL transpose in log2(VL) rounds of zipping row i with row i + VL/2. */
#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#endif
#endif
#ifndef SHUFFLE /* gcc 11 */
#define SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (vi){__VA_ARGS__})
#endif
#if VBYTES / (REAL_BITS / 8) == 2
#define ZIP_LOW(a, b)  SHUFFLE(a, b, 0, 2)
#define ZIP_HIGH(a, b) SHUFFLE(a, b, 1, 3)
#elif VBYTES / (REAL_BITS / 8) == 4
#define ZIP_LOW(a, b)  SHUFFLE(a, b, 0, 4, 1, 5)
#define ZIP_HIGH(a, b) SHUFFLE(a, b, 2, 6, 3, 7)
#elif VBYTES / (REAL_BITS / 8) == 8
#define ZIP_LOW(a, b)  SHUFFLE(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define ZIP_HIGH(a, b) SHUFFLE(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#elif VBYTES / (REAL_BITS / 8) == 16
#define ZIP_LOW(a, b)  SHUFFLE(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define ZIP_HIGH(a, b) SHUFFLE(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#endif

INLINE void v_transpose(vr *rows) {
#ifdef ZIP_LOW
    vr t[VL];
    UNROLL for (int round = 1; round < VL; round *= 2) {
        UNROLL for (int i = 0; i < VL / 2; i++) {
            t[2 * i] = ZIP_LOW(rows[i], rows[i + VL / 2]);
            t[2 * i + 1] = ZIP_HIGH(rows[i], rows[i + VL / 2]);
        }
        UNROLL for (int i = 0; i < VL; i++) rows[i] = t[i];
    }
#else
    (void)rows; /* one lane */
#endif
}
#endif

#ifndef HAVE_V_LOAD_COLUMNS
/* VL reals of each of VL rows, `at` bytes after their beginnings, transposed. They may be pairs of
 * halves, which are aligned as halves are. */
typedef real vr_anywhere __attribute__((vector_size(VBYTES), aligned(1), may_alias));

INLINE void v_load_columns(const char *const *rows, int64_t at, vr *columns) {
    UNROLL for (int i = 0; i < VL; i++) columns[i] = *(const vr_anywhere *)(rows[i] + at);
    v_transpose(columns);
}
#endif

#if defined(ATTNI_REAL_f32)
/* VL pairs of bf16 -> the first and the second of each pair. */
INLINE void v_split_bf16(vr pairs, vr *first, vr *second) {
    *first = (vr)((vi)pairs << 16);
    *second = (vr)((vi)pairs & v_set_int((real_int)0xffff0000));
}
#endif

#endif
