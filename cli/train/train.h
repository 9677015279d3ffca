/* SPDX-License-Identifier: Apache-2.0 */
/* train.h - what the parts of `attn train` share: options, one run from start to end, its record.
 * train.c parses and saves, train_run.c runs, train_report.c shows, study.c runs many. */
#ifndef CLI_TRAIN_H
#define CLI_TRAIN_H

#include "lab/learning/trainer.h"
#include "shared/out.h"
#include "shared/scale_option.h"

typedef struct train_options {
    cli_common common;
    int64_t layers, heads, d, dk, batch, steps; /* 0: as the task asks */
    double rate;                                /* 0: as the task asks */
    uint64_t seed;
    int64_t threads; /* 0: all CPUs */
    bool causal, no_scale;
    int scale; /* lab_scaling */
    double temperature;
    const char *positions; /* a kind of layers/positions.h */
    double stop_at;        /* percent of held-out accuracy; 0: never */
    const char *save, *log, *study;
    int64_t seeds; /* of a study */
    int progress;  /* as out_progress_begin() */
} train_options;

/* The trainer that the options ask for; threads are the machine's unless given. */
lab_trainer_options train_wish(const train_options *o, const lab_task *task);

enum { TRAIN_EVERY = 100, TRAIN_EXAMPLES = 512, TRAIN_FINAL = 2048 };

/* One run. */
typedef struct train_run_state {
    lab_trainer *trainer;
    lab_trainer_options wish;
    double stop_at;         /* share; 0: never */
    int64_t every;          /* steps between evaluations */
    FILE *log;              /* one JSON object for each step, or NULL */
    int progress;           /* 0 on a terminal, 1 always, 2 never */
    lab_training_step step; /* the last one */
    lab_evaluation now;     /* the last evaluation */
    int64_t solved_at;      /* step of the first of two evaluations in a row at stop_at; -1: none */
    double seconds;
    bool interrupted;
    json_t *history; /* an object for each evaluation, or NULL: not wanted */
} train_run_state;

/* Trains until the steps are done, the goal is met twice in a row, or Ctrl-C; then judges on
 * TRAIN_FINAL examples with knock-outs. An exit code other than CLI_OK after a message. */
int train_run(train_run_state *run);

/* Selectivity of the mean of the heads of the last layer: the headline. */
double train_selectivity(const lab_evaluation *e);

/* Shows a finished run: text with one held-out example and its attention, or JSON. */
int train_report(const train_run_state *run, bool as_json);

/* The studies of docs/studies.md; an exit code. */
int train_study(const train_options *o);
extern const char train_study_help[];

#endif
