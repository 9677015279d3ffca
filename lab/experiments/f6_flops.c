/* SPDX-License-Identifier: Apache-2.0 */
/* f6_flops.c - figure 6 of document 000: operations of the projections and of attention itself
 * against n, and claim C-5. Tests: tests/lab/test_figures.c */
#include "core/base.h"
#include "experiment.h"
#include "series.h"

enum { D_MODEL = 512, D_K = 64, SIZES = 8, SMALLEST = 32, SOFTMAX_OPS = 5 };

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

static attn_status count_row(attn_ctx *ctx, int64_t n, double *row, attn_error *err) {
    attn_args args;
    attn_args_init(&args);
    args.q = args.k = args.v = attn_tensor_bhsd(NULL, ATTN_F32, 1, 1, n, D_K);
    attn_cost_info cost = {.struct_size = sizeof cost};
    ATTN_TRY(attn_cost(ctx, &args, &cost, err));
    row[N] = (double)n;
    row[PROJECTIONS] = (double)(4 * 2 * n * D_MODEL * D_K); /* Q, K, V, O; 2 per multiply-add */
    row[CORE] = cost.flops + (double)SOFTMAX_OPS * cost.visible_pairs;
    row[TOTAL] = row[PROJECTIONS] + row[CORE];
    row[CORE_SHARE] = row[CORE] / row[TOTAL];
    row[CORE_SHARE_PRODUCTS] = cost.flops / (cost.flops + row[PROJECTIONS]);
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
    /* 8 n d_model d_k = (4 d_k + 5) n^2 */
    crossover->cell[0] = (double)(8 * D_MODEL * D_K) / (4 * D_K + SOFTMAX_OPS);
    crossover->cell[1] = (double)(8 * D_MODEL * D_K) / (4 * D_K);
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
        .title = "Operations, d<sub>model</sub> = 512, d<sub>k</sub> = d<sub>v</sub> = 64",
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
    draw_lines(data, canvas, plot_grid(area, 1, 2, 0, 24));
    const plot_bar_series shares[] = {
        lab_bar_series(table, "projections_percent",
                       (plot_bar_series){.name = "projections", .color = PLOT_GREEN}),
        lab_bar_series(table, "core_percent",
                       (plot_bar_series){.name = "attention", .color = PLOT_RED}),
    };
    const plot_bars bars = {.title = "Shares of the operations",
                            .group_label = "n",
                            .group = size_name,
                            .n_groups = SIZES,
                            .value = {.label = "% of the operations", .min = 0, .max = 100},
                            .series = shares,
                            .n_series = 2,
                            .stacked = true,
                            .number = "%.0f"};
    plot_bars_draw(canvas, plot_grid(area, 1, 2, 1, 24), &bars);
}

static void judge(const lab_data *data, lab_finding *finding) {
    const lab_table *table = lab_table_named(data, "flops");
    const double *crossover = lab_table_named(data, "crossover")->cell;
    const double *last = lab_cell(table, SIZES - 1, 0), *before = lab_cell(table, SIZES - 2, 0);
    const double growth = last[CORE] / before[CORE];
    finding->verdict = growth == 4 && last[CORE] > last[PROJECTIONS] ? LAB_HOLDS : LAB_WRONG;
    snprintf(
        finding->headline, LAB_TEXT,
        "Doubling n multiplies the operations of attention by exactly %g; they pass those of the "
        "projections at n = %.2f and are %.1f %% of all at n = %g.",
        growth, crossover[0], last[CORE_PERCENT], last[N]);
    snprintf(
        finding->text, LAB_TEXT,
        "The projections grow with n, attention with n². At n = %g attention takes %.1f %% of the "
        "operations, at n = %g %.1f %%. Without the softmax, counted here with %d operations for "
        "each weight, the two are equal at n = %g exactly. Eight heads change neither number.",
        *lab_cell(table, 0, N), *lab_cell(table, 0, CORE_PERCENT), last[N], last[CORE_PERCENT],
        SOFTMAX_OPS, crossover[1]);
}

const lab_experiment lab_f6 = {
    .id = "F6",
    .title = "Operations and their quadratic growth",
    .question = "From which length does attention itself cost more than its projections?",
    .method = "d_model = 512, d_k = d_v = 64, n = 32 ... 4096. Projections: 8 n d_model d_k (Q, "
              "K, V, O; two operations for each multiply-add). Attention: 4 n² d_k, as attn_cost "
              "counts, and 5 n² for softmax.",
    .command = "attn cost --n 1024 --d 64",
    .seconds = 0.02,
    .measure = measure,
    .draw = draw,
    .judge = judge,
};
