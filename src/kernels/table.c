/* SPDX-License-Identifier: Apache-2.0 */
/* table.c - the kernels of one ISA and one real type in one table, which is the only symbol this
 * file exports. Compiled once per ISA and real type (-DATTNI_ISA=avx2 -DATTNI_ISA_AVX2
 * -DATTNI_REAL_f32 ...), see CMakeLists.txt. */
#include "kernels/kernels.h"

#ifndef ATTNI_SMALL
#include "kernels/backward.h"
#include "kernels/fold.h"
#include "kernels/pack.h"
#include "kernels/rows.h"
#include "kernels/visit.h"
#if ATTNI_HAS_FEW
#include "kernels/few.h"
#endif
#endif
#include "kernels/product.h"
#include "kernels/vmath.h"

static void exp2_array(int64_t n, const void *x, void *y) {
    for (int64_t i = 0; i < n; i += VL) v_store((real *)y + i, v_exp2(v_load((const real *)x + i)));
}

#if MIN_VECS == 1 /* a size-optimised build has no tests or benchmarks of kernels */
static void tanh_array(int64_t n, const void *x, void *y) {
    for (int64_t i = 0; i < n; i += VL) v_store((real *)y + i, v_tanh(v_load((const real *)x + i)));
}

/* Twelve chains hide the latency of two multiply-adds per cycle. */
static double burn(int64_t rounds) {
    vr sums[12];
    UNROLL for (int i = 0; i < 12; i++) sums[i] = v_set((real)i);
    const vr a = v_set(REAL(0.999, 0.999)), b = v_set(REAL(0.001, 0.001));
    for (int64_t r = 0; r < rounds; r++) {
        UNROLL for (int i = 0; i < 12; i++) sums[i] = v_fma(sums[i], a, b);
        KEEP_ORDER();
    }
    real total = 0;
    UNROLL for (int i = 0; i < 12; i++) total += sums[i][0];
    return total == total ? (double)rounds * 12 * 2 * VL : 0;
}

static void read_array(int64_t n, const void *from) {
    const real *x = from;
    vi any[4] = {{0}};
    for (int64_t i = 0; i + 4 * VL <= n; i += 4 * VL) {
        UNROLL for (int v = 0; v < 4; v++) any[v] |= (vi)v_load(x + i + v * VL);
    }
    const vi all = any[0] | any[1] | any[2] | any[3];
    __asm__ volatile("" ::"m"(all)); /* the compiler must not drop the loads */
}
#endif

#define PASTE(a, b, c, d)     a##b##c##d
#define TABLE(isa, real_name) PASTE(attni_kernels_, isa, _, real_name)
#if defined(ATTNI_REAL_f32)
#define TABLE_NAME TABLE(ATTNI_ISA, f32)
#else
#define TABLE_NAME TABLE(ATTNI_ISA, f64)
#endif
#define TEXT_OF(x) #x
#define TEXT(x)    TEXT_OF(x)

extern const attni_kernels TABLE_NAME;
const attni_kernels TABLE_NAME = {
    .name = TEXT(ATTNI_ISA),
    .fused = FUSED,
    .vl = VL,
    .min_vecs = MIN_VECS,
    .max_vecs = MAX_VECS,
    .product = product_any,
    .pack_panel = pack_panel,
#ifndef ATTNI_SMALL
    .pack_queries = pack_queries,
    .visit = visit_any,
#if ATTNI_HAS_FEW
    .few = few,
#endif
    .backward = backward_any,
    .product_guarded = product_guarded,
    .dot = dot,
    .are_below = are_below,
    .scale_row = scale_row,
    .finish = finish,
    .unpack_rows = unpack_rows,
#if ATTNI_JOIN_GROUPS
    .fold = fold,
    .accumulate = accumulate,
    .settle = settle,
#endif
#if defined(ATTNI_REAL_f32)
    .widen = widen,
    .narrow = narrow,
#endif
#endif
    .exp2 = exp2_array,
#if MIN_VECS == 1
    .tanh = tanh_array,
    .burn = burn,
    .read = read_array,
#endif
};
