/* SPDX-License-Identifier: Apache-2.0 */
/* study.h - a question about training, answered by several kinds of runs of whois over the same
 * seeds. docs/studies.md holds the results. Tests: tests/lab/test_study.c */
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
    int64_t steps;                         /* unless told otherwise */
    lab_study_kind kinds[LAB_STUDY_KINDS]; /* ends before the first without a name */
    bool compare_bits;                     /* the weights of the first two kinds, seed by seed */
} lab_study;

enum { LAB_N_STUDIES = 4 };
extern const lab_study lab_studies[LAB_N_STUDIES];

/* The study of that name, or NULL. */
const lab_study *lab_study_named(const char *name);

/* What one run ended with. Shares are 0 .. 1. */
typedef struct lab_study_outcome {
    double accuracy, selectivity, without_right, without_rival;
    double steps, solved_at; /* solved_at: INFINITY if never */
    uint64_t fingerprint;    /* of the bits of the weights */
} lab_study_outcome;

/* One run of a kind. Sets options, goal and evaluation distance of `training`, whose options are
 * those of the study on entry, runs it and frees its trainer. Errors: as lab_training_run(). */
attn_status lab_study_run(const lab_study_kind *kind, uint64_t seed, lab_training *training,
                          lab_study_outcome *outcome, attn_error *err);

/* Median, smallest and largest of one field of n outcomes, 1 <= n <= LAB_STUDY_SEEDS; the field is
 * a double at this offset. */
typedef struct lab_spread {
    double median, least, most;
} lab_spread;
lab_spread lab_study_spread(const lab_study_outcome *outcomes, int64_t n, size_t field);

int64_t lab_study_solved(const lab_study_outcome *outcomes, int64_t n);
/* How many of the n seeds gave the same weights, to the bit, in a and in b. */
int64_t lab_study_same_bits(const lab_study_outcome *a, const lab_study_outcome *b, int64_t n);

#endif
