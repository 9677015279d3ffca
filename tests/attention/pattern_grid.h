/* SPDX-License-Identifier: Apache-2.0 */
/* pattern_grid.h - a pattern written out pair by pair, to compare attn_pattern with. */
#ifndef PATTERN_GRID_H
#define PATTERN_GRID_H

#include "attention/pattern.h"
#include "check.h"
#include "random.h"

#include <inttypes.h>
#include <string.h>

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof((array)[0])))
#define MAX_SIDE        34

typedef struct grid {
    int64_t n_q, n_k;
    uint8_t allow[MAX_SIDE * MAX_SIDE]; /* (n_q, n_k) */
} grid;

typedef struct shape {
    int64_t n_q, n_k;
} shape;

enum { SHAPES = 12 };
extern const shape shapes[SHAPES];

grid grid_random(shape s, int percent, random_stream *r); /* about `percent` of them visible */
attn_pattern *pattern_of(const grid *g);

/* Is m the pattern of g, in the fewest runs? */
void check_equals(const attn_pattern *m, const grid *g);
void check_normalised(const attn_pattern *m);

/* Checks and destroys what a constructor gave; true to go on. By pointer, because the call that
 * fills *m may stand in the same argument list. */
bool gave(attn_status status, attn_pattern *const *m, const grid *expected);

bool same_patterns(const attn_pattern *a, const attn_pattern *b);

#endif
