/* SPDX-License-Identifier: Apache-2.0 */
/* test_mha.c - the multi-head attention layer against its definition (plain_mha.c): outputs, and
 * every gradient against finite differences of the definition. Built once per real type. Tolerances
 * relative to max(1, |x|): outputs f64 1e-13, f32 2e-6; gradients f64 as differences.h says, f32
 * 5e-6: sums of some hundred products of size 1. */
#include "arrays.h"
#include "differences.h"
#include "layers/mha.h"
#include "plain_mha.h"

#include <stdlib.h>

enum { POSITIONS = 16 };

static const double output_tolerance = REAL_IS_F64 ? 1e-13 : 2e-6;
static const double gradient_tolerance = REAL_IS_F64 ? DIFFERENCES_TOLERANCE : 5e-6;

/* A scene in the layer's own terms. */
typedef struct run {
    scene *s;
    attn_ctx *ctx;
    attni_position_plan positions;
    attni_mha_config config;
    attni_mha_params params;
    attni_mha_input input;
    attni_mha_saved saved;
    attni_mha layer;
    attni_mha_gradients gradients;
    real *value[SCENE_ARRAYS], *gradient[SCENE_ARRAYS];
    real *y, *dy, *memory, *dmemory;
    size_t size; /* of memory and dmemory, in reals */
} run;

/* -------------------------------------------------------------------------------------- set-up */

static real *rounded(const double *x, int64_t n) {
    real *y = malloc((size_t)(n + 1) * sizeof *y);
    for (int64_t i = 0; i < n; i++) y[i] = (real)x[i];
    return y;
}

/* Filled with `with`, so that what is not set, and what is not added to, shows. */
static real *filled(size_t n, real with) {
    real *y = malloc((n + 1) * sizeof *y);
    for (size_t i = 0; i < n; i++) y[i] = with;
    return y;
}

static attni_mha_params params_of(real *const arrays[SCENE_ARRAYS]) {
    return (attni_mha_params){.w_q = arrays[SCENE_W_Q],
                              .w_k = arrays[SCENE_W_K],
                              .w_v = arrays[SCENE_W_V],
                              .w_o = arrays[SCENE_W_O],
                              .b_q = arrays[SCENE_B_Q],
                              .b_k = arrays[SCENE_B_K],
                              .b_v = arrays[SCENE_B_V],
                              .b_o = arrays[SCENE_B_O],
                              .positions = arrays[SCENE_TABLE]};
}

/* The kind that the scene has, one at most. */
static void set_positions(run *r) {
    const scene *s = r->s;
    attni_position_plan *plan = &r->positions;
    const char *name = s->rope_dim ? "rope" : s->alibi ? "alibi" : s->relative ? "t5" : "none";
    CHECK_INT(attni_positions_named(name, &plan->how, NULL), ATTN_OK);
    if (s->rope_dim) {
        plan->how.base = ROPE_BASE;
        plan->how.rotary = s->rope_dim;
        plan->how.interleaved = s->interleaved;
    }
    if (s->relative) {
        plan->how.buckets = NUM_BUCKETS;
        plan->how.max_distance = MAX_DISTANCE;
    }
    plan->shape = (attni_positions_shape){
        .length = POSITIONS, .H = s->H, .d_k = s->d_k, .causal = s->causal_buckets};
    CHECK_INT(attni_positions_check(&plan->how, &plan->shape, NULL), ATTN_OK);
    plan->constants = filled(R(position_constants)(&plan->how, &plan->shape), (real)NAN);
    CHECK_INT(R(position_prepare)(plan, NULL), ATTN_OK);
    r->config.positions = plan;
}

static void set_config(run *r) {
    const scene *s = r->s;
    r->config = R(mha_defaults)(s->d_model, s->H);
    r->config.H_kv = s->H_kv;
    r->config.d_k = s->d_k;
    r->config.d_v = s->d_v;
    r->config.causal = s->causal;
    r->config.temperature = s->temperature;
    if (s->scale != 0) r->config.scale = s->scale;
    set_positions(r);
}

static void run_begin(run *r, scene *s) {
    *r = (run){.s = s};
    scene_begin(s);
    set_config(r);
    for (int a = 0; a < SCENE_ARRAYS; a++) {
        const bool is_activation = a == SCENE_X || a == SCENE_MEMORY;
        if (!s->value[a]) continue;
        r->value[a] = rounded(s->value[a], s->count[a]);
        r->gradient[a] = filled((size_t)s->count[a], is_activation ? (real)NAN : 1);
    }
    r->params = params_of(r->value);
    r->input = (attni_mha_input){.B = s->B,
                                 .n_q = s->n_q,
                                 .n_k = s->n_k,
                                 .first_query = s->first_query,
                                 .x = r->value[SCENE_X],
                                 .memory = r->value[SCENE_MEMORY],
                                 .len_k = s->padded ? s->len_k : NULL,
                                 .dropout = s->dropout,
                                 .seed = s->seed};
    CHECK_INT(R(mha_saved_size)(&r->config, &r->input, &r->size, NULL), ATTN_OK);
    r->memory = filled(r->size, (real)NAN);
    r->dmemory = filled(r->size, (real)NAN);
    r->saved = R(mha_saved_place)(&r->config, &r->input, r->memory);
    r->layer = (attni_mha){&r->config, &r->params, &r->input, &r->saved};
    r->gradients = (attni_mha_gradients){r->gradient[SCENE_X], r->gradient[SCENE_MEMORY],
                                         params_of(r->gradient),
                                         R(mha_saved_place)(&r->config, &r->input, r->dmemory)};
    r->y = filled((size_t)s->count[SCENE_X], (real)NAN);
    r->dy = rounded(s->dy, s->count[SCENE_X]);
    CHECK_INT(attn_ctx_create(NULL, &r->ctx, NULL), ATTN_OK);
}

static void run_end(run *r) {
    attn_ctx_destroy(r->ctx);
    for (int a = 0; a < SCENE_ARRAYS; a++) free(r->value[a]), free(r->gradient[a]);
    free(r->positions.constants), free(r->memory), free(r->dmemory), free(r->y), free(r->dy);
    scene_end(r->s);
}

static void forward(run *r) {
    attn_error err = {{0}};
    CHECK_MSG(R(mha_forward)(r->ctx, &r->layer, r->y, &err) == ATTN_OK, "%s", err.message);
}

static void backward(run *r) {
    attn_error err = {{0}};
    const attn_status status = R(mha_backward)(r->ctx, &r->layer, r->dy, &r->gradients, &err);
    CHECK_MSG(status == ATTN_OK, "%s", err.message);
}

/* ----------------------------------------------------------------------------------- comparing */

static void compare_output(const run *r) {
    const int64_t n = r->s->count[SCENE_X];
    double *want = malloc((size_t)(n + 1) * sizeof *want);
    scene_output(r->s, want);
    for (int64_t i = 0; i < n; i++) {
        const double allowed = output_tolerance * fmax(1, fabs(want[i]));
        if (check_is_near((double)r->y[i], want[i], allowed)) continue;
        check_failed(__FILE__, __LINE__, "y[%lld] is %.17g, expected %.17g +- %.2g", (long long)i,
                     (double)r->y[i], want[i], allowed);
        break;
    }
    free(want);
}

static void compare_gradient(const run *r, scene_array array) {
    static const char *const names[SCENE_ARRAYS] = {
        "dx", "dmemory", "dW_Q", "dW_K", "dW_V", "dW_O", "db_Q", "db_K", "db_V", "db_O", "dtable"};
    const bool is_activation = array == SCENE_X || array == SCENE_MEMORY;
    for (int64_t i = 0; i < r->s->count[array]; i++) {
        const double want = scene_slope(r->s, array, i) + (is_activation ? 0 : 1);
        const double allowed = gradient_tolerance * fmax(1, fabs(want));
        CHECK_MSG(check_is_near((double)r->gradient[array][i], want, allowed),
                  "%s[%lld] is %.17g, expected %.17g +- %.2g", names[array], (long long)i,
                  (double)r->gradient[array][i], want, allowed);
    }
}

/* Outputs and all gradients, those of parameters on top of the ones they started from. */
static void examine(scene s) {
    run r;
    run_begin(&r, &s);
    if (!check_has_failed()) forward(&r);
    if (!check_has_failed()) compare_output(&r);
    if (!check_has_failed()) backward(&r);
    for (int a = 0; a < SCENE_ARRAYS && !check_has_failed(); a++) {
        compare_gradient(&r, (scene_array)a);
    }
    run_end(&r);
}

/* --------------------------------------------------------------------------------------- facts */

static scene self_attention(uint64_t seed) {
    return (scene){.seed = seed,
                   .B = 2,
                   .n_q = 5,
                   .n_k = 5,
                   .d_model = 6,
                   .H = 2,
                   .H_kv = 2,
                   .d_k = 4,
                   .d_v = 3,
                   .bias = true,
                   .temperature = 1};
}

static scene cross_attention(uint64_t seed) {
    scene s = self_attention(seed);
    s.cross = true;
    s.n_k = 7;
    return s;
}

TEST(self_attention_is_right_both_ways) { examine(self_attention(1)); }

TEST(causal_self_attention_is_right_both_ways) {
    scene s = self_attention(2);
    s.causal = true;
    examine(s);
}

TEST(layer_without_biases_is_right_both_ways) {
    scene s = self_attention(3);
    s.bias = false;
    examine(s);
}

TEST(cross_attention_is_right_both_ways) { examine(cross_attention(4)); }

TEST(cross_attention_to_fewer_keys_is_right_both_ways) {
    scene s = cross_attention(5);
    s.n_k = 3;
    s.causal = true;
    examine(s);
}

TEST(grouped_queries_are_right_both_ways) {
    scene s = self_attention(6);
    s.H = 4;
    s.causal = true;
    examine(s);
}

TEST(one_key_head_for_all_queries_is_right_both_ways) {
    scene s = cross_attention(7);
    s.H = 3;
    s.H_kv = 1;
    examine(s);
}

TEST(padding_is_right_both_ways) {
    scene s = cross_attention(8);
    s.padded = true;
    examine(s);
}

TEST(padding_that_leaves_no_key_is_right_both_ways) {
    scene s = cross_attention(9);
    s.padded = true;
    s.n_k = 2; /* lengths 1 and 0 */
    examine(s);
}

TEST(scale_and_temperature_are_right_both_ways) {
    scene s = self_attention(10);
    s.scale = 0.3;
    s.temperature = 0.7;
    examine(s);
}

TEST(dropout_is_right_both_ways) {
    scene s = self_attention(11);
    s.dropout = 0.4;
    examine(s);
}

TEST(alibi_is_right_both_ways) {
    scene s = cross_attention(12);
    s.alibi = true;
    examine(s);
}

TEST(half_split_rope_is_right_both_ways) {
    scene s = self_attention(13);
    s.rope_dim = 4;
    examine(s);
}

TEST(partial_interleaved_rope_on_groups_is_right_both_ways) {
    scene s = cross_attention(14);
    s.H_kv = 1;
    s.rope_dim = 2;
    s.interleaved = true;
    examine(s);
}

TEST(relative_bias_is_right_both_ways) {
    scene s = cross_attention(15);
    s.relative = true;
    examine(s);
}

TEST(causal_relative_bias_is_right_both_ways) {
    scene s = self_attention(16);
    s.relative = s.causal = s.causal_buckets = true;
    examine(s);
}

static scene everything_but_positions(void) {
    scene s = cross_attention(17);
    s.H = 4;
    s.causal = s.padded = true;
    s.scale = 0.4;
    s.temperature = 1.3;
    s.dropout = 0.2;
    return s;
}

TEST(everything_together_with_rope_is_right_both_ways) {
    scene s = everything_but_positions();
    s.rope_dim = 4;
    examine(s);
}

TEST(everything_together_with_alibi_is_right_both_ways) {
    scene s = everything_but_positions();
    s.alibi = true;
    examine(s);
}

TEST(everything_together_with_a_relative_bias_is_right_both_ways) {
    scene s = everything_but_positions();
    s.relative = true;
    examine(s);
}

/* Three queries that stand at keys 2, 3 and 4 of seven. */
static scene in_the_middle_of_the_keys(void) {
    scene s = cross_attention(19);
    s.n_q = 3;
    s.first_query = 2;
    s.causal = true;
    return s;
}

TEST(turned_queries_in_the_middle_of_the_keys_are_right_both_ways) {
    scene s = in_the_middle_of_the_keys();
    s.rope_dim = 4;
    examine(s);
}

TEST(sloped_queries_in_the_middle_of_the_keys_are_right_both_ways) {
    scene s = in_the_middle_of_the_keys();
    s.alibi = true;
    examine(s);
}

TEST(biased_queries_in_the_middle_of_the_keys_are_right_both_ways) {
    scene s = in_the_middle_of_the_keys();
    s.relative = true;
    examine(s);
}

TEST(bias_of_keys_has_no_gradient) {
    scene s = self_attention(18);
    run r;
    run_begin(&r, &s);
    forward(&r);
    backward(&r);
    for (int64_t i = 0; i < s.count[SCENE_B_K] && !check_has_failed(); i++) {
        CHECK_NEAR(r.gradient[SCENE_B_K][i], 1, REAL_IS_F64 ? 1e-14 : 1e-6);
    }
    run_end(&r);
}

/* ---------------------------------------------------------------------------------- properties */

/* Rows of x in the order 0 2 4 1 3 of each sequence of 5. */
static void permute(const run *r, real *x) {
    const int64_t d = r->s->d_model;
    for (int64_t t = 0; t < r->s->B * 5; t++) {
        const int64_t from = t / 5 * 5 + t % 5 * 2 % 5;
        memcpy(x + t * d, r->value[SCENE_X] + from * d, (size_t)d * sizeof *x);
    }
}

/* The largest difference between the output of permuted rows and permuted rows of the output. */
static double order_matters_by(scene s) {
    run r;
    double most = 0;
    run_begin(&r, &s);
    real *x = filled((size_t)s.count[SCENE_X], 0), *y = filled((size_t)s.count[SCENE_X], 0);
    forward(&r);
    memcpy(y, r.y, (size_t)s.count[SCENE_X] * sizeof *y);
    permute(&r, x);
    r.input.x = x;
    forward(&r);
    for (int64_t e = 0; e < s.count[SCENE_X]; e++) {
        const int64_t t = e / s.d_model, from = t / 5 * 5 + t % 5 * 2 % 5;
        most = fmax(most, fabs((double)(r.y[e] - y[from * s.d_model + e % s.d_model])));
    }
    free(x), free(y);
    run_end(&r);
    return most;
}

TEST(without_positions_attention_does_not_see_the_order) {
    CHECK_NEAR(order_matters_by(self_attention(20)), 0, output_tolerance);
}

TEST(with_positions_attention_sees_the_order) {
    scene turned = self_attention(20), biased = turned, sloped = turned;
    turned.rope_dim = 4;
    biased.relative = true;
    sloped.alibi = true;
    CHECK(order_matters_by(turned) > 1e-3);
    CHECK(order_matters_by(biased) > 1e-3);
    CHECK(order_matters_by(sloped) > 1e-3);
}

TEST(weights_of_every_row_sum_to_one) {
    scene s = cross_attention(21);
    run r;
    double weights[2 * 2 * 5 * 7];
    attn_inspection what;
    s.relative = true;
    run_begin(&r, &s);
    forward(&r);
    attn_inspection_init(&what);
    what.weights = attn_tensor_bhsd(weights, ATTN_F64, 2, 2, 5, 7);
    const attn_args args = R(mha_args)(&r.layer);
    CHECK_INT(attn_inspect(r.ctx, &args, &what, NULL), ATTN_OK);
    for (int row = 0; row < 2 * 2 * 5; row++) {
        double sum = 0;
        for (int j = 0; j < 7; j++) sum += weights[row * 7 + j];
        CHECK_NEAR(sum, 1, 1e-14);
    }
    run_end(&r);
}

TEST(padding_reaches_no_output_and_gets_no_gradient) {
    scene s = cross_attention(22);
    run r;
    s.padded = true;
    run_begin(&r, &s);
    forward(&r);
    real *y = filled((size_t)s.count[SCENE_X], 0);
    memcpy(y, r.y, (size_t)s.count[SCENE_X] * sizeof *y);
    real *last =
        r.value[SCENE_MEMORY] + s.count[SCENE_MEMORY] - s.d_model; /* row 6 of 7, length 5 */
    for (int64_t c = 0; c < s.d_model; c++) last[c] = 1000;
    forward(&r);
    backward(&r);
    CHECK(memcmp(y, r.y, (size_t)s.count[SCENE_X] * sizeof *y) == 0);
    for (int64_t c = 0; c < s.d_model; c++) {
        CHECK_NEAR(r.gradient[SCENE_MEMORY][s.count[SCENE_MEMORY] - s.d_model + c], 0, 0);
    }
    free(y);
    run_end(&r);
}

TEST(gradients_that_are_not_wanted_change_no_bit_of_the_others) {
    scene s = self_attention(23), same = s;
    run all, some;
    run_begin(&all, &s);
    run_begin(&some, &same);
    some.gradients.dx = NULL;
    some.gradients.params = (attni_mha_params){.w_k = some.gradient[SCENE_W_K]};
    forward(&all);
    backward(&all);
    forward(&some);
    backward(&some);
    CHECK(memcmp(all.gradient[SCENE_W_K], some.gradient[SCENE_W_K],
                 (size_t)s.count[SCENE_W_K] * sizeof(real)) == 0);
    CHECK_NEAR(some.gradient[SCENE_W_Q][0], 1, 0);
    run_end(&all);
    run_end(&some);
}

/* Large enough that products and attention share their work among the threads. */
static void run_on_threads(run *r, scene *s, int threads) {
    run_begin(r, s);
    attn_ctx_destroy(r->ctx);
    r->ctx = context_with(ATTN_ISA_AUTO, threads);
    if (!r->ctx) return;
    forward(r);
    backward(r);
}

TEST(any_number_of_threads_gives_the_same_bits) {
#if defined(__wasm__)
    SKIP("this build has no threads");
#endif
    scene s = self_attention(28), same;
    run one, three;
    s.n_q = s.n_k = 100;
    s.d_model = 96;
    s.d_k = s.d_v = 48;
    s.relative = true;
    same = s;
    run_on_threads(&one, &s, 1);
    run_on_threads(&three, &same, 3);
    CHECK(!check_has_failed());
    CHECK_SAME_BITS(s.count[SCENE_X], one.y, three.y);
    for (int a = 0; a < SCENE_ARRAYS; a++) {
        if (s.count[a]) CHECK_SAME_BITS(s.count[a], one.gradient[a], three.gradient[a]);
    }
    run_end(&one);
    run_end(&three);
}

/* ------------------------------------------------------------------------------ edges, refusals */

TEST(no_keys_give_the_output_bias) {
    scene s = cross_attention(24);
    s.n_k = 0;
    s.relative = true;
    examine(s);
}

TEST(no_queries_give_the_memory_no_gradient) {
    scene s = cross_attention(25);
    s.n_q = 0;
    examine(s);
}

TEST(no_batch_is_no_work) {
    scene s = self_attention(26);
    s.B = 0;
    examine(s);
}

TEST(one_token_is_right_both_ways) {
    scene s = self_attention(27);
    s.n_q = s.n_k = 1;
    s.relative = s.causal = true;
    examine(s);
}

static attn_status status_of(attni_mha_config config, attni_mha_input input) {
    const attni_mha layer = {.config = &config, .input = &input};
    attn_error err = {{0}};
    return R(mha_forward)(NULL, &layer, NULL, &err);
}

TEST(sizes_that_make_no_layer_are_refused) {
    const attni_mha_input input = {.B = 1, .n_q = 2, .n_k = 2};
    attni_mha_config c = R(mha_defaults)(8, 4);
    c.H_kv = 3;
    CHECK_INT(status_of(c, input), ATTN_E_SHAPE);
    CHECK_INT(status_of(R(mha_defaults)(8, 0), input), ATTN_E_VALUE);
    CHECK_INT(status_of(R(mha_defaults)(8, 4), (attni_mha_input){.B = -1}), ATTN_E_VALUE);
}

TEST(positions_made_for_another_layer_are_refused) {
    const attni_mha_input input = {.B = 1, .n_q = 2, .n_k = 2};
    const attni_position_plan heads = {.shape = {.H = 2, .d_k = 2}},
                              columns = {.shape = {.H = 4, .d_k = 4}};
    attni_mha_config c = R(mha_defaults)(8, 4);
    c.positions = &heads;
    CHECK_INT(status_of(c, input), ATTN_E_SHAPE);
    c.positions = &columns;
    CHECK_INT(status_of(c, input), ATTN_E_SHAPE);
}

TEST(self_attention_of_two_lengths_is_refused) {
    const attni_mha_input input = {.B = 1, .n_q = 2, .n_k = 3};
    CHECK_INT(status_of(R(mha_defaults)(8, 4), input), ATTN_E_SHAPE);
}

TEST(queries_before_the_keys_or_apart_from_themselves_are_refused) {
    const real memory[16] = {0};
    const attni_mha_input before = {.B = 1,
                                    .n_q = 2,
                                    .n_k = 2,
                                    .memory = memory,
                                    .first_query = -1},
                          apart = {.B = 1, .n_q = 2, .n_k = 2, .first_query = 1};
    CHECK_INT(status_of(R(mha_defaults)(8, 4), before), ATTN_E_VALUE);
    CHECK_INT(status_of(R(mha_defaults)(8, 4), apart), ATTN_E_VALUE);
}

TEST(sizes_beyond_the_address_space_are_refused) {
    const attni_mha_input input = {
        .B = INT64_C(1) << 40, .n_q = INT64_C(1) << 40, .n_k = INT64_C(1) << 40};
    CHECK_INT(status_of(R(mha_defaults)(8, 4), input), ATTN_E_OVERFLOW);
}

TEST(defaults_split_the_columns_among_the_heads) {
    const attni_mha_config c = R(mha_defaults)(32, 4);
    CHECK_INT(c.d_k, 8);
    CHECK_INT(c.d_v, 8);
    CHECK_INT(c.H_kv, 4);
    CHECK_NEAR(c.temperature, 1, 0);
    CHECK_NEAR(c.scale, ATTN_SCALE_AUTO, 0);
}
