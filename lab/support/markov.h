/* SPDX-License-Identifier: Apache-2.0 */
/* markov.h - weights read as a Markov chain: a row says where a walk goes next. All matrices (n,
 * n), rows that sum to 1; results must not overlap inputs. A hop by a, then one by b:
 * lab_matrix_product().
 * Tests: tests/lab/test_beyond_structure.c */
#ifndef LAB_MARKOV_H
#define LAB_MARKOV_H

#include "attn/attn.h"

/* How far the rows are from being all the same: over the columns, the largest difference. */
double lab_row_spread(int64_t n, const double *a);
/* Over the rows, the largest |sum - 1|. */
double lab_row_sum_error(int64_t n, const double *a);
/* p (n): the distribution that a hop does not change, p a = p; of a chain that forgets where it
 * began. Errors: MEMORY. */
attn_status lab_stationary(int64_t n, const double *a, double *p, attn_error *err);
/* Modulus of the second largest eigenvalue: what the spread is multiplied with by a hop, in the
 * long run. Of a chain that forgets where it began. Errors: MEMORY. */
attn_status lab_second_eigenvalue(int64_t n, const double *a, double *modulus, attn_error *err);

#endif
