/* SPDX-License-Identifier: Apache-2.0 */
/* claim.h - the form of a statement of the documents and its test. Two kinds share it: worked
 * numbers (001-01 ..) and claims (C-1 .. C-50); docs/documents.md says where they come from.
 * Tests: tests/lab/test_claims.c */
#ifndef LAB_CLAIM_H
#define LAB_CLAIM_H

#include "experiment.h"

/* What a computation found. `agrees` is about us, not about the documents: false when our numbers
 * differ from the exact values on record (golden file, errata), which is a bug of ours. */
typedef struct lab_outcome {
    lab_verdict verdict;
    bool agrees;
    char computed[LAB_TEXT]; /* the numbers, as text */
    char why[LAB_TEXT];      /* one line */
} lab_outcome;

typedef struct lab_claim {
    const char *id;       /* "C-4", or "004-11" for a worked number */
    const char *document; /* "000" .. "004"; several: "001,003" */
    const char *subject;  /* "attention's share of memory at n = 4096" */
    const char *stated;   /* as in the document, in our words where it is prose */
    double seconds;       /* about how long: weights of the progress line */
    attn_status (*test)(const lab_settings *settings, const struct lab_claim *claim,
                        lab_outcome *outcome, attn_error *err);
    const void *data; /* what test needs, e.g. the stated numbers */
} lab_claim;

/* Tests one claim: how everybody calls claim->test. Errors: those of the engine, MEMORY. */
attn_status lab_claim_test(const lab_settings *settings, const lab_claim *claim,
                           lab_outcome *outcome, attn_error *err);

typedef struct lab_claim_list {
    const lab_claim *claim;
    size_t n;
} lab_claim_list;

/* In the order of their ids. */
lab_claim_list lab_worked_numbers(void);
lab_claim_list lab_claims(void);

#endif
