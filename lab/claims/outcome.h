/* SPDX-License-Identifier: Apache-2.0 */
/* outcome.h - how a test says what it found and compares it with the record. A test fills in
 * `computed`, checks its numbers with lab_expect(), says why, and ends with lab_conclude(); the
 * data of every claim begin with the verdict on record.
 * Tests: tests/lab/test_claims.c */
#ifndef LAB_OUTCOME_H
#define LAB_OUTCOME_H

#include "claim.h"

/* The data of a claim whose numbers are not compared one by one. */
#define LAB_RECORDED(verdict) (&(const lab_verdict){verdict})

/* Adds words to a text of LAB_TEXT characters; what does not fit is cut. */
void lab_say(char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Adds "[0.1, 0.2]", or "0.1" if there is one, each number by the printf format; columns > 0: "; "
 * after so many. */
void lab_say_list(char *text, const char *format, const double *value, size_t n, size_t columns);

/* True: within tolerance of the value on record. Otherwise outcome->agrees becomes false and `why`
 * says what differs. */
bool lab_expect(lab_outcome *outcome, double value, double exact, double tolerance);
/* The same, relative: |value - exact| <= tolerance * max(1, |exact|), for n numbers. */
void lab_expect_all(lab_outcome *outcome, const double *value, const double *exact, size_t n,
                    double tolerance);
/* A property of our own numbers that must hold whatever the documents say. */
void lab_require(lab_outcome *outcome, bool holds, const char *what);

/* The verdict that the numbers give; disagrees with the record when that has another. `why` is one
 * line; it does not replace the words of a disagreement. */
void lab_conclude(const lab_claim *claim, lab_outcome *outcome, lab_verdict verdict,
                  const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
