/* SPDX-License-Identifier: Apache-2.0 */
/* test_gradcheck.c - the comparison behind `attn gradcheck` must detect a wrong gradient. The
 * function is simple: out = (x0^2 x1, x1), so that d(3 out0 + 5 out1) = (6 x0 x1, 3 x0^2 + 5). */
#include "check.h"

#include "gradcheck/gradcheck.h"

#include <math.h>
#include <string.h>

static double x[2], out[2];
static const double dout[2] = {3, 5};

static attn_status compute(void *arg, attn_error *err) {
    (void)arg, (void)err;
    out[0] = x[0] * x[0] * x[1];
    out[1] = x[1];
    return ATTN_OK;
}

/* What the comparison says about these gradients at (2, -1.5). */
static grad_tally compare(double dx0, double dx1) {
    const double dx[2] = {dx0, dx1};
    grad_tally tally = {0};
    grad_problem problem = {.forward = compute, .out = out, .dout = dout, .n_out = 2};
    x[0] = 2;
    x[1] = -1.5;
    grad_add(&problem, "dx", x, dx, 2);
    if (grad_compare(&problem, &tally, NULL) != ATTN_OK) tally.largest = NAN;
    return tally;
}

TEST(right_gradients_agree_to_1e_minus_9) {
    const grad_tally tally = compare(-18, 17);
    CHECK_INT(tally.n, 2);
    CHECK_INT(tally.nonzero, 2);
    CHECK(tally.largest < 1e-9);
}

TEST(a_wrong_gradient_is_found_and_named) {
    const grad_tally tally = compare(-18, 17.17);
    CHECK_NEAR(tally.largest, 0.01, 1e-8);
    CHECK_STR(tally.part, "dx");
    CHECK_INT(tally.element, 1);
    CHECK_NEAR(tally.differences, 17, 1e-8);
    CHECK_NEAR(tally.backward, 17.17, 0);
}

TEST(a_gradient_that_was_not_written_is_infinitely_wrong) {
    CHECK(isinf(compare(NAN, 17).largest));
    CHECK(isinf(compare(-18, NAN).largest));
    CHECK(isinf(compare(INFINITY, 17).largest));
}

TEST(inputs_are_as_before_afterwards) {
    compare(-18, 17);
    CHECK_NEAR(x[0], 2, 0);
    CHECK_NEAR(x[1], -1.5, 0);
}

TEST(errors_below_one_are_absolute_and_above_relative) {
    CHECK_NEAR(compare(-18.18, 17).largest, 0.01, 1e-8);
    double still = 1; /* nothing depends on it */
    const double small = 1e-3;
    grad_problem problem = {.forward = compute, .out = out, .dout = dout, .n_out = 2};
    grad_tally tally = {0};
    grad_add(&problem, "dx", &still, &small, 1);
    CHECK_INT(grad_compare(&problem, &tally, NULL), ATTN_OK);
    CHECK_NEAR(tally.largest, 1e-3, 0);
    CHECK_INT(tally.nonzero, 0);
}

TEST(an_infinite_input_must_have_no_gradient) {
    double fixed = -INFINITY;
    const double none = 0, some = 0.25;
    grad_problem problem = {.forward = compute, .out = out, .dout = dout, .n_out = 2};
    grad_tally tally = {0};
    grad_add(&problem, "dbias", &fixed, &none, 1);
    CHECK_INT(grad_compare(&problem, &tally, NULL), ATTN_OK);
    CHECK_NEAR(tally.largest, 0, 0);
    grad_add(&problem, "dbias", &fixed, &some, 1);
    CHECK_INT(grad_compare(&problem, &tally, NULL), ATTN_OK);
    CHECK_NEAR(tally.largest, 0.25, 0);
}

TEST(names_of_checks_are_unique) {
    for (size_t i = 0; i < grad_n_features; i++)
        for (size_t j = 0; j < i; j++) CHECK(strcmp(grad_features[i].name, grad_features[j].name));
    for (size_t i = 0; i < grad_n_layers; i++)
        for (size_t j = 0; j < i; j++) CHECK(strcmp(grad_layers[i].name, grad_layers[j].name));
}
