/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_rotary.c - the 8 RotaryEmbedding cases of the ONNX conformance vectors (onnx.h) through
 * rope_forward() and rope_backward(). 3-d inputs are (B, n, H, d) views; caches without
 * position_ids have a row per token. Tolerance relative to max(1, |x|): f32 1e-6 (the files are off
 * by up to 1e-7). */
#define ATTNI_REAL_f32
#include "layers/rope.h"
#include "onnx.h"

#include <stdlib.h>

enum { ROTARY_CASES = 8 };

static const double tolerance = 1e-6;

typedef struct rotary_case {
    const json_t *json;
    const char *name;
    npy_array X, cosines, sines, position_ids, Y; /* position_ids.data NULL if absent */
    int64_t *row_of_token;                        /* (B, n) where there are no position_ids */
    attn_tensor x;
    attni_rope rope;
    attni_rope_rows rows;
} rotary_case;

static int64_t attribute(const rotary_case *c, const char *key) {
    return json_integer_value(onnx_attribute(c->json, key));
}

static void set_positions(rotary_case *c) {
    const int64_t tokens = c->x.shape[0] * c->x.shape[2];
    c->rows.positions = c->position_ids.data;
    if (c->position_ids.data) return;
    c->row_of_token = malloc((size_t)tokens * sizeof *c->row_of_token);
    for (int64_t t = 0; t < tokens; t++) c->row_of_token[t] = t;
    c->rows.positions = c->row_of_token;
}

static void case_begin(rotary_case *c, const json_t *json) {
    *c = (rotary_case){.json = json, .name = onnx_name(json)};
    onnx_read(json, "inputs", "X", &c->X);
    onnx_read(json, "inputs", "cos_cache", &c->cosines);
    onnx_read(json, "inputs", "sin_cache", &c->sines);
    onnx_read(json, "inputs", "position_ids", &c->position_ids);
    onnx_read(json, "outputs", "Y", &c->Y);
    if (check_has_failed()) return;
    c->x = onnx_view(&c->X, attribute(c, "num_heads"));
    c->rope.dim = 2 * c->cosines.shape[3];
    c->rope.interleaved = attribute(c, "interleaved") != 0;
    c->rope.n_positions = npy_count(&c->cosines) / c->cosines.shape[3];
    c->rope.cosines = c->cosines.data;
    c->rope.sines = c->sines.data;
    set_positions(c);
}

static void case_end(rotary_case *c) {
    npy_array *const all[] = {&c->X, &c->cosines, &c->sines, &c->position_ids, &c->Y};
    for (size_t n = 0; n < sizeof all / sizeof all[0]; n++) npy_free(all[n]);
    free(c->row_of_token);
}

static void compare(const rotary_case *c, const float *x, const float *want) {
    for (int64_t i = 0; i < npy_count(&c->X); i++) {
        const double allowed = tolerance * fmax(1, fabs((double)want[i]));
        CHECK_MSG(check_is_near((double)x[i], (double)want[i], allowed),
                  "%s: element %lld is %.9g, expected %.9g +- %.2g", c->name, (long long)i,
                  (double)x[i], (double)want[i], allowed);
    }
}

static void forward_gives_y(rotary_case *c) {
    const int64_t asked = attribute(c, "rotary_embedding_dim");
    CHECK_INT(c->rope.dim, asked ? asked : c->x.shape[3]);
    CHECK_INT(R(rope_forward)(&c->rope, &c->rows, &c->x, NULL), ATTN_OK);
    compare(c, c->X.data, c->Y.data);
}

/* The caches are random numbers, no rotations, so backward is not the inverse; but it is the
 * transpose: <y, R x> = <R^T y, x>. */
static void backward_is_the_transpose(rotary_case *c) {
    const attn_tensor y = onnx_view(&c->Y, attribute(c, "num_heads"));
    const float *from_y = c->Y.data, *from_x = c->X.data;
    double y_y = 0, back_x = 0;
    for (int64_t i = 0; i < npy_count(&c->Y); i++) y_y += (double)from_y[i] * (double)from_y[i];
    CHECK_INT(R(rope_backward)(&c->rope, &c->rows, &y, NULL), ATTN_OK);
    for (int64_t i = 0; i < npy_count(&c->Y); i++) back_x += (double)from_y[i] * (double)from_x[i];
    CHECK_NEAR(back_x, y_y, tolerance * y_y);
}

static void for_every_case(void (*examine)(rotary_case *c)) {
    size_t n;
    int done = 0;
    const json_t *json;
    json_array_foreach(onnx_cases(), n, json) {
        if (!onnx_is(json, "RotaryEmbedding")) continue;
        rotary_case c;
        case_begin(&c, json);
        if (!check_has_failed()) examine(&c);
        case_end(&c);
        done++;
    }
    CHECK_INT(done, ROTARY_CASES);
}

TEST(forward_matches_every_rotary_case) {
    SKIP_WITHOUT_CASES();
    for_every_case(forward_gives_y);
}

TEST(backward_is_the_transpose_in_every_rotary_case) {
    SKIP_WITHOUT_CASES();
    for_every_case(backward_is_the_transpose);
}
