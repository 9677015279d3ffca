/* SPDX-License-Identifier: Apache-2.0 */
/* random_look.h - a look at layers of attention with random weights, which read any words: x is the
 * embedding of a word, then x += attention(x) in each layer. The numbers are those of `attn trace`:
 * the seed gives the first layer of a sentence, seed + l gives layer l. They show the arithmetic,
 * not meaning. Tests: tests/lab/test_random_look.c */
#ifndef LAB_RANDOM_LOOK_H
#define LAB_RANDOM_LOOK_H

#include "models/look.h"
#include "steps/sentence.h"

enum { LAB_RANDOM_LAYERS = 12, LAB_RANDOM_MATRICES = 4 };

typedef struct lab_random_layers {
    int64_t layers; /* 1 .. LAB_RANDOM_LAYERS */
    lab_random how; /* d_k 0 */
} lab_random_layers;

/* Gives a look without answers; the parameters are W_Q, W_K, W_V and W_O of each layer. The loss is
 * -|x|^2 / 2 of the output of the last layer at gradient_at. in->n is the number of words,
 * in->tokens is not read. Errors: VALUE, MEMORY; *look is then empty. */
attn_status lab_random_look(attn_ctx *ctx, const lab_words *words, const lab_random_layers *layers,
                            const attni_look_input *in, attni_look *look, attn_error *err);

/* "w_q", "w_k", "w_v", "w_o": the parameters of each layer in by_parameter. */
extern const char *const lab_random_matrix_name[LAB_RANDOM_MATRICES];

#endif
