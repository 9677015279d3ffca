/* SPDX-License-Identifier: Apache-2.0 */
/* principal.c - see principal.h. Power iteration on the covariance; the second axis after removing
 * the first. The sign of an axis is that of its component along the start vector. The covariance is
 * computed once per axis: an iteration then costs d^2, not n d. */
#include "steps/principal.h"

#include "core/base.h"

#include <stdlib.h>

enum { ROUNDS = 300 };

/* The rows about their mean, in double. centred (n, d) */
static void centre(const float *rows, int64_t n, int64_t d, double *centred) {
    for (int64_t c = 0; c < d; c++) {
        double mean = 0;
        for (int64_t i = 0; i < n; i++) mean += (double)rows[i * d + c] / (double)n;
        for (int64_t i = 0; i < n; i++) centred[i * d + c] = (double)rows[i * d + c] - mean;
    }
}

static double dot(const double *a, const double *b, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* covariance (d, d) = X^T X; only the axes are needed, so it is not divided by n. */
static void covary(const double *centred, int64_t n, int64_t d, double *covariance) {
    memset(covariance, 0, (size_t)(d * d) * sizeof *covariance);
    for (int64_t i = 0; i < n; i++) {
        const double *row = centred + i * d;
        for (int64_t a = 0; a < d; a++)
            for (int64_t b = 0; b < d; b++) covariance[a * d + b] += row[a] * row[b];
    }
}

/* next = covariance axis, normalised to length 1; false if it is 0. */
static bool turn(const double *covariance, int64_t d, const double *axis, double *next) {
    for (int64_t c = 0; c < d; c++) next[c] = dot(covariance + c * d, axis, d);
    const double length = sqrt(dot(next, next, d));
    if (!(length > 1e-30)) return false;
    for (int64_t c = 0; c < d; c++) next[c] /= length;
    return true;
}

/* The longest axis; zeros if all rows are equal. axis, next (d) */
static void find_axis(const double *covariance, int64_t d, double *axis, double *next) {
    for (int64_t c = 0; c < d; c++) axis[c] = 1 / (double)(1 + c); /* breaks any symmetry */
    for (int round = 0; round < ROUNDS; round++) {
        if (!turn(covariance, d, axis, next)) {
            memset(axis, 0, (size_t)d * sizeof *axis);
            return;
        }
        const double along = fabs(dot(axis, next, d));
        memcpy(axis, next, (size_t)d * sizeof *axis);
        if (round > 0 && 1 - along < 1e-14) break;
    }
}

attn_status lab_principal(int64_t n, int64_t d, const float *rows, float *points, attn_error *err) {
    double *centred = calloc((size_t)((n + 2 + d) * d), sizeof *centred);
    if (!centred) return attni_fail(err, ATTN_E_MEMORY, "out of memory for principal axes");
    double *axis = centred + n * d, *next = axis + d, *covariance = next + d;
    centre(rows, n, d, centred);
    for (int which = 0; which < 2; which++) {
        covary(centred, n, d, covariance);
        find_axis(covariance, d, axis, next);
        for (int64_t i = 0; i < n; i++) {
            double *row = centred + i * d;
            const double along = dot(row, axis, d);
            points[2 * i + which] = (float)along;
            for (int64_t c = 0; c < d; c++) row[c] -= along * axis[c]; /* removes it */
        }
    }
    free(centred);
    return ATTN_OK;
}
