/* SPDX-License-Identifier: Apache-2.0 */
/* tasks.c - runs one block, or one range of its keys: packs the queries, visits every visible key tile in ascending order,
 * and writes the rows. Called on pool threads through forward.c. Touches its part of the workspace
 * and its rows of out and lse. Which rows share a panel or a block never changes a result, because
 * lanes are independent. */
#include "attention/tasks.h"

#include "attention/panel.h"
#include "core/log2.h"

#include <float.h>

/* The current panel. The arrays are of the real type and follow it in the scratch. */
typedef struct panel {
    attni_panel base;
    bool visited;                     /* has seen a key of the current group of tiles */
    bool folded;                      /* has seen keys of earlier groups, which are in total */
    int64_t group;                    /* the group of tiles that o_t and stats describe */
    int number;                       /* in the block */
    void *o_t;                        /* (d_v, lanes) */
    void *stats;                      /* (3, lanes) */
    void *total, *lost, *total_stats; /* (d_v, lanes), (d_v, lanes), (3, lanes) */
} panel;

size_t attni_panel_size(void) { return (sizeof(panel) + 63) / 64 * 64; }

/* A running task: the plan and this worker's scratch. */
typedef struct task_state {
    const attni_plan *plan;
    char *scratch;
    attni_view *view; /* of the current visit */
    int64_t kv_head;
    char *saved;    /* this head's part of the weights saved for backward, or NULL */
    uint64_t *seen; /* during a repair: who sees the keys of the tile; otherwise NULL */
    int64_t first_tile, end_tile; /* the keys of this task */
    char *partials; /* of this block, if its keys are split into ranges; otherwise NULL */
    bool *has_part; /* (groups, block_panels) likewise */
    bool few;       /* attni_few visits the keys: q_t is (rows, d_k) and o is in scratch */
    int n_panels;
} task_state;

static bool is_few(const task_state *s) { return ATTNI_HAS_FEW && s->few; }
static bool is_split(const task_state *s) { return ATTNI_JOIN_GROUPS && s->partials; }

static panel *panel_at(const task_state *s, int p) {
    const attni_layout *l = &s->plan->layout;
    return (panel *)(s->scratch + l->panels + (size_t)p * l->panel_bytes);
}

static attni_row_scratch row_scratch(const task_state *s) {
    const attni_layout *l = &s->plan->layout;
    return (attni_row_scratch){
        .rows = s->scratch + l->rows, .row_size = l->row_size, .bias = s->scratch + l->bias};
}

/* -------------------------------------------------------------------------- panels */

static int lanes_of(const task_state *s, const panel *p) {
    return attni_panel_lanes(s->plan, &p->base);
}

/* q_t (rows, d_k) for attni_few. */
static void scale_queries(const attni_plan *plan, const panel *p, void *const *from) {
    const int64_t d_k = plan->args->q.shape[3];
    const size_t row = (size_t)d_k * plan->real_size;
    for (int x = 0; x < p->base.rows.n; x++) {
        char *to = (char *)p->base.q_t + (size_t)x * row;
        memcpy(to, from[x], row);
        plan->kernels->scale_row(d_k, plan->query_factor, to);
    }
}

static void pack_panel(const task_state *s, panel *p) {
    const attni_plan *plan = s->plan;
    const attn_tensor *q = &plan->args->q;
    const attni_row_scratch scratch = row_scratch(s);
    void *from[ATTNI_MAX_LANES];
    attni_lane_reals(plan, &p->base.rows, q, &scratch, from);
    if (is_few(s)) {
        scale_queries(plan, p, from);
        return;
    }
    for (int x = p->base.rows.n; x < lanes_of(s, p); x++) from[x] = from[0]; /* not used */
    plan->kernels->pack_queries(p->base.vecs, q->shape[3], (const void *const *)from,
                                plan->query_factor, p->base.q_t);
}

/* No key has been seen. */
static void begin_sums(const task_state *s, panel *p) {
    const attni_layout *l = &s->plan->layout;
    p->visited = p->folded = false;
    p->o_t = (char *)p + l->o_t;
    p->stats = (char *)p + l->stats;
    p->total = (char *)p + l->total;
    p->lost = (char *)p + l->lost;
    p->total_stats = (char *)p + l->total_stats;
}

static void begin_panel(const task_state *s, panel *p, const attni_sequence *seq, int64_t first,
                        int64_t left) {
    const attni_plan *plan = s->plan;
    p->base.q_t = (char *)p + plan->layout.q_t;
    begin_sums(s, p);
    attni_panel_begin(&p->base, plan, seq, s->kv_head, first, left);
    pack_panel(s, p);
}

/* --------------------------------------------------------------------------- groups */

/* o_t from the sums of attni_few. */
static void pack_sums(const task_state *s, panel *p) {
    const attni_plan *plan = s->plan;
    const int64_t d_v = plan->args->v.shape[3];
    const void *from[ATTNI_MAX_LANES];
    for (int x = 0; x < lanes_of(s, p); x++) {
        const size_t row = x < p->base.rows.n ? (size_t)x * (size_t)d_v * plan->real_size : 0;
        from[x] = s->scratch + plan->layout.few_o + row;
    }
    plan->kernels->pack_queries(p->base.vecs, d_v, from, 1, p->o_t);
}

/* Adds the sums of the current group to the total; the next visit starts afresh. */
static void fold_group(const task_state *s, panel *p) {
    const attni_plan *plan = s->plan;
    const size_t row = (size_t)lanes_of(s, p) * plan->real_size;
    const size_t d_v = (size_t)plan->args->v.shape[3];
    if (p->folded) {
        plan->kernels->fold(&(attni_fold){.vecs = p->base.vecs,
                                          .d = (int64_t)d_v,
                                          .o_t = p->o_t,
                                          .stats = p->stats,
                                          .total = p->total,
                                          .lost = p->lost,
                                          .total_stats = p->total_stats});
    } else {
        memcpy(p->total, p->o_t, d_v * row);
        memcpy(p->total_stats, p->stats, 2 * row);
        memset(p->lost, 0, d_v * row);
        memset((char *)p->total_stats + 2 * row, 0, row);
    }
    p->folded = true;
    p->visited = false;
}

/* The sums of a group that one range has left for the others. */
typedef struct part {
    void *o_t, *stats;
    bool *visited;
} part;

static part part_at(const task_state *s, int64_t group, int64_t number) {
    const attni_partials *l = &s->plan->partials;
    const int64_t at = group * s->plan->block_panels + number;
    char *bytes = s->partials + (size_t)at * l->panel_bytes;
    return (part){bytes + l->o_t, bytes + l->stats, s->has_part + at};
}

/* Leaves the sums of the current group; the next visit starts afresh. */
static void leave_group(const task_state *s, panel *p) {
    const part to = part_at(s, p->group, p->number);
    const size_t row = (size_t)lanes_of(s, p) * s->plan->real_size;
    memcpy(to.o_t, p->o_t, (size_t)s->plan->args->v.shape[3] * row);
    memcpy(to.stats, p->stats, 2 * row);
    *to.visited = true;
    p->visited = false;
}

static void end_group(const task_state *s, panel *p) {
    if (is_few(s)) pack_sums(s, p);
    if (is_split(s)) {
        leave_group(s, p);
    } else {
        fold_group(s, p);
    }
}

/* Adds up what the ranges have left. */
static void fold_parts(const task_state *s, panel *p) {
    for (int64_t group = 0; group < s->plan->partials.groups; group++) {
        const part from = part_at(s, group, p->number);
        if (!*from.visited) continue;
        p->o_t = from.o_t;
        p->stats = from.stats;
        fold_group(s, p);
    }
}

/* After the last tile: makes o_t and stats cover all groups. */
static void fold_last_group(const task_state *s, panel *p) {
    if (is_few(s) && p->visited) pack_sums(s, p);
    if (!ATTNI_JOIN_GROUPS || !p->folded) return;
    const int64_t lanes = lanes_of(s, p);
    if (p->visited) fold_group(s, p);
    s->plan->kernels->settle(s->plan->args->v.shape[3] * lanes, p->total, p->lost);
    char *sum = (char *)p->total_stats + (size_t)lanes * s->plan->real_size;
    s->plan->kernels->settle(lanes, sum, sum + (size_t)lanes * s->plan->real_size);
    p->o_t = p->total;
    p->stats = p->total_stats;
    p->visited = true;
}

/* --------------------------------------------------------------------------- visits */

/* The weights of a visit, and the maximum they are relative to. */
static void save_weights(const task_state *s, const panel *p, int64_t first) {
    const attni_plan *plan = s->plan;
    const size_t bytes = (size_t)lanes_of(s, p) * plan->real_size,
                 row = (size_t)plan->saved.row * plan->real_size,
                 column = (size_t)p->base.first_row * plan->real_size;
    const char *from = s->scratch + plan->layout.scores;
    for (int32_t j = 0; j < s->view->n_keys; j++) {
        memcpy(s->saved + (size_t)(first + j) * row + column, from + (size_t)j * bytes, bytes);
    }
    const size_t tile = (size_t)(first / ATTNI_KEY_TILE);
    memcpy(s->saved + plan->saved.maxima + tile * row + column, p->stats, bytes);
}

/* Before the tile from key `first` on is visited. */
static void begin_group(const task_state *s, panel *p, int64_t first) {
    const int64_t group = first / ATTNI_GROUP_KEYS;
    if (ATTNI_JOIN_GROUPS && p->visited && group != p->group) end_group(s, p);
    p->group = group;
}

static void visit_tile(const task_state *s, panel *p, const attni_tile *t, bool prefetch) {
    begin_group(s, p, t->first);
    const attni_visit_source source = {.plan = s->plan,
                                       .rows = &p->base.rows,
                                       .vecs = p->base.vecs,
                                       .first = t->first,
                                       .view = s->view,
                                       .scratch = row_scratch(s)};
    attni_edits edits;
    attni_edits_begin(&edits, &source);
    attni_visit visit = {.first = !p->visited,
                         .prefetch = prefetch,
                         .seen = s->seen,
                         .q_t = p->base.q_t,
                         .scores = s->scratch + s->plan->layout.scores,
                         .o_t = p->o_t,
                         .stats = p->stats};
    attni_visit_fill(&visit, &source, t, &edits);
    s->plan->kernels->visit(&visit);
    p->visited = true;
    if (s->saved) save_weights(s, p, t->first);
}

/* Where the rows of a tile are, for a few queries. */
typedef struct tile_rows {
    int64_t first; /* key of the tile */
    const void *const *k, *const *v;
    bool has_next; /* after v are the rows of the next keys */
} tile_rows;

static void visit_few(const task_state *s, panel *p, const tile_rows *t) {
    const attni_plan *plan = s->plan;
    const attni_layout *l = &plan->layout;
    const attn_args *a = plan->args;
    const int lanes = lanes_of(s, p);
    begin_group(s, p, t->first);
    const attni_visit_source source = {.plan = plan,
                                       .rows = &p->base.rows,
                                       .vecs = p->base.vecs,
                                       .first = t->first,
                                       .view = s->view,
                                       .scratch = row_scratch(s)};
    attni_edits edits = {.modified = false};
    if (a->softcap > 0 || a->bias.data || a->alibi) attni_edits_fill_few(&edits, &source);
    for (int x = p->base.rows.n; !p->visited && x < lanes; x++) { /* lanes without a query */
        attni_store_real(p->stats, plan->real_size, x, -HUGE_VAL);
        attni_store_real(p->stats, plan->real_size, lanes + x, 0);
    }
    plan->kernels->few(&(attni_few){.rows = p->base.rows.n,
                                    .lanes = lanes,
                                    .n_segments = s->view->n_segments,
                                    .segments = s->view->segments,
                                    .first = !p->visited,
                                    .d_k = a->k.shape[3],
                                    .d_v = a->v.shape[3],
                                    .q = p->base.q_t,
                                    .k_dtype = a->k.dtype,
                                    .v_dtype = a->v.dtype,
                                    .k = t->k,
                                    .v = t->v,
                                    .has_next = t->has_next,
                                    .allow = s->view->all ? NULL : s->view->allow,
                                    .modify = edits.modified ? &edits.modify : NULL,
                                    .scores = s->scratch + l->scores,
                                    .sums = s->scratch + l->few_sums,
                                    .o = s->scratch + l->few_o,
                                    .stats = p->stats});
    p->visited = true;
}

static int64_t next_tile(const task_state *s, int64_t from) {
    int64_t nearest = INT64_MAX;
    for (int p = 0; p < s->n_panels && nearest > from; p++) {
        nearest = attni_min(nearest, attni_rows_next_tile(&panel_at(s, p)->base.rows, from));
    }
    return nearest;
}

static attni_key_source key_source(const task_state *s, const attni_sequence *seq) {
    return (attni_key_source){.plan = s->plan,
                              .seq = seq,
                              .kv_head = s->kv_head,
                              .k = s->scratch + s->plan->layout.k,
                              .v = s->scratch + s->plan->layout.v};
}

/* The addresses of the keys or values of a tile that the rows may see. */
static void find_rows(const attni_key_source *from, const attn_tensor *t, const attni_rows *rows,
                      int64_t first, const void **to) {
    attni_tile_rows(from, t, first, attni_max(rows->any_lo, first),
                    attni_min(rows->any_hi, first + ATTNI_KEY_TILE), to);
}

/* Visits every tile that the rows of the only panel see. The keys of the next tile are known one
 * tile ahead, because they are prefetched. */
static void visit_keys_few(const task_state *s, const attni_sequence *seq) {
    panel *p = panel_at(s, 0);
    attni_rows *rows = &p->base.rows;
    const attn_args *a = s->plan->args;
    const attni_key_source from = key_source(s, seq);
    const void **k = (const void **)(s->scratch + s->plan->layout.few), **v = k + ATTNI_KEY_TILE,
               **next_k = v + ATTNI_KEY_TILE;
    int64_t n = attni_rows_next_tile(rows, s->first_tile);
    if (n < s->end_tile) find_rows(&from, &a->k, rows, n * ATTNI_KEY_TILE, k);
    while (n < s->end_tile) {
        const int64_t next = attni_rows_next_tile(rows, n + 1);
        const tile_rows t = {n * ATTNI_KEY_TILE, k, v, next < s->end_tile};
        if (t.has_next) find_rows(&from, &a->k, rows, next * ATTNI_KEY_TILE, next_k);
        if (attni_rows_view(rows, t.first, ATTNI_KEY_TILE, s->view)) {
            find_rows(&from, &a->v, rows, t.first, v);
            visit_few(s, p, &t);
        }
        memcpy(k, next_k, ATTNI_KEY_TILE * sizeof *k);
        n = next;
    }
}

/* Visits every tile that some panel sees, in ascending order; all panels visit a tile while it is
 * in cache. */
static void visit_keys(const task_state *s, const attni_sequence *seq) {
    int64_t lo = INT64_MAX, hi = 0; /* keys that any panel of the block may see */
    for (int p = 0; p < s->n_panels; p++) {
        lo = attni_min(lo, panel_at(s, p)->base.rows.any_lo);
        hi = attni_max(hi, panel_at(s, p)->base.rows.any_hi);
    }
    const attni_key_source from = key_source(s, seq);
    for (int64_t n = next_tile(s, s->first_tile); n < s->end_tile; n = next_tile(s, n + 1)) {
        const int64_t first = n * ATTNI_KEY_TILE;
        const attni_tile t = attni_tile_at(&from, first, attni_max(lo, first),
                                           attni_min(hi, first + ATTNI_KEY_TILE));
        bool prefetch = !s->plan->half && seq->n_k > ATTNI_KEY_TILE; /* else it is in cache */
        for (int p = 0; p < s->n_panels; p++) {
            if (!attni_rows_view(&panel_at(s, p)->base.rows, t.first, ATTNI_KEY_TILE, s->view))
                continue;
            visit_tile(s, panel_at(s, p), &t, prefetch);
            prefetch = false;
        }
    }
}

/* --------------------------------------------------------------------------- results */

/* A row whose keys do not contribute to its denominator has exactly the sink as lse. */
static double lse_of(const task_state *s, const panel *p, int x) {
    const size_t real_size = s->plan->real_size;
    const double *sinks = s->plan->args->sinks;
    const int lanes = lanes_of(s, p);
    const double factor = attni_load_real(p->stats, real_size, 2 * lanes + x);
    if (factor == 0) return sinks ? sinks[p->base.rows.head[x]] : -HUGE_VAL;
    return attni_one_nan(attni_lse(attni_load_real(p->stats, real_size, x),
                                   attni_load_real(p->stats, real_size, lanes + x)));
}

static void write_lse(const task_state *s, const panel *p, const attn_tensor *lse) {
    const size_t size = (size_t)attni_dtype_size(lse->dtype);
    for (int x = 0; x < p->base.rows.n; x++)
        attni_store_real(attni_lane_row(&p->base.rows, x, lse), size, 0, lse_of(s, p, x));
}

/* The log-sum-exp of a row as it is before it is rounded to one number, in base 2. */
static void write_stats(const task_state *s, const panel *p, const attn_tensor *stats) {
    const int lanes = lanes_of(s, p);
    for (int x = 0; x < p->base.rows.n; x++) {
        double *to = attni_lane_row(&p->base.rows, x, stats);
        to[0] = attni_load_real(p->stats, s->plan->real_size, x);
        to[1] = attni_load_real(p->stats, s->plan->real_size, lanes + x);
    }
}

/* o_t and stats are complete; computes the factor for o_t, (lanes). */
static const void *finish_stats(const task_state *s, panel *p) {
    const attni_plan *plan = s->plan;
    const attn_args *a = plan->args;
    const size_t lanes = (size_t)lanes_of(s, p);
    double sinks[ATTNI_MAX_LANES]; /* of the real type */
    fold_last_group(s, p);
    if (!p->visited) { /* sum 0: rows that saw no key */
        memset(p->o_t, 0, (size_t)a->v.shape[3] * lanes * plan->real_size);
        memset(p->stats, 0, 3 * lanes * plan->real_size);
    }
    for (int x = 0; a->sinks && x < (int)lanes; x++) {
        attni_store_real(sinks, plan->real_size, x,
                         x < p->base.rows.n ? a->sinks[p->base.rows.head[x]] * ATTNI_LOG2E : 0);
    }
    plan->kernels->finish(p->base.vecs, a->sinks ? sinks : NULL, p->stats);
    return (char *)p->stats + 2 * lanes * plan->real_size;
}

/* False if some element is Inf or NaN. */
static bool finish_panel(const task_state *s, panel *p, const attni_forward_job *job) {
    const attni_plan *plan = s->plan;
    const attn_tensor *out = job->out;
    const int64_t d_v = plan->args->v.shape[3];
    const void *factors = finish_stats(s, p);
    void *to[ATTNI_MAX_LANES];
    attni_lane_rows(&p->base.rows, out, to);
    const size_t row_bytes = plan->layout.row_size * plan->real_size;
    for (int x = 0; plan->half && x < p->base.rows.n; x++)
        to[x] = s->scratch + plan->layout.rows + (size_t)x * row_bytes;
    const bool finite =
        plan->kernels->unpack_rows(p->base.vecs, p->base.rows.n, d_v, p->o_t, factors, to);
    for (int x = 0; plan->half && x < p->base.rows.n; x++) {
        plan->kernels->narrow(d_v, out->dtype, to[x], attni_lane_row(&p->base.rows, x, out));
    }
    if (job->lse) write_lse(s, p, job->lse);
    if (ATTNI_JOIN_GROUPS && job->stats) write_stats(s, p, job->stats);
    return finite;
}

/* ---------------------------------------------------------------------------- repair */

/* An element that came out as Inf or NaN is computed again, more carefully, because the fast sum
 * can be wrong there: a weight of 0 turned an infinite value into NaN, or a sum of finite values
 * left the range before it was divided. Rows whose denominator is NaN remain NaN. Other elements
 * stay as they are, so that a result does not depend on its neighbours. */

/* Finite values are multiplied by this factor, so that no sum of them leaves the range. */
static const double shrink = 0x1p-64;

/* Columns first .. first + n - 1 of a result. */
typedef struct strip {
    int64_t first;
    int n;
} strip;

static bool needs_repair(const task_state *s, const panel *p, const attn_tensor *out,
                         const strip *columns) {
    const void *factors = (char *)p->stats + 2 * (size_t)lanes_of(s, p) * s->plan->real_size;
    for (int x = 0; x < p->base.rows.n; x++) {
        const void *row = attni_lane_row(&p->base.rows, x, out);
        if (isnan(attni_load_real(factors, s->plan->real_size, x))) continue;
        for (int c = 0; c < columns->n; c++) {
            if (!isfinite(attni_load_as(out->dtype, row, columns->first + c))) return true;
        }
    }
    return false;
}

/* The strip of the tile's values: finite values are shrunk, the others become 0. */
static attni_tile shrunk_tile(const task_state *s, const attni_tile *t, const strip *columns) {
    const size_t real = s->plan->real_size;
    char *to = s->scratch + s->plan->layout.strip;
    for (int32_t g = 0; g < s->view->n_segments; g++) {
        const attni_segment segment = s->view->segments[g];
        for (int32_t key = segment.key; key < segment.key + segment.n; key++) {
            for (int c = 0; c < columns->n; c++) {
                const double x =
                    attni_load_real(t->v, real, key * t->v_stride + columns->first + c);
                attni_store_real(to, real, key * ATTNI_STRIP + c, isfinite(x) ? x * shrink : 0);
            }
        }
    }
    attni_tile shrunk = *t;
    shrunk.v = to;
    shrunk.v_stride = ATTNI_STRIP;
    shrunk.d_v = columns->n;
    return shrunk;
}

/* Adds each Inf and NaN of the strip to the sums of the lanes that see it. */
static void add_spoilt(const task_state *s, const panel *p, const attni_tile *t,
                       const strip *columns) {
    const size_t real = s->plan->real_size;
    const int lanes = lanes_of(s, p);
    char *sums = s->scratch + s->plan->layout.spoilt;
    for (int32_t g = 0; g < s->view->n_segments; g++) {
        const attni_segment segment = s->view->segments[g];
        for (int64_t e = 0; e < (int64_t)segment.n * columns->n; e++) {
            const int64_t key = segment.key + e / columns->n, c = e % columns->n;
            const double value =
                attni_load_real(t->v, real, key * t->v_stride + columns->first + c);
            for (int x = 0; !isfinite(value) && x < p->base.rows.n; x++) {
                if (!(s->seen[key] >> x & 1)) continue;
                const int64_t at = c * lanes + x;
                attni_store_real(sums, real, at, attni_load_real(sums, real, at) + value);
            }
        }
    }
}

/* Recomputes o_t and stats of the strip, and the sums of Inf and NaN. */
static void visit_keys_again(const task_state *s, panel *p, const attni_sequence *seq,
                             const strip *columns) {
    const attni_key_source from = key_source(s, seq);
    memset(s->scratch + s->plan->layout.spoilt, 0,
           ATTNI_STRIP * (size_t)lanes_of(s, p) * s->plan->real_size);
    begin_sums(s, p);
    attni_rows_begin(&p->base.rows);
    int64_t n = 0;
    while ((n = attni_rows_next_tile(&p->base.rows, n)) != INT64_MAX) {
        const int64_t first = n++ * ATTNI_KEY_TILE;
        const attni_tile t = attni_tile_at(&from, first, attni_max(p->base.rows.any_lo, first),
                                           attni_min(p->base.rows.any_hi, first + ATTNI_KEY_TILE));
        if (!attni_rows_view(&p->base.rows, first, ATTNI_KEY_TILE, s->view)) continue;
        const attni_tile shrunk = shrunk_tile(s, &t, columns);
        visit_tile(s, p, &shrunk, false);
        add_spoilt(s, p, &t, columns);
    }
}

/* The element of lane x in column c of the strip. Without dropout it is a mean, which must not be
 * pushed out of range by the rounding of its sum. */
static double repaired(const task_state *s, const panel *p, const void *factors, int64_t c, int x) {
    const attni_plan *plan = s->plan;
    const size_t real = plan->real_size;
    const int64_t at = c * lanes_of(s, p) + x;
    const double spoilt = attni_load_real(s->scratch + plan->layout.spoilt, real, at);
    if (spoilt != 0) return attni_one_nan(spoilt);
    const double mean =
                     attni_load_real(p->o_t, real, at) * attni_load_real(factors, real, x) / shrink,
                 most = real == sizeof(double) ? DBL_MAX : (double)FLT_MAX;
    const bool bounded = plan->args->dropout == 0 && fabs(mean) > most;
    return bounded ? copysign(most, mean) : attni_one_nan(mean + 0.0);
}

static void repair_strip(const task_state *s, panel *p, const attn_tensor *out,
                         const strip *columns) {
    const void *factors = finish_stats(s, p);
    /* Stored in a half type, a sum that dropout has made too large is Inf and stays Inf. */
    const double most = out->dtype == ATTN_F16 ? 65504 : 0x1.fep127,
                 too_large = s->plan->half && s->plan->args->dropout > 0 ? 0.999 * most : HUGE_VAL;
    for (int x = 0; x < p->base.rows.n; x++) {
        void *row = attni_lane_row(&p->base.rows, x, out);
        if (isnan(attni_load_real(factors, s->plan->real_size, x))) continue;
        for (int c = 0; c < columns->n; c++) {
            const double old = attni_load_as(out->dtype, row, columns->first + c),
                         fresh = repaired(s, p, factors, c, x);
            if (isfinite(old) || (isinf(old) && fabs(fresh) > too_large)) continue;
            attni_store_as(out->dtype, row, columns->first + c, fresh);
        }
    }
}

static void repair_panel(const task_state *s, panel *p, const attni_sequence *seq,
                         const attn_tensor *out) {
    task_state again = *s;
    again.saved = NULL;
    again.few = false;
    again.partials = NULL;
    if (is_few(s)) pack_panel(&again, p);
    again.seen = (uint64_t *)(s->scratch + s->plan->layout.seen);
    const int64_t d_v = out->shape[3];
    for (int64_t c = 0; c < d_v; c += ATTNI_STRIP) {
        const strip columns = {c, (int)attni_min(ATTNI_STRIP, d_v - c)};
        if (!needs_repair(s, p, out, &columns)) continue;
        visit_keys_again(&again, p, seq, &columns);
        repair_strip(&again, p, out, &columns);
    }
}

/* ------------------------------------------------------------------------------ task */

/* The state of a task: a block, and a range of its keys. */
static task_state begin_task(const attni_forward_job *job, int64_t head, int64_t block,
                             int worker) {
    const attni_plan *plan = job->plan;
    char *scratch = job->workspace + (size_t)worker * plan->layout.bytes;
    task_state s = {.plan = plan,
                    .scratch = scratch,
                    .view = (attni_view *)(scratch + plan->layout.view),
                    .kv_head = head % plan->args->k.shape[1],
                    .end_tile = INT64_MAX};
    if (plan->saved.bytes > 0)
        s.saved = (char *)plan->args->saved + (size_t)head * plan->saved.head_bytes;
    if (ATTNI_JOIN_GROUPS && plan->ranges > 1) {
        const size_t parts =
            (size_t)((head * plan->blocks + block) * plan->partials.groups * plan->block_panels);
        s.partials = job->workspace + plan->partials.offset + parts * plan->partials.panel_bytes;
        s.has_part = (bool *)(job->workspace + plan->partials.visited) + parts;
    }
    return s;
}

static void begin_panels(task_state *s, const attni_sequence *seq, int64_t block) {
    const attni_plan *plan = s->plan;
    int64_t row = block * plan->block_rows;
    const int64_t end = attni_min(plan->group * seq->rows, row + plan->block_rows);
    while (row < end) {
        attni_assert(s->n_panels < plan->block_panels);
        panel *p = panel_at(s, s->n_panels);
        p->number = s->n_panels++;
        begin_panel(s, p, seq, row, end - row);
        row += p->base.rows.n;
    }
}

static void finish_panels(const task_state *s, const attni_sequence *seq,
                          const attni_forward_job *job) {
    for (int n = 0; n < s->n_panels; n++) {
        panel *p = panel_at(s, n);
        if (!finish_panel(s, p, job)) repair_panel(s, p, seq, job->out);
    }
}

/* Leaves the last sums of a range. */
static void end_groups(const task_state *s) {
    for (int n = 0; n < s->n_panels; n++) {
        if (panel_at(s, n)->visited) end_group(s, panel_at(s, n));
    }
}

/* An attni_task: visits one range of the keys of one block. */
static void visit_task(void *arg, int64_t task, int worker) {
    const attni_forward_job *job = arg;
    const attni_plan *plan = job->plan;
    const int64_t ranges = ATTNI_JOIN_GROUPS ? plan->ranges : 1;
    const int64_t unit = task / ranges, range = task % ranges;
    const int64_t head = unit / plan->blocks;
    /* The last blocks come first: under a causal mask they are the longest. */
    const int64_t block = plan->blocks - 1 - unit % plan->blocks;
    const attni_sequence seq = attni_sequence_at(plan->args, head / plan->args->k.shape[1]);
    task_state s = begin_task(job, head, block, worker);
    if (is_split(&s)) {
        const int64_t groups = attni_ceil_div(seq.n_k, ATTNI_GROUP_KEYS);
        s.first_tile = groups * range / ranges * ATTNI_GROUP_TILES;
        s.end_tile = groups * (range + 1) / ranges * ATTNI_GROUP_TILES;
    }
    s.few = attni_plan_is_few(plan, &seq);
    begin_panels(&s, &seq, block);
    if (s.n_panels == 0) return;
    if (is_few(&s)) {
        visit_keys_few(&s, &seq);
    } else {
        visit_keys(&s, &seq);
    }
    if (is_split(&s)) {
        end_groups(&s);
    } else {
        finish_panels(&s, &seq, job);
    }
}

/* An attni_task: merges the ranges of one block. */
static void merge_task(void *arg, int64_t unit, int worker) {
    const attni_forward_job *job = arg;
    const attni_plan *plan = job->plan;
    const int64_t head = unit / plan->blocks, block = unit % plan->blocks;
    const attni_sequence seq = attni_sequence_at(plan->args, head / plan->args->k.shape[1]);
    task_state s = begin_task(job, head, block, worker);
    begin_panels(&s, &seq, block);
    for (int n = 0; n < s.n_panels; n++) fold_parts(&s, panel_at(&s, n));
    finish_panels(&s, &seq, job);
}

attn_status attni_forward_run(attn_ctx *ctx, attni_forward_job *job, attn_error *err) {
    const attni_plan *plan = job->plan;
    const bool split = ATTNI_JOIN_GROUPS && plan->ranges > 1;
    if (split)
        memset(job->workspace + plan->partials.visited, 0,
               plan->workspace - plan->partials.visited);
    ATTN_TRY(attni_ctx_run(ctx, plan->workers, plan->n_tasks, visit_task, job, err));
    if (!split) return ATTN_OK;
    const int64_t units = plan->n_tasks / plan->ranges;
    return attni_ctx_run(ctx, (int)attni_min(plan->workers, units), units, merge_task, job, err);
}
