/* SPDX-License-Identifier: Apache-2.0 */
/* test_sinusoidal.c - properties of sinusoidal positions; tests/golden/test_layers.c checks
 * independent values. Tolerance 1e-13: sums of 64 products of angles up to 200, each angle off by
 * one rounding (200 * 2^-53). */
#define ATTNI_REAL_f64
#include "check.h"
#include "layers/sinusoidal.h"

enum { N = 200, D = 64 };

static const double tolerance = 1e-13;

static double table[N * D];

static double dot(int s, int t) {
    double sum = 0;
    for (int c = 0; c < D; c++) sum += table[s * D + c] * table[t * D + c];
    return sum;
}

TEST(every_position_has_length_square_half_the_columns) {
    R(sinusoidal_table)(N, D, 10000, true, table);
    for (int t = 0; t < N; t++) CHECK_NEAR(dot(t, t), D / 2, tolerance);
}

TEST(products_of_positions_depend_on_their_distance_only) {
    R(sinusoidal_table)(N, D, 10000, true, table);
    for (int distance = 1; distance < 100; distance += 7) {
        const double first = dot(0, distance);
        for (int t = 1; t + distance < N; t++) CHECK_NEAR(dot(t, t + distance), first, tolerance);
    }
}

TEST(halves_hold_the_same_pairs_as_neighbours) {
    static double halves[N * D];
    R(sinusoidal_table)(N, D, 300, true, table);
    R(sinusoidal_table)(N, D, 300, false, halves);
    for (int t = 0; t < N; t++)
        for (int c = 0; c < D; c++)
            CHECK_NEAR(halves[t * D + c % 2 * (D / 2) + c / 2], table[t * D + c], 0);
}

TEST(odd_halves_have_one_sine_more) {
    double odd[3 * 5];
    R(sinusoidal_table)(3, 5, 10000, false, odd);
    for (int t = 0; t < 3; t++) {
        CHECK_NEAR(odd[t * 5 + 2], sin(t / pow(10000, 4.0 / 5)), 1e-15);
        CHECK_NEAR(odd[t * 5 + 3], cos(t), 1e-15);
    }
}

TEST(odd_widths_end_with_a_sine) {
    double odd[3 * 5];
    R(sinusoidal_table)(3, 5, 10000, true, odd);
    for (int t = 0; t < 3; t++) {
        CHECK_NEAR(odd[t * 5 + 4], sin(t / pow(10000, 4.0 / 5)), 1e-15);
        CHECK_NEAR(odd[t * 5 + 3], cos(t / pow(10000, 2.0 / 5)), 1e-15);
    }
}

TEST(no_rows_and_no_columns_write_nothing) {
    double guard = 7;
    R(sinusoidal_table)(0, 4, 10000, true, &guard);
    R(sinusoidal_table)(4, 0, 10000, true, &guard);
    CHECK_NEAR(guard, 7, 0);
}
