/* SPDX-License-Identifier: Apache-2.0 */
/* visit.h - a panel of queries visits a tile of keys: the whole forward pass of attention in one
 * kernel. Accesses only its arguments.
 * Method: vector lanes are queries in every product, S^T = K Q^T and O^T = V^T P^T. K and V are
 * read in place, through scalar broadcasts. Softmax needs no horizontal operation. Each lane
 * performs the same operations in the same order whatever the vector width, the panel or the other
 * lanes; this is why results are bit-identical everywhere.
 * Tests: tests/engine/ */
#ifndef ATTNI_VISIT_H
#define ATTNI_VISIT_H

#include "core/rng.h"
#include "kernels/fold.h"
#include "kernels/kernels.h"
#include "kernels/multiply.h"
#include "kernels/vmath.h"

/* ----------------------------------------------------------------------------- scores */

/* Lane mask of vector v from the allow bits of one key. */
INLINE vi visible_lanes(uint64_t allow, int v) {
    real_int bit[VL];
    UNROLL for (int x = 0; x < VL; x++) bit[x] = (real_int)1 << x;
    vi lane_bit;
    memcpy(&lane_bit, bit, sizeof lane_bit);
    const vi bits = v_set_int((real_int)((allow >> (v * VL)) & (((uint64_t)1 << VL) - 1)));
    return (bits & lane_bit) != 0;
}

/* A matrix of scores: rows are keys, s_row elements apart. */
typedef struct score_rows {
    real *s;
    ptrdiff_t s_row;
} score_rows;

/* n_i rows of S^T = K Q^T. Final scores (max != NULL) are masked by the allow bits of their
 * keys, unless NULL, and raise max; otherwise adjust_scores() will do that. */
INLINE void score_strip(const int n_i, const int n_v, const attni_visit *t, const real *k,
                        const uint64_t *allow, score_rows to, vr *max) {
    vr sums[ACCUMULATORS];
    UNROLL for (int x = 0; x < n_i * n_v; x++) sums[x] = v_zero();
    multiply(n_i, n_v, t->d_k, k, t->k_stride, 1, t->q_t, LANES(n_v), sums);
    if (allow) {
        UNROLL for (int i = 0; i < n_i; i++) {
            UNROLL for (int v = 0; v < n_v; v++) {
                vr *x = &sums[i * n_v + v];
                *x = v_select(visible_lanes(allow[i], v), *x, v_set(-__builtin_inff()));
            }
        }
    }
    UNROLL for (int i = 0; i < n_i; i++) {
        UNROLL for (int v = 0; v < n_v; v++) {
            v_store(to.s + i * to.s_row + v * VL, sums[i * n_v + v]);
            if (max) max[v] = v_max(sums[i * n_v + v], max[v]);
        }
    }
}

/* Addresses are computed as integers: the rows to prefetch may lie beyond the end of the tensor,
 * where a prefetch is allowed but a pointer is not. */
INLINE void prefetch_rows(int n_rows, int64_t d, const void *rows, ptrdiff_t stride,
                          int32_t first) {
    for (int i = 0; i < n_rows; i++) {
        const uintptr_t row = (uintptr_t)rows + sizeof(real) * (uintptr_t)((first + i) * stride);
        for (int64_t c = 0; c < d; c += 64 / (int)sizeof(real)) {
            __builtin_prefetch((const void *)(row + sizeof(real) * (uintptr_t)c), 0, 2);
        }
    }
}

/* The first panel that visits a tile prefetches V while it computes scores, because V is later read
 * by columns, which hardware prefetchers do not follow; and it prefetches K a few rows ahead. This
 * was the largest gain after the micro-kernel (docs/speed.md). */
INLINE void prefetch_strip(const attni_visit *t, int32_t key, int n_rows) {
    enum { ROWS_AHEAD = 8 };
    prefetch_rows(n_rows, t->d_v, t->v, t->v_stride, key);
    prefetch_rows(n_rows, t->d_k, t->k, t->k_stride, key + ROWS_AHEAD);
}

/* The allow bits of n_i keys, or NULL if every lane sees all of them. */
INLINE const uint64_t *partial_allow(const uint64_t *allow, const int n_i) {
    uint64_t all = ~(uint64_t)0;
    if (!allow) return NULL;
    UNROLL for (int i = 0; i < n_i; i++) all &= allow[i];
    return all == ~(uint64_t)0 ? NULL : allow;
}

INLINE void score_keys(const int n_i, const int n_v, const attni_visit *t, int32_t key,
                       score_rows to, vr *max) {
    const real *k = (const real *)t->k + key * t->k_stride;
    const uint64_t *allow = max && t->allow ? partial_allow(t->allow + key, n_i) : NULL;
    score_strip(n_i, n_v, t, k, allow, to, max);
}

INLINE score_rows rows_after(score_rows rows, int n) {
    return (score_rows){rows.s + n * rows.s_row, rows.s_row};
}

INLINE void score_segment(const int n_v, const attni_visit *t, attni_segment segment, score_rows to,
                          vr *max) {
    const int32_t end = segment.key + segment.n;
    int32_t key = segment.key;
    for (; key + ROWS(n_v) <= end; key += ROWS(n_v), to = rows_after(to, ROWS(n_v))) {
        if (t->prefetch) prefetch_strip(t, key, ROWS(n_v));
        score_keys(ROWS(n_v), n_v, t, key, to, max);
    }
    if (ROWS(n_v) > 4) {
        for (; key + 4 <= end; key += 4, to = rows_after(to, 4))
            score_keys(4, n_v, t, key, to, max);
    }
    if (ROWS(n_v) > 2) {
        for (; key + 2 <= end; key += 2, to = rows_after(to, 2))
            score_keys(2, n_v, t, key, to, max);
    }
    if (key < end) score_keys(1, n_v, t, key, to, max);
}

/* -------------------------------------------------------- scores that need more than q.k */

/* The position of a score: vector v of a key, which is row `row` among the keys of the visit. */
typedef struct score_place {
    int v;
    int32_t row, key;
} score_place;

/* s + x y, one edit of a score. The product of finite numbers counts as finite, however large: an
 * infinite score stays as it is, and no finite edit makes a score -inf, which would mask it. */
INLINE vr edit_score(vr s, vr x, vr y) {
    const vr inf = v_set(__builtin_inff());
    vr sum = v_fma(x, y, s);
    if (!FUSED) sum = v_select((v_abs(s) == inf) & (v_abs(x) < inf), s, sum);
    return v_select(s == -inf, sum, v_max(v_set(-REAL_MAX), sum));
}

/* slope, unless NULL, receives the derivative. */
INLINE vr cap_score(const attni_modify *how, vr s, vr *slope) {
    const vr t = v_tanh(s * v_set((real)how->inverse_cap));
    if (slope) *slope = v_fma(-t, t, v_set(1));
    return t * v_set((real)how->cap);
}

/* A bias of -inf masks. */
INLINE vr add_bias(const attni_modify *how, vr s, vr bias) {
    const vr sum = edit_score(s, bias, v_set((real)how->bias_factor));
    return v_select(bias == v_set(-__builtin_inff()), bias, sum);
}

/* capped -> biased -> masked. slope, unless NULL, receives the derivative of the cap. */
INLINE vr modify_score(const int n_v, const attni_modify *how, vr s, score_place at, vr *slope) {
    const int v = at.v;
    if (how->cap != 0) s = cap_score(how, s, slope);
    if (how->slope) {
        const vr distance =
            v_abs(v_load((const real *)how->position + v * VL) - v_set((real)at.key));
        s = edit_score(s, -v_load((const real *)how->slope + v * VL), distance);
    }
    if (how->bias)
        s = add_bias(how, s, v_load((const real *)how->bias + at.row * LANES(n_v) + v * VL));
    return s;
}

/* Applies modify and allow to all scores of the visit and raises max over the visible ones. */
INLINE void adjust_scores(const int n_v, const attni_visit *t, vr *max) {
    real *s = t->scores;
    int32_t row = 0;
    for (int32_t g = 0; g < t->n_segments; g++) {
        for (int32_t j = 0; j < t->segments[g].n; j++, row++, s += LANES(n_v)) {
            const int32_t key = t->segments[g].key + j;
            UNROLL for (int v = 0; v < n_v; v++) {
                vr x = v_load(s + v * VL);
                x = modify_score(n_v, t->modify, x, (score_place){v, row, key}, NULL);
                if (t->allow)
                    x = v_select(visible_lanes(t->allow[key], v), x, v_set(-__builtin_inff()));
                v_store(s + v * VL, x);
                max[v] = v_max(x, max[v]);
            }
        }
    }
}

/* Records which lanes see which keys, once everything that masks has set its scores to -inf. */
static void note_seen(const attni_visit *t) {
    const real *s = t->scores;
    for (int32_t g = 0; g < t->n_segments; g++) {
        for (int32_t j = 0; j < t->segments[g].n; j++, s += LANES(t->vecs)) {
            uint64_t bits = 0;
            for (int x = 0; x < LANES(t->vecs); x++)
                bits |= (uint64_t)(s[x] != -__builtin_inff()) << x;
            t->seen[t->segments[g].key + j] = bits;
        }
    }
}

/* ---------------------------------------------------------------------------- softmax */

/* Weights are 2^(s - max), with max rounded to a whole number: then s - max is exact, merging
 * tiles multiplies by powers of two, and the softmax is no less stable, because no weight exceeds
 * sqrt 2. This works for scores up to the following limit. */
#define WHOLE_LIMIT REAL(2097152.0, 1125899906842624.0) /* 2^21, 2^50 */

INLINE vr round_to_whole(vr x) {
    const vr magic = v_set(MAGIC);
    return v_select(v_abs(x) < v_set(WHOLE_LIMIT), (x + magic) - magic, x);
}

/* Replaces scores beyond the limit, in the lanes that have them, by s - max, relative to 0. Where
 * max is +inf, keys whose score is +inf share the row: they get 0, and all others get -inf. Rare,
 * and kept out of the main path. */
static __attribute__((noinline)) void rebase_scores(const attni_visit *t, vr *max, vr *from) {
    const vr inf = v_set(__builtin_inff());
    for (int v = 0; v < t->vecs; v++) {
        const vi beyond = v_abs(from[v]) >= v_set(WHOLE_LIMIT), infinite = max[v] == inf;
        real *s = (real *)t->scores + v * VL;
        for (int32_t row = 0; row < t->n_keys; row++, s += LANES(t->vecs)) {
            const vr x = v_load(s);
            const vr shared = v_select(x == inf, v_zero(), v_select(x == x, -inf, x));
            const vr rebased = v_select(infinite, shared, x - max[v]);
            v_store(s, v_select(beyond, rebased, x));
        }
        from[v] = v_select(beyond, v_zero(), from[v]);
    }
}

/* Merges the tile's maximum into stats; from[] is to be subtracted from scores, alpha is the factor
 * of the old sums. */
INLINE void raise_maximum(const int n_v, const attni_visit *t, const vr *tile_max, vr *from,
                          real *alpha) {
    const vr nothing = v_set(-__builtin_inff()); /* the maximum of a lane that has seen no key */
    real *stats = t->stats;
    vr max[MAX_VECS];
    vi beyond = (vi){0};
    UNROLL for (int v = 0; v < n_v; v++) {
        const vr old = t->first ? nothing : v_load(stats + v * VL);
        max[v] = v_max(round_to_whole(tile_max[v]), old);
        from[v] = v_select(max[v] == nothing, v_zero(), max[v]);
        beyond |= v_abs(from[v]) >= v_set(WHOLE_LIMIT);
        v_store(stats + v * VL, max[v]);
        v_store(alpha + v * VL, rescale(old, max[v]));
    }
    if (__builtin_expect(v_any(beyond), 0)) rebase_scores(t, max, from);
}

/* P^T = 2^(S^T - from) for keys of the visit in one chunk, in place, added to sum. */
INLINE void exponentiate_keys(const int n_v, real *s, int32_t n, const vr *magic, const vr *lowest,
                              vr *sum) {
    for (int32_t row = 0; row < n; row++, s += LANES(n_v)) {
        UNROLL for (int v = 0; v < n_v; v++) {
            const vr p = exp2_from(v_max(lowest[v], v_load(s + v * VL)), magic[v]);
            sum[v] = sum[v] + p;
            v_store(s + v * VL, p);
        }
    }
}

/* P^T of all keys, and the row sums. In a long chain of additions of similar weights rounding
 * errors accumulate, so weights are summed in chunks of keys, and chunks in ascending order. */
INLINE void exponentiate(const int n_v, const attni_visit *t, const vr *from, const real *alpha) {
    enum { CHUNK = 24 };
    vr sum[MAX_VECS], part[MAX_VECS], magic[MAX_VECS], lowest[MAX_VECS];
    UNROLL for (int v = 0; v < n_v; v++) {
        sum[v] = part[v] = v_zero();
        magic[v] = v_set(MAGIC) - from[v];
        lowest[v] = v_set(LOWEST_EXPONENT) + from[v];
    }
    real *s = t->scores;
    int32_t chunk_end = CHUNK;
    for (int32_t g = 0; g < t->n_segments; g++) {
        const int32_t end = t->segments[g].key + t->segments[g].n;
        for (int32_t key = t->segments[g].key; key < end;) {
            for (; chunk_end <= key; chunk_end += CHUNK) {
                UNROLL for (int v = 0; v < n_v; v++) {
                    sum[v] = sum[v] + part[v];
                    part[v] = v_zero();
                }
            }
            const int32_t n = (end < chunk_end ? end : chunk_end) - key;
            exponentiate_keys(n_v, s, n, magic, lowest, part);
            s += n * LANES(n_v);
            key += n;
        }
    }
    real *total = (real *)t->stats + LANES(n_v);
    UNROLL for (int v = 0; v < n_v; v++) {
        const vr before = t->first ? v_zero() : v_load(total + v * VL) * v_load(alpha + v * VL);
        v_store(total + v * VL, before + (sum[v] + part[v]));
    }
}

/* Multiplies weights by 0 or 1 / (1 - p). Counters hold four keys each, so groups of four keys
 * share one draw. */
static void drop_weights(const attni_visit *t) {
    const attni_dropout *drop = t->dropout;
    const int lanes = LANES(t->vecs);
    const real keep = (real)drop->multiplier;
    real *s = t->scores;
    for (int32_t g = 0; g < t->n_segments; g++) {
        const int64_t first = drop->first_key + t->segments[g].key, end = first + t->segments[g].n;
        for (int64_t j = first; j < end;) {
            const int64_t group_end = attni_min(end, (j | 3) + 1);
            const int n = (int)(group_end - j);
            for (int x = 0; x < lanes; x++) {
                const attni_philox r = attni_philox4x32(drop->seed, (uint32_t)(j >> 2),
                                                        drop->row[x], drop->head[x], drop->batch);
                for (int i = 0; i < n; i++) {
                    s[i * lanes + x] *= r.word[(j & 3) + i] >= drop->threshold ? keep : 0;
                }
            }
            s += n * lanes;
            j = group_end;
        }
    }
}

/* ----------------------------------------------------------------------------- values */

/* The part of a visit in one half of the tile: segments segment .. end - 1, whose first key is row
 * `row` of the scores; `first` if nothing has been summed before. */
typedef struct tile_half {
    int32_t segment, end, row;
    bool first;
    const real *alpha; /* (lanes) factor of the old sums */
} tile_half;

/* n_i rows of O^T = alpha O^T + V^T P^T over one half of the tile: it is summed from zero, then
 * merged. */
INLINE void value_strip(const int n_i, const int n_v, const attni_visit *t, const tile_half *half,
                        int64_t column) {
    vr sums[ACCUMULATORS];
    UNROLL for (int x = 0; x < n_i * n_v; x++) sums[x] = v_zero();
    const real *p = (const real *)t->scores + half->row * LANES(n_v);
    for (int32_t g = half->segment; g < half->end; g++) {
        const real *v = (const real *)t->v + t->segments[g].key * t->v_stride + column;
        const int32_t n = t->segments[g].n;
        multiply(n_i, n_v, n, v, 1, t->v_stride, p, LANES(n_v), sums);
        p += n * LANES(n_v);
    }
    real *o = (real *)t->o_t + column * LANES(n_v);
    UNROLL for (int i = 0; i < n_i; i++) {
        UNROLL for (int v = 0; v < n_v; v++) {
            real *o_iv = o + (i * n_v + v) * VL;
            const vr sum = sums[i * n_v + v];
            v_store(o_iv,
                    half->first ? sum : v_fma(v_load(o_iv), v_load(half->alpha + v * VL), sum));
        }
    }
}

INLINE void sum_values(const int n_v, const attni_visit *t, const tile_half *half) {
    int64_t c = 0;
    for (; c + ROWS(n_v) <= t->d_v; c += ROWS(n_v)) value_strip(ROWS(n_v), n_v, t, half, c);
    if (ROWS(n_v) > 4) {
        for (; c + 4 <= t->d_v; c += 4) value_strip(4, n_v, t, half, c);
    }
    if (ROWS(n_v) > 2) {
        for (; c + 2 <= t->d_v; c += 2) value_strip(2, n_v, t, half, c);
    }
    if (c < t->d_v) value_strip(1, n_v, t, half, c);
}

/* Separate functions, because inlined they would run out of registers. */
typedef void value_sums(const attni_visit *t, const tile_half *half);

#if MIN_VECS <= 1
static __attribute__((noinline)) void sum_values_1(const attni_visit *t, const tile_half *half) {
    sum_values(1, t, half);
}
#endif
static __attribute__((noinline)) void sum_values_2(const attni_visit *t, const tile_half *half) {
    sum_values(2, t, half);
}
#if MAX_VECS >= 3
static __attribute__((noinline)) void sum_values_3(const attni_visit *t, const tile_half *half) {
    sum_values(3, t, half);
}
#endif

/* ------------------------------------------------------- Inf and NaN at masked positions */

/* Are the values of all keys that some lane does not see finite? A bias may mask any key. */
static bool hidden_values_are_finite(const attni_visit *t) {
    const bool biased = t->modify && t->modify->bias;
    vr nan_if_not = v_zero();
    real tail = 0;
    for (int32_t g = 0; g < t->n_segments; g++) {
        for (int32_t j = 0; j < t->segments[g].n; j++) {
            const int32_t key = t->segments[g].key + j;
            if (!biased && t->allow[key] == ~(uint64_t)0) continue;
            const real *v = (const real *)t->v + key * t->v_stride;
            int64_t c = 0;
            for (; c + VL <= t->d_v; c += VL) nan_if_not = nan_if_not + v_load(v + c) * v_zero();
            for (; c < t->d_v; c++) tail += v[c] * 0;
        }
    }
    return tail == tail && !v_any(nan_if_not != nan_if_not);
}

/* sum_values() when V holds Inf or NaN and not every lane sees every key: 0 * Inf must not reach
 * a lane that does not see the key. Same sums in the same order for the lanes that do. */
static void sum_values_guarded(const attni_visit *t, const tile_half *half) {
    const int n_v = t->vecs;
    const real *bias = t->modify ? t->modify->bias : NULL;
    for (int64_t c = 0; c < t->d_v; c++) {
        for (int v = 0; v < n_v; v++) {
            vr sum = v_zero();
            int32_t row = half->row;
            for (int32_t g = half->segment; g < half->end; g++) {
                for (int32_t j = 0; j < t->segments[g].n; j++, row++) {
                    const int32_t key = t->segments[g].key + j;
                    const vr x = v_set(((const real *)t->v)[key * t->v_stride + c]);
                    const vr p = v_load((const real *)t->scores + (row * n_v + v) * VL);
                    vi visible =
                        t->allow ? visible_lanes(t->allow[key], v) : (vi)(p == p) | (vi)(p != p);
                    if (bias)
                        visible &= v_load(bias + (row * n_v + v) * VL) != v_set(-__builtin_inff());
                    sum = v_select(visible, v_fma(x, p, sum), sum);
                }
            }
            real *o = (real *)t->o_t + (c * n_v + v) * VL;
            v_store(o, half->first ? sum : v_fma(v_load(o), v_load(half->alpha + v * VL), sum));
        }
    }
}

/* ------------------------------------------------------------------------------ visit */

/* The keys of the visit in the first half of the tile; there may be none. */
INLINE tile_half first_half(const attni_visit *t, const real *alpha) {
    tile_half half = {.first = t->first, .alpha = alpha};
    while (half.end < t->n_segments && t->segments[half.end].key < ATTNI_HALF_TILE) half.end++;
    return half;
}

/* The others, whose sums are added to those of the first half. */
INLINE tile_half second_half(const attni_visit *t, const tile_half *first, const real *ones) {
    tile_half half = {.segment = first->end, .end = t->n_segments, .alpha = ones};
    for (int32_t g = 0; g < first->end; g++) half.row += t->segments[g].n;
    return half;
}

INLINE void visit(const int n_v, const attni_visit *t, value_sums *sum_half) {
    const bool may_hide = t->allow || (t->modify && t->modify->bias);
    vr max[MAX_VECS], from[MAX_VECS];
    real alpha[LANES(MAX_VECS)];
    UNROLL for (int v = 0; v < n_v; v++) max[v] = v_set(-__builtin_inff());
    real *s = t->scores;
    for (int32_t g = 0; g < t->n_segments; g++) {
        const score_rows to = {s, LANES(n_v)};
        if (MIN_VECS > 1) { /* in builds optimised for size: one body for both */
            score_segment(n_v, t, t->segments[g], to, t->modify ? NULL : max);
        } else if (t->modify) {
            score_segment(n_v, t, t->segments[g], to, NULL);
        } else {
            score_segment(n_v, t, t->segments[g], to, max);
        }
        s += t->segments[g].n * LANES(n_v);
    }
    if (t->modify) adjust_scores(n_v, t, max);
    if (t->seen) note_seen(t);
    raise_maximum(n_v, t, max, from, alpha);
    exponentiate(n_v, t, from, alpha);
    if (t->dropout) drop_weights(t);
    const bool guarded = may_hide && !hidden_values_are_finite(t);
    if (guarded) sum_half = sum_values_guarded;
    const tile_half first = first_half(t, alpha);
    sum_half(t, &first);
    if (first.end == t->n_segments) return;
    UNROLL for (int v = 0; v < n_v; v++) v_store(alpha + v * VL, v_set(1));
    const tile_half second = second_half(t, &first, alpha);
    sum_half(t, &second);
}

#if MIN_VECS <= 1
static __attribute__((noinline)) void visit_1(const attni_visit *t) { visit(1, t, sum_values_1); }
#endif
static __attribute__((noinline)) void visit_2(const attni_visit *t) { visit(2, t, sum_values_2); }
#if MAX_VECS >= 3
static __attribute__((noinline)) void visit_3(const attni_visit *t) { visit(3, t, sum_values_3); }
#endif

static void visit_any(const attni_visit *t) {
    static void (*const visits[MAX_VECS + 1])(const attni_visit *) = {
        [2] = visit_2,
#if MIN_VECS <= 1
        [1] = visit_1,
#endif
#if MAX_VECS >= 3
        [3] = visit_3,
#endif
    };
    attni_assert(t->vecs >= MIN_VECS && t->vecs <= MAX_VECS);
    visits[t->vecs](t);
}

#endif
