/* SPDX-License-Identifier: Apache-2.0 */
/* worked_001.c - the numbers of document 001, the linear-algebra example: two queries, three keys,
 * and counts of operations. Tests: tests/lab/test_claims.c */
#include "core/base.h"
#include "documents.h"
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

/* The factor that the engine applies: the score of two equal unit vectors. */
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

static attn_status output_of_stated(attn_ctx *ctx, int row, double *value, attn_error *err) {
    (void)row;
    static const double stated[] = {0.382, 0.382, 0.236};
    return lab_product(ctx, (lab_matrix){1, 3, stated}, (lab_matrix){3, 2, lab_example_001.v},
                       value, err);
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

/* --------------------------------------------------------------------------------------- counts */

/* Whether the stated count is right as FLOP, or only as multiply-adds (2 FLOP each). */
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
                 "holds if elements are counted; each needs a subtraction, an exp, an addition and "
                 "a division");
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
         .alternate = {"its rounded scores", NULL, weights_of_rounded,
                       .exact = {0.4011036214259559, 0.4011036214259559, 0.19779275714808822},
                       .golden = "s001_row0_rounded softmax"})},
    {"001-04", "001", "weights of query 1", NULL,
     LAB_NUMBERS(LAB_MEASURED, weights, 3, .row = 1,
                 .exact = {0.19777581464042818, 0.4011120926797859, 0.4011120926797859},
                 .golden = "s001_example weights 1", .remark = "the example stops at row 0")},
    {"001-05", "001", "output of query 0", "[0.618, 1.000]",
     LAB_NUMBERS(
         LAB_WRONG, output, 2, .row = 0, .exact = {0.5988879073202141, 1.0},
         .golden = "s001_example output 0",
         .alternate = {"the stated weights", "001-03", output_of_stated, .exact = {0.618, 1.0}})},
    {"001-06", "001", "output of query 1", NULL,
     LAB_NUMBERS(LAB_MEASURED, output, 2, .row = 1,
                 .exact = {0.5988879073202141, 1.2033362780393577},
                 .golden = "s001_example output 1", .remark = "the example stops at row 0")},
    {"001-07", "001", "row sums of the weights", "[1, 1]",
     LAB_NUMBERS(LAB_HOLDS, row_sums, 2, .exact = {1, 1}, .tolerance = 4e-16, .format = "%.15g")},
    {"001-08", "001", "exp(20) / (exp(20) + 1)", "0.9999",
     LAB_NUMBERS(LAB_HOLDS_IF, large_gap, 1, .exact = {0.9999999979388464},
                 .golden = "s001_exp20 softmax", .format = "%.16f",
                 .remark = "it differs from 1 by 2.1e-9, not 1e-4")},
    {"001-09", "001", "standard deviation of scores at d_k = 512", "23, and \"~20x\"",
     LAB_NUMBERS(LAB_HOLDS, deviation_512, 2, .exact = {22.627416997969522, 22.627416997969522})},
    {"001-11", "001", "d_k of one head of GPT-3", "512",
     LAB_NUMBERS(LAB_WRONG, head_size_gpt3, 1, .exact = {128}, .format = "%.0f",
                 .remark = "d_model 12288 divided by 96 heads (published sizes)")},
    {"001-12", "001", "Q K^T at n = 512, d = 64", "17M FLOP", .test = count_scores,
     .data = LAB_RECORDED(LAB_HOLDS_IF)},
    {"001-13", "001", "softmax at n = 512", "262K operations", .test = count_softmax,
     .data = LAB_RECORDED(LAB_HOLDS_IF)},
    {"001-14", "001", "one head and 8 heads at n = 512, d = 64", "34M and ~270M FLOP",
     .test = count_heads, .data = LAB_RECORDED(LAB_HOLDS_IF), .also = "C-31"},
    {"001-16", "001", "attention matrix at n = 16384, float32", "268M elements, ~1GB",
     LAB_NUMBERS(LAB_HOLDS, dense_matrix, 2, .exact = {268435456, 1073741824}, .format = "%.0f"),
     .also = "C-33"},
    {"001-17", "001", "number of scores for 10,000 tokens", "1e8",
     LAB_NUMBERS(LAB_HOLDS, ten_thousand_tokens, 1, .exact = {1e8}, .format = "%.0f")},
};
const lab_claim_list lab_worked_001 = LAB_ROWS(rows);
