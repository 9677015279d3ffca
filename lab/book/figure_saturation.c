/* SPDX-License-Identifier: Apache-2.0 */
/* figure_saturation.c - softmax of the scores of document 002 times a factor: as the factor grows,
 * one weight takes all, and the Jacobian, which carries the gradients, goes to 0. */
#include "book/figure.h"
#include "core/base.h"
#include "experiments/series.h"
#include "steps/attend.h"

#include <math.h>

enum { KEYS = 4, POINTS = 81 };

static const double scores[KEYS] = {30, 25, -10, 5};
static const char *const heading[] = {"factor", "30", "25", "-10", "5", "jacobian"};
enum { FACTOR, FIRST, JACOBIAN = FIRST + KEYS, COLUMNS };

static attn_status measure(const lab_settings *settings, lab_data *data, attn_error *err) {
    static const double one = 1;
    lab_table *table = lab_table_add(data, "softmax", POINTS, COLUMNS, heading);
    if (!table) return attni_fail(err, ATTN_E_MEMORY, "saturation: no memory");
    for (size_t i = 0; i < POINTS; i++) {
        double *row = lab_cell(table, i, 0);
        row[FACTOR] = exp2(-8 + 0.125 * (double)i);
        const lab_head head = {
            .n_q = 1, .n_k = KEYS, .d_k = 1, .q = &one, .k = scores, .scale = row[FACTOR]};
        ATTN_TRY(lab_head_weights(settings->ctx, &head, row + FIRST, err));
        row[JACOBIAN] = lab_jacobian_norm(row + FIRST, KEYS);
    }
    return ATTN_OK;
}

static void draw(const lab_data *data, plot_canvas *canvas, plot_rect area) {
    static const plot_series look[KEYS] = {
        {.name = "score 30", .color = PLOT_BLUE},
        {.name = "25", .color = PLOT_RED, .dash = PLOT_DASHED},
        {.name = "−10", .color = PLOT_PURPLE, .dash = PLOT_DOTTED},
        {.name = "5", .color = PLOT_GREEN, .dash = PLOT_DASHED}};
    static const plot_rule rules[] = {{1.0 / 64, true, "÷ d<sub>k</sub>"},
                                      {1.0 / 8, true, "÷ √d<sub>k</sub>"},
                                      {1, true, "unscaled"}};
    const lab_table *table = lab_table_named(data, "softmax");
    const plot_axis x = {
        .label = "factor on the scores", .scale = PLOT_LOG2, .min = 1.0 / 256, .max = 4};
    plot_series lines[KEYS];
    for (int k = 0; k < KEYS; k++)
        lines[k] = lab_series(table, "factor", heading[FIRST + k], look[k]);
    const plot_series jacobian =
        lab_series(table, "factor", "jacobian", (plot_series){.color = PLOT_ORANGE});
    plot_chart_draw(canvas, plot_grid(area, 2, 1, 0, 12),
                    &(plot_chart){.title = "The weights of four keys",
                                  .x = x,
                                  .y = {.label = "weight", .min = 0, .max = 1},
                                  .series = lines,
                                  .n_series = KEYS,
                                  .rule = rules,
                                  .n_rules = 3});
    plot_chart_draw(canvas, plot_grid(area, 2, 1, 1, 12),
                    &(plot_chart){.title = "What passes back: the norm of the softmax Jacobian",
                                  .x = x,
                                  .y = {.label = "norm", .min = 0, .max = 0.6},
                                  .series = &jacobian,
                                  .n_series = 1,
                                  .rule = rules,
                                  .n_rules = 3});
}

const lab_book_figure lab_book_saturation = {"saturation", 400, measure, draw};
