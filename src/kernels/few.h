/* SPDX-License-Identifier: Apache-2.0 */
/* few.h - a few queries visit a tile of keys: the forward pass for text generation, where nearly
 * all lanes of a panel would be empty and the time goes into reading K and V. Lanes are keys while
 * scores and weights are computed, and columns of V while values are summed. Every sum has the same
 * terms in the same order as in visit.h, so the results are bit-identical to those of a panel.
 * Blocks of K are transposed in registers; half types are widened as they are read.
 * Accesses only its arguments. Tests: tests/engine/ (test_few.c, test_bits.c) */
#ifndef ATTNI_FEW_H
#define ATTNI_FEW_H

#include "kernels/pack.h"
#include "kernels/visit.h"

/* Queries that are computed at a time, if there are as many: their sums fit the registers. */
#define FEW_BLOCK  4
#define FEW_SCORES (ACCUMULATORS >= 16 ? 8 : 4)
/* Vectors of columns that values are summed in at a time. */
#define FEW_VECS (ACCUMULATORS >= 16 ? 4 : MAX_VECS)
/* Values that are added between two steps of prefetching. */
#define FEW_STEP 8

/* The share of a tile's prefetches that its scores do; values take the rest of the time. */
#define SCORE_PERCENT 65

/* Pairs of halves are transposed as one number, which takes half of the shuffles, where there is a
 * fast way to split them. */
#if !defined(ATTNI_REAL_f32)
#define TRANSPOSES_PAIRS(dtype) false
#elif defined(HAVE_V_SPLIT_F16)
#define TRANSPOSES_PAIRS(dtype) ((dtype) == ATTN_F16 || (dtype) == ATTN_BF16)
#else
#define TRANSPOSES_PAIRS(dtype) ((dtype) == ATTN_BF16)
#define v_split_f16             v_split_bf16 /* never called */
#endif
#define COLUMNS_AT_ONCE(dtype) (TRANSPOSES_PAIRS(dtype) ? 2 * VL : VL)

/* ----------------------------------------------------------------------- reading and prefetching */

/* VL elements of a row as reals. */
INLINE vr load_reals(const attn_dtype dtype, const void *row, int64_t c) {
#if defined(ATTNI_REAL_f32)
    typedef uint16_t halves __attribute__((vector_size(VBYTES / 2), aligned(2), may_alias));
    const uint16_t *half = (const uint16_t *)row + c;
    if (dtype == ATTN_BF16) return (vr)(__builtin_convertvector(*(const halves *)half, vi) << 16);
    if (dtype == ATTN_F16) {
#ifdef HAVE_V_LOAD_F16
        return v_load_f16(half);
#else
        real wide[VL];
        for (int x = 0; x < VL; x++) wide[x] = attni_f16_to_f32(half[x]);
        return v_load(wide);
#endif
    }
#else
    (void)dtype;
#endif
    return v_load((const real *)row + c);
}

INLINE real load_real(const attn_dtype dtype, const void *row, int64_t c) {
#if defined(ATTNI_REAL_f32)
    if (dtype == ATTN_BF16) return attni_bf16_to_f32(((const uint16_t *)row)[c]);
    if (dtype == ATTN_F16) return attni_f16_to_f32(((const uint16_t *)row)[c]);
#else
    (void)dtype;
#endif
    return ((const real *)row)[c];
}

INLINE bool is_real(attn_dtype dtype) { return dtype != ATTN_F16 && dtype != ATTN_BF16; }

INLINE int64_t row_bytes(attn_dtype dtype, int64_t d) {
    return d * (is_real(dtype) ? (int64_t)sizeof(real) : 2);
}

/* What is prefetched while a tile is computed, a few rows per step, in the order of their addresses,
 * which memory delivers fastest: first the values of the tile, then the keys of the next one. They
 * go to L2, because they would push out of L1 what is used now. */
typedef struct few_ahead {
    const char *const *rows; /* (2, KEY_TILE) */
    int32_t row, end, per_step;
    int64_t v_bytes, k_bytes; /* of a row */
} few_ahead;

INLINE few_ahead ahead_of(const attni_few *t, int32_t first) {
    return (few_ahead){.rows = (const char *const *)t->v,
                       .row = first,
                       .end = t->has_next ? 2 * ATTNI_KEY_TILE : ATTNI_KEY_TILE,
                       .v_bytes = row_bytes(t->v_dtype, t->d_v),
                       .k_bytes = row_bytes(t->k_dtype, t->d_k)};
}

/* The following `steps` steps prefetch this share of the rows that are left. */
INLINE void set_pace(few_ahead *ahead, int64_t percent, int64_t steps) {
    const int64_t rows = (ahead->end - ahead->row) * percent / 100;
    ahead->per_step = (int32_t)attni_ceil_div(rows, attni_max(steps, 1));
}

INLINE void step_ahead(few_ahead *ahead) {
    const int32_t stop = (int32_t)attni_min(ahead->row + ahead->per_step, ahead->end);
    for (; ahead->row < stop; ahead->row++) {
        const char *row = ahead->rows[ahead->row];
        const int64_t bytes = ahead->row < ATTNI_KEY_TILE ? ahead->v_bytes : ahead->k_bytes;
        for (int64_t at = 0; at < bytes; at += 64) __builtin_prefetch(row + at, 0, 2);
    }
}

/* -------------------------------------------------------------------------------------- scores */

/* The scores of n_i queries from row r on with VL keys: keys are the lanes of sums. */
typedef struct few_scores {
    const attni_few *t;
    int r;
    const char *const *keys; /* (VL) */
    vr sums[FEW_SCORES];
} few_scores;

/* Adds one column of the keys. */
INLINE void add_column(const int n_i, few_scores *s, vr column, int64_t c) {
    const real *q = (const real *)s->t->q + s->r * s->t->d_k + c;
    UNROLL for (int i = 0; i < n_i; i++) s->sums[i] =
        v_fma(column, v_set(q[i * s->t->d_k]), s->sums[i]);
}

/* Adds columns c .. of the keys, as many as are transposed at a time. */
INLINE void add_columns(const attn_dtype dtype, const int n_i, few_scores *s, int64_t c) {
    vr columns[VL];
    KEEP_ORDER(); /* so that the addresses of the keys are loaded here: there are too many to keep */
    if (!TRANSPOSES_PAIRS(dtype)) {
        if (is_real(dtype)) {
            v_load_columns(s->keys, c * (int64_t)sizeof(real), columns);
        } else {
            UNROLL for (int x = 0; x < VL; x++) columns[x] = load_reals(dtype, s->keys[x], c);
            v_transpose(columns);
        }
        UNROLL for (int x = 0; x < VL; x++) add_column(n_i, s, columns[x], c + x);
        return;
    }
#if defined(ATTNI_REAL_f32)
    v_load_columns(s->keys, 2 * c, columns);
    UNROLL for (int x = 0; x < VL; x++) {
        vr first, second;
        if (dtype == ATTN_F16) {
            v_split_f16(columns[x], &first, &second);
        } else {
            v_split_bf16(columns[x], &first, &second);
        }
        add_column(n_i, s, first, c + 2 * x);
        add_column(n_i, s, second, c + 2 * x + 1);
    }
#endif
}

INLINE void score_queries(const attn_dtype dtype, const int n_i, few_scores *s, int32_t key,
                          few_ahead *ahead) {
    int64_t c = 0;
    UNROLL for (int i = 0; i < n_i; i++) s->sums[i] = v_zero();
    for (; c + COLUMNS_AT_ONCE(dtype) <= s->t->d_k; c += COLUMNS_AT_ONCE(dtype)) {
        add_columns(dtype, n_i, s, c);
        step_ahead(ahead);
    }
    for (; c < s->t->d_k; c++) {
        real column[VL];
        for (int x = 0; x < VL; x++) column[x] = load_real(dtype, s->keys[x], c);
        add_column(n_i, s, v_load(column), c);
    }
    real *to = (real *)s->t->scores + s->r * ATTNI_KEY_TILE + key;
    UNROLL for (int i = 0; i < n_i; i++) v_store(to + i * ATTNI_KEY_TILE, s->sums[i]);
}

/* VL keys. */
INLINE void score_vector(const attn_dtype dtype, const attni_few *t, int32_t key,
                         few_ahead *ahead) {
    few_scores s = {.t = t, .keys = (const char *const *)t->k + key};
    for (; s.r + FEW_SCORES <= t->rows; s.r += FEW_SCORES)
        score_queries(dtype, FEW_SCORES, &s, key, ahead);
    for (; s.r + FEW_BLOCK <= t->rows; s.r += FEW_BLOCK)
        score_queries(dtype, FEW_BLOCK, &s, key, ahead);
    switch (t->rows - s.r) {
    case 3: score_queries(dtype, 3, &s, key, ahead); break;
    case 2: score_queries(dtype, 2, &s, key, ahead); break;
    case 1: score_queries(dtype, 1, &s, key, ahead); break;
    }
}

/* Keys lo .. hi - 1, whole vectors that contain every visible key of the tile. */
typedef struct few_range {
    int32_t lo, hi;
} few_range;

static few_range range_of(const attni_few *t) {
    const attni_segment first = t->segments[0], last = t->segments[t->n_segments - 1];
    return (few_range){first.key / VL * VL, (last.key + last.n + VL - 1) / VL * VL};
}

/* The scores of all keys of the range. */
INLINE void score_range(const attn_dtype dtype, const attni_few *t, few_range range,
                        few_ahead *ahead) {
    const int64_t steps = (range.hi - range.lo) / VL * (t->d_k / COLUMNS_AT_ONCE(dtype)) *
                          attni_ceil_div(t->rows, FEW_SCORES);
    set_pace(ahead, SCORE_PERCENT, steps);
    for (int32_t key = range.lo; key < range.hi; key += VL) score_vector(dtype, t, key, ahead);
}

static __attribute__((noinline)) void score_reals(const attni_few *t, few_range range,
                                                  few_ahead *ahead) {
    score_range(ATTN_F32, t, range, ahead);
}
#if defined(ATTNI_REAL_f32)
static __attribute__((noinline)) void score_f16(const attni_few *t, few_range range,
                                                few_ahead *ahead) {
    score_range(ATTN_F16, t, range, ahead);
}
static __attribute__((noinline)) void score_bf16(const attni_few *t, few_range range,
                                                 few_ahead *ahead) {
    score_range(ATTN_BF16, t, range, ahead);
}
#endif

static void score_all(const attni_few *t, few_range range, few_ahead *ahead) {
#if defined(ATTNI_REAL_f32)
    if (t->k_dtype == ATTN_F16) {
        score_f16(t, range, ahead);
        return;
    }
    if (t->k_dtype == ATTN_BF16) {
        score_bf16(t, range, ahead);
        return;
    }
#endif
    score_reals(t, range, ahead);
}

/* ------------------------------------------------------------------------------- edits and masks */

/* VL keys of query r: capped -> biased. */
INLINE vr modify_keys(const attni_modify *how, vr s, int r, int32_t key) {
    if (how->cap != 0) s = cap_score(how, s, NULL);
    if (how->slope) {
        real number[VL];
        UNROLL for (int x = 0; x < VL; x++) number[x] = (real)(key + x);
        const vr distance = v_abs(v_set(((const real *)how->position)[r]) - v_load(number));
        s = edit_score(s, -v_set(((const real *)how->slope)[r]), distance);
    }
    if (how->bias) s = add_bias(how, s, v_load((const real *)how->bias + r * ATTNI_KEY_TILE + key));
    return s;
}

/* Keys outside every segment, and those that the allow bits hide from query r. */
static void hide_keys(const attni_few *t, few_range range, int r) {
    real *s = (real *)t->scores + r * ATTNI_KEY_TILE;
    int32_t key = range.lo;
    for (int32_t g = 0; g < t->n_segments; g++) {
        for (; key < t->segments[g].key; key++) s[key] = -__builtin_inff();
        for (const int32_t end = key + t->segments[g].n; key < end; key++) {
            if (t->allow && !(t->allow[key] >> r & 1)) s[key] = -__builtin_inff();
        }
    }
    for (; key < range.hi; key++) s[key] = -__builtin_inff();
}

static void adjust_range(const attni_few *t, few_range range) {
    int32_t visible = 0;
    for (int32_t g = 0; g < t->n_segments; g++) visible += t->segments[g].n;
    const bool hides = t->allow || visible < range.hi - range.lo;
    for (int r = 0; r < t->rows; r++) {
        real *s = (real *)t->scores + r * ATTNI_KEY_TILE;
        for (int32_t key = range.lo; t->modify && key < range.hi; key += VL)
            v_store(s + key, modify_keys(t->modify, v_load(s + key), r, key));
        if (hides) hide_keys(t, range, r);
    }
}

/* ------------------------------------------------------------------------------------- softmax */

/* The largest score of a row; NaN does not count. */
INLINE real row_maximum(const real *s, few_range range) {
    const real nothing = -__builtin_inff();
    vr max = v_set(nothing);
    for (int32_t key = range.lo; key < range.hi; key += VL) max = v_max(v_load(s + key), max);
    real most = nothing;
    UNROLL for (int x = 0; x < VL; x++) most = max[x] > most ? max[x] : most;
    return most;
}

/* As rebase_scores(), for one row whose maximum is beyond the limit. */
static __attribute__((noinline)) void rebase_row(real *s, few_range range, real max) {
    const real inf = __builtin_inff();
    for (int32_t key = range.lo; key < range.hi; key++) {
        const real shared = s[key] == inf ? 0 : s[key] == s[key] ? -inf : s[key];
        s[key] = max == inf ? shared : s[key] - max;
    }
}

/* The weights of a row, in the chunks of exponentiate(): each chunk is summed from zero. Chunks are
 * independent, so several are summed at a time. */
INLINE real sum_weights(const real *p, few_range range) {
    enum { CHUNK = 24, CHUNKS = ATTNI_KEY_TILE / CHUNK };
    real sums[CHUNKS] = {0};
    if (range.lo == 0 && range.hi == ATTNI_KEY_TILE) {
        for (int i = 0; i < CHUNK; i++) {
            UNROLL for (int chunk = 0; chunk < CHUNKS; chunk++) sums[chunk] =
                sums[chunk] + p[chunk * CHUNK + i];
        }
    } else {
        for (int32_t key = range.lo; key < range.hi; key++)
            sums[key / CHUNK] = sums[key / CHUNK] + p[key];
    }
    real sum = sums[0];
    for (int chunk = 1; chunk < CHUNKS; chunk++) sum = sum + sums[chunk];
    return sum;
}

/* Turns the scores of query r into weights and updates its maximum and sum. Returns the factor of
 * its old sums. */
INLINE real weigh_row(const attni_few *t, few_range range, int r) {
    const real nothing = -__builtin_inff();
    real *s = (real *)t->scores + r * ATTNI_KEY_TILE, *stats = (real *)t->stats;
    const vr old = v_set(t->first ? nothing : stats[r]);
    const vr max = v_max(round_to_whole(v_set(row_maximum(s, range))), old);
    vr from = v_select(max == nothing, v_zero(), max);
    if (__builtin_expect(v_any(v_abs(from) >= v_set(WHOLE_LIMIT)), 0)) {
        rebase_row(s, range, max[0]);
        from = v_zero();
    }
    const vr magic = v_set(MAGIC) - from, lowest = v_set(LOWEST_EXPONENT) + from;
    for (int32_t key = range.lo; key < range.hi; key += VL)
        v_store(s + key, exp2_from(v_max(lowest, v_load(s + key)), magic));
    const real alpha = rescale(old, max)[0];
    const real before = t->first ? 0 : stats[t->lanes + r] * alpha;
    stats[r] = max[0];
    stats[t->lanes + r] = before + sum_weights(s, range);
    return alpha;
}

/* -------------------------------------------------------------------------------------- values */

/* The keys of one segment, whose values are added to the sums of a half of the tile. */
typedef struct few_segment {
    attni_segment segment;
    bool first; /* of the half: the sums begin at zero */
    few_ahead *ahead;
} few_segment;

/* Adds the value of one key to the sums of n_i queries and n_v vectors of columns. */
INLINE void add_value(const attn_dtype dtype, const int n_i, const int n_v, const real *p,
                      const char *from, vr *sums) {
    __asm__("" : "+r"(from)); /* one address for all vectors: gcc would keep one for each */
    vr value[FEW_VECS];
    UNROLL for (int v = 0; v < n_v; v++) value[v] = load_reals(dtype, from, v * VL);
    UNROLL for (int i = 0; i < n_i; i++) {
        KEEP_ORDER();
        const vr weight = v_set(p[i * ATTNI_KEY_TILE]);
        UNROLL for (int v = 0; v < n_v; v++) sums[i * n_v + v] =
            v_fma(weight, value[v], sums[i * n_v + v]);
    }
}

/* sums += P V for n_i queries from row r on and n_v vectors of columns. */
INLINE void sum_strip(const attn_dtype dtype, const int n_i, const int n_v, const attni_few *t,
                      const few_segment *given, int r, int64_t column) {
    vr sums[FEW_BLOCK * FEW_VECS];
    real *to = (real *)t->sums + r * t->d_v + column;
    UNROLL for (int i = 0; i < n_i; i++) {
        UNROLL for (int v = 0; v < n_v; v++) sums[i * n_v + v] =
            given->first ? v_zero() : v_load(to + i * t->d_v + v * VL);
    }
    const real *p = (const real *)t->scores + r * ATTNI_KEY_TILE + given->segment.key;
    const char *const *row = (const char *const *)t->v + given->segment.key;
    for (int32_t left = given->segment.n; left > 0; left -= FEW_STEP) {
        step_ahead(given->ahead);
        const real *const end = p + (left < FEW_STEP ? left : FEW_STEP);
        int64_t skip = row_bytes(dtype, column);
        __asm__ volatile("" : "+r"(skip)); /* computed here, so that it is in a register */
        do {
            add_value(dtype, n_i, n_v, p, *row++ + skip, sums);
        } while (++p < end);
    }
    UNROLL for (int i = 0; i < n_i; i++) {
        UNROLL for (int v = 0; v < n_v; v++) v_store(to + i * t->d_v + v * VL, sums[i * n_v + v]);
    }
}

/* The last columns, fewer than a vector. */
INLINE void sum_column(const attn_dtype dtype, const attni_few *t, const few_segment *given, int r,
                       int64_t column) {
    const attni_segment segment = given->segment;
    real *to = (real *)t->sums + r * t->d_v + column;
    const real *p = (const real *)t->scores + r * ATTNI_KEY_TILE;
    vr sum = given->first ? v_zero() : v_set(*to);
    for (int32_t key = segment.key; key < segment.key + segment.n; key++)
        sum = v_fma(v_set(p[key]), v_set(load_real(dtype, t->v[key], column)), sum);
    *to = sum[0];
}

INLINE void sum_queries(const attn_dtype dtype, const int n_i, const attni_few *t,
                        const few_segment *given, int r) {
    int64_t c = 0;
    for (; c + LANES(FEW_VECS) <= t->d_v; c += LANES(FEW_VECS))
        sum_strip(dtype, n_i, FEW_VECS, t, given, r, c);
    if (FEW_VECS > 2 && c + LANES(2) <= t->d_v) {
        sum_strip(dtype, n_i, 2, t, given, r, c);
        c += LANES(2);
    }
    for (; c + VL <= t->d_v; c += VL) sum_strip(dtype, n_i, 1, t, given, r, c);
    for (; c < t->d_v; c++) {
        for (int i = 0; i < n_i; i++) sum_column(dtype, t, given, r + i, c);
    }
}

INLINE void sum_values_of(const attn_dtype dtype, const attni_few *t, const few_segment *given) {
    int r = 0;
    for (; r + FEW_BLOCK <= t->rows; r += FEW_BLOCK) sum_queries(dtype, FEW_BLOCK, t, given, r);
    switch (t->rows - r) {
    case 3: sum_queries(dtype, 3, t, given, r); break;
    case 2: sum_queries(dtype, 2, t, given, r); break;
    case 1: sum_queries(dtype, 1, t, given, r); break;
    }
}

static __attribute__((noinline)) void sum_reals(const attni_few *t, const few_segment *given) {
    sum_values_of(ATTN_F32, t, given);
}
#if defined(ATTNI_REAL_f32)
static __attribute__((noinline)) void sum_f16(const attni_few *t, const few_segment *given) {
    sum_values_of(ATTN_F16, t, given);
}
static __attribute__((noinline)) void sum_bf16(const attni_few *t, const few_segment *given) {
    sum_values_of(ATTN_BF16, t, given);
}
#endif

static void sum_segment(const attni_few *t, const few_segment *given) {
#if defined(ATTNI_REAL_f32)
    if (t->v_dtype == ATTN_F16) {
        sum_f16(t, given);
        return;
    }
    if (t->v_dtype == ATTN_BF16) {
        sum_bf16(t, given);
        return;
    }
#endif
    sum_reals(t, given);
}

/* sum_segment() for when V holds Inf or NaN and not every query sees every key. */
static void sum_segment_guarded(const attni_few *t, const few_segment *given) {
    const attni_segment segment = given->segment;
    const real *bias = t->modify ? t->modify->bias : NULL;
    for (int r = 0; r < t->rows; r++) {
        for (int64_t c = 0; c < t->d_v; c++) {
            real *to = (real *)t->sums + r * t->d_v + c;
            vr sum = given->first ? v_zero() : v_set(*to);
            for (int32_t key = segment.key; key < segment.key + segment.n; key++) {
                const int32_t at = r * ATTNI_KEY_TILE + key;
                if (t->allow && !(t->allow[key] >> r & 1)) continue;
                if (bias && bias[at] == -__builtin_inff()) continue;
                sum = v_fma(v_set(((const real *)t->scores)[at]),
                            v_set(load_real(t->v_dtype, t->v[key], c)), sum);
            }
            *to = sum[0];
        }
    }
}

/* Are the values of all keys that some query does not see finite? A bias may mask any key. */
static bool few_hidden_are_finite(const attni_few *t) {
    const bool biased = t->modify && t->modify->bias;
    real nan_if_not = 0;
    for (int32_t g = 0; g < t->n_segments; g++) {
        const int32_t end = t->segments[g].key + t->segments[g].n;
        for (int32_t key = t->segments[g].key; key < end; key++) {
            if (!biased && t->allow[key] == ~(uint64_t)0) continue;
            for (int64_t c = 0; c < t->d_v; c++)
                nan_if_not += load_real(t->v_dtype, t->v[key], c) * 0;
        }
    }
    return nan_if_not == nan_if_not;
}

/* o = alpha o + sums, and from then on alpha is 1. A half without keys has sums of zero. */
static void merge_sums(const attni_few *t, bool first, bool empty, real *alpha) {
    for (int r = 0; r < t->rows; r++) {
        real *o = (real *)t->o + r * t->d_v, *sums = (real *)t->sums + r * t->d_v;
        const vr factor = v_set(alpha[r]);
        int64_t c = 0;
        for (; c + VL <= t->d_v; c += VL) {
            const vr sum = empty ? v_zero() : v_load(sums + c);
            v_store(o + c, first ? sum : v_fma(v_load(o + c), factor, sum));
        }
        for (; c < t->d_v; c++) {
            const vr sum = v_set(empty ? 0 : sums[c]);
            o[c] = (first ? sum : v_fma(v_set(o[c]), factor, sum))[0];
        }
        alpha[r] = 1;
    }
}

/* Steps of sum_strip(): how often the next keys can be prefetched. */
INLINE int64_t value_steps(const attni_few *t, int32_t n_keys) {
    return n_keys / FEW_STEP * attni_ceil_div(t->rows, FEW_BLOCK) *
           attni_max(1, t->d_v / LANES(FEW_VECS));
}

/* Each half of the tile is summed from zero, then merged, as visit() does. */
static void sum_halves(const attni_few *t, few_range range, few_ahead *ahead, real *alpha) {
    const bool may_hide = t->allow || (t->modify && t->modify->bias);
    const bool guarded = may_hide && !few_hidden_are_finite(t);
    set_pace(ahead, 100, value_steps(t, range.hi - range.lo));
    int32_t g = 0;
    for (int half = 0; half < 2 && (half == 0 || g < t->n_segments); half++) {
        const int32_t begin = g, end = (half + 1) * ATTNI_HALF_TILE;
        for (; g < t->n_segments && t->segments[g].key < end; g++) {
            const few_segment given = {t->segments[g], g == begin, ahead};
            (guarded ? sum_segment_guarded : sum_segment)(t, &given);
        }
        merge_sums(t, t->first && half == 0, g == begin, alpha);
    }
}

static void few(const attni_few *t) {
    const few_range range = range_of(t);
    real alpha[ATTNI_FEW_ROWS];
    few_ahead ahead = ahead_of(t, range.lo);
    score_all(t, range, &ahead);
    adjust_range(t, range);
    for (int r = 0; r < t->rows; r++) alpha[r] = weigh_row(t, range, r);
    sum_halves(t, range, &ahead, alpha);
}

#endif
