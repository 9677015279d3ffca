/* SPDX-License-Identifier: Apache-2.0 */
/* experiment.h - the form every experiment fills in: a question, how it is asked, the numbers, the
 * picture, and what the numbers say. measure() computes and draws nothing; draw() and judge() read
 * only what measure() left in the tables, so every picture and sentence can be checked against the
 * CSV beside it. Tests: tests/lab */
#ifndef LAB_EXPERIMENT_H
#define LAB_EXPERIMENT_H

#include "attn/attn.h"
#include "plot/plot.h"
#include "support/data.h"

#include <stdbool.h>

typedef struct lab_settings {
    uint32_t seed; /* 42 in the documents */
    int threads;
    attn_ctx *ctx; /* of as many threads */
    /* Says that the part done, 0 .. 1, of the present measurement; NULL: nobody listens. */
    void (*progress)(void *arg, double done);
    void *progress_arg;
} lab_settings;

typedef enum lab_verdict { LAB_HOLDS, LAB_HOLDS_IF, LAB_WRONG, LAB_MEASURED } lab_verdict;
/* "holds", "holds if", "wrong", "measured": in tables and JSON */
const char *lab_verdict_name(lab_verdict verdict);
/* The same in the report: "holds with a condition" for LAB_HOLDS_IF, followed by the condition. */
const char *lab_verdict_words(lab_verdict verdict);

enum { LAB_TEXT = 600 };

typedef struct lab_finding {
    lab_verdict verdict;
    char condition[LAB_TEXT]; /* LAB_HOLDS_IF: "if ...", plain text without a final stop */
    char headline[LAB_TEXT];  /* one sentence with measured numbers, plain text */
    char text[LAB_TEXT];      /* what the figure shows: two or three sentences, as Pango markup */
} lab_finding;

typedef struct lab_experiment {
    const char *id;       /* "F4"; names files and `--only` */
    const char *title;    /* "Attention sharpness against d_k" */
    const char *question; /* one sentence */
    const char *method;   /* sizes, draws, seed: enough to do it again; Pango markup */
    const char *command;  /* what prints or changes such numbers: "attn trace --example 001" */
    const char *claims;   /* ids of the claims it answers, "C-3a,C-3b"; NULL: none */
    int panels;           /* height of a tall drawing, in panels; 0: draw() needs a wide area */
    double seconds;       /* about how long on 2 cores: weights of the progress bar */
    bool timed;           /* measures time: its numbers differ from run to run */
    attn_status (*measure)(const lab_settings *settings, lab_data *data, attn_error *err);
    void (*draw)(const lab_data *data, plot_canvas *canvas, plot_rect area);
    void (*judge)(const lab_data *data, lab_finding *finding);
} lab_experiment;

/* In the order of the report; ends with NULL. */
extern const lab_experiment *const lab_experiments[];

#endif
