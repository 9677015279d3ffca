/* SPDX-License-Identifier: Apache-2.0 */
/* pool.c - worker threads that sleep between calls. A job has places, one for each thread that may
 * help. Workers take a place when they wake up, and the calling thread withdraws the places that
 * are still free when it runs out of tasks. After its work a worker spins for a few microseconds,
 * because the next call often follows at once, and then sleeps: spinning longer is ruinous on a
 * busy machine (docs/speed.md). */
#include "core/pool.h"

#include "core/cpu.h"
#include "core/os.h"

enum { SPIN_ROUNDS = 2000, ASK_MILLISECONDS = 2 };

struct attni_pool {
    int threads;
    bool pin;
    attn_pool caller;
    attn_alloc alloc;

    /* The job: written by attni_parallel() before `places` is set, read by threads that have taken
     * a place. */
    attni_task *task;
    attni_ask *ask; /* or NULL */
    void *arg;
    int64_t n_tasks;
    uint64_t float_control; /* of the calling thread */
    _Alignas(64) atomic_llong next_task;

    _Alignas(64) atomic_uint generation; /* incremented for every job and at the end */
    atomic_int places;                   /* free places of the job: numbers 1 .. places */
    atomic_int working;                  /* places that are free or in use */
    atomic_bool ending;

    attni_thread *workers; /* (threads - 1) */
    int n_started;
    int64_t process; /* process that started them; a child of fork() has a copy without threads */
    attni_mutex mutex;
    attni_condition job_ready, job_done;
};

/* The thread may belong to the caller, so its floating-point state is restored. */
static void work(void *arg, int index) {
    attni_pool *pool = arg;
    const uint64_t own_control = attni_cpu_float_control();
    attni_cpu_set_float_control(pool->float_control);
    for (;;) {
        const int64_t t = atomic_fetch_add_explicit(&pool->next_task, 1, memory_order_relaxed);
        if (t >= pool->n_tasks) break;
        pool->task(pool->arg, t, index);
    }
    attni_cpu_set_float_control(own_control);
}

static void pause_cpu(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* ----------------------------------------------------------------------------- own workers */

/* Waits for a new job and returns its generation. */
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
    while (atomic_load(&pool->working) != 0) {
        if (!pool->ask) {
            attni_condition_wait(&pool->job_done, &pool->mutex);
        } else if (!attni_condition_wait_for(&pool->job_done, &pool->mutex, ASK_MILLISECONDS)) {
            attni_mutex_unlock(&pool->mutex); /* threads that are done need not wait for ask() */
            pool->ask(pool->arg);
            attni_mutex_lock(&pool->mutex);
        }
    }
    attni_mutex_unlock(&pool->mutex);
}

/* The number of a place in the current job, or 0 if none is free. */
static int take_place(attni_pool *pool) {
    int left = atomic_load(&pool->places);
    while (left > 0 && !atomic_compare_exchange_weak(&pool->places, &left, left - 1)) {}
    return left;
}

static void worker_main(void *arg) {
    attni_pool *pool = arg;
    unsigned seen = 0;
    for (;;) {
        seen = await_job(pool, seen);
        if (atomic_load(&pool->ending)) return;
        const int place = take_place(pool);
        if (place == 0) continue;
        work(pool, place);
        if (atomic_fetch_sub(&pool->working, 1) == 1) {
            attni_mutex_lock(&pool->mutex);
            attni_condition_signal(&pool->job_done);
            attni_mutex_unlock(&pool->mutex);
        }
    }
}

/* Wakes n sleeping workers; those that are awake will see the new generation. */
static void announce(attni_pool *pool, int n) {
    attni_mutex_lock(&pool->mutex);
    atomic_fetch_add_explicit(&pool->generation, 1, memory_order_release);
    if (n == pool->n_started) {
        attni_condition_broadcast(&pool->job_ready);
    } else {
        for (int w = 0; w < n; w++) attni_condition_signal(&pool->job_ready);
    }
    attni_mutex_unlock(&pool->mutex);
}

static attn_status start_workers(attni_pool *pool, attn_error *err) {
    if (!ATTNI_HAVE_THREADS) {
        return attni_fail(err, ATTN_E_THREADS,
                          "threads: %d asked for, but this build has none; ask for 1",
                          pool->threads);
    }
    pool->process = attni_process_id();
    pool->n_started = 0;
    attni_mutex_init(&pool->mutex);
    attni_condition_init(&pool->job_ready);
    attni_condition_init(&pool->job_done);
    for (int w = 0; w < pool->threads - 1; w++) {
        const int code = attni_thread_start(&pool->workers[w], worker_main, pool);
        if (code != 0) {
            return attni_fail(
                err, ATTN_E_THREADS,
                "threads: started %d of %d workers, then the system said: %s; ask for fewer", w + 1,
                pool->threads, strerror(code));
        }
        pool->n_started++;
        if (pool->pin) attni_thread_pin(&pool->workers[w], w + 1);
    }
    return ATTN_OK;
}

static void stop_workers(attni_pool *pool) {
    atomic_store(&pool->ending, true);
    announce(pool, pool->n_started);
    for (int w = 0; w < pool->n_started; w++) attni_thread_join(&pool->workers[w]);
    attni_mutex_destroy(&pool->mutex);
    attni_condition_destroy(&pool->job_ready);
    attni_condition_destroy(&pool->job_done);
}

static bool has_workers_here(const attni_pool *pool) { return pool->process == attni_process_id(); }

/* What the parent's threads were doing when fork() copied the pool does not matter here. If fewer
 * workers start than were requested, or none, the calling thread does more of the tasks. */
static void start_again(attni_pool *pool) {
    atomic_store(&pool->generation, 0);
    start_workers(pool, NULL);
}

static void run_own_workers(attni_pool *pool, int n) {
    if (!has_workers_here(pool)) start_again(pool);
    const int helpers = (int)attni_min(n - 1, pool->n_started);
    atomic_store(&pool->working, helpers);
    atomic_store(&pool->places, helpers);
    if (helpers > 0) announce(pool, helpers);
    work(pool, 0);
    atomic_fetch_sub(&pool->working, atomic_exchange(&pool->places, 0));
    await_workers(pool);
}

/* ------------------------------------------------------------------------------------ pool */

attn_status attni_pool_create(int threads, bool pin, attn_pool caller, attn_alloc alloc,
                              attni_pool **out, attn_error *err) {
    *out = NULL;
    attni_pool *pool = alloc.alloc(alloc.user, sizeof *pool, 64);
    if (!pool) return attni_fail(err, ATTN_E_MEMORY, "context: no memory for the thread pool");
    memset(pool, 0, sizeof *pool);
    pool->threads = threads;
    pool->pin = pin;
    pool->caller = caller;
    pool->alloc = alloc;
    attn_status status = ATTN_OK;
    if (threads > 1 && !caller.run) {
        pool->workers = alloc.alloc(alloc.user, (size_t)(threads - 1) * sizeof *pool->workers, 64);
        if (!pool->workers) {
            alloc.free(alloc.user, pool);
            return attni_fail(err, ATTN_E_MEMORY, "context: no memory for %d workers", threads - 1);
        }
        status = start_workers(pool, err);
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
        if (has_workers_here(pool)) stop_workers(pool);
        pool->alloc.free(pool->alloc.user, pool->workers);
    }
    pool->alloc.free(pool->alloc.user, pool);
}

int attni_pool_threads(const attni_pool *pool) { return pool->threads; }

void attni_parallel(attni_pool *pool, int workers, int64_t n_tasks, attni_task *task, void *arg) {
    attni_parallel_asking(pool, workers, n_tasks, task, arg, NULL);
}

void attni_parallel_asking(attni_pool *pool, int workers, int64_t n_tasks, attni_task *task,
                           void *arg, attni_ask *ask) {
    const int n = (int)attni_min(attni_min(workers, pool->threads), n_tasks);
    if (n <= 1) { /* small calls are frequent: nothing to share, nothing to count */
        for (int64_t t = 0; t < n_tasks; t++) task(arg, t, 0);
        return;
    }
    pool->task = task;
    pool->ask = ask;
    pool->arg = arg;
    pool->n_tasks = n_tasks;
    pool->float_control = attni_cpu_float_control();
    atomic_store_explicit(&pool->next_task, 0, memory_order_relaxed);
    if (pool->caller.run) {
        pool->caller.run(pool->caller.user, n, work, pool);
    } else {
        run_own_workers(pool, n);
    }
}

/* ---------------------------------------------------------------------------- progress */

void attni_progress_set(attni_progress *progress, int64_t done) {
    atomic_store_explicit(&progress->done, done, memory_order_release);
}

bool attni_progress_await(attni_progress *progress, int64_t done, const atomic_bool *stop) {
    int round = 0;
    while (atomic_load_explicit(&progress->done, memory_order_acquire) < done) {
        if (atomic_load_explicit(stop, memory_order_relaxed)) return false;
        if (round < SPIN_ROUNDS) {
            round++;
            pause_cpu();
        } else {
            attni_thread_yield();
        }
    }
    return true;
}
