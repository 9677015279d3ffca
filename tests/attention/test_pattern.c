/* SPDX-License-Identifier: Apache-2.0 */
/* test_pattern.c - the constructors of attn.h section 8 against rules written out pair by pair, and
 * against golden patterns. */
#include "pattern_grid.h"

typedef __int128 wide; /* wide enough for every sum of int64_t arguments */

static const int64_t offsets[] = {
    ATTN_OFFSET_BOTTOM_RIGHT, INT64_MIN + 1, -20, -3, -1, 0, 1, 2, 20, INT64_MAX - 5, INT64_MAX};

/* p: the arguments of the constructor after n_q and n_k, with the offset resolved. */
typedef bool rule(const int64_t *p, int64_t i, int64_t j);

static grid grid_of(shape s, rule *visible, const int64_t *p) {
    grid g = {.n_q = s.n_q, .n_k = s.n_k};
    for (int64_t i = 0; i < s.n_q; i++) {
        for (int64_t j = 0; j < s.n_k; j++) g.allow[i * s.n_k + j] = visible(p, i, j);
    }
    return g;
}

static int64_t resolved(int64_t offset, shape s) {
    return offset == ATTN_OFFSET_BOTTOM_RIGHT ? s.n_k - s.n_q : offset;
}

/* ----------------------------------------------------------------------------- constructors */

static bool causal_rule(const int64_t *p, int64_t i, int64_t j) {
    return (wide)j <= (wide)i + p[0];
}

TEST(causal_shows_keys_up_to_i_plus_offset) {
    for (int s = 0; s < SHAPES; s++) {
        for (int o = 0; o < COUNT_OF(offsets); o++) {
            const int64_t p[] = {resolved(offsets[o], shapes[s])};
            const grid g = grid_of(shapes[s], causal_rule, p);
            attn_pattern *m = NULL;
            const attn_status got = attn_pattern_causal(g.n_q, g.n_k, offsets[o], NULL, &m, NULL);
            if (!gave(got, &m, &g)) return;
        }
    }
}

static bool window_rule(const int64_t *p, int64_t i, int64_t j) {
    const wide centre = (wide)i + p[0];
    return (p[1] < 0 || centre - p[1] <= j) && (p[2] < 0 || j <= centre + p[2]);
}

static bool windows_agree(shape s, int64_t offset) {
    static const int64_t sides[] = {-1, 0, 1, 2, 5, 40, INT64_MAX - 3, INT64_MAX};
    for (int l = 0; l < COUNT_OF(sides); l++) {
        for (int r = 0; r < COUNT_OF(sides); r++) {
            const int64_t p[] = {resolved(offset, s), sides[l], sides[r]};
            const grid g = grid_of(s, window_rule, p);
            attn_pattern *m = NULL;
            if (!gave(attn_pattern_window(s.n_q, s.n_k, offset, p[1], p[2], NULL, &m, NULL), &m,
                      &g))
                return false;
        }
    }
    return true;
}

TEST(window_shows_keys_around_i_plus_offset) {
    for (int s = 0; s < SHAPES; s++) {
        for (int o = 0; o < COUNT_OF(offsets); o++) {
            if (!windows_agree(shapes[s], offsets[o])) return;
        }
    }
}

static const int64_t lengths[] = {0, 1, 2, 3, 6, 13, 100, INT64_MAX};

static bool prefix_rule(const int64_t *p, int64_t i, int64_t j) {
    (void)i;
    return j < p[0];
}

TEST(prefix_shows_the_first_keys_to_every_row) {
    for (int s = 0; s < SHAPES; s++) {
        for (int t = 0; t < COUNT_OF(lengths); t++) {
            const grid g = grid_of(shapes[s], prefix_rule, &lengths[t]);
            attn_pattern *m = NULL;
            const attn_status got = attn_pattern_prefix(g.n_q, g.n_k, lengths[t], NULL, &m, NULL);
            if (!gave(got, &m, &g)) return;
        }
    }
}

static bool global_rule(const int64_t *p, int64_t i, int64_t j) { return i < p[0] || j < p[0]; }

TEST(global_tokens_see_and_are_seen_by_all) {
    for (int s = 0; s < SHAPES; s++) {
        for (int t = 0; t < COUNT_OF(lengths); t++) {
            const grid g = grid_of(shapes[s], global_rule, &lengths[t]);
            attn_pattern *m = NULL;
            const attn_status got = attn_pattern_global(g.n_q, g.n_k, lengths[t], NULL, &m, NULL);
            if (!gave(got, &m, &g)) return;
        }
    }
}

static bool strided_rule(const int64_t *p, int64_t i, int64_t j) {
    const wide rest = (wide)(i % p[1]) + p[0] % p[1] - j % p[1]; /* above -2 steps, below 2 steps */
    return rest == 0 || rest == p[1] || rest == -(wide)p[1];
}

TEST(strided_shows_every_step_th_key) {
    static const int64_t steps[] = {1, 2, 3, 5, 20, INT64_MAX - 1, INT64_MAX};
    for (int s = 0; s < SHAPES; s++) {
        for (int o = 0; o < COUNT_OF(offsets); o++) {
            for (int t = 0; t < COUNT_OF(steps); t++) {
                const int64_t p[] = {resolved(offsets[o], shapes[s]), steps[t]};
                const grid g = grid_of(shapes[s], strided_rule, p);
                attn_pattern *m = NULL;
                if (!gave(attn_pattern_strided(g.n_q, g.n_k, offsets[o], p[1], NULL, &m, NULL), &m,
                          &g))
                    return;
            }
        }
    }
}

TEST(dense_shows_every_non_zero_byte) {
    random_stream random = random_begin(1, 0);
    for (int s = 0; s < SHAPES; s++) {
        for (int percent = 0; percent <= 100; percent += 20) {
            const grid g = grid_random(shapes[s], percent, &random);
            attn_pattern *m = NULL;
            if (!gave(attn_pattern_dense(g.n_q, g.n_k, g.allow, NULL, &m, NULL), &m, &g)) return;
        }
    }
}

TEST(dense_takes_null_when_there_are_no_pairs) {
    const grid g = {.n_q = 3};
    attn_pattern *m = NULL;
    gave(attn_pattern_dense(3, 0, NULL, NULL, &m, NULL), &m, &g);
}

/* ------------------------------------------------------------------------------- documents */

static grid document_grid(shape s, const int64_t *doc_q, const int64_t *doc_k) {
    grid g = {.n_q = s.n_q, .n_k = s.n_k};
    for (int64_t i = 0; i < s.n_q; i++) {
        for (int64_t j = 0; j < s.n_k; j++) g.allow[i * s.n_k + j] = doc_q[i] == doc_k[j];
    }
    return g;
}

static void check_documents(shape s, const int64_t *doc_q, const int64_t *doc_k) {
    const grid g = document_grid(s, doc_q, doc_k);
    attn_pattern *m = NULL;
    gave(attn_pattern_document(s.n_q, s.n_k, doc_q, doc_k, NULL, &m, NULL), &m, &g);
}

TEST(document_of_sorted_ids_is_block_diagonal) {
    static const int64_t ids[] = {0, 0, 0, 1, 2, 2, 2, 2, 5, 5};
    check_documents((shape){10, 10}, ids, ids);
}

TEST(document_ids_may_be_in_any_order) {
    random_stream random = random_begin(99, 0);
    for (int s = 0; s < SHAPES && !check_has_failed(); s++) {
        for (int64_t n_ids = 1; n_ids < 6 && !check_has_failed(); n_ids++) {
            int64_t doc_q[MAX_SIDE], doc_k[MAX_SIDE];
            for (int t = 0; t < MAX_SIDE; t++) {
                doc_q[t] = random_below(&random, n_ids) - 2;
                doc_k[t] = random_below(&random, n_ids) - 2;
            }
            check_documents(shapes[s], doc_q, doc_k);
        }
    }
}

TEST(document_ids_may_be_extreme_or_without_partner) {
    static const int64_t doc_q[] = {INT64_MAX, INT64_MIN, 7, 0, INT64_MIN};
    static const int64_t doc_k[] = {INT64_MIN, 0, INT64_MIN, INT64_MAX, -9, 0, INT64_MAX};
    check_documents((shape){5, 7}, doc_q, doc_k);
}

TEST(document_takes_null_ids_when_there_are_none) {
    const grid g = {.n_q = 0};
    attn_pattern *m = NULL;
    gave(attn_pattern_document(0, 0, NULL, NULL, NULL, &m, NULL), &m, &g);
}

/* -------------------------------------------------------------------------- random blocks */

/* Row block r sees exactly the key blocks of want[r * count ...]. */
static grid block_grid(shape s, int64_t block, int64_t count, const int64_t *want) {
    grid g = {.n_q = s.n_q, .n_k = s.n_k};
    for (int64_t i = 0; i < s.n_q; i++) {
        for (int64_t j = 0; j < s.n_k; j++) {
            for (int64_t t = 0; t < count; t++)
                if (want[i / block * count + t] == j / block) g.allow[i * s.n_k + j] = 1;
        }
    }
    return g;
}

/* Drawn once by a separate program from the recipe in pattern_make.c: 9 key blocks, 4 wanted. */
TEST(random_blocks_draws_the_recorded_blocks) {
    static const int64_t small_seed[] = {0, 1, 3, 4, 0, 2, 7, 8, 0, 2, 5, 7,
                                         2, 3, 6, 8, 1, 4, 5, 7, 0, 1, 5, 6};
    static const int64_t large_seed[] = {2, 3, 4, 7, 1, 4, 6, 7, 1, 2, 3, 7,
                                         1, 2, 6, 8, 0, 4, 5, 7, 1, 2, 4, 6};
    const shape s = {17, 26}; /* the last blocks are cut: 6 x 9 blocks of 3 */
    const grid small = block_grid(s, 3, 4, small_seed), large = block_grid(s, 3, 4, large_seed);
    attn_pattern *m = NULL;
    if (!gave(attn_pattern_random_blocks(17, 26, 3, 4, 7, NULL, &m, NULL), &m, &small)) return;
    gave(attn_pattern_random_blocks(17, 26, 3, 4, UINT64_C(0x123456789abcdef0), NULL, &m, NULL), &m,
         &large);
}

/* Key blocks that row i sees; -1 if it sees a part of one. */
static int64_t blocks_seen(const attn_pattern *m, int64_t i, int64_t block) {
    int64_t seen = 0;
    for (int64_t j = 0; j < m->n_k; j++) {
        if (attn_pattern_at(m, i, j) != attn_pattern_at(m, i, j / block * block)) return -1;
        seen += j % block == 0 && attn_pattern_at(m, i, j);
    }
    return seen;
}

static bool rows_agree(const attn_pattern *m, int64_t i, int64_t other) {
    for (int64_t j = 0; j < m->n_k; j++) {
        if (attn_pattern_at(m, i, j) != attn_pattern_at(m, other, j)) return false;
    }
    return true;
}

static void check_block_counts(shape s, int64_t block, int64_t count) {
    attn_pattern *m = NULL;
    CHECK_INT(attn_pattern_random_blocks(s.n_q, s.n_k, block, count, 5, NULL, &m, NULL), ATTN_OK);
    check_normalised(m);
    const int64_t n_blocks = s.n_k / block + (s.n_k % block != 0);
    for (int64_t i = 0; i < s.n_q; i++) {
        CHECK_INT(blocks_seen(m, i, block), count < n_blocks ? count : n_blocks);
        CHECK(rows_agree(m, i, i / block * block));
    }
    attn_pattern_destroy(m);
}

TEST(random_blocks_gives_each_row_block_min_count_blocks) {
    static const int64_t blocks[] = {1, 2, 3, 7, 30, INT64_MAX};
    static const int64_t counts[] = {0, 1, 2, 3, 8, 16, 17, INT64_MAX};
    for (int s = 0; s < SHAPES; s++) {
        for (int b = 0; b < COUNT_OF(blocks); b++) {
            for (int c = 0; c < COUNT_OF(counts) && !check_has_failed(); c++)
                check_block_counts(shapes[s], blocks[b], counts[c]);
        }
    }
}

TEST(random_blocks_repeats_with_the_same_seed) {
    attn_pattern *a = NULL, *b = NULL;
    CHECK_INT(attn_pattern_random_blocks(60, 70, 4, 3, 11, NULL, &a, NULL), ATTN_OK);
    CHECK_INT(attn_pattern_random_blocks(60, 70, 4, 3, 11, NULL, &b, NULL), ATTN_OK);
    CHECK(same_patterns(a, b));
    attn_pattern_destroy(a);
    attn_pattern_destroy(b);
}

TEST(random_blocks_differs_with_either_half_of_the_seed) {
    attn_pattern *a = NULL, *low = NULL, *high = NULL;
    CHECK_INT(attn_pattern_random_blocks(60, 70, 4, 3, 11, NULL, &a, NULL), ATTN_OK);
    CHECK_INT(attn_pattern_random_blocks(60, 70, 4, 3, 12, NULL, &low, NULL), ATTN_OK);
    CHECK_INT(attn_pattern_random_blocks(60, 70, 4, 3, 11 | UINT64_C(1) << 40, NULL, &high, NULL),
              ATTN_OK);
    CHECK(!same_patterns(a, low));
    CHECK(!same_patterns(a, high));
    attn_pattern_destroy(a);
    attn_pattern_destroy(low);
    attn_pattern_destroy(high);
}

/* 4096 draws of 2 in 8: each block 1024 times, standard deviation 27.7; six of them allowed. */
TEST(random_blocks_prefers_no_block) {
    attn_pattern *m = NULL;
    CHECK_INT(attn_pattern_random_blocks(4096, 8, 1, 2, 3, NULL, &m, NULL), ATTN_OK);
    for (int64_t j = 0; j < 8; j++) {
        int64_t times = 0;
        for (int64_t i = 0; i < 4096; i++) times += attn_pattern_at(m, i, j);
        CHECK_MSG(times > 1024 - 166 && times < 1024 + 166, "block %" PRId64 ": %" PRId64 " times",
                  j, times);
    }
    attn_pattern_destroy(m);
}

/* ------------------------------------------------------------------------ composed patterns */

static bool longformer_rule(const int64_t *p, int64_t i, int64_t j) {
    const int64_t distance = i > j ? i - j : j - i;
    return distance <= p[0] || i < p[1] || j < p[1];
}

TEST(longformer_is_a_window_with_global_tokens) {
    static const int64_t sizes[] = {0, 1, 2, 9, 33};
    for (int s = 0; s < COUNT_OF(sizes); s++) {
        for (int a = 0; a < COUNT_OF(lengths); a++) {
            for (int b = 0; b < COUNT_OF(lengths); b++) {
                const int64_t p[] = {lengths[a], lengths[b]};
                const grid g = grid_of((shape){sizes[s], sizes[s]}, longformer_rule, p);
                attn_pattern *m = NULL;
                if (!gave(attn_pattern_longformer(sizes[s], p[0], p[1], NULL, &m, NULL), &m, &g))
                    return;
            }
        }
    }
}

/* p: block, window, global. The random part is added by the test below. */
static bool bigbird_rule(const int64_t *p, int64_t i, int64_t j) {
    const int64_t row_block = i / p[0], key_block = j / p[0];
    const int64_t distance = row_block > key_block ? row_block - key_block : key_block - row_block;
    return (p[1] > 0 && distance <= (p[1] - 1) / 2) || row_block < p[2] || key_block < p[2];
}

static bool bigbird_agrees(int64_t n, const int64_t *p, int64_t random) {
    grid g = grid_of((shape){n, n}, bigbird_rule, p);
    attn_pattern *drawn = NULL, *m = NULL;
    attn_pattern_random_blocks(n, n, p[0], random, 21, NULL, &drawn, NULL);
    for (int64_t t = 0; t < n * n; t++) g.allow[t] |= (uint8_t)attn_pattern_at(drawn, t / n, t % n);
    attn_pattern_destroy(drawn);
    return gave(attn_pattern_bigbird(n, p[0], p[1], p[2], random, 21, NULL, &m, NULL), &m, &g);
}

TEST(bigbird_is_band_and_global_and_random_blocks) {
    static const int64_t sizes[] = {0, 1, 8, 33}, blocks[] = {1, 2, 5, 50, INT64_MAX};
    static const int64_t windows[] = {0, 1, 3, 5, 99, INT64_MAX};
    static const int64_t globals[] = {0, 1, 2, 50, INT64_MAX}, randoms[] = {0, 1, 3, INT64_MAX};
    for (int t = 0; t < 4 * 5 * 6 * 5 * 4; t++) {
        const int64_t p[] = {blocks[t / 4 % 5], windows[t / 20 % 6], globals[t / 120 % 5]};
        if (!bigbird_agrees(sizes[t % 4], p, randoms[t / 600])) return;
    }
}

/* ---------------------------------------------------------------------------------- golden */

/* rows: 25 digits, 1 = visible. */
static grid golden_grid(const char *rows) {
    grid g = {.n_q = 5, .n_k = 5};
    for (int t = 0; t < 25; t++) g.allow[t] = rows[t] == '1';
    return g;
}

TEST(golden_sliding_window_causal_w3) {
    static const char *const allow = "10000"
                                     "11000"
                                     "11100"
                                     "01110"
                                     "00111";
    const grid g = golden_grid(allow);
    attn_pattern *m = NULL;
    gave(attn_pattern_window(5, 5, 0, 2, 0, NULL, &m, NULL), &m, &g);
}

TEST(golden_sliding_window_sym_r1) {
    static const char *const allow = "11000"
                                     "11100"
                                     "01110"
                                     "00111"
                                     "00011";
    const grid g = golden_grid(allow);
    attn_pattern *m = NULL;
    gave(attn_pattern_window(5, 5, 0, 1, 1, NULL, &m, NULL), &m, &g);
}

TEST(golden_local_global_r1_g0) {
    static const char *const allow = "11111"
                                     "11100"
                                     "11110"
                                     "10111"
                                     "10011";
    const grid g = golden_grid(allow);
    attn_pattern *m = NULL;
    gave(attn_pattern_longformer(5, 1, 1, NULL, &m, NULL), &m, &g);
}

TEST(golden_prefix_lm_2) {
    static const char *const allow = "11000"
                                     "11000"
                                     "11100"
                                     "11110"
                                     "11111";
    const grid g = golden_grid(allow);
    attn_pattern *prefix = NULL, *causal = NULL, *m = NULL;
    CHECK_INT(attn_pattern_prefix(5, 5, 2, NULL, &prefix, NULL), ATTN_OK);
    CHECK_INT(attn_pattern_causal(5, 5, 0, NULL, &causal, NULL), ATTN_OK);
    gave(attn_pattern_union(prefix, causal, NULL, &m, NULL), &m, &g);
    attn_pattern_destroy(prefix);
    attn_pattern_destroy(causal);
}
