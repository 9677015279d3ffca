/* SPDX-License-Identifier: Apache-2.0 */
/* backward_block.c - see backward_block.h. */
#include "attention/backward_block.h"

#include "attention/far_rows.h"
#include "core/log2.h"

size_t attni_backward_panel_size(void) { return (sizeof(attni_back_panel) + 63) / 64 * 64; }

/* A row of t as reals; half types are widened into row `buffer` of the scratch. */
static const void *real_row(const attni_back_task *s, const attn_tensor *t, const void *row,
                            int buffer) {
    const attni_row_scratch scratch = attni_back_row_scratch(s);
    const attni_plan *f = &s->plan->forward;
    return f->half ? attni_widen_row(f, t, row, &scratch, buffer) : row;
}

static double dout_dot_out(const attni_back_task *s, const attni_back_panel *p, int x) {
    const attn_results *r = s->job->results;
    const void *dout = attni_lane_row(&p->base.rows, x, &r->dout),
               *out = attni_lane_row(&p->base.rows, x, &r->out);
    return s->plan->forward.kernels->dot(r->out.shape[3], real_row(s, &r->dout, dout, 0),
                                         real_row(s, &r->out, out, 1));
}

/* The log-sum-exp of row x. Infinite, it has no weights that add up to one: everything is NaN. */
static void read_lse(const attni_back_task *s, attni_back_panel *p, int x) {
    const attn_tensor *t = &s->job->results->lse;
    const double lse = attni_load_as(t->dtype, attni_lane_row(&p->base.rows, x, t), 0);
    p->blind[x] = lse == -HUGE_VAL || p->base.rows.i[x] >= s->seq.n_q;
    p->top[x] = lse * ATTNI_LOG2E;
    p->rest[x] = lse == HUGE_VAL ? NAN : 0;
    p->far[x] = attni_is_far(lse);
    if (ATTNI_JOIN_GROUPS && p->far[x]) {
        const double *stats = attni_lane_row(&p->base.rows, x, &s->job->stats);
        p->top[x] = stats[0];
        p->rest[x] = attni_lse(0, stats[1]) * ATTNI_LOG2E;
    }
}

void attni_back_panel_read(const attni_back_task *s, attni_back_panel *p) {
    for (int x = 0; x < p->base.rows.n; x++) {
        read_lse(s, p, x);
        p->dot[x] = p->blind[x] ? 0 : dout_dot_out(s, p, x);
        if (p->blind[x]) attni_rows_hide(&p->base.rows, x);
    }
}

static bool is_used(const attni_back_panel *p, int x) { return x < p->base.rows.n && !p->blind[x]; }

/* inverse = 2^(from - log-sum-exp), 0 in lanes that see no key. from (lanes) is in base 2. */
static void fill_inverse(const attni_back_task *s, attni_back_panel *p, const void *from) {
    const attni_plan *f = &s->plan->forward;
    const size_t real = f->real_size;
    double exponent[ATTNI_MAX_LANES] = {0}; /* of the real type */
    for (int x = 0; x < attni_back_lanes(s, p); x++) {
        const double reference = attni_load_real(from, real, x);
        attni_store_real(exponent, real, x,
                         is_used(p, x) ? (reference - p->top[x]) - p->rest[x] : 0);
    }
    f->kernels->exp2(attni_back_lanes(s, p), exponent, p->inverse);
    for (int x = 0; x < attni_back_lanes(s, p); x++) {
        if (!is_used(p, x)) attni_store_real(p->inverse, real, x, 0);
    }
}

/* The row's log-sum-exp in base 2, as a whole number and a factor: s - whole is exact, as in
 * forward. */
static void fill_stats(const attni_back_task *s, attni_back_panel *p) {
    const size_t real = s->plan->forward.real_size;
    for (int x = 0; x < attni_back_lanes(s, p); x++) {
        attni_store_real(p->whole, real, x, is_used(p, x) ? rint(p->top[x]) : 0);
        attni_store_real(p->delta, real, x, is_used(p, x) ? p->dot[x] : 0);
    }
    fill_inverse(s, p, p->whole);
}

const void *attni_back_panel_stored(const attni_back_task *s, attni_back_panel *p, int64_t first) {
    const attni_plan *f = &s->plan->forward;
    const attni_saved *saved = &f->saved;
    if (!s->use_saved) return NULL;
    const char *head = (const char *)f->args->saved + (size_t)s->head * saved->head_bytes;
    const size_t row = (size_t)saved->row * f->real_size,
                 column = (size_t)p->base.first_row * f->real_size;
    fill_inverse(s, p, head + saved->maxima + (size_t)(first / ATTNI_KEY_TILE) * row + column);
    return head + (size_t)first * row + column;
}

static void begin_panel(const attni_back_task *s, attni_back_panel *p, int64_t first, int64_t left,
                        int column) {
    const attni_plan *f = &s->plan->forward;
    const attni_backward_layout *l = &s->plan->layout;
    const size_t lane_bytes = (size_t)(f->kernels->vl * f->kernels->max_vecs) * f->real_size;
    p->column = column;
    p->started = p->folded = false;
    p->next = 0;
    p->base.q_t = (char *)p + l->q_t;
    p->do_t = (char *)p + l->do_t;
    p->dq_t = (char *)p + l->dq_t;
    p->dq_total = (char *)p + l->dq_total;
    p->dq_lost = (char *)p + l->dq_lost;
    p->whole = (char *)p + l->stats;
    p->inverse = (char *)p->whole + lane_bytes;
    p->delta = (char *)p->inverse + lane_bytes;
    attni_panel_begin(&p->base, f, &s->seq, s->kv_head, first, left);
}

void attni_back_panel_rows(const attni_back_task *s, const attni_back_panel *p,
                           const attn_tensor *t, void **from) {
    const attni_row_scratch scratch = attni_back_row_scratch(s);
    const attni_plan *f = &s->plan->forward;
    const int max_lanes = f->kernels->vl * f->kernels->max_vecs;
    void *zeros = scratch.rows + (size_t)max_lanes * scratch.row_size * f->real_size;
    attni_lane_reals(f, &p->base.rows, t, &scratch, from);
    for (int x = 0; x < attni_back_lanes(s, p); x++) {
        if (x >= p->base.rows.n || p->blind[x]) from[x] = zeros;
    }
}

/* Rows of the panel as rows of the block's packed operand: columns in panels of (BLOCK_ROWS,
 * lanes), missing columns zero. */
static void copy_rows(const attni_back_task *s, const attni_back_panel *p, void *const *from,
                      int64_t d, char *to) {
    const attni_plan *f = &s->plan->forward;
    const size_t real = f->real_size;
    for (int64_t c = 0; c < d;) {
        const int64_t lanes = attni_column_vecs(f->kernels, d - c) * f->kernels->vl;
        const size_t n = (size_t)attni_min(lanes, d - c) * real, width = (size_t)lanes * real;
        for (int x = 0; x < p->base.rows.n; x++) {
            char *row = to + (size_t)(p->column + x) * width;
            memcpy(row, (const char *)from[x] + (size_t)c * real, n);
            if (n < width) memset(row + n, 0, width - n);
        }
        to += ATTNI_BLOCK_ROWS * width;
        c += lanes;
    }
}

void attni_back_panel_pack(const attni_back_task *s, attni_back_panel *p) {
    const attni_backward_plan *plan = s->plan;
    const attni_plan *f = &plan->forward;
    const attn_args *a = f->args;
    const attn_tensor *dout = &s->job->results->dout;
    void *from[ATTNI_MAX_LANES];
    fill_stats(s, p);
    attni_back_panel_rows(s, p, &a->q, from);
    f->kernels->pack_queries(p->base.vecs, a->q.shape[3], (const void *const *)from,
                             f->query_factor, p->base.q_t);
    if (plan->want_dk) copy_rows(s, p, from, a->q.shape[3], s->scratch + plan->layout.q_rows);
    attni_back_panel_rows(s, p, dout, from);
    f->kernels->pack_queries(p->base.vecs, a->v.shape[3], (const void *const *)from, 1, p->do_t);
    if (plan->want_dv) copy_rows(s, p, from, a->v.shape[3], s->scratch + plan->layout.do_rows);
}

/* If queries times their factor and keys are both below this in magnitude, no score can leave the
 * range, for any head size. */
static double modest_limit(const attni_plan *f) {
    return f->real_size == sizeof(float) ? 0x1p49 : 0x1p500;
}

bool attni_back_keys_are_modest(const attni_back_task *s) {
    const attni_plan *f = &s->plan->forward;
    const attn_tensor *k = &f->args->k;
    for (int64_t j = s->lo; j < s->hi; j++) {
        const void *row = attni_row_at(k, s->seq.batch, s->kv_head, s->seq.k_row + j);
        if (!f->kernels->are_below(k->shape[3], real_row(s, k, row, 0), modest_limit(f)))
            return false;
    }
    return true;
}

bool attni_back_panel_is_modest(const attni_back_task *s, const attni_back_panel *p) {
    const attni_plan *f = &s->plan->forward;
    return f->kernels->are_below(f->args->q.shape[3] * attni_back_lanes(s, p), p->base.q_t,
                                 modest_limit(f));
}

/* Whether the block's rows of a packed operand are finite. */
static bool rows_are_finite(const attni_back_task *s, const char *operand, int64_t d) {
    const attni_plan *f = &s->plan->forward;
    for (int64_t c = 0; c < d;) {
        const int64_t lanes = attni_column_vecs(f->kernels, d - c) * f->kernels->vl;
        if (!f->kernels->are_below(s->n_rows * lanes, operand, HUGE_VAL)) return false;
        operand += (size_t)(ATTNI_BLOCK_ROWS * lanes) * f->real_size;
        c += lanes;
    }
    return true;
}

bool attni_back_block_is_finite(const attni_back_task *s) {
    const attni_backward_plan *plan = s->plan;
    const attn_args *a = plan->forward.args;
    return (!plan->want_dk ||
            rows_are_finite(s, s->scratch + plan->layout.q_rows, a->q.shape[3])) &&
           (!plan->want_dv || rows_are_finite(s, s->scratch + plan->layout.do_rows, a->v.shape[3]));
}

/* ---------------------------------------------------------------------------------- block */

bool attni_back_block_begin(attni_back_task *s, int64_t first, int64_t *lo, int64_t *hi) {
    const int64_t total = s->plan->forward.group * s->seq.rows;
    s->n_rows = (int)attni_min(ATTNI_BLOCK_ROWS, total - first);
    s->n_panels = 0;
    *lo = INT64_MAX, *hi = 0;
    for (int column = 0; column < s->n_rows;) {
        attni_back_panel *p = attni_back_panel_at(s, s->n_panels++);
        begin_panel(s, p, first + column, s->n_rows - column, column);
        column += p->base.rows.n;
        *lo = attni_min(*lo, p->base.rows.any_lo);
        *hi = attni_max(*hi, p->base.rows.any_hi);
    }
    *lo = attni_max(*lo, s->lo);
    *hi = attni_min(*hi, s->hi);
    return *lo < *hi;
}
