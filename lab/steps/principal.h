/* SPDX-License-Identifier: Apache-2.0 */
/* principal.h - projects vectors onto the two axes along which they differ most. Tests:
 * tests/lab/test_random_look.c */
#ifndef LAB_PRINCIPAL_H
#define LAB_PRINCIPAL_H

#include "attn/attn.h"

/* points (n, 2): rows (n, d), relative to their mean, on their first two principal axes; 0 on an
 * axis along which they do not differ. Errors: MEMORY. */
attn_status lab_principal(int64_t n, int64_t d, const float *rows, float *points, attn_error *err);

#endif
