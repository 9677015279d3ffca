/* SPDX-License-Identifier: Apache-2.0 */
/* test_mask.c - the pattern algebra of attn.h section 7 against rules written out pair by pair,
 * against golden patterns, and with every allocation failing once. Link with
 * -Wl,--wrap=malloc,--wrap=realloc,--wrap=free so that this file stands between the library and the
 * heap, e.g.: gcc -Iinclude -Isrc -Itests/support tests/attention/test_pattern.c tests/support/check.c
 *   src/attention/pattern.c src/attention/pattern_make.c src/core/status.c
 *   -Wl,--wrap=malloc,--wrap=realloc,--wrap=free */
#include "attention/pattern.h"
#include "check.h"

#include <inttypes.h>
#include <string.h>

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof((array)[0])))
#define MAX_SIDE        34

typedef __int128 wide; /* wide enough for every sum of int64_t arguments */

/* ---------------------------------------------------------------------- patterns pair by pair */

typedef struct grid {
    int64_t n_q, n_k;
    uint8_t allow[MAX_SIDE * MAX_SIDE]; /* (n_q, n_k) */
} grid;

typedef struct shape {
    int64_t n_q, n_k;
} shape;

static const shape shapes[] = {{0, 0}, {0, 3}, {3, 0}, {1, 1},   {1, 5},  {5, 1},
                               {4, 4}, {7, 5}, {5, 7}, {13, 13}, {3, 17}, {19, 2}};

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

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* About `percent` of the pairs visible. */
static grid random_grid(shape s, uint64_t percent, uint64_t *state) {
    grid g = {.n_q = s.n_q, .n_k = s.n_k};
    for (int64_t t = 0; t < s.n_q * s.n_k; t++)
        g.allow[t] = (uint8_t)(next_random(state) % 100 < percent ? 1 + t % 255 : 0);
    return g;
}

static attn_pattern *mask_of(const grid *g) {
    attn_pattern *m = NULL;
    attn_pattern_dense(g->n_q, g->n_k, g->allow, &m, NULL);
    return m;
}

/* Maximal runs of visible keys and visible pairs, counted from the pairs. */
static void measure(const grid *g, int64_t *count, int64_t *runs) {
    *count = *runs = 0;
    for (int64_t i = 0; i < g->n_q; i++) {
        for (int64_t j = 0; j < g->n_k; j++) {
            const uint8_t *at = &g->allow[i * g->n_k + j];
            *count += *at != 0;
            *runs += *at && (j == 0 || !at[-1]);
        }
    }
}

static void check_normalised(const attn_pattern *m) {
    CHECK_INT(m->row_ptr[0], 0);
    for (int64_t i = 0; i < m->n_q; i++) {
        int64_t n, after = -1;
        const attni_run *run = attni_pattern_row(m, i, &n);
        for (int64_t r = 0; r < n; r++) {
            CHECK_MSG(run[r].lo > after && run[r].hi > run[r].lo && run[r].hi <= m->n_k,
                      "row %" PRId64 ": run %" PRId64 "..%" PRId64 " after %" PRId64, i, run[r].lo,
                      run[r].hi, after);
            after = run[r].hi;
        }
    }
}

static void check_equals(const attn_pattern *m, const grid *g) {
    CHECK(m != NULL);
    CHECK_INT(attn_pattern_rows(m), g->n_q);
    CHECK_INT(attn_pattern_keys(m), g->n_k);
    for (int64_t i = 0; i < g->n_q; i++) {
        for (int64_t j = 0; j < g->n_k; j++) {
            const int expected = g->allow[i * g->n_k + j] != 0;
            CHECK_MSG(attn_pattern_at(m, i, j) == expected,
                      "pair (%" PRId64 ", %" PRId64 ") of %" PRId64 " x %" PRId64
                      " is %d, expected %d",
                      i, j, g->n_q, g->n_k, attn_pattern_at(m, i, j), expected);
        }
    }
    int64_t count, runs;
    measure(g, &count, &runs);
    CHECK_INT(attn_pattern_count(m), count);
    CHECK_INT(attn_pattern_intervals(m), runs);
    check_normalised(m);
}

/* Checks and destroys what a constructor gave; true to go on. By pointer, because the call that
 * fills *m may stand in the same argument list. */
static bool gave(attn_status status, attn_pattern *const *m, const grid *expected) {
    if (status != ATTN_OK) {
        check_failed(__FILE__, __LINE__, "status is %s", attn_status_name(status));
        return false;
    }
    check_equals(*m, expected);
    attn_pattern_destroy(*m);
    return !check_has_failed();
}

static bool same_masks(const attn_pattern *a, const attn_pattern *b) {
    if (!a || !b || a->n_q != b->n_q || a->n_k != b->n_k || a->count != b->count) return false;
    const size_t rows = (size_t)a->n_q + 1;
    if (memcmp(a->row_ptr, b->row_ptr, rows * sizeof *a->row_ptr) != 0) return false;
    const size_t runs = (size_t)a->row_ptr[a->n_q];
    return runs == 0 || memcmp(a->runs, b->runs, runs * sizeof *a->runs) == 0;
}

/* ----------------------------------------------------------------------------- constructors */

static bool causal_rule(const int64_t *p, int64_t i, int64_t j) {
    return (wide)j <= (wide)i + p[0];
}

TEST(causal_shows_keys_up_to_i_plus_offset) {
    for (int s = 0; s < COUNT_OF(shapes); s++) {
        for (int o = 0; o < COUNT_OF(offsets); o++) {
            const int64_t p[] = {resolved(offsets[o], shapes[s])};
            const grid g = grid_of(shapes[s], causal_rule, p);
            attn_pattern *m = NULL;
            const attn_status got = attn_pattern_causal(g.n_q, g.n_k, offsets[o], &m, NULL);
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
            if (!gave(attn_pattern_window(s.n_q, s.n_k, offset, p[1], p[2], &m, NULL), &m, &g))
                return false;
        }
    }
    return true;
}

TEST(window_shows_keys_around_i_plus_offset) {
    for (int s = 0; s < COUNT_OF(shapes); s++) {
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
    for (int s = 0; s < COUNT_OF(shapes); s++) {
        for (int t = 0; t < COUNT_OF(lengths); t++) {
            const grid g = grid_of(shapes[s], prefix_rule, &lengths[t]);
            attn_pattern *m = NULL;
            const attn_status got = attn_pattern_prefix(g.n_q, g.n_k, lengths[t], &m, NULL);
            if (!gave(got, &m, &g)) return;
        }
    }
}

static bool global_rule(const int64_t *p, int64_t i, int64_t j) { return i < p[0] || j < p[0]; }

TEST(global_tokens_see_and_are_seen_by_all) {
    for (int s = 0; s < COUNT_OF(shapes); s++) {
        for (int t = 0; t < COUNT_OF(lengths); t++) {
            const grid g = grid_of(shapes[s], global_rule, &lengths[t]);
            attn_pattern *m = NULL;
            const attn_status got = attn_pattern_global(g.n_q, g.n_k, lengths[t], &m, NULL);
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
    for (int s = 0; s < COUNT_OF(shapes); s++) {
        for (int o = 0; o < COUNT_OF(offsets); o++) {
            for (int t = 0; t < COUNT_OF(steps); t++) {
                const int64_t p[] = {resolved(offsets[o], shapes[s]), steps[t]};
                const grid g = grid_of(shapes[s], strided_rule, p);
                attn_pattern *m = NULL;
                if (!gave(attn_pattern_strided(g.n_q, g.n_k, offsets[o], p[1], &m, NULL), &m, &g))
                    return;
            }
        }
    }
}

TEST(dense_shows_every_non_zero_byte) {
    uint64_t state = 1;
    for (int s = 0; s < COUNT_OF(shapes); s++) {
        for (uint64_t percent = 0; percent <= 100; percent += 20) {
            const grid g = random_grid(shapes[s], percent, &state);
            attn_pattern *m = NULL;
            if (!gave(attn_pattern_dense(g.n_q, g.n_k, g.allow, &m, NULL), &m, &g)) return;
        }
    }
}

TEST(dense_takes_null_when_there_are_no_pairs) {
    const grid g = {.n_q = 3};
    attn_pattern *m = NULL;
    gave(attn_pattern_dense(3, 0, NULL, &m, NULL), &m, &g);
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
    gave(attn_pattern_document(s.n_q, s.n_k, doc_q, doc_k, &m, NULL), &m, &g);
}

TEST(document_of_sorted_ids_is_block_diagonal) {
    static const int64_t ids[] = {0, 0, 0, 1, 2, 2, 2, 2, 5, 5};
    check_documents((shape){10, 10}, ids, ids);
}

TEST(document_ids_may_be_in_any_order) {
    uint64_t state = 99;
    for (int s = 0; s < COUNT_OF(shapes) && !check_has_failed(); s++) {
        for (int64_t n_ids = 1; n_ids < 6 && !check_has_failed(); n_ids++) {
            int64_t doc_q[MAX_SIDE], doc_k[MAX_SIDE];
            for (int t = 0; t < MAX_SIDE; t++) {
                doc_q[t] = (int64_t)(next_random(&state) % (uint64_t)n_ids) - 2;
                doc_k[t] = (int64_t)(next_random(&state) % (uint64_t)n_ids) - 2;
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
    gave(attn_pattern_document(0, 0, NULL, NULL, &m, NULL), &m, &g);
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

/* Drawn once by a separate program from the recipe in mask_make.c: 9 key blocks, 4 wanted. */
TEST(random_blocks_draws_the_recorded_blocks) {
    static const int64_t small_seed[] = {0, 1, 3, 4, 0, 2, 7, 8, 0, 2, 5, 7,
                                         2, 3, 6, 8, 1, 4, 5, 7, 0, 1, 5, 6};
    static const int64_t large_seed[] = {2, 3, 4, 7, 1, 4, 6, 7, 1, 2, 3, 7,
                                         1, 2, 6, 8, 0, 4, 5, 7, 1, 2, 4, 6};
    const shape s = {17, 26}; /* the last blocks are cut: 6 x 9 blocks of 3 */
    const grid small = block_grid(s, 3, 4, small_seed), large = block_grid(s, 3, 4, large_seed);
    attn_pattern *m = NULL;
    if (!gave(attn_pattern_random_blocks(17, 26, 3, 4, 7, &m, NULL), &m, &small)) return;
    gave(attn_pattern_random_blocks(17, 26, 3, 4, UINT64_C(0x123456789abcdef0), &m, NULL), &m,
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
    CHECK_INT(attn_pattern_random_blocks(s.n_q, s.n_k, block, count, 5, &m, NULL), ATTN_OK);
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
    for (int s = 0; s < COUNT_OF(shapes); s++) {
        for (int b = 0; b < COUNT_OF(blocks); b++) {
            for (int c = 0; c < COUNT_OF(counts) && !check_has_failed(); c++)
                check_block_counts(shapes[s], blocks[b], counts[c]);
        }
    }
}

TEST(random_blocks_repeats_with_the_same_seed) {
    attn_pattern *a = NULL, *b = NULL;
    CHECK_INT(attn_pattern_random_blocks(60, 70, 4, 3, 11, &a, NULL), ATTN_OK);
    CHECK_INT(attn_pattern_random_blocks(60, 70, 4, 3, 11, &b, NULL), ATTN_OK);
    CHECK(same_masks(a, b));
    attn_pattern_destroy(a);
    attn_pattern_destroy(b);
}

TEST(random_blocks_differs_with_either_half_of_the_seed) {
    attn_pattern *a = NULL, *low = NULL, *high = NULL;
    CHECK_INT(attn_pattern_random_blocks(60, 70, 4, 3, 11, &a, NULL), ATTN_OK);
    CHECK_INT(attn_pattern_random_blocks(60, 70, 4, 3, 12, &low, NULL), ATTN_OK);
    CHECK_INT(attn_pattern_random_blocks(60, 70, 4, 3, 11 | UINT64_C(1) << 40, &high, NULL),
              ATTN_OK);
    CHECK(!same_masks(a, low));
    CHECK(!same_masks(a, high));
    attn_pattern_destroy(a);
    attn_pattern_destroy(low);
    attn_pattern_destroy(high);
}

/* 4096 draws of 2 in 8: each block 1024 times, standard deviation 27.7; six of them allowed. */
TEST(random_blocks_prefers_no_block) {
    attn_pattern *m = NULL;
    CHECK_INT(attn_pattern_random_blocks(4096, 8, 1, 2, 3, &m, NULL), ATTN_OK);
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
                if (!gave(attn_pattern_longformer(sizes[s], p[0], p[1], &m, NULL), &m, &g)) return;
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
    attn_pattern_random_blocks(n, n, p[0], random, 21, &drawn, NULL);
    for (int64_t t = 0; t < n * n; t++) g.allow[t] |= (uint8_t)attn_pattern_at(drawn, t / n, t % n);
    attn_pattern_destroy(drawn);
    return gave(attn_pattern_bigbird(n, p[0], p[1], p[2], random, 21, &m, NULL), &m, &g);
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
    gave(attn_pattern_window(5, 5, 0, 2, 0, &m, NULL), &m, &g);
}

TEST(golden_sliding_window_sym_r1) {
    static const char *const allow = "11000"
                                     "11100"
                                     "01110"
                                     "00111"
                                     "00011";
    const grid g = golden_grid(allow);
    attn_pattern *m = NULL;
    gave(attn_pattern_window(5, 5, 0, 1, 1, &m, NULL), &m, &g);
}

TEST(golden_local_global_r1_g0) {
    static const char *const allow = "11111"
                                     "11100"
                                     "11110"
                                     "10111"
                                     "10011";
    const grid g = golden_grid(allow);
    attn_pattern *m = NULL;
    gave(attn_pattern_longformer(5, 1, 1, &m, NULL), &m, &g);
}

TEST(golden_prefix_lm_2) {
    static const char *const allow = "11000"
                                     "11000"
                                     "11100"
                                     "11110"
                                     "11111";
    const grid g = golden_grid(allow);
    attn_pattern *prefix = NULL, *causal = NULL, *m = NULL;
    CHECK_INT(attn_pattern_prefix(5, 5, 2, &prefix, NULL), ATTN_OK);
    CHECK_INT(attn_pattern_causal(5, 5, 0, &causal, NULL), ATTN_OK);
    gave(attn_pattern_union(prefix, causal, &m, NULL), &m, &g);
    attn_pattern_destroy(prefix);
    attn_pattern_destroy(causal);
}

/* --------------------------------------------------------------------------------- algebra */

/* Two random grids of one shape and their patterns; the tests run over many of them. */
typedef struct operands {
    grid a, b;
    attn_pattern *mask_a, *mask_b;
} operands;

enum { OPERAND_PAIRS = 12 * 16 };

static operands random_operands(int t) {
    static const uint64_t percents[] = {0, 30, 60, 100};
    uint64_t state = 1000 + (uint64_t)t;
    operands x;
    x.a = random_grid(shapes[t / 16], percents[t % 4], &state);
    x.b = random_grid(shapes[t / 16], percents[t / 4 % 4], &state);
    x.mask_a = mask_of(&x.a);
    x.mask_b = mask_of(&x.b);
    return x;
}

static void destroy_operands(operands *x) {
    attn_pattern_destroy(x->mask_a);
    attn_pattern_destroy(x->mask_b);
}

TEST(union_is_visible_in_either) {
    for (int t = 0; t < OPERAND_PAIRS; t++) {
        operands x = random_operands(t);
        grid g = x.a;
        for (int c = 0; c < MAX_SIDE * MAX_SIDE; c++) g.allow[c] = x.a.allow[c] || x.b.allow[c];
        attn_pattern *m = NULL;
        if (!gave(attn_pattern_union(x.mask_a, x.mask_b, &m, NULL), &m, &g)) return;
        destroy_operands(&x);
    }
}

TEST(intersect_is_visible_in_both) {
    for (int t = 0; t < OPERAND_PAIRS; t++) {
        operands x = random_operands(t);
        grid g = x.a;
        for (int c = 0; c < MAX_SIDE * MAX_SIDE; c++) g.allow[c] = x.a.allow[c] && x.b.allow[c];
        attn_pattern *m = NULL;
        if (!gave(attn_pattern_intersect(x.mask_a, x.mask_b, &m, NULL), &m, &g)) return;
        destroy_operands(&x);
    }
}

TEST(complement_is_visible_where_the_operand_is_not) {
    for (int t = 0; t < OPERAND_PAIRS; t++) {
        operands x = random_operands(t);
        grid g = x.a;
        for (int c = 0; c < MAX_SIDE * MAX_SIDE; c++) g.allow[c] = !x.a.allow[c];
        attn_pattern *m = NULL;
        if (!gave(attn_pattern_complement(x.mask_a, &m, NULL), &m, &g)) return;
        destroy_operands(&x);
    }
}

TEST(double_complement_is_the_operand) {
    for (int t = 0; t < OPERAND_PAIRS; t++) {
        operands x = random_operands(t);
        attn_pattern *once = NULL, *twice = NULL;
        CHECK_INT(attn_pattern_complement(x.mask_a, &once, NULL), ATTN_OK);
        CHECK_INT(attn_pattern_complement(once, &twice, NULL), ATTN_OK);
        CHECK(same_masks(twice, x.mask_a));
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
        CHECK_INT(attn_pattern_union(x.mask_a, x.mask_b, &either, NULL), ATTN_OK);
        CHECK_INT(attn_pattern_complement(either, &left, NULL), ATTN_OK);
        CHECK_INT(attn_pattern_complement(x.mask_a, &not_a, NULL), ATTN_OK);
        CHECK_INT(attn_pattern_complement(x.mask_b, &not_b, NULL), ATTN_OK);
        CHECK_INT(attn_pattern_intersect(not_a, not_b, &right, NULL), ATTN_OK);
        CHECK(same_masks(left, right));
        attn_pattern *all[] = {either, left, not_a, not_b, right};
        for (int m = 0; m < COUNT_OF(all); m++) attn_pattern_destroy(all[m]);
        destroy_operands(&x);
    }
}

TEST(a_mask_may_be_combined_with_itself) {
    operands x = random_operands(9 * 16 + 5);
    attn_pattern *m = NULL;
    if (!gave(attn_pattern_union(x.mask_a, x.mask_a, &m, NULL), &m, &x.a)) return;
    gave(attn_pattern_intersect(x.mask_a, x.mask_a, &m, NULL), &m, &x.a);
    destroy_operands(&x);
}

/* --------------------------------------------------------------------------------- queries */

TEST(at_is_0_out_of_range) {
    attn_pattern *m = NULL;
    CHECK_INT(attn_pattern_prefix(3, 4, 4, &m, NULL), ATTN_OK);
    CHECK_INT(attn_pattern_at(m, 2, 3), 1);
    static const int64_t pairs[][2] = {{-1, 0},        {3, 0},         {0, -1},
                                       {0, 4},         {INT64_MIN, 0}, {INT64_MAX, 0},
                                       {0, INT64_MIN}, {0, INT64_MAX}};
    for (int t = 0; t < COUNT_OF(pairs); t++)
        CHECK_INT(attn_pattern_at(m, pairs[t][0], pairs[t][1]), 0);
    attn_pattern_destroy(m);
}

TEST(a_null_mask_has_nothing_and_may_be_destroyed) {
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
    CHECK_INT(attn_pattern_causal(n, n, 0, &m, NULL), ATTN_OK);
    CHECK_INT(attn_pattern_count(m), n * (n + 1) / 2);
    CHECK_INT(attn_pattern_intervals(m), n);
    attn_pattern_destroy(m);
}

TEST(bigbird_of_65536_needs_few_intervals_per_row) {
    const int64_t n = 65536;
    attn_pattern *m = NULL;
    CHECK_INT(attn_pattern_bigbird(n, 64, 3, 2, 3, 1, &m, NULL), ATTN_OK);
    CHECK(attn_pattern_intervals(m) <= n * (1 + 1 + 3)); /* global, band, three random blocks */
    CHECK(attn_pattern_count(m) <= 2 * 64 * n + n * 64 * (2 + 3 + 3));
    attn_pattern_destroy(m);
}

/* ------------------------------------------------------------------------------------- CSR */

TEST(csr_round_trip_keeps_the_mask) {
    for (int t = 0; t < OPERAND_PAIRS; t++) {
        operands x = random_operands(t);
        static int64_t row_ptr[MAX_SIDE + 1], col[MAX_SIDE * MAX_SIDE];
        CHECK_INT(attn_pattern_to_csr(x.mask_a, row_ptr, col, NULL), ATTN_OK);
        attn_pattern *m = NULL;
        if (!gave(attn_pattern_from_csr(x.a.n_q, x.a.n_k, row_ptr, col, &m, NULL), &m, &x.a))
            return;
        destroy_operands(&x);
    }
}

TEST(to_csr_lists_the_visible_keys_of_each_row) {
    const grid g = {.n_q = 3, .n_k = 4, .allow = {1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0}};
    static const int64_t want_ptr[] = {0, 3, 3, 4}, want_col[] = {0, 1, 3, 2};
    int64_t row_ptr[4], col[4];
    attn_pattern *m = mask_of(&g);
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
    gave(attn_pattern_from_csr(2, 3, row_ptr, col, &m, NULL), &m, &g);
}

TEST(csr_of_an_empty_mask_needs_no_columns) {
    static const int64_t row_ptr[] = {0, 0, 0};
    int64_t out[3] = {7, 7, 7};
    attn_pattern *m = NULL;
    CHECK_INT(attn_pattern_from_csr(2, 3, row_ptr, NULL, &m, NULL), ATTN_OK);
    CHECK_INT(attn_pattern_to_csr(m, out, NULL, NULL), ATTN_OK);
    CHECK_INT(out[2], 0);
    attn_pattern_destroy(m);
}

/* ------------------------------------------------------------------------------ rejections */

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
    CHECK_REJECTED(attn_pattern_causal(-1, 2, 0, &out, &err), ATTN_E_VALUE, "n_q: value -1");
    CHECK_REJECTED(attn_pattern_causal(2, -3, 0, &out, &err), ATTN_E_VALUE, "n_k: value -3");
    CHECK_REJECTED(attn_pattern_causal(INT64_MAX, 1, 0, &out, &err), ATTN_E_OVERFLOW, "pattern: ");
    CHECK_REJECTED(attn_pattern_causal(INT64_MAX / 8, 1, 0, &out, &err), ATTN_E_OVERFLOW,
                   "pattern: ");
}

TEST(window_rejects_bad_arguments) {
    CHECK_REJECTED(attn_pattern_window(-1, 2, 0, 0, 0, &out, &err), ATTN_E_VALUE, "n_q: value -1");
    CHECK_REJECTED(attn_pattern_window(2, -1, 0, 0, 0, &out, &err), ATTN_E_VALUE, "n_k: value -1");
    CHECK_REJECTED(attn_pattern_window(2, 2, 0, -2, 0, &out, &err), ATTN_E_VALUE, "left: value -2");
    CHECK_REJECTED(attn_pattern_window(2, 2, 0, 0, -7, &out, &err), ATTN_E_VALUE,
                   "right: value -7");
    CHECK_REJECTED(attn_pattern_window(2, 2, 0, INT64_MIN, 0, &out, &err), ATTN_E_VALUE, "left: ");
}

TEST(prefix_rejects_bad_arguments) {
    CHECK_REJECTED(attn_pattern_prefix(-1, 2, 0, &out, &err), ATTN_E_VALUE, "n_q: value -1");
    CHECK_REJECTED(attn_pattern_prefix(2, -1, 0, &out, &err), ATTN_E_VALUE, "n_k: value -1");
    CHECK_REJECTED(attn_pattern_prefix(2, 2, -4, &out, &err), ATTN_E_VALUE, "prefix: value -4");
}

TEST(document_rejects_bad_arguments) {
    static const int64_t ids[] = {0, 0};
    CHECK_REJECTED(attn_pattern_document(-1, 2, ids, ids, &out, &err), ATTN_E_VALUE,
                   "n_q: value -1");
    CHECK_REJECTED(attn_pattern_document(2, -1, ids, ids, &out, &err), ATTN_E_VALUE,
                   "n_k: value -1");
    CHECK_REJECTED(attn_pattern_document(2, 2, NULL, ids, &out, &err), ATTN_E_NULL, "doc_q: NULL");
    CHECK_REJECTED(attn_pattern_document(2, 2, ids, NULL, &out, &err), ATTN_E_NULL, "doc_k: NULL");
    CHECK_REJECTED(attn_pattern_document(2, INT64_MAX, ids, ids, &out, &err), ATTN_E_OVERFLOW,
                   "pattern");
}

TEST(global_rejects_bad_arguments) {
    CHECK_REJECTED(attn_pattern_global(-1, 2, 0, &out, &err), ATTN_E_VALUE, "n_q: value -1");
    CHECK_REJECTED(attn_pattern_global(2, -1, 0, &out, &err), ATTN_E_VALUE, "n_k: value -1");
    CHECK_REJECTED(attn_pattern_global(2, 2, -1, &out, &err), ATTN_E_VALUE, "tokens: value -1");
}

TEST(strided_rejects_bad_arguments) {
    CHECK_REJECTED(attn_pattern_strided(-1, 2, 0, 1, &out, &err), ATTN_E_VALUE, "n_q: value -1");
    CHECK_REJECTED(attn_pattern_strided(2, -1, 0, 1, &out, &err), ATTN_E_VALUE, "n_k: value -1");
    CHECK_REJECTED(attn_pattern_strided(2, 2, 0, 0, &out, &err), ATTN_E_VALUE, "step: value 0");
    CHECK_REJECTED(attn_pattern_strided(2, 2, 0, -5, &out, &err), ATTN_E_VALUE, "step: value -5");
}

TEST(random_blocks_rejects_bad_arguments) {
    CHECK_REJECTED(attn_pattern_random_blocks(-1, 2, 1, 1, 0, &out, &err), ATTN_E_VALUE, "n_q: ");
    CHECK_REJECTED(attn_pattern_random_blocks(2, -1, 1, 1, 0, &out, &err), ATTN_E_VALUE, "n_k: ");
    CHECK_REJECTED(attn_pattern_random_blocks(2, 2, 0, 1, 0, &out, &err), ATTN_E_VALUE,
                   "block: value 0");
    CHECK_REJECTED(attn_pattern_random_blocks(2, 2, 1, -1, 0, &out, &err), ATTN_E_VALUE,
                   "count: value -1");
}

TEST(dense_rejects_bad_arguments) {
    static const uint8_t allow[4] = {0};
    CHECK_REJECTED(attn_pattern_dense(-1, 2, allow, &out, &err), ATTN_E_VALUE, "n_q: value -1");
    CHECK_REJECTED(attn_pattern_dense(2, -1, allow, &out, &err), ATTN_E_VALUE, "n_k: value -1");
    CHECK_REJECTED(attn_pattern_dense(2, 2, NULL, &out, &err), ATTN_E_NULL, "allow: NULL");
    CHECK_REJECTED(attn_pattern_dense(INT64_MAX, 2, allow, &out, &err), ATTN_E_OVERFLOW, "allow: ");
}

TEST(longformer_rejects_bad_arguments) {
    CHECK_REJECTED(attn_pattern_longformer(-1, 1, 1, &out, &err), ATTN_E_VALUE, "n: value -1");
    CHECK_REJECTED(attn_pattern_longformer(4, -1, 1, &out, &err), ATTN_E_VALUE, "side: value -1");
    CHECK_REJECTED(attn_pattern_longformer(4, 1, -2, &out, &err), ATTN_E_VALUE, "global: value -2");
}

TEST(bigbird_rejects_bad_arguments) {
    CHECK_REJECTED(attn_pattern_bigbird(-1, 1, 1, 1, 1, 0, &out, &err), ATTN_E_VALUE,
                   "n: value -1");
    CHECK_REJECTED(attn_pattern_bigbird(4, 0, 1, 1, 1, 0, &out, &err), ATTN_E_VALUE,
                   "block: value 0");
    CHECK_REJECTED(attn_pattern_bigbird(4, 1, 2, 1, 1, 0, &out, &err), ATTN_E_VALUE,
                   "window: value 2");
    CHECK_REJECTED(attn_pattern_bigbird(4, 1, -1, 1, 1, 0, &out, &err), ATTN_E_VALUE,
                   "window: value -1");
    CHECK_REJECTED(attn_pattern_bigbird(4, 1, 1, -1, 1, 0, &out, &err), ATTN_E_VALUE,
                   "global: value -1");
    CHECK_REJECTED(attn_pattern_bigbird(4, 1, 1, 1, -6, 0, &out, &err), ATTN_E_VALUE,
                   "random: value -6");
}

TEST(from_csr_rejects_bad_sizes_and_pointers) {
    static const int64_t ptr[] = {0, 1, 2}, col[] = {0, 1};
    CHECK_REJECTED(attn_pattern_from_csr(-1, 2, ptr, col, &out, &err), ATTN_E_VALUE,
                   "n_q: value -1");
    CHECK_REJECTED(attn_pattern_from_csr(2, -1, ptr, col, &out, &err), ATTN_E_VALUE,
                   "n_k: value -1");
    CHECK_REJECTED(attn_pattern_from_csr(2, 2, NULL, col, &out, &err), ATTN_E_NULL,
                   "row_ptr: NULL");
    CHECK_REJECTED(attn_pattern_from_csr(2, 2, ptr, NULL, &out, &err), ATTN_E_NULL, "col: NULL");
    CHECK_REJECTED(attn_pattern_from_csr(INT64_MAX, 2, ptr, col, &out, &err), ATTN_E_OVERFLOW,
                   "pattern");
}

TEST(from_csr_rejects_a_decreasing_row_ptr) {
    static const int64_t col[] = {0, 1, 2};
    static const int64_t falls[] = {0, 2, 1}, negative[] = {-1, 0, 1};
    CHECK_REJECTED(attn_pattern_from_csr(2, 3, falls, col, &out, &err), ATTN_E_VALUE,
                   "row_ptr: value 1 at 2");
    CHECK_REJECTED(attn_pattern_from_csr(2, 3, negative, col, &out, &err), ATTN_E_VALUE,
                   "row_ptr: value -1 at 0");
}

TEST(from_csr_rejects_columns_out_of_range_or_order) {
    static const int64_t ptr[] = {0, 1, 3};
    static const int64_t large[] = {0, 1, 3}, negative[] = {-1, 1, 2};
    static const int64_t falls[] = {0, 2, 1}, repeats[] = {0, 2, 2};
    CHECK_REJECTED(attn_pattern_from_csr(2, 3, ptr, large, &out, &err), ATTN_E_VALUE,
                   "col: value 3 in row 1");
    CHECK_REJECTED(attn_pattern_from_csr(2, 3, ptr, negative, &out, &err), ATTN_E_VALUE,
                   "col: value -1 in row 0");
    CHECK_REJECTED(attn_pattern_from_csr(2, 3, ptr, falls, &out, &err), ATTN_E_VALUE,
                   "col: value 1 after 2 in row 1");
    CHECK_REJECTED(attn_pattern_from_csr(2, 3, ptr, repeats, &out, &err), ATTN_E_VALUE,
                   "col: value 2 after 2 in row 1");
}

TEST(algebra_rejects_null_and_different_shapes) {
    attn_pattern *a = NULL, *rows = NULL, *keys = NULL;
    CHECK_INT(attn_pattern_causal(3, 4, 0, &a, NULL), ATTN_OK);
    CHECK_INT(attn_pattern_causal(2, 4, 0, &rows, NULL), ATTN_OK);
    CHECK_INT(attn_pattern_causal(3, 5, 0, &keys, NULL), ATTN_OK);
    CHECK_REJECTED(attn_pattern_union(NULL, a, &out, &err), ATTN_E_NULL, "a: NULL");
    CHECK_REJECTED(attn_pattern_union(a, NULL, &out, &err), ATTN_E_NULL, "b: NULL");
    CHECK_REJECTED(attn_pattern_intersect(NULL, a, &out, &err), ATTN_E_NULL, "a: NULL");
    CHECK_REJECTED(attn_pattern_complement(NULL, &out, &err), ATTN_E_NULL, "a: NULL");
    CHECK_REJECTED(attn_pattern_union(a, rows, &out, &err), ATTN_E_SHAPE,
                   "b: 2 x 4, expected 3 x 4");
    CHECK_REJECTED(attn_pattern_intersect(a, keys, &out, &err), ATTN_E_SHAPE,
                   "b: 3 x 5, expected 3 x 4");
    attn_pattern_destroy(a);
    attn_pattern_destroy(rows);
    attn_pattern_destroy(keys);
}

TEST(to_csr_rejects_null_and_writes_nothing) {
    attn_pattern *m = NULL;
    int64_t row_ptr[3] = {7, 7, 7}, col[4] = {7, 7, 7, 7};
    CHECK_INT(attn_pattern_causal(2, 2, 0, &m, NULL), ATTN_OK);
    CHECK_INT(attn_pattern_to_csr(NULL, row_ptr, col, &err), ATTN_E_NULL);
    CHECK_INT(attn_pattern_to_csr(m, NULL, col, &err), ATTN_E_NULL);
    CHECK_INT(attn_pattern_to_csr(m, row_ptr, NULL, &err), ATTN_E_NULL);
    CHECK(strncmp(err.message, "col: NULL", 9) == 0);
    CHECK_INT(row_ptr[0], 7);
    CHECK_INT(col[0], 7);
    attn_pattern_destroy(m);
}

TEST(a_null_place_for_the_mask_is_rejected_everywhere) {
    static const int64_t zeros[] = {0, 0};
    static const uint8_t allow[] = {1};
    attn_pattern *m = NULL;
    CHECK_INT(attn_pattern_causal(1, 1, 0, &m, NULL), ATTN_OK);
    const attn_status got[] = {
        attn_pattern_causal(1, 1, 0, NULL, NULL),
        attn_pattern_window(1, 1, 0, 0, 0, NULL, NULL),
        attn_pattern_prefix(1, 1, 0, NULL, NULL),
        attn_pattern_document(1, 1, zeros, zeros, NULL, NULL),
        attn_pattern_global(1, 1, 0, NULL, NULL),
        attn_pattern_strided(1, 1, 0, 1, NULL, NULL),
        attn_pattern_random_blocks(1, 1, 1, 1, 0, NULL, NULL),
        attn_pattern_dense(1, 1, allow, NULL, NULL),
        attn_pattern_from_csr(1, 1, zeros, zeros, NULL, NULL),
        attn_pattern_intersect(m, m, NULL, NULL),
        attn_pattern_union(m, m, NULL, NULL),
        attn_pattern_complement(m, NULL, NULL),
        attn_pattern_longformer(1, 1, 1, NULL, NULL),
        attn_pattern_bigbird(1, 1, 1, 1, 1, 0, NULL, NULL),
    };
    for (int t = 0; t < COUNT_OF(got); t++) CHECK_INT(got[t], ATTN_E_NULL);
    attn_pattern_destroy(m);
}

TEST(more_pairs_than_can_be_counted_are_rejected) {
    attn_pattern *m = NULL;
    CHECK_INT(attn_pattern_prefix(1, INT64_MAX, INT64_MAX, &m, NULL), ATTN_OK);
    CHECK_INT(attn_pattern_count(m), INT64_MAX);
    attn_pattern_destroy(m);
    CHECK_REJECTED(attn_pattern_prefix(2, INT64_MAX, INT64_MAX, &out, &err), ATTN_E_OVERFLOW,
                   "pattern:");
}

/* --------------------------------------------------------------------- failing allocations */

static struct {
    bool watching;
    int64_t calls, fail_at; /* allocations seen; the one to fail, -1 = none */
    int64_t live;           /* blocks given and not freed */
} heap;

void *__real_malloc(size_t size);
void *__real_realloc(void *old, size_t size);
void __real_free(void *block);
void *__wrap_malloc(size_t size);
void *__wrap_realloc(void *old, size_t size);
void __wrap_free(void *block);

void *__wrap_malloc(size_t size) {
    if (heap.watching && heap.calls++ == heap.fail_at) return NULL;
    void *block = __real_malloc(size);
    heap.live += heap.watching && block;
    return block;
}

void *__wrap_realloc(void *old, size_t size) {
    if (heap.watching && heap.calls++ == heap.fail_at) return NULL;
    void *block = __real_realloc(old, size);
    heap.live += heap.watching && block && !old;
    return block;
}

void __wrap_free(void *block) {
    heap.live -= heap.watching && block;
    __real_free(block);
}

typedef attn_status make_mask(attn_pattern **pattern, attn_error *error);

/* Sizes that make the list of runs grow more than once. */
static const shape large = {30, 34};

static grid scattered(uint64_t seed) { return random_grid(large, 50, &seed); }

static attn_status make_causal(attn_pattern **pattern, attn_error *error) {
    return attn_pattern_causal(60, 60, 0, pattern, error);
}
static attn_status make_strided(attn_pattern **pattern, attn_error *error) {
    return attn_pattern_strided(60, 60, 0, 2, pattern, error);
}
static attn_status make_document(attn_pattern **pattern, attn_error *error) {
    int64_t ids[60];
    for (int t = 0; t < 60; t++) ids[t] = t % 3;
    return attn_pattern_document(60, 60, ids, ids, pattern, error);
}
static attn_status make_random(attn_pattern **pattern, attn_error *error) {
    return attn_pattern_random_blocks(60, 60, 3, 5, 1, pattern, error);
}
static attn_status make_dense(attn_pattern **pattern, attn_error *error) {
    const grid g = scattered(4);
    return attn_pattern_dense(g.n_q, g.n_k, g.allow, pattern, error);
}
static attn_status make_longformer(attn_pattern **pattern, attn_error *error) {
    return attn_pattern_longformer(60, 2, 1, pattern, error);
}
static attn_status make_bigbird(attn_pattern **pattern, attn_error *error) {
    return attn_pattern_bigbird(60, 3, 3, 1, 2, 1, pattern, error);
}
static attn_status make_empty(attn_pattern **pattern, attn_error *error) {
    return attn_pattern_prefix(4, 4, 0, pattern, error);
}

/* Operands are made and destroyed unwatched: only the operation itself is under test. */
static attn_status watch_pair(attn_status (*apply)(const attn_pattern *, const attn_pattern *,
                                                   attn_pattern **, attn_error *),
                              attn_pattern **pattern, attn_error *error) {
    const bool watching = heap.watching;
    const grid g = scattered(5), h = scattered(6);
    heap.watching = false;
    attn_pattern *a = mask_of(&g), *b = mask_of(&h);
    heap.watching = watching;
    const attn_status status = apply(a, b, pattern, error);
    heap.watching = false;
    attn_pattern_destroy(a);
    attn_pattern_destroy(b);
    heap.watching = watching;
    return status;
}
static attn_status make_union(attn_pattern **pattern, attn_error *error) {
    return watch_pair(attn_pattern_union, pattern, error);
}
static attn_status make_intersect(attn_pattern **pattern, attn_error *error) {
    return watch_pair(attn_pattern_intersect, pattern, error);
}
static attn_status apply_complement(const attn_pattern *a, const attn_pattern *b,
                                    attn_pattern **pattern, attn_error *error) {
    (void)b;
    return attn_pattern_complement(a, pattern, error);
}
static attn_status make_complement(attn_pattern **pattern, attn_error *error) {
    return watch_pair(apply_complement, pattern, error);
}
static attn_status make_csr(attn_pattern **pattern, attn_error *error) {
    int64_t row_ptr[61], col[60 * 2];
    for (int i = 0; i <= 60; i++) row_ptr[i] = 2 * i;
    for (int t = 0; t < 120; t++) col[t] = t % 2 * 3;
    return attn_pattern_from_csr(60, 60, row_ptr, col, pattern, error);
}

/* Calls make with allocation number fail_at failing. */
static attn_status make_failing(make_mask *make, int64_t fail_at) {
    make_dirty();
    heap.watching = true;
    heap.calls = heap.live = 0;
    heap.fail_at = fail_at;
    const attn_status status = make(&out, &err);
    heap.watching = false;
    return status;
}

/* One failure: either reported with nothing left behind, or harmless (a failed trim). */
static void check_failure(attn_status status, const attn_pattern *whole) {
    if (status == ATTN_OK) {
        CHECK(same_masks(out, whole));
        attn_pattern_destroy(out);
        return;
    }
    CHECK_INT(status, ATTN_E_MEMORY);
    CHECK(out == NULL);
    CHECK_INT(heap.live, 0);
    CHECK(strstr(err.message, "no memory") != NULL);
}

/* Fails each allocation of make in turn until none is left to fail. */
static void check_all_failures(make_mask *make) {
    attn_pattern *whole = NULL;
    CHECK_INT(make(&whole, NULL), ATTN_OK);
    int64_t failures = 0;
    for (int64_t fail_at = 0;; fail_at++) {
        const attn_status status = make_failing(make, fail_at);
        const bool all_done = heap.calls <= fail_at;
        failures += status == ATTN_E_MEMORY;
        check_failure(status, whole);
        if (all_done || check_has_failed()) break;
    }
    make_dirty();
    CHECK(failures >= 2); /* at least the pattern and its rows */
    attn_pattern_destroy(whole);
}

TEST(every_failing_allocation_is_reported_and_leaks_nothing) {
    make_mask *const all[] = {make_causal,     make_strided, make_document,   make_random,
                              make_dense,      make_empty,   make_union,      make_intersect,
                              make_complement, make_csr,     make_longformer, make_bigbird};
    for (int t = 0; t < COUNT_OF(all) && !check_has_failed(); t++) check_all_failures(all[t]);
}

/* 3 blocks: the pattern, its rows and its runs, however it was composed. */
TEST(a_mask_keeps_three_blocks_and_destroy_frees_them) {
    CHECK_INT(make_failing(make_bigbird, -1), ATTN_OK);
    CHECK_INT(heap.live, 3);
    heap.watching = true;
    attn_pattern_destroy(out);
    heap.watching = false;
    make_dirty();
    CHECK_INT(heap.live, 0);
}
