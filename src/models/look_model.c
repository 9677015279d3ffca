/* SPDX-License-Identifier: Apache-2.0 */
/* look_model.c - runs a transformer on a text for a look: forward with the options of the look, and
 * backward from one of its answers. Tests: tests/models/test_look.c */
#define ATTNI_REAL_f32
#include "layers/loss.h"
#include "models/look.h"
#include "models/transformer.h"

#include <stdlib.h>

attni_look_input attni_look_input_of(const attni_model *model, const int32_t *tokens, int64_t n) {
    return (attni_look_input){.n = n,
                              .tokens = tokens,
                              .causal = model->config.causal,
                              .window = -1,
                              .scale = model->config.scale,
                              .temperature = model->config.temperature,
                              .gradient_at = -1};
}

/* One look while it is computed. */
typedef struct reading {
    attn_ctx *ctx;
    const attni_model *model;
    const attni_look_input *in;
    attni_look *look;
    attn_error *err;
    attni_run run;
    attni_text text;
    float *weights; /* (total) the model's parameters, without those that read heads switched off */
    float *dweights;      /* (total) after the parameters, if a gradient is requested */
    attn_args *attention; /* (layers) */
    float **dconcat;      /* (layers) */
} reading;

static attn_status take_memory(reading *r) {
    const size_t layers = (size_t)r->look->layers, total = r->model->parameters.total;
    r->attention = calloc(layers, sizeof *r->attention);
    r->dconcat = calloc(layers, sizeof *r->dconcat);
    r->weights = calloc(2 * total, sizeof *r->weights);
    if (!r->attention || !r->dconcat || !r->weights) return attni_look_no_memory(r->err);
    r->dweights = r->weights + total;
    return ATTN_OK;
}

static attn_status forward(reading *r) {
    const attni_parameters *p = &r->model->parameters;
    memcpy(r->weights, r->model->weights, p->total * sizeof *r->weights);
    for (int64_t l = 0; l < r->look->layers; l++)
        attni_look_switch_off(r->in, l, r->look,
                              r->weights + attni_layer_offset(p, l, ATTNI_L_W_O));
    if (attni_look_needs_mask(r->in)) r->text.visible = r->look->visible;
    ATTN_TRY(attni_transformer_forward_f32(r->ctx, &r->run, r->weights, &r->text, r->err));
    memcpy(r->look->logits, r->run.value.logits,
           (size_t)(r->look->n * r->look->slots * r->look->n_words) * sizeof(float));
    for (int64_t l = 0; l < r->look->layers; l++)
        r->attention[l] = attni_transformer_attention_f32(&r->run, &r->text, l);
    return ATTN_OK;
}

/* The loss is the cross-entropy of the model's answer at one row, over its slots. */
static attn_status set_loss(const reading *r) {
    const int64_t slots = r->look->slots, n_words = r->look->n_words;
    memset(r->run.gradient.logits, 0, (size_t)(r->look->n * slots * n_words) * sizeof(float));
    for (int64_t s = 0; s < slots; s++) {
        const float *logits = attni_look_logits(r->look, r->in->gradient_at, s);
        float *dlogits = r->run.gradient.logits + (logits - r->look->logits);
        const int32_t answer = (int32_t)attni_argmax_f32(n_words, logits);
        const attni_targets target = {.n = 1, .vocab = n_words, .ids = &answer, .divisor = 1};
        double loss, others = 0;
        ATTN_TRY(attni_cross_entropy_f32(r->ctx, &target, logits, dlogits, &loss, r->err));
        dlogits[answer] = 0; /* p - 1 cancels if p is near 1; the sum of the others does not */
        for (int64_t w = 0; w < n_words; w++) others += (double)dlogits[w];
        dlogits[answer] = (float)-others;
    }
    return ATTN_OK;
}

static attn_status backward(reading *r) {
    const attni_parameters *p = &r->model->parameters;
    ATTN_TRY(set_loss(r));
    ATTN_TRY(
        attni_transformer_backward_f32(r->ctx, &r->run, r->weights, &r->text, r->dweights, r->err));
    for (int64_t l = 0; l < r->look->layers; l++)
        r->dconcat[l] = r->run.gradient.layer[l].attention.concat;
    for (int i = 0; i < p->n; i++)
        r->look->by_parameter[i] = attni_norm_of(r->dweights + p->list[i].offset, p->list[i].count);
    return ATTN_OK;
}

static attn_status read_text(reading *r) {
    ATTN_TRY(take_memory(r));
    ATTN_TRY(forward(r));
    if (r->look->n_parameters > 0) ATTN_TRY(backward(r));
    const attni_look_pass pass = {.attention = r->attention,
                                  .before = r->run.value.layer[0].residual,
                                  .after = r->run.value.residual,
                                  .dconcat = r->dconcat,
                                  .dbefore = r->run.gradient.layer[0].residual};
    return attni_look_fill(r->ctx, &pass, r->look, r->err);
}

attn_status attni_look_at(attn_ctx *ctx, const attni_model *model, const attni_look_input *in,
                          attni_look *look, attn_error *err) {
    attni_model_config config = model->config;
    reading r = {.ctx = ctx, .model = model, .in = in, .look = look, .err = err};
    config.causal = in->causal;
    config.scale = in->scale;
    config.temperature = in->temperature;
    *look = (attni_look){.n = in->n,
                         .layers = config.layers,
                         .heads = config.heads,
                         .d = config.d,
                         .d_k = config.d_k,
                         .slots = config.slots,
                         .n_words = config.n_words,
                         .n_parameters = in->gradient_at >= 0 ? model->parameters.n : 0};
    r.text = (attni_text){.B = 1, .n = in->n, .tokens = in->tokens, .n_asked = in->n};
    attn_status status = attni_run_create_f32(&config, &r.text, &r.run, err);
    if (status == ATTN_OK) status = attni_look_take(in, look, err);
    if (status == ATTN_OK) status = read_text(&r);
    if (status != ATTN_OK) attni_look_free(look);
    free(r.attention);
    free(r.dconcat);
    free(r.weights);
    attni_run_free_f32(&r.run);
    return status;
}

attn_status attni_model_look(const attni_model *model, const int32_t *tokens, int64_t n,
                             attni_look *look, attn_error *err) {
    const attni_look_input in = attni_look_input_of(model, tokens, n);
    attn_ctx *ctx = NULL;
    *look = (attni_look){0};
    ATTN_TRY(attn_ctx_create(NULL, &ctx, err));
    const attn_status status = attni_look_at(ctx, model, &in, look, err);
    attn_ctx_destroy(ctx);
    return status;
}
