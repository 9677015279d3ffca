/* SPDX-License-Identifier: Apache-2.0 */
/* markov.c - see markov.h. */
#include "support/markov.h"

#include "core/base.h"
#include "steps/attend.h"
#include "support/spectrum.h"

#include <math.h>
#include <stdlib.h>

double lab_row_spread(int64_t n, const double *a) {
    double spread = 0;
    for (int64_t j = 0; j < n; j++) {
        double low = a[j], high = a[j];
        for (int64_t i = 1; i < n; i++) {
            low = fmin(low, a[i * n + j]);
            high = fmax(high, a[i * n + j]);
        }
        spread = fmax(spread, high - low);
    }
    return spread;
}

double lab_row_sum_error(int64_t n, const double *a) {
    double worst = 0;
    for (int64_t i = 0; i < n; i++) {
        worst = fmax(worst, fabs(lab_mean(a + i * n, n) * (double)n - 1));
    }
    return worst;
}

/* Moves p (n) one hop and scales it to a sum of 1; returns how much it changed. */
static double hop(int64_t n, const double *a, double *p, double *next) {
    double sum = 0, change = 0;
    for (int64_t j = 0; j < n; j++) {
        next[j] = 0;
        for (int64_t i = 0; i < n; i++) next[j] += p[i] * a[i * n + j];
        sum += next[j];
    }
    for (int64_t j = 0; j < n; j++) {
        change = fmax(change, fabs(next[j] / sum - p[j]));
        p[j] = next[j] / sum;
    }
    return change;
}

attn_status lab_stationary(int64_t n, const double *a, double *p, attn_error *err) {
    enum { MOST_HOPS = 100000 };
    double *next = calloc((size_t)n, sizeof *next);
    if (next == NULL)
        return attni_fail(err, ATTN_E_MEMORY, "stationary: no memory for %lld", (long long)n);
    for (int64_t j = 0; j < n; j++) p[j] = 1 / (double)n;
    for (int i = 0; i < MOST_HOPS && hop(n, a, p, next) > 1e-16; i++) {}
    free(next);
    return ATTN_OK;
}

attn_status lab_second_eigenvalue(int64_t n, const double *a, double *modulus, attn_error *err) {
    attn_status status = ATTN_OK;
    double *p = calloc((size_t)n, sizeof *p);
    double *rest = calloc((size_t)(n * n), sizeof *rest); /* a without its eigenvalue 1 */
    if (p == NULL || rest == NULL) {
        status = attni_fail(err, ATTN_E_MEMORY, "second eigenvalue: no memory for %lld rows",
                            (long long)n);
        goto done;
    }
    status = lab_stationary(n, a, p, err);
    if (status != ATTN_OK) goto done;
    for (int64_t i = 0; i < n * n; i++) rest[i] = a[i] - p[i % n];
    status = lab_spectral_radius(n, rest, modulus, err);
done:
    free(p);
    free(rest);
    return status;
}
