/* SPDX-License-Identifier: Apache-2.0 */
/* task.c - the list of tasks, their random numbers, and the separation of training and held-out
 * examples. Tests: tests/lab/test_task.c */
#include "learning/task.h"

#include "core/rng.h"
#include "learning/task_dice.h"

const lab_task *const lab_tasks[LAB_N_TASKS] = {
    &lab_task_whois, &lab_task_sense, &lab_task_induction,
    &lab_task_copy,  &lab_task_sort,  &lab_task_add,
};

const lab_task *lab_task_named(const char *name) {
    for (int t = 0; t < LAB_N_TASKS; t++)
        if (strcmp(lab_tasks[t]->name, name) == 0) return lab_tasks[t];
    return NULL;
}

const lab_task *lab_task_with_words(const char *name, const char *const *words, int64_t n_words) {
    const lab_task *task = lab_task_named(name);
    if (!task || task->n_words != n_words) return NULL;
    for (int64_t i = 0; i < n_words; i++)
        if (strcmp(task->words[i], words[i]) != 0) return NULL;
    return task;
}

int lab_roll(lab_dice *dice, int sides) {
    const attni_philox r = attni_philox4x32(dice->seed, dice->rolls++, (uint32_t)dice->number,
                                            (uint32_t)(dice->number >> 32), dice->stream);
    return (int)((uint64_t)r.word[0] * (uint64_t)sides >> 32);
}

void lab_roll_distinct(lab_dice *dice, int sides, int n, int32_t *numbers) {
    int32_t left[64];
    for (int i = 0; i < sides; i++) left[i] = i;
    for (int i = 0; i < n; i++) {
        const int at = lab_roll(dice, sides - i);
        numbers[i] = left[at];
        left[at] = left[sides - i - 1];
    }
}

/* One fifth of all identities, whatever the seed: a model is never tested on what another seed of
 * the same task trained on. */
static bool is_held_out(uint64_t identity) {
    const attni_philox r = attni_philox4x32(identity, 0, 0, 0, 0);
    return r.word[0] % 5 == 0;
}

void lab_task_draw(const lab_task *task, uint64_t seed, uint64_t number, lab_split part,
                   lab_task_example *example) {
    lab_dice dice = {.seed = seed, .number = number, .stream = (uint32_t)part};
    uint64_t identity;
    do {
        *example = (lab_task_example){.n = task->n};
        memset(example->answer, -1, sizeof example->answer); /* not asked */
        identity = task->draw(&dice, example);
    } while (is_held_out(identity) != (part == LAB_HELD_OUT));
}
