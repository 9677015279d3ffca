/* SPDX-License-Identifier: Apache-2.0 */
/* numbers.h - worked numbers: what a document computes by hand, computed again. The stated numbers
 * are read from the words of the claim, so that what is printed is what is compared. Tests:
 * tests/lab/test_claims.c */
#ifndef LAB_NUMBERS_H
#define LAB_NUMBERS_H

#include "outcome.h"

enum { LAB_MAX_NUMBERS = 16 };

/* value: as many numbers as the row has; row: which one, where a function serves several. */
typedef attn_status lab_compute(attn_ctx *ctx, int row, double *value, attn_error *err);

/* Another way to the row, from what the document states further up: where an error came from. */
typedef struct lab_alternate {
    const char *from; /* "the stated K" */
    lab_compute *compute;
    double exact[LAB_MAX_NUMBERS];
    double tolerance;   /* 0: 1e-13 */
    const char *golden; /* as below */
} lab_alternate;

typedef struct lab_numbers {
    lab_verdict recorded; /* first: see outcome.h */
    lab_compute *compute;
    size_t n, columns; /* columns: of a matrix, 0: a row */
    int row;           /* handed to compute() and alternate.compute() */
    double exact[LAB_MAX_NUMBERS];
    double tolerance; /* of exact, times max(1, |exact|); 0: 1e-13 */
    const char
        *golden; /* where tests find exact: "s001_example weights 0"; NULL: known otherwise */
    const char *format; /* of a computed number; NULL: "%.6f" */
    const char *remark; /* ends `why`; NULL: nothing */
    lab_alternate alternate;
} lab_numbers;

/* The test of such a row; claim->data is a lab_numbers. Every stated number within half a unit of
 * its last digit: holds. The true digits, cut instead of rounded: holds if. Otherwise: wrong.
 * Nothing stated: measured. */
attn_status lab_numbers_test(const lab_settings *settings, const lab_claim *claim,
                             lab_outcome *outcome, attn_error *err);

/* The last two fields of such a row: LAB_NUMBERS(verdict, compute, n, .exact = {...}, ...). */
#define LAB_NUMBERS(...)                                                                           \
    .test = lab_numbers_test, .data = &(const lab_numbers) { __VA_ARGS__ }

typedef struct lab_said {
    double value;
    double unit; /* of the last digit; 0: exact, as in 1/64 */
} lab_said;

/* The numbers in words: "[0.382, 1e8, 1/64, 17M, ~20]" gives five. K, M, G behind a number multiply
 * by a thousand, million, thousand million; ~ says that the zeros at its end are not digits.
 * Returns how many there are; writes at most max. */
size_t lab_said_numbers(const char *words, lab_said *stated, size_t max);

/* How well a stated number gives the true one. */
lab_verdict lab_said_verdict(lab_said stated, double value);

#endif
