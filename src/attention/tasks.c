/* SPDX-License-Identifier: Apache-2.0 */
/* tasks.c - runs one block: pack the queries, meet every visible key tile in ascending order,
 * write the rows. Called on pool threads through forward.c. Touches its part of the workspace
 * and its rows of out and lse. Which rows share a panel or a block never changes a result: lanes
 * are independent. */
#include "attention/tasks.h"

#include "attention/visible.h"
#include "core/log2.h"
#include "core/rng.h"

/* A panel in work. The arrays are of the real type and follow it in the scratch. */
typedef struct panel {
    attni_rows rows;
    int vecs;
    bool visited; /* has seen a key */
    void *q_t;    /* (d_k, lanes) */
    void *o_t;    /* (d_v, lanes) */
    void *stats;  /* (3, lanes) */
} panel;

size_t attni_panel_size(void) { return (sizeof(panel) + 63) / 64 * 64; }

/* A task at work: the plan and this worker's scratch. */
typedef struct task_state {
    const attni_plan *plan;
    char *scratch;
    attni_view *view; /* of the visit in work */
    int64_t kv_head;
    int n_panels;
} task_state;

static panel *panel_at(const task_state *s, int p) {
    const attni_layout *l = &s->plan->layout;
    return (panel *)(s->scratch + l->panels + (size_t)p * l->panel_bytes);
}

static void *row_buffer(const task_state *s, int x) {
    const attni_layout *l = &s->plan->layout;
    return s->scratch + l->rows + (size_t)x * l->row_size * s->plan->real_size;
}

/* -------------------------------------------------------------------------- panels */

static int lanes_of(const task_state *s, const panel *p) { return p->vecs * s->plan->kernels->vl; }

/* Row x of the panel in a tensor shaped like q or out. */
static void *lane_row(const attni_rows *rows, int x, const attn_tensor *t) {
    return attni_row_at(t, rows->seq->batch, rows->head[x], rows->seq->q_row + rows->i[x]);
}

/* Pointers to the rows of all lanes in a tensor shaped like q or out. */
static void lane_rows(const attni_rows *rows, const attn_tensor *t, void **to) {
    const int64_t step = t->stride[2] * attni_dtype_size(t->dtype);
    for (int x = 0; x < rows->n;) {
        char *row = lane_row(rows, x, t);
        do { /* the rows of one head lie a stride apart */
            to[x++] = row;
            row += step;
        } while (x < rows->n && rows->i[x] > 0);
    }
}

static void pack_panel(const task_state *s, panel *p) {
    const attni_plan *plan = s->plan;
    const attn_tensor *q = &plan->args->q;
    void *from[ATTNI_MAX_LANES];
    lane_rows(&p->rows, q, from);
    for (int x = 0; plan->half && x < p->rows.n; x++) {
        plan->kernels->widen(q->shape[3], q->dtype, from[x], row_buffer(s, x));
        from[x] = row_buffer(s, x);
    }
    for (int x = p->rows.n; x < lanes_of(s, p); x++) from[x] = from[0]; /* not used */
    plan->kernels->pack_queries(p->vecs, q->shape[3], (const void *const *)from, plan->query_factor,
                                p->q_t);
}

/* Rows of all heads of the group, head after head: row r is query r % rows of head r / rows. */
static void begin_panel(const task_state *s, panel *p, const attni_sequence *seq, int64_t first,
                        int64_t left) {
    const attni_plan *plan = s->plan;
    attni_rows *rows = &p->rows;
    p->vecs = attni_panel_vecs(plan->kernels, left);
    p->visited = false;
    p->q_t = (char *)p + plan->layout.q_t;
    p->o_t = (char *)p + plan->layout.o_t;
    p->stats = (char *)p + plan->layout.stats;
    rows->args = plan->args;
    rows->seq = seq;
    rows->n = (int)attni_min(left, lanes_of(s, p));
    int64_t head = s->kv_head * plan->group + first / seq->rows, i = first % seq->rows;
    for (int x = 0; x < rows->n; x++) {
        rows->head[x] = head;
        rows->i[x] = i;
        if (++i == seq->rows) {
            i = 0;
            head++;
        }
    }
    attni_rows_begin(rows);
    pack_panel(s, p);
}

/* ------------------------------------------------------------------ what changes scores */

static void store_real(void *array, size_t real_size, int x, double value) {
    if (real_size == sizeof(double)) {
        ((double *)array)[x] = value;
    } else {
        ((float *)array)[x] = (float)value;
    }
}

/* The keys of a segment from lane x's bias row as reals: in place where they already are, else
 * converted. */
static const void *bias_row(const task_state *s, const attni_rows *rows, int x, int64_t first,
                            int32_t n) {
    const attni_plan *plan = s->plan;
    const attn_tensor *bias = &plan->args->bias;
    const bool ready =
        bias->stride[3] == 1 && bias->dtype == (plan->real_size == 8 ? ATTN_F64 : ATTN_F32);
    if (ready) {
        const char *row = attni_row_at(bias, rows->seq->index, rows->head[x], rows->i[x]);
        return row + (size_t)first * plan->real_size;
    }
    void *to = row_buffer(s, x);
    for (int32_t j = 0; j < n; j++) {
        store_real(to, plan->real_size, j,
                   attni_element(bias, rows->seq->index, rows->head[x], rows->i[x], first + j));
    }
    return to;
}

/* The bias of the visit's keys, (keys in segment order, lanes). */
static const void *fill_bias(const task_state *s, const panel *p, int64_t first) {
    const attni_plan *plan = s->plan;
    const int lanes = lanes_of(s, p);
    char *bias = s->scratch + plan->layout.bias, *to = bias;
    for (int32_t g = 0; g < s->view->n_segments; g++) {
        const attni_segment segment = s->view->segments[g];
        const void *from[ATTNI_MAX_LANES];
        for (int x = 0; x < lanes; x++) {
            from[x] =
                x < p->rows.n ? bias_row(s, &p->rows, x, first + segment.key, segment.n) : from[0];
        }
        plan->kernels->pack_queries(p->vecs, segment.n, from, 1, to);
        to += (size_t)segment.n * (size_t)lanes * plan->real_size;
    }
    return bias;
}

/* Values per lane; slope and position hold the real type. */
typedef struct lane_values {
    double slope[ATTNI_MAX_LANES], position[ATTNI_MAX_LANES];
    uint32_t row[ATTNI_MAX_LANES], head[ATTNI_MAX_LANES];
} lane_values;

static void fill_alibi(const task_state *s, const panel *p, int64_t first, lane_values *values) {
    const attni_rows *rows = &p->rows;
    const size_t real_size = s->plan->real_size;
    for (int x = 0; x < lanes_of(s, p); x++) {
        const bool used = x < rows->n;
        const double slope = used ? s->plan->args->alibi[rows->head[x]] * s->plan->score_factor : 0;
        const double position =
            used ? (double)attni_add_sat(rows->i[x], rows->seq->offset) - (double)first : 0;
        store_real(values->slope, real_size, x, slope);
        store_real(values->position, real_size, x, position);
    }
}

static attni_dropout fill_dropout(const task_state *s, const panel *p, int64_t first,
                                  lane_values *values) {
    const attn_args *a = s->plan->args;
    const attni_rows *rows = &p->rows;
    for (int x = 0; x < lanes_of(s, p); x++) {
        values->row[x] = x < rows->n ? (uint32_t)rows->i[x] : 0;
        values->head[x] = x < rows->n ? (uint32_t)rows->head[x] : 0;
    }
    return (attni_dropout){.seed = a->seed,
                           .threshold = attni_dropout_threshold(a->dropout),
                           .batch = (uint32_t)rows->seq->index,
                           .multiplier = 1 / (1 - a->dropout),
                           .first_key = first,
                           .row = values->row,
                           .head = values->head};
}

/* --------------------------------------------------------------------------- visits */

/* A key tile: where its keys and values lie, in the real type. */
typedef struct tile {
    int64_t first; /* key */
    const void *k, *v;
    ptrdiff_t k_stride, v_stride;
} tile;

static void visit_tile(const task_state *s, panel *p, const tile *t, bool prefetch) {
    const attn_args *a = s->plan->args;
    const bool modified = a->softcap > 0 || a->bias.data || a->alibi;
    lane_values values;
    attni_modify modify = {.cap = a->softcap * s->plan->score_factor,
                           .bias_factor = s->plan->score_factor};
    attni_dropout dropout;
    if (a->bias.data) modify.bias = fill_bias(s, p, t->first);
    if (a->alibi) {
        fill_alibi(s, p, t->first, &values);
        modify.slope = values.slope;
        modify.position = values.position;
    }
    if (a->dropout > 0) dropout = fill_dropout(s, p, t->first, &values);
    const attni_visit visit = {
        .vecs = p->vecs,
        .n_segments = s->view->n_segments,
        .segments = s->view->segments,
        .n_keys = s->view->n_keys,
        .first = !p->visited,
        .prefetch = prefetch,
        .d_k = a->q.shape[3],
        .d_v = a->v.shape[3],
        .q_t = p->q_t,
        .k = t->k,
        .v = t->v,
        .k_stride = t->k_stride,
        .v_stride = t->v_stride,
        .allow = s->view->all ? NULL : s->view->allow,
        .modify = modified ? &modify : NULL,
        .dropout = a->dropout > 0 ? &dropout : NULL,
        .scores = s->scratch + s->plan->layout.scores,
        .o_t = p->o_t,
        .stats = p->stats,
    };
    s->plan->kernels->visit(&visit);
    p->visited = true;
}

/* Half types: the keys lo .. hi-1 of the tile, widened once for all panels of the block. */
static void widen_tile(const task_state *s, const attni_sequence *seq, int64_t lo, int64_t hi,
                       int64_t first) {
    const attni_plan *plan = s->plan;
    const attn_tensor *k = &plan->args->k, *v = &plan->args->v;
    float *to_k = (float *)(s->scratch + plan->layout.k),
          *to_v = (float *)(s->scratch + plan->layout.v);
    for (int64_t j = lo; j < hi; j++) {
        const int64_t row = seq->k_row + j, at = j - first;
        plan->kernels->widen(k->shape[3], k->dtype, attni_row_at(k, seq->batch, s->kv_head, row),
                             to_k + at * k->shape[3]);
        plan->kernels->widen(v->shape[3], v->dtype, attni_row_at(v, seq->batch, s->kv_head, row),
                             to_v + at * v->shape[3]);
    }
}

static tile tile_at(const task_state *s, const attni_sequence *seq, int64_t first) {
    const attni_plan *plan = s->plan;
    const attn_tensor *k = &plan->args->k, *v = &plan->args->v;
    if (plan->half) {
        return (tile){.first = first,
                      .k = s->scratch + plan->layout.k,
                      .v = s->scratch + plan->layout.v,
                      .k_stride = (ptrdiff_t)k->shape[3],
                      .v_stride = (ptrdiff_t)v->shape[3]};
    }
    return (tile){.first = first,
                  .k = attni_row_at(k, seq->batch, s->kv_head, seq->k_row + first),
                  .v = attni_row_at(v, seq->batch, s->kv_head, seq->k_row + first),
                  .k_stride = (ptrdiff_t)k->stride[2],
                  .v_stride = (ptrdiff_t)v->stride[2]};
}

static int64_t next_tile(const task_state *s, int64_t from) {
    int64_t nearest = INT64_MAX;
    for (int p = 0; p < s->n_panels && nearest > from; p++) {
        nearest = attni_min(nearest, attni_rows_next_tile(&panel_at(s, p)->rows, from));
    }
    return nearest;
}

/* Every tile that some panel sees, in ascending order; while it is in cache all panels visit it. */
static void meet_keys(const task_state *s, const attni_sequence *seq) {
    int64_t lo = INT64_MAX, hi = 0; /* keys that any panel of the block may see */
    for (int p = 0; p < s->n_panels; p++) {
        lo = attni_min(lo, panel_at(s, p)->rows.any_lo);
        hi = attni_max(hi, panel_at(s, p)->rows.any_hi);
    }
    for (int64_t n = next_tile(s, 0); n != INT64_MAX; n = next_tile(s, n + 1)) {
        const tile t = tile_at(s, seq, n * ATTNI_KEY_TILE);
        if (s->plan->half) {
            widen_tile(s, seq, attni_max(lo, t.first), attni_min(hi, t.first + ATTNI_KEY_TILE),
                       t.first);
        }
        bool prefetch = !s->plan->half && seq->n_k > ATTNI_KEY_TILE; /* else it is near already */
        for (int p = 0; p < s->n_panels; p++) {
            if (!attni_rows_view(&panel_at(s, p)->rows, t.first, s->view)) continue;
            visit_tile(s, panel_at(s, p), &t, prefetch);
            prefetch = false;
        }
    }
}

/* --------------------------------------------------------------------------- results */

static double load_real(const void *array, size_t real_size, int x) {
    return real_size == sizeof(double) ? ((const double *)array)[x]
                                       : (double)((const float *)array)[x];
}

static void write_lse(const task_state *s, const panel *p, const attn_tensor *lse) {
    const size_t real_size = s->plan->real_size;
    const int lanes = lanes_of(s, p);
    for (int x = 0; x < p->rows.n; x++) {
        const double max = load_real(p->stats, real_size, x);
        const double sum = load_real(p->stats, real_size, lanes + x);
        const double value = sum == 0 ? -HUGE_VAL : attni_lse(max, sum);
        store_real(lane_row(&p->rows, x, lse), (size_t)attni_dtype_size(lse->dtype), 0, value);
    }
}

static void finish_panel(const task_state *s, panel *p, const attn_tensor *out,
                         const attn_tensor *lse) {
    const attni_plan *plan = s->plan;
    const attn_args *a = plan->args;
    const int64_t d_v = a->v.shape[3];
    const int lanes = lanes_of(s, p);
    double sinks[ATTNI_MAX_LANES]; /* of the real type */
    void *to[ATTNI_MAX_LANES];
    if (!p->visited) { /* sum 0: rows that saw nothing */
        memset(p->o_t, 0, (size_t)d_v * (size_t)lanes * plan->real_size);
        memset(p->stats, 0, 3 * (size_t)lanes * plan->real_size);
    }
    for (int x = 0; a->sinks && x < lanes; x++) {
        store_real(sinks, plan->real_size, x,
                   x < p->rows.n ? a->sinks[p->rows.head[x]] * ATTNI_LOG2E : 0);
    }
    plan->kernels->finish(p->vecs, a->sinks ? sinks : NULL, p->stats);
    lane_rows(&p->rows, out, to);
    for (int x = 0; plan->half && x < p->rows.n; x++) to[x] = row_buffer(s, x);
    plan->kernels->unpack_output(p->vecs, p->rows.n, d_v, p->o_t, p->stats, to);
    for (int x = 0; plan->half && x < p->rows.n; x++) {
        plan->kernels->narrow(d_v, out->dtype, to[x], lane_row(&p->rows, x, out));
    }
    if (lse) write_lse(s, p, lse);
}

/* ------------------------------------------------------------------------------ task */

void attni_forward_task(void *arg, int64_t task, int worker) {
    const attni_forward_job *job = arg;
    const attni_plan *plan = job->plan;
    const int64_t H_kv = plan->args->k.shape[1], head = task / plan->blocks;
    /* The last blocks first: under a causal mask they are the longest. */
    const int64_t block = plan->blocks - 1 - task % plan->blocks;
    const attni_sequence seq = attni_sequence_at(plan->args, head / H_kv);
    int64_t row = block * plan->block_rows;
    const int64_t end = attni_min(plan->group * seq.rows, row + plan->block_rows);

    char *scratch = job->workspace + (size_t)worker * plan->layout.bytes;
    task_state s = {.plan = plan,
                    .scratch = scratch,
                    .view = (attni_view *)(scratch + plan->layout.view),
                    .kv_head = head % H_kv};
    while (row < end) {
        attni_assert(s.n_panels < plan->block_panels);
        panel *p = panel_at(&s, s.n_panels++);
        begin_panel(&s, p, &seq, row, end - row);
        row += p->rows.n;
    }
    if (s.n_panels > 0) meet_keys(&s, &seq);
    for (int p = 0; p < s.n_panels; p++) finish_panel(&s, panel_at(&s, p), job->out, job->lse);
}
