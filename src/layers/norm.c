/* SPDX-License-Identifier: Apache-2.0 */
/* norm.c - rows one after the other; the variance is summed about the mean, in a second pass, so
 * that a large mean does not cancel it away. Compiled per real. Test: tests/grad/test_norm.c */
#include "layers/norm.h"

#include "layers/chunk.h"

static real row_mean(int64_t width, const real *x) {
    real sum = 0, chunk[CHUNK];
    for (int64_t c = 0; c < width; c += CHUNK) {
        chunk_load(chunk_length(width, c), x + c, 0, chunk);
        sum += chunk_sum(chunk);
    }
    return sum / (real)width;
}

/* 1 / sqrt(mean of (x - mean)^2 + eps) */
static real row_inverse(const attni_norm *norm, const real *x, real mean) {
    real sum = 0, chunk[CHUNK];
    for (int64_t c = 0; c < norm->width; c += CHUNK) {
        chunk_load(chunk_length(norm->width, c), x + c, mean, chunk);
        for (int i = 0; i < CHUNK; i++) chunk[i] = (chunk[i] - mean) * (chunk[i] - mean);
        sum += chunk_sum(chunk);
    }
    return 1 / real_sqrt(sum / (real)norm->width + (real)norm->eps);
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

/* One row: what all its elements share. */
typedef struct norm_row {
    const real *x, *dy;    /* (width) */
    real mean, inverse;    /* z = (x - mean) * inverse, y = gain * z + bias */
    real mean_g, mean_g_z; /* of g = dy * gain and of g * z, over the row */
} norm_row;

/* g and z of the chunk at c, zeros after its end. */
static void row_chunk(const attni_norm *norm, const norm_row *row, int64_t c, real g[CHUNK],
                      real z[CHUNK]) {
    const int length = chunk_length(norm->width, c);
    chunk_load(length, row->dy + c, 0, g);
    chunk_load(length, row->x + c, row->mean, z);
    if (norm->gain) {
        for (int i = 0; i < length; i++) g[i] *= norm->gain[c + i];
    }
    for (int i = 0; i < CHUNK; i++) z[i] = (z[i] - row->mean) * row->inverse;
}

static void row_sums(const attni_norm *norm, norm_row *row) {
    real sum_g = 0, sum_g_z = 0, g[CHUNK], z[CHUNK];
    for (int64_t c = 0; c < norm->width; c += CHUNK) {
        row_chunk(norm, row, c, g, z);
        sum_g += chunk_sum(g);
        for (int i = 0; i < CHUNK; i++) z[i] *= g[i];
        sum_g_z += chunk_sum(z);
    }
    row->mean_g = norm->rms ? 0 : sum_g / (real)norm->width; /* RMS norm subtracts no mean */
    row->mean_g_z = sum_g_z / (real)norm->width;
}

/* dx = inverse * (g - mean(g) - z * mean(g z)): the mean and the deviation depend on x too. */
static void input_gradient(const attni_norm *norm, const norm_row *row, bool add, real *dx) {
    real g[CHUNK], z[CHUNK];
    for (int64_t c = 0; c < norm->width; c += CHUNK) {
        const int length = chunk_length(norm->width, c);
        row_chunk(norm, row, c, g, z);
        for (int i = 0; i < CHUNK; i++) {
            g[i] = row->inverse * (g[i] - row->mean_g - z[i] * row->mean_g_z);
        }
        if (add) {
            for (int i = 0; i < length; i++) dx[c + i] += g[i];
        } else {
            memcpy(dx + c, g, (size_t)length * sizeof *dx);
        }
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
