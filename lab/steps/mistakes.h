/* SPDX-License-Identifier: Apache-2.0 */
/* mistakes.h - two common mistakes that document 001 warns of, computed on a head of a problem, so
 * that their results stand beside the right ones. Called by: `attn trace --mistake`.
 * Tests: tests/lab/test_mistakes.c, tests/cli/test_trace.py */
#ifndef LAB_MISTAKES_H
#define LAB_MISTAKES_H

#include "steps/steps.h"

typedef enum lab_mistake {
    LAB_MISTAKE_AXIS,     /* softmax over the queries (axis 0) instead of the keys */
    LAB_MISTAKE_IN_PLACE, /* -inf written into the scores, which are then used without the mask */
    LAB_MISTAKES
} lab_mistake;

/* "axis" or "inplace"; the mistake of that name, or LAB_MISTAKES. */
const char *lab_mistake_name(lab_mistake mistake);
lab_mistake lab_mistake_named(const char *name);

typedef struct lab_mistaken {
    double *right;               /* (n_q, n_k) weights as they should be */
    double *wrong;               /* (n_q, n_k) weights by the mistake; NaN where 0/0 */
    double *right_out;           /* (n_q, d_v) outputs from both */
    double *wrong_out;           /* (n_q, d_v) */
    double right_sum, wrong_sum; /* row sum that is farthest from 1; NaN if one is NaN */
    double largest;              /* difference between two weights; NaN if one is NaN */
    double *memory;              /* owns the arrays */
} lab_mistaken;

/* Head `head` of a problem that lab_steps_compute() accepted. LAB_MISTAKE_AXIS: right are its own
 * weights. LAB_MISTAKE_IN_PLACE: right are the weights without any mask; wrong are those computed
 * from scores into which an earlier causal pass wrote -inf. Errors: MEMORY. */
attn_status lab_mistake_compute(const lab_steps *steps, lab_mistake mistake, int64_t head,
                                lab_mistaken *result, attn_error *err);
void lab_mistake_free(lab_mistaken *result);

#endif
