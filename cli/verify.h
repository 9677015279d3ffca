/* SPDX-License-Identifier: Apache-2.0 */
/* verify.h - the parts of `attn verify`: testing the rows (verify.c) and printing them
 * (verify_print.c). Tests: tests/cli/test_verify.py, tests/cli/test_verify_record.c */
#ifndef CLI_VERIFY_H
#define CLI_VERIFY_H

#include "lab/claim.h"
#include "shared/options.h"

typedef struct verify_options {
    cli_common common;
    const char *only; /* an id, a document, "claims" or "numbers"; NULL: everything */
    bool markdown, wrong;
    uint64_t seed;
    int64_t threads; /* 0: all CPUs */
} verify_options;

typedef struct verify_row {
    const lab_claim *claim;
    bool number; /* a worked number, not a claim */
    lab_outcome outcome;
} verify_row;

typedef struct verify_result {
    verify_row *row; /* (n) by document, numbers before claims */
    size_t n;
    double seconds;
} verify_result;

/* Tests what the options ask for, prints it on standard output, and says whether our computations
 * agree with the record: an exit code. */
int verify_lists(const verify_options *o, lab_claim_list numbers, lab_claim_list claims);

/* "001" of "001,003". */
bool verify_is_of(const lab_claim *claim, const char *document);

void verify_print_text(const verify_options *o, const verify_result *result);
void verify_print_markdown(const verify_options *o, const verify_result *result);
int verify_print_json(const verify_options *o, const verify_result *result);

#endif
