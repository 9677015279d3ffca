/* SPDX-License-Identifier: Apache-2.0 */
/* e11_distance.c - the path between two tokens in attention and in a recurrent network (document
 * 004, C-50): how much of the gradient at the last position arrives at each distance before it.
 * Tests: tests/lab/test_flips_and_distance.c */
#include "core/base.h"
#include "experiment.h"
#include "panels.h"
#include "progress.h"
#include "series.h"
#include "support/layer.h"
#include "support/recurrent.h"

#include <math.h>

enum { N = 32, B = 4, D_MODEL = 32, D_K = 16, UNITS = 16, DRAWS = 50 };

/* Table `gradient`, by distance from the last position: norms of the gradient of x, the same
 * relative to distance 1, and the number of steps on the path. */
enum { ATTENTION, GAIN_HALF, GAIN_ONE, GAIN_LARGE, NETWORKS };
static const double gain[NETWORKS] = {[GAIN_HALF] = 0.5, [GAIN_ONE] = 1, [GAIN_LARGE] = 1.5};
enum { DISTANCE, NORM, RELATIVE = NORM + NETWORKS, PATH = RELATIVE + NETWORKS, COLUMNS = PATH + 2 };
static const char *const heading[COLUMNS] = {
    "distance",           "attention",          "recurrent_gain_0.5", "recurrent",
    "recurrent_gain_1.5", "relative_attention", "relative_gain_0.5",  "relative_recurrent",
    "relative_gain_1.5",  "path_attention",     "path_recurrent"};

/* norm (N): gradients of x by position. */
static attn_status measure_network(const lab_settings *settings, int network, double *norm,
                                   attn_error *err) {
    if (network != ATTENTION) {
        const lab_recurrent like = {.n = N, .d = UNITS, .gain = gain[network]};
        return lab_recurrent_norms(&like, DRAWS, settings->seed, norm, err);
    }
    lab_layer layer = {.B = B, .n = N, .d_model = D_MODEL, .d_k = D_K};
    attn_status status = lab_layer_create(&layer, err);
    if (status == ATTN_OK)
        status = lab_layer_last_norms(settings->ctx, &layer, DRAWS, settings->seed, norm, err);
    lab_layer_free(&layer);
    return status;
}

static attn_status measure(const lab_settings *settings, lab_data *data, attn_error *err) {
    lab_table *table = lab_table_add(data, "gradient", N, COLUMNS, heading);
    if (!table) return attni_fail(err, ATTN_E_MEMORY, "distance: no memory for its table");
    for (size_t network = 0; network < NETWORKS; network++) {
        double norm[N];
        ATTN_TRY(measure_network(settings, (int)network, norm, err));
        for (size_t distance = 0; distance < N; distance++) {
            double *row = lab_cell(table, distance, 0);
            row[DISTANCE] = (double)distance;
            row[NORM + network] = norm[N - 1 - distance];
            /* at distance 0 the token is also the query: not on this scale */
            if (distance > 0) row[RELATIVE + network] = norm[N - 1 - distance] / norm[N - 2];
            row[PATH] = distance > 0;
            row[PATH + 1] = (double)distance;
        }
        lab_progress(settings, network + 1, NETWORKS);
    }
    return ATTN_OK;
}

static void draw_gradients(const lab_table *table, plot_canvas *canvas, plot_rect area) {
    static const plot_series look[NETWORKS] = {
        {.name = "attention, one layer", .color = PLOT_BLUE, .mark = PLOT_DOT},
        {.name = "recurrent, gain 0.5", .color = PLOT_ORANGE, .mark = PLOT_TRIANGLE},
        {.name = "recurrent, gain 1", .color = PLOT_RED, .mark = PLOT_SQUARE},
        {.name = "recurrent, gain 1.5", .color = PLOT_PURPLE, .mark = PLOT_DIAMOND}};
    plot_series lines[NETWORKS];
    for (size_t network = 0; network < NETWORKS; network++)
        lines[network] = lab_series(table, "distance", heading[RELATIVE + network], look[network]);
    plot_chart_draw(canvas, area,
                    &(plot_chart){.title = "a  Gradient, relative to distance 1",
                                  .x = {.label = "distance from the last token", .max = N - 1},
                                  .y = {.label = "norm of the gradient", .scale = PLOT_LOG10},
                                  .series = lines,
                                  .n_series = NETWORKS});
}

static void draw_paths(const lab_table *table, plot_canvas *canvas, plot_rect area) {
    const plot_series lines[] = {
        lab_series(table, "distance", "path_attention",
                   (plot_series){.name = "attention", .color = PLOT_BLUE, .mark = PLOT_DOT}),
        lab_series(table, "distance", "path_recurrent",
                   (plot_series){.name = "recurrent", .color = PLOT_RED, .mark = PLOT_SQUARE}),
    };
    plot_chart_draw(canvas, area,
                    &(plot_chart){.title = "b  Steps between the two tokens",
                                  .x = {.label = "distance from the last token", .max = N - 1},
                                  .y = {.label = "steps", .min = 0, .max = N},
                                  .series = lines,
                                  .n_series = 2});
}

static void draw(const lab_data *data, plot_canvas *canvas, plot_rect area) {
    const lab_table *table = lab_table_named(data, "gradient");
    draw_gradients(table, canvas, lab_panel(area, 1, 2, 0));
    draw_paths(table, canvas, lab_panel(area, 1, 2, 1));
}

static void judge(const lab_data *data, lab_finding *finding) {
    const double *last = lab_cell(lab_table_named(data, "gradient"), N - 1, 0);
    const double *kept = last + RELATIVE;
    finding->verdict = kept[ATTENTION] > 0.5 && kept[GAIN_ONE] < 0.05 ? LAB_HOLDS : LAB_WRONG;
    snprintf(finding->headline, LAB_TEXT,
             "At distance %.0f, %.0f %% of the gradient at distance 1 is left in attention, whose "
             "path has one step, and %.0e of it in a recurrent network, whose path has %.0f steps.",
             last[DISTANCE], 100 * kept[ATTENTION], kept[GAIN_ONE], last[PATH + 1]);
    snprintf(
        finding->text, LAB_TEXT,
        "In one layer of attention every token is one step away, and the gradient does not "
        "depend on the distance. In a recurrent network it passes through every state in "
        "between: at distance %.0f, %.0e of it is left if W has gain 0.5, %.0e with gain 1 and "
        "%.0e with gain 1.5, which slows the decay but does not remove it.",
        last[DISTANCE], kept[GAIN_HALF], kept[GAIN_ONE], kept[GAIN_LARGE]);
}

const lab_experiment lab_e11 = {
    .id = "E11",
    .title = "Distance: attention beside a recurrent network",
    .question = "How much of a signal arrives from a token far away?",
    .method =
        "n = 32. A random loss on the last position; norms of the gradient of the input at "
        "each position, means of 50 draws. Attention: one layer, not causal, d_model = 32, d_k "
        "= d_v = 16, 4 sequences. Recurrent network: h = tanh(W h + U x) with 16 units, U ~ "
        "N(0, 1/16), W ~ N(0, g²/16) with gain g. The axis starts at distance 1: at distance "
        "0 the token is also the query.",
    .command = "attn report --only E11 --data",
    .claims = "C-50",
    .panels = 2,
    .seconds = 0.3,
    .measure = measure,
    .draw = draw,
    .judge = judge,
};
