/* SPDX-License-Identifier: Apache-2.0 */
/* views.c - claims about interpretations of attention: self-similarity, Markov chain, rank,
 * positions, and what "apple" attends to. Tests: tests/lab/test_claims.c */
#define ATTNI_REAL_f64
#include "core/base.h"
#include "documents.h"
#include "dots.h"
#include "drawn.h"
#include "layers/sinusoidal.h"
#include "measured.h"
#include "support/markov.h"
#include "support/spectrum.h"
#include "worked.h"

#include <math.h>

/* ------------------------------------------------------------------------------ self-similarity */

enum { TOKENS = 16, MOST_WIDTH = 64 };

/* Counts the rows of x (n, d) whose largest dot product is with themselves. */
static attn_status own_largest(attn_ctx *ctx, const double *x, int64_t n, int64_t d, int64_t *count,
                               attn_error *err) {
    double s[TOKENS * TOKENS];
    const lab_head head = {.n_q = n, .n_k = n, .d_k = d, .q = x, .k = x, .scale = 1};
    ATTN_TRY(lab_head_scores(ctx, &head, s, err));
    *count = 0;
    for (int64_t i = 0; i < n; i++) *count += s[i * n + i] == lab_largest(s + i * n, n);
    return ATTN_OK;
}

/* The share of such rows among random tokens. */
static attn_status own_share(const lab_settings *settings, lab_vectors kind, int64_t d,
                             double *share, attn_error *err) {
    enum { TRIALS = 200 };
    double x[TOKENS * MOST_WIDTH];
    int64_t all = 0;
    lab_stream stream;
    lab_stream_seed(&stream, settings->seed);
    for (int trial = 0; trial < TRIALS; trial++) {
        int64_t count;
        lab_vectors_draw(&stream, kind, TOKENS, d, x);
        ATTN_TRY(own_largest(settings->ctx, x, TOKENS, d, &count, err));
        all += count;
    }
    *share = (double)all / (TOKENS * TRIALS);
    return ATTN_OK;
}

static attn_status self_similarity(const lab_settings *settings, const lab_claim *claim,
                                   lab_outcome *outcome, attn_error *err) {
    static const int64_t d[] = {2, 8, 64};
    static const double exact[] = {0.28, 0.87, 1};
    double share[3], unit;
    int64_t of_002, of_003, of_004;
    for (int i = 0; i < 3; i++) {
        ATTN_TRY(own_share(settings, LAB_NORMAL, d[i], &share[i], err));
        lab_expect(outcome, share[i], exact[i], 0.05);
    }
    ATTN_TRY(own_share(settings, LAB_UNIT, 2, &unit, err));
    ATTN_TRY(own_largest(settings->ctx, lab_x_002, 3, 4, &of_002, err));
    ATTN_TRY(own_largest(settings->ctx, lab_example_003.q, 3, 2, &of_003, err));
    ATTN_TRY(own_largest(settings->ctx, lab_x_004, 4, 4, &of_004, err));
    lab_require(outcome, unit == 1, "equal norms: always the own product");
    lab_expect(outcome, (double)of_002, 3, 0);
    lab_expect(outcome, (double)of_003, 1, 0);
    lab_say(
        outcome->computed,
        "%.0f %%, %.0f %%, %.0f %% of the rows for d = 2, 8, 64; 004's X: %d of 4, 002's: %d of 3",
        100 * share[0], 100 * share[1], 100 * share[2], (int)of_004, (int)of_002);
    const bool always = share[0] == 1 && share[1] == 1 && of_004 == 4;
    lab_conclude(claim, outcome, always ? LAB_HOLDS : LAB_WRONG,
                 "true for equal norms or many dimensions; in 004, I.love is larger than I.I");
    return ATTN_OK;
}

static attn_status apple(const lab_settings *settings, const lab_claim *claim, lab_outcome *outcome,
                         attn_error *err) {
    enum { APPLE = 2, PHONES = 3 };
    lab_document_004 document;
    double w[16];
    int rank = 1, stated_rank = 1;
    ATTN_TRY(lab_project_004(settings->ctx, &document, err));
    ATTN_TRY(lab_head_weights(settings->ctx, &document.head, w, err));
    const double *row = w + 4 * APPLE, *stated = lab_stated_weights_004 + 4 * APPLE;
    for (int j = 0; j < 4; j++) {
        rank += row[j] > row[PHONES];
        stated_rank += stated[j] > stated[PHONES];
    }
    lab_expect(outcome, row[PHONES], 0.24826456415810505, 1e-13);
    lab_say(outcome->computed, "%.6f, rank %d of 4 (stated table %.3f, rank %d)", row[PHONES], rank,
            stated[PHONES], stated_rank);
    lab_conclude(claim, outcome, rank == 1 ? LAB_HOLDS : LAB_WRONG,
                 "with its own data the weight is %s than the uniform 0.25",
                 row[PHONES] < 0.25 ? "less" : "hardly larger");
    return ATTN_OK;
}

/* -------------------------------------------------------------------------------- Markov chains */

enum { STATES = 6 };

/* result = a^power; both (n, n) with n <= STATES. */
static void power_of(int64_t n, const double *a, int power, double *result) {
    double next[STATES * STATES];
    memcpy(result, a, (size_t)(n * n) * sizeof *a);
    for (int k = 1; k < power; k++) {
        lab_matrix_product(n, result, a, next);
        memcpy(result, next, (size_t)(n * n) * sizeof *a);
    }
}

/* Two and three hops of the case rand_square in golden.json: Q (4, 3), K (4, 3) with seed 42. */
static attn_status check_golden_hops(attn_ctx *ctx, lab_outcome *outcome, attn_error *err) {
    static const double two[] = {0.3689862871421376, 0.17296441393669906, 0.14272728503481688,
                                 0.31532201388634645},
                        three[] = {0.3480268365463257, 0.20351574777476658, 0.21411097774579294,
                                   0.23434643793311485};
    lab_drawn drawn = {.head = {.n_q = 4, .n_k = 4, .d_k = 3, .d_v = 1}};
    double hops[16];
    attn_status status = lab_drawn_create(&drawn, 42, err);
    if (status == ATTN_OK) status = lab_head_weights(ctx, &drawn.head, drawn.weights, err);
    if (status == ATTN_OK) {
        power_of(4, drawn.weights, 2, hops);
        lab_expect_all(outcome, hops, two, 4, 1e-13);
        power_of(4, drawn.weights, 3, hops);
        lab_expect_all(outcome, hops, three, 4, 1e-13);
    }
    lab_drawn_free(&drawn);
    return status;
}

typedef struct chain {
    double sum_error, spread[3], second; /* spread after 1, 5 and 20 hops */
} chain;

static attn_status walk(const lab_settings *settings, lab_drawn *drawn, chain *found,
                        attn_error *err) {
    static const int hops[] = {1, 5, 20};
    double power[STATES * STATES];
    ATTN_TRY(lab_head_weights(settings->ctx, &drawn->head, drawn->weights, err));
    for (int i = 0; i < 3; i++) {
        power_of(STATES, drawn->weights, hops[i], power);
        found->sum_error = fmax(found->sum_error, lab_row_sum_error(STATES, power));
        found->spread[i] = lab_row_spread(STATES, power);
    }
    return lab_second_eigenvalue(STATES, drawn->weights, &found->second, err);
}

static attn_status markov(const lab_settings *settings, const lab_claim *claim,
                          lab_outcome *outcome, attn_error *err) {
    lab_drawn drawn = {.head = {.n_q = STATES, .n_k = STATES, .d_k = 8, .d_v = 1}};
    chain found = {0};
    ATTN_TRY(check_golden_hops(settings->ctx, outcome, err));
    attn_status status = lab_drawn_create(&drawn, settings->seed, err);
    if (status == ATTN_OK) status = walk(settings, &drawn, &found, err);
    lab_drawn_free(&drawn);
    if (status != ATTN_OK) return status;
    lab_say(outcome->computed,
            "row sums of A^k: error %.0e; spread of rows %.2f, %.1e, %.0e for k = 1, 5, 20",
            found.sum_error, found.spread[0], found.spread[1], found.spread[2]);
    const bool holds = found.sum_error < 1e-14 && found.spread[2] < found.spread[0];
    lab_conclude(
        claim, outcome, holds ? LAB_HOLDS : LAB_WRONG,
        "for a square A (001's own is 2 x 3); the spread falls with the 2nd eigenvalue, %.2f",
        found.second);
    return ATTN_OK;
}

/* --------------------------------------------------------------------------- rank and positions */

static void judge_rank(const lab_settings *settings, const lab_claim *claim, const lab_data *data,
                       lab_outcome *outcome) {
    enum { SCORES, WEIGHTS };
    const double scores = lab_measured_row(data, "rank", SCORES, "rank"),
                 weights = lab_measured_row(data, "rank", WEIGHTS, "rank"),
                 for_90 = lab_measured_row(data, "rank", WEIGHTS, "for_90"),
                 for_99 = lab_measured_row(data, "rank", WEIGHTS, "for_99");
    (void)settings;
    lab_expect(outcome, scores, 64, 0);
    lab_expect(outcome, weights, 256, 0);
    lab_say(outcome->computed, "n = 256, d_k = 64: rank %.0f of Q K^T, %.0f of A", scores, weights);
    lab_conclude(
        claim, outcome,
        weights == 64  ? LAB_HOLDS
        : scores == 64 ? LAB_HOLDS_IF
                       : LAB_WRONG,
        "holds if the scores are meant; A needs %.0f singular values for 90 %% of its energy, "
        "%.0f for 99 %%",
        for_90, for_99);
}

static attn_status positions(const lab_settings *settings, const lab_claim *claim,
                             lab_outcome *outcome, attn_error *err) {
    enum { N = 64, D = 32 };
    double table[N * D], worst = 0, norm_error = 0;
    (void)settings, (void)err;
    attni_sinusoidal_table_f64(N, D, 10000, true, table);
    lab_expect(outcome, table[D], sin(1), 1e-15);
    for (int offset = 0; offset < N; offset++) {
        for (int t = 0; t + offset < N; t++) {
            double dot = 0, first = 0;
            for (int c = 0; c < D; c++) {
                dot += table[t * D + c] * table[(t + offset) * D + c];
                first += table[c] * table[offset * D + c];
            }
            worst = fmax(worst, fabs(dot - first));
            if (offset == 0) norm_error = fmax(norm_error, fabs(dot - (double)D / 2));
        }
    }
    lab_say(outcome->computed, "products at equal distance differ by %.0e; |PE|^2 = d/2 to %.0e",
            worst, norm_error);
    lab_conclude(claim, outcome, worst < 1e-13 && norm_error < 1e-13 ? LAB_HOLDS : LAB_WRONG,
                 "each pair of columns gives cos(a - b): only the distance matters");
    return ATTN_OK;
}

static const lab_claim rows[] = {
    {"C-25", "002,004", "raw embeddings: product of a token with itself", "always the largest", 0.1,
     self_similarity, .data = LAB_RECORDED(LAB_WRONG)},
    {"C-39", "001", "weights as a Markov chain", "A^k stays stochastic: k hops", .test = markov,
     .data = LAB_RECORDED(LAB_HOLDS)},
    {"C-41", "001", "rank of a head", "rank d_k", 0.6, LAB_FROM(LAB_HOLDS_IF, "E5", judge_rank)},
    {"C-43", "001", "sinusoidal positions", "dot products depend on the relative position",
     .test = positions, .data = LAB_RECORDED(LAB_HOLDS)},
    {"C-47", "004", "what \"apple\" attends to", "\"attended strongly to phones\"", .test = apple,
     .data = LAB_RECORDED(LAB_WRONG)},
};
const lab_claim_list lab_views = LAB_ROWS(rows);
