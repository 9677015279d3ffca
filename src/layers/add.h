/* SPDX-License-Identifier: Apache-2.0 */
/* add.h - the loop behind biases, residuals, embedding lookups and sums of gradients. Touches its
 * arguments. Tests: those of its callers, bit for bit. */
#ifndef ATTNI_ADD_H
#define ATTNI_ADD_H

#include "layers/real.h"

/* Row i of `to` += row i of `from`, in ascending order, each `width` wide. With a stride of 0 all
 * rows are the same row: a bias that is added, or a gradient that is summed. No overlap. */
void R(add_rows)(int64_t n, int64_t width, const real *from, int64_t from_row, real *to,
                 int64_t to_row);

/* to (n) += from (n) */
static inline void R(add_to)(int64_t n, const real *from, real *to) {
    R(add_rows)(1, n, from, 0, to, 0);
}

#endif
