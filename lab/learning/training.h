/* SPDX-License-Identifier: Apache-2.0 */
/* training.h - a training run from its first step to its last: evaluations at regular intervals,
 * the goal that ends it early, and the final evaluation. The caller watches and may stop it. Tests:
 * tests/lab/test_study.c, tests/cli/test_train.py */
#ifndef LAB_TRAINING_H
#define LAB_TRAINING_H

#include "learning/trainer.h"

typedef struct lab_training lab_training;

/* Called after each step; `evaluated` says that training->now belongs to this step. Returning false
 * ends the run. */
typedef bool lab_training_watch(void *arg, const lab_training *training, bool evaluated);

struct lab_training {
    /* set before lab_training_run() */
    lab_trainer_options options;
    double goal; /* held-out accuracy, 0 .. 1, that ends the run when met twice in a row; 0: none */
    int64_t every;             /* steps between evaluations, >= 1 */
    lab_training_watch *watch; /* or NULL */
    void *arg;                 /* of watch */
    /* set by lab_training_run() */
    lab_trainer *trainer;
    lab_training_step step; /* the last one */
    lab_evaluation now;     /* the last evaluation; views of the trainer */
    int64_t solved_at; /* step of the first of the two evaluations that met the goal; -1: none */
    bool stopped;      /* by watch */
};

/* Trains, then judges on LAB_FINAL_EXAMPLES held-out examples with knock-outs. Gives a trainer,
 * even after an error; free it with lab_trainer_destroy(). Errors: as lab_trainer_create(). */
attn_status lab_training_run(lab_training *training, attn_error *err);

enum { LAB_EVALUATION_EXAMPLES = 512, LAB_FINAL_EXAMPLES = 2048 };

/* Goal and distance of `attn train`; with the defaults of a task, the model that it saves. */
enum { LAB_TRAINING_EVERY = 100 };
#define LAB_TRAINING_GOAL 0.999

#endif
