/* SPDX-License-Identifier: Apache-2.0 */
/* tasks.h - one task: a block of query panels of one key/value head against all key tiles it
 * sees. */
#ifndef ATTNI_TASKS_H
#define ATTNI_TASKS_H

#include "attention/plan.h"
#include "attention/visible.h"

typedef struct attni_forward_job {
    const attni_plan *plan;
    const attn_tensor *out, *lse; /* lse may be NULL */
    const attn_tensor *stats;     /* (B, H, n_q, 2) f64: maximum and sum of every row; or NULL */
    char *workspace;
} attni_forward_job;

/* Size in bytes of a panel without its arrays, a multiple of 64. */
size_t attni_panel_size(void);
/* Runs all tasks of a job. */
attn_status attni_forward_run(attn_ctx *ctx, attni_forward_job *job, attn_error *err);

#endif
