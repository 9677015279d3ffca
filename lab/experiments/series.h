/* SPDX-License-Identifier: Apache-2.0 */
/* series.h - columns of a table as a line or bars of a chart, and names of their rows.
 * Tests: tests/lab/test_experiments.c */
#ifndef LAB_SERIES_H
#define LAB_SERIES_H

#include "experiment.h"

/* The positions of the figures with eight tokens. */
static const char *const lab_token_name[8] = {"t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7"};

/* `look` with the points of two columns, which must be there. */
static inline plot_series lab_series(const lab_table *table, const char *x, const char *y,
                                     plot_series look) {
    look.n = table->rows;
    look.stride = table->columns;
    look.x = lab_column_named(table, x);
    look.y = lab_column_named(table, y);
    return look;
}

static inline plot_bar_series lab_bar_series(const lab_table *table, const char *column,
                                             plot_bar_series look) {
    look.stride = table->columns;
    look.value = lab_column_named(table, column);
    return look;
}

/* The number in a row of a named column, which must be there. */
static inline double lab_number(const lab_table *table, size_t row, const char *column) {
    return lab_column_named(table, column)[row * table->columns];
}

#endif
