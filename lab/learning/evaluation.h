/* SPDX-License-Identifier: Apache-2.0 */
/* evaluation.h - how a model is judged, on examples that training never saw: the share of right
 * answers, where attention goes, and what happens when it must not go there. Tests:
 * tests/lab/test_trainer.c */
#ifndef LAB_EVALUATION_H
#define LAB_EVALUATION_H

#include "core/base.h"

typedef struct lab_evaluation_wish {
    int64_t examples;
    bool knock_out; /* also without_right and without_rival: three times the work */
} lab_evaluation_wish;

/* Shares are between 0 and 1. */
typedef struct lab_evaluation {
    int64_t examples, questions;
    double loss;     /* mean cross-entropy in nats */
    double accuracy; /* share of examples with every answer right */
    double answers;  /* share of single answers that are right */
    /* Selectivity: the share of questions in which attention gives the deciding tokens more weight
     * than their rivals. For each head, and for the weights averaged over the heads of a layer,
     * which is not the mean of the heads' selectivities. */
    int64_t layers, heads;
    const double *selectivity; /* (layers, heads) */
    const double *head_mean;   /* (layers) */
    double without_right;      /* accuracy when questions cannot see the deciding tokens ... */
    double without_rival;      /* ... or the rivals, in any layer; NaN if not requested */
} lab_evaluation;

/* Selectivity of the averaged weights of the last layer: the headline. */
double lab_evaluation_selectivity(const lab_evaluation *e);

#endif
