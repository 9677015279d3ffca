/* SPDX-License-Identifier: Apache-2.0 */
/* weight_rows.c - see weight_rows.h. */
#include "steps/weight_rows.h"

void lab_rows_measure(const double *weights, int64_t n, double *entropy, double *largest,
                      double *jacobian) {
    for (int64_t i = 0; i < n; i++) {
        const double *row = weights + i * n;
        if (entropy) entropy[i] = lab_entropy(row, n);
        if (largest) largest[i] = lab_largest(row, n);
        if (jacobian) jacobian[i] = lab_jacobian_norm(row, n);
    }
}
