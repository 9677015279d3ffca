/* SPDX-License-Identifier: Apache-2.0 */
/* study.h - a question about training, answered by several kinds of whois runs with the same seeds.
 * docs/studies.md has the results. Tests: tests/lab/test_study.c */
#ifndef LAB_STUDY_H
#define LAB_STUDY_H

#include "learning/training.h"
#include "steps/scaling.h"

enum { LAB_STUDY_KINDS = 6, LAB_STUDY_SEEDS = 100 };

/* A kind of run: what differs from the options of the study. */
typedef struct lab_study_kind {
    const char *name;
    lab_scaling scale;   /* LAB_SCALINGS: as in the options */
    int64_t layers, d_k; /* 0: as in the options */
    bool causal;
    double temperature; /* 0: as in the options */
} lab_study_kind;

typedef struct lab_study {
    const char *name, *question;
    int64_t steps;                         /* default */
    lab_study_kind kinds[LAB_STUDY_KINDS]; /* ends before the first kind without a name */
    bool compare_bits; /* whether the weights of the first two kinds are compared, seed by seed */
} lab_study;

enum { LAB_N_STUDIES = 4 };
extern const lab_study lab_studies[LAB_N_STUDIES];

/* The study of that name, or NULL. */
const lab_study *lab_study_named(const char *name);

/* The results of one run. Shares are between 0 and 1. */
typedef struct lab_study_outcome {
    double accuracy, selectivity, without_right, without_rival;
    double steps, solved_at; /* solved_at: INFINITY if never */
    uint64_t fingerprint;    /* hash of the bits of the weights */
} lab_study_outcome;

/* Makes one run of a kind. Sets the options, goal and evaluation interval of `training`, whose
 * options are those of the study on entry, runs it and frees its trainer. Errors: as
 * lab_training_run(). */
attn_status lab_study_run(const lab_study_kind *kind, uint64_t seed, lab_training *training,
                          lab_study_outcome *outcome, attn_error *err);

/* The median, smallest and largest value of one field of n outcomes, 1 <= n <= LAB_STUDY_SEEDS; the
 * field is a double at this offset. */
typedef struct lab_spread {
    double median, least, most;
} lab_spread;
lab_spread lab_study_spread(const lab_study_outcome *outcomes, int64_t n, size_t field);

int64_t lab_study_solved(const lab_study_outcome *outcomes, int64_t n);
/* How many of the n seeds gave bit-identical weights in a and in b. */
int64_t lab_study_same_bits(const lab_study_outcome *a, const lab_study_outcome *b, int64_t n);

#endif
