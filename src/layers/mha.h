/* SPDX-License-Identifier: Apache-2.0 */
/* mha.h - the multi-head attention layer, self and cross, grouped-query too:
 *     q = x W_Q + b_Q    k = m W_K + b_K    v = m W_V + b_V      (m = memory, or x itself)
 *     concat = attention(q, k, v), head by head                  y = concat W_O + b_O
 * Heads are strided views of (B, n, H*d) rows: nothing is transposed or copied. Query i stands at
 * key first_query + i: the causal mask and all positions count so.
 * Memory is the caller's.
 * Tests: tests/layers/test_mha.c, tests/golden/test_layers.c */
#ifndef ATTNI_MHA_H
#define ATTNI_MHA_H

#include "layers/position_kind.h"

/* What is fixed for a layer. Start from R(mha_defaults)(). */
typedef struct attni_mha_config {
    int64_t d_model;                      /* columns of x, memory and y */
    int64_t H, H_kv;                      /* H % H_kv == 0 */
    int64_t d_k, d_v;                     /* head sizes */
    bool causal;                          /* a query sees no later key; default false */
    double scale;                         /* default ATTN_SCALE_AUTO = 1/sqrt(d_k) */
    double temperature;                   /* default 1 */
    const attni_position_plan *positions; /* what its kind does to q, k and scores, made for this H
                                             and d_k; NULL (default): none */
} attni_mha_config;

/* H heads of d_model / H columns, H_kv = H, everything else to the defaults. */
attni_mha_config R(mha_defaults)(int64_t d_model, int64_t H);

/* Weights, or gradients of weights: the same struct, so that a model can lay both out alike. */
typedef struct attni_mha_params {
    real *w_q; /* (d_model, H * d_k) */
    real *w_k; /* (d_model, H_kv * d_k) */
    real *w_v; /* (d_model, H_kv * d_v) */
    real *w_o; /* (H * d_v, d_model) */
    /* Biases: NULL = none. */
    real *b_q;       /* (H * d_k) */
    real *b_k;       /* (H_kv * d_k) without rope it shifts all scores of a row alike: gradient 0 */
    real *b_v;       /* (H_kv * d_v) */
    real *b_o;       /* (d_model) */
    real *positions; /* what config.positions learns; NULL: nothing that this layer uses */
} attni_mha_params;

typedef struct attni_mha_input {
    int64_t B, n_q, n_k;  /* self-attention: n_k = n_q */
    int64_t first_query;  /* the key at which query 0 stands; with memory, else 0 */
    const real *x;        /* (B, n_q, d_model) */
    const real *memory;   /* (B, n_k, d_model), or NULL: self-attention */
    const int64_t *len_k; /* (B) keys that are no padding, or NULL: all */
    attn_tensor mask;     /* (B|1, H|1, n_q|1, n_k) ATTN_BOOL, true = may attend; data NULL: all */
    double dropout;       /* of the weights; 0 when not training */
    uint64_t seed;        /* of this layer in this step */
} attni_mha_input;

/* What forward leaves behind: backward reads it, and so may everybody else. */
typedef struct attni_mha_saved {
    double *lse;       /* (B, H, n_q) log-sum-exp of each row of scores */
    real *q;           /* (B, n_q, H, d_k) after positions have turned it */
    real *k;           /* (B, n_k, H_kv, d_k) likewise */
    real *v;           /* (B, n_k, H_kv, d_v) */
    real *concat;      /* (B, n_q, H, d_v) what the heads found, before W_O */
    real *by_distance; /* (H, n_q + n_k - 1) bias of positions, see relative.h; or NULL */
} attni_mha_saved;

/* Reals that the saved activations of a call with these sizes need (B, n_q, n_k of input). Errors:
 * VALUE and SHAPE (config or sizes make no sense), OVERFLOW. */
attn_status R(mha_saved_size)(const attni_mha_config *config, const attni_mha_input *input,
                              size_t *reals, attn_error *err);
/* Where each of them lies in `memory` (that many reals, 8-byte aligned). */
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

/* The attention problem inside the layer, after forward: hand it to attn_inspect() for scores,
 * weights, entropy. Views of layer->saved; nothing is computed. */
attn_args R(mha_args)(const attni_mha *layer);

/* Where gradients go. Those of activations are set, those of params are added to; NULL = not
 * wanted (also any pointer inside params). */
typedef struct attni_mha_gradients {
    real *dx;                /* (B, n_q, d_model); self-attention: through q, k and v */
    real *dmemory;           /* (B, n_k, d_model); only with input->memory */
    attni_mha_params params; /* gradients of the weights */
    attni_mha_saved d;       /* set: gradients of the saved activations (lse unused); q and k before
                                they turn. All needed, by R(mha_saved_place)() on memory of its own */
} attni_mha_gradients;

/* From dy (B, n_q, d_model) and what forward saved. */
attn_status R(mha_backward)(attn_ctx *ctx, const attni_mha *layer, const real *dy,
                            const attni_mha_gradients *gradients, attn_error *err);

#endif
