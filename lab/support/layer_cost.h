/* SPDX-License-Identifier: Apache-2.0 */
/* layer_cost.h - operations of an attention layer: projections, the two products and softmax. Called
 * by: F6, claims, `attn cost --d-model`. Tests: tests/lab/test_figures.c, tests/cli/test_cost.py */
#ifndef LAB_LAYER_COST_H
#define LAB_LAYER_COST_H

#include "attn/attn.h"

enum { LAB_SOFTMAX_OPS = 5 }; /* per weight: maximum, subtraction, exp, sum, division */

typedef struct lab_layer_cost {
    double projections; /* FLOP of X W_Q, X W_K, X W_V and the output times W_O */
    double products;    /* FLOP of Q K^T and A V, as attn_cost() counts them */
    double softmax;     /* LAB_SOFTMAX_OPS for each visible pair */
    double core;        /* products and softmax */
    double total;       /* core and projections */
} lab_layer_cost;

/* The shapes of q, k and v and the mask are read from args; their data may be NULL. d_model is the
 * width of the layer's input and output. Errors: those of attn_cost(). */
attn_status lab_layer_count(attn_ctx *ctx, const attn_args *args, int64_t d_model,
                            lab_layer_cost *cost, attn_error *err);

/* The sequence length n at which core and projections cost the same in dense self-attention of the
 * heads and head sizes of args. */
double lab_layer_crossover(const attn_args *args, int64_t d_model);

#endif
