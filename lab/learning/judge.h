/* SPDX-License-Identifier: Apache-2.0 */
/* judge.h - evaluation with a crew. */
#ifndef LAB_JUDGE_H
#define LAB_JUDGE_H

#include "learning/crew.h"
#include "learning/evaluation.h"
#include "models/model.h"

/* The results of one shard, as counts and sums. */
typedef struct lab_tally {
    double loss;
    int64_t questions, answers, right_answers;
    int64_t right[3]; /* examples all right: unmodified, without deciding tokens, without rivals */
    attn_status status;
    attn_error error;
} lab_tally;

typedef struct lab_judge {
    lab_crew *crew;
    const attni_model *model;
    int64_t max_examples;
    lab_task_example *examples; /* (max_examples) */
    lab_tally *tally;           /* (shards) */
    int64_t *selective;  /* (shards, layers, heads + 1) questions; last the mean of the heads */
    double *selectivity; /* (layers, heads) */
    double *head_mean;   /* (layers) */
    bool knock_out;
} lab_judge;

/* Draws max_examples held-out examples. Errors: MEMORY; *judge is then empty. */
attn_status lab_judge_create(lab_crew *crew, const attni_model *model, int64_t max_examples,
                             lab_judge *judge, attn_error *err);
void lab_judge_free(lab_judge *judge);
attn_status lab_judge_run(lab_judge *judge, const lab_evaluation_wish *wish,
                          lab_evaluation *evaluation, attn_error *err);

#endif
