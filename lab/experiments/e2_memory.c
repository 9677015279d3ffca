/* SPDX-License-Identifier: Apache-2.0 */
/* e2_memory.c - bytes held at the peak, counted: tiled against dense, forward and backward; and
 * what decoding reads, the keys and values of the cache, which grouped queries make smaller.
 * Tests: tests/lab/test_beyond_structure.c */
#include "core/base.h"
#include "experiment.h"
#include "panels.h"
#include "progress.h"
#include "series.h"
#include "steps/stream.h"
#include "support/dense.h"
#include "support/meter.h"

#include <math.h>
#include <stdlib.h>

enum { SIZES = 8, FIRST_N = 128, D = 64 };
enum { LARGEST_RUN = 2048 }; /* beyond it bytes are added up, as only time would grow */
enum { H = 32, HEAD_SIZE = 128, CACHE_SIZES = 8, CACHE_FIRST_N = 1024 };

typedef enum pass { FORWARD_TILED, FORWARD_DENSE, BACKWARD_TILED, BACKWARD_DENSE, PASSES } pass;
static const char *const peak_heading[] = {
    "n",
    "forward_tiled_mib",
    "forward_dense_mib",
    "backward_tiled_mib",
    "backward_dense_mib",
    "inputs_mib", /* Q, K, V and O alone */
};
enum { INPUTS = 1 + PASSES, PEAK_COLUMNS };
static const char *const cache_heading[] = {
    "n",           "h_kv_32_mib",
    "h_kv_8_mib",  "h_kv_1_mib", /* bytes of K and V that a step reads */
    "scratch_mib", /* what a step of decoding takes beside them, with 8 key/value heads */
};
enum { GROUPINGS = 3 };
static const int64_t kv_heads[GROUPINGS] = {H, H / 4, 1};

static double mib(double bytes) { return bytes / (1024 * 1024); }

/* ---- one pass, counted ---- */

/* What a pass holds: (n, D) f32 each; then weights and d scores (n, n) f32, lse (n) f64. */
enum { Q, K, V, OUT, DOUT, DQ, DK, DV, WEIGHTS, DSCORES, LSE, BUFFERS };

typedef struct holder {
    pass which;
    int64_t n;
    lab_meter meter;
    void *buffer[BUFFERS]; /* NULL: the pass does not need it */
    attn_ctx *ctx;
} holder;

static size_t buffer_bytes(pass which, int buffer, int64_t n) {
    const bool backward = which >= BACKWARD_TILED;
    const size_t rows = (size_t)n * D * sizeof(float), square = (size_t)(n * n) * sizeof(float);
    switch (buffer) {
    case WEIGHTS: return which == FORWARD_DENSE || which == BACKWARD_DENSE ? square : 0;
    case DSCORES: return which == BACKWARD_DENSE ? square : 0;
    case LSE: return which == BACKWARD_TILED ? (size_t)n * sizeof(double) : 0;
    default: return buffer <= OUT || backward ? rows : 0;
    }
}

static size_t all_buffers(pass which, int64_t n) {
    size_t sum = 0;
    for (int buffer = 0; buffer < BUFFERS; buffer++) sum += buffer_bytes(which, buffer, n);
    return sum;
}

static attn_status take_buffers(holder *h, uint32_t seed, attn_error *err) {
    lab_stream stream;
    lab_stream_seed(&stream, seed);
    for (int buffer = 0; buffer < BUFFERS; buffer++) {
        const size_t bytes = buffer_bytes(h->which, buffer, h->n);
        if (bytes == 0) continue;
        float *x = h->buffer[buffer] = lab_meter_take(&h->meter, bytes);
        if (x == NULL) return attni_fail(err, ATTN_E_MEMORY, "memory: no %zu bytes", bytes);
        if (buffer >= WEIGHTS || buffer == OUT || h->n > LARGEST_RUN) continue; /* not read */
        for (int64_t i = 0; i < h->n * D; i++) x[i] = (float)lab_stream_normal(&stream);
    }
    return ATTN_OK;
}

/* A context of one thread that has seen nothing yet. */
static attn_status new_context(holder *h, attn_error *err) {
    attn_ctx_options options;
    attn_ctx_options_init(&options);
    options.alloc = lab_meter_alloc(&h->meter);
    attn_ctx_destroy(h->ctx);
    return attn_ctx_create(&options, &h->ctx, err);
}

static attn_tensor matrix(const holder *h, int buffer) {
    return attn_tensor_bhsd(h->buffer[buffer], ATTN_F32, 1, 1, h->n, D);
}

/* Runs a tiled pass; one that would take too long only says how much scratch it needs. */
static attn_status pass_tiled(holder *h, attn_error *err) {
    attn_args args;
    attn_args_init(&args);
    args.q = matrix(h, Q);
    args.k = matrix(h, K);
    args.v = matrix(h, V);
    attn_results results = {
        .struct_size = sizeof(attn_results), .out = matrix(h, OUT), .dout = matrix(h, DOUT)};
    attn_gradients gradients;
    attn_gradients_init(&gradients);
    gradients.dq = matrix(h, DQ);
    gradients.dk = matrix(h, DK);
    gradients.dv = matrix(h, DV);
    const bool backward = h->which == BACKWARD_TILED, runs = h->n <= LARGEST_RUN;
    if (backward) results.lse = attn_tensor_bhsd(h->buffer[LSE], ATTN_F64, 1, 1, h->n, 1);
    size_t scratch = 0;
    if (runs) {
        ATTN_TRY(attn_forward(h->ctx, &args, &results.out, backward ? &results.lse : NULL, err));
        if (!backward) return ATTN_OK;
        ATTN_TRY(new_context(h, err));
        return attn_backward(h->ctx, &args, &results, &gradients, err);
    }
    if (backward) {
        ATTN_TRY(attn_backward_workspace(h->ctx, &args, &gradients, &scratch, err));
    } else {
        ATTN_TRY(attn_forward_workspace(h->ctx, &args, &scratch, err));
    }
    h->meter.peak += scratch;
    return ATTN_OK;
}

static attn_status pass_dense(holder *h, attn_error *err) {
    const lab_dense dense = {.n = h->n,
                             .d = D,
                             .q = h->buffer[Q],
                             .k = h->buffer[K],
                             .v = h->buffer[V],
                             .weights = h->buffer[WEIGHTS],
                             .out = h->buffer[OUT]};
    ATTN_TRY(lab_dense_forward(h->ctx, &dense, err));
    if (h->which == FORWARD_DENSE) return ATTN_OK;
    const lab_dense_gradients gradients = {.dout = h->buffer[DOUT],
                                           .dscores = h->buffer[DSCORES],
                                           .dq = h->buffer[DQ],
                                           .dk = h->buffer[DK],
                                           .dv = h->buffer[DV]};
    return lab_dense_backward(h->ctx, &dense, &gradients, err);
}

/* Bytes held at the peak of a pass. */
static attn_status count_pass(pass which, int64_t n, uint32_t seed, double *peak, attn_error *err) {
    holder h = {.which = which, .n = n};
    attn_status status = take_buffers(&h, seed, err);
    if (status == ATTN_OK) status = new_context(&h, err);
    if (status == ATTN_OK) {
        status = h.buffer[WEIGHTS] ? pass_dense(&h, err) : pass_tiled(&h, err);
    }
    *peak = (double)h.meter.peak;
    attn_ctx_destroy(h.ctx);
    for (int buffer = 0; buffer < BUFFERS; buffer++) lab_meter_give(&h.meter, h.buffer[buffer]);
    return status;
}

/* ---- tables ---- */

static attn_status count_size(const lab_settings *settings, lab_table *peak, size_t row,
                              attn_error *err) {
    const int64_t n = FIRST_N << row;
    double *cell = lab_cell(peak, row, 0);
    cell[0] = (double)n;
    cell[INPUTS] = mib((double)all_buffers(FORWARD_TILED, n));
    for (pass which = FORWARD_TILED; which < PASSES; which++) {
        const bool dense = buffer_bytes(which, WEIGHTS, n) > 0;
        if (dense && n > LARGEST_RUN) {
            /* as for the size before, with larger buffers */
            const double before = cell[1 + (int)which - PEAK_COLUMNS];
            cell[1 + which] = before + mib((double)all_buffers(which, n)) -
                              mib((double)all_buffers(which, n / 2));
            continue;
        }
        double bytes;
        ATTN_TRY(count_pass(which, n, settings->seed, &bytes, err));
        cell[1 + which] = mib(bytes);
    }
    return ATTN_OK;
}

/* A step of decoding: one query of every head reads all keys and values of the cache, f16. */
static attn_status count_cache(attn_ctx *ctx, lab_table *cache, size_t row, attn_error *err) {
    const int64_t n = (int64_t)CACHE_FIRST_N << row;
    double *cell = lab_cell(cache, row, 0);
    cell[0] = (double)n;
    for (size_t g = 0; g < GROUPINGS; g++) {
        attn_args args;
        attn_args_init(&args);
        args.q = attn_tensor_bhsd(NULL, ATTN_F16, 1, H, 1, HEAD_SIZE);
        args.k = attn_tensor_bhsd(NULL, ATTN_F16, 1, kv_heads[g], n, HEAD_SIZE);
        args.v = args.k;
        attn_cost_info cost = {.struct_size = sizeof cost};
        ATTN_TRY(attn_cost(ctx, &args, &cost, err));
        const size_t query_and_out = 2 * H * HEAD_SIZE * attn_dtype_size(ATTN_F16);
        cell[1 + g] = mib(cost.bytes_io - (double)query_and_out);
        if (kv_heads[g] == H / 4) cell[1 + GROUPINGS] = mib(cost.bytes_scratch);
    }
    return ATTN_OK;
}

static attn_status measure(const lab_settings *settings, lab_data *data, attn_error *err) {
    lab_table *peak = lab_table_add(data, "peak", SIZES, PEAK_COLUMNS, peak_heading),
              *cache = lab_table_add(data, "cache", CACHE_SIZES, 2 + GROUPINGS, cache_heading);
    if (!peak || !cache) return attni_fail(err, ATTN_E_MEMORY, "memory: no memory for tables");
    attn_ctx *one;
    ATTN_TRY(attn_ctx_create(NULL, &one, err)); /* scratch of one thread, as in the other table */
    attn_status status = ATTN_OK;
    for (size_t row = 0; row < CACHE_SIZES && status == ATTN_OK; row++) {
        status = count_cache(one, cache, row, err);
    }
    for (size_t row = 0; row < SIZES && status == ATTN_OK; row++) {
        status = count_size(settings, peak, row, err);
        lab_progress(settings, row + 1, SIZES);
    }
    attn_ctx_destroy(one);
    return status;
}

/* ---- figure ---- */

static void draw_peak(const lab_table *peak, plot_canvas *canvas, plot_rect area) {
    static const char *const name[] = {"forward, tiled", "forward, dense", "backward, tiled",
                                       "backward, dense"};
    const plot_rule computed = {
        .at = LARGEST_RUN, .vertical = true, .label = "measured up to here, computed beyond"};
    plot_series series[PASSES + 1];
    for (size_t which = 0; which < PASSES; which++) {
        const bool dense = which % 2 == 1, backward = which >= BACKWARD_TILED;
        series[which] = lab_series(peak, "n", peak_heading[1 + which],
                                   (plot_series){.name = name[which],
                                                 .color = dense ? PLOT_RED : PLOT_BLUE,
                                                 .mark = dense ? PLOT_SQUARE : PLOT_DOT,
                                                 .dash = backward ? PLOT_DASHED : PLOT_SOLID});
    }
    series[PASSES] = lab_series(
        peak, "n", "inputs_mib",
        (plot_series){.name = "Q, K, V, O alone", .color = PLOT_BLACK, .dash = PLOT_DOTTED});
    plot_chart_draw(canvas, area,
                    &(plot_chart){.title = "a  Peak memory, one head, d = 64, f32",
                                  .x = {.label = "sequence length n", .scale = PLOT_LOG2},
                                  .y = {.label = "peak memory, MiB", .scale = PLOT_LOG2},
                                  .series = series,
                                  .n_series = PASSES + 1,
                                  .rule = &computed,
                                  .n_rules = 1});
}

static void draw_cache(const lab_table *cache, plot_canvas *canvas, plot_rect area) {
    static const char *const name[] = {"32 key/value heads", "8 (grouped queries)",
                                       "1 (multi-query)", "scratch of the step"};
    static const plot_color color[] = {PLOT_RED, PLOT_ORANGE, PLOT_GREEN, PLOT_BLACK};
    static const plot_mark mark[] = {PLOT_SQUARE, PLOT_TRIANGLE, PLOT_DIAMOND, PLOT_NO_MARK};
    plot_series series[1 + GROUPINGS];
    for (size_t i = 0; i <= GROUPINGS; i++) {
        series[i] = lab_series(cache, "n", cache_heading[1 + i],
                               (plot_series){.name = name[i],
                                             .color = color[i],
                                             .mark = mark[i],
                                             .dash = i == GROUPINGS ? PLOT_DOTTED : PLOT_SOLID});
    }
    plot_chart_draw(
        canvas, area,
        &(plot_chart){.title = "b  Decoding: K and V of a layer, 32 heads, d = 128, f16",
                      .x = {.label = "tokens in the cache n", .scale = PLOT_LOG2},
                      .y = {.label = "read for the next token, MiB",
                            .scale = PLOT_LOG2,
                            .min = 0.125,
                            .max = 4096},
                      .series = series,
                      .n_series = 1 + GROUPINGS});
}

static void draw(const lab_data *data, plot_canvas *canvas, plot_rect area) {
    draw_peak(lab_table_named(data, "peak"), canvas, lab_panel(area, 1, 2, 0));
    draw_cache(lab_table_named(data, "cache"), canvas, lab_panel(area, 1, 2, 1));
}

/* The last size whose passes were run; larger ones are added up. */
static const double *last_run(const lab_table *peak) {
    size_t row = 0;
    while (row + 1 < SIZES && *lab_cell(peak, row + 1, 0) <= LARGEST_RUN) row++;
    return lab_cell(peak, row, 0);
}

static void judge(const lab_data *data, lab_finding *finding) {
    const lab_table *peak = lab_table_named(data, "peak"), *cache = lab_table_named(data, "cache");
    const double *run = last_run(peak), *p = lab_cell(peak, SIZES - 1, 0),
                 *c = lab_cell(cache, CACHE_SIZES - 1, 0);
    finding->verdict = LAB_MEASURED;
    snprintf(
        finding->headline, LAB_TEXT,
        "Measured at n = %.0f, tiled attention holds %.1f MiB forward and %.1f MiB backward, "
        "dense %.0f and %.0f MiB. Added up from the same buffers, not run, n = %.0f needs %.1f "
        "and %.1f MiB against %.0f and %.0f MiB: %.0f and %.0f times as much.",
        run[0], run[1 + FORWARD_TILED], run[1 + BACKWARD_TILED], run[1 + FORWARD_DENSE],
        run[1 + BACKWARD_DENSE], p[0], p[1 + FORWARD_TILED], p[1 + BACKWARD_TILED],
        p[1 + FORWARD_DENSE], p[1 + BACKWARD_DENSE], p[1 + FORWARD_DENSE] / p[1 + FORWARD_TILED],
        p[1 + BACKWARD_DENSE] / p[1 + BACKWARD_TILED]);
    snprintf(
        finding->text, LAB_TEXT,
        "Tiled attention runs parallel to its inputs, which are linear in n (Q, K, V, O alone: "
        "%.0f MiB at n = %.0f). Dense attention is quadratic, and the backward pass doubles it, "
        "since the gradient of the scores is n × n too. Decoding holds no n × n matrix; what "
        "grows is the cache. At %.0f tokens a layer reads %.0f MiB for the next token; with 8 "
        "key/value heads for 32 query heads it reads %.0f MiB, with one %.0f MiB (counted).",
        p[INPUTS], p[0], c[0], c[1], c[2], c[3]);
}

const lab_experiment lab_e2 = {
    .id = "E2",
    .title = "Memory: tiled, dense, and the cache",
    .question =
        "How much memory does attention need at its peak, and how much does a cache of keys need?",
    .method = "Panel a: bytes asked for and not yet given back, at most, counted by allocation "
              "callbacks: all buffers (Q, K, V, O; backward also lse, dO, dQ, dK, dV; dense also "
              "the n × n weights and, backward, their gradient) and the engine's context and "
              "scratch, one thread, a new context per pass. Passes are run up to n = 2048; beyond "
              "it the same buffers are added up, with the scratch that the engine says it needs. "
              "Panel b: attn_cost() of one query per head.",
    .command = "attn report --only E2 --data",
    .claims = "C-29,C-30",
    .panels = 2,
    .seconds = 0.5,
    .measure = measure,
    .draw = draw,
    .judge = judge,
};
