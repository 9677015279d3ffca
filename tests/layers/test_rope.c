/* SPDX-License-Identifier: Apache-2.0 */
/* test_rope.c - rotary embedding: its purpose (scores depend only on the distance), its inverse,
 * its table, what it rejects. Independent values: tests/golden/test_layers.c, test_onnx_rotary.c.
 * Tolerance 1e-14 of numbers of size 1: a few roundings each. */
#define ATTNI_REAL_f64
#include "arrays.h"
#include "layers/rope.h"

enum { D = 6, POSITIONS = 40 };

static const double tolerance = 1e-14;

static double cosines[POSITIONS * D / 2], sines[POSITIONS * D / 2];

static attni_rope rope_of(int64_t dim, bool interleaved) {
    R(rope_table)(POSITIONS, dim, 10000, 1, cosines, sines);
    return (attni_rope){dim, interleaved, POSITIONS, cosines, sines};
}

static double dot(const double *a, const double *b, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* One row x (D) at one position. */
static attn_status turn(const attni_rope *rope, int64_t position, double *x) {
    const attn_tensor row = attn_tensor_bhsd(x, ATTN_F64, 1, 1, 1, D);
    return R(rope_forward)(rope, &(attni_rope_rows){.first = position}, &row, NULL);
}

/* q at position i times k at position j. */
static double score(const attni_rope *rope, int64_t i, int64_t j) {
    double q[D], k[D];
    fill_random(1, D, q);
    fill_random(2, D, k);
    turn(rope, i, q);
    turn(rope, j, k);
    return dot(q, k, D);
}

TEST(scores_depend_on_the_distance_only) {
    for (int interleaved = 0; interleaved < 2; interleaved++) {
        for (int64_t dim = 2; dim <= D; dim += 2) {
            const attni_rope rope = rope_of(dim, interleaved);
            for (int64_t shift = 0; shift < 30; shift++) {
                CHECK_NEAR(score(&rope, 7 + shift, 3 + shift), score(&rope, 7, 3), tolerance);
            }
        }
    }
}

TEST(scores_change_with_the_distance) {
    const attni_rope rope = rope_of(D, false);
    CHECK(fabs(score(&rope, 7, 3) - score(&rope, 7, 4)) > 1e-3);
}

TEST(position_zero_changes_nothing) {
    const attni_rope rope = rope_of(D, true);
    double x[D], same[D];
    fill_random(3, D, x);
    fill_random(3, D, same);
    CHECK_INT(turn(&rope, 0, x), ATTN_OK);
    for (int c = 0; c < D; c++) CHECK_NEAR(x[c], same[c], 0);
}

TEST(columns_beyond_dim_stay) {
    const attni_rope rope = rope_of(4, false);
    double x[D], same[D];
    fill_random(3, D, x);
    fill_random(3, D, same);
    CHECK_INT(turn(&rope, 9, x), ATTN_OK);
    CHECK(x[3] != same[3]);
    for (int c = 4; c < D; c++) CHECK_NEAR(x[c], same[c], 0);
}

TEST(half_split_pairs_are_half_the_dimension_apart) {
    const attni_rope rope = rope_of(D, false);
    double x[D] = {0, 1, 0, 0, 0, 0}; /* pair 1 is columns 1 and 4 */
    const double angle = 5 * pow(10000, -2.0 / (double)D);
    CHECK_INT(turn(&rope, 5, x), ATTN_OK);
    CHECK_NEAR(x[1], cos(angle), tolerance);
    CHECK_NEAR(x[4], sin(angle), tolerance);
}

TEST(interleaved_pairs_are_neighbours) {
    const attni_rope rope = rope_of(D, true);
    double x[D] = {0, 0, 1, 0, 0, 0}; /* pair 1 is columns 2 and 3 */
    const double angle = 5 * pow(10000, -2.0 / (double)D);
    CHECK_INT(turn(&rope, 5, x), ATTN_OK);
    CHECK_NEAR(x[2], cos(angle), tolerance);
    CHECK_NEAR(x[3], sin(angle), tolerance);
}

TEST(interpolation_divides_positions) {
    double slow_cosines[POSITIONS * D / 2], slow_sines[POSITIONS * D / 2];
    R(rope_table)(POSITIONS, D, 10000, 1, cosines, sines);
    R(rope_table)(POSITIONS, D, 10000, 4, slow_cosines, slow_sines);
    for (int t = 0; 4 * t < POSITIONS; t++) {
        for (int p = 0; p < D / 2; p++) {
            CHECK_NEAR(slow_cosines[4 * t * D / 2 + p], cosines[t * D / 2 + p], tolerance);
            CHECK_NEAR(slow_sines[4 * t * D / 2 + p], sines[t * D / 2 + p], tolerance);
        }
    }
}

TEST(base_sets_the_slowest_pair) {
    double c[2 * 2], s[2 * 2]; /* two positions, dim 4 */
    R(rope_table)(2, 4, 500, 1, c, s);
    CHECK_NEAR(s[2], sin(1), tolerance);
    CHECK_NEAR(s[3], sin(1 / sqrt(500)), tolerance);
}

/* ------------------------------------------------------------------------------ whole tensors */

enum { B = 2, H = 3, N = 5, ALL = B * H * N * D };

TEST(positions_are_taken_per_batch_entry_and_row) {
    const int64_t positions[B * N] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 35};
    const attni_rope rope = rope_of(D, false);
    double x[ALL], one[ALL];
    fill_random(4, ALL, x);
    fill_random(4, ALL, one);
    const attn_tensor view = attn_tensor_bshd(x, ATTN_F64, B, H, N, D);
    CHECK_INT(R(rope_forward)(&rope, &(attni_rope_rows){.positions = positions}, &view, NULL),
              ATTN_OK);
    for (int r = 0; r < B * N * H; r++) { /* rows in memory: (B, N, H) */
        turn(&rope, positions[r / H], one + r * D);
        for (int c = 0; c < D; c++) CHECK_NEAR(x[r * D + c], one[r * D + c], 0);
    }
}

TEST(rows_count_from_first) {
    const int64_t positions[B * N] = {30, 31, 32, 33, 34, 30, 31, 32, 33, 34};
    const attni_rope rope = rope_of(D, true);
    double x[ALL], y[ALL];
    fill_random(4, ALL, x);
    fill_random(4, ALL, y);
    const attn_tensor from_first = attn_tensor_bhsd(x, ATTN_F64, B, H, N, D);
    const attn_tensor by_list = attn_tensor_bhsd(y, ATTN_F64, B, H, N, D);
    R(rope_forward)(&rope, &(attni_rope_rows){.first = 30}, &from_first, NULL);
    R(rope_forward)(&rope, &(attni_rope_rows){.positions = positions}, &by_list, NULL);
    for (int i = 0; i < ALL; i++) CHECK_NEAR(x[i], y[i], 0);
}

TEST(backward_restores_what_forward_turned) {
    for (int interleaved = 0; interleaved < 2; interleaved++) {
        const attni_rope rope = rope_of(4, interleaved);
        const attni_rope_rows rows = {.first = 11};
        double x[ALL], same[ALL];
        fill_random(5, ALL, x);
        fill_random(5, ALL, same);
        const attn_tensor view = attn_tensor_bhsd(x, ATTN_F64, B, H, N, D);
        CHECK_INT(R(rope_forward)(&rope, &rows, &view, NULL), ATTN_OK);
        CHECK_INT(R(rope_backward)(&rope, &rows, &view, NULL), ATTN_OK);
        for (int i = 0; i < ALL; i++) CHECK_NEAR(x[i], same[i], tolerance);
    }
}

/* The loss <g, R x> is linear in x, so its gradient is exact: g . (R e_c) for column c. */
TEST(backward_is_the_gradient_of_forward) {
    for (int interleaved = 0; interleaved < 2; interleaved++) {
        const attni_rope rope = rope_of(4, interleaved);
        double g[D], dx[D];
        fill_random(6, D, g);
        fill_random(6, D, dx);
        const attn_tensor row = attn_tensor_bhsd(dx, ATTN_F64, 1, 1, 1, D);
        CHECK_INT(R(rope_backward)(&rope, &(attni_rope_rows){.first = 13}, &row, NULL), ATTN_OK);
        for (int c = 0; c < D; c++) {
            double unit[D] = {0};
            unit[c] = 1;
            turn(&rope, 13, unit);
            CHECK_NEAR(dx[c], dot(g, unit, D), tolerance);
        }
    }
}

/* ------------------------------------------------------------------------------------ refusals */

/* Status of turning a row of ones; says whether the row stayed as it was. */
static attn_status refuse(const attni_rope *rope, int64_t position, bool *untouched) {
    double x[D] = {1, 1, 1, 1, 1, 1};
    const attn_status status = turn(rope, position, x);
    *untouched = true;
    for (int c = 0; c < D; c++) *untouched &= x[c] == 1;
    return status;
}

TEST(position_outside_the_table_is_refused) {
    const attni_rope rope = rope_of(D, false);
    bool untouched;
    CHECK_INT(refuse(&rope, POSITIONS, &untouched), ATTN_E_VALUE);
    CHECK(untouched);
    CHECK_INT(refuse(&rope, -1, &untouched), ATTN_E_VALUE);
    CHECK(untouched);
}

TEST(odd_or_too_large_dimension_is_refused) {
    attni_rope rope = rope_of(D, false);
    bool untouched;
    rope.dim = 3;
    CHECK_INT(refuse(&rope, 1, &untouched), ATTN_E_SHAPE);
    CHECK(untouched);
    rope.dim = D + 2;
    CHECK_INT(refuse(&rope, 1, &untouched), ATTN_E_SHAPE);
    CHECK(untouched);
}

TEST(other_dtypes_and_strides_are_refused) {
    const attni_rope rope = rope_of(D, false);
    const attni_rope_rows rows = {0};
    float single[D] = {0};
    double spread[2 * D] = {0};
    const attn_tensor f32 = attn_tensor_bhsd(single, ATTN_F32, 1, 1, 1, D);
    attn_tensor gaps = attn_tensor_bhsd(spread, ATTN_F64, 1, 1, 1, D);
    gaps.stride[3] = 2;
    CHECK_INT(R(rope_forward)(&rope, &rows, &f32, NULL), ATTN_E_DTYPE);
    CHECK_INT(R(rope_forward)(&rope, &rows, &gaps, NULL), ATTN_E_STRIDE);
}

TEST(no_rows_need_no_table) {
    const attni_rope rope = {.dim = D};
    const attni_rope_rows rows = {0};
    const attn_tensor empty = attn_tensor_bhsd(NULL, ATTN_F64, 2, 3, 0, D);
    CHECK_INT(R(rope_forward)(&rope, &rows, &empty, NULL), ATTN_OK);
}
