/* SPDX-License-Identifier: Apache-2.0 */
/* test_drift.c - the error of f32 does not grow with the number of keys or queries. Identical keys
 * are the worst case: every addition rounds in the same direction. They are one row of memory,
 * repeated by a stride of 0. The result is known without computation: the mean of equal values is
 * that value. */
#include "attn/attn.h"
#include "check.h"
#include "contexts.h"
#include "isas.h"

#include <math.h>
#include <stdlib.h>

static const double LIMIT = 2e-6; /* relative error; 4e-5 is what plain sums reach at 1e6 keys */

enum { SCORES = 24 };

/* A view of one number as n rows. */
static attn_tensor repeated(float *number, int64_t n) {
    attn_tensor t = attn_tensor_bhsd(number, ATTN_F32, 1, 1, n, 1);
    t.stride[2] = 0;
    return t;
}

static attn_args equal_keys(float *q, float *k, float *v, int64_t n_q, int64_t n_k) {
    attn_args a;
    attn_args_init(&a);
    a.q = repeated(q, n_q);
    a.k = repeated(k, n_k);
    a.v = repeated(v, n_k);
    a.scale = 1;
    return a;
}

static void close_to(const char *what, double actual, double expected, double score, int64_t n) {
    CHECK_MSG(fabs(actual - expected) <= LIMIT * fabs(expected),
              "%s of %lld keys with the score %g is %.9g, expected %.9g (relative error %.2g)",
              what, (long long)n, score, actual, expected, fabs(actual / expected - 1));
}

static void forward_of_equal_keys(attn_ctx *ctx, float score, int64_t n) {
    float q = 1, v = 3, out = 0;
    double lse = 0;
    const attn_args a = equal_keys(&q, &score, &v, 1, n);
    const attn_tensor to = repeated(&out, 1), lse_to = attn_tensor_bhsd(&lse, ATTN_F64, 1, 1, 1, 1);
    CHECK_INT(attn_forward(ctx, &a, &to, &lse_to, NULL), ATTN_OK);
    close_to("the mean", out, 3, score, n);
    CHECK_MSG(fabs(lse - (score + log((double)n))) < LIMIT, "lse of %lld keys is off by %g",
              (long long)n, lse - (score + log((double)n)));
}

static void forward_on(attn_isa isa) {
    NEED_ISA(isa);
    attn_ctx *ctx = context_with(isa, 1);
    for (int s = 0; s < SCORES; s++) {
        for (int64_t n = 150; n <= 150000; n *= 10) forward_of_equal_keys(ctx, 0.37F * (float)s, n);
    }
    attn_ctx_destroy(ctx);
}

/* Keys k = 1, v = 3 and k = -1, v = 1 in turns, q = 0: all weights are 1/n, out is 2, dP - delta is
 * 1 and -1, and dq = sum of w (dP - delta) k = 1. */
static void dq_on(attn_isa isa) {
    enum { N = 300000 };
    NEED_ISA(isa);
    attn_ctx *ctx = context_with(isa, 1);
    float *keys = malloc(2 * N * sizeof *keys), *values = keys + N;
    for (int64_t j = 0; keys && j < N; j++) {
        keys[j] = j % 2 == 0 ? 1 : -1;
        values[j] = j % 2 == 0 ? 3 : 1;
    }
    float q = 0, out = 0, dout = 1, dq = 0;
    double lse = 0;
    attn_args a = equal_keys(&q, keys, values, 1, N);
    a.k.stride[2] = a.v.stride[2] = 1;
    attn_results results = {.struct_size = sizeof results};
    results.out = repeated(&out, 1);
    results.lse = attn_tensor_bhsd(&lse, ATTN_F64, 1, 1, 1, 1);
    results.dout = repeated(&dout, 1);
    attn_gradients gradients;
    attn_gradients_init(&gradients);
    gradients.dq = repeated(&dq, 1);
    CHECK_INT(attn_forward(ctx, &a, &results.out, &results.lse, NULL), ATTN_OK);
    CHECK_INT(attn_backward(ctx, &a, &results, &gradients, NULL), ATTN_OK);
    close_to("dq", dq, 1, 0, N);
    free(keys);
    attn_ctx_destroy(ctx);
}

/* n equal queries over the keys 0, 0 with the values 3, 1: weights 1/2, out 2; each query adds
 * dout / 2 to dv and dout q / 2 to dk of the first key. */
static void dk_and_dv_on(attn_isa isa) {
    enum { N = 300000 };
    NEED_ISA(isa);
    attn_ctx *ctx = context_with(isa, 1);
    float q = 0.1F, keys[2] = {0, 0}, values[2] = {3, 1}, out = 2, dout = 0.3F, dk[2], dv[2];
    double lse = log(2);
    attn_args a = equal_keys(&q, keys, values, N, 2);
    a.k.stride[2] = a.v.stride[2] = 1;
    attn_results results = {.struct_size = sizeof results};
    results.out = repeated(&out, N);
    results.lse = attn_tensor_bhsd(&lse, ATTN_F64, 1, 1, N, 1);
    results.lse.stride[2] = 0;
    results.dout = repeated(&dout, N);
    attn_gradients gradients;
    attn_gradients_init(&gradients);
    gradients.dk = attn_tensor_bhsd(dk, ATTN_F32, 1, 1, 2, 1);
    gradients.dv = attn_tensor_bhsd(dv, ATTN_F32, 1, 1, 2, 1);
    CHECK_INT(attn_backward(ctx, &a, &results, &gradients, NULL), ATTN_OK);
    close_to("dk", dk[0], (double)N * 0.5 * (double)dout * (double)q, 0, N);
    close_to("dv", dv[0], (double)N * 0.5 * (double)dout, 0, N);
    attn_ctx_destroy(ctx);
}

#define DRIFT_TESTS(name, isa)                                                                     \
    TEST(name##_mean_of_equal_keys_does_not_drift) { forward_on(isa); }                            \
    TEST(name##_dq_over_many_keys_does_not_drift) { dq_on(isa); }                                  \
    TEST(name##_dk_and_dv_of_many_queries_do_not_drift) { dk_and_dv_on(isa); }
ISA_LIST(DRIFT_TESTS)

#ifndef __wasm__ /* a minute in node */
TEST(mean_of_a_hundred_million_equal_keys_does_not_drift) {
    attn_ctx *ctx = context_with(ATTN_ISA_AUTO, 1);
    forward_of_equal_keys(ctx, 0.185F, 100000000);
    attn_ctx_destroy(ctx);
}
#endif
