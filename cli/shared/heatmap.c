/* SPDX-License-Identifier: Apache-2.0 */
/* heatmap.c - see heatmap.h. Tests: tests/cli/test_attend.py */
#include "shared/heatmap.h"

#include "shared/out.h"
#include "shared/text.h"

#include <math.h>
#include <string.h>

enum { LABEL = 10, LEAST_CELL = 3, CELL = 5, MOST_CELL = 11 };

static void print_head(const heatmap *map, int width) {
    printf("  %s%-*s", out_begin(stdout, OUT_DIM), LABEL, "");
    for (int64_t j = 0; j < map->n; j++) {
        printf(" ");
        text_put(stdout, map->word[j], width - 1, true);
    }
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

/* Columns of a cell: enough for the longest word where the terminal has room for that. */
static int cell_width(const heatmap *map) {
    int longest = CELL - 1;
    for (int64_t j = 0; j < map->n; j++) {
        const int columns = text_width(map->word[j]);
        longest = columns > longest ? columns : longest;
    }
    const int64_t room = out_columns_or(100, 40, 240) - 2 - LABEL;
    const int64_t wanted = longest + 1 < MOST_CELL ? longest + 1 : MOST_CELL;
    const int64_t fitting = map->n > 0 ? room / map->n : wanted;
    return (int)(fitting < LEAST_CELL ? LEAST_CELL : fitting < wanted ? fitting : wanted);
}

void heatmap_print(const heatmap *map) {
    const int width = cell_width(map);
    print_head(map, width);
    for (int64_t i = 0; i < map->n; i++) {
        const float *row = map->weights + i * map->n;
        const bool marked = map->marked >> i & 1;
        const int64_t end = last_shown(row, map->n);
        printf("%s%s ", marked ? ">" : " ", out_begin(stdout, marked ? OUT_BOLD : OUT_DIM));
        if (end > 0)
            text_put(stdout, map->word[i], LABEL, false);
        else
            text_put_short(stdout, map->word[i], LABEL);
        printf("%s", out_begin(stdout, OUT_PLAIN));
        for (int64_t j = 0; j < end; j++) print_cell((double)row[j], width);
        printf("\n");
    }
}
