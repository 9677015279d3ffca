/* SPDX-License-Identifier: Apache-2.0 */
/* judge.c - see evaluation.h. Shards count independently; the counts are summed in ascending order.
 * Tests: tests/lab/test_trainer.c */
#define ATTNI_REAL_f32
#include "learning/judge.h"

#include "layers/loss.h"

#include <stdlib.h>

/* The seed of the held-out examples. It is the same for every run, so that runs with different
 * seeds are judged alike. */
static const uint64_t held_out_seed = 1;

attn_status lab_judge_create(lab_crew *crew, const attni_model *model, int64_t max_examples,
                             lab_judge *judge, attn_error *err) {
    const size_t shards = (size_t)attni_ceil_div(max_examples, LAB_SHARD);
    const size_t layers = (size_t)model->config.layers, heads = (size_t)model->config.heads;
    *judge = (lab_judge){.crew = crew, .model = model, .max_examples = max_examples};
    judge->examples = calloc((size_t)max_examples, sizeof *judge->examples);
    judge->tally = calloc(shards, sizeof *judge->tally);
    judge->selective = calloc(shards * layers, (heads + 1) * sizeof *judge->selective);
    judge->selectivity = calloc(layers * heads, sizeof *judge->selectivity);
    judge->head_mean = calloc(layers, sizeof *judge->head_mean);
    if (!judge->examples || !judge->tally || !judge->selective || !judge->selectivity ||
        !judge->head_mean) {
        lab_judge_free(judge);
        return attni_fail(err, ATTN_E_MEMORY, "evaluation: no memory for %lld examples",
                          (long long)max_examples);
    }
    for (int64_t e = 0; e < max_examples; e++)
        lab_task_draw(crew->task, held_out_seed, (uint64_t)e, LAB_HELD_OUT, &judge->examples[e]);
    return ATTN_OK;
}

void lab_judge_free(lab_judge *judge) {
    free(judge->examples);
    free(judge->tally);
    free(judge->selective);
    free(judge->selectivity);
    free(judge->head_mean);
    memset(judge, 0, sizeof *judge);
}

/* --------------------------------------------------------------------------------- one shard */

/* One shard being judged. */
typedef struct shard {
    lab_judge *judge;
    lab_worker *worker;
    lab_tally *tally;
    const lab_task_example *examples; /* (text.B) */
    int64_t *selective;               /* (layers, heads + 1) */
    attni_text text;
} shard;

static attn_status forward(shard *s) {
    return attni_transformer_forward_f32(s->worker->ctx, &s->worker->run, s->judge->model->weights,
                                         &s->text, &s->tally->error);
}

/* Counts the examples with every answer right; with `all`, also the single answers. */
static void count_right(shard *s, int64_t *examples_right, bool all) {
    const lab_task *task = s->judge->crew->task;
    const int per_example = task->n_questions * task->slots;
    const float *logits = s->worker->run.value.logits;
    const int32_t *answer = s->worker->answers;
    *examples_right = 0;
    for (int64_t e = 0; e < s->text.B; e++) {
        int asked = 0, right = 0;
        for (int i = 0; i < per_example; i++, answer++, logits += task->n_words) {
            if (*answer < 0) continue;
            asked++;
            right += attni_argmax_f32(task->n_words, logits) == *answer;
        }
        *examples_right += asked == right;
        if (!all) continue;
        s->tally->answers += asked;
        s->tally->right_answers += right;
    }
}

static attn_status add_loss(shard *s) {
    const lab_task *task = s->judge->crew->task;
    const attni_targets targets = {.n = s->text.B * task->n_questions * task->slots,
                                   .vocab = task->n_words,
                                   .ids = s->worker->answers,
                                   .divisor = 1};
    return attni_cross_entropy_f32(s->worker->ctx, &targets, s->worker->run.value.logits, NULL,
                                   &s->tally->loss, &s->tally->error);
}

static double sum_over(uint64_t set, const float *row, int n) {
    double sum = 0;
    for (int j = 0; j < n; j++)
        if (set >> j & 1) sum += row[j];
    return sum;
}

/* Whether each head, and the mean of the heads, is selective in this question. weights (heads,
 * n_questions, n) of its example; counts (heads + 1). */
static void judge_question(const shard *s, const lab_task_example *example, int question,
                           const float *weights, int64_t *counts) {
    const lab_task *task = s->judge->crew->task;
    const int n = task->n;
    const int64_t heads = s->judge->model->config.heads;
    double right_of_all = 0, rival_of_all = 0;
    for (int64_t h = 0; h < heads; h++) {
        const float *w = weights + (h * task->n_questions + question) * n;
        const double right = sum_over(example->right[question], w, n);
        const double rival = sum_over(example->rival[question], w, n);
        counts[h] += right > rival;
        right_of_all += right;
        rival_of_all += rival;
    }
    counts[heads] += right_of_all > rival_of_all;
}

/* The weights of the rows that ask questions, and no others. */
static attn_status judge_layer(shard *s, int64_t layer) {
    const lab_task *task = s->judge->crew->task;
    const int64_t heads = s->judge->model->config.heads, n = task->n, asked = task->n_questions;
    const attn_args args = attni_transformer_attention_f32(&s->worker->run, &s->text, layer);
    int64_t *counts = s->selective + layer * (heads + 1);
    attn_inspection what;
    attn_inspection_init(&what);
    what.weights = attn_tensor_bhsd(s->worker->weights, ATTN_F32, s->text.B, heads, asked, n);
    ATTN_TRY(attn_inspect(s->worker->ctx, &args, &what, &s->tally->error));
    for (int64_t e = 0; e < s->text.B; e++)
        for (int q = 0; q < task->n_questions; q++)
            if (s->examples[e].answer[q][0] >= 0)
                judge_question(s, &s->examples[e], q, s->worker->weights + e * heads * asked * n,
                               counts);
    return ATTN_OK;
}

static attn_status knock_out(shard *s, lab_hidden what, int64_t *right) {
    lab_crew_hide(s->judge->crew, s->worker, s->examples, what, &s->text);
    ATTN_TRY(forward(s));
    count_right(s, right, false);
    return ATTN_OK;
}

static attn_status judge_shard(shard *s) {
    ATTN_TRY(forward(s));
    ATTN_TRY(add_loss(s));
    count_right(s, &s->tally->right[0], true);
    for (int64_t l = 0; l < s->judge->model->config.layers; l++) ATTN_TRY(judge_layer(s, l));
    if (!s->judge->knock_out) return ATTN_OK;
    ATTN_TRY(knock_out(s, LAB_HIDE_RIGHT, &s->tally->right[1]));
    return knock_out(s, LAB_HIDE_RIVAL, &s->tally->right[2]);
}

static void judge_task(void *arg, int64_t task, int worker) {
    lab_judge *judge = arg;
    const attni_model_config *c = &judge->model->config;
    const int64_t first = task * LAB_SHARD;
    shard s = {.judge = judge,
               .worker = &judge->crew->worker[worker],
               .tally = &judge->tally[task],
               .examples = judge->examples + first,
               .selective = judge->selective + task * c->layers * (c->heads + 1)};
    memset(s.tally, 0, sizeof *s.tally);
    memset(s.selective, 0, (size_t)(c->layers * (c->heads + 1)) * sizeof *s.selective);
    s.text = lab_crew_fill(judge->crew, s.worker, s.examples,
                           attni_min(LAB_SHARD, judge->max_examples - first));
    for (int64_t i = 0; i < s.text.B * s.text.n_asked; i++)
        s.tally->questions += s.worker->answers[i * judge->crew->task->slots] >= 0;
    s.tally->status = judge_shard(&s);
}

/* ---------------------------------------------------------------------------------- all of them */

static void sum_selectivity(lab_judge *judge, int64_t shards, int64_t questions) {
    const int64_t layers = judge->model->config.layers, heads = judge->model->config.heads;
    for (int64_t l = 0; l < layers; l++)
        for (int64_t h = 0; h <= heads; h++) {
            int64_t sum = 0;
            for (int64_t s = 0; s < shards; s++)
                sum += judge->selective[(s * layers + l) * (heads + 1) + h];
            const double share = (double)sum / (double)attni_max(1, questions);
            if (h < heads)
                judge->selectivity[l * heads + h] = share;
            else
                judge->head_mean[l] = share;
        }
}

attn_status lab_judge_run(lab_judge *judge, const lab_evaluation_wish *wish,
                          lab_evaluation *evaluation, attn_error *err) {
    lab_tally sum = {0};
    if (wish->examples < 1 || wish->examples > judge->max_examples)
        return attni_fail(err, ATTN_E_VALUE, "evaluation: %lld examples, expected 1 .. %lld",
                          (long long)wish->examples, (long long)judge->max_examples);
    /* whole shards: what is counted is what is reported */
    const int64_t shards = attni_ceil_div(wish->examples, LAB_SHARD);
    const int64_t examples = attni_min(shards * LAB_SHARD, judge->max_examples);
    judge->knock_out = wish->knock_out;
    attni_parallel(judge->crew->pool, judge->crew->n, shards, judge_task, judge);
    for (int64_t s = 0; s < shards; s++) {
        const lab_tally *t = &judge->tally[s];
        if (t->status != ATTN_OK) return attni_fail(err, t->status, "%s", t->error.message);
        sum.loss += t->loss;
        sum.questions += t->questions;
        sum.answers += t->answers;
        sum.right_answers += t->right_answers;
        for (int i = 0; i < 3; i++) sum.right[i] += t->right[i];
    }
    sum_selectivity(judge, shards, sum.questions);
    *evaluation = (lab_evaluation){
        .examples = examples,
        .questions = sum.questions,
        .loss = sum.loss / (double)attni_max(1, sum.answers),
        .accuracy = (double)sum.right[0] / (double)examples,
        .answers = (double)sum.right_answers / (double)attni_max(1, sum.answers),
        .layers = judge->model->config.layers,
        .heads = judge->model->config.heads,
        .selectivity = judge->selectivity,
        .head_mean = judge->head_mean,
        .without_right = wish->knock_out ? (double)sum.right[1] / (double)examples : NAN,
        .without_rival = wish->knock_out ? (double)sum.right[2] / (double)examples : NAN};
    return ATTN_OK;
}

double lab_evaluation_selectivity(const lab_evaluation *e) {
    return e->layers > 0 ? e->head_mean[e->layers - 1] : 0;
}
