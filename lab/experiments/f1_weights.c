/* SPDX-License-Identifier: Apache-2.0 */
/* f1_weights.c - figure 1 of document 000: the weights of one head as a heatmap, and claim C-1.
 * Tests: tests/lab/test_figures.c */
#include "core/base.h"
#include "experiment.h"
#include "panels.h"
#include "series.h"
#include "steps/weight_rows.h"
#include "support/layer.h"

#include <float.h>

enum { N = 8, D_MODEL = 32, D_K = 16 };
enum { ENTROPY, LARGEST, KEY, SUM_ERROR, ROW_COLUMNS };
static const char *const row_heading[] = {"entropy", "largest", "key", "sum_error"};
enum { MAX, MIN, MEAN_ENTROPY, ENTROPY_LIMIT, WORST_SUM, SCORE_SD, SUMMARY_COLUMNS };
static const char *const summary_heading[] = {"max",           "min",       "mean_entropy",
                                              "entropy_limit", "sum_error", "score_sd"};

/* scores, weights (N, N) */
static attn_status run_layer(const lab_settings *settings, double *scores, double *weights,
                             attn_error *err) {
    lab_layer layer = {.B = 1, .n = N, .d_model = D_MODEL, .d_k = D_K};
    attn_status status = lab_layer_create(&layer, err);
    if (status != ATTN_OK) goto done;
    lab_layer_draw(&layer, settings->seed);
    status = lab_layer_forward(settings->ctx, &layer, err);
    if (status != ATTN_OK) goto done;
    status = lab_layer_inspect(settings->ctx, &layer, scores, weights, err);
done:
    lab_layer_free(&layer);
    return status;
}

static void measure_row(const double *weight, double *row) {
    double sum = 0;
    row[KEY] = 0;
    for (int j = 0; j < N; j++) {
        sum += weight[j];
        if (weight[j] > weight[(int)row[KEY]]) row[KEY] = j;
    }
    row[ENTROPY] = lab_entropy(weight, N);
    row[LARGEST] = lab_largest(weight, N);
    row[SUM_ERROR] = fabs(sum - 1);
}

static void summarise(const double *weights, const lab_table *rows, double *summary) {
    summary[MAX] = lab_largest(weights, (int64_t)N * N);
    summary[MIN] = weights[0];
    for (int i = 1; i < N * N; i++) summary[MIN] = fmin(summary[MIN], weights[i]);
    summary[MEAN_ENTROPY] = summary[WORST_SUM] = 0;
    for (size_t i = 0; i < N; i++) {
        summary[MEAN_ENTROPY] += *lab_cell(rows, i, ENTROPY) / (double)N;
        summary[WORST_SUM] = fmax(summary[WORST_SUM], *lab_cell(rows, i, SUM_ERROR));
    }
    summary[ENTROPY_LIMIT] = log(N);
}

static attn_status measure(const lab_settings *settings, lab_data *data, attn_error *err) {
    lab_table *weights = lab_table_add(data, "weights", N, N, lab_token_name);
    lab_table *rows = lab_table_add(data, "rows", N, ROW_COLUMNS, row_heading);
    lab_table *summary = lab_table_add(data, "summary", 1, SUMMARY_COLUMNS, summary_heading);
    if (!weights || !rows || !summary) {
        return attni_fail(err, ATTN_E_MEMORY, "F1: no memory for its tables");
    }
    weights->label = rows->label = lab_token_name;
    double scores[N * N];
    ATTN_TRY(run_layer(settings, scores, weights->cell, err));
    for (size_t i = 0; i < N; i++) measure_row(lab_cell(weights, i, 0), lab_cell(rows, i, 0));
    summarise(weights->cell, rows, summary->cell);
    summary->cell[SCORE_SD] = lab_deviation(scores, (int64_t)N * N);
    return ATTN_OK;
}

static void draw(const lab_data *data, plot_canvas *canvas, plot_rect area) {
    const lab_table *weights = lab_table_named(data, "weights");
    const lab_table *rows = lab_table_named(data, "rows");
    const plot_heatmap map = {.title = "a  Attention weights",
                              .x_label = "key position",
                              .y_label = "query position",
                              .rows = N,
                              .columns = N,
                              .cell = weights->cell,
                              .row_name = lab_token_name,
                              .column_name = lab_token_name,
                              .number = "%.2f",
                              .bar_label = "attention weight"};
    const bool tall = lab_is_tall(area);
    plot_heatmap_draw(canvas,
                      tall ? plot_inset(area, 0, 0, 0, area.height * 0.42)
                           : plot_inset(area, 0, 0, area.width * 0.38, 0),
                      &map);
    const plot_bar_series entropy =
        lab_bar_series(rows, "entropy", (plot_bar_series){.color = PLOT_BLUE});
    const plot_bars bars = {.title = "b  Entropy of each row",
                            .group_label = "query position",
                            .group = lab_token_name,
                            .n_groups = N,
                            .value = {.label = "nats (at most ln 8 = 2.08)", .max = log(N)},
                            .series = &entropy,
                            .n_series = 1,
                            .horizontal = true,
                            .number = "%.2f"};
    plot_bars_draw(canvas,
                   tall ? plot_inset(area, 0, area.height * 0.62, 0, 0)
                        : plot_inset(area, area.width * 0.66, 0, 0, 0),
                   &bars);
}

static void judge(const lab_data *data, lab_finding *finding) {
    const lab_table *weights = lab_table_named(data, "weights");
    const double *summary = lab_table_named(data, "summary")->cell;
    size_t peak = 0;
    for (size_t i = 1; i < N * N; i++) {
        if (weights->cell[i] > weights->cell[peak]) peak = i;
    }
    /* a sum of eight rounded numbers */
    finding->verdict =
        summary[WORST_SUM] <= (double)N * DBL_EPSILON && summary[MIN] >= 0 ? LAB_HOLDS : LAB_WRONG;
    snprintf(
        finding->headline, LAB_TEXT,
        "Every row of the weights is a distribution over the keys: no weight is negative, and the "
        "row sums differ from 1 by at most %.1e, which is rounding.",
        summary[WORST_SUM]);
    snprintf(finding->text, LAB_TEXT,
             "Each row shows how one query divides its weight among the keys (a). The largest "
             "weight is %.3f (query t%zu, key t%zu), the smallest %.4f. The rows are moderately "
             "peaked (b): their mean entropy is %.3f nats; uniform rows would have ln 8 = %.3f. "
             "This is one draw; F4 shows the mean of many.",
             summary[MAX], peak / N, peak % N, summary[MIN], summary[MEAN_ENTROPY],
             summary[ENTROPY_LIMIT]);
}

const lab_experiment lab_f1 = {
    .id = "F1",
    .title = "Attention weights",
    .question =
        "What do the weights of one attention head look like, and is every row a distribution?",
    .method = "One head, n = 8, d_model = 32, d_k = d_v = 16, biases 0; W_Q, W_K, W_V, W_O, then "
              "X drawn from NumPy's legacy stream at the report's seed, weights with variance "
              "2 / (fan_in + fan_out); run in double by the library's layer.",
    .command = "attn report --only F1 --data",
    .claims = "C-1",
    .panels = 2,
    .seconds = 0.01,
    .measure = measure,
    .draw = draw,
    .judge = judge,
};
