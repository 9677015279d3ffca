/* SPDX-License-Identifier: Apache-2.0 */
/* test_accuracy.c - f32 results against the double-precision oracle on standard normal inputs, as
 * one number: the relative L2 error. The bound is the one the README states; n = 4096 takes the
 * oracle a few seconds. */
#include "attn/attn.h"
#include "check.h"
#include "random.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static float *normals(random_stream *r, int64_t n) {
    float *x = malloc((size_t)n * sizeof *x);
    for (int64_t i = 0; x && i < n; i++) {
        const double u = random_between(r, 0x1p-53, 1), v = random_between(r, 0, 6.283185307179586);
        x[i] = (float)(sqrt(-2 * log(u)) * cos(v));
    }
    return x;
}

static double relative_l2(const float *got, const double *expected, int64_t n) {
    double error = 0, norm = 0;
    for (int64_t i = 0; i < n; i++) {
        error += (got[i] - expected[i]) * (got[i] - expected[i]);
        norm += expected[i] * expected[i];
    }
    return sqrt(error / norm);
}

static double measure(int64_t n, int64_t d, int causal) {
    random_stream r = random_begin((uint64_t)n, (uint64_t)d);
    float *q = normals(&r, n * d), *k = normals(&r, n * d), *v = normals(&r, n * d);
    float *out = malloc((size_t)(n * d) * sizeof *out);
    double *expected = malloc((size_t)(n * d) * sizeof *expected), error = HUGE_VAL;
    attn_ctx *ctx = NULL;
    if (q && k && v && out && expected && attn_ctx_create(NULL, &ctx, NULL) == ATTN_OK) {
        attn_args args;
        attn_args_init(&args);
        args.q = attn_tensor_bhsd(q, ATTN_F32, 1, 1, n, d);
        args.k = attn_tensor_bhsd(k, ATTN_F32, 1, 1, n, d);
        args.v = attn_tensor_bhsd(v, ATTN_F32, 1, 1, n, d);
        args.causal = causal;
        const attn_tensor f32 = attn_tensor_bhsd(out, ATTN_F32, 1, 1, n, d);
        const attn_tensor f64 = attn_tensor_bhsd(expected, ATTN_F64, 1, 1, n, d);
        if (attn_forward(ctx, &args, &f32, NULL, NULL) == ATTN_OK &&
            attn_reference(&args, &f64, NULL, NULL) == ATTN_OK) {
            error = relative_l2(out, expected, n * d);
        }
    }
    attn_ctx_destroy(ctx);
    free(q), free(k), free(v), free(out), free(expected);
    return error;
}

static const double bound = 6e-7;

static void check_length(int64_t n) {
    for (int64_t d = 64; d <= 128; d *= 2) {
        for (int causal = 0; causal < 2; causal++) {
            const double error = measure(n, d, causal);
            printf("\n    n=%d d=%d%s: %.2e", (int)n, (int)d, causal ? " causal" : "", error);
            CHECK_MSG(error <= bound, "relative L2 error %.3e, allowed %.1e (n=%d d=%d causal=%d)",
                      error, bound, (int)n, (int)d, causal);
        }
    }
    printf("\n    ");
}

TEST(f32_stays_within_6e_7_of_the_oracle_at_128_keys) { check_length(128); }
TEST(f32_stays_within_6e_7_of_the_oracle_at_1024_keys) { check_length(1024); }
TEST(f32_stays_within_6e_7_of_the_oracle_at_4096_keys) { check_length(4096); }
