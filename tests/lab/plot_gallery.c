/* SPDX-License-Identifier: Apache-2.0 */
/* plot_gallery.c - the drawings of plot_gallery.h. */
#include "plot_gallery.h"

#include <math.h>
#include <stdio.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* ---- charts ---- */

static void draw_sharpness(plot_canvas *canvas, plot_rect area) {
    static const double d_k[] = {2, 4, 8, 16, 32, 64, 128, 256, 512};
    static const double scaled[] = {2.41, 2.38, 2.37, 2.36, 2.35, 2.35, 2.35, 2.36, 2.34};
    static const double unscaled[] = {2.18, 1.76, 1.32, .88, .59, .41, .28, .19, .13};
    double low[2][9], high[2][9];
    for (int i = 0; i < 9; i++) {
        low[0][i] = scaled[i] - 0.12;
        high[0][i] = scaled[i] + 0.12;
        low[1][i] = unscaled[i] * 0.8;
        high[1][i] = unscaled[i] * 1.2;
    }
    const plot_series series[] = {{"scaled by √d<sub>k</sub>", PLOT_BLUE, PLOT_DOT, PLOT_SOLID, 9,
                                   0, d_k, scaled, low[0], high[0], false},
                                  {"unscaled", PLOT_RED, PLOT_SQUARE, PLOT_DASHED, 9, 0, d_k,
                                   unscaled, low[1], high[1], false}};
    const plot_rule rule[] = {{log(16), false, "ln 16, uniform weights"}};
    const plot_chart chart = {.title = "Sharpness against d<sub>k</sub>",
                              .x = {.label = "d<sub>k</sub>", .scale = PLOT_LOG2},
                              .y = {.label = "mean entropy of a row, nats", .min = 0, .max = 3},
                              .series = series,
                              .n_series = 2,
                              .rule = rule,
                              .n_rules = 1};
    plot_chart_draw(canvas, area, &chart);
}

static void draw_memory(plot_canvas *canvas, plot_rect area) {
    double n[10], total[10], half[10], matrix[10];
    for (int i = 0; i < 10; i++) {
        n[i] = 32 << i;
        total[i] = 4 * (256 * n[i] + n[i] * n[i]) / 1048576;
        half[i] = total[i] / 2;
        matrix[i] = 4 * n[i] * n[i] / 1048576;
    }
    const plot_series series[] = {
        {"total, fp32", PLOT_BLUE, PLOT_DOT, PLOT_SOLID, 10, 0, n, total, NULL, NULL, false},
        {"total, fp16", PLOT_GREEN, PLOT_SQUARE, PLOT_DASHED, 10, 0, n, half, NULL, NULL, false},
        {"attention matrix, fp32", PLOT_RED, PLOT_TRIANGLE, PLOT_DOTTED, 10, 0, n, matrix, NULL,
         NULL, false},
        {"measured, tiled", PLOT_PURPLE, PLOT_DIAMOND, PLOT_SOLID, 10, 0, n, n, NULL, NULL, false}};
    const plot_rule rule[] = {{256, true, "n = 256: half is the matrix"}, {64, false, "64 MiB"}};
    const plot_chart chart = {.title = "Memory grows with the square of n",
                              .x = {.label = "sequence length n", .scale = PLOT_LOG2},
                              .y = {.label = "MiB", .scale = PLOT_LOG2},
                              .series = series,
                              .n_series = 3,
                              .rule = rule,
                              .n_rules = 2};
    plot_chart_draw(canvas, area, &chart);
}

/* Lines everywhere: the legend has to go below. */
static void draw_crowded(plot_canvas *canvas, plot_rect area) {
    enum { N = 60, LINES = 7 };
    static const plot_mark mark[] = {PLOT_DOT, PLOT_SQUARE, PLOT_TRIANGLE, PLOT_DIAMOND};
    static const plot_dash dash[] = {PLOT_SOLID, PLOT_DASHED, PLOT_DOTTED};
    static const char *const name[] = {"blue", "red", "green", "orange", "purple", "sky", "black"};
    double x[N], y[LINES][N];
    plot_series series[LINES];
    for (int s = 0; s < LINES; s++) {
        for (int i = 0; i < N; i++) {
            x[i] = i;
            y[s][i] = sin(0.21 * i + s) * (1 + 0.1 * s);
        }
        series[s] = (plot_series){.name = name[s],
                                  .color = (plot_color)(PLOT_BLUE + s),
                                  .mark = mark[s % 4],
                                  .dash = dash[s % 3],
                                  .n = N,
                                  .x = x,
                                  .y = y[s]};
    }
    const plot_chart chart = {.title = "Seven series leave no corner free",
                              .x = {.label = "step"},
                              .y = {.label = "value"},
                              .series = series,
                              .n_series = LINES};
    plot_chart_draw(canvas, area, &chart);
}

/* Names at the ends of lines that end close together, that end early, and that leave the chart. */
static void draw_end_names(plot_canvas *canvas, plot_rect area) {
    enum { N = 20, LINES = 9 };
    static const char *const name[] = {"steepest", "second",  "third",  "fourth",    "fifth",
                                       "sixth",    "seventh", "eighth", "ends early"};
    double x[N], y[LINES][N];
    plot_series series[LINES];
    for (int s = 0; s < LINES; s++) {
        for (int i = 0; i < N; i++) {
            x[i] = i;
            y[s][i] = s == 8 && i > 12 ? NAN : -4.0 * i / (1 << s);
        }
        series[s] = (plot_series){.name = name[s],
                                  .color = (plot_color)(PLOT_BLUE + s % 7),
                                  .n = N,
                                  .x = x,
                                  .y = y[s],
                                  .named_at_end = s != 7};
    }
    const plot_chart chart = {.title = "Names at the ends of lines, one in the legend",
                              .x = {.label = "distance"},
                              .y = {.label = "bias", .min = -20, .max = 0},
                              .series = series,
                              .n_series = LINES};
    plot_chart_draw(canvas, area, &chart);
}

static void draw_long_labels(plot_canvas *canvas, plot_rect area) {
    static const double x[] = {0, 1, 2, 3}, y[] = {1e6, 2.5e6, 2e6, 3e6};
    static const double z[] = {2e6, 1.5e6, 3e6, 1e6};
    static const char *const long_name =
        "a series whose name tells the whole story of how it was measured, on which machine, "
        "how often, and why one should believe it";
    const plot_series series[] = {
        {long_name, PLOT_BLUE, PLOT_DOT, PLOT_SOLID, 4, 0, x, y, NULL, NULL, false},
        {"Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft",
         PLOT_RED, PLOT_DOT, PLOT_DASHED, 4, 0, x, z, NULL, NULL, false}};
    const plot_rule rule[] = {
        {1.7e6, false, "a rule with more words at its end than a narrow chart can hold"},
        {1.8e6, false, "and a second one close to it"},
        {1.5, true, "vertical, with words as well"}};
    const plot_chart chart = {
        .title = "A title that goes on and on, through several clauses, until it has filled more "
                 "than the two lines that it may have, and then some more of them",
        .x = {.label = "an axis label that explains itself at a length that no axis has room for, "
                       "not even in landscape format, where there is much room"},
        .y = {.label = "another label that is longer than its axis is high, in every area that "
                       "anybody is likely to ask for, be it large or small"},
        .series = series,
        .n_series = 2,
        .rule = rule,
        .n_rules = 3};
    plot_chart_draw(canvas, area, &chart);
}

static void draw_extremes(plot_canvas *canvas, plot_rect area) {
    static const double x[] = {1e-300, 1e-200, 1e-100, 1, 1e100, 1e200, 1e300};
    static const double y[] = {1e300, 0, 1e100, 1, -3, 1e-200, 1e-300};
    const plot_series series[] = {
        {"1e-300 .. 1e300", PLOT_BLUE, PLOT_DOT, PLOT_SOLID, 7, 0, x, y, NULL, NULL, false}};
    const plot_chart chart = {.title = "Log axes from 1e-300 to 1e300, with 0 and −3 left out",
                              .x = {.label = "x", .scale = PLOT_LOG10},
                              .y = {.label = "y", .scale = PLOT_LOG10},
                              .series = series,
                              .n_series = 1};
    plot_chart_draw(canvas, area, &chart);
}

static void draw_decades(plot_canvas *canvas, plot_rect area) {
    static const double n[] = {128, 256, 512, 1024, 2048, 4096};
    static const double dense[] = {0.02, 0.09, 0.4, 1.9, 8.8, 41};
    static const double tiled[] = {0.015, 0.05, 0.19, 0.74, 2.9, 11.5};
    static const double zero[] = {0, 0, 0.001, 0.1, NAN, 1};
    static const double low[] = {0, 0, 0, 0.05, NAN, 0.5}, high[] = {0, 0, 0.1, 0.2, NAN, 2};
    const plot_series series[] = {
        {"dense", PLOT_RED, PLOT_SQUARE, PLOT_DASHED, 6, 0, n, dense, NULL, NULL, false},
        {"tiled", PLOT_BLUE, PLOT_DOT, PLOT_SOLID, 6, 0, n, tiled, NULL, NULL, false},
        {"with zeros and a gap", PLOT_ORANGE, PLOT_TRIANGLE, PLOT_DOTTED, 6, 0, n, zero, low, high,
         false}};
    const plot_chart chart = {.title = "Time",
                              .x = {.label = "n", .scale = PLOT_LOG2},
                              .y = {.label = "milliseconds", .scale = PLOT_LOG10},
                              .series = series,
                              .n_series = 3};
    plot_chart_draw(canvas, area, &chart);
}

static void draw_gaps(plot_canvas *canvas, plot_rect area) {
    static const double x[] = {0, 1, 2, 3, 4, 5, 6, 7};
    static const double y[] = {NAN, 1, 2, NAN, 3, NAN, INFINITY, 2};
    const plot_series series[] = {
        {"gaps", PLOT_GREEN, PLOT_NO_MARK, PLOT_SOLID, 8, 0, x, y, NULL, NULL, false}};
    const plot_chart chart = {
        .title = "Gaps", .x = {.label = "x"}, .y = {.label = "y"}, .series = series, .n_series = 1};
    plot_chart_draw(canvas, area, &chart);
}

static void draw_one_point(plot_canvas *canvas, plot_rect area) {
    static const double x[] = {64}, y[] = {0.25};
    const plot_series series[] = {
        {NULL, PLOT_BLUE, PLOT_NO_MARK, PLOT_SOLID, 1, 0, x, y, NULL, NULL, false}};
    const plot_chart chart = {.title = "One point",
                              .x = {.label = "n", .scale = PLOT_LOG2},
                              .y = {.label = "share", .format = "%.0f %%"},
                              .series = series,
                              .n_series = 1};
    plot_chart_draw(canvas, area, &chart);
}

static void draw_equal(plot_canvas *canvas, plot_rect area) {
    static const double x[] = {3, 3, 3}, y[] = {-7e-9, -7e-9, -7e-9};
    const plot_series series[] = {
        {"equal", PLOT_PURPLE, PLOT_DIAMOND, PLOT_NO_LINE, 3, 0, x, y, NULL, NULL, false}};
    const plot_chart chart = {.title = "All values equal",
                              .x = {.label = "x"},
                              .y = {.label = "y"},
                              .series = series,
                              .n_series = 1};
    plot_chart_draw(canvas, area, &chart);
}

static void draw_empty(plot_canvas *canvas, plot_rect area) {
    const plot_chart chart = {.title = "No data", .x = {.label = "x"}, .y = {.label = "y"}};
    plot_chart_draw(canvas, area, &chart);
}

/* ---- bars ---- */

static void draw_parameters(plot_canvas *canvas, plot_rect area) {
    static const char *const group[] = {"W<sub>Q</sub>", "W<sub>K</sub>", "W<sub>V</sub>",
                                        "W<sub>O</sub>", "b<sub>Q</sub>", "b<sub>K</sub>",
                                        "b<sub>V</sub>", "b<sub>O</sub>", "X"};
    static const double norm[] = {70.2, 75.6, 108.6, 138.6, 37.6, 0, 118.2, 181.0, 33.3};
    const plot_bar_series series[] = {{NULL, PLOT_BLUE, norm, 0}};
    const plot_bars bars = {.title = "Gradient norm of each parameter",
                            .group = group,
                            .n_groups = 9,
                            .value = {.label = "L2 norm"},
                            .series = series,
                            .n_series = 1,
                            .horizontal = true,
                            .number = "%.1f"};
    plot_bars_draw(canvas, area, &bars);
}

static void draw_positions(plot_canvas *canvas, plot_rect area) {
    static const char *const group[] = {"0", "1", "2", "3", "4", "5", "6", "7"};
    static const double x[] = {0, 1, 2, 3, 4, 5, 6, 7};
    static const double free_[] = {4.19, 4.73, 4.98, 7.21, 7.05, 4.61, 5.31, 6.37};
    static const double causal[] = {12.42, 8.65, 6.79, 6.16, 5.76, 3.11, 2.57, 3.24};
    static const double mean[] = {11, 9.1, 7.4, 6.2, 5.2, 4.1, 3.3, 2.4};
    const plot_bar_series series[] = {{"non-causal", PLOT_BLUE, free_, 0},
                                      {"causal", PLOT_RED, causal, 0}};
    const plot_series line[] = {{"causal, mean of 100 draws", PLOT_BLACK, PLOT_DOT, PLOT_SOLID, 8,
                                 0, x, mean, NULL, NULL, false}};
    const plot_bars bars = {.title = "Causal and non-causal gradient flow",
                            .group_label = "position",
                            .group = group,
                            .n_groups = 8,
                            .value = {.label = "‖∂L/∂x<sub>i</sub>‖"},
                            .series = series,
                            .n_series = 2,
                            .number = "%.2f",
                            .lines = line,
                            .n_lines = 1};
    plot_bars_draw(canvas, area, &bars);
}

static void draw_shares(plot_canvas *canvas, plot_rect area) {
    static const char *const group[] = {"32", "64", "128", "256", "512", "1024", "2048", "4096"};
    static const double core[] = {3.1, 6.0, 11.3, 20.3, 33.8, 50.5, 67.1, 80.3};
    double rest[8];
    for (int i = 0; i < 8; i++) rest[i] = 100 - core[i];
    const plot_bar_series series[] = {{"projections", PLOT_GREEN, rest, 0},
                                      {"attention core", PLOT_ORANGE, core, 0}};
    const plot_bars bars = {.title = "Share of the work",
                            .group_label = "n",
                            .group = group,
                            .n_groups = 8,
                            .value = {.label = "% of FLOPs", .min = 0, .max = 100},
                            .series = series,
                            .n_series = 2,
                            .stacked = true,
                            .number = "%.0f"};
    plot_bars_draw(canvas, area, &bars);
}

static void draw_thirty_groups(plot_canvas *canvas, plot_rect area) {
    static char name[30][40];
    const char *group[30];
    double value[2][30];
    for (int i = 0; i < 30; i++) {
        snprintf(name[i], sizeof name[i], i % 7 == 3 ? "experiment %d, repeated" : "run %d", i);
        group[i] = name[i];
        value[0][i] = i == 4 ? 0 : 100 * sin(0.2 * i);
        value[1][i] = i == 9 ? (double)NAN : 3.0 * i - 20;
    }
    const plot_bar_series series[] = {{"first", PLOT_BLUE, value[0], 0},
                                      {"second", PLOT_RED, value[1], 0}};
    const plot_bars bars = {.title = "Thirty groups, of both signs",
                            .group_label = "run",
                            .group = group,
                            .n_groups = 30,
                            .value = {.label = "value"},
                            .series = series,
                            .n_series = 2,
                            .number = "%.1f"};
    plot_bars_draw(canvas, area, &bars);
}

static void draw_small_values(plot_canvas *canvas, plot_rect area) {
    static const char *const group[] = {"a very long name of a group that has to wrap", "exactly 0",
                                        "1e-9", "large"};
    static const double value[] = {-3, 0, 1e-9, 1000}, other[] = {NAN, 5, 1e-4, 10};
    const plot_bar_series series[] = {{"one", PLOT_SKY, value, 0}, {"two", PLOT_PURPLE, other, 0}};
    const plot_bars bars = {.title = "Small values are read, if not seen",
                            .group_label = "case",
                            .group = group,
                            .n_groups = 4,
                            .value = {.label = "value"},
                            .series = series,
                            .n_series = 2,
                            .horizontal = true,
                            .number = "%g"};
    plot_bars_draw(canvas, area, &bars);
}

static void draw_log_bars(plot_canvas *canvas, plot_rect area) {
    static const char *const group[] = {"0", "0.001", "1", "1000"};
    static const double value[] = {0, 0.001, 1, 1000};
    const plot_bar_series series[] = {{"values", PLOT_GREEN, value, 0}};
    const plot_bars bars = {.title = "Bars on a log axis",
                            .group = group,
                            .n_groups = 4,
                            .value = {.label = "value", .scale = PLOT_LOG10},
                            .series = series,
                            .n_series = 1,
                            .number = "%g"};
    plot_bars_draw(canvas, area, &bars);
}

/* ---- heatmaps ---- */

static const char *const token[] = {"t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7"};

/* Rows that sum to 1; a causal row i only up to column i. */
static void fill_weights(double *cell, unsigned char *hidden, size_t n, bool causal) {
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t j = 0; j < n; j++) {
            const double weight = exp(2 * sin(1.7 * (double)(i * n + j) + (double)(i * j % 5)));
            hidden[i * n + j] = causal && j > i;
            cell[i * n + j] = hidden[i * n + j] ? 0 : weight;
            sum += cell[i * n + j];
        }
        for (size_t j = 0; j < n; j++) cell[i * n + j] /= sum;
    }
}

static void draw_weights(plot_canvas *canvas, plot_rect area) {
    double cell[64];
    unsigned char hidden[64];
    fill_weights(cell, hidden, 8, false);
    const plot_heatmap map = {.title = "Attention weights",
                              .x_label = "key position",
                              .y_label = "query position",
                              .rows = 8,
                              .columns = 8,
                              .cell = cell,
                              .row_name = token,
                              .column_name = token,
                              .number = "%.2f",
                              .bar_label = "attention weight"};
    plot_heatmap_draw(canvas, area, &map);
}

static void draw_causal(plot_canvas *canvas, plot_rect area) {
    double cell[64];
    unsigned char hidden[64];
    fill_weights(cell, hidden, 8, true);
    const plot_heatmap map = {.title = "Causal",
                              .title_color = PLOT_RED,
                              .x_label = "key",
                              .y_label = "query",
                              .rows = 8,
                              .columns = 8,
                              .cell = cell,
                              .hidden = hidden,
                              .row_name = token,
                              .column_name = token,
                              .max = 1,
                              .number = "%.2f",
                              .note = "entropy 1.34"};
    plot_heatmap_draw(canvas, area, &map);
}

static void draw_large_map(plot_canvas *canvas, plot_rect area) {
    static double cell[64 * 64];
    static unsigned char hidden[64 * 64];
    fill_weights(cell, hidden, 64, true);
    const plot_heatmap map = {.title = "64 × 64, causal",
                              .x_label = "key",
                              .y_label = "query",
                              .rows = 64,
                              .columns = 64,
                              .cell = cell,
                              .hidden = hidden,
                              .number = "%.2f",
                              .bar_label = "weight"};
    plot_heatmap_draw(canvas, area, &map);
}

static void draw_one_cell(plot_canvas *canvas, plot_rect area) {
    static const double cell[] = {0};
    const plot_heatmap map = {.title = "1 × 1, zero",
                              .rows = 1,
                              .columns = 1,
                              .cell = cell,
                              .number = "%.3f",
                              .bar_label = "value",
                              .note = "nothing to compare with"};
    plot_heatmap_draw(canvas, area, &map);
}

static void draw_signed(plot_canvas *canvas, plot_rect area) {
    static const char *const row[] = {"a sentence of its own", "The", "animal", "didn't", "cross"};
    static const char *const column[] = {"The",    "street",      "because", "it",  "was",
                                         "tired,", "exceedingly", "&",       "<so>"};
    double cell[45];
    for (int i = 0; i < 45; i++) cell[i] = 3 * sin(0.9 * i);
    cell[7] = NAN;
    const plot_heatmap map = {.title = "Scores, signed",
                              .x_label = "key",
                              .y_label = "query",
                              .rows = 5,
                              .columns = 9,
                              .cell = cell,
                              .row_name = row,
                              .column_name = column,
                              .map = PLOT_SIGNED,
                              .number = "%.2f",
                              .bar_label = "score",
                              .note = "one value is not a number"};
    plot_heatmap_draw(canvas, area, &map);
}

/* ---- pages of several ---- */

static void draw_multiples(plot_canvas *canvas, plot_rect area) {
    for (size_t i = 0; i < 8; i++) {
        const plot_rect cell = plot_grid(area, 2, 4, i, 12);
        if (i < 4) draw_causal(canvas, cell);
        if (i >= 4 && i % 2 == 0) draw_sharpness(canvas, cell);
        if (i == 5) draw_parameters(canvas, cell);
        if (i == 7) draw_shares(canvas, cell);
    }
}

static void draw_text_page(plot_canvas *canvas, plot_rect area) {
    const plot_style title = {.size = 20, .bold = true};
    const plot_style body = {.size = 10};
    const plot_style note = {.size = 9, .italic = true, .color = PLOT_FAINT};
    const plot_style code = {.size = 9, .mono = true};
    double y = plot_text(canvas, area, &title, "Scaled dot-product attention");
    y += plot_text(canvas, plot_inset(area, 0, y + 6, area.width / 2, 0), &body,
                   "The <b>weights</b> of a row sum to 1: every output is a mean of the values, "
                   "weighted by how well key and query agree. Numbers align:\n0.1111  1,234\n"
                   "0.2345  9,876") +
         6;
    y += plot_text(canvas, plot_inset(area, 0, y + 6, 0, 0), &note, "A note in faint italics.") + 6;
    plot_text(canvas, plot_inset(area, 0, y + 6, 0, 0), &code, "attn report --out report");
    const plot_rect box = {area.x + area.width * 0.55, area.y + 50, area.width * 0.45, 90};
    plot_box(canvas, box, PLOT_BLUE, true);
    plot_formula(canvas, box, 24);
    const plot_rect small = {area.x + area.width * 0.55, area.y + 150, 60, 24};
    plot_box(canvas, small, PLOT_FAINT, false);
    plot_formula(canvas, small, 24);
    for (int i = 0; i < PLOT_COLORS; i++) {
        const double line = area.y + 190 + 10 * i;
        plot_line(canvas, area.x, line, area.x + 100, line, (plot_color)i, 2);
        const plot_style name = {.size = 8, .color = (plot_color)i};
        const plot_rect words = {area.x + 110, line - 5, 100, 12};
        plot_text(canvas, words, &name, "text in this colour");
    }
}

const gallery_item gallery[] = {
    {"sharpness", 375, 300, draw_sharpness},
    {"memory", 375, 300, draw_memory},
    {"crowded", 760, 400, draw_crowded},
    {"end_names", 375, 260, draw_end_names},
    {"long_labels", 400, 300, draw_long_labels},
    {"extremes", 400, 300, draw_extremes},
    {"decades", 400, 300, draw_decades},
    {"gaps", 170, 150, draw_gaps},
    {"one_point", 170, 150, draw_one_point},
    {"equal", 170, 150, draw_equal},
    {"empty", 170, 150, draw_empty},
    {"parameters", 375, 300, draw_parameters},
    {"positions", 375, 240, draw_positions},
    {"shares", 375, 300, draw_shares},
    {"thirty_groups", 760, 400, draw_thirty_groups},
    {"small_values", 375, 240, draw_small_values},
    {"log_bars", 240, 200, draw_log_bars},
    {"weights", 500, 400, draw_weights},
    {"causal", 300, 300, draw_causal},
    {"large_map", 500, 400, draw_large_map},
    {"one_cell", 240, 200, draw_one_cell},
    {"signed", 500, 340, draw_signed},
    {"multiples", 760, 400, draw_multiples},
    {"text_page", 500, 320, draw_text_page},
};
const size_t gallery_length = COUNT(gallery);
