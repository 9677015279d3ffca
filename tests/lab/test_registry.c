/* SPDX-License-Identifier: Apache-2.0 */
/* test_registry.c - the list of experiments is complete and every entry is filled in. */
#include "check.h"
#include "claim.h"
#include "experiment.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

TEST(the_seven_figures_come_first) {
    for (size_t i = 0; i < 7; i++) {
        char id[8];
        snprintf(id, sizeof id, "F%zu", i + 1);
        CHECK(lab_experiments[i] != NULL);
        CHECK_STR(lab_experiments[i]->id, id);
    }
}

TEST(ids_are_unique_and_fit_into_file_names) {
    for (size_t i = 0; lab_experiments[i]; i++) {
        const char *id = lab_experiments[i]->id;
        for (const char *c = id; *c; c++) CHECK_MSG(isalnum((unsigned char)*c), "id \"%s\"", id);
        for (size_t j = 0; j < i; j++) {
            CHECK_MSG(strcmp(lab_experiments[j]->id, id) != 0, "two experiments are %s", id);
        }
    }
}

TEST(every_experiment_is_filled_in) {
    for (size_t i = 0; lab_experiments[i]; i++) {
        const lab_experiment *e = lab_experiments[i];
        CHECK_MSG(e->title && e->title[0], "%s has no title", e->id);
        CHECK_MSG(e->question && strchr(e->question, '?'), "%s asks nothing", e->id);
        CHECK_MSG(e->method && strlen(e->method) > 20, "%s has no method", e->id);
        CHECK_MSG(e->command && strncmp(e->command, "attn ", 5) == 0, "%s: no command", e->id);
        CHECK_MSG(e->seconds > 0, "%s takes no time", e->id);
        CHECK_MSG(e->measure && e->draw && e->judge, "%s lacks a function", e->id);
    }
}

static bool is_claim(const char *id, size_t length) {
    const lab_claim_list claims = lab_claims();
    for (size_t i = 0; i < claims.n; i++) {
        const char *known = claims.claim[i].id;
        if (strlen(known) == length && strncmp(known, id, length) == 0) return true;
    }
    return false;
}

TEST(experiments_name_claims_that_exist) {
    for (size_t i = 0; lab_experiments[i]; i++) {
        const char *at = lab_experiments[i]->claims;
        while (at && *at) {
            const size_t length = strcspn(at, ",");
            CHECK_MSG(is_claim(at, length), "%s names %.*s", lab_experiments[i]->id, (int)length,
                      at);
            at += length + (at[length] == ',');
        }
    }
}

TEST(verdicts_have_names) {
    CHECK_STR(lab_verdict_name(LAB_HOLDS), "holds");
    CHECK_STR(lab_verdict_name(LAB_HOLDS_IF), "holds if");
    CHECK_STR(lab_verdict_name(LAB_WRONG), "wrong");
    CHECK_STR(lab_verdict_name(LAB_MEASURED), "measured");
    CHECK_STR(lab_verdict_words(LAB_HOLDS), "holds");
    CHECK_STR(lab_verdict_words(LAB_HOLDS_IF), "holds with a condition");
}
