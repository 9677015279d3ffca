/* SPDX-License-Identifier: Apache-2.0 */
/* e5_rank.c - "each head has rank d_k": of which matrix is that true (C-41)?
 * Tests: tests/lab/test_beyond_structure.c */
#include "core/base.h"
#include "experiment.h"
#include "panels.h"
#include "progress.h"
#include "series.h"
#include "steps/attend.h"
#include "steps/stream.h"
#include "support/spectrum.h"

#include <math.h>
#include <stdlib.h>

enum { N = 256, D_K = 64 };

/* The matrices, and the columns of each. */
enum { SCORES, WEIGHTS, UNSCALED, MATRICES };
static const char *const matrix_name[MATRICES] = {"scores", "weights", "weights_unscaled"};
static const char *const spectrum_heading[] = {
    "i",
    "scores",         /* singular values, as parts of the largest */
    "weights",        /* */
    "unscaled",       /* */
    "scores_energy",  /* % of the sum of squares in the first i */
    "weights_energy", /* */
    "unscaled_energy" /* */
};
static const char *const rank_heading[] = {"rank", "largest", "smallest", "for_90", "for_99"};

/* Fills column and row of a matrix in the two tables; values (N, N). */
static attn_status add_matrix(lab_data *data, size_t which, const double *values, attn_error *err) {
    double sigma[N], energy = 0;
    ATTN_TRY(lab_singular_values(N, N, values, sigma, err));
    lab_table *spectrum = &data->table[0], *rank = &data->table[1];
    const double all = lab_norm(sigma, N) * lab_norm(sigma, N);
    for (size_t i = 0; i < N; i++) {
        energy += sigma[i] * sigma[i];
        *lab_cell(spectrum, i, 0) = (double)(i + 1);
        *lab_cell(spectrum, i, 1 + which) = sigma[i] / sigma[0];
        *lab_cell(spectrum, i, 1 + MATRICES + which) = 100 * energy / all;
    }
    const double row[] = {(double)lab_rank(sigma, N), sigma[0], sigma[N - 1],
                          (double)lab_energy_count(sigma, N, 0.9),
                          (double)lab_energy_count(sigma, N, 0.99)};
    for (size_t c = 0; c < rank->columns; c++) *lab_cell(rank, which, c) = row[c];
    return ATTN_OK;
}

/* values (N, N): scores, weights or weights without scaling. */
static attn_status compute(attn_ctx *ctx, lab_head *head, size_t which, double *values,
                           attn_error *err) {
    head->scale = which == UNSCALED ? 1 : 0;
    if (which != SCORES) return lab_head_weights(ctx, head, values, err);
    attn_args args;
    lab_head_args(head, &args);
    attn_inspection what;
    attn_inspection_init(&what);
    what.raw = attn_tensor_bhsd(values, ATTN_F64, 1, 1, N, N);
    return attn_inspect(ctx, &args, &what, err);
}

static attn_status measure(const lab_settings *settings, lab_data *data, attn_error *err) {
    attn_status status = ATTN_E_MEMORY;
    double *q = malloc(2 * sizeof(double) * N * D_K), *values = malloc(sizeof(double) * N * N);
    lab_table *spectrum = lab_table_add(data, "spectrum", N, 1 + 2 * MATRICES, spectrum_heading),
              *rank = lab_table_add(data, "rank", MATRICES, 5, rank_heading);
    if (!q || !values || !spectrum || !rank) {
        attni_fail(err, status, "rank: no memory for %d x %d", N, N);
        goto done;
    }
    rank->label = matrix_name;
    lab_stream stream;
    lab_stream_seed(&stream, settings->seed);
    lab_stream_normals(&stream, (size_t)2 * N * D_K, 1, q);
    lab_head head = {.n_q = N, .n_k = N, .d_k = D_K, .q = q, .k = q + N * D_K};
    for (size_t which = 0; which < MATRICES; which++) {
        status = compute(settings->ctx, &head, which, values, err);
        if (status == ATTN_OK) status = add_matrix(data, which, values, err);
        if (status != ATTN_OK) goto done;
        lab_progress(settings, which + 1, MATRICES);
    }
done:
    free(q);
    free(values);
    return status;
}

/* Columns first .. first + 2 of the spectrum, as lines. */
static void make_series(const lab_table *spectrum, size_t first, plot_series series[MATRICES]) {
    static const char *const name[] = {"scores QKᵀ/√d<sub>k</sub>", "weights A",
                                       "weights, unscaled"};
    static const plot_color color[] = {PLOT_ORANGE, PLOT_BLUE, PLOT_RED};
    static const plot_dash dash[] = {PLOT_SOLID, PLOT_SOLID, PLOT_DASHED};
    for (size_t i = 0; i < MATRICES; i++) {
        series[i] = lab_series(spectrum, "i", spectrum_heading[first + i],
                               (plot_series){.name = name[i], .color = color[i], .dash = dash[i]});
    }
}

static void draw(const lab_data *data, plot_canvas *canvas, plot_rect area) {
    const lab_table *spectrum = lab_table_named(data, "spectrum");
    plot_series values[MATRICES], energy[MATRICES];
    make_series(spectrum, 1, values);
    make_series(spectrum, 1 + MATRICES, energy);
    const plot_rule rank = {.at = D_K, .vertical = true, .label = "d<sub>k</sub> = 64"};
    const plot_rule share[] = {{.at = 90, .label = "90 %"}, {.at = 99, .label = "99 %"}};
    const plot_axis index = {.label = "index of the singular value, largest first", .max = N};
    plot_chart_draw(
        canvas, lab_panel(area, 1, 2, 0),
        &(plot_chart){
            .title = "a  Singular values",
            .x = index,
            .y = {.label = "relative to the largest", .scale = PLOT_LOG10, .min = 1e-7, .max = 1},
            .series = values,
            .n_series = MATRICES,
            .rule = &rank,
            .n_rules = 1});
    plot_chart_draw(canvas, lab_panel(area, 1, 2, 1),
                    &(plot_chart){.title = "b  Energy in the first singular values",
                                  .x = {.label = "number of singular values", .max = N},
                                  .y = {.label = "% of the sum of squares", .max = 100},
                                  .series = energy,
                                  .n_series = MATRICES,
                                  .rule = share,
                                  .n_rules = 2});
}

static void judge(const lab_data *data, lab_finding *finding) {
    const lab_table *rank = lab_table_named(data, "rank");
    const double *scores = lab_cell(rank, SCORES, 0), *weights = lab_cell(rank, WEIGHTS, 0),
                 *unscaled = lab_cell(rank, UNSCALED, 0);
    finding->verdict = LAB_HOLDS_IF;
    snprintf(finding->condition, LAB_TEXT,
             "if the scores before softmax are meant, not the weights after it");
    snprintf(finding->headline, LAB_TEXT,
             "A head has rank d_k = %d before softmax (rank of QKᵀ: %.0f) but not after it: the "
             "weights have rank %.0f of %d.",
             D_K, scores[0], weights[0], N);
    snprintf(
        finding->text, LAB_TEXT,
        "The spectrum of the scores ends at d<sub>k</sub> = %d; the rest is rounding (a). Softmax "
        "fills every direction: the smallest singular value of the weights is %.1e of the largest, "
        "small but not 0. %.0f singular values hold 90 %% of their energy and %.0f hold 99 %% (b; "
        "scores: %.0f and %.0f; unscaled weights: %.0f and %.0f), so a low rank can only "
        "approximate A. This is one draw.",
        D_K, weights[2] / weights[1], weights[3], weights[4], scores[3], scores[4], unscaled[3],
        unscaled[4]);
}

const lab_experiment lab_e5 = {
    .id = "E5",
    .title = "The rank of scores and of weights",
    .question = "Is a head of attention a matrix of rank d_k?",
    .method = "Q, K (256, 64) from N(0, 1), in this order, seed as given. Singular values of "
              "QKᵀ/√d<sub>k</sub>, of A = softmax(QKᵀ/√d<sub>k</sub>) and of softmax(QKᵀ) in f64 "
              "by one-sided Jacobi "
              "rotations; rank: those above 256 · 2⁻⁵² of the largest.",
    .command = "attn report --only E5 --data",
    .claims = "C-41",
    .panels = 2,
    .seconds = 0.6,
    .measure = measure,
    .draw = draw,
    .judge = judge,
};
