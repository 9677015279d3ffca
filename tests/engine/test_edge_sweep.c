/* SPDX-License-Identifier: Apache-2.0 */
/* test_edge_sweep.c - random problems with every option and numbers at the ends of the range:
 * infinite, NaN, huge, subnormal. The engine must agree with the oracle on every instruction set:
 * NaN for NaN, the same infinities, and finite numbers close to the oracle's; every NaN must have
 * the one allowed form. Scores are either of ordinary size or so far apart that rounding cannot
 * matter. */
#include "isas.h"
#include "problem.h"
#include "random.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double largest(attn_dtype dtype) {
    static const double most[4] = {
        [ATTN_F32] = FLT_MAX, [ATTN_F64] = DBL_MAX, [ATTN_F16] = 65504, [ATTN_BF16] = 0x1.fep127};
    return most[dtype];
}

/* Of a result, relative to the largest finite value: 60 keys, scores up to 100. */
static double allowed(attn_dtype dtype) {
    static const double stored[4] = {[ATTN_F16] = 0x1p-11, [ATTN_BF16] = 0x1p-8};
    return (dtype == ATTN_F64 ? 0x1p-53 : 0x1p-24) * 2000 + stored[dtype];
}

#define PICK(r, ...)                                                                               \
    ((const double[]){__VA_ARGS__}[random_below(                                                   \
        r, (int64_t)(sizeof((const double[]){__VA_ARGS__}) / sizeof(double)))])

/* ---------------------------------------------------------------------------------------- poison */

/* Ordinary in most places, else one of the ends. */
static double any_value(random_stream *r, attn_dtype dtype) {
    const double most = largest(dtype);
    if (random_chance(r, 0.9)) return random_between(r, -2, 2);
    return PICK(r, most, -most, most / 2, 0, -0.0, most * 0x1p-240, INFINITY, -INFINITY, NAN);
}

/* The first element of a query or key: far away, so that products with the other's first element
 * leave the range or drown all others. Only this element does, or two terms of one sum would leave
 * the range in opposite directions. */
static double far_element(random_stream *r, attn_dtype dtype) {
    const double far = dtype == ATTN_F64 ? 1e200 : dtype == ATTN_F16 ? 60000 : 1e25;
    if (random_chance(r, 0.7)) return random_between(r, -2, 2);
    if (dtype == ATTN_F16) return PICK(r, 0, INFINITY, -INFINITY, NAN);
    return PICK(r, far, -far, far, -far, 0, INFINITY, -INFINITY, NAN);
}

static double any_bias(random_stream *r) {
    if (random_chance(r, 0.7)) return random_between(r, -3, 3);
    /* far from all other scores, which it would otherwise cancel or round */
    return PICK(r, 0, -3.4e38, -1e300, -DBL_MAX, -INFINITY, -INFINITY, INFINITY, NAN);
}

static void fill(const attn_tensor *t, random_stream *r, bool values, bool far) {
    int64_t at[4] = {0, 0, 0, 0};
    if (tensor_is_empty(t->shape)) return;
    do {
        double x = random_between(r, -2, 2);
        if (values) x = any_value(r, t->dtype);
        if (far && at[3] == 0) x = far_element(r, t->dtype);
        tensor_set(t, at, x);
    } while (tensor_next(t->shape, at));
}

/* Numbers of the options, all of them usable. */
static void throw_options(problem *p, random_stream *r) {
    attn_args *a = &p->args;
    /* divided by 1e30, huge biases would be neither here nor there */
    if (random_chance(r, 0.3)) a->temperature = a->bias.data ? PICK(r, 0.5, 4) : PICK(r, 1, 1e30);
    if (a->softcap > 0) a->softcap = PICK(r, 1e-37, 1e-3, 3, 1e20) * a->temperature;
    if (random_chance(r, 0.3)) a->scale = PICK(r, 0, -1, 0.25);
    for (int64_t h = 0; h < p->spec.H; h++) {
        p->sinks[h] = PICK(r, 0, -5, 5, -INFINITY, -1e30, 1e30);
        /* Keys at the same distance on both sides would tie but for the last digit. */
        p->alibi[h] = a->causal ? PICK(r, 0, 1e30, -1e30) : PICK(r, 0, 0.5, -0.25, 1e-45);
    }
}

/* The bias in a dtype of its own, so that conversions have something to do. */
static bool throw_bias(problem *p, random_stream *r, double **memory) {
    const int64_t *n = p->args.bias.shape;
    if (!p->args.bias.data) return true;
    const size_t count = (size_t)(n[0] * n[1] * n[2] * n[3]);
    *memory = malloc((count + 1) * sizeof **memory);
    if (!*memory) return false;
    for (size_t e = 0; e < count; e++) (*memory)[e] = any_bias(r);
    p->args.bias = attn_tensor_bhsd(*memory, ATTN_F64, n[0], n[1], n[2], n[3]);
    return true;
}

/* ------------------------------------------------------------------------------------ comparison */

/* Is this NaN the one without sign and payload? */
static bool is_plain_nan(const attn_tensor *t, const int64_t at[4]) {
    static const uint64_t plain[4] = {[ATTN_F32] = 0x7fc00000,
                                      [ATTN_F64] = 0x7ff8000000000000,
                                      [ATTN_F16] = 0x7e00,
                                      [ATTN_BF16] = 0x7fc0};
    uint64_t bits = 0;
    memcpy(&bits, tensor_at(t, at), attn_dtype_size(t->dtype));
    return bits == plain[t->dtype];
}

/* Dropout may push a result out of the range of its type, where rounding decides. */
static bool is_borderline(const problem *p, double x) {
    return p->args.dropout > 0 && fabs(x) > 0.9 * largest(p->spec.dtype);
}

static bool agrees(const problem *p, double actual, double expected, double bound) {
    if (isnan(expected)) return isnan(actual);
    if (is_borderline(p, expected)) return fabs(actual) > 0.8 * largest(p->spec.dtype);
    if (isinf(expected)) return actual == expected;
    return fabs(actual - expected) <= bound;
}

static bool check_tensor(const problem *p, const char *name, const attn_tensor *t,
                         const double *expected, double bound) {
    int64_t at[4] = {0, 0, 0, 0};
    if (tensor_is_empty(t->shape)) return true;
    for (size_t e = 0;; e++) {
        const double x = tensor_get(t, at[0], at[1], at[2], at[3]);
        const double relative = strcmp(name, "lse") == 0 ? 1e-6 * fabs(expected[e]) : 0;
        if (!agrees(p, x, expected[e], bound + relative) || (isnan(x) && !is_plain_nan(t, at))) {
            check_failed(__FILE__, __LINE__,
                         "%s[%d,%d,%d,%d] is %.9g, the oracle's %.9g, allowed %.3g\n    %s", name,
                         (int)at[0], (int)at[1], (int)at[2], (int)at[3], x, expected[e], bound,
                         p->text);
            return false;
        }
        if (!tensor_next(t->shape, at)) return true;
    }
}

/* The largest finite value, which bounds every result. */
static double largest_finite(const attn_tensor *t) {
    double most = 1;
    int64_t at[4] = {0, 0, 0, 0};
    if (tensor_is_empty(t->shape)) return most;
    do {
        const double x = fabs(tensor_get(t, at[0], at[1], at[2], at[3]));
        if (isfinite(x) && x > most) most = x;
    } while (tensor_next(t->shape, at));
    return most;
}

static double *numbers_like(const attn_tensor *t, attn_tensor *view) {
    const int64_t *n = t->shape;
    double *numbers = calloc((size_t)(n[0] * n[1] * n[2] * n[3]) + 1, sizeof *numbers);
    *view = attn_tensor_bhsd(numbers, ATTN_F64, n[0], n[1], n[2], n[3]);
    return numbers;
}

static void compare(const problem *p) {
    attn_tensor out, lse;
    double *expected = numbers_like(&p->out, &out), *expected_lse = numbers_like(&p->lse, &lse);
    attn_error err = {""};
    if (!expected || !expected_lse || attn_reference(&p->args, &out, &lse, &err) != ATTN_OK) {
        check_failed(__FILE__, __LINE__, "no memory, or %s", err.message);
    } else {
        const double keep = 1 / (1 - p->args.dropout);
        check_tensor(p, "out", &p->out, expected,
                     keep * allowed(p->spec.dtype) * largest_finite(&p->args.v));
        if (!check_has_failed()) check_tensor(p, "lse", &p->lse, expected_lse, 1e3 * 0x1p-24);
    }
    free(expected);
    free(expected_lse);
}

/* ----------------------------------------------------------------------------------------- sweep */

static problem_spec draw(uint64_t seed, attn_dtype dtype) {
    random_stream r = random_begin(seed, 77);
    const int64_t H_kv = 1 + random_below(&r, 2);
    return (problem_spec){.seed = seed,
                          .dtype = dtype,
                          .B = 1 + random_below(&r, 2),
                          .H = H_kv * (1 + random_below(&r, 2)),
                          .H_kv = H_kv,
                          .n_q = 1 + random_below(&r, 40),
                          .n_k = random_chance(&r, 0.2) ? 250 : 1 + random_below(&r, 60),
                          .d_k = 1 + random_below(&r, 9),
                          .d_v = 1 + random_below(&r, 20),
                          .features =
                              (unsigned)(random_bits(&r) & random_bits(&r)) & PROBLEM_EVERYTHING,
                          .wide_lse = true};
}

static void try_one(attn_ctx *ctx, uint64_t seed, attn_dtype dtype) {
    const problem_spec spec = draw(seed, dtype);
    random_stream r = random_begin(seed, 78);
    double *bias = NULL;
    problem p;
    if (problem_make(&p, &spec)) {
        const int64_t what = random_below(&r, 3); /* values, scores or both */
        fill(&p.args.q, &r, false, what > 0);
        fill(&p.args.k, &r, false, what > 0);
        fill(&p.args.v, &r, what != 1, false);
        throw_options(&p, &r);
        if (throw_bias(&p, &r, &bias)) {
            problem_describe(&p);
            problem_remember(&p);
            if (problem_run(&p, ctx)) compare(&p);
        }
    }
    problem_free(&p);
    free(bias);
}

static void sweep_edges(attn_isa isa) {
    NEED_ISA(isa);
    attn_ctx *ctx = context_with(isa, 1);
    const int rounds = test_rounds(400);
    for (int x = 0; x < rounds && ctx && !check_has_failed(); x++)
        try_one(ctx, 9000 + (uint64_t)x, (attn_dtype)(x % 4));
    attn_ctx_destroy(ctx);
}

#define ISA_TESTS(isa, ISA)                                                                        \
    TEST(isa##_agrees_with_the_oracle_at_the_ends_of_the_range) { sweep_edges(ISA); }

ISA_LIST(ISA_TESTS)
