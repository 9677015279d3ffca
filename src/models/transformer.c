/* SPDX-License-Identifier: Apache-2.0 */
/* transformer.c - forward and backward pass of the model; run.c lays out its memory. Compiled per
 * real type. Allocates nothing. Tests: tests/models/test_transformer.c */
#include "models/transformer.h"

#include "layers/add.h"
#include "layers/embedding.h"
#include "layers/linear.h"
#include "layers/mlp.h"
#include "layers/norm.h"
#include "models/run.h"

static const double norm_eps = 1e-5;

/* One pass: everything that the steps below need. */
typedef struct pass {
    attn_ctx *ctx;
    attni_run *run;
    const real *weights;
    const attni_text *text;
    real *dweights; /* backward only */
    attn_error *err;
} pass;

static int64_t rows_of(const pass *p) { return p->text->B * p->text->n; }

static size_t bytes_of(const pass *p, int64_t rows) {
    return (size_t)(rows * p->run->config.d) * sizeof(real);
}

static int64_t rows_asked(const pass *p) { return p->text->B * p->text->n_asked; }

/* The rows that come out of the attention of layer l, and of everything after it. */
static int64_t rows_left(const pass *p, int64_t l) {
    return attni_is_last(p->run, l) ? rows_asked(p) : rows_of(p);
}

/* The output of layer l: the residual that enters the next one. */
static real *after(const attni_run *run, const attni_taps *taps, int64_t l) {
    return attni_is_last(run, l) ? taps->residual : taps->layer[l + 1].residual;
}

/* ----------------------------------------------------------------------- layers from parameters */

static const real *outer(const pass *p, int which) {
    return p->weights + p->run->parameters.list[which].offset;
}

static real *outer_gradient(const pass *p, int which) {
    return p->dweights + p->run->parameters.list[which].offset;
}

static const real *inner(const pass *p, int64_t layer, int which) {
    return p->weights + attni_layer_offset(&p->run->parameters, layer, which);
}

static real *inner_gradient(const pass *p, int64_t layer, int which) {
    return p->dweights + attni_layer_offset(&p->run->parameters, layer, which);
}

static attni_norm norm_of(const pass *p, const real *gain, const real *bias) {
    return (attni_norm){.width = p->run->config.d, .eps = norm_eps, .gain = gain, .bias = bias};
}

static attni_mlp mlp_of(const pass *p, int64_t l) {
    return (attni_mlp){.d_model = p->run->config.d,
                       .d_hidden = p->run->config.d_hidden,
                       .activation = ATTNI_GELU_TANH,
                       .w_up = inner(p, l, ATTNI_L_W_UP),
                       .b_up = inner(p, l, ATTNI_L_B_UP),
                       .w_down = inner(p, l, ATTNI_L_W_DOWN),
                       .b_down = inner(p, l, ATTNI_L_B_DOWN)};
}

static attni_mlp_pass mlp_pass_of(const pass *p, int64_t l) {
    const attni_layer_taps *taps = &p->run->value.layer[l];
    return (attni_mlp_pass){.n = rows_left(p, l),
                            .x = taps->normed_2,
                            .up = taps->up,
                            .hidden = taps->hidden,
                            .y = taps->fed};
}

static attni_linear output_of(const pass *p) {
    const attni_model_config *c = &p->run->config;
    return (attni_linear){c->d, c->slots * c->n_words, outer(p, ATTNI_P_W_OUT),
                          outer(p, ATTNI_P_B_OUT)};
}

attni_mha_config R(run_mha_config)(const attni_run *run) {
    const attni_model_config *c = &run->config;
    attni_mha_config mha = R(mha_defaults)(c->d, c->heads);
    mha.d_k = mha.d_v = c->d_k;
    mha.causal = c->causal;
    mha.scale = c->scale;
    mha.temperature = c->temperature;
    mha.positions = &run->positions;
    return mha;
}

/* The asked rows among the queries of a (B, H, n, any) view; the element size is in bytes. */
static attn_tensor asked_of(attn_tensor queries, const attni_text *text, size_t size) {
    queries.data = (char *)queries.data + text->first_asked * queries.stride[2] * (int64_t)size;
    queries.shape[2] = text->n_asked;
    return queries;
}

static attni_mha_input mha_input(const attni_run *run, const attni_text *text, int64_t l) {
    const attni_layer_taps *taps = &run->value.layer[l];
    attni_mha_input input = {.B = text->B, .n_q = text->n, .n_k = text->n, .x = taps->normed_1};
    if (text->visible)
        input.mask = attn_tensor_bhsd(text->visible, ATTN_BOOL, text->B, 1, text->n, text->n);
    if (!attni_is_last(run, l)) return input;
    input.n_q = text->n_asked;
    input.first_query = text->first_asked;
    input.x = taps->asking;
    input.memory = taps->normed_1;
    if (text->visible) input.mask = asked_of(input.mask, text, 1);
    return input;
}

/* The weights or, if `base` is a block of gradients, their gradients. */
static attni_mha_params mha_params(const attni_parameters *list, int64_t l, real *base) {
    return (attni_mha_params){.w_q = base + attni_layer_offset(list, l, ATTNI_L_W_Q),
                              .w_k = base + attni_layer_offset(list, l, ATTNI_L_W_K),
                              .w_v = base + attni_layer_offset(list, l, ATTNI_L_W_V),
                              .w_o = base + attni_layer_offset(list, l, ATTNI_L_W_O),
                              .b_q = base + attni_layer_offset(list, l, ATTNI_L_B_Q),
                              .b_k = base + attni_layer_offset(list, l, ATTNI_L_B_K),
                              .b_v = base + attni_layer_offset(list, l, ATTNI_L_B_V),
                              .b_o = base + attni_layer_offset(list, l, ATTNI_L_B_O),
                              .positions = base + list->list[ATTNI_P_POSITIONS].offset};
}

/* --------------------------------------------------------------------------------------- rows */

/* Where the asked rows of text b begin in rows (R, d). */
static real *asked_in(const pass *p, real *rows, int64_t b) {
    return rows + (b * p->text->n + p->text->first_asked) * p->run->config.d;
}

/* to (Q, d) = the asked ones of rows (R, d). */
static void pick(const pass *p, real *rows, real *to) {
    const int64_t n = p->text->n_asked, d = p->run->config.d;
    for (int64_t b = 0; b < p->text->B; b++)
        memcpy(to + b * n * d, asked_in(p, rows, b), bytes_of(p, n));
}

/* The asked ones of rows (R, d) += from (Q, d). */
static void add_picked(const pass *p, const real *from, real *rows) {
    const int64_t n = p->text->n_asked, d = p->run->config.d;
    for (int64_t b = 0; b < p->text->B; b++)
        R(add_to)(n * d, from + b * n * d, asked_in(p, rows, b));
}

/* ------------------------------------------------------------------------------------- forward */

static attn_status embed(const pass *p, real *x) {
    attni_run *run = p->run;
    const attni_embedding words = {run->config.n_words, run->config.d, outer(p, ATTNI_P_WORDS)};
    const attni_position_kind *kind = R(position_kind)(run->config.positions.kind);
    ATTN_TRY(R(embedding_forward)(&words, rows_of(p), p->text->tokens, false, x, p->err));
    if (kind->embed)
        kind->embed(&run->positions, rows_of(p), p->text->n, outer(p, ATTNI_P_POSITIONS), x);
    return ATTN_OK;
}

/* middle = residual + attention(norm_1(residual)) */
static attn_status forward_attention(const pass *p, int64_t l) {
    const attni_layer_taps *taps = &p->run->value.layer[l];
    const attni_norm norm =
        norm_of(p, inner(p, l, ATTNI_L_NORM_1_GAIN), inner(p, l, ATTNI_L_NORM_1_BIAS));
    const attni_norm_saved saved = {taps->mean_1, taps->inverse_1};
    const attni_mha_config config = R(run_mha_config)(p->run);
    const attni_mha_input input = mha_input(p->run, p->text, l);
    const attni_mha_params params = mha_params(&p->run->parameters, l, (real *)p->weights);
    const attni_mha attention = {&config, &params, &input, &taps->attention};
    R(norm_forward)(&norm, rows_of(p), taps->residual, taps->normed_1, &saved);
    if (attni_is_last(p->run, l)) pick(p, taps->normed_1, taps->asking);
    ATTN_TRY(R(mha_forward)(p->ctx, &attention, taps->attended, p->err));
    if (attni_is_last(p->run, l))
        pick(p, taps->residual, taps->middle);
    else
        memcpy(taps->middle, taps->residual, bytes_of(p, rows_of(p)));
    R(add_to)(rows_left(p, l) * p->run->config.d, taps->attended, taps->middle);
    return ATTN_OK;
}

/* next = middle + mlp(norm_2(middle)) */
static attn_status forward_mlp(const pass *p, int64_t l) {
    const attni_run *run = p->run;
    const attni_layer_taps *taps = &run->value.layer[l];
    const attni_norm norm =
        norm_of(p, inner(p, l, ATTNI_L_NORM_2_GAIN), inner(p, l, ATTNI_L_NORM_2_BIAS));
    const attni_norm_saved saved = {taps->mean_2, taps->inverse_2};
    const attni_mlp mlp = mlp_of(p, l);
    const attni_mlp_pass mlp_pass = mlp_pass_of(p, l);
    R(norm_forward)(&norm, rows_left(p, l), taps->middle, taps->normed_2, &saved);
    ATTN_TRY(R(mlp_forward)(p->ctx, &mlp, &mlp_pass, p->err));
    real *next = after(run, &run->value, l);
    memcpy(next, taps->middle, bytes_of(p, rows_left(p, l)));
    R(add_to)(rows_left(p, l) * run->config.d, taps->fed, next);
    return ATTN_OK;
}

static attn_status answer(const pass *p) {
    const attni_taps *value = &p->run->value;
    const int64_t n = rows_asked(p);
    const attni_norm norm = norm_of(p, outer(p, ATTNI_P_NORM_GAIN), outer(p, ATTNI_P_NORM_BIAS));
    const attni_norm_saved saved = {value->mean, value->inverse};
    const attni_linear output = output_of(p);
    R(norm_forward)(&norm, n, value->residual, value->normed, &saved);
    return R(linear_forward)(p->ctx, &output, n, value->normed, value->logits, p->err);
}

static attn_status check_text(const attni_run *run, const attni_text *text, attn_error *err) {
    const bool fits = text->n >= 1 && text->n <= run->n && text->B >= 1 &&
                      text->B * text->n <= run->B * run->n && text->n_asked <= run->n_asked &&
                      text->B * text->n_asked <= run->B * run->n_asked;
    const bool asks = text->n_asked >= 1 && text->n_asked <= text->n && text->first_asked >= 0 &&
                      text->first_asked <= text->n - text->n_asked;
    if (fits && asks) return ATTN_OK;
    return attni_fail(err, ATTN_E_VALUE,
                      "text: %lld times %lld tokens, questions at %lld of them from %lld on; the "
                      "run has room for %lld times %lld with %lld, the model for %lld",
                      (long long)text->B, (long long)text->n, (long long)text->n_asked,
                      (long long)text->first_asked, (long long)run->B, (long long)run->n,
                      (long long)run->n_asked, (long long)run->config.length);
}

attn_status R(transformer_forward)(attn_ctx *ctx, attni_run *run, const real *weights,
                                   const attni_text *text, attn_error *err) {
    const pass p = {ctx, run, weights, text, NULL, err};
    ATTN_TRY(check_text(run, text, err));
    ATTN_TRY(embed(&p, run->value.layer[0].residual));
    for (int64_t l = 0; l < run->config.layers; l++) {
        ATTN_TRY(forward_attention(&p, l));
        ATTN_TRY(forward_mlp(&p, l));
    }
    return answer(&p);
}

attn_args R(transformer_attention)(const attni_run *run, const attni_text *text, int64_t layer) {
    const attni_mha_config config = R(run_mha_config)(run);
    const attni_mha_input input = mha_input(run, text, layer);
    const attni_mha_params none = {0};
    const attni_mha attention = {&config, &none, &input, &run->value.layer[layer].attention};
    attn_args args = R(mha_args)(&attention);
    if (attni_is_last(run, layer)) return args;
    args.q = asked_of(args.q, text, sizeof(real));
    args.offset = text->first_asked;
    if (text->visible) args.mask = asked_of(args.mask, text, 1);
    if (args.bias.data) args.bias = asked_of(args.bias, text, sizeof(real));
    return args;
}

/* ------------------------------------------------------------------------------------ backward */

/* logits = norm(residual) W + b */
static attn_status backward_answer(const pass *p) {
    const attni_taps *value = &p->run->value, *gradient = &p->run->gradient;
    const int64_t n = rows_asked(p);
    const attni_norm norm = norm_of(p, outer(p, ATTNI_P_NORM_GAIN), outer(p, ATTNI_P_NORM_BIAS));
    const attni_norm_saved saved = {value->mean, value->inverse};
    const attni_linear output = output_of(p);
    const attni_linear_grad through_output = {.x = value->normed,
                                              .dy = gradient->logits,
                                              .dx = gradient->normed,
                                              .dw = outer_gradient(p, ATTNI_P_W_OUT),
                                              .db = outer_gradient(p, ATTNI_P_B_OUT)};
    const attni_norm_grad through_norm = {.x = value->residual,
                                          .dy = gradient->normed,
                                          .dx = gradient->residual,
                                          .dgain = outer_gradient(p, ATTNI_P_NORM_GAIN),
                                          .dbias = outer_gradient(p, ATTNI_P_NORM_BIAS)};
    ATTN_TRY(R(linear_backward)(p->ctx, &output, n, &through_output, p->err));
    R(norm_backward)(&norm, n, &saved, &through_norm);
    return ATTN_OK;
}

/* next = middle + mlp(norm_2(middle)) */
static attn_status backward_mlp(const pass *p, int64_t l) {
    const attni_run *run = p->run;
    const attni_layer_taps *value = &run->value.layer[l], *d = &run->gradient.layer[l];
    const real *dnext = after(run, &run->gradient, l);
    const attni_norm norm =
        norm_of(p, inner(p, l, ATTNI_L_NORM_2_GAIN), inner(p, l, ATTNI_L_NORM_2_BIAS));
    const attni_norm_saved saved = {value->mean_2, value->inverse_2};
    const attni_mlp mlp = mlp_of(p, l);
    const attni_mlp_pass mlp_pass = mlp_pass_of(p, l);
    const attni_mlp_grad through_mlp = {.dy = dnext,
                                        .dhidden = d->hidden,
                                        .dup = d->up,
                                        .dx = d->normed_2,
                                        .dw_up = inner_gradient(p, l, ATTNI_L_W_UP),
                                        .db_up = inner_gradient(p, l, ATTNI_L_B_UP),
                                        .dw_down = inner_gradient(p, l, ATTNI_L_W_DOWN),
                                        .db_down = inner_gradient(p, l, ATTNI_L_B_DOWN)};
    const attni_norm_grad through_norm = {.x = value->middle,
                                          .dy = d->normed_2,
                                          .dx = d->middle,
                                          .add_dx = true,
                                          .dgain = inner_gradient(p, l, ATTNI_L_NORM_2_GAIN),
                                          .dbias = inner_gradient(p, l, ATTNI_L_NORM_2_BIAS)};
    ATTN_TRY(R(mlp_backward)(p->ctx, &mlp, &mlp_pass, &through_mlp, p->err));
    memcpy(d->middle, dnext, bytes_of(p, rows_left(p, l)));
    R(norm_backward)(&norm, rows_left(p, l), &saved, &through_norm);
    return ATTN_OK;
}

/* Backward through the selection of the asked rows: the gradients of attention and of the
 * residual stream go back to all rows of the last layer. */
static void unpick(const pass *p, const attni_layer_taps *d) {
    add_picked(p, d->asking, d->normed_1);
    memset(d->residual, 0, bytes_of(p, rows_of(p)));
    add_picked(p, d->middle, d->residual);
}

/* middle = residual + attention(norm_1(residual)) */
static attn_status backward_attention(const pass *p, int64_t l) {
    const attni_layer_taps *value = &p->run->value.layer[l], *d = &p->run->gradient.layer[l];
    const attni_norm norm =
        norm_of(p, inner(p, l, ATTNI_L_NORM_1_GAIN), inner(p, l, ATTNI_L_NORM_1_BIAS));
    const attni_norm_saved saved = {value->mean_1, value->inverse_1};
    const attni_mha_config config = R(run_mha_config)(p->run);
    const attni_mha_input input = mha_input(p->run, p->text, l);
    const attni_mha_params params = mha_params(&p->run->parameters, l, (real *)p->weights);
    const attni_mha attention = {&config, &params, &input, &value->attention};
    const attni_mha_gradients through_attention = {
        .dx = input.memory ? d->asking : d->normed_1,
        .dmemory = input.memory ? d->normed_1 : NULL,
        .params = mha_params(&p->run->parameters, l, p->dweights),
        .d = d->attention};
    const attni_norm_grad through_norm = {.x = value->residual,
                                          .dy = d->normed_1,
                                          .dx = d->residual,
                                          .add_dx = true,
                                          .dgain = inner_gradient(p, l, ATTNI_L_NORM_1_GAIN),
                                          .dbias = inner_gradient(p, l, ATTNI_L_NORM_1_BIAS)};
    ATTN_TRY(R(mha_backward)(p->ctx, &attention, d->middle, &through_attention, p->err));
    if (attni_is_last(p->run, l))
        unpick(p, d);
    else
        memcpy(d->residual, d->middle, bytes_of(p, rows_of(p)));
    R(norm_backward)(&norm, rows_of(p), &saved, &through_norm);
    return ATTN_OK;
}

/* x = words[token], + positions */
static void backward_embedding(const pass *p, const real *dx) {
    const attni_run *run = p->run;
    const attni_embedding words = {run->config.n_words, run->config.d, NULL};
    const attni_position_kind *kind = R(position_kind)(run->config.positions.kind);
    R(embedding_backward)(&words, rows_of(p), p->text->tokens, dx,
                          outer_gradient(p, ATTNI_P_WORDS));
    if (kind->embed_backward)
        kind->embed_backward(&run->positions, rows_of(p), p->text->n, dx,
                             outer_gradient(p, ATTNI_P_POSITIONS));
}

attn_status R(transformer_backward)(attn_ctx *ctx, attni_run *run, const real *weights,
                                    const attni_text *text, real *dweights, attn_error *err) {
    const pass p = {ctx, run, weights, text, dweights, err};
    ATTN_TRY(check_text(run, text, err));
    ATTN_TRY(backward_answer(&p));
    for (int64_t l = run->config.layers - 1; l >= 0; l--) {
        ATTN_TRY(backward_mlp(&p, l));
        ATTN_TRY(backward_attention(&p, l));
    }
    backward_embedding(&p, run->gradient.layer[0].residual);
    return ATTN_OK;
}
