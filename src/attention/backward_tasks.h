/* SPDX-License-Identifier: Apache-2.0 */
/* backward_tasks.h - one task of the backward pass: all blocks of queries of a strand against one
 * range of keys. */
#ifndef ATTNI_BACKWARD_TASKS_H
#define ATTNI_BACKWARD_TASKS_H

#include "attention/backward_plan.h"

typedef struct attni_backward_job {
    attn_ctx *ctx;
    const attni_backward_plan *plan;
    const attn_results *results;
    const attn_gradients *gradients;
    attn_tensor dq_sums; /* where blocks keep dq between ranges: dq itself, or scratch */
    attn_tensor dq_lost; /* the rounding errors of these sums */
    attn_tensor stats;   /* (B, H, n_q, 2) f64, if some row is far; else absent */
    char *workspace;
} attni_backward_job;

/* Size in bytes of a panel without its arrays, a multiple of 64. */
size_t attni_backward_panel_size(void);
/* An attni_task; arg is an attni_backward_job. */
void attni_backward_task(void *arg, int64_t task, int worker);

#endif
