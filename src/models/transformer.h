/* SPDX-License-Identifier: Apache-2.0 */
/* transformer.h - a small pre-norm transformer, encoder or decoder, forward and backward:
 *     x = words[token], + positions;  for each layer: x += attention(norm x), x += mlp(norm x)
 *     logits = norm(x) W_out + b_out, only at the tokens that are asked
 * Everything on the way stays readable in a run: values, and after backward their gradients.
 * Runs on one thread's context; a batch is split by the trainer. Written for `real`.
 * Tests: tests/models/test_transformer.c */
#ifndef ATTNI_TRANSFORMER_H
#define ATTNI_TRANSFORMER_H

#include "layers/mha.h"
#include "models/parameters.h"

/* The input: B texts of n tokens each. Borrowed for the call. */
typedef struct attni_text {
    int64_t B, n;
    const int32_t *tokens;        /* (B, n) */
    int64_t first_asked, n_asked; /* in every text: tokens first_asked .. + n_asked - 1 */
    const uint8_t *visible; /* (B, n, n) or NULL: 0 masks the key for the query in every layer */
} attni_text;

/* The intermediates of one layer, or their gradients. R = B * n rows. In the last layer only the
 * asked rows are computed after attention: Q = B * n_asked; in all others Q = R. */
typedef struct attni_layer_taps {
    real *residual;            /* (R, d) input of the layer */
    real *normed_1;            /* (R, d) input of attention */
    real *asking;              /* (Q, d) its asked rows; in the last layer only */
    attni_mha_saved attention; /* q, k, v, concat (and lse, in values only) */
    real *attended;            /* (Q, d) what attention adds (values only) */
    real *middle;              /* (Q, d) residual + attended */
    real *normed_2;            /* (Q, d) input of the MLP */
    real *up, *hidden;         /* (Q, d_hidden) before and after the activation */
    real *fed;                 /* (Q, d) what the MLP adds (values only) */
    real *mean_1, *inverse_1;  /* (R) of the norms (values only) */
    real *mean_2, *inverse_2;  /* (Q) */
} attni_layer_taps;

typedef struct attni_taps {
    attni_layer_taps *layer; /* (layers) */
    real *residual, *normed; /* (Q, d) output of the last layer, and after the norm */
    real *mean, *inverse;    /* (Q) */
    real *logits;            /* (Q, slots, n_words) */
} attni_taps;

/* The memory of one forward and backward pass. */
typedef struct attni_run {
    attni_model_config config;
    attni_parameters parameters;
    int64_t B, n, n_asked; /* the largest text */
    attni_taps value, gradient;
    attni_position_plan positions;
    real *memory;
} attni_run;

/* Allocates memory for texts of up to B times n tokens, n_asked of each asked. n <= config->length.
 * Errors: VALUE, OVERFLOW, MEMORY; *run is then empty. */
attn_status R(run_create)(const attni_model_config *config, const attni_text *largest,
                          attni_run *run, attn_error *err);
void R(run_free)(attni_run *run);

/* Uniform numbers with standard deviation 1/sqrt(rows) for matrices and 0.5 for the embeddings;
 * gains 1, biases 0. weights (parameters->total), with gaps set to 0. A pure function of the
 * seed. */
void R(weights_start)(const attni_parameters *parameters, uint64_t seed, real *weights);

/* Fills run->value. weights (parameters.total). Errors: VALUE (an invalid token, or a text that
 * does not fit the run), MEMORY. */
attn_status R(transformer_forward)(attn_ctx *ctx, attni_run *run, const real *weights,
                                   const attni_text *text, attn_error *err);

/* Starts from run->gradient.logits, set by the caller, and what forward left for the same weights
 * and text. Sets run->gradient and adds to dweights (parameters.total). */
attn_status R(transformer_backward)(attn_ctx *ctx, attni_run *run, const real *weights,
                                    const attni_text *text, real *dweights, attn_error *err);

/* The attention problem of one layer after forward, with the asked tokens as queries, for
 * attn_inspect(). It consists of views of the run and of text->visible. */
attn_args R(transformer_attention)(const attni_run *run, const attni_text *text, int64_t layer);

#endif
