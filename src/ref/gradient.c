/* SPDX-License-Identifier: Apache-2.0 */
/* gradient.c - the steps of reference.c in reverse. Each function quotes the line of the forward
 * pass that it differentiates; dx stands for d loss / d x. A masked pair is skipped, never
 * multiplied by 0, so that its contents cannot matter. Touches: its arguments. Tests:
 * tests/golden/test_golden_gradients.c, tests/engine/test_gradient_oracle.c */
#include "ref/gradient.h"

attni_ref_flow attni_ref_flow_in(double *memory, int64_t len_k) {
    attni_ref_flow f = {.qk = memory};
    f.biased = f.qk + len_k;
    f.weights = f.biased + len_k;
    f.kept = f.weights + len_k;
    f.dweights = f.kept + len_k;
    f.dbiased = f.dweights + len_k;
    f.draw = f.dbiased + len_k;
    return f;
}

static bool is_masked(const attni_ref_flow *f, int64_t j) { return f->biased[j] == -INFINITY; }

/* Grouped queries: consecutive query heads share a key/value head. */
static int64_t kv_head(const attni_ref_row_at *r) {
    return r->h / (r->a->q.shape[1] / r->a->k.shape[1]);
}

/* Elements d of the row's query, of key j and of value j. */
static double q_at(const attni_ref_row_at *r, const attni_ref_sequence *s, int64_t d) {
    return attni_ref_load(&r->a->q, s->tensor_batch, r->h, s->row0 + r->i, d);
}

static double k_at(const attni_ref_row_at *r, const attni_ref_sequence *s, int64_t j, int64_t d) {
    return attni_ref_load(&r->a->k, s->tensor_batch, kv_head(r), s->key0 + j, d);
}

static double v_at(const attni_ref_row_at *r, const attni_ref_sequence *s, int64_t j, int64_t d) {
    return attni_ref_load(&r->a->v, s->tensor_batch, kv_head(r), s->key0 + j, d);
}

/* ---------------------------------------------------------------------------------- the way out */

/* w = w * keep / (1 - dropout): the factor. */
static double multiplier_of(const attni_ref_row_at *r, int64_t j) {
    const attn_args *a = r->a;
    if (r->multiplier) return r->multiplier[j];
    if (a->dropout == 0) return 1;
    return attn_dropout_keep(a->seed, a->dropout, r->batch, r->h, r->i, j) ? 1 / (1 - a->dropout)
                                                                           : 0;
}

static double dot_qk(const attni_ref_row_at *r, const attni_ref_sequence *s, int64_t j) {
    double dot = 0;
    for (int64_t d = 0; d < r->a->q.shape[3]; d++) dot += q_at(r, s, d) * k_at(r, s, j, d);
    return dot;
}

/* Keys whose score is +inf share the row equally, however close another score comes: the weights
 * jump there and have no derivative. */
static void spoil_infinite_row(attni_ref_flow *f, int64_t len_k) {
    bool infinite = false;
    for (int64_t j = 0; j < len_k; j++) infinite = infinite || f->biased[j] == INFINITY;
    for (int64_t j = 0; infinite && j < len_k; j++) {
        if (!is_masked(f, j)) f->weights[j] = NAN;
    }
}

/* Computes the row with the forward pass of reference.c. */
static void row_forward(const attni_ref_row_at *r, const attni_ref_sequence *s, attni_ref_flow *f) {
    const attni_ref_stages stages = {.biased = f->biased, .weights = f->weights, .sink = &f->sink};
    attni_ref_row(r->a, r->batch, r->h, r->i, &stages, NULL, NULL, f->draw, NULL);
    spoil_infinite_row(f, s->len_k);
    for (int64_t j = 0; j < s->len_k; j++) {
        f->qk[j] = is_masked(f, j) ? 0 : dot_qk(r, s, j);
        f->kept[j] = is_masked(f, j) ? 0 : f->weights[j] * multiplier_of(r, j);
    }
}

/* --------------------------------------------------------------------------------- the way back */

/* out = sum over the keys of w multiplier v:  dw = multiplier (dout . v) */
static double weight_backward(const attni_ref_row_at *r, const attni_ref_sequence *s, int64_t j) {
    double dot = 0;
    for (int64_t d = 0; d < r->a->v.shape[3]; d++) dot += r->dout[d] * v_at(r, s, j, d);
    return multiplier_of(r, j) * dot;
}

/* w = softmax over the keys of z, with the Jacobian dw_k / dz_j = w_k ((j == k) - w_j):
 *     dz_j = w_j (dw_j - sum over k of w_k dw_k)
 * z = s / temperature:  ds = dz / temperature
 * The sink is one more z, undivided; nothing is multiplied by its weight, so its dw is 0. */
static void softmax_backward(const attn_args *a, attni_ref_flow *f, int64_t len_k) {
    double mean = 0;
    for (int64_t j = 0; j < len_k; j++) {
        if (!is_masked(f, j)) mean += f->weights[j] * f->dweights[j];
    }
    for (int64_t j = 0; j < len_k; j++) {
        const double dz = is_masked(f, j) ? 0 : f->weights[j] * (f->dweights[j] - mean);
        f->dbiased[j] = dz / a->temperature;
    }
    f->dsink = f->sink * (0 - mean);
}

/* s = softcap * tanh(s / softcap):  ds_raw = ds / cosh(s / softcap)^2
 * The bias and ALiBi were added after this and do not change ds. */
static double cap_backward(const attn_args *a, double qk, double ds) {
    if (!(a->softcap > 0)) return ds;
    const double slope = 1 / cosh(a->scale * qk / a->softcap);
    return ds * slope * slope;
}

void attni_ref_row_backward(const attni_ref_row_at *r, attni_ref_flow *f) {
    const attni_ref_sequence s = attni_ref_sequence_at(r->a, r->batch);
    row_forward(r, &s, f);
    for (int64_t j = 0; j < s.len_k; j++) {
        f->dweights[j] = is_masked(f, j) ? 0 : weight_backward(r, &s, j);
    }
    softmax_backward(r->a, f, s.len_k);
    for (int64_t j = 0; j < s.len_k; j++) {
        f->draw[j] = is_masked(f, j) ? 0 : cap_backward(r->a, f->qk[j], f->dbiased[j]);
    }
}

/* ------------------------------------------------------------------------------------- the sums */

/* s = scale * (q . k):  dq = sum over keys of ds scale k,  dk = sum over rows of ds scale q,
 * dscale = sum over all pairs of ds (q . k) */
static void add_raw(const attni_ref_row_at *r, const attni_ref_sequence *s,
                    const attni_ref_sums *sums, int64_t j, const attni_ref_flow *f) {
    const int64_t d_k = r->a->q.shape[3];
    const double ds = f->draw[j] * r->a->scale;
    for (int64_t d = 0; d < d_k; d++) {
        if (sums->dq) sums->dq[d] += ds * k_at(r, s, j, d);
        if (sums->dk) sums->dk[j * d_k + d] += ds * q_at(r, s, d);
    }
    if (sums->dscale) *sums->dscale += f->draw[j] * f->qk[j];
}

/* out = sum over the keys of w multiplier v:  dv = sum over rows of w multiplier dout */
static void add_value(const attni_ref_row_at *r, const attni_ref_sums *sums, int64_t j,
                      double kept) {
    const int64_t d_v = r->a->v.shape[3];
    for (int64_t d = 0; sums->dv && d < d_v; d++) sums->dv[j * d_v + d] += kept * r->dout[d];
}

/* s = s + bias: dbias = sum of ds over everything the bias was broadcast to */
static void add_bias(const attni_ref_row_at *r, const attn_tensor *dbias, int64_t j, double ds) {
    const int64_t at[4] = {dbias->shape[0] == 1 ? 0 : r->batch, dbias->shape[1] == 1 ? 0 : r->h,
                           dbias->shape[2] == 1 ? 0 : r->i, j};
    attni_ref_store(dbias, at, attni_ref_load(dbias, at[0], at[1], at[2], at[3]) + ds);
}

void attni_ref_row_add(const attni_ref_row_at *r, const attni_ref_flow *f,
                       const attni_ref_sums *sums) {
    const attni_ref_sequence s = attni_ref_sequence_at(r->a, r->batch);
    for (int64_t j = 0; j < s.len_k; j++) {
        if (is_masked(f, j)) continue;
        add_raw(r, &s, sums, j, f);
        add_value(r, sums, j, f->kept[j]);
        if (sums->dbias.data) add_bias(r, &sums->dbias, j, f->dbiased[j]);
    }
    if (sums->dsinks) sums->dsinks[r->h] += f->dsink;
}
