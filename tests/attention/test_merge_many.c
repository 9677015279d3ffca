/* SPDX-License-Identifier: Apache-2.0 */
/* test_merge_many.c - attn_merge() with many parts: the error does not grow with their number, a
 * sink counts once whether its part sees keys or not, and Inf and NaN in the parts reach the result
 * by the rules of attention itself. Expected values come from attn_reference() over all keys, or
 * from arithmetic. */
#include "check.h"

#include <attn/attn.h>

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static attn_partial row_f64(double *out, double *lse, int64_t d) {
    return (attn_partial){.struct_size = sizeof(attn_partial),
                          .out = attn_tensor_bhsd(out, ATTN_F64, 1, 1, 1, d),
                          .lse = attn_tensor_bhsd(lse, ATTN_F64, 1, 1, 1, 1)};
}

static attn_partial row_f32(float *out, float *lse, int64_t d) {
    return (attn_partial){.struct_size = sizeof(attn_partial),
                          .out = attn_tensor_bhsd(out, ATTN_F32, 1, 1, 1, d),
                          .lse = attn_tensor_bhsd(lse, ATTN_F32, 1, 1, 1, 1)};
}

/* ------------------------------------------------------------------------------------ many parts */

enum { PARTS = 100000 };

/* Parts of one key each with f32 results: value x and score s. The mean in double is the truth. */
typedef struct many {
    float *out, *lse;
    attn_partial *partials;
    const attn_partial **parts;
    double mean, lse_of_all;
} many;

static bool many_begin(many *m) {
    m->out = malloc(PARTS * sizeof *m->out);
    m->lse = malloc(PARTS * sizeof *m->lse);
    m->partials = malloc(PARTS * sizeof *m->partials);
    m->parts = malloc(PARTS * sizeof *m->parts);
    if (!m->out || !m->lse || !m->partials || !m->parts) return false;
    double sum = 0, total = 0;
    uint64_t state = 1;
    for (int n = 0; n < PARTS; n++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        m->out[n] = 1 + (float)(state >> 40) * 0x1p-24f;
        m->lse[n] = (float)(state >> 20 & 0xfffff) * 0x1p-20f;
        m->partials[n] = row_f32(&m->out[n], &m->lse[n], 1);
        m->parts[n] = &m->partials[n];
        sum += exp((double)m->lse[n]) * (double)m->out[n];
        total += exp((double)m->lse[n]);
    }
    m->mean = sum / total;
    m->lse_of_all = log(total);
    return true;
}

static void many_end(many *m) {
    free(m->out);
    free(m->lse);
    free(m->partials);
    free(m->parts);
}

TEST(a_hundred_thousand_f32_parts_are_rounded_once) {
    many m = {0};
    float out = 0, lse = 0;
    const attn_partial result = row_f32(&out, &lse, 1);
    if (many_begin(&m)) {
        CHECK_INT(attn_merge(m.parts, PARTS, &result, NULL), ATTN_OK);
        CHECK_NEAR(out, m.mean, 0x1p-24 * m.mean * 1.01);
        CHECK_NEAR(lse, m.lse_of_all, 0x1p-24 * m.lse_of_all * 1.01);
    }
    many_end(&m);
}

/* As a ring of machines would do it: the running result in f64, one f32 part per call. */
TEST(an_f64_result_takes_in_a_hundred_thousand_f32_parts_one_by_one) {
    many m = {0};
    double out = 0, lse = -INFINITY;
    const attn_partial result = row_f64(&out, &lse, 1);
    if (many_begin(&m)) {
        for (int n = 0; n < PARTS; n++) {
            const attn_partial *const two[2] = {&result, m.parts[n]};
            if (attn_merge(two, 2, &result, NULL) != ATTN_OK) out = NAN;
        }
        CHECK_NEAR(out, m.mean, 1e-10 * m.mean);
        CHECK_NEAR(lse, m.lse_of_all, 1e-10 * m.lse_of_all);
    }
    many_end(&m);
}

TEST(no_parts_give_an_empty_row_and_one_part_itself) {
    double out = 5, lse = 5, x = -0.0, x_lse = 3;
    const attn_partial result = row_f64(&out, &lse, 1), part = row_f64(&x, &x_lse, 1);
    CHECK_INT(attn_merge(NULL, 0, &result, NULL), ATTN_OK);
    CHECK(out == 0 && !signbit(out) && lse == -INFINITY);
    const attn_partial *const one[1] = {&part};
    CHECK_INT(attn_merge(one, 1, &result, NULL), ATTN_OK);
    CHECK(out == 0 && signbit(out) && lse == 3);
}

/* More columns than are summed up at a time, in place of the last part. */
TEST(wide_rows_merge_in_place) {
    enum { D = 200 };
    double a[D], b[D], lse[3] = {0, log(3), -INFINITY};
    for (int d = 0; d < D; d++) a[d] = d, b[d] = -d;
    double nothing[D] = {0};
    const attn_partial pa = row_f64(a, &lse[0], D), pb = row_f64(b, &lse[1], D),
                       none = row_f64(nothing, &lse[2], D);
    const attn_partial *const parts[3] = {&pa, &none, &pb};
    CHECK_INT(attn_merge(parts, 3, &pb, NULL), ATTN_OK);
    for (int d = 0; d < D; d++) CHECK_NEAR(b[d], -0.5 * d, 1e-13);
    CHECK_NEAR(lse[1], log(4), 1e-15);
}

/* ----------------------------------------------------------------------------------------- sinks */

enum { N_K = 6 };

/* One query, keys from .. to - 1, with or without the sink. */
static attn_status attend(int64_t from, int64_t to, const double *sink, attn_partial *result) {
    static double q[1] = {1}, k[N_K] = {0.5, -1, 2, 0, 1, -0.5}, v[N_K] = {1, 2, 3, 4, 5, 6};
    uint8_t mask[N_K];
    for (int64_t j = 0; j < N_K; j++) mask[j] = j >= from && j < to;
    attn_args args;
    attn_args_init(&args);
    args.q = attn_tensor_bhsd(q, ATTN_F64, 1, 1, 1, 1);
    args.k = attn_tensor_bhsd(k, ATTN_F64, 1, 1, N_K, 1);
    args.v = attn_tensor_bhsd(v, ATTN_F64, 1, 1, N_K, 1);
    args.mask = attn_tensor_bhsd(mask, ATTN_BOOL, 1, 1, 1, N_K);
    args.sinks = sink;
    attn_ctx *ctx = NULL;
    attn_status status = attn_ctx_create(NULL, &ctx, NULL);
    if (status == ATTN_OK) status = attn_forward(ctx, &args, &result->out, &result->lse, NULL);
    attn_ctx_destroy(ctx);
    return status;
}

/* The sink belongs to a part whose keys are split off at `cut`, from none of them to all. */
TEST(a_sink_counts_once_whatever_its_part_sees) {
    const double sink = 1.5;
    for (int64_t cut = 0; cut <= N_K; cut++) {
        double out[4] = {0}, lse[4] = {0};
        attn_partial whole = row_f64(&out[0], &lse[0], 1), with = row_f64(&out[1], &lse[1], 1),
                     without = row_f64(&out[2], &lse[2], 1), merged = row_f64(&out[3], &lse[3], 1);
        CHECK_INT(attend(0, N_K, &sink, &whole), ATTN_OK);
        CHECK_INT(attend(0, cut, &sink, &with), ATTN_OK);
        CHECK_INT(attend(cut, N_K, NULL, &without), ATTN_OK);
        const attn_partial *const parts[2] = {&with, &without};
        CHECK_INT(attn_merge(parts, 2, &merged, NULL), ATTN_OK);
        CHECK_NEAR(out[3], out[0], 1e-14);
        CHECK_NEAR(lse[3], lse[0], 1e-14);
    }
}

/* ----------------------------------------------------------------------------------------- rules */

TEST(infinite_and_nan_parts_reach_the_result_however_small_their_share) {
    static const double x[4] = {INFINITY, -INFINITY, NAN, 7};
    for (int n = 0; n < 4; n++) {
        double small = x[n], large = 1, out = 0, lse[3] = {-5000, 5000};
        const attn_partial a = row_f64(&small, &lse[0], 1), b = row_f64(&large, &lse[1], 1),
                           result = row_f64(&out, &lse[2], 1);
        const attn_partial *const parts[2] = {&a, &b};
        CHECK_INT(attn_merge(parts, 2, &result, NULL), ATTN_OK);
        CHECK(isnan(x[n]) ? isnan(out) : out == (isfinite(x[n]) ? 1 : x[n]));
    }
}

TEST(a_mean_of_the_largest_numbers_is_finite) {
    double x[3], out = 0, lse[4] = {0.1, 0.2, 0.3};
    const attn_partial result = row_f64(&out, &lse[3], 1);
    attn_partial part[3];
    const attn_partial *parts[3];
    for (int n = 0; n < 3; n++) {
        x[n] = 1.7976931348623157e308;
        part[n] = row_f64(&x[n], &lse[n], 1);
        parts[n] = &part[n];
    }
    CHECK_INT(attn_merge(parts, 3, &result, NULL), ATTN_OK);
    CHECK_NEAR(out, x[0], 1e-14 * x[0]);
}

TEST(impossible_counts_are_refused) {
    double out = 0, lse = 0;
    const attn_partial result = row_f64(&out, &lse, 1);
    CHECK_INT(attn_merge(NULL, 1, &result, NULL), ATTN_E_NULL);
    CHECK_INT(attn_merge(NULL, -1, &result, NULL), ATTN_E_VALUE);
}
