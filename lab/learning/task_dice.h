/* SPDX-License-Identifier: Apache-2.0 */
/* task_dice.h - random numbers for one example, and the tasks that use them. Shared by task*.c. */
#ifndef LAB_TASK_DICE_H
#define LAB_TASK_DICE_H

#include "learning/task.h"

struct lab_dice {
    uint64_t seed, number;
    uint32_t stream, rolls;
};

/* 0 .. sides-1. The bias is at most sides / 2^32. */
int lab_roll(lab_dice *dice, int sides);
/* n distinct numbers in 0 .. sides-1. n <= sides <= 64. */
void lab_roll_distinct(lab_dice *dice, int sides, int n, int32_t *numbers);

extern const lab_task lab_task_whois, lab_task_sense, lab_task_induction, lab_task_copy,
    lab_task_sort, lab_task_add;

#endif
