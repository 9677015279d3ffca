/* SPDX-License-Identifier: Apache-2.0 */
/* e6_positions.c - E6: do position encodings see distance or place? Matrices of scores between all
 * positions, made by the engine, and what stands along their diagonals. Touches its tables. Tests:
 * tests/lab/test_positions.c */
#define ATTNI_REAL_f64
#include "experiment.h"
#include "layers/position_kind.h"
#include "layers/sinusoidal.h"
#include "panels.h"
#include "range.h"
#include "series.h"
#include "steps/attend.h"
#include "steps/stream.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    N = 128,    /* positions of a matrix: every distance shown has at least 64 pairs */
    REACH = 64, /* largest distance shown */
    HALF = 63,  /* another place to begin */
    D = 64,     /* head size of RoPE */
    FAR = 1000, /* where the second RoPE matrix begins */
    HEADS = 8,
    SIZES = 3
};

static const int64_t sizes[SIZES] = {8, 32, 128}; /* of sinusoidal codes */

/* ---- measure ---- */

typedef struct workbench {
    attn_ctx *ctx;
    double *q, *k;     /* (N, up to 128) */
    double *scores[2]; /* (N, N) */
    attni_position_plan rope;
    double *memory;
} workbench;

static attn_status desk_take(attn_ctx *ctx, workbench *desk, attn_error *err) {
    const size_t rows = (size_t)N * 128, square = (size_t)N * N;
    attni_position_plan rope = {.shape = {.length = FAR + N, .H = 1, .d_k = D}};
    ATTN_TRY(attni_positions_named("rope", &rope.how, err));
    rope.how.interleaved = true;
    const size_t constants = attni_position_constants_f64(&rope.how, &rope.shape);
    double *next = malloc((2 * rows + 2 * square + constants) * sizeof *next);
    if (next == NULL) return attni_fail(err, ATTN_E_MEMORY, "E6: no memory for scores");
    desk->ctx = ctx;
    desk->memory = next;
    desk->q = next;
    desk->k = desk->q + rows;
    desk->scores[0] = desk->k + rows;
    desk->scores[1] = desk->scores[0] + square;
    rope.constants = desk->scores[1] + square;
    desk->rope = rope;
    return attni_position_prepare_f64(&desk->rope, err);
}

/* scores (N, N) = q k^T of q, k (N, d) */
static attn_status dot_products(const workbench *desk, int64_t d, const double *q, const double *k,
                                double *scores, attn_error *err) {
    const lab_head head = {.n_q = N, .n_k = N, .d_k = d, .q = q, .k = k, .scale = 1};
    attn_args args;
    lab_head_args(&head, &args);
    attn_inspection what;
    attn_inspection_init(&what);
    what.raw = attn_tensor_bhsd(scores, ATTN_F64, 1, 1, N, N);
    return attn_inspect(desk->ctx, &args, &what, err);
}

/* What stands along one diagonal of a matrix of scores. */
typedef struct diagonal {
    double middle, low, high;
} diagonal;

/* scores (N, N): the cells with i - j = distance. */
static diagonal along(const double *scores, int64_t distance) {
    diagonal found = {0, INFINITY, -INFINITY};
    for (int64_t i = 0; i < N; i++) {
        const int64_t j = i - distance;
        if (j < 0 || j >= N) continue;
        const double score = scores[i * N + j];
        found.low = fmin(found.low, score);
        found.high = fmax(found.high, score);
    }
    found.middle = found.low + (found.high - found.low) / 2;
    return found;
}

/* Of each size: the dot product at an offset from position 0; the same, and that from position
 * HALF, divided by the dot product of a code with itself; how far apart those of one offset are. */
static const char *const sinusoidal_columns[] = {
    "offset",       "d=8 dot",       "d=8 from 0",   "d=8 from 63", "d=8 spread",
    "d=32 dot",     "d=32 from 0",   "d=32 from 63", "d=32 spread", "d=128 dot",
    "d=128 from 0", "d=128 from 63", "d=128 spread"};
enum { OFFSET, DOT, FROM_0, FROM_HALF, SPREAD, PER_SIZE = 4, SIN_COLUMNS = 1 + SIZES * PER_SIZE };

static void put_offset(const double *scores, size_t offset, double *cells) {
    const diagonal found = along(scores, (int64_t)offset), square = along(scores, 0);
    cells[DOT] = scores[offset * N];
    cells[FROM_0] = scores[offset * N] / square.middle;
    cells[FROM_HALF] = scores[(HALF + offset) * N + HALF] / square.middle;
    cells[SPREAD] = found.high - found.low;
}

static attn_status measure_sinusoidal(const workbench *desk, lab_table *table, attn_error *err) {
    for (size_t c = 0; c < SIZES; c++) {
        attni_sinusoidal_table_f64(N, sizes[c], 10000, true, desk->q);
        ATTN_TRY(dot_products(desk, sizes[c], desk->q, desk->q, desk->scores[0], err));
        for (size_t offset = 0; offset <= REACH; offset++) {
            *lab_cell(table, offset, OFFSET) = (double)offset;
            put_offset(desk->scores[0], offset, lab_cell(table, offset, c * PER_SIZE));
        }
    }
    return ATTN_OK;
}

/* x (N, D): the same vector at positions first .. first + N - 1, turned by each. */
static attn_status turn(const workbench *desk, const double *vector, int64_t first, double *x,
                        attn_error *err) {
    const attni_position_kind *rope = attni_position_kind_f64(desk->rope.how.kind);
    const attn_tensor tensor = attn_tensor_bhsd(x, ATTN_F64, 1, 1, N, D);
    for (size_t i = 0; i < N; i++) memcpy(x + i * D, vector, D * sizeof *x);
    return rope->turn(&desk->rope, first, &tensor, err);
}

static const char *const rope_columns[] = {"distance",     "drawn at 0", "drawn at 1000",
                                           "drawn spread", "same at 0",  "same at 1000",
                                           "same spread"};

/* Scores of q and k at every two positions of both places, into columns at .. at + 2. */
static attn_status measure_pair(const workbench *desk, const double *q, const double *k,
                                lab_table *table, size_t at, attn_error *err) {
    for (int place = 0; place < 2; place++) {
        ATTN_TRY(turn(desk, q, place * FAR, desk->q, err));
        ATTN_TRY(turn(desk, k, place * FAR, desk->k, err));
        ATTN_TRY(dot_products(desk, D, desk->q, desk->k, desk->scores[place], err));
    }
    for (size_t row = 0; row <= 2 * REACH; row++) {
        const int64_t distance = (int64_t)row - REACH;
        const diagonal near = along(desk->scores[0], distance);
        const diagonal far = along(desk->scores[1], distance);
        *lab_cell(table, row, 0) = (double)distance;
        *lab_cell(table, row, at) = near.middle;
        *lab_cell(table, row, at + 1) = far.middle;
        *lab_cell(table, row, at + 2) = fmax(near.high, far.high) - fmin(near.low, far.low);
    }
    return ATTN_OK;
}

static attn_status measure_rope(const workbench *desk, uint32_t seed, lab_table *table,
                                attn_error *err) {
    double q[D], k[D];
    lab_stream stream;
    lab_stream_seed(&stream, seed);
    lab_stream_normals(&stream, D, 1, q);
    lab_stream_normals(&stream, D, 1, k);
    ATTN_TRY(measure_pair(desk, q, k, table, 1, err));
    return measure_pair(desk, q, q, table, 4, err);
}

static const char *const alibi_columns[] = {"distance", "head 1", "head 2", "head 3", "head 4",
                                            "head 5",   "head 6", "head 7", "head 8"};

/* Equal content (all scores 0): what ALiBi adds, and the weights it leaves, for the query at the
 * end of REACH + 1 positions. */
static attn_status measure_alibi(const workbench *desk, lab_table *bias, lab_table *weights,
                                 attn_error *err) {
    enum { KEYS = REACH + 1 };
    static const double zeros[HEADS * KEYS] = {0};
    double slopes[HEADS], biased[HEADS * KEYS], weight[HEADS * KEYS];
    attn_args args;
    attn_inspection what;
    attn_args_init(&args);
    attn_inspection_init(&what);
    ATTN_TRY(attn_alibi_slopes(HEADS, slopes, err));
    args.q = attn_tensor_bhsd((void *)zeros, ATTN_F64, 1, HEADS, 1, 1);
    args.k = args.v = attn_tensor_bhsd((void *)zeros, ATTN_F64, 1, HEADS, KEYS, 1);
    args.causal = true;
    args.alibi = slopes;
    what.biased = attn_tensor_bhsd(biased, ATTN_F64, 1, HEADS, 1, KEYS);
    what.weights = attn_tensor_bhsd(weight, ATTN_F64, 1, HEADS, 1, KEYS);
    ATTN_TRY(attn_inspect(desk->ctx, &args, &what, err));
    for (size_t distance = 0; distance < KEYS; distance++) {
        *lab_cell(bias, distance, 0) = *lab_cell(weights, distance, 0) = (double)distance;
        for (size_t h = 0; h < HEADS; h++) {
            const size_t cell = h * KEYS + REACH - distance;
            *lab_cell(bias, distance, 1 + h) = biased[cell];
            *lab_cell(weights, distance, 1 + h) = weight[cell];
        }
    }
    return ATTN_OK;
}

static attn_status measure(const lab_settings *settings, lab_data *data, attn_error *err) {
    lab_table *sinusoidal =
        lab_table_add(data, "sinusoidal", REACH + 1, SIN_COLUMNS, sinusoidal_columns);
    lab_table *rope = lab_table_add(data, "rope", 2 * REACH + 1, 7, rope_columns);
    lab_table *bias = lab_table_add(data, "alibi_bias", REACH + 1, 1 + HEADS, alibi_columns);
    lab_table *weights = lab_table_add(data, "alibi_weights", REACH + 1, 1 + HEADS, alibi_columns);
    if (!sinusoidal || !rope || !bias || !weights)
        return attni_fail(err, ATTN_E_MEMORY, "E6: no memory for tables");
    workbench desk = {0};
    attn_status status = desk_take(settings->ctx, &desk, err);
    if (status == ATTN_OK) status = measure_sinusoidal(&desk, sinusoidal, err);
    if (status == ATTN_OK) status = measure_rope(&desk, settings->seed, rope, err);
    if (status == ATTN_OK) status = measure_alibi(&desk, bias, weights, err);
    free(desk.memory);
    return status;
}

/* ---- draw ---- */

/* One row in EACH, as marks without a line: another place, to lie on the line of the first. */
static plot_series marks_of(plot_series line, plot_mark mark, const char *name) {
    enum { EACH = 8 };
    line.name = name;
    line.mark = mark;
    line.dash = PLOT_NO_LINE;
    line.n = (line.n - 1) / EACH + 1;
    line.stride *= EACH;
    return line;
}

static void draw_sinusoidal(const lab_data *data, plot_canvas *canvas, plot_rect area) {
    static const plot_series look[SIZES] = {
        {.name = "d = 8", .color = PLOT_ORANGE, .dash = PLOT_DOTTED},
        {.name = "d = 32", .color = PLOT_GREEN, .dash = PLOT_DASHED},
        {.name = "d = 128, from position 0", .color = PLOT_BLUE}};
    static const plot_mark mark[SIZES] = {PLOT_DIAMOND, PLOT_TRIANGLE, PLOT_DOT};
    const lab_table *table = lab_table_named(data, "sinusoidal");
    plot_series series[2 * SIZES];
    for (size_t c = 0; c < SIZES; c++) {
        const char *const *column = sinusoidal_columns + c * PER_SIZE;
        const plot_series half = lab_series(table, "offset", column[FROM_HALF], look[c]);
        series[c] = lab_series(table, "offset", column[FROM_0], look[c]);
        series[SIZES + c] = marks_of(half, mark[c], c + 1 == SIZES ? "from position 63" : NULL);
    }
    const plot_chart chart = {
        .title = "a  Sinusoidal codes: only the offset matters",
        .x = {.label = "offset between two positions", .min = 0, .max = REACH},
        .y = {.label = "dot product / (d/2)", .min = 0, .max = 1},
        .series = series,
        .n_series = 2 * SIZES};
    plot_chart_draw(canvas, area, &chart);
}

static void draw_rope(const lab_data *data, plot_canvas *canvas, plot_rect area) {
    const lab_table *table = lab_table_named(data, "rope");
    const plot_series drawn = {.name = "q, k drawn, from 0", .color = PLOT_BLUE};
    const plot_series same = {.name = "k = q, from 0", .color = PLOT_RED, .dash = PLOT_DASHED};
    const plot_series series[] = {
        lab_series(table, "distance", "drawn at 0", drawn),
        marks_of(lab_series(table, "distance", "drawn at 1000", drawn), PLOT_DOT, "from 1000"),
        lab_series(table, "distance", "same at 0", same),
        marks_of(lab_series(table, "distance", "same at 1000", same), PLOT_SQUARE, "from 1000")};
    const plot_chart chart = {
        .title = "b  RoPE: one pair, every distance, two places",
        .x = {.label = "distance, query minus key", .min = -REACH, .max = REACH},
        .y = {.label = "score q·k"},
        .series = series,
        .n_series = 4};
    plot_chart_draw(canvas, area, &chart);
}

static void draw_alibi(const lab_table *table, plot_canvas *canvas, plot_rect area,
                       const plot_chart *frame) {
    static const plot_color colors[HEADS] = {PLOT_BLUE,   PLOT_RED, PLOT_GREEN, PLOT_ORANGE,
                                             PLOT_PURPLE, PLOT_SKY, PLOT_BLACK, PLOT_FAINT};
    plot_series series[HEADS];
    for (size_t h = 0; h < HEADS; h++) {
        const char *head = alibi_columns[1 + h];
        const plot_series look = {
            .name = head, .named_at_end = true, .color = colors[h], .dash = (plot_dash)(h % 3)};
        series[h] = lab_series(table, "distance", head, look);
    }
    plot_chart chart = *frame;
    chart.series = series;
    chart.n_series = HEADS;
    plot_chart_draw(canvas, area, &chart);
}

static void draw(const lab_data *data, plot_canvas *canvas, plot_rect area) {
    const plot_chart bias = {.title = "c  ALiBi: what it adds to a score",
                             .x = {.label = "distance to the key", .min = 0, .max = REACH},
                             .y = {.label = "bias", .min = -8, .max = 0}};
    const plot_chart weights = {
        .title = "d  ALiBi: weights when all contents are equal",
        .x = {.label = "distance to the key", .min = 0, .max = REACH},
        .y = {.label = "weight", .scale = PLOT_LOG10, .min = 1e-4, .max = 1}};
    draw_sinusoidal(data, canvas, lab_panel(area, 2, 2, 0));
    draw_rope(data, canvas, lab_panel(area, 2, 2, 1));
    draw_alibi(lab_table_named(data, "alibi_bias"), canvas, lab_panel(area, 2, 2, 2), &bias);
    draw_alibi(lab_table_named(data, "alibi_weights"), canvas, lab_panel(area, 2, 2, 3), &weights);
}

/* ---- judge ---- */

static void judge(const lab_data *data, lab_finding *finding) {
    const lab_table *sinusoidal = lab_table_named(data, "sinusoidal");
    const lab_table *rope = lab_table_named(data, "rope");
    const lab_table *weights = lab_table_named(data, "alibi_weights");
    const double codes = lab_range_of(sinusoidal, SPREAD).high;
    const double pair = fmax(lab_range_of(rope, 3).high, lab_range_of(rope, 6).high);
    const double square = *lab_cell(sinusoidal, 0, DOT);
    /* rounding: angles of up to FAR + N radians, D products */
    const bool holds = codes < 1e-13 && pair < 1e-10 && fabs(square - 4) < 1e-13;
    finding->verdict = holds ? LAB_HOLDS : LAB_WRONG;
    snprintf(finding->headline, LAB_TEXT,
             "Sinusoidal codes and RoPE encode distance, not absolute position: at equal offsets "
             "the dot products of codes (d = 8) agree to %.1e, and the RoPE scores of one pair at "
             "positions 0 to %d and %d to %d agree to %.1e.",
             codes, N - 1, FAR, FAR + N - 1, pair);
    snprintf(
        finding->text, LAB_TEXT,
        "The marks, measured elsewhere, lie on the lines: absolute position does not matter (a, "
        "b). A code times itself is d/2 (%.15g for d = 8). RoPE with k = q falls from %.1f to %.1f "
        "over %d positions on either side; for a random pair, distances +8 and -8 differ (%.1f and "
        "%.1f), so RoPE also encodes order. ALiBi gives the key 8 positions back %.2f %% of the "
        "weight in head 1, %.2f %% in head 4 and %.2f %% in head 8 (d), with nothing to learn.",
        square, *lab_cell(rope, REACH, 4), *lab_cell(rope, 2 * REACH, 4), REACH,
        *lab_cell(rope, REACH + 8, 1), *lab_cell(rope, REACH - 8, 1),
        100 * *lab_cell(weights, 8, 1), 100 * *lab_cell(weights, 8, 4),
        100 * *lab_cell(weights, 8, HEADS));
}

const lab_experiment lab_e6 = {
    .id = "E6",
    .title = "Positions: sinusoidal codes, RoPE, ALiBi",
    .question =
        "Do position encodings tell attention the distance between tokens, or where they are?",
    .method =
        "Scores between 128 positions, by the engine in double precision; a distance is a "
        "diagonal. Sinusoidal: dot products of codes of size 8, 32 and 128. RoPE: base 10000, "
        "head size 64, one q and one k from the random stream, and k = q; from position 0 "
        "and from position 1000. ALiBi: 8 heads, equal contents, a query with 64 keys behind "
        "it.",
    .command = "attn report --only E6 --data",
    .claims = "C-43",
    .panels = 4,
    .seconds = 0.05,
    .measure = measure,
    .draw = draw,
    .judge = judge,
};
