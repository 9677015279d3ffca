/* SPDX-License-Identifier: Apache-2.0 */
/* test_norm.c - layer norm and RMS norm against the formulas in double precision (backward by the
 * full Jacobian of a row) and against finite differences. */
#include "arrays.h"
#include "differences.h"
#include "layers/norm.h"

#include <math.h>

enum { ROWS = 3, WIDEST = 200, MOST = ROWS * WIDEST };
static real x[MOST], gain[WIDEST], bias[WIDEST], y[MOST], mean[ROWS], inverse[ROWS];
static real dy[MOST], dx[MOST], dgain[WIDEST], dbias[WIDEST], before[MOST];
static double want[MOST], want_gain[WIDEST], want_bias[WIDEST], z[WIDEST];

static const int64_t widths[] = {1, 2, 7, 63, 64, 65, 200};
enum { N_WIDTHS = sizeof widths / sizeof widths[0] };
static const attni_norm_saved saved = {mean, inverse};

/* Sums are at most 28 additions deep and their terms average below 1/2: means are off by some 14
 * roundings, inverse deviations (below 2 for uniform rows) by 20, z and y by 70, and sums of
 * products with them by 200. */
#define FORWARD_TOLERANCE  (100 * UNIT)
#define BACKWARD_TOLERANCE (400 * UNIT)

static attni_norm norm_of(int64_t width, bool rms) {
    return (attni_norm){.width = width, .rms = rms, .eps = 1e-1, .gain = gain, .bias = bias};
}

static void fill_all(void) {
    fill_random(1, MOST, x);
    fill_random(2, WIDEST, gain);
    fill_random(3, WIDEST, bias);
    fill_random(4, MOST, dy);
    fill_random(5, MOST, before);
}

/* z = (x - mean) / sqrt(variance + eps) of one row; returns 1 / sqrt(variance + eps). */
static double normalise(const attni_norm *norm, const real *row) {
    const int64_t width = norm->width;
    double average = 0, variance = 0;
    for (int64_t c = 0; c < width; c++) average += norm->rms ? 0 : (double)row[c] / (double)width;
    for (int64_t c = 0; c < width; c++)
        variance += pow((double)row[c] - average, 2) / (double)width;
    const double factor = 1 / sqrt(variance + norm->eps);
    for (int64_t c = 0; c < width; c++) z[c] = ((double)row[c] - average) * factor;
    return factor;
}

static void check_forward(const attni_norm *norm) {
    const int64_t width = norm->width;
    fill_all();
    R(norm_forward)(norm, ROWS, x, y, &saved);
    for (int64_t i = 0; i < ROWS; i++) {
        const double factor = normalise(norm, x + i * width);
        CHECK_NEAR((double)inverse[i], factor, FORWARD_TOLERANCE * factor);
        for (int64_t c = 0; c < width; c++) {
            want[i * width + c] =
                z[c] * (norm->gain ? (double)gain[c] : 1) + (norm->bias ? (double)bias[c] : 0);
        }
    }
    CHECK_ARRAY(ROWS * width, y, want, FORWARD_TOLERANCE);
}

TEST(layer_norm_is_the_formula) {
    for (int i = 0; i < N_WIDTHS && !check_has_failed(); i++) {
        const attni_norm norm = norm_of(widths[i], false);
        check_forward(&norm);
    }
}

TEST(rms_norm_is_the_formula) {
    for (int i = 0; i < N_WIDTHS && !check_has_failed(); i++) {
        const attni_norm norm = norm_of(widths[i], true);
        check_forward(&norm);
    }
}

TEST(without_gain_and_bias_they_are_1_and_0) {
    attni_norm norm = norm_of(7, false);
    norm.gain = norm.bias = NULL;
    check_forward(&norm);
}

TEST(a_large_mean_does_not_hide_the_variance) {
    fill_with(MOST, 65536, x);
    for (int64_t c = 0; c < 64; c++) x[c] += c % 2 ? 1 : -1;
    const attni_norm norm = {.width = 64, .eps = 1e-5};
    R(norm_forward)(&norm, 1, x, y, &saved);
    for (int64_t c = 0; c < 64; c++) {
        CHECK_NEAR((double)y[c], (c % 2 ? 1 : -1) / sqrt(1 + 1e-5), 8 * UNIT);
    }
}

TEST(a_constant_row_becomes_the_bias) {
    fill_all();
    fill_with(MOST, 0.7, x);
    attni_norm norm = norm_of(65, false);
    norm.eps = 1e-5; /* inverse is 316; 0.7 times 65 rounds a few times */
    R(norm_forward)(&norm, 1, x, y, &saved);
    CHECK_ARRAY(65, y, bias, 316 * 8 * UNIT);
}

TEST(no_rows_are_no_work) {
    const attni_norm norm = norm_of(7, false);
    const attni_norm_grad grad = {.x = x, .dy = dy, .dx = dx, .dgain = dgain, .dbias = dbias};
    fill_with(WIDEST, 3, dgain);
    fill_with(MOST, 3, y);
    R(norm_forward)(&norm, 0, x, y, &saved);
    R(norm_backward)(&norm, 0, &saved, &grad);
    CHECK(y[0] == 3 && dgain[0] == 3);
}

/* y = gain z + bias; dz_i / dx_j = inverse ((i == j) - 1/width - z_i z_j / width), without the
 * 1/width for RMS norm. */
static void expect_row(const attni_norm *norm, int64_t i, bool add) {
    const int64_t width = norm->width;
    const double factor = normalise(norm, x + i * width);
    const real *dy_row = dy + i * width;
    for (int64_t j = 0; j < width; j++) {
        double sum = 0;
        for (int64_t c = 0; c < width; c++) {
            const double shared = (norm->rms ? 0 : 1) + z[c] * z[j];
            const double slope = factor * ((c == j) - shared / (double)width);
            sum += (double)dy_row[c] * (norm->gain ? (double)gain[c] : 1) * slope;
        }
        want[i * width + j] = sum + (add ? (double)before[i * width + j] : 0);
        want_gain[j] += (double)dy_row[j] * z[j];
        want_bias[j] += (double)dy_row[j];
    }
}

static void check_backward(const attni_norm *norm, bool add) {
    fill_all();
    memcpy(dx, before, sizeof dx);
    memcpy(dgain, before, sizeof dgain);
    memcpy(dbias, before + 1, sizeof dbias);
    R(norm_forward)(norm, ROWS, x, y, &saved);
    const attni_norm_grad grad = {
        .x = x, .dy = dy, .dx = dx, .add_dx = add, .dgain = dgain, .dbias = dbias};
    R(norm_backward)(norm, ROWS, &saved, &grad);
    for (int64_t c = 0; c < norm->width; c++) {
        want_gain[c] = (double)before[c];
        want_bias[c] = (double)before[c + 1];
    }
    for (int64_t i = 0; i < ROWS; i++) expect_row(norm, i, add);
    CHECK_ARRAY(ROWS * norm->width, dx, want, BACKWARD_TOLERANCE);
    CHECK_ARRAY(norm->width, dgain, want_gain, BACKWARD_TOLERANCE);
    CHECK_ARRAY(norm->width, dbias, want_bias, BACKWARD_TOLERANCE);
}

TEST(backward_of_layer_norm_is_the_jacobian_and_adds_to_parameters) {
    for (int i = 0; i < N_WIDTHS && !check_has_failed(); i++) {
        const attni_norm norm = norm_of(widths[i], false);
        check_backward(&norm, false);
    }
}

TEST(backward_of_rms_norm_is_the_jacobian_and_adds_to_parameters) {
    for (int i = 0; i < N_WIDTHS && !check_has_failed(); i++) {
        const attni_norm norm = norm_of(widths[i], true);
        check_backward(&norm, false);
    }
}

TEST(backward_without_gain_takes_1) {
    attni_norm norm = norm_of(65, false);
    norm.gain = NULL;
    check_backward(&norm, false);
}

TEST(backward_adds_to_dx_when_asked) {
    const attni_norm norm = norm_of(65, false);
    check_backward(&norm, true);
}

TEST(backward_leaves_alone_what_is_not_asked_for) {
    const attni_norm norm = norm_of(7, false);
    fill_all();
    fill_with(MOST, 3, dx);
    fill_with(WIDEST, 0, dbias);
    R(norm_forward)(&norm, ROWS, x, y, &saved);
    R(norm_backward)(&norm, ROWS, &saved, &(attni_norm_grad){.x = x, .dy = dy, .dbias = dbias});
    CHECK(dx[0] == 3);
    CHECK_NEAR((double)dbias[0], (double)dy[0] + (double)dy[7] + (double)dy[14], 4 * UNIT);
}

#if REAL_IS_F64
static double loss(void *scene) {
    const attni_norm *norm = scene;
    double sum = 0;
    R(norm_forward)(norm, ROWS, x, y, &saved);
    for (int64_t i = 0; i < ROWS * norm->width; i++) sum += dy[i] * y[i];
    return sum;
}

static void check_slopes(bool rms) {
    attni_norm norm = norm_of(9, rms);
    fill_all();
    fill_with(WIDEST, 0, dgain);
    fill_with(WIDEST, 0, dbias);
    R(norm_forward)(&norm, ROWS, x, y, &saved);
    const attni_norm_grad grad = {.x = x, .dy = dy, .dx = dx, .dgain = dgain, .dbias = dbias};
    R(norm_backward)(&norm, ROWS, &saved, &grad);
    CHECK_GRADIENT(loss, &norm, ROWS * norm.width, x, dx);
    CHECK_GRADIENT(loss, &norm, norm.width, gain, dgain);
    CHECK_GRADIENT(loss, &norm, norm.width, bias, dbias);
}

TEST(gradients_of_layer_norm_are_slopes) { check_slopes(false); }
TEST(gradients_of_rms_norm_are_slopes) { check_slopes(true); }
#endif
