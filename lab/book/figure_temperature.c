/* SPDX-License-Identifier: Apache-2.0 */
/* figure_temperature.c - the first row of the example of document 001 at every temperature: keys
 * that tie share at 0, and all are alike in the end. */
#include "book/figure.h"
#include "core/base.h"
#include "experiments/series.h"
#include "steps/attend.h"
#include "steps/examples.h"

#include <math.h>

enum { KEYS = 3, POINTS = 81, COLUMNS = 1 + KEYS };

static const char *const heading[] = {"temperature", "key 0", "key 1", "key 2"};

static attn_status measure(const lab_settings *settings, lab_data *data, attn_error *err) {
    const lab_matrix *given = lab_example_named("001")->problem.given;
    lab_table *table = lab_table_add(data, "weights", POINTS, COLUMNS, heading);
    if (!table) return attni_fail(err, ATTN_E_MEMORY, "temperature: no memory");
    for (size_t i = 0; i < POINTS; i++) {
        double *row = lab_cell(table, i, 0);
        row[0] = pow(10, -2 + 0.05 * (double)i);
        const lab_head head = {.n_q = 1,
                               .n_k = KEYS,
                               .d_k = 2,
                               .q = given[LAB_Q].cell,
                               .k = given[LAB_K].cell,
                               .temperature = row[0]};
        ATTN_TRY(lab_head_weights(settings->ctx, &head, row + 1, err));
    }
    return ATTN_OK;
}

static void draw(const lab_data *data, plot_canvas *canvas, plot_rect area) {
    static const plot_rule third = {.at = 1.0 / 3, .label = "1/3"};
    const lab_table *table = lab_table_named(data, "weights");
    const plot_series series[] = {
        lab_series(table, "temperature", "key 0",
                   (plot_series){.name = "keys 0 and 1, score 0.707", .color = PLOT_BLUE}),
        lab_series(
            table, "temperature", "key 2",
            (plot_series){.name = "key 2, score 0", .color = PLOT_RED, .dash = PLOT_DASHED})};
    plot_chart_draw(
        canvas, area,
        &(plot_chart){.title = "Weights of a row with two equal scores",
                      .x = {.label = "temperature", .scale = PLOT_LOG10, .min = 0.01, .max = 100},
                      .y = {.label = "weight", .min = 0, .max = 0.6},
                      .series = series,
                      .n_series = 2,
                      .rule = &third,
                      .n_rules = 1});
}

const lab_book_figure lab_book_temperature = {"temperature", 220, measure, draw};
