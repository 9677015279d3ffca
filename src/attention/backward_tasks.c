/* SPDX-License-Identifier: Apache-2.0 */
/* backward_tasks.c - blocks of queries visit tiles of keys: each panel of the block recomputes P^T
 * and dS^T of the tile and adds to its dQ, then the block adds to dV and dK of the tile. Called on
 * pool threads through backward.c. Touches its part of the workspace, its keys of dk and dv, its
 * elements of dbias, and the rows of dq when it is their turn. Sums run over tiles in ascending
 * order for dq and over blocks in ascending order for dk and dv, whichever thread computes them:
 * this fixes the bits. */
#include "attention/backward_block.h"

static bool is_last_range(const attni_back_task *s) { return s->range == s->plan->ranges - 1; }

static bool may_hide(const attn_args *a) {
    return a->causal || a->window_left >= 0 || a->window_right >= 0 || a->pattern || a->mask.data ||
           a->bias.data;
}

/* ---------------------------------------------------------------------------------- dbias */

static void add_to(const attn_tensor *t, void *row, int64_t j, double x) {
    const int64_t at = j * t->stride[3];
    attni_store_as(t->dtype, row, at, attni_load_as(t->dtype, row, at) + x);
}

static void add_dbias(const attni_back_task *s, const attni_back_panel *p, int64_t first,
                      const void *dz) {
    const attn_tensor *dbias = &s->job->gradients->dbias;
    const attni_plan *f = &s->plan->forward;
    const int lanes = attni_back_lanes(s, p);
    for (int x = 0; x < p->base.rows.n; x++) {
        void *row = attni_row_at(dbias, s->seq.index, p->base.rows.head[x], p->base.rows.i[x]);
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

/* The panels of the block that see a key: from first to last, -1 if none. */
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

/* n elements from `at` on. */
static void fill_reals(void *array, size_t real_size, int64_t at, int n, double value) {
    if (real_size == sizeof(double)) {
        for (int x = 0; x < n; x++) ((double *)array)[at + x] = value;
    } else {
        for (int x = 0; x < n; x++) ((float *)array)[at + x] = (float)value;
    }
}

/* Marks the pairs of keys from .. to - 1 as masked: weight -0, gradient 0. */
static void hide_keys(const attni_back_task *s, const attni_back_panel *p, int64_t from,
                      int64_t to) {
    const attni_backward_layout *l = &s->plan->layout;
    const int lanes = attni_back_lanes(s, p);
    for (int64_t key = from; key < to; key++) {
        const int64_t at = key * ATTNI_BLOCK_ROWS + p->column;
        fill_reals(s->scratch + l->p, s->plan->forward.real_size, at, lanes, -0.0);
        fill_reals(s->scratch + l->ds, s->plan->forward.real_size, at, lanes, 0);
    }
}

/* Masks those of the first n keys of the tile that are outside the view. */
static void hide_rest(const attni_back_task *s, const attni_back_panel *p, const attni_view *view,
                      int64_t n) {
    int64_t from = 0;
    for (int32_t g = 0; g < view->n_segments; g++) {
        hide_keys(s, p, from, view->segments[g].key);
        from = view->segments[g].key + view->segments[g].n;
    }
    hide_keys(s, p, from, n);
}

/* Lanes whose row sees keys of this tile only, judging by its range: pattern and mask may exclude
 * more. A sink contributes to a row without being a key, so rows with a sink keep dout . out. */
static uint64_t short_rows(const attni_back_task *s, const attni_back_panel *p, int64_t first) {
    const attni_rows *rows = &p->base.rows;
    uint64_t lanes = 0;
    /* Most panels have no such lanes: the keys that all rows see reach beyond the tile. */
    if (rows->all_lo < first || rows->all_hi > first + ATTNI_BACKWARD_KEYS) return 0;
    if (s->plan->forward.args->sinks) return 0;
    for (int x = 0; x < p->base.rows.n; x++) {
        const bool inside =
            p->base.rows.lo[x] >= first && p->base.rows.hi[x] <= first + ATTNI_BACKWARD_KEYS;
        lanes |= (uint64_t)(inside && !p->blind[x]) << x;
    }
    return lanes;
}

static void visit_tile(const attni_back_task *s, attni_back_panel *p, const attni_tile *t) {
    const attni_backward_plan *plan = s->plan;
    const attni_plan *f = &plan->forward;
    const attni_backward_layout *l = &plan->layout;
    const size_t column = (size_t)p->column * f->real_size;
    const attni_visit_source source = {.plan = f,
                                       .rows = &p->base.rows,
                                       .vecs = p->base.vecs,
                                       .first = t->first,
                                       .view = s->view,
                                       .scratch = attni_back_row_scratch(s)};
    attni_edits edits;
    attni_edits_begin(&edits, &source);
    attni_backward_visit visit = {
        .visit = {.first = !p->started, .prefetch = !f->half && p->column == 0, .q_t = p->base.q_t},
        .do_t = p->do_t,
        .whole = p->whole,
        .inverse = p->inverse,
        .stored = attni_back_panel_stored(s, p, t->first),
        .stored_row = (ptrdiff_t)f->saved.row,
        .delta = p->delta,
        .short_rows = short_rows(s, p, t->first),
        .scores_mask = s->scores_mask,
        .p = s->scratch + l->p + column,
        .ds = s->scratch + l->ds + column,
        .dz = plan->want_dbias ? s->scratch + l->dz : NULL,
        .keep = s->scratch + l->keep,
        .dq_t = plan->want_dq ? p->dq_t : NULL,
    };
    attni_visit_fill(&visit.visit, &source, t, &edits);
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
static void add_product(const attni_back_task *s, const attni_key_sums *sums, int64_t first,
                        size_t weights, size_t rows, const pair_block *b) {
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

/* Processes those of the first n keys that are seen by the same panels together, so that a diagonal
 * costs little more than its visible pairs. */
static void add_keys(const attni_back_task *s, int64_t first, int64_t n, const key_panels *seen) {
    const attni_backward_layout *l = &s->plan->layout;
    for (int64_t key = 0; key < n;) {
        int64_t end = key + 1;
        while (end < n && seen->first[end] == seen->first[key] &&
               seen->last[end] == seen->last[key])
            end++;
        if (seen->first[key] >= 0) {
            const attni_back_panel *last = attni_back_panel_at(s, seen->last[key]);
            const pair_block block = {.key = key,
                                      .n = end - key,
                                      .row = attni_back_panel_at(s, seen->first[key])->column,
                                      .end = last->column + last->base.rows.n};
            if (s->plan->want_dv) add_product(s, &s->dv, first, l->p, l->do_rows, &block);
            if (s->plan->want_dk) add_product(s, &s->dk, first, l->ds, l->q_rows, &block);
        }
        key = end;
    }
}

/* Fills the view; returns whether the panel sees a key of the tile. */
static bool sees_tile(const attni_back_task *s, attni_back_panel *p, int64_t first) {
    const int64_t tile = first / ATTNI_KEY_TILE;
    if (tile >= p->next) p->next = attni_rows_next_tile(&p->base.rows, tile);
    return tile >= p->next &&
           attni_rows_view(&p->base.rows, first, attni_min(s->hi - first, ATTNI_BACKWARD_KEYS),
                           s->view);
}

static void do_tile(const attni_back_task *s, const attni_key_source *from, int64_t first,
                    int64_t lo, int64_t hi) {
    const attni_tile t = attni_tile_at(from, first, attni_max(lo, first),
                                       attni_min(hi, first + ATTNI_BACKWARD_KEYS));
    const int64_t n_keys = attni_min(hi - first, ATTNI_BACKWARD_KEYS); /* no panel sees others */
    key_panels seen;
    memset(&seen, -1, sizeof seen);
    bool any = false;
    for (int n = 0; n < s->n_panels; n++) {
        attni_back_panel *p = attni_back_panel_at(s, n);
        if (sees_tile(s, p, first)) {
            hide_rest(s, p, s->view, n_keys);
            visit_tile(s, p, &t);
            note_panel(&seen, s->view, n);
            any = true;
        } else {
            hide_keys(s, p, 0, n_keys);
        }
    }
    if (any) add_keys(s, first, n_keys, &seen);
}

/* ------------------------------------------------------------------------------------ dq */

/* Rows of `to` = panel (d_k, lanes) times factor. */
static void unpack_panel(const attni_back_task *s, const attni_back_panel *p, const void *panel,
                         double factor, const attn_tensor *to) {
    const attni_plan *f = &s->plan->forward;
    const bool narrow = to->dtype == ATTN_F16 || to->dtype == ATTN_BF16;
    const attni_row_scratch scratch = attni_back_row_scratch(s);
    void *rows[ATTNI_MAX_LANES];
    double factors[ATTNI_MAX_LANES] = {0}; /* of the real type */
    attni_lane_rows(&p->base.rows, to, rows);
    for (int x = 0; x < attni_back_lanes(s, p); x++) {
        attni_store_real(factors, f->real_size, x, factor);
        if (narrow) rows[x] = scratch.rows + (size_t)x * scratch.row_size * f->real_size;
    }
    f->kernels->unpack_rows(p->base.vecs, p->base.rows.n, to->shape[3], panel, factors, rows);
    for (int x = 0; narrow && x < p->base.rows.n; x++)
        f->kernels->narrow(to->shape[3], to->dtype, rows[x], attni_lane_row(&p->base.rows, x, to));
}

/* Writes to the result after the last range, otherwise to where the next range reads it. */
static void unpack_dq(const attni_back_task *s, const attni_back_panel *p) {
    const attn_args *a = s->plan->forward.args;
    const attn_tensor *dq = &s->job->gradients->dq;
    if (!is_last_range(s)) {
        unpack_panel(s, p, p->dq_total, 1, &s->job->dq_sums);
        unpack_panel(s, p, p->dq_lost, 1, &s->job->dq_lost);
    } else if (dq->data) {
        unpack_panel(s, p, p->dq_total, a->scale / a->temperature, dq);
    }
}

static void load_panel(const attni_back_task *s, const attni_back_panel *p, const attn_tensor *from,
                       void *panel) {
    const attni_plan *f = &s->plan->forward;
    void *rows[ATTNI_MAX_LANES];
    attni_lane_rows(&p->base.rows, from, rows);
    for (int x = p->base.rows.n; x < attni_back_lanes(s, p); x++) rows[x] = rows[0];
    f->kernels->pack_queries(p->base.vecs, from->shape[3], (const void *const *)rows, 1, panel);
}

/* Reads what the previous ranges have left. */
static void load_dq(const attni_back_task *s, attni_back_panel *p) {
    load_panel(s, p, &s->job->dq_sums, p->dq_total);
    load_panel(s, p, &s->job->dq_lost, p->dq_lost);
    p->folded = true;
}

/* d loss / d scale = sum of q . (sum of dS k), since dq is scale times the inner sum. It is added
 * row by row, so that panels of any width give the same result. */
static void add_dscale(const attni_back_task *s, const attni_back_panel *p) {
    const attni_plan *f = &s->plan->forward;
    double *sum = (double *)(s->job->workspace + s->plan->scale_sums) + s->head;
    void *q[ATTNI_MAX_LANES];
    attni_back_panel_rows(s, p, &f->args->q, q);
    for (int x = 0; x < p->base.rows.n; x++) {
        double dot = 0;
        for (int64_t c = 0; c < f->args->q.shape[3]; c++) {
            const double dq =
                attni_load_real(p->dq_total, f->real_size, c * attni_back_lanes(s, p) + x);
            /* 0 where the row sees no key, whatever q holds */
            if (dq != 0) dot += attni_load_real(q[x], f->real_size, c) * dq;
        }
        *sum += dot / f->args->temperature;
    }
}

/* Adds the current group of tiles to the total. */
static void fold_dq(const attni_back_task *s, attni_back_panel *p) {
    const attni_plan *f = &s->plan->forward;
    const int64_t n = f->args->q.shape[3] * attni_back_lanes(s, p);
    if (ATTNI_JOIN_GROUPS && p->folded && p->started) {
        f->kernels->accumulate(n, p->dq_t, p->dq_total, p->dq_lost);
    } else if (p->started) { /* the first group is the total */
        void *total = p->dq_t;
        p->dq_t = p->dq_total;
        p->dq_total = total;
        memset(p->dq_lost, 0, (size_t)n * f->real_size);
        p->folded = true;
    }
    p->started = false;
}

static void end_dq(const attni_back_task *s, attni_back_panel *p) {
    const attni_plan *f = &s->plan->forward;
    const int64_t n = f->args->q.shape[3] * attni_back_lanes(s, p);
    fold_dq(s, p);
    if (!p->folded) { /* the rows saw no key */
        memset(p->dq_total, 0, (size_t)n * f->real_size);
        memset(p->dq_lost, 0, (size_t)n * f->real_size);
    }
    if (ATTNI_JOIN_GROUPS && is_last_range(s)) f->kernels->settle(n, p->dq_total, p->dq_lost);
    if (s->job->gradients->dscale && is_last_range(s)) add_dscale(s, p);
    unpack_dq(s, p);
}

/* ---------------------------------------------------------------------------------- block */

/* The sink of row x relative to its log-sum-exp, in base 2. A far row has the sink as forward has
 * it, in the real type. */
static double sink_exponent(const attni_back_task *s, const attni_back_panel *p, int x) {
    const attni_plan *f = &s->plan->forward;
    const double sink = f->args->sinks[p->base.rows.head[x]] * ATTNI_LOG2E;
    const bool rounds = ATTNI_JOIN_GROUPS && p->far[x] && f->real_size == sizeof(float);
    return ((rounds ? (double)(float)sink : sink) - p->top[x]) - p->rest[x];
}

/* d loss / d sink of head h = -sum over its rows of w_sink (dout . out). */
static void add_dsinks(const attni_back_task *s, const attni_back_panel *p) {
    const attn_args *a = s->plan->forward.args;
    double *sums =
        (double *)(s->job->workspace + s->plan->sink_sums) + s->seq.index * a->q.shape[1];
    double weight[ATTNI_MAX_LANES] = {0};
    for (int x = 0; x < p->base.rows.n; x++) {
        if (!p->blind[x]) weight[x] = sink_exponent(s, p, x);
    }
    s->plan->double_kernels->exp2(ATTNI_MAX_LANES, weight, weight);
    for (int x = 0; x < p->base.rows.n; x++) {
        if (!p->blind[x]) sums[p->base.rows.head[x]] -= weight[x] * p->dot[x];
    }
}

static attni_progress *progress_of(const attni_back_task *s, int64_t range) {
    attni_progress *all = (attni_progress *)(s->job->workspace + s->plan->progress);
    return &all[s->head * s->plan->ranges + range];
}

static void do_keys(const attni_back_task *s, int64_t lo, int64_t hi) {
    const attni_key_source from = {.plan = &s->plan->forward,
                                   .seq = &s->seq,
                                   .kv_head = s->kv_head,
                                   .k = s->scratch + s->plan->layout.k,
                                   .v = s->scratch + s->plan->layout.v};
    enum { GROUP = ATTNI_BACKWARD_GROUP_TILES * ATTNI_BACKWARD_KEYS };
    int64_t first = lo / ATTNI_BACKWARD_KEYS * ATTNI_BACKWARD_KEYS;
    for (; first < hi; first += ATTNI_BACKWARD_KEYS) {
        do_tile(s, &from, first, lo, hi);
        if (!ATTNI_JOIN_GROUPS || (first + ATTNI_BACKWARD_KEYS) % GROUP != 0) continue;
        for (int n = 0; s->plan->want_dq && n < s->n_panels; n++)
            fold_dq(s, attni_back_panel_at(s, n));
    }
}

/* Waits until the previous range has passed on the block's dq; false if the call is aborted. */
static bool await_dq(const attni_back_task *s, int64_t first) {
    return attni_progress_await(progress_of(s, s->range - 1), first + s->n_rows,
                                attni_ctx_aborted(s->job->ctx));
}

/* A block that sees no key of the range still passes through the first range, which starts its dq,
 * and the last, which finishes it. */
static void do_block(attni_back_task *s, int64_t first) {
    const attni_backward_plan *plan = s->plan;
    int64_t lo, hi;
    const bool sees = attni_back_block_begin(s, first, &lo, &hi);
    const bool passes = sees || s->range == 0 || is_last_range(s);
    const int n_panels = passes ? s->n_panels : 0;
    for (int n = 0; n < n_panels; n++) {
        attni_back_panel *p = attni_back_panel_at(s, n);
        attni_back_panel_read(s, p);
        if (sees) attni_back_panel_pack(s, p);
        if (s->job->gradients->dsinks && s->range == 0) add_dsinks(s, p);
    }
    s->scores_mask = s->far_keys;
    for (int n = 0; sees && n < n_panels && !s->scores_mask; n++)
        s->scores_mask = !attni_back_panel_is_modest(s, attni_back_panel_at(s, n));
    s->use_saved = plan->forward.saved.bytes > 0 && !s->scores_mask;
    for (int n = 0; s->use_saved && n < n_panels; n++)
        s->use_saved = !attni_back_panel_hides(attni_back_panel_at(s, n));
    s->guarded =
        sees && (s->scores_mask || may_hide(plan->forward.args)) && !attni_back_block_is_finite(s);
    if (plan->want_dq && s->range > 0) {
        if (!await_dq(s, first)) return;
        for (int n = 0; n < n_panels; n++) load_dq(s, attni_back_panel_at(s, n));
    }
    if (sees) do_keys(s, lo, hi);
    for (int n = 0; plan->want_dq && n < n_panels; n++) end_dq(s, attni_back_panel_at(s, n));
    attni_progress_set(progress_of(s, s->range), first + s->n_rows);
}

/* ------------------------------------------------------------------------------------ head */

static void clear_rows(const attn_tensor *t, int64_t b, int64_t h, int64_t from, int64_t to) {
    for (int64_t j = from; j < to; j++)
        memset(attni_row_at(t, b, h, j), 0, (size_t)(t->shape[3] * attni_dtype_size(t->dtype)));
}

/* The sums in a worker's scratch: totals, the current group, and lost low-order parts. */
typedef struct sum_places {
    size_t total, group, lost;
} sum_places;

/* The sums of the range start at zero. Keys beyond the sequence belong to its last range. */
static attni_key_sums begin_sums(const attni_back_task *s, const attn_tensor *result,
                                 sum_places places, double factor) {
    attni_key_sums sums = {.result = result, .d = result->shape[3], .factor = factor};
    if (!result->data || attni_tensor_is_empty(result)) return sums;
    const size_t bytes = (size_t)((s->hi - s->lo) * sums.d) * s->plan->forward.real_size;
    const attni_sequence *seq = &s->seq;
    const bool packed = s->plan->forward.args->cu_q != NULL;
    const int64_t end = is_last_range(s) && !packed ? result->shape[2] : seq->k_row + s->hi;
    clear_rows(result, seq->batch, s->kv_head, seq->k_row + s->lo, end);
    sums.total = attni_row_at(result, seq->batch, s->kv_head, seq->k_row + s->lo);
    sums.total_row = (ptrdiff_t)result->stride[2];
    if (s->plan->forward.half) {
        sums.total = memset(s->scratch + places.total, 0, bytes);
        sums.total_row = (ptrdiff_t)sums.d;
    }
    sums.data = sums.total; /* the first group is summed in place */
    sums.row = sums.total_row;
    sums.group = s->scratch + places.group;
    sums.lost = s->scratch + places.lost;
    return sums;
}

/* Adds row j of the current group to the total. */
static void fold_row(const attni_back_task *s, const attni_key_sums *sums, int64_t j) {
    const attni_plan *f = &s->plan->forward;
    const ptrdiff_t real = (ptrdiff_t)f->real_size, row = (ptrdiff_t)j,
                    at = row * (ptrdiff_t)sums->d * real;
    f->kernels->accumulate(sums->d, sums->group + at, sums->total + row * sums->total_row * real,
                           sums->lost + at);
}

/* Adds the current group to the total, and starts the next one at zero. The first group is the
 * total. */
static void fold_sums(const attni_back_task *s, attni_key_sums *sums) {
    const int64_t n = s->hi - s->lo;
    const size_t bytes = (size_t)(n * sums->d) * s->plan->forward.real_size;
    if (!sums->result->data) return;
    if (sums->data == sums->total) {
        memset(sums->lost, 0, bytes);
        sums->data = sums->group;
        sums->row = (ptrdiff_t)sums->d;
    } else {
        for (int64_t j = 0; j < n; j++) fold_row(s, sums, j);
    }
    memset(sums->group, 0, bytes);
}

/* Row by row, while each row is in cache. */
static void end_sums(const attni_back_task *s, const attni_key_sums *sums) {
    const attni_plan *f = &s->plan->forward;
    if (!sums->result->data) return;
    for (int64_t j = 0; j < s->hi - s->lo; j++) {
        char *row = sums->total + j * sums->total_row * (ptrdiff_t)f->real_size;
        if (ATTNI_JOIN_GROUPS && sums->data != sums->total) {
            fold_row(s, sums, j);
            f->kernels->settle(sums->d, row, sums->lost + j * sums->d * (ptrdiff_t)f->real_size);
        }
        f->kernels->scale_row(sums->d, sums->factor, row);
        if (!f->half) continue;
        f->kernels->narrow(
            sums->d, sums->result->dtype, (float *)row,
            attni_row_at(sums->result, s->seq.batch, s->kv_head, s->seq.k_row + s->lo + j));
    }
}

static void do_head(attni_back_task *s, int64_t head) {
    const attni_backward_plan *plan = s->plan;
    const attn_args *a = plan->forward.args;
    const attn_gradients *g = s->job->gradients;
    const int64_t range_keys = plan->range_tiles * ATTNI_BACKWARD_KEYS;
    s->head = head;
    s->seq = attni_sequence_at(a, head / a->k.shape[1]);
    s->kv_head = head % a->k.shape[1];
    s->lo = attni_min(s->seq.n_k, s->range * range_keys);
    s->hi = attni_min(s->seq.n_k, s->lo + range_keys);
    const attni_backward_layout *l = &plan->layout;
    const int64_t rows = plan->forward.group * s->seq.rows;
    s->dk = begin_sums(s, &g->dk, (sum_places){l->dk, l->dk_group, l->dk_lost},
                       a->scale / a->temperature);
    s->dv = begin_sums(s, &g->dv, (sum_places){l->dv, l->dv_group, l->dv_lost}, 1);
    s->far_keys = !attni_back_keys_are_modest(s);
    for (int64_t row = 0; row < rows; row += ATTNI_BLOCK_ROWS) {
        if (attni_ctx_aborts(s->job->ctx, s->worker)) return;
        do_block(s, row);
        const int64_t done = row + ATTNI_BLOCK_ROWS;
        if (ATTNI_JOIN_GROUPS && done % (ATTNI_GROUP_BLOCKS * ATTNI_BLOCK_ROWS) == 0 &&
            done < rows) {
            fold_sums(s, &s->dk);
            fold_sums(s, &s->dv);
        }
    }
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
    attni_back_task s = {.job = job,
                         .plan = plan,
                         .worker = worker,
                         .scratch = scratch,
                         .view = (attni_view *)(scratch + l->view),
                         .range = task % plan->ranges};
    const attni_kernels *kernels = plan->forward.kernels;
    const size_t row_bytes = l->row_size * plan->forward.real_size;
    memset(scratch + l->rows + (size_t)(kernels->vl * kernels->max_vecs) * row_bytes, 0, row_bytes);
    for (int64_t n = 0; n < plan->heads_per_strand; n++)
        do_head(&s, head_of(plan, task / plan->ranges, n));
}
