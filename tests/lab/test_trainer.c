/* SPDX-License-Identifier: Apache-2.0 */
/* test_trainer.c - training: bit-identical for any number of threads, losses that start and fall as
 * they must, invalid options, and evaluation on untrained and trained models. */
#define ATTNI_REAL_f32
#include "check.h"

#include "layers/loss.h"
#include "learning/trainer.h"
#include "models/transformer.h"

#include <math.h>
#include <stdlib.h>

/* A trainer of this task after some steps; NULL when something failed. */
static lab_trainer *after(lab_trainer_options o, int steps, lab_training_step *last) {
    lab_trainer *t = NULL;
    if (lab_trainer_create(&o, &t, NULL) != ATTN_OK) return NULL;
    for (int i = 0; i < steps; i++)
        if (lab_trainer_step(t, last, NULL) != ATTN_OK) {
            lab_trainer_destroy(t);
            return NULL;
        }
    return t;
}

#if defined(__wasm__)
static const bool has_threads = false;
#else
static const bool has_threads = true;
#endif
#define NEED_THREADS                                                                               \
    if (!has_threads) SKIP("no threads here")

static lab_trainer_options defaults(const char *task) {
    return lab_trainer_defaults(lab_task_named(task));
}

static bool same_weights(const lab_trainer *a, const lab_trainer *b) {
    const attni_model *x = lab_trainer_model(a), *y = lab_trainer_model(b);
    return x->parameters.total == y->parameters.total &&
           memcmp(x->weights, y->weights, x->parameters.total * sizeof(float)) == 0;
}

static void check_threads(const char *task, int steps) {
    lab_trainer_options one = defaults(task), two = one, three = one;
    lab_training_step a, b, c;
    two.threads = 2;
    three.threads = 3;
    lab_trainer *x = after(one, steps, &a), *y = after(two, steps, &b);
    lab_trainer *z = after(three, steps, &c);
    CHECK(x && y && z);
    CHECK_MSG(same_weights(x, y) && same_weights(x, z), "%s: other bits with more threads", task);
    CHECK(a.loss == b.loss && a.loss == c.loss);
    lab_trainer_destroy(x);
    lab_trainer_destroy(y);
    lab_trainer_destroy(z);
}

TEST(two_hundred_steps_have_the_same_bits_for_any_number_of_threads) {
    NEED_THREADS;
    check_threads("whois", 200);
}

TEST(every_task_has_the_same_bits_for_any_number_of_threads) {
    NEED_THREADS;
    for (int t = 0; t < LAB_N_TASKS; t++) check_threads(lab_tasks[t]->name, 5);
}

TEST(a_batch_that_is_no_multiple_of_a_shard_has_the_same_bits) {
    NEED_THREADS;
    lab_trainer_options one = defaults("sense"), two = one;
    lab_training_step step;
    one.batch = two.batch = 13;
    two.threads = 2;
    lab_trainer *x = after(one, 10, &step), *y = after(two, 10, &step);
    CHECK(x && y && same_weights(x, y));
    lab_trainer_destroy(x);
    lab_trainer_destroy(y);
}

TEST(another_seed_gives_other_weights) {
    lab_trainer_options one = defaults("sense"), two = one;
    lab_training_step step;
    two.seed = 2;
    lab_trainer *x = after(one, 0, &step), *y = after(two, 0, &step);
    CHECK(x && y && !same_weights(x, y));
    lab_trainer_destroy(x);
    lab_trainer_destroy(y);
}

enum { WHOLE = 21 }; /* two shards and a part */

/* One example as a text of its own, as long as it is: no padding. */
static attni_text text_of(const lab_task *task, const lab_task_example *example) {
    return (attni_text){.B = 1,
                        .n = example->n,
                        .tokens = example->token,
                        .first_asked = task->first_question,
                        .n_asked = task->n_questions};
}

/* The first batch of this seed; how many answers it asks for. */
static int draw_batch(const lab_task *task, uint64_t seed, lab_task_example *batch) {
    int n_answers = 0;
    for (int e = 0; e < WHOLE; e++) {
        lab_task_draw(task, seed, (uint64_t)e, LAB_TRAINING, &batch[e]);
        for (int q = 0; q < task->n_questions; q++)
            for (int s = 0; s < task->slots; s++) n_answers += batch[e].answer[q][s] >= 0;
    }
    return n_answers;
}

/* Of the parameters whose names begin so; "": of all. */
static double norm_of(const attni_parameters *list, const char *start, const float *gradient) {
    double sum = 0;
    for (int p = 0; p < list->n; p++) {
        const attni_parameter *one = &list->list[p];
        if (strncmp(one->name, start, strlen(start)) != 0) continue;
        for (size_t i = one->offset; i < one->offset + one->count; i++)
            sum += (double)gradient[i] * (double)gradient[i];
    }
    return sqrt(sum);
}

enum { ALL, LAYER_0, LAYER_1, NORMS };

/* Adds the loss and the gradient of one example. */
static bool add_example(attn_ctx *ctx, const lab_task *task, const attni_model *model,
                        const lab_task_example *example, int n_answers, double *loss,
                        float *gradient) {
    int32_t answers[LAB_TASK_QUESTIONS * LAB_TASK_SLOTS], n = 0;
    const attni_text text = text_of(task, example);
    attni_run run;
    double one = 0;
    for (int q = 0; q < task->n_questions; q++)
        for (int s = 0; s < task->slots; s++) answers[n++] = example->answer[q][s];
    const attni_targets targets = {
        .n = n, .vocab = task->n_words, .ids = answers, .divisor = n_answers};
    if (R(run_create)(&model->config, &text, &run, NULL) != ATTN_OK) return false;
    const bool ok =
        R(transformer_forward)(ctx, &run, model->weights, &text, NULL) == ATTN_OK &&
        R(cross_entropy)(ctx, &targets, run.value.logits, run.gradient.logits, &one, NULL) ==
            ATTN_OK &&
        R(transformer_backward)(ctx, &run, model->weights, &text, gradient, NULL) == ATTN_OK;
    *loss += one;
    R(run_free)(&run);
    return ok;
}

/* The loss of the first batch of the model's seed and the norms of its gradient, example by
 * example. */
static bool whole_batch(const lab_task *task, const attni_model *model, double *loss,
                        double norm[NORMS]) {
    static lab_task_example batch[WHOLE];
    const int n_answers = draw_batch(task, model->seed, batch);
    attn_ctx *ctx;
    float *gradient = calloc(model->parameters.total, sizeof *gradient);
    bool ok = gradient && attn_ctx_create(NULL, &ctx, NULL) == ATTN_OK;
    if (!ok) return false;
    *loss = 0;
    for (int e = 0; e < WHOLE; e++)
        ok &= add_example(ctx, task, model, &batch[e], n_answers, loss, gradient);
    norm[ALL] = norm_of(&model->parameters, "", gradient);
    norm[LAYER_0] = norm_of(&model->parameters, "layers.0.", gradient);
    norm[LAYER_1] = norm_of(&model->parameters, "layers.1.", gradient);
    free(gradient);
    attn_ctx_destroy(ctx);
    return ok;
}

/* Padding shorter examples to one length changes nothing. Only the order of sums differs: a few
 * roundings of 6e-8 on numbers of order 1. */
TEST(a_step_has_the_loss_and_gradient_of_the_whole_batch) {
    for (int t = 0; t < LAB_N_TASKS; t++) {
        lab_trainer_options o = lab_trainer_defaults(lab_tasks[t]);
        lab_training_step step;
        double loss, norm[NORMS];
        o.batch = WHOLE;
        o.layers = 2;
        lab_trainer *x = after(o, 0, &step);
        CHECK(x && whole_batch(lab_tasks[t], lab_trainer_model(x), &loss, norm));
        CHECK_INT(lab_trainer_step(x, &step, NULL), ATTN_OK);
        CHECK_NEAR(step.loss, loss, 2e-6);
        CHECK_NEAR(step.gradient_norm, norm[ALL], 5e-6);
        CHECK_NEAR(lab_trainer_layer_norm(x, 0), norm[LAYER_0], 5e-6);
        CHECK_NEAR(lab_trainer_layer_norm(x, 1), norm[LAYER_1], 5e-6);
        lab_trainer_destroy(x);
    }
}

/* Before training every word is about as likely as any other: ln(words), and the logits of this
 * start have a deviation near 1, which costs about 1/2. */
TEST(the_first_loss_is_that_of_guessing) {
    for (int t = 0; t < LAB_N_TASKS; t++) {
        lab_training_step step;
        lab_trainer *x = after(defaults(lab_tasks[t]->name), 1, &step);
        CHECK(x != NULL);
        CHECK_NEAR(step.loss, log(lab_tasks[t]->n_words) + 0.5, 0.5);
        CHECK_INT(step.step, 1);
        lab_trainer_destroy(x);
    }
}

/* With one layer a question reads the words themselves: without the cue it can only guess one of
 * two meanings (1024 questions: 0.5 +- 0.063 at four deviations), while the other noun says
 * nothing. With more layers what is hidden may come through a third token. */
TEST(sense_is_learned_and_lost_without_the_cue) {
    lab_trainer_options o = defaults("sense");
    const lab_evaluation_wish wish = {.examples = 1024, .knock_out = true};
    lab_training_step step;
    lab_evaluation e;
    o.layers = 1;
    lab_trainer *x = after(o, 400, &step);
    CHECK(x != NULL);
    CHECK_INT(lab_trainer_evaluate(x, &wish, &e, NULL), ATTN_OK);
    CHECK_MSG(e.accuracy >= 0.98, "accuracy %g", e.accuracy);
    CHECK_NEAR(e.without_right, 0.5, 0.063);
    CHECK_MSG(e.without_rival > 0.95, "without the other noun %g", e.without_rival);
    lab_trainer_destroy(x);
}

TEST(an_untrained_model_is_no_better_than_chance) {
    const lab_evaluation_wish wish = {.examples = 1024};
    lab_training_step step;
    lab_evaluation e;
    lab_trainer *x = after(defaults("whois"), 0, &step);
    CHECK(x != NULL);
    CHECK_INT(lab_trainer_evaluate(x, &wish, &e, NULL), ATTN_OK);
    CHECK(e.accuracy < 0.05);
    CHECK_INT(e.questions, 1024);
    CHECK(isnan(e.without_right));
    for (int i = 0; i < 4; i++) CHECK(e.selectivity[i] > 0.1 && e.selectivity[i] < 0.9);
    lab_trainer_destroy(x);
}

TEST(evaluation_has_the_same_bits_for_any_number_of_threads) {
    NEED_THREADS;
    const lab_evaluation_wish wish = {.examples = 200, .knock_out = true};
    lab_trainer_options one = defaults("copy"), two = one;
    lab_evaluation a, b;
    lab_training_step step;
    two.threads = 2;
    lab_trainer *x = after(one, 20, &step), *y = after(two, 20, &step);
    CHECK(x && y);
    CHECK_INT(lab_trainer_evaluate(x, &wish, &a, NULL), ATTN_OK);
    CHECK_INT(lab_trainer_evaluate(y, &wish, &b, NULL), ATTN_OK);
    CHECK(a.loss == b.loss && a.answers == b.answers && a.without_right == b.without_right);
    CHECK(memcmp(a.selectivity, b.selectivity, 4 * sizeof(double)) == 0);
    lab_trainer_destroy(x);
    lab_trainer_destroy(y);
}

TEST(evaluation_changes_nothing) {
    const lab_evaluation_wish wish = {.examples = 64, .knock_out = true};
    lab_evaluation e;
    lab_training_step a, b;
    lab_trainer *x = after(defaults("sense"), 3, &a), *y = after(defaults("sense"), 2, &b);
    CHECK(x && y);
    CHECK_INT(lab_trainer_evaluate(y, &wish, &e, NULL), ATTN_OK);
    CHECK_INT(lab_trainer_step(y, &b, NULL), ATTN_OK);
    CHECK(a.loss == b.loss && same_weights(x, y));
    lab_trainer_destroy(x);
    lab_trainer_destroy(y);
}

/* 1/temperature multiplies scores just as scale does: at d_k = 16, 1/sqrt(16) / 0.25 = 1. */
TEST(a_temperature_of_a_quarter_at_d_k_16_is_no_scaling_to_the_bit) {
    lab_trainer_options cold = defaults("whois"), unscaled = cold;
    lab_training_step a, b;
    cold.temperature = 0.25;
    unscaled.scale = 1;
    lab_trainer *x = after(cold, 30, &a), *y = after(unscaled, 30, &b);
    CHECK(x && y);
    CHECK(a.loss == b.loss && same_weights(x, y));
    lab_trainer_destroy(x);
    lab_trainer_destroy(y);
}

TEST(options_that_make_no_sense_are_refused) {
    const lab_trainer_options good = defaults("whois");
    lab_trainer_options bad[7] = {good, good, good, good, good, good, good};
    static const char *const says[7] = {"batch",       "rate", "heads", "layers",
                                        "temperature", "d_k",  "batch"};
    bad[0].batch = 0;
    bad[1].rate = -1;
    bad[2].heads = 3;
    bad[3].layers = 0;
    bad[4].temperature = 0;
    bad[5].d_k = -4;
    bad[6].batch = INT64_MAX;
    for (int i = 0; i < 7; i++) {
        attn_error error = {""};
        lab_trainer *x;
        CHECK_INT(lab_trainer_create(&bad[i], &x, &error), ATTN_E_VALUE);
        CHECK_MSG(!x && strstr(error.message, says[i]), "%s: %s", says[i], error.message);
    }
}

TEST(evaluations_of_nothing_or_too_much_are_refused) {
    lab_training_step step;
    lab_evaluation e;
    attn_error error = {""};
    lab_trainer *x = after(defaults("sense"), 0, &step);
    CHECK(x != NULL);
    CHECK_INT(lab_trainer_evaluate(x, &(lab_evaluation_wish){0}, &e, &error), ATTN_E_VALUE);
    CHECK_INT(lab_trainer_evaluate(x, &(lab_evaluation_wish){.examples = 1 << 20}, &e, &error),
              ATTN_E_VALUE);
    lab_trainer_destroy(x);
}
