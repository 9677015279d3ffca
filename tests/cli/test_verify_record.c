/* SPDX-License-Identifier: Apache-2.0 */
/* test_verify_record.c - the exit code of `attn verify` depends on our own numbers: 1 if one of
 * them differs from the record, 0 if only documents are wrong. */
#include "lab/claims/numbers.h"
#include "shared/out.h"
#include "verify.h"

#include "check.h"

#include <string.h>

static const lab_claim *row_named(const char *id) {
    const lab_claim_list list = lab_worked_numbers();
    for (size_t i = 0; i < list.n; i++) {
        if (strcmp(list.claim[i].id, id) == 0) return &list.claim[i];
    }
    return NULL;
}

static int exit_code(const lab_claim *claim, bool json, bool markdown) {
    const verify_options o = {.common.json = json, .markdown = markdown, .seed = 42, .threads = 1};
    return verify_lists(&o, (lab_claim_list){claim, 1}, (lab_claim_list){0});
}

TEST(verify_succeeds_when_only_the_document_is_wrong) {
    CHECK_INT(exit_code(row_named("001-03"), false, false), CLI_OK);
}

TEST(verify_fails_when_our_number_differs_from_the_record) {
    lab_claim claim = *row_named("001-03");
    lab_numbers row = *(const lab_numbers *)claim.data;
    row.exact[0] += 1e-9;
    claim.data = &row;
    CHECK_INT(exit_code(&claim, false, false), CLI_FAILED);
    CHECK_INT(exit_code(&claim, true, false), CLI_FAILED);
    CHECK_INT(exit_code(&claim, false, true), CLI_FAILED);
}

TEST(verify_fails_when_our_verdict_differs_from_the_record) {
    lab_claim claim = *row_named("001-02");
    lab_numbers row = *(const lab_numbers *)claim.data;
    row.recorded = LAB_WRONG;
    claim.data = &row;
    CHECK_INT(exit_code(&claim, false, false), CLI_FAILED);
}

static attn_status fails(const lab_settings *settings, const lab_claim *claim, lab_outcome *outcome,
                         attn_error *err) {
    (void)settings, (void)claim, (void)outcome;
    snprintf(err->message, sizeof err->message, "no luck");
    return ATTN_E_MEMORY;
}

TEST(verify_fails_when_a_row_cannot_be_computed) {
    const lab_claim claim = {
        .id = "001-99", .document = "001", .subject = "", .stated = "", .test = fails};
    CHECK_INT(exit_code(&claim, false, false), CLI_FAILED);
}
