/* SPDX-License-Identifier: Apache-2.0 */
/* task.c - the list of tasks, the dice, and the wall between training and the held-out part.
 * Tests: tests/lab/test_task.c */
#include "learning/task.h"

#include "core/rng.h"
#include "learning/task_dice.h"

const attni_task_info *const attni_tasks[ATTNI_N_TASKS] = {
    &attni_task_whois, &attni_task_sense, &attni_task_induction,
    &attni_task_copy,  &attni_task_sort,  &attni_task_add,
};

const attni_task_info *attni_task_named(const char *name) {
    for (int t = 0; t < ATTNI_N_TASKS; t++)
        if (strcmp(attni_tasks[t]->name, name) == 0) return attni_tasks[t];
    return NULL;
}

int attni_roll(attni_dice *dice, int sides) {
    const attni_philox r = attni_philox4x32(dice->seed, dice->rolls++, (uint32_t)dice->number,
                                            (uint32_t)(dice->number >> 32), dice->stream);
    return (int)((uint64_t)r.word[0] * (uint64_t)sides >> 32);
}

void attni_roll_distinct(attni_dice *dice, int sides, int n, int32_t *numbers) {
    int32_t left[64];
    for (int i = 0; i < sides; i++) left[i] = i;
    for (int i = 0; i < n; i++) {
        const int at = attni_roll(dice, sides - i);
        numbers[i] = left[at];
        left[at] = left[sides - i - 1];
    }
}

/* One fifth of all identities, whatever the seed: a model is never asked what another seed of the
 * same task trained on. */
static bool is_held_out(uint64_t identity) {
    const attni_philox r = attni_philox4x32(identity, 0, 0, 0, 0);
    return r.word[0] % 5 == 0;
}

void attni_task_draw(const attni_task_info *task, uint64_t seed, uint64_t number, attni_part part,
                     attni_example *example) {
    attni_dice dice = {.seed = seed, .number = number, .stream = (uint32_t)part};
    uint64_t identity;
    do identity = task->draw(&dice, example);
    while (is_held_out(identity) != (part == ATTNI_HELD_OUT));
}
