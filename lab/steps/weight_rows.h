/* SPDX-License-Identifier: Apache-2.0 */
/* weight_rows.h - statistics of rows of weights. Tests: tests/lab/test_figures.c */
#ifndef LAB_WEIGHT_ROWS_H
#define LAB_WEIGHT_ROWS_H

#include "steps/attend.h"

/* For each row of weights (n, n): entropy (n), largest weight (n), norm of the softmax Jacobian
 * (n). Any may be NULL. */
void lab_rows_measure(const double *weights, int64_t n, double *entropy, double *largest,
                      double *jacobian);

#endif
