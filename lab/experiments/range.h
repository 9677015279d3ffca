/* SPDX-License-Identifier: Apache-2.0 */
/* range.h - the smallest and the largest of some numbers, for sentences that name a spread, and
 * the standard deviation, for bands around a mean.
 * Tests: tests/lab/test_positions.c */
#ifndef LAB_RANGE_H
#define LAB_RANGE_H

#include "support/data.h"

typedef struct lab_range {
    double low, high;
} lab_range;

/* Of a column; both 0 where all cells are NaN. */
lab_range lab_range_of(const lab_table *table, size_t column);
/* "48.2 to 50.1", or "100" where both read the same: three digits. */
typedef struct lab_range_text {
    char text[40];
} lab_range_text;
lab_range_text lab_range_said(lab_range range);

/* Numbers that come one by one. */
typedef struct lab_spread {
    double n, mean, squares; /* squares: sum of the squared distances from the mean */
} lab_spread;

void lab_spread_add(lab_spread *spread, double x);
/* The mean less and plus one standard deviation (of a sample of two or more). */
lab_range lab_spread_band(const lab_spread *spread);

#endif
