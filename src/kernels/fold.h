/* SPDX-License-Identifier: Apache-2.0 */
/* fold.h - long sums that do not drift: what a panel found in one group of key tiles joins the
 * total of the groups before it, by compensated addition (Kahan): the error of a sum stays at a
 * few roundings, whatever the number of keys. Between groups everything is scaled by exact powers
 * of two. Touches only its arguments. Tests: tests/engine/test_drift.c */
#ifndef ATTNI_FOLD_H
#define ATTNI_FOLD_H

#include "kernels/kernels.h"
#include "kernels/multiply.h"
#include "kernels/vmath.h"

/* total + x, where `lost` is what earlier additions have added too much. An infinite or NaN total
 * has lost nothing. */
INLINE vr add_compensated(vr total, vr x, vr *lost) {
    const vr y = x - *lost, sum = total + y, error = (sum - total) - y;
    *lost = v_select(error == error, error, v_zero());
    return sum;
}

/* What a sum measured from `old` is worth when measured from `max`; old == max also covers
 * inf - inf. */
INLINE vr rescale(vr old, vr max) { return v_select(old == max, v_set(1), v_exp2(old - max)); }

INLINE void fold_array(const real *from, vr from_scale, vr total_scale, real *total, real *lost) {
    vr missing = v_load(lost) * total_scale;
    v_store(total,
            add_compensated(v_load(total) * total_scale, v_load(from) * from_scale, &missing));
    v_store(lost, missing);
}

static void fold(const attni_fold *f) {
    const int lanes = LANES(f->vecs);
    for (int x = 0; x < lanes; x += VL) {
        const real *stats = (const real *)f->stats + x, *o_t = (const real *)f->o_t + x;
        real *total_stats = (real *)f->total_stats + x, *total = (real *)f->total + x,
             *lost = (real *)f->lost + x;
        const vr old = v_load(total_stats), now = v_load(stats), max = v_max(now, old);
        const vr total_scale = rescale(old, max), from_scale = rescale(now, max);
        v_store(total_stats, max);
        fold_array(stats + lanes, from_scale, total_scale, total_stats + lanes,
                   total_stats + 2 * lanes);
        for (int64_t c = 0; c < f->d * lanes; c += lanes)
            fold_array(o_t + c, from_scale, total_scale, total + c, lost + c);
    }
}

#endif
