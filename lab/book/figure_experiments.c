/* SPDX-License-Identifier: Apache-2.0 */
/* figure_experiments.c - figures drawn from what an experiment of the report measures: sharpness
 * (F4), gradients (F7), cost (F6), a walk (E4). */
#include "book/figure.h"
#include "experiments/series.h"

#include <stdio.h>

/* ----------------------------------------------------------------------------------- sharpness */

static attn_status measure_sharpness(const lab_settings *settings, lab_data *data,
                                     attn_error *err) {
    return lab_book_experiment("F4", settings, data, err);
}

static void draw_sharpness(const lab_data *data, plot_canvas *canvas, plot_rect area) {
    static const struct {
        const char *table;
        plot_series look;
    } lines[] = {
        {"unscaled",
         {.name = "unscaled", .color = PLOT_RED, .mark = PLOT_SQUARE, .dash = PLOT_DASHED}},
        {"scaled", {.name = "divided by √d<sub>k</sub>", .color = PLOT_BLUE, .mark = PLOT_DOT}},
        {"by_d_k",
         {.name = "divided by d<sub>k</sub>",
          .color = PLOT_GREEN,
          .mark = PLOT_TRIANGLE,
          .dash = PLOT_DOTTED}}};
    static const plot_rule uniform = {.at = 1.0 / 16, .label = "uniform, 1/16"};
    plot_series series[3];
    for (int i = 0; i < 3; i++) {
        const lab_table *table = lab_table_named(data, lines[i].table);
        series[i] = lab_series(table, "d_k", "max", lines[i].look);
        series[i].low = lab_column_named(table, "max_low");
        series[i].high = lab_column_named(table, "max_high");
    }
    plot_chart_draw(
        canvas, area,
        &(plot_chart){.title = "Largest weight of a row, random Q and K, 16 keys",
                      .x = {.label = "d<sub>k</sub>", .scale = PLOT_LOG2, .min = 2, .max = 512},
                      .y = {.label = "largest weight", .min = 0, .max = 1},
                      .series = series,
                      .n_series = 3,
                      .rule = &uniform,
                      .n_rules = 1});
}

const lab_book_figure lab_book_sharpness = {"sharpness", 230, measure_sharpness, draw_sharpness};

/* ----------------------------------------------------------------------------------- gradients */

static attn_status measure_gradients(const lab_settings *settings, lab_data *data,
                                     attn_error *err) {
    return lab_book_experiment("F7", settings, data, err);
}

static void draw_gradients(const lab_data *data, plot_canvas *canvas, plot_rect area) {
    const lab_table *positions = lab_table_named(data, "positions");
    char norm[40];
    snprintf(norm, sizeof norm, "norm, mean of %.0f draws",
             lab_number(lab_table_named(data, "draws"), 0, "draws"));
    const plot_bar_series bars[] = {
        lab_bar_series(positions, "mean_noncausal",
                       (plot_bar_series){.name = "no mask", .color = PLOT_BLUE}),
        lab_bar_series(positions, "mean_causal",
                       (plot_bar_series){.name = "causal", .color = PLOT_RED})};
    plot_bars_draw(canvas, area,
                   &(plot_bars){.title = "Gradient of the input, by position",
                                .group_label = "position",
                                .group = lab_token_name,
                                .n_groups = positions->rows,
                                .value = {.label = norm},
                                .series = bars,
                                .n_series = 2,
                                .number = "%.1f"});
}

const lab_book_figure lab_book_gradients = {"gradients", 230, measure_gradients, draw_gradients};

/* ---------------------------------------------------------------------------------------- cost */

static attn_status measure_cost(const lab_settings *settings, lab_data *data, attn_error *err) {
    return lab_book_experiment("F6", settings, data, err);
}

static void draw_cost(const lab_data *data, plot_canvas *canvas, plot_rect area) {
    const lab_table *flops = lab_table_named(data, "flops");
    const plot_rule crossover = {.at = lab_number(lab_table_named(data, "crossover"), 0, "n"),
                                 .vertical = true,
                                 .label = "equal"};
    const plot_series series[] = {
        lab_series(
            flops, "n", "core_gflop",
            (plot_series){.name = "attention, like n²", .color = PLOT_RED, .mark = PLOT_SQUARE}),
        lab_series(
            flops, "n", "projections_gflop",
            (plot_series){.name = "projections, like n", .color = PLOT_BLUE, .mark = PLOT_DOT})};
    plot_chart_draw(
        canvas, area,
        &(plot_chart){.title = "Operations of one head, d<sub>model</sub> = 512, d = 64",
                      .x = {.label = "n, tokens", .scale = PLOT_LOG2, .min = 32, .max = 4096},
                      .y = {.label = "GFLOP", .scale = PLOT_LOG10},
                      .series = series,
                      .n_series = 2,
                      .rule = &crossover,
                      .n_rules = 1});
}

const lab_book_figure lab_book_cost = {"cost", 230, measure_cost, draw_cost};

/* ---------------------------------------------------------------------------------------- walk */

enum { TOKENS = 8, POWERS = 4 };

static attn_status measure_walk(const lab_settings *settings, lab_data *data, attn_error *err) {
    return lab_book_experiment("E4", settings, data, err);
}

/* One row of pictures: the same matrix after 1, 2, 5 and 20 hops. */
static void draw_hops(const lab_table *matrices, bool causal, plot_canvas *canvas, plot_rect area) {
    static const size_t which[POWERS] = {0, 1, 3, 5}; /* of 1, 2, 3, 5, 10 and 20 hops */
    static const char *const title[POWERS] = {"A", "A²", "A⁵", "A²⁰"};
    static const char *const blank[TOKENS] = {"", "", "", "", "", "", "", ""};
    unsigned char future[TOKENS * TOKENS];
    for (size_t i = 0; i < TOKENS * TOKENS; i++) future[i] = i % TOKENS > i / TOKENS;
    for (size_t p = 0; p < POWERS; p++) {
        plot_heatmap_draw(canvas, plot_grid(area, 1, POWERS, p, 8),
                          &(plot_heatmap){.title = title[p],
                                          .rows = TOKENS,
                                          .columns = TOKENS,
                                          .cell = lab_cell(matrices, which[p] * TOKENS, 0),
                                          .hidden = causal ? future : NULL,
                                          .row_name = blank,
                                          .column_name = blank,
                                          .map = PLOT_CIVIDIS,
                                          .max = causal ? 1 : 0.25});
    }
}

static void draw_walk(const lab_data *data, plot_canvas *canvas, plot_rect area) {
    static const char *const table[] = {"powers", "causal"};
    static const char *const label[] = {"Every token sees every token (yellow: 0.25 or more)",
                                        "Causal (yellow: 1)"};
    const plot_style style = {.size = 9.5};
    for (size_t i = 0; i < 2; i++) {
        const plot_rect row = plot_grid(area, 2, 1, i, 8);
        plot_text(canvas, (plot_rect){row.x, row.y, row.width, 14}, &style, label[i]);
        draw_hops(lab_table_named(data, table[i]), i == 1, canvas, plot_inset(row, 0, 16, 0, 0));
    }
}

const lab_book_figure lab_book_walk = {"walk", 226, measure_walk, draw_walk};
