/* SPDX-License-Identifier: Apache-2.0 */
/* pool.h - the one way to run tasks in parallel: own workers, the caller's pool, or just the
 * calling thread. Tasks are claimed in order by an atomic counter; results must not depend on who
 * runs a task. Tests: tests/core/test_pool.c */
#ifndef ATTNI_POOL_H
#define ATTNI_POOL_H

#include "core/base.h"

#include <stdatomic.h>

typedef struct attni_pool attni_pool;

typedef void attni_task(void *arg, int64_t task, int worker);

/* threads >= 1 workers in all, the calling thread included. caller.run == NULL: own threads. */
attn_status attni_pool_create(int threads, bool pin, attn_pool caller, attn_alloc alloc,
                              attni_pool **pool, attn_error *err);
void attni_pool_destroy(attni_pool *pool);
int attni_pool_threads(const attni_pool *pool);

/* Calls task(arg, t, worker) once for every t in 0..n_tasks-1, on at most `workers` threads, and
 * returns when all are done. worker is below min(workers, threads, n_tasks) and no two running
 * tasks share one. Tasks run with the floating-point state of the calling thread. In a child of
 * fork(), which inherits no threads, the first call starts new ones. */
void attni_parallel(attni_pool *pool, int workers, int64_t n_tasks, attni_task *task, void *arg);

/* How far a task has come, for a later task of the same attni_parallel() that follows it. Tasks are
 * claimed in order, so a task may wait for one with a lower number: that one runs or has ended. */
typedef struct attni_progress {
    _Atomic int64_t done;
} attni_progress;

void attni_progress_set(attni_progress *progress, int64_t done);
/* Returns true when `done` or more is set; everything written before that is visible then. Returns
 * false when *stop becomes true before. */
bool attni_progress_await(attni_progress *progress, int64_t done, const atomic_bool *stop);

#endif
