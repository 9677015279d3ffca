/* SPDX-License-Identifier: Apache-2.0 */
/* web_look_model.c - a model reads a text: its attention, its answers, and the gradient of one. */
#include "web_look.h"

#include "layers/loss.h"
#include "models/transformer.h"
#include "web_model.h"

enum { BEST = 5 };

/* One look at one model; all memory but the run's is scratch. */
typedef struct look {
    const web_look_input *in;
    const attni_model *model;
    attni_model_config config; /* the model's, changed as the page wishes */
    attni_run run;
    attni_text text;
    uint8_t *visible;          /* (n, n) or NULL */
    float *weights;            /* (total) the model's without the heads that are off, or NULL */
    attn_args *attention;      /* (layers) */
    attni_mha_saved *gradient; /* (layers) */
    float *dweights;           /* (total) */
} look;

static const float *weights_of(const look *k) {
    return k->weights ? k->weights : k->model->weights;
}

/* A copy of the weights in which W_O reads nothing from the heads that are off. */
static attn_status switch_off(look *k) {
    const attni_model_config *c = &k->config;
    const attni_parameters *p = &k->model->parameters;
    const size_t head = (size_t)(c->d_k * c->d); /* rows of W_O of one head */
    if (k->in->n_off == 0) return ATTN_OK;
    k->weights = web_scratch(p->total, sizeof *k->weights);
    ATTN_TRY(web_result_status());
    memcpy(k->weights, k->model->weights, p->total * sizeof *k->weights);
    for (int64_t l = 0; l < c->layers; l++)
        for (int64_t h = 0; h < c->heads; h++)
            if (web_is_off(k->in, l, c->heads, h))
                memset(k->weights + attni_layer_offset(p, l, ATTNI_L_W_O) + (size_t)h * head, 0,
                       head * sizeof *k->weights);
    return ATTN_OK;
}

static attn_status forward(look *k) {
    const web_look_input *in = k->in;
    k->text = (attni_text){.B = 1, .n = in->n, .tokens = in->tokens, .n_asked = in->n};
    ATTN_TRY(attni_run_create_f32(&k->config, &k->text, &k->run, &web_error));
    k->attention = web_scratch((size_t)k->config.layers, sizeof *k->attention);
    if (web_needs_visible(in)) k->visible = web_scratch((size_t)in->n, (size_t)in->n);
    ATTN_TRY(web_result_status());
    if (k->visible) web_fill_visible(in, false, k->visible);
    k->text.visible = k->visible;
    ATTN_TRY(switch_off(k));
    ATTN_TRY(
        attni_transformer_forward_f32(web_ctx(), &k->run, weights_of(k), &k->text, &web_error));
    for (int64_t l = 0; l < k->config.layers; l++)
        k->attention[l] = attni_transformer_attention_f32(&k->run, &k->text, l);
    return ATTN_OK;
}

/* -------------------------------------------------------------------------------------- answers */

/* The best words of one row of logits (n_words), likeliest first. */
static void rank(const float *logits, int64_t n_words, int32_t *word, double *probability) {
    double sum = 0;
    int n = 0;
    for (int32_t w = 0; w < n_words; w++) {
        int at = n < BEST ? n++ : BEST;
        for (; at > 0 && logits[w] > logits[word[at - 1]]; at--)
            if (at < BEST) word[at] = word[at - 1];
        if (at < BEST) word[at] = w;
    }
    for (int64_t w = 0; w < n_words; w++) sum += exp((double)logits[w] - (double)logits[word[0]]);
    for (int i = 0; i < n; i++)
        probability[i] = exp((double)logits[word[i]] - (double)logits[word[0]]) / sum;
}

static attn_status put_answers(const look *k) {
    const attni_model_config *c = &k->config;
    const int64_t rows = k->in->n * c->slots, best = attni_min(BEST, c->n_words);
    int32_t *word = web_put("answers", WEB_I32, WEB_SHAPE(k->in->n, c->slots, best));
    double *probability = web_put("probabilities", WEB_F64, WEB_SHAPE(k->in->n, c->slots, best));
    ATTN_TRY(web_result_status());
    for (int64_t r = 0; r < rows; r++)
        rank(k->run.value.logits + r * c->n_words, c->n_words, word + r * best,
             probability + r * best);
    return ATTN_OK;
}

/* ------------------------------------------------------------------------------------- gradient */

/* The loss is the cross-entropy of what the model answers at one row, over its slots. */
static attn_status set_loss(look *k) {
    const attni_model_config *c = &k->config;
    const size_t all = (size_t)(k->in->n * c->slots * c->n_words) * sizeof(float);
    memset(k->run.gradient.logits, 0, all);
    for (int64_t s = 0; s < c->slots; s++) {
        const int64_t at = (k->in->gradient_at * c->slots + s) * c->n_words;
        const float *logits = k->run.value.logits + at;
        float *dlogits = k->run.gradient.logits + at;
        const int32_t answer = (int32_t)attni_argmax_f32(c->n_words, logits);
        const attni_targets target = {.n = 1, .vocab = c->n_words, .ids = &answer, .divisor = 1};
        double loss;
        ATTN_TRY(attni_cross_entropy_f32(web_ctx(), &target, logits, dlogits, &loss, &web_error));
        dlogits[answer] = 0; /* p - 1 cancels when the model is sure; the others' sum does not */
        double others = 0;
        for (int64_t w = 0; w < c->n_words; w++) others += (double)dlogits[w];
        dlogits[answer] = (float)-others;
    }
    return ATTN_OK;
}

static attn_status put_parameters(const look *k) {
    const attni_parameters *p = &k->model->parameters;
    const char **name = web_scratch((size_t)p->n, sizeof *name);
    double *norm = web_put("parameter_norms", WEB_F64, WEB_SHAPE(p->n));
    if (name && norm) {
        for (int i = 0; i < p->n; i++) {
            name[i] = p->list[i].name;
            norm[i] = web_norm(k->dweights + p->list[i].offset, p->list[i].count);
        }
        web_put_texts("parameter_names", name, p->n);
    }
    return web_result_status();
}

static attn_status differentiate(look *k) {
    const int64_t layers = k->config.layers;
    k->gradient = web_scratch((size_t)layers, sizeof *k->gradient);
    k->dweights = web_scratch(k->model->parameters.total, sizeof *k->dweights);
    ATTN_TRY(web_result_status());
    ATTN_TRY(set_loss(k));
    ATTN_TRY(attni_transformer_backward_f32(web_ctx(), &k->run, weights_of(k), &k->text,
                                            k->dweights, &web_error));
    for (int64_t l = 0; l < layers; l++) k->gradient[l] = k->run.gradient.layer[l].attention;
    return put_parameters(k);
}

/* ----------------------------------------------------------------------------------------- call */

static attn_status look_at(look *k) {
    ATTN_TRY(forward(k));
    ATTN_TRY(put_answers(k));
    if (k->in->gradient_at >= 0) ATTN_TRY(differentiate(k));
    const web_scene scene = {.n = k->in->n,
                             .layers = k->config.layers,
                             .heads = k->config.heads,
                             .d = k->config.d,
                             .attention = k->attention,
                             .gradient = k->gradient,
                             .before = k->run.value.layer[0].residual,
                             .after = k->run.value.residual,
                             .dbefore = k->run.gradient.layer[0].residual,
                             .causal = k->config.causal};
    return web_put_views(k->in, &scene);
}

EXPORT(look) web_look(double handle, const double *block) {
    const web_look_input in = web_look_read(block);
    web_begin();
    look k = {.in = &in, .model = web_model(handle)};
    if (!k.model || !web_ctx()) return ATTN_E_VALUE;
    if (in.gradient_at >= in.n)
        return attni_fail(&web_error, ATTN_E_VALUE, "gradient at token %lld of %lld",
                          (long long)in.gradient_at, (long long)in.n);
    k.config = k.model->config;
    k.config.causal |= in.mask == WEB_CAUSAL;
    k.config.scale = lab_scaling_factor(in.scaling, k.config.d_k);
    k.config.temperature = in.temperature;
    const attn_status status = look_at(&k);
    attni_run_free_f32(&k.run);
    return status;
}
