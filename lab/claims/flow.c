/* SPDX-License-Identifier: Apache-2.0 */
/* flow.c - claims about how gradients reach the positions of a sequence, through the layer of
 * document 000 and, for contrast, through a small recurrent network.
 * Tests: tests/lab/test_claims.c */
#include "core/base.h"
#include "drawn.h"
#include "measured.h"
#include "recurrent.h"
#include "steps/stream.h"
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
    lab_conclude(claim, outcome, steady ? LAB_HOLDS : LAB_WRONG,
                 "d_k = 4 .. 128, means of 100 draws: |dX| varies by x%.2f; one draw is noisy",
                 x.high / x.low);
}

static void judge_positions(const lab_settings *settings, const lab_claim *claim,
                            const lab_data *data, lab_outcome *outcome) {
    const double first = lab_measured_row(data, "positions", 0, "mean_causal"),
                 last = lab_measured_row(data, "positions", 7, "mean_causal"),
                 draws = lab_measured_row(data, "draws", 0, "draws"),
                 largest = lab_measured_row(data, "draws", 0, "first_largest") / draws,
                 falling = lab_measured_row(data, "draws", 0, "falling") / draws;
    const lab_range flat = lab_measured_range(data, "positions", "mean_noncausal");
    if (settings->seed == 42)
        lab_expect(outcome, lab_measured_row(data, "positions", 0, "causal"), 12.41814094002443,
                   1e-9);
    lab_say(outcome->computed,
            "causal means %.2f .. %.2f from first to last; non-causal %.2f .. %.2f", first, last,
            flat.low, flat.high);
    const bool in_mean = first > 2 * last && flat.high < 1.2 * flat.low, always = falling == 1;
    lab_conclude(
        claim, outcome,
        !in_mean ? LAB_WRONG
        : always ? LAB_HOLDS
                 : LAB_HOLDS_IF,
        "holds if taken in the mean: first largest in %.0f %% of draws, monotone in %.0f %%",
        100 * largest, 100 * falling);
}

/* -------------------------------------------------------------------- loss at the last position */

enum { MOST_POSITIONS = 32 };

/* norm (n): gradient of x at each position for a random loss on the last one only; mean of
 * draws. */
static attn_status last_position(const lab_settings *settings, lab_layer *layer, uint32_t draws,
                                 double *norm, attn_error *err) {
    const int64_t width = layer->d_model;
    memset(norm, 0, (size_t)layer->n * sizeof *norm);
    for (uint32_t draw = 0; draw < draws; draw++) {
        double one[MOST_POSITIONS];
        lab_stream stream;
        lab_layer_draw(layer, settings->seed + draw);
        lab_stream_seed(&stream, settings->seed + 1000 + draw);
        memset(layer->dy, 0, (size_t)(layer->B * layer->n * width) * sizeof *layer->dy);
        for (int64_t b = 0; b < layer->B; b++)
            lab_stream_normals(&stream, (size_t)width, 1,
                               layer->dy + ((b + 1) * layer->n - 1) * width);
        ATTN_TRY(lab_layer_forward(settings->ctx, layer, err));
        ATTN_TRY(lab_layer_backward(settings->ctx, layer, err));
        lab_layer_position_norms(layer, one);
        for (int64_t i = 0; i < layer->n; i++) norm[i] += one[i] / draws;
    }
    return ATTN_OK;
}

static attn_status last_only(const lab_settings *settings, const lab_claim *claim,
                             lab_outcome *outcome, attn_error *err) {
    lab_layer layer = {.B = 4, .n = 8, .d_model = 32, .d_k = 16};
    double plain[MOST_POSITIONS], causal[MOST_POSITIONS];
    attn_status status = lab_layer_create(&layer, err);
    if (status == ATTN_OK) status = last_position(settings, &layer, 100, plain, err);
    layer.causal = true;
    if (status == ATTN_OK) status = last_position(settings, &layer, 100, causal, err);
    lab_layer_free(&layer);
    if (status != ATTN_OK) return status;
    const double off = lab_largest_difference(plain, causal, 8);
    lab_require(outcome, off < 1e-13, "the last row sees everything, mask or not");
    lab_say(outcome->computed, "causal = non-causal to %.2g: %.2f first, %.2f last position", off,
            causal[0], causal[7]);
    lab_conclude(claim, outcome, causal[0] > causal[7] ? LAB_HOLDS : LAB_WRONG,
                 "the last row sees all, and the last position gets most (100 draws)");
    return ATTN_OK;
}

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
    lab_say(outcome->computed, "columns ");
    lab_say_list(outcome->computed, "%.3f", received, N, 0);
    lab_say(outcome->computed, "; |dQ| of 0: %.0g", lab_norm(dq, D));
    lab_conclude(claim, outcome,
                 lab_norm(dq, D) < 1e-14 && received[0] > received[N - 1] ? LAB_HOLDS : LAB_WRONG,
                 "early keys are in more rows: sums of 1/i; position 0 has one key, so no query "
                 "gradient");
    return ATTN_OK;
}

/* -------------------------------------------------------------------------------- path length */

static attn_status path_length(const lab_settings *settings, const lab_claim *claim,
                               lab_outcome *outcome, attn_error *err) {
    enum { N = 32 };
    lab_layer layer = {.B = 4, .n = N, .d_model = 32, .d_k = 16};
    double attention[MOST_POSITIONS], recurrent[MOST_POSITIONS];
    attn_status status = lab_layer_create(&layer, err);
    if (status == ATTN_OK) status = last_position(settings, &layer, 50, attention, err);
    lab_layer_free(&layer);
    if (status == ATTN_OK) status = lab_recurrent_norms(N, 16, 50, settings->seed, recurrent, err);
    if (status != ATTN_OK) return status;
    /* distance 1 against distance 31; distance 0 is the token itself, with a query too */
    const double kept = attention[0] / attention[N - 2], decayed = recurrent[0] / recurrent[N - 2];
    lab_say(outcome->computed, "gradient at distance 31 over 1: attention %.2f, recurrent %.1e",
            kept, decayed);
    lab_conclude(claim, outcome, kept > 0.5 && decayed < 0.05 ? LAB_HOLDS : LAB_WRONG,
                 "one layer, 50 draws; a tanh network of 16 units loses it step by step");
    return ATTN_OK;
}

static const lab_claim rows[] = {
    {"C-6a", "000", "gradient flow with scaling", "\"well-behaved with proper scaling\"", 0.4,
     LAB_FROM(LAB_HOLDS, "F7", judge_scaling)},
    {"C-6b", "000", "gradients under a causal mask", "earlier positions get more", 0.4,
     LAB_FROM(LAB_HOLDS_IF, "F7", judge_positions)},
    {"C-6c", "000", "the same, loss at the last position only", "earlier positions get more", 0.1,
     last_only, LAB_RECORDED(LAB_WRONG)},
    {"C-6d", "000", "why earlier positions get more", "they are seen by more rows",
     .test = mechanism, .data = LAB_RECORDED(LAB_HOLDS)},
    {"C-50", "004", "path length between two tokens", "O(1): no decay with distance", 0.3,
     path_length, LAB_RECORDED(LAB_HOLDS)},
};
const lab_claim_list lab_flow = LAB_ROWS(rows);
