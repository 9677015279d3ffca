/* SPDX-License-Identifier: Apache-2.0 */
/* backward.c - the public backward pass: checks the arguments, plans, runs the tasks on the pool,
 * and adds up the gradients that are one number per head. Tests: tests/attention/test_backward.c,
 * tests/engine/test_gradients.c, tests/golden/test_golden_gradients.c */
#include "attention/far_rows.h"

static attn_status check_ctx(const attn_ctx *ctx, attn_error *err) {
    if (ctx) return ATTN_OK;
    return attni_fail(err, ATTN_E_NULL, "ctx: NULL, expected a context from attn_ctx_create()");
}

static attn_status choose_workspace(attn_ctx *ctx, attni_backward_job *job, attn_error *err) {
    const attni_plan *plan = &job->plan->forward;
    const attn_args *a = plan->args;
    const attn_results *r = job->results;
    const attn_gradients *g = job->gradients;
    const attn_tensor dsinks = attn_tensor_bhsd(g->dsinks, ATTN_F64, 1, 1, 1, a->q.shape[1]),
                      dscale = attn_tensor_bhsd(g->dscale, ATTN_F64, 1, 1, 1, 1);
    const attn_tensor *const all[] = {&r->out, &r->lse,   &r->dout, &g->dq, &g->dk,
                                      &g->dv,  &g->dbias, &dsinks,  &dscale};
    ATTN_TRY(attni_ctx_workspace(ctx, a, job->plan->workspace, &job->workspace, err));
    ATTN_TRY(attni_check_saved(a, plan->saved.bytes, err));
    return attni_check_spaces(a, all, sizeof all / sizeof *all, err);
}

/* dbias is accumulated element by element; elements may share memory, so all are cleared first. */
static void clear_dbias(const attn_tensor *t) {
    const size_t size = (size_t)attni_dtype_size(t->dtype);
    for (int64_t b = 0; b < t->shape[0]; b++) {
        for (int64_t h = 0; h < t->shape[1]; h++) {
            for (int64_t i = 0; i < t->shape[2]; i++) {
                char *row = attni_row_at(t, b, h, i);
                for (int64_t j = 0; j < t->shape[3]; j++)
                    memset(row + j * t->stride[3] * (int64_t)size, 0, size);
            }
        }
    }
}

static void clear_shared(const attni_backward_job *job) {
    const attni_backward_plan *plan = job->plan;
    attni_progress *progress = (attni_progress *)(job->workspace + plan->progress);
    for (int64_t i = 0; i < plan->heads * plan->ranges; i++) attni_progress_set(&progress[i], 0);
    memset(job->workspace + plan->sink_sums, 0, plan->scale_sums - plan->sink_sums);
    memset(job->workspace + plan->scale_sums, 0, plan->dq_sums - plan->scale_sums);
    if (plan->want_dbias) clear_dbias(&job->gradients->dbias);
}

/* A dense array of reals in the shape of q. */
static attn_tensor like_queries(const attn_args *a, const void *data) {
    const int64_t *shape = a->q.shape;
    return attn_tensor_bhsd(data, a->q.dtype == ATTN_F64 ? ATTN_F64 : ATTN_F32, shape[0], shape[1],
                            shape[2], shape[3]);
}

/* In the order of sequences and heads. */
static void add_up(const attni_backward_job *job) {
    const attni_backward_plan *plan = job->plan;
    const attn_args *a = plan->forward.args;
    const attn_gradients *g = job->gradients;
    const int64_t H = a->q.shape[1];
    const double *sinks = (const double *)(job->workspace + plan->sink_sums),
                 *scales = (const double *)(job->workspace + plan->scale_sums);
    for (int64_t h = 0; g->dsinks && h < H; h++) {
        g->dsinks[h] = 0;
        for (int64_t b = 0; b < attni_sequence_count(a); b++) g->dsinks[h] += sinks[b * H + h];
        g->dsinks[h] = attni_one_nan(g->dsinks[h]);
    }
    if (!g->dscale) return;
    *g->dscale = 0;
    for (int64_t head = 0; head < plan->heads; head++) *g->dscale += scales[head];
    *g->dscale = attni_one_nan(*g->dscale);
}

attn_status attn_backward(attn_ctx *ctx, const attn_args *args, const attn_results *results,
                          const attn_gradients *gradients, attn_error *err) {
    attn_args full;
    attn_results from;
    attn_gradients to;
    attni_backward_plan plan;
    ATTN_TRY(check_ctx(ctx, err));
    ATTN_TRY(attni_args_check(args, &full, err));
    ATTN_TRY(attni_results_check(&full, results, true, &from, err));
    ATTN_TRY(attni_gradients_check(&full, &from, gradients, false, &to, err));
    ATTN_TRY(attni_backward_plan_make(ctx, &full, &to, &plan, err));
    ATTN_TRY(attni_plan_check_built(&plan.forward, err));
    attni_backward_job job = {
        .ctx = ctx, .plan = &plan, .results = &from, .gradients = &to, .dq_sums = to.dq};
    ATTN_TRY(choose_workspace(ctx, &job, err));
    job.dq_lost = like_queries(&full, job.workspace + plan.dq_lost);
    if (plan.own_sums) job.dq_sums = like_queries(&full, job.workspace + plan.dq_sums);
    ATTN_TRY(attni_far_rows_find(&job, err));
    clear_shared(&job);
    ATTN_TRY(attni_ctx_run(ctx, plan.workers, plan.n_tasks, attni_backward_task, &job, err));
    add_up(&job);
    return ATTN_OK;
}

attn_status attn_backward_workspace(attn_ctx *ctx, const attn_args *args,
                                    const attn_gradients *gradients, size_t *bytes,
                                    attn_error *err) {
    attn_args full;
    attn_gradients wanted;
    attni_backward_plan plan;
    if (!bytes) return attni_fail(err, ATTN_E_NULL, "bytes: NULL, expected where to put the size");
    ATTN_TRY(check_ctx(ctx, err));
    ATTN_TRY(attni_args_check_shapes(args, &full, err));
    ATTN_TRY(attni_gradients_check_shapes(&full, gradients, &wanted, err));
    ATTN_TRY(attni_backward_plan_make(ctx, &full, &wanted, &plan, err));
    *bytes = plan.workspace;
    return ATTN_OK;
}
