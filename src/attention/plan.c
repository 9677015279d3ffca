/* SPDX-License-Identifier: Apache-2.0 */
/* plan.c - see plan.h. */
#include "attention/plan.h"

#include "attention/tasks.h"
#include "core/arena.h"

/* ------------------------------------------------------------------------- scratch */

/* The workspace: one part for each worker. Sizes stand at attni_layout; what a problem does not need
 * takes no room.
 *
 *     worker: panel 0 | panel 1 | ... | view | scores | bias | rows | k | v | strip | spoilt | seen |
 *             few | few_sums | few_o |
 *     panel:  attni_panel | q_t | o_t | stats | total | lost | total_stats |                      */
static bool lay_out(const attni_plan *plan, int64_t keys, attni_layout *l) {
    const attn_args *a = plan->args;
    const size_t real = plan->real_size,
                 lanes = (size_t)(plan->kernels->vl * plan->kernels->max_vecs);
    const size_t d_k = (size_t)a->q.shape[3], d_v = (size_t)a->v.shape[3];
    const bool bias = a->bias.data != NULL, groups = keys > ATTNI_GROUP_KEYS;
    attni_arena panel = {.used = attni_panel_size()}, c = {0};
    l->q_t = attni_arena_place(&panel, d_k, lanes, real);
    l->o_t = attni_arena_place(&panel, d_v, lanes, real);
    l->stats = attni_arena_place(&panel, 3, lanes, real);
    l->total = attni_arena_place(&panel, groups ? d_v : 0, lanes, real);
    l->lost = attni_arena_place(&panel, groups ? d_v : 0, lanes, real);
    l->total_stats = attni_arena_place(&panel, groups ? 3 : 0, lanes, real);
    l->panel_bytes = panel.used;
    l->panels = attni_arena_place(&c, (size_t)plan->block_panels, panel.used, 1);
    l->view = attni_arena_place(&c, 1, sizeof(attni_view), 1);
    l->scores = attni_arena_place(&c, ATTNI_KEY_TILE, lanes, real);
    l->bias = attni_arena_place(&c, bias ? ATTNI_KEY_TILE : 0, lanes, real);
    l->row_size = (size_t)attni_max(ATTNI_KEY_TILE, attni_max(a->q.shape[3], a->v.shape[3]));
    l->rows = attni_arena_place(&c, plan->half || bias ? lanes : 0, l->row_size, real);
    l->k = attni_arena_place(&c, plan->half ? ATTNI_KEY_TILE : 0, d_k, real);
    l->v = attni_arena_place(&c, plan->half ? ATTNI_KEY_TILE : 0, d_v, real);
    l->strip = attni_arena_place(&c, ATTNI_KEY_TILE, ATTNI_STRIP, real);
    l->spoilt = attni_arena_place(&c, ATTNI_STRIP, lanes, real);
    l->seen = attni_arena_place(&c, ATTNI_KEY_TILE, sizeof(uint64_t), 1);
    if (ATTNI_HAS_FEW && plan->few) {
        l->few = attni_arena_place(&c, 3, ATTNI_KEY_TILE, sizeof(void *));
        l->few_sums = attni_arena_place(&c, ATTNI_FEW_ROWS, d_v, real);
        l->few_o = attni_arena_place(&c, ATTNI_FEW_ROWS, d_v, real);
    }
    l->bytes = c.used;
    return !panel.overflow && !c.overflow;
}

/* ------------------------------------------------------------------- blocks, workers */

int attni_panel_vecs(const attni_kernels *kernels, int64_t rows) {
    const int64_t vectors = attni_ceil_div(rows, kernels->vl);
    const int most = kernels->max_vecs;
    if (vectors == most + 1 && most > 2) return most - 1;
    return (int)attni_clamp(vectors, kernels->min_vecs, most);
}

/* Below this number of keys a panel costs less than the addresses of their rows. */
static const int64_t few_keys_least = 32;

bool attni_plan_is_few(const attni_plan *plan, const attni_sequence *seq) {
    const int64_t most =
        attni_min(ATTNI_FEW_ROWS, plan->kernels->vl * (int64_t)plan->kernels->max_vecs);
    return ATTNI_HAS_FEW && plan->few && plan->group * seq->rows <= most &&
           seq->n_k >= few_keys_least;
}

/* As many panels as possible share a key tile, as long as every worker still gets a few blocks, but
 * never fewer than two, where sharing begins to pay. More rows never mean smaller blocks. The
 * blocks of a head have equal size, so that no narrow panel is left over. */
static void choose_blocks(attni_plan *plan, int64_t rows, int threads) {
    const attn_args *a = plan->args;
    const int64_t heads = attni_sequence_count(a) * a->k.shape[1],
                  few = threads == 1 ? 1 : 3 * threads;
    const int64_t vectors = attni_ceil_div(rows, plan->kernels->vl), wide = plan->kernels->max_vecs;
    plan->block_panels = vectors <= wide ? 1 : 2;
    while (plan->block_panels > 1 && plan->block_panels < ATTNI_BLOCK_PANELS &&
           heads * attni_ceil_div(vectors, 2 * plan->block_panels * wide) >= few) {
        plan->block_panels *= 2;
    }
    const int64_t blocks = attni_ceil_div(vectors, plan->block_panels * wide);
    plan->block_rows = blocks == 0 ? 1 : attni_ceil_div(vectors, blocks) * plan->kernels->vl;
    plan->blocks = attni_ceil_div(rows, plan->block_rows);
    plan->n_tasks = heads * plan->blocks;
}

/* Waking the other workers takes a few microseconds: with less work than this, the caller does
 * everything alone. */
static const double flops_worth_waking = 2e6;

static bool is_worth_waking(const attni_plan *plan, int64_t rows, int64_t keys) {
    const attn_args *a = plan->args;
    const double pairs =
        (double)rows * (double)keys * (double)a->k.shape[1] * (double)attni_sequence_count(a);
    return 2 * pairs * (double)(a->q.shape[3] + a->v.shape[3]) >= flops_worth_waking;
}

/* More tasks than blocks: the keys of a block are split at groups of tiles, whose sums are merged in
 * ascending order anyway, so no bit depends on it. */
static void choose_ranges(attni_plan *plan, int64_t rows, int64_t keys, int threads) {
    enum { TASKS_PER_THREAD = 4 }; /* so that a slow thread does not keep the others waiting */
    plan->ranges = 1;
    if (!ATTNI_JOIN_GROUPS) return;
    const int64_t groups = attni_ceil_div(keys, ATTNI_GROUP_KEYS),
                  lanes = plan->kernels->vl * (int64_t)plan->kernels->max_vecs;
    plan->partials.groups = groups;
    /* Only few rows: the sums of all groups are kept, which must not become n_q x n_k. */
    if (threads == 1 || plan->n_tasks == 0 || plan->saved.bytes > 0 ||
        rows > ATTNI_BLOCK_PANELS * lanes)
        return;
    plan->ranges =
        attni_clamp(attni_ceil_div(TASKS_PER_THREAD * (int64_t)threads, plan->n_tasks), 1, groups);
    plan->n_tasks *= plan->ranges;
}

/* The whole workspace:
 *
 *     worker 0 | worker 1 | ... | block 0: group 0: panel 0 | panel 1 | ... | visited |         */
static bool lay_out_all(attni_plan *plan) {
    if (!ATTNI_JOIN_GROUPS || plan->ranges == 1)
        return attni_mul(plan->layout.bytes, (size_t)plan->workers, &plan->workspace);
    attni_partials *p = &plan->partials;
    attni_arena all = {0}, part = {0};
    const size_t lanes = (size_t)(plan->kernels->vl * plan->kernels->max_vecs),
                 panels = (size_t)(plan->n_tasks / plan->ranges * plan->block_panels);
    size_t count;
    p->o_t = attni_arena_place(&part, (size_t)plan->args->v.shape[3], lanes, plan->real_size);
    p->stats = attni_arena_place(&part, 2, lanes, plan->real_size);
    p->panel_bytes = part.used;
    if (!attni_mul(panels, (size_t)p->groups, &count)) return false;
    attni_arena_place(&all, plan->layout.bytes, (size_t)plan->workers, 1);
    p->offset = attni_arena_place(&all, count, part.used, 1);
    p->visited = attni_arena_place(&all, count, 1, 1);
    plan->workspace = all.used;
    return !all.overflow && !part.overflow;
}

/* ------------------------------------------------------------------------------- saved */

/* Beyond this many keys the matrix no longer fits in the caches and costs more than it saves. */
static const int64_t saved_keys_most = 1024;

static bool is_plain(const attn_args *a) {
    return !a->causal && a->window_left < 0 && a->window_right < 0 && !a->mask.data &&
           !a->bias.data && !a->pattern && !a->len_q && !a->len_k && !a->cu_q && !a->alibi &&
           a->softcap == 0 && a->dropout == 0;
}

attni_saved attni_plan_saved(const attni_plan *plan) {
    const attn_args *a = plan->args;
    const int64_t rows = plan->group * a->q.shape[2], keys = a->k.shape[2];
    attni_arena head = {0}, all = {0};
    attni_saved saved = {.row = attni_ceil_div(rows, ATTNI_BLOCK_ROWS) * ATTNI_BLOCK_ROWS};
    if (!is_plain(a) || plan->half || keys > saved_keys_most) return saved;
    const size_t row = (size_t)saved.row;
    attni_arena_place(&head, (size_t)keys, row, plan->real_size);
    saved.maxima = attni_arena_place(&head, (size_t)attni_ceil_div(keys, ATTNI_KEY_TILE), row,
                                     plan->real_size);
    saved.head_bytes = head.used;
    attni_arena_place(&all, (size_t)(attni_sequence_count(a) * a->k.shape[1]), head.used, 1);
    saved.bytes = head.overflow || all.overflow ? 0 : all.used;
    return saved;
}

/* -------------------------------------------------------------------------------- plan */

attn_status attni_plan_make(attn_ctx *ctx, const attn_args *full, attni_plan *plan,
                            attn_error *err) {
    const bool f64 = full->q.dtype == ATTN_F64;
    const int threads = attn_ctx_threads(ctx);
    int64_t rows, keys;
    attni_sequence_longest(full, &rows, &keys);
    *plan = (attni_plan){
        .args = full,
        .kernels = attni_ctx_kernels(ctx, f64),
        .real_size = f64 ? sizeof(double) : sizeof(float),
        .half = full->q.dtype == ATTN_F16 || full->q.dtype == ATTN_BF16,
        .group = full->q.shape[1] / full->k.shape[1],
        .score_factor = ATTNI_LOG2E / full->temperature,
    };
    plan->query_factor = full->scale * plan->score_factor;
    int64_t pairs_of_heads;
    if (__builtin_mul_overflow(rows, plan->group, &rows) ||
        __builtin_mul_overflow(attni_sequence_count(full), full->k.shape[1], &pairs_of_heads) ||
        __builtin_mul_overflow(pairs_of_heads, attni_max(rows, 1), &pairs_of_heads)) {
        return attni_fail(err, ATTN_E_OVERFLOW,
                          "q: batch times heads times rows is more than 2^63");
    }
    choose_blocks(plan, rows, threads);
    if (full->saved) plan->saved = attni_plan_saved(plan);
    plan->few =
        ATTNI_HAS_FEW && keys >= few_keys_least && full->dropout == 0 && plan->saved.bytes == 0;
    plan->worth_waking = is_worth_waking(plan, rows, keys);
    choose_ranges(plan, rows, keys, plan->worth_waking ? threads : 1);
    plan->workers = plan->worth_waking ? attni_ctx_workers(ctx, plan->n_tasks) : 1;
    if (!lay_out(plan, keys, &plan->layout) || !lay_out_all(plan)) {
        return attni_fail(err, ATTN_E_OVERFLOW,
                          "scratch for head sizes %lld and %lld overflows the address space",
                          (long long)full->q.shape[3], (long long)full->v.shape[3]);
    }
    return ATTN_OK;
}

attn_status attni_plan_check_built(const attni_plan *plan, attn_error *err) {
    if (plan->kernels->visit) return ATTN_OK;
    return attni_fail(err, ATTN_E_ISA, "q: attention of dtype %s is not in this build; use f32",
                      attn_dtype_name(plan->args->q.dtype));
}
