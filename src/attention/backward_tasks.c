/* SPDX-License-Identifier: Apache-2.0 */
/* backward_tasks.c - blocks of queries meet tiles of keys: each panel of the block recomputes P^T
 * and dS^T of the tile and adds to its dQ, then the block adds to dV and dK of the tile.
 * Called on pool threads through backward.c. Touches its part of the workspace, its keys of dk and
 * dv, its elements of dbias, and the rows of dq when their turn comes.
 * Sums run over tiles in ascending order for dq and over blocks in ascending order for dk and dv,
 * whoever does them: that fixes the bits. */
#include "attention/backward_tasks.h"

#include "attention/panel.h"

/* A panel of the block in work. The arrays are of the real type and follow it in the scratch. */
typedef struct panel {
    attni_rows rows;
    int64_t first_row; /* of all rows of the group */
    int vecs, column;  /* its first lane is this column of the block */
    bool started;      /* dq_t holds something */
    int64_t next;      /* tile of ATTNI_KEY_TILE keys before which it sees nothing */
    void *q_t, *do_t, *dq_t;
    void *whole, *inverse, *delta;                     /* (lanes) */
    double lse[ATTNI_MAX_LANES], dot[ATTNI_MAX_LANES]; /* dot = dout . out */
    bool blind[ATTNI_MAX_LANES]; /* the row sees nothing: what it holds does not matter */
} panel;

size_t attni_backward_panel_size(void) { return (sizeof(panel) + 63) / 64 * 64; }

/* Running sums of dk or dv, as reals: in the result itself, or in scratch for half types. */
typedef struct key_sums {
    const attn_tensor *result; /* data NULL: not wanted */
    char *data;                /* of the range's first key */
    ptrdiff_t row;             /* elements from key to key */
    int64_t d;
    double factor; /* what sums are multiplied with in the end */
} key_sums;

/* A task at work on one head and one range of its keys. */
typedef struct task_state {
    const attni_backward_job *job;
    const attni_backward_plan *plan;
    char *scratch;
    attni_view *view;
    attni_sequence seq;
    int64_t head, kv_head; /* head counts (sequence, kv_head) pairs */
    int64_t range, lo, hi; /* keys lo .. hi - 1 */
    key_sums dk, dv;
    int n_panels, n_rows; /* of the block */
    bool guarded;         /* rows of the block hold Inf or NaN, and pairs may be hidden */
} task_state;

static panel *panel_at(const task_state *s, int p) {
    const attni_backward_layout *l = &s->plan->layout;
    return (panel *)(s->scratch + l->panels + (size_t)p * l->panel_bytes);
}

static attni_row_scratch row_scratch(const task_state *s) {
    const attni_backward_layout *l = &s->plan->layout;
    return (attni_row_scratch){
        .rows = s->scratch + l->rows, .row_size = l->row_size, .bias = s->scratch + l->bias};
}

static int lanes_of(const task_state *s, const panel *p) {
    return p->vecs * s->plan->forward.kernels->vl;
}

static bool is_last_range(const task_state *s) { return s->range == s->plan->ranges - 1; }

/* ------------------------------------------------------------------------ rows of a block */

static inline double value_at(attn_dtype dtype, const void *row, int64_t c) {
    switch (dtype) {
    case ATTN_F32: return ((const float *)row)[c];
    case ATTN_F64: return ((const double *)row)[c];
    case ATTN_F16: return attni_f16_to_f32(((const uint16_t *)row)[c]);
    default: return attni_bf16_to_f32(((const uint16_t *)row)[c]);
    }
}

/* In double, as two sums, so that one addition need not wait for the one before. */
static double row_dot(attn_dtype dtype, const void *a, const void *b, int64_t n) {
    double even = 0, odd = 0;
    for (int64_t c = 0; c + 1 < n; c += 2) {
        even += value_at(dtype, a, c) * value_at(dtype, b, c);
        odd += value_at(dtype, a, c + 1) * value_at(dtype, b, c + 1);
    }
    if (n % 2 == 1) even += value_at(dtype, a, n - 1) * value_at(dtype, b, n - 1);
    return even + odd;
}

/* lse and dout . out of every row. */
static void read_results(const task_state *s, panel *p) {
    const attn_results *r = s->job->results;
    for (int x = 0; x < p->rows.n; x++) {
        const void *lse = attni_lane_row(&p->rows, x, &r->lse);
        p->lse[x] = attni_load_real(lse, (size_t)attni_dtype_size(r->lse.dtype), 0);
        p->blind[x] = p->lse[x] == -HUGE_VAL || p->rows.i[x] >= s->seq.n_q;
        p->dot[x] = p->blind[x] ? 0
                                : row_dot(r->dout.dtype, attni_lane_row(&p->rows, x, &r->dout),
                                          attni_lane_row(&p->rows, x, &r->out), r->out.shape[3]);
    }
}

static bool is_used(const panel *p, int x) { return x < p->rows.n && !p->blind[x]; }

/* inverse = 2^(from - log-sum-exp), 0 in lanes that see nothing. from (lanes) is in base 2. */
static void fill_inverse(const task_state *s, panel *p, const void *from) {
    const attni_plan *f = &s->plan->forward;
    const size_t real = f->real_size;
    double exponent[ATTNI_MAX_LANES]; /* of the real type */
    for (int x = 0; x < lanes_of(s, p); x++) {
        const double lse = is_used(p, x) ? p->lse[x] * ATTNI_LOG2E : 0;
        attni_store_real(exponent, real, x,
                         is_used(p, x) ? attni_load_real(from, real, x) - lse : 0);
    }
    f->kernels->exp2(lanes_of(s, p), exponent, p->inverse);
    for (int x = 0; x < lanes_of(s, p); x++) {
        if (!is_used(p, x)) attni_store_real(p->inverse, real, x, 0);
    }
}

/* The row's log-sum-exp in base 2 as a whole number and a factor: s - whole is exact, as in
 * forward. */
static void fill_stats(const task_state *s, panel *p) {
    const size_t real = s->plan->forward.real_size;
    for (int x = 0; x < lanes_of(s, p); x++) {
        attni_store_real(p->whole, real, x, is_used(p, x) ? rint(p->lse[x] * ATTNI_LOG2E) : 0);
        attni_store_real(p->delta, real, x, is_used(p, x) ? p->dot[x] : 0);
    }
    fill_inverse(s, p, p->whole);
}

/* The weights that forward kept for this panel and tile, measured from the maximum of their time. */
static const void *stored_weights(const task_state *s, panel *p, int64_t first) {
    const attni_plan *f = &s->plan->forward;
    const attni_saved *saved = &f->saved;
    if (saved->bytes == 0) return NULL;
    const char *head = (const char *)f->args->saved + (size_t)s->head * saved->head_bytes;
    const size_t row = (size_t)saved->row * f->real_size,
                 column = (size_t)p->first_row * f->real_size;
    fill_inverse(s, p, head + saved->maxima + (size_t)(first / ATTNI_KEY_TILE) * row + column);
    return head + (size_t)first * row + column;
}

static void begin_panel(const task_state *s, panel *p, int64_t first, int64_t left, int column) {
    const attni_plan *f = &s->plan->forward;
    const attni_backward_layout *l = &s->plan->layout;
    const size_t lane_bytes = (size_t)(f->kernels->vl * f->kernels->max_vecs) * f->real_size;
    p->vecs = attni_panel_vecs(f->kernels, left);
    p->first_row = first;
    p->column = column;
    p->started = false;
    p->next = 0;
    p->q_t = (char *)p + l->q_t;
    p->do_t = (char *)p + l->do_t;
    p->dq_t = (char *)p + l->dq_t;
    p->whole = (char *)p + l->stats;
    p->inverse = (char *)p->whole + lane_bytes;
    p->delta = (char *)p->inverse + lane_bytes;
    attni_rows_begin_group(&p->rows, f, &s->seq, s->kv_head, first,
                           (int)attni_min(left, lanes_of(s, p)));
}

/* The rows of the panel as reals; blind ones and lanes without a row are zeros. */
static void real_rows(const task_state *s, const panel *p, const attn_tensor *t, void **from) {
    const attni_row_scratch scratch = row_scratch(s);
    const attni_plan *f = &s->plan->forward;
    const int max_lanes = f->kernels->vl * f->kernels->max_vecs;
    void *zeros = scratch.rows + (size_t)max_lanes * scratch.row_size * f->real_size;
    attni_lane_reals(f, &p->rows, t, &scratch, from);
    for (int x = 0; x < lanes_of(s, p); x++) {
        if (x >= p->rows.n || p->blind[x]) from[x] = zeros;
    }
}

/* Rows of the panel as rows of the block's packed operand: columns in panels of (BLOCK_ROWS,
 * lanes), missing columns zero. */
static void copy_rows(const task_state *s, const panel *p, void *const *from, int64_t d, char *to) {
    const attni_plan *f = &s->plan->forward;
    const size_t real = f->real_size;
    for (int64_t c = 0; c < d;) {
        const int64_t lanes = attni_column_vecs(f->kernels, d - c) * f->kernels->vl;
        const size_t n = (size_t)attni_min(lanes, d - c) * real, width = (size_t)lanes * real;
        for (int x = 0; x < p->rows.n; x++) {
            char *row = to + (size_t)(p->column + x) * width;
            memcpy(row, (const char *)from[x] + (size_t)c * real, n);
            memset(row + n, 0, width - n);
        }
        to += ATTNI_BLOCK_ROWS * width;
        c += lanes;
    }
}

static void pack_panel(const task_state *s, panel *p) {
    const attni_backward_plan *plan = s->plan;
    const attni_plan *f = &plan->forward;
    const attn_args *a = f->args;
    const attn_tensor *dout = &s->job->results->dout;
    void *from[ATTNI_MAX_LANES];
    fill_stats(s, p);
    real_rows(s, p, &a->q, from);
    f->kernels->pack_queries(p->vecs, a->q.shape[3], (const void *const *)from, f->query_factor,
                             p->q_t);
    if (plan->want_dk) copy_rows(s, p, from, a->q.shape[3], s->scratch + plan->layout.q_rows);
    real_rows(s, p, dout, from);
    f->kernels->pack_queries(p->vecs, a->v.shape[3], (const void *const *)from, 1, p->do_t);
    if (plan->want_dv) copy_rows(s, p, from, a->v.shape[3], s->scratch + plan->layout.do_rows);
}

/* Is every number finite? Adding one to an exponent of all ones carries into the sign bit: integer
 * arithmetic that compilers turn into vectors. */
static bool are_finite(const void *numbers, int64_t n, size_t real_size) {
    uint32_t carry32 = 0;
    uint64_t carry64 = 0;
    for (int64_t i = 0; real_size == sizeof(float) && i < n; i++) {
        uint32_t bits;
        memcpy(&bits, (const float *)numbers + i, sizeof bits);
        carry32 |= (bits & 0x7f800000u) + 0x00800000u;
    }
    for (int64_t i = 0; real_size == sizeof(double) && i < n; i++) {
        uint64_t bits;
        memcpy(&bits, (const double *)numbers + i, sizeof bits);
        carry64 |= (bits & 0x7ff0000000000000u) + 0x0010000000000000u;
    }
    return carry32 >> 31 == 0 && carry64 >> 63 == 0;
}

/* Are the block's rows of a packed operand finite? */
static bool rows_are_finite(const task_state *s, const char *operand, int64_t d) {
    const attni_plan *f = &s->plan->forward;
    for (int64_t c = 0; c < d;) {
        const int64_t lanes = attni_column_vecs(f->kernels, d - c) * f->kernels->vl;
        if (!are_finite(operand, s->n_rows * lanes, f->real_size)) return false;
        operand += (size_t)(ATTNI_BLOCK_ROWS * lanes) * f->real_size;
        c += lanes;
    }
    return true;
}

static bool block_is_finite(const task_state *s) {
    const attni_backward_plan *plan = s->plan;
    const attn_args *a = plan->forward.args;
    return (!plan->want_dk ||
            rows_are_finite(s, s->scratch + plan->layout.q_rows, a->q.shape[3])) &&
           (!plan->want_dv || rows_are_finite(s, s->scratch + plan->layout.do_rows, a->v.shape[3]));
}

static bool may_hide(const attn_args *a) {
    return a->causal || a->window_left >= 0 || a->window_right >= 0 || a->pattern || a->mask.data ||
           a->bias.data;
}

/* ---------------------------------------------------------------------------------- dbias */

static void add_to(const attn_tensor *t, void *row, int64_t j, double x) {
    const int64_t at = j * t->stride[3];
    if (t->dtype == ATTN_F64) {
        ((double *)row)[at] += x;
    } else {
        ((float *)row)[at] = (float)((double)((float *)row)[at] + x);
    }
}

static void add_dbias(const task_state *s, const panel *p, int64_t first, const void *dz) {
    const attn_tensor *dbias = &s->job->gradients->dbias;
    const attni_plan *f = &s->plan->forward;
    const int lanes = lanes_of(s, p);
    for (int x = 0; x < p->rows.n; x++) {
        void *row = attni_row_at(dbias, s->seq.index, p->rows.head[x], p->rows.i[x]);
        int64_t at = x;
        for (int32_t g = 0; g < s->view->n_segments; g++) {
            const int64_t key = first + s->view->segments[g].key;
            for (int32_t j = 0; j < s->view->segments[g].n; j++, at += lanes) {
                const double z = attni_load_real(dz, f->real_size, at);
                add_to(dbias, row, key + j, z / f->args->temperature);
            }
        }
    }
}

/* ---------------------------------------------------------------------------- one tile */

/* Which panels of the block see a key: from first to last, -1 if none. */
typedef struct key_panels {
    int8_t first[ATTNI_BACKWARD_KEYS], last[ATTNI_BACKWARD_KEYS];
} key_panels;

static void note_panel(key_panels *seen, const attni_view *view, int p) {
    for (int32_t g = 0; g < view->n_segments; g++) {
        for (int32_t j = 0; j < view->segments[g].n; j++) {
            const int32_t key = view->segments[g].key + j;
            if (seen->first[key] < 0) seen->first[key] = (int8_t)p;
            seen->last[key] = (int8_t)p;
        }
    }
}

/* Marks pairs of keys from .. to - 1 as hidden: weight -0, gradient 0. */
static void hide_keys(const task_state *s, const panel *p, int64_t from, int64_t to) {
    const size_t real = s->plan->forward.real_size;
    const attni_backward_layout *l = &s->plan->layout;
    for (int64_t key = from; key < to; key++) {
        const int64_t at = key * ATTNI_BLOCK_ROWS + p->column;
        for (int x = 0; x < lanes_of(s, p); x++) {
            attni_store_real(s->scratch + l->p, real, at + x, -0.0);
            attni_store_real(s->scratch + l->ds, real, at + x, 0);
        }
    }
}

static void hide_rest(const task_state *s, const panel *p, const attni_view *view) {
    int64_t from = 0;
    for (int32_t g = 0; g < view->n_segments; g++) {
        hide_keys(s, p, from, view->segments[g].key);
        from = view->segments[g].key + view->segments[g].n;
    }
    hide_keys(s, p, from, ATTNI_BACKWARD_KEYS);
}

static void visit_tile(const task_state *s, panel *p, const attni_tile *t) {
    const attni_backward_plan *plan = s->plan;
    const attni_plan *f = &plan->forward;
    const attn_args *a = f->args;
    const attni_backward_layout *l = &plan->layout;
    const size_t column = (size_t)p->column * f->real_size;
    attni_changes changes;
    attni_changes_begin(&changes, &(attni_meeting){.plan = f,
                                                   .rows = &p->rows,
                                                   .vecs = p->vecs,
                                                   .first = t->first,
                                                   .view = s->view,
                                                   .scratch = row_scratch(s)});
    const attni_backward_visit visit = {
        .visit = {.vecs = p->vecs,
                  .n_segments = s->view->n_segments,
                  .segments = s->view->segments,
                  .n_keys = s->view->n_keys,
                  .first = !p->started,
                  .prefetch = !f->half && p->column == 0,
                  .d_k = a->q.shape[3],
                  .d_v = a->v.shape[3],
                  .q_t = p->q_t,
                  .k = t->k,
                  .v = t->v,
                  .k_stride = t->k_stride,
                  .v_stride = t->v_stride,
                  .allow = s->view->all ? NULL : s->view->allow,
                  .modify = changes.modified ? &changes.modify : NULL,
                  .dropout = changes.dropped ? &changes.dropout : NULL},
        .do_t = p->do_t,
        .whole = p->whole,
        .inverse = p->inverse,
        .stored = stored_weights(s, p, t->first),
        .stored_row = (ptrdiff_t)f->saved.row,
        .delta = p->delta,
        .p = s->scratch + l->p + column,
        .ds = s->scratch + l->ds + column,
        .dz = plan->want_dbias ? s->scratch + l->dz : NULL,
        .keep = s->scratch + l->keep,
        .dq_t = plan->want_dq ? p->dq_t : NULL,
    };
    f->kernels->backward(&visit);
    p->started = true;
    if (plan->want_dbias) add_dbias(s, p, t->first, visit.dz);
}

/* ---------------------------------------------------------------------------- dk and dv */

/* Keys key .. key + n - 1 of the tile, queries row .. end - 1 of the block. */
typedef struct pair_block {
    int64_t key, n, row, end;
} pair_block;

/* sums += weights^T rows, where weights is P^T or dS^T of the tile and rows the packed operand. */
static void add_product(const task_state *s, const key_sums *sums, int64_t first, size_t weights,
                        size_t rows, const pair_block *b) {
    const attni_plan *f = &s->plan->forward;
    const size_t real = f->real_size;
    const int64_t at = b->key * ATTNI_BLOCK_ROWS + b->row;
    const char *operand = s->scratch + rows;
    for (int64_t c = 0; c < sums->d;) {
        const int vecs = attni_column_vecs(f->kernels, sums->d - c);
        const int64_t lanes = vecs * f->kernels->vl;
        const attni_product product = {
            .vecs = vecs,
            .n_columns = (int)attni_min(lanes, sums->d - c),
            .add = true,
            .m = b->n,
            .k = b->end - b->row,
            .a = s->scratch + weights + (size_t)at * real,
            .a_row = ATTNI_BLOCK_ROWS,
            .a_step = 1,
            .b = operand + (size_t)(b->row * lanes) * real,
            .c = sums->data + ((first + b->key - s->lo) * sums->row + c) * (ptrdiff_t)real,
            .c_row = sums->row,
        };
        if (s->guarded) {
            const char *p = s->scratch + s->plan->layout.p;
            f->kernels->product_guarded(&product, p + (size_t)at * real);
        } else {
            f->kernels->product(&product);
        }
        operand += (size_t)(ATTNI_BLOCK_ROWS * lanes) * real;
        c += lanes;
    }
}

/* Keys seen by the same panels go together, so that a diagonal costs little more than it shows. */
static void add_keys(const task_state *s, int64_t first, const key_panels *seen) {
    const attni_backward_layout *l = &s->plan->layout;
    for (int64_t key = 0; key < ATTNI_BACKWARD_KEYS;) {
        int64_t end = key + 1;
        while (end < ATTNI_BACKWARD_KEYS && seen->first[end] == seen->first[key] &&
               seen->last[end] == seen->last[key])
            end++;
        if (seen->first[key] >= 0) {
            const panel *last = panel_at(s, seen->last[key]);
            const pair_block block = {.key = key,
                                      .n = end - key,
                                      .row = panel_at(s, seen->first[key])->column,
                                      .end = last->column + last->rows.n};
            if (s->plan->want_dv) add_product(s, &s->dv, first, l->p, l->do_rows, &block);
            if (s->plan->want_dk) add_product(s, &s->dk, first, l->ds, l->q_rows, &block);
        }
        key = end;
    }
}

/* Does the panel see a key of the tile? Fills the view. */
static bool sees_tile(const task_state *s, panel *p, int64_t first) {
    const int64_t tile = first / ATTNI_KEY_TILE;
    if (tile >= p->next) p->next = attni_rows_next_tile(&p->rows, tile);
    return tile >= p->next &&
           attni_rows_view(&p->rows, first, attni_min(s->hi - first, ATTNI_BACKWARD_KEYS), s->view);
}

static void meet_tile(const task_state *s, const attni_key_source *from, int64_t first, int64_t lo,
                      int64_t hi) {
    const attni_tile t = attni_tile_at(from, first, attni_max(lo, first),
                                       attni_min(hi, first + ATTNI_BACKWARD_KEYS));
    key_panels seen;
    memset(&seen, -1, sizeof seen);
    bool any = false;
    for (int n = 0; n < s->n_panels; n++) {
        panel *p = panel_at(s, n);
        if (sees_tile(s, p, first)) {
            hide_rest(s, p, s->view);
            visit_tile(s, p, &t);
            note_panel(&seen, s->view, n);
            any = true;
        } else {
            hide_keys(s, p, 0, ATTNI_BACKWARD_KEYS);
        }
    }
    if (any) add_keys(s, first, &seen);
}

/* ------------------------------------------------------------------------------------ dq */

/* To the result after the last range, else to where the next range finds it. */
static void unpack_dq(const task_state *s, const panel *p) {
    const attni_plan *f = &s->plan->forward;
    const attn_args *a = f->args;
    const bool last = is_last_range(s), narrow = f->half && last;
    const attn_tensor *dq = last ? &s->job->gradients->dq : &s->job->dq_sums;
    const attni_row_scratch scratch = row_scratch(s);
    void *to[ATTNI_MAX_LANES];
    double factors[ATTNI_MAX_LANES]; /* of the real type */
    if (!dq->data) return;
    attni_lane_rows(&p->rows, dq, to);
    for (int x = 0; x < lanes_of(s, p); x++) {
        attni_store_real(factors, f->real_size, x, last ? a->scale / a->temperature : 1);
        if (narrow) to[x] = scratch.rows + (size_t)x * scratch.row_size * f->real_size;
    }
    f->kernels->unpack_rows(p->vecs, p->rows.n, a->q.shape[3], p->dq_t, factors, to);
    for (int x = 0; narrow && x < p->rows.n; x++)
        f->kernels->narrow(dq->shape[3], dq->dtype, to[x], attni_lane_row(&p->rows, x, dq));
}

/* What the ranges before this one have left. */
static void load_dq(const task_state *s, panel *p) {
    const attni_plan *f = &s->plan->forward;
    const void *from[ATTNI_MAX_LANES];
    void *rows[ATTNI_MAX_LANES];
    attni_lane_rows(&p->rows, &s->job->dq_sums, rows);
    for (int x = 0; x < lanes_of(s, p); x++) from[x] = rows[x < p->rows.n ? x : 0];
    f->kernels->pack_queries(p->vecs, f->args->q.shape[3], from, 1, p->dq_t);
    p->started = true;
}

/* d loss / d scale = sum of q . (sum of dS k), as dq is scale times that; row by row, so that panels
 * of any width give the same sum. */
static void add_dscale(const task_state *s, const panel *p) {
    const attni_plan *f = &s->plan->forward;
    double *sum = (double *)(s->job->workspace + s->plan->scale_sums) + s->head;
    void *q[ATTNI_MAX_LANES];
    real_rows(s, p, &f->args->q, q);
    for (int x = 0; x < p->rows.n; x++) {
        double dot = 0;
        for (int64_t c = 0; c < f->args->q.shape[3]; c++) {
            dot += attni_load_real(q[x], f->real_size, c) *
                   attni_load_real(p->dq_t, f->real_size, c * lanes_of(s, p) + x);
        }
        *sum += dot / f->args->temperature;
    }
}

static void end_dq(const task_state *s, panel *p) {
    const attni_plan *f = &s->plan->forward;
    if (!p->started) {
        memset(p->dq_t, 0, (size_t)(f->args->q.shape[3] * lanes_of(s, p)) * f->real_size);
    }
    if (s->job->gradients->dscale && is_last_range(s)) add_dscale(s, p);
    unpack_dq(s, p);
}

/* ---------------------------------------------------------------------------------- block */

/* d loss / d sink of head h = -sum over its rows of w_sink (dout . out). */
static void add_dsinks(const task_state *s, const panel *p) {
    const attn_args *a = s->plan->forward.args;
    double *sums =
        (double *)(s->job->workspace + s->plan->sink_sums) + s->seq.index * a->q.shape[1];
    double weight[ATTNI_MAX_LANES] = {0};
    for (int x = 0; x < p->rows.n; x++) {
        if (!p->blind[x]) weight[x] = (a->sinks[p->rows.head[x]] - p->lse[x]) * ATTNI_LOG2E;
    }
    s->plan->double_kernels->exp2(ATTNI_MAX_LANES, weight, weight);
    for (int x = 0; x < p->rows.n; x++) {
        if (!p->blind[x]) sums[p->rows.head[x]] -= weight[x] * p->dot[x];
    }
}

/* Rows first .. of all rows of the group; returns whether some row may see a key of the range. */
static bool begin_block(task_state *s, int64_t first, int64_t *lo, int64_t *hi) {
    const int64_t total = s->plan->forward.group * s->seq.rows;
    s->n_rows = (int)attni_min(ATTNI_BLOCK_ROWS, total - first);
    s->n_panels = 0;
    *lo = INT64_MAX, *hi = 0;
    for (int column = 0; column < s->n_rows;) {
        panel *p = panel_at(s, s->n_panels++);
        begin_panel(s, p, first + column, s->n_rows - column, column);
        column += p->rows.n;
        *lo = attni_min(*lo, p->rows.any_lo);
        *hi = attni_max(*hi, p->rows.any_hi);
    }
    *lo = attni_max(*lo, s->lo);
    *hi = attni_min(*hi, s->hi);
    return *lo < *hi;
}

static attni_progress *progress_of(const task_state *s, int64_t range) {
    attni_progress *all = (attni_progress *)(s->job->workspace + s->plan->progress);
    return &all[s->head * s->plan->ranges + range];
}

static void meet_keys(const task_state *s, int64_t lo, int64_t hi) {
    const attni_key_source from = {.plan = &s->plan->forward,
                                   .seq = &s->seq,
                                   .kv_head = s->kv_head,
                                   .k = s->scratch + s->plan->layout.k,
                                   .v = s->scratch + s->plan->layout.v};
    int64_t first = lo / ATTNI_BACKWARD_KEYS * ATTNI_BACKWARD_KEYS;
    for (; first < hi; first += ATTNI_BACKWARD_KEYS) meet_tile(s, &from, first, lo, hi);
}

/* A block that sees nothing of the range still passes through the first, which begins its dq, and
 * the last, which ends it. */
static void do_block(task_state *s, int64_t first) {
    const attni_backward_plan *plan = s->plan;
    int64_t lo, hi;
    const bool sees = begin_block(s, first, &lo, &hi);
    const bool passes = sees || s->range == 0 || is_last_range(s);
    const int n_panels = passes ? s->n_panels : 0;
    for (int n = 0; n < n_panels; n++) {
        panel *p = panel_at(s, n);
        read_results(s, p);
        if (sees) pack_panel(s, p);
        if (s->job->gradients->dsinks && s->range == 0) add_dsinks(s, p);
    }
    s->guarded = sees && may_hide(plan->forward.args) && !block_is_finite(s);
    if (plan->want_dq && s->range > 0) {
        attni_progress_await(progress_of(s, s->range - 1), first + s->n_rows);
        for (int n = 0; n < n_panels; n++) load_dq(s, panel_at(s, n));
    }
    if (sees) meet_keys(s, lo, hi);
    for (int n = 0; plan->want_dq && n < n_panels; n++) end_dq(s, panel_at(s, n));
    attni_progress_set(progress_of(s, s->range), first + s->n_rows);
}

/* ------------------------------------------------------------------------------------ head */

static void clear_rows(const attn_tensor *t, int64_t b, int64_t h, int64_t from, int64_t to) {
    for (int64_t j = from; j < to; j++)
        memset(attni_row_at(t, b, h, j), 0, (size_t)(t->shape[3] * attni_dtype_size(t->dtype)));
}

/* Sums of the range begin at zero. Keys beyond the sequence belong to its last range. */
static key_sums begin_sums(const task_state *s, const attn_tensor *result, size_t scratch,
                           double factor) {
    key_sums sums = {.result = result, .d = result->shape[3], .factor = factor};
    if (!result->data) return sums;
    const attni_sequence *seq = &s->seq;
    const bool packed = s->plan->forward.args->cu_q != NULL;
    const int64_t end = is_last_range(s) && !packed ? result->shape[2] : seq->k_row + s->hi;
    clear_rows(result, seq->batch, s->kv_head, seq->k_row + s->lo, end);
    sums.data = attni_row_at(result, seq->batch, s->kv_head, seq->k_row + s->lo);
    sums.row = (ptrdiff_t)result->stride[2];
    if (s->plan->forward.half) {
        sums.data = s->scratch + scratch;
        sums.row = (ptrdiff_t)sums.d;
        memset(sums.data, 0, (size_t)((s->hi - s->lo) * sums.d) * sizeof(float));
    }
    return sums;
}

static void scale_row(void *row, size_t real_size, int64_t n, double factor) {
    for (int64_t c = 0; real_size == sizeof(float) && c < n; c++)
        ((float *)row)[c] *= (float)factor;
    for (int64_t c = 0; real_size == sizeof(double) && c < n; c++) ((double *)row)[c] *= factor;
}

static void end_sums(const task_state *s, const key_sums *sums) {
    const attni_plan *f = &s->plan->forward;
    if (!sums->result->data || (sums->factor == 1 && !f->half)) return;
    for (int64_t j = 0; j < s->hi - s->lo; j++) {
        char *row = sums->data + j * sums->row * (ptrdiff_t)f->real_size;
        scale_row(row, f->real_size, sums->d, sums->factor);
        if (!f->half) continue;
        f->kernels->narrow(
            sums->d, sums->result->dtype, (float *)row,
            attni_row_at(sums->result, s->seq.batch, s->kv_head, s->seq.k_row + s->lo + j));
    }
}

static void do_head(task_state *s, int64_t head) {
    const attni_backward_plan *plan = s->plan;
    const attn_args *a = plan->forward.args;
    const attn_gradients *g = s->job->gradients;
    const int64_t range_keys = plan->range_tiles * ATTNI_BACKWARD_KEYS;
    s->head = head;
    s->seq = attni_sequence_at(a, head / a->k.shape[1]);
    s->kv_head = head % a->k.shape[1];
    s->lo = attni_min(s->seq.n_k, s->range * range_keys);
    s->hi = attni_min(s->seq.n_k, s->lo + range_keys);
    s->dk = begin_sums(s, &g->dk, plan->layout.dk, a->scale / a->temperature);
    s->dv = begin_sums(s, &g->dv, plan->layout.dv, 1);
    for (int64_t row = 0; row < plan->forward.group * s->seq.rows; row += ATTNI_BLOCK_ROWS)
        do_block(s, row);
    end_sums(s, &s->dk);
    end_sums(s, &s->dv);
}

/* Head n of a strand. */
static int64_t head_of(const attni_backward_plan *plan, int64_t strand, int64_t n) {
    const int64_t H_kv = plan->forward.args->k.shape[1];
    if (plan->sequences_share && plan->heads_share) return n;
    if (plan->sequences_share) return n * H_kv + strand;
    if (plan->heads_share) return strand * H_kv + n;
    return strand;
}

void attni_backward_task(void *arg, int64_t task, int worker) {
    const attni_backward_job *job = arg;
    const attni_backward_plan *plan = job->plan;
    const attni_backward_layout *l = &plan->layout;
    char *scratch = job->workspace + plan->shared_bytes + (size_t)worker * l->bytes;
    task_state s = {.job = job,
                    .plan = plan,
                    .scratch = scratch,
                    .view = (attni_view *)(scratch + l->view),
                    .range = task % plan->ranges};
    const attni_kernels *kernels = plan->forward.kernels;
    const size_t row_bytes = l->row_size * plan->forward.real_size;
    memset(scratch + l->rows + (size_t)(kernels->vl * kernels->max_vecs) * row_bytes, 0, row_bytes);
    for (int64_t n = 0; n < plan->heads_per_strand; n++)
        do_head(&s, head_of(plan, task / plan->ranges, n));
}
