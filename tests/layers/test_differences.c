/* SPDX-License-Identifier: Apache-2.0 */
/* test_differences.c - tests the finite differences themselves, on functions whose slope is
 * known. */
#include "differences.h"

#include <math.h>

static double sine(void *scene) { return 20 * sin(*(double *)scene); }

TEST(the_slope_of_a_sine_is_a_cosine) {
    for (double x = -3; x <= 3; x += 0.25) {
        double at = x;
        CHECK_NEAR(differences_slope(sine, &at, &at), 20 * cos(x), DIFFERENCES_TOLERANCE);
    }
}

static double quartic(void *scene) {
    const double x = *(double *)scene;
    return x * x * x * x;
}

TEST(the_slope_of_a_fourth_power_has_no_error_of_the_formula) {
    double x = 1.5;
    CHECK_NEAR(differences_slope(quartic, &x, &x), 4 * 1.5 * 1.5 * 1.5, 1e-11);
}

TEST(the_point_is_restored) {
    double x = 0.1;
    differences_slope(sine, &x, &x);
    CHECK(x == 0.1);
}
