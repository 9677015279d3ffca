/* SPDX-License-Identifier: Apache-2.0 */
/* model.c - see model.h; files are model_file.c. Tests: tests/models/test_model.c */
#define ATTNI_REAL_f32
#include "models/model.h"

#include "core/os.h"
#include "models/transformer.h"

#include <stdlib.h>

attn_status attni_model_create(const attni_model_config *config, const char *const *words,
                               uint64_t seed, attni_model *model, attn_error *err) {
    memset(model, 0, sizeof *model);
    ATTN_TRY(attni_parameters_create(config, &model->parameters, err));
    model->config = *config;
    model->words = words;
    model->seed = seed;
    /* total is checked to be small */
    model->weights = attni_memory_alloc(model->parameters.total * sizeof *model->weights, 64);
    if (!model->weights) {
        attni_model_free(model);
        return attni_fail(err, ATTN_E_MEMORY, "model: no memory for its weights");
    }
    attni_weights_start_f32(&model->parameters, seed, model->weights);
    return ATTN_OK;
}

void attni_model_free(attni_model *model) {
    attni_parameters_free(&model->parameters);
    attni_memory_free(model->weights);
    free(model->text);
    memset(model, 0, sizeof *model);
}

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

int32_t attni_model_word(const attni_model *model, const char *letters, size_t n) {
    int32_t similar = -1;
    for (int64_t w = 0; w < model->config.n_words; w++) {
        const char *word = model->words[w];
        if (strlen(word) != n) continue;
        if (memcmp(word, letters, n) == 0) return (int32_t)w;
        if (similar < 0 && n > 0 && lower(*word) == lower(*letters) &&
            memcmp(word + 1, letters + 1, n - 1) == 0)
            similar = (int32_t)w;
    }
    return similar;
}

/* -------------------------------------------------------------------------------------- a look */

/* Sizes of its parts, in floats. */
typedef struct look_sizes {
    size_t pairs, logits, all;
} look_sizes;

static bool measure(const attni_model_config *c, int64_t n, look_sizes *s) {
    const size_t rows = (size_t)n;
    return attni_mul((size_t)(c->layers * c->heads), rows, &s->pairs) &&
           attni_mul(s->pairs, rows, &s->pairs) &&
           attni_mul(rows, (size_t)(c->slots * c->n_words), &s->logits) &&
           attni_mul(s->pairs, 2, &s->all) && attni_add(s->all, s->logits, &s->all) &&
           attni_mul(s->all, sizeof(float), &s->all);
}

static attn_status inspect(attn_ctx *ctx, const attni_run *run, const attni_text *text,
                           attni_look *look, attn_error *err) {
    const int64_t n = text->n, heads = run->config.heads;
    for (int64_t l = 0; l < run->config.layers; l++) {
        const attn_args args = attni_transformer_attention_f32(run, text, l);
        const int64_t at = l * heads * n * n;
        attn_inspection what;
        attn_inspection_init(&what);
        what.biased = attn_tensor_bhsd(look->scores + at, ATTN_F32, 1, heads, n, n);
        what.weights = attn_tensor_bhsd(look->weights + at, ATTN_F32, 1, heads, n, n);
        ATTN_TRY(attn_inspect(ctx, &args, &what, err));
    }
    return ATTN_OK;
}

static attn_status look_with(attn_ctx *ctx, attni_run *run, const attni_model *model,
                             const attni_text *text, attni_look *look, attn_error *err) {
    ATTN_TRY(attni_transformer_forward_f32(ctx, run, model->weights, text, err));
    const attni_model_config *c = &model->config;
    memcpy(look->logits, run->value.logits,
           (size_t)(text->n * c->slots * c->n_words) * sizeof(float));
    return inspect(ctx, run, text, look, err);
}

attn_status attni_model_look(const attni_model *model, const int32_t *tokens, int64_t n,
                             attni_look *look, attn_error *err) {
    const attni_text text = {.B = 1, .n = n, .tokens = tokens, .n_asked = n};
    attni_run run = {0};
    attn_ctx *ctx = NULL;
    look_sizes sizes;
    memset(look, 0, sizeof *look);
    attn_status status = attn_ctx_create(NULL, &ctx, err);
    if (status == ATTN_OK) status = attni_run_create_f32(&model->config, &text, &run, err);
    if (status != ATTN_OK) goto done;
    look->memory = measure(&model->config, n, &sizes) ? malloc(sizes.all) : NULL;
    if (!look->memory) {
        status =
            attni_fail(err, ATTN_E_MEMORY, "model: no memory to look at %lld tokens", (long long)n);
        goto done;
    }
    look->n = n;
    look->weights = look->memory;
    look->scores = look->weights + sizes.pairs;
    look->logits = look->scores + sizes.pairs;
    status = look_with(ctx, &run, model, &text, look, err);
done:
    if (status != ATTN_OK) attni_look_free(look);
    attni_run_free_f32(&run);
    attn_ctx_destroy(ctx);
    return status;
}

void attni_look_free(attni_look *look) {
    free(look->memory);
    memset(look, 0, sizeof *look);
}
