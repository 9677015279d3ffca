/* SPDX-License-Identifier: Apache-2.0 */
/* rows.c - claims about rows of weights: sums, masks, zeros, the outputs they give, and the order of
 * tokens. Tests: tests/lab/test_claims.c */
#include "core/base.h"
#include "core/half.h"
#include "documents.h"
#include "drawn.h"
#include "measured.h"
#include "steps/stream.h"
#include "worked.h"

#include <math.h>
#include <stdlib.h>

/* ------------------------------------------------------------------------------- sums and masks */

/* Mean and standard deviation of the row sums under dropout 0.1: outputs for values of 1. */
static attn_status dropped_sums(const lab_settings *settings, double *mean, double *deviation) {
    enum { ROWS = 2000, KEYS = 16 };
    lab_drawn drawn = {.head = {.n_q = ROWS, .n_k = KEYS, .d_k = 16, .d_v = 1}};
    attn_status status = lab_drawn_create(&drawn, settings->seed, NULL);
    if (status == ATTN_OK) {
        attn_args args;
        for (int j = 0; j < KEYS; j++) drawn.v[j] = 1;
        lab_head_args(&drawn.head, &args);
        args.dropout = 0.1;
        args.seed = settings->seed;
        const attn_tensor out = attn_tensor_bhsd(drawn.out, ATTN_F64, 1, 1, ROWS, 1);
        status = attn_forward(settings->ctx, &args, &out, NULL, NULL);
    }
    if (status == ATTN_OK) {
        *mean = lab_mean(drawn.out, ROWS);
        *deviation = lab_deviation(drawn.out, ROWS);
    }
    lab_drawn_free(&drawn);
    return status;
}

static void judge_sums(const lab_settings *settings, const lab_claim *claim, const lab_data *data,
                       lab_outcome *outcome) {
    const double worst = lab_measured_row(data, "summary", 0, "sum_error");
    if (settings->seed == 42) { /* the layer of figure 1 */
        lab_expect(outcome, lab_measured_row(data, "summary", 0, "max"), 0.5944531808317723, 1e-9);
        lab_expect(outcome, lab_measured_row(data, "summary", 0, "min"), 0.005034749605582345,
                   1e-9);
    }
    double mean = NAN, deviation = NAN;
    lab_require(outcome, dropped_sums(settings, &mean, &deviation) == ATTN_OK, "dropout");
    lab_expect(outcome, mean, 1, 0.02);
    lab_say(outcome->computed, "max |sum - 1| = %.1e over 8 rows, float64", worst);
    lab_conclude(claim, outcome, worst <= 1e-15 ? LAB_HOLDS : LAB_WRONG,
                 "up to rounding; with dropout 0.1 only on average (standard deviation %.2f)",
                 deviation);
}

/* The largest weight above the diagonal when -1e9 is added there, in f32 and in f64. */
static attn_status above_diagonal(attn_ctx *ctx, uint32_t seed, double *largest, attn_error *err) {
    enum { N = 8 };
    lab_drawn drawn = {.head = {.n_q = N, .n_k = N, .d_k = 16, .d_v = 1}};
    double bias[N * N], w[N * N];
    attn_status status = lab_drawn_create(&drawn, seed, err);
    for (int i = 0; i < N * N; i++) bias[i] = i % N > i / N ? -1e9 : 0;
    *largest = 0;
    for (int type = 0; type < 2 && status == ATTN_OK; type++) {
        status = lab_forward_weights(ctx, &drawn.head, type ? ATTN_F64 : ATTN_F32, bias, w, err);
        for (int i = 0; i < N * N; i++) {
            if (bias[i] < 0) *largest = fmax(*largest, w[i]);
        }
    }
    lab_drawn_free(&drawn);
    return status;
}

static void judge_causal(const lab_settings *settings, const lab_claim *claim, const lab_data *data,
                         lab_outcome *outcome) {
    const double above = lab_measured_row(data, "summary", 0, "above_diagonal_causal"),
                 off = lab_measured_row(data, "summary", 0, "renormalised_difference");
    double added = NAN;
    if (settings->seed == 42)
        lab_expect(outcome, lab_measured_row(data, "summary", 0, "above_diagonal_noncausal"),
                   3.611398615887899, 1e-9);
    lab_require(outcome, above_diagonal(settings->ctx, settings->seed, &added, NULL) == ATTN_OK,
                "weights with -1e9 added");
    lab_say(outcome->computed,
            "sum above the diagonal %g; with -1e9 added %g; rest renormalised to %.1e", above,
            added, off);
    const bool holds = above == 0 && added == 0 && off <= 4e-15;
    lab_conclude(claim, outcome, holds ? LAB_HOLDS : LAB_WRONG,
                 "exactly 0, with -inf and with -1e9, in f32 and in f64");
}

/* ----------------------------------------------------------------------- what -1e9 and 0 may be */

/* Largest differences between masks of -1e9 and of -inf. */
typedef struct big_negative {
    double partly[2];     /* rows with a visible key: -1e9 against -inf, in f32 and f64 */
    double all_f64;       /* a row of -1e9 in f64, against the unmasked softmax */
    double all_f32;       /* a row of -1e9 in f32, against uniform weights */
    double all_minus_inf; /* the largest weight of a row of -inf */
} big_negative;

static attn_status compare_masks(attn_ctx *ctx, uint32_t seed, big_negative *found,
                                 attn_error *err) {
    enum { N = 6, ALL = N * N };
    static const attn_dtype dtype[] = {ATTN_F32, ATTN_F64};
    lab_drawn drawn = {.head = {.n_q = N, .n_k = N, .d_k = 16, .d_v = 1}};
    double large[ALL], infinite[ALL], by_large[ALL], by_infinite[ALL], plain[ALL];
    attn_status status = lab_drawn_create(&drawn, seed, err);
    for (int i = 0; i < ALL; i++) { /* row 0 sees nothing, row i the keys before i */
        const bool hidden = i % N >= i / N;
        large[i] = hidden ? -1e9 : 0;
        infinite[i] = hidden ? -INFINITY : 0;
    }
    for (int t = 0; t < 2 && status == ATTN_OK; t++) {
        status = lab_forward_weights(ctx, &drawn.head, dtype[t], large, by_large, err);
        if (status == ATTN_OK)
            status = lab_forward_weights(ctx, &drawn.head, dtype[t], infinite, by_infinite, err);
        if (status == ATTN_OK)
            status = lab_forward_weights(ctx, &drawn.head, dtype[t], NULL, plain, err);
        if (status != ATTN_OK) break;
        found->partly[t] = lab_largest_difference(by_large + N, by_infinite + N, ALL - N);
        found->all_minus_inf = lab_largest(by_infinite, N);
        for (int j = 0; t == 0 && j < N; j++)
            found->all_f32 = fmax(found->all_f32, fabs(by_large[j] - 1 / (double)N));
        if (t == 1) found->all_f64 = lab_largest_difference(by_large, plain, N);
    }
    lab_drawn_free(&drawn);
    return status;
}

static attn_status minus_1e9(const lab_settings *settings, const lab_claim *claim,
                             lab_outcome *outcome, attn_error *err) {
    big_negative found = {0};
    ATTN_TRY(compare_masks(settings->ctx, settings->seed, &found, err));
    const bool half_is_infinite = isinf(attni_f16_to_f32(attni_f32_to_f16(-1e9f)));
    const bool same = found.partly[0] == 0 && found.partly[1] == 0;
    const bool fully_masked_differ = found.all_f64 < 1e-6 && found.all_f32 < 1e-6;
    lab_require(outcome, found.all_minus_inf == 0, "a row of -inf gives weights of 0");
    lab_require(outcome, half_is_infinite, "-1e9 is -inf in f16");
    lab_say(outcome->computed,
            "same bits: %s; a row of -1e9: unmasked in f64 (%.0e), uniform in f32 (%.0e)",
            same ? "yes" : "no", found.all_f64, found.all_f32);
    lab_conclude(claim, outcome,
                 !same                 ? LAB_WRONG
                 : fully_masked_differ ? LAB_HOLDS_IF
                                       : LAB_HOLDS,
                 "holds if the row sees a key; for a row that sees none, attn defines zeros");
    return ATTN_OK;
}

static attn_status zeros_of(const lab_settings *settings, double scale, attn_dtype dtype,
                            double *share, double *smallest, attn_error *err) {
    enum { N = 64, D = 512 };
    lab_drawn drawn = {.head = {.n_q = N, .n_k = N, .d_k = D, .d_v = 1, .scale = scale}};
    attn_status status = lab_drawn_create(&drawn, settings->seed, err);
    if (status == ATTN_OK)
        status = lab_forward_weights(settings->ctx, &drawn.head, dtype, NULL, drawn.weights, err);
    *share = 0;
    *smallest = 1;
    for (int i = 0; status == ATTN_OK && i < N * N; i++) {
        *share += (drawn.weights[i] == 0) / (double)(N * N);
        *smallest = fmin(*smallest, drawn.weights[i]);
    }
    lab_drawn_free(&drawn);
    return status;
}

static attn_status detector(const lab_settings *settings, const lab_claim *claim,
                            lab_outcome *outcome, attn_error *err) {
    double sharp_f32, sharp_f64, soft, smallest, unused;
    ATTN_TRY(zeros_of(settings, 1, ATTN_F32, &sharp_f32, &unused, err));
    ATTN_TRY(zeros_of(settings, 1, ATTN_F64, &sharp_f64, &unused, err));
    ATTN_TRY(zeros_of(settings, 0, ATTN_F32, &soft, &smallest, err));
    lab_say(outcome->computed,
            "zeros without scaling: f32 %.1f %%, f64 %.1f %%; scaled f32: min %.1e",
            100 * sharp_f32, 100 * sharp_f64, smallest);
    lab_require(outcome, sharp_f64 == 0, "no zero in f64");
    lab_conclude(
        claim, outcome,
        soft > 0        ? LAB_WRONG
        : sharp_f32 > 0 ? LAB_HOLDS_IF
                        : LAB_HOLDS,
        "holds if the scores are scaled and nothing is masked; otherwise exp underflows in f32");
    return ATTN_OK;
}

/* -------------------------------------------------------------------------------------- outputs */

static attn_status hull(const lab_settings *settings, const lab_claim *claim, lab_outcome *outcome,
                        attn_error *err) {
    enum { N_Q = 64, N_K = 16, D = 8 };
    lab_drawn drawn = {.head = {.n_q = N_Q, .n_k = N_K, .d_k = D, .d_v = D}};
    attn_status status = lab_drawn_create(&drawn, settings->seed, err);
    if (status == ATTN_OK) status = lab_head_output(settings->ctx, &drawn.head, drawn.out, err);
    double outside = -INFINITY;
    for (int c = 0; c < D && status == ATTN_OK; c++) {
        double low = INFINITY, high = -INFINITY;
        for (int j = 0; j < N_K; j++) {
            low = fmin(low, drawn.v[j * D + c]);
            high = fmax(high, drawn.v[j * D + c]);
        }
        for (int i = 0; i < N_Q; i++)
            outside = fmax(outside, fmax(low - drawn.out[i * D + c], drawn.out[i * D + c] - high));
    }
    lab_drawn_free(&drawn);
    if (status != ATTN_OK) return status;
    lab_say(outcome->computed, "%d outputs, all at least %.3f inside", N_Q, -outside);
    lab_conclude(claim, outcome, outside <= 1e-15 ? LAB_HOLDS : LAB_WRONG,
                 "tested by coordinate; not with dropout, nor for a row that sees no key");
    return ATTN_OK;
}

/* ------------------------------------------------------------------------------------ the order */

enum { TOKENS = 8, WIDTH = 16, ALL = TOKENS * WIDTH };
static const int shuffled[TOKENS] = {3, 0, 7, 5, 1, 6, 2, 4};

/* y: the tokens of x (q, k and v one after another) in the shuffled order. */
static void shuffle(const double *x, double *y) {
    for (int i = 0; i < 3 * TOKENS; i++) {
        const int from = i / TOKENS * TOKENS + shuffled[i % TOKENS];
        memcpy(y + i * WIDTH, x + from * WIDTH, WIDTH * sizeof *y);
    }
}

typedef struct attended {
    double out[ALL], weights[TOKENS * TOKENS];
} attended;

/* qkv (3, TOKENS, WIDTH) */
static attn_status attend(attn_ctx *ctx, const double *qkv, bool causal, attended *result,
                          attn_error *err) {
    const lab_head head = {.n_q = TOKENS,
                           .n_k = TOKENS,
                           .d_k = WIDTH,
                           .d_v = WIDTH,
                           .q = qkv,
                           .k = qkv + ALL,
                           .v = qkv + 2 * ALL,
                           .causal = causal};
    ATTN_TRY(lab_head_output(ctx, &head, result->out, err));
    return lab_head_weights(ctx, &head, result->weights, err);
}

typedef struct permutation {
    double outputs; /* outputs of shuffled tokens against shuffled outputs */
    double moved;   /* weights against those of the same pair of tokens */
    double fixed;   /* weights against those of the same cell */
} permutation;

static permutation compare_orders(const attended *x, const attended *y) {
    permutation found = {.fixed = lab_largest_difference(x->weights, y->weights, TOKENS * TOKENS)};
    for (int i = 0; i < TOKENS; i++) {
        const double *row = y->weights + i * TOKENS, *same = x->weights + shuffled[i] * TOKENS;
        const double off =
            lab_largest_difference(y->out + i * WIDTH, x->out + shuffled[i] * WIDTH, WIDTH);
        found.outputs = fmax(found.outputs, off);
        for (int j = 0; j < TOKENS; j++)
            found.moved = fmax(found.moved, fabs(row[j] - same[shuffled[j]]));
    }
    return found;
}

static attn_status permute(attn_ctx *ctx, const double *qkv, bool causal, permutation *found,
                           attn_error *err) {
    double other[3 * ALL];
    attended x, y;
    shuffle(qkv, other);
    ATTN_TRY(attend(ctx, qkv, causal, &x, err));
    ATTN_TRY(attend(ctx, other, causal, &y, err));
    *found = compare_orders(&x, &y);
    return ATTN_OK;
}

static attn_status order(const lab_settings *settings, const lab_claim *claim, lab_outcome *outcome,
                         attn_error *err) {
    double qkv[3 * ALL];
    lab_stream stream;
    permutation plain, causal;
    lab_stream_seed(&stream, settings->seed);
    lab_stream_normals(&stream, 3 * ALL, 1, qkv);
    ATTN_TRY(permute(settings->ctx, qkv, false, &plain, err));
    ATTN_TRY(permute(settings->ctx, qkv, true, &causal, err));
    lab_say(outcome->computed,
            "shuffled along to %.1e; weights cell by cell differ by %.2f; causal %.2f",
            fmax(plain.outputs, plain.moved), plain.fixed, causal.outputs);
    const bool equivariant = plain.outputs < 1e-14 && plain.moved < 1e-14;
    lab_require(outcome, causal.outputs > 1e-3, "a causal mask breaks it");
    lab_conclude(
        claim, outcome,
        plain.fixed < 1e-14 ? LAB_HOLDS
        : equivariant       ? LAB_HOLDS_IF
                            : LAB_WRONG,
        "holds if equivariance is meant: outputs and weights are shuffled along; not if causal");
    return ATTN_OK;
}

/* ----------------------------------------------------------------------------------------- rows */

static const lab_claim rows[] = {
    {"C-1", "000,001,002,003", "row sums of the weights", "every row sums to 1", 0.01,
     LAB_FROM(LAB_HOLDS, "F1", judge_sums), .also = "C-42"},
    {"C-2", "000", "weights under a causal mask", "lower triangular: no attention to the future",
     0.01, LAB_FROM(LAB_HOLDS, "F2", judge_causal)},
    {"C-23", "001", "outputs and the rows of V", "a convex combination of them", .test = hull,
     .data = LAB_RECORDED(LAB_HOLDS)},
    {"C-24", "001", "permutation invariance", "\"shuffling does not change the weights\"",
     .test = order, .data = LAB_RECORDED(LAB_HOLDS_IF)},
    {"C-26", "003", "-1e9 instead of -inf", "the same result", .test = minus_1e9,
     .data = LAB_RECORDED(LAB_HOLDS_IF)},
    {"C-27", "001", "A.min() > 0 as a test for underflow", "all weights are positive", 0.02,
     .test = detector, .data = LAB_RECORDED(LAB_HOLDS_IF)},
};
const lab_claim_list lab_rows = LAB_ROWS(rows);
