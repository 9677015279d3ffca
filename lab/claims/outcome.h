/* SPDX-License-Identifier: Apache-2.0 */
/* outcome.h - how a test states its result and compares it with the record. A test fills in
 * `computed`, checks its numbers with lab_expect(), and ends with lab_conclude(), which states the
 * reason. The data of every claim start with the verdict on record.
 * Tests: tests/lab/test_claims.c */
#ifndef LAB_OUTCOME_H
#define LAB_OUTCOME_H

#include "claim.h"
#include "core/base.h"

/* The data of a claim that has only a verdict on record. */
#define LAB_RECORDED(verdict) (&(const lab_verdict){verdict})

/* Appends to a text of LAB_TEXT characters; the rest is cut off. */
void lab_say(char *text, const char *format, ...) ATTNI_PRINTF(2, 3);
/* Appends "[0.1, 0.2]", or "0.1" for a single number, each by the printf format; columns > 0: "; "
 * separates rows of so many numbers. */
void lab_say_list(char *text, const char *format, const double *value, size_t n, size_t columns);

/* True if value is within tolerance of the value on record. Otherwise outcome->agrees becomes false
 * and `why` says what differs. */
bool lab_expect(lab_outcome *outcome, double value, double exact, double tolerance);
/* The same, relative: |value - exact| <= tolerance * max(1, |exact|), for n numbers. */
void lab_expect_all(lab_outcome *outcome, const double *value, const double *exact, size_t n,
                    double tolerance);
/* A property that our own numbers must have, whatever the documents state. */
void lab_require(lab_outcome *outcome, bool holds, const char *what);

/* Sets the verdict that the numbers give; a different verdict on record is a disagreement. `why` is
 * one line and does not replace the text of a disagreement. */
void lab_conclude(const lab_claim *claim, lab_outcome *outcome, lab_verdict verdict,
                  const char *format, ...) ATTNI_PRINTF(4, 5);

#endif
