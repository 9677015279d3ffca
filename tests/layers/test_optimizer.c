/* SPDX-License-Identifier: Apache-2.0 */
/* test_optimizer.c - AdamW against steps computed by hand, clipping, and convergence. */
#include "arrays.h"
#include "layers/optimizer.h"

#include <math.h>

enum { N = 37 };
static real param[N], grad[N], m[N], v[N], again[N], m_again[N], v_again[N];

static void start(double value) {
    fill_with(N, value, param);
    fill_with(N, 0, m);
    fill_with(N, 0, v);
}

/* A few roundings, and that 1 - beta inherits the rounding of beta. */
static double allowed(double beta) { return 8 * UNIT + 0x1p-54 / (1 - beta); }

/* From 1 with gradients 1/2, -1/4, 1/8, rate 0.1, decay 0.01; 40 digits on paper, 17 here. */
TEST(three_steps_match_the_computation_by_hand) {
    const double gradients[3] = {0.5, -0.25, 0.125};
    const double want_param[3] = {0.89900000199999996, 0.87146729870584616, 0.83655291761594812};
    const double want_m[3] = {0.05, 0.02, 0.0305}, want_v[3] = {0.00025, 0.00031225, 0.00032756275};
    attni_adamw adamw = attni_adamw_defaults(0.1);
    adamw.weight_decay = 0.01;
    start(1);
    for (int i = 0; i < 3; i++) {
        adamw.step = i + 1;
        fill_with(N, gradients[i], grad);
        R(adamw_step)(&adamw, N, param, grad, m, v);
        for (int k = 0; k < N; k++) {
            CHECK_NEAR((double)param[k], want_param[i], 8 * (i + 1) * UNIT);
            CHECK_NEAR((double)m[k], want_m[i], allowed(0.9) * want_m[i]);
            CHECK_NEAR((double)v[k], want_v[i], allowed(0.999) * want_v[i]);
        }
    }
}

/* Bias correction: without it the first step would be 0.1 / sqrt(0.001) = 3.2 times as long. */
TEST(the_first_step_is_as_long_as_the_rate_whatever_the_gradient) {
    const attni_adamw adamw = attni_adamw_defaults(0.01);
    const double gradients[3] = {1e-3, -1, 1e3};
    for (int i = 0; i < 3; i++) {
        start(0);
        fill_with(N, gradients[i], grad);
        R(adamw_step)(&adamw, N, param, grad, m, v);
        CHECK_NEAR(fabs((double)param[0]), 0.01, 0.01 * (2e-5 + 8 * UNIT)); /* eps / 1e-3 */
        CHECK((param[0] < 0) == (gradients[i] > 0));
    }
}

TEST(a_zero_gradient_only_decays) {
    attni_adamw adamw = attni_adamw_defaults(0.1);
    adamw.weight_decay = 0.5;
    start(2);
    fill_with(N, 0, grad);
    R(adamw_step)(&adamw, N, param, grad, m, v);
    CHECK_NEAR((double)param[0], 2 * (1 - 0.1 * 0.5), 4 * UNIT);
}

TEST(decay_does_not_enter_the_moments) {
    attni_adamw adamw = attni_adamw_defaults(0.1);
    adamw.weight_decay = 0.5;
    start(2);
    fill_with(N, 0, grad);
    R(adamw_step)(&adamw, N, param, grad, m, v);
    CHECK(m[0] == 0 && v[0] == 0);
}

TEST(a_gradient_factor_is_as_if_the_gradients_were_smaller) {
    attni_adamw adamw = attni_adamw_defaults(0.1);
    start(1);
    fill_random(1, N, grad);
    adamw.grad_factor = 0.25;
    R(adamw_step)(&adamw, N, param, grad, m, v);
    memcpy(again, param, sizeof again);
    memcpy(m_again, m, sizeof m);
    memcpy(v_again, v, sizeof v);
    start(1);
    for (int i = 0; i < N; i++) grad[i] *= (real)0.25;
    adamw.grad_factor = 1;
    R(adamw_step)(&adamw, N, param, grad, m, v);
    CHECK_SAME_BITS(N, again, param);
    CHECK_SAME_BITS(N, m_again, m);
    CHECK_SAME_BITS(N, v_again, v);
}

TEST(no_parameters_are_no_work) {
    const attni_adamw adamw = attni_adamw_defaults(0.1);
    start(1);
    R(adamw_step)(&adamw, 0, param, grad, m, v);
    CHECK(param[0] == 1);
}

TEST(a_parabola_is_descended_to_its_bottom) {
    attni_adamw adamw = attni_adamw_defaults(0.05);
    start(0);
    for (adamw.step = 1; adamw.step <= 1000; adamw.step++) {
        for (int i = 0; i < N; i++) grad[i] = 2 * (param[i] - (real)i / (real)N);
        adamw.rate = 0.05 / (1 + 0.02 * (double)adamw.step);
        R(adamw_step)(&adamw, N, param, grad, m, v);
    }
    for (int i = 0; i < N; i++) CHECK_NEAR((double)param[i], (double)i / (double)N, 1e-4);
}

TEST(the_sum_of_squares_takes_every_element_once) {
    double want = 0;
    for (int64_t n = 0; n <= N; n++) {
        for (int64_t i = 0; i < N; i++) grad[i] = (real)(i + 1);
        CHECK(R(sum_of_squares)(n, grad) == want); /* whole numbers: exact */
        want += (double)((n + 1) * (n + 1));
    }
}

TEST(clipping_brings_the_norm_down_to_the_limit_and_never_up) {
    CHECK(attni_clip_factor(10, 2) == 0.2);
    CHECK(attni_clip_factor(2, 2) == 1);
    CHECK(attni_clip_factor(0, 2) == 1);
    CHECK(attni_clip_factor(10, 0) == 1);
    CHECK(attni_clip_factor(INFINITY, 2) == 0);
}
