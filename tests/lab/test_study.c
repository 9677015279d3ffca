/* SPDX-License-Identifier: Apache-2.0 */
/* test_study.c - training runs from start to end, and studies of several runs: when a run ends,
 * what a kind changes, medians and spreads of outcomes written down by hand. */
#include "check.h"

#include "learning/training.h"
#include "study.h"

#include <math.h>
#include <string.h>

/* What the watch of a run saw. */
typedef struct seen {
    int64_t steps, evaluations, stop_at; /* stop_at: the watch ends the run there; 0: never */
    int64_t met;                         /* evaluations in a row that met the goal */
} seen;

static bool count(void *arg, const lab_training *training, bool evaluated) {
    seen *s = arg;
    s->steps++;
    s->evaluations += evaluated;
    if (evaluated) s->met = training->now.accuracy >= training->goal ? s->met + 1 : 0;
    return training->step.step == s->steps && s->steps != s->stop_at;
}

/* A small run; the caller destroys its trainer. */
static void run_small(int64_t steps, double goal, seen *s, lab_training *t) {
    *t = (lab_training){.options = lab_trainer_defaults(lab_task_named("sense")),
                        .goal = goal,
                        .every = 5,
                        .watch = count,
                        .arg = s};
    t->options.steps = steps;
    t->options.batch = 4;
    t->options.d = 8;
    t->options.threads = 1;
    CHECK_INT(lab_training_run(t, NULL), ATTN_OK);
}

TEST(a_run_takes_all_its_steps_and_is_judged_at_the_end) {
    seen s = {0};
    lab_training t;
    run_small(12, 0, &s, &t);
    CHECK_INT(s.steps, 12);
    CHECK_INT(s.evaluations, 2);
    CHECK_INT(t.solved_at, -1);
    CHECK(!t.stopped);
    CHECK_INT(t.now.examples, LAB_FINAL_EXAMPLES);
    CHECK(isfinite(t.now.without_right) && isfinite(t.now.without_rival));
    lab_trainer_destroy(t.trainer);
}

TEST(a_goal_met_twice_in_a_row_ends_a_run) {
    seen s = {0};
    lab_training t;
    run_small(200, 1e-9, &s, &t); /* one right answer is enough */
    CHECK_INT(s.met, 2);
    CHECK(t.solved_at > 0);
    CHECK_INT(t.solved_at % 5, 0);
    CHECK_INT(t.step.step, t.solved_at + 5);
    CHECK(!t.stopped);
    lab_trainer_destroy(t.trainer);
}

TEST(a_watch_that_says_no_stops_a_run_after_that_step) {
    seen s = {.stop_at = 7};
    lab_training t;
    run_small(40, 0, &s, &t);
    CHECK_INT(t.step.step, 7);
    CHECK(t.stopped);
    CHECK_INT(t.now.examples, LAB_FINAL_EXAMPLES);
    lab_trainer_destroy(t.trainer);
}

/* -------------------------------------------------------------------------------------- studies */

TEST(every_study_is_found_by_its_name_and_others_are_not) {
    for (int i = 0; i < LAB_N_STUDIES; i++)
        CHECK(lab_study_named(lab_studies[i].name) == &lab_studies[i]);
    CHECK(lab_study_named("layer") == NULL);
    CHECK(lab_study_named("") == NULL);
}

/* The options that a run of this kind had, and its outcome. */
static void run_kind(const lab_study_kind *kind, lab_trainer_options *options,
                     lab_study_outcome *outcome) {
    lab_training t = {.options = lab_trainer_defaults(lab_task_named("whois"))};
    t.options.steps = 3;
    t.options.batch = 4;
    t.options.threads = 1;
    CHECK_INT(lab_study_run(kind, 7, &t, outcome, NULL), ATTN_OK);
    CHECK(t.trainer == NULL);
    *options = t.options;
}

TEST(a_kind_changes_what_it_names_and_nothing_else) {
    const lab_study_kind plain = {"plain", LAB_SCALINGS, .layers = 0},
                         other = {"other",  LAB_SCALE_D_K,  .layers = 1,
                                  .d_k = 4, .causal = true, .temperature = 0.5};
    const lab_trainer_options defaults = lab_trainer_defaults(lab_task_named("whois"));
    lab_study_outcome outcome;
    lab_trainer_options a, b;
    run_kind(&plain, &a, &outcome);
    run_kind(&other, &b, &outcome);
    CHECK_INT(a.seed, 7);
    CHECK_INT(a.layers, defaults.layers);
    CHECK_INT(a.d_k, defaults.d_k);
    CHECK(a.scale == defaults.scale && a.temperature == defaults.temperature);
    CHECK(a.causal == defaults.causal);
    CHECK_INT(b.layers, 1);
    CHECK_INT(b.d_k, 4);
    CHECK(b.causal);
    CHECK_NEAR(b.temperature, 0.5, 0);
    CHECK_NEAR(b.scale, 0.25, 0);
}

TEST(an_outcome_tells_weights_apart_and_equal_ones_not) {
    const lab_study_kind plain = {"plain", LAB_SCALINGS, .layers = 0},
                         causal = {"causal", LAB_SCALINGS, .causal = true};
    lab_study_outcome a, b, c;
    lab_trainer_options o;
    run_kind(&plain, &o, &a);
    run_kind(&plain, &o, &b);
    run_kind(&causal, &o, &c);
    CHECK(a.fingerprint == b.fingerprint);
    CHECK(a.fingerprint != c.fingerprint);
    CHECK_NEAR(a.steps, 3, 0);
    CHECK(isinf(a.solved_at));
}

TEST(spread_is_median_least_and_most) {
    const lab_study_outcome odd[3] = {{.accuracy = 3}, {.accuracy = 1}, {.accuracy = 2.5}};
    const lab_study_outcome even[4] = {
        {.solved_at = 400}, {.solved_at = INFINITY}, {.solved_at = 100}, {.solved_at = 200}};
    lab_spread s = lab_study_spread(odd, 3, offsetof(lab_study_outcome, accuracy));
    CHECK(s.median == 2.5 && s.least == 1 && s.most == 3);
    s = lab_study_spread(even, 4, offsetof(lab_study_outcome, solved_at));
    CHECK(s.median == 300 && s.least == 100 && isinf(s.most));
    CHECK_INT(lab_study_solved(even, 4), 3);
}

TEST(same_bits_are_counted_seed_by_seed) {
    const lab_study_outcome a[3] = {{.fingerprint = 1}, {.fingerprint = 2}, {.fingerprint = 3}},
                            b[3] = {{.fingerprint = 1}, {.fingerprint = 3}, {.fingerprint = 3}};
    CHECK_INT(lab_study_same_bits(a, b, 3), 2);
}
