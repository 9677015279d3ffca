/* SPDX-License-Identifier: Apache-2.0 */
/* uniform.h - arrays of random numbers in (-1, 1), of any dtype, reproducible by seed. Tests:
 * tests/lab/test_gradcheck.c */
#ifndef LAB_UNIFORM_H
#define LAB_UNIFORM_H

#include "attn/attn.h"

/* data (n) */
void lab_uniform_fill(void *data, attn_dtype dtype, int64_t n, uint64_t seed);

#endif
