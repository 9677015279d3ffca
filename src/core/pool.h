/* SPDX-License-Identifier: Apache-2.0 */
/* pool.h - the only way to run tasks in parallel: on the library's own workers, on the caller's
 * pool, or just on the calling thread. Tasks are claimed in order by an atomic counter; results
 * must not depend on which worker runs a task. Tests: tests/core/test_pool.c */
#ifndef ATTNI_POOL_H
#define ATTNI_POOL_H

#include "core/base.h"

#include <stdatomic.h>

typedef struct attni_pool attni_pool;

typedef void attni_task(void *arg, int64_t task, int worker);

/* threads >= 1 is the number of workers, including the calling thread. If caller.run is NULL, the
 * pool starts its own threads. */
attn_status attni_pool_create(int threads, bool pin, attn_pool caller, attn_alloc alloc,
                              attni_pool **pool, attn_error *err);
void attni_pool_destroy(attni_pool *pool);
int attni_pool_threads(const attni_pool *pool);

/* Calls task(arg, t, worker) once for every t in 0..n_tasks-1, on at most `workers` threads, and
 * returns when all are done. worker is below min(workers, threads, n_tasks), and no two tasks that
 * run at the same time have the same one. Tasks run with the floating-point state of the calling
 * thread. In a forked child, which inherits no threads, the first call starts new ones. */
void attni_parallel(attni_pool *pool, int workers, int64_t n_tasks, attni_task *task, void *arg);

/* The same, but calls ask(arg) on the calling thread every few milliseconds while that thread has
 * no task left and waits for the pool's own workers. ask may be NULL. */
typedef void attni_ask(void *arg);
void attni_parallel_asking(attni_pool *pool, int workers, int64_t n_tasks, attni_task *task,
                           void *arg, attni_ask *ask);

/* The progress of a task, on which a later task of the same attni_parallel() call can wait. Tasks
 * are claimed in order, so a task may wait for one with a lower number: that task is running or
 * done. */
typedef struct attni_progress {
    _Atomic int64_t done;
} attni_progress;

void attni_progress_set(attni_progress *progress, int64_t done);
/* Waits until `done` or more is set and returns true; everything written before it was set is then
 * visible. Returns false if *stop becomes true first. */
bool attni_progress_await(attni_progress *progress, int64_t done, const atomic_bool *stop);

#endif
