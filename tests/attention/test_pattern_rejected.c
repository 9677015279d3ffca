/* SPDX-License-Identifier: Apache-2.0 */
/* test_pattern_rejected.c - invalid arguments of the pattern functions: the status, a message that
 * names the argument and its value, and no pattern. */
#include "pattern_grid.h"

/* Each rejected call writes here; check_rejected() looks and makes them dirty again. */
static attn_pattern *out;
static attn_error err;

static void make_dirty(void) {
    static attn_pattern dirt;
    out = &dirt;
    err.message[0] = '\0';
}

__attribute__((constructor)) static void start_dirty(void) { make_dirty(); }

/* start: how the message begins, the argument and its value. */
static bool check_rejected(attn_status status, attn_status expected, const char *start) {
    const bool right =
        status == expected && out == NULL && strncmp(err.message, start, strlen(start)) == 0;
    if (!right)
        check_failed(__FILE__, __LINE__, "%s, pattern %p, \"%s\"; expected %s, NULL, \"%s...\"",
                     attn_status_name(status), (void *)out, err.message, attn_status_name(expected),
                     start);
    make_dirty();
    return right;
}

#define CHECK_REJECTED(call, expected, start)                                                      \
    do {                                                                                           \
        if (!check_rejected(call, expected, start)) return;                                        \
    } while (0)

TEST(causal_rejects_bad_sizes) {
    CHECK_REJECTED(attn_pattern_causal(-1, 2, 0, NULL, &out, &err), ATTN_E_VALUE, "n_q: value -1");
    CHECK_REJECTED(attn_pattern_causal(2, -3, 0, NULL, &out, &err), ATTN_E_VALUE, "n_k: value -3");
    CHECK_REJECTED(attn_pattern_causal(INT64_MAX, 1, 0, NULL, &out, &err), ATTN_E_OVERFLOW,
                   "pattern: ");
    CHECK_REJECTED(attn_pattern_causal(INT64_MAX / 8, 1, 0, NULL, &out, &err), ATTN_E_OVERFLOW,
                   "pattern: ");
}

TEST(window_rejects_bad_arguments) {
    CHECK_REJECTED(attn_pattern_window(-1, 2, 0, 0, 0, NULL, &out, &err), ATTN_E_VALUE,
                   "n_q: value -1");
    CHECK_REJECTED(attn_pattern_window(2, -1, 0, 0, 0, NULL, &out, &err), ATTN_E_VALUE,
                   "n_k: value -1");
    CHECK_REJECTED(attn_pattern_window(2, 2, 0, -2, 0, NULL, &out, &err), ATTN_E_VALUE,
                   "left: value -2");
    CHECK_REJECTED(attn_pattern_window(2, 2, 0, 0, -7, NULL, &out, &err), ATTN_E_VALUE,
                   "right: value -7");
    CHECK_REJECTED(attn_pattern_window(2, 2, 0, INT64_MIN, 0, NULL, &out, &err), ATTN_E_VALUE,
                   "left: ");
}

TEST(prefix_rejects_bad_arguments) {
    CHECK_REJECTED(attn_pattern_prefix(-1, 2, 0, NULL, &out, &err), ATTN_E_VALUE, "n_q: value -1");
    CHECK_REJECTED(attn_pattern_prefix(2, -1, 0, NULL, &out, &err), ATTN_E_VALUE, "n_k: value -1");
    CHECK_REJECTED(attn_pattern_prefix(2, 2, -4, NULL, &out, &err), ATTN_E_VALUE,
                   "prefix: value -4");
}

TEST(document_rejects_bad_arguments) {
    static const int64_t ids[] = {0, 0};
    CHECK_REJECTED(attn_pattern_document(-1, 2, ids, ids, NULL, &out, &err), ATTN_E_VALUE,
                   "n_q: value -1");
    CHECK_REJECTED(attn_pattern_document(2, -1, ids, ids, NULL, &out, &err), ATTN_E_VALUE,
                   "n_k: value -1");
    CHECK_REJECTED(attn_pattern_document(2, 2, NULL, ids, NULL, &out, &err), ATTN_E_NULL,
                   "doc_q: NULL");
    CHECK_REJECTED(attn_pattern_document(2, 2, ids, NULL, NULL, &out, &err), ATTN_E_NULL,
                   "doc_k: NULL");
    CHECK_REJECTED(attn_pattern_document(2, INT64_MAX, ids, ids, NULL, &out, &err), ATTN_E_OVERFLOW,
                   "pattern");
}

TEST(global_rejects_bad_arguments) {
    CHECK_REJECTED(attn_pattern_global(-1, 2, 0, NULL, &out, &err), ATTN_E_VALUE, "n_q: value -1");
    CHECK_REJECTED(attn_pattern_global(2, -1, 0, NULL, &out, &err), ATTN_E_VALUE, "n_k: value -1");
    CHECK_REJECTED(attn_pattern_global(2, 2, -1, NULL, &out, &err), ATTN_E_VALUE,
                   "tokens: value -1");
}

TEST(strided_rejects_bad_arguments) {
    CHECK_REJECTED(attn_pattern_strided(-1, 2, 0, 1, NULL, &out, &err), ATTN_E_VALUE,
                   "n_q: value -1");
    CHECK_REJECTED(attn_pattern_strided(2, -1, 0, 1, NULL, &out, &err), ATTN_E_VALUE,
                   "n_k: value -1");
    CHECK_REJECTED(attn_pattern_strided(2, 2, 0, 0, NULL, &out, &err), ATTN_E_VALUE,
                   "step: value 0");
    CHECK_REJECTED(attn_pattern_strided(2, 2, 0, -5, NULL, &out, &err), ATTN_E_VALUE,
                   "step: value -5");
}

TEST(random_blocks_rejects_bad_arguments) {
    CHECK_REJECTED(attn_pattern_random_blocks(-1, 2, 1, 1, 0, NULL, &out, &err), ATTN_E_VALUE,
                   "n_q: ");
    CHECK_REJECTED(attn_pattern_random_blocks(2, -1, 1, 1, 0, NULL, &out, &err), ATTN_E_VALUE,
                   "n_k: ");
    CHECK_REJECTED(attn_pattern_random_blocks(2, 2, 0, 1, 0, NULL, &out, &err), ATTN_E_VALUE,
                   "block: value 0");
    CHECK_REJECTED(attn_pattern_random_blocks(2, 2, 1, -1, 0, NULL, &out, &err), ATTN_E_VALUE,
                   "count: value -1");
}

TEST(dense_rejects_bad_arguments) {
    static const uint8_t allow[4] = {0};
    CHECK_REJECTED(attn_pattern_dense(-1, 2, allow, NULL, &out, &err), ATTN_E_VALUE,
                   "n_q: value -1");
    CHECK_REJECTED(attn_pattern_dense(2, -1, allow, NULL, &out, &err), ATTN_E_VALUE,
                   "n_k: value -1");
    CHECK_REJECTED(attn_pattern_dense(2, 2, NULL, NULL, &out, &err), ATTN_E_NULL, "allow: NULL");
    CHECK_REJECTED(attn_pattern_dense(INT64_MAX, 2, allow, NULL, &out, &err), ATTN_E_OVERFLOW,
                   "allow: ");
}

TEST(longformer_rejects_bad_arguments) {
    CHECK_REJECTED(attn_pattern_longformer(-1, 1, 1, NULL, &out, &err), ATTN_E_VALUE,
                   "n: value -1");
    CHECK_REJECTED(attn_pattern_longformer(4, -1, 1, NULL, &out, &err), ATTN_E_VALUE,
                   "side: value -1");
    CHECK_REJECTED(attn_pattern_longformer(4, 1, -2, NULL, &out, &err), ATTN_E_VALUE,
                   "global: value -2");
}

TEST(bigbird_rejects_bad_arguments) {
    CHECK_REJECTED(attn_pattern_bigbird(-1, 1, 1, 1, 1, 0, NULL, &out, &err), ATTN_E_VALUE,
                   "n: value -1");
    CHECK_REJECTED(attn_pattern_bigbird(4, 0, 1, 1, 1, 0, NULL, &out, &err), ATTN_E_VALUE,
                   "block: value 0");
    CHECK_REJECTED(attn_pattern_bigbird(4, 1, 2, 1, 1, 0, NULL, &out, &err), ATTN_E_VALUE,
                   "window: value 2");
    CHECK_REJECTED(attn_pattern_bigbird(4, 1, -1, 1, 1, 0, NULL, &out, &err), ATTN_E_VALUE,
                   "window: value -1");
    CHECK_REJECTED(attn_pattern_bigbird(4, 1, 1, -1, 1, 0, NULL, &out, &err), ATTN_E_VALUE,
                   "global: value -1");
    CHECK_REJECTED(attn_pattern_bigbird(4, 1, 1, 1, -6, 0, NULL, &out, &err), ATTN_E_VALUE,
                   "random: value -6");
}

TEST(from_csr_rejects_bad_sizes_and_pointers) {
    static const int64_t ptr[] = {0, 1, 2}, col[] = {0, 1};
    CHECK_REJECTED(attn_pattern_from_csr(-1, 2, ptr, col, NULL, &out, &err), ATTN_E_VALUE,
                   "n_q: value -1");
    CHECK_REJECTED(attn_pattern_from_csr(2, -1, ptr, col, NULL, &out, &err), ATTN_E_VALUE,
                   "n_k: value -1");
    CHECK_REJECTED(attn_pattern_from_csr(2, 2, NULL, col, NULL, &out, &err), ATTN_E_NULL,
                   "row_ptr: NULL");
    CHECK_REJECTED(attn_pattern_from_csr(2, 2, ptr, NULL, NULL, &out, &err), ATTN_E_NULL,
                   "col: NULL");
    CHECK_REJECTED(attn_pattern_from_csr(INT64_MAX, 2, ptr, col, NULL, &out, &err), ATTN_E_OVERFLOW,
                   "pattern");
}

TEST(from_csr_rejects_a_decreasing_row_ptr) {
    static const int64_t col[] = {0, 1, 2};
    static const int64_t falls[] = {0, 2, 1}, negative[] = {-1, 0, 1};
    CHECK_REJECTED(attn_pattern_from_csr(2, 3, falls, col, NULL, &out, &err), ATTN_E_VALUE,
                   "row_ptr: value 1 at 2");
    CHECK_REJECTED(attn_pattern_from_csr(2, 3, negative, col, NULL, &out, &err), ATTN_E_VALUE,
                   "row_ptr: value -1 at 0");
}

TEST(from_csr_rejects_columns_out_of_range_or_order) {
    static const int64_t ptr[] = {0, 1, 3};
    static const int64_t large[] = {0, 1, 3}, negative[] = {-1, 1, 2};
    static const int64_t falls[] = {0, 2, 1}, repeats[] = {0, 2, 2};
    CHECK_REJECTED(attn_pattern_from_csr(2, 3, ptr, large, NULL, &out, &err), ATTN_E_VALUE,
                   "col: value 3 in row 1");
    CHECK_REJECTED(attn_pattern_from_csr(2, 3, ptr, negative, NULL, &out, &err), ATTN_E_VALUE,
                   "col: value -1 in row 0");
    CHECK_REJECTED(attn_pattern_from_csr(2, 3, ptr, falls, NULL, &out, &err), ATTN_E_VALUE,
                   "col: value 1 after 2 in row 1");
    CHECK_REJECTED(attn_pattern_from_csr(2, 3, ptr, repeats, NULL, &out, &err), ATTN_E_VALUE,
                   "col: value 2 after 2 in row 1");
}

TEST(algebra_rejects_null_and_different_shapes) {
    attn_pattern *a = NULL, *rows = NULL, *keys = NULL;
    CHECK_INT(attn_pattern_causal(3, 4, 0, NULL, &a, NULL), ATTN_OK);
    CHECK_INT(attn_pattern_causal(2, 4, 0, NULL, &rows, NULL), ATTN_OK);
    CHECK_INT(attn_pattern_causal(3, 5, 0, NULL, &keys, NULL), ATTN_OK);
    CHECK_REJECTED(attn_pattern_union(NULL, a, NULL, &out, &err), ATTN_E_NULL, "a: NULL");
    CHECK_REJECTED(attn_pattern_union(a, NULL, NULL, &out, &err), ATTN_E_NULL, "b: NULL");
    CHECK_REJECTED(attn_pattern_intersect(NULL, a, NULL, &out, &err), ATTN_E_NULL, "a: NULL");
    CHECK_REJECTED(attn_pattern_complement(NULL, NULL, &out, &err), ATTN_E_NULL, "a: NULL");
    CHECK_REJECTED(attn_pattern_union(a, rows, NULL, &out, &err), ATTN_E_SHAPE,
                   "b: 2 x 4, expected 3 x 4");
    CHECK_REJECTED(attn_pattern_intersect(a, keys, NULL, &out, &err), ATTN_E_SHAPE,
                   "b: 3 x 5, expected 3 x 4");
    attn_pattern_destroy(a);
    attn_pattern_destroy(rows);
    attn_pattern_destroy(keys);
}

TEST(to_csr_rejects_null_and_writes_nothing) {
    attn_pattern *m = NULL;
    int64_t row_ptr[3] = {7, 7, 7}, col[4] = {7, 7, 7, 7};
    CHECK_INT(attn_pattern_causal(2, 2, 0, NULL, &m, NULL), ATTN_OK);
    CHECK_INT(attn_pattern_to_csr(NULL, row_ptr, col, &err), ATTN_E_NULL);
    CHECK_INT(attn_pattern_to_csr(m, NULL, col, &err), ATTN_E_NULL);
    CHECK_INT(attn_pattern_to_csr(m, row_ptr, NULL, &err), ATTN_E_NULL);
    CHECK(strncmp(err.message, "col: NULL", 9) == 0);
    CHECK_INT(row_ptr[0], 7);
    CHECK_INT(col[0], 7);
    attn_pattern_destroy(m);
}

TEST(a_null_place_for_the_pattern_is_rejected_everywhere) {
    static const int64_t zeros[] = {0, 0};
    static const uint8_t allow[] = {1};
    attn_pattern *m = NULL;
    CHECK_INT(attn_pattern_causal(1, 1, 0, NULL, &m, NULL), ATTN_OK);
    const attn_status got[] = {
        attn_pattern_causal(1, 1, 0, NULL, NULL, NULL),
        attn_pattern_window(1, 1, 0, 0, 0, NULL, NULL, NULL),
        attn_pattern_prefix(1, 1, 0, NULL, NULL, NULL),
        attn_pattern_document(1, 1, zeros, zeros, NULL, NULL, NULL),
        attn_pattern_global(1, 1, 0, NULL, NULL, NULL),
        attn_pattern_strided(1, 1, 0, 1, NULL, NULL, NULL),
        attn_pattern_random_blocks(1, 1, 1, 1, 0, NULL, NULL, NULL),
        attn_pattern_dense(1, 1, allow, NULL, NULL, NULL),
        attn_pattern_from_csr(1, 1, zeros, zeros, NULL, NULL, NULL),
        attn_pattern_intersect(m, m, NULL, NULL, NULL),
        attn_pattern_union(m, m, NULL, NULL, NULL),
        attn_pattern_complement(m, NULL, NULL, NULL),
        attn_pattern_longformer(1, 1, 1, NULL, NULL, NULL),
        attn_pattern_bigbird(1, 1, 1, 1, 1, 0, NULL, NULL, NULL),
    };
    for (int t = 0; t < COUNT_OF(got); t++) CHECK_INT(got[t], ATTN_E_NULL);
    attn_pattern_destroy(m);
}

TEST(more_pairs_than_can_be_counted_are_rejected) {
    attn_pattern *m = NULL;
    CHECK_INT(attn_pattern_prefix(1, INT64_MAX, INT64_MAX, NULL, &m, NULL), ATTN_OK);
    CHECK_INT(attn_pattern_count(m), INT64_MAX);
    attn_pattern_destroy(m);
    CHECK_REJECTED(attn_pattern_prefix(2, INT64_MAX, INT64_MAX, NULL, &out, &err), ATTN_E_OVERFLOW,
                   "pattern:");
}
