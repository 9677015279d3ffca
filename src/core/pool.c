/* SPDX-License-Identifier: Apache-2.0 */
/* pool.c - worker threads that sleep between calls. A worker spins for a few microseconds after
 * its work, because the next call often comes at once, and then sleeps: spinning longer is
 * ruinous on a busy machine (docs/speed.md). Where there are no threads (wasm) only the calling
 * thread works. */
#include "core/pool.h"

#include "core/os.h"

enum { SPIN_ROUNDS = 2000 };

typedef struct worker {
    attni_pool *pool;
    int index;
    attni_thread thread;
} worker;

struct attni_pool {
    int threads;
    attn_pool caller;
    attn_alloc alloc;

    /* The job: written by attni_parallel() before `generation` is raised, read by workers after
     * they saw it. */
    attni_task *task;
    void *arg;
    int64_t n_tasks;
    _Alignas(64) atomic_llong next_task;

    _Alignas(64) atomic_uint generation; /* one more for every job, and for the end */
    atomic_int working;                  /* own workers that have not finished the job */
    atomic_bool ending;

    worker *workers; /* (threads - 1) */
    int n_started;
    attni_mutex mutex;
    attni_condition job_ready, job_done;
};

static void work(void *arg, int index) {
    attni_pool *pool = arg;
    for (;;) {
        const int64_t t = atomic_fetch_add_explicit(&pool->next_task, 1, memory_order_relaxed);
        if (t >= pool->n_tasks) return;
        pool->task(pool->arg, t, index);
    }
}

static void pause_cpu(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Waits until a new job is there and returns its generation. */
static unsigned await_job(attni_pool *pool, unsigned seen) {
    for (int round = 0; round < SPIN_ROUNDS; round++) {
        const unsigned now = atomic_load_explicit(&pool->generation, memory_order_acquire);
        if (now != seen) return now;
        pause_cpu();
    }
    attni_mutex_lock(&pool->mutex);
    while (atomic_load(&pool->generation) == seen)
        attni_condition_wait(&pool->job_ready, &pool->mutex);
    attni_mutex_unlock(&pool->mutex);
    return atomic_load(&pool->generation);
}

static void await_workers(attni_pool *pool) {
    for (int round = 0; round < SPIN_ROUNDS; round++) {
        if (atomic_load_explicit(&pool->working, memory_order_acquire) == 0) return;
        pause_cpu();
    }
    attni_mutex_lock(&pool->mutex);
    while (atomic_load(&pool->working) != 0) attni_condition_wait(&pool->job_done, &pool->mutex);
    attni_mutex_unlock(&pool->mutex);
}

static void worker_main(void *arg) {
    const worker *self = arg;
    attni_pool *pool = self->pool;
    unsigned seen = 0;
    for (;;) {
        seen = await_job(pool, seen);
        if (atomic_load(&pool->ending)) return;
        work(pool, self->index);
        if (atomic_fetch_sub(&pool->working, 1) == 1) {
            attni_mutex_lock(&pool->mutex);
            attni_condition_signal(&pool->job_done);
            attni_mutex_unlock(&pool->mutex);
        }
    }
}

static void announce(attni_pool *pool) {
    attni_mutex_lock(&pool->mutex);
    atomic_fetch_add_explicit(&pool->generation, 1, memory_order_release);
    attni_condition_broadcast(&pool->job_ready);
    attni_mutex_unlock(&pool->mutex);
}

static attn_status start_workers(attni_pool *pool, bool pin, attn_error *err) {
    if (!ATTNI_HAVE_THREADS) {
        return attni_fail(err, ATTN_E_THREADS,
                          "threads: %d asked for, but this build has none; ask for 1",
                          pool->threads);
    }
    attni_mutex_init(&pool->mutex);
    attni_condition_init(&pool->job_ready);
    attni_condition_init(&pool->job_done);
    for (int w = 0; w < pool->threads - 1; w++) {
        worker *self = &pool->workers[w];
        *self = (worker){.pool = pool, .index = w + 1};
        const int code = attni_thread_start(&self->thread, worker_main, self);
        if (code != 0) {
            return attni_fail(
                err, ATTN_E_THREADS,
                "threads: started %d of %d workers, then the system said: %s; ask for fewer", w + 1,
                pool->threads, strerror(code));
        }
        pool->n_started++;
        if (pin) attni_thread_pin(&self->thread, self->index);
    }
    return ATTN_OK;
}

static void stop_workers(attni_pool *pool) {
    atomic_store(&pool->ending, true);
    announce(pool);
    for (int w = 0; w < pool->n_started; w++) attni_thread_join(&pool->workers[w].thread);
    attni_mutex_destroy(&pool->mutex);
    attni_condition_destroy(&pool->job_ready);
    attni_condition_destroy(&pool->job_done);
}

static void run_own_workers(attni_pool *pool) {
    atomic_store(&pool->working, pool->n_started);
    announce(pool);
    work(pool, 0);
    await_workers(pool);
}

attn_status attni_pool_create(int threads, bool pin, attn_pool caller, attn_alloc alloc,
                              attni_pool **out, attn_error *err) {
    *out = NULL;
    attni_pool *pool = alloc.alloc(alloc.user, sizeof *pool, 64);
    if (!pool) return attni_fail(err, ATTN_E_MEMORY, "context: no memory for the thread pool");
    memset(pool, 0, sizeof *pool);
    pool->threads = threads;
    pool->caller = caller;
    pool->alloc = alloc;
    attn_status status = ATTN_OK;
    if (threads > 1 && !caller.run) {
        pool->workers = alloc.alloc(alloc.user, (size_t)(threads - 1) * sizeof *pool->workers, 64);
        if (!pool->workers) {
            alloc.free(alloc.user, pool);
            return attni_fail(err, ATTN_E_MEMORY, "context: no memory for %d workers", threads - 1);
        }
        status = start_workers(pool, pin, err);
    }
    if (status != ATTN_OK) {
        attni_pool_destroy(pool);
        return status;
    }
    *out = pool;
    return ATTN_OK;
}

void attni_pool_destroy(attni_pool *pool) {
    if (!pool) return;
    if (pool->workers) {
        stop_workers(pool);
        pool->alloc.free(pool->alloc.user, pool->workers);
    }
    pool->alloc.free(pool->alloc.user, pool);
}

int attni_pool_threads(const attni_pool *pool) { return pool->threads; }

void attni_parallel(attni_pool *pool, int64_t n_tasks, attni_task *task, void *arg) {
    pool->task = task;
    pool->arg = arg;
    pool->n_tasks = n_tasks;
    atomic_store_explicit(&pool->next_task, 0, memory_order_relaxed);
    if (pool->threads == 1 || n_tasks <= 1) {
        work(pool, 0);
    } else if (pool->caller.run) {
        pool->caller.run(pool->caller.user, pool->threads, work, pool);
    } else {
        run_own_workers(pool);
    }
}

/* ---------------------------------------------------------------------------- progress */

void attni_progress_set(attni_progress *progress, int64_t done) {
    atomic_store_explicit(&progress->done, done, memory_order_release);
}

void attni_progress_await(attni_progress *progress, int64_t done) {
    for (int round = 0; atomic_load_explicit(&progress->done, memory_order_acquire) < done;
         round++) {
        if (round < SPIN_ROUNDS) {
            pause_cpu();
        } else {
            attni_thread_yield();
        }
    }
}
