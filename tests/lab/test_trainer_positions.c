/* SPDX-License-Identifier: Apache-2.0 */
/* test_trainer_positions.c - models with every kind of positions learn: all of them a task that
 * depends on words, and those that distinguish positions a task that depends on the order. */
#include "check.h"

#include "learning/trainer.h"

/* The mean loss of the last 20 of 200 small steps; *first is that of step 1. */
static double loss_after_training(const char *task, const char *positions, double *first) {
    enum { STEPS = 200, LAST = 20 };
    lab_trainer_options o = lab_trainer_defaults(lab_task_named(task));
    lab_trainer *trainer;
    lab_training_step step = {.loss = NAN};
    double sum = 0;
    o.layers = 1;
    o.d = o.batch = 16;
    o.rate = 0.005;
    o.warmup = 10;
    o.steps = 0;
    o.positions = positions;
    if (lab_trainer_create(&o, &trainer, NULL) != ATTN_OK) return NAN;
    for (int i = 0; i < STEPS; i++) {
        if (lab_trainer_step(trainer, &step, NULL) != ATTN_OK) step.loss = NAN;
        if (i == 0) *first = step.loss;
        if (i >= STEPS - LAST) sum += step.loss / LAST;
    }
    lab_trainer_destroy(trainer);
    return sum;
}

TEST(a_model_learns_words_with_every_kind_of_positions) {
    for (int kind = 0; kind < attni_positions_count(); kind++) {
        double first;
        const double last = loss_after_training("sense", attni_positions_name(kind), &first);
        CHECK_MSG(first > 3 && last < first / 10, "%s: %.3f to %.3f", attni_positions_name(kind),
                  first, last);
    }
}

/* Each letter is drawn alone, so that only its place tells what to say next. */
TEST(a_model_learns_to_copy_if_its_positions_tell_places_apart) {
    static const char *const telling[] = {"learned", "sinusoidal", "rope", "t5"};
    double first;
    for (size_t i = 0; i < sizeof telling / sizeof *telling; i++) {
        const double last = loss_after_training("copy", telling[i], &first);
        CHECK_MSG(last < 1.6, "%s: %.3f to %.3f", telling[i], first, last);
    }
    CHECK(loss_after_training("copy", "none", &first) > 2.8);
}

TEST(an_unknown_kind_of_positions_is_refused) {
    lab_trainer_options o = lab_trainer_defaults(lab_task_named("copy"));
    lab_trainer *trainer;
    attn_error error = {""};
    o.positions = "lerned";
    CHECK_INT(lab_trainer_create(&o, &trainer, &error), ATTN_E_VALUE);
    CHECK(!trainer && strstr(error.message, "lerned, expected one of none, learned"));
}
