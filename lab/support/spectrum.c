/* SPDX-License-Identifier: Apache-2.0 */
/* spectrum.c - singular values: rotates pairs of rows until any two are orthogonal; their lengths
 * are then the singular values. Spectral radius: |a^m|^(1/m) for m = 2^30, by repeated squaring. */
#include "support/spectrum.h"

#include "core/base.h"
#include "steps/attend.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

void lab_matrix_product(int64_t n, const double *a, const double *b, double *product) {
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++) {
            double sum = 0;
            for (int64_t m = 0; m < n; m++) sum += a[i * n + m] * b[m * n + j];
            product[i * n + j] = sum;
        }
    }
}

/* Rotates rows x and y (n) so that they become orthogonal; true if they were not. `nothing` is the
 * square of a length that is rounding error only: such rows have no direction. */
static bool make_orthogonal(double *x, double *y, int64_t n, double nothing) {
    double xx = 0, yy = 0, xy = 0;
    for (int64_t i = 0; i < n; i++) {
        xx += x[i] * x[i];
        yy += y[i] * y[i];
        xy += x[i] * y[i];
    }
    if (xx <= nothing || yy <= nothing || fabs(xy) <= DBL_EPSILON * sqrt(xx * yy)) return false;
    /* tangent of the smaller of the two angles that make the new product 0 */
    const double zeta = (yy - xx) / (2 * xy),
                 t = copysign(1, zeta) / (fabs(zeta) + sqrt(1 + zeta * zeta)),
                 cosine = 1 / sqrt(1 + t * t), sine = cosine * t;
    for (int64_t i = 0; i < n; i++) {
        const double old = x[i];
        x[i] = cosine * old - sine * y[i];
        y[i] = sine * old + cosine * y[i];
    }
    return true;
}

static int descending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* Makes the rows of row (m, n), m <= n, orthogonal. */
static void rotate_rows(double *row, int64_t m, int64_t n) {
    enum { MOST_SWEEPS = 60 }; /* about ten are needed: convergence is quadratic */
    const double rounding = DBL_EPSILON * lab_norm(row, m * n) / (double)n,
                 nothing = rounding * rounding;
    bool moved = true;
    for (int sweep = 0; moved && sweep < MOST_SWEEPS; sweep++) {
        moved = false;
        for (int64_t i = 0; i < m; i++) {
            for (int64_t j = i + 1; j < m; j++) {
                moved |= make_orthogonal(row + i * n, row + j * n, n, nothing);
            }
        }
    }
}

attn_status lab_singular_values(int64_t rows, int64_t columns, const double *a, double *sigma,
                                attn_error *err) {
    const int64_t m = attni_min(rows, columns), n = attni_max(rows, columns);
    double *row = malloc((size_t)(m * n) * sizeof *row); /* (m, n) a, or its transpose if high */
    if (row == NULL) {
        return attni_fail(err, ATTN_E_MEMORY, "singular values: no memory for %lld x %lld",
                          (long long)rows, (long long)columns);
    }
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++) {
            row[i * n + j] = rows <= columns ? a[i * columns + j] : a[j * columns + i];
        }
    }
    rotate_rows(row, m, n);
    for (int64_t i = 0; i < m; i++) sigma[i] = lab_norm(row + i * n, n);
    qsort(sigma, (size_t)m, sizeof *sigma, descending);
    free(row);
    return ATTN_OK;
}

int64_t lab_rank(const double *sigma, int64_t n) {
    int64_t rank = 0;
    while (rank < n && sigma[rank] > (double)n * DBL_EPSILON * sigma[0]) rank++;
    return rank;
}

int64_t lab_energy_count(const double *sigma, int64_t n, double share) {
    const double all = lab_norm(sigma, n) * lab_norm(sigma, n);
    double sum = 0;
    int64_t count = 0;
    while (count < n && sum < share * all) {
        sum += sigma[count] * sigma[count];
        count++;
    }
    return count;
}

attn_status lab_spectral_radius(int64_t n, const double *a, double *radius, attn_error *err) {
    enum { SQUARINGS = 30 };
    const int64_t cells = n * n;
    double *power = malloc(2 * (size_t)cells * sizeof *power), *square = power + cells;
    if (power == NULL) {
        return attni_fail(err, ATTN_E_MEMORY, "spectral radius: no memory for %lld x %lld",
                          (long long)n, (long long)n);
    }
    /* a^m = e^logarithm * power, power of norm 1 */
    double logarithm = 0, norm = lab_norm(a, cells);
    for (int64_t i = 0; i < cells; i++) power[i] = a[i];
    for (int step = 0; step < SQUARINGS && norm > 0; step++) {
        for (int64_t i = 0; i < cells; i++) power[i] /= norm;
        logarithm = 2 * (logarithm + log(norm));
        lab_matrix_product(n, power, power, square);
        for (int64_t i = 0; i < cells; i++) power[i] = square[i];
        norm = lab_norm(power, cells);
    }
    *radius = norm > 0 ? exp((logarithm + log(norm)) / (double)(1 << SQUARINGS)) : 0;
    free(power);
    return ATTN_OK;
}
