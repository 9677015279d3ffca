/* SPDX-License-Identifier: Apache-2.0 */
/* test_mlp.c - the feed-forward block, plain and gated, against loops in double precision and
 * finite differences. */
#include "arrays.h"
#include "differences.h"
#include "layers/mlp.h"

#include <math.h>

enum { N = 5, D = 9, HIDDEN = 13 };

/* One instance of every array: values of a pass, or their gradients. */
typedef struct arrays {
    real x[N * D], up[N * HIDDEN], gate[N * HIDDEN], hidden[N * HIDDEN], y[N * D];
    real w_up[D * HIDDEN], b_up[HIDDEN], w_gate[D * HIDDEN], b_gate[HIDDEN];
    real w_down[HIDDEN * D], b_down[D];
} arrays;
static arrays value, d;

typedef struct oracle_arrays {
    double x[N * D], up[N * HIDDEN], gate[N * HIDDEN], hidden[N * HIDDEN], y[N * D];
    double w_up[D * HIDDEN], b_up[HIDDEN], w_gate[D * HIDDEN], b_gate[HIDDEN];
    double w_down[HIDDEN * D], b_down[D];
} oracle_arrays;
static oracle_arrays want;

/* Hidden values are sums of 10 products below 1/2, off by 12 * 5 units; y and the gradients are
 * sums of up to 14 of them times up to 1; activations have slopes up to 1.2, and a gate doubles. */
#define TOLERANCE (14 * 1.2 * 2 * 60 * UNIT)

static attni_mlp mlp_of(attni_activation f, bool gated) {
    return (attni_mlp){.d_model = D,
                       .d_hidden = HIDDEN,
                       .activation = f,
                       .w_up = value.w_up,
                       .b_up = value.b_up,
                       .w_gate = gated ? value.w_gate : NULL,
                       .b_gate = value.b_gate,
                       .w_down = value.w_down,
                       .b_down = value.b_down};
}

static attni_mlp_pass pass_of(void) {
    return (attni_mlp_pass){.n = N,
                            .x = value.x,
                            .up = value.up,
                            .gate = value.gate,
                            .hidden = value.hidden,
                            .y = value.y};
}

static attni_mlp_grad grad_of(void) {
    return (attni_mlp_grad){.dy = d.y,
                            .dhidden = d.hidden,
                            .dup = d.up,
                            .dgate = d.gate,
                            .dx = d.x,
                            .dw_up = d.w_up,
                            .db_up = d.b_up,
                            .dw_gate = d.w_gate,
                            .db_gate = d.b_gate,
                            .dw_down = d.w_down,
                            .db_down = d.b_down};
}

/* Values are random below 1/2; gradients start at 1/4, to see what is set and what is added. */
static void fill_all(void) {
    fill_random(1, sizeof value / sizeof(real), (real *)&value);
    for (size_t i = 0; i < sizeof value / sizeof(real); i++) ((real *)&value)[i] *= (real)0.5;
    fill_with(sizeof d / sizeof(real), 0.25, (real *)&d);
    fill_random(2, N * D, d.y);
}

/* y = x W + b */
static double affine(int64_t n_in, int64_t n_out, const double *x_row, const real *w, double start,
                     int64_t c) {
    double sum = start;
    for (int64_t k = 0; k < n_in; k++) sum += x_row[k] * (double)w[k * n_out + c];
    return sum;
}

static double curve(attni_activation f, double at) {
    switch (f) {
    case ATTNI_RELU: return at > 0 ? at : 0;
    case ATTNI_GELU: return at * 0.5 * erfc(-at * sqrt(0.5));
    case ATTNI_GELU_TANH:
        return 0.5 * at * (1 + tanh(0.79788456080286535588 * (at + 0.044715 * at * at * at)));
    case ATTNI_SILU: return at / (1 + exp(-at));
    }
    return NAN;
}

static void oracle_forward(const attni_mlp *mlp) {
    for (int64_t i = 0; i < N * D; i++) want.x[i] = (double)value.x[i];
    for (int64_t i = 0; i < N * HIDDEN; i++) {
        const double *x_row = want.x + i / HIDDEN * D;
        const int64_t c = i % HIDDEN;
        want.up[i] = affine(D, HIDDEN, x_row, mlp->w_up, (double)value.b_up[c], c);
        want.hidden[i] = curve(mlp->activation, want.up[i]);
        if (!mlp->w_gate) continue;
        want.gate[i] = affine(D, HIDDEN, x_row, mlp->w_gate, (double)value.b_gate[c], c);
        want.hidden[i] = curve(mlp->activation, want.gate[i]) * want.up[i];
    }
    for (int64_t i = 0; i < N * D; i++) {
        const double start = mlp->b_down ? (double)value.b_down[i % D] : 0;
        want.y[i] = affine(HIDDEN, D, want.hidden + i / D * HIDDEN, mlp->w_down, start, i % D);
    }
}

static void check_forward(const attni_mlp *mlp) {
    attn_ctx *ctx = context_with(ATTN_ISA_AUTO, 1);
    const attni_mlp_pass pass = pass_of();
    fill_all();
    oracle_forward(mlp);
    CHECK_INT(R(mlp_forward)(ctx, mlp, &pass, NULL), ATTN_OK);
    CHECK_ARRAY(N * HIDDEN, value.up, want.up, TOLERANCE);
    if (mlp->w_gate) CHECK_ARRAY(N * HIDDEN, value.gate, want.gate, TOLERANCE);
    CHECK_ARRAY(N * HIDDEN, value.hidden, want.hidden, TOLERANCE);
    CHECK_ARRAY(N * D, value.y, want.y, TOLERANCE);
    attn_ctx_destroy(ctx);
}

TEST(plain_forward_is_the_formula_and_keeps_its_intermediates) {
    for (attni_activation f = ATTNI_RELU; f <= ATTNI_SILU && !check_has_failed(); f++) {
        const attni_mlp mlp = mlp_of(f, false);
        check_forward(&mlp);
    }
}

TEST(swiglu_forward_is_the_formula_and_keeps_its_intermediates) {
    const attni_mlp mlp = mlp_of(ATTNI_SILU, true);
    check_forward(&mlp);
}

TEST(the_last_bias_may_be_missing) {
    attni_mlp mlp = mlp_of(ATTNI_GELU, false);
    mlp.b_down = NULL;
    check_forward(&mlp);
}

static void backward(const attni_mlp *mlp, const attni_mlp_grad *grad) {
    attn_ctx *ctx = context_with(ATTN_ISA_AUTO, 1);
    const attni_mlp_pass pass = pass_of();
    CHECK_INT(R(mlp_forward)(ctx, mlp, &pass, NULL), ATTN_OK);
    CHECK_INT(R(mlp_backward)(ctx, mlp, &pass, grad, NULL), ATTN_OK);
    attn_ctx_destroy(ctx);
}

/* Slopes of the oracle, in double: parameters hold the same numbers in both reals, so this judges
 * f32 too. Calls oracle_forward() around each of them. */
static double oracle_loss(void *scene) {
    double sum = 0;
    oracle_forward(scene);
    for (int64_t i = 0; i < N * D; i++) sum += (double)d.y[i] * want.y[i];
    return sum;
}

/* d oracle_loss / d *x for a parameter of either real: the step is exact in both. */
static double oracle_slope(const attni_mlp *mlp, real *x) {
    const real at = *x, h = (real)0x1p-10;
    attni_mlp copy = *mlp;
    double side[4];
    const real steps[4] = {h, -h, 2 * h, -2 * h};
    for (int i = 0; i < 4; i++) {
        *x = at + steps[i];
        side[i] = oracle_loss(&copy);
    }
    *x = at;
    return (8 * (side[0] - side[1]) - (side[2] - side[3])) / (12 * (double)h);
}

static void check_slopes(const attni_mlp *mlp, int64_t n, real *x, const real *dx, double start) {
    for (int64_t i = 0; i < n; i++) {
        const double slope = oracle_slope(mlp, x + i);
        CHECK_NEAR((double)dx[i] - start, slope, TOLERANCE + DIFFERENCES_TOLERANCE);
    }
}

/* dx is set; parameter gradients are added to the 1/4 they start with. */
static void check_backward(const attni_mlp *mlp, const attni_mlp_grad *grad) {
    const bool gated = mlp->w_gate != NULL;
    fill_all();
    backward(mlp, grad);
    check_slopes(mlp, N * D, value.x, d.x, grad->add_dx ? 0.25 : 0);
    check_slopes(mlp, D * HIDDEN, value.w_up, d.w_up, 0.25);
    check_slopes(mlp, HIDDEN, value.b_up, d.b_up, 0.25);
    check_slopes(mlp, HIDDEN * D, value.w_down, d.w_down, 0.25);
    check_slopes(mlp, D, value.b_down, d.b_down, 0.25);
    if (!gated) return;
    check_slopes(mlp, D * HIDDEN, value.w_gate, d.w_gate, 0.25);
    check_slopes(mlp, HIDDEN, value.b_gate, d.b_gate, 0.25);
}

/* ReLU has no slope where a hidden value is near 0: its backward is that of test_activation.c. */
TEST(gradients_of_a_plain_block_are_slopes_of_the_oracle) {
    const attni_mlp_grad grad = grad_of();
    for (attni_activation f = ATTNI_GELU; f <= ATTNI_SILU && !check_has_failed(); f++) {
        const attni_mlp mlp = mlp_of(f, false);
        check_backward(&mlp, &grad);
    }
}

TEST(gradients_of_swiglu_are_slopes_of_the_oracle) {
    const attni_mlp mlp = mlp_of(ATTNI_SILU, true);
    const attni_mlp_grad grad = grad_of();
    check_backward(&mlp, &grad);
}

TEST(dx_is_added_to_when_asked) {
    const attni_mlp mlp = mlp_of(ATTNI_SILU, true);
    attni_mlp_grad grad = grad_of();
    grad.add_dx = true;
    check_backward(&mlp, &grad);
}

TEST(dup_may_share_the_memory_of_dhidden_in_a_plain_block) {
    const attni_mlp mlp = mlp_of(ATTNI_GELU, false);
    attni_mlp_grad grad = grad_of();
    grad.dup = grad.dhidden;
    check_backward(&mlp, &grad);
}

TEST(gradients_not_asked_for_do_not_change_the_others) {
    static arrays all;
    const attni_mlp mlp = mlp_of(ATTNI_SILU, true);
    const attni_mlp_grad full = grad_of();
    fill_all();
    backward(&mlp, &full);
    all = d;
    fill_all();
    const attni_mlp_grad few = {
        .dy = d.y, .dhidden = d.hidden, .dup = d.up, .dgate = d.gate, .dw_up = d.w_up};
    backward(&mlp, &few);
    CHECK_SAME_BITS(D * HIDDEN, d.w_up, all.w_up);
    CHECK(d.x[0] == (real)0.25 && d.b_down[0] == (real)0.25);
}

TEST(no_rows_are_no_work) {
    attn_ctx *ctx = context_with(ATTN_ISA_AUTO, 1);
    const attni_mlp mlp = mlp_of(ATTNI_SILU, true);
    const attni_mlp_grad grad = grad_of();
    attni_mlp_pass pass = pass_of();
    pass.n = 0;
    fill_all();
    CHECK_INT(R(mlp_forward)(ctx, &mlp, &pass, NULL), ATTN_OK);
    CHECK_INT(R(mlp_backward)(ctx, &mlp, &pass, &grad, NULL), ATTN_OK);
    CHECK(d.w_up[0] == (real)0.25 && d.x[0] == (real)0.25);
    attn_ctx_destroy(ctx);
}
