/* SPDX-License-Identifier: Apache-2.0 */
/* markov.h - reads weights as a Markov chain: a row is the distribution of the next position of a
 * walk. All matrices are (n, n) with rows that sum to 1; results must not overlap inputs. For a hop
 * by a, then one by b, see lab_matrix_product(). Tests: tests/lab/test_beyond_structure.c */
#ifndef LAB_MARKOV_H
#define LAB_MARKOV_H

#include "attn/attn.h"

/* How far the rows are from being identical: the largest difference within a column, over all
 * columns. */
double lab_row_spread(int64_t n, const double *a);
/* The largest |sum - 1| over the rows. */
double lab_row_sum_error(int64_t n, const double *a);
/* p (n): the stationary distribution, p a = p, of a chain that forgets where it started. Errors:
 * MEMORY. */
attn_status lab_stationary(int64_t n, const double *a, double *p, attn_error *err);
/* The modulus of the second largest eigenvalue: the factor by which a hop shrinks the spread in the
 * long run, for a chain that forgets where it started. Errors: MEMORY. */
attn_status lab_second_eigenvalue(int64_t n, const double *a, double *modulus, attn_error *err);

#endif
