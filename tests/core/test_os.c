/* SPDX-License-Identifier: Apache-2.0 */
/* test_os.c - src/core/os.c: threads, locks, aligned memory, CPUs, on whatever system this is. */
#include "check.h"
#include "core/os.h"

#include <stdint.h>

#if !defined(_WIN32) && !defined(__wasm__)
#include <signal.h>
#endif
#if defined(__linux__)
#include <sys/wait.h>
#include <unistd.h>
#endif

TEST(memory_is_aligned_and_writable) {
    for (size_t align = sizeof(void *); align <= 4096; align *= 2) {
        for (size_t size = 0; size <= 300; size += 25) {
            char *memory = attni_memory_alloc(size, align);
            CHECK_MSG(memory && (uintptr_t)memory % align == 0, "%zu bytes for %zu are at %p", size,
                      align, (void *)memory);
            memset(memory, 1, size);
            attni_memory_free(memory);
        }
    }
    attni_memory_free(NULL);
}

TEST(memory_beyond_the_address_space_is_refused) {
    CHECK(attni_memory_alloc(SIZE_MAX - 5, 64) == NULL);
}

TEST(there_is_a_cpu) { CHECK(attni_cpu_count() >= 1); }

#if ATTNI_HAVE_THREADS

/* A ball that two threads hand to each other. */
typedef struct game {
    attni_mutex mutex;
    attni_condition moved;
    int holder, throws;
} game;

enum { THROWS = 1000 };

static void play(game *g, int self) {
    attni_mutex_lock(&g->mutex);
    for (int n = 0; n < THROWS; n++) {
        while (g->holder != self) attni_condition_wait(&g->moved, &g->mutex);
        g->throws++;
        g->holder = 1 - self;
        attni_condition_signal(&g->moved);
    }
    attni_mutex_unlock(&g->mutex);
}

static void other_player(void *arg) { play(arg, 1); }

TEST(threads_wait_for_each_other) {
    game g = {.holder = 1};
    attni_thread thread;
    attni_mutex_init(&g.mutex);
    attni_condition_init(&g.moved);
    CHECK_INT(attni_thread_start(&thread, other_player, &g), 0);
    play(&g, 0);
    attni_thread_join(&thread);
    attni_condition_destroy(&g.moved);
    attni_mutex_destroy(&g.mutex);
    CHECK_INT(g.throws, 2 * THROWS);
}

TEST(a_wait_for_some_time_ends_without_a_signal) {
    game g = {0};
    int woken = 0; /* for no reason, which is allowed */
    attni_mutex_init(&g.mutex);
    attni_condition_init(&g.moved);
    attni_mutex_lock(&g.mutex);
    while (woken < 100 && attni_condition_wait_for(&g.moved, &g.mutex, 3)) woken++;
    attni_mutex_unlock(&g.mutex);
    attni_condition_destroy(&g.moved);
    attni_mutex_destroy(&g.mutex);
    CHECK(woken < 100);
}

static void throw_once(void *arg) {
    game *g = arg;
    attni_mutex_lock(&g->mutex);
    g->throws++;
    attni_condition_signal(&g->moved);
    attni_mutex_unlock(&g->mutex);
}

TEST(a_wait_for_some_time_ends_with_a_signal) {
    game g = {0};
    int timeouts = 0;
    attni_thread thread;
    attni_mutex_init(&g.mutex);
    attni_condition_init(&g.moved);
    attni_mutex_lock(&g.mutex); /* the thread cannot signal before the wait */
    CHECK_INT(attni_thread_start(&thread, throw_once, &g), 0);
    while (g.throws == 0 && timeouts < 60)
        timeouts += !attni_condition_wait_for(&g.moved, &g.mutex, 999);
    attni_mutex_unlock(&g.mutex);
    attni_thread_join(&thread);
    attni_condition_destroy(&g.moved);
    attni_mutex_destroy(&g.mutex);
    CHECK_INT(g.throws, 1);
    CHECK_MSG(timeouts < 60, "woke up %d times in vain", timeouts);
}

static void note(void *arg) {
    attni_thread_yield();
    *(int *)arg = 42;
}

TEST(join_shows_what_the_thread_wrote) {
    int noted = 0;
    attni_thread thread;
    CHECK_INT(attni_thread_start(&thread, note, &noted), 0);
    attni_thread_pin(&thread, 1000000007);
    attni_thread_join(&thread);
    CHECK_INT(noted, 42);
}

#if !defined(_WIN32)
static void read_mask(void *arg) { pthread_sigmask(SIG_SETMASK, NULL, arg); }

TEST(threads_block_every_signal_and_the_caller_keeps_its_mask) {
    sigset_t own, before, after;
    attni_thread thread;
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    CHECK_INT(attni_thread_start(&thread, read_mask, &own), 0);
    attni_thread_join(&thread);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    const int asked[] = {SIGINT, SIGTERM, SIGHUP, SIGALRM, SIGUSR1, SIGPROF, SIGCHLD};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        CHECK_MSG(sigismember(&own, asked[i]) == 1, "signal %d is not blocked", asked[i]);
        CHECK_INT(sigismember(&after, asked[i]), sigismember(&before, asked[i]));
    }
}
#endif

#if defined(__linux__)
/* What a process id that comes again leaves as the difference. */
static int64_t id_without_pid(void) { return attni_process_id() - getpid(); }

TEST(process_ids_differ_between_ancestors_by_more_than_the_pid) {
    const int64_t own = attni_process_id(), rest = id_without_pid();
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        const int64_t child_rest = id_without_pid();
        const pid_t grandchild = fork();
        if (grandchild == 0) _exit(id_without_pid() == rest || id_without_pid() == child_rest);
        const bool ended = grandchild > 0 && waitpid(grandchild, &status, 0) == grandchild;
        _exit(!ended || status != 0 || child_rest == rest);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK_INT(status, 0);
    CHECK_INT(attni_process_id(), own);
}
#endif

#else

static void never(void *arg) { (void)arg; }

TEST(a_thread_is_refused_where_there_are_none) {
    attni_thread thread;
    CHECK(attni_thread_start(&thread, never, NULL) != 0);
}

#endif
