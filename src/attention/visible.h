/* SPDX-License-Identifier: Apache-2.0 */
/* visible.h - determines which keys the queries of a panel see. Turns causal masks, windows,
 * lengths, patterns and boolean masks into the segments and allow bits of one key tile, so that
 * masked keys cost nothing. The bias is not considered here.
 * Tests: tests/attention/test_visible.c, and every masked case elsewhere. */
#ifndef ATTNI_VISIBLE_H
#define ATTNI_VISIBLE_H

#include "attention/args.h"
#include "kernels/kernels.h"

/* The queries of a panel, one per lane; any heads that share a key/value head. */
typedef struct attni_rows {
    const attn_args *args;
    const attni_sequence *seq;
    int n; /* 1 .. ATTNI_MAX_LANES */
    int64_t head[ATTNI_MAX_LANES], i[ATTNI_MAX_LANES];
    int64_t lo[ATTNI_MAX_LANES], hi[ATTNI_MAX_LANES]; /* visible range before pattern and mask */
    int64_t any_lo, any_hi;            /* some row may see keys any_lo .. any_hi - 1 */
    int64_t all_lo, all_hi;            /* every row sees these, pattern and mask apart */
    int64_t next_run[ATTNI_MAX_LANES]; /* cursor into the pattern; tiles come in ascending order */
} attni_rows;

/* The visible part of one tile for a panel. */
typedef struct attni_view {
    int32_t n_segments, n_keys;
    bool all; /* every row sees every key of the segments: allow is not filled */
    attni_segment segments[ATTNI_KEY_TILE / 2 + 1]; /* cut at ATTNI_HALF_TILE */
    uint64_t allow[ATTNI_KEY_TILE];
} attni_view;

/* Keys lo .. hi-1 that query i of the sequence sees by causal, window, lengths and the width of
 * mask and bias; lo <= hi. */
void attni_visible_range(const attn_args *args, const attni_sequence *seq, int64_t i, int64_t *lo,
                         int64_t *hi);

/* Completes rows->lo .. all_hi and the cursors from args, seq, n, head, i. */
void attni_rows_begin(attni_rows *rows);
/* Row x sees nothing from now on. */
void attni_rows_hide(attni_rows *rows, int x);
/* The view of keys first .. first + n - 1, n <= ATTNI_KEY_TILE; false when no row sees any of
 * them. */
bool attni_rows_view(attni_rows *rows, int64_t first, int64_t n, attni_view *view);
/* First tile at or after `tile` in which some row may see a key; INT64_MAX if there is none. */
int64_t attni_rows_next_tile(const attni_rows *rows, int64_t tile);

#endif
