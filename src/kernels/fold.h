/* SPDX-License-Identifier: Apache-2.0 */
/* fold.h - compensated sums: the sums of a panel over one group of key tiles are added to the total
 * of the previous groups, and the rounding error of each addition is accumulated in a second sum.
 * The error stays at a few roundings, whatever the number of keys. Adding 0 changes nothing, so it
 * does not matter whether a group in which a row sees no key is visited. Between groups everything
 * is scaled by exact powers of two. Accesses only its arguments. Tests:
 * tests/engine/test_drift.c */
#ifndef ATTNI_FOLD_H
#define ATTNI_FOLD_H

#include "kernels/kernels.h"
#include "kernels/multiply.h"
#include "kernels/vmath.h"

/* Returns total + x; the rounding error is added to lost (Knuth's two-sum). */
INLINE vr add_keeping(vr total, vr x, vr *lost) {
    const vr sum = total + x, added = sum - total;
    *lost = *lost + ((total - (sum - added)) + (x - added));
    return sum;
}

/* The factor that turns a sum relative to `old` into one relative to `max`; old == max also covers
 * inf - inf. */
INLINE vr rescale(vr old, vr max) { return v_select(old == max, v_set(1), v_exp2(old - max)); }

#if ATTNI_JOIN_GROUPS
INLINE void fold_array(const real *from, vr from_scale, vr total_scale, real *total, real *lost) {
    vr rest = v_load(lost) * total_scale;
    v_store(total, add_keeping(v_load(total) * total_scale, v_load(from) * from_scale, &rest));
    v_store(lost, rest);
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

/* The same for sums without scales. */
static void accumulate(int64_t n, const void *x, void *total, void *lost) {
    const real *from = x;
    real *restrict to = total, *restrict rest = lost;
    for (int64_t i = 0; i < n; i++) {
        const real sum = to[i] + from[i], added = sum - to[i];
        rest[i] = rest[i] + ((to[i] - (sum - added)) + (from[i] - added));
        to[i] = sum;
    }
}

/* total += lost, at the end. A total that is not finite has no rounding error. */
static void settle(int64_t n, void *total, const void *lost) {
    real *restrict to = total;
    const real *restrict rest = lost;
    for (int64_t i = 0; i < n; i++) to[i] = to[i] + (rest[i] - rest[i] == 0 ? rest[i] : 0);
}

#endif

#endif
