/* SPDX-License-Identifier: Apache-2.0 */
/* e7_normalisers.c - E7: why softmax, and what temperature does. Softmax by the engine, beside the
 * two simpler ways to turn scores into weights. Touches its tables. Tests:
 * tests/lab/test_positions.c */
#include "core/base.h"
#include "experiment.h"
#include "panels.h"
#include "series.h"
#include "steps/attend.h"

#include <math.h>
#include <stdio.h>

enum { KEYS = 3, TAUS = 121, PER_DECADE = 20, STATED = 7, NORMALISERS = 5 };

/* Rows of scores: document 001's counterexample, given as they are (one query of 1, keys that are
 * the scores), and row 0 of its worked example, where two keys tie. */
static const double one = 1, three_scores[] = {2, -1, 0.5};
static const double query_001[] = {1, 0}, keys_001[] = {1, 0, 1, 1, 0, 1};
static const lab_head apart = {
    .n_q = 1, .n_k = KEYS, .d_k = 1, .q = &one, .k = three_scores, .scale = 1};
static const lab_head tied = {.n_q = 1, .n_k = KEYS, .d_k = 2, .q = query_001, .k = keys_001};

/* ---- measure ---- */

static const char *const normaliser_columns[] = {"score", "softmax", "tau 0.25",
                                                 "tau 4", "max",     "L1"};
enum { SCORE, SOFTMAX, COLD, WARM, MAX, L1, COLUMNS };
static const char *const key_names[] = {"key 1", "key 2", "key 3"};

static attn_status scores_of(attn_ctx *ctx, const lab_head *head, double *scores, attn_error *err) {
    attn_args args;
    lab_head_args(head, &args);
    attn_inspection what;
    attn_inspection_init(&what);
    what.raw = attn_tensor_bhsd(scores, ATTN_F64, 1, 1, 1, KEYS);
    return attn_inspect(ctx, &args, &what, err);
}

static attn_status weights_at(attn_ctx *ctx, const lab_head *head, double temperature,
                              double *weights, attn_error *err) {
    lab_head warmed = *head;
    warmed.temperature = temperature;
    return lab_head_weights(ctx, &warmed, weights, err);
}

/* One row of scores, normalised five ways. */
static attn_status measure_ways(attn_ctx *ctx, const lab_head *head, lab_table *table,
                                attn_error *err) {
    static const double temperature[] = {1, 0.25, 4}; /* SOFTMAX, COLD, WARM */
    double scores[KEYS], weights[KEYS], sum = 0;
    ATTN_TRY(scores_of(ctx, head, scores, err));
    for (size_t j = 0; j < KEYS; j++) sum += scores[j];
    for (size_t j = 0; j < KEYS; j++) {
        *lab_cell(table, j, SCORE) = scores[j];
        *lab_cell(table, j, MAX) = scores[j] / lab_largest(scores, KEYS);
        *lab_cell(table, j, L1) = scores[j] / sum;
    }
    for (size_t t = 0; t < 3; t++) {
        ATTN_TRY(weights_at(ctx, head, temperature[t], weights, err));
        for (size_t j = 0; j < KEYS; j++) *lab_cell(table, j, SOFTMAX + t) = weights[j];
    }
    table->label = key_names;
    return ATTN_OK;
}

static const char *const temperature_columns[] = {"tau", "entropy apart", "entropy tied",
                                                  "largest apart", "largest tied"};

static attn_status measure_temperature(attn_ctx *ctx, double tau, lab_table *table, size_t row,
                                       attn_error *err) {
    const lab_head *const heads[] = {&apart, &tied};
    *lab_cell(table, row, 0) = tau;
    for (size_t h = 0; h < 2; h++) {
        double weights[KEYS];
        ATTN_TRY(weights_at(ctx, heads[h], tau, weights, err));
        *lab_cell(table, row, 1 + h) = lab_entropy(weights, KEYS);
        *lab_cell(table, row, 3 + h) = lab_largest(weights, KEYS);
    }
    return ATTN_OK;
}

static attn_status measure(const lab_settings *settings, lab_data *data, attn_error *err) {
    static const double stated[STATED] = {0.001, 0.1, 0.5, 1, 2, 10, 1000};
    lab_table *first = lab_table_add(data, "scores_apart", KEYS, COLUMNS, normaliser_columns);
    lab_table *second = lab_table_add(data, "scores_tied", KEYS, COLUMNS, normaliser_columns);
    lab_table *sweep = lab_table_add(data, "temperature", TAUS, 5, temperature_columns);
    lab_table *seven = lab_table_add(data, "temperature_stated", STATED, 5, temperature_columns);
    if (!first || !second || !sweep || !seven)
        return attni_fail(err, ATTN_E_MEMORY, "E7: no memory for tables");
    ATTN_TRY(measure_ways(settings->ctx, &apart, first, err));
    ATTN_TRY(measure_ways(settings->ctx, &tied, second, err));
    for (size_t i = 0; i < TAUS; i++) {
        const double tau = pow(10, -3 + (double)i / (double)PER_DECADE);
        ATTN_TRY(measure_temperature(settings->ctx, tau, sweep, i, err));
    }
    for (size_t i = 0; i < STATED; i++)
        ATTN_TRY(measure_temperature(settings->ctx, stated[i], seven, i, err));
    return ATTN_OK;
}

/* ---- draw ---- */

static void draw_ways(const lab_table *table, plot_canvas *canvas, plot_rect area,
                      const char *title) {
    static const char *const name[] = {"softmax", "τ = 0.25", "τ = 4", "s / largest", "s / sum"};
    static const plot_color color[] = {PLOT_BLUE, PLOT_SKY, PLOT_GREEN, PLOT_ORANGE, PLOT_RED};
    plot_bar_series series[NORMALISERS];
    for (size_t i = 0; i < NORMALISERS; i++)
        series[i] = lab_bar_series(table, normaliser_columns[SOFTMAX + i],
                                   (plot_bar_series){.name = name[i], .color = color[i]});
    const plot_bars bars = {.title = title,
                            .group = key_names,
                            .n_groups = KEYS,
                            .value = {.label = "weight"},
                            .series = series,
                            .n_series = NORMALISERS,
                            .number = "%.2f"};
    plot_bars_draw(canvas, area, &bars);
}

/* Columns `at` (scores apart) and `at` + 1 (two tied) over temperature. */
static void draw_temperature(const lab_table *table, size_t at, plot_canvas *canvas, plot_rect area,
                             plot_chart chart) {
    const plot_series look[] = {
        {.name = "2, −1, 0.5", .color = PLOT_BLUE},
        {.name = "0.707, 0.707, 0 (a tie)", .color = PLOT_ORANGE, .dash = PLOT_DASHED}};
    plot_series series[2];
    for (size_t i = 0; i < 2; i++)
        series[i] = lab_series(table, "tau", temperature_columns[at + i], look[i]);
    chart.x = (plot_axis){.label = "temperature τ", .scale = PLOT_LOG10};
    chart.series = series;
    chart.n_series = 2;
    plot_chart_draw(canvas, area, &chart);
}

static void draw(const lab_data *data, plot_canvas *canvas, plot_rect area) {
    static const plot_rule entropies[] = {{.at = 1.0986122886681098, .label = "ln 3: uniform"},
                                          {.at = 0.6931471805599453, .label = "ln 2: two share"}};
    static const plot_rule shares[] = {{.at = 0.5, .label = "1/2"},
                                       {.at = 1.0 / 3, .label = "1/3"}};
    const lab_table *sweep = lab_table_named(data, "temperature");
    draw_ways(lab_table_named(data, "scores_apart"), canvas, lab_panel(area, 2, 2, 0),
              "a  Scores 2, −1, 0.5");
    draw_ways(lab_table_named(data, "scores_tied"), canvas, lab_panel(area, 2, 2, 1),
              "b  Scores 0.707, 0.707, 0 (document 001)");
    draw_temperature(sweep, 1, canvas, lab_panel(area, 2, 2, 2),
                     (plot_chart){.title = "c  Entropy against temperature",
                                  .y = {.label = "entropy in nats", .min = 0, .max = 1.2},
                                  .rule = entropies,
                                  .n_rules = 2});
    draw_temperature(sweep, 3, canvas, lab_panel(area, 2, 2, 3),
                     (plot_chart){.title = "d  Largest weight against temperature",
                                  .y = {.label = "largest weight", .min = 0, .max = 1.05},
                                  .rule = shares,
                                  .n_rules = 2});
}

/* ---- judge ---- */

static double sum_of(const lab_table *table, size_t column) {
    double sum = 0;
    for (size_t r = 0; r < table->rows; r++) sum += *lab_cell(table, r, column);
    return sum;
}

/* Does the column never fall, but for rounding? */
static bool is_rising(const lab_table *table, size_t column) {
    for (size_t r = 1; r < table->rows; r++)
        if (*lab_cell(table, r, column) < *lab_cell(table, r - 1, column) - 1e-12) return false;
    return true;
}

static void judge(const lab_data *data, lab_finding *finding) {
    const lab_table *apart_ways = lab_table_named(data, "scores_apart");
    const lab_table *sweep = lab_table_named(data, "temperature");
    const size_t last = sweep->rows - 1;
    const bool softens = is_rising(sweep, 1) && is_rising(sweep, 2);
    finding->verdict = softens ? LAB_HOLDS_IF : LAB_WRONG;
    snprintf(finding->condition, LAB_TEXT, "if there is one largest score; tied keys share");
    snprintf(finding->headline, LAB_TEXT,
             "Only softmax turns any scores into weights: [2, -1, 0.5] divided by the largest sum "
             "to %.4g, and divided by their sum they become %.3f, %.3f, %.3f. Entropy %s with "
             "temperature; near 0 one key gets all weight (%.3f) unless two keys tie, which then "
             "share it (%.3f each).",
             sum_of(apart_ways, MAX), *lab_cell(apart_ways, 0, L1), *lab_cell(apart_ways, 1, L1),
             *lab_cell(apart_ways, 2, L1), softens ? "only rises" : "does not only rise",
             *lab_cell(sweep, 0, 3), *lab_cell(sweep, 0, 4));
    snprintf(
        finding->text, LAB_TEXT,
        "Softmax weights are never negative and sum to 1 (a, b); the other two normalisers can "
        "give weights below 0 or above 1, and none at all to a score of 0. From τ = 0.001 to τ = "
        "1000 the entropy goes from %.3f to %.4f nats (ln 3 = 1.0986) for scores that differ and "
        "from %.3f to %.4f where two tie (c). One-hot weights at τ → 0 need a single largest score "
        "(d).",
        *lab_cell(sweep, 0, 1), *lab_cell(sweep, last, 1), *lab_cell(sweep, 0, 2),
        *lab_cell(sweep, last, 2));
}

const lab_experiment lab_e7 = {
    .id = "E7",
    .title = "Normalisers and temperature",
    .question = "Why softmax, and what does its temperature do?",
    .method =
        "Two rows of scores: 2, -1, 0.5, and row 0 of document 001 (q = [1, 0]; keys [1, 0], "
        "[1, 1], [0, 1]; d<sub>k</sub> = 2), in which two keys tie. Softmax of s/τ by the "
        "engine in double precision, at 121 temperatures from 0.001 to 1000; beside it s divided "
        "by the largest score and s divided by the sum of scores (L1).",
    .command = "attn report --only E7 --data",
    .claims = "C-20,C-21,C-22",
    .panels = 4,
    .seconds = 0.05,
    .measure = measure,
    .draw = draw,
    .judge = judge,
};
