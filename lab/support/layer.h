/* SPDX-License-Identifier: Apache-2.0 */
/* layer.h - the layer that the figures show: one head of self-attention with projections, in double
 * precision, with random numbers from a seed, run forward and backward by src/layers/mha. Biases
 * are zero. Tests: tests/lab/test_figures.c */
#ifndef LAB_LAYER_H
#define LAB_LAYER_H

#include "attn/attn.h"

#include <stdbool.h>

/* Everything that has a value and a gradient; the first four and the last are random, drawn in this
 * order. */
typedef enum lab_layer_part {
    LAB_LAYER_W_Q, /* (d_model, d_k) */
    LAB_LAYER_W_K, /* (d_model, d_k) */
    LAB_LAYER_W_V, /* (d_model, d_v) */
    LAB_LAYER_W_O, /* (d_v, d_model) */
    LAB_LAYER_B_Q, /* (d_k) */
    LAB_LAYER_B_K, /* (d_k) shifts all scores of a row alike: its gradient is 0 */
    LAB_LAYER_B_V, /* (d_v) */
    LAB_LAYER_B_O, /* (d_model) */
    LAB_LAYER_X,   /* (B, n, d_model) */
    LAB_LAYER_PARTS
} lab_layer_part;

typedef struct lab_layer {
    /* set before lab_layer_create() */
    int64_t B, n, d_model, d_k; /* d_v = d_k */
    /* may change between runs */
    bool causal;
    double scale; /* 0: 1/sqrt(d_k) */
    /* made by lab_layer_create() */
    int64_t size[LAB_LAYER_PARTS];     /* number of elements of each part */
    double *value[LAB_LAYER_PARTS];    /* see lab_layer_part */
    double *gradient[LAB_LAYER_PARTS]; /* the same shapes; set by lab_layer_backward() */
    double *y;                         /* (B, n, d_model) */
    double *dy;             /* (B, n, d_model) upstream gradient; 1 unless changed: L = sum Y */
    double *saved, *dsaved; /* activations between forward and backward, and their gradients */
    double *memory;         /* all of the above */
} lab_layer;

/* Sets everything to 0 and dy to 1. Errors: VALUE, SHAPE, MEMORY. Call lab_layer_free() even after
 * a failure. */
attn_status lab_layer_create(lab_layer *layer, attn_error *err);
void lab_layer_free(lab_layer *layer);

/* W_Q, W_K, W_V, W_O ~ N(0, 2 / (fan_in + fan_out)), then X ~ N(0, 1), from one stream. */
void lab_layer_draw(lab_layer *layer, uint32_t seed);
attn_status lab_layer_forward(attn_ctx *ctx, lab_layer *layer, attn_error *err);
/* After forward: computes all gradients of sum(dy * Y). */
attn_status lab_layer_backward(attn_ctx *ctx, lab_layer *layer, attn_error *err);
/* After forward: scores (B, n, n) times the scale, before the mask; weights (B, n, n). Either may
 * be NULL. */
attn_status lab_layer_inspect(attn_ctx *ctx, const lab_layer *layer, double *scores,
                              double *weights, attn_error *err);

/* The L2 norm of a gradient. */
double lab_layer_norm(const lab_layer *layer, lab_layer_part part);
/* norm (n): the norm of the gradient of x at each position, averaged over the batch. */
void lab_layer_position_norms(const lab_layer *layer, double *norm);
/* norm (n): the same for a random loss on the last position only, mean over `draws` layers with
 * seeds from `seed` on. Changes dy. */
attn_status lab_layer_last_norms(attn_ctx *ctx, lab_layer *layer, uint32_t draws, uint32_t seed,
                                 double *norm, attn_error *err);

#endif
