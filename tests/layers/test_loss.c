/* SPDX-License-Identifier: Apache-2.0 */
/* test_loss.c - cross-entropy against libm in double, its special rows, accuracy. */
#include "arrays.h"
#include "differences.h"
#include "layers/loss.h"

#include <math.h>

enum { N = 7, WIDEST = 200 };
static real logits[N * WIDEST], dlogits[N * WIDEST], again[N * WIDEST];
static double want[N * WIDEST];
static int32_t ids[N] = {0, 1, -1, 0, 1, -1, 0}; /* valid from vocab 2 on */
static const int64_t vocabs[] = {2, 3, 17, 64, 65, 200};

static attni_targets targets_of(int64_t vocab) {
    return (attni_targets){.n = N, .vocab = vocab, .ids = ids};
}

/* Logits from -8 to 8. */
static void fill_all(void) {
    fill_random(1, N * WIDEST, logits);
    for (int i = 0; i < N * WIDEST; i++) logits[i] *= 8;
}

static double oracle(const attni_targets *t, double divisor) {
    double loss = 0;
    for (int64_t i = 0; i < t->n; i++) {
        const real *row = logits + i * t->vocab;
        double sum = 0;
        for (int64_t c = 0; c < t->vocab; c++) sum += exp((double)row[c]);
        for (int64_t c = 0; c < t->vocab; c++) {
            want[i * t->vocab + c] =
                t->ids[i] < 0 ? 0 : (exp((double)row[c]) / sum - (c == t->ids[i])) / divisor;
        }
        if (t->ids[i] >= 0) loss += (log(sum) - (double)row[t->ids[i]]) / divisor;
    }
    return loss;
}

/* Exponents up to 16 log2(e) are rounded within 2 units of themselves and enter times their e^-x;
 * the sum adds 20 roundings: a probability is off by 30 units of itself or less. The loss is a
 * logarithm of such a sum. */
#define TOLERANCE (32 * UNIT)

TEST(loss_and_gradient_are_the_formula) {
    attn_ctx *ctx = context_with(ATTN_ISA_AUTO, 1);
    for (int k = 0; k < 6; k++) {
        const attni_targets t = targets_of(vocabs[k]);
        double loss;
        fill_all();
        const double expected = oracle(&t, 5);
        CHECK_INT(R(cross_entropy)(ctx, &t, logits, dlogits, &loss, NULL), ATTN_OK);
        CHECK_NEAR(loss, expected, TOLERANCE);
        CHECK_ARRAY(N * t.vocab, dlogits, want, TOLERANCE);
    }
    attn_ctx_destroy(ctx);
}

TEST(equal_logits_cost_the_logarithm_of_their_number) {
    attn_ctx *ctx = context_with(ATTN_ISA_AUTO, 1);
    const attni_targets t = targets_of(10);
    double loss;
    fill_with(N * 10, 3, logits);
    CHECK_INT(R(cross_entropy)(ctx, &t, logits, NULL, &loss, NULL), ATTN_OK);
    CHECK_NEAR(loss, log(10), 8 * 0x1p-53 * log(10)); /* terms are exactly 1, the rest is double */
    attn_ctx_destroy(ctx);
}

TEST(shards_with_the_divisor_of_the_batch_add_up_to_it) {
    attn_ctx *ctx = context_with(ATTN_ISA_AUTO, 1);
    attni_targets t = targets_of(17), first = t, rest = t;
    double whole, part, other;
    fill_all();
    first.n = 3;
    rest.n = N - 3;
    rest.ids = ids + 3;
    first.divisor = rest.divisor = 5;
    CHECK_INT(R(cross_entropy)(ctx, &t, logits, dlogits, &whole, NULL), ATTN_OK);
    CHECK_INT(R(cross_entropy)(ctx, &first, logits, again, &part, NULL), ATTN_OK);
    CHECK_INT(R(cross_entropy)(ctx, &rest, logits + 3 * 17, again + 3 * 17, &other, NULL), ATTN_OK);
    CHECK_NEAR(part + other, whole, 8 * 0x1p-53 * whole);
    CHECK_SAME_BITS(N * 17, dlogits, again);
    attn_ctx_destroy(ctx);
}

TEST(no_counted_row_costs_nothing) {
    attn_ctx *ctx = context_with(ATTN_ISA_AUTO, 1);
    const int32_t none[2] = {-1, -1};
    const attni_targets t = {.n = 2, .vocab = 3, .ids = none}, empty = {.n = 0, .vocab = 3};
    double loss = 9;
    fill_with(6, 1, dlogits);
    CHECK_INT(R(cross_entropy)(ctx, &t, logits, dlogits, &loss, NULL), ATTN_OK);
    CHECK(loss == 0);
    for (int i = 0; i < 6; i++) CHECK(dlogits[i] == 0);
    CHECK_INT(R(cross_entropy)(ctx, &empty, NULL, NULL, &loss, NULL), ATTN_OK);
    CHECK(loss == 0);
    attn_ctx_destroy(ctx);
}

TEST(large_logits_do_not_overflow) {
    attn_ctx *ctx = context_with(ATTN_ISA_AUTO, 1);
    const int32_t target[1] = {1};
    const attni_targets t = {.n = 1, .vocab = 3, .ids = target};
    double loss;
    logits[0] = 10000, logits[1] = -10000, logits[2] = 9999;
    CHECK_INT(R(cross_entropy)(ctx, &t, logits, dlogits, &loss, NULL), ATTN_OK);
    CHECK_NEAR(loss, 20000 + log1p(exp(-1)), 8 * UNIT + 1e-11);
    CHECK_NEAR((double)dlogits[0], 1 / (1 + exp(-1)), 8 * UNIT);
    CHECK(dlogits[1] == -1);
    attn_ctx_destroy(ctx);
}

TEST(a_logit_of_minus_infinity_has_probability_0) {
    attn_ctx *ctx = context_with(ATTN_ISA_AUTO, 1);
    const int32_t target[1] = {0};
    const attni_targets t = {.n = 1, .vocab = 3, .ids = target};
    double loss;
    logits[0] = 1, logits[1] = (real)-INFINITY, logits[2] = 1;
    CHECK_INT(R(cross_entropy)(ctx, &t, logits, dlogits, &loss, NULL), ATTN_OK);
    CHECK_NEAR(loss, log(2), 2 * UNIT);
    CHECK(dlogits[0] == (real)-0.5 && dlogits[1] == 0 && dlogits[2] == (real)0.5);
    attn_ctx_destroy(ctx);
}

TEST(the_gradient_may_replace_the_logits) {
    attn_ctx *ctx = context_with(ATTN_ISA_AUTO, 1);
    const attni_targets t = targets_of(65);
    double loss, same;
    fill_all();
    CHECK_INT(R(cross_entropy)(ctx, &t, logits, dlogits, &loss, NULL), ATTN_OK);
    CHECK_INT(R(cross_entropy)(ctx, &t, logits, logits, &same, NULL), ATTN_OK);
    CHECK_SAME_BITS(N * 65, dlogits, logits);
    CHECK(loss == same);
    attn_ctx_destroy(ctx);
}

TEST(a_target_outside_the_vocabulary_is_an_error_and_leaves_everything_alone) {
    attn_ctx *ctx = context_with(ATTN_ISA_AUTO, 1);
    const int32_t wrong[2][2] = {{0, 3}, {0, -2}};
    for (int i = 0; i < 2; i++) {
        const attni_targets t = {.n = 2, .vocab = 3, .ids = wrong[i]};
        attn_error err = {""};
        double loss = 9;
        fill_with(6, 7, dlogits);
        CHECK_INT(R(cross_entropy)(ctx, &t, logits, dlogits, &loss, &err), ATTN_E_VALUE);
        CHECK(loss == 9 && dlogits[0] == 7);
        CHECK_MSG(strstr(err.message, "element 1 is"), "%s", err.message);
    }
    attn_ctx_destroy(ctx);
}

TEST(a_nan_shows_in_the_loss) {
    attn_ctx *ctx = context_with(ATTN_ISA_AUTO, 1);
    const attni_targets t = targets_of(17);
    double loss;
    fill_all();
    logits[5] = (real)NAN;
    CHECK_INT(R(cross_entropy)(ctx, &t, logits, NULL, &loss, NULL), ATTN_OK);
    CHECK(isnan(loss));
    attn_ctx_destroy(ctx);
}

TEST(argmax_takes_the_lowest_of_equals_and_never_a_nan) {
    const real ties[] = {1, 3, 3, 2}, nan_first[] = {(real)NAN, 1, 2}, nan_later[] = {1, (real)NAN};
    CHECK_INT(R(argmax)(4, ties), 1);
    CHECK_INT(R(argmax)(1, ties), 0);
    CHECK_INT(R(argmax)(3, nan_first), 2);
    CHECK_INT(R(argmax)(2, nan_later), 0);
}

TEST(correct_rows_are_counted_among_those_with_a_target) {
    const real rows[4][3] = {{0, 1, 0}, {0, 1, 0}, {5, 5, 0}, {0, 0, 9}};
    const int32_t answers[4] = {1, 0, 0, -1}; /* right, wrong, right by the tie, not asked */
    const attni_targets t = {.n = 4, .vocab = 3, .ids = answers};
    CHECK_INT(R(count_correct)(&t, rows[0]), 2);
}

#if REAL_IS_F64
static double loss_of(void *scene) {
    const attni_targets t = targets_of(9);
    double loss;
    if (R(cross_entropy)(scene, &t, logits, NULL, &loss, NULL) != ATTN_OK) return NAN;
    return loss;
}

TEST(gradients_are_slopes) {
    attn_ctx *ctx = context_with(ATTN_ISA_AUTO, 1);
    const attni_targets t = targets_of(9);
    double loss;
    fill_all();
    CHECK_INT(R(cross_entropy)(ctx, &t, logits, dlogits, &loss, NULL), ATTN_OK);
    CHECK_GRADIENT(loss_of, ctx, N * 9, logits, dlogits);
    attn_ctx_destroy(ctx);
}
#endif
