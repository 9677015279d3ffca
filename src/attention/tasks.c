/* SPDX-License-Identifier: Apache-2.0 */
/* tasks.c - runs one block: pack the queries, meet every visible key tile in ascending order, write the rows.
 * Called on pool threads through forward.c. Touches its part of the workspace and its rows of out and lse.
 * Which rows share a panel or a block never changes a result: lanes are independent. */
#include "attention/tasks.h"

#include "attention/visible.h"
#include "core/log2.h"
#include "core/rng.h"

/* A panel in work. The big arrays are of the real type. */
typedef struct panel {
    attni_rows rows;
    int vecs;
    void *q_t;   /* (d_k, lanes) */
    void *o_t;   /* (d_v, lanes) */
    void *stats; /* (3, lanes) */
} panel;

/* The scratch of one worker. All arrays 64-byte aligned, in this order. */
typedef struct task_scratch {
    panel *panels;    /* (block_panels) */
    attni_view *view; /* of the visit in work */
    void *scores;     /* (KEY_TILE, lanes) */
    void *bias;       /* (KEY_TILE, lanes) if there is a bias */
    void *zeros;      /* (max(d_k, KEY_TILE)) the row of a lane without a query */
    void *rows;       /* (lanes, max(d_k, d_v, KEY_TILE)) rows converted to or from the real type */
    float *k, *v;     /* (KEY_TILE, d_k), (KEY_TILE, d_v) widened tile, half types only */
} task_scratch;

/* ------------------------------------------------------------------------- scratch */

/* Hands out parts of a buffer; with base NULL it only counts. */
typedef struct arena {
    char *base;
    size_t used;
    bool overflow;
} arena;

static void *take(arena *a, size_t n, size_t size) {
    size_t bytes, end;
    if (!attni_mul(n, size, &bytes) || !attni_add(bytes, 63, &bytes) ||
        !attni_add(a->used, bytes / 64 * 64, &end)) {
        a->overflow = true;
        return NULL;
    }
    void *p = a->base ? a->base + a->used : NULL;
    a->used = end;
    return p;
}

static void *take_matrix(arena *a, size_t rows, size_t columns, size_t size) {
    size_t n;
    if (!attni_mul(rows, columns, &n)) a->overflow = true;
    return a->overflow ? NULL : take(a, n, size);
}

static size_t widest_row(const attni_plan *plan) {
    const attn_args *a = plan->args;
    return (size_t)attni_max(ATTNI_KEY_TILE, attni_max(a->q.shape[3], a->v.shape[3]));
}

static task_scratch carve(const attni_plan *plan, arena *a) {
    const size_t real = plan->real_size,
                 lanes = (size_t)(plan->kernels->vl * plan->kernels->max_vecs);
    const size_t d_k = (size_t)plan->args->q.shape[3], d_v = (size_t)plan->args->v.shape[3];
    const size_t n = (size_t)plan->block_panels;
    task_scratch s = {0};
    s.panels = take(a, n, sizeof(panel));
    for (size_t p = 0; p < n; p++) {
        void *q_t = take_matrix(a, lanes, d_k, real), *o_t = take_matrix(a, lanes, d_v, real);
        void *stats = take(a, 3 * lanes, real);
        if (a->base) {
            s.panels[p].q_t = q_t;
            s.panels[p].o_t = o_t;
            s.panels[p].stats = stats;
        }
    }
    s.view = take(a, 1, sizeof *s.view);
    s.scores = take_matrix(a, ATTNI_KEY_TILE, lanes, real);
    if (plan->args->bias.data) s.bias = take_matrix(a, ATTNI_KEY_TILE, lanes, real);
    s.zeros = take(a, widest_row(plan), real);
    if (plan->half || plan->args->bias.data) s.rows = take_matrix(a, lanes, widest_row(plan), real);
    if (plan->half) {
        s.k = take_matrix(a, ATTNI_KEY_TILE, d_k, sizeof(float));
        s.v = take_matrix(a, ATTNI_KEY_TILE, d_v, sizeof(float));
    }
    return s;
}

bool attni_task_scratch_size(const attni_plan *plan, size_t *bytes) {
    arena a = {0};
    carve(plan, &a);
    *bytes = a.used;
    return !a.overflow;
}

/* -------------------------------------------------------------------------- panels */

static void *row_buffer(const attni_plan *plan, const task_scratch *s, int x) {
    return (char *)s->rows + (size_t)x * widest_row(plan) * plan->real_size;
}

static void pack_panel(const attni_plan *plan, const task_scratch *s, panel *p) {
    const attn_args *a = plan->args;
    const attni_rows *rows = &p->rows;
    const void *from[ATTNI_MAX_LANES];
    for (int x = 0; x < p->vecs * plan->kernels->vl; x++) {
        from[x] = s->zeros;
        if (x >= rows->n) continue;
        from[x] = attni_row_at(&a->q, rows->seq.batch, rows->head[x], rows->seq.q_row + rows->i[x]);
        if (plan->half) {
            float *wide = row_buffer(plan, s, x);
            plan->kernels->widen(a->q.shape[3], a->q.dtype, from[x], wide);
            from[x] = wide;
        }
    }
    plan->kernels->pack_queries(p->vecs, a->q.shape[3], from, plan->query_factor, p->q_t);
    plan->kernels->begin(p->vecs, a->v.shape[3], p->o_t, p->stats);
}

/* Rows of all heads of the group, head after head: row r is query r % rows of head r / rows. */
static void begin_panel(const attni_plan *plan, const task_scratch *s, const attni_sequence *seq,
                        int64_t kv_head, int64_t first, int64_t left, panel *p) {
    attni_rows *rows = &p->rows;
    p->vecs = attni_panel_vecs(plan->kernels, left);
    rows->args = plan->args;
    rows->seq = *seq;
    rows->n = (int)attni_min(left, p->vecs * plan->kernels->vl);
    int64_t head = first / seq->rows, i = first % seq->rows;
    for (int x = 0; x < rows->n; x++) {
        rows->head[x] = kv_head * plan->group + head;
        rows->i[x] = i;
        if (++i == seq->rows) {
            i = 0;
            head++;
        }
    }
    attni_rows_begin(rows);
    pack_panel(plan, s, p);
}

/* ------------------------------------------------------------------ what changes scores */

/* Keys first .. first+n-1 of lane x's bias row as reals: in place where they already are, else converted. */
static const void *bias_row(const attni_plan *plan, const task_scratch *s, const attni_rows *rows,
                            int x, int64_t first, int32_t n) {
    const attn_tensor *bias = &plan->args->bias;
    if (x >= rows->n || rows->hi[x] <= first)
        return s->zeros; /* a lane that does not see these keys */
    const char *row = attni_row_at(bias, rows->seq.index, rows->head[x], rows->i[x]);
    const bool ready =
        bias->stride[3] == 1 && bias->dtype == (plan->real_size == 8 ? ATTN_F64 : ATTN_F32);
    if (ready) return row + (size_t)first * plan->real_size;
    void *to = row_buffer(plan, s, x);
    for (int32_t j = 0; j < n; j++) {
        const double value =
            attni_element(bias, rows->seq.index, rows->head[x], rows->i[x], first + j);
        if (plan->real_size == 8) {
            ((double *)to)[j] = value;
        } else {
            ((float *)to)[j] = (float)value;
        }
    }
    return to;
}

/* The bias of the visit's keys, (keys in segment order, lanes), in base 2. */
static void fill_bias(const attni_plan *plan, const task_scratch *s, const panel *p,
                      int64_t first) {
    const int lanes = p->vecs * plan->kernels->vl;
    char *to = s->bias;
    for (int32_t g = 0; g < s->view->n_segments; g++) {
        const attni_segment segment = s->view->segments[g];
        const void *from[ATTNI_MAX_LANES];
        for (int x = 0; x < lanes; x++)
            from[x] = bias_row(plan, s, &p->rows, x, first + segment.key, segment.n);
        plan->kernels->pack_queries(p->vecs, segment.n, from, plan->score_factor, to);
        to += (size_t)segment.n * (size_t)lanes * plan->real_size;
    }
}

/* Values per lane for ALiBi and dropout. */
typedef struct lane_values {
    double slope[ATTNI_MAX_LANES], position[ATTNI_MAX_LANES]; /* of the real type */
    uint32_t row[ATTNI_MAX_LANES], head[ATTNI_MAX_LANES];
} lane_values;

static void store_real(void *array, size_t real_size, int x, double value) {
    if (real_size == sizeof(double)) {
        ((double *)array)[x] = value;
    } else {
        ((float *)array)[x] = (float)value;
    }
}

static void fill_alibi(const attni_plan *plan, const attni_rows *rows, int lanes, int64_t first,
                       lane_values *values) {
    for (int x = 0; x < lanes; x++) {
        const bool used = x < rows->n;
        const double slope = used ? plan->args->alibi[rows->head[x]] * plan->score_factor : 0;
        const double position =
            used ? (double)(attni_add_sat(rows->i[x], rows->seq.offset) - first) : 0;
        store_real(values->slope, plan->real_size, x, slope);
        store_real(values->position, plan->real_size, x, position);
    }
}

static void fill_dropout(const attni_rows *rows, int lanes, lane_values *values) {
    for (int x = 0; x < lanes; x++) {
        values->row[x] = x < rows->n ? (uint32_t)rows->i[x] : 0;
        values->head[x] = x < rows->n ? (uint32_t)rows->head[x] : 0;
    }
}

/* --------------------------------------------------------------------------- visits */

/* A key tile: where its keys and values lie, in the real type. */
typedef struct tile {
    int64_t first; /* key */
    const void *k, *v;
    ptrdiff_t k_stride, v_stride;
} tile;

static void visit_tile(const attni_plan *plan, const task_scratch *s, panel *p, const tile *t,
                       bool prefetch) {
    const attn_args *a = plan->args;
    const int lanes = p->vecs * plan->kernels->vl;
    lane_values values;
    attni_modify modify = {.cap = a->softcap * plan->score_factor};
    attni_dropout dropout;
    attni_visit visit = {
        .vecs = p->vecs,
        .n_segments = s->view->n_segments,
        .segments = s->view->segments,
        .n_keys = s->view->n_keys,
        .prefetch = prefetch,
        .d_k = a->q.shape[3],
        .d_v = a->v.shape[3],
        .q_t = p->q_t,
        .k = t->k,
        .v = t->v,
        .k_stride = t->k_stride,
        .v_stride = t->v_stride,
        .allow = s->view->all ? NULL : s->view->allow,
        .scores = s->scores,
        .o_t = p->o_t,
        .stats = p->stats,
    };
    if (a->bias.data) {
        fill_bias(plan, s, p, t->first);
        modify.bias = s->bias;
    }
    if (a->alibi) {
        fill_alibi(plan, &p->rows, lanes, t->first, &values);
        modify.slope = values.slope;
        modify.position = values.position;
    }
    if (a->softcap > 0 || a->bias.data || a->alibi) visit.modify = &modify;
    if (a->dropout > 0) {
        fill_dropout(&p->rows, lanes, &values);
        dropout = (attni_dropout){.seed = a->seed,
                                  .threshold = attni_dropout_threshold(a->dropout),
                                  .batch = (uint32_t)p->rows.seq.index,
                                  .multiplier = 1 / (1 - a->dropout),
                                  .first_key = t->first,
                                  .row = values.row,
                                  .head = values.head};
        visit.dropout = &dropout;
    }
    plan->kernels->visit(&visit);
}

/* Half types: the keys lo .. hi-1 of the tile, widened once for all panels of the block. */
static void widen_tile(const attni_plan *plan, const task_scratch *s, const attni_sequence *seq,
                       int64_t kv_head, int64_t lo, int64_t hi, const tile *t) {
    const attn_args *a = plan->args;
    for (int64_t j = lo; j < hi; j++) {
        const int64_t row = seq->k_row + j, at = j - t->first;
        plan->kernels->widen(a->k.shape[3], a->k.dtype,
                             attni_row_at(&a->k, seq->batch, kv_head, row),
                             s->k + at * a->k.shape[3]);
        plan->kernels->widen(a->v.shape[3], a->v.dtype,
                             attni_row_at(&a->v, seq->batch, kv_head, row),
                             s->v + at * a->v.shape[3]);
    }
}

static tile tile_at(const attni_plan *plan, const task_scratch *s, const attni_sequence *seq,
                    int64_t kv_head, int64_t first) {
    const attn_args *a = plan->args;
    if (plan->half) {
        return (tile){.first = first,
                      .k = s->k,
                      .v = s->v,
                      .k_stride = a->k.shape[3],
                      .v_stride = a->v.shape[3]};
    }
    return (tile){.first = first,
                  .k = attni_row_at(&a->k, seq->batch, kv_head, seq->k_row + first),
                  .v = attni_row_at(&a->v, seq->batch, kv_head, seq->k_row + first),
                  .k_stride = a->k.stride[2],
                  .v_stride = a->v.stride[2]};
}

static int64_t next_tile(const panel *panels, int n_panels, int64_t from) {
    int64_t nearest = INT64_MAX;
    for (int p = 0; p < n_panels && nearest > from; p++) {
        nearest = attni_min(nearest, attni_rows_next_tile(&panels[p].rows, from));
    }
    return nearest;
}

static void meet_keys(const attni_plan *plan, const task_scratch *s, int n_panels,
                      int64_t kv_head) {
    const attni_sequence *seq = &s->panels[0].rows.seq;
    int64_t lo = INT64_MAX, hi = 0; /* keys that any panel of the block may see */
    for (int p = 0; p < n_panels; p++) {
        lo = attni_min(lo, s->panels[p].rows.any_lo);
        hi = attni_max(hi, s->panels[p].rows.any_hi);
    }
    for (int64_t n = next_tile(s->panels, n_panels, 0); n != INT64_MAX;
         n = next_tile(s->panels, n_panels, n + 1)) {
        const tile t = tile_at(plan, s, seq, kv_head, n * ATTNI_KEY_TILE);
        if (plan->half) {
            widen_tile(plan, s, seq, kv_head, attni_max(lo, t.first),
                       attni_min(hi, t.first + ATTNI_KEY_TILE), &t);
        }
        bool first_visit = true;
        for (int p = 0; p < n_panels; p++) {
            if (!attni_rows_view(&s->panels[p].rows, t.first, s->view)) continue;
            visit_tile(plan, s, &s->panels[p], &t, first_visit);
            first_visit = false;
        }
    }
}

/* --------------------------------------------------------------------------- results */

static double load_real(const void *array, size_t real_size, int x) {
    return real_size == sizeof(double) ? ((const double *)array)[x]
                                       : (double)((const float *)array)[x];
}

static void write_lse(const attni_plan *plan, const panel *p, const attn_tensor *lse) {
    const attni_rows *rows = &p->rows;
    const int lanes = p->vecs * plan->kernels->vl;
    for (int x = 0; x < rows->n; x++) {
        const double max = load_real(p->stats, plan->real_size, x);
        const double sum = load_real(p->stats, plan->real_size, lanes + x);
        const double value = sum == 0 ? -HUGE_VAL : attni_lse(max, sum);
        void *to = attni_row_at(lse, rows->seq.batch, rows->head[x], rows->seq.q_row + rows->i[x]);
        store_real(to, attn_dtype_size(lse->dtype), 0, value);
    }
}

static void finish_panel(const attni_plan *plan, const task_scratch *s, panel *p,
                         const attn_tensor *out, const attn_tensor *lse) {
    const attn_args *a = plan->args;
    const attni_rows *rows = &p->rows;
    double sinks[ATTNI_MAX_LANES]; /* of the real type */
    void *to[ATTNI_MAX_LANES];
    for (int x = 0; a->sinks && x < p->vecs * plan->kernels->vl; x++) {
        const double sink = x < rows->n ? a->sinks[rows->head[x]] * ATTNI_LOG2E : 0;
        store_real(sinks, plan->real_size, x, sink);
    }
    plan->kernels->finish(p->vecs, a->sinks ? sinks : NULL, p->stats);
    for (int x = 0; x < rows->n; x++) {
        to[x] = plan->half ? row_buffer(plan, s, x)
                           : attni_row_at(out, rows->seq.batch, rows->head[x],
                                          rows->seq.q_row + rows->i[x]);
    }
    plan->kernels->unpack_output(p->vecs, rows->n, a->v.shape[3], p->o_t, p->stats, to);
    for (int x = 0; plan->half && x < rows->n; x++) {
        plan->kernels->narrow(
            a->v.shape[3], out->dtype, to[x],
            attni_row_at(out, rows->seq.batch, rows->head[x], rows->seq.q_row + rows->i[x]));
    }
    if (lse) write_lse(plan, p, lse);
}

/* ------------------------------------------------------------------------------ task */

void attni_forward_task(void *arg, int64_t task, int worker) {
    const attni_forward_job *job = arg;
    const attni_plan *plan = job->plan;
    const int64_t H_kv = plan->args->k.shape[1];
    /* The last blocks first: under a causal mask they are the longest. */
    const int64_t block = plan->blocks - 1 - task % plan->blocks, head = task / plan->blocks;
    const attni_sequence seq = attni_sequence_at(plan->args, head / H_kv);
    int64_t row = block * plan->block_rows;
    const int64_t end = attni_min(plan->group * seq.rows, row + plan->block_rows);
    if (row >= end) return;

    arena a = {.base = job->workspace + (size_t)worker * plan->worker_bytes};
    const task_scratch s = carve(plan, &a);
    memset(s.zeros, 0, widest_row(plan) * plan->real_size);
    int n_panels = 0;
    for (; row < end; row += s.panels[n_panels - 1].rows.n) {
        attni_assert(n_panels < plan->block_panels);
        begin_panel(plan, &s, &seq, head % H_kv, row, end - row, &s.panels[n_panels++]);
    }
    meet_keys(plan, &s, n_panels, head % H_kv);
    for (int p = 0; p < n_panels; p++) finish_panel(plan, &s, &s.panels[p], job->out, job->lse);
}
