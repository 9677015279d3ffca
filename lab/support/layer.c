/* SPDX-License-Identifier: Apache-2.0 */
/* layer.c - see layer.h. */
#define ATTNI_REAL_f64
#include "support/layer.h"

#include "layers/mha.h"
#include "steps/attend.h"
#include "steps/stream.h"

#include <stdlib.h>

/* ---- the same layer in terms of src/layers ---- */

static attni_mha_config config_of(const lab_layer *layer) {
    attni_mha_config config = R(mha_defaults)(layer->d_model, 1);
    config.d_k = config.d_v = layer->d_k;
    config.causal = layer->causal;
    if (layer->scale != 0) config.scale = layer->scale;
    return config;
}

static attni_mha_input input_of(const lab_layer *layer) {
    return (attni_mha_input){
        .B = layer->B, .n_q = layer->n, .n_k = layer->n, .x = layer->value[LAB_LAYER_X]};
}

static attni_mha_params params_of(double *const part[LAB_LAYER_PARTS]) {
    return (attni_mha_params){.w_q = part[LAB_LAYER_W_Q],
                              .w_k = part[LAB_LAYER_W_K],
                              .w_v = part[LAB_LAYER_W_V],
                              .w_o = part[LAB_LAYER_W_O],
                              .b_q = part[LAB_LAYER_B_Q],
                              .b_k = part[LAB_LAYER_B_K],
                              .b_v = part[LAB_LAYER_B_V],
                              .b_o = part[LAB_LAYER_B_O]};
}

/* One call of the layer: attni_mha and everything it points to. Must not be moved. */
typedef struct call {
    attni_mha_config config;
    attni_mha_params params;
    attni_mha_input input;
    attni_mha_saved saved;
    attni_mha mha;
} call;

static const attni_mha *call_of(const lab_layer *layer, call *c) {
    c->config = config_of(layer);
    c->params = params_of(layer->value);
    c->input = input_of(layer);
    c->saved = R(mha_saved_place)(&c->config, &c->input, layer->saved);
    c->mha = (attni_mha){&c->config, &c->params, &c->input, &c->saved};
    return &c->mha;
}

/* ---- memory ---- */

static void set_sizes(lab_layer *layer) {
    const int64_t d = layer->d_model, d_k = layer->d_k;
    for (int part = LAB_LAYER_W_Q; part <= LAB_LAYER_W_O; part++) layer->size[part] = d * d_k;
    for (int part = LAB_LAYER_B_Q; part <= LAB_LAYER_B_V; part++) layer->size[part] = d_k;
    layer->size[LAB_LAYER_B_O] = d;
    layer->size[LAB_LAYER_X] = layer->B * layer->n * d;
}

attn_status lab_layer_create(lab_layer *layer, attn_error *err) {
    const attni_mha_config config = config_of(layer);
    const attni_mha_input input = input_of(layer);
    size_t saved;
    ATTN_TRY(R(mha_saved_size)(&config, &input, &saved, err));
    set_sizes(layer);
    const size_t rows = (size_t)layer->size[LAB_LAYER_X];
    size_t parts = 0;
    for (int part = 0; part < LAB_LAYER_PARTS; part++) parts += (size_t)layer->size[part];
    /* values, gradients, y, dy, saved, dsaved */
    double *memory = layer->memory = calloc(2 * (parts + rows + saved), sizeof *memory);
    if (memory == NULL) return attni_fail(err, ATTN_E_MEMORY, "layer: no memory for its arrays");
    for (int part = 0; part < LAB_LAYER_PARTS; part++) {
        layer->value[part] = memory;
        layer->gradient[part] = memory + layer->size[part];
        memory += 2 * layer->size[part];
    }
    layer->y = memory;
    layer->dy = layer->y + rows;
    layer->saved = layer->dy + rows;
    layer->dsaved = layer->saved + saved;
    for (size_t i = 0; i < rows; i++) layer->dy[i] = 1;
    return ATTN_OK;
}

void lab_layer_free(lab_layer *layer) {
    free(layer->memory);
    layer->memory = NULL;
}

void lab_layer_draw(lab_layer *layer, uint32_t seed) {
    lab_stream stream;
    lab_stream_seed(&stream, seed);
    const double deviation = sqrt(2 / (double)(layer->d_model + layer->d_k));
    for (int part = LAB_LAYER_W_Q; part <= LAB_LAYER_W_O; part++) {
        lab_stream_normals(&stream, (size_t)layer->size[part], deviation, layer->value[part]);
    }
    lab_stream_normals(&stream, (size_t)layer->size[LAB_LAYER_X], 1, layer->value[LAB_LAYER_X]);
}

/* ---- running ---- */

attn_status lab_layer_forward(attn_ctx *ctx, lab_layer *layer, attn_error *err) {
    call c;
    return R(mha_forward)(ctx, call_of(layer, &c), layer->y, err);
}

attn_status lab_layer_backward(attn_ctx *ctx, lab_layer *layer, attn_error *err) {
    call c;
    const attni_mha *mha = call_of(layer, &c);
    /* gradients of parameters are added to */
    for (int part = 0; part < LAB_LAYER_PARTS; part++) {
        memset(layer->gradient[part], 0, (size_t)layer->size[part] * sizeof(double));
    }
    const attni_mha_gradients gradients = {
        .dx = layer->gradient[LAB_LAYER_X],
        .params = params_of(layer->gradient),
        .d = R(mha_saved_place)(&c.config, &c.input, layer->dsaved)};
    return R(mha_backward)(ctx, mha, layer->dy, &gradients, err);
}

attn_status lab_layer_inspect(attn_ctx *ctx, const lab_layer *layer, double *scores,
                              double *weights, attn_error *err) {
    call c;
    const attn_args args = R(mha_args)(call_of(layer, &c));
    const int64_t B = layer->B, n = layer->n;
    attn_inspection what;
    attn_inspection_init(&what);
    if (scores) what.raw = attn_tensor_bhsd(scores, ATTN_F64, B, 1, n, n);
    if (weights) what.weights = attn_tensor_bhsd(weights, ATTN_F64, B, 1, n, n);
    return attn_inspect(ctx, &args, &what, err);
}

double lab_layer_norm(const lab_layer *layer, lab_layer_part part) {
    return lab_norm(layer->gradient[part], layer->size[part]);
}

void lab_layer_position_norms(const lab_layer *layer, double *norm) {
    const int64_t n = layer->n, d = layer->d_model;
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t b = 0; b < layer->B; b++) {
            sum += lab_norm(layer->gradient[LAB_LAYER_X] + (b * n + i) * d, d);
        }
        norm[i] = sum / (double)layer->B;
    }
}

/* dy: normal numbers for the last position of each sequence, 0 elsewhere. */
static void draw_last_loss(lab_layer *layer, uint32_t seed) {
    const int64_t width = layer->d_model;
    lab_stream stream;
    lab_stream_seed(&stream, seed);
    memset(layer->dy, 0, (size_t)(layer->B * layer->n * width) * sizeof *layer->dy);
    for (int64_t b = 0; b < layer->B; b++)
        lab_stream_normals(&stream, (size_t)width, 1, layer->dy + ((b + 1) * layer->n - 1) * width);
}

attn_status lab_layer_last_norms(attn_ctx *ctx, lab_layer *layer, uint32_t draws, uint32_t seed,
                                 double *norm, attn_error *err) {
    double *one = malloc((size_t)layer->n * sizeof *one);
    attn_status status = one ? ATTN_OK : attni_fail(err, ATTN_E_MEMORY, "norms of positions");
    memset(norm, 0, (size_t)layer->n * sizeof *norm);
    for (uint32_t draw = 0; draw < draws && status == ATTN_OK; draw++) {
        lab_layer_draw(layer, seed + draw);
        draw_last_loss(layer, seed + 1000 + draw);
        status = lab_layer_forward(ctx, layer, err);
        if (status == ATTN_OK) status = lab_layer_backward(ctx, layer, err);
        if (status != ATTN_OK) break;
        lab_layer_position_norms(layer, one);
        for (int64_t i = 0; i < layer->n; i++) norm[i] += one[i] / draws;
    }
    free(one);
    return status;
}
