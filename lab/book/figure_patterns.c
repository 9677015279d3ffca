/* SPDX-License-Identifier: Apache-2.0 */
/* figure_patterns.c - four patterns of visible pairs, and how many pairs each leaves. */
#include "book/figure.h"
#include "plot/diagram.h"

#include <stdio.h>

enum { N = 24, CELLS = N * N, PATTERNS = 4 };

static const char *const name[PATTERNS] = {"window", "strided", "longformer", "bigbird"};

static attn_status make(size_t which, attn_pattern **pattern, attn_error *err) {
    switch (which) {
    case 0: return attn_pattern_window(N, N, 0, 2, 2, NULL, pattern, err);
    case 1: return attn_pattern_strided(N, N, 0, 4, NULL, pattern, err);
    case 2: return attn_pattern_longformer(N, 2, 2, NULL, pattern, err);
    default: return attn_pattern_bigbird(N, 3, 3, 1, 1, 42, NULL, pattern, err);
    }
}

static attn_status measure(const lab_settings *settings, lab_data *data, attn_error *err) {
    (void)settings;
    double cell[CELLS];
    for (size_t which = 0; which < PATTERNS; which++) {
        attn_pattern *pattern;
        attn_status status = make(which, &pattern, err);
        for (int64_t c = 0; c < CELLS && status == ATTN_OK; c++)
            cell[c] = attn_pattern_at(pattern, c / N, c % N);
        attn_pattern_destroy(pattern);
        if (status == ATTN_OK) status = lab_book_keep(data, name[which], N, N, cell, err);
        if (status != ATTN_OK) return status;
    }
    return ATTN_OK;
}

static void draw(const lab_data *data, plot_canvas *canvas, plot_rect area) {
    static const char *const title[PATTERNS] = {"window:2,2", "strided:4", "longformer:2,2",
                                                "bigbird:3,3,1,1"};
    const double head = 17, foot = 17;
    for (size_t which = 0; which < PATTERNS; which++) {
        const double *cell = lab_table_named(data, name[which])->cell;
        const plot_rect box = plot_grid(area, 2, 2, which, 14);
        const plot_style bold = {.size = 10, .bold = true, .mono = true, .align = PLOT_CENTER};
        const plot_style faint = {.size = 9, .color = PLOT_FAINT, .align = PLOT_CENTER};
        const double side = box.height - head - foot, x = box.x + box.width / 2;
        char note[40];
        int visible = 0;
        for (size_t c = 0; c < CELLS; c++) visible += cell[c] > 0;
        snprintf(note, sizeof note, "%d of %d pairs", visible, CELLS);
        plot_word(canvas, x, box.y + head / 2, &bold, title[which]);
        plot_set_draw(canvas, (plot_rect){x - side / 2, box.y + head, side, side}, N, cell,
                      PLOT_BLUE);
        plot_word(canvas, x, box.y + head + side + foot / 2 + 1, &faint, note);
    }
}

const lab_book_figure lab_book_patterns = {"patterns", 370, measure, draw};
