/* SPDX-License-Identifier: Apache-2.0 */
/* reference.c - read this to learn what attn computes. Every step of the list above attn_args in
 * attn.h is one function here, in the same order; nothing is clever. Touches: its arguments. Tests:
 * tests/golden/test_golden.c, test_semantics.c, test_onnx.c */
#include "ref/reference.h"

#include "core/dtype.h"
#include "core/log2.h"
#include "core/rng.h"

#include <float.h>

/* ------------------------------------------------------------------------------------ elements */

static int64_t element(const attn_tensor *t, int64_t b, int64_t h, int64_t i, int64_t j) {
    return b * t->stride[0] + h * t->stride[1] + i * t->stride[2] + j * t->stride[3];
}

double attni_ref_load(const attn_tensor *t, int64_t b, int64_t h, int64_t i, int64_t j) {
    return attni_load_as(t->dtype, t->data, element(t, b, h, i, j));
}

void attni_ref_store(const attn_tensor *t, const int64_t at[4], double x) {
    attni_store_as(t->dtype, t->data, element(t, at[0], at[1], at[2], at[3]), x);
}

/* An element of mask or bias: a dimension of size 1 is shared by all batches, heads or rows. */
static double load_broadcast(const attn_tensor *t, int64_t b, int64_t h, int64_t i, int64_t j) {
    return attni_ref_load(t, t->shape[0] == 1 ? 0 : b, t->shape[1] == 1 ? 0 : h,
                          t->shape[2] == 1 ? 0 : i, j);
}

/* ----------------------------------------------------------------------------------- sequences */

int64_t attni_ref_sequence_count(const attn_args *a) { return a->cu_q ? a->n_seqs : a->q.shape[0]; }

/* The key position that query 0 of a sequence is aligned with. */
static int64_t offset_of(const attn_args *a, int64_t batch, int64_t len_q, int64_t len_k) {
    const int64_t offset = a->offsets ? a->offsets[batch] : a->offset;
    return offset == ATTN_OFFSET_BOTTOM_RIGHT ? len_k - len_q : offset;
}

attni_ref_sequence attni_ref_sequence_at(const attn_args *a, int64_t batch) {
    attni_ref_sequence s = {.batch = batch};
    if (a->cu_q) {
        s.row0 = a->cu_q[batch];
        s.key0 = a->cu_k[batch];
        s.len_q = a->cu_q[batch + 1] - s.row0;
        s.len_k = a->cu_k[batch + 1] - s.key0;
    } else {
        s.tensor_batch = batch;
        s.len_q = a->len_q ? a->len_q[batch] : a->q.shape[2];
        s.len_k = a->len_k ? a->len_k[batch] : a->k.shape[2];
    }
    s.offset = offset_of(a, batch, s.len_q, s.len_k);
    return s;
}

int64_t attni_ref_sequence_of_row(const attn_args *a, int64_t tensor_batch, int64_t row) {
    if (!a->cu_q) return tensor_batch;
    int64_t s = 0;
    while (a->cu_q[s + 1] <= row) s++;
    return s;
}

/* -------------------------------------------------------------------------------------- scores */

/* The row being computed. */
typedef struct row_at {
    const attn_args *a;
    attni_ref_sequence s;
    int64_t h, h_kv, i;
} row_at;

/* Grouped queries: consecutive query heads share a key/value head. */
static int64_t kv_head(const attn_args *a, int64_t h) {
    return h / (a->q.shape[1] / a->k.shape[1]);
}

/* The largest number of the arithmetic type: f64 for f64 inputs, f32 for all others. */
static double largest_real(const attn_args *a) {
    return a->q.dtype == ATTN_F64 ? DBL_MAX : (double)FLT_MAX;
}

/* Scores are numbers of the arithmetic type in base 2, s * log2(e) / temperature. This is the
 * largest score that can be represented. */
static double largest_score(const attn_args *a) {
    return fmin(largest_real(a) * ATTNI_LN2 * a->temperature, DBL_MAX);
}

/* A score beyond the range is infinite. */
static double in_range(const attn_args *a, double s) {
    const double most = largest_score(a);
    return s > most ? INFINITY : s < -most ? -INFINITY : s;
}

/* q . k, both of this dtype: a constant where it must be fast (core/dtype.h). *far is set if a
 * query element or a partial sum, times scale, is infinite or leaves the range. */
ATTNI_INLINE double dot_as(attn_dtype dtype, const row_at *r, int64_t j, bool *far) {
    const attn_tensor *q = &r->a->q, *k = &r->a->k;
    const int64_t b = r->s.tensor_batch;
    const double scale = fabs(r->a->scale), most = largest_score(r->a);
    int64_t q_at = element(q, b, r->h, r->s.row0 + r->i, 0);
    int64_t k_at = element(k, b, r->h_kv, r->s.key0 + j, 0);
    double dot = 0;
    for (int64_t d = 0; d < q->shape[3]; d++, q_at += q->stride[3], k_at += k->stride[3]) {
        const double x = attni_load_as(dtype, q->data, q_at);
        dot += x * attni_load_as(dtype, k->data, k_at);
        if (!(fabs(x) * scale <= most && fabs(dot) * scale <= most)) *far = true;
    }
    return dot;
}

/* scale * (q . k) as the engine computes it: queries are scaled first, products are added in the
 * order of d, and whatever leaves the range on the way is infinite from there on. */
static double far_score(const row_at *r, int64_t j) {
    const attn_args *a = r->a;
    const int64_t b = r->s.tensor_batch;
    double s = 0;
    for (int64_t d = 0; d < a->q.shape[3]; d++) {
        const double x = attni_ref_load(&a->q, b, r->h, r->s.row0 + r->i, d),
                     y = attni_ref_load(&a->k, b, r->h_kv, r->s.key0 + j, d);
        s = in_range(a, s + in_range(a, a->scale * x) * y);
    }
    return s;
}

/* s = scale * (q . k) */
static double raw_score(const row_at *r, int64_t j) {
    const attn_dtype dtype = r->a->q.dtype;
    bool far = false;
    const double dot = dtype == ATTN_F32 ? dot_as(ATTN_F32, r, j, &far) : dot_as(dtype, r, j, &far);
    return far ? far_score(r, j) : r->a->scale * dot;
}

/* s = softcap * tanh(s / softcap) */
static double cap(const attn_args *a, double s) {
    return a->softcap > 0 ? a->softcap * tanh(s / a->softcap) : s;
}

/* The key position of query i: causal, window and ALiBi count from here. */
static int64_t position(const row_at *r) { return attni_add_sat(r->i, r->s.offset); }

/* An element of the bias as a number of the arithmetic type; finite elements stay finite. */
static double bias_at(const row_at *r, int64_t j) {
    const double bias = load_broadcast(&r->a->bias, r->s.batch, r->h, r->i, j),
                 most = largest_real(r->a);
    return isinf(bias) ? bias : bias > most ? most : bias < -most ? -most : bias;
}

/* s + x. A finite x does not mask: the sum then stays at the lower end of the range. */
static double add(const attn_args *a, double s, double x) {
    const double sum = in_range(a, s + x);
    return sum == -INFINITY && s != -INFINITY && isfinite(x) ? -largest_score(a) : sum;
}

/* s = s - alibi[h] * |i + offset - j| + bias */
static double add_bias(const row_at *r, int64_t j, double s) {
    const attn_args *a = r->a;
    if (a->alibi) {
        const double x = a->alibi[r->h] * fabs((double)position(r) - (double)j);
        s = add(a, s, fmax(-DBL_MAX, fmin(DBL_MAX, -x)));
    }
    return a->bias.data ? add(a, s, bias_at(r, j)) : s;
}

/* ---------------------------------------------------------------------------------- visibility */

/* j - i says on which side the key lies. It is compared with sums of offset and window, which may
 * both be huge and cancel. */
static int64_t ahead(const row_at *r, int64_t j) { return j - r->i; }

static bool is_causal_visible(const row_at *r, int64_t j) {
    return !r->a->causal || ahead(r, j) <= r->s.offset;
}

static bool is_in_window(const row_at *r, int64_t j) {
    const int64_t left = r->a->window_left, right = r->a->window_right;
    if (left >= 0 && ahead(r, j) < attni_add_sat(r->s.offset, -left)) return false;
    return right < 0 || ahead(r, j) <= attni_add_sat(r->s.offset, right);
}

/* Keys beyond the end of a mask or bias are masked. */
static bool is_in_reach(const attn_tensor *t, int64_t j) { return !t->data || j < t->shape[3]; }

static bool is_mask_visible(const row_at *r, int64_t j) {
    const attn_tensor *mask = &r->a->mask;
    return !mask->data || load_broadcast(mask, r->s.batch, r->h, r->i, j) != 0;
}

/* Checked before the score is computed: NaN in the key plus a bias of -inf would be NaN. */
static bool is_bias_visible(const row_at *r, int64_t j) {
    const attn_tensor *bias = &r->a->bias;
    return !bias->data || load_broadcast(bias, r->s.batch, r->h, r->i, j) != -INFINITY;
}

static bool is_pattern_visible(const row_at *r, int64_t j) {
    return !r->a->pattern || attn_pattern_at(r->a->pattern, r->i, j);
}

/* Every restriction that is set must allow the pair. */
static bool is_visible(const row_at *r, int64_t j) {
    return r->i < r->s.len_q && j < r->s.len_k && is_causal_visible(r, j) && is_in_window(r, j) &&
           is_in_reach(&r->a->mask, j) && is_in_reach(&r->a->bias, j) && is_mask_visible(r, j) &&
           is_bias_visible(r, j) && is_pattern_visible(r, j);
}

/* s = -inf where masked. A masked key is not read, so its contents cannot matter. A pair whose
 * score comes out as -inf (q.k is infinite or leaves the range) is masked too. */
static double biased_score(const row_at *r, int64_t j) {
    return is_visible(r, j) ? add_bias(r, j, cap(r->a, raw_score(r, j))) : -INFINITY;
}

/* ------------------------------------------------------------------------------------- softmax */

/* What turns a score into a weight: w = exp((s - top) / temperature + shift) / sum. */
typedef struct softmax {
    double top;         /* largest score; -inf: the row sees no key */
    double temperature; /* > 0 */
    double shift;       /* <= 0; below 0 only if the sink exceeds every score */
    double sum;         /* over keys and sink; for top = +inf the number of keys at +inf */
    double sink;        /* the sink's part of sum */
    double lse;         /* natural logarithm of sum over keys and sink of exp(s / temperature) */
    double entropy;     /* entropy of the weights of the keys, in nats */
} softmax;

/* The largest score, or NaN if any score is NaN. */
static double row_top(const double *s, int64_t n) {
    double top = -INFINITY;
    for (int64_t j = 0; j < n; j++) {
        if (isnan(s[j])) return s[j];
        if (s[j] > top) top = s[j];
    }
    return top;
}

/* The exponent of a score, relative to the largest one; <= 0. */
static double exponent(const softmax *m, double s) {
    if (s == -INFINITY) return s; /* masked */
    if (m->top == INFINITY) return s == INFINITY ? 0 : -INFINITY;
    return (s - m->top) / m->temperature + m->shift;
}

/* Dividing differences by the temperature, not scores, keeps ties exact for any temperature > 0.
 * The sink is a logit of its own: no key, no value, not divided by the temperature, and without
 * effect on rows that hold +inf; a row that sees nothing has the sink alone as its denominator.
 * shares (n) gets the parts of the sum, or is NULL.
 * Entropy: -sum w ln w with ln w = x - ln sum, no term of which is below 0. */
static softmax softmax_of(const double *s, int64_t n, double temperature, const double *sink,
                          double *shares) {
    softmax m = {.top = row_top(s, n), .temperature = temperature, .lse = -INFINITY};
    if (m.top == -INFINITY) {
        if (sink) m.lse = *sink;
        return m;
    }
    double largest = m.top / temperature;
    const bool has_sink = sink && *sink > -INFINITY && m.top != INFINITY;
    if (has_sink && *sink > largest) {
        m.shift = largest - *sink;
        largest = *sink;
    }
    double spread = 0; /* -sum of e^x x over the keys */
    for (int64_t j = 0; j < n; j++) {
        const double x = exponent(&m, s[j]), part = exp(x);
        if (shares) shares[j] = part;
        m.sum += part;
        if (part > 0) spread -= part * x; /* 0 where x is -inf */
    }
    if (has_sink) m.sink = *sink == largest ? 1 : exp(*sink - largest);
    m.sum += m.sink;
    const double log_sum = log(m.sum);
    m.lse = largest + log_sum;
    m.entropy = spread / m.sum + log_sum * (1 - m.sink / m.sum);
    return m;
}

static double weight_of(const softmax *m, double s) {
    return m->top == -INFINITY ? 0 : exp(exponent(m, s)) / m->sum;
}

/* --------------------------------------------------------------------------- dropout and output */

int attn_dropout_keep(uint64_t seed, double dropout, int64_t batch, int64_t head, int64_t i,
                      int64_t j) {
    if (!(dropout > 0)) return 1;
    if (dropout >= 1) return 0;
    return attni_dropout_word(seed, batch, head, i, j) >= attni_dropout_threshold(dropout);
}

static double keep_of(const row_at *r, int64_t j) {
    return attn_dropout_keep(r->a->seed, r->a->dropout, r->s.batch, r->h, r->i, j);
}

/* One term of the output: w * keep * v. The exact weight of a visible key is above 0 even where it
 * rounds to 0, so a value that is Inf or NaN counts in full, dropped or not. */
static double term(double w, double keep, double v) {
    return isfinite(v) || isnan(w) ? w * keep * v : v;
}

/* sum + x, for a mean of finite numbers, which must not leave their range by rounding. */
static double add_to_mean(double sum, double x) {
    const double total = sum + x;
    return isinf(total) && isfinite(sum) && isfinite(x) ? copysign(DBL_MAX, total) : total;
}

/* out = sum over visible keys of w * keep * v / (1 - dropout): inverted dropout, which preserves
 * the mean. s (len_k) are the scores; multiplier (len_k), unless NULL, replaces keep / (1 -
 * dropout). */
static void weigh_values(const row_at *r, const softmax *m, const double *s,
                         const double *multiplier, double *out) {
    const attn_tensor *v = &r->a->v;
    for (int64_t d = 0; d < v->shape[3]; d++) out[d] = 0;
    for (int64_t j = 0; j < r->s.len_k; j++) {
        if (s[j] == -INFINITY) continue;
        const double w = weight_of(m, s[j]), keep = multiplier ? multiplier[j] : keep_of(r, j);
        for (int64_t d = 0; d < v->shape[3]; d++) {
            const double x = attni_ref_load(v, r->s.tensor_batch, r->h_kv, r->s.key0 + j, d);
            out[d] = add_to_mean(out[d], term(w, keep, x));
        }
    }
    for (int64_t d = 0; !multiplier && d < v->shape[3]; d++) out[d] /= 1 - r->a->dropout;
}

/* The stages for inspection. raw and capped include masked pairs; weights hold unnormalised shares
 * so far. */
static void show_stages(const row_at *r, const softmax *m, const double *s,
                        const attni_ref_stages *rows) {
    for (int64_t j = 0; j < r->s.len_k; j++) {
        if (rows->raw || rows->capped) {
            const double raw = r->i < r->s.len_q ? raw_score(r, j) : -INFINITY;
            if (rows->raw) rows->raw[j] = raw;
            if (rows->capped) rows->capped[j] = r->i < r->s.len_q ? cap(r->a, raw) : raw;
        }
        if (rows->biased) rows->biased[j] = s[j];
        if (rows->weights) rows->weights[j] = s[j] == -INFINITY ? 0 : rows->weights[j] / m->sum;
    }
    if (rows->sink) *rows->sink = m->top == -INFINITY ? 0 : m->sink / m->sum;
    if (rows->entropy) *rows->entropy = m->entropy;
}

void attni_ref_row(const attn_args *a, int64_t batch, int64_t h, int64_t i,
                   const attni_ref_stages *rows, double *out, double *lse, double *scratch,
                   const double *multiplier) {
    const row_at r = {a, attni_ref_sequence_at(a, batch), h, kv_head(a, h), i};
    double *s = scratch;
    for (int64_t j = 0; j < r.s.len_k; j++) s[j] = biased_score(&r, j);
    const softmax m = softmax_of(s, r.s.len_k, a->temperature, a->sinks ? &a->sinks[h] : NULL,
                                 rows ? rows->weights : NULL);
    if (rows) show_stages(&r, &m, s, rows);
    if (out) weigh_values(&r, &m, s, multiplier, out);
    if (lse) *lse = m.lse;
}

/* -------------------------------------------------------------------------------- ALiBi slopes */

attn_status attn_alibi_slopes(int64_t H, double *slopes, attn_error *err) {
    if (!slopes) return attni_fail(err, ATTN_E_NULL, "slopes: NULL, expected room for H doubles");
    if (H < 1) {
        return attni_fail(err, ATTN_E_VALUE, "H: %lld, expected at least 1 head", (long long)H);
    }
    int64_t power = 1; /* the largest power of two <= H */
    while (power <= H / 2) power *= 2;
    for (int64_t h = 0; h < power; h++) slopes[h] = exp2(-8.0 * (double)(h + 1) / (double)power);
    for (int64_t h = power; h < H; h++) { /* slopes 0, 2, 4, ... of 2 * power heads */
        slopes[h] = exp2(-4.0 * (double)(2 * (h - power) + 1) / (double)power);
    }
    return ATTN_OK;
}
