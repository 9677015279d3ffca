/* SPDX-License-Identifier: Apache-2.0 */
/* test_visible.c - src/attention/visible.c against the rule of attn.h, pair by pair: segments and
 * allow bits of every tile, for random rows of random problems. */
#include "attention/visible.h"
#include "brute.h"
#include "check.h"
#include "guard.h"

enum { CASES = 600, PANELS = 4 };

static attni_sequence sequence;
static attni_rows rows;
static attni_view view;

static int64_t tiles_of(int64_t keys) { return attni_ceil_div(keys, ATTNI_KEY_TILE); }

/* Lanes as the engine takes them: consecutive rows, going on with the next head. */
static void consecutive_lanes(brute_case *c) {
    int64_t head = brute_between(c, 0, c->args.q.shape[1] - 1);
    int64_t i = brute_between(c, 0, rows.seq->rows - 1);
    for (int x = 0; x < rows.n; x++) {
        rows.head[x] = head;
        rows.i[x] = i;
        if (++i == rows.seq->rows) {
            i = 0;
            head = (head + 1) % c->args.q.shape[1];
        }
    }
}

static void random_lanes(brute_case *c) {
    for (int x = 0; x < rows.n; x++) {
        rows.head[x] = brute_between(c, 0, c->args.q.shape[1] - 1);
        rows.i[x] = brute_between(c, 0, rows.seq->rows - 1);
    }
}

/* A panel of some sequence; false if that has no rows. */
static bool begin_panel(brute_case *c, bool consecutive) {
    memset(&rows, 0x5a, sizeof rows);
    rows.args = &c->args;
    sequence = attni_sequence_at(&c->args, brute_between(c, 0, brute_count(&c->args) - 1));
    rows.seq = &sequence;
    rows.n = (int)brute_between(c, 1, ATTNI_MAX_LANES);
    if (rows.seq->rows == 0) return false;
    if (consecutive) {
        consecutive_lanes(c);
    } else {
        random_lanes(c);
    }
    attni_rows_begin(&rows);
    return true;
}

static bool lane_sees(int x, int64_t j) {
    return brute_visible(rows.args, rows.seq->index, rows.head[x], rows.i[x], j, false);
}

static bool some_lane_sees(int64_t j) {
    for (int x = 0; x < rows.n; x++) {
        if (lane_sees(x, j)) return true;
    }
    return false;
}

static bool is_dark(int64_t tile) {
    for (int64_t j = tile * ATTNI_KEY_TILE; j < (tile + 1) * ATTNI_KEY_TILE; j++) {
        if (some_lane_sees(j)) return false;
    }
    return true;
}

/* Runs check for every view of random panels of random problems until one fails. */
typedef void view_check(int64_t first, uint64_t seed);

static void for_every_view(view_check *check) {
    brute_case c;
    for (uint64_t seed = 0; seed < CASES && !check_has_failed(); seed++) {
        brute_begin(&c, seed);
        for (int p = 0; p < PANELS && !check_has_failed(); p++) {
            if (!begin_panel(&c, p % 2 == 0)) continue;
            for (int64_t t = 0; t < tiles_of(rows.seq->n_k) && !check_has_failed(); t++) {
                memset(&view, 0x5a, sizeof view);
                if (attni_rows_view(&rows, t * ATTNI_KEY_TILE, ATTNI_KEY_TILE, &view))
                    check(t * ATTNI_KEY_TILE, seed);
            }
        }
        brute_end(&c);
    }
}

/* ------------------------------------------------------------------------------------ one tile */

static void check_form(int64_t first, uint64_t seed) {
    int32_t keys = 0, end = -1;
    CHECK_MSG(view.n_segments >= 1, "seed %llu, tile at %lld", (unsigned long long)seed,
              (long long)first);
    for (int32_t g = 0; g < view.n_segments; g++) {
        const attni_segment s = view.segments[g];
        const bool cut = s.key == ATTNI_HALF_TILE && end == ATTNI_HALF_TILE;
        CHECK_MSG(s.n >= 1 && (s.key > end || cut) && s.key + s.n <= ATTNI_KEY_TILE,
                  "seed %llu: segment %d is %d+%d after %d", (unsigned long long)seed, g, s.key,
                  s.n, end);
        end = s.key + s.n; /* two segments do not touch but in the middle: they would be one */
        CHECK_MSG(s.key >= ATTNI_HALF_TILE || end <= ATTNI_HALF_TILE,
                  "seed %llu: segment %d reaches over the middle", (unsigned long long)seed, g);
        keys += s.n;
    }
    CHECK_INT(view.n_keys, keys);
    CHECK_MSG(first + end <= rows.seq->n_k, "seed %llu: key %lld of %lld", (unsigned long long)seed,
              (long long)(first + end - 1), (long long)rows.seq->n_k);
}

TEST(segments_ascend_without_touching_inside_the_keys_and_add_up) { for_every_view(check_form); }

static bool in_segments(int64_t key) {
    for (int32_t g = 0; g < view.n_segments; g++) {
        if (key >= view.segments[g].key && key < view.segments[g].key + view.segments[g].n)
            return true;
    }
    return false;
}

static void check_cover(int64_t first, uint64_t seed) {
    for (int64_t j = 0; j < ATTNI_KEY_TILE; j++) {
        CHECK_MSG(in_segments(j) || !some_lane_sees(first + j),
                  "seed %llu: key %lld of the tile at %lld is seen but left out",
                  (unsigned long long)seed, (long long)j, (long long)first);
    }
}

TEST(keys_outside_the_segments_are_seen_by_no_row) { for_every_view(check_cover); }

/* The allow bits, or all where the view says so. */
static void check_bits(int64_t first, uint64_t seed) {
    for (int64_t j = 0; j < ATTNI_KEY_TILE; j++) {
        for (int x = 0; in_segments(j) && x < rows.n; x++) {
            const bool allowed = view.all || (view.allow[j] >> x & 1);
            CHECK_MSG(allowed == lane_sees(x, first + j),
                      "seed %llu: lane %d (head %lld, row %lld), key %lld: allowed %d",
                      (unsigned long long)seed, x, (long long)rows.head[x], (long long)rows.i[x],
                      (long long)(first + j), allowed);
        }
    }
}

TEST(allow_bits_are_the_rule_pair_by_pair) { for_every_view(check_bits); }

static void check_all(int64_t first, uint64_t seed) {
    bool all = true;
    for (int64_t j = 0; j < ATTNI_KEY_TILE; j++) {
        for (int x = 0; in_segments(j) && x < rows.n; x++) all = all && lane_sees(x, first + j);
    }
    CHECK_MSG(view.all == all, "seed %llu, tile at %lld: all is %d", (unsigned long long)seed,
              (long long)first, view.all);
}

TEST(view_says_all_exactly_when_every_row_sees_every_key) { for_every_view(check_all); }

/* The window of the last rows begins behind a mask that is shorter than the keys: their mask rows
 * must not be read up to the window. The byte after the mask is inaccessible. */
TEST(row_whose_window_lies_behind_the_mask_does_not_read_it) {
    enum { N = 48, WIDTH = 40, LANES = 24 };
    guard g;
    attn_args args;
    if (!guard_alloc(&g, (size_t)N * WIDTH, GUARD_AFTER)) SKIP("no memory");
    guard_explain("row_whose_window_lies_behind_the_mask_does_not_read_it");
    attn_args_init(&args);
    args.q = args.k = args.v = attn_tensor_bhsd(NULL, ATTN_F32, 1, 1, N, 4);
    args.mask = attn_tensor_bhsd(g.data, ATTN_BOOL, 1, 1, N, WIDTH);
    args.window_left = 5;
    args.causal = 1;
    sequence = attni_sequence_at(&args, 0);
    rows = (attni_rows){.args = &args, .seq = &sequence, .n = LANES};
    for (int x = 0; x < LANES; x++) rows.i[x] = N - LANES + x;
    attni_rows_begin(&rows);
    CHECK(attni_rows_view(&rows, 0, ATTNI_KEY_TILE, &view));
    for (int j = 0; j < WIDTH; j++) {
        CHECK(view.all || !in_segments(j) || (view.allow[j] >> (LANES - 1) & 1) == 0);
    }
    CHECK(!view.all);
    guard_free(&g);
}

/* ----------------------------------------------------------------------------------- all tiles */

TEST(tile_without_a_view_is_seen_by_no_row) {
    brute_case c;
    for (uint64_t seed = 0; seed < CASES && !check_has_failed(); seed++) {
        brute_begin(&c, seed);
        for (int p = 0; p < PANELS; p++) {
            if (!begin_panel(&c, p % 2 == 0)) continue;
            for (int64_t t = 0; t < tiles_of(rows.seq->n_k); t++) {
                const bool seen = attni_rows_view(&rows, t * ATTNI_KEY_TILE, ATTNI_KEY_TILE, &view);
                CHECK_MSG(seen || is_dark(t), "seed %llu: tile %lld has no view but is seen",
                          (unsigned long long)seed, (long long)t);
            }
        }
        brute_end(&c);
    }
}

/* Rows of these panels are less than a tile apart; ranges further apart would leave a gap that is
 * viewed too. */
TEST(tile_with_a_view_is_seen_by_some_row) {
    brute_case c;
    for (uint64_t seed = 0; seed < CASES && !check_has_failed(); seed++) {
        brute_begin(&c, seed);
        for (int p = 0; p < PANELS; p++) {
            if (!begin_panel(&c, p % 2 == 0)) continue;
            for (int64_t t = 0; t < tiles_of(rows.seq->n_k); t++) {
                const bool seen = attni_rows_view(&rows, t * ATTNI_KEY_TILE, ATTNI_KEY_TILE, &view);
                CHECK_MSG(!seen || !is_dark(t), "seed %llu: tile %lld has a view but is dark",
                          (unsigned long long)seed, (long long)t);
            }
        }
        brute_end(&c);
    }
}

/* Walks as the engine does: ask for the next tile, take its view, go on behind it. */
TEST(next_tile_skips_only_what_no_row_sees) {
    brute_case c;
    for (uint64_t seed = 0; seed < CASES && !check_has_failed(); seed++) {
        brute_begin(&c, seed);
        for (int p = 0; p < PANELS; p++) {
            if (!begin_panel(&c, p % 2 == 0)) continue;
            const int64_t end = tiles_of(rows.seq->n_k);
            for (int64_t t = 0; t < end; t++) {
                const int64_t next = attni_rows_next_tile(&rows, t);
                CHECK_MSG(next >= t && (next < end || next == INT64_MAX), "next of %lld is %lld",
                          (long long)t, (long long)next);
                for (; t < attni_min(next, end); t++)
                    CHECK_MSG(is_dark(t), "seed %llu: tile %lld skipped", (unsigned long long)seed,
                              (long long)t);
                if (t < end) attni_rows_view(&rows, t * ATTNI_KEY_TILE, ATTNI_KEY_TILE, &view);
            }
        }
        brute_end(&c);
    }
}

TEST(visible_range_is_the_rule_without_mask_and_pattern) {
    brute_case c;
    for (uint64_t seed = 0; seed < CASES && !check_has_failed(); seed++) {
        brute_begin(&c, seed);
        attn_args plain = c.args; /* the widths of mask and bias count, their elements do not */
        plain.pattern = NULL;
        for (int64_t s = 0; s < brute_count(&plain); s++) {
            const attni_sequence seq = attni_sequence_at(&plain, s);
            const int64_t width = attni_min(plain.mask.data ? plain.mask.shape[3] : seq.n_k,
                                            plain.bias.data ? plain.bias.shape[3] : seq.n_k);
            attn_args ranges = plain;
            ranges.mask.data = ranges.bias.data = NULL;
            for (int64_t i = 0; i < seq.rows; i++) {
                int64_t lo, hi;
                attni_visible_range(&plain, &seq, i, &lo, &hi);
                CHECK(lo >= 0 && lo <= hi);
                for (int64_t j = 0; j < seq.n_k; j++) {
                    const bool want = j < width && brute_visible(&ranges, s, 0, i, j, false);
                    CHECK_MSG((j >= lo && j < hi) == want,
                              "seed %llu: row %lld key %lld: %lld..%lld", (unsigned long long)seed,
                              (long long)i, (long long)j, (long long)lo, (long long)hi);
                }
            }
        }
        brute_end(&c);
    }
}
