/* SPDX-License-Identifier: Apache-2.0 */
/* test_dropout.c - which elements are kept, and what happens to them. */
#include "arrays.h"
#include "layers/dropout.h"

#include <math.h>

enum { N = 100003 };
static real x[N], y[N], again[N];

static void ones(const attni_drop *drop, real *to) {
    fill_with(N, 1, x);
    R(dropout_apply)(drop, N, x, to);
}

TEST(p_0_changes_nothing) {
    fill_random(1, N, x);
    R(dropout_apply)(&(attni_drop){.p = 0, .seed = 1}, N, x, y);
    CHECK_SAME_BITS(N, x, y);
}

TEST(a_share_of_p_is_dropped_and_the_rest_divided_by_1_minus_p) {
    const double ps[] = {0.1, 0.25, 0.5, 0.9};
    for (int k = 0; k < 4; k++) {
        const double p = ps[k];
        int64_t dropped = 0;
        ones(&(attni_drop){.p = p, .seed = 42}, y);
        for (int64_t i = 0; i < N; i++) {
            CHECK(y[i] == 0 || y[i] == (real)(1 / (1 - p)));
            dropped += y[i] == 0;
        }
        CHECK_NEAR((double)dropped / (double)N, p,
                   5 * sqrt(p * (1 - p) / (double)N)); /* 5 deviations */
    }
}

TEST(an_element_stays_iff_its_word_of_philox_is_high_enough) {
    ones(&(attni_drop){.p = 0.5, .seed = 9, .stream = 3}, y);
    for (int64_t i = 0; i < 1000; i++) {
        const attni_philox r = attni_philox4x32(9, (uint32_t)(i / 4), 0, 3, 0xffffffffu);
        CHECK((y[i] != 0) == (r.word[i % 4] >= 0x80000000u));
    }
}

TEST(a_shard_draws_what_the_whole_would) {
    const attni_drop whole = {.p = 0.3, .seed = 5, .stream = 1};
    ones(&whole, y);
    for (int64_t first = 0; first < 9; first++) {
        attni_drop shard = whole;
        shard.first = first;
        R(dropout_apply)(&shard, 100, x, again);
        CHECK_SAME_BITS(100, y + first, again);
    }
}

TEST(an_index_beyond_32_bits_has_words_of_its_own) {
    attni_drop drop = {.p = 0.5, .seed = 5};
    ones(&drop, y);
    drop.first = (int64_t)1 << 34;
    R(dropout_apply)(&drop, 100, x, again);
    CHECK(memcmp(y, again, 100 * sizeof *y) != 0);
}

TEST(seeds_and_streams_are_independent) {
    const attni_drop others[] = {{.p = 0.5, .seed = 6, .stream = 1},
                                 {.p = 0.5, .seed = 5, .stream = 2}};
    ones(&(attni_drop){.p = 0.5, .seed = 5, .stream = 1}, y);
    for (int k = 0; k < 2; k++) {
        int64_t same = 0;
        ones(&others[k], again);
        for (int64_t i = 0; i < N; i++) same += y[i] == again[i];
        CHECK_NEAR((double)same / (double)N, 0.5, 5 * sqrt(0.25 / (double)N));
    }
}

TEST(the_gradient_passes_where_the_value_did) {
    const attni_drop drop = {.p = 0.5, .seed = 8};
    fill_random(1, N, x);
    R(dropout_apply)(&drop, N, x, y);
    ones(&drop, again);
    fill_random(1, N, x);
    for (int64_t i = 0; i < N; i++) CHECK(y[i] == x[i] * again[i]);
}

TEST(output_may_be_the_input) {
    const attni_drop drop = {.p = 0.5, .seed = 8};
    fill_random(1, N, x);
    R(dropout_apply)(&drop, N, x, y);
    R(dropout_apply)(&drop, N, x, x);
    CHECK_SAME_BITS(N, x, y);
}

TEST(a_dropped_nan_is_0) {
    const attni_drop drop = {.p = 0.5, .seed = 8};
    fill_with(64, NAN, x);
    R(dropout_apply)(&drop, 64, x, y);
    int zeros = 0;
    for (int i = 0; i < 64; i++) zeros += y[i] == 0;
    CHECK(zeros > 10 && zeros < 54);
}
