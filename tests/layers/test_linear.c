/* SPDX-License-Identifier: Apache-2.0 */
/* test_linear.c - the linear layer against sums in double precision, finite differences, and itself
 * on two threads. */
#include "arrays.h"
#include "differences.h"
#include "layers/linear.h"

enum { MOST = 65 * 300 };
static real x[MOST], w[MOST], b[MOST], y[MOST], dy[MOST], dx[MOST], dw[MOST], db[MOST];
static real again[MOST], before[MOST];
static double want[MOST];

typedef struct shape {
    int64_t n, n_in, n_out;
} shape;
static const shape shapes[] = {{0, 3, 5}, {1, 1, 1}, {3, 5, 7}, {17, 33, 9}, {65, 300, 31}};
enum { N_SHAPES = sizeof shapes / sizeof shapes[0] };

/* A sum of k products of numbers below 1, in any order, plus one more: (k + 1) roundings each. */
static double allowed(int64_t k) { return (double)((k + 1) * (k + 1)) * UNIT; }

static attni_linear layer_of(shape s) { return (attni_linear){s.n_in, s.n_out, w, b}; }

static void fill_all(void) {
    fill_random(1, MOST, x);
    fill_random(2, MOST, w);
    fill_random(3, MOST, b);
    fill_random(4, MOST, dy);
    fill_random(5, MOST, before);
}

static void forward(shape s, const real *bias) {
    attn_ctx *ctx = context_with(ATTN_ISA_AUTO, 1);
    attni_linear layer = layer_of(s);
    layer.b = bias;
    fill_all();
    fill_with(MOST, 99, y);
    CHECK_INT(R(linear_forward)(ctx, &layer, s.n, x, y, NULL), ATTN_OK);
    for (int64_t i = 0; i < s.n * s.n_out; i++) {
        want[i] = bias ? (double)bias[i % s.n_out] : 0;
        for (int64_t k = 0; k < s.n_in; k++) {
            want[i] += (double)x[i / s.n_out * s.n_in + k] * (double)w[k * s.n_out + i % s.n_out];
        }
    }
    CHECK_ARRAY(s.n * s.n_out, y, want, allowed(s.n_in));
    CHECK(y[s.n * s.n_out] == 99); /* not one element further */
    attn_ctx_destroy(ctx);
}

TEST(forward_is_x_times_w_plus_b) {
    for (int i = 0; i < N_SHAPES && !check_has_failed(); i++) forward(shapes[i], b);
}

TEST(forward_without_bias_is_x_times_w) {
    for (int i = 0; i < N_SHAPES && !check_has_failed(); i++) forward(shapes[i], NULL);
}

static void backward(shape s, attni_linear_grad grad) {
    attn_ctx *ctx = context_with(ATTN_ISA_AUTO, 1);
    const attni_linear layer = layer_of(s);
    fill_all();
    memcpy(dx, before, sizeof dx);
    memcpy(dw, before, sizeof dw);
    memcpy(db, before, sizeof db);
    grad.x = x;
    grad.dy = dy;
    CHECK_INT(R(linear_backward)(ctx, &layer, s.n, &grad, NULL), ATTN_OK);
    attn_ctx_destroy(ctx);
}

static void expect_dx(shape s, bool add) {
    for (int64_t i = 0; i < s.n * s.n_in; i++) {
        want[i] = add ? (double)before[i] : 0;
        for (int64_t c = 0; c < s.n_out; c++) {
            want[i] += (double)dy[i / s.n_in * s.n_out + c] * (double)w[i % s.n_in * s.n_out + c];
        }
    }
    CHECK_ARRAY(s.n * s.n_in, dx, want, allowed(s.n_out));
}

static void expect_dw(shape s) {
    for (int64_t i = 0; i < s.n_in * s.n_out; i++) {
        want[i] = (double)before[i];
        for (int64_t r = 0; r < s.n; r++) {
            want[i] += (double)x[r * s.n_in + i / s.n_out] * (double)dy[r * s.n_out + i % s.n_out];
        }
    }
    CHECK_ARRAY(s.n_in * s.n_out, dw, want, allowed(s.n));
}

static void expect_db(shape s) {
    for (int64_t c = 0; c < s.n_out; c++) {
        want[c] = (double)before[c];
        for (int64_t r = 0; r < s.n; r++) want[c] += (double)dy[r * s.n_out + c];
    }
    CHECK_ARRAY(s.n_out, db, want, allowed(s.n));
}

TEST(backward_sets_dx_and_adds_to_dw_and_db) {
    for (int i = 0; i < N_SHAPES && !check_has_failed(); i++) {
        backward(shapes[i], (attni_linear_grad){.dx = dx, .dw = dw, .db = db});
        expect_dx(shapes[i], false);
        expect_dw(shapes[i]);
        expect_db(shapes[i]);
    }
}

TEST(backward_adds_to_dx_when_asked) {
    for (int i = 0; i < N_SHAPES && !check_has_failed(); i++) {
        backward(shapes[i], (attni_linear_grad){.dx = dx, .add_dx = true});
        expect_dx(shapes[i], true);
    }
}

TEST(backward_leaves_alone_what_is_not_asked_for) {
    const shape s = {3, 5, 7};
    backward(s, (attni_linear_grad){.dw = dw});
    CHECK_SAME_BITS(MOST, dx, before);
    CHECK_SAME_BITS(MOST, db, before);
    expect_dw(s);
    backward(s, (attni_linear_grad){.db = db});
    CHECK_SAME_BITS(MOST, dw, before);
    expect_db(s);
}

TEST(two_threads_give_the_bits_of_one) {
#if defined(__wasm__)
    SKIP("no threads in this build");
#endif
    const shape s = {65, 300, 31};
    const attni_linear layer = layer_of(s);
    attn_ctx *one = context_with(ATTN_ISA_AUTO, 1), *two = context_with(ATTN_ISA_AUTO, 2);
    fill_all();
    CHECK_INT(R(linear_forward)(one, &layer, s.n, x, y, NULL), ATTN_OK);
    CHECK_INT(R(linear_forward)(two, &layer, s.n, x, again, NULL), ATTN_OK);
    CHECK_SAME_BITS(s.n * s.n_out, y, again);
    attni_linear_grad grad = {.x = x, .dy = dy, .dw = dw};
    fill_with(MOST, 0, dw);
    CHECK_INT(R(linear_backward)(one, &layer, s.n, &grad, NULL), ATTN_OK);
    grad.dw = again;
    fill_with(MOST, 0, again);
    CHECK_INT(R(linear_backward)(two, &layer, s.n, &grad, NULL), ATTN_OK);
    CHECK_SAME_BITS(s.n_in * s.n_out, dw, again);
    attn_ctx_destroy(one);
    attn_ctx_destroy(two);
}

#if REAL_IS_F64
static const shape small = {4, 5, 3};

static double loss(void *scene) {
    const attni_linear layer = layer_of(small);
    double sum = 0;
    if (R(linear_forward)(scene, &layer, small.n, x, y, NULL) != ATTN_OK) return NAN;
    for (int64_t i = 0; i < small.n * small.n_out; i++) sum += dy[i] * y[i];
    return sum;
}

TEST(gradients_are_slopes) {
    attn_ctx *ctx = context_with(ATTN_ISA_AUTO, 1);
    const attni_linear layer = layer_of(small);
    fill_all();
    fill_with(MOST, 0, dw);
    fill_with(MOST, 0, db);
    const attni_linear_grad grad = {.x = x, .dy = dy, .dx = dx, .dw = dw, .db = db};
    CHECK_INT(R(linear_backward)(ctx, &layer, small.n, &grad, NULL), ATTN_OK);
    CHECK_GRADIENT(loss, ctx, small.n * small.n_in, x, dx);
    CHECK_GRADIENT(loss, ctx, small.n_in * small.n_out, w, dw);
    CHECK_GRADIENT(loss, ctx, small.n_out, b, db);
    attn_ctx_destroy(ctx);
}
#endif
