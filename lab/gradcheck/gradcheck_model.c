/* SPDX-License-Identifier: Apache-2.0 */
/* gradcheck_model.c - checks a whole transformer: differentiates the loss of some answers with
 * respect to every parameter. The rows are in gradcheck_layers.c. Tests:
 * tests/cli/test_cli_gradients.py */
#define ATTNI_REAL_f64
#include "gradcheck/gradcheck.h"
#include "layers/loss.h"
#include "models/transformer.h"

enum { TEXTS = 2, LENGTH = 4, ASKED = 2, SLOTS = 2, WORDS = 7 };

static const int32_t tokens[TEXTS * LENGTH] = {1, 4, 0, 3, 6, 2, 5, 1};
static const int32_t answers[TEXTS * ASKED * SLOTS] = {0, 3, 6, -1, 2, 2, 1, 5}; /* -1: none */

typedef struct model_case {
    attn_ctx *ctx;
    attni_run run;
    attni_text text;
    double *weights, *dweights; /* (parameters.total) */
    double loss;
} model_case;

/* The loss; its gradient with respect to the logits goes to run.gradient.logits. */
static attn_status model_forward(void *arg, attn_error *err) {
    model_case *c = arg;
    const attni_targets targets = {.n = TEXTS * ASKED * SLOTS, .vocab = WORDS, .ids = answers};
    ATTN_TRY(R(transformer_forward)(c->ctx, &c->run, c->weights, &c->text, err));
    return R(cross_entropy)(c->ctx, &targets, c->run.value.logits, c->run.gradient.logits, &c->loss,
                            err);
}

/* Random weights, not those that training starts from: biases of 0 and gains of 1 are special
 * cases. */
static attn_status set_weights(model_case *c, grad_session *s, grad_problem *p, attn_error *err) {
    const attni_parameters *parameters = &c->run.parameters;
    c->weights = grad_random(s, parameters->total);
    c->dweights = grad_blank(s, parameters->total);
    ATTN_TRY(grad_ready(s, err));
    for (size_t i = 0; i < parameters->total; i++) c->dweights[i] = 0;
    for (int i = 0; i < parameters->n; i++) {
        const attni_parameter *one = &parameters->list[i];
        grad_add(p, one->name, c->weights + one->offset, c->dweights + one->offset, one->count);
    }
    return ATTN_OK;
}

static attn_status check_model(grad_session *s, bool causal, const char *positions,
                               grad_tally *tally, attn_error *err) {
    attni_model_config config = {.n_words = WORDS,
                                 .length = LENGTH + 1,
                                 .layers = 2,
                                 .heads = 2,
                                 .d = 6,
                                 .d_k = 3,
                                 .d_hidden = 8,
                                 .slots = SLOTS,
                                 .causal = causal,
                                 .scale = ATTN_SCALE_AUTO,
                                 .temperature = 0.8};
    const double one = 1;
    model_case c = {
        .ctx = s->ctx,
        .text = {.B = TEXTS, .n = LENGTH, .tokens = tokens, .first_asked = 1, .n_asked = ASKED}};
    grad_problem p = {
        .forward = model_forward, .arg = &c, .out = &c.loss, .dout = &one, .n_out = 1};
    ATTN_TRY(attni_positions_named(positions, &config.positions, err));
    ATTN_TRY(R(run_create)(&config, &c.text, &c.run, err));
    attn_status status = set_weights(&c, s, &p, err);
    if (status == ATTN_OK) status = model_forward(&c, err);
    if (status == ATTN_OK)
        status = R(transformer_backward)(s->ctx, &c.run, c.weights, &c.text, c.dweights, err);
    if (status == ATTN_OK) status = grad_compare(&p, tally, err);
    R(run_free)(&c.run);
    return status;
}

attn_status grad_check_transformer(grad_session *s, const void *setting, grad_tally *tally,
                                   attn_error *err) {
    const bool *causal = setting;
    return check_model(s, *causal, "learned", tally, err);
}

attn_status grad_check_positions(grad_session *s, const void *setting, grad_tally *tally,
                                 attn_error *err) {
    (void)setting;
    for (int kind = 0; kind < attni_positions_count(); kind++)
        ATTN_TRY(check_model(s, true, attni_positions_name(kind), tally, err));
    return ATTN_OK;
}
