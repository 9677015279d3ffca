/* SPDX-License-Identifier: Apache-2.0 */
/* rope.h - rotary position embedding: the pair of columns p of a query or key at position t is
 * rotated by the angle t / factor * base^(-2p/dim), so that q.k depends only on the distance. In
 * place. Touches its arguments; never allocates. Tests: tests/layers/test_rope.c,
 * tests/golden/test_onnx_rotary.c */
#ifndef ATTNI_ROPE_H
#define ATTNI_ROPE_H

#include "layers/real.h"

/* The angles: a table made by R(rope_table)(), or any other. */
typedef struct attni_rope {
    int64_t dim;         /* number of rotated columns of a head, from the first; even */
    bool interleaved;    /* pairs (2p, 2p + 1); false: half-split pairs (p, p + dim/2) */
    int64_t n_positions; /* positions 0 .. n_positions - 1 */
    const real *cosines; /* (n_positions, dim/2) */
    const real *sines;   /* (n_positions, dim/2) */
} attni_rope;

/* Fills cosines and sines (n_positions, dim/2), computed in double and rounded once. base: usually
 * 10000. factor: positions are divided by it (linear interpolation to longer contexts); 1 = off. */
void R(rope_table)(int64_t n_positions, int64_t dim, double base, double factor, real *cosines,
                   real *sines);

/* The positions of the rows of a batch. */
typedef struct attni_rope_rows {
    int64_t first;            /* row i of every batch entry has position first + i ... */
    const int64_t *positions; /* ... or, unless NULL, positions (B, n) */
} attni_rope_rows;

/* Rotates x (B, H, n, d) of dtype REAL_DTYPE in place, d >= dim; any strides, the last one 1.
 * Errors: DTYPE, STRIDE, SHAPE (dim odd or greater than d), VALUE (position outside the table); x
 * is then untouched. */
attn_status R(rope_forward)(const attni_rope *rope, const attni_rope_rows *rows,
                            const attn_tensor *x, attn_error *err);

/* Turns the gradient with respect to the output into that with respect to the input, in place: the
 * transpose of forward, which for a table of cosines and sines is the inverse rotation. */
attn_status R(rope_backward)(const attni_rope *rope, const attni_rope_rows *rows,
                             const attn_tensor *dx, attn_error *err);

#endif
