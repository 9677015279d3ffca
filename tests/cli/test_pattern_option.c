/* SPDX-License-Identifier: Apache-2.0 */
/* test_pattern_option.c - the syntax of --pattern (cli/run/pattern_option.h) against brute force
 * over all pairs. */
#include "run/pattern_option.h"

#include "check.h"

#include <stdio.h>
#include <string.h>

typedef bool rule(int64_t i, int64_t j);

/* The pattern must show exactly the pairs that the rule allows. */
static void check_pattern(const char *text, const pattern_shape *shape, rule *allows) {
    attn_pattern *pattern;
    attn_error err = {""};
    const attn_status status = pattern_build(text, shape, &pattern, &err);
    CHECK_MSG(status == ATTN_OK, "%s: %s", text, err.message);
    for (int64_t i = 0; i < shape->n_q; i++)
        for (int64_t j = 0; j < shape->n_k; j++)
            if (attn_pattern_at(pattern, i, j) != allows(i, j)) {
                check_failed(__FILE__, __LINE__, "%s: pair %d %d is wrong", text, (int)i, (int)j);
                i = shape->n_q;
                break;
            }
    attn_pattern_destroy(pattern);
}

static const pattern_shape square = {12, 12, 0, true};
static const pattern_shape wide = {5, 12, 7, true}; /* the last query stands at the last key */

static bool causal(int64_t i, int64_t j) { return j <= i; }
static bool causal_wide(int64_t i, int64_t j) { return j <= i + 7; }
static bool window(int64_t i, int64_t j) { return j >= i - 2 && j <= i + 1; }
static bool left_open(int64_t i, int64_t j) { return j <= i + 1; }
static bool prefix(int64_t i, int64_t j) { return i >= 0 && j < 3; }
static bool global(int64_t i, int64_t j) { return i < 2 || j < 2; }
static bool strided(int64_t i, int64_t j) { return (i - j) % 4 == 0; }
static bool strided_wide(int64_t i, int64_t j) { return (i + 7 - j) % 3 == 0; }
static bool near(int64_t i, int64_t j) { return j >= i - 2 && j <= i + 2; }
static bool longformer(int64_t i, int64_t j) { return near(i, j) || i < 1 || j < 1; }
static bool causal_longformer(int64_t i, int64_t j) { return longformer(i, j) && causal(i, j); }
static bool prefix_lm(int64_t i, int64_t j) { return prefix(i, j) || causal(i, j); }
static bool future(int64_t i, int64_t j) { return !causal(i, j); }
static bool both_then_either(int64_t i, int64_t j) {
    return prefix(i, j) || (window(i, j) && causal(i, j));
}
static bool either_then_both(int64_t i, int64_t j) {
    return (prefix(i, j) || window(i, j)) && causal(i, j);
}

TEST(each_name_makes_its_pattern) {
    check_pattern("causal", &square, causal);
    check_pattern("window:2,1", &square, window);
    check_pattern("window:-1,1", &square, left_open);
    check_pattern("prefix:3", &square, prefix);
    check_pattern("global:2", &square, global);
    check_pattern("strided:4", &square, strided);
    check_pattern("longformer:2,1", &square, longformer);
}

TEST(positions_count_from_the_offset) {
    check_pattern("causal", &wide, causal_wide);
    check_pattern("strided:3", &wide, strided_wide);
}

static bool any_of_three(int64_t i, int64_t j) {
    return prefix(i, j) || window(i, j) || strided(i, j);
}
static bool all_of_three(int64_t i, int64_t j) {
    return causal(i, j) && window(i, j) && strided(i, j);
}

TEST(any_number_of_parts_is_joined) {
    check_pattern("prefix:3+window:2,1+strided:4", &square, any_of_three);
    check_pattern("causal&window:2,1&strided:4", &square, all_of_three);
}

TEST(plus_is_union_and_ampersand_is_intersection) {
    check_pattern("prefix:3+causal", &square, prefix_lm);
    check_pattern("longformer:2,1&causal", &square, causal_longformer);
}

TEST(intersection_binds_tighter_than_union) {
    check_pattern("prefix:3+window:2,1&causal", &square, both_then_either);
    check_pattern("window:2,1&causal+prefix:3", &square, both_then_either);
}

TEST(parentheses_group) {
    check_pattern("(prefix:3+window:2,1)&causal", &square, either_then_both);
}

TEST(an_exclamation_mark_is_the_complement) {
    check_pattern("!causal", &square, future);
    check_pattern("!!causal", &square, causal);
    check_pattern("!(!causal)", &square, causal);
}

static int64_t count(const char *text) {
    attn_pattern *pattern;
    attn_error err = {""};
    if (pattern_build(text, &square, &pattern, &err) != ATTN_OK) return -1;
    const int64_t pairs = attn_pattern_count(pattern);
    attn_pattern_destroy(pattern);
    return pairs;
}

/* Blocks of 3: four rows of blocks, each sees two blocks of 9 pairs. */
TEST(random_blocks_have_the_asked_number_of_pairs) {
    CHECK_INT(count("random:3,2"), 4 * 2 * 9);
    CHECK_INT(count("random:3,2,77"), 4 * 2 * 9);
}

TEST(the_seed_of_random_blocks_defaults_to_zero) {
    CHECK_INT(count("random:3,2&!random:3,2,0"), 0);
}

/* Band of 1 block, no global and no random blocks: the block diagonal. */
TEST(bigbird_passes_its_numbers_in_order) {
    CHECK_INT(count("bigbird:3,1,0,0"), 4 * 9);
    CHECK_INT(count("bigbird:3,1,1,0"), 4 * 9 + 6 * 9);
    CHECK_INT(count("bigbird:3,1,0,4,5"), 12 * 12);
}

static void check_refused(const char *text, const char *says) {
    attn_pattern *pattern;
    attn_error err = {""};
    const attn_status status = pattern_build(text, &square, &pattern, &err);
    if (status == ATTN_OK) attn_pattern_destroy(pattern);
    CHECK_MSG(status != ATTN_OK, "accepted: %s", text);
    CHECK_MSG(!pattern, "%s: a pattern is left", text);
    CHECK_MSG(strstr(err.message, says), "%s: \"%s\" does not say \"%s\"", text, err.message, says);
}

TEST(what_is_not_understood_is_refused_with_a_reason) {
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "expected causal"},
        {"casual", "Did you mean causal?"},
        {"causal:1", "expected causal"},
        {"window", "expected window:LEFT,RIGHT"},
        {"window:1", "expected window:LEFT,RIGHT"},
        {"window:1,2,3", "expected window:LEFT,RIGHT"},
        {"window:1,x", "expected window:LEFT,RIGHT"},
        {"window:99999999999999999999,1", "expected window:LEFT,RIGHT"},
        {"random:1,2,3,4", "expected random:"},
        {"causal+", "character 8"},
        {"causal&", "character 8"},
        {"+causal", "character 1"},
        {"causal causal", "character 7"},
        {"(causal", "')' missing"},
        {"causal)", "character 7"},
        {"!", "character 2"},
        {"CAUSAL", "character 1"},
        {"strided:0", "step"},
        {"prefix:-1", "prefix"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases && !check_has_failed(); i++)
        check_refused(cases[i].text, cases[i].says);
}

TEST(deep_nesting_is_refused) {
    char text[2000];
    memset(text, '!', 1000);
    snprintf(text + 1000, sizeof text - 1000, "causal");
    check_refused(text, "nested deeper");
    memset(text, '(', 1000);
    check_refused(text, "nested deeper");
}

TEST(square_patterns_refuse_other_shapes) {
    static const char *const texts[] = {"longformer:2,1", "bigbird:3,1,0,0"};
    for (int i = 0; i < 2; i++) {
        attn_pattern *pattern;
        attn_error err;
        CHECK_INT(pattern_build(texts[i], &wide, &pattern, &err), ATTN_E_SHAPE);
    }
}

TEST(masks_that_would_fill_the_memory_are_refused) {
    const pattern_shape huge = {1 << 20, 1 << 20, 0, true};
    const pattern_shape too_many_rows = {INT64_C(1) << 40, 4, 0, true};
    attn_pattern *pattern;
    attn_error err;
    CHECK_INT(pattern_build("strided:2", &huge, &pattern, &err), ATTN_E_VALUE);
    CHECK_INT(pattern_build("random:1,100000", &huge, &pattern, &err), ATTN_E_VALUE);
    CHECK_INT(pattern_build("causal", &too_many_rows, &pattern, &err), ATTN_E_VALUE);
}

TEST(patterns_that_use_an_offset_need_a_shared_one) {
    const pattern_shape mixed = {12, 12, 0, false};
    attn_pattern *pattern;
    attn_error err;
    CHECK_INT(pattern_build("causal", &mixed, &pattern, &err), ATTN_E_VALUE);
    CHECK_INT(pattern_build("window:1,1", &mixed, &pattern, &err), ATTN_E_VALUE);
    CHECK_INT(pattern_build("strided:2", &mixed, &pattern, &err), ATTN_E_VALUE);
    CHECK_INT(pattern_build("prefix:2", &mixed, &pattern, &err), ATTN_OK);
    attn_pattern_destroy(pattern);
}
