/* SPDX-License-Identifier: Apache-2.0 */
/* worked_003.c - the numbers of document 003, the lesson: three examples, the practice problems,
 * and what it concludes from them. Tests: tests/lab/test_claims.c */
#include "core/base.h"
#include "documents.h"
#include "numbers.h"
#include "worked.h"

#include <math.h>

/* ------------------------------------------------------------------------------------ example 1 */

/* Variance and deviation of q.k, then divided by sqrt(d_k), then by d_k, at d_k = 64. */
static attn_status three_scales(attn_ctx *ctx, int row, double *value, attn_error *err) {
    (void)ctx, (void)row, (void)err;
    const double d_k = 64, divisor[] = {1, sqrt(d_k), d_k};
    for (int i = 0; i < 3; i++) {
        value[2 * i] = d_k / (divisor[i] * divisor[i]);
        value[2 * i + 1] = sqrt(value[2 * i]);
    }
    return ATTN_OK;
}

/* ------------------------------------------------------------------------------------ example 2 */

static attn_status scores(attn_ctx *ctx, int row, double *value, attn_error *err) {
    (void)row;
    return lab_head_scores(ctx, &lab_example_003, value, err);
}

static attn_status exponentials(attn_ctx *ctx, int row, double *value, attn_error *err) {
    (void)row;
    double s[9];
    ATTN_TRY(scores(ctx, 0, s, err));
    value[0] = exp(s[3]);
    value[1] = exp(s[4]);
    value[2] = value[0] + value[1];
    return ATTN_OK;
}

static attn_status weights(attn_ctx *ctx, int row, double *value, attn_error *err) {
    double all[9];
    ATTN_TRY(lab_head_weights(ctx, &lab_example_003, all, err));
    memcpy(value, all + 3 * row, 3 * sizeof *value);
    return ATTN_OK;
}

static attn_status output(attn_ctx *ctx, int row, double *value, attn_error *err) {
    double all[6];
    ATTN_TRY(lab_head_output(ctx, &lab_example_003, all, err));
    memcpy(value, all + 2 * row, 2 * sizeof *value);
    return ATTN_OK;
}

static attn_status output_of_stated(attn_ctx *ctx, int row, double *value, attn_error *err) {
    (void)row;
    static const double stated[] = {0.063, 0.262, 0.675};
    return lab_product(ctx, (lab_matrix){1, 3, stated}, (lab_matrix){3, 2, lab_example_003.v},
                       value, err);
}

/* ------------------------------------------------------------------------------------ example 3 */

static attn_status divided(attn_ctx *ctx, double divisor, double *value, attn_error *err) {
    static const double s[] = {0, 64, 128};
    return lab_softmax(ctx, s, 3, divisor, value, err);
}
static attn_status unscaled(attn_ctx *ctx, int row, double *value, attn_error *err) {
    (void)row;
    return divided(ctx, 1, value, err);
}
static attn_status by_root(attn_ctx *ctx, int row, double *value, attn_error *err) {
    (void)row;
    return divided(ctx, 8, value, err);
}
static attn_status by_d_k(attn_ctx *ctx, int row, double *value, attn_error *err) {
    (void)row;
    return divided(ctx, 64, value, err);
}

static attn_status powers_of_e(attn_ctx *ctx, int row, double *value, attn_error *err) {
    (void)ctx, (void)row, (void)err;
    value[0] = exp(8);
    value[1] = exp(16);
    return ATTN_OK;
}

/* ------------------------------------------------------------------------------------- practice */

/* The one shape that the engine accepts for the scores of 8 queries and 12 keys of size 64. */
static attn_status shape_of_scores(attn_ctx *ctx, int row, double *value, attn_error *err) {
    (void)row;
    double q[8 * 64] = {0}, k[12 * 64] = {0}, s[16 * 16];
    const lab_head head = {.n_q = 8, .n_k = 12, .d_k = 64, .q = q, .k = k};
    attn_args args;
    lab_head_args(&head, &args);
    int found = 0;
    for (int64_t cell = 0; cell < 16 * 16; cell++) {
        attn_inspection what;
        attn_inspection_init(&what);
        what.raw = attn_tensor_bhsd(s, ATTN_F64, 1, 1, 1 + cell / 16, 1 + cell % 16);
        if (attn_inspect(ctx, &args, &what, NULL) != ATTN_OK) continue;
        value[0] = (double)(1 + cell / 16);
        value[1] = (double)(1 + cell % 16);
        found++;
    }
    if (found == 1) return ATTN_OK;
    return attni_fail(err, ATTN_E_SHAPE, "scores of 8 and 12 rows: %d shapes fit, expected 1",
                      found);
}

static attn_status deviations_256(attn_ctx *ctx, int row, double *value, attn_error *err) {
    (void)ctx, (void)row, (void)err;
    const double deviation = sqrt(256);
    value[0] = deviation / sqrt(256);
    value[1] = deviation / 256;
    return ATTN_OK;
}

static attn_status mask_of_three(const lab_settings *settings, const lab_claim *claim,
                                 lab_outcome *outcome, attn_error *err) {
    (void)settings;
    attn_pattern *causal;
    int zeros_below = 0, zeros_above = 0;
    ATTN_TRY(attn_pattern_causal(3, 3, ATTN_OFFSET_TOP_LEFT, NULL, &causal, err));
    for (int64_t i = 0; i < 3; i++) {
        for (int64_t j = 0; j < 3; j++) {
            const int visible = attn_pattern_at(causal, i, j); /* adds 0; otherwise -inf */
            if (j <= i)
                zeros_below += visible;
            else
                zeros_above += visible;
        }
    }
    attn_pattern_destroy(causal);
    lab_say(outcome->computed, "0 in %d of 6 cells on or below the diagonal, -inf in %d of 3 above",
            zeros_below, 3 - zeros_above);
    const bool pattern = zeros_below == 6 && zeros_above == 0;
    lab_conclude(
        claim, outcome, pattern ? LAB_HOLDS_IF : LAB_WRONG,
        "holds if only the zeros are meant: a lower-triangular matrix has 0, not -inf, above");
    return ATTN_OK;
}

/* ----------------------------------------------------------------------------------------- rows */

static const lab_claim rows[] = {
    {"003-01", "003", "example 1: variance and standard deviation by scale",
     "64, 8; 1, 1; 1/64, 1/8",
     LAB_NUMBERS(LAB_HOLDS, three_scales, 6, 2, .exact = {64, 8, 1, 1, 0.015625, 0.125},
                 .format = "%.6g")},
    {"003-02", "003", "example 2: scores",
     "[0.707, 1.414, 2.121; 1.414, 2.828, 4.243; 2.121, 4.243, 6.364]",
     LAB_NUMBERS(LAB_HOLDS, scores, 9, 3,
                 .exact = {0.7071067811865476, 1.4142135623730951, 2.1213203435596424,
                           1.4142135623730951, 2.8284271247461903, 4.242640687119285,
                           2.1213203435596424, 4.242640687119285, 6.363961030678928},
                 .golden = "s003_example2_causal scores", .format = "%.5f")},
    {"003-03", "003", "example 2: e^1.414, e^2.828, their sum", "4.11, 16.92, 21.03",
     LAB_NUMBERS(LAB_HOLDS, exponentials, 3, .exact = {4.11325038, 16.91882868, 21.03207906},
                 .tolerance = 5e-9)},
    {"003-04", "003", "example 2: weights of row 0", "[1, 0, 0]",
     LAB_NUMBERS(LAB_HOLDS, weights, 3, .row = 0, .exact = {1, 0, 0},
                 .golden = "s003_example2_causal weights 0", .format = "%.6g")},
    {"003-05", "003", "example 2: weights of row 1", "[0.196, 0.804, 0]",
     LAB_NUMBERS(LAB_HOLDS, weights, 3, .row = 1,
                 .exact = {0.1955703174930431, 0.8044296825069569, 0},
                 .golden = "s003_example2_causal weights 1")},
    {"003-06", "003", "example 2: weights of row 2", "[0.063, 0.262, 0.675]",
     LAB_NUMBERS(LAB_WRONG, weights, 3, .row = 2,
                 .exact = {0.012668888447173659, 0.10568570082322366, 0.8816454107296027},
                 .golden = "s003_example2_causal weights 2",
                 .remark = "the logarithms must increase in equal steps of 2.1213")},
    {"003-07", "003", "example 2: output of row 0", "[1, 0]",
     LAB_NUMBERS(LAB_HOLDS, output, 2, .row = 0, .exact = {1, 0},
                 .golden = "s003_example2_causal output 0", .format = "%.6g")},
    {"003-08", "003", "example 2: output of row 1", "[1.804, 0]",
     LAB_NUMBERS(LAB_HOLDS, output, 2, .row = 1, .exact = {1.804429682506957, 0},
                 .golden = "s003_example2_causal output 1")},
    {"003-09", "003", "example 2: output of row 2", "[2.612, 0]",
     LAB_NUMBERS(
         LAB_WRONG, output, 2, .row = 2, .exact = {2.868976522282429, 0},
         .golden = "s003_example2_causal output 2",
         .alternate = {"the stated weights", "003-06", output_of_stated, .exact = {2.612, 0}})},
    {"003-10", "003", "example 3: softmax of [0, 64, 128]", "[0, 0, 1]",
     LAB_NUMBERS(LAB_HOLDS, unscaled, 3, .exact = {2.572209372642415e-56, 1.603810890548638e-28, 1},
                 .golden = "s003_ex3_none softmax", .format = "%.6g")},
    {"003-11", "003", "example 3: divided by sqrt(d_k) = 8", "[1.12e-7, 0.0003, 0.9997]",
     LAB_NUMBERS(LAB_HOLDS, by_root, 3,
                 .exact = {1.1249742337806325e-07, 0.0003353500927404525, 0.9996645374098362},
                 .golden = "s003_ex3_sqrt softmax", .format = "%.6g")},
    {"003-12", "003", "example 3: e^8, e^16", "2981, 8.89e6",
     LAB_NUMBERS(LAB_HOLDS, powers_of_e, 2, .exact = {2980.957987, 8886110.5205},
                 .tolerance = 2e-10, .format = "%.10g")},
    {"003-13", "003", "example 3: divided by d_k = 64", "[0.09, 0.245, 0.665]",
     LAB_NUMBERS(LAB_HOLDS, by_d_k, 3,
                 .exact = {0.09003057317038046, 0.24472847105479764, 0.6652409557748219},
                 .golden = "s003_ex3_dk softmax")},
    {"003-15", "003", "practice 2: shape of the scores", "8x12",
     LAB_NUMBERS(LAB_HOLDS, shape_of_scores, 2, .exact = {8, 12}, .format = "%.0f",
                 .remark = "the only shape that the engine accepts")},
    {"003-16", "003", "practice 4: standard deviation at d_k = 256",
     "1 by sqrt(d_k), 0.0625 by d_k",
     LAB_NUMBERS(LAB_HOLDS, deviations_256, 2, .exact = {1, 0.0625}, .format = "%.6g")},
    {"003-17", "003", "practice 3: the mask for n = 3", "\"lower triangular with zeros\"",
     .test = mask_of_three, .data = LAB_RECORDED(LAB_HOLDS_IF)},
};
const lab_claim_list lab_worked_003 = LAB_ROWS(rows);
