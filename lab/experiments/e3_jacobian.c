/* SPDX-License-Identifier: Apache-2.0 */
/* e3_jacobian.c - do gradients vanish without scaling (C-3b, C-3c)? The Jacobian of softmax row by
 * row, and the gradient of Q in total and of its median row: the two answers differ.
 * Tests: tests/lab/test_beyond_structure.c */
#include "core/base.h"
#include "experiment.h"
#include "panels.h"
#include "progress.h"
#include "series.h"
#include "steps/attend.h"
#include "steps/stream.h"

#include <math.h>
#include <stdlib.h>

enum { N = 16, LARGEST_D = 1024 };
enum { JACOBIAN_TRIALS = 50, JACOBIAN_FIRST_D = 2, JACOBIAN_SIZES = 10 };
enum { GRADIENT_TRIALS = 200, GRADIENT_FIRST_D = 4, GRADIENT_SIZES = 9 };

/* A side is a scale: 1/sqrt(d_k), or 1. */
enum { SCALED, UNSCALED, SIDES };
static const char *const jacobian_heading[] = {"d_k",           "scaled_mean",     "scaled_median",
                                               "scaled_low",    "scaled_high",     "scaled_trials",
                                               "unscaled_mean", "unscaled_median", "unscaled_low",
                                               "unscaled_high", "unscaled_trials"};
/* over all rows: mean, median, 10 % and 90 %; and, as in figure 4, the mean of the trials'
 * medians */
enum { MEAN, MEDIAN, LOW, HIGH, TRIALS, JACOBIAN_COLUMNS };
static const char *const gradient_heading[] = {"d_k",
                                               "scaled_total",
                                               "scaled_row",
                                               "scaled_starved", /* see note_gradient() */
                                               "scaled_total_low",
                                               "scaled_row_low",
                                               "scaled_total_high",
                                               "scaled_row_high",
                                               "unscaled_total",
                                               "unscaled_row",
                                               "unscaled_starved",
                                               "unscaled_total_low",
                                               "unscaled_row_low",
                                               "unscaled_total_high",
                                               "unscaled_row_high"};
/* LOWER, UPPER: of TOTAL and ROW, 10 % and 90 % of the trials */
enum { TOTAL, ROW, STARVED, LOWER, UPPER = LOWER + 2, GRADIENT_COLUMNS = UPPER + 2 };

/* What a trial needs; all (N, d) except lse (N). */
typedef struct trial {
    int64_t d;
    double *q, *k, *v, *dout; /* drawn, in this order */
    double *out, *lse, *dq, *dk;
} trial;

static attn_tensor matrix(const double *data, int64_t columns) {
    return attn_tensor_bhsd(data, ATTN_F64, 1, 1, N, columns);
}

static lab_head head_of(const trial *t, size_t side) {
    return (lab_head){.n_q = N,
                      .n_k = N,
                      .d_k = t->d,
                      .d_v = t->d,
                      .q = t->q,
                      .k = t->k,
                      .v = t->v,
                      .scale = side == UNSCALED ? 1 : 0};
}

/* ---- the Jacobian of softmax ---- */

/* Of sorted numbers; between two neighbours in proportion. */
static double quantile(const double *sorted, int64_t n, double part) {
    const double at = part * (double)(n - 1);
    const int64_t i = (int64_t)at;
    return i + 1 < n ? sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]) : sorted[i];
}

static void note_norms(lab_table *table, size_t row, size_t side, double *norms, int64_t n) {
    double *cell = lab_cell(table, row, 1 + side * JACOBIAN_COLUMNS);
    cell[MEAN] = lab_mean(norms, n);
    cell[TRIALS] = 0;
    for (int64_t i = 0; i < n; i += N) cell[TRIALS] += lab_median(norms + i, N) / (double)(n / N);
    cell[MEDIAN] = lab_median(norms, n); /* sorts all */
    cell[LOW] = quantile(norms, n, 0.1);
    cell[HIGH] = quantile(norms, n, 0.9);
}

/* Norms of the Jacobians of all rows of all trials, for one d_k: trial t draws from seed + t. */
static attn_status jacobian_row(const lab_settings *settings, lab_table *table, size_t row,
                                trial *t, attn_error *err) {
    double norms[SIDES][JACOBIAN_TRIALS * N], weights[N * N];
    t->d = JACOBIAN_FIRST_D << row;
    *lab_cell(table, row, 0) = (double)t->d;
    for (uint32_t i = 0; i < JACOBIAN_TRIALS; i++) {
        lab_stream stream;
        lab_stream_seed(&stream, settings->seed + i);
        lab_stream_normals(&stream, (size_t)(N * t->d), 1, t->q);
        lab_stream_normals(&stream, (size_t)(N * t->d), 1, t->k);
        for (size_t side = 0; side < SIDES; side++) {
            const lab_head head = head_of(t, side);
            ATTN_TRY(lab_head_weights(settings->ctx, &head, weights, err));
            for (size_t r = 0; r < N; r++) {
                norms[side][i * N + r] = lab_jacobian_norm(weights + r * N, N);
            }
        }
    }
    for (size_t side = 0; side < SIDES; side++) {
        note_norms(table, row, side, norms[side], JACOBIAN_TRIALS * N);
    }
    return ATTN_OK;
}

/* ---- the gradient of Q ---- */

static attn_status backward(attn_ctx *ctx, const trial *t, size_t side, attn_error *err) {
    const lab_head head = head_of(t, side);
    attn_args args;
    lab_head_args(&head, &args);
    const attn_results results = {.struct_size = sizeof(attn_results),
                                  .out = matrix(t->out, t->d),
                                  .lse = matrix(t->lse, 1),
                                  .dout = matrix(t->dout, t->d)};
    ATTN_TRY(attn_forward(ctx, &args, &results.out, &results.lse, err));
    attn_gradients gradients;
    attn_gradients_init(&gradients);
    gradients.dq = matrix(t->dq, t->d);
    gradients.dk = matrix(t->dk, t->d);
    return attn_backward(ctx, &args, &results, &gradients, err);
}

static void row_norms(const double *x, int64_t d, double norms[N]) {
    for (int64_t i = 0; i < N; i++) norms[i] = lab_norm(x + i * d, d);
}

/* What the trials of one d_k and side give. */
typedef struct trials_of_side {
    double seen[2][GRADIENT_TRIALS]; /* TOTAL and ROW */
    int n;
} trials_of_side;

/* Adds one trial to the means: norm of dQ, median of the norms of its rows, share of the keys whose
 * gradient is below 1/1000 of the largest. */
static void note_gradient(const trial *t, double *cell, trials_of_side *all) {
    const double trials = GRADIENT_TRIALS;
    double norms[N];
    row_norms(t->dq, t->d, norms);
    all->seen[TOTAL][all->n] = lab_norm(norms, N);
    all->seen[ROW][all->n] = lab_median(norms, N);
    cell[TOTAL] += all->seen[TOTAL][all->n] / trials;
    cell[ROW] += all->seen[ROW][all->n++] / trials;
    row_norms(t->dk, t->d, norms);
    const double little = 1e-3 * lab_largest(norms, N);
    for (size_t j = 0; j < N; j++) cell[STARVED] += (norms[j] < little) / (double)N / trials;
}

/* One d_k: the trials draw Q, K, V, dO one after the other from the seed. */
static attn_status gradient_row(const lab_settings *settings, lab_table *table, size_t row,
                                trial *t, attn_error *err) {
    t->d = GRADIENT_FIRST_D << row;
    double *cell = lab_cell(table, row, 0);
    for (size_t c = 1; c < table->columns; c++) cell[c] = 0;
    cell[0] = (double)t->d;
    double *const drawn[] = {t->q, t->k, t->v, t->dout};
    trials_of_side all[SIDES] = {{.n = 0}};
    lab_stream stream;
    lab_stream_seed(&stream, settings->seed);
    for (int i = 0; i < GRADIENT_TRIALS; i++) {
        for (size_t x = 0; x < 4; x++) {
            lab_stream_normals(&stream, (size_t)(N * t->d), 1, drawn[x]);
        }
        for (size_t side = 0; side < SIDES; side++) {
            ATTN_TRY(backward(settings->ctx, t, side, err));
            note_gradient(t, cell + 1 + side * GRADIENT_COLUMNS, &all[side]);
        }
    }
    for (size_t i = 0; i < SIDES * 2; i++) {
        double *seen = all[i / 2].seen[i % 2], *to = cell + 1 + (i / 2) * GRADIENT_COLUMNS + i % 2;
        lab_median(seen, GRADIENT_TRIALS); /* sorts */
        to[LOWER] = quantile(seen, GRADIENT_TRIALS, 0.1);
        to[UPPER] = quantile(seen, GRADIENT_TRIALS, 0.9);
    }
    return ATTN_OK;
}

/* ---- */

static attn_status measure_both(const lab_settings *settings, lab_data *data, trial *t,
                                attn_error *err) {
    lab_table *jacobian = lab_table_add(data, "jacobian", JACOBIAN_SIZES,
                                        1 + SIDES * JACOBIAN_COLUMNS, jacobian_heading),
              *gradient = lab_table_add(data, "gradient", GRADIENT_SIZES,
                                        1 + SIDES * GRADIENT_COLUMNS, gradient_heading);
    if (!jacobian || !gradient) return attni_fail(err, ATTN_E_MEMORY, "jacobian: no memory");
    const size_t all = 4 << GRADIENT_SIZES; /* the last sizes take nearly all the time */
    for (size_t row = 0; row < JACOBIAN_SIZES; row++) {
        ATTN_TRY(jacobian_row(settings, jacobian, row, t, err));
        lab_progress(settings, (size_t)1 << row, all);
    }
    for (size_t row = 0; row < GRADIENT_SIZES; row++) {
        ATTN_TRY(gradient_row(settings, gradient, row, t, err));
        lab_progress(settings, ((size_t)3 << row) + all / 4, all);
    }
    return ATTN_OK;
}

static attn_status measure(const lab_settings *settings, lab_data *data, attn_error *err) {
    const size_t part = N * LARGEST_D; /* q, k, v, dout, out, dq, dk and, in the last, lse */
    double *memory = malloc(8 * part * sizeof *memory);
    if (memory == NULL) return attni_fail(err, ATTN_E_MEMORY, "jacobian: no memory");
    trial t = {.q = memory,
               .k = memory + part,
               .v = memory + 2 * part,
               .dout = memory + 3 * part,
               .out = memory + 4 * part,
               .dq = memory + 5 * part,
               .dk = memory + 6 * part,
               .lse = memory + 7 * part};
    const attn_status status = measure_both(settings, data, &t, err);
    free(memory);
    return status;
}

/* Lines of a side look alike; the mark is left out where another line has it. */
static plot_series line(const lab_table *table, size_t side, const char *column, const char *name,
                        plot_dash dash) {
    return lab_series(table, "d_k", column,
                      (plot_series){.name = name,
                                    .color = side == SCALED ? PLOT_BLUE : PLOT_RED,
                                    .mark = side == SCALED ? PLOT_DOT : PLOT_SQUARE,
                                    .dash = dash});
}

static void draw_jacobian(const lab_table *table, plot_canvas *canvas, plot_rect area) {
    plot_series series[] = {
        line(table, SCALED, "scaled_median", "scaled, median", PLOT_SOLID),
        line(table, SCALED, "scaled_mean", "scaled, mean", PLOT_DASHED),
        line(table, UNSCALED, "unscaled_median", "unscaled, median", PLOT_SOLID),
        line(table, UNSCALED, "unscaled_mean", "unscaled, mean", PLOT_DASHED),
    };
    series[0].low = lab_column_named(table, "scaled_low");
    series[0].high = lab_column_named(table, "scaled_high");
    series[2].low = lab_column_named(table, "unscaled_low");
    series[2].high = lab_column_named(table, "unscaled_high");
    series[1].mark = series[3].mark = PLOT_NO_MARK;
    plot_chart_draw(
        canvas, area,
        &(plot_chart){.title = "a  Softmax Jacobian of a row (bands: 10-90 % of the rows)",
                      .x = {.label = "head size d<sub>k</sub>", .scale = PLOT_LOG2},
                      .y = {.label = "Frobenius norm", .max = 0.6},
                      .series = series,
                      .n_series = 4});
}

static void draw_gradient(const lab_table *table, plot_canvas *canvas, plot_rect area) {
    static const char *const band[][2] = {{"unscaled_total_low", "unscaled_total_high"},
                                          {"scaled_total_low", "scaled_total_high"},
                                          {"scaled_row_low", "scaled_row_high"},
                                          {"unscaled_row_low", "unscaled_row_high"}};
    plot_series series[] = {
        line(table, UNSCALED, "unscaled_total", "unscaled, all of dQ", PLOT_DASHED),
        line(table, SCALED, "scaled_total", "scaled, all of dQ", PLOT_DASHED),
        line(table, SCALED, "scaled_row", "scaled, median row", PLOT_SOLID),
        line(table, UNSCALED, "unscaled_row", "unscaled, median row", PLOT_SOLID),
    };
    for (size_t i = 0; i < 4; i++) {
        series[i].low = lab_column_named(table, band[i][0]);
        series[i].high = lab_column_named(table, band[i][1]);
    }
    plot_chart_draw(
        canvas, area,
        &(plot_chart){.title = "b  Gradient of the queries (bands: 10-90 % of the trials)",
                      .x = {.label = "head size d<sub>k</sub>", .scale = PLOT_LOG2},
                      .y = {.label = "norm of dL/dQ", .scale = PLOT_LOG10},
                      .series = series,
                      .n_series = 4});
}

static void draw(const lab_data *data, plot_canvas *canvas, plot_rect area) {
    draw_jacobian(lab_table_named(data, "jacobian"), canvas, lab_panel(area, 1, 2, 0));
    draw_gradient(lab_table_named(data, "gradient"), canvas, lab_panel(area, 1, 2, 1));
}

static void judge(const lab_data *data, lab_finding *finding) {
    const lab_table *jacobian = lab_table_named(data, "jacobian"),
                    *gradient = lab_table_named(data, "gradient");
    const double *j = lab_cell(jacobian, JACOBIAN_SIZES - 1, 1), *ju = j + JACOBIAN_COLUMNS,
                 *g = lab_cell(gradient, GRADIENT_SIZES - 1, 1), *gu = g + GRADIENT_COLUMNS;
    finding->verdict = LAB_HOLDS_IF;
    snprintf(finding->condition, LAB_TEXT,
             "if the typical (median) row is meant, not the gradient as a whole");
    snprintf(finding->headline, LAB_TEXT,
             "Without scaling, gradients vanish for the typical row only: at d_k = %d its dL/dQ is "
             "%.1f times smaller than with scaling, but the norm of the whole dL/dQ is %.0f times "
             "larger.",
             LARGEST_D, g[ROW] / gu[ROW], gu[TOTAL] / g[TOTAL]);
    snprintf(finding->text, LAB_TEXT,
             "At d<sub>k</sub> = %d the Jacobian of the median row is %.3f scaled and %.1e "
             "unscaled (a); the few rows near a tie keep the mean at %.3f. The same rows dominate "
             "the total: the norm of dQ is %.0f unscaled and %.1f scaled, that of its median row "
             "%.2f and %.1f (b). %.0f %% of the keys get less than a thousandth of the largest "
             "gradient (scaled: %.0f %%). A mean or a total hides what happens to most rows.",
             LARGEST_D, j[MEDIAN], ju[MEDIAN], ju[MEAN], gu[TOTAL], g[TOTAL], gu[ROW], g[ROW],
             100 * gu[STARVED], 100 * g[STARVED]);
}

const lab_experiment lab_e3 = {
    .id = "E3",
    .title = "Softmax Jacobian and gradient of the queries",
    .question = "Do gradients vanish without scaling, and for which rows?",
    .method =
        "Panel a: n = 16, Q, K from N(0, 1), 50 trials, trial t from seed + t; norm of "
        "A<sub>j</sub>(δ<sub>jk</sub> - A<sub>k</sub>) for each of 800 rows. Panel b: n = 16, "
        "Q, K, V, dL/dO from N(0, 1), "
        "d<sub>v</sub> = d<sub>k</sub>, 200 trials from one seed; means over trials of the "
        "norm of dL/dQ and of "
        "the median norm of its rows, by the engine's backward in f64.",
    .command = "attn report --only E3 --data",
    .claims = "C-3c",
    .panels = 2,
    .seconds = 2.5,
    .measure = measure,
    .draw = draw,
    .judge = judge,
};
