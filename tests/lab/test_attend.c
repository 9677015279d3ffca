/* SPDX-License-Identifier: Apache-2.0 */
/* test_attend.c - what is measured on rows of weights, by hand-made cases and by golden.json. */
#include "steps/attend.h"

#include "check.h"

#include <math.h>

/* Document 001: two queries, three keys, d_k = 2. */
static const double q[] = {1, 0, 0, 1}, k[] = {1, 0, 1, 1, 0, 1};

TEST(weights_of_the_first_worked_example) {
    attn_ctx *ctx;
    CHECK(attn_ctx_create(NULL, &ctx, NULL) == ATTN_OK);
    const lab_head head = {.n_q = 2, .n_k = 3, .d_k = 2, .q = q, .k = k};
    double weights[6];
    CHECK(lab_head_weights(ctx, &head, weights, NULL) == ATTN_OK);
    CHECK_NEAR(weights[0], 0.40111209, 5e-9);
    CHECK_NEAR(weights[2], 0.19777581, 5e-9);
    attn_ctx_destroy(ctx);
}

TEST(no_scaling_is_a_scale_of_one) {
    attn_ctx *ctx;
    CHECK(attn_ctx_create(NULL, &ctx, NULL) == ATTN_OK);
    const lab_head head = {.n_q = 1, .n_k = 2, .d_k = 2, .q = q, .k = k + 2, .scale = 1};
    double weights[2];
    CHECK(lab_head_weights(ctx, &head, weights, NULL) == ATTN_OK);
    CHECK_NEAR(weights[0], 1 / (1 + exp(-1)), 1e-15);
    attn_ctx_destroy(ctx);
}

TEST(entropy_of_uniform_is_the_log_and_of_certain_is_zero) {
    const double uniform[4] = {0.25, 0.25, 0.25, 0.25}, certain[4] = {0, 1, 0, 0};
    CHECK_NEAR(lab_entropy(uniform, 4), log(4), 1e-15);
    CHECK(lab_entropy(certain, 4) == 0);
}

TEST(jacobian_of_a_fair_coin) { /* entries +-1/4, four of them */
    const double coin[2] = {0.5, 0.5};
    CHECK_NEAR(lab_jacobian_norm(coin, 2), 0.5, 1e-15);
}

TEST(median_of_even_many_is_the_middle_of_two) {
    double x[4] = {4, 1, 3, 10};
    CHECK(lab_median(x, 4) == 3.5);
    CHECK(lab_mean(x, 4) == 4.5);
    CHECK_NEAR(lab_deviation(x, 4), sqrt((0.25 + 2.25 + 12.25 + 30.25) / 4), 1e-15);
}
