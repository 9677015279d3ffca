/* SPDX-License-Identifier: Apache-2.0 */
/* judge.h - evaluation with a crew. */
#ifndef ATTNI_JUDGE_H
#define ATTNI_JUDGE_H

#include "learning/crew.h"
#include "learning/evaluation.h"
#include "models/model.h"

/* What one shard found, in counts and sums. */
typedef struct attni_tally {
    double loss;
    int64_t questions, answers, right_answers;
    int64_t right[3]; /* examples all right: as they are, without what decides, without rivals */
    attn_status status;
    attn_error error;
} attni_tally;

typedef struct attni_judge {
    attni_crew *crew;
    const attni_model *model;
    int64_t max_examples;
    attni_example *examples; /* (max_examples) */
    attni_tally *tally;      /* (shards) */
    int64_t *selective;      /* (shards, layers, heads + 1) questions; last the mean of the heads */
    double *selectivity;     /* (layers, heads) */
    double *head_mean;       /* (layers) */
    bool knock_out;
} attni_judge;

/* Draws max_examples held-out examples. Errors: MEMORY; *judge is then empty. */
attn_status attni_judge_create(attni_crew *crew, const attni_model *model, int64_t max_examples,
                               attni_judge *judge, attn_error *err);
void attni_judge_free(attni_judge *judge);
attn_status attni_judge_run(attni_judge *judge, const attni_evaluation_wish *wish,
                            attni_evaluation *evaluation, attn_error *err);

#endif
