/* SPDX-License-Identifier: Apache-2.0 */
/* position.h - sinusoidal position encoding, to be added to embeddings. Nothing is learned, so
 * there is no backward. (Learned: embedding.h; rotary: rope.h; ALiBi: attn_alibi_slopes().)
 * Touches its arguments. Tests: tests/layers/test_position.c */
#ifndef ATTNI_POSITION_H
#define ATTNI_POSITION_H

#include "layers/real.h"

/* table (n, d): row t, column 2p is sin(t / 10000^(2p/d)), column 2p + 1 the cosine of the same
 * angle; computed in double and rounded once. An odd d ends with a sine. */
void R(position_sinusoidal)(int64_t n, int64_t d, real *table);

#endif
