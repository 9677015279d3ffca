/* SPDX-License-Identifier: Apache-2.0 */
/* flow.c - claims about gradients at the positions of a sequence, in the layer of document 000 and,
 * for comparison, in a small recurrent network.
 * Tests: tests/lab/test_claims.c */
#include "core/base.h"
#include "drawn.h"
#include "measured.h"
#include "support/layer.h"
#include "worked.h"

#include <math.h>

/* ------------------------------------------------------------------------------ from figure 7 */

static void judge_scaling(const lab_settings *settings, const lab_claim *claim,
                          const lab_data *data, lab_outcome *outcome) {
    const lab_range x = lab_measured_range(data, "scaled", "mean_X"),
                    w = lab_measured_range(data, "scaled", "mean_W_Q"),
                    unscaled = lab_measured_range(data, "unscaled", "mean_W_Q");
    static const double exact[] = {12.67762161663644, 19.208977341262223};
    const double first[] = {lab_measured(data, "scaled", 4, "X"),
                            lab_measured(data, "scaled", 4, "W_Q")};
    if (settings->seed == 42) lab_expect_all(outcome, first, exact, 2, 1e-9);
    lab_say(outcome->computed,
            "|dX| %.1f .. %.1f, |dW_Q| %.0f .. %.0f; unscaled |dW_Q| %.0f .. %.0f", x.low, x.high,
            w.low, w.high, unscaled.low, unscaled.high);
    const bool steady = x.high < 2 * x.low && w.high < 3 * w.low;
    lab_conclude(
        claim, outcome, steady ? LAB_HOLDS : LAB_WRONG,
        "means of 100 draws, d_k = 4 .. 128: |dX| varies by a factor of %.2f; one draw is noisy",
        x.high / x.low);
}

enum { POSITIONS = 8 };

/* norm (POSITIONS): gradients under a causal mask for a loss on the last position only. */
static attn_status last_only(const lab_settings *settings, double *norm) {
    lab_layer layer = {.B = 4, .n = POSITIONS, .d_model = 32, .d_k = 16, .causal = true};
    attn_status status = lab_layer_create(&layer, NULL);
    if (status == ATTN_OK)
        status = lab_layer_last_norms(settings->ctx, &layer, 100, settings->seed, norm, NULL);
    lab_layer_free(&layer);
    return status;
}

static void judge_positions(const lab_settings *settings, const lab_claim *claim,
                            const lab_data *data, lab_outcome *outcome) {
    const double first = lab_measured_row(data, "positions", 0, "mean_causal"),
                 last = lab_measured_row(data, "positions", 7, "mean_causal"),
                 draws = lab_measured_row(data, "draws", 0, "draws"),
                 largest = lab_measured_row(data, "draws", 0, "first_largest") / draws,
                 falling = lab_measured_row(data, "draws", 0, "falling") / draws;
    const lab_range flat = lab_measured_range(data, "positions", "mean_noncausal");
    double from_last[POSITIONS];
    lab_require(outcome, last_only(settings, from_last) == ATTN_OK, "a loss on the last position");
    if (settings->seed == 42)
        lab_expect(outcome, lab_measured_row(data, "positions", 0, "causal"), 12.41814094002443,
                   1e-9);
    lab_say(outcome->computed,
            "causal: mean %.2f at the first, %.2f at the last; non-causal %.2f .. %.2f", first,
            last, flat.low, flat.high);
    const bool in_mean = first > 2 * last && flat.high < 1.2 * flat.low, always = falling == 1;
    lab_require(outcome, from_last[0] < from_last[POSITIONS - 1], "the last position gets most");
    lab_conclude(claim, outcome,
                 !in_mean ? LAB_WRONG
                 : always ? LAB_HOLDS
                          : LAB_HOLDS_IF,
                 "holds on average (%.0f %% of draws) if the loss covers all positions; for a loss "
                 "on the last, %.2f to %.2f",
                 100 * largest, from_last[0], from_last[POSITIONS - 1]);
}

/* ------------------------------------------------------------------------------ the mechanism */

static attn_status mechanism(const lab_settings *settings, const lab_claim *claim,
                             lab_outcome *outcome, attn_error *err) {
    enum { N = 8, D = 2 };
    static const double exact[N] = {2.718, 1.718, 1.218, 0.885, 0.635, 0.435, 0.268, 0.125};
    lab_drawn drawn = {.head = {.n_q = N, .n_k = N, .d_k = D, .d_v = D, .causal = true}};
    double received[N] = {0}, dq[N * D];
    const lab_gradient wanted = {.dq = dq};
    attn_status status = lab_drawn_create(&drawn, settings->seed, err);
    if (status == ATTN_OK)
        status = lab_head_gradient(settings->ctx, &drawn.head, drawn.dout, &wanted, err);
    if (status == ATTN_OK) {
        memset(drawn.q, 0, N * D * sizeof *drawn.q); /* equal scores: uniform weights */
        status = lab_head_weights(settings->ctx, &drawn.head, drawn.weights, err);
    }
    for (int i = 0; i < N * N && status == ATTN_OK; i++) received[i % N] += drawn.weights[i];
    lab_drawn_free(&drawn);
    if (status != ATTN_OK) return status;
    lab_expect_all(outcome, received, exact, N, 5e-4);
    lab_say(outcome->computed, "column sums ");
    lab_say_list(outcome->computed, "%.3f", received, N, 0);
    lab_say(outcome->computed, "; |dQ_0| %.0g", lab_norm(dq, D));
    lab_conclude(
        claim, outcome,
        lab_norm(dq, D) < 1e-14 && received[0] > received[N - 1] ? LAB_HOLDS : LAB_WRONG,
        "for uniform weights, column sums are sums of 1/i; position 0 sees one key, so its query "
        "has no gradient");
    return ATTN_OK;
}

/* -------------------------------------------------------------------------------- path length */

static void judge_distance(const lab_settings *settings, const lab_claim *claim,
                           const lab_data *data, lab_outcome *outcome) {
    (void)settings;
    /* distance 31 over distance 1; distance 0 is the token itself, which is a query as well */
    const double kept = lab_measured(data, "gradient", 31, "attention") /
                        lab_measured(data, "gradient", 1, "attention"),
                 decayed = lab_measured(data, "gradient", 31, "recurrent") /
                           lab_measured(data, "gradient", 1, "recurrent");
    lab_say(outcome->computed, "gradient at distance 31 over 1: attention %.2f, recurrent %.1e",
            kept, decayed);
    lab_conclude(claim, outcome, kept > 0.5 && decayed < 0.05 ? LAB_HOLDS : LAB_WRONG,
                 "one layer, mean of 50 draws; a tanh network of 16 units loses the signal (E11)");
}

static const lab_claim rows[] = {
    {"C-6a", "000", "gradient flow with scaling", "\"well-behaved with proper scaling\"", 0.4,
     LAB_FROM(LAB_HOLDS, "F7", judge_scaling)},
    {"C-6b", "000", "gradients under a causal mask", "earlier positions get more", 0.5,
     LAB_FROM(LAB_HOLDS_IF, "F7", judge_positions), .also = "C-6c"},
    {"C-6d", "000", "why earlier positions get more", "more rows attend to them", .test = mechanism,
     .data = LAB_RECORDED(LAB_HOLDS)},
    {"C-50", "004", "path length between two tokens", "O(1): no decay with distance", 0.3,
     LAB_FROM(LAB_HOLDS, "E11", judge_distance)},
};
const lab_claim_list lab_flow = LAB_ROWS(rows);
