/* SPDX-License-Identifier: Apache-2.0 */
/* counts.c - claims about operations and memory, counted by the engine's cost model or by
 * arithmetic; nothing is timed. Tests: tests/lab/test_claims.c */
#include "core/base.h"
#include "outcome.h"
#include "support/layer_cost.h"
#include "work.h"
#include "worked.h"

#include <math.h>

/* ----------------------------------------------------------------------------- memory and flops */

static attn_status memory_share(const lab_settings *settings, const lab_claim *claim,
                                lab_outcome *outcome, attn_error *err) {
    const lab_work_shape shape = {.n = 4096, .d = 64, .heads = 1};
    attn_cost_info cost;
    ATTN_TRY(lab_work(settings->ctx, &shape, &cost, err));
    const double a = cost.bytes_dense, qkvo = cost.bytes_io, share = 100 * a / (a + qkvo),
                 four = 100 * 4 * a / (4 * a + qkvo), only_o = 100 * a / (a + qkvo / 4);
    double n = 64; /* where the share, n / (n + 256), exceeds 98 % */
    while (n / (n + 256) <= 0.98) n++;
    lab_expect(outcome, share, 100.0 * 16 / 17, 1e-12);
    lab_expect(outcome, four, 98.4615384615384615, 1e-12);
    lab_expect(outcome, n, 12545, 0);
    lab_say(outcome->computed,
            "%.4f %% (A of Q, K, V, A, O); %.2f %% for 4 such matrices or for A of A, O", share,
            four);
    lab_require(outcome, fabs(four - only_o) < 1e-9, "both other readings are the same");
    lab_conclude(claim, outcome, share > 98 ? LAB_HOLDS : LAB_WRONG,
                 "it exceeds 98 %% only for n > %.0f", n - 1);
    return ATTN_OK;
}

/* FLOP of the core: two products, and 5 operations per pair for softmax. */
static attn_status core_flops(attn_ctx *ctx, int64_t n, double *flops, attn_error *err) {
    const lab_work_shape shape = {.n = n, .d = 64, .heads = 1};
    attn_cost_info cost;
    ATTN_TRY(lab_work(ctx, &shape, &cost, err));
    *flops = cost.flops + 5 * cost.pairs;
    return ATTN_OK;
}

static attn_status quadratic(const lab_settings *settings, const lab_claim *claim,
                             lab_outcome *outcome, attn_error *err) {
    double ratio = 4;
    for (int64_t n = 32; n < 4096 && ratio == 4; n *= 2) {
        double once, twice;
        ATTN_TRY(core_flops(settings->ctx, n, &once, err));
        ATTN_TRY(core_flops(settings->ctx, 2 * n, &twice, err));
        ratio = twice / once;
    }
    lab_say(outcome->computed, "doubling n: x%g for n = 32 .. 2048", ratio);
    lab_conclude(claim, outcome, ratio == 4 ? LAB_HOLDS : LAB_WRONG,
                 "by a factor of exactly 4 each time");
    return ATTN_OK;
}

static attn_status crossover(const lab_settings *settings, const lab_claim *claim,
                             lab_outcome *outcome, attn_error *err) {
    enum { D_MODEL = 512 };
    attn_args args;
    double share[2];
    attn_args_init(&args);
    for (int i = 0; i < 2; i++) {
        lab_layer_cost cost;
        args.q = args.k = args.v = attn_tensor_bhsd(NULL, ATTN_F32, 1, 1, i ? 4096 : 1024, 64);
        ATTN_TRY(lab_layer_count(settings->ctx, &args, D_MODEL, &cost, err));
        share[i] = 100 * cost.core / cost.total;
    }
    const double at = lab_layer_crossover(&args, D_MODEL);
    lab_expect(outcome, share[0], 50.4836, 5e-5);
    lab_expect(outcome, share[1], 80.3077, 5e-5);
    lab_expect(outcome, at, 1004.38, 5e-3);
    lab_say(outcome->computed, "equal at n = %.2f; core %.2f %% at n = 1024, %.2f %% at 4096", at,
            share[0], share[1]);
    lab_conclude(claim, outcome, share[1] > 50 ? LAB_HOLDS : LAB_WRONG,
                 "for n > %.0f at d_model 512, d_k 64; `attn cost --n 4096 --d-model 512`", at);
    return ATTN_OK;
}

static attn_status gpt3(const lab_settings *settings, const lab_claim *claim, lab_outcome *outcome,
                        attn_error *err) {
    double flops[LAB_GPT3_READINGS];
    ATTN_TRY(lab_gpt3_flops(settings->ctx, flops, err));
    lab_expect(outcome, flops[2], 1.98e13, 5e10);
    lab_say(outcome->computed, "%.2e FLOP; 8 heads of 64: %.2e; n = 2048: %.2e; all weights: %.2e",
            flops[0], flops[1], flops[2], flops[3]);
    lab_conclude(claim, outcome, lab_gpt3_reading(flops, 4e12) ? LAB_HOLDS_IF : LAB_WRONG,
                 "no reading gives it, neither as FLOP nor as multiply-adds (96 layers)");
    return ATTN_OK;
}

static attn_status doubling(const lab_settings *settings, const lab_claim *claim,
                            lab_outcome *outcome, attn_error *err) {
    static const int64_t words[] = {1000, 10000, 100000};
    bool holds = true;
    double ratio = 0;
    for (int i = 0; i < 3; i++) {
        const lab_work_shape shape = {.n = words[i], .d = 64, .heads = 1},
                             twice = {.n = 2 * words[i], .d = 64, .heads = 1};
        attn_cost_info cost, doubled;
        ATTN_TRY(lab_work(settings->ctx, &shape, &cost, err));
        ATTN_TRY(lab_work(settings->ctx, &twice, &doubled, err));
        ratio = doubled.bytes_dense / cost.bytes_dense;
        holds = holds && ratio == 4;
    }
    lab_say(outcome->computed, "attention matrix: x%g at 1e3, 1e4 and 1e5 words", ratio);
    lab_conclude(claim, outcome, holds ? LAB_HOLDS : LAB_WRONG,
                 "for the attention matrix, which this engine never builds");
    return ATTN_OK;
}

/* --------------------------------------------------------------------------------- other models */

static attn_status longformer(const lab_settings *settings, const lab_claim *claim,
                              lab_outcome *outcome, attn_error *err) {
    static const int64_t n[] = {1024, 4096, 16384};
    static const double exact[] = {0.559, 0.152, 0.0389}; /* of `parts` */
    lab_longformer_pairs pairs[3];
    double share[3];
    (void)settings;
    for (int i = 0; i < 3; i++) {
        const double dense = (double)n[i] * (double)n[i];
        ATTN_TRY(lab_longformer_count(n[i], &pairs[i], err));
        lab_expect(outcome, pairs[i].parts / dense, exact[i], i < 2 ? 5e-4 : 5e-5);
        share[i] = pairs[i].visible / dense;
    }
    const double growth = pairs[2].visible / pairs[1].visible, n_log_n = 4 * log(16384) / log(4096);
    lab_say(outcome->computed, "share of pairs %.3f, %.3f, %.4f at 1k, 4k, 16k; 4k to 16k: x%.2f",
            share[0], share[1], share[2], growth);
    lab_conclude(claim, outcome, fabs(growth / n_log_n - 1) < 0.02 ? LAB_HOLDS : LAB_WRONG,
                 "it is O(n): n log n would give x%.2f (256 keys on each side, 64 global)",
                 n_log_n);
    return ATTN_OK;
}

/* 12 L d^2 weights in the blocks, plus the embeddings. */
static double parameters(double layers, double d, double vocabulary, double positions) {
    return 12 * layers * d * d + (vocabulary + positions) * d;
}

static attn_status model_sizes(const lab_settings *settings, const lab_claim *claim,
                               lab_outcome *outcome, attn_error *err) {
    (void)settings, (void)err;
    const double count[] = {parameters(24, 1024, 30522, 512), parameters(48, 1600, 50257, 1024),
                            parameters(96, 12288, 50257, 2048),
                            parameters(24, 1024, 16 * 16 * 3, 197)}; /* an embedded patch */
    static const double stated[] = {340e6, 1.5e9, 175e9, 307e6};
    static const double exact[] = {333.8e6, 1.557e9, 174.6e9, 303.0e6};
    double worst = 0;
    for (int i = 0; i < 4; i++) {
        lab_expect(outcome, count[i], exact[i], 5e-4 * exact[i]);
        worst = fmax(worst, fabs(count[i] / stated[i] - 1));
    }
    lab_say(outcome->computed, "%.1fM, %.3fB, %.1fB, %.1fM by 12 L d^2 + embeddings",
            count[0] / 1e6, count[1] / 1e9, count[2] / 1e9, count[3] / 1e6);
    lab_conclude(claim, outcome, worst < 0.05 ? LAB_HOLDS : LAB_WRONG,
                 "within %.1f %%; biases and norms are left out", 100 * worst);
    return ATTN_OK;
}

static attn_status recurrent(const lab_settings *settings, const lab_claim *claim,
                             lab_outcome *outcome, attn_error *err) {
    (void)settings, (void)err;
    const double base = lab_rnn_multiplies(64, 64), longer = lab_rnn_multiplies(128, 64),
                 wider = lab_rnn_multiplies(64, 128);
    lab_say(outcome->computed, "doubling n: x%g; doubling d: x%g", longer / base, wider / base);
    lab_require(outcome, longer == 2 * base && wider == 4 * base, "a step costs O(d^2)");
    lab_conclude(claim, outcome, longer == 4 * base && wider == 2 * base ? LAB_HOLDS : LAB_WRONG,
                 "a step costs O(d^2) and n steps O(n d^2), which is n^2 d only if n = d");
    return ATTN_OK;
}

static const lab_claim rows[] = {
    {"C-4", "000", "attention's share of memory at n = 4096", "more than 98 % of the activations",
     .test = memory_share, .data = LAB_RECORDED(LAB_WRONG)},
    {"C-5a", "000", "cost of the core", "O(n^2 d_k)", .test = quadratic,
     .data = LAB_RECORDED(LAB_HOLDS)},
    {"C-5b", "000", "cost of the core against projections", "the core dominates at large n",
     .test = crossover, .data = LAB_RECORDED(LAB_HOLDS)},
    {"C-32", "001", "GPT-3: 96 layers, 16k context", "4e12 FLOP", .test = gpt3,
     .data = LAB_RECORDED(LAB_WRONG), .also = "001-15"},
    {"C-34", "004", "memory when the length doubles", "it quadruples", .test = doubling,
     .data = LAB_RECORDED(LAB_HOLDS)},
    {"C-35", "001", "cost of Longformer", "O(n log n) (twice), O(n) (once)", .test = longformer,
     .data = LAB_RECORDED(LAB_WRONG), .also = "001-19"},
    {"C-44", "001", "parameters of BERT, GPT-2, GPT-3 and ViT-L", "340M, 1.5B, 175B, 307M",
     .test = model_sizes, .data = LAB_RECORDED(LAB_HOLDS)},
    {"C-45", "001", "cost of a recurrent network", "O(n d) a step, O(n^2 d) in all",
     .test = recurrent, .data = LAB_RECORDED(LAB_WRONG), .also = "001-20"},
};
const lab_claim_list lab_counts = LAB_ROWS(rows);
