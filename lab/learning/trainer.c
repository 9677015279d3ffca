/* SPDX-License-Identifier: Apache-2.0 */
/* trainer.c - see trainer.h. A step draws a batch, runs its shards forward and backward in
 * parallel, each with its own gradient, adds the gradients in ascending order, and updates the
 * weights. Tests: tests/lab/test_trainer.c */
#define ATTNI_REAL_f32
#include "learning/trainer.h"

#include "core/os.h"
#include "layers/add.h"
#include "layers/loss.h"
#include "layers/optimizer.h"
#include "layers/schedule.h"
#include "learning/judge.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_BATCH = 65536, MAX_EVALUATION = 2048 };

struct lab_trainer {
    lab_trainer_options options;
    attni_model model;
    lab_crew crew;
    lab_judge judge;
    int64_t n_shards;
    lab_task_example *examples; /* (batch) */
    int64_t n_answers;          /* that are asked in this batch */
    float *gradients;           /* (n_shards, total); their sum ends in the first */
    float *moments;             /* (2, total) of AdamW */
    double *loss;               /* (n_shards) */
    attn_status *status;        /* (n_shards) */
    attn_error *error;          /* (n_shards) */
};

lab_trainer_options lab_trainer_defaults(const lab_task *task) {
    return (lab_trainer_options){.task = task,
                                 .layers = task->defaults.layers,
                                 .heads = task->defaults.heads,
                                 .d = task->defaults.d,
                                 .batch = task->defaults.batch,
                                 .rate = task->defaults.rate,
                                 .clip = 1,
                                 .warmup = 50,
                                 .steps = task->defaults.steps,
                                 .seed = LAB_TASK_SEED,
                                 .threads = 1,
                                 .causal = task->causal,
                                 .scale = ATTN_SCALE_AUTO,
                                 .temperature = 1,
                                 .positions = "learned"};
}

/* -------------------------------------------------------------------------------------- create */

static attn_status check(const lab_trainer_options *o, attn_error *err) {
    if (o->batch < 1 || o->batch > MAX_BATCH)
        return attni_fail(err, ATTN_E_VALUE, "batch: %lld, expected 1 .. %d", (long long)o->batch,
                          MAX_BATCH);
    if (!(o->rate > 0) || !isfinite(o->rate))
        return attni_fail(err, ATTN_E_VALUE, "learning rate: %g, expected more than 0", o->rate);
    if (o->heads < 1 || (o->d_k == 0 && o->d % o->heads != 0))
        return attni_fail(err, ATTN_E_VALUE,
                          "heads: %lld do not divide d = %lld, choose another or give d_k",
                          (long long)o->heads, (long long)o->d);
    return ATTN_OK;
}

static attni_model_config config_of(const lab_trainer_options *o) {
    return (attni_model_config){.n_words = o->task->n_words,
                                .length = o->task->n,
                                .layers = o->layers,
                                .heads = o->heads,
                                .d = o->d,
                                .d_k = o->d_k ? o->d_k : o->d / o->heads,
                                .d_hidden = o->d_hidden ? o->d_hidden : 2 * o->d,
                                .slots = o->task->slots,
                                .causal = o->causal,
                                .scale = o->scale,
                                .temperature = o->temperature};
}

/* rows * total floats, zeroed; NULL if out of memory. */
static float *take_floats(size_t rows, size_t total) {
    size_t bytes;
    if (!attni_mul(rows, total, &bytes) || !attni_mul(bytes, sizeof(float), &bytes)) return NULL;
    float *floats = attni_memory_alloc(bytes, 64);
    if (floats) memset(floats, 0, bytes);
    return floats;
}

static attn_status take_memory(lab_trainer *t, attn_error *err) {
    const size_t shards = (size_t)t->n_shards, total = t->model.parameters.total;
    t->examples = calloc((size_t)t->options.batch, sizeof *t->examples);
    t->gradients = take_floats(shards, total);
    t->moments = take_floats(2, total);
    t->loss = calloc(shards, sizeof *t->loss);
    t->status = calloc(shards, sizeof *t->status);
    t->error = calloc(shards, sizeof *t->error);
    if (t->examples && t->gradients && t->moments && t->loss && t->status && t->error)
        return ATTN_OK;
    return attni_fail(err, ATTN_E_MEMORY, "training: no memory for a batch of %lld",
                      (long long)t->options.batch);
}

static attn_status build(lab_trainer *t, attn_error *err) {
    const lab_trainer_options *o = &t->options;
    attni_model_config config = config_of(o);
    ATTN_TRY(attni_positions_named(o->positions, &config.positions, err));
    ATTN_TRY(attni_model_create(&config, o->task->words, o->seed, &t->model, err));
    snprintf(t->model.task, sizeof t->model.task, "%s", o->task->name);
    ATTN_TRY(lab_crew_create(&config, o->task, o->threads, &t->crew, err));
    ATTN_TRY(lab_judge_create(&t->crew, &t->model, MAX_EVALUATION, &t->judge, err));
    return take_memory(t, err);
}

attn_status lab_trainer_create(const lab_trainer_options *options, lab_trainer **trainer,
                               attn_error *err) {
    *trainer = NULL;
    ATTN_TRY(check(options, err));
    lab_trainer *t = calloc(1, sizeof *t);
    if (!t) return attni_fail(err, ATTN_E_MEMORY, "training: no memory");
    t->options = *options;
    t->n_shards = attni_ceil_div(options->batch, LAB_SHARD);
    const attn_status status = build(t, err);
    if (status == ATTN_OK)
        *trainer = t;
    else
        lab_trainer_destroy(t);
    return status;
}

void lab_trainer_destroy(lab_trainer *t) {
    if (!t) return;
    lab_judge_free(&t->judge);
    lab_crew_free(&t->crew);
    attni_model_free(&t->model);
    free(t->examples);
    attni_memory_free(t->gradients);
    attni_memory_free(t->moments);
    free(t->loss);
    free(t->status);
    free(t->error);
    free(t);
}

const attni_model *lab_trainer_model(const lab_trainer *trainer) { return &trainer->model; }

attn_status lab_trainer_evaluate(lab_trainer *trainer, const lab_evaluation_wish *wish,
                                 lab_evaluation *evaluation, attn_error *err) {
    return lab_judge_run(&trainer->judge, wish, evaluation, err);
}

/* ---------------------------------------------------------------------------------------- step */

static void draw_batch(lab_trainer *t) {
    const lab_task *task = t->options.task;
    const int64_t batch = t->options.batch;
    t->n_answers = 0;
    for (int64_t e = 0; e < batch; e++) {
        lab_task_draw(task, t->options.seed, (uint64_t)(t->model.steps * batch + e), LAB_TRAINING,
                      &t->examples[e]);
        for (int q = 0; q < task->n_questions; q++)
            for (int s = 0; s < task->slots; s++) t->n_answers += t->examples[e].answer[q][s] >= 0;
    }
}

static attn_status pass_shard(lab_trainer *t, int64_t shard, lab_worker *worker) {
    const lab_task *task = t->options.task;
    const int64_t first = shard * LAB_SHARD;
    float *gradient = t->gradients + (size_t)shard * t->model.parameters.total;
    attn_error *err = &t->error[shard];
    const attni_text text = lab_crew_fill(&t->crew, worker, t->examples + first,
                                          attni_min(LAB_SHARD, t->options.batch - first));
    const attni_targets targets = {.n = text.B * text.n_asked * task->slots,
                                   .vocab = task->n_words,
                                   .ids = worker->answers,
                                   .divisor = attni_max(1, t->n_answers)};
    memset(gradient, 0, t->model.parameters.total * sizeof *gradient);
    ATTN_TRY(
        attni_transformer_forward_f32(worker->ctx, &worker->run, t->model.weights, &text, err));
    ATTN_TRY(attni_cross_entropy_f32(worker->ctx, &targets, worker->run.value.logits,
                                     worker->run.gradient.logits, &t->loss[shard], err));
    return attni_transformer_backward_f32(worker->ctx, &worker->run, t->model.weights, &text,
                                          gradient, err);
}

static void shard_task(void *arg, int64_t task, int worker) {
    lab_trainer *t = arg;
    t->status[task] = pass_shard(t, task, &t->crew.worker[worker]);
}

/* Adds the shards' gradients to the first one, in ascending order. */
static void sum_gradients(lab_trainer *t) {
    const size_t total = t->model.parameters.total;
    for (int64_t s = 1; s < t->n_shards; s++)
        attni_add_to_f32((int64_t)total, t->gradients + (size_t)s * total, t->gradients);
}

static void update(lab_trainer *t, lab_training_step *step) {
    const lab_trainer_options *o = &t->options;
    const int64_t total = (int64_t)t->model.parameters.total;
    const attni_schedule schedule = {.decay = o->steps ? ATTNI_DECAY_COSINE : ATTNI_DECAY_NONE,
                                     .rate = o->rate,
                                     .warmup = o->warmup,
                                     .total = o->steps,
                                     .final_rate = 0.1 * o->rate};
    step->step = ++t->model.steps;
    step->rate = attni_schedule_rate(&schedule, step->step);
    step->gradient_norm = sqrt(attni_sum_of_squares_f32(total, t->gradients));
    attni_adamw adamw = attni_adamw_defaults(step->rate);
    adamw.weight_decay = o->weight_decay;
    adamw.step = step->step;
    adamw.grad_factor = attni_clip_factor(step->gradient_norm, o->clip);
    attni_adamw_step_f32(&adamw, total, t->model.weights, t->gradients, t->moments,
                         t->moments + total);
}

double lab_trainer_layer_norm(const lab_trainer *t, int64_t layer) {
    const attni_parameters *p = &t->model.parameters;
    const size_t begin = attni_layer_offset(p, layer, 0);
    const bool is_last = layer + 1 == t->model.config.layers;
    const size_t end = is_last ? p->total : attni_layer_offset(p, layer + 1, 0);
    return sqrt(attni_sum_of_squares_f32((int64_t)(end - begin), t->gradients + begin));
}

attn_status lab_trainer_step(lab_trainer *t, lab_training_step *step, attn_error *err) {
    memset(step, 0, sizeof *step);
    draw_batch(t);
    attni_parallel(t->crew.pool, t->crew.n, t->n_shards, shard_task, t);
    for (int64_t s = 0; s < t->n_shards; s++) {
        if (t->status[s] != ATTN_OK)
            return attni_fail(err, t->status[s], "%s", t->error[s].message);
        step->loss += t->loss[s];
    }
    sum_gradients(t);
    update(t, step);
    return ATTN_OK;
}
