/* SPDX-License-Identifier: Apache-2.0 */
/* web_train.c - the tasks, and training one of them step by step: the page requests as many steps
 * as it has time for. There is one trainer. */
#include "engine.h"
#include "lab/learning/trainer.h"
#include "lab/steps/scaling.h"
#include "web_model.h"

static lab_trainer *trainer;

const attni_model *web_model_in_training(void) {
    return trainer ? lab_trainer_model(trainer) : NULL;
}

static lab_trainer *in_training(void) {
    if (!trainer) attni_fail(&web_error, ATTN_E_VALUE, "nothing is in training; start it first");
    return trainer;
}

/* ---------------------------------------------------------------------------------------- tasks */

__attribute__((export_name("task_count"))) int32_t web_task_count(void) { return LAB_N_TASKS; }

EXPORT(task) web_task(int32_t number) {
    const lab_task *task = lab_tasks[number];
    web_begin();
    web_put_text("name", task->name);
    web_put_text("about", task->about);
    web_put_texts("words", task->words, task->n_words);
    web_put_number("n", task->n);
    web_put_number("causal", task->causal);
    web_put_number("layers", task->defaults.layers);
    web_put_number("heads", task->defaults.heads);
    web_put_number("d", task->defaults.d);
    web_put_number("batch", task->defaults.batch);
    web_put_number("steps", task->defaults.steps);
    web_put_number("rate", task->defaults.rate);
    return web_result_status();
}

static const lab_task *task_named(const char *name) {
    const lab_task *task = lab_task_named(name);
    if (!task) attni_fail(&web_error, ATTN_E_VALUE, "%.32s: no task of that name", name);
    return task;
}

/* A row of 0 and 1: the tokens in the set. */
static void put_set(uint64_t set, int n, int32_t *row) {
    for (int j = 0; j < n; j++) row[j] = (int32_t)(set >> j & 1);
}

/* Held-out examples, which training never sees. */
EXPORT(task_example) web_task_example(const char *name, double seed, double number) {
    lab_task_example example;
    web_begin();
    const lab_task *task = task_named(name);
    if (!task) return ATTN_E_VALUE;
    lab_task_draw(task, (uint64_t)seed, (uint64_t)number, LAB_HELD_OUT, &example);
    const int questions = task->n_questions, n = example.n;
    int32_t *tokens = web_put("tokens", WEB_I32, WEB_SHAPE(n));
    int32_t *answers = web_put("answers", WEB_I32, WEB_SHAPE(questions, task->slots));
    int32_t *right = web_put("right", WEB_I32, WEB_SHAPE(questions, n));
    int32_t *rival = web_put("rival", WEB_I32, WEB_SHAPE(questions, n));
    if (!tokens || !answers || !right || !rival) return web_result_status();
    memcpy(tokens, example.token, (size_t)n * sizeof *tokens);
    for (int q = 0; q < questions; q++) {
        memcpy(answers + q * task->slots, example.answer[q], (size_t)task->slots * sizeof *answers);
        put_set(example.right[q], n, right + q * n);
        put_set(example.rival[q], n, rival + q * n);
    }
    web_put_texts("words", task->words, task->n_words);
    web_put_number("first", task->first_question);
    return web_result_status();
}

/* ------------------------------------------------------------------------------------- training */

/* The settings of the page, in this order. */
enum { LAYERS, HEADS, D, D_K, BATCH, RATE, STEPS, SEED, CAUSAL, SCALE, TEMPERATURE };

EXPORT(train_start) web_train_start(const char *name, const double *block) {
    web_begin();
    const lab_task *task = task_named(name);
    if (!task) return ATTN_E_VALUE;
    lab_trainer_options o = lab_trainer_defaults(task);
    o.layers = (int64_t)block[LAYERS];
    o.heads = (int64_t)block[HEADS];
    o.d = (int64_t)block[D];
    o.d_k = (int64_t)block[D_K];
    o.batch = (int64_t)block[BATCH];
    o.rate = block[RATE];
    o.steps = (int64_t)block[STEPS];
    o.seed = (uint64_t)block[SEED];
    o.causal = block[CAUSAL] != 0;
    lab_scaling_train((lab_scaling)block[SCALE], &o);
    o.temperature = block[TEMPERATURE];
    lab_trainer_destroy(trainer);
    ATTN_TRY(lab_trainer_create(&o, &trainer, &web_error));
    web_put_model(0, lab_trainer_model(trainer));
    return web_result_status();
}

EXPORT(train_step) web_train_step(void) {
    lab_training_step step;
    web_begin();
    if (!in_training()) return ATTN_E_VALUE;
    ATTN_TRY(lab_trainer_step(trainer, &step, &web_error));
    const int64_t layers = lab_trainer_model(trainer)->config.layers;
    double *found = web_put("step", WEB_F64, WEB_SHAPE(4 + layers));
    if (!found) return web_result_status();
    found[0] = (double)step.step;
    found[1] = step.loss;
    found[2] = step.gradient_norm;
    found[3] = step.rate;
    for (int64_t l = 0; l < layers; l++) found[4 + l] = lab_trainer_layer_norm(trainer, l);
    return ATTN_OK;
}

static void put_shares(const char *name, const web_shape *shape, const double *shares) {
    double *to = web_put(name, WEB_F64, shape);
    size_t n = 1;
    for (int i = 0; i < shape->rank; i++) n *= (size_t)shape->side[i];
    if (to) memcpy(to, shares, n * sizeof *to);
}

EXPORT(train_evaluate) web_train_evaluate(double examples, int32_t knock_out) {
    lab_evaluation e;
    web_begin();
    if (!in_training()) return ATTN_E_VALUE;
    const lab_evaluation_wish wish = {.examples = (int64_t)examples, .knock_out = knock_out != 0};
    ATTN_TRY(lab_trainer_evaluate(trainer, &wish, &e, &web_error));
    web_put_number("step", (double)lab_trainer_model(trainer)->steps);
    web_put_number("examples", (double)e.examples);
    web_put_number("loss", e.loss);
    web_put_number("accuracy", e.accuracy);
    web_put_number("without_right", e.without_right);
    web_put_number("without_rival", e.without_rival);
    put_shares("selectivity", WEB_SHAPE(e.layers, e.heads), e.selectivity);
    put_shares("head_mean", WEB_SHAPE(e.layers), e.head_mean);
    return web_result_status();
}

/* Exchanges the weights being trained with those of an open model of the same run, so that those
 * can be judged; calling it again puts them back. */
EXPORT(train_swap) web_train_swap(double handle) {
    web_begin();
    const attni_model *other = web_model(handle), *mine = web_model_in_training();
    if (!other || !mine || other->parameters.total != mine->parameters.total)
        return attni_fail(&web_error, ATTN_E_VALUE, "not a model of this run");
    for (size_t i = 0; i < mine->parameters.total; i++) {
        const float kept = mine->weights[i];
        mine->weights[i] = other->weights[i];
        other->weights[i] = kept;
    }
    return ATTN_OK;
}

EXPORT(train_pack) web_train_pack(void) {
    size_t size;
    web_begin();
    if (!in_training()) return ATTN_E_VALUE;
    const attni_model *model = lab_trainer_model(trainer);
    ATTN_TRY(attni_model_pack_size(model, &size, &web_error));
    void *bytes = web_put("bytes", WEB_U8, WEB_SHAPE((int64_t)size));
    return bytes ? attni_model_pack(model, bytes, &web_error) : web_result_status();
}
