/* SPDX-License-Identifier: Apache-2.0 */
/* e10_flips.c - "small changes in keys can flip which position gets attention" (document 003, C-51):
 * keys are perturbed a little, and the weights of each row are compared before and after.
 * Tests: tests/lab/test_flips_and_distance.c */
#include "core/base.h"
#include "experiment.h"
#include "panels.h"
#include "progress.h"
#include "series.h"
#include "steps/attend.h"
#include "steps/stream.h"

#include <math.h>
#include <stdlib.h>

enum { N = 16, CELLS = N * N, TRIALS = 50, SIZES = 8, SMALLEST = 4, LARGEST = 512 };
enum { CHANGES = 6, SHOWN_CHANGE = 3 };
static const double change[CHANGES] = {0.01, 0.02, 0.05, 0.1, 0.2, 0.5};

/* Both tables: the setting that varies, then the results. "moved" is the weight that moves to other
 * positions, half the sum of |A' - A| over a row: 0 nothing, 1 all of it. */
enum { SETTING, FLIPPED, MOVED, MOVED_SCALED, IN_FLIPPED, IN_FLIPPED_SCALED, COLUMNS };
static const char *const size_heading[] = {"d_k",          "flipped_percent",  "moved_unscaled",
                                           "moved_scaled", "flipped_unscaled", "flipped_scaled"};
static const char *const change_heading[] = {"change",       "flipped_percent",  "moved_unscaled",
                                             "moved_scaled", "flipped_unscaled", "flipped_scaled"};

/* ---- one trial ---- */

typedef struct sums {
    double rows, flipped;
    double moved[2], in_flipped[2]; /* unscaled, scaled */
} sums;

static int64_t largest_at(const double *row) {
    int64_t at = 0;
    for (int64_t j = 1; j < N; j++) at = row[j] > row[at] ? j : at;
    return at;
}

static double moved_weight(const double *before, const double *after) {
    double sum = 0;
    for (int64_t j = 0; j < N; j++) sum += fabs(after[j] - before[j]) / 2;
    return sum;
}

static void add_rows(const double *before, const double *after, bool scaled, sums *to) {
    for (int64_t i = 0; i < CELLS; i += N) {
        const bool flips = largest_at(before + i) != largest_at(after + i);
        const double moved = moved_weight(before + i, after + i);
        to->moved[scaled] += moved;
        if (flips) to->in_flipped[scaled] += moved;
        if (scaled) continue; /* scaling does not change the order of the scores */
        to->rows++;
        to->flipped += flips;
    }
}

/* Q (N, d), K (N, d) and the direction of the change (N, d) are drawn in this order. */
static attn_status add_trial(attn_ctx *ctx, uint32_t seed, int64_t d, double size, double *memory,
                             sums *to, attn_error *err) {
    double *q = memory, *k = q + N * d, *other = k + N * d, before[CELLS], after[CELLS];
    lab_stream stream;
    lab_stream_seed(&stream, seed);
    lab_stream_normals(&stream, (size_t)(3 * N * d), 1, q);
    for (int64_t i = 0; i < N * d; i++) other[i] = k[i] + size * other[i];
    for (int scaled = 0; scaled < 2; scaled++) {
        lab_head head = {.n_q = N, .n_k = N, .d_k = d, .q = q, .k = k, .scale = scaled ? 0 : 1};
        ATTN_TRY(lab_head_weights(ctx, &head, before, err));
        head.k = other;
        ATTN_TRY(lab_head_weights(ctx, &head, after, err));
        add_rows(before, after, scaled, to);
    }
    return ATTN_OK;
}

/* Fills a row of a table: all trials of one head size and one size of the change. */
static attn_status measure_row(const lab_settings *settings, int64_t d, double size, double *row,
                               attn_error *err) {
    double *memory = malloc((size_t)(3 * N * d) * sizeof *memory);
    attn_status status = memory ? ATTN_OK : attni_fail(err, ATTN_E_MEMORY, "flips: no memory");
    sums all = {0};
    for (uint32_t trial = 0; trial < TRIALS && status == ATTN_OK; trial++)
        status = add_trial(settings->ctx, settings->seed + trial, d, size, memory, &all, err);
    free(memory);
    row[FLIPPED] = 100 * all.flipped / all.rows;
    for (int scaled = 0; scaled < 2; scaled++) {
        row[MOVED + scaled] = all.moved[scaled] / all.rows;
        row[IN_FLIPPED + scaled] = all.in_flipped[scaled] / all.flipped; /* NaN: no row flips */
    }
    return status;
}

static attn_status measure(const lab_settings *settings, lab_data *data, attn_error *err) {
    lab_table *sizes = lab_table_add(data, "by_d_k", SIZES, COLUMNS, size_heading),
              *changes = lab_table_add(data, "by_change", CHANGES, COLUMNS, change_heading);
    if (!sizes || !changes) return attni_fail(err, ATTN_E_MEMORY, "flips: no memory for tables");
    for (size_t i = 0; i < SIZES; i++) {
        const int64_t d = (int64_t)SMALLEST << i;
        *lab_cell(sizes, i, SETTING) = (double)d;
        ATTN_TRY(measure_row(settings, d, change[SHOWN_CHANGE], lab_cell(sizes, i, 0), err));
        lab_progress(settings, i + 1, SIZES + CHANGES);
    }
    for (size_t i = 0; i < CHANGES; i++) {
        *lab_cell(changes, i, SETTING) = change[i];
        ATTN_TRY(measure_row(settings, LARGEST, change[i], lab_cell(changes, i, 0), err));
        lab_progress(settings, SIZES + i + 1, SIZES + CHANGES);
    }
    return ATTN_OK;
}

/* ---- figure and verdict ---- */

static void draw_lines(const lab_table *table, const char *x, plot_chart chart, plot_canvas *canvas,
                       plot_rect area) {
    const plot_series lines[] = {
        lab_series(table, x, "flipped_unscaled",
                   (plot_series){
                       .name = "unscaled, rows that flip", .color = PLOT_RED, .mark = PLOT_SQUARE}),
        lab_series(table, x, "moved_unscaled",
                   (plot_series){.name = "unscaled, all rows",
                                 .color = PLOT_RED,
                                 .mark = PLOT_SQUARE,
                                 .dash = PLOT_DASHED}),
        lab_series(
            table, x, "flipped_scaled",
            (plot_series){.name = "scaled, rows that flip", .color = PLOT_BLUE, .mark = PLOT_DOT}),
        lab_series(table, x, "moved_scaled",
                   (plot_series){.name = "scaled, all rows",
                                 .color = PLOT_BLUE,
                                 .mark = PLOT_DOT,
                                 .dash = PLOT_DASHED}),
    };
    chart.y = (plot_axis){.label = "share of the weight that moves", .min = 0, .max = 1};
    chart.series = lines;
    chart.n_series = 4;
    plot_chart_draw(canvas, area, &chart);
}

static void draw(const lab_data *data, plot_canvas *canvas, plot_rect area) {
    draw_lines(
        lab_table_named(data, "by_d_k"), "d_k",
        (plot_chart){
            .title = "a  Keys changed by 10 %",
            .x = {.label = "d<sub>k</sub>", .scale = PLOT_LOG2, .min = SMALLEST, .max = LARGEST}},
        canvas, lab_panel(area, 1, 2, 0));
    draw_lines(lab_table_named(data, "by_change"), "change",
               (plot_chart){.title = "b  d<sub>k</sub> = 512",
                            .x = {.label = "size of the change, relative to the keys",
                                  .scale = PLOT_LOG10,
                                  .min = 0.01,
                                  .max = 0.5}},
               canvas, lab_panel(area, 1, 2, 1));
}

static void judge(const lab_data *data, lab_finding *finding) {
    const lab_table *sizes = lab_table_named(data, "by_d_k"),
                    *changes = lab_table_named(data, "by_change");
    const double *small = lab_cell(sizes, 0, 0), *large = lab_cell(sizes, SIZES - 1, 0),
                 *least = lab_cell(changes, 0, 0);
    const bool flips = large[FLIPPED] > 1 && large[IN_FLIPPED] > 0.5;
    finding->verdict = flips ? LAB_HOLDS : LAB_WRONG;
    snprintf(finding->headline, LAB_TEXT,
             "A change of the keys by 10 %% flips the largest weight in %.0f %% of the rows at d_k "
             "= %.0f. Without scaling such a flip moves %.0f %% of the row's weight, with scaling "
             "%.0f %%.",
             large[FLIPPED], large[SETTING], 100 * large[IN_FLIPPED],
             100 * large[IN_FLIPPED_SCALED]);
    snprintf(
        finding->text, LAB_TEXT,
        "Scaling does not change which rows flip: it keeps the order of the scores. It changes "
        "how much depends on that order. From d<sub>k</sub> = %.0f to %.0f the weight that "
        "moves in a flipped row grows from %.2f to %.2f without scaling and stays near %.2f "
        "with it. Even a change of 1 %% flips %.1f %% of the rows at d<sub>k</sub> = %.0f.",
        small[SETTING], large[SETTING], small[IN_FLIPPED], large[IN_FLIPPED],
        large[IN_FLIPPED_SCALED], least[FLIPPED], large[SETTING]);
}

const lab_experiment lab_e10 = {
    .id = "E10",
    .title = "Small changes of the keys",
    .question = "Can a small change of the keys flip which position gets the attention?",
    .method =
        "n = 16; d_k = 4 ... 512; trial t of 50 draws Q, K and a direction D, all N(0, 1), "
        "with seed 42 + t, and compares the weights for K and for K + c D. A row flips if its "
        "largest weight is then at another key. The weight that moves is half the sum of "
        "|A' - A| over the row. Panel a: c = 0.1. Panel b: c = 0.01 ... 0.5.",
    .command = "attn report --only E10 --data",
    .claims = "C-51",
    .panels = 2,
    .seconds = 0.3,
    .measure = measure,
    .draw = draw,
    .judge = judge,
};
