/* SPDX-License-Identifier: Apache-2.0 */
/* backward.h - a panel of queries visits a tile of keys again, to compute gradients.
 * Accesses only its arguments.
 * Method: lanes are queries as in visit.h. P^T is recomputed from the row's log-sum-exp, dP^T =
 * V dO^T is the same product with V for K and dO for Q, and dQ^T = K^T dS^T has the form of the
 * weighted values. P^T and dS^T stay in the block's buffers, from which dV = P^T dO and dK = dS^T Q
 * are plain products (product.h).
 * Tests: tests/engine/test_gradients.c */
#ifndef ATTNI_KERNELS_BACKWARD_H
#define ATTNI_KERNELS_BACKWARD_H

#include "kernels/product.h"
#include "kernels/visit.h"

/* Row `key` of a buffer of the block. */
INLINE real *block_row(void *buffer, int32_t key) {
    return (real *)buffer + key * ATTNI_BLOCK_ROWS;
}

/* A masked pair has the weight -0, which no visible pair can have: guarded products skip it. */
#define HIDDEN_WEIGHT REAL(-0.0, -0.0)
INLINE vi is_hidden(vr weight) { return (vi)weight == (vi)v_set(HIDDEN_WEIGHT); }

/* The source of the weights: recomputed with all edits and masks of scores; recomputed where there
 * are none; or saved by forward, where there are none either. */
typedef enum weight_source { ANY_SCORE, PLAIN_SCORE, STORED } weight_source;

/* ------------------------------------------------------------------------- S^T and dP^T */

/* Write S^T of the visit to a buffer of the block. These are separate functions because inlined
 * they would run out of registers. */
typedef void block_product(const attni_visit *t, void *block);

INLINE void product_into(const int n_v, const attni_visit *t, void *block) {
    for (int32_t g = 0; g < t->n_segments; g++) {
        const attni_segment segment = t->segments[g];
        const score_rows to = {block_row(block, segment.key), ATTNI_BLOCK_ROWS};
        score_segment(n_v, t, segment, to, NULL);
    }
}

#if MIN_VECS <= 1
static __attribute__((noinline)) void block_product_1(const attni_visit *t, void *block) {
    product_into(1, t, block);
}
#endif
static __attribute__((noinline)) void block_product_2(const attni_visit *t, void *block) {
    product_into(2, t, block);
}
#if MAX_VECS >= 3
static __attribute__((noinline)) void block_product_3(const attni_visit *t, void *block) {
    product_into(3, t, block);
}
#endif

INLINE void backward_products(const attni_backward_visit *b, block_product *multiply_rows) {
    attni_visit values = b->visit;
    values.d_k = b->visit.d_v;
    values.q_t = b->do_t;
    values.k = b->visit.v;
    values.k_stride = b->visit.v_stride;
    values.prefetch = false;
    if (!b->stored) multiply_rows(&b->visit, b->p);
    multiply_rows(&values, b->ds);
}

/* ------------------------------------------------------------------------- P^T and dS^T */

/* The factors of dropout, (n_keys, lanes). */
static void fill_keep(const attni_backward_visit *b) {
    const attni_visit *t = &b->visit;
    real *keep = b->keep;
    for (int64_t x = 0; x < (int64_t)t->n_keys * LANES(t->vecs); x++) keep[x] = 1;
    attni_visit ones = *t;
    ones.scores = keep;
    drop_weights(&ones);
}

/* The visible pairs of vector v of one key; s are their scores after the bias. */
INLINE vi visible_pairs(const attni_visit *t, score_place at, vr s) {
    const vi scored = s != v_set(-__builtin_inff());
    return t->allow ? visible_lanes(t->allow[at.key], at.v) & scored : scored;
}

/* The weight P = 2^(s - lse) of vector v of one key, HIDDEN_WEIGHT where a pair is masked; slope
 * receives the derivative of the soft cap. */
INLINE vr weight_at(const int n_v, const attni_backward_visit *b, score_place at,
                    const weight_source source, vr *slope) {
    const attni_visit *t = &b->visit;
    const vr inverse = v_load((const real *)b->inverse + at.v * VL);
    if (source == STORED)
        return v_load((const real *)b->stored + at.row * b->stored_row + at.v * VL) * inverse;
    vr s = v_load(block_row(b->p, at.key) + at.v * VL);
    if (source == ANY_SCORE && t->modify) s = modify_score(n_v, t->modify, s, at, slope);
    const vr weight = v_exp2(s - v_load((const real *)b->whole + at.v * VL)) * inverse;
    if (source != ANY_SCORE) return weight;
    return v_select(visible_pairs(t, at, s), weight, v_set(HIDDEN_WEIGHT));
}

/* From scores to weights and from dP to dS, for vector v of one key:
 *   P = 2^(s - lse),  dz = P (keep dP - delta),  dS = slope dz,  and V is multiplied by keep P.
 */
INLINE void differentiate(const int n_v, const attni_backward_visit *b, score_place at,
                          const weight_source source) {
    const attni_visit *t = &b->visit;
    real *p = block_row(b->p, at.key) + at.v * VL, *ds = block_row(b->ds, at.key) + at.v * VL;
    const ptrdiff_t in_row = at.row * LANES(n_v) + at.v * VL;
    const vr delta = v_load((const real *)b->delta + at.v * VL);
    const bool plain = source != ANY_SCORE;
    vr dp = v_load(ds), slope = v_set(1), keep = v_set(1);
    if (!plain && t->dropout) keep = v_load((const real *)b->keep + in_row);
    vr weight = weight_at(n_v, b, at, source, &slope);
    vr dz = weight * ((plain ? dp : dp * keep) - delta);
    if (!plain) {
        const vi visible = ~is_hidden(weight);
        weight = v_select(visible, weight * keep, v_set(HIDDEN_WEIGHT));
        dz = v_select(visible, dz, v_zero());
        slope = v_select(visible, slope, v_zero());
        if (b->dz) v_store((real *)b->dz + in_row, dz);
    }
    v_store(p, weight);
    v_store(ds, plain ? dz : dz * slope);
}

/* One key of a row in short_delta(): its weight, 0 if masked, and keep dP. */
INLINE vr short_pair(const int n_v, const attni_backward_visit *b, score_place at,
                     const weight_source source, vr *dp) {
    const ptrdiff_t in_row = at.row * LANES(n_v) + at.v * VL;
    vr slope;
    const vr weight = weight_at(n_v, b, at, source, &slope);
    const vi visible = ~is_hidden(weight);
    *dp = v_load(block_row(b->ds, at.key) + at.v * VL);
    if (b->visit.dropout) *dp = *dp * v_load((const real *)b->keep + in_row);
    *dp = v_select(visible, *dp, v_zero());
    return v_select(visible, weight, v_zero());
}

/* delta = sum of P keep dP over the keys, for rows whose keys are all in this tile. Computed as
 * dout . out it is rounded independently of dP. Where one weight is nearly 1, their difference
 * should nearly vanish, but would be noise multiplied by the scale. Summed relative to the dP of
 * the largest weight so far it does vanish: a row with a single key gets exactly 0. */
static __attribute__((noinline)) void short_delta(const attni_backward_visit *b,
                                                  const weight_source source) {
    const attni_visit *t = &b->visit;
    for (int v = 0; v < t->vecs; v++) {
        vr most = v_zero(), from = v_zero(), sum = v_zero(), total = v_zero(), dp;
        int32_t row = 0;
        for (int32_t g = 0; g < t->n_segments; g++) {
            for (int32_t j = 0; j < t->segments[g].n; j++, row++) {
                const score_place at = {v, row, t->segments[g].key + j};
                const vr weight = short_pair(t->vecs, b, at, source, &dp);
                const vi larger = weight > most;
                sum = v_select(larger, v_fma(total, from - dp, sum), v_fma(weight, dp - from, sum));
                from = v_select(larger, dp, from);
                most = v_select(larger, weight, most);
                total = total + weight;
            }
        }
        real *delta = (real *)b->delta + v * VL;
        const vi seen = most > v_zero(), better = visible_lanes(b->short_rows, v) & seen;
        const vr exact = from + sum / v_select(seen, total, v_set(1));
        v_store(delta, v_select(better, exact, v_load(delta)));
    }
}

INLINE void differentiate_all(const int n_v, const attni_backward_visit *b,
                              const weight_source source) {
    if (b->short_rows) short_delta(b, source);
    const attni_visit *t = &b->visit;
    int32_t row = 0;
    for (int32_t g = 0; g < t->n_segments; g++) {
        for (int32_t j = 0; j < t->segments[g].n; j++, row++) {
            const int32_t key = t->segments[g].key + j;
            UNROLL for (int v = 0; v < n_v; v++) {
                differentiate(n_v, b, (score_place){v, row, key}, source);
            }
        }
    }
}

/* ---------------------------------------------------------------------------------- dQ^T */

/* n_i rows of dQ^T += K^T dS^T, or = with first. */
INLINE void query_strip(const int n_i, const int n_v, const attni_backward_visit *b,
                        int64_t column) {
    const attni_visit *t = &b->visit;
    vr sums[ACCUMULATORS];
    UNROLL for (int x = 0; x < n_i * n_v; x++) sums[x] = v_zero();
    for (int32_t g = 0; g < t->n_segments; g++) {
        const attni_segment segment = t->segments[g];
        multiply(n_i, n_v, segment.n, (const real *)t->k + segment.key * t->k_stride + column, 1,
                 t->k_stride, block_row(b->ds, segment.key), ATTNI_BLOCK_ROWS, sums);
    }
    real *dq = (real *)b->dq_t + column * LANES(n_v);
    UNROLL for (int x = 0; x < n_i * n_v; x++) {
        v_store(dq + x * VL, t->first ? sums[x] : v_load(dq + x * VL) + sums[x]);
    }
}

INLINE void sum_keys(const int n_v, const attni_backward_visit *b) {
    const int64_t d = b->visit.d_k;
    int64_t c = 0;
    for (; c + ROWS(n_v) <= d; c += ROWS(n_v)) query_strip(ROWS(n_v), n_v, b, c);
    if (ROWS(n_v) > 4) {
        for (; c + 4 <= d; c += 4) query_strip(4, n_v, b, c);
    }
    if (ROWS(n_v) > 2) {
        for (; c + 2 <= d; c += 2) query_strip(2, n_v, b, c);
    }
    if (c < d) query_strip(1, n_v, b, c);
}

/* sum_keys() when K holds Inf or NaN and some lane does not see it. */
static void sum_keys_guarded(const attni_backward_visit *b) {
    const attni_visit *t = &b->visit;
    for (int64_t c = 0; c < t->d_k; c++) {
        for (int v = 0; v < t->vecs; v++) {
            vr sum = v_zero();
            for (int32_t g = 0; g < t->n_segments; g++) {
                for (int32_t j = 0; j < t->segments[g].n; j++) {
                    const int32_t key = t->segments[g].key + j;
                    const vr x = v_set(((const real *)t->k)[key * t->k_stride + c]);
                    const vr ds = v_load(block_row(b->ds, key) + v * VL);
                    const vi hidden = is_hidden(v_load(block_row(b->p, key) + v * VL));
                    sum = v_select(hidden, sum, v_fma(x, ds, sum));
                }
            }
            real *dq = (real *)b->dq_t + (c * t->vecs + v) * VL;
            v_store(dq, t->first ? sum : v_load(dq) + sum);
        }
    }
}

/* ---------------------------------------------------------------------------------- visit */

INLINE void backward_visit(const int n_v, const attni_backward_visit *b,
                           block_product *multiply_rows) {
    const attni_visit *t = &b->visit;
    backward_products(b, multiply_rows);
    if (t->dropout) fill_keep(b);
    if (b->stored) {
        differentiate_all(n_v, b, STORED);
    } else if (t->modify || t->dropout || t->allow || b->dz || b->scores_mask) {
        differentiate_all(n_v, b, ANY_SCORE);
    } else {
        differentiate_all(n_v, b, PLAIN_SCORE);
    }
    if (!b->dq_t) return;
    attni_visit keys = *t; /* may K be multiplied by the 0 of masked pairs? */
    keys.v = t->k;
    keys.v_stride = t->k_stride;
    keys.d_v = t->d_k;
    const bool may_hide = t->allow || (t->modify && t->modify->bias);
    if (b->scores_mask || (may_hide && !hidden_values_are_finite(&keys))) {
        sum_keys_guarded(b);
    } else {
        sum_keys(n_v, b);
    }
}

#if MIN_VECS <= 1
static __attribute__((noinline)) void backward_1(const attni_backward_visit *b) {
    backward_visit(1, b, block_product_1);
}
#endif
static __attribute__((noinline)) void backward_2(const attni_backward_visit *b) {
    backward_visit(2, b, block_product_2);
}
#if MAX_VECS >= 3
static __attribute__((noinline)) void backward_3(const attni_backward_visit *b) {
    backward_visit(3, b, block_product_3);
}
#endif

/* --------------------------------------------------------------- products with Inf or NaN */

/* The product c += a b, where a is P^T or dS^T of the block and b holds Inf or NaN: pairs that are
 * masked according to `weights`, laid out like a, are left out. */
static void product_guarded(const attni_product *p, const void *weights) {
    for (int64_t i = 0; i < p->m; i++) {
        for (int v = 0; v < p->vecs; v++) {
            vr sum = v_zero();
            for (int64_t c = 0; c < p->k; c++) {
                const int64_t at = i * p->a_row + c * p->a_step;
                const vi hidden = is_hidden(v_set(((const real *)weights)[at]));
                const vr x = v_set(((const real *)p->a)[at]);
                const vr y = v_load((const real *)p->b + (c * p->vecs + v) * VL);
                sum = v_select(hidden, sum, v_fma(x, y, sum));
            }
            real *to = (real *)p->c + i * p->c_row + v * VL;
            put_columns(to, sum, p->n_columns - v * VL, true);
        }
    }
}

/* ---------------------------------------------------------------------------------- any */

static void backward_any(const attni_backward_visit *b) {
    static void (*const visits[MAX_VECS + 1])(const attni_backward_visit *) = {
        [2] = backward_2,
#if MIN_VECS <= 1
        [1] = backward_1,
#endif
#if MAX_VECS >= 3
        [3] = backward_3,
#endif
    };
    attni_assert(b->visit.vecs >= MIN_VECS && b->visit.vecs <= MAX_VECS);
    visits[b->visit.vecs](b);
}

#endif
