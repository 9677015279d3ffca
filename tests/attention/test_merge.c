/* SPDX-License-Identifier: Apache-2.0 */
/* test_merge.c - attn_merge(): attention over all keys equals the merge of attention over two parts
 * of them, however they are split; an empty part changes nothing; invalid arguments are rejected.
 * The expected values come from attn_reference(), which the golden data checks. */
#include "check.h"
#include "core/half.h"
#include "random.h"

#include <attn/attn.h>

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { B = 2, H = 3, N_Q = 5, N_K = 12, D = 4, D_V = 3 };
enum { ROWS = B * H * N_Q, VALUES = ROWS * D_V };

typedef struct part {
    double out[VALUES], lse[ROWS];
    attn_partial view;
} part;

typedef struct scene {
    attn_args args;
    double q[B * H * N_Q * D], k[B * H * N_K * D], v[B * H * N_K * D_V];
    part whole, a, b, result;
} scene;

static attn_status merge_two(const attn_partial *a, const attn_partial *b,
                             const attn_partial *result) {
    const attn_partial *const parts[2] = {a, b};
    return attn_merge(parts, 2, result, NULL);
}

static void part_init(part *p) {
    attn_partial_init(&p->view);
    p->view.out = attn_tensor_bhsd(p->out, ATTN_F64, B, H, N_Q, D_V);
    p->view.lse = attn_tensor_bhsd(p->lse, ATTN_F64, B, H, N_Q, 1);
}

static void scene_init(scene *s, uint64_t seed) {
    random_stream r = random_begin(seed, 0);
    memset(s, 0, sizeof *s);
    for (int e = 0; e < B * H * N_Q * D; e++) s->q[e] = random_between(&r, -3, 3);
    for (int e = 0; e < B * H * N_K * D; e++) s->k[e] = random_between(&r, -3, 3);
    for (int e = 0; e < B * H * N_K * D_V; e++) s->v[e] = random_between(&r, -1, 1);
    attn_args_init(&s->args);
    s->args.q = attn_tensor_bhsd(s->q, ATTN_F64, B, H, N_Q, D);
    s->args.k = attn_tensor_bhsd(s->k, ATTN_F64, B, H, N_K, D);
    s->args.v = attn_tensor_bhsd(s->v, ATTN_F64, B, H, N_K, D_V);
    part_init(&s->whole);
    part_init(&s->a);
    part_init(&s->b);
    part_init(&s->result);
}

/* Attention over the keys whose byte in `take` is set. */
static attn_status attend(const scene *s, const uint8_t take[N_K], const part *p) {
    attn_args args = s->args;
    args.mask = attn_tensor_bhsd(take, ATTN_BOOL, 1, 1, 1, N_K);
    return attn_reference(&args, &p->view.out, &p->view.lse, NULL);
}

/* Splits the keys by the bits of `split` and attends to each part and to the whole. */
static attn_status attend_split(scene *s, unsigned split) {
    uint8_t all[N_K], first[N_K], second[N_K];
    for (int j = 0; j < N_K; j++) {
        all[j] = 1;
        first[j] = split >> j & 1;
        second[j] = !first[j];
    }
    const attn_status of_a = attend(s, first, &s->a), of_b = attend(s, second, &s->b);
    const attn_status of_all = attend(s, all, &s->whole);
    return of_a != ATTN_OK ? of_a : of_b != ATTN_OK ? of_b : of_all;
}

static void expect_parts(const part *actual, const part *expected, double tolerance) {
    for (int e = 0; e < VALUES; e++) CHECK_NEAR(actual->out[e], expected->out[e], tolerance);
    for (int r = 0; r < ROWS; r++) CHECK_NEAR(actual->lse[r], expected->lse[r], 10 * tolerance);
}

/* ----------------------------------------------------------------------------------- properties */

TEST(merge_of_any_split_of_the_keys_is_the_whole) {
    static scene s;
    for (unsigned split = 0; split < 1u << N_K; split += 37) {
        scene_init(&s, split);
        CHECK_INT(attend_split(&s, split), ATTN_OK);
        CHECK_INT(merge_two(&s.a.view, &s.b.view, &s.result.view), ATTN_OK);
        expect_parts(&s.result, &s.whole, 1e-14);
        if (check_has_failed()) return;
    }
}

TEST(merge_in_place_of_a_equals_merge_aside) {
    static scene s;
    scene_init(&s, 5);
    CHECK_INT(attend_split(&s, 0x5a5), ATTN_OK);
    CHECK_INT(merge_two(&s.a.view, &s.b.view, &s.result.view), ATTN_OK);
    CHECK_INT(merge_two(&s.a.view, &s.b.view, &s.a.view), ATTN_OK);
    expect_parts(&s.a, &s.result, 0);
}

TEST(merge_in_place_of_b_equals_merge_aside) {
    static scene s;
    scene_init(&s, 6);
    CHECK_INT(attend_split(&s, 0x5a5), ATTN_OK);
    CHECK_INT(merge_two(&s.a.view, &s.b.view, &s.result.view), ATTN_OK);
    CHECK_INT(merge_two(&s.a.view, &s.b.view, &s.b.view), ATTN_OK);
    expect_parts(&s.b, &s.result, 0);
}

TEST(order_of_the_parts_does_not_matter) {
    static scene s;
    scene_init(&s, 7);
    CHECK_INT(attend_split(&s, 0x0f3), ATTN_OK);
    CHECK_INT(merge_two(&s.a.view, &s.b.view, &s.result.view), ATTN_OK);
    CHECK_INT(merge_two(&s.b.view, &s.a.view, &s.whole.view), ATTN_OK);
    expect_parts(&s.result, &s.whole, 0);
}

TEST(part_without_keys_is_neutral_to_the_bit_whatever_it_holds) {
    static scene s;
    scene_init(&s, 8);
    CHECK_INT(attend_split(&s, 0xfff), ATTN_OK); /* b sees nothing */
    for (int e = 0; e < VALUES; e++) s.b.out[e] = NAN;
    s.a.out[0] = -0.0;
    CHECK_INT(merge_two(&s.a.view, &s.b.view, &s.result.view), ATTN_OK);
    CHECK(memcmp(s.result.out, s.a.out, sizeof s.a.out) == 0);
    CHECK(memcmp(s.result.lse, s.a.lse, sizeof s.a.lse) == 0);
    CHECK_INT(merge_two(&s.b.view, &s.a.view, &s.result.view), ATTN_OK);
    CHECK(memcmp(s.result.out, s.a.out, sizeof s.a.out) == 0);
    CHECK(memcmp(s.result.lse, s.a.lse, sizeof s.a.lse) == 0);
}

/* ------------------------------------------------------------------------- single rows by hand */

typedef struct row {
    double out, lse;
} row;

static row merge_rows(row a, row b) {
    row result = {-77, -77};
    const attn_partial pa = {sizeof(attn_partial), attn_tensor_bhsd(&a.out, ATTN_F64, 1, 1, 1, 1),
                             attn_tensor_bhsd(&a.lse, ATTN_F64, 1, 1, 1, 1)};
    const attn_partial pb = {sizeof(attn_partial), attn_tensor_bhsd(&b.out, ATTN_F64, 1, 1, 1, 1),
                             attn_tensor_bhsd(&b.lse, ATTN_F64, 1, 1, 1, 1)};
    const attn_partial pr = {sizeof(attn_partial),
                             attn_tensor_bhsd(&result.out, ATTN_F64, 1, 1, 1, 1),
                             attn_tensor_bhsd(&result.lse, ATTN_F64, 1, 1, 1, 1)};
    if (merge_two(&pa, &pb, &pr) != ATTN_OK) return (row){-77, -77};
    return result;
}

TEST(two_empty_parts_give_an_empty_row) {
    const row r = merge_rows((row){0, -INFINITY}, (row){0, -INFINITY});
    CHECK_NEAR(r.out, 0, 0);
    CHECK_NEAR(r.lse, -INFINITY, 0);
}

TEST(parts_weigh_by_the_exponential_of_their_lse) {
    const row r = merge_rows((row){1, log(3)}, (row){5, log(1)});
    CHECK_NEAR(r.out, 2, 1e-15);
    CHECK_NEAR(r.lse, log(4), 1e-15);
}

TEST(huge_lse_does_not_overflow) {
    const row r = merge_rows((row){1, 5000}, (row){3, 5000});
    CHECK_NEAR(r.out, 2, 1e-15);
    CHECK_NEAR(r.lse, 5000 + log(2), 1e-12);
}

TEST(plus_infinity_outweighs_a_finite_part) {
    const row r = merge_rows((row){1, INFINITY}, (row){3, 700});
    CHECK_NEAR(r.out, 1, 0);
    CHECK_NEAR(r.lse, INFINITY, 0);
}

TEST(two_parts_at_plus_infinity_count_equally) {
    const row r = merge_rows((row){1, INFINITY}, (row){3, INFINITY});
    CHECK_NEAR(r.out, 2, 0);
    CHECK_NEAR(r.lse, INFINITY, 0);
}

TEST(nan_stays_nan) {
    const row r = merge_rows((row){1, NAN}, (row){3, 0});
    CHECK(isnan(r.out) && isnan(r.lse));
}

/* ------------------------------------------------------------------------------------- dtypes */

TEST(merge_in_f32_rounds_the_exact_result_once) {
    float oa = 1, ob = 2, r = 0, la = logf(3), lb = 0, lr = 0;
    const attn_partial pa = {sizeof(attn_partial), attn_tensor_bhsd(&oa, ATTN_F32, 1, 1, 1, 1),
                             attn_tensor_bhsd(&la, ATTN_F32, 1, 1, 1, 1)};
    const attn_partial pb = {sizeof(attn_partial), attn_tensor_bhsd(&ob, ATTN_F32, 1, 1, 1, 1),
                             attn_tensor_bhsd(&lb, ATTN_F32, 1, 1, 1, 1)};
    const attn_partial pr = {sizeof(attn_partial), attn_tensor_bhsd(&r, ATTN_F32, 1, 1, 1, 1),
                             attn_tensor_bhsd(&lr, ATTN_F32, 1, 1, 1, 1)};
    CHECK_INT(merge_two(&pa, &pb, &pr), ATTN_OK);
    const double w = exp((double)la);
    CHECK_NEAR(r, (float)((w * 1 + 2) / (w + 1)), 0);
    CHECK_NEAR(lr, (float)log(w + 1), 0);
}

/* A sixteen-bit merge of 1 and 2 with equal weight. */
static double merge_half(attn_dtype dtype, uint16_t one, uint16_t two, double (*load)(uint16_t)) {
    uint16_t r = 0;
    float la = 1, lb = 1, lr = 0;
    const attn_partial pa = {sizeof(attn_partial), attn_tensor_bhsd(&one, dtype, 1, 1, 1, 1),
                             attn_tensor_bhsd(&la, ATTN_F32, 1, 1, 1, 1)};
    const attn_partial pb = {sizeof(attn_partial), attn_tensor_bhsd(&two, dtype, 1, 1, 1, 1),
                             attn_tensor_bhsd(&lb, ATTN_F32, 1, 1, 1, 1)};
    const attn_partial pr = {sizeof(attn_partial), attn_tensor_bhsd(&r, dtype, 1, 1, 1, 1),
                             attn_tensor_bhsd(&lr, ATTN_F32, 1, 1, 1, 1)};
    return merge_two(&pa, &pb, &pr) == ATTN_OK ? load(r) : NAN;
}

static double load_f16(uint16_t x) { return attni_f16_to_f32(x); }
static double load_bf16(uint16_t x) { return attni_bf16_to_f32(x); }

TEST(merge_works_in_f16_and_bf16) {
    CHECK_NEAR(merge_half(ATTN_F16, attni_f32_to_f16(1), attni_f32_to_f16(2), load_f16), 1.5, 0);
    CHECK_NEAR(merge_half(ATTN_BF16, attni_f32_to_bf16(1), attni_f32_to_bf16(2), load_bf16), 1.5,
               0);
}

/* ------------------------------------------------------------------------------------ refusals */

/* The merge must be refused with this status and leave the result as it was. */
static void expect_refusal(scene *s, attn_status want) {
    for (int e = 0; e < VALUES; e++) s->result.out[e] = 42;
    const attn_status status = merge_two(&s->a.view, &s->b.view, &s->result.view);
    CHECK_STR(attn_status_name(status), attn_status_name(want));
    for (int e = 0; e < VALUES; e++) CHECK_NEAR(s->result.out[e], 42, 0);
}

TEST(missing_parts_are_refused) {
    static scene s;
    scene_init(&s, 1);
    CHECK_INT(merge_two(NULL, &s.b.view, &s.result.view), ATTN_E_NULL);
    CHECK_INT(merge_two(&s.a.view, NULL, &s.result.view), ATTN_E_NULL);
    CHECK_INT(merge_two(&s.a.view, &s.b.view, NULL), ATTN_E_NULL);
    s.a.view.lse.data = NULL;
    expect_refusal(&s, ATTN_E_NULL);
}

TEST(different_shapes_are_refused) {
    static scene s;
    scene_init(&s, 1);
    s.a.view.out.shape[2] = s.a.view.lse.shape[2] = N_Q - 1;
    expect_refusal(&s, ATTN_E_SHAPE);
}

TEST(lse_that_does_not_fit_its_output_is_refused) {
    static scene s;
    scene_init(&s, 1);
    s.b.view.lse.shape[3] = 2;
    expect_refusal(&s, ATTN_E_SHAPE);
}

TEST(dtypes_that_are_no_floats_are_refused) {
    static scene s;
    scene_init(&s, 1);
    s.a.view.lse.dtype = ATTN_F16;
    expect_refusal(&s, ATTN_E_DTYPE);
    scene_init(&s, 1);
    s.a.view.out.dtype = (attn_dtype)99;
    expect_refusal(&s, ATTN_E_DTYPE);
}

TEST(strided_columns_and_repeated_result_rows_are_refused) {
    static scene s;
    scene_init(&s, 1);
    s.a.view.out.stride[3] = 2;
    expect_refusal(&s, ATTN_E_STRIDE);
    scene_init(&s, 1);
    s.result.view.out.stride[2] = 0;
    expect_refusal(&s, ATTN_E_STRIDE);
}

TEST(result_that_overlaps_without_being_the_same_view_is_refused) {
    static scene s;
    scene_init(&s, 1);
    s.a.view.out.data = s.result.out + D_V; /* shifted by one row */
    s.a.view.out.shape[0] = s.b.view.out.shape[0] = s.result.view.out.shape[0] = 1;
    s.a.view.lse.shape[0] = s.b.view.lse.shape[0] = s.result.view.lse.shape[0] = 1;
    expect_refusal(&s, ATTN_E_OVERLAP);
}

TEST(result_whose_lse_lies_in_an_output_is_refused) {
    static scene s;
    scene_init(&s, 1);
    s.result.view.lse.data = s.a.out;
    expect_refusal(&s, ATTN_E_OVERLAP);
}

TEST(sizes_beyond_the_address_space_are_refused) {
    static scene s;
    scene_init(&s, 1);
    s.a.view.out.stride[0] = INT64_MAX / 2;
    expect_refusal(&s, ATTN_E_OVERFLOW);
}
