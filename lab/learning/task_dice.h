/* SPDX-License-Identifier: Apache-2.0 */
/* task_dice.h - random numbers for one example, and the tasks that roll them. Shared by task*.c. */
#ifndef ATTNI_TASK_DICE_H
#define ATTNI_TASK_DICE_H

#include "learning/task.h"

struct attni_dice {
    uint64_t seed, number;
    uint32_t stream, rolls;
};

/* 0 .. sides-1. The bias is at most sides / 2^32. */
int attni_roll(attni_dice *dice, int sides);
/* n different numbers of 0 .. sides-1. n <= sides <= 64. */
void attni_roll_distinct(attni_dice *dice, int sides, int n, int32_t *numbers);

extern const attni_task_info attni_task_whois, attni_task_sense, attni_task_induction,
    attni_task_copy, attni_task_sort, attni_task_add;

#endif
