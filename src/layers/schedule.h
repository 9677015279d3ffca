/* SPDX-License-Identifier: Apache-2.0 */
/* schedule.h - the learning rate over time: linear warm-up, then constant, cosine or linear decay.
 * Not compiled per real type. Tests: tests/layers/test_schedule.c */
#ifndef ATTNI_SCHEDULE_H
#define ATTNI_SCHEDULE_H

#include "core/base.h"

typedef enum attni_decay { ATTNI_DECAY_NONE, ATTNI_DECAY_COSINE, ATTNI_DECAY_LINEAR } attni_decay;

typedef struct attni_schedule {
    attni_decay decay;
    double rate;    /* after the warm-up */
    int64_t warmup; /* steps; step s <= warmup has rate * s / warmup; 0: none */
    int64_t total;  /* steps; from here on the rate is final_rate (unless DECAY_NONE) */
    double final_rate;
} attni_schedule;

/* The rate of update number step, 1 for the first (as attni_adamw.step). */
double attni_schedule_rate(const attni_schedule *schedule, int64_t step);

#endif
