/* SPDX-License-Identifier: Apache-2.0 */
/* spectrum.h - singular values and the largest eigenvalue of small matrices, in double precision:
 * one-sided Jacobi rotations and repeated squaring, both short and accurate rather than fast.
 * Tests: tests/lab/test_beyond_structure.c */
#ifndef LAB_SPECTRUM_H
#define LAB_SPECTRUM_H

#include "attn/attn.h"

/* product = a b, all (n, n); product must not overlap a or b. */
void lab_matrix_product(int64_t n, const double *a, const double *b, double *product);
/* sigma (the smaller of rows and columns), descending, of a (rows, columns). Errors: MEMORY. */
attn_status lab_singular_values(int64_t rows, int64_t columns, const double *a, double *sigma,
                                attn_error *err);
/* The numerical rank: how many of sigma (n, descending) are larger than n * 2^-52 * sigma[0]. */
int64_t lab_rank(const double *sigma, int64_t n);
/* How many of the largest hold this share, 0 .. 1, of the energy, which is the sum of squares. */
int64_t lab_energy_count(const double *sigma, int64_t n, double share);
/* The largest modulus of the eigenvalues, real or complex, of a (n, n). Errors: MEMORY. */
attn_status lab_spectral_radius(int64_t n, const double *a, double *radius, attn_error *err);

#endif
