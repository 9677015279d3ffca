/* SPDX-License-Identifier: Apache-2.0 */
/* heatmap.c - see heatmap.h. Tests: tests/cli/test_attend.py */
#include "shared/heatmap.h"

#include "shared/out.h"

#include <math.h>
#include <string.h>

enum { WIDE = 5, NARROW = 3, LABEL = 10, SCREEN = 100 };

static void print_head(const heatmap *map, int width) {
    printf("  %s%-*s", out_begin(stdout, OUT_DIM), LABEL, "");
    for (int64_t j = 0; j < map->n; j++) printf(" %*.*s", width - 1, width - 1, map->word[j]);
    printf("%s\n", out_begin(stdout, OUT_PLAIN));
}

int heatmap_shade(double weight, int *ink) {
    static const int blue[] = {255, 195, 153, 117, 75, 33, 26, 19};
    const int step = (int)(7.99 * sqrt(weight < 0 ? 0 : weight > 1 ? 1 : weight));
    *ink = step < 5 ? 16 : 231; /* dark cells get white numerals */
    return blue[step];
}

static void begin_shade(double weight) {
    int ink;
    const int shade = heatmap_shade(weight, &ink);
    printf("\033[48;5;%d;38;5;%dm", shade, ink);
}

static void print_cell(double weight, int width) {
    const int percent = (int)(100 * weight + 0.5);
    if (weight == 0) {
        printf("%*s", width, "");
        return;
    }
    if (*out_begin(stdout, OUT_BOLD)) begin_shade(weight);
    if (percent == 0)
        printf("%*s", width, ".");
    else if (percent == 100 && width < 4)
        printf("%*s", width, "##");
    else
        printf("%*d", width, percent);
    printf("%s", out_begin(stdout, OUT_PLAIN));
}

/* Cells after the last visible one are left out, so that no line ends in spaces. */
static int64_t last_shown(const float *row, int64_t n) {
    while (n > 0 && row[n - 1] == 0) n--;
    return n;
}

void heatmap_print(const heatmap *map) {
    const int width = 2 + LABEL + WIDE * map->n <= SCREEN ? WIDE : NARROW;
    print_head(map, width);
    for (int64_t i = 0; i < map->n; i++) {
        const float *row = map->weights + i * map->n;
        const bool marked = map->marked >> i & 1;
        const int64_t end = last_shown(row, map->n);
        printf("%s%s %-*.*s%s", marked ? ">" : " ", out_begin(stdout, marked ? OUT_BOLD : OUT_DIM),
               end > 0 ? LABEL : 0, LABEL, map->word[i], out_begin(stdout, OUT_PLAIN));
        for (int64_t j = 0; j < end; j++) print_cell((double)row[j], width);
        printf("\n");
    }
}
