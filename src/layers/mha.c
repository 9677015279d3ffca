/* SPDX-License-Identifier: Apache-2.0 */
/* mha.c - see mha.h. Compiled per real type. Allocates nothing: products and attention take their
 * scratch from the context, one after another.
 * Tests: tests/layers/test_mha.c, tests/golden/test_layers.c */
#include "layers/mha.h"

#include "core/arena.h"
#include "layers/linear.h"

attni_mha_config R(mha_defaults)(int64_t d_model, int64_t H) {
    const int64_t d = H > 0 ? d_model / H : 0;
    return (attni_mha_config){.d_model = d_model,
                              .H = H,
                              .H_kv = H,
                              .d_k = d,
                              .d_v = d,
                              .scale = ATTN_SCALE_AUTO,
                              .temperature = 1};
}

/* --------------------------------------------------------------------------------------- sizes */

static const attni_position_kind *kind_of(const attni_mha_config *c) {
    return R(position_kind)(c->positions ? c->positions->how.kind : 0);
}

static int64_t n_distances(const attni_mha_config *c, const attni_mha_input *in) {
    const bool is_needed = kind_of(c)->bias && in->n_q > 0 && in->n_k > 0;
    return is_needed ? in->n_q + in->n_k - 1 : 0;
}

static real *rows_of_heads(attni_arena *arena, int64_t B, int64_t n, int64_t heads, int64_t d) {
    return attni_arena_take(arena, 4, (const int64_t[]){B, n, heads, d}, sizeof(real));
}

/* The saved activations, in the shapes of attni_mha_saved; by_distance takes room only if the
 * positions have a bias:
 *
 *     lse     | q     | k     | v     | concat | by_distance |
 *     doubles | reals | reals | reals | reals  | reals       |                                    */
static attni_mha_saved lay_out(const attni_mha_config *c, const attni_mha_input *in,
                               attni_arena *arena) {
    attni_mha_saved saved;
    saved.lse = attni_arena_take(arena, 3, (const int64_t[]){in->B, c->H, in->n_q}, sizeof(double));
    saved.q = rows_of_heads(arena, in->B, in->n_q, c->H, c->d_k);
    saved.k = rows_of_heads(arena, in->B, in->n_k, c->H_kv, c->d_k);
    saved.v = rows_of_heads(arena, in->B, in->n_k, c->H_kv, c->d_v);
    saved.concat = rows_of_heads(arena, in->B, in->n_q, c->H, c->d_v);
    saved.by_distance =
        attni_arena_take(arena, 2, (const int64_t[]){c->H, n_distances(c, in)}, sizeof(real));
    if (!kind_of(c)->bias) saved.by_distance = NULL;
    return saved;
}

static attn_status check_sizes(const attni_mha_config *c, const attni_mha_input *in,
                               attn_error *err) {
    if (c->d_model < 1 || c->H < 1 || c->H_kv < 1 || c->d_k < 1 || c->d_v < 1) {
        return attni_fail(err, ATTN_E_VALUE,
                          "mha: d_model %lld, H %lld, H_kv %lld, d_k %lld, d_v %lld, expected 1 or "
                          "more of each",
                          (long long)c->d_model, (long long)c->H, (long long)c->H_kv,
                          (long long)c->d_k, (long long)c->d_v);
    }
    if (c->H % c->H_kv != 0) {
        return attni_fail(err, ATTN_E_SHAPE, "mha: H_kv %lld does not divide H %lld",
                          (long long)c->H_kv, (long long)c->H);
    }
    /* The sum of the lengths is a number of distances. */
    if (in->B < 0 || in->n_q < 0 || in->n_k < 0 || in->n_q > INT64_MAX - in->n_k) {
        return attni_fail(err, ATTN_E_VALUE, "mha: B %lld, n_q %lld, n_k %lld out of range",
                          (long long)in->B, (long long)in->n_q, (long long)in->n_k);
    }
    return ATTN_OK;
}

attn_status R(mha_saved_size)(const attni_mha_config *config, const attni_mha_input *input,
                              size_t *reals, attn_error *err) {
    attni_arena measured = {0};
    ATTN_TRY(check_sizes(config, input, err));
    lay_out(config, input, &measured);
    if (!attni_arena_fits(&measured)) {
        return attni_fail(err, ATTN_E_OVERFLOW, "mha: B %lld, n_q %lld, n_k %lld are too large",
                          (long long)input->B, (long long)input->n_q, (long long)input->n_k);
    }
    *reals = measured.used / sizeof(real);
    return ATTN_OK;
}

attni_mha_saved R(mha_saved_place)(const attni_mha_config *config, const attni_mha_input *input,
                                   real *memory) {
    attni_arena arena = {.base = (char *)memory};
    const attni_mha_saved saved = lay_out(config, input, &arena);
    attni_assert(attni_arena_fits(&arena));
    return saved;
}

/* --------------------------------------------------------------------------------------- views */

/* Views (B, n, heads * d) rows as (B, heads, n, d). */
static attn_tensor heads_of(const attni_mha *layer, const real *rows, int64_t heads, int64_t n,
                            int64_t d) {
    return attn_tensor_bshd(rows, REAL_DTYPE, layer->input->B, heads, n, d);
}

static attn_tensor view_q(const attni_mha *layer, const real *q) {
    return heads_of(layer, q, layer->config->H, layer->input->n_q, layer->config->d_k);
}

static attn_tensor view_k(const attni_mha *layer, const real *k) {
    return heads_of(layer, k, layer->config->H_kv, layer->input->n_k, layer->config->d_k);
}

static attn_tensor view_v(const attni_mha *layer, const real *v) {
    return heads_of(layer, v, layer->config->H_kv, layer->input->n_k, layer->config->d_v);
}

static attn_tensor view_concat(const attni_mha *layer, const real *concat) {
    return heads_of(layer, concat, layer->config->H, layer->input->n_q, layer->config->d_v);
}

static attn_tensor view_lse(const attni_mha *layer) {
    const attni_mha_input *in = layer->input;
    return attn_tensor_bhsd(layer->saved->lse, ATTN_F64, in->B, layer->config->H, in->n_q, 1);
}

static attni_relative_shape distances(const attni_mha *layer) {
    const attni_mha_input *in = layer->input;
    return (attni_relative_shape){layer->config->H, in->n_q, in->n_k, in->first_query};
}

static bool has_distances(const attni_mha *layer) {
    return n_distances(layer->config, layer->input) > 0;
}

attn_args R(mha_args)(const attni_mha *layer) {
    const attni_mha_config *config = layer->config;
    attn_args args;
    attn_args_init(&args);
    args.q = view_q(layer, layer->saved->q);
    args.k = view_k(layer, layer->saved->k);
    args.v = view_v(layer, layer->saved->v);
    args.scale = config->scale;
    args.temperature = config->temperature;
    args.causal = config->causal;
    args.offset = layer->input->first_query;
    if (kind_of(config)->slopes) args.alibi = kind_of(config)->slopes(config->positions);
    args.len_k = layer->input->len_k;
    args.mask = layer->input->mask;
    args.dropout = layer->input->dropout;
    args.seed = layer->input->seed;
    if (has_distances(layer)) {
        const attni_relative_shape shape = distances(layer);
        args.bias = R(relative_view)(&shape, layer->saved->by_distance);
    }
    return args;
}

/* ------------------------------------------------------------------------------------- forward */

/* The four products with weight matrices. */
static attni_linear linear_q(const attni_mha *layer) {
    const attni_mha_config *c = layer->config;
    return (attni_linear){c->d_model, c->H * c->d_k, layer->params->w_q, layer->params->b_q};
}

static attni_linear linear_k(const attni_mha *layer) {
    const attni_mha_config *c = layer->config;
    return (attni_linear){c->d_model, c->H_kv * c->d_k, layer->params->w_k, layer->params->b_k};
}

static attni_linear linear_v(const attni_mha *layer) {
    const attni_mha_config *c = layer->config;
    return (attni_linear){c->d_model, c->H_kv * c->d_v, layer->params->w_v, layer->params->b_v};
}

static attni_linear linear_o(const attni_mha *layer) {
    const attni_mha_config *c = layer->config;
    return (attni_linear){c->H * c->d_v, c->d_model, layer->params->w_o, layer->params->b_o};
}

static const real *memory_of(const attni_mha *layer) {
    return layer->input->memory ? layer->input->memory : layer->input->x;
}

static attn_status check_positions(const attni_mha_config *c, attn_error *err) {
    const attni_position_plan *plan = c->positions;
    if (!plan || (plan->shape.H == c->H && plan->shape.d_k == c->d_k)) return ATTN_OK;
    return attni_fail(
        err, ATTN_E_SHAPE, "mha: positions for H %lld and d_k %lld, expected %lld and %lld",
        (long long)plan->shape.H, (long long)plan->shape.d_k, (long long)c->H, (long long)c->d_k);
}

static attn_status check(const attni_mha *layer, attn_error *err) {
    const attni_mha_input *in = layer->input;
    size_t reals;
    ATTN_TRY(check_positions(layer->config, err));
    if (!in->memory && in->n_q != in->n_k) {
        return attni_fail(
            err, ATTN_E_SHAPE,
            "mha: n_q %lld and n_k %lld, expected the same in self-attention, or give "
            "memory",
            (long long)in->n_q, (long long)in->n_k);
    }
    if (in->first_query < 0 || (in->first_query > 0 && !in->memory)) {
        return attni_fail(err, ATTN_E_VALUE,
                          "mha: first_query %lld, expected 0 or more, and 0 without memory",
                          (long long)in->first_query);
    }
    return R(mha_saved_size)(layer->config, in, &reals, err);
}

static attn_status project(attn_ctx *ctx, const attni_mha *layer, attn_error *err) {
    const attni_mha_input *in = layer->input;
    const attni_mha_saved *saved = layer->saved;
    const attni_linear q = linear_q(layer), k = linear_k(layer), v = linear_v(layer);
    const int64_t rows = in->B * in->n_q, memory_rows = in->B * in->n_k;
    ATTN_TRY(R(linear_forward)(ctx, &q, rows, in->x, saved->q, err));
    ATTN_TRY(R(linear_forward)(ctx, &k, memory_rows, memory_of(layer), saved->k, err));
    return R(linear_forward)(ctx, &v, memory_rows, memory_of(layer), saved->v, err);
}

/* Rotates q and k, and fills the bias by distance. */
static attn_status set_positions(const attni_mha *layer, attn_error *err) {
    const attni_position_plan *plan = layer->config->positions;
    const attni_position_kind *kind = kind_of(layer->config);
    if (kind->turn) {
        const attn_tensor q = view_q(layer, layer->saved->q), k = view_k(layer, layer->saved->k);
        ATTN_TRY(kind->turn(plan, layer->input->first_query, &q, err));
        ATTN_TRY(kind->turn(plan, 0, &k, err));
    }
    if (!has_distances(layer)) return ATTN_OK;
    const attni_relative_shape shape = distances(layer);
    return kind->bias(plan, &shape, layer->params->positions, layer->saved->by_distance, err);
}

attn_status R(mha_forward)(attn_ctx *ctx, const attni_mha *layer, real *y, attn_error *err) {
    ATTN_TRY(check(layer, err));
    ATTN_TRY(project(ctx, layer, err));
    ATTN_TRY(set_positions(layer, err));
    const attn_args args = R(mha_args)(layer);
    const attn_tensor concat = view_concat(layer, layer->saved->concat), lse = view_lse(layer);
    ATTN_TRY(attn_forward(ctx, &args, &concat, &lse, err));
    const attni_linear o = linear_o(layer);
    const int64_t rows = layer->input->B * layer->input->n_q;
    return R(linear_forward)(ctx, &o, rows, layer->saved->concat, y, err);
}

/* ------------------------------------------------------------------------------------ backward */

/* y = concat W_O + b_O */
static attn_status backward_output(attn_ctx *ctx, const attni_mha *layer, const real *dy,
                                   const attni_mha_gradients *g, attn_error *err) {
    const attni_linear o = linear_o(layer);
    const attni_linear_grad grad = {.x = layer->saved->concat,
                                    .dy = dy,
                                    .dx = g->d.concat,
                                    .dw = g->params.w_o,
                                    .db = g->params.b_o};
    return R(linear_backward)(ctx, &o, layer->input->B * layer->input->n_q, &grad, err);
}

/* concat = attention(q, k, v), where the bias by distance comes from a learned parameter */
static attn_status backward_attention(attn_ctx *ctx, const attni_mha *layer,
                                      const attni_mha_gradients *g, attn_error *err) {
    const attn_args args = R(mha_args)(layer);
    const attn_results results = {.struct_size = sizeof(attn_results),
                                  .out = view_concat(layer, layer->saved->concat),
                                  .lse = view_lse(layer),
                                  .dout = view_concat(layer, g->d.concat)};
    const attni_position_kind *kind = kind_of(layer->config);
    const attni_relative_shape shape = distances(layer);
    const bool wants_bias = has_distances(layer) && kind->bias_backward && g->params.positions;
    attn_gradients gradients;
    attn_gradients_init(&gradients);
    gradients.dq = view_q(layer, g->d.q);
    gradients.dk = view_k(layer, g->d.k);
    gradients.dv = view_v(layer, g->d.v);
    if (wants_bias) gradients.dbias = R(relative_view)(&shape, g->d.by_distance);
    ATTN_TRY(attn_backward(ctx, &args, &results, &gradients, err));
    if (!wants_bias) return ATTN_OK;
    return kind->bias_backward(layer->config->positions, &shape, g->d.by_distance,
                               g->params.positions, err);
}

/* q and k were rotated after their products */
static attn_status backward_turn(const attni_mha *layer, const attni_mha_gradients *g,
                                 attn_error *err) {
    const attni_position_kind *kind = kind_of(layer->config);
    const attn_tensor dq = view_q(layer, g->d.q), dk = view_k(layer, g->d.k);
    if (!kind->turn_backward) return ATTN_OK;
    ATTN_TRY(kind->turn_backward(layer->config->positions, layer->input->first_query, &dq, err));
    return kind->turn_backward(layer->config->positions, 0, &dk, err);
}

/* q = x W_Q + b_Q, k = m W_K + b_K, v = m W_V + b_V */
static attn_status backward_projections(attn_ctx *ctx, const attni_mha *layer,
                                        const attni_mha_gradients *g, attn_error *err) {
    const attni_mha_input *in = layer->input;
    const attni_linear q = linear_q(layer), k = linear_k(layer), v = linear_v(layer);
    const attni_linear_grad of_q = {
        .x = in->x, .dy = g->d.q, .dx = g->dx, .dw = g->params.w_q, .db = g->params.b_q};
    const attni_linear_grad of_k = {.x = memory_of(layer),
                                    .dy = g->d.k,
                                    .dx = in->memory ? g->dmemory : g->dx,
                                    .add_dx = !in->memory,
                                    .dw = g->params.w_k,
                                    .db = g->params.b_k};
    const attni_linear_grad of_v = {.x = memory_of(layer),
                                    .dy = g->d.v,
                                    .dx = of_k.dx,
                                    .add_dx = true,
                                    .dw = g->params.w_v,
                                    .db = g->params.b_v};
    ATTN_TRY(R(linear_backward)(ctx, &q, in->B * in->n_q, &of_q, err));
    ATTN_TRY(R(linear_backward)(ctx, &k, in->B * in->n_k, &of_k, err));
    return R(linear_backward)(ctx, &v, in->B * in->n_k, &of_v, err);
}

attn_status R(mha_backward)(attn_ctx *ctx, const attni_mha *layer, const real *dy,
                            const attni_mha_gradients *gradients, attn_error *err) {
    ATTN_TRY(check(layer, err));
    ATTN_TRY(backward_output(ctx, layer, dy, gradients, err));
    ATTN_TRY(backward_attention(ctx, layer, gradients, err));
    ATTN_TRY(backward_turn(layer, gradients, err));
    return backward_projections(ctx, layer, gradients, err);
}
