/* SPDX-License-Identifier: Apache-2.0 */
/* test_mistakes.c - the two mistakes of document 001. Expected values: by hand from exp(), and the
 * right weights are those of the engine. */
#include "steps/examples.h"
#include "steps/mistakes.h"

#include "check.h"

#include <math.h>
#include <string.h>

static attn_ctx *context(void) {
    static attn_ctx *ctx;
    if (ctx == NULL) attn_ctx_create(NULL, &ctx, NULL);
    return ctx;
}

static lab_steps steps_of(const lab_problem *problem) {
    lab_steps steps = {0};
    if (lab_steps_compute(context(), problem, &steps, NULL) != ATTN_OK)
        check_failed(__FILE__, __LINE__, "the problem cannot be computed");
    return steps;
}

TEST(
    softmax_over_the_queries_gives_columns_that_sum_to_1) { /* scores .7071 .7071 0; 0 .7071 .7071 */
    const double e = exp(sqrt(0.5)), high = e / (e + 1), low = 1 / (e + 1);
    const double wrong[] = {high, 0.5, low, low, 0.5, high};
    lab_steps steps = steps_of(&lab_example_named("001")->problem);
    lab_mistaken found;
    CHECK(lab_mistake_compute(&steps, LAB_MISTAKE_AXIS, 0, &found, NULL) == ATTN_OK);
    for (int i = 0; i < 6; i++) {
        CHECK_NEAR(found.wrong[i], wrong[i], 1e-15);
        CHECK_NEAR(found.right[i], lab_step_at(&steps.step[LAB_WEIGHTS], 0, i / 3, i % 3), 1e-15);
    }
    for (int i = 0; i < 4; i++)
        CHECK_NEAR(found.right_out[i], lab_step_at(&steps.step[LAB_OUTPUT], 0, i / 2, i % 2),
                   1e-15);
    CHECK_NEAR(found.right_sum, 1, 1e-15);
    CHECK_NEAR(found.wrong_sum, 1.5, 1e-15);
    CHECK_NEAR(found.largest, high - e / (2 * e + 1), 1e-15);
    CHECK_NEAR(found.wrong_out[0], 1, 1e-15); /* high * 1 + 0.5 * 0 + low * 1 */
    lab_mistake_free(&found);
    lab_steps_free(&steps);
}

TEST(a_mask_written_in_place_stays_when_it_should_not) {
    lab_problem problem = lab_example_named("003")->problem;
    lab_steps causal = steps_of(&problem);
    problem.causal = false;
    lab_steps plain = steps_of(&problem);
    lab_mistaken found;
    CHECK(lab_mistake_compute(&plain, LAB_MISTAKE_IN_PLACE, 0, &found, NULL) == ATTN_OK);
    for (int i = 0; i < 9; i++) { /* wrong: the causal weights again; right: those without a mask */
        CHECK_NEAR(found.wrong[i], lab_step_at(&causal.step[LAB_WEIGHTS], 0, i / 3, i % 3), 1e-15);
        CHECK_NEAR(found.right[i], lab_step_at(&plain.step[LAB_WEIGHTS], 0, i / 3, i % 3), 1e-15);
    }
    CHECK_NEAR(found.wrong_sum, 1, 1e-15); /* which is why row sums do not show it */
    CHECK(found.largest > 0.5);
    lab_mistake_free(&found);
    lab_steps_free(&plain);
    lab_steps_free(&causal);
}

TEST(a_row_of_minus_infinity_gives_nan_in_place_and_zeros_in_the_engine) {
    static const double q[] = {1, 0, 0, 1, 1, 1}, k[] = {1, 0, 0, 1};
    lab_problem problem = lab_problem_defaults();
    problem.given[LAB_Q] = (lab_matrix){3, 2, q};
    problem.given[LAB_K] = problem.given[LAB_V] = (lab_matrix){2, 2, k};
    problem.causal = true; /* query 0 of three sees none of two keys */
    lab_steps steps = steps_of(&problem);
    lab_mistaken found;
    CHECK(lab_mistake_compute(&steps, LAB_MISTAKE_IN_PLACE, 0, &found, NULL) == ATTN_OK);
    CHECK(isnan(found.wrong[0]) && isnan(found.wrong_out[0]) && isnan(found.wrong_sum));
    CHECK(!isnan(found.wrong[2]) && !isnan(found.right[0]));
    CHECK(lab_step_at(&steps.step[LAB_WEIGHTS], 0, 0, 0) == 0);
    lab_mistake_free(&found);
    lab_steps_free(&steps);
}

TEST(the_chosen_head_is_computed) {
    const lab_problem *problem = &lab_example_named("004-heads")->problem;
    lab_steps steps = steps_of(problem);
    lab_mistaken found;
    CHECK(lab_mistake_compute(&steps, LAB_MISTAKE_AXIS, 1, &found, NULL) == ATTN_OK);
    CHECK_NEAR(found.right[11], lab_step_at(&steps.step[LAB_WEIGHTS], 1, 2, 3), 1e-15);
    lab_mistake_free(&found);
    lab_steps_free(&steps);
}

TEST(mistakes_have_names) {
    CHECK_INT(lab_mistake_named("axis"), LAB_MISTAKE_AXIS);
    CHECK_INT(lab_mistake_named("inplace"), LAB_MISTAKE_IN_PLACE);
    CHECK_INT(lab_mistake_named("other"), LAB_MISTAKES);
    CHECK_STR(lab_mistake_name(LAB_MISTAKE_AXIS), "axis");
}
