/* SPDX-License-Identifier: Apache-2.0 */
/* test_pool.c - src/core/pool.c: every task runs once, and no two workers share a number, for the
 * library's own threads and the caller's. Tasks write plain (not atomic) variables that are read
 * after the job, on purpose: TSan sees whether the pool orders the accesses. */
#include "check.h"
#include "core/cpu.h"
#include "core/os.h"
#include "core/pool.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof((array)[0])))
enum { MAX_TASKS = 1000, MAX_WORKERS = 8 };

#if ATTNI_HAVE_THREADS
static const int thread_counts[] = {1, 2, 3, 8};
#else
static const int thread_counts[] = {1};
#endif

/* ------------------------------------------------------------------------ counting allocator */

static atomic_long n_allocs, n_frees;

static void *counted_alloc(void *user, size_t size, size_t align) {
    (void)user;
    n_allocs++;
    return attni_memory_alloc(size, align);
}

static void counted_free(void *user, void *ptr) {
    (void)user;
    n_frees++;
    attni_memory_free(ptr);
}

static const attn_alloc counted = {.alloc = counted_alloc, .free = counted_free};

static attni_pool *pool_of(int threads, bool pin, attn_pool caller) {
    attni_pool *pool = NULL;
    attn_error err = {""};
    const attn_status status = attni_pool_create(threads, pin, caller, counted, &pool, &err);
    if (status != ATTN_OK)
        check_failed(__FILE__, __LINE__, "%d threads: %s: %s", threads, attn_status_name(status),
                     err.message);
    return pool;
}

static attni_pool *own_pool(int threads) { return pool_of(threads, false, (attn_pool){0}); }

/* -------------------------------------------------------------------------------- a watched job */

typedef struct job {
    int threads;
    int runs[MAX_TASKS];     /* how often each task ran */
    atomic_int busy[1024];   /* tasks that a worker is in */
    atomic_int out_of_range; /* calls with a worker or task that does not exist */
    atomic_int shared;       /* calls that found their worker busy */
} job;

static void watched_task(void *arg, int64_t task, int worker) {
    job *j = arg;
    if (worker < 0 || worker >= j->threads || task < 0 || task >= MAX_TASKS) {
        j->out_of_range++;
        return;
    }
    if (atomic_fetch_add(&j->busy[worker], 1) != 0) j->shared++;
    j->runs[task]++;
    if (task % 16 == 3) attni_thread_yield(); /* let others in while this worker is busy */
    atomic_fetch_sub(&j->busy[worker], 1);
}

static bool every_task_ran_once(const job *j, int64_t n_tasks) {
    for (int t = 0; t < MAX_TASKS; t++) {
        if (j->runs[t] == (t < n_tasks)) continue;
        check_failed(__FILE__, __LINE__, "%d threads, %lld tasks: task %d ran %d times", j->threads,
                     (long long)n_tasks, t, j->runs[t]);
        return false;
    }
    return true;
}

static job the_job; /* static: too large for small stacks */

static job *new_job(int threads) {
    memset(&the_job, 0, sizeof the_job);
    the_job.threads = threads;
    return &the_job;
}

/* ---------------------------------------------------------------------------------- own threads */

TEST(every_task_runs_exactly_once) {
    for (int c = 0; c < COUNT_OF(thread_counts); c++) {
        attni_pool *pool = own_pool(thread_counts[c]);
        if (!pool) return;
        for (int64_t n = 0; n <= MAX_TASKS && !check_has_failed(); n++) {
            job *j = new_job(thread_counts[c]);
            attni_parallel(pool, MAX_WORKERS, n, watched_task, j);
            every_task_ran_once(j, n);
        }
        attni_pool_destroy(pool);
    }
}

TEST(worker_numbers_are_in_range_and_never_shared) {
    for (int c = 0; c < COUNT_OF(thread_counts); c++) {
        attni_pool *pool = own_pool(thread_counts[c]);
        if (!pool) return;
        job *j = new_job(thread_counts[c]);
        for (int repeat = 0; repeat < 100; repeat++)
            attni_parallel(pool, MAX_WORKERS, MAX_TASKS, watched_task, j);
        attni_pool_destroy(pool);
        CHECK_INT(j->out_of_range, 0);
        CHECK_INT(j->shared, 0);
    }
}

TEST(pool_tells_its_threads) {
    for (int c = 0; c < COUNT_OF(thread_counts); c++) {
        attni_pool *pool = own_pool(thread_counts[c]);
        if (!pool) return;
        CHECK_INT(attni_pool_threads(pool), thread_counts[c]);
        attni_pool_destroy(pool);
    }
}

static void add_task(void *arg, int64_t task, int worker) {
    (void)worker;
    ((int64_t *)arg)[task]++;
}

TEST(many_short_jobs_in_a_row_lose_nothing) {
    for (int c = 0; c < COUNT_OF(thread_counts); c++) {
        enum { TASKS = 3 };
        /* more threads than CPUs take turns, which takes time */
        const int jobs = thread_counts[c] <= 2 ? 20000 : 2000;
        int64_t runs[TASKS] = {0};
        attni_pool *pool = own_pool(thread_counts[c]);
        if (!pool) return;
        for (int n = 0; n < jobs; n++) attni_parallel(pool, MAX_WORKERS, TASKS, add_task, runs);
        attni_pool_destroy(pool);
        for (int t = 0; t < TASKS; t++) CHECK_INT(runs[t], jobs);
    }
}

TEST(jobs_of_different_size_and_argument_do_not_mix) {
    for (int c = 0; c < COUNT_OF(thread_counts); c++) {
        int64_t runs[2][64] = {{0}};
        attni_pool *pool = own_pool(thread_counts[c]);
        if (!pool) return;
        for (int n = 0; n < 800; n++)
            attni_parallel(pool, MAX_WORKERS, n % 2 ? 64 : 5, add_task, runs[n % 2]);
        attni_pool_destroy(pool);
        for (int t = 0; t < 64; t++) {
            CHECK_INT(runs[0][t], t < 5 ? 400 : 0);
            CHECK_INT(runs[1][t], 400);
        }
    }
}

TEST(create_and_destroy_in_a_loop_frees_everything) {
    for (int c = 0; c < COUNT_OF(thread_counts); c++) {
        n_allocs = n_frees = 0;
        for (int n = 0; n < 100; n++) {
            attni_pool *pool = own_pool(thread_counts[c]);
            int64_t runs[4] = {0};
            if (!pool) return;
            if (n % 2) attni_parallel(pool, MAX_WORKERS, 4, add_task, runs);
            attni_pool_destroy(pool);
        }
        CHECK(n_allocs >= 100);
        CHECK_INT(n_allocs, n_frees);
    }
}

TEST(destroy_accepts_null) { attni_pool_destroy(NULL); }

#if ATTNI_HAVE_THREADS

/* Both tasks wait for the other: only two threads at once get through. */
typedef struct meeting {
    atomic_int arrived;
} meeting;

static void meet_task(void *arg, int64_t task, int worker) {
    meeting *m = arg;
    (void)task;
    (void)worker;
    m->arrived++;
    while (m->arrived < 2) attni_thread_yield();
}

#if defined(_WIN32)
__declspec(dllimport) void __stdcall Sleep(unsigned long ms);
static void sleep_ms(long ms) { Sleep((unsigned long)ms); }
#else
static void sleep_ms(long ms) { nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL); }
#endif

TEST(two_workers_run_two_tasks_at_once) {
    attni_pool *pool = own_pool(2);
    meeting m = {0};
    if (!pool) return;
    attni_parallel(pool, MAX_WORKERS, 2, meet_task, &m);
    attni_pool_destroy(pool);
    CHECK_INT(m.arrived, 2);
}

TEST(sleeping_workers_wake_up) {
    attni_pool *pool = own_pool(2);
    if (!pool) return;
    for (int n = 0; n < 20; n++) {
        meeting m = {0};
        sleep_ms(3); /* far longer than workers spin */
        attni_parallel(pool, MAX_WORKERS, 2, meet_task, &m);
        CHECK_INT(m.arrived, 2);
    }
    sleep_ms(3);
    attni_pool_destroy(pool);
}

/* Of the two workers the pool's own waits until the caller, who has nothing left to do, asks. */
typedef struct question {
    meeting m;
    atomic_int asked;
    const char *asker; /* thread */
    bool in_vain;
} question;

static _Thread_local char here; /* its address tells threads apart */

static void ask_question(void *arg) {
    question *q = arg;
    q->asker = &here;
    q->asked++;
}

static void await_question(void *arg, int64_t task, int worker) {
    question *q = arg;
    meet_task(&q->m, task, worker);
    for (int n = 0; worker == 1 && q->asked < 3; n++) {
        if (n == 20000) q->in_vain = true;
        if (n == 20000) return;
        sleep_ms(1);
    }
}

TEST(caller_without_tasks_asks_while_it_waits) {
    attni_pool *pool = own_pool(2);
    question q = {.asked = 0};
    if (!pool) return;
    attni_parallel_asking(pool, MAX_WORKERS, 2, await_question, &q, ask_question);
    CHECK(!q.in_vain && q.asker == &here);
    const int before = q.asked;
    attni_parallel(pool, MAX_WORKERS, 2, await_question, &q); /* the question is not kept */
    attni_pool_destroy(pool);
    CHECK_INT(q.asked, before);
}

static void where_task(void *arg, int64_t task, int worker) {
    (void)task;
    (void)worker;
    *(char **)arg = &here;
}

TEST(single_task_runs_on_the_calling_thread) {
    attni_pool *pool = own_pool(3);
    if (!pool) return;
    for (int n = 0; n < 100; n++) {
        char *where = NULL;
        attni_parallel(pool, MAX_WORKERS, 1, where_task, &where);
        CHECK(where == &here);
    }
    attni_pool_destroy(pool);
}

#if defined(__linux__)

/* CPUs that each worker of a pool of two may run on. */
typedef struct places {
    meeting m;
    int cpus[2];
} places;

static void place_task(void *arg, int64_t task, int worker) {
    places *p = arg;
    meet_task(&p->m, task, worker);
    p->cpus[worker] = attni_cpu_count();
}

TEST(pin_keeps_own_workers_on_one_cpu_and_leaves_the_caller_free) {
    const int all = attni_cpu_count();
    for (int pin = 0; pin < 2; pin++) {
        attni_pool *pool = pool_of(2, pin, (attn_pool){0});
        places p = {0};
        if (!pool) return;
        attni_parallel(pool, MAX_WORKERS, 2, place_task, &p);
        attni_pool_destroy(pool);
        CHECK_INT(p.cpus[0], all);
        CHECK_INT(p.cpus[1], pin ? 1 : all);
    }
}
#endif

/* ------------------------------------------------------------------- floating-point state */

/* Bits of the control register: another rounding, flushing of subnormals. */
#if defined(__x86_64__)
enum { TOWARD_ZERO = 0x6000, FLUSH = 0x8040 };
#elif defined(__aarch64__)
enum { TOWARD_ZERO = 3 << 22, FLUSH = 1 << 24 };
#else
enum { TOWARD_ZERO = 0, FLUSH = 0 };
#endif

/* ----------------------------------------------------------------------- the caller's threads */

typedef struct hired {
    void (*work)(void *arg, int worker);
    void *arg;
    int worker;
    bool changed; /* work() left another floating-point state behind */
} hired;

static void hired_main(void *arg) {
    hired *h = arg;
    attni_cpu_set_float_control(attni_cpu_float_control() ^ FLUSH); /* not that of the caller */
    const uint64_t before = attni_cpu_float_control();
    h->work(h->arg, h->worker);
    h->changed = attni_cpu_float_control() != before;
}

static void run_on_new_threads(void *user, int n_workers, void (*work)(void *arg, int worker),
                               void *arg) {
    attni_thread threads[MAX_WORKERS];
    hired h[MAX_WORKERS];
    ++*(int *)user;
    for (int w = 0; w < n_workers; w++) {
        h[w] = (hired){.work = work, .arg = arg, .worker = w};
        if (attni_thread_start(&threads[w], hired_main, &h[w]) != 0) abort();
    }
    for (int w = 0; w < n_workers; w++) {
        attni_thread_join(&threads[w]);
        if (h[w].changed) check_failed(__FILE__, __LINE__, "thread %d has another state", w);
    }
}

/* The floating-point control that each worker of a pool of two saw. */
typedef struct controls {
    meeting m;
    uint64_t seen[2];
} controls;

static void control_task(void *arg, int64_t task, int worker) {
    controls *c = arg;
    meet_task(&c->m, task, worker);
    c->seen[worker] = attni_cpu_float_control();
}

TEST(tasks_run_with_the_floating_point_state_of_the_caller) {
    const uint64_t before = attni_cpu_float_control(), other = before | TOWARD_ZERO | FLUSH;
    if (other == before) SKIP("no control register of floating-point arithmetic");
    for (int theirs = 0; theirs < 2; theirs++) {
        int calls = 0;
        const attn_pool threads = {.run = run_on_new_threads, .user = &calls};
        attni_pool *pool = pool_of(2, false, theirs ? threads : (attn_pool){0});
        if (!pool) return;
        for (int n = 0; n < 4; n++) {
            controls c = {0};
            attni_cpu_set_float_control(n % 2 ? before : other);
            const uint64_t mine = attni_cpu_float_control();
            attni_parallel(pool, 2, 2, control_task, &c);
            const uint64_t after = attni_cpu_float_control();
            attni_cpu_set_float_control(before);
            CHECK(c.seen[0] == mine && c.seen[1] == mine && after == mine);
        }
        attni_pool_destroy(pool);
    }
}

/* ------------------------------------------------------------------------------- fewer workers */

TEST(no_more_workers_than_asked_for_or_tasks) {
    attni_pool *pool = own_pool(8);
    if (!pool) return;
    for (int workers = 1; workers <= 8; workers++) {
        for (int64_t n = 1; n < 40; n += 3) {
            const int most = (int)attni_min(workers, n);
            job *j = new_job(most); /* any other number is out of range */
            attni_parallel(pool, workers, n, watched_task, j);
            if (!every_task_ran_once(j, n)) return;
            CHECK_INT(j->out_of_range + j->shared, 0);
        }
    }
    attni_pool_destroy(pool);
}

TEST(few_of_many_sleeping_workers_wake_up) {
    attni_pool *pool = own_pool(8);
    if (!pool) return;
    for (int n = 0; n < 20; n++) {
        meeting m = {0};
        sleep_ms(3);
        attni_parallel(pool, 2, 2, meet_task, &m);
        CHECK_INT(m.arrived, 2);
    }
    attni_pool_destroy(pool);
}

/* ------------------------------------------------------------------------------- nested pools */

typedef struct outer_job {
    attni_pool *inner[MAX_WORKERS]; /* one per worker of the outer pool */
    int64_t runs[40][10];
} outer_job;

static void outer_task(void *arg, int64_t task, int worker) {
    outer_job *o = arg;
    attni_parallel(o->inner[worker], MAX_WORKERS, 10, add_task, o->runs[task]);
}

TEST(tasks_may_use_pools_of_their_own) {
    outer_job o = {0};
    attni_pool *outer = own_pool(2);
    for (int w = 0; w < 2; w++) o.inner[w] = own_pool(2);
    if (check_has_failed()) return;
    attni_parallel(outer, MAX_WORKERS, 40, outer_task, &o);
    for (int w = 0; w < 2; w++) attni_pool_destroy(o.inner[w]);
    attni_pool_destroy(outer);
    for (int t = 0; t < 40; t++) {
        for (int i = 0; i < 10; i++) CHECK_INT(o.runs[t][i], 1);
    }
}

TEST(threads_of_the_caller_run_every_task_once) {
    int calls = 0;
    attni_pool *pool = pool_of(4, false, (attn_pool){.run = run_on_new_threads, .user = &calls});
    job *j = new_job(4);
    if (!pool) return;
    attni_parallel(pool, MAX_WORKERS, 700, watched_task, j);
    attni_pool_destroy(pool);
    every_task_ran_once(j, 700);
    CHECK_INT(calls, 1);
    CHECK_INT(j->out_of_range + j->shared, 0);
}

#else

TEST(several_threads_are_refused_where_there_are_none) {
    attni_pool *pool = (attni_pool *)&the_job;
    attn_error err = {""};
    CHECK_INT(attni_pool_create(2, false, (attn_pool){0}, counted, &pool, &err), ATTN_E_THREADS);
    CHECK(pool == NULL && strstr(err.message, "threads: 2"));
}

#endif

/* What the caller's pool was asked to do. */
typedef struct asked {
    int calls, n_workers;
    bool backwards;
} asked;

static void run_one_after_another(void *user, int n_workers, void (*work)(void *arg, int worker),
                                  void *arg) {
    asked *a = user;
    a->calls++;
    a->n_workers = n_workers;
    for (int w = 0; w < n_workers; w++) work(arg, a->backwards ? n_workers - 1 - w : w);
}

TEST(pool_of_the_caller_may_be_serial_and_in_any_order) {
    for (int backwards = 0; backwards < 2; backwards++) {
        asked a = {.backwards = backwards};
        attni_pool *pool = pool_of(5, false, (attn_pool){.run = run_one_after_another, .user = &a});
        job *j = new_job(5);
        if (!pool) return;
        attni_parallel(pool, MAX_WORKERS, 123, watched_task, j);
        attni_pool_destroy(pool);
        if (!every_task_ran_once(j, 123)) return;
        CHECK_INT(a.calls, 1);
        CHECK_INT(a.n_workers, 5);
        CHECK_INT(j->out_of_range + j->shared, 0);
    }
}

TEST(pool_of_the_caller_is_not_asked_for_what_one_thread_does) {
    asked a = {0};
    attni_pool *pool = pool_of(5, false, (attn_pool){.run = run_one_after_another, .user = &a});
    int64_t runs[1] = {0};
    if (!pool) return;
    attni_parallel(pool, MAX_WORKERS, 1, add_task, runs);
    attni_parallel(pool, MAX_WORKERS, 0, add_task, runs);
    attni_pool_destroy(pool);
    CHECK_INT(runs[0], 1);
    CHECK_INT(a.calls, 0);
}

TEST(pool_of_the_caller_needs_no_workers_of_ours) {
    asked a = {0};
    n_allocs = n_frees = 0;
    attni_pool *pool = pool_of(1000, false, (attn_pool){.run = run_one_after_another, .user = &a});
    if (!pool) return;
    CHECK_INT(n_allocs, 1); /* the pool itself */
    attni_pool_destroy(pool);
    CHECK_INT(n_frees, 1);
}
