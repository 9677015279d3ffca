/* SPDX-License-Identifier: Apache-2.0 */
/* transformer_case.h - a transformer of odd sizes with a text and answers, for the tests of one
 * real type: include it after ATTNI_REAL_... is defined. */
#ifndef TRANSFORMER_CASE_H
#define TRANSFORMER_CASE_H

#include "check.h"
#include "core/rng.h"
#include "layers/loss.h"
#include "models/transformer.h"

#include <stdlib.h>

enum { CASE_B = 2, CASE_N = 5, CASE_FIRST = 1, CASE_ASKED = 3, CASE_SLOTS = 2, CASE_WORDS = 7 };

typedef struct transformer_case {
    attni_run run;
    attn_ctx *ctx;
    attni_text text;
    int32_t tokens[CASE_B * CASE_N], answers[CASE_B * CASE_ASKED * CASE_SLOTS];
    real *weights, *dweights; /* (total) */
} transformer_case;

static inline attni_positions case_positions(const char *name) {
    attni_positions positions = {.kind = -1}; /* refused, if there is no such kind */
    attni_positions_named(name, &positions, NULL);
    return positions;
}

static inline attni_model_config case_config_with(bool causal, attni_positions positions) {
    return (attni_model_config){.n_words = CASE_WORDS,
                                .length = CASE_N + 1,
                                .layers = 2,
                                .heads = 2,
                                .d = 6,
                                .d_k = 5,
                                .d_hidden = 9,
                                .slots = CASE_SLOTS,
                                .causal = causal,
                                .scale = ATTN_SCALE_AUTO,
                                .temperature = 0.8,
                                .positions = positions};
}

static inline attni_model_config case_config(bool causal) {
    return case_config_with(causal, case_positions("learned"));
}

/* Weights are moved away from ones and zeros, so that no gradient is special. */
static inline bool case_begin(transformer_case *c, const attni_model_config *config) {
    static const int32_t answers[] = {0, 3, 6, -1, 2, 2, 5, 1, -1, -1, 4, 0};
    *c = (transformer_case){.text = {
                                .B = CASE_B,
                                .n = CASE_N,
                                .first_asked = CASE_FIRST,
                                .n_asked = CASE_ASKED,
                            }};
    if (attn_ctx_create(NULL, &c->ctx, NULL) != ATTN_OK ||
        R(run_create)(config, &c->text, &c->run, NULL) != ATTN_OK)
        return false;
    const size_t total = c->run.parameters.total;
    c->weights = calloc(total, sizeof(real));
    c->dweights = calloc(total, sizeof(real));
    R(weights_start)(&c->run.parameters, 11, c->weights);
    for (size_t i = 0; i < total; i++)
        c->weights[i] +=
            (real)(0.2 * (attni_philox4x32(3, (uint32_t)i, 0, 0, 0).word[0] * 0x1p-32 - 0.5));
    for (int i = 0; i < CASE_B * CASE_N; i++) c->tokens[i] = (i * 3 + 1) % CASE_WORDS;
    memcpy(c->answers, answers, sizeof answers);
    c->text.tokens = c->tokens;
    return true;
}

static inline void case_end(transformer_case *c) {
    R(run_free)(&c->run);
    attn_ctx_destroy(c->ctx);
    free(c->weights);
    free(c->dweights);
}

/* Forward and loss; with backward also run.gradient and dweights. NaN on failure. */
static inline double case_loss(transformer_case *c, bool backward) {
    const attni_targets targets = {
        .n = CASE_B * CASE_ASKED * CASE_SLOTS, .vocab = CASE_WORDS, .ids = c->answers};
    double loss = NAN;
    if (R(transformer_forward)(c->ctx, &c->run, c->weights, &c->text, NULL) != ATTN_OK ||
        R(cross_entropy)(c->ctx, &targets, c->run.value.logits, c->run.gradient.logits, &loss,
                         NULL) != ATTN_OK)
        return NAN;
    if (backward && R(transformer_backward)(c->ctx, &c->run, c->weights, &c->text, c->dweights,
                                            NULL) != ATTN_OK)
        return NAN;
    return loss;
}

#endif
