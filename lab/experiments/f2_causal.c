/* SPDX-License-Identifier: Apache-2.0 */
/* f2_causal.c - figure 2 of document 000: the same head with and without a causal mask, and claim
 * C-2. Tests: tests/lab/test_figures.c */
#include "core/base.h"
#include "experiment.h"
#include "panels.h"
#include "series.h"
#include "steps/weight_rows.h"
#include "support/layer.h"

enum { N = 8, D_MODEL = 32, D_K = 16 };
enum { FREE_ENTROPY, CAUSAL_ENTROPY, ENTROPY_LIMIT, ROW_COLUMNS };
static const char *const row_heading[] = {"entropy_noncausal", "entropy_causal", "entropy_limit"};
enum { FREE_ABOVE, CAUSAL_ABOVE, FREE_MAX, CAUSAL_MAX, RENORMALISED, SUMMARY_COLUMNS };
static const char *const summary_heading[] = {"above_diagonal_noncausal", "above_diagonal_causal",
                                              "max_noncausal", "max_causal",
                                              "renormalised_difference"};

/* weights (2, N, N): without and with the mask, of one draw */
static attn_status run_layer(const lab_settings *settings, double *const weights[2],
                             attn_error *err) {
    lab_layer layer = {.B = 1, .n = N, .d_model = D_MODEL, .d_k = D_K};
    attn_status status = lab_layer_create(&layer, err);
    if (status != ATTN_OK) goto done;
    lab_layer_draw(&layer, settings->seed);
    for (int masked = 0; masked < 2; masked++) {
        layer.causal = masked != 0;
        status = lab_layer_forward(settings->ctx, &layer, err);
        if (status != ATTN_OK) goto done;
        status = lab_layer_inspect(settings->ctx, &layer, NULL, weights[masked], err);
        if (status != ATTN_OK) goto done;
    }
done:
    lab_layer_free(&layer);
    return status;
}

static double sum_above_diagonal(const double *weights) {
    double sum = 0;
    for (int i = 0; i < N; i++) {
        for (int j = i + 1; j < N; j++) sum += weights[i * N + j];
    }
    return sum;
}

/* How far the causal rows are from the visible part of the free rows, divided by its sum. */
static double difference_to_renormalised(const double *free, const double *causal) {
    double worst = 0;
    for (int i = 0; i < N; i++) {
        double visible = 0;
        for (int j = 0; j <= i; j++) visible += free[i * N + j];
        for (int j = 0; j <= i; j++) {
            worst = fmax(worst, fabs(free[i * N + j] / visible - causal[i * N + j]));
        }
    }
    return worst;
}

static attn_status measure(const lab_settings *settings, lab_data *data, attn_error *err) {
    lab_table *free = lab_table_add(data, "noncausal", N, N, lab_token_name);
    lab_table *causal = lab_table_add(data, "causal", N, N, lab_token_name);
    lab_table *rows = lab_table_add(data, "rows", N, ROW_COLUMNS, row_heading);
    lab_table *summary = lab_table_add(data, "summary", 1, SUMMARY_COLUMNS, summary_heading);
    if (!free || !causal || !rows || !summary) {
        return attni_fail(err, ATTN_E_MEMORY, "F2: no memory for its tables");
    }
    free->label = causal->label = rows->label = lab_token_name;
    ATTN_TRY(run_layer(settings, (double *const[]){free->cell, causal->cell}, err));
    for (size_t i = 0; i < N; i++) {
        *lab_cell(rows, i, FREE_ENTROPY) = lab_entropy(lab_cell(free, i, 0), N);
        *lab_cell(rows, i, CAUSAL_ENTROPY) = lab_entropy(lab_cell(causal, i, 0), N);
        *lab_cell(rows, i, ENTROPY_LIMIT) = log((double)i + 1);
    }
    summary->cell[FREE_ABOVE] = sum_above_diagonal(free->cell);
    summary->cell[CAUSAL_ABOVE] = sum_above_diagonal(causal->cell);
    summary->cell[FREE_MAX] = lab_largest(free->cell, (int64_t)N * N);
    summary->cell[CAUSAL_MAX] = lab_largest(causal->cell, (int64_t)N * N);
    summary->cell[RENORMALISED] = difference_to_renormalised(free->cell, causal->cell);
    return ATTN_OK;
}

static void draw(const lab_data *data, plot_canvas *canvas, plot_rect area) {
    const double *summary = lab_table_named(data, "summary")->cell;
    unsigned char hidden[N * N];
    for (int i = 0; i < N * N; i++) hidden[i] = i % N > i / N;
    plot_heatmap map = {.x_label = "key position",
                        .y_label = "query position",
                        .rows = N,
                        .columns = N,
                        .row_name = lab_token_name,
                        .column_name = lab_token_name,
                        .max = fmax(summary[FREE_MAX], summary[CAUSAL_MAX]),
                        .number = "%.2f"};
    const bool tall = lab_is_tall(area);
    /* beside each other, the right one has the colour bar of both, and as much more room */
    const double bar = tall ? 0 : 54;
    const plot_rect left = plot_inset(lab_panel(area, 1, 2, 0), 0, 0, bar / 2, 0);
    const plot_rect right = plot_inset(lab_panel(area, 1, 2, 1), -bar / 2, 0, 0, 0);
    char note[2][80];
    snprintf(note[0], sizeof note[0], "sum of the weights above the diagonal: %.3f",
             summary[FREE_ABOVE]);
    snprintf(note[1], sizeof note[1], "sum above the diagonal: %g (hatched cells are masked)",
             summary[CAUSAL_ABOVE]);
    map.title = "a  Without a mask (bidirectional)";
    map.title_color = PLOT_BLUE;
    map.cell = lab_table_named(data, "noncausal")->cell;
    map.note = note[0];
    map.bar_label = tall ? "attention weight" : NULL;
    plot_heatmap_draw(canvas, left, &map);
    map.title = "b  With a causal mask (autoregressive)";
    map.title_color = PLOT_RED;
    map.cell = lab_table_named(data, "causal")->cell;
    map.hidden = hidden;
    map.note = note[1];
    map.bar_label = "attention weight";
    plot_heatmap_draw(canvas, right, &map);
}

static void judge(const lab_data *data, lab_finding *finding) {
    const lab_table *rows = lab_table_named(data, "rows");
    const double *summary = lab_table_named(data, "summary")->cell;
    finding->verdict = summary[CAUSAL_ABOVE] == 0 ? LAB_HOLDS : LAB_WRONG;
    snprintf(
        finding->headline, LAB_TEXT,
        "With a causal mask the weights above the diagonal sum to exactly %g (%.2f without it): no "
        "query sees a later position.",
        summary[CAUSAL_ABOVE], summary[FREE_ABOVE]);
    snprintf(
        finding->text, LAB_TEXT,
        "The mask removes the hatched keys (b), and the visible keys share their weight: each "
        "causal row is the visible part of the unmasked row (a) divided by its sum, to within "
        "%.0e. The first query sees only itself; the last row is the same in both panels. The "
        "entropy of row t1 is %.2f without the mask and %.2f with it, where two keys allow at most "
        "ln 2 = %.2f.",
        summary[RENORMALISED], lab_number(rows, 1, "entropy_noncausal"),
        lab_number(rows, 1, "entropy_causal"), lab_number(rows, 1, "entropy_limit"));
}

const lab_experiment lab_f2 = {
    .id = "F2",
    .title = "Causal against non-causal attention",
    .question = "What does a causal mask do to the weights?",
    .method =
        "The layer of F1, with the same weights and inputs (n = 8, d_model = 32, d_k = d_v = 16), "
        "run without and with the mask. Both panels share one colour range.",
    .command = "attn report --only F2 --data",
    .claims = "C-2",
    .panels = 2,
    .seconds = 0.01,
    .measure = measure,
    .draw = draw,
    .judge = judge,
};
