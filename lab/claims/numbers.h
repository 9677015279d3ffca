/* SPDX-License-Identifier: Apache-2.0 */
/* numbers.h - worked numbers: what a document computes by hand, recomputed. The stated numbers are
 * parsed from the text of the claim, so that the numbers printed are the numbers compared.
 * Tests: tests/lab/test_claims.c */
#ifndef LAB_NUMBERS_H
#define LAB_NUMBERS_H

#include "outcome.h"

enum { LAB_MAX_NUMBERS = 16 };

/* value: as many numbers as the row has; row: its index, for functions that serve several rows. */
typedef attn_status lab_compute(attn_ctx *ctx, int row, double *value, attn_error *err);

/* The row computed from what the document states further up, which may be wrong itself. If that
 * gives the stated numbers, the error of this row is a consequence. */
typedef struct lab_alternate {
    const char *from; /* "the stated Q and K" */
    const char *ids;  /* the wrong rows among them, "004-02 to 004-05"; NULL: they are right */
    lab_compute *compute;
    double exact[LAB_MAX_NUMBERS];
    double tolerance;   /* 0: 1e-13 */
    const char *golden; /* as below */
} lab_alternate;

typedef struct lab_numbers {
    lab_verdict recorded; /* first: see outcome.h */
    lab_compute *compute;
    size_t n, columns; /* columns: of a matrix, 0: a row */
    int row;           /* argument of compute() and alternate.compute() */
    double exact[LAB_MAX_NUMBERS];
    double tolerance;   /* of exact, times max(1, |exact|); 0: 1e-13 */
    const char *golden; /* where exact is in golden.json: "s001_example weights 0"; NULL: nowhere */
    const char *format; /* of a computed number; NULL: "%.6f" */
    const char *remark; /* last part of `why`; NULL: none */
    lab_alternate alternate;
} lab_numbers;

/* The test of such a row; claim->data is a lab_numbers. It holds if every stated number is within
 * half a unit of its last digit, and holds with a condition if the digits are truncated instead of
 * rounded; otherwise it is wrong. A row that is not stated is measured. */
attn_status lab_numbers_test(const lab_settings *settings, const lab_claim *claim,
                             lab_outcome *outcome, attn_error *err);

/* Test and data of such a row: LAB_NUMBERS(verdict, compute, n, .exact = {...}, ...). */
#define LAB_NUMBERS(...)                                                                           \
    .test = lab_numbers_test, .data = &(const lab_numbers) { __VA_ARGS__ }

typedef struct lab_said {
    double value;
    double unit; /* of the last digit; 0: exact, as in 1/64 */
} lab_said;

/* The numbers in a text: "[0.382, 1e8, 1/64, 17M, ~20]" has five. K, M and G after a number stand
 * for 1e3, 1e6 and 1e9; after ~, trailing zeros are not significant. Returns how many there are;
 * writes at most max. */
size_t lab_said_numbers(const char *words, lab_said *stated, size_t max);

/* Compares a stated number with the true one. */
lab_verdict lab_said_verdict(lab_said stated, double value);

#endif
