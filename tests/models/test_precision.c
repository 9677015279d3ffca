/* SPDX-License-Identifier: Apache-2.0 */
/* test_precision.c - the float instance of the model. Finite differences of float losses are too
 * coarse for single weights, so the whole gradient is checked by one step along it. */
#define ATTNI_REAL_f32
#include "transformer_case.h"

/* A step of length h along -gradient changes the loss by about -h |gradient|^2; the second
 * derivative and rounding (6e-8 of a loss of 2) leave a few percent at this h. */
TEST(a_small_step_down_the_gradient_lowers_the_loss_as_it_predicts) {
    const attni_model_config config = case_config(true);
    const double h = 1e-3;
    transformer_case c;
    CHECK(case_begin(&c, &config));
    const double before = case_loss(&c, true);
    double square = 0;
    for (size_t i = 0; i < c.run.parameters.total; i++) {
        square += (double)c.dweights[i] * (double)c.dweights[i];
        c.weights[i] -= (real)h * c.dweights[i];
    }
    const double after = case_loss(&c, false);
    CHECK_NEAR((before - after) / (h * square), 1, 0.03);
    case_end(&c);
}
