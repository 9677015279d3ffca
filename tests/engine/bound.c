/* SPDX-License-Identifier: Apache-2.0 */
/* bound.c - bounds the rounding error of one output element, derived below from the steps of the
 * engine. Reads a problem and its results; the weights come from src/ref. */
#include "bound.h"

#include "check.h"
#include "kernels/kernels.h"
#include "ref/reference.h"

#include <inttypes.h>
#include <stdlib.h>

/* Notation: u = 2^-24 (f32 arithmetic) or 2^-53, logits z_j in base 2, weights w_j, maximum m.
 * S(n) = min(n, 4 sqrt n) bounds n rounding errors of a sum: the worst case, or four standard
 * deviations if that is less (in random data they are as good as independent: Higham & Mary 2019).
 *   logit    d_k products in one sum, query factor and product rounded, tanh 4 ulp, bias and
 *            ALiBi converted, scaled, added: dz_j = u (S(d_k) + 16) M_j, where M_j is the sum of
 *            |scale log2e / T q k| and of the magnitudes of bias and slope * distance
 *   weight   z_j - m rounded, in all tiles together by u |z_j - m|, times ln 2; exp2 about 1 ulp
 *   sums     192 keys per tile from zero, for values and the denominator: 2 S(min(n, 192)) u
 *   tiles    rescaling by a rounded 2^x and adding: 5 u each; sink, dropout, 1/sum, product: 12 u
 * A weight error e_j moves out by at most sum w_j |v_j| (e_j + sum of w e), and lse by sum of w e.
 * The oracle makes the same errors with u = 2^-53 and one tile. Half types add their own. */

static const double ln2 = 0.69314718055994530942, u64 = 0x1p-53;

/* From here on 2^-x is 0 in double, as is exp(-x ln 2): rounding cannot bring it back. */
static const double far_below = 1100;

double bound_sum(double n) { return fmin(n, 4 * sqrt(n)); }

static double real_epsilon(const problem *p) { return p->spec.dtype == ATTN_F64 ? u64 : 0x1p-24; }

/* M_j: how large the parts of a logit are before they cancel. */
static double logit_size(const bound_row *m, int64_t j) {
    const attn_args *a = &m->full;
    const int64_t h_kv = m->h / (a->q.shape[1] / a->k.shape[1]);
    double size = 0;
    for (int64_t d = 0; d < a->q.shape[3]; d++) {
        size += fabs(tensor_get(&a->q, m->b, m->h, m->row, d) *
                     tensor_get(&a->k, m->b, h_kv, m->key0 + j, d));
    }
    size *= fabs(a->scale);
    if (a->bias.data) {
        const int64_t *n = a->bias.shape;
        size += fabs(tensor_get(&a->bias, n[0] == 1 ? 0 : m->s, n[1] == 1 ? 0 : m->h,
                                n[2] == 1 ? 0 : m->i, j));
    }
    if (a->alibi) {
        const double position = (double)m->i + (double)attni_ref_sequence_at(a, m->s).offset;
        size += fabs(a->alibi[m->h]) * (fabs(position) + (double)j);
    }
    return size / (ln2 * a->temperature);
}

/* Fills error[] with the relative error of each weight and returns that of the denominator. */
static double weight_errors(bound_row *m) {
    const attn_args *a = &m->full;
    const int64_t n = problem_keys(m->p, m->s);
    const double per_logit = (bound_sum((double)a->q.shape[3]) + 16) * (m->u + u64);
    double top = -INFINITY, seen = 0, denominator = 0;
    for (int64_t j = 0; j < n; j++) top = fmax(top, m->z[j]);
    for (int64_t j = 0; j < n; j++) {
        m->error[j] = 0;
        if (m->z[j] == -INFINITY) continue;
        const double below = (top - m->z[j]) / (ln2 * a->temperature);
        const double moved = per_logit * logit_size(m, j) + 2 * (m->u + u64) * below;
        if (below - moved > far_below) continue; /* a weight of 0 for both */
        m->error[j] = expm1(ln2 * moved);
        if (isinf(m->error[j])) return INFINITY; /* nothing is known about this row */
        seen += m->w[j];
        denominator += m->w[j] * m->error[j];
    }
    if (a->sinks && seen > 0) {
        const double size = fabs(a->sinks[m->h]) + fabs(top / a->temperature);
        const double below = (top / a->temperature - a->sinks[m->h]) / ln2;
        const bool counts = below - 4 * (m->u + u64) * size <= far_below;
        if (seen < 1 && isfinite(size) && counts)
            denominator += (1 - seen) * 4 * (m->u + u64) * size;
    }
    return denominator;
}

/* sum w |v| (own error + the denominator's) */
double bound_output(const bound_row *m, int64_t d) {
    const attn_args *a = &m->full;
    const int64_t n = problem_keys(m->p, m->s), h_kv = m->h / (a->q.shape[1] / a->k.shape[1]);
    double bound = 0, largest = 0;
    if (isinf(m->denominator)) return INFINITY;
    for (int64_t j = 0; j < n; j++) {
        if (m->z[j] == -INFINITY) continue;
        const double v = fabs(tensor_get(&a->v, m->b, h_kv, m->key0 + j, d)) / (1 - a->dropout);
        bound += m->w[j] * v * (m->error[j] + m->denominator + m->common);
        largest = fmax(largest, v);
    }
    /* Weights under the normal range are taken as 0, products may be subnormal. */
    const double tiny = m->p->spec.dtype == ATTN_F64 ? 0x1p-1022 : 0x1p-126;
    return bound + (double)(n + 1) * tiny * (1 + largest);
}

double bound_store(attn_dtype dtype, double x) {
    if (dtype == ATTN_F16) return fmax(fabs(x) * 0x1p-11, 0x1p-25);
    if (dtype == ATTN_BF16) return fmax(fabs(x) * 0x1p-8, 0x1p-134);
    return 0;
}

/* ---------------------------------------------------------------------------------------- rows */

static void fill_row(bound_row *m) {
    const attni_ref_stages stages = {.biased = m->z, .weights = m->w};
    attni_ref_row(&m->full, m->s, m->h, m->i, &stages, NULL, &m->lse, m->error, NULL);
    const double n = (double)problem_keys(m->p, m->s);
    m->common =
        m->u * (2 * bound_sum(fmin(n, ATTNI_KEY_TILE)) + 5 * ceil(n / ATTNI_KEY_TILE) + 12) +
        u64 * (2 * bound_sum(n) + 12);
    m->denominator = weight_errors(m);
}

static bool each_row(bound_row *m, bound_look *look, void *user) {
    const attn_args *a = &m->full;
    for (m->s = 0; m->s < m->p->spec.B; m->s++) {
        const attni_ref_sequence seq = attni_ref_sequence_at(a, m->s);
        m->b = seq.tensor_batch;
        m->key0 = seq.key0;
        const int64_t rows = a->cu_q ? seq.len_q : a->q.shape[2]; /* padding rows give zeros */
        for (m->h = 0; m->h < a->q.shape[1]; m->h++) {
            for (m->i = 0; m->i < rows; m->i++) {
                m->row = seq.row0 + m->i;
                fill_row(m);
                if (!look(m, user)) return false;
            }
        }
    }
    return true;
}

bool bound_each_row(const problem *p, bound_look *look, void *user) {
    const int64_t n_k = p->args.k.shape[2];
    bound_row m = {.p = p, .full = p->args, .u = real_epsilon(p)};
    if (m.full.scale == ATTN_SCALE_AUTO) m.full.scale = 1 / sqrt((double)p->spec.d_k);
    double *memory = calloc((size_t)(3 * n_k + 1), sizeof *memory);
    if (!memory) {
        check_failed(__FILE__, __LINE__, "no memory for the rows of %s", p->text);
        return false;
    }
    m.w = memory;
    m.z = m.w + n_k;
    m.error = m.z + n_k;
    const bool ok = each_row(&m, look, user);
    free(memory);
    return ok;
}

/* ---------------------------------------------------------------------------------- comparisons */

bool bound_holds(const problem *p, const bound_comparison *c, double *worst) {
    const double error = fabs(c->actual - c->expected);
    const bool same = c->actual == c->expected; /* also two infinities */
    if (worst && !same && isfinite(c->bound)) *worst = fmax(*worst, error / c->bound);
    if (same || error <= c->bound) return true;
    check_failed(__FILE__, __LINE__,
                 "%s[b=%" PRId64 " h=%" PRId64 " row=%" PRId64 " c=%" PRId64
                 "] is %.17g, the oracle has %.17g: off by %.3g, allowed %.3g\n    %s",
                 c->name, c->at[0], c->at[1], c->at[2], c->at[3], c->actual, c->expected, error,
                 c->bound, p->text);
    return false;
}

/* The oracle's results, in f64. */
typedef struct oracle {
    attn_tensor out, lse;
    double *worst;
} oracle;

static bool check_row(bound_row *m, void *user) {
    const oracle *o = user;
    const problem *p = m->p;
    for (int64_t d = 0; d < p->out.shape[3]; d++) {
        bound_comparison c = {.name = "out", .at = {m->b, m->h, m->row, d}};
        c.actual = tensor_get(&p->out, m->b, m->h, m->row, d);
        c.expected = tensor_get(&o->out, m->b, m->h, m->row, d);
        c.bound = bound_output(m, d);
        c.bound += bound_store(p->spec.dtype, fabs(c.expected) + c.bound);
        if (!bound_holds(p, &c, o->worst)) return false;
    }
    bound_comparison c = {.name = "lse", .at = {m->b, m->h, m->row, 0}};
    c.actual = tensor_get(&p->lse, m->b, m->h, m->row, 0);
    c.expected = tensor_get(&o->lse, m->b, m->h, m->row, 0);
    c.bound = m->denominator + m->common + (m->u + 4 * u64) * (1 + fabs(c.expected));
    return bound_holds(p, &c, o->worst);
}

bool bound_check(const problem *p, double *worst) {
    const int64_t *n = p->out.shape;
    double *memory = calloc((size_t)(n[0] * n[1] * n[2] * (n[3] + 1) + 1), sizeof *memory);
    attn_error err = {""};
    bool ok = false;
    if (!memory) {
        check_failed(__FILE__, __LINE__, "no memory for the oracle of %s", p->text);
        return false;
    }
    oracle o = {.out = attn_tensor_bhsd(memory, ATTN_F64, n[0], n[1], n[2], n[3]), .worst = worst};
    o.lse = attn_tensor_bhsd(memory + n[0] * n[1] * n[2] * n[3], ATTN_F64, n[0], n[1], n[2], 1);
    if (attn_reference(&p->args, &o.out, &o.lse, &err) == ATTN_OK) {
        ok = bound_each_row(p, check_row, &o);
    } else {
        check_failed(__FILE__, __LINE__, "oracle: %s\n    %s", err.message, p->text);
    }
    free(memory);
    return ok;
}
