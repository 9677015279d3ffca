/* SPDX-License-Identifier: Apache-2.0 */
/* task_form.h - the sentences of a task in words, as forms: rows of slots, each of which takes one
 * word of a set. A task draws its examples from its forms, and what a user types is compared with
 * them, so that a model is asked only about sentences like those it has learned.
 * Cannot fail. Tests: tests/lab/test_task_form.c */
#ifndef LAB_TASK_FORM_H
#define LAB_TASK_FORM_H

#include "learning/task.h"

/* Takes any of the n words from `first` on; an optional slot may be left out. */
typedef struct lab_slot {
    int32_t first, n;
    bool optional;
} lab_slot;

enum { LAB_FORM_SLOTS = 13 };

struct lab_form {
    int n_slots;
    int question; /* the slot at which the task asks; never optional */
    lab_slot slot[LAB_FORM_SLOTS];
};

/* Writes the sentence whose slot s holds its word number pick[s]; -1 leaves the slot out.
 * pick (n_slots); at (n_slots) becomes the place of each slot, -1 of those left out. */
void lab_form_write(const lab_form *form, const int *pick, lab_task_example *example, int *at);

/* A sentence of the task, and where it asks. */
typedef struct lab_reading {
    int distance; /* from what was read; 0: it is the same sentence */
    int n, question;
    int32_t token[LAB_TASK_LENGTH]; /* (n) */
} lab_reading;

/* The sentence of the task's forms that is nearest to these tokens, of which -1 is a word that the
 * task does not know. Of a longer text it looks at the first LAB_TASK_LENGTH tokens only. The task
 * has forms; n >= 0. */
lab_reading lab_task_read(const lab_task *task, const int32_t *tokens, int64_t n);

/* The sentence as people write it, the full stop at its last word. Cut if there is no room. */
void lab_reading_text(const lab_task *task, const lab_reading *reading, char *text, size_t size);
enum { LAB_READING_TEXT = 256 }; /* room for any of them */

#endif
