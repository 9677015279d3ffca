/* SPDX-License-Identifier: Apache-2.0 */
/* trainer.h - learns a task step by step, so that a command can run to the end and a page can train
 * in slices. The same seed gives the same bits for any number of threads. Memory is allocated only
 * at creation. Not thread-safe. Tests: tests/lab/test_trainer.c */
#ifndef LAB_TRAINER_H
#define LAB_TRAINER_H

#include "learning/evaluation.h"
#include "learning/task.h"
#include "models/model.h"

typedef struct lab_trainer_options {
    const lab_task *task;
    int64_t layers, heads, d;
    int64_t d_k;         /* head size; 0: d / heads */
    int64_t d_hidden;    /* width of the MLP; 0: 2 d */
    int64_t batch;       /* examples per step */
    double rate;         /* of AdamW */
    double weight_decay; /* of AdamW, on matrices and vectors alike */
    double clip;         /* maximum norm of the gradient; 0: no clipping */
    int64_t warmup;      /* steps during which the rate rises */
    int64_t steps;       /* steps over which the rate falls to a tenth, as a cosine; 0: constant */
    uint64_t seed;       /* random seed of weights and examples */
    int threads;         /* >= 1 */
    bool causal;
    double scale; /* ATTN_SCALE_AUTO = 1/sqrt(d_k) */
    double temperature;
    const char *positions; /* position kind, by name: see layers/positions.h */
} lab_trainer_options;

/* The default options of the task. */
lab_trainer_options lab_trainer_defaults(const lab_task *task);

typedef struct lab_trainer lab_trainer;

/* Gives a trainer at step 0. Errors: VALUE (the message names the option), OVERFLOW, MEMORY,
 * THREADS; *trainer is then NULL. */
attn_status lab_trainer_create(const lab_trainer_options *options, lab_trainer **trainer,
                               attn_error *err);
void lab_trainer_destroy(lab_trainer *trainer);

typedef struct lab_training_step {
    int64_t step;         /* 1 after the first one */
    double loss;          /* mean cross-entropy of this batch before the update, in nats */
    double gradient_norm; /* before clipping */
    double rate;
} lab_training_step;

/* Draws one batch and makes one update. Errors: MEMORY. */
attn_status lab_trainer_step(lab_trainer *trainer, lab_training_step *step, attn_error *err);

/* The norm of the last step's gradient in this layer, before clipping. */
double lab_trainer_layer_norm(const lab_trainer *trainer, int64_t layer);

/* Judges the current weights on the first `examples` held-out examples of the task. Views in the
 * evaluation are valid until the next call. Errors: VALUE, MEMORY. */
attn_status lab_trainer_evaluate(lab_trainer *trainer, const lab_evaluation_wish *wish,
                                 lab_evaluation *evaluation, attn_error *err);

/* The current model; valid until the trainer is destroyed, changed by each step. */
const attni_model *lab_trainer_model(const lab_trainer *trainer);

#endif
