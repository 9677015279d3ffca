/* SPDX-License-Identifier: Apache-2.0 */
/* os.h - everything the library asks of the operating system: threads, aligned memory, the CPUs of
 * this process. The only header that knows which system it is built for: POSIX (Linux, macOS),
 * Windows, or none (wasm, where there is one thread). Tests: tests/core/test_os.c */
#ifndef ATTNI_OS_H
#define ATTNI_OS_H

#include "core/base.h"

#if defined(_WIN32)
#define ATTNI_HAVE_THREADS 1
/* Each of these Windows types is one pointer; os.c checks it. */
typedef void *attni_thread_handle;
typedef void *attni_mutex;
typedef void *attni_condition;
#elif defined(__wasm__) && !defined(_REENTRANT)
#define ATTNI_HAVE_THREADS 0
typedef char attni_thread_handle;
typedef char attni_mutex;
typedef char attni_condition;
#else
#define ATTNI_HAVE_THREADS 1
#include <pthread.h>
typedef pthread_t attni_thread_handle;
typedef pthread_mutex_t attni_mutex;
typedef pthread_cond_t attni_condition;
#endif

typedef struct attni_thread {
    void (*main)(void *arg);
    void *arg;
    attni_thread_handle handle;
} attni_thread;

/* Runs main(arg) on a new thread, which handles no signal. Keeps *thread until it is joined.
 * Returns 0 or an errno value. */
int attni_thread_start(attni_thread *thread, void (*main)(void *arg), void *arg);
void attni_thread_join(attni_thread *thread);
/* Keeps a thread on the index-th CPU this process may use (modulo their number); does nothing
 * where it cannot. */
void attni_thread_pin(attni_thread *thread, int index);
void attni_thread_yield(void);

void attni_mutex_init(attni_mutex *mutex);
void attni_mutex_destroy(attni_mutex *mutex);
void attni_mutex_lock(attni_mutex *mutex);
void attni_mutex_unlock(attni_mutex *mutex);

void attni_condition_init(attni_condition *condition);
void attni_condition_destroy(attni_condition *condition);
void attni_condition_wait(attni_condition *condition, attni_mutex *mutex);
void attni_condition_signal(attni_condition *condition);
void attni_condition_broadcast(attni_condition *condition);

/* At least `size` bytes (0 gives some too) at a multiple of `align`, a power of two from
 * sizeof(void *) on; NULL when there are none. Only attni_memory_free() may free them. */
void *attni_memory_alloc(size_t size, size_t align);
void attni_memory_free(void *memory);

/* CPUs this process may keep busy, at least 1: those it may run on, fewer under a CPU quota. */
int attni_cpu_count(void);

/* Changes in a child of fork(); a constant where there is no fork(). */
int64_t attni_process_id(void);

#endif
