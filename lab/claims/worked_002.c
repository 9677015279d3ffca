/* SPDX-License-Identifier: Apache-2.0 */
/* worked_002.c - the numbers of document 002, the tutorial: four scores at d_k = 64, with and
 * without scaling. Tests: tests/lab/test_claims.c */
#include "core/base.h"
#include "documents.h"
#include "numbers.h"
#include "worked.h"

#include <math.h>

static const double raw[] = {30, 25, -10, 5}; /* the scores it gives */

static attn_status deviation_64(attn_ctx *ctx, int row, double *value, attn_error *err) {
    (void)ctx, (void)row, (void)err;
    value[0] = sqrt(64);
    return ATTN_OK;
}

/* The raw scores as products with unit vectors, times the engine's own 1/sqrt(64). */
static attn_status scaled_scores(attn_ctx *ctx, int row, double *value, attn_error *err) {
    (void)row;
    double q[64] = {0}, k[4 * 64] = {0};
    for (int j = 0; j < 4; j++) {
        q[j] = raw[j];
        k[j * 64 + j] = 1;
    }
    const lab_head head = {.n_q = 1, .n_k = 4, .d_k = 64, .q = q, .k = k};
    return lab_head_scores(ctx, &head, value, err);
}

static attn_status weights_unscaled(attn_ctx *ctx, int row, double *value, attn_error *err) {
    (void)row;
    return lab_softmax(ctx, raw, 4, 1, value, err);
}

static attn_status weights_scaled(attn_ctx *ctx, int row, double *value, attn_error *err) {
    (void)row;
    double scores[4];
    ATTN_TRY(scaled_scores(ctx, 0, scores, err));
    return lab_softmax(ctx, scores, 4, 1, value, err);
}

static attn_status spread(const lab_settings *settings, const lab_claim *claim,
                          lab_outcome *outcome, attn_error *err) {
    double w[4];
    ATTN_TRY(weights_scaled(settings->ctx, 0, w, err));
    const double entropy = lab_entropy(w, 4), tokens = exp(entropy);
    lab_expect(outcome, entropy, 0.77993, 5e-6);
    lab_say(outcome->computed, "entropy %.5f of %.5f; %.1f %% on two tokens", entropy, log(4),
            100 * (w[0] + w[1]));
    lab_conclude(claim, outcome,
                 tokens >= 3   ? LAB_HOLDS
                 : tokens >= 2 ? LAB_HOLDS_IF
                               : LAB_WRONG,
                 "holds if two tokens of four are enough: exp(entropy) is %.2f", tokens);
    return ATTN_OK;
}

static attn_status jacobians(const lab_settings *settings, const lab_claim *claim,
                             lab_outcome *outcome, attn_error *err) {
    double sharp[4], soft[4];
    ATTN_TRY(weights_unscaled(settings->ctx, 0, sharp, err));
    ATTN_TRY(weights_scaled(settings->ctx, 0, soft, err));
    const double near_zero = lab_jacobian_norm(sharp, 4), healthy = lab_jacobian_norm(soft, 4);
    lab_expect(outcome, near_zero, 0.013296, 5e-7);
    lab_expect(outcome, healthy, 0.443158, 5e-7);
    lab_say(outcome->computed, "Jacobian norm %.6f against %.6f", near_zero, healthy);
    lab_conclude(claim, outcome, healthy > 10 * near_zero ? LAB_HOLDS : LAB_WRONG,
                 "%.0f times as large with scaling", healthy / near_zero);
    return ATTN_OK;
}

static attn_status steps(const lab_settings *settings, const lab_claim *claim, lab_outcome *outcome,
                         attn_error *err) {
    (void)settings, (void)err;
    static const char *const step[] = {"Q = X W_Q",   "K = X W_K", "V = X W_V", "Q K^T",
                                       "/ sqrt(d_k)", "softmax",   "times V"};
    const size_t n = sizeof step / sizeof *step;
    lab_said said[2];
    lab_require(outcome, lab_said_numbers(claim->stated, said, 2) == 2, "two numbers stated");
    lab_say(outcome->computed, "%zu operations, %s to %s", n, step[0], step[n - 1]);
    const bool both = said[0].value == (double)n && said[1].value == (double)n;
    lab_conclude(claim, outcome, both ? LAB_HOLDS : LAB_WRONG,
                 "the widget and the table disagree; the table is right");
    return ATTN_OK;
}

static const lab_claim rows[] = {
    {"002-01", "002", "standard deviation of scores at d_k = 64", "8",
     LAB_NUMBERS(LAB_HOLDS, deviation_64, 1, .exact = {8}, .format = "%.6g")},
    {"002-02", "002", "the scores divided by sqrt(64)", "[3.75, 3.125, -1.25, 0.625]",
     LAB_NUMBERS(LAB_HOLDS, scaled_scores, 4, .exact = {3.75, 3.125, -1.25, 0.625},
                 .format = "%.6g")},
    {"002-03", "002", "softmax of [30, 25, -10, 5]", "[0.993, 0.007, 0.000, 0.000]",
     LAB_NUMBERS(LAB_HOLDS, weights_unscaled, 4,
                 .exact = {0.9933071490620125, 0.006692850924192527, 4.219920653529157e-18,
                           1.3794993926840679e-11},
                 .golden = "s002_unscaled softmax", .format = "%.6g")},
    {"002-04", "002", "softmax of the scaled scores", "[0.42, 0.32, 0.04, 0.22]",
     LAB_NUMBERS(LAB_WRONG, weights_scaled, 4,
                 .exact = {0.6305423453867017, 0.3375049965334005, 0.004248560903894639,
                           0.027704097176003147},
                 .golden = "s002_scaled_by_8 softmax",
                 .remark = "no temperature gives it: ratios of logarithms must match the scores")},
    {"002-05", "002", "spread of the scaled weights", "\"spread across tokens\"", .test = spread,
     .data = LAB_RECORDED(LAB_HOLDS_IF)},
    {"002-06", "002", "gradients without and with scaling", "near zero / healthy",
     .test = jacobians, .data = LAB_RECORDED(LAB_HOLDS)},
    {"002-07", "002", "number of steps in attention", "6 in the widget, 7 in the table",
     .test = steps, .data = LAB_RECORDED(LAB_WRONG)},
};
const lab_claim_list lab_worked_002 = LAB_ROWS(rows);
