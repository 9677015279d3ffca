/* SPDX-License-Identifier: Apache-2.0 */
/* web_look_random.c - layers of attention with random weights over any words: x = embedding of the
 * word, then for each layer x += attention(x). Numbers are those of `attn trace`: the first layer of
 * a sentence is drawn by the seed, layer l by seed + l. Shows the arithmetic, not meaning. */
#include "web_look.h"

#include "lab/steps/sentence.h"

#include <stdlib.h>

enum { MOST_TOKENS = 512, MOST_LAYERS = 12, N_MATRICES = 4 };

static const char *const matrix_name[N_MATRICES] = {"w_q", "w_k", "w_v", "w_o"};

typedef struct layer {
    float *x;                 /* (n, d) what enters; of the layer after the last, what leaves */
    float *matrix;            /* (4, d, d) W_Q, W_K, W_V, W_O */
    float *used;              /* (d, d) W_O without the heads that are off */
    float *dx, *dmatrix;      /* alike */
    attni_mha_saved saved, d; /* q, k, v, concat and their gradients */
} layer;

typedef struct stack {
    const web_look_input *in;
    lab_random how;
    int64_t n, layers;
    attni_mha_config config;
    attni_mha_input input;
    uint8_t *visible; /* (n, n) */
    layer layer[MOST_LAYERS + 1];
    attn_args attention[MOST_LAYERS];
    attni_mha_saved gradient[MOST_LAYERS];
    float *y;      /* (n, d) */
    float *memory; /* owns all of it */
} stack;

static attn_status no_memory(void) {
    return attni_fail(&web_error, ATTN_E_MEMORY, "out of memory to look; try fewer words");
}

static size_t carve(float *base, size_t *used, size_t n, float **place) {
    *place = base ? base + *used : NULL;
    return *used += (n + 15) / 16 * 16;
}

/* Where everything lies; with memory NULL only how much there is. */
static attn_status place(stack *s, size_t *used) {
    const size_t cells = (size_t)(s->n * s->how.d_model);
    const size_t square = (size_t)(s->how.d_model * s->how.d_model);
    size_t saved;
    ATTN_TRY(R(mha_saved_size)(&s->config, &s->input, &saved, &web_error));
    *used = 0;
    for (int64_t l = 0; l <= s->layers; l++) {
        layer *at = &s->layer[l];
        float *values, *gradients;
        carve(s->memory, used, cells, &at->x);
        carve(s->memory, used, cells, &at->dx);
        carve(s->memory, used, N_MATRICES * square, &at->matrix);
        carve(s->memory, used, N_MATRICES * square, &at->dmatrix);
        carve(s->memory, used, square, &at->used);
        carve(s->memory, used, saved, &values);
        carve(s->memory, used, saved, &gradients);
        if (!s->memory) continue;
        at->saved = R(mha_saved_place)(&s->config, &s->input, values);
        at->d = R(mha_saved_place)(&s->config, &s->input, gradients);
    }
    carve(s->memory, used, cells, &s->y);
    return ATTN_OK;
}

/* ------------------------------------------------------------------------------------- numbers */

static void narrow(const double *from, size_t n, float *to) {
    for (size_t i = 0; i < n; i++) to[i] = (float)from[i];
}

/* W_O without the rows of heads that are off. */
static void switch_off(stack *s, int64_t l) {
    const size_t d = (size_t)s->how.d_model, head = (size_t)s->config.d_k * d;
    float *w_o = s->layer[l].used;
    memcpy(w_o, s->layer[l].matrix + 3 * d * d, d * d * sizeof *w_o);
    for (int64_t h = 0; h < s->how.H; h++)
        if (web_is_off(s->in, l, s->how.H, h))
            memset(w_o + (size_t)h * head, 0, head * sizeof *w_o);
}

/* Draws the numbers of layer l; the first one's with the embeddings of the words. */
static attn_status draw(stack *s, const lab_words *words, int64_t l) {
    static const lab_part part[N_MATRICES] = {LAB_W_Q, LAB_W_K, LAB_W_V, LAB_W_O};
    const lab_words one = {.n = 1, .word = words->word};
    const size_t square = (size_t)(s->how.d_model * s->how.d_model);
    lab_random how = s->how;
    lab_problem problem;
    double *memory;
    how.seed += (uint32_t)l;
    ATTN_TRY(lab_sentence_problem(l ? &one : words, &how, &problem, &memory, &web_error));
    for (size_t m = 0; m < N_MATRICES; m++)
        narrow(problem.given[part[m]].cell, square, s->layer[l].matrix + m * square);
    if (l == 0) narrow(problem.given[LAB_X].cell, (size_t)(s->n * how.d_model), s->layer[0].x);
    free(memory);
    switch_off(s, l);
    return ATTN_OK;
}

/* ------------------------------------------------------------------------------------- passes */

static attni_mha_params params_of(const stack *s, float *matrix, float *w_o) {
    const size_t square = (size_t)(s->how.d_model * s->how.d_model);
    return (attni_mha_params){
        .w_q = matrix, .w_k = matrix + square, .w_v = matrix + 2 * square, .w_o = w_o};
}

/* x' = x + attention(x) */
static attn_status forward(stack *s, int64_t l) {
    const layer *at = &s->layer[l];
    attni_mha_input input = s->input;
    input.x = at->x;
    const attni_mha_params params = params_of(s, at->matrix, at->used);
    const attni_mha mha = {&s->config, &params, &input, &at->saved};
    ATTN_TRY(R(mha_forward)(web_ctx(), &mha, s->y, &web_error));
    for (int64_t i = 0; i < s->n * s->how.d_model; i++) s->layer[l + 1].x[i] = at->x[i] + s->y[i];
    s->attention[l] = R(mha_args)(&mha);
    return ATTN_OK;
}

/* dx = dx' + what comes through attention */
static attn_status backward(stack *s, int64_t l) {
    const layer *at = &s->layer[l];
    const size_t square = (size_t)(s->how.d_model * s->how.d_model);
    attni_mha_input input = s->input;
    input.x = at->x;
    const attni_mha_params params = params_of(s, at->matrix, at->used);
    const attni_mha mha = {&s->config, &params, &input, &at->saved};
    const attni_mha_gradients to = {
        .dx = at->dx, .params = params_of(s, at->dmatrix, at->dmatrix + 3 * square), .d = at->d};
    ATTN_TRY(R(mha_backward)(web_ctx(), &mha, s->layer[l + 1].dx, &to, &web_error));
    for (int64_t i = 0; i < s->n * s->how.d_model; i++) at->dx[i] += s->layer[l + 1].dx[i];
    s->gradient[l] = at->d;
    return ATTN_OK;
}

/* The loss is -|x|^2 / 2 of one row that leaves the last layer: there is no answer to ask for. */
static attn_status differentiate(stack *s) {
    const int64_t d = s->how.d_model, at = s->in->gradient_at * d;
    const layer *end = &s->layer[s->layers];
    const size_t square = (size_t)(d * d);
    double *norm = web_put("parameter_norms", WEB_F64, WEB_SHAPE(s->layers, N_MATRICES));
    ATTN_TRY(web_result_status());
    for (int64_t c = 0; c < d; c++) end->dx[at + c] = -end->x[at + c];
    for (int64_t l = s->layers - 1; l >= 0; l--) {
        ATTN_TRY(backward(s, l));
        for (size_t m = 0; m < N_MATRICES; m++)
            norm[(size_t)l * N_MATRICES + m] = web_norm(s->layer[l].dmatrix + m * square, square);
    }
    web_put_texts("parameter_names", matrix_name, N_MATRICES);
    return ATTN_OK;
}

static attn_status look_at(stack *s, const lab_words *words) {
    for (int64_t l = 0; l < s->layers; l++) {
        ATTN_TRY(draw(s, words, l));
        ATTN_TRY(forward(s, l));
    }
    const bool with_gradient = s->in->gradient_at >= 0;
    if (with_gradient) ATTN_TRY(differentiate(s));
    const web_scene scene = {.n = s->n,
                             .layers = s->layers,
                             .heads = s->how.H,
                             .d = s->how.d_model,
                             .attention = s->attention,
                             .gradient = with_gradient ? s->gradient : NULL,
                             .before = s->layer[0].x,
                             .after = s->layer[s->layers].x,
                             .dbefore = s->layer[0].dx,
                             .causal = s->config.causal};
    return web_put_views(s->in, &scene);
}

/* ----------------------------------------------------------------------------------------- call */

static attn_status check(const stack *s) {
    if (s->n < 1 || s->n > MOST_TOKENS)
        return attni_fail(&web_error, ATTN_E_VALUE, "text: %lld words, expected 1 .. %d",
                          (long long)s->n, MOST_TOKENS);
    if (s->layers < 1 || s->layers > MOST_LAYERS)
        return attni_fail(&web_error, ATTN_E_VALUE, "layers: %lld, expected 1 .. %d",
                          (long long)s->layers, MOST_LAYERS);
    if (s->how.H < 1 || s->how.d_model < 1 || s->how.d_model > LAB_MOST_WIDTH ||
        s->how.d_model % s->how.H)
        return attni_fail(&web_error, ATTN_E_VALUE,
                          "heads: %lld, d_model: %lld, expected a divisor of at most %d",
                          (long long)s->how.H, (long long)s->how.d_model, LAB_MOST_WIDTH);
    if (s->in->gradient_at < s->n) return ATTN_OK;
    return attni_fail(&web_error, ATTN_E_VALUE, "gradient at token %lld of %lld",
                      (long long)s->in->gradient_at, (long long)s->n);
}

static attn_status run(stack *s, const lab_words *words) {
    const web_look_input *in = s->in;
    size_t used;
    ATTN_TRY(check(s));
    s->config = R(mha_defaults)(s->how.d_model, s->how.H);
    s->config.causal = in->mask == WEB_CAUSAL;
    s->config.scale = lab_scaling_factor(in->scaling, s->config.d_k);
    s->config.temperature = in->temperature;
    s->input = (attni_mha_input){.B = 1, .n_q = s->n, .n_k = s->n};
    ATTN_TRY(place(s, &used));
    s->memory = aligned_alloc(64, used * sizeof *s->memory);
    s->visible = web_scratch((size_t)s->n, (size_t)s->n);
    if (!s->memory || !s->visible) return no_memory();
    memset(s->memory, 0, used * sizeof *s->memory);
    ATTN_TRY(place(s, &used));
    web_fill_visible(in, false, s->visible);
    if (web_needs_visible(in))
        s->input.mask = attn_tensor_bhsd(s->visible, ATTN_BOOL, 1, 1, s->n, s->n);
    return look_at(s, words);
}

/* text: n words, each ended by 0. how: layers, heads, d_model, seed. */
EXPORT(look_random) web_look_random(char *text, const double *how, const double *block) {
    const web_look_input in = web_look_read(block);
    web_begin();
    if (!web_ctx()) return ATTN_E_MEMORY;
    stack *s = web_scratch(1, sizeof *s);
    char **word = web_scratch((size_t)in.n, sizeof *word);
    ATTN_TRY(web_result_status());
    for (int64_t i = 0; i < in.n; i++, text += strlen(text) + 1) word[i] = text;
    s->in = &in;
    s->n = in.n;
    s->layers = (int64_t)how[0];
    s->how =
        (lab_random){.H = (int64_t)how[1], .d_model = (int64_t)how[2], .seed = (uint32_t)how[3]};
    const attn_status status = run(s, &(lab_words){.n = in.n, .word = word});
    free(s->memory);
    return status;
}
