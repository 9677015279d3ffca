/* SPDX-License-Identifier: Apache-2.0 */
/* figure_mistakes.c - two mistakes beside what is right, on the example of document 001: softmax
 * over the wrong axis, and a mask after softmax. */
#include "book/figure.h"
#include "steps/attend.h"
#include "steps/examples.h"

#include <stdio.h>

enum { QUERIES = 2, KEYS = 3, CELLS = QUERIES * KEYS, PANELS = 4 };

static const char *const name[PANELS] = {"over keys", "over queries", "mask before", "mask after"};

static bool is_future(size_t i, size_t j) { return j > i + KEYS - QUERIES; } /* bottom-right */

static attn_status measure(const lab_settings *settings, lab_data *data, attn_error *err) {
    const lab_matrix *given = lab_example_named("001")->problem.given;
    lab_head head = {
        .n_q = QUERIES, .n_k = KEYS, .d_k = 2, .q = given[LAB_Q].cell, .k = given[LAB_K].cell};
    double weights[CELLS], turned[CELLS];
    attn_status status = lab_head_weights(settings->ctx, &head, weights, err);
    if (status == ATTN_OK) status = lab_book_keep(data, name[0], QUERIES, KEYS, weights, err);
    for (size_t c = 0; c < CELLS; c++)
        if (is_future(c / KEYS, c % KEYS)) weights[c] = 0;
    if (status == ATTN_OK) status = lab_book_keep(data, name[3], QUERIES, KEYS, weights, err);
    head.causal = true;
    if (status == ATTN_OK) status = lab_head_weights(settings->ctx, &head, weights, err);
    if (status == ATTN_OK) status = lab_book_keep(data, name[2], QUERIES, KEYS, weights, err);
    /* keys that distribute over queries: the same scores, turned */
    head = (lab_head){
        .n_q = KEYS, .n_k = QUERIES, .d_k = 2, .q = given[LAB_K].cell, .k = given[LAB_Q].cell};
    if (status == ATTN_OK) status = lab_head_weights(settings->ctx, &head, weights, err);
    for (size_t c = 0; c < CELLS; c++) turned[c] = weights[c % KEYS * QUERIES + c / KEYS];
    return status == ATTN_OK ? lab_book_keep(data, name[1], QUERIES, KEYS, turned, err) : status;
}

static double row_sum(const double *cell, size_t row) {
    return cell[row * KEYS] + cell[row * KEYS + 1] + cell[row * KEYS + 2];
}

static void draw(const lab_data *data, plot_canvas *canvas, plot_rect area) {
    static const char *const title[PANELS] = {
        "Right: softmax over keys", "Wrong: softmax over queries", "Right: mask, then softmax",
        "Wrong: softmax, then mask"};
    static const char *const query[] = {"query 0", "query 1"}, *const key[] = {"key 0", "key 1",
                                                                               "key 2"};
    unsigned char future[CELLS];
    for (size_t c = 0; c < CELLS; c++) future[c] = is_future(c / KEYS, c % KEYS);
    for (size_t i = 0; i < PANELS; i++) {
        const double *cell = lab_table_named(data, name[i])->cell;
        char note[60];
        snprintf(note, sizeof note, "rows sum to %.3f and %.3f", row_sum(cell, 0),
                 row_sum(cell, 1));
        plot_heatmap_draw(canvas, plot_grid(area, 2, 2, i, 14),
                          &(plot_heatmap){.title = title[i],
                                          .title_color = i % 2 ? PLOT_RED : PLOT_BLUE,
                                          .rows = QUERIES,
                                          .columns = KEYS,
                                          .cell = cell,
                                          .hidden = i >= 2 ? future : NULL,
                                          .row_name = query,
                                          .column_name = key,
                                          .map = PLOT_CIVIDIS,
                                          .max = 0.7,
                                          .number = "%.3f",
                                          .note = note});
    }
}

const lab_book_figure lab_book_mistakes = {"mistakes", 260, measure, draw};
