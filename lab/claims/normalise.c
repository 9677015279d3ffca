/* SPDX-License-Identifier: Apache-2.0 */
/* normalise.c - claims about softmax itself: other normalisers, temperature, overflow, maximum
 * entropy. Tests: tests/lab/test_claims.c */
#include "core/base.h"
#include "documents.h"
#include "outcome.h"
#include "steps/stream.h"
#include "worked.h"

#include <math.h>

static double sum(const double *x, int n) {
    double total = 0;
    for (int i = 0; i < n; i++) total += x[i];
    return total;
}

static attn_status others(const lab_settings *settings, const lab_claim *claim,
                          lab_outcome *outcome, attn_error *err) {
    (void)settings, (void)err;
    static const double s[] = {2, -1, 0.5};
    static const double exact_l1[] = {4.0 / 3, -2.0 / 3, 1.0 / 3};
    double by_max[3], by_sum[3];
    for (int i = 0; i < 3; i++) {
        by_max[i] = s[i] / lab_largest(s, 3);
        by_sum[i] = s[i] / sum(s, 3);
    }
    lab_expect(outcome, sum(by_max, 3), 0.75, 1e-15);
    lab_expect_all(outcome, by_sum, exact_l1, 3, 1e-15);
    lab_say(outcome->computed, "s = [2, -1, 0.5]: by max, sum %.2f; by L1 ", sum(by_max, 3));
    lab_say_list(outcome->computed, "%.3f", by_sum, 3, 0);
    lab_conclude(claim, outcome,
                 fabs(sum(by_max, 3) - 1) > 0.01 && by_sum[1] < 0 ? LAB_HOLDS : LAB_WRONG,
                 "the softmax of the same scores is positive and sums to 1");
    return ATTN_OK;
}

/* Weights of query 0 of document 001 at this temperature. */
static attn_status at_temperature(attn_ctx *ctx, double temperature, double *w, attn_error *err) {
    lab_head head = lab_example_001;
    double all[6];
    head.temperature = temperature;
    ATTN_TRY(lab_head_weights(ctx, &head, all, err));
    memcpy(w, all, 3 * sizeof *w);
    return ATTN_OK;
}

static attn_status limits(const lab_settings *settings, const lab_claim *claim,
                          lab_outcome *outcome, attn_error *err) {
    static const double distinct[] = {0.9, 0.7, 0};
    double cold[3], hot[3], one[3];
    ATTN_TRY(at_temperature(settings->ctx, 0.001, cold, err));
    ATTN_TRY(at_temperature(settings->ctx, 1000, hot, err));
    ATTN_TRY(lab_softmax(settings->ctx, distinct, 3, 0.001, one, err));
    lab_expect(outcome, cold[0], 0.5, 1e-12);
    lab_expect(outcome, hot[0], 0.33341, 5e-6);
    lab_say(outcome->computed, "tau 0.001 ");
    lab_say_list(outcome->computed, "%.3f", cold, 3, 0);
    lab_say(outcome->computed, ", tau 1000 ");
    lab_say_list(outcome->computed, "%.5f", hot, 3, 0);
    const bool one_hot = cold[0] > 0.999, uniform = fabs(hot[0] - hot[2]) < 1e-3;
    lab_conclude(claim, outcome,
                 !uniform         ? LAB_WRONG
                 : one_hot        ? LAB_HOLDS
                 : one[0] > 0.999 ? LAB_HOLDS_IF
                                  : LAB_WRONG,
                 "holds if there is no tie: the two equal scores of query 0 share the weight");
    return ATTN_OK;
}

static attn_status softening(const lab_settings *settings, const lab_claim *claim,
                             lab_outcome *outcome, attn_error *err) {
    enum { N = 7 };
    static const double tau[N] = {0.001, 0.1, 0.5, 1, 2, 10, 1000};
    static const double exact[N] = {0.693, 0.697, 0.961, 1.053, 1.086, 1.098, 1.0986};
    double entropy[N];
    bool rising = true;
    for (int i = 0; i < N; i++) {
        double w[3];
        ATTN_TRY(at_temperature(settings->ctx, tau[i], w, err));
        entropy[i] = lab_entropy(w, 3);
        lab_expect(outcome, entropy[i], exact[i], i < 6 ? 5e-4 : 5e-5);
        if (i) rising = rising && entropy[i] > entropy[i - 1];
    }
    lab_say(outcome->computed, "entropy ");
    lab_say_list(outcome->computed, "%.3f", entropy, N, 0);
    lab_say(outcome->computed, " for tau 0.001 .. 1000");
    lab_conclude(claim, outcome, rising ? LAB_HOLDS : LAB_WRONG,
                 "the entropy rises at every step, from ln 2 (a tie) to ln 3");
    return ATTN_OK;
}

static attn_status overflow(const lab_settings *settings, const lab_claim *claim,
                            lab_outcome *outcome, attn_error *err) {
    static const double s[] = {1000, 999, 0};
    static const double exact[] = {0.7310585786300049, 0.2689414213699951, 0};
    double w[3];
    const double naive = exp(s[0]) / (exp(s[0]) + exp(s[1]) + exp(s[2]));
    ATTN_TRY(lab_softmax(settings->ctx, s, 3, 1, w, err));
    lab_expect_all(outcome, w, exact, 3, 1e-13);
    lab_require(outcome, isfinite(expf(88.7f)) && isinf(expf(88.8f)), "f32 ends at 88.7");
    lab_require(outcome, isfinite(exp(709.7)) && isinf(exp(709.8)), "f64 ends at 709.8");
    lab_say(outcome->computed, "softmax of [1000, 999, 0]: naive %s; shifted ",
            isnan(naive) ? "NaN" : "finite");
    lab_say_list(outcome->computed, "%.6f", w, 3, 0);
    lab_conclude(claim, outcome, isnan(naive) && isfinite(w[0]) ? LAB_HOLDS : LAB_WRONG,
                 "exp overflows above 88.7 in f32 and above 709.8 in f64");
    return ATTN_OK;
}

/* H(p) + E_p[s] */
static double free_energy(const double *p, const double *s, int n) {
    double expected = 0;
    for (int i = 0; i < n; i++) expected += p[i] * s[i];
    return lab_entropy(p, n) + expected;
}

static attn_status maximum_entropy(const lab_settings *settings, const lab_claim *claim,
                                   lab_outcome *outcome, attn_error *err) {
    enum { N = 6, POINTS = 20000 };
    double s[N], w[N], p[N], best = -INFINITY, powers = 0;
    lab_stream stream;
    lab_stream_seed(&stream, settings->seed);
    lab_stream_normals(&stream, N, 1, s);
    ATTN_TRY(lab_softmax(settings->ctx, s, N, 1, w, err));
    for (int i = 0; i < N; i++) powers += exp(s[i]);
    for (int point = 0; point < POINTS; point++) { /* uniform on the simplex: Dirichlet(1) */
        for (int i = 0; i < N; i++) p[i] = -log(1 - lab_stream_uniform(&stream));
        const double total = sum(p, N);
        for (int i = 0; i < N; i++) p[i] /= total;
        best = fmax(best, free_energy(p, s, N));
    }
    const double at_softmax = free_energy(w, s, N);
    lab_expect(outcome, at_softmax, log(powers), 1e-13);
    lab_say(outcome->computed, "H + E[s]: softmax %.6f = log-sum-exp; best of %d others %.6f",
            at_softmax, POINTS, best);
    lab_conclude(claim, outcome, best < at_softmax ? LAB_HOLDS : LAB_WRONG,
                 "no other distribution has a larger H + E[s]");
    return ATTN_OK;
}

static const lab_claim rows[] = {
    {"C-20", "001", "other normalisers", "max breaks the sum; L1 gives negative weights",
     .test = others, .data = LAB_RECORDED(LAB_HOLDS)},
    {"C-21", "001", "limits of the temperature", "tau -> 0: one-hot; tau -> inf: uniform",
     .test = limits, .data = LAB_RECORDED(LAB_HOLDS_IF)},
    {"C-22", "002", "temperature", "higher is softer", .test = softening,
     .data = LAB_RECORDED(LAB_HOLDS)},
    {"C-28", "001", "overflow of softmax", "exp(1000) overflows; log-sum-exp does not",
     .test = overflow, .data = LAB_RECORDED(LAB_HOLDS)},
    {"C-40", "001", "softmax as maximum entropy", "it maximises entropy at a given mean score",
     0.02, .test = maximum_entropy, .data = LAB_RECORDED(LAB_HOLDS)},
};
const lab_claim_list lab_normalise = LAB_ROWS(rows);
