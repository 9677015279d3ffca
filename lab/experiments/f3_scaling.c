/* SPDX-License-Identifier: Apache-2.0 */
/* f3_scaling.c - figure 3 of document 000: weights of random queries and keys without scaling, with
 * it, and divided by d_k. Tests: tests/lab/test_figures.c */
#include "core/base.h"
#include "experiment.h"
#include "panels.h"
#include "series.h"
#include "steps/scaling.h"
#include "steps/stream.h"
#include "steps/weight_rows.h"

#include <stdlib.h>

enum { N = 8, SIZES = 4, LARGEST_D_K = 256 };
static const int64_t sizes[SIZES] = {4, 16, 64, 256};
static const char *const row_label[SIZES * N] = {
    "d_k=4 t0",   "d_k=4 t1",   "d_k=4 t2",   "d_k=4 t3",   "d_k=4 t4",   "d_k=4 t5",
    "d_k=4 t6",   "d_k=4 t7",   "d_k=16 t0",  "d_k=16 t1",  "d_k=16 t2",  "d_k=16 t3",
    "d_k=16 t4",  "d_k=16 t5",  "d_k=16 t6",  "d_k=16 t7",  "d_k=64 t0",  "d_k=64 t1",
    "d_k=64 t2",  "d_k=64 t3",  "d_k=64 t4",  "d_k=64 t5",  "d_k=64 t6",  "d_k=64 t7",
    "d_k=256 t0", "d_k=256 t1", "d_k=256 t2", "d_k=256 t3", "d_k=256 t4", "d_k=256 t5",
    "d_k=256 t6", "d_k=256 t7"};

/* Table `summary`: one row per way to scale and d_k. */
enum { D_K, ENTROPY, MAX, MIN, JACOBIAN_MEAN, JACOBIAN_MEDIAN, SCORE_SD, SUMMARY_COLUMNS };
static const char *const summary_heading[] = {"d_k",           "entropy",         "max",     "min",
                                              "jacobian_mean", "jacobian_median", "score_sd"};
static const char *const summary_label[LAB_SCALINGS * SIZES] = {
    "unscaled", "unscaled", "unscaled", "unscaled", "scaled", "scaled",
    "scaled",   "scaled",   "by_d_k",   "by_d_k",   "by_d_k", "by_d_k"};

static double *summary_of(const lab_data *data, lab_scaling scaling, size_t size) {
    return lab_cell(lab_table_named(data, "summary"), (size_t)scaling * SIZES + size, 0);
}

/* Fills weights (N, N) and a row of the summary. */
static attn_status measure_one(attn_ctx *ctx, const lab_head *head, double *weights, double *row,
                               attn_error *err) {
    double scores[N * N], entropy[N], largest[N], jacobian[N];
    attn_args args;
    lab_head_args(head, &args);
    attn_inspection what;
    attn_inspection_init(&what);
    what.raw = attn_tensor_bhsd(scores, ATTN_F64, 1, 1, N, N);
    what.weights = attn_tensor_bhsd(weights, ATTN_F64, 1, 1, N, N);
    ATTN_TRY(attn_inspect(ctx, &args, &what, err));
    lab_rows_measure(weights, N, entropy, largest, jacobian);
    row[D_K] = (double)head->d_k;
    row[ENTROPY] = lab_mean(entropy, N);
    row[MAX] = lab_mean(largest, N);
    row[MIN] = weights[0];
    for (int i = 1; i < N * N; i++) row[MIN] = fmin(row[MIN], weights[i]);
    row[JACOBIAN_MEAN] = lab_mean(jacobian, N);
    row[JACOBIAN_MEDIAN] = lab_median(jacobian, N);
    row[SCORE_SD] = lab_deviation(scores, (int64_t)N * N);
    return ATTN_OK;
}

/* All d_k of one way to scale; qk: room for the largest Q and K. */
static attn_status measure_scaling(const lab_settings *settings, lab_scaling scaling,
                                   lab_data *data, double *qk, attn_error *err) {
    lab_table *table = lab_table_add(data, lab_scaling_name[scaling], SIZES * N, N, lab_token_name);
    if (!table) return attni_fail(err, ATTN_E_MEMORY, "F3: no memory for its tables");
    table->label = row_label;
    for (size_t i = 0; i < SIZES; i++) {
        lab_stream stream;
        lab_stream_seed(&stream, settings->seed);
        lab_stream_normals(&stream, (size_t)(2 * N * sizes[i]), 1, qk);
        const lab_head head = {.n_q = N,
                               .n_k = N,
                               .d_k = sizes[i],
                               .q = qk,
                               .k = qk + N * sizes[i],
                               .scale = lab_scaling_factor(scaling, sizes[i])};
        ATTN_TRY(measure_one(settings->ctx, &head, lab_cell(table, i * N, 0),
                             summary_of(data, scaling, i), err));
    }
    return ATTN_OK;
}

static attn_status measure(const lab_settings *settings, lab_data *data, attn_error *err) {
    lab_table *summary =
        lab_table_add(data, "summary", LAB_SCALINGS * SIZES, SUMMARY_COLUMNS, summary_heading);
    double *qk = malloc(2 * N * LARGEST_D_K * sizeof *qk);
    attn_status status = ATTN_OK;
    if (!summary || !qk) {
        status = attni_fail(err, ATTN_E_MEMORY, "F3: no memory for its tables");
        goto done;
    }
    summary->label = summary_label;
    for (int s = 0; s < LAB_SCALINGS && status == ATTN_OK; s++) {
        status = measure_scaling(settings, (lab_scaling)s, data, qk, err);
    }
done:
    free(qk);
    return status;
}

/* ---- picture: a row of maps for each way to scale, under the names of their d_k ---- */

static const double margin = 92, header = 22, bar = 50, bare_bar = 41,
                    note_height = 12; /* points */

/* Where the map of a d_k stands in a row; the colour bar beside the last one is outside. In a tall
 * figure the name of the row stands over the maps, otherwise left of them. */
static plot_rect place(plot_rect row, size_t size, bool tall) {
    const plot_rect maps =
        plot_inset(row, tall ? 0 : margin, tall ? header : 0, tall ? bare_bar : bar, 0);
    return plot_grid(maps, 1, SIZES, size, tall ? 4 : 10);
}

static void draw_map(const lab_data *data, lab_scaling scaling, size_t size, plot_canvas *canvas,
                     plot_rect at) {
    static const char *const no_name[N] = {"", "", "", "", "", "", "", ""};
    static const plot_style style = {.size = 8, .align = PLOT_CENTER};
    const bool last = size + 1 == SIZES, is_small = at.width < 90;
    const double room = is_small ? bare_bar : bar;
    const double *summary = summary_of(data, scaling, size);
    char note[64];
    snprintf(note, sizeof note, is_small ? "%.2f; %.2f" : "entropy %.2f, max %.2f",
             summary[ENTROPY], summary[MAX]);
    const plot_heatmap map = {
        .rows = N,
        .columns = N,
        .cell = lab_cell(lab_table_named(data, lab_scaling_name[scaling]), size * N, 0),
        .row_name = no_name,
        .column_name = no_name,
        .max = 1,
        .bar_label = !last           ? NULL
                     : at.width < 90 ? ""
                                     : "weight"};
    plot_heatmap_draw(canvas, plot_inset(at, 0, 0, last ? -room : 0, 0), &map);
    /* in the room of the names that are not there */
    plot_text(canvas, plot_inset(at, 0, at.height - note_height, 0, 0), &style, note);
}

static void draw_header(const lab_data *data, plot_canvas *canvas, plot_rect row, bool tall) {
    const plot_style name = {.size = 11, .bold = true, .align = PLOT_CENTER};
    const plot_style hint = {.size = 8, .color = PLOT_FAINT};
    if (!tall) {
        plot_text(canvas, (plot_rect){row.x, row.y, margin - 8, row.height}, &hint,
                  "rows: queries\ncolumns: keys");
    }
    for (size_t i = 0; i < SIZES; i++) {
        char title[48];
        snprintf(title, sizeof title, "d<sub>k</sub> = %g",
                 summary_of(data, LAB_SCALE_NONE, i)[D_K]);
        plot_text(canvas, plot_inset(place(row, i, tall), 0, tall ? -header : 0, 0, 0), &name,
                  title);
    }
}

static void draw(const lab_data *data, plot_canvas *canvas, plot_rect area) {
    static const char *const name[2][LAB_SCALINGS] = {
        {"<b>a  Unscaled</b>\nsaturates\nat large d<sub>k</sub>",
         "<b>b  Scaled</b>\nby 1/√d<sub>k</sub>: stable",
         "<b>c  Divided</b>\nby d<sub>k</sub>: flattens"},
        {"<b>a  Unscaled</b>: saturates (below each map: mean entropy; mean largest weight)",
         "<b>b  Scaled by 1/√d<sub>k</sub></b>: stable",
         "<b>c  Divided by d<sub>k</sub></b>: flattens"}};
    static const plot_color color[LAB_SCALINGS] = {PLOT_RED, PLOT_BLUE, PLOT_GREEN};
    const bool tall = lab_is_tall(area);
    draw_header(data, canvas, plot_inset(area, 0, 0, 0, area.height - header), tall);
    for (size_t s = 0; s < LAB_SCALINGS; s++) {
        const plot_rect row = plot_grid(plot_inset(area, 0, header, 0, 0), LAB_SCALINGS, 1, s, 6);
        const plot_style style = {.size = 10, .color = color[s]};
        const plot_rect beside = plot_inset(row, 0, row.height * 0.3, row.width - margin + 8, 0);
        plot_text(canvas, tall ? row : beside, &style, name[tall][s]);
        for (size_t i = 0; i < SIZES; i++) {
            draw_map(data, (lab_scaling)s, i, canvas, place(row, i, tall));
        }
    }
}

static void judge(const lab_data *data, lab_finding *finding) {
    const double *first = summary_of(data, LAB_SCALE_NONE, 0),
                 *last = summary_of(data, LAB_SCALE_NONE, 3);
    const double *before = summary_of(data, LAB_SCALE_NONE, 2);
    const double *scaled = summary_of(data, LAB_SCALE_SQRT, 3),
                 *by_d_k = summary_of(data, LAB_SCALE_D_K, 3);
    double low = INFINITY, high = 0;
    for (size_t i = 0; i < SIZES; i++) {
        low = fmin(low, summary_of(data, LAB_SCALE_SQRT, i)[ENTROPY]);
        high = fmax(high, summary_of(data, LAB_SCALE_SQRT, i)[ENTROPY]);
    }
    finding->verdict =
        last[ENTROPY] < first[ENTROPY] / 2 && low > last[ENTROPY] ? LAB_HOLDS : LAB_WRONG;
    snprintf(finding->headline, LAB_TEXT,
             "Without scaling the weights saturate: at d_k = %g the mean entropy of a row is %.2f "
             "nats; with 1/√d_k it is %.2f (uniform rows: %.2f).",
             last[D_K], last[ENTROPY], scaled[ENTROPY], log(N));
    snprintf(
        finding->text, LAB_TEXT,
        "Unscaled scores grow with d<sub>k</sub>, and softmax picks a single key (a): the entropy "
        "is %.2f at d<sub>k</sub> = %g and %.2f at %g. Divided by √d<sub>k</sub>, it stays between "
        "%.2f and %.2f (b). Divided by d<sub>k</sub>, the rows become uniform (c; %.3f at %g). "
        "This "
        "is one draw: from %g to %g the unscaled entropy goes from %.3f to %.3f. F4 shows the mean "
        "of many draws.",
        first[ENTROPY], first[D_K], last[ENTROPY], last[D_K], low, high, by_d_k[ENTROPY],
        by_d_k[D_K], before[D_K], last[D_K], before[ENTROPY], last[ENTROPY]);
}

const lab_experiment lab_f3 = {
    .id = "F3",
    .title = "Effect of scaling by √d_k",
    .question = "What happens to the weights when the scores are not divided by √d_k?",
    .method =
        "n = 8; for each d_k in 4, 16, 64, 256 the stream starts again at the report's seed and "
        "gives Q, then K, standard normal. The same Q and K with scale 1 (unscaled), 1/√d_k "
        "(scaled) and 1/d_k. Colours from 0 to 1 in all maps; entropy and largest weight are "
        "means over the rows.",
    .command = "attn report --only F3 --data",
    .claims = "C-15",
    .panels = 2,
    .seconds = 0.01,
    .measure = measure,
    .draw = draw,
    .judge = judge,
};
