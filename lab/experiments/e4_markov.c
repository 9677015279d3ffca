/* SPDX-License-Identifier: Apache-2.0 */
/* e4_markov.c - weights as a Markov chain (C-39): what is left of the start after k hops, with and
 * without a causal mask, and in attention rollout. Tests: tests/lab/test_beyond_structure.c */
#define ATTNI_REAL_f64
#include "core/base.h"
#include "experiment.h"
#include "models/rollout.h"
#include "panels.h"
#include "progress.h"
#include "series.h"
#include "steps/attend.h"
#include "steps/stream.h"
#include "support/markov.h"
#include "support/spectrum.h"

#include <math.h>

enum { N = 8, CELLS = N * N, D_K = 16, HOPS = 20, SHOWN = 6 };

static const int shown[SHOWN] = {1, 2, 3, 5, 10, 20};

#define ROWS_OF(power)                                                                             \
    power " t0", power " t1", power " t2", power " t3", power " t4", power " t5", power " t6",     \
        power " t7"
static const char *const row_name[SHOWN * N] = {ROWS_OF("k=1"), ROWS_OF("k=2"),  ROWS_OF("k=3"),
                                                ROWS_OF("k=5"), ROWS_OF("k=10"), ROWS_OF("k=20")};
static const char *const token[N] = {"t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7"};

/* Three walks, and what is followed of each. */
enum { POWERS, CAUSAL, ROLLOUT, WALKS };
static const char *const walk_name[WALKS] = {"powers", "causal", "rollout"};
static const char *const hop_heading[] = {
    "k", "powers_spread", /* largest difference between two rows of A^k */
    "causal_rest",        /* largest part of a row of A^k that is not on token 0 */
    "rollout_spread",     /* as powers, of k layers */
};
static const char *const summary_heading[] = {"second_eigenvalue", "row_sum_error"};

/* The random weights of one layer. */
static attn_status draw_weights(attn_ctx *ctx, lab_stream *stream, bool causal, double *weights,
                                attn_error *err) {
    double q[N * D_K], k[N * D_K];
    lab_stream_normals(stream, N * D_K, 1, q);
    lab_stream_normals(stream, N * D_K, 1, k);
    const lab_head head = {.n_q = N, .n_k = N, .d_k = D_K, .q = q, .k = k, .causal = causal};
    return lab_head_weights(ctx, &head, weights, err);
}

static double largest_rest(const double *a) {
    double rest = 0;
    for (size_t i = 0; i < N; i++) rest = fmax(rest, 1 - a[i * N]);
    return rest;
}

/* Notes step k of a walk: its matrix if that is shown, its distance from the end, its row sums. */
static void note_step(lab_data *data, size_t walk, int k, const double *a) {
    lab_table *matrices = &data->table[walk], *hops = &data->table[WALKS],
              *summary = &data->table[WALKS + 1];
    for (size_t s = 0; s < SHOWN; s++) {
        if (shown[s] == k) memcpy(lab_cell(matrices, s * N, 0), a, CELLS * sizeof *a);
    }
    *lab_cell(hops, (size_t)k - 1, 0) = k;
    *lab_cell(hops, (size_t)k - 1, 1 + walk) =
        walk == CAUSAL ? largest_rest(a) : lab_row_spread(N, a);
    double *error = lab_cell(summary, walk, 1);
    *error = fmax(*error, lab_row_sum_error(N, a)); /* the cell begins as NaN */
}

/* A, A^2, ... of one layer. */
static attn_status walk_powers(const lab_settings *settings, lab_data *data, size_t walk,
                               attn_error *err) {
    double a[CELLS], power[CELLS], next[CELLS];
    lab_stream stream;
    lab_stream_seed(&stream, settings->seed);
    ATTN_TRY(draw_weights(settings->ctx, &stream, walk == CAUSAL, a, err));
    memcpy(power, a, sizeof a);
    for (int k = 1; k <= HOPS; k++) {
        note_step(data, walk, k, power);
        lab_matrix_product(N, power, a, next);
        memcpy(power, next, sizeof next);
    }
    return lab_second_eigenvalue(N, a, lab_cell(&data->table[WALKS + 1], walk, 0), err);
}

/* Layers with weights of their own and a residual each. */
static attn_status walk_rollout(const lab_settings *settings, lab_data *data, attn_error *err) {
    double a[CELLS], so_far[CELLS], next[CELLS];
    lab_stream stream;
    lab_stream_seed(&stream, settings->seed);
    for (int k = 1; k <= HOPS; k++) {
        ATTN_TRY(draw_weights(settings->ctx, &stream, false, a, err));
        ATTN_TRY(attni_rollout_layer_f64(settings->ctx, N, a, k > 1 ? so_far : NULL, next, err));
        memcpy(so_far, next, sizeof next);
        note_step(data, ROLLOUT, k, so_far);
    }
    return ATTN_OK;
}

static attn_status measure(const lab_settings *settings, lab_data *data, attn_error *err) {
    bool complete = true;
    for (size_t walk = 0; walk < WALKS; walk++) {
        lab_table *table = lab_table_add(data, walk_name[walk], SHOWN * N, N, token);
        complete = complete && table;
        if (table) table->label = row_name;
    }
    complete = complete && lab_table_add(data, "hops", HOPS, 1 + WALKS, hop_heading);
    lab_table *summary = lab_table_add(data, "summary", WALKS, 2, summary_heading);
    if (!complete || !summary)
        return attni_fail(err, ATTN_E_MEMORY, "markov: no memory for tables");
    summary->label = walk_name;
    ATTN_TRY(walk_powers(settings, data, POWERS, err));
    ATTN_TRY(walk_powers(settings, data, CAUSAL, err));
    lab_progress(settings, 2, WALKS);
    return walk_rollout(settings, data, err);
}

/* One walk: a row of small heatmaps. */
static void draw_walk(const lab_data *data, size_t walk, plot_canvas *canvas, plot_rect area) {
    static const char *const title[WALKS][SHOWN] = {
        {"A", "A²", "A³", "A⁵", "A¹⁰", "A²⁰"},
        {"A", "A²", "A³", "A⁵", "A¹⁰", "A²⁰"},
        {"1 layer", "2 layers", "3 layers", "5 layers", "10 layers", "20 layers"}};
    static const plot_color color[WALKS] = {PLOT_BLUE, PLOT_RED, PLOT_GREEN};
    const lab_table *matrices = lab_table_named(data, walk_name[walk]);
    static const char *const unnamed[N] = {"", "", "", "", "", "", "", ""};
    unsigned char future[CELLS]; /* keys after the query: walks never get there */
    for (size_t i = 0; i < CELLS; i++) future[i] = i % N > i / N;
    const double bar = 41; /* the colour bar of the row stands beside its last map */
    for (size_t s = 0; s < SHOWN; s++) {
        const bool last = s + 1 == SHOWN;
        const plot_rect cell = plot_grid(plot_inset(area, 0, 0, bar, 0), 1, SHOWN, s, 6);
        plot_heatmap_draw(canvas, plot_inset(cell, 0, 0, last ? -bar : 0, 0),
                          &(plot_heatmap){.title = title[walk][s],
                                          .title_color = color[walk],
                                          .rows = N,
                                          .columns = N,
                                          .cell = lab_cell(matrices, s * N, 0),
                                          .hidden = walk == CAUSAL ? future : NULL,
                                          .row_name = unnamed,
                                          .column_name = unnamed,
                                          .map = PLOT_CIVIDIS,
                                          .max = walk == CAUSAL ? 1 : 0.25,
                                          .bar_label = last ? "" : NULL});
    }
}

static void draw_hops(const lab_data *data, plot_canvas *canvas, plot_rect area) {
    static const char *const name[WALKS] = {"Aᵏ", "causal Aᵏ", "rollout"};
    static const plot_color color[WALKS] = {PLOT_BLUE, PLOT_RED, PLOT_GREEN};
    static const plot_mark mark[WALKS] = {PLOT_DOT, PLOT_SQUARE, PLOT_TRIANGLE};
    const lab_table *hops = lab_table_named(data, "hops");
    plot_series series[WALKS];
    for (size_t walk = 0; walk < WALKS; walk++) {
        series[walk] =
            lab_series(hops, "k", hop_heading[1 + walk],
                       (plot_series){.name = name[walk], .color = color[walk], .mark = mark[walk]});
    }
    plot_chart_draw(canvas, area,
                    &(plot_chart){.title = "d  How much rows still differ",
                                  .x = {.label = "k, hops or layers", .max = HOPS},
                                  .y = {.label = "difference of rows (causal: weight not on t0)",
                                        .scale = PLOT_LOG10},
                                  .series = series,
                                  .n_series = WALKS});
}

static void draw(const lab_data *data, plot_canvas *canvas, plot_rect area) {
    static const char *const label[WALKS] = {"a  One layer, no mask (rows: queries, columns: keys)",
                                             "b  One layer with a causal mask (hatched: masked)",
                                             "c  Rollout: ½A + ½I, with another A in every layer"};
    const bool tall = lab_is_tall(area);
    const double maps = tall ? 0.47 * area.height : 0.66 * area.width, line = 14;
    const plot_rect left =
        plot_inset(area, 0, 0, tall ? 0 : area.width - maps, tall ? area.height - maps : 0);
    const plot_style style = {.size = 9, .bold = true};
    for (size_t walk = 0; walk < WALKS; walk++) {
        plot_rect row = plot_grid(left, WALKS, 1, walk, 8);
        plot_text(canvas, (plot_rect){row.x, row.y, row.width, line}, &style, label[walk]);
        draw_walk(data, walk, canvas, plot_inset(row, 0, line, 0, 0));
    }
    draw_hops(data, canvas, plot_inset(area, tall ? 0 : maps + 16, tall ? maps + 16 : 0, 0, 0));
}

static void judge(const lab_data *data, lab_finding *finding) {
    const lab_table *hops = lab_table_named(data, "hops"),
                    *summary = lab_table_named(data, "summary");
    const double *first = lab_cell(hops, 0, 1), *last = lab_cell(hops, HOPS - 1, 1);
    double error = 0;
    for (size_t walk = 0; walk < WALKS; walk++) error = fmax(error, *lab_cell(summary, walk, 1));
    finding->verdict = LAB_HOLDS;
    snprintf(
        finding->headline, LAB_TEXT,
        "Attention weights form a Markov chain that forgets its start: the rows of A differ by "
        "%.2f, those of A²⁰ by %.0e; with a causal mask, at least %.1f %% of every row is then on "
        "the first token.",
        first[POWERS], last[POWERS], floor(1000 * (1 - last[CAUSAL])) / 10); /* not rounded up */
    snprintf(
        finding->text, LAB_TEXT,
        "Every power is again a matrix of weights (rows sum to 1 within %.0e). Each hop "
        "multiplies the difference of rows by %.3f, the second eigenvalue of A, so the columns "
        "become uniform stripes (a): after a few hops the starting token no longer matters. "
        "With a causal mask, walks only go back and end at t0 (b; %.3f per hop). A residual in "
        "every layer slows this down (c): after 20 layers of rollout rows still differ by "
        "%.0e. This is one draw.",
        error, *lab_cell(summary, POWERS, 0), *lab_cell(summary, CAUSAL, 0), last[ROLLOUT]);
}

const lab_experiment lab_e4 = {
    .id = "E4",
    .title = "Attention as a Markov chain",
    .question =
        "Where does the weight go after several hops, and does a token keep its own content?",
    .method =
        "Q, K (8, 16) from N(0, 1), in this order, seed as given; A = softmax(QKᵀ/√d<sub>k</sub>), "
        "with and without a causal mask; powers of A. Rollout: 20 layers, the first that "
        "of A, each with a draw of its own; products of ½A + ½I. Difference of rows: over "
        "the columns, the largest of (largest - smallest entry).",
    .command = "attn report --only E4 --data",
    .claims = "C-39",
    .panels = 3,
    .seconds = 0.1,
    .measure = measure,
    .draw = draw,
    .judge = judge,
};
