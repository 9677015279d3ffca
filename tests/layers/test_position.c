/* SPDX-License-Identifier: Apache-2.0 */
/* test_position.c - properties of sinusoidal positions; values from outside are checked in
 * tests/golden/test_layers.c. Tolerance 1e-13: sums of 64 products of angles up to 200, each angle
 * off by one rounding (200 * 2^-53). */
#define ATTNI_REAL_f64
#include "check.h"
#include "layers/position.h"

enum { N = 200, D = 64 };

static const double tolerance = 1e-13;

static double table[N * D];

static double dot(int s, int t) {
    double sum = 0;
    for (int c = 0; c < D; c++) sum += table[s * D + c] * table[t * D + c];
    return sum;
}

TEST(every_position_has_length_square_half_the_columns) {
    R(position_sinusoidal)(N, D, table);
    for (int t = 0; t < N; t++) CHECK_NEAR(dot(t, t), D / 2, tolerance);
}

TEST(products_of_positions_depend_on_their_distance_only) {
    R(position_sinusoidal)(N, D, table);
    for (int distance = 1; distance < 100; distance += 7) {
        const double first = dot(0, distance);
        for (int t = 1; t + distance < N; t++) CHECK_NEAR(dot(t, t + distance), first, tolerance);
    }
}

TEST(odd_widths_end_with_a_sine) {
    double odd[3 * 5];
    R(position_sinusoidal)(3, 5, odd);
    for (int t = 0; t < 3; t++) {
        CHECK_NEAR(odd[t * 5 + 4], sin(t / pow(10000, 4.0 / 5)), 1e-15);
        CHECK_NEAR(odd[t * 5 + 3], cos(t / pow(10000, 2.0 / 5)), 1e-15);
    }
}

TEST(no_rows_and_no_columns_write_nothing) {
    double guard = 7;
    R(position_sinusoidal)(0, 4, &guard);
    R(position_sinusoidal)(4, 0, &guard);
    CHECK_NEAR(guard, 7, 0);
}
