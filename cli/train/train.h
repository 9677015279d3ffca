/* SPDX-License-Identifier: Apache-2.0 */
/* train.h - what the parts of `attn train` share: options, one run from start to end, its record.
 * train.c parses and saves, train_run.c watches, train_report.c shows, train_study.c prints
 * studies. */
#ifndef CLI_TRAIN_H
#define CLI_TRAIN_H

#include "lab/learning/training.h"
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

/* How far the progress on standard error is. */
typedef struct train_progress {
    bool on, lines; /* lines: one for each evaluation, not redrawn */
    bool drawn;
    double at; /* when it was drawn last, by out_clock() */
} train_progress;

/* One run, and what is shown and written of it. */
typedef struct train_run_state {
    lab_training training;
    FILE *log;       /* one JSON object for each step, or NULL */
    int progress;    /* 0 on a terminal, 1 always, 2 never */
    json_t *history; /* an object for each evaluation, or NULL: not wanted */
    double seconds;  /* until the last step */
    /* between train_watch_begin() and train_watch_end() */
    double begin;
    train_progress shown;
    void (*before_int)(int), (*before_term)(int); /* handlers of signals */
} train_run_state;

/* Runs the training: progress and log on the way, Ctrl-C ends it early. An exit code other than
 * CLI_OK after a message. */
int train_run(train_run_state *run);

/* The same around any run of run->training: between the two it is watched, and Ctrl-C stops it. */
void train_watch_begin(train_run_state *run);
void train_watch_end(train_run_state *run);
/* CLI_OK, or the exit code of this status after a message. */
int train_code(attn_status status, const attn_error *error);

/* Shows a finished run: text with one held-out example and its attention, or JSON. */
int train_report(const train_run_state *run, bool as_json);

/* The studies of docs/studies.md; an exit code. */
int train_study(const train_options *o);
extern const char train_study_help[];

#endif
