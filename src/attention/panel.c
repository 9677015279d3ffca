/* SPDX-License-Identifier: Apache-2.0 */
/* panel.c - see panel.h. */
#include "attention/panel.h"

#include "core/rng.h"

#include <float.h>

/* -------------------------------------------------------------------------------- rows */

/* Rows of a group count head after head: row r is query r % seq->rows of head r / seq->rows. */
void attni_panel_begin(attni_panel *panel, const attni_plan *plan, const attni_sequence *seq,
                       int64_t kv_head, int64_t first, int64_t left) {
    attni_rows *rows = &panel->rows;
    panel->vecs = attni_panel_vecs(plan->kernels, left);
    panel->first_row = first;
    rows->args = plan->args;
    rows->seq = seq;
    rows->n = (int)attni_min(left, attni_panel_lanes(plan, panel));
    int64_t head = kv_head * plan->group + first / seq->rows, i = first % seq->rows;
    for (int x = 0; x < rows->n; x++) {
        rows->head[x] = head;
        rows->i[x] = i;
        if (++i == seq->rows) {
            i = 0;
            head++;
        }
    }
    attni_rows_begin(rows);
}

static void *row_buffer(const attni_plan *plan, const attni_row_scratch *scratch, int x) {
    return scratch->rows + (size_t)x * scratch->row_size * plan->real_size;
}

void *attni_widen_row(const attni_plan *plan, const attn_tensor *t, const void *row,
                      const attni_row_scratch *scratch, int x) {
    void *to = row_buffer(plan, scratch, x);
    plan->kernels->widen(t->shape[3], t->dtype, row, to);
    return to;
}

void attni_lane_rows_widen(const attni_plan *plan, const attni_rows *rows, const attn_tensor *t,
                           const attni_row_scratch *scratch, void **row) {
    for (int x = 0; x < rows->n; x++) row[x] = attni_widen_row(plan, t, row[x], scratch, x);
}

/* ----------------------------------------------------------------------- score edits */

/* Only -inf masks: a finite bias beyond the range of f32 stays finite. */
static double to_f32_range(double x) {
    if (isinf(x)) return x;
    return x > (double)FLT_MAX ? (double)FLT_MAX : x < -(double)FLT_MAX ? -(double)FLT_MAX : x;
}

/* The keys of a segment from lane x's bias row as reals: in place if they already are, otherwise
 * converted. */
static const void *bias_row(const attni_visit_source *m, int x, int64_t first, int32_t n) {
    const attni_plan *plan = m->plan;
    const attni_rows *rows = m->rows;
    const attn_tensor *bias = &plan->args->bias;
    const bool ready =
        bias->stride[3] == 1 && bias->dtype == (plan->real_size == 8 ? ATTN_F64 : ATTN_F32);
    if (ready) {
        const char *row = attni_row_at(bias, rows->seq->index, rows->head[x], rows->i[x]);
        return row + (size_t)first * plan->real_size;
    }
    void *to = row_buffer(plan, &m->scratch, x);
    for (int32_t j = 0; j < n; j++) {
        const double x_j =
            attni_element(bias, rows->seq->index, rows->head[x], rows->i[x], first + j);
        attni_store_real(to, plan->real_size, j, plan->real_size == 8 ? x_j : to_f32_range(x_j));
    }
    return to;
}

/* The bias of the visit's keys, (keys in segment order, lanes). */
static const void *fill_bias(const attni_visit_source *m) {
    const attni_plan *plan = m->plan;
    const int lanes = m->vecs * plan->kernels->vl;
    char *to = m->scratch.bias;
    for (int32_t g = 0; g < m->view->n_segments; g++) {
        const attni_segment segment = m->view->segments[g];
        const void *from[ATTNI_MAX_LANES];
        for (int x = 0; x < lanes; x++) {
            from[x] = x < m->rows->n ? bias_row(m, x, m->first + segment.key, segment.n) : from[0];
        }
        plan->kernels->pack_queries(m->vecs, segment.n, from, 1, to);
        to += (size_t)segment.n * (size_t)lanes * plan->real_size;
    }
    return m->scratch.bias;
}

#if ATTNI_HAS_FEW
/* The same as (lanes, KEY_TILE). */
static const void *fill_bias_rows(const attni_visit_source *m) {
    const size_t real = m->plan->real_size;
    memset(m->scratch.bias, 0, (size_t)m->rows->n * ATTNI_KEY_TILE * real);
    for (int x = 0; x < m->rows->n; x++) {
        char *to = m->scratch.bias + (size_t)x * ATTNI_KEY_TILE * real;
        for (int32_t g = 0; g < m->view->n_segments; g++) {
            const attni_segment segment = m->view->segments[g];
            memcpy(to + (size_t)segment.key * real,
                   bias_row(m, x, m->first + segment.key, segment.n), (size_t)segment.n * real);
        }
    }
    return m->scratch.bias;
}
#endif

static void fill_alibi(const attni_visit_source *m, attni_edits *c) {
    const attni_rows *rows = m->rows;
    const attni_plan *plan = m->plan;
    for (int x = 0; x < m->vecs * plan->kernels->vl; x++) {
        const bool used = x < rows->n;
        const double slope = used ? plan->args->alibi[rows->head[x]] * plan->score_factor : 0;
        const double position =
            used ? (double)attni_add_sat(rows->i[x], rows->seq->offset) - (double)m->first : 0;
        attni_store_real(c->slope, plan->real_size, x, slope);
        attni_store_real(c->position, plan->real_size, x, position);
    }
}

static void fill_dropout(const attni_visit_source *m, attni_edits *c) {
    const attn_args *a = m->plan->args;
    const attni_rows *rows = m->rows;
    for (int x = 0; x < m->vecs * m->plan->kernels->vl; x++) {
        c->row[x] = x < rows->n ? (uint32_t)rows->i[x] : 0;
        c->head[x] = x < rows->n ? (uint32_t)rows->head[x] : 0;
    }
    c->dropout = (attni_dropout){.seed = a->seed,
                                 .threshold = attni_dropout_threshold(a->dropout),
                                 .batch = (uint32_t)rows->seq->index,
                                 .multiplier = 1 / (1 - a->dropout),
                                 .first_key = m->first,
                                 .row = c->row,
                                 .head = c->head};
}

typedef const void *bias_filler(const attni_visit_source *m);

static void fill_edits(attni_edits *c, const attni_visit_source *m, bias_filler *bias) {
    const attn_args *a = m->plan->args;
    c->modified = a->softcap > 0 || a->bias.data || a->alibi;
    c->dropped = a->dropout > 0;
    c->modify = (attni_modify){.cap = a->softcap * m->plan->score_factor,
                               .bias_factor = m->plan->score_factor};
    if (a->softcap > 0) c->modify.inverse_cap = 1 / c->modify.cap;
    if (a->bias.data) c->modify.bias = bias(m);
    if (a->alibi) {
        fill_alibi(m, c);
        c->modify.slope = c->slope;
        c->modify.position = c->position;
    }
    if (c->dropped) fill_dropout(m, c);
}

void attni_edits_fill(attni_edits *c, const attni_visit_source *m) { fill_edits(c, m, fill_bias); }

#if ATTNI_HAS_FEW
void attni_edits_fill_few(attni_edits *c, const attni_visit_source *m) {
    fill_edits(c, m, fill_bias_rows);
}
#endif

/* -------------------------------------------------------------------------------- keys */

/* Copies keys lo .. hi - 1 to their positions in the tile. */
static void widen_tile(const attni_key_source *from, const attni_tile *tile, int64_t lo,
                       int64_t hi) {
    const attni_plan *plan = from->plan;
    const attni_sequence *seq = from->seq;
    const attn_tensor *k = &plan->args->k, *v = &plan->args->v;
    for (int64_t j = lo; j < hi; j++) {
        const int64_t row = seq->k_row + j, at = j - tile->first;
        plan->kernels->widen(k->shape[3], k->dtype, attni_row_at(k, seq->batch, from->kv_head, row),
                             (float *)from->k + at * k->shape[3]);
        plan->kernels->widen(v->shape[3], v->dtype, attni_row_at(v, seq->batch, from->kv_head, row),
                             (float *)from->v + at * v->shape[3]);
    }
}

attni_tile attni_tile_widened(const attni_key_source *from, int64_t first, int64_t lo, int64_t hi) {
    const attn_args *a = from->plan->args;
    const attni_tile tile = {.first = first,
                             .k = from->k,
                             .v = from->v,
                             .k_stride = (ptrdiff_t)a->k.shape[3],
                             .v_stride = (ptrdiff_t)a->v.shape[3],
                             .d_v = a->v.shape[3]};
    widen_tile(from, &tile, lo, hi);
    return tile;
}

#if ATTNI_HAS_FEW
void attni_tile_rows(const attni_key_source *from, const attn_tensor *t, int64_t first, int64_t lo,
                     int64_t hi, const void **to) {
    const attni_sequence *seq = from->seq;
    const char *row = attni_row_at(t, seq->batch, from->kv_head, seq->k_row + lo);
    const int64_t step = t->stride[2] * attni_dtype_size(t->dtype);
    for (int64_t j = 0; j < lo - first; j++) to[j] = row;
    for (int64_t j = lo - first; j < hi - first; j++) to[j] = row + (first + j - lo) * step;
    for (int64_t j = hi - first; j < ATTNI_KEY_TILE; j++) to[j] = row;
}
#endif
