/* SPDX-License-Identifier: Apache-2.0 */
/* test_relative.c - relative position bias: buckets against their definition in whole numbers, the
 * sliding view against a dense matrix, the gradient as the transpose of the lookup. What attention
 * does with it: tests/layers/test_mha.c. */
#define ATTNI_REAL_f64
#include "arrays.h"
#include "layers/relative.h"

static const attni_relative t5_encoder = {true, 32, 128}, t5_decoder = {false, 32, 128};

/* ------------------------------------------------------------------------------------- buckets */

/* base^exponent; fits as long as base^exponent < 2^128. */
static unsigned __int128 power(int64_t base, int64_t exponent) {
    unsigned __int128 result = 1;
    while (exponent-- > 0) result *= (unsigned __int128)base;
    return result;
}

/* Bucket of a distance r >= 0 into the past, of `buckets`. The definition
 *     exact + floor(rest * log(r / exact) / log(max / exact))
 * said without logarithms: the largest step with r^rest >= exact^(rest - step) max^step. */
static int64_t bucket_by_definition(int64_t r, int64_t buckets, int64_t max) {
    const int64_t exact = buckets / 2, rest = buckets - exact;
    int64_t step = 0;
    if (r < exact) return r;
    while (step + 1 < rest &&
           power(r, rest) >= power(exact, rest - step - 1) * power(max, step + 1)) {
        step++;
    }
    return exact + step;
}

TEST(buckets_of_one_direction_follow_the_definition) {
    for (int64_t r = 0; r < 200; r++) {
        CHECK_INT(R(relative_bucket)(&t5_decoder, -r), bucket_by_definition(r, 32, 128));
    }
}

TEST(buckets_of_two_directions_follow_the_definition) {
    for (int64_t r = 0; r < 200; r++) {
        CHECK_INT(R(relative_bucket)(&t5_encoder, -r), bucket_by_definition(r, 16, 128));
        if (r > 0) {
            CHECK_INT(R(relative_bucket)(&t5_encoder, r), 16 + bucket_by_definition(r, 16, 128));
        }
    }
}

/* Buckets begin at 4, 40, 400 and 4000; log(1000) / log(10000) * 4 is rounded to less than 3. */
TEST(distances_on_an_edge_belong_to_the_upper_bucket) {
    const attni_relative decades = {false, 8, 40000};
    for (int64_t r = 0; r < 5000; r++) {
        CHECK_INT(R(relative_bucket)(&decades, -r), bucket_by_definition(r, 8, 40000));
    }
}

TEST(keys_after_the_query_share_bucket_zero_when_causal) {
    CHECK_INT(R(relative_bucket)(&t5_decoder, 1), 0);
    CHECK_INT(R(relative_bucket)(&t5_decoder, 1000), 0);
}

TEST(far_distances_share_the_last_bucket) {
    CHECK_INT(R(relative_bucket)(&t5_decoder, -128), 31);
    CHECK_INT(R(relative_bucket)(&t5_decoder, -1000000), 31);
    CHECK_INT(R(relative_bucket)(&t5_encoder, -1000000), 15);
    CHECK_INT(R(relative_bucket)(&t5_encoder, 1000000), 31);
}

TEST(two_buckets_tell_the_query_itself_from_the_past) {
    const attni_relative least = {false, 2, 2};
    CHECK_INT(R(relative_bucket)(&least, 0), 0);
    CHECK_INT(R(relative_bucket)(&least, -1), 1);
    CHECK_INT(R(relative_bucket)(&least, -50), 1);
}

/* ---------------------------------------------------------------------------- values and view */

enum { H = 3, N_Q = 5, N_K = 7, DISTANCES = N_Q + N_K - 1, BUCKETS = 6 };

static const attni_relative relative = {true, BUCKETS, 4};
static const attni_relative_shape shape = {H, N_Q, N_K, 0};

static double at(const attn_tensor *t, int64_t h, int64_t i, int64_t j) {
    return ((const double *)t->data)[h * t->stride[1] + i * t->stride[2] + j * t->stride[3]];
}

TEST(sliding_view_is_the_dense_bias) {
    double table[BUCKETS * H], by_distance[H * DISTANCES];
    fill_random(1, BUCKETS * H, table);
    CHECK_INT(R(relative_forward)(&relative, &shape, table, by_distance, NULL), ATTN_OK);
    const attn_tensor view = R(relative_view)(&shape, by_distance);
    CHECK_INT(view.shape[0], 1);
    for (int h = 0; h < H; h++) {
        for (int i = 0; i < N_Q; i++) {
            for (int j = 0; j < N_K; j++) {
                const int64_t past = bucket_by_definition(i > j ? i - j : j - i, BUCKETS / 2, 4);
                const int64_t bucket = past + (j > i ? BUCKETS / 2 : 0);
                CHECK_NEAR(at(&view, h, i, j), table[bucket * H + h], 0);
            }
        }
    }
}

TEST(backward_adds_the_transpose_of_forward) {
    double dby_distance[H * DISTANCES], dtable[BUCKETS * H], start[BUCKETS * H];
    fill_random(2, H * DISTANCES, dby_distance);
    fill_random(3, BUCKETS * H, dtable);
    fill_random(3, BUCKETS * H, start);
    CHECK_INT(R(relative_backward)(&relative, &shape, dby_distance, dtable, NULL), ATTN_OK);
    for (int e = 0; e < BUCKETS * H; e++) {
        double unit[BUCKETS * H] = {0}, by_distance[H * DISTANCES], sum = 0;
        unit[e] = 1;
        CHECK_INT(R(relative_forward)(&relative, &shape, unit, by_distance, NULL), ATTN_OK);
        for (int r = 0; r < H * DISTANCES; r++) sum += by_distance[r] * dby_distance[r];
        CHECK_NEAR(dtable[e], start[e] + sum, 1e-14);
    }
}

TEST(ranges_that_make_no_buckets_are_refused) {
    const attni_relative wrong[] = {{false, 1, 128}, {true, 2, 128}, {true, 7, 128},
                                    {false, 32, 16}, {true, 32, 8},  {true, -4, 128}};
    for (size_t n = 0; n < sizeof wrong / sizeof wrong[0]; n++) {
        double table[1] = {0}, by_distance[H * DISTANCES] = {[0] = 7};
        CHECK_INT(R(relative_forward)(&wrong[n], &shape, table, by_distance, NULL), ATTN_E_VALUE);
        CHECK_INT(R(relative_backward)(&wrong[n], &shape, by_distance, table, NULL), ATTN_E_VALUE);
        CHECK_NEAR(by_distance[0], 7, 0);
    }
}
