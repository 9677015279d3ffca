/* SPDX-License-Identifier: Apache-2.0 */
/* backward_plan.c - see backward_plan.h. */
#include "attention/backward_plan.h"

#include "attention/backward_tasks.h"
#include "attention/visible.h"
#include "core/arena.h"

/* ----------------------------------------------------------------------------- columns */

/* Products need at least two vectors. */
int attni_column_vecs(const attni_kernels *kernels, int64_t columns) {
    return (int)attni_max(2, attni_panel_vecs(kernels, columns));
}

static int64_t padded_columns(const attni_kernels *kernels, int64_t d) {
    int64_t padded = 0;
    while (padded < d) padded += attni_column_vecs(kernels, d - padded) * kernels->vl;
    return padded;
}

/* ------------------------------------------------------------------------------- split */

static bool shares_memory(const attn_tensor *t) {
    return !attni_tensor_is_empty(t) && attni_check_distinct("dbias", t, NULL) != ATTN_OK;
}

/* Heads whose gradients are summed into the same dbias form a strand; if even keys share elements,
 * there is one strand and one range. */
static void choose_strands(attni_backward_plan *plan, const attn_gradients *g, bool sliding) {
    const attn_args *a = plan->forward.args;
    const int64_t sequences = attni_sequence_count(a), H_kv = a->k.shape[1];
    plan->heads = sequences * H_kv;
    plan->sequences_share = plan->want_dbias && (sliding || g->dbias.shape[0] == 1);
    plan->heads_share = plan->want_dbias && (sliding || g->dbias.shape[1] == 1);
    plan->heads_per_strand =
        (plan->sequences_share ? sequences : 1) * (plan->heads_share ? H_kv : 1);
    plan->strands = plan->heads == 0 ? 0 : plan->heads / plan->heads_per_strand;
}

/* With enough strands, every worker has work without splitting the keys. Otherwise each group of
 * tiles is a range: it costs one pass over the queries, and the next range follows one block
 * behind. */
static void choose_ranges(attni_backward_plan *plan, int64_t keys, int threads, bool sliding) {
    enum { ENOUGH = 3 };
    const int64_t tiles = attni_max(1, attni_ceil_div(keys, ATTNI_BACKWARD_KEYS));
    const bool split =
        threads > 1 && plan->forward.worth_waking && !sliding && plan->strands < ENOUGH * threads;
    plan->range_tiles = split ? attni_min(tiles, ATTNI_BACKWARD_GROUP_TILES) : tiles;
    plan->ranges = attni_ceil_div(tiles, plan->range_tiles);
}

/* ----------------------------------------------------------------------------- scratch */

static bool lay_out_worker(attni_backward_plan *plan) {
    const attni_plan *f = &plan->forward;
    const attn_args *a = f->args;
    attni_backward_layout *l = &plan->layout;
    const size_t real = f->real_size, lanes = (size_t)(f->kernels->vl * f->kernels->max_vecs);
    const size_t d_k = (size_t)a->q.shape[3], d_v = (size_t)a->v.shape[3];
    const size_t rows = ATTNI_BLOCK_ROWS, keys = ATTNI_BACKWARD_KEYS;
    const size_t range_keys = (size_t)plan->range_tiles * keys;
    attni_arena panel = {.used = attni_backward_panel_size()}, c = {0};
    l->q_t = attni_arena_place(&panel, d_k, lanes, real);
    l->do_t = attni_arena_place(&panel, d_v, lanes, real);
    l->dq_t = attni_arena_place(&panel, plan->want_dq ? d_k : 0, lanes, real);
    l->dq_total = attni_arena_place(&panel, plan->want_dq ? d_k : 0, lanes, real);
    l->dq_lost = attni_arena_place(&panel, plan->want_dq ? d_k : 0, lanes, real);
    l->stats = attni_arena_place(&panel, 3, lanes, real);
    l->panel_bytes = panel.used;
    /* Blocks of one-vector panels have the largest number of panels. */
    l->panels = attni_arena_place(&c, rows / (size_t)f->kernels->vl, panel.used, 1);
    l->p = attni_arena_place(&c, keys, rows, real);
    l->ds = attni_arena_place(&c, keys, rows, real);
    l->q_rows = attni_arena_place(&c, plan->want_dk ? rows : 0, (size_t)plan->columns_k, real);
    l->do_rows = attni_arena_place(&c, plan->want_dv ? rows : 0, (size_t)plan->columns_v, real);
    l->dk = attni_arena_place(&c, plan->want_dk && f->half ? range_keys : 0, d_k, real);
    l->dv = attni_arena_place(&c, plan->want_dv && f->half ? range_keys : 0, d_v, real);
    const size_t dk_keys = plan->want_dk && plan->grouped ? range_keys : 0,
                 dv_keys = plan->want_dv && plan->grouped ? range_keys : 0;
    l->dk_group = attni_arena_place(&c, dk_keys, d_k, real);
    l->dk_lost = attni_arena_place(&c, dk_keys, d_k, real);
    l->dv_group = attni_arena_place(&c, dv_keys, d_v, real);
    l->dv_lost = attni_arena_place(&c, dv_keys, d_v, real);
    l->view = attni_arena_place(&c, 1, sizeof(attni_view), 1);
    l->bias = attni_arena_place(&c, a->bias.data ? ATTNI_KEY_TILE : 0, lanes, real);
    l->dz = attni_arena_place(&c, plan->want_dbias ? keys : 0, lanes, real);
    l->keep = attni_arena_place(&c, a->dropout > 0 ? keys : 0, lanes, real);
    l->row_size = (size_t)attni_max(ATTNI_KEY_TILE, attni_max(a->q.shape[3], a->v.shape[3]));
    l->rows = attni_arena_place(&c, lanes + 1, l->row_size, real);
    l->k = attni_arena_place(&c, f->half ? keys : 0, d_k, real);
    l->v = attni_arena_place(&c, f->half ? keys : 0, d_v, real);
    l->bytes = c.used;
    return !panel.overflow && !c.overflow;
}

static bool lay_out_shared(attni_backward_plan *plan, const attn_gradients *g) {
    const attn_args *a = plan->forward.args;
    attni_arena c = {0};
    plan->progress =
        attni_arena_place(&c, (size_t)plan->heads, (size_t)plan->ranges, sizeof(attni_progress));
    plan->sink_sums = attni_arena_place(&c, g->dsinks ? (size_t)attni_sequence_count(a) : 0,
                                        (size_t)a->q.shape[1], sizeof(double));
    plan->scale_sums =
        attni_arena_place(&c, g->dscale ? (size_t)plan->heads : 0, 1, sizeof(double));
    const size_t rows = (size_t)(a->q.shape[0] * a->q.shape[1] * a->q.shape[2]); /* checked */
    plan->dq_sums = attni_arena_place(&c, plan->own_sums ? rows : 0, (size_t)a->q.shape[3],
                                      plan->forward.real_size);
    plan->dq_lost = attni_arena_place(&c, plan->want_dq && plan->ranges > 1 ? rows : 0,
                                      (size_t)a->q.shape[3], plan->forward.real_size);
    plan->row_stats = attni_arena_place(&c, ATTNI_JOIN_GROUPS ? rows : 0, 2, sizeof(double));
    plan->shared_bytes = c.used;
    return !c.overflow;
}

/* Runs before the tasks, in the workers' scratch. */
static attn_status plan_stats(attn_ctx *ctx, const attn_args *full, attni_backward_plan *plan,
                              attn_error *err) {
    if (!ATTNI_JOIN_GROUPS) return ATTN_OK; /* no row is far */
    plan->stats_args = *full;
    plan->stats_args.v.shape[3] = 0;
    plan->stats_args.dropout = 0;
    plan->stats_args.saved = NULL;
    return attni_plan_make(ctx, &plan->stats_args, &plan->stats, err);
}

attn_status attni_backward_plan_make(attn_ctx *ctx, const attn_args *full, const attn_gradients *g,
                                     attni_backward_plan *plan, attn_error *err) {
    *plan = (attni_backward_plan){
        .want_dq = g->dq.data || g->dscale,
        .want_dk = g->dk.data,
        .want_dv = g->dv.data,
        .want_dbias = g->dbias.data,
    };
    ATTN_TRY(attni_plan_make(ctx, full, &plan->forward, err));
    const attni_kernels *kernels = plan->forward.kernels;
    const bool sliding = plan->want_dbias && shares_memory(&g->dbias);
    int64_t rows, keys;
    attni_sequence_longest(full, &rows, &keys);
    plan->columns_k = padded_columns(kernels, full->q.shape[3]);
    plan->columns_v = padded_columns(kernels, full->v.shape[3]);
    choose_strands(plan, g, sliding);
    choose_ranges(plan, keys, attn_ctx_threads(ctx), sliding);
    plan->n_tasks = plan->strands * plan->ranges;
    plan->workers = plan->forward.worth_waking ? attni_ctx_workers(ctx, plan->n_tasks) : 1;
    plan->own_sums = plan->want_dq && plan->ranges > 1 && (plan->forward.half || !g->dq.data);
    plan->grouped = plan->forward.group * rows > ATTNI_GROUP_BLOCKS * ATTNI_BLOCK_ROWS;
    plan->double_kernels = attni_ctx_kernels(ctx, true);
    ATTN_TRY(plan_stats(ctx, full, plan, err));
    size_t all;
    if (!lay_out_worker(plan) || !lay_out_shared(plan, g) ||
        !attni_mul(plan->layout.bytes, (size_t)plan->workers, &all) ||
        !attni_add(all > plan->stats.workspace ? all : plan->stats.workspace, plan->shared_bytes,
                   &plan->workspace)) {
        return attni_fail(err, ATTN_E_OVERFLOW,
                          "scratch for head sizes %lld and %lld overflows the address space",
                          (long long)full->q.shape[3], (long long)full->v.shape[3]);
    }
    return ATTN_OK;
}
