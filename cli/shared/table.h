/* SPDX-License-Identifier: Apache-2.0 */
/* table.h - one head of a tensor as a table for people. */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include "attn/attn.h"

#include <stdbool.h>

typedef struct table {
    const attn_tensor *tensor;
    int64_t batch, head;
    const char *row_name, *column_name; /* "query", "key": labels with numbers; NULL = none */
    bool row_sums;                      /* a last column */
    bool shade;         /* weights: the larger, the brighter, where there is colour */
    bool short_numbers; /* 1 instead of 1.000000 */
} table;

/* Prints on standard output, two spaces in. Rows and columns beyond a screenful are left out in the
 * middle. */
void table_print(const table *t);

/* One element as a number. */
double table_at(const attn_tensor *tensor, int64_t batch, int64_t head, int64_t row,
                int64_t column);

#endif
