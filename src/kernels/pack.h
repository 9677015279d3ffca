/* SPDX-License-Identifier: Apache-2.0 */
/* pack.h - packs rows of queries into panels and unpacks panels into rows of results; converts half
 * precision to and from f32. Accesses only its arguments. Tests: tests/engine/ */
#ifndef ATTNI_PACK_H
#define ATTNI_PACK_H

#include "core/half.h"
#include "kernels/kernels.h"
#include "kernels/multiply.h"
#include "kernels/vmath.h"

/* Do all lanes hold the same row? This is so for a single query, and for lanes without a query. */
INLINE bool is_one_row(const void *const *rows) {
    bool same = true;
    UNROLL for (int i = 1; i < VL; i++) same &= rows[i] == rows[0];
    return same;
}

static void pack_queries(int vecs, int64_t d, const void *const *rows, double factor, void *q_t) {
    const vr scale = v_set((real)factor);
    const int lanes = LANES(vecs);
    for (int x = 0; x < lanes; x += VL) {
        real *to = (real *)q_t + x;
        int64_t c = 0;
        if (is_one_row(rows + x)) {
            for (; c < d; c++) v_store(to + c * lanes, v_set(((const real *)rows[x])[c]) * scale);
        }
        for (; c + VL <= d; c += VL) {
            vr block[VL];
            UNROLL for (int i = 0; i < VL; i++) block[i] =
                v_load((const real *)rows[x + i] + c) * scale;
            v_transpose(block);
            UNROLL for (int i = 0; i < VL; i++) v_store(to + (c + i) * lanes, block[i]);
        }
        for (; c < d; c++) {
            for (int i = 0; i < VL; i++)
                to[c * lanes + i] = ((const real *)rows[x + i])[c] * scale[0];
        }
    }
}

static void finish(int vecs, const void *sinks, void *stats) {
    const int lanes = LANES(vecs);
    for (int x = 0; x < lanes; x += VL) {
        real *max_of = (real *)stats + x, *sum_of = max_of + lanes, *factor_of = sum_of + lanes;
        vr sum = v_load(sum_of), alpha = v_set(1);
        const vi empty = sum == v_zero();
        vr max = v_select(empty, v_set(-__builtin_inff()), v_load(max_of));
        if (sinks) {
            const vr sink = v_load((const real *)sinks + x);
            const vr new_max = v_max(sink, max);
            alpha = v_select(new_max == max, alpha, v_exp2(max - new_max));
            sum = v_fma(sum, alpha, v_select(new_max == sink, v_set(1), v_exp2(sink - new_max)));
            max = new_max;
        }
        v_store(max_of, max);
        v_store(sum_of, sum);
        /* The caller may trap divisions by zero. Goes through memory, because otherwise clang finds
         * a way to divide by the zero of an empty lane, whose result does not matter. */
        v_store(factor_of, v_select(empty, v_set(1), sum));
        KEEP_ORDER();
        v_store(factor_of, v_select(empty, v_zero(), alpha / v_load(factor_of)));
    }
}

/* Replaces every NaN by the same one: their sign and payload differ between machines. */
static __attribute__((noinline)) void unify_nan(int n_rows, int64_t d, void *const *rows) {
    for (int x = 0; x < n_rows; x++) {
        real *row = rows[x];
        for (int64_t c = 0; c < d; c++)
            row[c] = row[c] == row[c] ? row[c] : (real)__builtin_nanf("");
    }
}

/* An element as it is stored. Adding zero turns -0 into +0, so that the result does not show
 * whether a masked key has added 0 * v. y - y is 0, of either sign, unless y is Inf or NaN. */
INLINE vr finish_elements(vr x, vr factor, vi *spoilt) {
    const vr y = v_fma(x, factor, v_zero());
    *spoilt |= (vi)(y - y);
    return y;
}

static bool unpack_rows(int vecs, int n_rows, int64_t d, const void *panel, const void *factors,
                        void *const *rows) {
    const int lanes = LANES(vecs);
    vi spoilt = {0};
    for (int x = 0; x < n_rows; x += VL) {
        const real *from = (const real *)panel + x, *factor = (const real *)factors + x;
        const int n = n_rows - x < VL ? n_rows - x : VL;
        int64_t c = 0;
        for (; c + VL <= d; c += VL) {
            vr block[VL];
            UNROLL for (int i = 0; i < VL; i++) block[i] = v_load(from + (c + i) * lanes);
            v_transpose(block);
            UNROLL for (int i = 0; i < VL; i++) {
                if (i < n) {
                    const vr y = finish_elements(block[i], v_set(factor[i]), &spoilt);
                    v_store((real *)rows[x + i] + c, y);
                }
            }
        }
        for (; c < d; c++) {
            for (int i = 0; i < n; i++) {
                const vr element = v_set(from[c * lanes + i]);
                ((real *)rows[x + i])[c] = finish_elements(element, v_set(factor[i]), &spoilt)[0];
            }
        }
    }
    const bool finite = !v_any(v_abs((vr)spoilt) != v_zero());
    if (!finite) unify_nan(n_rows, d, rows);
    return finite;
}

/* ---------------------------------------------------------------------- half precision */

#if defined(ATTNI_REAL_f32)

static void widen(int64_t n, attn_dtype dtype, const void *from, float *to) {
    const uint16_t *half = from;
    int64_t i = 0;
    if (dtype == ATTN_BF16) {
        for (; i < n; i++) to[i] = attni_bf16_to_f32(half[i]);
        return;
    }
#ifdef HAVE_V_LOAD_F16
    for (; i + VL <= n; i += VL) v_store(to + i, v_load_f16(half + i));
#endif
    for (; i < n; i++) to[i] = attni_f16_to_f32(half[i]);
}

static void narrow(int64_t n, attn_dtype dtype, const float *from, void *to) {
    uint16_t *half = to;
    for (int64_t i = 0; i < n; i++) {
        half[i] = dtype == ATTN_BF16 ? attni_f32_to_bf16(from[i]) : attni_f32_to_f16(from[i]);
    }
}
#endif

#endif
