/* SPDX-License-Identifier: Apache-2.0 */
/* measured.h - claims that are judged from the tables of an experiment of the report.
 * Tests: tests/lab/test_claims.c */
#ifndef LAB_MEASURED_H
#define LAB_MEASURED_H

#include "outcome.h"

typedef struct lab_from_experiment {
    lab_verdict recorded; /* first: see outcome.h */
    const char *id;       /* "F4" */
    void (*judge)(const lab_settings *settings, const lab_claim *claim, const lab_data *data,
                  lab_outcome *outcome);
} lab_from_experiment;

/* The test of such a row. Errors: those of the experiment; VALUE for an unknown id. */
attn_status lab_experiment_test(const lab_settings *settings, const lab_claim *claim,
                                lab_outcome *outcome, attn_error *err);

/* Test and data of such a row: LAB_FROM(verdict, id, judge). */
#define LAB_FROM(...)                                                                              \
    .test = lab_experiment_test, .data = &(const lab_from_experiment) { __VA_ARGS__ }

/* The cell of `column` in the row of `table` that begins with `key`; NaN if there is none. */
double lab_measured(const lab_data *data, const char *table, double key, const char *column);
/* The cell of `column` in row `row`; NaN if there is none. */
double lab_measured_row(const lab_data *data, const char *table, size_t row, const char *column);
/* The smallest and the largest value of a column. */
typedef struct lab_range {
    double low, high;
} lab_range;
lab_range lab_measured_range(const lab_data *data, const char *table, const char *column);

#endif
