/* SPDX-License-Identifier: Apache-2.0 */
/* f4_sharpness.c - figure 4 of document 000: entropy and largest weight against d_k, and claim
 * C-3a. Tests: tests/lab/test_figures.c */
#include "core/base.h"
#include "experiment.h"
#include "panels.h"
#include "progress.h"
#include "series.h"
#include "steps/scaling.h"
#include "steps/stream.h"
#include "steps/weight_rows.h"

#include <stdlib.h>

enum { N = 16, TRIALS = 50, SIZES = 9, SMALLEST = 2, LARGEST = 512, ROWS = TRIALS * N };

/* One table per way to scale, one row per d_k. `sd` is over the trials of a trial's mean. */
enum {
    D_K,
    ENTROPY,
    ENTROPY_SD,
    ENTROPY_LOW,
    ENTROPY_HIGH,
    MAX,
    MAX_SD,
    MAX_LOW,
    MAX_HIGH,
    JACOBIAN_MEAN,
    JACOBIAN_MEDIAN,
    SATURATED, /* share of rows whose largest weight is above 0.99 */
    COLUMNS
};
static const char *const heading[] = {
    "d_k",    "entropy", "entropy_sd", "entropy_low",   "entropy_high",    "max",
    "max_sd", "max_low", "max_high",   "jacobian_mean", "jacobian_median", "saturated"};

/* What the trials of one d_k give, for one way to scale. */
typedef struct rows {
    double entropy[ROWS], largest[ROWS], jacobian[ROWS]; /* (TRIALS, N) */
} rows;

typedef struct scratch {
    double qk[2 * N * LARGEST], weights[N * N];
    rows of[LAB_SCALINGS];
} scratch;

/* Mean and standard deviation (of a sample) over the trials of each trial's mean, and the band. */
static void put_band(const double *x, double *cells) {
    double mean[TRIALS];
    for (int t = 0; t < TRIALS; t++) mean[t] = lab_mean(x + t * N, N);
    cells[0] = lab_mean(mean, TRIALS);
    cells[1] = lab_deviation(mean, TRIALS) * sqrt((double)TRIALS / (TRIALS - 1));
    cells[2] = cells[0] - cells[1];
    cells[3] = cells[0] + cells[1];
}

static void put_row(rows *of, int64_t d_k, double *row) {
    row[D_K] = (double)d_k;
    put_band(of->entropy, row + ENTROPY);
    put_band(of->largest, row + MAX);
    row[JACOBIAN_MEAN] = lab_mean(of->jacobian, ROWS);
    row[JACOBIAN_MEDIAN] = 0;
    for (int t = 0; t < TRIALS; t++) {
        row[JACOBIAN_MEDIAN] += lab_median(of->jacobian + t * N, N) / (double)TRIALS;
    }
    row[SATURATED] = 0;
    for (int i = 0; i < ROWS; i++) row[SATURATED] += of->largest[i] > 0.99 ? 1 / (double)ROWS : 0;
}

static attn_status run_trial(const lab_settings *settings, int trial, int64_t d_k, scratch *work,
                             attn_error *err) {
    lab_stream stream;
    lab_stream_seed(&stream, settings->seed + (uint32_t)trial);
    lab_stream_normals(&stream, (size_t)(2 * N * d_k), 1, work->qk);
    for (int s = 0; s < LAB_SCALINGS; s++) {
        const lab_head head = {.n_q = N,
                               .n_k = N,
                               .d_k = d_k,
                               .q = work->qk,
                               .k = work->qk + N * d_k,
                               .scale = lab_scaling_factor((lab_scaling)s, d_k)};
        ATTN_TRY(lab_head_weights(settings->ctx, &head, work->weights, err));
        rows *of = &work->of[s];
        lab_rows_measure(work->weights, N, of->entropy + trial * N, of->largest + trial * N,
                         of->jacobian + trial * N);
    }
    return ATTN_OK;
}

static attn_status measure(const lab_settings *settings, lab_data *data, attn_error *err) {
    attn_status status = ATTN_OK;
    lab_table *table[LAB_SCALINGS] = {NULL};
    scratch *work = malloc(sizeof *work);
    for (int s = 0; s < LAB_SCALINGS; s++) {
        table[s] = lab_table_add(data, lab_scaling_name[s], SIZES, COLUMNS, heading);
        if (!table[s] || !work) {
            status = attni_fail(err, ATTN_E_MEMORY, "F4: no memory for its tables");
            goto done;
        }
    }
    for (size_t i = 0; i < SIZES; i++) {
        const int64_t d_k = (int64_t)SMALLEST << i;
        for (int trial = 0; trial < TRIALS && status == ATTN_OK; trial++) {
            status = run_trial(settings, trial, d_k, work, err);
        }
        if (status != ATTN_OK) goto done;
        for (int s = 0; s < LAB_SCALINGS; s++) put_row(&work->of[s], d_k, lab_cell(table[s], i, 0));
        lab_progress(settings, i + 1, SIZES);
    }
done:
    free(work);
    return status;
}

/* A line per way to scale, with its band; `value` and `value`_low, `value`_high are columns. */
static void draw_chart(const lab_data *data, const char *const value[3], const plot_chart *chart,
                       plot_canvas *canvas, plot_rect area) {
    static const plot_series look[LAB_SCALINGS] = {
        {.name = "unscaled", .color = PLOT_RED, .mark = PLOT_SQUARE, .dash = PLOT_DASHED},
        {.name = "scaled by √d<sub>k</sub>", .color = PLOT_BLUE, .mark = PLOT_DOT},
        {.name = "divided by d<sub>k</sub>",
         .color = PLOT_GREEN,
         .mark = PLOT_TRIANGLE,
         .dash = PLOT_DOTTED}};
    plot_series series[LAB_SCALINGS];
    for (int s = 0; s < LAB_SCALINGS; s++) {
        const lab_table *table = lab_table_named(data, lab_scaling_name[s]);
        series[s] = lab_series(table, "d_k", value[0], look[s]);
        series[s].low = lab_column_named(table, value[1]);
        series[s].high = lab_column_named(table, value[2]);
    }
    plot_chart whole = *chart;
    whole.x =
        (plot_axis){.label = "d<sub>k</sub>", .scale = PLOT_LOG2, .min = SMALLEST, .max = LARGEST};
    whole.series = series;
    whole.n_series = LAB_SCALINGS;
    whole.n_rules = 1;
    plot_chart_draw(canvas, area, &whole);
}

static void draw(const lab_data *data, plot_canvas *canvas, plot_rect area) {
    static const char *const entropy[3] = {"entropy", "entropy_low", "entropy_high"};
    static const char *const largest[3] = {"max", "max_low", "max_high"};
    const plot_rule uniform = {.at = log(N)};
    const plot_rule share = {.at = 1 / (double)N};
    const plot_chart left = {.title = "a  Mean entropy of a row (dotted: uniform, ln 16)",
                             .y = {.label = "entropy in nats", .min = 0, .max = 3},
                             .rule = &uniform};
    const plot_chart right = {.title = "b  Mean largest weight of a row (dotted: 1/16)",
                              .y = {.label = "largest weight", .min = 0, .max = 1},
                              .rule = &share};
    draw_chart(data, entropy, &left, canvas, lab_panel(area, 1, 2, 0));
    draw_chart(data, largest, &right, canvas, lab_panel(area, 1, 2, 1));
}

static void judge(const lab_data *data, lab_finding *finding) {
    const lab_table *table[LAB_SCALINGS];
    for (int s = 0; s < LAB_SCALINGS; s++) table[s] = lab_table_named(data, lab_scaling_name[s]);
    const double *unscaled = lab_cell(table[LAB_SCALE_NONE], SIZES - 1, 0);
    const double *scaled = lab_cell(table[LAB_SCALE_SQRT], SIZES - 1, 0);
    double low = INFINITY, high = 0;
    for (size_t i = 0; i < SIZES; i++) {
        low = fmin(low, *lab_cell(table[LAB_SCALE_SQRT], i, ENTROPY));
        high = fmax(high, *lab_cell(table[LAB_SCALE_SQRT], i, ENTROPY));
    }
    const bool sharpens = unscaled[ENTROPY] < *lab_cell(table[LAB_SCALE_NONE], 0, ENTROPY) / 4;
    finding->verdict = sharpens && high - low < 0.25 ? LAB_HOLDS_IF : LAB_WRONG;
    snprintf(finding->condition, LAB_TEXT, "if the scores are not divided by √d_k");
    snprintf(
        finding->headline, LAB_TEXT,
        "d_k controls sharpness only without scaling: at d_k = %g the mean largest weight is %.3f "
        "unscaled and %.3f scaled; scaled entropy stays within %.2f to %.2f nats for all d_k.",
        unscaled[D_K], unscaled[MAX], scaled[MAX], low, high);
    snprintf(
        finding->text, LAB_TEXT,
        "Lines are means over %d trials; bands are ± one standard deviation of the mean of a "
        "trial. Unscaled, the entropy falls to %.3f of at most ln 16 = %.3f (a); even so, only "
        "%.0f %% of the rows have a weight above 0.99, because the two best keys can be close. "
        "Divided by d<sub>k</sub>, the rows tend to the uniform distribution instead (entropy "
        "%.4f).",
        TRIALS, unscaled[ENTROPY], log(N), 100 * unscaled[SATURATED],
        *lab_cell(table[LAB_SCALE_D_K], SIZES - 1, ENTROPY));
}

const lab_experiment lab_f4 = {
    .id = "F4",
    .title = "Attention sharpness against d_k",
    .question = "How peaked are the rows of the weights, and does d_k decide it?",
    .method = "n = 16, d_k = 2, 4, ... 512; 50 trials, trial t with the report's seed + t: Q, "
              "then K, standard normal. Scores times 1 (unscaled), 1/√d_k (scaled) and 1/d_k; "
              "entropy in nats and largest weight, mean over the rows of a trial.",
    .command = "attn report --only F4 --data",
    .claims = "C-3a,C-3b",
    .panels = 2,
    .seconds = 0.2,
    .measure = measure,
    .draw = draw,
    .judge = judge,
};
