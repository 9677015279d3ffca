/* SPDX-License-Identifier: Apache-2.0 */
/* far_rows.c - see far_rows.h. */
#include "attention/far_rows.h"

#include "attention/tasks.h"

static bool any_is_far(const attn_tensor *lse) {
    if (!ATTNI_JOIN_GROUPS) return false;
    for (int64_t b = 0; b < lse->shape[0]; b++) {
        for (int64_t h = 0; h < lse->shape[1]; h++) {
            for (int64_t i = 0; i < lse->shape[2]; i++)
                if (attni_is_far(attni_element(lse, b, h, i, 0))) return true;
        }
    }
    return false;
}

attn_status attni_far_rows_find(attni_backward_job *job, attn_error *err) {
    const attni_backward_plan *plan = job->plan;
    const int64_t *n = job->results->lse.shape;
    if (!any_is_far(&job->results->lse)) return ATTN_OK;
    job->stats = attn_tensor_bhsd(job->workspace + plan->row_stats, ATTN_F64, n[0], n[1], n[2], 2);
    const attn_tensor no_columns = attn_tensor_bhsd(job->stats.data, ATTN_F64, n[0], n[1], n[2], 0);
    attni_forward_job forward = {.plan = &plan->stats,
                                 .out = &no_columns,
                                 .stats = &job->stats,
                                 .workspace = job->workspace + plan->shared_bytes};
    return attni_forward_run(job->ctx, &forward, err);
}
