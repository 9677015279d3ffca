/* SPDX-License-Identifier: Apache-2.0 */
/* claim.h - a statement of the documents and the computation that tests it. There are two kinds:
 * worked numbers (001-01 ..) and claims (C-1 .. C-52); docs/documents.md says where they come from.
 * lab_tally is the one place that counts them. Tests: tests/lab/test_claims.c */
#ifndef LAB_CLAIM_H
#define LAB_CLAIM_H

#include "experiment.h"

/* What a computation found. `agrees` is about us, not about the documents: false when our numbers
 * differ from the exact values on record (golden file, errata), which is a bug of ours. */
typedef struct lab_outcome {
    lab_verdict verdict;
    bool agrees;
    /* A wrong row that is correct arithmetic on numbers that are wrong themselves: the ids of those
     * rows, "004-02 to 004-05". NULL: an error of its own. */
    const char *follows_from;
    char computed[LAB_TEXT]; /* the numbers, as text */
    char why[LAB_TEXT];      /* one line */
} lab_outcome;

typedef struct lab_claim {
    const char *id;       /* "C-4", or "004-11" for a worked number */
    const char *document; /* "000" .. "004"; several: "001,003" */
    const char *subject;  /* "attention's share of memory at n = 4096" */
    const char *stated;   /* as in the document, in our words where it is prose; NULL: not stated */
    double seconds;       /* expected duration, as a weight of the progress line */
    attn_status (*test)(const lab_settings *settings, const struct lab_claim *claim,
                        lab_outcome *outcome, attn_error *err);
    const void *data; /* input of test, such as the exact values */
    const char *also; /* other ids of the same statement, "001-10" or "C-6c,C-6e"; NULL: none */
} lab_claim;

/* Whether the id, or one of the ids in `also`, is this one. */
bool lab_claim_has_id(const lab_claim *claim, const char *id);
/* `stated`, or "not stated". */
const char *lab_claim_stated(const lab_claim *claim);
/* Why this id of the documents has no row: a remark on a text, with nothing to compute. NULL: it is
 * not such an id. */
const char *lab_claim_not_computed(const char *id);

/* Tests one claim; the only caller of claim->test. Errors: those of the engine, MEMORY. */
attn_status lab_claim_test(const lab_settings *settings, const lab_claim *claim,
                           lab_outcome *outcome, attn_error *err);

typedef struct lab_claim_list {
    const lab_claim *claim;
    size_t n;
} lab_claim_list;

/* In the order of their ids. */
lab_claim_list lab_worked_numbers(void);
lab_claim_list lab_claims(void);

/* How many statements there are and what became of them. Start with {0}. */
typedef struct lab_tally {
    size_t statements;                /* rows that a document states */
    size_t verdict[LAB_MEASURED + 1]; /* statements by verdict; MEASURED: not decided in this run */
    size_t consequences;              /* wrong statements that follow from another error */
    size_t unstated;                  /* rows that a document leaves out */
    size_t agree;                     /* rows whose numbers agree with the record */
} lab_tally;
void lab_tally_add(lab_tally *tally, const lab_claim *claim, const lab_outcome *outcome);
/* "115 statements of the documents tested: 43 are wrong, 10 of them only because of another error."
 * The sentence that every place prints; text has LAB_TEXT characters. */
void lab_tally_say(const lab_tally *tally, char *text);

#endif
