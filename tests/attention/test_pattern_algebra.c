/* SPDX-License-Identifier: Apache-2.0 */
/* test_pattern_algebra.c - union, intersection and complement of patterns, queries on them, and
 * lists of columns (CSR). */
#include "pattern_grid.h"

/* Two random grids of one shape and their patterns; the tests run over many of them. */
typedef struct operands {
    grid a, b;
    attn_pattern *pattern_a, *pattern_b;
} operands;

enum { OPERAND_PAIRS = 12 * 16 };

static operands random_operands(int t) {
    static const int percents[] = {0, 30, 60, 100};
    random_stream random = random_begin(1000, (uint64_t)t);
    operands x;
    x.a = grid_random(shapes[t / 16], percents[t % 4], &random);
    x.b = grid_random(shapes[t / 16], percents[t / 4 % 4], &random);
    x.pattern_a = pattern_of(&x.a);
    x.pattern_b = pattern_of(&x.b);
    return x;
}

static void destroy_operands(operands *x) {
    attn_pattern_destroy(x->pattern_a);
    attn_pattern_destroy(x->pattern_b);
}

TEST(union_is_visible_in_either) {
    for (int t = 0; t < OPERAND_PAIRS; t++) {
        operands x = random_operands(t);
        grid g = x.a;
        for (int c = 0; c < MAX_SIDE * MAX_SIDE; c++) g.allow[c] = x.a.allow[c] || x.b.allow[c];
        attn_pattern *m = NULL;
        if (!gave(attn_pattern_union(x.pattern_a, x.pattern_b, NULL, &m, NULL), &m, &g)) return;
        destroy_operands(&x);
    }
}

TEST(intersect_is_visible_in_both) {
    for (int t = 0; t < OPERAND_PAIRS; t++) {
        operands x = random_operands(t);
        grid g = x.a;
        for (int c = 0; c < MAX_SIDE * MAX_SIDE; c++) g.allow[c] = x.a.allow[c] && x.b.allow[c];
        attn_pattern *m = NULL;
        if (!gave(attn_pattern_intersect(x.pattern_a, x.pattern_b, NULL, &m, NULL), &m, &g)) return;
        destroy_operands(&x);
    }
}

TEST(complement_is_visible_where_the_operand_is_not) {
    for (int t = 0; t < OPERAND_PAIRS; t++) {
        operands x = random_operands(t);
        grid g = x.a;
        for (int c = 0; c < MAX_SIDE * MAX_SIDE; c++) g.allow[c] = !x.a.allow[c];
        attn_pattern *m = NULL;
        if (!gave(attn_pattern_complement(x.pattern_a, NULL, &m, NULL), &m, &g)) return;
        destroy_operands(&x);
    }
}

TEST(double_complement_is_the_operand) {
    for (int t = 0; t < OPERAND_PAIRS; t++) {
        operands x = random_operands(t);
        attn_pattern *once = NULL, *twice = NULL;
        CHECK_INT(attn_pattern_complement(x.pattern_a, NULL, &once, NULL), ATTN_OK);
        CHECK_INT(attn_pattern_complement(once, NULL, &twice, NULL), ATTN_OK);
        CHECK(same_patterns(twice, x.pattern_a));
        attn_pattern_destroy(once);
        attn_pattern_destroy(twice);
        destroy_operands(&x);
    }
}

/* not (a or b) == (not a) and (not b) */
TEST(de_morgan_holds) {
    for (int t = 0; t < OPERAND_PAIRS; t++) {
        operands x = random_operands(t);
        attn_pattern *either = NULL, *left = NULL, *not_a = NULL, *not_b = NULL, *right = NULL;
        CHECK_INT(attn_pattern_union(x.pattern_a, x.pattern_b, NULL, &either, NULL), ATTN_OK);
        CHECK_INT(attn_pattern_complement(either, NULL, &left, NULL), ATTN_OK);
        CHECK_INT(attn_pattern_complement(x.pattern_a, NULL, &not_a, NULL), ATTN_OK);
        CHECK_INT(attn_pattern_complement(x.pattern_b, NULL, &not_b, NULL), ATTN_OK);
        CHECK_INT(attn_pattern_intersect(not_a, not_b, NULL, &right, NULL), ATTN_OK);
        CHECK(same_patterns(left, right));
        attn_pattern *all[] = {either, left, not_a, not_b, right};
        for (int m = 0; m < COUNT_OF(all); m++) attn_pattern_destroy(all[m]);
        destroy_operands(&x);
    }
}

TEST(a_pattern_may_be_combined_with_itself) {
    operands x = random_operands(9 * 16 + 5);
    attn_pattern *m = NULL;
    if (!gave(attn_pattern_union(x.pattern_a, x.pattern_a, NULL, &m, NULL), &m, &x.a)) return;
    gave(attn_pattern_intersect(x.pattern_a, x.pattern_a, NULL, &m, NULL), &m, &x.a);
    destroy_operands(&x);
}

/* --------------------------------------------------------------------------------- queries */

TEST(at_is_0_out_of_range) {
    attn_pattern *m = NULL;
    CHECK_INT(attn_pattern_prefix(3, 4, 4, NULL, &m, NULL), ATTN_OK);
    CHECK_INT(attn_pattern_at(m, 2, 3), 1);
    static const int64_t pairs[][2] = {{-1, 0},        {3, 0},         {0, -1},
                                       {0, 4},         {INT64_MIN, 0}, {INT64_MAX, 0},
                                       {0, INT64_MIN}, {0, INT64_MAX}};
    for (int t = 0; t < COUNT_OF(pairs); t++)
        CHECK_INT(attn_pattern_at(m, pairs[t][0], pairs[t][1]), 0);
    attn_pattern_destroy(m);
}

TEST(a_null_pattern_has_nothing_and_may_be_destroyed) {
    CHECK_INT(attn_pattern_rows(NULL), 0);
    CHECK_INT(attn_pattern_keys(NULL), 0);
    CHECK_INT(attn_pattern_count(NULL), 0);
    CHECK_INT(attn_pattern_intervals(NULL), 0);
    CHECK_INT(attn_pattern_at(NULL, 0, 0), 0);
    attn_pattern_destroy(NULL);
}

TEST(causal_of_65536_counts_the_triangle_in_one_interval_per_row) {
    const int64_t n = 65536;
    attn_pattern *m = NULL;
    CHECK_INT(attn_pattern_causal(n, n, 0, NULL, &m, NULL), ATTN_OK);
    CHECK_INT(attn_pattern_count(m), n * (n + 1) / 2);
    CHECK_INT(attn_pattern_intervals(m), n);
    attn_pattern_destroy(m);
}

TEST(bigbird_of_65536_needs_few_intervals_per_row) {
    const int64_t n = 65536;
    attn_pattern *m = NULL;
    CHECK_INT(attn_pattern_bigbird(n, 64, 3, 2, 3, 1, NULL, &m, NULL), ATTN_OK);
    CHECK(attn_pattern_intervals(m) <= n * (1 + 1 + 3)); /* global, band, three random blocks */
    CHECK(attn_pattern_count(m) <= 2 * 64 * n + n * 64 * (2 + 3 + 3));
    attn_pattern_destroy(m);
}

/* ------------------------------------------------------------------------------------- CSR */

TEST(csr_round_trip_keeps_the_pattern) {
    for (int t = 0; t < OPERAND_PAIRS; t++) {
        operands x = random_operands(t);
        static int64_t row_ptr[MAX_SIDE + 1], col[MAX_SIDE * MAX_SIDE];
        CHECK_INT(attn_pattern_to_csr(x.pattern_a, row_ptr, col, NULL), ATTN_OK);
        attn_pattern *m = NULL;
        if (!gave(attn_pattern_from_csr(x.a.n_q, x.a.n_k, row_ptr, col, NULL, &m, NULL), &m, &x.a))
            return;
        destroy_operands(&x);
    }
}

TEST(to_csr_lists_the_visible_keys_of_each_row) {
    const grid g = {.n_q = 3, .n_k = 4, .allow = {1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0}};
    static const int64_t want_ptr[] = {0, 3, 3, 4}, want_col[] = {0, 1, 3, 2};
    int64_t row_ptr[4], col[4];
    attn_pattern *m = pattern_of(&g);
    CHECK_INT(attn_pattern_to_csr(m, row_ptr, col, NULL), ATTN_OK);
    for (int t = 0; t < 4; t++) {
        CHECK_INT(row_ptr[t], want_ptr[t]);
        CHECK_INT(col[t], want_col[t]);
    }
    attn_pattern_destroy(m);
}

TEST(from_csr_takes_a_slice_of_the_rows) {
    static const int64_t row_ptr[] = {2, 3, 5}, col[] = {9, 9, 1, 0, 2};
    const grid g = {.n_q = 2, .n_k = 3, .allow = {0, 1, 0, 1, 0, 1}};
    attn_pattern *m = NULL;
    gave(attn_pattern_from_csr(2, 3, row_ptr, col, NULL, &m, NULL), &m, &g);
}

TEST(csr_of_an_empty_pattern_needs_no_columns) {
    static const int64_t row_ptr[] = {0, 0, 0};
    int64_t out[3] = {7, 7, 7};
    attn_pattern *m = NULL;
    CHECK_INT(attn_pattern_from_csr(2, 3, row_ptr, NULL, NULL, &m, NULL), ATTN_OK);
    CHECK_INT(attn_pattern_to_csr(m, out, NULL, NULL), ATTN_OK);
    CHECK_INT(out[2], 0);
    attn_pattern_destroy(m);
}
