/* SPDX-License-Identifier: Apache-2.0 */
/* random_look.c - see random_look.h. */
#define ATTNI_REAL_f32
#include "steps/random_look.h"

#include "core/arena.h"
#include "layers/add.h"
#include "layers/mha.h"

#include <stdlib.h>

const char *const lab_random_matrix_name[LAB_RANDOM_MATRICES] = {"w_q", "w_k", "w_v", "w_o"};

typedef struct layer {
    float *x;            /* (n, d) what enters; of the layer after the last, what leaves */
    float *matrix;       /* (4, d, d) W_Q, W_K, W_V, W_O; of W_O nothing that reads heads off */
    float *dx, *dmatrix; /* alike */
    attni_mha_saved saved, d; /* q, k, v, concat and their gradients */
} layer;

typedef struct stack {
    attn_ctx *ctx;
    const attni_look_input *in;
    attni_look *look;
    attn_error *err;
    lab_random how;
    attni_mha_config config;
    attni_mha_input input;
    layer layer[LAB_RANDOM_LAYERS + 1];
    attn_args attention[LAB_RANDOM_LAYERS];
    float *dconcat[LAB_RANDOM_LAYERS];
    float *memory; /* owns all of it */
} stack;

static size_t square_of(const stack *s) { return (size_t)(s->how.d_model * s->how.d_model); }

/* -------------------------------------------------------------------------------------- memory */

static float *take(attni_arena *arena, int64_t rows, int64_t columns) {
    return attni_arena_take(arena, 2, (const int64_t[]){rows, columns}, sizeof(float));
}

/* Where everything lies; with memory NULL only how much there is. One layer after another, and what
 * leaves the last one:
 *
 *     x    | dx   | matrix  | dmatrix | saved of mha.c | its gradients |
 *     n, d | n, d | 4 d, d  | 4 d, d  |                |               |                          */
static attn_status place(stack *s, attni_arena *arena) {
    const int64_t n = s->look->n, d = s->how.d_model;
    size_t saved;
    ATTN_TRY(R(mha_saved_size)(&s->config, &s->input, &saved, s->err));
    *arena = (attni_arena){.base = (char *)s->memory};
    for (int64_t l = 0; l <= s->look->layers; l++) {
        layer *at = &s->layer[l];
        at->x = take(arena, n, d);
        at->dx = take(arena, n, d);
        at->matrix = take(arena, LAB_RANDOM_MATRICES * d, d);
        at->dmatrix = take(arena, LAB_RANDOM_MATRICES * d, d);
        float *values = take(arena, (int64_t)saved, 1), *gradients = take(arena, (int64_t)saved, 1);
        if (!s->memory) continue;
        at->saved = R(mha_saved_place)(&s->config, &s->input, values);
        at->d = R(mha_saved_place)(&s->config, &s->input, gradients);
    }
    return ATTN_OK;
}

static attn_status take_memory(stack *s) {
    attni_arena arena;
    ATTN_TRY(place(s, &arena));
    s->memory = attni_arena_fits(&arena) ? calloc(arena.used, 1) : NULL;
    if (!s->memory) return attni_look_no_memory(s->err);
    return place(s, &arena);
}

/* ------------------------------------------------------------------------------------- numbers */

static void narrow(const double *from, size_t n, float *to) {
    for (size_t i = 0; i < n; i++) to[i] = (float)from[i];
}

/* Draws the numbers of layer l; for the first layer, also the embeddings of the words. */
static attn_status draw(stack *s, const lab_words *words, int64_t l) {
    static const lab_part part[LAB_RANDOM_MATRICES] = {LAB_W_Q, LAB_W_K, LAB_W_V, LAB_W_O};
    const lab_words one = {.n = 1, .word = words->word};
    const size_t square = square_of(s);
    float *matrix = s->layer[l].matrix;
    lab_random how = s->how;
    lab_problem problem;
    double *memory;
    how.seed += (uint32_t)l;
    ATTN_TRY(lab_sentence_problem(l ? &one : words, &how, &problem, &memory, s->err));
    for (size_t m = 0; m < LAB_RANDOM_MATRICES; m++)
        narrow(problem.given[part[m]].cell, square, matrix + m * square);
    if (l == 0)
        narrow(problem.given[LAB_X].cell, (size_t)(s->look->n * how.d_model), s->layer[0].x);
    free(memory);
    attni_look_switch_off(s->in, l, s->look, matrix + 3 * square);
    return ATTN_OK;
}

/* -------------------------------------------------------------------------------------- passes */

static attni_mha_params params_of(const stack *s, float *matrix) {
    const size_t square = square_of(s);
    return (attni_mha_params){.w_q = matrix,
                              .w_k = matrix + square,
                              .w_v = matrix + 2 * square,
                              .w_o = matrix + 3 * square};
}

/* x' = x + attention(x) */
static attn_status forward(stack *s, int64_t l) {
    const layer *at = &s->layer[l];
    attni_mha_input input = s->input;
    input.x = at->x;
    const attni_mha_params params = params_of(s, at->matrix);
    const attni_mha mha = {&s->config, &params, &input, &at->saved};
    ATTN_TRY(R(mha_forward)(s->ctx, &mha, at[1].x, s->err));
    R(add_to)(s->look->n * s->how.d_model, at->x, at[1].x);
    s->attention[l] = R(mha_args)(&mha);
    return ATTN_OK;
}

/* dx = dx' + what comes through attention */
static attn_status backward(stack *s, int64_t l) {
    const layer *at = &s->layer[l];
    const size_t square = square_of(s);
    attni_mha_input input = s->input;
    input.x = at->x;
    const attni_mha_params params = params_of(s, at->matrix);
    const attni_mha mha = {&s->config, &params, &input, &at->saved};
    const attni_mha_gradients to = {.dx = at->dx, .params = params_of(s, at->dmatrix), .d = at->d};
    ATTN_TRY(R(mha_backward)(s->ctx, &mha, at[1].dx, &to, s->err));
    R(add_to)(s->look->n * s->how.d_model, at[1].dx, at->dx);
    s->dconcat[l] = at->d.concat;
    for (size_t m = 0; m < LAB_RANDOM_MATRICES; m++)
        s->look->by_parameter[(size_t)l * LAB_RANDOM_MATRICES + m] =
            attni_norm_of(at->dmatrix + m * square, square);
    return ATTN_OK;
}

/* The loss is -|x|^2 / 2 of one row of the last layer's output: there is no answer to
 * differentiate. */
static attn_status differentiate(stack *s) {
    const int64_t d = s->how.d_model, at = s->in->gradient_at * d;
    const layer *end = &s->layer[s->look->layers];
    for (int64_t c = 0; c < d; c++) end->dx[at + c] = -end->x[at + c];
    for (int64_t l = s->look->layers - 1; l >= 0; l--) ATTN_TRY(backward(s, l));
    return ATTN_OK;
}

static attn_status read_words(stack *s, const lab_words *words) {
    ATTN_TRY(take_memory(s));
    for (int64_t l = 0; l < s->look->layers; l++) {
        ATTN_TRY(draw(s, words, l));
        ATTN_TRY(forward(s, l));
    }
    if (s->look->n_parameters > 0) ATTN_TRY(differentiate(s));
    const attni_look_pass pass = {.attention = s->attention,
                                  .before = s->layer[0].x,
                                  .after = s->layer[s->look->layers].x,
                                  .dconcat = s->dconcat,
                                  .dbefore = s->layer[0].dx};
    return attni_look_fill(s->ctx, &pass, s->look, s->err);
}

/* ---------------------------------------------------------------------------------------- look */

static attn_status check(const lab_random_layers *l, int64_t n, attn_error *err) {
    if (n < 1 || n > LAB_MOST_WORDS)
        return attni_fail(err, ATTN_E_VALUE, "text: %lld words, expected 1 .. %d", (long long)n,
                          LAB_MOST_WORDS);
    if (l->layers < 1 || l->layers > LAB_RANDOM_LAYERS)
        return attni_fail(err, ATTN_E_VALUE, "layers: %lld, expected 1 .. %d", (long long)l->layers,
                          LAB_RANDOM_LAYERS);
    if (l->how.H < 1 || l->how.d_model < 1 || l->how.d_model > LAB_MOST_WIDTH ||
        l->how.d_model % l->how.H)
        return attni_fail(err, ATTN_E_VALUE,
                          "heads: %lld, d_model: %lld, expected a divisor of at most %d",
                          (long long)l->how.H, (long long)l->how.d_model, LAB_MOST_WIDTH);
    return ATTN_OK;
}

static void configure(stack *s) {
    const attni_look_input *in = s->in;
    s->config = R(mha_defaults)(s->how.d_model, s->how.H);
    s->config.causal = in->causal;
    s->config.scale = in->scale;
    s->config.temperature = in->temperature;
    s->input = (attni_mha_input){.B = 1, .n_q = in->n, .n_k = in->n};
    if (attni_look_needs_mask(in))
        s->input.mask = attn_tensor_bhsd(s->look->visible, ATTN_BOOL, 1, 1, in->n, in->n);
}

attn_status lab_random_look(attn_ctx *ctx, const lab_words *words, const lab_random_layers *layers,
                            const attni_look_input *in, attni_look *look, attn_error *err) {
    const lab_random *how = &layers->how;
    *look = (attni_look){0};
    ATTN_TRY(check(layers, in->n, err));
    *look = (attni_look){.n = in->n,
                         .layers = layers->layers,
                         .heads = how->H,
                         .d = how->d_model,
                         .d_k = how->d_model / how->H,
                         .n_parameters =
                             in->gradient_at >= 0 ? layers->layers * LAB_RANDOM_MATRICES : 0};
    ATTN_TRY(attni_look_take(in, look, err));
    stack *s = calloc(1, sizeof *s); /* too large for a frame */
    attn_status status = s ? ATTN_OK : attni_look_no_memory(err);
    if (s) {
        *s = (stack){.ctx = ctx, .in = in, .look = look, .err = err, .how = *how};
        configure(s);
        status = read_words(s, words);
        free(s->memory);
        free(s);
    }
    if (status != ATTN_OK) attni_look_free(look);
    return status;
}
