/* SPDX-License-Identifier: Apache-2.0 */
/* range.h - the smallest and the largest of some numbers, for sentences that name a spread.
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

#endif
