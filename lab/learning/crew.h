/* SPDX-License-Identifier: Apache-2.0 */
/* crew.h - workers that pass examples through a transformer: a batch is cut into shards of a fixed
 * size, whatever the number of threads, and each shard is one task of the pool on one worker's
 * memory and one-thread context. Results belong to shards, never to workers: same bits for any
 * thread count. Tests: tests/lab/test_trainer.c */
#ifndef ATTNI_CREW_H
#define ATTNI_CREW_H

#include "core/pool.h"
#include "learning/task.h"
#include "models/transformer.h"

enum { ATTNI_SHARD = 8 }; /* examples; chosen by experiment, see docs/training.md */

typedef struct attni_worker {
    attn_ctx *ctx;
    attni_run run;
    int32_t *tokens;  /* (ATTNI_SHARD, n) */
    int32_t *answers; /* (ATTNI_SHARD, n_questions, slots) */
    uint8_t *visible; /* (ATTNI_SHARD, n, n) */
    float *weights;   /* (ATTNI_SHARD, heads, n_questions, n) */
} attni_worker;

typedef struct attni_crew {
    const attni_task_info *task;
    attni_pool *pool;
    attni_worker *worker; /* (n) */
    int n;
} attni_crew;

/* threads >= 1. Errors: VALUE, OVERFLOW, MEMORY, THREADS; *crew is then empty. */
attn_status attni_crew_create(const attni_model_config *config, const attni_task_info *task,
                              int threads, attni_crew *crew, attn_error *err);
void attni_crew_free(attni_crew *crew);

/* Copies examples (n <= ATTNI_SHARD) into the worker's arrays; the text that asks all of them. */
attni_text attni_crew_fill(const attni_crew *crew, attni_worker *worker,
                           const attni_example *examples, int64_t n);
/* Lets text hide from every question the tokens of its set: sets (text->B) of (n_questions). */
void attni_crew_hide(const attni_crew *crew, attni_worker *worker, const uint64_t *const *sets,
                     attni_text *text);

#endif
