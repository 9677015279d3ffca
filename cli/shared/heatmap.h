/* SPDX-License-Identifier: Apache-2.0 */
/* heatmap.h - attention between words, drawn in the terminal. */
#ifndef CLI_HEATMAP_H
#define CLI_HEATMAP_H

#include <stddef.h>
#include <stdint.h>

typedef struct heatmap {
    int64_t n;
    const char *const *word; /* (n) */
    const float *weights;    /* (n, n) rows are queries; 0 .. 1 */
    uint64_t marked;         /* bit i: row i is set off */
} heatmap;

/* Percent on standard output, shaded where there is colour; a weight of exactly 0 is left empty. */
void heatmap_print(const heatmap *map);

/* Where a weight of 0 .. 1 lies on the way from the colour of the page to a deep blue, in the
 * 256-colour cube, and the colour in which numerals can be read on it. */
int heatmap_shade(double weight, int *ink);

#endif
