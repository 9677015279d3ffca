/* SPDX-License-Identifier: Apache-2.0 */
/* variance.c - claims about the size of dot products of random vectors, and so of scores. Tests:
 * tests/lab/test_claims.c */
#include "core/base.h"
#include "dots.h"
#include "drawn.h"
#include "outcome.h"
#include "worked.h"

#include <math.h>

enum { MOST_SIZES = 6 };

/* Moments of dot products for several d. */
static attn_status moments_by_size(const lab_settings *settings, lab_vectors kind, const int64_t *d,
                                   size_t n, lab_moments *m, attn_error *err) {
    for (size_t i = 0; i < n; i++)
        ATTN_TRY(lab_dots_moments(settings, kind, d[i], lab_dots_blocks(d[i]), &m[i], err));
    return ATTN_OK;
}

/* Largest |x - 1|. */
static double off_one(const double *x, size_t n) {
    double worst = 0;
    for (size_t i = 0; i < n; i++) worst = fmax(worst, fabs(x[i] - 1));
    return worst;
}

static attn_status variance(const lab_settings *settings, const lab_claim *claim,
                            lab_outcome *outcome, attn_error *err) {
    static const int64_t d[] = {2, 16, 64, 256, 512, 1024};
    lab_moments m[MOST_SIZES], uniform, signs;
    double ratio[MOST_SIZES + 2];
    ATTN_TRY(moments_by_size(settings, LAB_NORMAL, d, 6, m, err));
    ATTN_TRY(lab_dots_moments(settings, LAB_UNIFORM, 64, 32, &uniform, err));
    ATTN_TRY(lab_dots_moments(settings, LAB_SIGNS, 64, 32, &signs, err));
    for (int i = 0; i < 6; i++) ratio[i] = m[i].variance / (double)d[i];
    ratio[6] = uniform.variance / 64;
    ratio[7] = signs.variance / 64;
    lab_say(outcome->computed, "Var / d_k ");
    lab_say_list(outcome->computed, "%.3f", ratio, 6, 0);
    lab_say(outcome->computed, " for d_k 2 .. 1024; signs %.3f", ratio[7]);
    lab_conclude(
        claim, outcome, off_one(ratio, 8) < 0.08 ? LAB_HOLDS : LAB_WRONG,
        "for independent components of mean 0 and variance 1 of any distribution; uniform: %.3f",
        ratio[6]);
    return ATTN_OK;
}

static attn_status unit_vectors(const lab_settings *settings, const lab_claim *claim,
                                lab_outcome *outcome, attn_error *err) {
    static const int64_t d[] = {2, 16, 64, 256, 512};
    lab_moments m[MOST_SIZES];
    double value[MOST_SIZES], times_d[MOST_SIZES];
    ATTN_TRY(moments_by_size(settings, LAB_UNIT, d, 5, m, err));
    for (int i = 0; i < 5; i++) {
        value[i] = m[i].variance;
        times_d[i] = value[i] * (double)d[i];
    }
    lab_require(outcome, off_one(times_d, 5) < 0.05, "the variance is 1/d_k");
    lab_say_list(outcome->computed, "%.4g", value, 5, 0);
    lab_say(outcome->computed, " for d_k 2, 16, 64, 256, 512");
    const bool is_d = fabs(value[2] / 64 - 1) < 0.1;
    lab_conclude(claim, outcome, is_d ? LAB_HOLDS : LAB_WRONG,
                 "it is 1/d_k; d_k needs components of variance 1 (C-7)");
    return ATTN_OK;
}

static attn_status growth(const lab_settings *settings, const lab_claim *claim,
                          lab_outcome *outcome, attn_error *err) {
    static const int64_t d[] = {64, 512};
    lab_moments m[2];
    ATTN_TRY(moments_by_size(settings, LAB_NORMAL, d, 2, m, err));
    const double small = sqrt(m[0].variance), large = sqrt(m[1].variance);
    lab_expect(outcome, small, 8, 0.25);
    lab_expect(outcome, large, 22.627417, 0.7);
    lab_say(outcome->computed, "standard deviation %.2f at 64, %.2f at 512: x%.2f for 8 d_k", small,
            large, large / small);
    lab_conclude(
        claim, outcome, fabs(large / small - 8) < 1 ? LAB_HOLDS : LAB_WRONG,
        "they grow as sqrt(d_k), their variance as d_k; as d_k only if q and k are aligned");
    return ATTN_OK;
}

static attn_status normality(const lab_settings *settings, const lab_claim *claim,
                             lab_outcome *outcome, attn_error *err) {
    static const int64_t d[] = {2, 16, 64};
    lab_moments m[MOST_SIZES];
    ATTN_TRY(moments_by_size(settings, LAB_NORMAL, d, 3, m, err));
    lab_say(outcome->computed, "excess kurtosis %.2f, %.2f, %.2f for d_k 2, 16, 64 (theory: 6/d_k)",
            m[0].excess_kurtosis, m[1].excess_kurtosis, m[2].excess_kurtosis);
    const bool small_d = fabs(m[0].excess_kurtosis) < 0.3,
               large_d = fabs(m[2].excess_kurtosis) < 0.3;
    lab_conclude(claim, outcome,
                 small_d   ? LAB_HOLDS
                 : large_d ? LAB_HOLDS_IF
                           : LAB_WRONG,
                 "holds if d_k is large: a dot product is normal only in the limit");
    return ATTN_OK;
}

static attn_status three_variances(const lab_settings *settings, const lab_claim *claim,
                                   lab_outcome *outcome, attn_error *err) {
    lab_moments m;
    ATTN_TRY(lab_dots_moments(settings, LAB_NORMAL, 64, lab_dots_blocks(64), &m, err));
    const double scaled[] = {m.variance / 64}; /* for d_k, divide by 64 once more */
    lab_say(outcome->computed, "%.4f by sqrt(d_k), %.6f by d_k, at d_k = 64", scaled[0],
            m.variance / (64 * 64));
    lab_conclude(claim, outcome, off_one(scaled, 1) < 0.05 ? LAB_HOLDS : LAB_WRONG,
                 "expected: 1 and 1/64 = 0.015625");
    return ATTN_OK;
}

static attn_status within_two(const lab_settings *settings, const lab_claim *claim,
                              lab_outcome *outcome, attn_error *err) {
    static const int64_t d[] = {2, 64, 512};
    double share[3];
    for (int i = 0; i < 3; i++)
        ATTN_TRY(lab_dots_within(settings, d[i], 1 / sqrt((double)d[i]), 2, &share[i], err));
    lab_say(outcome->computed, "%.1f %%, %.1f %%, %.1f %% of the scores for d_k 2, 64, 512",
            100 * share[0], 100 * share[1], 100 * share[2]);
    lab_expect(outcome, share[1], 0.9545, 0.01);
    lab_conclude(claim, outcome,
                 share[1] > 0.995  ? LAB_HOLDS
                 : share[1] > 0.94 ? LAB_HOLDS_IF
                                   : LAB_WRONG,
                 "holds if 95 %% of the scores are enough");
    return ATTN_OK;
}

static attn_status beyond_twenty(const lab_settings *settings, const lab_claim *claim,
                                 lab_outcome *outcome, attn_error *err) {
    double within;
    ATTN_TRY(lab_dots_within(settings, 64, 1, 20, &within, err));
    const double share = 1 - within, cells = 256 * share;
    lab_say(outcome->computed, "|s| > 20 for %.2f %% of the scores: %.1f cells of a 16 x 16 matrix",
            100 * share, cells);
    lab_expect(outcome, share, 0.0141, 0.004);
    lab_conclude(
        claim, outcome,
        share > 0.1 ? LAB_HOLDS
        : cells > 1 ? LAB_HOLDS_IF
                    : LAB_WRONG,
        "holds if \"easily\" means a few cells of a matrix: 20 is 2.5 standard deviations");
    return ATTN_OK;
}

static attn_status five_hundred(const lab_settings *settings, const lab_claim *claim,
                                lab_outcome *outcome, attn_error *err) {
    enum { D = 1024, ROWS = 64 };
    lab_moments m;
    ATTN_TRY(lab_dots_moments(settings, LAB_NORMAL, D, 10, &m, err));
    double self = 0;
    lab_drawn drawn = {.head = {.n_q = ROWS, .n_k = 1, .d_k = D, .d_v = 1}};
    const attn_status status = lab_drawn_create(&drawn, settings->seed, err);
    for (int i = 0; i < ROWS && status == ATTN_OK; i++)
        self += pow(lab_norm(drawn.q + i * D, D), 2) / (double)ROWS;
    lab_drawn_free(&drawn);
    if (status != ATTN_OK) return status;
    lab_require(outcome, isfinite(exp(500)) && isinf(expf(500)), "exp(500): f64 yes, f32 no");
    lab_say(outcome->computed,
            "largest of %d: %.0f; 500 is %.1f standard deviations; mean q.q %.0f",
            10 * LAB_DOTS_BLOCK, m.largest, 500 / sqrt(m.variance), self);
    lab_conclude(claim, outcome,
                 m.largest >= 500 ? LAB_HOLDS
                 : self >= 500    ? LAB_HOLDS_IF
                                  : LAB_WRONG,
                 "holds if q and k are aligned; random ones stay below 6 standard deviations");
    return ATTN_OK;
}

static attn_status cosine(const lab_settings *settings, const lab_claim *claim,
                          lab_outcome *outcome, attn_error *err) {
    static const int64_t d[] = {2, 16, 64, 256, 512, 1024};
    lab_moments m[MOST_SIZES];
    double mean[MOST_SIZES];
    ATTN_TRY(moments_by_size(settings, LAB_UNIT, d, 6, m, err));
    for (int i = 0; i < 6; i++) mean[i] = sqrt((double)d[i]) * m[i].mean_absolute;
    lab_expect(outcome, mean[5], sqrt(2 / acos(-1)), 0.02);
    lab_say_list(outcome->computed, "%.3f", mean, 6, 0);
    lab_say(outcome->computed, " for d_k 2 .. 1024");
    lab_conclude(claim, outcome, mean[5] > 1.05 * mean[1] ? LAB_HOLDS : LAB_WRONG,
                 "it tends to sqrt(2/pi) = %.4f; it grows only at a fixed angle",
                 sqrt(2 / acos(-1)));
    return ATTN_OK;
}

static const lab_claim rows[] = {
    {"C-7", "002,003", "Var(q.k), components of variance 1", "d_k", 0.3, variance,
     .data = LAB_RECORDED(LAB_HOLDS), .also = "002-08"},
    {"C-8", "001", "Var(q.k) of random unit vectors", "d_k", 0.2, unit_vectors,
     .data = LAB_RECORDED(LAB_WRONG), .also = "001-10"},
    {"C-9", "001", "growth of scores with d_k", "\"proportionally to d_k\"", 0.1, growth,
     .data = LAB_RECORDED(LAB_WRONG)},
    {"C-10", "003", "distribution of q.k, by the central limit theorem", "q.k ~ N(0, d_k)", 0.1,
     normality, .data = LAB_RECORDED(LAB_HOLDS_IF)},
    {"C-11", "002,003", "variance after scaling", "1 by sqrt(d_k), 1/d_k by d_k", 0.05,
     three_variances, .data = LAB_RECORDED(LAB_HOLDS)},
    {"C-12", "001", "range of scaled scores", "in about [-2, 2]", 0.2, within_two,
     .data = LAB_RECORDED(LAB_HOLDS_IF)},
    {"C-13", "002", "raw scores at d_k = 64", "\"easily +-20 or more\"", 0.05, beyond_twenty,
     .data = LAB_RECORDED(LAB_HOLDS_IF)},
    {"C-14", "004", "dot products of 1024 components", "\"e.g. +500\"", 0.2, five_hundred,
     .data = LAB_RECORDED(LAB_HOLDS_IF)},
    {"C-16", "003", "sqrt(d_k) |cos| of random vectors", "\"still grows with d_k\"", 0.3, cosine,
     .data = LAB_RECORDED(LAB_WRONG), .also = "003-18"},
};
const lab_claim_list lab_variance = LAB_ROWS(rows);
