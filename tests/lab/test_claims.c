/* SPDX-License-Identifier: Apache-2.0 */
/* test_claims.c - the worked numbers and claims: none missing, their records as in golden.json, a
 * wrong record is noticed, the verdicts that matter most, and the helpers behind them. The claims
 * that take seconds are tested by tests/cli/test_verify.py. */
#include "claims/approximations.h"
#include "claims/drawn.h"
#include "claims/numbers.h"
#include "steps/stream.h"
#include "support/recurrent.h"

#include "check.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static lab_settings settings_of(uint32_t seed, int threads) {
    attn_ctx_options options;
    lab_settings settings = {.seed = seed, .threads = threads};
    attn_ctx_options_init(&options);
    options.threads = threads;
    attn_ctx_create(&options, &settings.ctx, NULL);
    return settings;
}

static const lab_claim *row_named(lab_claim_list list, const char *id) {
    for (size_t i = 0; i < list.n; i++) {
        if (strcmp(list.claim[i].id, id) == 0) return &list.claim[i];
    }
    return NULL;
}

static lab_outcome outcome_with(const lab_claim *claim, uint32_t seed, int threads) {
    lab_settings settings = settings_of(seed, threads);
    lab_outcome outcome;
    attn_error error = {""};
    if (lab_claim_test(&settings, claim, &outcome, &error) != ATTN_OK)
        check_failed(__FILE__, __LINE__, "%s: %s", claim->id, error.message);
    attn_ctx_destroy(settings.ctx);
    return outcome;
}

static lab_outcome outcome_of(const lab_claim *claim, uint32_t seed) {
    return outcome_with(claim, seed, 1);
}

static bool is_quick(const lab_claim *claim) { return claim->seconds < 1; }

static bool is_timed(const lab_claim *claim) {
    return strcmp(claim->id, "C-29") == 0 || strcmp(claim->id, "C-49") == 0;
}

/* ------------------------------------------------------------------------------------ the lists */

TEST(every_wrong_number_says_why) { /* the report prints it beside the correction */
    const lab_claim_list list = lab_worked_numbers();
    size_t wrong = 0;
    for (size_t i = 0; i < list.n; i++) {
        const lab_outcome outcome = outcome_of(&list.claim[i], 42);
        if (outcome.verdict != LAB_WRONG) continue;
        CHECK_MSG(outcome.why[0] != 0, "%s gives no reason", list.claim[i].id);
        wrong++;
    }
    CHECK(wrong > 20);
}

/* tests/golden/documents.json: the ids that were taken from the documents. */
static json_t *document_ids(void) {
    json_error_t error;
    json_t *ids = json_load_file(DOCUMENTS_FILE, 0, &error);
    if (!ids) check_failed(__FILE__, __LINE__, "%s: %s", DOCUMENTS_FILE, error.text);
    return ids;
}

/* How many rows have the id as their own, or as another id of the same statement. */
typedef struct id_count {
    int own, also;
} id_count;

static id_count count_id(const char *id) {
    const lab_claim_list lists[] = {lab_worked_numbers(), lab_claims()};
    id_count count = {0};
    for (int l = 0; l < 2; l++) {
        for (size_t i = 0; i < lists[l].n; i++) {
            const bool own = strcmp(lists[l].claim[i].id, id) == 0;
            count.own += own;
            count.also += !own && lab_claim_has_id(&lists[l].claim[i], id);
        }
    }
    return count;
}

static bool is_listed(const json_t *list, const char *word) {
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (strcmp(json_string_value(json_array_get(list, i)), word) == 0) return true;
    }
    return false;
}

/* An id has a row of its own, or is another id of one row, or has nothing to compute. */
static void check_id(const json_t *ids, const char *id) {
    const char *same = json_string_value(json_object_get(json_object_get(ids, "same"), id));
    const bool nothing = is_listed(json_object_get(ids, "not_computed"), id);
    const id_count count = count_id(id);
    CHECK_MSG(count.own == (!same && !nothing), "%s has %d rows of its own", id, count.own);
    CHECK_MSG(count.also == (same != NULL), "%s is another id of %d rows", id, count.also);
    CHECK_MSG((lab_claim_not_computed(id) != NULL) == nothing, "%s: is there anything to compute?",
              id);
    if (same) {
        const lab_claim *row = row_named(lab_claims(), same);
        if (!row) row = row_named(lab_worked_numbers(), same);
        CHECK_MSG(row && lab_claim_has_id(row, id), "%s is not %s", id, same);
    }
}

TEST(every_worked_number_of_the_documents_is_there_once_in_order) {
    static const char *const documents[] = {"001", "002", "003", "004"};
    const lab_claim_list list = lab_worked_numbers();
    json_t *ids = document_ids(), *counts = json_object_get(ids, "worked_numbers");
    size_t at = 0;
    for (size_t d = 0; d < 4; d++) {
        const json_int_t rows = json_integer_value(json_object_get(counts, documents[d]));
        CHECK(rows > 0);
        for (int row = 1; row <= rows && !check_has_failed(); row++) {
            char id[16];
            snprintf(id, sizeof id, "%s-%02d", documents[d], row);
            check_id(ids, id);
            if (count_id(id).own == 0) continue;
            CHECK(at < list.n);
            CHECK_STR(list.claim[at].id, id);
            CHECK_STR(list.claim[at].document, documents[d]);
            at++;
        }
    }
    CHECK_INT(list.n, at);
    json_decref(ids);
}

TEST(every_claim_of_the_documents_is_there_once_in_order) {
    const lab_claim_list list = lab_claims();
    json_t *ids = document_ids(), *claims = json_object_get(ids, "claims");
    size_t at = 0;
    for (size_t i = 0; i < json_array_size(claims) && !check_has_failed(); i++) {
        const char *id = json_string_value(json_array_get(claims, i));
        check_id(ids, id);
        if (count_id(id).own == 0) continue;
        CHECK(at < list.n);
        CHECK_STR(list.claim[at++].id, id);
    }
    CHECK_INT(list.n, at);
    json_decref(ids);
}

/* Two ids of one statement would be counted twice. */
TEST(no_two_rows_of_a_document_state_the_same) {
    const lab_claim_list numbers = lab_worked_numbers(), claims = lab_claims();
    for (size_t i = 0; i < numbers.n; i++) {
        for (size_t j = 0; j < claims.n; j++) {
            const lab_claim *a = &numbers.claim[i], *b = &claims.claim[j];
            const bool same = a->stated && strcmp(a->stated, b->stated) == 0 &&
                              strstr(b->document, a->document) != NULL;
            CHECK_MSG(!same, "%s and %s state \"%s\"", a->id, b->id, b->stated);
        }
    }
}

TEST(errors_that_follow_from_others_name_them) {
    const lab_claim_list list = lab_worked_numbers();
    json_t *ids = document_ids(), *expected = json_object_get(ids, "consequences");
    for (size_t i = 0; i < list.n && !check_has_failed(); i++) {
        const lab_outcome outcome = outcome_of(&list.claim[i], 42);
        const char *from = json_string_value(json_object_get(expected, list.claim[i].id));
        CHECK_MSG((from != NULL) == (outcome.follows_from != NULL), "%s: \"%s\"", list.claim[i].id,
                  outcome.why);
        if (!from) continue;
        CHECK_STR(outcome.follows_from, from);
        CHECK_MSG(strstr(outcome.why, from), "%s: \"%s\"", list.claim[i].id, outcome.why);
    }
    json_decref(ids);
}

TEST(
    an_error_of_its_own_is_no_consequence) { /* 1.96 does not follow even from the stated Q and K */
    const lab_outcome outcome = outcome_of(row_named(lab_worked_numbers(), "004-11"), 42);
    CHECK(outcome.verdict == LAB_WRONG && outcome.follows_from == NULL);
    CHECK(strstr(outcome.why, "1.63") && strstr(outcome.why, "004-02"));
}

TEST(the_tally_counts_statements_and_says_them_in_one_sentence) {
    const lab_claim stated = {.id = "1", .stated = "x"}, left_out = {.id = "2"};
    const lab_outcome wrong = {.verdict = LAB_WRONG},
                      holds = {.verdict = LAB_HOLDS, .agrees = true},
                      follows = {.verdict = LAB_WRONG, .follows_from = "1"},
                      measured = {.verdict = LAB_MEASURED};
    char text[LAB_TEXT];
    lab_tally tally = {0};
    lab_tally_add(&tally, &stated, &wrong);
    lab_tally_say(&tally, text);
    CHECK_STR(text, "1 statement of the documents tested: 1 is wrong.");
    lab_tally_add(&tally, &stated, &holds);
    lab_tally_add(&tally, &left_out, &measured);
    lab_tally_add(&tally, &stated, &follows);
    lab_tally_say(&tally, text);
    CHECK_STR(text, "3 statements of the documents tested: 2 are wrong, 1 of them only because of "
                    "another error.");
    CHECK_INT(tally.unstated, 1);
    CHECK_INT(tally.agree, 1);
}

static void check_width(const lab_claim *claim) {
    CHECK_MSG(strlen(claim->subject) <= 60, "%s: subject of %zu", claim->id,
              strlen(claim->subject));
    const char *stated = lab_claim_stated(claim);
    CHECK_MSG(strlen(stated) <= 90, "%s: stated of %zu", claim->id, strlen(stated));
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

TEST(claims_agree_with_the_record_and_fit) {
    const lab_claim_list list = lab_claims();
    int tested = 0;
    for (size_t i = 0; i < list.n && !check_has_failed(); i++) {
        if (!is_quick(&list.claim[i])) continue;
        check_outcome(&list.claim[i]);
        tested++;
    }
    CHECK_INT(tested, 52); /* C-3c, C-3d and C-52 take seconds */
}

TEST(verdicts_of_what_matters_most) {
    static const struct {
        const char *id;
        lab_verdict verdict;
    } expected[] = {
        {"C-4", LAB_WRONG},     {"C-3b", LAB_HOLDS},    {"004-01", LAB_HOLDS},
        {"004-02", LAB_WRONG},  {"004-05", LAB_WRONG},  {"004-06", LAB_WRONG},
        {"004-09", LAB_WRONG},  {"004-20", LAB_WRONG},  {"C-47", LAB_WRONG},
        {"001-03", LAB_WRONG},  {"001-05", LAB_WRONG},  {"003-06", LAB_WRONG},
        {"003-09", LAB_WRONG},  {"002-04", LAB_WRONG},  {"C-51", LAB_HOLDS},
        {"C-8", LAB_WRONG},     {"C-7", LAB_HOLDS},     {"C-24", LAB_HOLDS_IF},
        {"C-26", LAB_HOLDS_IF}, {"C-21", LAB_HOLDS_IF},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const lab_claim *claim = row_named(lab_claims(), expected[i].id);
        if (!claim) claim = row_named(lab_worked_numbers(), expected[i].id);
        CHECK(claim);
        const lab_verdict verdict = outcome_of(claim, 42).verdict;
        CHECK_MSG(verdict == expected[i].verdict, "%s: %s", claim->id, lab_verdict_name(verdict));
    }
}

TEST(the_same_seed_gives_the_same_words_for_any_number_of_threads) {
    const lab_claim_list list = lab_claims();
    for (size_t i = 0; i < list.n && !check_has_failed(); i++) {
        const lab_claim *claim = &list.claim[i];
        if (claim->seconds > 0.25 || is_timed(claim)) continue; /* the short ones will do */
        const lab_outcome one = outcome_with(claim, 5, 1), two = outcome_with(claim, 5, 2);
        CHECK_STR(one.computed, two.computed);
        CHECK_STR(one.why, two.why);
        CHECK_MSG(one.agrees, "%s: %s", claim->id, one.why);
    }
}

TEST(another_seed_draws_other_numbers) {
    const lab_claim *claim = row_named(lab_claims(), "C-8");
    const lab_outcome one = outcome_of(claim, 1), two = outcome_of(claim, 2);
    CHECK(strcmp(one.computed, two.computed) != 0);
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

enum { MOST = 32 };

/* All numbers of nested lists, at most MOST; *n counts them all. */
static void flatten(const json_t *json, double *value, size_t *n) {
    if (json_is_number(json)) {
        if (*n < MOST) value[*n] = json_number_value(json);
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
    double value[MOST];
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

/* ----------------------------------------------------------------------- a wrong record is seen */

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
    lab_claim claim = *row_named(lab_claims(), "C-35");
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

/* ------------------------------------------------------------------------------- approximations */

static void check_near_all(const double *value, const double *exact, size_t n) {
    for (size_t i = 0; i < n; i++) CHECK_NEAR(value[i], exact[i], 1e-12);
}

typedef struct approximated {
    double q[MOST], k[MOST], v[MOST], omega[MOST], e[MOST], f[MOST], exact[MOST];
    lab_head head;
} approximated;

/* Reads the case; `key` names the exact output. False if the file is not as expected. */
static bool approximated_load(approximated *a, const char *key) {
    const struct {
        const char *key;
        double *to;
        size_t n;
    } part[] = {{"q", a->q, 12}, {"k", a->k, 12}, {"v", a->v, 8},    {"omega", a->omega, 18},
                {"E", a->e, 8},  {"F", a->f, 8},  {key, a->exact, 8}};
    json_t *figures = json_load_file(FIGURES_FILE, 0, NULL);
    bool ok = true;
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        size_t n = 0;
        flatten(json_object_get(json_object_get(figures, "approximations"), part[i].key),
                part[i].to, &n);
        ok = ok && n == part[i].n;
    }
    a->head = (lab_head){.n_q = 4, .n_k = 4, .d_k = 3, .d_v = 2, .q = a->q, .k = a->k, .v = a->v};
    json_decref(figures);
    return ok;
}

TEST(performer_gives_the_golden_output) {
    approximated a;
    double out[8];
    CHECK(approximated_load(&a, "performer_positive"));
    const lab_performer performer = {LAB_POSITIVE, 6, a.omega};
    CHECK(lab_performer_output(&a.head, &performer, out, NULL) == ATTN_OK);
    check_near_all(out, a.exact, 8);
}

TEST(linformer_gives_the_golden_output) {
    approximated a;
    double out[8];
    lab_settings settings = settings_of(1, 1);
    CHECK(approximated_load(&a, "linformer"));
    const lab_linformer linformer = {2, a.e, a.f};
    CHECK(lab_linformer_output(settings.ctx, &a.head, &linformer, out, NULL) == ATTN_OK);
    attn_ctx_destroy(settings.ctx);
    check_near_all(out, a.exact, 8);
}

TEST(linear_attention_gives_the_golden_output) {
    approximated a;
    double out[8];
    CHECK(approximated_load(&a, "linear_elu"));
    CHECK(lab_linear_output(&a.head, out, NULL) == ATTN_OK);
    check_near_all(out, a.exact, 8);
}

TEST(many_trigonometric_features_come_near_softmax) {
    enum { M = 20000, D = 3 };
    approximated a;
    double out[8], *omega = malloc(M * D * sizeof *omega);
    lab_stream stream;
    CHECK(approximated_load(&a, "exact"));
    CHECK(omega);
    lab_stream_seed(&stream, 7);
    lab_stream_normals(&stream, M * D, 1, omega);
    const lab_performer performer = {LAB_TRIG, M, omega};
    CHECK(lab_performer_output(&a.head, &performer, out, NULL) == ATTN_OK);
    free(omega);
    for (int i = 0; i < 8; i++) CHECK_NEAR(out[i], a.exact[i], 0.05);
}

/* -------------------------------------------------------------------------------------- helpers */

TEST(the_recurrent_network_has_the_gradient_of_its_differences) {
    enum { N = 5, D = 3 };
    lab_recurrent net = {.n = N, .d = D};
    const double dout[D] = {1, -2, 0.5}, step = 1e-6;
    CHECK(lab_recurrent_create(&net, 3, NULL) == ATTN_OK);
    lab_recurrent_forward(&net);
    lab_recurrent_backward(&net, dout);
    for (int i = 0; i < N * D; i++) {
        const double at = net.x[i];
        double loss[2] = {0};
        for (int side = 0; side < 2; side++) {
            net.x[i] = at + (side ? step : -step);
            lab_recurrent_forward(&net);
            for (int c = 0; c < D; c++) loss[side] += dout[c] * net.h[(N - 1) * D + c];
        }
        net.x[i] = at;
        CHECK_NEAR(net.dx[i], (loss[1] - loss[0]) / (2 * step), 1e-8);
    }
    lab_recurrent_free(&net);
}

TEST(forward_weights_are_those_of_inspect) {
    lab_settings settings = settings_of(1, 1);
    lab_drawn drawn = {.head = {.n_q = 5, .n_k = 7, .d_k = 4, .d_v = 2}};
    double by_forward[35];
    CHECK(lab_drawn_create(&drawn, 9, NULL) == ATTN_OK);
    CHECK(lab_head_weights(settings.ctx, &drawn.head, drawn.weights, NULL) == ATTN_OK);
    CHECK(lab_forward_weights(settings.ctx, &drawn.head, ATTN_F64, NULL, by_forward, NULL) ==
          ATTN_OK);
    CHECK_NEAR(lab_largest_difference(by_forward, drawn.weights, 35), 0, 1e-15);
    CHECK(lab_forward_weights(settings.ctx, &drawn.head, ATTN_F32, NULL, by_forward, NULL) ==
          ATTN_OK);
    CHECK_NEAR(lab_largest_difference(by_forward, drawn.weights, 35), 0, 1e-6);
    lab_drawn_free(&drawn);
    attn_ctx_destroy(settings.ctx);
}

TEST(a_disagreement_is_not_talked_over) {
    const lab_claim claim = {.id = "X", .data = LAB_RECORDED(LAB_HOLDS)};
    lab_outcome outcome = {.agrees = true};
    CHECK(!lab_expect(&outcome, NAN, 1, 1e300));
    lab_require(&outcome, false, "later");
    lab_conclude(&claim, &outcome, LAB_HOLDS, "all is well");
    CHECK(!outcome.agrees);
    CHECK(strstr(outcome.why, "the record has 1: a bug of ours"));
}
