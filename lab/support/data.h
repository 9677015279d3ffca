/* SPDX-License-Identifier: Apache-2.0 */
/* data.h - the numbers behind a figure: tables that an experiment fills, that its drawing and its
 * verdict read, and that CSV and JSON files hold. A matrix is a table too. Tests:
 * tests/lab/test_data.c */
#ifndef LAB_DATA_H
#define LAB_DATA_H

#include "attn/attn.h"

#include <jansson.h>
#include <stdio.h>

enum { LAB_MAX_TABLES = 8 };

typedef struct lab_table {
    const char *name;           /* "sharpness": part of a file name */
    size_t rows, columns;       /* both at least 1 */
    const char *const *heading; /* (columns) names of columns; NULL: a matrix, "0", "1", ... */
    const char *const *label;   /* (rows) names of rows, or NULL */
    double *cell; /* (rows, columns); NaN: missing, written as an empty field or null */
} lab_table;

typedef struct lab_data {
    lab_table table[LAB_MAX_TABLES];
    size_t n;
} lab_data;

/* Adds a table whose cells are NaN; names are borrowed and must outlive the data (literals).
 * Returns NULL only if out of memory. */
lab_table *lab_table_add(lab_data *data, const char *name, size_t rows, size_t columns,
                         const char *const *heading);
void lab_data_free(lab_data *data);

static inline double *lab_cell(const lab_table *table, size_t row, size_t column) {
    return table->cell + row * table->columns + column;
}

/* The table of that name, or NULL. */
const lab_table *lab_table_named(const lab_data *data, const char *name);
/* The column of that name: its first cell (the next ones follow at distance `columns`), or NULL. */
const double *lab_column_named(const lab_table *table, const char *heading);

/* Writes numbers in the shortest form that reads back the same (at most 17 digits). Returns 0, or
 * -1 if writing failed. */
int lab_table_csv(const lab_table *table, FILE *file);
/* {"name": {"columns": [...], "labels": [...], "rows": [[...]]}}; NULL if out of memory. */
json_t *lab_data_json(const lab_data *data);

#endif
