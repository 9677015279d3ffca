/* SPDX-License-Identifier: Apache-2.0 */
/* crew.c - see crew.h. Tests: tests/lab/test_trainer.c */
#define ATTNI_REAL_f32
#include "learning/crew.h"

#include <stdlib.h>

static attn_status no_memory(attn_error *err) {
    return attni_fail(err, ATTN_E_MEMORY, "training: no memory for the workers");
}

static attn_status worker_create(const attni_model_config *config, const lab_task *task,
                                 lab_worker *worker, attn_error *err) {
    const size_t n = (size_t)task->n, questions = (size_t)(LAB_SHARD * task->n_questions);
    const attni_text largest = {.B = LAB_SHARD, .n = task->n, .n_asked = task->n_questions};
    ATTN_TRY(attn_ctx_create(NULL, &worker->ctx, err));
    ATTN_TRY(attni_run_create_f32(config, &largest, &worker->run, err));
    worker->tokens = calloc(LAB_SHARD * n, sizeof *worker->tokens);
    worker->answers = calloc(questions * (size_t)task->slots, sizeof *worker->answers);
    worker->visible = calloc(LAB_SHARD * n, n);
    worker->weights = calloc(questions * n, (size_t)config->heads * sizeof *worker->weights);
    if (worker->tokens && worker->answers && worker->visible && worker->weights) return ATTN_OK;
    return no_memory(err);
}

static void worker_free(lab_worker *worker) {
    attn_ctx_destroy(worker->ctx);
    attni_run_free_f32(&worker->run);
    free(worker->tokens);
    free(worker->answers);
    free(worker->visible);
    free(worker->weights);
}

attn_status lab_crew_create(const attni_model_config *config, const lab_task *task, int threads,
                            lab_crew *crew, attn_error *err) {
    attn_ctx_options plain;
    attn_ctx_options_init(&plain);
    memset(crew, 0, sizeof *crew);
    crew->task = task;
    attn_status status =
        attni_pool_create(threads, false, plain.pool, plain.alloc, &crew->pool, err);
    if (status != ATTN_OK) return status;
    crew->n = attni_pool_threads(crew->pool);
    crew->worker = calloc((size_t)crew->n, sizeof *crew->worker);
    if (!crew->worker) status = no_memory(err);
    for (int w = 0; w < crew->n && status == ATTN_OK; w++)
        status = worker_create(config, task, &crew->worker[w], err);
    if (status != ATTN_OK) lab_crew_free(crew);
    return status;
}

void lab_crew_free(lab_crew *crew) {
    for (int w = 0; crew->worker && w < crew->n; w++) worker_free(&crew->worker[w]);
    free(crew->worker);
    attni_pool_destroy(crew->pool);
    memset(crew, 0, sizeof *crew);
}

/* Lets every query see its own example, and nothing of the padding behind a shorter one. */
static const uint8_t *hide_padding(const lab_crew *crew, lab_worker *worker,
                                   const lab_task_example *examples, int64_t n_examples) {
    const int n = crew->task->n;
    for (int64_t i = 0; i < n_examples * n; i++) {
        const size_t seen = (size_t)examples[i / n].n;
        memset(worker->visible + i * n, 1, seen);
        memset(worker->visible + i * n + seen, 0, (size_t)n - seen);
    }
    return worker->visible;
}

static bool has_padding(const lab_crew *crew, const lab_task_example *examples, int64_t n) {
    for (int64_t e = 0; e < n; e++)
        if (examples[e].n < crew->task->n) return true;
    return false;
}

attni_text lab_crew_fill(const lab_crew *crew, lab_worker *worker, const lab_task_example *examples,
                         int64_t n) {
    const lab_task *task = crew->task;
    int32_t *answers = worker->answers, *tokens = worker->tokens;
    memset(tokens, 0, (size_t)(n * task->n) * sizeof *tokens);
    for (int64_t e = 0; e < n; e++, tokens += task->n) {
        memcpy(tokens, examples[e].token, (size_t)examples[e].n * sizeof *tokens);
        for (int q = 0; q < task->n_questions; q++)
            for (int s = 0; s < task->slots; s++) *answers++ = examples[e].answer[q][s];
    }
    return (attni_text){
        .B = n,
        .n = task->n,
        .tokens = worker->tokens,
        .first_asked = task->first_question,
        .n_asked = task->n_questions,
        .visible = has_padding(crew, examples, n) ? hide_padding(crew, worker, examples, n) : NULL};
}

void lab_crew_hide(const lab_crew *crew, lab_worker *worker, const lab_task_example *examples,
                   lab_hidden what, attni_text *text) {
    const int n = crew->task->n;
    text->visible = hide_padding(crew, worker, examples, text->B);
    for (int64_t e = 0; e < text->B; e++)
        for (int q = 0; q < crew->task->n_questions; q++) {
            const uint64_t set =
                (what == LAB_HIDE_RIGHT ? examples[e].right : examples[e].rival)[q];
            uint8_t *row = worker->visible + (e * n + crew->task->first_question + q) * n;
            for (int j = 0; j < n; j++)
                if (set >> j & 1) row[j] = 0;
        }
}
