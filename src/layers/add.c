/* SPDX-License-Identifier: Apache-2.0 */
/* add.c - see add.h. Compiled per real type. */
#include "layers/add.h"

void R(add_rows)(int64_t n, int64_t width, const real *from, int64_t from_row, real *to,
                 int64_t to_row) {
    for (int64_t i = 0; i < n; i++) {
        const real *restrict a = from + i * from_row;
        real *restrict sum = to + i * to_row;
        for (int64_t c = 0; c < width; c++) sum[c] += a[c];
    }
}
