/* SPDX-License-Identifier: Apache-2.0 */
/* counts.c - claims about work and memory: counted by the engine's cost model or by arithmetic,
 * nothing is timed. Tests: tests/lab/test_claims.c */
#include "core/base.h"
#include "outcome.h"
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
    double n = 64; /* share = n / (n + 256): where it passes 98 % */
    while (n / (n + 256) <= 0.98) n++;
    lab_expect(outcome, share, 100.0 * 16 / 17, 1e-12);
    lab_expect(outcome, four, 98.4615384615384615, 1e-12);
    lab_expect(outcome, n, 12545, 0);
    lab_say(outcome->computed,
            "%.4f %% (A of Q, K, V, A, O); %.2f %% with 4 matrices or A and O only", share, four);
    lab_require(outcome, fabs(four - only_o) < 1e-9, "both other readings are the same");
    lab_conclude(claim, outcome, share > 98 ? LAB_HOLDS : LAB_WRONG,
                 "98 %% is passed only for n > %.0f", n - 1);
    return ATTN_OK;
}

/* Flops of the core: two products and 5 operations of softmax per pair. */
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
    lab_say(outcome->computed, "twice n: x%g, for n = 32 .. 2048", ratio);
    lab_conclude(claim, outcome, ratio == 4 ? LAB_HOLDS : LAB_WRONG, "exactly 4 each time");
    return ATTN_OK;
}

static attn_status crossover(const lab_settings *settings, const lab_claim *claim,
                             lab_outcome *outcome, attn_error *err) {
    const double d_model = 512, d_k = 64;
    double share[2], at = 0;
    for (int i = 0; i < 2; i++) {
        const int64_t n = i ? 4096 : 1024;
        double core;
        ATTN_TRY(core_flops(settings->ctx, n, &core, err));
        const double projections = 8.0 * (double)n * d_model * d_k; /* of Q, K, V and O */
        share[i] = 100 * core / (core + projections);
        at = projections / (core / (double)n); /* where they are equal: both are known in n */
    }
    lab_expect(outcome, share[0], 50.4836, 5e-5);
    lab_expect(outcome, share[1], 80.3077, 5e-5);
    lab_expect(outcome, at, 1004.38, 5e-3);
    lab_say(outcome->computed, "equal at n = %.2f; core %.2f %% at 1024, %.2f %% at 4096", at,
            share[0], share[1]);
    lab_conclude(claim, outcome, share[1] > 50 ? LAB_HOLDS : LAB_WRONG,
                 "for n > %.0f at d_model 512, d_k 64; the same for 8 heads", at);
    return ATTN_OK;
}

static attn_status flops_512(const lab_settings *settings, const lab_claim *claim,
                             lab_outcome *outcome, attn_error *err) {
    const lab_work_shape one = {.n = 512, .d = 64, .heads = 1}, eight = {512, 64, 8};
    attn_cost_info head, heads;
    ATTN_TRY(lab_work(settings->ctx, &one, &head, err));
    ATTN_TRY(lab_work(settings->ctx, &eight, &heads, err));
    lab_expect(outcome, head.flops / 2, 33554432, 0);
    lab_expect(outcome, heads.flops / 2, 268435456, 0);
    lab_say(outcome->computed, "%.1fM FLOP a head, %.1fM for 8; multiply-adds %.1fM, %.1fM",
            head.flops / 1e6, heads.flops / 1e6, head.flops / 2e6, heads.flops / 2e6);
    const bool as_flops = fabs(head.flops / 34e6 - 1) < 0.02,
               as_macs = fabs(head.flops / 2 / 34e6 - 1) < 0.02;
    lab_conclude(claim, outcome,
                 as_flops  ? LAB_HOLDS
                 : as_macs ? LAB_HOLDS_IF
                           : LAB_WRONG,
                 "holds if multiply-adds are meant; FLOP are twice as many");
    return ATTN_OK;
}

static attn_status gpt3(const lab_settings *settings, const lab_claim *claim, lab_outcome *outcome,
                        attn_error *err) {
    double flops[LAB_GPT3_READINGS];
    ATTN_TRY(lab_gpt3_flops(settings->ctx, flops, err));
    lab_expect(outcome, flops[2], 1.98e13, 5e10);
    lab_say(outcome->computed, "FLOP %.2e, %.2e (8x64), %.2e (n = 2048), %.2e (all weights)",
            flops[0], flops[1], flops[2], flops[3]);
    lab_conclude(claim, outcome, lab_gpt3_reading(flops, 4e12) ? LAB_HOLDS_IF : LAB_WRONG,
                 "no reading gives it, as FLOP or as multiply-adds");
    return ATTN_OK;
}

static attn_status matrix_16384(const lab_settings *settings, const lab_claim *claim,
                                lab_outcome *outcome, attn_error *err) {
    const lab_work_shape shape = {.n = 16384, .d = 64, .heads = 1};
    attn_cost_info cost;
    ATTN_TRY(lab_work(settings->ctx, &shape, &cost, err));
    lab_expect(outcome, cost.pairs, 268435456, 0);
    lab_expect(outcome, cost.bytes_dense, 1073741824, 0);
    lab_say(outcome->computed, "%.0f elements, %.0f bytes = 1 GiB", cost.pairs, cost.bytes_dense);
    const bool holds =
        fabs(cost.pairs / 268e6 - 1) < 0.005 && fabs(cost.bytes_dense / 1e9 - 1) < 0.1;
    lab_conclude(claim, outcome, holds ? LAB_HOLDS : LAB_WRONG, "in float32");
    return ATTN_OK;
}

static attn_status comparisons(const lab_settings *settings, const lab_claim *claim,
                               lab_outcome *outcome, attn_error *err) {
    double pairs[3], bytes[3];
    static const double exact[] = {1e6, 1e8, 1e10};
    for (int i = 0; i < 3; i++) {
        const lab_work_shape shape = {.n = (int64_t)(1000 * pow(10, i)), .d = 64, .heads = 1},
                             twice = {.n = 2 * shape.n, .d = 64, .heads = 1};
        attn_cost_info cost, doubled;
        ATTN_TRY(lab_work(settings->ctx, &shape, &cost, err));
        ATTN_TRY(lab_work(settings->ctx, &twice, &doubled, err));
        pairs[i] = cost.pairs;
        bytes[i] = doubled.bytes_dense / cost.bytes_dense;
    }
    lab_expect_all(outcome, pairs, exact, 3, 0);
    lab_say(outcome->computed, "%.0e, %.0e, %.0e pairs; twice n: x%g memory", pairs[0], pairs[1],
            pairs[2], bytes[0]);
    const bool holds = pairs[2] == 1e10 && bytes[0] == 4 && bytes[1] == 4 && bytes[2] == 4;
    lab_conclude(claim, outcome, holds ? LAB_HOLDS : LAB_WRONG,
                 "of a matrix that this engine never builds");
    return ATTN_OK;
}

/* --------------------------------------------------------------------------------- other models */

static attn_status longformer(const lab_settings *settings, const lab_claim *claim,
                              lab_outcome *outcome, attn_error *err) {
    static const int64_t n[] = {1024, 4096, 16384};
    static const double exact[] = {0.559, 0.152, 0.0389}; /* of the parts, overlaps counted twice */
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
    lab_say(outcome->computed, "share of pairs %.3f, %.3f, %.4f at 1k, 4k, 16k; 4k -> 16k: x%.2f",
            share[0], share[1], share[2], growth);
    lab_conclude(claim, outcome, fabs(growth / n_log_n - 1) < 0.02 ? LAB_HOLDS : LAB_WRONG,
                 "O(n): n log n would be x%.2f (256 keys a side, 64 global)", n_log_n);
    return ATTN_OK;
}

/* 12 L d^2 weights of the blocks, and the embeddings. */
static double parameters(double layers, double d, double vocabulary, double positions) {
    return 12 * layers * d * d + (vocabulary + positions) * d;
}

static attn_status model_sizes(const lab_settings *settings, const lab_claim *claim,
                               lab_outcome *outcome, attn_error *err) {
    (void)settings, (void)err;
    const double count[] = {parameters(24, 1024, 30522, 512), parameters(48, 1600, 50257, 1024),
                            parameters(96, 12288, 50257, 2048),
                            parameters(24, 1024, 16 * 16 * 3, 197)}; /* a patch is the word */
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
                 "within %.1f %%; biases and norms are not counted", 100 * worst);
    return ATTN_OK;
}

static attn_status recurrent(const lab_settings *settings, const lab_claim *claim,
                             lab_outcome *outcome, attn_error *err) {
    (void)settings, (void)err;
    const double base = lab_rnn_multiplies(64, 64), longer = lab_rnn_multiplies(128, 64),
                 wider = lab_rnn_multiplies(64, 128);
    lab_say(outcome->computed, "twice n: x%g, twice d: x%g", longer / base, wider / base);
    lab_require(outcome, longer == 2 * base && wider == 4 * base, "a step costs O(d^2)");
    lab_conclude(claim, outcome, longer == 4 * base && wider == 2 * base ? LAB_HOLDS : LAB_WRONG,
                 "a step costs O(d^2), all O(n d^2); n^2 d only when n = d");
    return ATTN_OK;
}

static const lab_claim rows[] = {
    {"C-4", "000", "attention's share of memory at n = 4096", "more than 98 % of activations",
     .test = memory_share, .data = LAB_RECORDED(LAB_WRONG)},
    {"C-5a", "000", "cost of the core", "O(n^2 d_k)", .test = quadratic,
     .data = LAB_RECORDED(LAB_HOLDS)},
    {"C-5b", "000", "core against projections", "the core dominates at long n", .test = crossover,
     .data = LAB_RECORDED(LAB_HOLDS)},
    {"C-31", "001", "FLOP at n = 512, d = 64", "34M a head, 270M for 8 heads", .test = flops_512,
     .data = LAB_RECORDED(LAB_HOLDS_IF)},
    {"C-32", "001", "GPT-3: 96 layers, 16k context", "4e12 FLOP", .test = gpt3,
     .data = LAB_RECORDED(LAB_WRONG)},
    {"C-33", "001", "the matrix at n = 16384", "268M elements, about 1 GB", .test = matrix_16384,
     .data = LAB_RECORDED(LAB_HOLDS)},
    {"C-34", "004", "pairs of 1e3, 1e4, 1e5 words", "1e6, 1e8, 1e10; doubling quadruples memory",
     .test = comparisons, .data = LAB_RECORDED(LAB_HOLDS)},
    {"C-35", "001", "cost of Longformer", "O(n log n) (twice), O(n) (once)", .test = longformer,
     .data = LAB_RECORDED(LAB_WRONG)},
    {"C-44", "001", "parameters of BERT, GPT-2, GPT-3, ViT-L", "340M, 1.5B, 175B, 307M",
     .test = model_sizes, .data = LAB_RECORDED(LAB_HOLDS)},
    {"C-45", "001", "cost of a recurrent network", "O(n d) a step, O(n^2 d) in all",
     .test = recurrent, .data = LAB_RECORDED(LAB_WRONG)},
};
const lab_claim_list lab_counts = LAB_ROWS(rows);
