/* SPDX-License-Identifier: Apache-2.0 */
/* schedule.c - the learning rate of a step. Test: tests/layers/test_schedule.c */
#include "layers/schedule.h"

#include <math.h>

#define PI 3.14159265358979323846

/* The fraction of the way from final_rate to rate that is left after this part (0 .. 1) of the
 * decay. */
static double height(attni_decay decay, double part) {
    return decay == ATTNI_DECAY_COSINE ? 0.5 * (1 + cos(PI * part)) : 1 - part;
}

double attni_schedule_rate(const attni_schedule *schedule, int64_t step) {
    const attni_schedule *s = schedule;
    if (step <= s->warmup) return s->rate * (double)step / (double)s->warmup;
    if (s->decay == ATTNI_DECAY_NONE) return s->rate;
    if (step >= s->total) return s->final_rate;
    const double part = (double)(step - s->warmup) / (double)(s->total - s->warmup);
    return s->final_rate + (s->rate - s->final_rate) * height(s->decay, part);
}
