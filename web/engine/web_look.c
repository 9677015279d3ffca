/* SPDX-License-Identifier: Apache-2.0 */
/* web_look.c - attention of all layers and heads on one text, for a model or for random layers. The
 * results have the names of models/look.h. */
#include "engine.h"

#include "lab/steps/principal.h"
#include "lab/steps/random_look.h"
#include "lab/steps/scaling.h"
#include "web_model.h"

enum { BEST = 5 };

/* As the page writes them. */
enum { N, TOKENS, MASK, WINDOW, PADDING, SCALE, TEMPERATURE, N_OFF, OFF, GRADIENT_AT };
typedef enum web_mask { WEB_ALL, WEB_CAUSAL, WEB_WINDOW, WEB_PADDING } web_mask;

static attni_look_input read_input(const double *block, int64_t d_k) {
    const web_mask mask = (web_mask)block[MASK];
    return (attni_look_input){.n = (int64_t)block[N],
                              .tokens = web_address(block[TOKENS]),
                              .causal = mask == WEB_CAUSAL,
                              .window = mask == WEB_WINDOW ? (int64_t)block[WINDOW] : -1,
                              .padding = mask == WEB_PADDING ? (int64_t)block[PADDING] : 0,
                              .scale = lab_scaling_factor((lab_scaling)block[SCALE], d_k),
                              .temperature = block[TEMPERATURE],
                              .n_off = (int64_t)block[N_OFF],
                              .off = web_address(block[OFF]),
                              .gradient_at = (int64_t)block[GRADIENT_AT]};
}

/* -------------------------------------------------------------------------------------- results */

static web_kind kind_of(size_t size) {
    return size == sizeof(float) ? WEB_F32 : size == 1 ? WEB_U8 : WEB_F64;
}

/* Keeps the look's memory. */
static void put_look(const attni_look *look) {
    web_keep(look->memory);
    for (int p = 0; p < ATTNI_LOOK_PARTS; p++) {
        const attni_look_part *part = &attni_look_parts[p];
        const void *data = attni_look_data(look, part);
        web_shape shape;
        shape.rank = attni_look_shape(look, part, shape.side);
        if (data) web_put_view(part->name, kind_of(part->size), &shape, data);
    }
}

static void put_answers(const attni_look *look) {
    const int64_t rows = look->n * look->slots, best = attni_min(BEST, look->n_words);
    const web_shape *shape = WEB_SHAPE(look->n, look->slots, best);
    int32_t *word = web_put("answers", WEB_I32, shape);
    double *probability = web_put("probabilities", WEB_F64, shape);
    for (int64_t r = 0; word && probability && r < rows; r++)
        attni_likeliest(look->logits + r * look->n_words, look->n_words, best, word + r * best,
                        probability + r * best);
}

static void put_parameter_names(const attni_parameters *parameters) {
    const char **name = web_scratch((size_t)parameters->n, sizeof *name);
    for (int i = 0; name && i < parameters->n; i++) name[i] = parameters->list[i].name;
    if (name) web_put_texts("parameter_names", name, parameters->n);
}

/* ---------------------------------------------------------------------------------------- calls */

EXPORT(look) web_look(double handle, const double *block) {
    attni_look look;
    web_begin();
    const attni_model *model = web_model(handle);
    if (!model || !web_ctx()) return ATTN_E_VALUE;
    attni_look_input in = read_input(block, model->config.d_k);
    in.causal |= model->config.causal; /* a causal model stays causal under any mask */
    ATTN_TRY(attni_look_at(web_ctx(), model, &in, &look, &web_error));
    put_answers(&look);
    if (look.n_parameters > 0) put_parameter_names(&model->parameters);
    put_look(&look);
    return web_result_status();
}

/* text: n words, each terminated by 0. how: layers, heads, d_model, seed. */
EXPORT(look_random) web_look_random(char *text, const double *how, const double *block) {
    const lab_random_layers layers = {
        .layers = (int64_t)how[0],
        .how = {.H = (int64_t)how[1], .d_model = (int64_t)how[2], .seed = (uint32_t)how[3]}};
    attni_look look;
    web_begin();
    if (!web_ctx()) return ATTN_E_MEMORY;
    const attni_look_input in = read_input(block, layers.how.d_model / attni_max(1, layers.how.H));
    char **word = web_scratch((size_t)in.n, sizeof *word);
    ATTN_TRY(web_result_status());
    for (int64_t i = 0; i < in.n; i++, text += strlen(text) + 1) word[i] = text;
    const lab_words words = {.n = in.n, .word = word};
    ATTN_TRY(lab_random_look(web_ctx(), &words, &layers, &in, &look, &web_error));
    if (look.n_parameters > 0)
        web_put_texts("parameter_names", lab_random_matrix_name, LAB_RANDOM_MATRICES);
    put_look(&look);
    return web_result_status();
}

/* points (n, 2): rows (n, d) on their first two principal axes. */
EXPORT(principal) web_principal(const float *rows, double n, double d) {
    web_begin();
    float *points = web_put("points", WEB_F32, WEB_SHAPE((int64_t)n, 2));
    ATTN_TRY(web_result_status());
    return lab_principal((int64_t)n, (int64_t)d, rows, points, &web_error);
}
