/* SPDX-License-Identifier: Apache-2.0 */
/* far_rows.h - rows whose log-sum-exp is far from zero. Rounded to one number it has lost digits
 * that the weights exp(score - lse) need: 1e9 in f32 is off by up to 32. Backward computes their
 * maxima and sums again, which together are exact. Rare: a row has to be masked by large finite
 * biases, or its scores are huge. Writes only to the job's workspace.
 * Tests: tests/engine/test_gradient_edge_sweep.c, tests/engine/test_gradient_edges.c */
#ifndef ATTNI_FAR_ROWS_H
#define ATTNI_FAR_ROWS_H

#include "attention/backward_tasks.h"

/* An f32 log-sum-exp of this size moves the weights by up to 6e-5 of themselves. */
#define ATTNI_FAR_LSE 1024

/* The page's engine, which counts its bytes, takes every row as near. */
static inline bool attni_is_far(double lse) {
    return ATTNI_JOIN_GROUPS && fabs(lse) > ATTNI_FAR_LSE && fabs(lse) < HUGE_VAL;
}

/* Fills job->stats if some row is far. Fails when the call is aborted. */
attn_status attni_far_rows_find(attni_backward_job *job, attn_error *err);

#endif
