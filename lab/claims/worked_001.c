/* SPDX-License-Identifier: Apache-2.0 */
/* worked_001.c - the numbers of document 001, the linear-algebra example: two queries, three keys,
 * and the counts around it. Tests: tests/lab/test_claims.c */
#include "core/base.h"
#include "documents.h"
#include "dots.h"
#include "numbers.h"
#include "work.h"
#include "worked.h"

#include <math.h>

/* ------------------------------------------------------------------------- the 2 x 3 example */

static attn_status scores_row(attn_ctx *ctx, int row, double *value, attn_error *err) {
    (void)row;
    double scores[6];
    ATTN_TRY(lab_head_scores(ctx, &lab_example_001, scores, err));
    memcpy(value, scores, 3 * sizeof *value);
    return ATTN_OK;
}

/* The factor in force: the score of two equal unit vectors. */
static attn_status scale(attn_ctx *ctx, int row, double *value, attn_error *err) {
    (void)row;
    double scores[3];
    ATTN_TRY(scores_row(ctx, 0, scores, err));
    value[0] = scores[0];
    return ATTN_OK;
}

static attn_status weights(attn_ctx *ctx, int row, double *value, attn_error *err) {
    double all[6];
    ATTN_TRY(lab_head_weights(ctx, &lab_example_001, all, err));
    memcpy(value, all + 3 * row, 3 * sizeof *value);
    return ATTN_OK;
}
static attn_status weights_of_rounded(attn_ctx *ctx, int row, double *value, attn_error *err) {
    (void)row;
    static const double rounded[] = {0.707, 0.707, 0};
    return lab_softmax(ctx, rounded, 3, 1, value, err);
}

static attn_status output(attn_ctx *ctx, int row, double *value, attn_error *err) {
    double all[4];
    ATTN_TRY(lab_head_output(ctx, &lab_example_001, all, err));
    memcpy(value, all + 2 * row, 2 * sizeof *value);
    return ATTN_OK;
}

static attn_status row_sums(attn_ctx *ctx, int row, double *value, attn_error *err) {
    (void)row;
    double w[6];
    ATTN_TRY(lab_head_weights(ctx, &lab_example_001, w, err));
    for (int i = 0; i < 2; i++) value[i] = w[3 * i] + w[3 * i + 1] + w[3 * i + 2];
    return ATTN_OK;
}

/* --------------------------------------------------------------------------- around saturation */

static attn_status large_gap(attn_ctx *ctx, int row, double *value, attn_error *err) {
    (void)row;
    static const double scores[] = {20, 0};
    double w[2];
    ATTN_TRY(lab_softmax(ctx, scores, 2, 1, w, err));
    value[0] = w[0];
    return ATTN_OK;
}

static attn_status deviation_512(attn_ctx *ctx, int row, double *value, attn_error *err) {
    (void)ctx, (void)row, (void)err;
    value[0] = value[1] = sqrt(512);
    return ATTN_OK;
}

static attn_status head_size_gpt3(attn_ctx *ctx, int row, double *value, attn_error *err) {
    (void)ctx, (void)row, (void)err;
    value[0] = 12288.0 / 96; /* its published d_model and heads */
    return ATTN_OK;
}

static attn_status unit_variance(const lab_settings *settings, const lab_claim *claim,
                                 lab_outcome *outcome, attn_error *err) {
    const int d = 64;
    lab_moments m;
    ATTN_TRY(lab_dots_moments(settings, LAB_UNIT, d, lab_dots_blocks(d), &m, err));
    lab_say(outcome->computed, "%.6f at d_k = %d; 1/d_k = %.6f", m.variance, d, 1.0 / d);
    lab_expect(outcome, m.variance * d, 1, 0.03);
    const bool as_stated = fabs(m.variance / d - 1) < 0.05;
    lab_conclude(claim, outcome, as_stated ? LAB_HOLDS : LAB_WRONG,
                 "d_k needs components of variance 1; vectors of length 1 give 1/d_k (C-8)");
    return ATTN_OK;
}

/* --------------------------------------------------------------------------------------- counts */

/* The stated count as FLOP, or only as multiply-adds (2 FLOP each). */
static void judge_count(const lab_claim *claim, lab_outcome *outcome, const double *flops,
                        const double *macs, size_t n) {
    lab_said said[4];
    lab_verdict as_flops = LAB_HOLDS, as_macs = LAB_HOLDS;
    lab_require(outcome, lab_said_numbers(claim->stated, said, 4) == n, "numbers stated");
    for (size_t i = 0; i < n; i++) {
        if (lab_said_verdict(said[i], flops[i]) != LAB_HOLDS) as_flops = LAB_WRONG;
        if (lab_said_verdict(said[i], macs[i]) != LAB_HOLDS) as_macs = LAB_WRONG;
        lab_say(outcome->computed, "%s%.0f MAC = %.0f FLOP", i ? "; " : "", macs[i], flops[i]);
    }
    lab_conclude(claim, outcome,
                 as_flops == LAB_HOLDS  ? LAB_HOLDS
                 : as_macs == LAB_HOLDS ? LAB_HOLDS_IF
                                        : LAB_WRONG,
                 "holds if multiply-adds (MAC) are meant; FLOP are twice as many");
}

static attn_status count_scores(const lab_settings *settings, const lab_claim *claim,
                                lab_outcome *outcome, attn_error *err) {
    const lab_work_shape shape = {.n = 512, .d = 64, .heads = 1};
    attn_cost_info cost;
    ATTN_TRY(lab_work(settings->ctx, &shape, &cost, err));
    const double flops = cost.flops / 2, macs = flops / 2; /* one of two products of equal size */
    lab_expect(outcome, macs, 16777216, 0);
    judge_count(claim, outcome, &flops, &macs, 1);
    return ATTN_OK;
}

static attn_status count_softmax(const lab_settings *settings, const lab_claim *claim,
                                 lab_outcome *outcome, attn_error *err) {
    const lab_work_shape shape = {.n = 512, .d = 64, .heads = 1};
    attn_cost_info cost;
    lab_said said;
    ATTN_TRY(lab_work(settings->ctx, &shape, &cost, err));
    lab_expect(outcome, cost.pairs, 262144, 0);
    lab_require(outcome, lab_said_numbers(claim->stated, &said, 1) == 1, "one number stated");
    lab_say(outcome->computed, "%.0f elements, about 5 operations each", cost.pairs);
    const bool as_operations = lab_said_verdict(said, 5 * cost.pairs) == LAB_HOLDS;
    const bool as_elements = lab_said_verdict(said, cost.pairs) == LAB_HOLDS;
    lab_conclude(claim, outcome,
                 as_operations ? LAB_HOLDS
                 : as_elements ? LAB_HOLDS_IF
                               : LAB_WRONG,
                 "holds if elements are counted; each takes a subtraction, exp, sum, division");
    return ATTN_OK;
}

static attn_status count_heads(const lab_settings *settings, const lab_claim *claim,
                               lab_outcome *outcome, attn_error *err) {
    static const double exact[] = {33554432, 268435456};
    double flops[2], macs[2];
    for (int i = 0; i < 2; i++) {
        const lab_work_shape shape = {.n = 512, .d = 64, .heads = i ? 8 : 1};
        attn_cost_info cost;
        ATTN_TRY(lab_work(settings->ctx, &shape, &cost, err));
        flops[i] = cost.flops;
        macs[i] = cost.flops / 2;
    }
    lab_expect_all(outcome, macs, exact, 2, 0);
    judge_count(claim, outcome, flops, macs, 2);
    return ATTN_OK;
}

static attn_status count_gpt3(const lab_settings *settings, const lab_claim *claim,
                              lab_outcome *outcome, attn_error *err) {
    double flops[LAB_GPT3_READINGS];
    ATTN_TRY(lab_gpt3_flops(settings->ctx, flops, err));
    lab_expect(outcome, flops[0] / 2, 6.333e14, 5e10);
    lab_expect(outcome, flops[1] / 2, 2.639e13, 5e9);
    lab_say(outcome->computed, "%.3e MAC (96 heads of 128); %.3e MAC (8 of 64)", flops[0] / 2,
            flops[1] / 2);
    lab_conclude(claim, outcome, lab_gpt3_reading(flops, 4e12) ? LAB_HOLDS_IF : LAB_WRONG,
                 "no reading gives it: 96 layers, 16,384 positions, products of attention only");
    return ATTN_OK;
}

static attn_status dense_matrix(attn_ctx *ctx, int row, double *value, attn_error *err) {
    (void)row;
    const lab_work_shape shape = {.n = 16384, .d = 64, .heads = 1};
    attn_cost_info cost;
    ATTN_TRY(lab_work(ctx, &shape, &cost, err));
    value[0] = cost.pairs;
    value[1] = cost.bytes_dense;
    return ATTN_OK;
}

static attn_status ten_thousand_tokens(attn_ctx *ctx, int row, double *value, attn_error *err) {
    (void)row;
    const lab_work_shape shape = {.n = 10000, .d = 64, .heads = 1};
    attn_cost_info cost;
    ATTN_TRY(lab_work(ctx, &shape, &cost, err));
    value[0] = cost.pairs;
    return ATTN_OK;
}

/* --------------------------------------------------------------------------- formulas and code */

static attn_status linformer_formula(const lab_settings *settings, const lab_claim *claim,
                                     lab_outcome *outcome, attn_error *err) {
    lab_linformer_shapes shapes;
    ATTN_TRY(lab_linformer_check(settings->ctx, &shapes, err));
    lab_require(outcome, shapes.projected_values, "Linformer with projected keys and values runs");
    lab_say(outcome->computed, "E K: (n, k) times (n, d) %s; k keys, n values: %s",
            shapes.product_fits ? "fits" : "does not fit", attn_strerror(shapes.only_keys));
    const bool sound = shapes.product_fits && shapes.only_keys == ATTN_OK;
    lab_conclude(claim, outcome, sound ? LAB_HOLDS : LAB_WRONG,
                 "right: softmax(Q (E K)^T / sqrt(d)) (F V), E and F k x n (C-36)");
    return ATTN_OK;
}

static attn_status longformer_growth(const lab_settings *settings, const lab_claim *claim,
                                     lab_outcome *outcome, attn_error *err) {
    (void)settings;
    lab_longformer_pairs once, twice;
    ATTN_TRY(lab_longformer_count(16384, &once, err));
    ATTN_TRY(lab_longformer_count(32768, &twice, err));
    const double growth = twice.visible / once.visible, n_log_n = 2 * log(32768) / log(16384);
    lab_say(outcome->computed, "n 16384 -> 32768: pairs x%.3f; n log n: x%.3f", growth, n_log_n);
    lab_conclude(claim, outcome, fabs(growth - n_log_n) < 0.02 ? LAB_HOLDS : LAB_WRONG,
                 "a window of fixed width is O(n w); the document also says O(n) once");
    return ATTN_OK;
}

static attn_status rnn_growth(const lab_settings *settings, const lab_claim *claim,
                              lab_outcome *outcome, attn_error *err) {
    (void)settings, (void)err;
    const double base = lab_rnn_multiplies(128, 32), longer = lab_rnn_multiplies(256, 32),
                 wider = lab_rnn_multiplies(128, 64);
    lab_say(outcome->computed, "twice n: x%.0f; twice d: x%.0f", longer / base, wider / base);
    const bool as_stated = longer == 4 * base && wider == 2 * base;
    lab_expect(outcome, longer / base, 2, 0);
    lab_expect(outcome, wider / base, 4, 0);
    lab_conclude(claim, outcome, as_stated ? LAB_HOLDS : LAB_WRONG,
                 "a step multiplies by a d x d matrix: O(n d^2) in all; the same only at n = d");
    return ATTN_OK;
}

/* What a reader finds in the listing; there is nothing to compute. */
static attn_status listing(const lab_settings *settings, const lab_claim *claim,
                           lab_outcome *outcome, attn_error *err) {
    (void)settings, (void)err;
    static const char *const obstacles[] = {"a string broken across lines",
                                            "an import of a module that is not given"};
    const size_t n = sizeof obstacles / sizeof *obstacles;
    lab_say(outcome->computed, "read, not run; %zu obstacles", n);
    lab_conclude(claim, outcome, n ? LAB_WRONG : LAB_HOLDS, "%s; %s", obstacles[0], obstacles[1]);
    return ATTN_OK;
}

/* ----------------------------------------------------------------------------------------- rows */

static const lab_claim rows[] = {
    {"001-01", "001", "1/sqrt(d_k) at d_k = 2", "0.707",
     LAB_NUMBERS(LAB_HOLDS, scale, 1, .exact = {0.70710678118654752}, .format = "%.8f")},
    {"001-02", "001", "scores of query 0", "[0.707, 0.707, 0]",
     LAB_NUMBERS(LAB_HOLDS, scores_row, 3, .exact = {0.7071067811865476, 0.7071067811865476, 0},
                 .golden = "s001_example scores 0")},
    {"001-03", "001", "weights of query 0", "[0.382, 0.382, 0.236]",
     LAB_NUMBERS(
         LAB_WRONG, weights, 3, .row = 0,
         .exact = {0.4011120926797859, 0.4011120926797859, 0.19777581464042818},
         .golden = "s001_example weights 0",
         .alternate = {"its rounded scores", weights_of_rounded,
                       .exact = {0.4011036214259559, 0.4011036214259559, 0.19779275714808822},
                       .golden = "s001_row0_rounded softmax"})},
    {"001-04", "001", "weights of query 1", "not stated",
     LAB_NUMBERS(LAB_MEASURED, weights, 3, .row = 1,
                 .exact = {0.19777581464042818, 0.4011120926797859, 0.4011120926797859},
                 .golden = "s001_example weights 1", .remark = "the example stops at row 0")},
    {"001-05", "001", "output of query 0", "[0.618, 1.000]",
     LAB_NUMBERS(LAB_WRONG, output, 2, .row = 0, .exact = {0.5988879073202141, 1.0},
                 .golden = "s001_example output 0",
                 .remark = "the second is 1 for any equal pair")},
    {"001-06", "001", "output of query 1", "not stated",
     LAB_NUMBERS(LAB_MEASURED, output, 2, .row = 1,
                 .exact = {0.5988879073202141, 1.2033362780393577},
                 .golden = "s001_example output 1", .remark = "the example stops at row 0")},
    {"001-07", "001", "sums of the rows of weights", "[1, 1]",
     LAB_NUMBERS(LAB_HOLDS, row_sums, 2, .exact = {1, 1}, .tolerance = 4e-16, .format = "%.15g")},
    {"001-08", "001", "exp(20) / (exp(20) + 1)", "0.9999",
     LAB_NUMBERS(LAB_HOLDS_IF, large_gap, 1, .exact = {0.9999999979388464},
                 .golden = "s001_exp20 softmax", .format = "%.16f",
                 .remark = "2.1e-9 is missing to 1, not 1e-4")},
    {"001-09", "001", "deviation of scores at d_k = 512", "23, and \"~20x\"",
     LAB_NUMBERS(LAB_HOLDS, deviation_512, 2, .exact = {22.627416997969522, 22.627416997969522})},
    {"001-10", "001", "Var(q.k) of random unit vectors", "d_k", .seconds = 0.2,
     .test = unit_variance, .data = LAB_RECORDED(LAB_WRONG)},
    {"001-11", "001", "d_k of a head of GPT-3", "512",
     LAB_NUMBERS(LAB_WRONG, head_size_gpt3, 1, .exact = {128}, .format = "%.0f",
                 .remark = "d_model 12288 over 96 heads (published sizes)")},
    {"001-12", "001", "Q K^T at n = 512, d = 64", "17M FLOP", .test = count_scores,
     .data = LAB_RECORDED(LAB_HOLDS_IF)},
    {"001-13", "001", "softmax at n = 512", "262K operations", .test = count_softmax,
     .data = LAB_RECORDED(LAB_HOLDS_IF)},
    {"001-14", "001", "one head, and 8 heads, at n = 512", "34M and ~270M FLOP",
     .test = count_heads, .data = LAB_RECORDED(LAB_HOLDS_IF)},
    {"001-15", "001", "GPT-3, 96 layers, 16k context", "4e12 FLOP", .test = count_gpt3,
     .data = LAB_RECORDED(LAB_WRONG)},
    {"001-16", "001", "the matrix at n = 16384, float32", "268M elements, ~1GB",
     LAB_NUMBERS(LAB_HOLDS, dense_matrix, 2, .exact = {268435456, 1073741824}, .format = "%.0f")},
    {"001-17", "001", "scores of 10,000 tokens", "1e8",
     LAB_NUMBERS(LAB_HOLDS, ten_thousand_tokens, 1, .exact = {1e8}, .format = "%.0f")},
    {"001-18", "001", "Linformer's formula", "Q K^T ~ Q (E K)^T + Q (F K)^T, E and F n x k",
     .test = linformer_formula, .data = LAB_RECORDED(LAB_WRONG)},
    {"001-19", "001", "cost of Longformer", "O(n log n)", .test = longformer_growth,
     .data = LAB_RECORDED(LAB_WRONG)},
    {"001-20", "001", "cost of a recurrent network", "O(n^2 d)", .test = rnn_growth,
     .data = LAB_RECORDED(LAB_WRONG)},
    {"001-21", "001", "the code listing", "runs as printed", .test = listing,
     .data = LAB_RECORDED(LAB_WRONG)},
};
const lab_claim_list lab_worked_001 = LAB_ROWS(rows);
