/* SPDX-License-Identifier: Apache-2.0 */
/* plan.c - see plan.h. */
#include "attention/plan.h"

#include "attention/tasks.h"

int attni_panel_vecs(const attni_kernels *kernels, int64_t rows) {
    const int64_t vectors = attni_ceil_div(rows, kernels->vl);
    const int most = kernels->max_vecs;
    if (vectors == most + 1 && most > 2) return most - 1;
    return (int)attni_min(vectors, most);
}

/* Smaller blocks when there are few of them, so that every worker gets some; down to two panels, where
 * sharing a key tile still pays. Blocks of a head are of equal size, so that no narrow panel is left over. */
static void choose_blocks(attni_plan *plan, int64_t rows, int threads) {
    const attn_args *a = plan->args;
    const int64_t heads = attni_sequence_count(a) * a->k.shape[1];
    const int64_t vectors = attni_ceil_div(rows, plan->kernels->vl), wide = plan->kernels->max_vecs;
    plan->block_panels = ATTNI_BLOCK_PANELS;
    while (plan->block_panels > 2 &&
           heads * attni_ceil_div(vectors, plan->block_panels * wide) < 3 * threads) {
        plan->block_panels /= 2;
    }
    const int64_t blocks = attni_ceil_div(vectors, plan->block_panels * wide);
    plan->block_rows = blocks == 0 ? 1 : attni_ceil_div(vectors, blocks) * plan->kernels->vl;
    plan->blocks = attni_ceil_div(rows, plan->block_rows);
    plan->n_tasks = heads * plan->blocks;
}

/* Waking the other workers takes some microseconds: with less work than this, the caller does it alone. */
static const double flops_worth_waking = 2e6;

static int choose_workers(const attni_plan *plan, int64_t rows, int64_t keys, int threads) {
    const attn_args *a = plan->args;
    const double pairs =
        (double)rows * (double)keys * (double)a->k.shape[1] * (double)attni_sequence_count(a);
    const double flops = 2 * pairs * (double)(a->q.shape[3] + a->v.shape[3]);
    return flops < flops_worth_waking || plan->n_tasks < 2 ? 1 : threads;
}

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
    plan->query_factor =
        full->softcap > 0 ? full->scale / full->softcap : full->scale * plan->score_factor;
    if (__builtin_mul_overflow(rows, plan->group, &rows)) {
        return attni_fail(err, ATTN_E_OVERFLOW, "q: rows times heads per group overflow");
    }
    choose_blocks(plan, rows, threads);
    plan->workers = choose_workers(plan, rows, keys, threads);
    if (!attni_task_scratch_size(plan, &plan->worker_bytes) ||
        !attni_mul(plan->worker_bytes, (size_t)plan->workers, &plan->workspace)) {
        return attni_fail(err, ATTN_E_OVERFLOW,
                          "scratch for head sizes %lld and %lld overflows the address space",
                          (long long)full->q.shape[3], (long long)full->v.shape[3]);
    }
    return ATTN_OK;
}
