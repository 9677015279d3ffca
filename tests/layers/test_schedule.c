/* SPDX-License-Identifier: Apache-2.0 */
/* test_schedule.c - learning rates at the steps where they are known. */
#include "check.h"
#include "layers/schedule.h"

static attni_schedule schedule_of(attni_decay decay) {
    return (attni_schedule){
        .decay = decay, .rate = 0.8, .warmup = 10, .total = 110, .final_rate = 0.2};
}

TEST(warm_up_rises_in_equal_steps_to_the_full_rate) {
    for (attni_decay decay = ATTNI_DECAY_NONE; decay <= ATTNI_DECAY_LINEAR; decay++) {
        const attni_schedule s = schedule_of(decay);
        CHECK_NEAR(attni_schedule_rate(&s, 1), 0.08, 1e-16);
        CHECK_NEAR(attni_schedule_rate(&s, 5), 0.4, 1e-16);
        CHECK_NEAR(attni_schedule_rate(&s, 10), 0.8, 1e-16);
    }
}

TEST(without_warm_up_the_first_step_has_nearly_the_full_rate) {
    attni_schedule s = schedule_of(ATTNI_DECAY_LINEAR);
    s.warmup = 0;
    s.total = 100;
    CHECK_NEAR(attni_schedule_rate(&s, 1), 0.8 - 0.6 / 100, 1e-15);
}

TEST(without_decay_the_rate_stays) {
    const attni_schedule s = schedule_of(ATTNI_DECAY_NONE);
    CHECK(attni_schedule_rate(&s, 11) == 0.8);
    CHECK(attni_schedule_rate(&s, 1000000) == 0.8);
}

TEST(linear_decay_falls_evenly_to_the_final_rate) {
    const attni_schedule s = schedule_of(ATTNI_DECAY_LINEAR);
    CHECK_NEAR(attni_schedule_rate(&s, 35), 0.8 - 0.15, 1e-15);
    CHECK_NEAR(attni_schedule_rate(&s, 60), 0.5, 1e-15);
    CHECK(attni_schedule_rate(&s, 110) == 0.2);
    CHECK(attni_schedule_rate(&s, 500) == 0.2);
}

TEST(cosine_decay_is_half_way_in_the_middle_and_flat_at_the_ends) {
    const attni_schedule s = schedule_of(ATTNI_DECAY_COSINE);
    CHECK_NEAR(attni_schedule_rate(&s, 60), 0.5, 1e-15);
    CHECK_NEAR(attni_schedule_rate(&s, 35), 0.5 + 0.3 * 0.70710678118654752, 1e-15);
    CHECK_NEAR(attni_schedule_rate(&s, 11), 0.8, 0.6 * 2.5e-4); /* (pi / 100)^2 / 4 */
    CHECK(attni_schedule_rate(&s, 110) == 0.2);
}

TEST(a_schedule_that_is_all_warm_up_ends_at_the_final_rate) {
    attni_schedule s = schedule_of(ATTNI_DECAY_COSINE);
    s.total = 10;
    CHECK_NEAR(attni_schedule_rate(&s, 10), 0.8, 1e-16);
    CHECK(attni_schedule_rate(&s, 11) == 0.2);
}
