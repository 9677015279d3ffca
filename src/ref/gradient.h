/* SPDX-License-Identifier: Apache-2.0 */
/* gradient.h - the gradients of attention by their definition: one row at a time, one pair at a
 * time, in double. Nothing is taken from a forward pass; the row is computed anew. Touches: only
 * its arguments, which are already validated, with the defaults of attn_args filled in (scale is a
 * number).
 * Tests: tests/golden/test_golden_gradients.c, tests/engine/test_gradient_oracle.c */
#ifndef ATTNI_GRADIENT_H
#define ATTNI_GRADIENT_H

#include "ref/reference.h"

/* The row that is gone through backwards, and what the loss says about its output. */
typedef struct attni_ref_row_at {
    const attn_args *a;
    int64_t batch, h, i;      /* sequence, query head, row counted inside the sequence */
    const double *dout;       /* (d_v) d loss / d out */
    const double *multiplier; /* (len_k) replaces the dropout of the arguments, or NULL */
} attni_ref_row_at;

/* What is known about each pair of the row, (len_k) each. A pair whose biased score is -inf is
 * masked: its other entries are 0 (qk too, for nothing of it is read) and it takes no part. */
typedef struct attni_ref_flow {
    double *qk, *biased, *weights, *kept; /* on the way out; kept: weight after dropout */
    double *dweights, *dbiased, *draw;    /* on the way back: d loss / d each stage */
    double sink, dsink;                   /* weight and gradient of the sink logit */
} attni_ref_flow;

/* Number of arrays in attni_ref_flow, and the flow that lives in (that number * len_k) doubles. */
enum { ATTNI_REF_FLOW_ARRAYS = 7 };
attni_ref_flow attni_ref_flow_in(double *memory, int64_t len_k);

/* Fills the flow of a row. If its largest score is +inf, every visible pair becomes NaN: equal
 * shares of infinitely large scores have no derivative. */
void attni_ref_row_backward(const attni_ref_row_at *r, attni_ref_flow *flow);

/* Where the rows' gradients are summed up; NULL (or data NULL) where not wanted. The caller sets
 * all of it to 0 before the first row. */
typedef struct attni_ref_sums {
    double *dq;        /* (d_k) of this row alone */
    double *dk, *dv;   /* (len_k, d_k) and (len_k, d_v) of the key/value head of this row */
    attn_tensor dbias; /* the shape of the bias, f64, any strides: shared elements are summed */
    double *dsinks;    /* (H) */
    double *dscale;    /* one number */
} attni_ref_sums;

/* Adds what the row says about the inputs. */
void attni_ref_row_add(const attni_ref_row_at *r, const attni_ref_flow *flow,
                       const attni_ref_sums *sums);

#endif
