/* SPDX-License-Identifier: Apache-2.0 */
/* f5_memory.c - figure 5 of document 000: memory of attention against n, by its formula and as the
 * library takes it, and claim C-4. Tests: tests/lab/test_figures.c */
#include "core/base.h"
#include "experiment.h"
#include "panels.h"
#include "progress.h"
#include "series.h"
#include "support/meter.h"

enum { D = 64, SIZES = 10, SMALLEST = 32, MEASURED = 9, DENSE = 8, CALLED_OUT = 7, THREADS = 2 };

enum { N, F32, F16, WEIGHTS, F32_MIB, F16_MIB, WEIGHTS_MIB, SHARE, PERCENT, MODEL_COLUMNS };
static const char *const model_heading[] = {
    "n",       "f32_bytes",       "f16_bytes", "weights_f32_bytes", "f32_mib",
    "f16_mib", "weights_f32_mib", "share",     "share_percent"};
enum { TILED = 1, DENSE_PEAK, TILED_MIB, DENSE_MIB, MEASURED_COLUMNS };
static const char *const measured_heading[] = {"n", "tiled_bytes", "dense_bytes", "tiled_mib",
                                               "dense_mib"};
static const char *const limit_heading[] = {"share", "n"};

static const double mib = 1024 * 1024;

/* ---- the formula: what attn_cost() counts ---- */

static attn_args problem(int64_t n, void *const data[3]) {
    attn_args args;
    attn_args_init(&args);
    args.q = attn_tensor_bhsd(data[0], ATTN_F32, 1, 1, n, D);
    args.k = attn_tensor_bhsd(data[1], ATTN_F32, 1, 1, n, D);
    args.v = attn_tensor_bhsd(data[2], ATTN_F32, 1, 1, n, D);
    return args;
}

static attn_status model_row(attn_ctx *ctx, int64_t n, double *row, attn_error *err) {
    attn_cost_info cost = {.struct_size = sizeof cost};
    const attn_args args = problem(n, (void *const[3]){NULL});
    ATTN_TRY(attn_cost(ctx, &args, &cost, err));
    row[N] = (double)n;
    row[F32] = cost.bytes_io + cost.bytes_dense;
    row[F16] = row[F32] / 2; /* the document stores A in f16 too; the library would use f32 */
    row[WEIGHTS] = cost.bytes_dense;
    for (int column = 0; column < 3; column++) row[F32_MIB + column] = row[F32 + column] / mib;
    row[SHARE] = cost.bytes_dense / row[F32];
    row[PERCENT] = 100 * row[SHARE];
    return ATTN_OK;
}

/* ---- what is taken ---- */

/* Runs attention on n rows of zeros: only sizes matter. `dense` also asks for the weights. */
static attn_status run(attn_ctx *ctx, lab_meter *meter, int64_t n, bool dense, attn_error *err) {
    attn_status status = ATTN_OK;
    void *block[5] = {NULL}; /* q, k, v, out (n, D); weights (n, n) */
    for (int i = 0; i < (dense ? 5 : 4); i++) {
        const size_t size = (size_t)n * (i < 4 ? D : (size_t)n) * sizeof(float);
        block[i] = lab_meter_take(meter, size);
        if (block[i] == NULL) {
            status = attni_fail(err, ATTN_E_MEMORY, "F5: no memory for n = %lld", (long long)n);
            goto done;
        }
        memset(block[i], 0, size);
    }
    const attn_args args = problem(n, block);
    const attn_tensor out = attn_tensor_bhsd(block[3], ATTN_F32, 1, 1, n, D);
    status = attn_forward(ctx, &args, &out, NULL, err);
    if (status != ATTN_OK || !dense) goto done;
    attn_inspection what;
    attn_inspection_init(&what);
    what.weights = attn_tensor_bhsd(block[4], ATTN_F32, 1, 1, n, n);
    status = attn_inspect(ctx, &args, &what, err);
done:
    for (int i = 0; i < 5; i++) lab_meter_give(meter, block[i]);
    return status;
}

/* The most bytes held at once, from the making of the context to its end. */
static attn_status peak_of(int64_t n, bool dense, double *peak, attn_error *err) {
    lab_meter meter = {0};
    attn_ctx_options options;
    attn_ctx_options_init(&options);
    options.threads = THREADS; /* fixed: scratch is per thread */
    options.alloc = lab_meter_alloc(&meter);
    attn_ctx *ctx;
    ATTN_TRY(attn_ctx_create(&options, &ctx, err));
    const attn_status status = run(ctx, &meter, n, dense, err);
    attn_ctx_destroy(ctx);
    *peak = (double)meter.peak;
    return status;
}

static attn_status measured_row(int64_t n, bool with_dense, double *row, attn_error *err) {
    row[N] = (double)n;
    ATTN_TRY(peak_of(n, false, &row[TILED], err));
    row[TILED_MIB] = row[TILED] / mib;
    if (!with_dense) return ATTN_OK;
    ATTN_TRY(peak_of(n, true, &row[DENSE_PEAK], err));
    row[DENSE_MIB] = row[DENSE_PEAK] / mib;
    return ATTN_OK;
}

static attn_status measure(const lab_settings *settings, lab_data *data, attn_error *err) {
    lab_table *model = lab_table_add(data, "model", SIZES, MODEL_COLUMNS, model_heading);
    lab_table *measured =
        lab_table_add(data, "measured", MEASURED, MEASURED_COLUMNS, measured_heading);
    lab_table *limit = lab_table_add(data, "limit", 1, 2, limit_heading);
    if (!model || !measured || !limit) {
        return attni_fail(err, ATTN_E_MEMORY, "F5: no memory for its tables");
    }
    for (size_t i = 0; i < SIZES; i++) {
        ATTN_TRY(model_row(settings->ctx, (int64_t)SMALLEST << i, lab_cell(model, i, 0), err));
    }
    for (size_t i = 0; i < MEASURED; i++) {
        ATTN_TRY(measured_row((int64_t)SMALLEST << i, i < DENSE, lab_cell(measured, i, 0), err));
        lab_progress(settings, i + 1, MEASURED);
    }
    /* share = n / (n + 4 d), so it is p at n = 4 d p / (1 - p) */
    limit->cell[0] = 0.98;
    limit->cell[1] = (double)(4 * D) * 98 / 2;
    return ATTN_OK;
}

static void draw(const lab_data *data, plot_canvas *canvas, plot_rect area) {
    const lab_table *model = lab_table_named(data, "model");
    const lab_table *measured = lab_table_named(data, "measured");
    const plot_series lines[] = {
        lab_series(model, "n", "f32_mib",
                   (plot_series){.name = "Q, K, V, A, O in f32", .color = PLOT_BLUE}),
        lab_series(
            model, "n", "f16_mib",
            (plot_series){.name = "the same in f16", .color = PLOT_GREEN, .dash = PLOT_DASHED}),
        lab_series(model, "n", "weights_f32_mib",
                   (plot_series){.name = "A alone, f32", .color = PLOT_RED, .dash = PLOT_DOTTED}),
        lab_series(measured, "n", "dense_mib",
                   (plot_series){.name = "measured, weights kept",
                                 .color = PLOT_BLACK,
                                 .mark = PLOT_SQUARE,
                                 .dash = PLOT_NO_LINE}),
        lab_series(
            measured, "n", "tiled_mib",
            (plot_series){.name = "measured, tiled", .color = PLOT_PURPLE, .mark = PLOT_DOT}),
    };
    const plot_chart left = {.title = "a  Memory of one head, d<sub>k</sub> = d<sub>v</sub> = 64",
                             .x = {.label = "n", .scale = PLOT_LOG2, .min = 32, .max = 16384},
                             .y = {.label = "MiB", .scale = PLOT_LOG2},
                             .series = lines,
                             .n_series = sizeof lines / sizeof *lines};
    plot_chart_draw(canvas, lab_panel(area, 1, 2, 0), &left);
    const plot_series share = lab_series(
        model, "n", "share_percent",
        (plot_series){.name = "n / (n + 256)", .color = PLOT_ORANGE, .mark = PLOT_DIAMOND});
    char here[48], needed[48];
    snprintf(here, sizeof here, "n = %g: %.2f %%", lab_number(model, CALLED_OUT, "n"),
             lab_number(model, CALLED_OUT, "share_percent"));
    snprintf(needed, sizeof needed, "98 %% needs n > %g", lab_table_named(data, "limit")->cell[1]);
    const plot_rule rules[] = {
        {.at = 50, .label = "50 % at n = 256"},
        {.at = 98, .label = needed},
        {.at = lab_number(model, CALLED_OUT, "n"), .vertical = true, .label = here}};
    const plot_chart right = {.title = "b  Share of the attention matrix A",
                              .x = {.label = "n", .scale = PLOT_LOG2, .min = 32, .max = 16384},
                              .y = {.label = "% of Q, K, V, A, O", .min = 0, .max = 115},
                              .series = &share,
                              .n_series = 1,
                              .rule = rules,
                              .n_rules = 3};
    plot_chart_draw(canvas, lab_panel(area, 1, 2, 1), &right);
}

static void judge(const lab_data *data, lab_finding *finding) {
    const lab_table *model = lab_table_named(data, "model");
    const lab_table *measured = lab_table_named(data, "measured");
    const double *limit = lab_table_named(data, "limit")->cell;
    const double n = lab_number(model, CALLED_OUT, "n");
    const double percent = lab_number(model, CALLED_OUT, "share_percent");
    const double tiled = lab_number(measured, CALLED_OUT, "tiled_mib");
    const double dense = lab_number(measured, CALLED_OUT, "dense_mib");
    finding->verdict = percent > 98 ? LAB_HOLDS : LAB_WRONG;
    snprintf(
        finding->headline, LAB_TEXT,
        "At n = %g the attention matrix takes %.2f %% of the activation memory (Q, K, V, A, O; "
        "d = %d), not the stated 98 %%; that share needs n > %g.",
        n, percent, D, limit[1]);
    snprintf(finding->text, LAB_TEXT,
             "Doubling n multiplies A by four and the rest by two. Squares in a: the memory that "
             "the library uses when it returns the weights, %.1f MiB at n = %g (formula: %.1f). "
             "Dots: tiled attention never builds A and uses %.2f MiB there, %.0f times less. At "
             "small n the scratch memory of the context is visible.",
             dense, n, lab_number(model, CALLED_OUT, "f32_mib"), tiled, dense / tiled);
}

const lab_experiment lab_f5 = {
    .id = "F5",
    .title = "Quadratic memory, O(n²)",
    .question =
        "Does the attention matrix take more than 98 % of the activation memory at n = 4096?",
    .method =
        "B = 1, one head, d_k = d_v = 64, n = 32 ... 16384. Formula: bytes of Q, K, V, O (4 n d) "
        "and A (n²). Measured: the most bytes held at once, f32, two threads: Q, K, V, O and all "
        "that the context allocates through its callbacks for attn_forward (tiled, to n = 8192); "
        "and in addition the n × n weights of attn_inspect (to n = 4096).",
    .command = "attn report --only F5 --data",
    .claims = "C-4",
    .panels = 2,
    .seconds = 3.5,
    .measure = measure,
    .draw = draw,
    .judge = judge,
};
