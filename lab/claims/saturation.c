/* SPDX-License-Identifier: Apache-2.0 */
/* saturation.c - claims about the effect of large scores on softmax: near-binary weights, small
 * Jacobians, flips, the three scales. Tests: tests/lab/test_claims.c */
#include "core/base.h"
#include "documents.h"
#include "drawn.h"
#include "measured.h"
#include "steps/scaling.h"
#include "worked.h"

#include <math.h>

static void judge_binary(const lab_settings *settings, const lab_claim *claim, const lab_data *data,
                         lab_outcome *outcome) {
    const double sharp = lab_measured(data, "unscaled", 512, "max"),
                 soft = lab_measured(data, "scaled", 512, "max"),
                 saturated = lab_measured(data, "unscaled", 512, "saturated");
    if (settings->seed == 42) {
        lab_expect(outcome, sharp, 0.9443102340278127, 1e-9);
        lab_expect(outcome, soft, 0.2533381388039121, 1e-9);
        lab_expect(outcome, lab_measured(data, "unscaled", 512, "entropy"), 0.1302580316117528,
                   1e-9);
        lab_expect(outcome, lab_measured(data, "scaled", 512, "entropy"), 2.343568223723126, 1e-9);
    }
    lab_say(outcome->computed, "d_k = 512, mean largest weight: %.3f unscaled, %.3f scaled", sharp,
            soft);
    lab_conclude(claim, outcome, sharp > 0.9 && soft < 0.5 ? LAB_HOLDS : LAB_WRONG,
                 "as a trend: %.0f %% of the rows have a weight above 0.99 (n = 16, 50 trials)",
                 100 * saturated);
}

static void judge_jacobian(const lab_settings *settings, const lab_claim *claim,
                           const lab_data *data, lab_outcome *outcome) {
    const double mean[] = {lab_measured(data, "unscaled", 512, "jacobian_mean"),
                           lab_measured(data, "scaled", 512, "jacobian_mean")},
                 median[] = {lab_measured(data, "unscaled", 512, "jacobian_median"),
                             lab_measured(data, "scaled", 512, "jacobian_median")};
    static const double exact_mean[] = {0.07139038958183926, 0.3062483624927151},
                        exact_median[] = {0.0029015952043318586, 0.3057202162667963};
    if (settings->seed == 42) {
        lab_expect_all(outcome, mean, exact_mean, 2, 1e-9);
        lab_expect_all(outcome, median, exact_median, 2, 1e-9);
    }
    lab_say(outcome->computed,
            "d_k = 512, norm of the Jacobian: mean %.3f (scaled %.3f), median %.4f (%.3f)", mean[0],
            mean[1], median[0], median[1]);
    const bool holds = median[0] < 0.05 * median[1] && mean[0] < 0.5 * mean[1];
    lab_conclude(claim, outcome, holds ? LAB_HOLDS : LAB_WRONG,
                 "for the softmax Jacobian, most of all in the median row; for dL/dQ see C-3c");
}

static attn_status by_d_k(const lab_settings *settings, const lab_claim *claim,
                          lab_outcome *outcome, attn_error *err) {
    enum { N = 16, D = 512 };
    lab_drawn drawn = {
        .head = {
            .n_q = N, .n_k = N, .d_k = D, .d_v = 1, .scale = lab_scaling_factor(LAB_SCALE_D_K, D)}};
    attn_status status = lab_drawn_create(&drawn, settings->seed, err);
    if (status == ATTN_OK)
        status = lab_head_weights(settings->ctx, &drawn.head, drawn.weights, err);
    double low = 1, high = 0, entropy = 0;
    for (int i = 0; i < N * N && status == ATTN_OK; i++) {
        low = fmin(low, drawn.weights[i]);
        high = fmax(high, drawn.weights[i]);
        if (i % N == 0) entropy += lab_entropy(drawn.weights + i, N) / (double)N;
    }
    lab_drawn_free(&drawn);
    if (status != ATTN_OK) return status;
    lab_say(outcome->computed, "weights %.4f .. %.4f, entropy %.5f of %.5f", low, high, entropy,
            log(N));
    lab_conclude(claim, outcome, low < 1e-30 ? LAB_HOLDS : LAB_WRONG,
                 "nothing underflows: the weights tend to uniform, %.4f (n = 16, d_k = 512)",
                 1 / (double)N);
    return ATTN_OK;
}

static attn_status spread(const lab_settings *settings, const lab_claim *claim,
                          lab_outcome *outcome, attn_error *err) {
    static const double tie[] = {10, 10, 0}, step[] = {10, 9, 0}, gap[] = {20, 10, 0};
    double w_tie[3], w_step[3], w_gap[3];
    ATTN_TRY(lab_softmax(settings->ctx, tie, 3, 1, w_tie, err));
    ATTN_TRY(lab_softmax(settings->ctx, step, 3, 1, w_step, err));
    ATTN_TRY(lab_softmax(settings->ctx, gap, 3, 1, w_gap, err));
    lab_expect(outcome, w_tie[0], 0.49998865027519773, 1e-13);
    lab_expect(outcome, w_step[0], 0.731, 5e-4);
    lab_say(outcome->computed, "largest of [10,10,0] %.3f, of [10,9,0] %.3f, of [20,10,0] %.5f",
            w_tie[0], w_step[0], w_gap[0]);
    const bool spread_is_enough = w_tie[0] > 0.99 && w_step[0] > 0.99;
    lab_conclude(claim, outcome,
                 spread_is_enough  ? LAB_HOLDS
                 : w_gap[0] > 0.99 ? LAB_HOLDS_IF
                                   : LAB_WRONG,
                 "holds if the gap between the two largest scores is meant, not max - min");
    return ATTN_OK;
}

static attn_status balance(const lab_settings *settings, const lab_claim *claim,
                           lab_outcome *outcome, attn_error *err) {
    static const double s[] = {0, 64, 128};
    double root[3], whole[3];
    ATTN_TRY(lab_softmax(settings->ctx, s, 3, 8, root, err));
    ATTN_TRY(lab_softmax(settings->ctx, s, 3, 64, whole, err));
    lab_expect(outcome, root[2], 0.9996645374098362, 1e-13);
    lab_expect(outcome, whole[2], 0.6652409557748219, 1e-13);
    lab_say(outcome->computed, "largest weight %.5f by sqrt(d_k), %.3f by d_k", root[2], whole[2]);
    lab_conclude(claim, outcome, root[2] < 0.9 ? LAB_HOLDS : LAB_WRONG,
                 "its own numbers favour d_k: scores of 0, 64, 128 grow as d_k, not as sqrt(d_k)");
    return ATTN_OK;
}

static void judge_flips(const lab_settings *settings, const lab_claim *claim, const lab_data *data,
                        lab_outcome *outcome) {
    const double flips = lab_measured(data, "by_d_k", 512, "flipped_percent"),
                 unscaled = lab_measured(data, "by_d_k", 512, "flipped_unscaled"),
                 scaled = lab_measured(data, "by_d_k", 512, "flipped_scaled");
    (void)settings;
    lab_say(outcome->computed,
            "keys changed by 10 %%: %.0f %% of rows flip, moving %.0f %% of the weight", flips,
            100 * unscaled);
    lab_conclude(claim, outcome, flips > 1 && unscaled > 0.5 ? LAB_HOLDS : LAB_WRONG,
                 "unscaled, d_k = 512; with scaling the same rows flip but move only %.0f %% (E10)",
                 100 * scaled);
}

static const lab_claim rows[] = {
    {"C-3a", "000,001,002,003,004", "unscaled scores at large d_k", "they give near-binary weights",
     0.2, LAB_FROM(LAB_HOLDS, "F4", judge_binary)},
    {"C-3b", "000,001,002,003,004", "gradients through softmax without scaling", "they vanish", 0.2,
     LAB_FROM(LAB_HOLDS, "F4", judge_jacobian)},
    {"C-15", "001", "dividing scores by d_k", "\"causes underflow in softmax\"", .test = by_d_k,
     .data = LAB_RECORDED(LAB_WRONG)},
    {"C-17", "003", "a spread of 10 or more between scores", "the largest weight is about 1",
     .test = spread, .data = LAB_RECORDED(LAB_HOLDS_IF)},
    {"C-48", "003", "example 3: dividing by sqrt(d_k)", "\"the best balance\"", .test = balance,
     .data = LAB_RECORDED(LAB_WRONG), .also = "003-14"},
    {"C-51", "003", "saturated weights and small changes of the keys",
     "they can flip which position gets the attention", 0.3,
     LAB_FROM(LAB_HOLDS, "E10", judge_flips)},
};
const lab_claim_list lab_saturation = LAB_ROWS(rows);
