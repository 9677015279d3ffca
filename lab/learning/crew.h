/* SPDX-License-Identifier: Apache-2.0 */
/* crew.h - workers that run examples through a transformer: a batch is cut into shards of a fixed
 * size, whatever the number of threads, and each shard is one task of the pool, with the memory and
 * the one-thread context of a worker. Results belong to shards, never to workers, so that they are
 * bit-identical for any thread count. Tests: tests/lab/test_trainer.c */
#ifndef LAB_CREW_H
#define LAB_CREW_H

#include "core/pool.h"
#include "learning/task.h"
#include "models/transformer.h"

enum { LAB_SHARD = 8 }; /* examples; chosen by experiment, see docs/training.md */

typedef struct lab_worker {
    attn_ctx *ctx;
    attni_run run;
    int32_t *tokens;  /* (LAB_SHARD, n) */
    int32_t *answers; /* (LAB_SHARD, n_questions, slots) */
    uint8_t *visible; /* (LAB_SHARD, n, n) */
    float *weights;   /* (LAB_SHARD, heads, n_questions, n) */
} lab_worker;

typedef struct lab_crew {
    const lab_task *task;
    attni_pool *pool;
    lab_worker *worker; /* (n) */
    int n;
} lab_crew;

/* threads >= 1. Errors: VALUE, OVERFLOW, MEMORY, THREADS; *crew is then empty. */
attn_status lab_crew_create(const attni_model_config *config, const lab_task *task, int threads,
                            lab_crew *crew, attn_error *err);
void lab_crew_free(lab_crew *crew);

/* Copies examples (n <= LAB_SHARD) into the worker's arrays; returns the text with all of their
 * questions. No query sees the padding of those that are shorter than the longest. */
attni_text lab_crew_fill(const lab_crew *crew, lab_worker *worker, const lab_task_example *examples,
                         int64_t n);
/* Masks, for every question of text, which lab_crew_fill() made of these examples, the tokens that
 * decide it or their rivals. */
typedef enum lab_hidden { LAB_HIDE_RIGHT, LAB_HIDE_RIVAL } lab_hidden;
void lab_crew_hide(const lab_crew *crew, lab_worker *worker, const lab_task_example *examples,
                   lab_hidden what, attni_text *text);

#endif
