/* SPDX-License-Identifier: Apache-2.0 */
/* training.c - see training.h. */
#include "learning/training.h"

/* Whether the latest evaluation is the second in a row that meets the goal. */
static bool is_solved(lab_training *t, bool *met_before) {
    const bool met = t->goal > 0 && t->now.accuracy >= t->goal, solved = met && *met_before;
    *met_before = met;
    if (solved) t->solved_at = t->step.step - t->every;
    return solved;
}

static attn_status train(lab_training *t, attn_error *err) {
    const lab_evaluation_wish wish = {.examples = LAB_EVALUATION_EXAMPLES};
    bool met_before = false, done = false;
    while (!done && t->step.step < t->options.steps) {
        ATTN_TRY(lab_trainer_step(t->trainer, &t->step, err));
        const bool due = t->step.step % t->every == 0;
        if (due) ATTN_TRY(lab_trainer_evaluate(t->trainer, &wish, &t->now, err));
        t->stopped = t->watch && !t->watch(t->arg, t, due);
        done = (due && is_solved(t, &met_before)) || t->stopped;
    }
    return ATTN_OK;
}

attn_status lab_training_run(lab_training *t, attn_error *err) {
    const lab_evaluation_wish final = {.examples = LAB_FINAL_EXAMPLES, .knock_out = true};
    t->solved_at = -1;
    ATTN_TRY(lab_trainer_create(&t->options, &t->trainer, err));
    ATTN_TRY(train(t, err));
    return lab_trainer_evaluate(t->trainer, &final, &t->now, err);
}
