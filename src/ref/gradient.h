/* SPDX-License-Identifier: Apache-2.0 */
/* gradient.h - the gradients of attention by their definition: one row at a time, one pair at a
 * time, in double precision. Nothing is taken from a forward pass; the row is recomputed. Touches:
 * only its arguments, which are already validated, with the defaults of attn_args filled in (scale
 * is a number). Tests: tests/golden/test_golden_gradients.c, tests/engine/test_gradient_oracle.c */
#ifndef ATTNI_GRADIENT_H
#define ATTNI_GRADIENT_H

#include "ref/reference.h"

/* The row to differentiate, and the gradient of the loss with respect to its output. */
typedef struct attni_ref_row_at {
    const attn_args *a;
    int64_t batch, h, i;      /* sequence, query head, row counted inside the sequence */
    const double *dout;       /* (d_v) d loss / d out */
    const double *multiplier; /* (len_k) replaces the dropout of the arguments, or NULL */
} attni_ref_row_at;

/* The quantities of each pair of the row, (len_k) each. A pair whose biased score is -inf is
 * masked: its other entries are 0 (qk too, because nothing of it is read) and it takes no part. */
typedef struct attni_ref_flow {
    double *qk, *biased, *weights, *kept; /* forward; kept: weight after dropout */
    double *dweights, *dbiased, *draw;    /* backward: d loss / d each stage */
    double sink, dsink;                   /* weight and gradient of the sink logit */
} attni_ref_flow;

/* The number of arrays in attni_ref_flow, and a flow stored in (that number * len_k) doubles. */
enum { ATTNI_REF_FLOW_ARRAYS = 7 };
attni_ref_flow attni_ref_flow_in(double *memory, int64_t len_k);

/* Fills the flow of a row. If the largest score is +inf, every visible pair becomes NaN: equal
 * shares of infinite scores have no derivative. */
void attni_ref_row_backward(const attni_ref_row_at *r, attni_ref_flow *flow);

/* Where the gradients of all rows are summed; NULL (or data NULL) if not requested. The caller sets
 * everything to 0 before the first row. */
typedef struct attni_ref_sums {
    double *dq;        /* (d_k) of this row alone */
    double *dk, *dv;   /* (len_k, d_k) and (len_k, d_v) of the key/value head of this row */
    attn_tensor dbias; /* the shape of the bias, f64, any strides: shared elements are summed */
    double *dsinks;    /* (H) */
    double *dscale;    /* one number */
} attni_ref_sums;

/* Adds the row's contribution to the gradients of the inputs. */
void attni_ref_row_add(const attni_ref_row_at *r, const attni_ref_flow *flow,
                       const attni_ref_sums *sums);

#endif
