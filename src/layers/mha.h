/* SPDX-License-Identifier: Apache-2.0 */
/* mha.h - the multi-head attention layer for self- and cross-attention, also with grouped queries:
 *     q = x W_Q + b_Q    k = m W_K + b_K    v = m W_V + b_V      (m = memory, or x itself)
 *     concat = attention(q, k, v), head by head                  y = concat W_O + b_O
 * Heads are strided views of (B, n, H*d) rows: nothing is transposed or copied. Query i is aligned
 * with key first_query + i, for the causal mask and for all positions. The caller owns all memory.
 * Tests: tests/layers/test_mha.c, tests/golden/test_layers.c */
#ifndef ATTNI_MHA_H
#define ATTNI_MHA_H

#include "layers/position_kind.h"

/* The configuration of a layer. Start from R(mha_defaults)(). */
typedef struct attni_mha_config {
    int64_t d_model;                      /* columns of x, memory and y */
    int64_t H, H_kv;                      /* H % H_kv == 0 */
    int64_t d_k, d_v;                     /* head sizes */
    bool causal;                          /* a query sees no later key; default false */
    double scale;                         /* default ATTN_SCALE_AUTO = 1/sqrt(d_k) */
    double temperature;                   /* default 1 */
    const attni_position_plan *positions; /* what its kind does to q, k and scores, prepared for
                                             this H and d_k; NULL (default): none */
} attni_mha_config;

/* H heads of d_model / H columns, H_kv = H, defaults for everything else. */
attni_mha_config R(mha_defaults)(int64_t d_model, int64_t H);

/* Weights, or gradients of weights: the same struct, so that a model can lay out both in the same
 * way. */
typedef struct attni_mha_params {
    real *w_q; /* (d_model, H * d_k) */
    real *w_k; /* (d_model, H_kv * d_k) */
    real *w_v; /* (d_model, H_kv * d_v) */
    real *w_o; /* (H * d_v, d_model) */
    /* Biases: NULL = none. */
    real *b_q;       /* (H * d_k) */
    real *b_k;       /* (H_kv * d_k) shifts all scores of a row alike without rope: gradient 0 */
    real *b_v;       /* (H_kv * d_v) */
    real *b_o;       /* (d_model) */
    real *positions; /* what config.positions learns; NULL: nothing that this layer uses */
} attni_mha_params;

typedef struct attni_mha_input {
    int64_t B, n_q, n_k; /* self-attention: n_k = n_q */
    int64_t first_query; /* the key that query 0 is aligned with, if there is memory; otherwise 0 */
    const real *x;       /* (B, n_q, d_model) */
    const real *memory;  /* (B, n_k, d_model), or NULL: self-attention */
    const int64_t *len_k; /* (B) keys that are not padding, or NULL: all */
    attn_tensor mask;     /* (B|1, H|1, n_q|1, n_k) ATTN_BOOL, true = may attend; data NULL: all */
    double dropout;       /* dropout of the weights; 0 when not training */
    uint64_t seed;        /* of this layer in this step */
} attni_mha_input;

/* The activations that forward saves. backward reads them, and so may everybody else. */
typedef struct attni_mha_saved {
    double *lse;       /* (B, H, n_q) log-sum-exp of each row of scores */
    real *q;           /* (B, n_q, H, d_k) after rotation by the positions */
    real *k;           /* (B, n_k, H_kv, d_k) likewise */
    real *v;           /* (B, n_k, H_kv, d_v) */
    real *concat;      /* (B, n_q, H, d_v) outputs of the heads, before W_O */
    real *by_distance; /* (H, n_q + n_k - 1) bias of positions, see relative.h; or NULL */
} attni_mha_saved;

/* The number of reals that the saved activations of a call with these sizes need (B, n_q, n_k of
 * input). Errors: VALUE and SHAPE (invalid config or sizes), OVERFLOW. */
attn_status R(mha_saved_size)(const attni_mha_config *config, const attni_mha_input *input,
                              size_t *reals, attn_error *err);
/* The position of each of them in `memory` (that many reals, 8-byte aligned): multiples of 64 bytes
 * from its beginning. */
attni_mha_saved R(mha_saved_place)(const attni_mha_config *config, const attni_mha_input *input,
                                   real *memory);

/* One call of one layer. */
typedef struct attni_mha {
    const attni_mha_config *config;
    const attni_mha_params *params;
    const attni_mha_input *input;
    const attni_mha_saved *saved;
} attni_mha;

/* y (B, n_q, d_model); fills layer->saved. */
attn_status R(mha_forward)(attn_ctx *ctx, const attni_mha *layer, real *y, attn_error *err);

/* The attention problem inside the layer, after forward: pass it to attn_inspect() for scores,
 * weights and entropy. It consists of views of layer->saved; nothing is computed. */
attn_args R(mha_args)(const attni_mha *layer);

/* Where gradients go. Those of activations are set, those of params are added to; NULL: not
 * requested (also for any pointer inside params). */
typedef struct attni_mha_gradients {
    real *dx;                /* (B, n_q, d_model); self-attention: through q, k and v */
    real *dmemory;           /* (B, n_k, d_model); only with input->memory */
    attni_mha_params params; /* gradients of the weights */
    attni_mha_saved d;       /* set: gradients of the saved activations (lse unused); q and k before
                                rotation. All are needed; place them by R(mha_saved_place)() */
} attni_mha_gradients;

/* Computes gradients from dy (B, n_q, d_model) and what forward saved. */
attn_status R(mha_backward)(attn_ctx *ctx, const attni_mha *layer, const real *dy,
                            const attni_mha_gradients *gradients, attn_error *err);

#endif
