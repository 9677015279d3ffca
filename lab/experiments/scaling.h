/* SPDX-License-Identifier: Apache-2.0 */
/* scaling.h - what scores are divided by, three ways, and what is measured on the rows that come
 * out. Called by: experiments. Tests: tests/lab/test_figures.c */
#ifndef LAB_SCALING_H
#define LAB_SCALING_H

#include "attend.h"

typedef enum lab_scaling { LAB_UNSCALED, LAB_SCALED, LAB_BY_D_K, LAB_SCALINGS } lab_scaling;

/* 1, 1/sqrt(d_k), 1/d_k */
double lab_scaling_factor(lab_scaling scaling, int64_t d_k);
/* "unscaled", "scaled", "by_d_k": names of tables */
extern const char *const lab_scaling_name[LAB_SCALINGS];

/* Each row of weights (n, n): entropy (n), largest weight (n), norm of the softmax Jacobian (n).
 * Any may be NULL. */
void lab_rows_measure(const double *weights, int64_t n, double *entropy, double *largest,
                      double *jacobian);

/* "t0" .. "t7": the positions of the figures with eight tokens. */
extern const char *const lab_token_name[8];

#endif
