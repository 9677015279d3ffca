/* SPDX-License-Identifier: Apache-2.0 */
/* vmath.h - 2^x for the softmax and tanh for the softcap, on vectors: bit-identical on every ISA of
 * a class, without libm. Included by the kernels of this folder. Tests: tests/engine/test_math.c */
#ifndef ATTNI_VMATH_H
#define ATTNI_VMATH_H

#include "kernels/simd/simd.h"

/* 2^f = 1 + f (LN2 + f c(f)) on [-1/2, 1/2]: minimax with ln 2 as first coefficient, so that small
 * f are accurate too; relative error of 2^f 2.9e-9 (f32) and 4.0e-18 (f64). Returns c(f). */
#define LN2 REAL(0x1.62e430p-1, 0x1.62e42fefa39efp-1)
INLINE vr exp2_curve(vr f) {
#if defined(ATTNI_REAL_f32)
    vr p = v_set(0x1.415fcap-13f);
    p = v_fma(p, f, v_set(0x1.5f0934p-10f));
    p = v_fma(p, f, v_set(0x1.3b2dfap-7f));
    p = v_fma(p, f, v_set(0x1.c6af7ap-5f));
    return v_fma(p, f, v_set(0x1.ebfbdcp-3f));
#else
    vr p = v_set(0x1.e8111d9855d62p-32);
    p = v_fma(p, f, v_set(0x1.e61229d5bfb70p-28));
    p = v_fma(p, f, v_set(0x1.b5260c863b7fcp-24));
    p = v_fma(p, f, v_set(0x1.62bfcd860e2e4p-20));
    p = v_fma(p, f, v_set(0x1.ffcbfbf912c5cp-17));
    p = v_fma(p, f, v_set(0x1.4309130c29033p-13));
    p = v_fma(p, f, v_set(0x1.5d87fe78b3b9fp-10));
    p = v_fma(p, f, v_set(0x1.3b2ab6fba110bp-7));
    p = v_fma(p, f, v_set(0x1.c6b08d704a0d4p-5));
    return v_fma(p, f, v_set(0x1.ebfbdff82c59cp-3));
#endif
}

/* (2^f - 1) / f */
INLINE vr exp2_slope(vr f) { return v_fma(exp2_curve(f), f, v_set(LN2)); }

/* 2^f. Without fused multiply-add the product f LN2 is rounded; what 1 + f LN2 then loses is
 * added back, because otherwise the error would exceed 1 ulp. */
INLINE vr exp2_fraction(vr f) {
    const vr one = v_set(1);
    if (FUSED) return v_fma(exp2_slope(f), f, one);
    const vr linear = f * v_set(LN2), sum = one + linear, lost = linear - (sum - one);
    return sum + (lost + exp2_curve(f) * f * f);
}

/* 1.5 * 2^23 + 127 and 1.5 * 2^52 + 1023: adding it rounds to an integer and leaves that
 * integer, plus the bias of the exponent, in the low bits. */
#define MAGIC REAL(12583039.0, 6755399441056767.0)

/* 2^(x - from) for a whole number `from`, given magic = MAGIC - from: x - from = n + f with
 * whole n, |f| <= 1/2. Nothing is rounded on the way to f. Returns 2^n, by shifting n + bias
 * into the exponent; n = -bias gives 0. */
INLINE vr exp2_split(vr x, vr magic, vr *f) {
    const vr t = x + magic;
    *f = x - (t - magic);
    return (vr)((vi)t << (REAL_BITS == 32 ? 23 : 52));
}

/* Preconditions of 2^x: x <= 1/2, and x = -bias where the true x is lower or -inf; the result is
 * then exactly 0. */
INLINE vr exp2_from(vr x, vr magic) {
    vr f;
    const vr scale = exp2_split(x, magic, &f);
    return exp2_fraction(f) * scale;
}

#define LOWEST_EXPONENT REAL(-127.0, -1023.0)

/* 2^x for x <= 0; 0 below the normal range. Error in f32 below 0.81 ulp. NaN stays NaN, because
 * v_max() then returns its second operand. */
INLINE vr v_exp2(vr x) { return exp2_from(v_max(v_set(LOWEST_EXPONENT), x), v_set(MAGIC)); }

/* tanh x = (e^2x - 1) / (e^2x + 1) on |x|, with e^2x - 1 = 2^n (2^f - 1) + (2^n - 1) free of
 * cancellation. */
INLINE vr v_tanh(vr x) {
    const vr limit = v_set(REAL(10.0, 20.0)); /* tanh rounds to 1 beyond */
    const vr magnitude = v_abs(x);
    const vr y = v_select(magnitude > limit, limit, magnitude) *
                 v_set(REAL(0x1.715476p+1, 0x1.71547652b82fep+1));
    vr f;
    const vr scale = exp2_split(y, v_set(MAGIC), &f);
    const vr expm1 = v_fma(exp2_slope(f) * f, scale, scale - v_set(1));
    const vr t = expm1 / (expm1 + v_set(2));
    const vi sign = (vi)x & (vi)v_set(REAL(-0.0, -0.0));
    return (vr)((vi)t | sign);
}

#endif
