/* SPDX-License-Identifier: Apache-2.0 */
/* f7_gradients.c - figure 7 of document 000: gradients of the layer, by parameter, by position and
 * against d_k, and claims C-6a, C-6b. Tests: tests/lab/test_figures.c */
#include "core/base.h"
#include "experiment.h"
#include "panels.h"
#include "progress.h"
#include "range.h"
#include "series.h"
#include "steps/scaling.h"
#include "steps/weight_rows.h"
#include "support/layer.h"

enum { B = 4, N = 8, D_MODEL = 32, D_K = 16, SIZES = 6, SMALLEST = 4 };
enum { POSITION_DRAWS = 400, SIZE_DRAWS = 100 };

/* Table `parameters`: norms of one draw. */
enum { FREE, CAUSAL, MODES };
static const char *const mode_heading[] = {"noncausal", "causal"};
static const char *const part_markup[LAB_LAYER_PARTS] = {
    "W<sub>Q</sub>", "W<sub>K</sub>", "W<sub>V</sub>",
    "W<sub>O</sub>", "b<sub>Q</sub>", "b<sub>K</sub> (exactly 0)",
    "b<sub>V</sub>", "b<sub>O</sub>", "X"};
static const char *const part_name[LAB_LAYER_PARTS] = {"W_Q", "W_K", "W_V", "W_O", "b_Q",
                                                       "b_K", "b_V", "b_O", "X"};

/* Table `positions`: norms of the gradient of x at each position; of one draw, the mean, and the
 * mean less and plus one standard deviation of a draw. */
enum {
    POSITION,
    ONE_FREE,
    ONE_CAUSAL,
    MEAN_FREE,
    MEAN_CAUSAL,
    LOW_FREE,
    LOW_CAUSAL,
    HIGH_FREE,
    HIGH_CAUSAL,
    POSITION_COLUMNS
};
static const char *const position_heading[] = {"position",       "noncausal",      "causal",
                                               "mean_noncausal", "mean_causal",    "low_noncausal",
                                               "low_causal",     "high_noncausal", "high_causal"};
/* Table `draws`: of how many draws the means are; in how many causal ones position 0 has the
 * largest norm, and in how many each norm is below the one before. */
enum { DRAWS, FIRST_LARGEST, FALLING, DRAWS_PER_SIZE, DRAWS_COLUMNS };
static const char *const draws_heading[] = {"draws", "first_largest", "falling", "draws_per_d_k"};

/* Tables `unscaled` and `scaled`: norms, scores and weights of one draw by d_k, and two means with
 * one standard deviation of a draw to either side. */
enum {
    SIZE,
    OF_X,
    OF_W_Q,
    OF_W_K,
    OF_W_V,
    OF_W_O,
    SCORE_SD,
    MAX,
    MEAN_X,
    MEAN_W_Q,
    LOW_X,
    LOW_W_Q,
    HIGH_X,
    HIGH_W_Q,
    SIZE_COLUMNS
};
static const char *const size_heading[] = {"d_k",   "X",        "W_Q",    "W_K",     "W_V",
                                           "W_O",   "score_sd", "max",    "mean_X",  "mean_W_Q",
                                           "low_X", "low_W_Q",  "high_X", "high_W_Q"};

static attn_status forward_backward(attn_ctx *ctx, lab_layer *layer, attn_error *err) {
    ATTN_TRY(lab_layer_forward(ctx, layer, err));
    return lab_layer_backward(ctx, layer, err);
}

/* ---- one size, with and without the mask ---- */

typedef struct mask_tables {
    lab_table *parameters, *positions, *draws;
    lab_spread (*spread)[MODES]; /* (N, MODES) of the norms at each position */
} mask_tables;

static bool strictly_falling(const double *x) {
    for (int i = 1; i < N; i++) {
        if (x[i] >= x[i - 1]) return false;
    }
    return true;
}

/* Norms of the layer as it has just run; the first draw is the one shown. */
static void add_norms(const lab_layer *layer, bool shown, const mask_tables *to) {
    const size_t mode = layer->causal ? CAUSAL : FREE;
    double norm[N];
    lab_layer_position_norms(layer, norm);
    for (size_t i = 0; i < N; i++) {
        if (shown) *lab_cell(to->positions, i, ONE_FREE + mode) = norm[i];
        *lab_cell(to->positions, i, MEAN_FREE + mode) += norm[i] / (double)POSITION_DRAWS;
        lab_spread_add(&to->spread[i][mode], norm[i]);
    }
    for (size_t part = 0; shown && part < LAB_LAYER_PARTS; part++) {
        *lab_cell(to->parameters, part, mode) = lab_layer_norm(layer, (lab_layer_part)part);
    }
    if (mode != CAUSAL) return;
    to->draws->cell[DRAWS]++;
    to->draws->cell[FIRST_LARGEST] += norm[0] == lab_largest(norm, N);
    to->draws->cell[FALLING] += strictly_falling(norm);
}

static void put_bands(const mask_tables *to) {
    for (size_t i = 0; i < N; i++) {
        for (size_t mode = 0; mode < MODES; mode++) {
            const lab_range band = lab_spread_band(&to->spread[i][mode]);
            *lab_cell(to->positions, i, LOW_FREE + mode) = band.low;
            *lab_cell(to->positions, i, HIGH_FREE + mode) = band.high;
        }
    }
}

static attn_status measure_mask(const lab_settings *settings, const mask_tables *to,
                                attn_error *err) {
    lab_layer layer = {.B = B, .n = N, .d_model = D_MODEL, .d_k = D_K};
    attn_status status = lab_layer_create(&layer, err);
    for (uint32_t draw = 0; draw < POSITION_DRAWS && status == ATTN_OK; draw++) {
        lab_layer_draw(&layer, settings->seed + draw);
        for (int mode = 0; mode < MODES && status == ATTN_OK; mode++) {
            layer.causal = mode == CAUSAL;
            status = forward_backward(settings->ctx, &layer, err);
            if (status == ATTN_OK) add_norms(&layer, draw == 0, to);
        }
    }
    put_bands(to);
    lab_layer_free(&layer);
    return status;
}

/* ---- many sizes, with and without scaling ---- */

/* The part of a row that belongs to the draw that is shown. */
static attn_status put_shown(attn_ctx *ctx, const lab_layer *layer, double *row, attn_error *err) {
    static const lab_layer_part part[] = {LAB_LAYER_X, LAB_LAYER_W_Q, LAB_LAYER_W_K, LAB_LAYER_W_V,
                                          LAB_LAYER_W_O};
    double map[B * N * N], largest[B * N];
    ATTN_TRY(lab_layer_inspect(ctx, layer, map, NULL, err));
    row[SCORE_SD] = lab_deviation(map, (int64_t)B * N * N);
    ATTN_TRY(lab_layer_inspect(ctx, layer, NULL, map, err));
    for (int i = 0; i < B * N; i++) largest[i] = lab_largest(map + i * N, N);
    row[SIZE] = (double)layer->d_k;
    for (int i = 0; i < 5; i++) row[OF_X + i] = lab_layer_norm(layer, part[i]);
    row[MAX] = lab_mean(largest, (int64_t)B * N);
    row[MEAN_X] = row[MEAN_W_Q] = 0;
    return ATTN_OK;
}

/* spread (2): of X and W_Q. */
static attn_status add_draw(attn_ctx *ctx, lab_layer *layer, bool shown, double *row,
                            lab_spread *spread, attn_error *err) {
    static const lab_layer_part part[] = {LAB_LAYER_X, LAB_LAYER_W_Q};
    ATTN_TRY(forward_backward(ctx, layer, err));
    if (shown) ATTN_TRY(put_shown(ctx, layer, row, err));
    for (int i = 0; i < 2; i++) {
        const double norm = lab_layer_norm(layer, part[i]);
        row[MEAN_X + i] += norm / (double)SIZE_DRAWS;
        lab_spread_add(&spread[i], norm);
    }
    return ATTN_OK;
}

/* row (2): of `unscaled` and of `scaled`, for one d_k. */
static attn_status measure_size(const lab_settings *settings, int64_t d_k, double *const row[2],
                                attn_error *err) {
    lab_layer layer = {.B = B, .n = N, .d_model = D_MODEL, .d_k = d_k};
    lab_spread spread[2][2] = {{{0}}}; /* unscaled, scaled; X, W_Q */
    attn_status status = lab_layer_create(&layer, err);
    for (uint32_t draw = 0; draw < SIZE_DRAWS && status == ATTN_OK; draw++) {
        lab_layer_draw(&layer, settings->seed + draw);
        for (int s = LAB_SCALE_NONE; s <= LAB_SCALE_SQRT && status == ATTN_OK; s++) {
            layer.scale = lab_scaling_factor((lab_scaling)s, d_k);
            status = add_draw(settings->ctx, &layer, draw == 0, row[s], spread[s], err);
        }
    }
    for (int i = 0; i < 4; i++) {
        const lab_range band = lab_spread_band(&spread[i / 2][i % 2]);
        row[i / 2][LOW_X + i % 2] = band.low;
        row[i / 2][HIGH_X + i % 2] = band.high;
    }
    lab_layer_free(&layer);
    return status;
}

static attn_status measure(const lab_settings *settings, lab_data *data, attn_error *err) {
    lab_table *sizes[2] = {lab_table_add(data, "unscaled", SIZES, SIZE_COLUMNS, size_heading),
                           lab_table_add(data, "scaled", SIZES, SIZE_COLUMNS, size_heading)};
    lab_spread spread[N][MODES] = {{{0}}};
    const mask_tables mask = {
        .parameters = lab_table_add(data, "parameters", LAB_LAYER_PARTS, MODES, mode_heading),
        .positions = lab_table_add(data, "positions", N, POSITION_COLUMNS, position_heading),
        .draws = lab_table_add(data, "draws", 1, DRAWS_COLUMNS, draws_heading),
        .spread = spread};
    if (!sizes[0] || !sizes[1] || !mask.parameters || !mask.positions || !mask.draws) {
        return attni_fail(err, ATTN_E_MEMORY, "F7: no memory for its tables");
    }
    mask.parameters->label = part_name;
    for (size_t i = 0; i < N; i++) {
        double *row = lab_cell(mask.positions, i, 0);
        row[POSITION] = (double)i;
        row[MEAN_FREE] = row[MEAN_CAUSAL] = 0;
    }
    for (int column = 0; column < DRAWS_COLUMNS; column++) mask.draws->cell[column] = 0;
    mask.draws->cell[DRAWS_PER_SIZE] = SIZE_DRAWS;
    ATTN_TRY(measure_mask(settings, &mask, err));
    for (size_t i = 0; i < SIZES; i++) {
        lab_progress(settings, i + 1, SIZES + 1);
        double *const row[2] = {lab_cell(sizes[0], i, 0), lab_cell(sizes[1], i, 0)};
        ATTN_TRY(measure_size(settings, (int64_t)SMALLEST << i, row, err));
    }
    return ATTN_OK;
}

/* ---- picture ---- */

static void draw_parameters(const lab_data *data, plot_canvas *canvas, plot_rect area) {
    const plot_bar_series series = lab_bar_series(lab_table_named(data, "parameters"), "noncausal",
                                                  (plot_bar_series){.color = PLOT_BLUE});
    const plot_bars bars = {.title = "a  Gradient by parameter (no mask)",
                            .group = part_markup,
                            .n_groups = LAB_LAYER_PARTS,
                            .value = {.label = "L2 norm"},
                            .series = &series,
                            .n_series = 1,
                            .horizontal = true,
                            .number = "%.1f"};
    plot_bars_draw(canvas, area, &bars);
}

static void draw_free_positions(const lab_data *data, plot_canvas *canvas, plot_rect area) {
    const plot_bar_series series = lab_bar_series(lab_table_named(data, "positions"), "noncausal",
                                                  (plot_bar_series){.color = PLOT_BLUE});
    const plot_bars bars = {.title = "b  Input gradient by position (no mask)",
                            .group_label = "position",
                            .group = lab_token_name,
                            .n_groups = N,
                            .value = {.label = "norm, mean of 4 sequences"},
                            .series = &series,
                            .n_series = 1,
                            .number = "%.1f"};
    plot_bars_draw(canvas, area, &bars);
}

static void draw_both_positions(const lab_data *data, plot_canvas *canvas, plot_rect area) {
    const lab_table *positions = lab_table_named(data, "positions");
    const plot_bar_series series[] = {
        lab_bar_series(positions, "noncausal",
                       (plot_bar_series){.name = "no mask", .color = PLOT_BLUE}),
        lab_bar_series(positions, "causal",
                       (plot_bar_series){.name = "causal", .color = PLOT_RED})};
    plot_series lines[] = {
        lab_series(
            positions, "position", "mean_noncausal",
            (plot_series){
                .name = "mean, no mask", .color = PLOT_INK, .mark = PLOT_DOT, .dash = PLOT_DASHED}),
        lab_series(positions, "position", "mean_causal",
                   (plot_series){.name = "mean, causal", .color = PLOT_INK, .mark = PLOT_SQUARE})};
    for (size_t mode = 0; mode < MODES; mode++) {
        lines[mode].low = lab_cell(positions, 0, LOW_FREE + mode);
        lines[mode].high = lab_cell(positions, 0, HIGH_FREE + mode);
    }
    char title[80];
    snprintf(title, sizeof title, "c  Bars: one draw; lines: mean of %g draws ± 1 sd",
             lab_table_named(data, "draws")->cell[DRAWS]);
    const plot_bars bars = {.title = title,
                            .group_label = "position",
                            .group = lab_token_name,
                            .n_groups = N,
                            .value = {.label = "norm, mean of 4 sequences"},
                            .series = series,
                            .n_series = 2,
                            .lines = lines,
                            .n_lines = 2};
    plot_bars_draw(canvas, area, &bars);
}

/* For each norm a line, the mean, and marks, the draw that is shown. */
static void draw_sizes(const lab_data *data, plot_canvas *canvas, plot_rect area) {
    static const char *const column[2][2] = {{"X", "mean_X"}, {"W_Q", "mean_W_Q"}};
    static const char *const name[2][2] = {{"X, unscaled", "W<sub>Q</sub>, unscaled"},
                                           {"X, scaled", "W<sub>Q</sub>, scaled"}};
    static const plot_color color[2] = {PLOT_RED, PLOT_BLUE};
    plot_series series[8];
    size_t n = 0;
    for (int s = LAB_SCALE_NONE; s <= LAB_SCALE_SQRT; s++) {
        const lab_table *table = lab_table_named(data, lab_scaling_name[s]);
        for (int part = 0; part < 2; part++) {
            plot_series look = {.color = color[s], .mark = part == 0 ? PLOT_DOT : PLOT_SQUARE};
            look.dash = PLOT_NO_LINE;
            series[n++] = lab_series(table, "d_k", column[part][0], look);
            look.name = name[s][part];
            look.mark = PLOT_NO_MARK;
            look.dash = part == 0 ? PLOT_SOLID : PLOT_DASHED;
            look.named_at_end = true;
            look.low = lab_cell(table, 0, LOW_X + (size_t)part);
            look.high = lab_cell(table, 0, HIGH_X + (size_t)part);
            series[n++] = lab_series(table, "d_k", column[part][1], look);
        }
    }
    char title[120];
    snprintf(title, sizeof title,
             "d  Against d<sub>k</sub>: lines mean of %g draws ± 1 sd, marks one draw",
             lab_table_named(data, "draws")->cell[DRAWS_PER_SIZE]);
    const plot_chart chart = {
        .title = title,
        .x = {.label = "d<sub>k</sub>", .scale = PLOT_LOG2, .min = 4, .max = 128},
        .y = {.label = "L2 norm", .scale = PLOT_LOG10},
        .series = series,
        .n_series = n};
    plot_chart_draw(canvas, area, &chart);
}

static void draw(const lab_data *data, plot_canvas *canvas, plot_rect area) {
    draw_parameters(data, canvas, lab_panel(area, 2, 2, 0));
    draw_free_positions(data, canvas, lab_panel(area, 2, 2, 1));
    draw_both_positions(data, canvas, lab_panel(area, 2, 2, 2));
    draw_sizes(data, canvas, lab_panel(area, 2, 2, 3));
}

/* ---- verdict ---- */

/* Largest over smallest of a column. */
static double spread(const lab_table *table, const char *column) {
    double low = INFINITY, high = 0;
    for (size_t i = 0; i < table->rows; i++) {
        low = fmin(low, lab_number(table, i, column));
        high = fmax(high, lab_number(table, i, column));
    }
    return high / low;
}

static bool falls_with_position(const lab_table *positions) {
    double mean[N];
    for (size_t i = 0; i < N; i++) mean[i] = *lab_cell(positions, i, MEAN_CAUSAL);
    return strictly_falling(mean);
}

static void judge(const lab_data *data, lab_finding *finding) {
    const lab_table *positions = lab_table_named(data, "positions");
    const lab_table *scaled = lab_table_named(data, "scaled");
    const double *draws = lab_table_named(data, "draws")->cell;
    finding->verdict =
        falls_with_position(positions) && spread(scaled, "mean_X") < 2 ? LAB_HOLDS_IF : LAB_WRONG;
    snprintf(finding->condition, LAB_TEXT,
             "if many draws are averaged; a single draw need not fall from position to position");
    snprintf(
        finding->headline, LAB_TEXT,
        "With scaling, the norm of the input gradient varies by a factor of %.2f from d_k = 4 to "
        "128; with a causal mask it falls from %.1f at the first position to %.1f at the last, on "
        "average over %g draws.",
        spread(scaled, "mean_X"), *lab_cell(positions, 0, MEAN_CAUSAL),
        *lab_cell(positions, N - 1, MEAN_CAUSAL), draws[DRAWS]);
    snprintf(finding->text, LAB_TEXT,
             "The gradient of b_K is 0, because b_K shifts all scores of a row alike (double "
             "precision leaves %.0e, which is rounding). With a causal mask, %.0f %% of the draws "
             "fall from position to position, and in %.1f %% position 0 has the largest norm (c). "
             "Unscaled norms are larger, not smaller: W_Q has %.0f at d<sub>k</sub> = 128, scaled "
             "%.0f (d). The scores of this layer shrink as d<sub>k</sub> grows (sd %.2f to %.2f), "
             "so d is not a controlled sweep.",
             *lab_cell(lab_table_named(data, "parameters"), LAB_LAYER_B_K, FREE),
             100 * draws[FALLING] / draws[DRAWS], 100 * draws[FIRST_LARGEST] / draws[DRAWS],
             lab_number(lab_table_named(data, "unscaled"), SIZES - 1, "mean_W_Q"),
             lab_number(scaled, SIZES - 1, "mean_W_Q"), lab_number(scaled, 0, "score_sd"),
             lab_number(scaled, SIZES - 1, "score_sd"));
}

const lab_experiment lab_f7 = {
    .id = "F7",
    .title = "Gradient flow",
    .question = "Are the gradients of the layer well-behaved, and do early positions get more "
                "under a causal mask?",
    .method = "The layer of F1 with B = 4 sequences, L = sum of Y (upstream gradient 1). Panels a, "
              "b and the bars of c: the report's seed. Norms by position are means over the batch. "
              "Lines: mean and standard deviation of 400 draws (seed, seed + 1, ...) in c and of "
              "100 draws for each d_k = d_v in d.",
    .command = "attn report --only F7 --data",
    .claims = "C-6a,C-6b,C-6d",
    .panels = 4,
    .seconds = 0.4,
    .measure = measure,
    .draw = draw,
    .judge = judge,
};
