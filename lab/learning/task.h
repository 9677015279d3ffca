/* SPDX-License-Identifier: Apache-2.0 */
/* task.h - small problems with known answers that a tiny transformer can learn, and the positions
 * in the text that decide each answer, so that attention can be judged and not only admired.
 * Examples are drawn, not stored: a pure function of (seed, number, part). A fifth of what can be
 * asked is held out of training; the held-out part never contains a training example. Cannot fail.
 * Tests: tests/lab/test_task.c */
#ifndef LAB_TASK_H
#define LAB_TASK_H

#include "core/base.h"

enum { LAB_TASK_LENGTH = 32, LAB_TASK_QUESTIONS = 20, LAB_TASK_SLOTS = 2 };

/* Sets of tokens are bit sets: bit j is token j. */
typedef struct lab_task_example {
    int n;                                              /* at most the n of the task */
    int32_t token[LAB_TASK_LENGTH];                     /* (n) */
    int32_t answer[LAB_TASK_QUESTIONS][LAB_TASK_SLOTS]; /* (n_questions, slots); -1: not asked
                                                               in this example */
    uint64_t right[LAB_TASK_QUESTIONS]; /* (n_questions) the tokens that decide the answer */
    uint64_t rival[LAB_TASK_QUESTIONS]; /* (n_questions) tokens that might be mistaken for them */
} lab_task_example;

/* The default training options of a task; found by experiment (docs/training.md). */
typedef struct lab_task_defaults {
    int layers, heads, d, batch, steps;
    double rate;
} lab_task_defaults;

/* The default seed of `attn train`, and so that of the models that come with the page and of the
 * model that E9 looks into. The whois model must meet the criterion that docs/training.md states
 * and tests/lab/test_opening.c checks: 42, the seed of everything else in attn, does. */
enum { LAB_TASK_SEED = 42 };

typedef struct lab_dice lab_dice;
typedef struct lab_form lab_form;

typedef struct lab_task {
    const char *name, *about;
    const char *const *words; /* (n_words) the vocabulary; a token is an index into it */
    int n_words;
    int n;           /* tokens of the longest example */
    int n_questions; /* answers are given at tokens first_question .. + n_questions - 1 */
    int first_question;
    int slots;   /* answers to each question, one word each */
    bool causal; /* a decoder; otherwise an encoder */
    lab_task_defaults defaults;
    const lab_form *forms; /* (n_forms) every sentence it can read; NULL: any row of its words */
    int n_forms;
    /* Draws one example; the result identifies what must not occur in both parts. */
    uint64_t (*draw)(lab_dice *dice, lab_task_example *example);
} lab_task;

enum { LAB_N_TASKS = 6 };
extern const lab_task *const lab_tasks[LAB_N_TASKS];

/* The task of that name, or NULL. */
const lab_task *lab_task_named(const char *name);
/* The task of that name if these are its words; else NULL, as for a model of another version. */
const lab_task *lab_task_with_words(const char *name, const char *const *words, int64_t n_words);

typedef enum lab_split { LAB_TRAINING, LAB_HELD_OUT } lab_split;

void lab_task_draw(const lab_task *task, uint64_t seed, uint64_t number, lab_split part,
                   lab_task_example *example);

#endif
