/* SPDX-License-Identifier: Apache-2.0 */
/* worked_004.c - the numbers of document 004, the slides: "I love apple phones", four tokens, one
 * head of two. K and V are wrong, and so is everything after them; each later row says whether it is
 * a consequence of the numbers stated before. Tests: tests/lab/test_claims.c */
#include "core/base.h"
#include "documents.h"
#include "numbers.h"
#include "steps/examples.h"
#include "work.h"
#include "worked.h"

#include <math.h>

/* --------------------------------------------------------------------------- from X and the W */

static attn_status queries(attn_ctx *ctx, int row, double *value, attn_error *err) {
    (void)row;
    lab_document_004 document;
    ATTN_TRY(lab_project_004(ctx, &document, err));
    memcpy(value, document.q, sizeof document.q);
    return ATTN_OK;
}

/* Row `row` of a matrix of so many columns. */
static attn_status give(attn_status status, const double *all, int row, size_t columns,
                        double *value) {
    if (status == ATTN_OK) memcpy(value, all + (size_t)row * columns, columns * sizeof *value);
    return status;
}

static attn_status keys(attn_ctx *ctx, int row, double *value, attn_error *err) {
    lab_document_004 document;
    return give(lab_project_004(ctx, &document, err), document.k, row, 2, value);
}

static attn_status values(attn_ctx *ctx, int row, double *value, attn_error *err) {
    lab_document_004 document;
    return give(lab_project_004(ctx, &document, err), document.v, row, 2, value);
}

static attn_status raw(attn_ctx *ctx, int row, double *value, attn_error *err) {
    lab_document_004 document;
    double all[16];
    ATTN_TRY(lab_project_004(ctx, &document, err));
    document.head.scale = 1;
    return give(lab_head_scores(ctx, &document.head, all, err), all, row, 4, value);
}

static attn_status weights(attn_ctx *ctx, int row, double *value, attn_error *err) {
    lab_document_004 document;
    double all[16];
    ATTN_TRY(lab_project_004(ctx, &document, err));
    return give(lab_head_weights(ctx, &document.head, all, err), all, row, 4, value);
}

static attn_status output(attn_ctx *ctx, int row, double *value, attn_error *err) {
    lab_document_004 document;
    double all[8];
    ATTN_TRY(lab_project_004(ctx, &document, err));
    return give(lab_head_output(ctx, &document.head, all, err), all, row, 2, value);
}

/* -------------------------------------------------- from what the document states a step before */

static attn_status stated_raw(attn_ctx *ctx, int row, double *value, attn_error *err) {
    const lab_head head = {
        .n_q = 4, .n_k = 4, .d_k = 2, .q = lab_stated_q_004, .k = lab_stated_k_004, .scale = 1};
    double all[16];
    return give(lab_head_scores(ctx, &head, all, err), all, row, 4, value);
}

static attn_status stated_weights(attn_ctx *ctx, int row, double *value, attn_error *err) {
    return lab_softmax(ctx, lab_stated_scores_004 + 4 * row, 4, sqrt(2), value, err);
}

static attn_status stated_output(attn_ctx *ctx, int row, double *value, attn_error *err) {
    return lab_product(ctx, (lab_matrix){1, 4, lab_stated_weights_004 + 4 * row},
                       (lab_matrix){4, 2, lab_stated_v_004}, value, err);
}

/* ------------------------------------------------------------------------------------ the rest */

static attn_status divisor(const lab_settings *settings, const lab_claim *claim,
                           lab_outcome *outcome, attn_error *err) {
    lab_document_004 document;
    double unscaled[4], scaled[16];
    ATTN_TRY(lab_project_004(settings->ctx, &document, err));
    ATTN_TRY(raw(settings->ctx, 0, unscaled, err));
    ATTN_TRY(lab_head_scores(settings->ctx, &document.head, scaled, err));
    const double by = unscaled[0] / scaled[0], d_k = (double)document.head.d_k;
    lab_expect(outcome, by, 1.41421356237309505, 1e-14);
    lab_say(outcome->computed, "divisor %.8f, d_k = %g", by, d_k);
    lab_conclude(claim, outcome, fabs(by - d_k) < 1e-9 ? LAB_HOLDS : LAB_WRONG,
                 "a typo: the divisor is sqrt(d_k)");
    return ATTN_OK;
}

static attn_status percentages(attn_ctx *ctx, int row, double *value, attn_error *err) {
    (void)row;
    double w[4];
    ATTN_TRY(weights(ctx, 0, w, err));
    value[0] = 100 * w[0];
    value[1] = 100 * w[2];
    return ATTN_OK;
}

static attn_status stated_percentages(attn_ctx *ctx, int row, double *value, attn_error *err) {
    (void)ctx, (void)row, (void)err;
    value[0] = 100 * lab_stated_weights_004[0];
    value[1] = 100 * lab_stated_weights_004[2];
    return ATTN_OK;
}

/* Head 2 is declared by us, in the example 004-heads; the document only simulates it. */
static attn_status concatenation(const lab_settings *settings, const lab_claim *claim,
                                 lab_outcome *outcome, attn_error *err) {
    const lab_example *example = lab_example_named("004-heads");
    lab_steps steps;
    lab_said stated;
    ATTN_TRY(lab_steps_compute(settings->ctx, &example->problem, &steps, err));
    const lab_step *concat = &steps.step[LAB_CONCAT];
    const double columns = (double)concat->columns;
    lab_require(outcome, lab_said_numbers(claim->stated, &stated, 1) == 1, "one number stated");
    lab_say(outcome->computed, "%g columns; with our head 2, \"I\" gets ", columns);
    lab_say_list(outcome->computed, "%.4f", concat->cell, (size_t)concat->columns, 0);
    lab_steps_free(&steps);
    lab_conclude(claim, outcome, columns == stated.value ? LAB_HOLDS : LAB_WRONG,
                 "its head 2 is only simulated; `attn trace --example 004-heads` declares one");
    return ATTN_OK;
}

static attn_status comparisons(attn_ctx *ctx, int row, double *value, attn_error *err) {
    (void)row;
    static const int64_t words[] = {1000, 10000, 100000};
    for (int i = 0; i < 3; i++) {
        const lab_work_shape shape = {.n = words[i], .d = 64, .heads = 1};
        attn_cost_info cost;
        ATTN_TRY(lab_work(ctx, &shape, &cost, err));
        value[i] = cost.pairs;
    }
    return ATTN_OK;
}

/* ----------------------------------------------------------------------------------------- rows */

static const lab_claim rows[] = {
    {"004-01", "004", "Q of the four words", "[1.2, 0.6; 1.0, 1.1; 1.1, 0.7; 0.4, 1.3]",
     LAB_NUMBERS(LAB_HOLDS, queries, 8, 2, .exact = {1.2, 0.6, 1.0, 1.1, 1.1, 0.7, 0.4, 1.3},
                 .golden = "s004_head1_recomputed Q", .format = "%.6g")},
    {"004-02", "004", "K of \"I\"", "[1.2, 0.6]",
     LAB_NUMBERS(LAB_WRONG, keys, 2, .row = 0, .exact = {1.1, 0.7},
                 .golden = "s004_head1_recomputed K 0", .format = "%.6g", .remark = "X W_K")},
    {"004-03", "004", "K of \"love\"", "[0.9, 1.1]",
     LAB_NUMBERS(LAB_WRONG, keys, 2, .row = 1, .exact = {0.9, 1.2},
                 .golden = "s004_head1_recomputed K 1", .format = "%.6g", .remark = "X W_K")},
    {"004-04", "004", "K of \"apple\"", "[0.7, 0.7]",
     LAB_NUMBERS(LAB_WRONG, keys, 2, .row = 2, .exact = {0.6, 1.2},
                 .golden = "s004_head1_recomputed K 2", .format = "%.6g", .remark = "X W_K")},
    {"004-05", "004", "K of \"phones\"", "[1.3, 0.3]",
     LAB_NUMBERS(LAB_WRONG, keys, 2, .row = 3, .exact = {1.2, 0.5},
                 .golden = "s004_head1_recomputed K 3", .format = "%.6g", .remark = "X W_K")},
    {"004-06", "004", "V of \"I\"", "[1.2, 0.6]",
     LAB_NUMBERS(LAB_WRONG, values, 2, .row = 0, .exact = {1.2, 0.8},
                 .golden = "s004_head1_recomputed V 0", .format = "%.6g", .remark = "X W_V")},
    {"004-07", "004", "V of \"love\"", "[0.9, 1.1]",
     LAB_NUMBERS(LAB_WRONG, values, 2, .row = 1, .exact = {1, 1.2},
                 .golden = "s004_head1_recomputed V 1", .format = "%.6g", .remark = "X W_V")},
    {"004-08", "004", "V of \"apple\"", "[1.1, 1.2]",
     LAB_NUMBERS(LAB_WRONG, values, 2, .row = 2, .exact = {1.1, 1.7},
                 .golden = "s004_head1_recomputed V 2", .format = "%.6g", .remark = "X W_V")},
    {"004-09", "004", "V of \"phones\"", "[1.3, 1.3]",
     LAB_NUMBERS(LAB_WRONG, values, 2, .row = 3, .exact = {0.4, 1.7},
                 .golden = "s004_head1_recomputed V 3", .format = "%.6g", .remark = "X W_V")},
    {"004-10", "004", "raw scores of \"I\"", "[1.80, 1.74, 1.26, 1.74]",
     LAB_NUMBERS(LAB_WRONG, raw, 4, .row = 0, .exact = {1.74, 1.8, 1.44, 1.74}, .format = "%.4g",
                 .alternate = {"the stated Q and K", "004-02 to 004-05", stated_raw,
                               .exact = {1.8, 1.74, 1.26, 1.74}})},
    {"004-11", "004", "raw scores of \"love\"", "[1.86, 2.11, 1.47, 1.96]",
     LAB_NUMBERS(LAB_WRONG, raw, 4, .row = 1, .exact = {1.87, 2.22, 1.92, 1.75}, .format = "%.4g",
                 .alternate = {"the stated Q and K", "004-02 to 004-05", stated_raw,
                               .exact = {1.86, 2.11, 1.47, 1.63}})},
    {"004-12", "004", "raw scores of \"apple\"", "[1.74, 1.76, 1.26, 1.64]",
     LAB_NUMBERS(LAB_WRONG, raw, 4, .row = 2, .exact = {1.7, 1.83, 1.5, 1.67}, .format = "%.4g",
                 .alternate = {"the stated Q and K", "004-02 to 004-05", stated_raw,
                               .exact = {1.74, 1.76, 1.26, 1.64}})},
    {"004-13", "004", "raw scores of \"phones\"", "[1.26, 1.79, 1.19, 1.91]",
     LAB_NUMBERS(LAB_WRONG, raw, 4, .row = 3, .exact = {1.35, 1.92, 1.8, 1.13}, .format = "%.4g",
                 .alternate = {"the stated Q and K", "004-02 to 004-05", stated_raw,
                               .exact = {1.26, 1.79, 1.19, 0.91}})},
    {"004-14", "004", "divisor of the scores", "\"divide by d_k = sqrt 2\"", .test = divisor,
     .data = LAB_RECORDED(LAB_WRONG)},
    {"004-15", "004", "weights of \"I\"", "[.278, .266, .190, .266]",
     LAB_NUMBERS(LAB_WRONG, weights, 4, .row = 0,
                 .exact = {0.25959211258272735, 0.27084264548563264, 0.20997312934891263,
                           0.25959211258272735},
                 .golden = "s004_head1_recomputed weights 0",
                 .alternate = {"the stated scores", "004-10", stated_weights,
                               .exact = {0.2778142134723991, 0.26627408860040297, 0.189637609326795,
                                         0.26627408860040297},
                               .golden = "s004_from_stated_scores weights 0"})},
    {"004-16", "004", "weights of \"love\"", "[.248, .296, .189, .267]",
     LAB_NUMBERS(LAB_WRONG, weights, 4, .row = 1,
                 .exact = {0.23610306523708174, 0.30240155915079264, 0.2445998881212045,
                           0.2168954874909211},
                 .golden = "s004_head1_recomputed weights 1",
                 .alternate = {"the stated scores", "004-11", stated_weights,
                               .exact = {0.24840885007252944, 0.2964423228979528,
                                         0.18853889649844427, 0.26660993053107346},
                               .golden = "s004_from_stated_scores weights 1"})},
    {"004-17", "004", "weights of \"apple\"", "[.273, .277, .195, .255]",
     LAB_NUMBERS(LAB_WRONG, weights, 4, .row = 2,
                 .exact = {0.2535873074805301, 0.27800304128303116, 0.22014508707833372,
                           0.24826456415810505},
                 .golden = "s004_head1_recomputed weights 2",
                 .alternate = {"the stated scores", "004-12", stated_weights,
                               .exact = {0.27336120759332566, 0.27725458430673944,
                                         0.19468498104026763, 0.2546992270596673},
                               .golden = "s004_from_stated_scores weights 2"})},
    {"004-18", "004", "weights of \"phones\"", "[.200, .292, .191, .317]",
     LAB_NUMBERS(LAB_WRONG, weights, 4, .row = 3,
                 .exact = {0.2115522677007731, 0.31656321777376323, 0.29081000440121035,
                           0.1810745101242533},
                 .golden = "s004_head1_recomputed weights 3",
                 .alternate = {"the stated scores", "004-13", stated_weights,
                               .exact = {0.2004076039947799, 0.2915232920180572,
                                         0.19072943210325946, 0.31733967188390344},
                               .golden = "s004_from_stated_scores weights 3"})},
    {"004-19", "004", "what \"I\" attends to", "27.8 % itself, 19.0 % apple",
     LAB_NUMBERS(
         LAB_WRONG, percentages, 2, .exact = {25.959211258272735, 20.997312934891263},
         .format = "%.2f %%",
         .alternate = {"the stated weights", "004-15", stated_percentages, .exact = {27.8, 19.0}})},
    {"004-20", "004", "output of \"I\"", "[1.128, 1.034]",
     LAB_NUMBERS(LAB_WRONG, output, 2, .row = 0, .exact = {0.9171604679018004, 1.330945775932729},
                 .golden = "s004_head1_recomputed output 0",
                 .alternate = {"the stated weights and V", "004-15 and 004-06 to 004-09",
                               stated_output, .exact = {1.1278, 1.0332}})},
    {"004-21", "004", "output of \"love\"", "[1.119, 1.049]",
     LAB_NUMBERS(LAB_WRONG, output, 2, .row = 1, .exact = {0.9415433093649842, 1.3363064617112301},
                 .golden = "s004_head1_recomputed output 1",
                 .alternate = {"the stated weights and V", "004-16 and 004-06 to 004-09",
                               stated_output, .exact = {1.119, 1.0483}})},
    {"004-22", "004", "output of \"apple\"", "[1.124, 1.035]",
     LAB_NUMBERS(LAB_WRONG, output, 2, .row = 2, .exact = {0.9237732317090763, 1.3327699026260074},
                 .golden = "s004_head1_recomputed output 2",
                 .alternate = {"the stated weights and V", "004-17 and 004-06 to 004-09",
                               stated_output, .exact = {1.1229, 1.034}})},
    {"004-23", "004", "output of \"phones\"", "[1.125, 1.082]",
     LAB_NUMBERS(LAB_WRONG, output, 2, .row = 3, .exact = {0.9627467479057237, 1.3513213501824226},
                 .golden = "s004_head1_recomputed output 3",
                 .alternate = {"the stated weights and V", "004-18 and 004-06 to 004-09",
                               stated_output, .exact = {1.125, 1.0825}})},
    {"004-24", "004", "concatenation with a \"simulated\" head 2", "4 columns",
     .test = concatenation, .data = LAB_RECORDED(LAB_HOLDS)},
    {"004-25", "004", "comparisons for 1,000, 10,000 and 100,000 words", "1e6, 1e8, 1e10",
     LAB_NUMBERS(LAB_HOLDS, comparisons, 3, .exact = {1e6, 1e8, 1e10}, .format = "%.0f")},
};
const lab_claim_list lab_worked_004 = LAB_ROWS(rows);
