/* SPDX-License-Identifier: Apache-2.0 */
/* test_claims.c - the worked numbers and claims: none missing, their records as in golden.json, and a
 * wrong record is noticed. */
#include "claims/documents.h"
#include "claims/numbers.h"

#include "check.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static lab_settings settings_of(uint32_t seed) {
    attn_ctx_options options;
    lab_settings settings = {.seed = seed, .threads = 1};
    attn_ctx_options_init(&options);
    attn_ctx_create(&options, &settings.ctx, NULL);
    return settings;
}

static const lab_claim *row_named(lab_claim_list list, const char *id) {
    for (size_t i = 0; i < list.n; i++) {
        if (strcmp(list.claim[i].id, id) == 0) return &list.claim[i];
    }
    return NULL;
}

static lab_outcome outcome_of(const lab_claim *claim, uint32_t seed) {
    lab_settings settings = settings_of(seed);
    lab_outcome outcome = {.agrees = true, .verdict = LAB_MEASURED};
    attn_error error = {""};
    if (claim->test(&settings, claim, &outcome, &error) != ATTN_OK)
        check_failed(__FILE__, __LINE__, "%s: %s", claim->id, error.message);
    attn_ctx_destroy(settings.ctx);
    return outcome;
}

/* ------------------------------------------------------------------------------------- the lists */

TEST(every_worked_number_of_the_documents_is_there_once_in_order) {
    static const struct {
        const char *document;
        int rows;
    } tables[] = {{"001", 21}, {"002", 8}, {"003", 19}, {"004", 25}};
    const lab_claim_list list = lab_worked_numbers();
    size_t at = 0;
    for (size_t t = 0; t < 4; t++) {
        for (int row = 1; row <= tables[t].rows; row++, at++) {
            char id[16];
            snprintf(id, sizeof id, "%s-%02d", tables[t].document, row);
            CHECK(at < list.n);
            CHECK_STR(list.claim[at].id, id);
            CHECK_STR(list.claim[at].document, tables[t].document);
        }
    }
    CHECK_INT(list.n, at);
}

static void check_width(const lab_claim *claim) {
    CHECK_MSG(strlen(claim->subject) <= 60, "%s: subject of %zu", claim->id,
              strlen(claim->subject));
    CHECK_MSG(strlen(claim->stated) <= 90, "%s: stated of %zu", claim->id, strlen(claim->stated));
}

TEST(statements_fit_into_a_printed_table) {
    const lab_claim_list lists[] = {lab_worked_numbers(), lab_claims()};
    for (int l = 0; l < 2; l++) {
        for (size_t i = 0; i < lists[l].n; i++) check_width(&lists[l].claim[i]);
    }
}

static void check_outcome(const lab_claim *claim) {
    const lab_outcome outcome = outcome_of(claim, 42);
    CHECK_MSG(outcome.agrees, "%s: %s", claim->id, outcome.why);
    CHECK_MSG(strlen(outcome.computed) <= 90, "%s: \"%s\" is %zu long", claim->id, outcome.computed,
              strlen(outcome.computed));
    CHECK_MSG(*outcome.why && strlen(outcome.why) <= 140, "%s: \"%s\" is %zu long", claim->id,
              outcome.why, strlen(outcome.why));
}

TEST(worked_numbers_agree_with_the_record_and_fit) {
    const lab_claim_list list = lab_worked_numbers();
    for (size_t i = 0; i < list.n && !check_has_failed(); i++) check_outcome(&list.claim[i]);
}

/* -------------------------------------------------------------------- the record is golden.json */

static json_t *entry_named(json_t *list, const char *name) {
    size_t i;
    json_t *entry;
    json_array_foreach(list, i, entry) {
        if (strcmp(json_string_value(json_object_get(entry, "name")), name) == 0) return entry;
    }
    return NULL;
}

static void flatten(const json_t *json, double *value, size_t *n) {
    if (json_is_number(json)) {
        if (*n < LAB_MAX_NUMBERS) value[*n] = json_number_value(json);
        (*n)++;
    }
    for (size_t i = 0; i < json_array_size(json); i++) flatten(json_array_get(json, i), value, n);
}

/* The numbers at "case part [row]" or "softmax-case part"; how many there are. */
static size_t golden_numbers(json_t *golden, const char *where, double *value) {
    char name[64] = "", part[32] = "";
    int row = -1;
    size_t n = 0;
    sscanf(where, "%63s %31s %d", name, part, &row);
    json_t *entry = entry_named(json_object_get(golden, "cases"), name);
    if (!entry) entry = entry_named(json_object_get(golden, "softmax"), name);
    json_t *found = json_object_get(json_object_get(entry, "expected"), part);
    if (!found) found = json_object_get(entry, part);
    flatten(row >= 0 ? json_array_get(found, (size_t)row) : found, value, &n);
    return n;
}

static void check_record(json_t *golden, const char *id, const char *where, const double *exact,
                         size_t n) {
    double value[LAB_MAX_NUMBERS];
    const size_t found = golden_numbers(golden, where, value);
    CHECK_MSG(found >= n, "%s: %zu numbers at \"%s\", expected %zu", id, found, where, n);
    for (size_t i = 0; i < n; i++)
        CHECK_MSG(value[i] == exact[i], "%s: %.17g on record, %.17g at \"%s\"", id, exact[i],
                  value[i], where);
}

TEST(the_record_of_worked_numbers_is_that_of_the_golden_file) {
    json_t *golden = json_load_file(GOLDEN_FILE, 0, NULL);
    CHECK(golden);
    const lab_claim_list list = lab_worked_numbers();
    int compared = 0;
    for (size_t i = 0; i < list.n && !check_has_failed(); i++) {
        const lab_claim *claim = &list.claim[i];
        if (claim->test != lab_numbers_test) continue;
        const lab_numbers *row = claim->data;
        const lab_alternate *other = &row->alternate;
        if (row->golden) check_record(golden, claim->id, row->golden, row->exact, row->n);
        if (other->golden) check_record(golden, claim->id, other->golden, other->exact, row->n);
        compared += (row->golden != NULL) + (other->golden != NULL);
    }
    json_decref(golden);
    CHECK_INT(compared, 40);
}

/* ------------------------------------------------------------------------- a wrong record is seen */

TEST(a_wrong_exact_value_is_a_disagreement) {
    lab_claim claim = *row_named(lab_worked_numbers(), "001-03");
    lab_numbers row = *(const lab_numbers *)claim.data;
    row.exact[1] += 1e-9;
    claim.data = &row;
    const lab_outcome outcome = outcome_of(&claim, 42);
    CHECK(!outcome.agrees);
    CHECK(strstr(outcome.why, "bug of ours"));
}

TEST(a_wrong_value_on_the_way_is_a_disagreement) {
    lab_claim claim = *row_named(lab_worked_numbers(), "004-15");
    lab_numbers row = *(const lab_numbers *)claim.data;
    row.alternate.exact[0] += 1e-9;
    claim.data = &row;
    CHECK(!outcome_of(&claim, 42).agrees);
}

TEST(a_wrong_verdict_on_record_is_a_disagreement) {
    lab_claim claim = *row_named(lab_worked_numbers(), "001-19");
    const lab_verdict holds = LAB_HOLDS;
    claim.data = &holds;
    const lab_outcome outcome = outcome_of(&claim, 42);
    CHECK(!outcome.agrees);
    CHECK_INT(outcome.verdict, LAB_WRONG); /* what the numbers say stays */
}

/* ------------------------------------------------------------------------------ reading numbers */

TEST(numbers_are_read_from_words_with_their_last_digit) {
    static const lab_said expected[] = {
        {0.382, 1e-3}, {-1.25, 1e-2}, {1e8, 1e8}, {8.89e6, 1e4}, {1.0 / 64, 0}, {17e6, 1e6},
        {270e6, 1e7},  {0.19, 1e-3},  {8, 1},     {12, 1},       {20, 10},      {1.12e-7, 1e-9}};
    const size_t n = sizeof expected / sizeof *expected;
    lab_said said[16];
    CHECK_INT(lab_said_numbers("[0.382, -1.25; 1e8] 8.89e6 1/64, 17M and ~270M; .190 e8x 8x12 "
                               "\"~20x\" 1.12e-7 d64",
                               said, 16),
              n);
    for (size_t i = 0; i < n; i++) {
        CHECK_NEAR(said[i].value, expected[i].value, 1e-9 * fabs(expected[i].value));
        CHECK_NEAR(said[i].unit, expected[i].unit, 1e-9 * expected[i].unit);
    }
}

TEST(a_stated_number_holds_as_rounded_and_holds_if_cut) {
    const lab_said said = {0.35, 0.01};
    CHECK_INT(lab_said_verdict(said, 0.3549), LAB_HOLDS);
    CHECK_INT(lab_said_verdict(said, 0.3451), LAB_HOLDS);
    CHECK_INT(lab_said_verdict(said, 0.359), LAB_HOLDS_IF);
    CHECK_INT(lab_said_verdict(said, 0.36), LAB_WRONG);
    CHECK_INT(lab_said_verdict(said, 0.341), LAB_WRONG);
}

TEST(what_does_not_fit_into_a_text_is_cut) {
    char text[LAB_TEXT] = "";
    for (int i = 0; i < 200; i++) lab_say(text, "word %d ", i);
    CHECK_INT(strlen(text), LAB_TEXT - 1);
}
