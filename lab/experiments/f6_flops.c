/* SPDX-License-Identifier: Apache-2.0 */
/* f6_flops.c - figure 6 of document 000: operations of the projections and of attention itself
 * against n, and claim C-5. Tests: tests/lab/test_figures.c */
#include "core/base.h"
#include "experiment.h"
#include "panels.h"
#include "series.h"
#include "support/layer_cost.h"

enum { D_MODEL = 512, D_K = 64, SIZES = 8, SMALLEST = 32 };

enum {
    N,
    PROJECTIONS,
    CORE,
    TOTAL,
    CORE_SHARE,
    CORE_SHARE_PRODUCTS, /* softmax not counted */
    PROJECTIONS_GFLOP,
    CORE_GFLOP,
    TOTAL_GFLOP,
    PROJECTIONS_PERCENT,
    CORE_PERCENT,
    COLUMNS
};
static const char *const heading[] = {"n",
                                      "projections",
                                      "core",
                                      "total",
                                      "core_share",
                                      "core_share_products_only",
                                      "projections_gflop",
                                      "core_gflop",
                                      "total_gflop",
                                      "projections_percent",
                                      "core_percent"};
static const char *const crossover_heading[] = {"n", "n_products_only"};
static const char *const size_name[SIZES] = {"32",  "64",   "128",  "256",
                                             "512", "1024", "2048", "4096"};

static attn_args shapes(int64_t n) {
    attn_args args;
    attn_args_init(&args);
    args.q = args.k = args.v = attn_tensor_bhsd(NULL, ATTN_F32, 1, 1, n, D_K);
    return args;
}

static attn_status count_row(attn_ctx *ctx, int64_t n, double *row, attn_error *err) {
    const attn_args args = shapes(n);
    lab_layer_cost cost;
    ATTN_TRY(lab_layer_count(ctx, &args, D_MODEL, &cost, err));
    row[N] = (double)n;
    row[PROJECTIONS] = cost.projections;
    row[CORE] = cost.core;
    row[TOTAL] = cost.total;
    row[CORE_SHARE] = row[CORE] / row[TOTAL];
    row[CORE_SHARE_PRODUCTS] = cost.products / (cost.products + row[PROJECTIONS]);
    for (int column = 0; column < 3; column++) {
        row[PROJECTIONS_GFLOP + column] = row[PROJECTIONS + column] / 1e9;
    }
    row[CORE_PERCENT] = 100 * row[CORE_SHARE];
    row[PROJECTIONS_PERCENT] = 100 * row[PROJECTIONS] / row[TOTAL];
    return ATTN_OK;
}

static attn_status measure(const lab_settings *settings, lab_data *data, attn_error *err) {
    lab_table *table = lab_table_add(data, "flops", SIZES, COLUMNS, heading);
    lab_table *crossover = lab_table_add(data, "crossover", 1, 2, crossover_heading);
    if (!table || !crossover) return attni_fail(err, ATTN_E_MEMORY, "F6: no memory for its tables");
    for (size_t i = 0; i < SIZES; i++) {
        ATTN_TRY(count_row(settings->ctx, (int64_t)SMALLEST << i, lab_cell(table, i, 0), err));
    }
    const attn_args args = shapes(SMALLEST);
    crossover->cell[0] = lab_layer_crossover(&args, D_MODEL);
    crossover->cell[1] = (double)(8 * D_MODEL * D_K) / (4 * D_K); /* without softmax */
    return ATTN_OK;
}

static void draw_lines(const lab_data *data, plot_canvas *canvas, plot_rect area) {
    const lab_table *table = lab_table_named(data, "flops");
    const double crossover = lab_table_named(data, "crossover")->cell[0];
    char label[48];
    snprintf(label, sizeof label, "equal at n = %.2f", crossover);
    const plot_series lines[] = {
        lab_series(table, "n", "total_gflop",
                   (plot_series){.name = "total", .color = PLOT_BLACK, .mark = PLOT_DOT}),
        lab_series(table, "n", "projections_gflop",
                   (plot_series){.name = "projections, linear in n",
                                 .color = PLOT_GREEN,
                                 .mark = PLOT_TRIANGLE,
                                 .dash = PLOT_DASHED}),
        lab_series(table, "n", "core_gflop",
                   (plot_series){.name = "attention, quadratic in n",
                                 .color = PLOT_RED,
                                 .mark = PLOT_SQUARE,
                                 .dash = PLOT_DOTTED}),
    };
    const plot_rule rule = {.at = crossover, .vertical = true, .label = label};
    const plot_chart chart = {
        .title = "a  Operations, d<sub>model</sub> = 512, d<sub>k</sub> = d<sub>v</sub> = 64",
        .x = {.label = "n", .scale = PLOT_LOG2, .min = 32, .max = 4096},
        .y = {.label = "GFLOP", .scale = PLOT_LOG10},
        .series = lines,
        .n_series = 3,
        .rule = &rule,
        .n_rules = 1};
    plot_chart_draw(canvas, area, &chart);
}

static void draw(const lab_data *data, plot_canvas *canvas, plot_rect area) {
    const lab_table *table = lab_table_named(data, "flops");
    draw_lines(data, canvas, lab_panel(area, 1, 2, 0));
    const plot_bar_series shares[] = {
        lab_bar_series(table, "projections_percent",
                       (plot_bar_series){.name = "projections", .color = PLOT_GREEN}),
        lab_bar_series(table, "core_percent",
                       (plot_bar_series){.name = "attention", .color = PLOT_RED}),
    };
    const plot_bars bars = {.title = "b  Shares of the operations",
                            .group_label = "n",
                            .group = size_name,
                            .n_groups = SIZES,
                            .value = {.label = "% of the operations", .min = 0, .max = 100},
                            .series = shares,
                            .n_series = 2,
                            .stacked = true,
                            .number = "%.0f"};
    plot_bars_draw(canvas, lab_panel(area, 1, 2, 1), &bars);
}

static void judge(const lab_data *data, lab_finding *finding) {
    const lab_table *table = lab_table_named(data, "flops");
    const double *crossover = lab_table_named(data, "crossover")->cell;
    const double *last = lab_cell(table, SIZES - 1, 0), *before = lab_cell(table, SIZES - 2, 0);
    const double growth = last[CORE] / before[CORE];
    finding->verdict = growth == 4 && last[CORE] > last[PROJECTIONS] ? LAB_HOLDS : LAB_WRONG;
    snprintf(
        finding->headline, LAB_TEXT,
        "Doubling n multiplies the operations of attention by exactly %g; they exceed those of the "
        "projections from n = %.2f on and make up %.1f %% of the total at n = %g.",
        growth, crossover[0], last[CORE_PERCENT], last[N]);
    snprintf(
        finding->text, LAB_TEXT,
        "The projections grow with n, attention grows with n². At n = %g attention takes %.1f %% "
        "of the operations, at n = %g it takes %.1f %%. Softmax is counted here with %d operations "
        "per weight; without it the two costs are equal at exactly n = %g. Eight heads change "
        "neither number.",
        *lab_cell(table, 0, N), *lab_cell(table, 0, CORE_PERCENT), last[N], last[CORE_PERCENT],
        LAB_SOFTMAX_OPS, crossover[1]);
}

const lab_experiment lab_f6 = {
    .id = "F6",
    .title = "Operations and their quadratic growth",
    .question = "From which length does attention itself cost more than its projections?",
    .method = "d_model = 512, d_k = d_v = 64, n = 32 ... 4096. Projections: 8 n d_model d_k (Q, "
              "K, V, O; two operations for each multiply-add). Attention: 4 n² d_k, as attn_cost "
              "counts, and 5 n² for softmax. `attn cost --n 4096 --d-model 512` prints one length.",
    .command = "attn report --only F6 --data",
    .claims = "C-5a,C-5b",
    .panels = 2,
    .seconds = 0.02,
    .measure = measure,
    .draw = draw,
    .judge = judge,
};
