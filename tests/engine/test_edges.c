/* SPDX-License-Identifier: Apache-2.0 */
/* test_edges.c - the limits of the number range as attn.h defines them, one fact per test, with the
 * expected values written down, for the engine on every instruction set and for the oracle: scores
 * of -inf, scores and biases beyond the range, infinite and huge values, and the form of NaN. */
#include "edge_case.h"
#include "isas.h"

#include <float.h>
#include <math.h>
#include <string.h>

static double largest(attn_dtype dtype) {
    static const double most[4] = {
        [ATTN_F32] = FLT_MAX, [ATTN_F64] = DBL_MAX, [ATTN_F16] = 65504, [ATTN_BF16] = 0x1.fep127};
    return most[dtype];
}

/* Rounding of EDGE_KEYS additions in the arithmetic type, and of a stored result. */
static double allowed(attn_dtype dtype) {
    static const double stored[4] = {[ATTN_F16] = 0x1p-11, [ATTN_BF16] = 0x1p-8};
    return (double)EDGE_KEYS * (dtype == ATTN_F64 ? 0x1p-53 : 0x1p-24) + stored[dtype];
}

static bool is_close(attn_dtype dtype, double actual, double expected) {
    if (isnan(expected)) return isnan(actual);
    return actual == expected || fabs(actual - expected) <= allowed(dtype) * fabs(expected);
}

/* Both the engine and the oracle must give this row. */
static void expect(edge_case *e, attn_ctx *ctx, double out, double lse) {
    const attn_dtype dtype = e->args.q.dtype;
    if (!edge_run(e, ctx)) return;
    CHECK_MSG(is_close(dtype, e->expected, out), "%s: the oracle gives %.9g, expected %.9g",
              attn_dtype_name(dtype), e->expected, out);
    CHECK_MSG(is_close(dtype, edge_out(e), out), "%s: the engine gives %.9g, expected %.9g",
              attn_dtype_name(dtype), edge_out(e), out);
    CHECK_MSG(is_close(ATTN_F32, e->expected_lse, lse), "%s: the oracle's lse is %.9g, not %.9g",
              attn_dtype_name(dtype), e->expected_lse, lse);
    CHECK_MSG(is_close(ATTN_F32, edge_lse(e), lse), "%s: the engine's lse is %.9g, not %.9g",
              attn_dtype_name(dtype), edge_lse(e), lse);
}

/* Runs a fact in all dtypes on one instruction set, on 4 keys and on 400, which are three tiles. */
typedef void fact(attn_dtype dtype, int64_t n, attn_ctx *ctx);

static void over_dtypes(attn_isa isa, fact *holds) {
    NEED_ISA(isa);
    attn_ctx *ctx = context_with(isa, 1);
    for (int x = 0; x < 8 && ctx && !check_has_failed(); x++)
        holds((attn_dtype)(x / 2), x % 2 ? EDGE_KEYS : 4, ctx);
    attn_ctx_destroy(ctx);
}

static void give_bias(edge_case *e, double value) {
    const int64_t n = e->args.k.shape[2];
    for (int64_t j = 0; j < n; j++) e->bias[j] = value;
    e->args.bias = attn_tensor_bhsd(e->bias, ATTN_F64, 1, 1, 1, n);
}

/* --------------------------------------------------------------------------------------- scores */

/* A score of -inf hides its key with and without a bias, whatever the value; with all of them hidden
 * the row is empty. */
static void minus_infinite_score(attn_dtype dtype, int64_t n, attn_ctx *ctx) {
    static const double values[3] = {INFINITY, NAN, 5};
    for (int x = 0; x < 6; x++) {
        edge_case e;
        edge_begin(&e, dtype, n);
        if (x % 2) give_bias(&e, 0);
        edge_key(&e, 1, -INFINITY, values[x / 2]);
        edge_key(&e, n - 1, -INFINITY, values[x / 2]);
        expect(&e, ctx, 1, log((double)n - 2));
        for (int64_t j = 0; j < n; j++) edge_key(&e, j, -INFINITY, values[x / 2]);
        expect(&e, ctx, 0, -INFINITY);
        if (check_has_failed()) return;
    }
}

/* Beyond the range scores are infinite: the large ones share the row, the low ones are hidden. */
static void scores_beyond(attn_dtype dtype, int64_t n, attn_ctx *ctx) {
    const double far = dtype == ATTN_F16 ? 65504 : largest(dtype);
    edge_case e;
    edge_begin(&e, dtype, n);
    if (dtype == ATTN_F16) e.args.scale = FLT_MAX / 65504; /* f16 itself does not reach so far */
    edge_key(&e, 0, far, 2);
    edge_key(&e, n - 1, far * 0.9, 4);
    edge_key(&e, 1, -far, NAN);
    expect(&e, ctx, 3, INFINITY);
    edge_key(&e, 0, -far, INFINITY);
    edge_key(&e, n - 1, -far * 0.9, INFINITY);
    expect(&e, ctx, 1, log((double)n - 3));
    edge_key(&e, 0, far * 0.5, 2); /* inside the range: the largest takes all */
    edge_key(&e, n - 1, far * 0.4, 4);
    expect(&e, ctx, 2, e.args.scale * tensor_get(&e.args.k, 0, 0, 0, 0));
}

/* ----------------------------------------------------------------------------------------- bias */

/* A finite bias never masks, however low; beyond the range of the type it counts as its largest
 * number. */
static void huge_bias(attn_dtype dtype, int64_t n, attn_ctx *ctx) {
    static const double low[] = {-1e30, -3.4e38, -3.5e38, -1e300, -DBL_MAX};
    for (size_t x = 0; x < sizeof low / sizeof *low; x++) {
        edge_case e;
        edge_begin(&e, dtype, n);
        for (int64_t j = 0; j < n; j++) edge_key(&e, j, 0.25 * (double)(j % 3), j < n / 2 ? 1 : 3);
        give_bias(&e, low[x]);
        if (!edge_run(&e, ctx)) return;
        CHECK_MSG(is_close(dtype, edge_out(&e), 2) && is_close(dtype, e.expected, 2),
                  "%s, bias %g: %g and %g, expected 2", attn_dtype_name(dtype), low[x],
                  edge_out(&e), e.expected);
        e.bias[0] = -1; /* one key that the others are nothing against */
        edge_key(&e, 0, 0, 7);
        expect(&e, ctx, 7, -1);
        if (check_has_failed()) return;
    }
}

/* --------------------------------------------------------------------------------------- values */

/* A visible key of weight 0 still has a weight in truth. */
static void infinite_value(attn_dtype dtype, int64_t n, attn_ctx *ctx) {
    static const double scores[3] = {0, -100, -2000};
    for (int x = 0; x < 3; x++) {
        edge_case e;
        edge_begin(&e, dtype, n);
        const double share = exp(scores[x]);
        edge_key(&e, 2, scores[x], INFINITY);
        expect(&e, ctx, INFINITY, log((double)n - 1 + share));
        edge_key(&e, 2, scores[x], -INFINITY);
        expect(&e, ctx, -INFINITY, log((double)n - 1 + share));
        edge_key(&e, n - 1, scores[x], INFINITY);
        expect(&e, ctx, NAN, log((double)n - 2 + 2 * share));
        edge_key(&e, 2, scores[x], NAN);
        edge_key(&e, n - 1, scores[x], 1);
        expect(&e, ctx, NAN, log((double)n - 2 + 2 * share));
        if (check_has_failed()) return;
    }
}

/* A mean of the largest numbers is the largest number. */
static void huge_values(attn_dtype dtype, int64_t n, attn_ctx *ctx) {
    const double most = largest(dtype);
    edge_case e;
    edge_begin(&e, dtype, n);
    for (int64_t j = 0; j < n; j++) edge_key(&e, j, 0.37 * (double)(j % 5), most);
    if (!edge_run(&e, ctx)) return;
    CHECK(isfinite(edge_out(&e)) && isfinite(e.expected));
    CHECK(is_close(dtype, edge_out(&e), most) && is_close(dtype, e.expected, most));
    for (int64_t j = 0; j < n; j++) edge_key(&e, j, 0, j % 2 ? -most : most);
    if (!edge_run(&e, ctx)) return;
    CHECK(fabs(edge_out(&e)) <= allowed(dtype) * most && fabs(e.expected) <= allowed(dtype) * most);
}

/* ------------------------------------------------------------------------------------------- NaN */

static uint64_t bits_of(const attn_tensor *t) {
    uint64_t bits = 0;
    memcpy(&bits, t->data, attn_dtype_size(t->dtype));
    return bits;
}

/* Negative and with a payload in, positive and quiet out. */
static void one_form_of_nan(attn_dtype dtype, int64_t n, attn_ctx *ctx) {
    static const uint64_t nan_in[4] = {[ATTN_F32] = 0xffc12345,
                                       [ATTN_F64] = 0xfff8123456789abc,
                                       [ATTN_F16] = 0xfe12,
                                       [ATTN_BF16] = 0xffc5},
                          nan_out[4] = {[ATTN_F32] = 0x7fc00000,
                                        [ATTN_F64] = 0x7ff8000000000000,
                                        [ATTN_F16] = 0x7e00,
                                        [ATTN_BF16] = 0x7fc0};
    for (int x = 0; x < 4; x++) {
        edge_case e;
        edge_begin(&e, dtype, n);
        const attn_tensor *to[3] = {&e.args.q, &e.args.k, &e.args.v};
        if (x < 3) {
            memcpy(to[x]->data, &nan_in[dtype], attn_dtype_size(dtype));
        } else { /* made by the machine */
            edge_key(&e, 0, 0, INFINITY);
            edge_key(&e, n - 1, 0, -INFINITY);
        }
        if (!edge_run(&e, ctx)) return;
        CHECK_MSG(bits_of(&e.out) == nan_out[dtype], "%s: NaN is %llx", attn_dtype_name(dtype),
                  (unsigned long long)bits_of(&e.out));
        CHECK(x >= 2 || bits_of(&e.lse) == nan_out[ATTN_F64]);
    }
}

#define ISA_TESTS(isa, ISA)                                                                        \
    TEST(isa##_a_score_of_minus_infinity_masks) { over_dtypes(ISA, minus_infinite_score); }        \
    TEST(isa##_scores_beyond_the_range_are_infinite) { over_dtypes(ISA, scores_beyond); }          \
    TEST(isa##_a_finite_bias_never_masks) { over_dtypes(ISA, huge_bias); }                         \
    TEST(isa##_infinite_values_count_whatever_their_weight) { over_dtypes(ISA, infinite_value); }  \
    TEST(isa##_a_mean_of_huge_values_is_finite) { over_dtypes(ISA, huge_values); }                 \
    TEST(isa##_nan_has_one_form) { over_dtypes(ISA, one_form_of_nan); }

ISA_LIST(ISA_TESTS)
