/* SPDX-License-Identifier: Apache-2.0 */
/* task_form.c - see task_form.h. */
#include "learning/task_form.h"

#include <stdio.h>

void lab_form_write(const lab_form *form, const int *pick, lab_task_example *example, int *at) {
    example->n = 0;
    for (int s = 0; s < form->n_slots; s++) {
        at[s] = pick[s] < 0 ? -1 : example->n;
        if (pick[s] >= 0) example->token[example->n++] = form->slot[s].first + pick[s];
    }
}

/* -------------------------------------------------------------------------------------- reading */

/* The edit distance between the first i tokens and the first s slots. */
typedef struct edit_table {
    const int32_t *token;
    const lab_form *form;
    int n;
    int cost[LAB_TASK_LENGTH + 1][LAB_FORM_SLOTS + 1];
} edit_table;

/* Another word in a slot costs more than a word too many or too few, but less than both, so that a
 * word that fits another slot is kept. */
enum { COST_OTHER = 3, COST_ONE = 2 };

static bool takes(const lab_slot *slot, int32_t token) {
    return token >= slot->first && token < slot->first + slot->n;
}

/* The three ways to get to (i, s): the token fills the slot, the slot stays without a token, the
 * token stays without a slot. */
static int cost_of_filling(const edit_table *t, int i, int s) {
    return t->cost[i - 1][s - 1] + (takes(&t->form->slot[s - 1], t->token[i - 1]) ? 0 : COST_OTHER);
}
static int cost_of_skipping(const edit_table *t, int i, int s) {
    return t->cost[i][s - 1] + (t->form->slot[s - 1].optional ? 0 : COST_ONE);
}
static int cost_of_dropping(const edit_table *t, int i, int s) {
    return t->cost[i - 1][s] + COST_ONE;
}

static int least_cost(const edit_table *t, int i, int s) {
    if (!i && !s) return 0;
    int least = i ? cost_of_dropping(t, i, s) : cost_of_skipping(t, i, s);
    if (!i || !s) return least;
    if (cost_of_skipping(t, i, s) < least) least = cost_of_skipping(t, i, s);
    return cost_of_filling(t, i, s) < least ? cost_of_filling(t, i, s) : least;
}

static void fill_table(edit_table *t) {
    for (int i = 0; i <= t->n; i++)
        for (int s = 0; s <= t->form->n_slots; s++) t->cost[i][s] = least_cost(t, i, s);
}

/* Goes back through the table. A slot whose token does not fit gets the first of its words. */
static lab_reading nearest_of_form(const edit_table *t) {
    int pick[LAB_FORM_SLOTS], at[LAB_FORM_SLOTS];
    int i = t->n, s = t->form->n_slots;
    lab_task_example example;
    while (s > 0) {
        const lab_slot *slot = &t->form->slot[s - 1];
        if (i && t->cost[i][s] == cost_of_filling(t, i, s)) {
            const int32_t token = t->token[--i];
            pick[--s] = takes(slot, token) ? token - slot->first : slot->optional ? -1 : 0;
        } else if (t->cost[i][s] == cost_of_skipping(t, i, s)) {
            pick[--s] = slot->optional ? -1 : 0;
        } else {
            i--;
        }
    }
    lab_form_write(t->form, pick, &example, at);
    lab_reading reading = {.distance = t->cost[t->n][t->form->n_slots],
                           .n = example.n,
                           .question = at[t->form->question]};
    memcpy(reading.token, example.token, (size_t)example.n * sizeof *reading.token);
    return reading;
}

lab_reading lab_task_read(const lab_task *task, const int32_t *tokens, int64_t n) {
    const int read = (int)attni_min(n, LAB_TASK_LENGTH);
    lab_reading nearest = {.distance = INT32_MAX};
    for (int f = 0; f < task->n_forms; f++) {
        edit_table table = {.token = tokens, .form = &task->forms[f], .n = read};
        fill_table(&table);
        const lab_reading reading = nearest_of_form(&table);
        if (reading.distance < nearest.distance) nearest = reading;
    }
    nearest.distance += COST_ONE * (int)(n - read);
    return nearest;
}

void lab_reading_text(const lab_task *task, const lab_reading *reading, char *text, size_t size) {
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < reading->n && used < size; i++) {
        const char *word = task->words[reading->token[i]];
        const bool is_apart = i > 0 && strcmp(word, ".") != 0;
        used += (size_t)snprintf(text + used, size - used, "%s%s", is_apart ? " " : "", word);
    }
}
