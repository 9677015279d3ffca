/* SPDX-License-Identifier: Apache-2.0 */
/* forward.c - the public forward pass: checks the arguments, plans, and runs the tasks on the pool.
 * Tests: tests/engine/test_kernels.c and most others. */
#include "attention/tasks.h"

/* A function that computes reads the data; one that counts needs shapes only. */
typedef attn_status check_function(const attn_args *args, attn_args *full, attn_error *err);

static attn_status prepare(attn_ctx *ctx, const attn_args *args, check_function *check,
                           attn_args *full, attni_plan *plan, attn_error *err) {
    if (!ctx)
        return attni_fail(err, ATTN_E_NULL, "ctx: NULL, expected a context from attn_ctx_create()");
    ATTN_TRY(check(args, full, err));
    return attni_plan_make(ctx, full, plan, err);
}

static attn_status choose_workspace(attn_ctx *ctx, attni_forward_job *job, attn_error *err) {
    const attni_plan *plan = job->plan;
    const attn_args *a = plan->args;
    const attn_tensor *const results[] = {job->out, job->lse};
    ATTN_TRY(attni_ctx_workspace(ctx, a, plan->workspace, &job->workspace, err));
    ATTN_TRY(attni_check_saved(a, plan->saved.bytes, err));
    return attni_check_spaces(a, results, 2, err);
}

attn_status attn_forward(attn_ctx *ctx, const attn_args *args, const attn_tensor *out,
                         const attn_tensor *lse, attn_error *err) {
    attn_args full;
    attni_plan plan;
    ATTN_TRY(prepare(ctx, args, attni_args_check, &full, &plan, err));
    ATTN_TRY(attni_plan_check_built(&plan, err));
    ATTN_TRY(attni_output_check(&full, out, lse, false, err));
    attni_forward_job job = {.plan = &plan, .out = out, .lse = lse && lse->data ? lse : NULL};
    ATTN_TRY(choose_workspace(ctx, &job, err));
    return attni_forward_run(ctx, &job, err);
}

attn_status attn_saved_size(attn_ctx *ctx, const attn_args *args, size_t *bytes, attn_error *err) {
    attn_args full;
    attni_plan plan;
    if (!bytes) return attni_fail(err, ATTN_E_NULL, "bytes: NULL, expected where to put the size");
    ATTN_TRY(prepare(ctx, args, attni_args_check_shapes, &full, &plan, err));
    *bytes = attni_plan_saved(&plan).bytes;
    return ATTN_OK;
}

attn_status attn_forward_workspace(attn_ctx *ctx, const attn_args *args, size_t *bytes,
                                   attn_error *err) {
    attn_args full;
    attni_plan plan;
    if (!bytes) return attni_fail(err, ATTN_E_NULL, "bytes: NULL, expected where to put the size");
    ATTN_TRY(prepare(ctx, args, attni_args_check_shapes, &full, &plan, err));
    *bytes = plan.workspace;
    return ATTN_OK;
}
