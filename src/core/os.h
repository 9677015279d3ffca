/* SPDX-License-Identifier: Apache-2.0 */
/* os.h - everything the library needs from the operating system: threads, aligned memory, the
 * number of CPUs. The only header that depends on the system it is built for: POSIX (Linux, macOS),
 * Windows, or none (wasm, which has one thread). Tests: tests/core/test_os.c */
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

/* Runs main(arg) on a new thread, which blocks all signals. Keeps *thread until it is joined.
 * Returns 0 or an errno value. */
int attni_thread_start(attni_thread *thread, void (*main)(void *arg), void *arg);
void attni_thread_join(attni_thread *thread);
/* Pins a thread to the index-th CPU this process may use (modulo their number); does nothing where
 * that is not possible. */
void attni_thread_pin(attni_thread *thread, int index);
void attni_thread_yield(void);

void attni_mutex_init(attni_mutex *mutex);
void attni_mutex_destroy(attni_mutex *mutex);
void attni_mutex_lock(attni_mutex *mutex);
void attni_mutex_unlock(attni_mutex *mutex);

void attni_condition_init(attni_condition *condition);
void attni_condition_destroy(attni_condition *condition);
void attni_condition_wait(attni_condition *condition, attni_mutex *mutex);
/* The same with a timeout of about so many milliseconds (below 1000): false if it has expired. */
bool attni_condition_wait_for(attni_condition *condition, attni_mutex *mutex, int milliseconds);
void attni_condition_signal(attni_condition *condition);
void attni_condition_broadcast(attni_condition *condition);

/* Returns at least `size` bytes (also a valid pointer if size is 0), aligned to `align`, a power of
 * two of at least sizeof(void *); NULL if out of memory. Free them with attni_memory_free()
 * only. */
void *attni_memory_alloc(size_t size, size_t align);
void attni_memory_free(void *memory);

/* The number of CPUs this process can keep busy, at least 1: those it may run on, or fewer under a
 * CPU quota. */
int attni_cpu_count(void);

/* A number that differs between a process and every child it forks, directly or indirectly (outside
 * Linux, unless the system reuses a process id); a constant where there is no fork(). */
int64_t attni_process_id(void);

#endif
