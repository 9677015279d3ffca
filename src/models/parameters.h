/* SPDX-License-Identifier: Apache-2.0 */
/* parameters.h - the configuration of a transformer, and the registry of its parameters (name,
 * shape, position in one block of memory). Weights, gradients and the optimizer's moments share the
 * layout; weight files take their names from it. Not compiled per real type. Tests:
 * tests/models/test_transformer.c */
#ifndef ATTNI_PARAMETERS_H
#define ATTNI_PARAMETERS_H

#include "layers/positions.h"

typedef struct attni_model_config {
    int64_t n_words;           /* vocabulary */
    int64_t length;            /* maximum number of tokens */
    int64_t layers;            /* blocks of attention and MLP, both pre-norm */
    int64_t heads;             /* H */
    int64_t d;                 /* width of the residual stream */
    int64_t d_k;               /* head size of queries, keys and values */
    int64_t d_hidden;          /* width of the MLP */
    int64_t slots;             /* words in an answer: logits are (slots, n_words) */
    bool causal;               /* a decoder; otherwise an encoder */
    double scale;              /* of q.k; ATTN_SCALE_AUTO = 1/sqrt(d_k) */
    double temperature;        /* of the softmax */
    attni_positions positions; /* how positions are encoded */
} attni_model_config;

/* Checks the configuration: all sizes in 1 .. a few thousand, scale finite or AUTO, temperature >
 * 0, valid positions (attni_positions_check()). Errors: VALUE. */
attn_status attni_model_check(const attni_model_config *config, attn_error *err);

/* How a parameter is initialised. */
typedef enum attni_start { ATTNI_ZEROS, ATTNI_ONES, ATTNI_RANDOM } attni_start;

/*    place, name in files, rows, columns (0 = a vector), start. What positions learn is theirs to
 *    say; if they learn nothing, their parameter is empty (count 0). */
#define ATTNI_LAYER_PARAMETERS(X)                                                                  \
    X(NORM_1_GAIN, "norm_1.gain", d, none, ATTNI_ONES)                                             \
    X(NORM_1_BIAS, "norm_1.bias", d, none, ATTNI_ZEROS)                                            \
    X(W_Q, "attention.w_q", d, d_heads, ATTNI_RANDOM)                                              \
    X(B_Q, "attention.b_q", d_heads, none, ATTNI_ZEROS)                                            \
    X(W_K, "attention.w_k", d, d_heads, ATTNI_RANDOM)                                              \
    X(B_K, "attention.b_k", d_heads, none, ATTNI_ZEROS)                                            \
    X(W_V, "attention.w_v", d, d_heads, ATTNI_RANDOM)                                              \
    X(B_V, "attention.b_v", d_heads, none, ATTNI_ZEROS)                                            \
    X(W_O, "attention.w_o", d_heads, d, ATTNI_RANDOM)                                              \
    X(B_O, "attention.b_o", d, none, ATTNI_ZEROS)                                                  \
    X(NORM_2_GAIN, "norm_2.gain", d, none, ATTNI_ONES)                                             \
    X(NORM_2_BIAS, "norm_2.bias", d, none, ATTNI_ZEROS)                                            \
    X(W_UP, "mlp.w_up", d, d_hidden, ATTNI_RANDOM)                                                 \
    X(B_UP, "mlp.b_up", d_hidden, none, ATTNI_ZEROS)                                               \
    X(W_DOWN, "mlp.w_down", d_hidden, d, ATTNI_RANDOM)                                             \
    X(B_DOWN, "mlp.b_down", d, none, ATTNI_ZEROS)

#define ATTNI_OUTER_PARAMETERS(X)                                                                  \
    X(WORDS, "embedding.words", n_words, d, ATTNI_RANDOM)                                          \
    X(POSITIONS, positions.name, positions.rows, positions.columns, positions_start)               \
    X(NORM_GAIN, "norm.gain", d, none, ATTNI_ONES)                                                 \
    X(NORM_BIAS, "norm.bias", d, none, ATTNI_ZEROS)                                                \
    X(W_OUT, "output.w", d, n_logits, ATTNI_RANDOM)                                                \
    X(B_OUT, "output.b", n_logits, none, ATTNI_ZEROS)

/* Indices into the list: ATTNI_P_WORDS ..., then for each layer ATTNI_L_NORM_1_GAIN ... */
enum {
#define X(place, name, rows, columns, start) ATTNI_P_##place,
    ATTNI_OUTER_PARAMETERS(X)
#undef X
        ATTNI_P_LAYERS
};
enum {
#define X(place, name, rows, columns, start) ATTNI_L_##place,
    ATTNI_LAYER_PARAMETERS(X)
#undef X
        ATTNI_L_COUNT
};

typedef struct attni_parameter {
    char name[48]; /* "layers.0.attention.w_q" */
    int rank;      /* 1 or 2 */
    int64_t shape[2];
    size_t offset, count; /* in elements; offsets are multiples of 16 */
    attni_start start;
} attni_parameter;

typedef struct attni_parameters {
    attni_parameter *list; /* (n) */
    int n;
    size_t total; /* elements of the block, including gaps */
    size_t count; /* elements without gaps: "24,738 parameters" */
} attni_parameters;

/* Allocates the list; release it with attni_parameters_free(). Errors: VALUE, MEMORY. */
attn_status attni_parameters_create(const attni_model_config *config, attni_parameters *parameters,
                                    attn_error *err);
void attni_parameters_free(attni_parameters *parameters);

/* The sizes of a model that positions depend on. */
attni_positions_shape attni_model_positions(const attni_model_config *config);

/* The offset in the block of parameter `which` (ATTNI_L_...) of a layer. */
static inline size_t attni_layer_offset(const attni_parameters *parameters, int64_t layer,
                                        int which) {
    return parameters->list[ATTNI_P_LAYERS + layer * ATTNI_L_COUNT + which].offset;
}

#endif
