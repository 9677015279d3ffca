/* SPDX-License-Identifier: Apache-2.0 */
/* norm.c - processes one row after another. The variance is summed about the mean in a second pass,
 * so that a large mean does not cancel it out. Compiled per real type. Test:
 * tests/layers/test_norm.c */
#include "layers/norm.h"

#include "layers/chunk.h"

static real row_mean(int64_t width, const real *x) {
    real lane[LANES] = {0};
    int64_t c = 0;
    for (; c + LANES <= width; c += LANES) {
        for (int l = 0; l < LANES; l++) lane[l] += x[c + l];
    }
    for (int l = 0; c < width; c++, l++) lane[l] += x[c];
    return lanes_sum(lane) / (real)width;
}

/* 1 / sqrt(mean of (x - mean)^2 + eps) */
static real row_inverse(const attni_norm *norm, const real *x, real mean) {
    const int64_t width = norm->width;
    real lane[LANES] = {0};
    int64_t c = 0;
    for (; c + LANES <= width; c += LANES) {
        for (int l = 0; l < LANES; l++) lane[l] += (x[c + l] - mean) * (x[c + l] - mean);
    }
    for (int l = 0; c < width; c++, l++) lane[l] += (x[c] - mean) * (x[c] - mean);
    return 1 / real_sqrt(lanes_sum(lane) / (real)width + (real)norm->eps);
}

static void scale_row(const attni_norm *norm, const real *restrict x, real mean, real inverse,
                      real *restrict y) {
    const int64_t width = norm->width;
    for (int64_t c = 0; c < width; c++) y[c] = (x[c] - mean) * inverse;
    if (norm->gain) {
        const real *restrict gain = norm->gain;
        for (int64_t c = 0; c < width; c++) y[c] *= gain[c];
    }
    if (norm->bias) {
        const real *restrict bias = norm->bias;
        for (int64_t c = 0; c < width; c++) y[c] += bias[c];
    }
}

void R(norm_forward)(const attni_norm *norm, int64_t n, const real *x, real *y,
                     const attni_norm_saved *saved) {
    attni_assert(norm->width >= 1);
    for (int64_t i = 0; i < n; i++) {
        const real *row = x + i * norm->width;
        const real mean = norm->rms ? 0 : row_mean(norm->width, row);
        const real inverse = row_inverse(norm, row, mean);
        scale_row(norm, row, mean, inverse, y + i * norm->width);
        if (!norm->rms) saved->mean[i] = mean;
        saved->inverse[i] = inverse;
    }
}

/* What all elements of a row share. */
typedef struct norm_row {
    const real *x, *dy;    /* (width) */
    real mean, inverse;    /* z = (x - mean) * inverse, y = gain * z + bias */
    real mean_g, mean_g_z; /* of g = dy * gain and of g * z, over the row */
} norm_row;

static real g_at(const norm_row *row, const real *gain, int64_t c) {
    return gain ? row->dy[c] * gain[c] : row->dy[c];
}
static real z_at(const norm_row *row, int64_t c) { return (row->x[c] - row->mean) * row->inverse; }

static void row_sums(const attni_norm *norm, norm_row *row) {
    const int64_t width = norm->width;
    real g[LANES] = {0}, g_z[LANES] = {0};
    int64_t c = 0;
    for (; c + LANES <= width; c += LANES) {
        for (int l = 0; l < LANES; l++) {
            g[l] += g_at(row, norm->gain, c + l);
            g_z[l] += g_at(row, norm->gain, c + l) * z_at(row, c + l);
        }
    }
    for (int l = 0; c < width; c++, l++) {
        g[l] += g_at(row, norm->gain, c);
        g_z[l] += g_at(row, norm->gain, c) * z_at(row, c);
    }
    row->mean_g = norm->rms ? 0 : lanes_sum(g) / (real)width; /* RMS norm subtracts no mean */
    row->mean_g_z = lanes_sum(g_z) / (real)width;
}

/* dx = inverse * (g - mean(g) - z * mean(g z)): mean and deviation depend on x too. */
static void input_gradient(const attni_norm *norm, const norm_row *row, bool add,
                           real *restrict dx) {
    const real *gain = norm->gain;
    const norm_row r = *row;
    for (int64_t c = 0; c < norm->width; c++) {
        const real d = r.inverse * (g_at(&r, gain, c) - r.mean_g - z_at(&r, c) * r.mean_g_z);
        dx[c] = add ? dx[c] + d : d;
    }
}

/* y = gain * z + bias: dgain += dy * z, dbias += dy */
static void parameter_gradients(int64_t width, const norm_row *row, real *restrict dgain,
                                real *restrict dbias) {
    const real *restrict x = row->x, *restrict dy = row->dy;
    const real mean = row->mean, inverse = row->inverse;
    if (dgain) {
        for (int64_t c = 0; c < width; c++) dgain[c] += dy[c] * ((x[c] - mean) * inverse);
    }
    if (dbias) {
        for (int64_t c = 0; c < width; c++) dbias[c] += dy[c];
    }
}

void R(norm_backward)(const attni_norm *norm, int64_t n, const attni_norm_saved *saved,
                      const attni_norm_grad *grad) {
    const int64_t width = norm->width;
    for (int64_t i = 0; i < n; i++) {
        norm_row row = {.x = grad->x + i * width,
                        .dy = grad->dy + i * width,
                        .mean = norm->rms ? 0 : saved->mean[i],
                        .inverse = saved->inverse[i]};
        parameter_gradients(width, &row, grad->dgain, grad->dbias);
        if (!grad->dx) continue;
        row_sums(norm, &row);
        input_gradient(norm, &row, grad->add_dx, grad->dx + i * width);
    }
}
