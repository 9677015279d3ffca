/* SPDX-License-Identifier: Apache-2.0 */
/* test_layers.c - the two layer cases of golden.json (60-digit arithmetic, rounded once) through
 * the multi-head attention layer, forward and backward, and its position encodings. Built once per
 * real type. Tolerances relative to max(1, |x|): f64 1e-12, f32 5e-6. */
#include "check.h"
#include "layers/mha.h"
#include "layers/rope.h"
#include "layers/sinusoidal.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_BUFFERS = 96 };

static const double tolerance = REAL_IS_F64 ? 1e-12 : 5e-6;

/* One layer case, ready to run; buffers are freed by layer_end(). */
typedef struct layer_case {
    const json_t *json, *expected;
    const char *name;
    attni_mha_config config;
    attni_mha_params params;
    attni_mha_input input;
    attni_mha_saved saved;
    attni_mha_gradients gradients;
    attni_mha layer;
    real *y;
    void *buffers[MAX_BUFFERS];
    int n_buffers;
} layer_case;

/* ------------------------------------------------------------------------------------- reading */

static const json_t *golden_file(void) {
    static json_t *root;
    json_error_t error;
    if (!root) root = json_load_file(GOLDEN_FILE, 0, &error);
    if (!root) check_failed(__FILE__, __LINE__, "%s: %s", GOLDEN_FILE, error.text);
    return root;
}

static const json_t *case_named(const char *name) {
    size_t n;
    const json_t *entry, *cases = json_object_get(golden_file(), "cases");
    json_array_foreach(cases, n, entry) {
        if (!strcmp(json_string_value(json_object_get(entry, "name")), name)) return entry;
    }
    abort();
}

static int64_t integer(const json_t *json, const char *key) {
    return json_integer_value(json_object_get(json, key));
}

static size_t flatten(const json_t *value, double *to) {
    if (!json_is_array(value)) {
        if (to) *to = json_number_value(value);
        return 1;
    }
    size_t n = 0;
    for (size_t i = 0; i < json_array_size(value); i++) {
        n += flatten(json_array_get(value, i), to ? to + n : NULL);
    }
    return n;
}

static void *zeros(layer_case *c, size_t n, size_t size) {
    void *buffer = calloc(n, size);
    if (c->n_buffers == MAX_BUFFERS || !buffer) abort();
    return c->buffers[c->n_buffers++] = buffer;
}

static double *doubles(layer_case *c, const json_t *value) {
    double *x = zeros(c, flatten(value, NULL), sizeof *x);
    flatten(value, x);
    return x;
}

static real *reals(layer_case *c, const json_t *value) {
    const size_t n = flatten(value, NULL);
    const double *x = doubles(c, value);
    real *rounded = zeros(c, n, sizeof *rounded);
    for (size_t i = 0; i < n; i++) rounded[i] = (real)x[i];
    return rounded;
}

/* The weights, or zeros of their sizes for their gradients. */
static attni_mha_params read_params(layer_case *c, bool as_zeros) {
    static const char *const names[4] = {"Q", "K", "V", "O"};
    real *w[4], *b[4];
    for (int n = 0; n < 4; n++) {
        const json_t *of_w = json_object_get(json_object_get(c->json, "W"), names[n]);
        const json_t *of_b = json_object_get(json_object_get(c->json, "b"), names[n]);
        w[n] = as_zeros ? zeros(c, flatten(of_w, NULL), sizeof(real)) : reals(c, of_w);
        b[n] = as_zeros ? zeros(c, flatten(of_b, NULL), sizeof(real)) : reals(c, of_b);
    }
    return (attni_mha_params){.w_q = w[0],
                              .w_k = w[1],
                              .w_v = w[2],
                              .w_o = w[3],
                              .b_q = b[0],
                              .b_k = b[1],
                              .b_v = b[2],
                              .b_o = b[3]};
}

static void layer_begin(layer_case *c, const char *name) {
    *c = (layer_case){.name = name, .json = case_named(name)};
    const int64_t n = integer(c->json, "n"), d_model = integer(c->json, "d_model");
    size_t size = 0;
    c->expected = json_object_get(c->json, "expected");
    c->config = R(mha_defaults)(d_model, integer(c->json, "Hq"));
    c->config.H_kv = integer(c->json, "Hkv");
    c->config.d_k = integer(c->json, "d_k");
    c->config.d_v = integer(c->json, "d_v");
    c->config.causal = json_is_true(json_object_get(c->json, "causal"));
    c->params = read_params(c, false);
    c->input =
        (attni_mha_input){.B = 1, .n_q = n, .n_k = n, .x = reals(c, json_object_get(c->json, "X"))};
    CHECK_INT(R(mha_saved_size)(&c->config, &c->input, &size, NULL), ATTN_OK);
    c->saved = R(mha_saved_place)(&c->config, &c->input, zeros(c, size, sizeof(real)));
    c->gradients.d = R(mha_saved_place)(&c->config, &c->input, zeros(c, size, sizeof(real)));
    c->gradients.params = read_params(c, true);
    c->gradients.dx = zeros(c, (size_t)(n * d_model), sizeof(real));
    c->y = zeros(c, (size_t)(n * d_model), sizeof(real));
    c->layer = (attni_mha){&c->config, &c->params, &c->input, &c->saved};
}

static void layer_end(layer_case *c) {
    while (c->n_buffers > 0) free(c->buffers[--c->n_buffers]);
}

/* ----------------------------------------------------------------------------------- comparing */

static void compare(layer_case *c, const char *what, const real *x, const json_t *want) {
    const size_t n = flatten(want, NULL);
    const double *expected = doubles(c, want);
    CHECK_MSG(n > 0, "%s: no %s in the file", c->name, what);
    for (size_t i = 0; i < n; i++) {
        const double allowed = tolerance * fmax(1, fabs(expected[i]));
        CHECK_MSG(check_is_near((double)x[i], expected[i], allowed),
                  "%s: %s[%zu] is %.17g, expected %.17g +- %.2g", c->name, what, i, (double)x[i],
                  expected[i], allowed);
    }
}

static void compare_weights(attn_ctx *ctx, layer_case *c) {
    const attn_args args = R(mha_args)(&c->layer);
    const int64_t n = c->input.n_q, H = c->config.H;
    real *weights = zeros(c, (size_t)(H * n * n), sizeof(real));
    attn_inspection what;
    attn_inspection_init(&what);
    what.weights = attn_tensor_bhsd(weights, REAL_DTYPE, 1, H, n, n);
    CHECK_INT(attn_inspect(ctx, &args, &what, NULL), ATTN_OK);
    compare(c, "weights", weights, json_object_get(c->expected, "weights"));
}

static void compare_params(layer_case *c, const attni_mha_params *d) {
    const json_t *dw = json_object_get(c->expected, "dW"), *db = json_object_get(c->expected, "db");
    compare(c, "dW_Q", d->w_q, json_object_get(dw, "Q"));
    compare(c, "dW_K", d->w_k, json_object_get(dw, "K"));
    compare(c, "dW_V", d->w_v, json_object_get(dw, "V"));
    compare(c, "dW_O", d->w_o, json_object_get(dw, "O"));
    compare(c, "db_Q", d->b_q, json_object_get(db, "Q"));
    compare(c, "db_K", d->b_k, json_object_get(db, "K"));
    compare(c, "db_V", d->b_v, json_object_get(db, "V"));
    compare(c, "db_O", d->b_o, json_object_get(db, "O"));
}

static void examine(const char *name) {
    layer_case c;
    attn_ctx *ctx = NULL;
    attn_error err = {0};
    layer_begin(&c, name);
    CHECK_INT(attn_ctx_create(NULL, &ctx, NULL), ATTN_OK);
    CHECK_MSG(R(mha_forward)(ctx, &c.layer, c.y, &err) == ATTN_OK, "%s", err.message);
    compare_weights(ctx, &c);
    compare(&c, "concat", c.saved.concat, json_object_get(c.expected, "concat"));
    compare(&c, "Y", c.y, json_object_get(c.expected, "Y"));

    const real *dy = reals(&c, json_object_get(c.json, "dY"));
    CHECK_MSG(R(mha_backward)(ctx, &c.layer, dy, &c.gradients, &err) == ATTN_OK, "%s", err.message);
    compare(&c, "dX", c.gradients.dx, json_object_get(c.expected, "dX"));
    compare_params(&c, &c.gradients.params);
    attn_ctx_destroy(ctx);
    layer_end(&c);
}

/* --------------------------------------------------------------------------------------- facts */

TEST(layer_of_two_heads_matches_the_file) { examine("layer_mha_2h_bidirectional"); }

TEST(causal_layer_of_four_heads_on_two_matches_the_file) { examine("layer_gqa_4q2kv_causal"); }

TEST(sinusoidal_positions_match_the_file) {
    const json_t *file = json_object_get(golden_file(), "positional"), *row;
    const json_t *rows = json_object_get(json_object_get(file, "sinusoidal"), "rows");
    layer_case c = {.name = "sinusoidal"};
    const char *t;
    real table[101 * 8];
    R(sinusoidal_table)(101, 8, 10000, true, table);
    CHECK_INT(json_object_size(rows), 5);
    json_object_foreach((json_t *)rows, t, row) compare(&c, t, table + 8 * atoi(t), row);
    layer_end(&c);
}

TEST(rotations_of_both_conventions_match_the_file) {
    const json_t *file = json_object_get(golden_file(), "positional"), *entry;
    const json_t *of_rope = json_object_get(file, "rope");
    layer_case c = {.name = "rope"};
    real cosines[101 * 4], sines[101 * 4];
    size_t n;
    R(rope_table)(101, 8, 10000, 1, cosines, sines);
    CHECK_INT(json_array_size(json_object_get(of_rope, "cases")), 8);
    json_array_foreach(json_object_get(of_rope, "cases"), n, entry) {
        const char *convention = json_string_value(json_object_get(entry, "convention"));
        const attni_rope rope = {8, !strcmp(convention, "interleaved"), 101, cosines, sines};
        const attni_rope_rows rows = {.first = integer(entry, "pos")};
        real *x = reals(&c, json_object_get(of_rope, "x"));
        const attn_tensor view = attn_tensor_bhsd(x, REAL_DTYPE, 1, 1, 1, 8);
        CHECK_INT(R(rope_forward)(&rope, &rows, &view, NULL), ATTN_OK);
        compare(&c, convention, x, json_object_get(entry, "y"));
    }
    layer_end(&c);
}
