/* SPDX-License-Identifier: Apache-2.0 */
/* task.h - small problems with known answers that a tiny transformer can learn, and the places in
 * the text where each answer is decided, so that attention can be judged and not only admired.
 * Examples are drawn, not stored: a pure function of (seed, number, part). A fifth of what can be
 * asked is held out of training; who draws the held-out part never meets a training example.
 * Cannot fail. Tests: tests/lab/test_task.c */
#ifndef ATTNI_TASK_H
#define ATTNI_TASK_H

#include "core/base.h"

enum { ATTNI_TASK_LENGTH = 32, ATTNI_TASK_QUESTIONS = 20, ATTNI_TASK_SLOTS = 2 };

/* Sets of tokens are bit sets: bit j is token j. */
typedef struct attni_example {
    int32_t token[ATTNI_TASK_LENGTH];                       /* (n) */
    int32_t answer[ATTNI_TASK_QUESTIONS][ATTNI_TASK_SLOTS]; /* (n_questions, slots); -1: not asked
                                                               in this example */
    uint64_t right[ATTNI_TASK_QUESTIONS]; /* (n_questions) the tokens that decide the answer */
    uint64_t rival[ATTNI_TASK_QUESTIONS]; /* (n_questions) those that might be mistaken for them */
} attni_example;

/* How a task is trained unless told otherwise; found by experiment (docs/training.md). */
typedef struct attni_task_defaults {
    int layers, heads, d, batch, steps;
    double rate;
} attni_task_defaults;

typedef struct attni_dice attni_dice;

typedef struct attni_task_info {
    const char *name, *about;
    const char *const *words; /* (n_words) the vocabulary; a token is an index into it */
    int n_words;
    int n;           /* tokens of an example */
    int n_questions; /* answers are given at tokens first_question .. + n_questions - 1 */
    int first_question;
    int slots;   /* answers to each question, one word each */
    bool causal; /* a decoder; else an encoder */
    attni_task_defaults defaults;
    /* Draws one example; the result identifies what must not be in both parts. */
    uint64_t (*draw)(attni_dice *dice, attni_example *example);
} attni_task_info;

enum { ATTNI_N_TASKS = 6 };
extern const attni_task_info *const attni_tasks[ATTNI_N_TASKS];

/* The task of that name, or NULL. */
const attni_task_info *attni_task_named(const char *name);

typedef enum attni_part { ATTNI_TRAINING, ATTNI_HELD_OUT } attni_part;

void attni_task_draw(const attni_task_info *task, uint64_t seed, uint64_t number, attni_part part,
                     attni_example *example);

#endif
