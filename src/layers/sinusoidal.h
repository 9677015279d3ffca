/* SPDX-License-Identifier: Apache-2.0 */
/* sinusoidal.h - the table of sinusoidal position encodings (Vaswani et al. 2017).
 * Touches its arguments. Tests: tests/layers/test_sinusoidal.c */
#ifndef ATTNI_SINUSOIDAL_H
#define ATTNI_SINUSOIDAL_H

#include "layers/real.h"

/* table (n, d): pair p of row t is the sine and the cosine of t / base^(2p/d), computed in double
 * precision and rounded once. base: usually 10000. interleaved: the pair is columns 2p and 2p + 1;
 * otherwise all sines come first, then all cosines. An odd d has one more sine. */
void R(sinusoidal_table)(int64_t n, int64_t d, double base, bool interleaved, real *table);

#endif
