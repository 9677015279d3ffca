/* SPDX-License-Identifier: Apache-2.0 */
/* test_extreme.c - the ends of every range: huge, equal, infinite and subnormal scores,
 * temperature, softcap and dropout at their limits, offsets and windows near the end of int64_t,
 * long rows. Small problems with expected values written down; where there is no closed form,
 * the oracle under the bound of bound.c. Every fact on every instruction set, in f32 and f64. */
#include "bound.h"
#include "isas.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------------------------- small tools */

static const problem_spec small = {
    .B = 1, .H = 1, .H_kv = 1, .n_q = 1, .n_k = 4, .d_k = 1, .d_v = 1};

static double unit(const problem *p) { return p->spec.dtype == ATTN_F64 ? 0x1p-53 : 0x1p-24; }

static double out_of(const problem *p, int64_t i) { return tensor_get(&p->out, 0, 0, i, 0); }
static double lse_of(const problem *p, int64_t i) { return tensor_get(&p->lse, 0, 0, i, 0); }

/* q = 1 and scale 1, so that the scores are the keys; v = 0, 1, 2, ... */
static void make_plain(problem *p) {
    const int64_t *q = p->args.q.shape, *v = p->args.v.shape;
    for (int64_t e = 0; e < q[0] * q[1] * q[2] * q[3]; e++)
        tensor_set(&p->args.q,
                   (const int64_t[4]){e / q[3] / q[2] / q[1], e / q[3] / q[2] % q[1],
                                      e / q[3] % q[2], e % q[3]},
                   1);
    for (int64_t e = 0; e < v[0] * v[1] * v[2] * v[3]; e++)
        tensor_set(&p->args.v,
                   (const int64_t[4]){e / v[3] / v[2] / v[1], e / v[3] / v[2] % v[1],
                                      e / v[3] % v[2], e % v[3]},
                   (double)(e / v[3] % v[2]));
    p->args.scale = 1;
}

static void set_key(problem *p, int64_t j, double x) {
    tensor_set(&p->args.k, (const int64_t[4]){0, 0, j, 0}, x);
}
static void set_value(problem *p, int64_t j, double x) {
    tensor_set(&p->args.v, (const int64_t[4]){0, 0, j, 0}, x);
}

/* Runs a fact on one instruction set, in f32 and f64, on a problem of the given spec. */
typedef void fact(problem *p, attn_ctx *ctx);

static void over_reals(attn_isa isa, problem_spec spec, fact *holds) {
    NEED_ISA(isa);
    attn_ctx *ctx = context_with(isa, 1);
    for (int f64 = 0; f64 < 2 && ctx && !check_has_failed(); f64++) {
        problem p;
        spec.dtype = f64 ? ATTN_F64 : ATTN_F32;
        if (problem_make(&p, &spec)) {
            make_plain(&p);
            problem_remember(&p);
            holds(&p, ctx);
        }
        problem_free(&p);
    }
    attn_ctx_destroy(ctx);
}

/* Runs after changes to the inputs. */
static bool run(problem *p, attn_ctx *ctx) {
    problem_remember(p);
    return problem_run(p, ctx);
}

static problem_spec sized(int64_t n_q, int64_t n_k, int64_t d_k, int64_t d_v) {
    problem_spec spec = small;
    spec.n_q = n_q;
    spec.n_k = n_k;
    spec.d_k = d_k;
    spec.d_v = d_v;
    return spec;
}

/* A weight of 1 is 2^x / 2^x with two rounded products and a rounded quotient: 3 units. */
#define CHECK_VALUE(p, actual, expected)                                                           \
    CHECK_NEAR(actual, expected, 3.01 * unit(p) * fabs((double)(expected)))

/* --------------------------------------------------------------------------------- large scores */

/* One key far above the others takes the whole row, wherever it stands. */
static void one_key_wins(problem *p, attn_ctx *ctx) {
    static const double sizes[] = {1e3, 1e4, 1e6, 1e30};
    for (size_t x = 0; x < 4; x++) {
        for (int64_t winner = 0; winner < p->spec.n_k; winner += 67) {
            for (int64_t j = 0; j < p->spec.n_k; j++) set_key(p, j, j % 2 ? 0 : -sizes[x]);
            set_key(p, winner, sizes[x]);
            if (!run(p, ctx)) return;
            CHECK_VALUE(p, out_of(p, 0), (double)winner);
            /* ln 2 times the rounded product of score and log2 e */
            CHECK_NEAR(lse_of(p, 0), sizes[x], 6 * unit(p) * sizes[x]);
        }
    }
}

/* All scores far below zero: the largest still counts fully. */
static void all_are_low(problem *p, attn_ctx *ctx) {
    static const double sizes[] = {1e4, 1e30};
    for (size_t x = 0; x < 2; x++) {
        for (int64_t j = 0; j < p->spec.n_k; j++) set_key(p, j, -sizes[x] * (j == 3 ? 1 : 2));
        if (!run(p, ctx)) return;
        CHECK_VALUE(p, out_of(p, 0), 3);
        CHECK_NEAR(lse_of(p, 0), -sizes[x], 6 * unit(p) * sizes[x]);
    }
}

/* --------------------------------------------------------------------------------- equal scores */

/* Scores of 0 have weights of exactly 1: sums of small integers are exact, and so is the division
 * where it comes out even. */
static void equal_zero(problem *p, attn_ctx *ctx) {
    const int64_t n = p->spec.n_k;
    for (int64_t j = 0; j < n; j++) set_key(p, j, 0);
    for (int64_t j = 0; j < n; j++) set_value(p, j, j % 2 ? 3 : 5);
    if (!run(p, ctx)) return;
    CHECK_NEAR(out_of(p, 0), 4, 0);
    CHECK_NEAR(lse_of(p, 0), log((double)n), 4 * unit(p) * log((double)n));
}

/* Any other common score gives the mean up to the rounding of one tile's sums. */
static void equal_any(problem *p, attn_ctx *ctx) {
    static const double scores[] = {0.3, -7.7, 123.4, 1e4, -1e4, 1e30, -1e30};
    const int64_t n = p->spec.n_k;
    const double mean = (double)(n - 1) / 2;
    for (size_t x = 0; x < sizeof scores / sizeof scores[0]; x++) {
        for (int64_t j = 0; j < n; j++) set_key(p, j, scores[x]);
        if (!run(p, ctx)) return;
        const double allowed = (2 * 4 * sqrt(192) + 22) * unit(p) * (double)n;
        CHECK_NEAR(out_of(p, 0), mean, allowed);
        CHECK_NEAR(lse_of(p, 0), (double)(scores[x] + log((double)n)),
                   6 * unit(p) * fabs(scores[x]) + allowed / (double)n + 8 * unit(p));
    }
}

/* ----------------------------------------------------------------------------------- infinities */

static void give_bias(problem *p, double *bias) {
    p->args.bias = attn_tensor_bhsd(bias, ATTN_F64, 1, 1, 1, p->spec.n_k);
}

/* Keys whose bias is +inf share the row equally, also across tiles; the others get nothing. */
static void infinite_bias(problem *p, attn_ctx *ctx) {
    static const int64_t pairs[][2] = {{0, 1}, {3, 100}, {5, 250}, {200, 390}, {191, 192}};
    double bias[400];
    for (size_t x = 0; x < sizeof pairs / sizeof pairs[0]; x++) {
        for (int64_t j = 0; j < 400; j++) {
            bias[j] = j == pairs[x][0] || j == pairs[x][1] ? INFINITY : 0;
            set_key(p, j, (double)(j % 7));
        }
        give_bias(p, bias);
        if (!run(p, ctx)) return;
        CHECK_NEAR(out_of(p, 0), (double)(pairs[x][0] + pairs[x][1]) / 2, 0);
        CHECK_NEAR(lse_of(p, 0), INFINITY, 0);
    }
}

/* The same from q.k itself: an infinite key that points the way of the query. */
static void infinite_key(problem *p, attn_ctx *ctx) {
    for (int64_t j = 0; j < 400; j++) set_key(p, j, (double)(j % 5));
    set_key(p, 7, INFINITY);
    set_key(p, 300, INFINITY);
    set_key(p, 301, -INFINITY);
    if (!run(p, ctx)) return;
    CHECK_NEAR(out_of(p, 0), (7 + 300) / 2.0, 0);
    CHECK_NEAR(lse_of(p, 0), INFINITY, 0);
}

/* A sink cannot stand against +inf. */
static void infinite_bias_and_sink(problem *p, attn_ctx *ctx) {
    const double sink = 50;
    double bias[400] = {0};
    for (int64_t j = 0; j < 400; j++) set_key(p, j, 0);
    bias[10] = INFINITY;
    give_bias(p, bias);
    p->args.sinks = &sink;
    if (!run(p, ctx)) return;
    CHECK_NEAR(out_of(p, 0), 10, 0);
    CHECK_NEAR(lse_of(p, 0), INFINITY, 0);
}

static void minus_infinite_bias(problem *p, attn_ctx *ctx) {
    double bias[400];
    for (int64_t left = 0; left < 400; left += 133) {
        for (int64_t j = 0; j < 400; j++) {
            bias[j] = j == left ? 0.5 : -INFINITY;
            set_key(p, j, 1e4 * (double)(j % 3));
        }
        give_bias(p, bias);
        if (!run(p, ctx)) return;
        CHECK_VALUE(p, out_of(p, 0), (double)left);
        const double lse = 1e4 * (double)(left % 3) + 0.5;
        CHECK_NEAR(lse_of(p, 0), lse, 6 * unit(p) * lse);
    }
    for (int64_t j = 0; j < 400; j++) bias[j] = -INFINITY;
    if (!run(p, ctx)) return;
    CHECK(out_of(p, 0) == 0 && !signbit(out_of(p, 0)));
    CHECK_NEAR(lse_of(p, 0), -INFINITY, 0);
}

/* Only -inf masks: with the lowest finite number on every key the row is still shared. */
static void lowest_bias(problem *p, attn_ctx *ctx) {
    double bias[4];
    for (int64_t j = 0; j < 4; j++) {
        bias[j] = p->spec.dtype == ATTN_F64 ? -DBL_MAX : -(double)FLT_MAX;
        set_key(p, j, (double)j);
    }
    give_bias(p, bias);
    if (!run(p, ctx)) return;
    CHECK_NEAR(out_of(p, 0), 1.5, 8 * unit(p));
}

/* ----------------------------------------------------------------------------------- subnormals */

/* Scores of subnormal queries and keys are 0. */
static void subnormal_scores(problem *p, attn_ctx *ctx) {
    const double tiny = p->spec.dtype == ATTN_F64 ? 0x1p-1060 : 0x1p-140;
    tensor_set(&p->args.q, (const int64_t[4]){0}, tiny);
    for (int64_t j = 0; j < 4; j++) set_key(p, j, (double)(j + 1) * tiny);
    if (!run(p, ctx)) return;
    CHECK_NEAR(out_of(p, 0), 1.5, 0);
    CHECK_NEAR(lse_of(p, 0), log(4), 2 * unit(p) * log(4));
}

/* Subnormal values are not flushed: 4 equal weights of integers times the smallest number. */
static void subnormal_values(problem *p, attn_ctx *ctx) {
    const double least = p->spec.dtype == ATTN_F64 ? 0x1p-1074 : 0x1p-149;
    for (int64_t j = 0; j < 4; j++) {
        set_key(p, j, 0);
        set_value(p, j, (double)(4 * j) * least);
    }
    if (!run(p, ctx)) return;
    CHECK_NEAR(out_of(p, 0), 6 * least, 0);
}

/* ------------------------------------------------------------------------- temperature, softcap */

static void cold(problem *p, attn_ctx *ctx) {
    static const double temperatures[] = {1e-3, 1e-6, 1e-12};
    for (size_t x = 0; x < 3; x++) {
        p->args.temperature = temperatures[x];
        for (int64_t j = 0; j < p->spec.n_k; j++) set_key(p, j, 0.25);
        set_key(p, 10, 0.5);
        set_key(p, 220, 0.5);
        if (!run(p, ctx)) return;
        CHECK_NEAR(out_of(p, 0), 115, 4 * unit(p) * 220);
    }
}

static void hot(problem *p, attn_ctx *ctx) {
    p->args.temperature = 1e6;
    for (int64_t j = 0; j < p->spec.n_k; j++) set_key(p, j, (double)(j % 9) - 4);
    if (!run(p, ctx)) return;
    const double n = (double)p->spec.n_k;
    CHECK_NEAR(out_of(p, 0), (n - 1) / 2, 1e-5 * n); /* scores differ by 8e-6 at most */
    CHECK_NEAR(lse_of(p, 0), log(n), 1e-5);
    bound_check(p, NULL);
}

/* Far below the scores a cap leaves hardly a difference; far above them it does nothing. */
static void caps(problem *p, attn_ctx *ctx) {
    static const double softcaps[] = {1e-30, 1e-3, 1, 1e3, 1e6, 1e30};
    for (int64_t j = 0; j < p->spec.n_k; j++) set_key(p, j, (double)(j % 9) - 4);
    for (size_t x = 0; x < sizeof softcaps / sizeof softcaps[0]; x++) {
        p->args.softcap = softcaps[x];
        if (!run(p, ctx) || !bound_check(p, NULL)) return;
    }
    p->args.softcap = 2;
    set_key(p, 3, INFINITY); /* tanh is 1 there */
    set_key(p, 4, -INFINITY);
    if (run(p, ctx)) CHECK(isfinite(out_of(p, 0)) && isfinite(lse_of(p, 0)));
}

/* -------------------------------------------------------------------------------------- dropout */

/* With v the unit matrix and equal weights, out shows the weights themselves. */
static void make_transparent(problem *p) {
    const int64_t n = p->spec.n_k;
    int64_t at[4];
    for (at[0] = 0; at[0] < p->spec.B; at[0]++) {
        for (at[1] = 0; at[1] < p->spec.H_kv; at[1]++) {
            for (at[2] = 0; at[2] < n; at[2]++) {
                for (at[3] = 0; at[3] < n; at[3]++) tensor_set(&p->args.v, at, at[2] == at[3]);
            }
        }
    }
    p->args.scale = 0;
}

static int64_t count_visible(const problem *p, int64_t i) {
    int64_t n = 0;
    for (int64_t j = 0; j < p->spec.n_k; j++) n += problem_sees(p, 0, 0, i, j);
    return n;
}

/* Checks every weight; counts the visible ones and those of them that were kept. */
static void count_kept(const problem *p, double *seen, double *kept) {
    const attn_args *a = &p->args;
    *seen = *kept = 0;
    for (int64_t row = 0; row < p->spec.B * p->spec.H * p->spec.n_q; row++) {
        const int64_t i = row % p->spec.n_q, h = row / p->spec.n_q % p->spec.H;
        const int64_t b = row / p->spec.n_q / p->spec.H;
        const double weight = 1 / ((double)count_visible(p, i) * (1 - a->dropout));
        for (int64_t j = 0; j < p->spec.n_k; j++) {
            const bool sees = problem_sees(p, b, h, i, j);
            const bool keep = sees && attn_dropout_keep(a->seed, a->dropout, b, h, i, j);
            const double out = tensor_get(&p->out, b, h, i, j), expected = keep ? weight : 0;
            *seen += sees;
            *kept += keep;
            CHECK_MSG(fabs(out - expected) <= 4 * unit(p) * weight,
                      "weight of b=%" PRId64 " h=%" PRId64 " i=%" PRId64 " j=%" PRId64
                      " is %.9g, expected %.9g\n    %s",
                      b, h, i, j, out, expected, p->text);
        }
    }
}

/* Out shows 0 or 1 / (1 - p) times the weight just as attn_dropout_keep() says; the kept part is
 * 1 - p within five standard deviations, so that the mean of out is the weight without dropout. */
static void dropped(problem *p, attn_ctx *ctx) {
    static const double rates[] = {0, 0.01, 0.25, 0.5, 0.9, 0.999};
    make_transparent(p);
    p->args.offset = 3; /* with a window, so that rows begin at every key of a group of four */
    for (size_t x = 0; x < 2 * sizeof rates / sizeof rates[0]; x++) {
        const double rate = rates[x / 2];
        double seen, kept;
        p->args.window_left = x % 2 ? 10 : -1;
        p->args.dropout = rate;
        p->args.seed = 0x123456789abcdef0u + x;
        if (!run(p, ctx)) return;
        count_kept(p, &seen, &kept);
        if (check_has_failed()) return;
        CHECK_NEAR(kept / seen, 1 - rate, 5 * sqrt(rate * (1 - rate) / seen));
        CHECK_NEAR(lse_of(p, 0), log((double)count_visible(p, 0)),
                   8 * unit(p)); /* before dropout */
    }
}

/* ----------------------------------------------------------------- windows at the ends of int64 */

/* One visible key has all the weight. */
static void window_of_one(problem *p, attn_ctx *ctx) {
    p->args.window_left = p->args.window_right = 0;
    p->args.offset = 0;
    for (int64_t j = 0; j < p->spec.n_k; j++) set_key(p, j, 3 * sin((double)j));
    if (!run(p, ctx)) return;
    for (int64_t i = 0; i < p->spec.n_q; i++) {
        if (i < p->spec.n_k) {
            CHECK_VALUE(p, out_of(p, i), (double)i);
            CHECK_NEAR(lse_of(p, i), tensor_get(&p->args.k, 0, 0, i, 0), 12 * unit(p));
        } else {
            CHECK(out_of(p, i) == 0 && lse_of(p, i) == -INFINITY);
        }
    }
}

static const struct {
    int64_t offset, left, right;
    int causal;
} ends[] = {
    {INT64_MAX, -1, -1, 1},
    {-INT64_MAX, -1, -1, 1},
    {INT64_MAX, 0, 0, 0},
    {-INT64_MAX, 0, 0, 0},
    {0, INT64_MAX, INT64_MAX, 0},
    {3, INT64_MAX, 1, 0},
    {-3, 1, INT64_MAX, 1},
    {INT64_MAX, INT64_MAX, -1, 0},     /* row i sees keys from i on */
    {INT64_MAX - 2, INT64_MAX, 5, 0},  /* from i - 2 on */
    {INT64_MAX, INT64_MAX - 5, -1, 0}, /* from i + 5 on */
    {-INT64_MAX, -1, INT64_MAX, 0},    /* up to i */
    {-INT64_MAX, 3, INT64_MAX, 0},
    {-5, INT64_MAX, INT64_MAX, 1},
    {INT64_MAX, INT64_MAX, INT64_MAX, 1},
};

/* Equal scores: out is the mean of the keys that problem_sees() counts with 128 bits. */
static void expect_means(const problem *p, const attn_tensor *out, const char *who) {
    for (int64_t i = 0; i < p->spec.n_q; i++) {
        double sum = 0, seen = 0;
        for (int64_t j = 0; j < p->spec.n_k; j++) {
            const bool sees = problem_sees(p, 0, 0, i, j);
            sum += sees ? (double)j : 0;
            seen += sees;
        }
        const double expected = seen > 0 ? sum / seen : 0, actual = tensor_get(out, 0, 0, i, 0);
        if (fabs(actual - expected) <= 8 * unit(p) * 256) continue;
        check_failed(__FILE__, __LINE__,
                     "%s: row %" PRId64 " is %.9g, expected %.9g; offset %" PRId64
                     " window %" PRId64 ",%" PRId64 " causal %d",
                     who, i, actual, expected, p->args.offset, p->args.window_left,
                     p->args.window_right, p->args.causal);
        return;
    }
}

static void set_ends(problem *p, size_t x) {
    p->args.offset = ends[x].offset;
    p->args.window_left = ends[x].left;
    p->args.window_right = ends[x].right;
    p->args.causal = ends[x].causal;
    p->args.scale = 0;
}

static void far_windows(problem *p, attn_ctx *ctx) {
    for (size_t x = 0; x < sizeof ends / sizeof ends[0] && !check_has_failed(); x++) {
        set_ends(p, x);
        if (run(p, ctx)) expect_means(p, &p->out, "attn_forward");
    }
}

TEST(the_oracle_counts_offsets_and_windows_at_the_ends_of_int64) {
    problem_spec spec = sized(30, 40, 1, 1);
    problem p;
    spec.dtype = ATTN_F64;
    if (problem_make(&p, &spec)) make_plain(&p);
    for (size_t x = 0; x < sizeof ends / sizeof ends[0] && !check_has_failed(); x++) {
        set_ends(&p, x);
        if (attn_reference(&p.args, &p.out, &p.lse, NULL) == ATTN_OK) {
            expect_means(&p, &p.out, "attn_reference");
        } else {
            check_failed(__FILE__, __LINE__, "the oracle refuses case %zu", x);
        }
    }
    problem_free(&p);
}

/* From 2^63 keys away the distance is the same for all keys, in every precision. */
static void far_alibi(problem *p, attn_ctx *ctx) {
    static const double slope = 0.5;
    static const int64_t offsets[] = {INT64_MAX, -INT64_MAX};
    p->args.alibi = &slope;
    for (int64_t j = 0; j < p->spec.n_k; j++) set_key(p, j, 0);
    for (size_t x = 0; x < 2; x++) {
        p->args.offset = offsets[x];
        if (!run(p, ctx)) return;
        CHECK_NEAR(out_of(p, 0), (double)(p->spec.n_k - 1) / 2, 64 * unit(p) * 128);
        CHECK_NEAR(lse_of(p, 0), -0x1p62, 8 * unit(p) * 0x1p62);
    }
}

/* --------------------------------------------------------------------------------- large shapes */

/* Random data, against the oracle. */
static void large(attn_isa isa, problem_spec spec) {
    NEED_ISA(isa);
    attn_ctx *ctx = context_with(isa, 1);
    for (int x = 0; x < 4 && ctx && !check_has_failed(); x++) {
        problem p;
        spec.seed = 200 + (uint64_t)x;
        spec.dtype = (attn_dtype)x; /* f32, f64, f16, bf16 */
        if (problem_make(&p, &spec) && problem_run(&p, ctx)) bound_check(&p, NULL);
        problem_free(&p);
    }
    attn_ctx_destroy(ctx);
}

static problem_spec long_row(void) {
    problem_spec spec = sized(1, 70000, 3, 2);
    spec.features = PROBLEM_CAUSAL | PROBLEM_SINKS;
    return spec;
}

static problem_spec transparent(void) {
    problem_spec spec = sized(40, 64, 2, 64);
    spec.B = spec.H = 2;
    return spec;
}

/* ---------------------------------------------------------------------------------------- tests */

#define ISA_TESTS(isa, ISA)                                                                        \
    TEST(isa##_a_key_far_above_the_others_takes_the_row) {                                         \
        over_reals(ISA, sized(1, 400, 1, 1), one_key_wins);                                        \
    }                                                                                              \
    TEST(isa##_scores_far_below_zero_share_as_others_do) {                                         \
        over_reals(ISA, sized(1, 250, 1, 1), all_are_low);                                         \
    }                                                                                              \
    TEST(isa##_scores_of_zero_give_the_exact_mean) {                                               \
        over_reals(ISA, sized(1, 512, 1, 1), equal_zero);                                          \
    }                                                                                              \
    TEST(isa##_equal_scores_give_the_mean) { over_reals(ISA, sized(1, 300, 1, 1), equal_any); }    \
    TEST(isa##_keys_at_plus_infinite_bias_share_the_row) {                                         \
        over_reals(ISA, sized(1, 400, 1, 1), infinite_bias);                                       \
    }                                                                                              \
    TEST(isa##_keys_at_plus_infinite_score_share_the_row) {                                        \
        over_reals(ISA, sized(1, 400, 1, 1), infinite_key);                                        \
    }                                                                                              \
    TEST(isa##_a_sink_gets_nothing_beside_plus_infinity) {                                         \
        over_reals(ISA, sized(1, 400, 1, 1), infinite_bias_and_sink);                              \
    }                                                                                              \
    TEST(isa##_minus_infinite_bias_masks) {                                                        \
        over_reals(ISA, sized(1, 400, 1, 1), minus_infinite_bias);                                 \
    }                                                                                              \
    TEST(isa##_the_lowest_finite_bias_does_not_mask) { over_reals(ISA, small, lowest_bias); }      \
    TEST(isa##_subnormal_scores_are_zero) { over_reals(ISA, small, subnormal_scores); }            \
    TEST(isa##_subnormal_values_are_kept) { over_reals(ISA, small, subnormal_values); }            \
    TEST(isa##_ties_share_equally_at_any_low_temperature) {                                        \
        over_reals(ISA, sized(1, 250, 1, 1), cold);                                                \
    }                                                                                              \
    TEST(isa##_a_high_temperature_gives_the_mean) { over_reals(ISA, sized(1, 250, 1, 1), hot); }   \
    TEST(isa##_softcap_holds_from_tiny_to_huge) { over_reals(ISA, sized(1, 250, 1, 1), caps); }    \
    TEST(isa##_dropout_keeps_what_the_public_function_says) {                                      \
        over_reals(ISA, transparent(), dropped);                                                   \
    }                                                                                              \
    TEST(isa##_a_window_of_one_key_gives_its_value) {                                              \
        over_reals(ISA, sized(250, 230, 1, 1), window_of_one);                                     \
    }                                                                                              \
    TEST(isa##_windows_and_offsets_at_the_ends_of_int64_are_exact) {                               \
        over_reals(ISA, sized(30, 40, 1, 1), far_windows);                                         \
    }                                                                                              \
    TEST(isa##_alibi_from_far_away_changes_no_share) {                                             \
        over_reals(ISA, sized(1, 200, 1, 1), far_alibi);                                           \
    }                                                                                              \
    TEST(isa##_a_head_size_of_1000_matches_the_oracle) { large(ISA, sized(9, 50, 1000, 1)); }      \
    TEST(isa##_1000_columns_of_values_match_the_oracle) { large(ISA, sized(9, 50, 1, 1000)); }     \
    TEST(isa##_a_row_of_70000_keys_matches_the_oracle) { large(ISA, long_row()); }

ISA_LIST(ISA_TESTS)
