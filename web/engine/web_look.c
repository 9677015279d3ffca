/* SPDX-License-Identifier: Apache-2.0 */
/* web_look.c - the views of web_look.h. Scores, weights and entropy come from attn_inspect(). */
#include "web_look.h"

#include "layers/linear.h"

/* ---------------------------------------------------------------------------------------- input */

/* As the page writes it. */
enum { N, TOKENS, MASK, WINDOW, PADDING, SCALE, TEMPERATURE, N_OFF, OFF, GRADIENT_AT };

web_look_input web_look_read(const double *block) {
    return (web_look_input){.n = (int64_t)block[N],
                            .tokens = web_address(block[TOKENS]),
                            .mask = (web_mask)block[MASK],
                            .window = (int64_t)block[WINDOW],
                            .padding = (int64_t)block[PADDING],
                            .scaling = (lab_scaling)block[SCALE],
                            .temperature = block[TEMPERATURE],
                            .n_off = (int64_t)block[N_OFF],
                            .off = web_address(block[OFF]),
                            .gradient_at = (int64_t)block[GRADIENT_AT]};
}

bool web_is_off(const web_look_input *in, int64_t l, int64_t heads, int64_t h) {
    for (int64_t i = 0; i < in->n_off; i++)
        if (in->off[i] == l * heads + h) return true;
    return false;
}

bool web_needs_visible(const web_look_input *in) {
    return in->mask == WEB_WINDOW || in->mask == WEB_PADDING;
}

static bool sees(const web_look_input *in, int64_t i, int64_t j) {
    switch (in->mask) {
    case WEB_CAUSAL: return j <= i;
    case WEB_WINDOW: return j - i <= in->window && i - j <= in->window;
    case WEB_PADDING: return j < in->n - in->padding;
    default: return true;
    }
}

void web_fill_visible(const web_look_input *in, bool causal, uint8_t *visible) {
    for (int64_t i = 0; i < in->n; i++)
        for (int64_t j = 0; j < in->n; j++) *visible++ = sees(in, i, j) && (!causal || j <= i);
}

double web_norm(const float *x, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += (double)x[i] * (double)x[i];
    return sqrt(sum);
}

/* -------------------------------------------------------------------------------------- weights */

/* Views of (layers, heads, n, columns) for one layer. */
static attn_tensor layer_of(const web_scene *s, float *all, int64_t l, int64_t columns) {
    return attn_tensor_bhsd(all + l * s->heads * s->n * columns, ATTN_F32, 1, s->heads, s->n,
                            columns);
}

static attn_status put_weights(const web_scene *s, float **weights) {
    const web_shape pairs = WEB_SHAPE(s->layers, s->heads, s->n, s->n);
    float *scores = web_put("scores", WEB_F32, pairs);
    float *entropy = web_put("entropy", WEB_F32, WEB_SHAPE(s->layers, s->heads, s->n));
    *weights = web_put("weights", WEB_F32, pairs);
    ATTN_TRY(web_result_status());
    for (int64_t l = 0; l < s->layers; l++) {
        attn_inspection what;
        attn_inspection_init(&what);
        what.biased = layer_of(s, scores, l, s->n);
        what.weights = layer_of(s, *weights, l, s->n);
        what.entropy = layer_of(s, entropy, l, 1);
        ATTN_TRY(attn_inspect(web_ctx(), &s->attention[l], &what, &web_error));
    }
    return ATTN_OK;
}

/* -------------------------------------------------------------------------------------- rollout */

/* Half the mean of the heads of a layer, half what the token keeps by itself. mixed (n, n) */
static void mix(const web_scene *s, const float *weights, float *mixed) {
    const int64_t cells = s->n * s->n;
    for (int64_t i = 0; i < cells; i++) {
        float sum = 0;
        for (int64_t h = 0; h < s->heads; h++) sum += weights[h * cells + i];
        mixed[i] = sum / (float)(2 * s->heads);
    }
    for (int64_t i = 0; i < s->n; i++) mixed[i * (s->n + 1)] += 0.5f;
}

/* The product of the mixed weights, last layer first (Abnar and Zuidema, 2020). */
static attn_status put_rollout(const web_scene *s, const float *weights) {
    const size_t cells = (size_t)(s->n * s->n);
    float *rollout = web_put("rollout", WEB_F32, WEB_SHAPE(s->n, s->n));
    float *mixed = web_scratch(2 * cells, sizeof *mixed);
    ATTN_TRY(web_result_status());
    float *before = mixed + cells;
    mix(s, weights, rollout);
    for (int64_t l = 1; l < s->layers; l++) {
        memcpy(before, rollout, cells * sizeof *before);
        mix(s, weights + (size_t)(l * s->heads) * cells, mixed);
        const attni_linear times = {.n_in = s->n, .n_out = s->n, .w = before};
        ATTN_TRY(R(linear_forward)(web_ctx(), &times, s->n, mixed, rollout, &web_error));
    }
    return ATTN_OK;
}

/* ----------------------------------------------------------------------------- vectors, gradient */

/* Dense, head by head. */
static float *copy_heads(const attn_tensor *from, float *to) {
    const float *cell = from->data;
    const int64_t d = from->shape[3];
    for (int64_t h = 0; h < from->shape[1]; h++)
        for (int64_t i = 0; i < from->shape[2]; i++, to += d)
            memcpy(to, cell + h * from->stride[1] + i * from->stride[2], (size_t)d * sizeof *to);
    return to;
}

/* Queries and keys of every head; the tokens before the first layer and after the last. */
static attn_status put_vectors(const web_scene *s) {
    const size_t cells = (size_t)(s->n * s->d);
    const web_shape heads = WEB_SHAPE(s->layers, s->heads, s->n, s->attention[0].q.shape[3]);
    float *q = web_put("q", WEB_F32, heads), *k = web_put("k", WEB_F32, heads);
    float *states = web_put("states", WEB_F32, WEB_SHAPE(2, s->n, s->d));
    ATTN_TRY(web_result_status());
    for (int64_t l = 0; l < s->layers; l++) {
        q = copy_heads(&s->attention[l].q, q);
        k = copy_heads(&s->attention[l].k, k);
    }
    memcpy(states, s->before, cells * sizeof *states);
    memcpy(states + cells, s->after, cells * sizeof *states);
    return ATTN_OK;
}

/* What would lower the loss by growing: out = A v, so dA = dout v^T, dot products that attn_inspect()
 * computes as scores of dout and v; then A * -dA where it is positive. */
static attn_status put_gradient(const web_scene *s, const float *weights) {
    const size_t cells = (size_t)(s->layers * s->heads * s->n * s->n);
    float *weighted = web_put("weighted", WEB_F32, WEB_SHAPE(s->layers, s->heads, s->n, s->n));
    float *by_position = web_put("by_position", WEB_F32, WEB_SHAPE(s->n));
    ATTN_TRY(web_result_status());
    for (int64_t l = 0; l < s->layers; l++) {
        attn_args args;
        attn_inspection what;
        attn_args_init(&args);
        attn_inspection_init(&what);
        args.q = args.k = args.v = s->attention[l].v;
        args.q.data = s->gradient[l].concat; /* (n, heads, d_v), as v is */
        args.scale = 1;
        what.raw = layer_of(s, weighted, l, s->n);
        ATTN_TRY(attn_inspect(web_ctx(), &args, &what, &web_error));
    }
    for (size_t i = 0; i < cells; i++) weighted[i] = fmaxf(0, -weights[i] * weighted[i]);
    for (int64_t i = 0; i < s->n; i++)
        by_position[i] = (float)web_norm(s->dbefore + i * s->d, (size_t)s->d);
    return ATTN_OK;
}

attn_status web_put_views(const web_look_input *in, const web_scene *scene) {
    float *weights;
    uint8_t *visible = web_put("visible", WEB_U8, WEB_SHAPE(scene->n, scene->n));
    ATTN_TRY(web_result_status());
    web_fill_visible(in, scene->causal, visible);
    ATTN_TRY(put_weights(scene, &weights));
    ATTN_TRY(put_rollout(scene, weights));
    ATTN_TRY(put_vectors(scene));
    return scene->gradient ? put_gradient(scene, weights) : ATTN_OK;
}
