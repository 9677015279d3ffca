/* SPDX-License-Identifier: Apache-2.0 */
/* web_shift.c - principal components, the first two: power iteration on the covariance, the second
 * with the first taken out. Signs are fixed: the largest part of an axis is positive. */
#include "web_look.h"

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

/* next = X^T X axis, then to length 1; false if nothing is left. */
static bool turn(const double *centred, int64_t n, int64_t d, const double *axis, double *next) {
    memset(next, 0, (size_t)d * sizeof *next);
    for (int64_t i = 0; i < n; i++) {
        const double *row = centred + i * d, along = dot(row, axis, d);
        for (int64_t c = 0; c < d; c++) next[c] += along * row[c];
    }
    const double length = sqrt(dot(next, next, d));
    if (!(length > 1e-30)) return false;
    for (int64_t c = 0; c < d; c++) next[c] /= length;
    return true;
}

static void fix_sign(double *axis, int64_t d) {
    int64_t largest = 0;
    for (int64_t c = 1; c < d; c++)
        if (fabs(axis[c]) > fabs(axis[largest])) largest = c;
    if (axis[largest] >= 0) return;
    for (int64_t c = 0; c < d; c++) axis[c] = -axis[c];
}

/* The longest axis of the rows; zeroes if they are all alike. axis, next (d) */
static void find_axis(const double *centred, int64_t n, int64_t d, double *axis, double *next) {
    for (int64_t c = 0; c < d; c++) axis[c] = 1 / (double)(1 + c); /* no symmetry to be caught in */
    for (int round = 0; round < ROUNDS; round++) {
        if (!turn(centred, n, d, axis, next)) {
            memset(axis, 0, (size_t)d * sizeof *axis);
            return;
        }
        const double along = fabs(dot(axis, next, d));
        memcpy(axis, next, (size_t)d * sizeof *axis);
        if (round > 0 && 1 - along < 1e-14) break;
    }
    fix_sign(axis, d);
}

attn_status web_principal(const float *rows, int64_t n, int64_t d, float *points) {
    double *centred = malloc((size_t)((n + 2) * d) * sizeof *centred);
    if (!centred) return attni_fail(&web_error, ATTN_E_MEMORY, "out of memory for the axes");
    double *axis = centred + n * d, *next = axis + d;
    centre(rows, n, d, centred);
    for (int which = 0; which < 2; which++) {
        find_axis(centred, n, d, axis, next);
        for (int64_t i = 0; i < n; i++) {
            double *row = centred + i * d;
            const double along = dot(row, axis, d);
            points[2 * i + which] = (float)along;
            for (int64_t c = 0; c < d; c++) row[c] -= along * axis[c]; /* takes it out */
        }
    }
    free(centred);
    return ATTN_OK;
}
