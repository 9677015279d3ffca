/* SPDX-License-Identifier: Apache-2.0 */
/* gradient_bound.c - bounds the rounding error of one element of a gradient, derived below from the
 * steps of the engine. Reads a problem and its gradients; the exact flow of each row comes from
 * src/ref, the errors of its weights from bound.c. */
#include "gradient_bound.h"

#include "bound.h"
#include "check.h"
#include "ref/gradient.h"

#include <inttypes.h>
#include <stdlib.h>

/* Notation as in bound.c; u is the engine's unit roundoff plus the oracle's. For one pair:
 *   lse      given as forward computed it: L = denominator + common, rounded to its dtype and again
 *            when it is used, 3 u (1 + |lse|)
 *   weight   p = exp(z - lse), relative error E = error of the score (bound.c) + L + 8 u
 *   dp       d_v products of dout and v: D = u (S(d_v) + 6) A, A = sum |dout v| / (1 - dropout)
 *   mean     sum of dout * out, with the errors O of a stored out: sum |dout| (O + u (S(d_v) + 4)
 *            |out|). Formed as sum of p dp it would be off by sum of p (E A + D), which is no more
 *   ds       p (dp - mean): X = p ((1 + E) (D + error of mean + 4 u (|dp| + |mean|)) +
 *            E |dp - mean|)
 *   biased   divided by the temperature: B = X / T + 4 u |ds / T|
 *   raw      times c' = 1 - tanh^2: R = c' B + |ds| C + 4 u |c' ds|, where C = 12 u from tanh and
 *            the square, and 2 |tanh| c' r + r^2 from the error r = u (S(d_k) + 8) M / softcap of
 *            its argument
 * A gradient adds n such terms t of error e: sum of e + u (S(n) + 2 n / 96 + 8) sum of |t|, for any
 * order in tiles of 96; sums of dbias are kept in its own type, where that is f32. dscale may be
 * taken from dq . q, so that the sum of |q k| stands for |q . k|. Weights under the normal range
 * are taken as 0. Half types round the result once more. */

static const double u64 = 0x1p-53;

/* The oracle's gradients and their bounds, f64; absent where the problem wants none. */
typedef struct model {
    const problem *p;
    attn_tensor exact[GRADIENTS], bound[GRADIENTS];
    attni_ref_flow flow;
    double *dout;                      /* (d_v) of the row */
    double tiny;                       /* what a flushed weight was at most */
    double per_row, per_key;           /* u (S(n) + ...) of sums over keys and over rows */
    double per_head, per_all;          /* of dsinks and of dscale */
    attn_tensor bias_terms, bias_size; /* how many terms met in an element of dbias, sum of |t| */
    double *memory[2 * GRADIENTS + 4];
    int n_memory;
    bool complete; /* all memory is there */
} model;

/* One row. */
typedef struct row_bound {
    const bound_row *m;
    double u, lse, mean, mean_error;
} row_bound;

/* What one pair adds: |term| and its error. */
typedef struct pair_bound {
    double weight;      /* E */
    double biased, raw; /* B, R */
    double size;        /* sum of |q k| */
} pair_bound;

enum { DQ, DK, DV, DBIAS, DSINKS, DSCALE };

static int64_t kv_head(const bound_row *m) {
    return m->h / (m->full.q.shape[1] / m->full.k.shape[1]);
}

static double q_at(const bound_row *m, int64_t d) {
    return fabs(tensor_get(&m->full.q, m->b, m->h, m->row, d));
}

static double k_at(const bound_row *m, int64_t j, int64_t d) {
    return fabs(tensor_get(&m->full.k, m->b, kv_head(m), m->key0 + j, d));
}

static double v_at(const bound_row *m, int64_t j, int64_t d) {
    return fabs(tensor_get(&m->full.v, m->b, kv_head(m), m->key0 + j, d));
}

static void add(const attn_tensor *t, const int64_t at[4], double x) {
    tensor_set(t, at, tensor_get(t, at[0], at[1], at[2], at[3]) + x);
}

/* ---------------------------------------------------------------------------------------- pairs */

static row_bound bound_of_row(const model *w, const bound_row *m) {
    const problem *p = w->p;
    const int64_t n = problem_keys(p, m->s), d_v = p->spec.d_v;
    row_bound r = {.m = m, .u = m->u + u64};
    r.lse = m->denominator + m->common + 3 * r.u * (1 + fabs(m->lse));
    if (p->lse.dtype == ATTN_F32) r.lse += 0x1p-24 * fabs(m->lse);
    for (int64_t j = 0; j < n; j++) r.mean += w->flow.weights[j] * w->flow.dweights[j];
    for (int64_t d = 0; d < d_v; d++) {
        const double out = fabs(tensor_get(&p->out, m->b, m->h, m->row, d));
        const double error = bound_output(m, d);
        r.mean_error += fabs(w->dout[d]) * (error + bound_store(p->spec.dtype, out + error) +
                                            r.u * (bound_sum((double)d_v) + 4) * out);
    }
    return r;
}

/* |c'| and C above; 1 and 0 without softcap. */
static double slope_of(const row_bound *r, double qk, double size, double *error) {
    const attn_args *a = &r->m->full;
    *error = 0;
    if (!(a->softcap > 0)) return 1;
    const double x = a->scale * qk / a->softcap, t = tanh(x), c = 1 / cosh(x);
    const double moved =
        r->u * (bound_sum((double)a->q.shape[3]) + 8) * fabs(a->scale) * size / a->softcap;
    *error = 12 * r->u + 2 * fabs(t) * c * c * moved + moved * moved;
    return c * c;
}

static pair_bound bound_of_pair(const model *w, const row_bound *r, int64_t j) {
    const bound_row *m = r->m;
    const attn_args *a = &m->full;
    const attni_ref_flow *f = &w->flow;
    pair_bound x = {.weight = expm1(log1p(m->error[j]) + r->lse + 8 * r->u)};
    double terms = 0, curve;
    for (int64_t d = 0; d < a->v.shape[3]; d++) terms += fabs(w->dout[d]) * v_at(m, j, d);
    for (int64_t d = 0; d < a->q.shape[3]; d++) x.size += q_at(m, d) * k_at(m, j, d);
    terms /= 1 - a->dropout;
    const double dp = r->u * (bound_sum((double)a->v.shape[3]) + 6) * terms;
    const double parts = fabs(f->dweights[j]) + fabs(r->mean);
    const double ds = f->weights[j] * ((1 + x.weight) * (dp + r->mean_error + 4 * r->u * parts) +
                                       x.weight * fabs(f->dweights[j] - r->mean)) +
                      w->tiny * (1 + terms + fabs(r->mean));
    x.biased = ds / a->temperature + 4 * r->u * fabs(f->dbiased[j]);
    const double slope = slope_of(r, f->qk[j], x.size, &curve);
    x.raw = fmin(1, slope + curve) * x.biased + fabs(f->dbiased[j]) * curve +
            4 * r->u * fabs(f->draw[j]);
    return x;
}

/* ----------------------------------------------------------------------------------------- sums */

static void add_products(model *w, const row_bound *r, int64_t j, const pair_bound *x) {
    const bound_row *m = r->m;
    const attn_args *a = &m->full;
    const double scale = fabs(a->scale), draw = fabs(w->flow.draw[j]), kept = w->flow.kept[j];
    for (int64_t d = 0; d < a->q.shape[3]; d++) {
        const double to_q = scale * k_at(m, j, d), to_k = scale * q_at(m, d);
        add(&w->bound[DQ], (const int64_t[4]){m->b, m->h, m->row, d},
            to_q * (x->raw + w->per_row * draw) + w->tiny);
        add(&w->bound[DK], (const int64_t[4]){m->b, kv_head(m), m->key0 + j, d},
            to_k * (x->raw + w->per_key * draw) + w->tiny);
    }
    const double flushed = w->tiny / (1 - a->dropout);
    for (int64_t d = 0; d < a->v.shape[3]; d++) {
        add(&w->bound[DV], (const int64_t[4]){m->b, kv_head(m), m->key0 + j, d},
            fabs(w->dout[d]) * (kept * (x->weight + w->per_key) + flushed) + w->tiny);
    }
}

static void add_numbers(model *w, const row_bound *r, int64_t j, const pair_bound *x) {
    const bound_row *m = r->m;
    const attn_tensor *dbias = &w->bound[DBIAS];
    const double draw = fabs(w->flow.draw[j]), dbiased = fabs(w->flow.dbiased[j]);
    if (dbias->data) {
        const int64_t *n = dbias->shape;
        const int64_t at[4] = {n[0] == 1 ? 0 : m->s, n[1] == 1 ? 0 : m->h, n[2] == 1 ? 0 : m->i, j};
        add(dbias, at, x->biased);
        add(&w->bias_terms, at, 1);
        add(&w->bias_size, at, dbiased);
    }
    if (w->bound[DSCALE].data) {
        const double products = r->u * bound_sum((double)m->full.q.shape[3]);
        add(&w->bound[DSCALE], (const int64_t[4]){0, 0, 0, 0},
            x->size * (x->raw + (products + w->per_all) * draw));
    }
}

/* sink * mean: the weight of the sink has the errors of lse and of its own logit. */
static void add_sink(model *w, const row_bound *r) {
    const bound_row *m = r->m;
    if (!w->bound[DSINKS].data || w->flow.sink == 0) return;
    const double logit = fabs(m->full.sinks[m->h]);
    const double weight = expm1(r->lse + r->u * (8 + 4 * logit));
    const double error = weight * fabs(r->mean) + (1 + weight) * r->mean_error;
    add(&w->bound[DSINKS], (const int64_t[4]){0, 0, 0, m->h},
        w->flow.sink * (error + w->per_head * fabs(r->mean)) + w->tiny);
}

static bool add_row(bound_row *m, void *user) {
    model *w = user;
    const int64_t n = problem_keys(w->p, m->s);
    const attni_ref_row_at at = {
        .a = &m->full, .batch = m->s, .h = m->h, .i = m->i, .dout = w->dout};
    if (m->i >= problem_rows(w->p, m->s)) return true; /* padding: exactly 0 */
    for (int64_t d = 0; d < w->p->spec.d_v; d++) {
        w->dout[d] = tensor_get(&w->p->dout, m->b, m->h, m->row, d);
    }
    attni_ref_row_backward(&at, &w->flow);
    const row_bound r = bound_of_row(w, m);
    for (int64_t j = 0; j < n; j++) {
        if (m->z[j] == -INFINITY) continue;
        const pair_bound x = bound_of_pair(w, &r, j);
        add_products(w, &r, j, &x);
        add_numbers(w, &r, j, &x);
    }
    add_sink(w, &r);
    return true;
}

/* ---------------------------------------------------------------------------------- comparisons */

/* Rounding to the type of the result, where it is narrower than the arithmetic. */
static double stored(const problem *p, const attn_tensor *t, double x) {
    if (t->dtype == ATTN_F32 && p->spec.dtype == ATTN_F64) return fabs(x) * 0x1p-24 + 0x1p-149;
    return bound_store(t->dtype, x);
}

/* Beyond the largest f16 there is only infinity. */
static bool is_overflow(const attn_tensor *t, const bound_comparison *c) {
    return t->dtype == ATTN_F16 && isinf(c->actual) && c->actual * c->expected > 0 &&
           !(fabs(c->expected) + c->bound < 65504); /* also if the bound is NaN */
}

/* Finite where the oracle is. Elsewhere the order of a sum decides between NaN and infinities. */
static bool is_same_kind(const model *w, const attn_tensor *t, const bound_comparison *c) {
    if (isfinite(c->actual) == isfinite(c->expected) || is_overflow(t, c)) return true;
    check_failed(__FILE__, __LINE__,
                 "%s[%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64
                 "] is %.9g, the oracle has %.9g, bound %.3g\n    %s",
                 c->name, c->at[0], c->at[1], c->at[2], c->at[3], c->actual, c->expected, c->bound,
                 w->p->text);
    return false;
}

static bool compare(const model *w, int which, double *worst) {
    const attn_tensor actual = problem_gradient(w->p, which);
    const attn_tensor *exact = &w->exact[which], *bound = &w->bound[which];
    int64_t at[4] = {0};
    if (!actual.data || tensor_is_empty(actual.shape)) return true;
    do {
        bound_comparison c = {.name = gradient_names[which], .at = {at[0], at[1], at[2], at[3]}};
        c.actual = tensor_get(&actual, at[0], at[1], at[2], at[3]);
        c.expected = tensor_get(exact, at[0], at[1], at[2], at[3]);
        c.bound = tensor_get(bound, at[0], at[1], at[2], at[3]);
        if (!is_same_kind(w, &actual, &c)) return false;
        if (!isfinite(c.expected)) continue;
        if (!isfinite(c.bound)) continue; /* nothing is known about a row that takes part */
        c.bound += stored(w->p, &actual, fabs(c.expected) + c.bound);
        if (is_overflow(&actual, &c)) continue;
        if (!bound_holds(w->p, &c, worst)) return false;
    } while (tensor_next(actual.shape, at));
    return true;
}

/* ---------------------------------------------------------------------------------------- model */

/* An f64 tensor of zeros in the same shape; dense, or with the same sharing of elements. */
static attn_tensor twin(model *w, const attn_tensor *t, bool strided) {
    const int64_t *n = t->shape;
    attn_tensor to = attn_tensor_bhsd(NULL, ATTN_F64, n[0], n[1], n[2], n[3]);
    int64_t low = 0, high = 1;
    for (int k = 0; k < 4 && !tensor_is_empty(n); k++) {
        if (strided) to.stride[k] = t->stride[k];
        const int64_t reach = to.stride[k] * (n[k] - 1);
        *(reach < 0 ? &low : &high) += reach;
    }
    double *from = calloc((size_t)(high - low), sizeof *from);
    w->memory[w->n_memory++] = from;
    w->complete = w->complete && from;
    if (from) to.data = from - low;
    return to;
}

/* u (S(n) + 2 n / 96 + 8), for sums kept in this type */
static double error_of_sum(attn_dtype kept, double n) {
    const double u = (kept == ATTN_F64 ? u64 : 0x1p-24) + u64;
    return u * (bound_sum(n) + 2 * ceil(n / 96) + 8);
}

static void model_end(model *w) {
    while (w->n_memory > 0) free(w->memory[--w->n_memory]);
}

/* False, and a failed test, without memory; model_end() in any case. */
static bool model_begin(model *w, const problem *p) {
    const problem_spec *s = &p->spec;
    *w = (model){.p = p, .complete = true};
    for (int which = 0; which < GRADIENTS; which++) {
        const attn_tensor t = problem_gradient(p, which);
        if (which > DV && !t.data) continue;
        w->bound[which] = twin(w, &t, which == DBIAS);
        if (t.data) w->exact[which] = twin(w, &t, which == DBIAS);
    }
    if (p->gradients.dbias.data) {
        w->bias_terms = twin(w, &p->gradients.dbias, true);
        w->bias_size = twin(w, &p->gradients.dbias, true);
    }
    const attn_tensor row = attn_tensor_bhsd(NULL, ATTN_F64, 1, 1, ATTNI_REF_FLOW_ARRAYS, s->n_k);
    const attn_tensor dout = attn_tensor_bhsd(NULL, ATTN_F64, 1, 1, 1, s->d_v);
    const attn_tensor flow = twin(w, &row, false);
    if (w->complete) w->flow = attni_ref_flow_in(flow.data, s->n_k);
    w->dout = twin(w, &dout, false).data;
    w->tiny = s->dtype == ATTN_F64 ? 0x1p-1022 : 0x1p-126;
    w->per_row = error_of_sum(s->dtype, (double)s->n_k);
    w->per_key = error_of_sum(s->dtype, (double)(s->n_q * (s->H / s->H_kv)));
    w->per_head = error_of_sum(s->dtype, (double)(s->n_q * s->B));
    w->per_all = error_of_sum(s->dtype, (double)(s->B * s->H * s->n_q) * (double)s->n_k);
    if (!w->complete) check_failed(__FILE__, __LINE__, "no memory for the bounds of %s", p->text);
    return w->complete;
}

static bool run_oracle(const model *w) {
    const problem *p = w->p;
    const attn_results results = {.struct_size = sizeof(attn_results), .dout = p->dout};
    attn_gradients g = {.struct_size = sizeof g,
                        .dq = w->exact[DQ],
                        .dk = w->exact[DK],
                        .dv = w->exact[DV],
                        .dbias = w->exact[DBIAS],
                        .dsinks = w->exact[DSINKS].data,
                        .dscale = w->exact[DSCALE].data};
    attn_error err = {""};
    if (attn_reference_backward(&p->args, &results, &g, &err) == ATTN_OK) return true;
    check_failed(__FILE__, __LINE__, "oracle: %s\n    %s", err.message, p->text);
    return false;
}

/* The rounding errors of a sum in dbias depend on how many terms met in the element. */
static void finish_bias(model *w) {
    const attn_tensor *t = &w->bound[DBIAS];
    const attn_dtype kept = w->p->gradients.dbias.dtype == ATTN_F32 ? ATTN_F32 : w->p->spec.dtype;
    int64_t at[4] = {0};
    if (!t->data || tensor_is_empty(t->shape)) return;
    do {
        const double terms = tensor_get(&w->bias_terms, at[0], at[1], at[2], at[3]);
        const double size = tensor_get(&w->bias_size, at[0], at[1], at[2], at[3]);
        add(t, at, error_of_sum(kept, terms) * size);
        tensor_set(&w->bias_size, at, 0); /* elements that share memory come by again */
    } while (tensor_next(t->shape, at));
}

bool gradient_bound_check(const problem *p, double *worst) {
    model w;
    bool ok = model_begin(&w, p) && run_oracle(&w) && bound_each_row(p, add_row, &w);
    if (ok) finish_bias(&w);
    for (int which = 0; ok && which < GRADIENTS; which++) ok = compare(&w, which, worst);
    model_end(&w);
    return ok;
}
