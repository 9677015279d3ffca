/* SPDX-License-Identifier: Apache-2.0 */
/* evaluation.h - what a model is judged by, on examples that training never saw: right answers,
 * where attention goes, and what happens when it may not go there.
 * Tests: tests/lab/test_trainer.c */
#ifndef LAB_EVALUATION_H
#define LAB_EVALUATION_H

#include "core/base.h"

typedef struct lab_evaluation_wish {
    int64_t examples;
    bool knock_out; /* also without_right and without_rival: three times the work */
} lab_evaluation_wish;

/* Shares are 0 .. 1. */
typedef struct lab_evaluation {
    int64_t examples, questions;
    double loss;     /* mean cross-entropy in nats */
    double accuracy; /* of examples of which every answer is right */
    double answers;  /* of single answers that are right */
    /* Selectivity: in how many questions attention gives the tokens that decide more weight than
     * their rivals. Of each head, and of the mean of the heads of a layer. */
    int64_t layers, heads;
    const double *selectivity; /* (layers, heads) */
    const double *head_mean;   /* (layers) */
    double without_right;      /* accuracy when questions may not attend to what decides ... */
    double without_rival;      /* ... or to the rivals, in any layer; NaN if not asked for */
} lab_evaluation;

/* Selectivity of the mean of the heads of the last layer: the headline. */
double lab_evaluation_selectivity(const lab_evaluation *e);

#endif
