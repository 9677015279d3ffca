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
    attn_tensor dq_sums; /* where blocks leave dq between ranges: dq itself, or scratch */
    attn_tensor dq_lost; /* and what its sums have lost */
    char *workspace;
} attni_backward_job;

/* Bytes of a panel in work without its arrays, a multiple of 64. */
size_t attni_backward_panel_size(void);
/* An attni_task; arg is an attni_backward_job. */
void attni_backward_task(void *arg, int64_t task, int worker);

#endif
