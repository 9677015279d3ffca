/* SPDX-License-Identifier: Apache-2.0 */
/* wasm.h - WebAssembly SIMD128: no fused multiply-add, so results are bit-identical to those of
 * SSE2. With relaxed SIMD (in the page, where the browser has it) the multiply-add is the machine's
 * own, fused where that is fast. The last bits then depend on the machine, so nothing may rely on
 * FUSED. */
#include <wasm_simd128.h>

#define VBYTES 16
typedef real vr __attribute__((vector_size(VBYTES)));
typedef real_int vi __attribute__((vector_size(VBYTES)));

#define FUSED        false
#define ACCUMULATORS 12
#define MAX_VECS     2
/* Four rows, not six: JavaScript engines keep a register or two for themselves (docs/speed.md). */
#ifdef ATTNI_SMALL
#define MAX_ROWS 1
#else
#define MAX_ROWS 4
#endif

#if defined(ATTNI_REAL_f32) && defined(__wasm_relaxed_simd__)
static inline vr v_fma(vr a, vr b, vr c) {
    return (vr)wasm_f32x4_relaxed_madd((v128_t)a, (v128_t)b, (v128_t)c);
}
#else
static inline vr v_fma(vr a, vr b, vr c) { return a * b + c; }
#endif
#if defined(ATTNI_REAL_f32)
/* pmax(b, a) is b < a ? a : b: the second operand of v_max when one is NaN, as on x86 */
static inline vr v_max(vr a, vr b) { return (vr)wasm_f32x4_pmax((v128_t)b, (v128_t)a); }
#else
static inline vr v_max(vr a, vr b) { return (vr)wasm_f64x2_pmax((v128_t)b, (v128_t)a); }
#endif
