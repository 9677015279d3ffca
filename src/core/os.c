/* SPDX-License-Identifier: Apache-2.0 */
/* os.c - see os.h: one section per system. */
#if defined(_WIN32) && !defined(_WIN32_WINNT)
#define _WIN32_WINNT 0x0601 /* Windows 7: locks of one pointer, processor groups */
#endif
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* CPU_COUNT, sched_getaffinity, pthread_setaffinity_np */
#endif
#include "core/os.h"

#include <stdlib.h>

#if defined(_WIN32)
/* ------------------------------------------------------------------------------------- Windows */
#define WIN32_LEAN_AND_MEAN
#include <errno.h>
#include <malloc.h>
#include <process.h>
#include <windows.h>

_Static_assert(sizeof(SRWLOCK) == sizeof(attni_mutex), "attni_mutex holds an SRWLOCK");
_Static_assert(sizeof(CONDITION_VARIABLE) == sizeof(attni_condition),
               "attni_condition holds a CONDITION_VARIABLE");

static unsigned __stdcall run_thread(void *arg) {
    const attni_thread *thread = arg;
    thread->main(thread->arg);
    return 0;
}

int attni_thread_start(attni_thread *thread, void (*main)(void *arg), void *arg) {
    thread->main = main;
    thread->arg = arg;
    const uintptr_t handle = _beginthreadex(NULL, 0, run_thread, thread, 0, NULL);
    thread->handle = (void *)handle;
    return handle ? 0 : errno;
}

void attni_thread_join(attni_thread *thread) {
    WaitForSingleObject(thread->handle, INFINITE);
    CloseHandle(thread->handle);
}

/* The CPUs of the process in its processor group, one bit each; 0 when it spans several groups. */
static DWORD_PTR allowed_cpus(void) {
    DWORD_PTR process = 0, machine = 0;
    return GetProcessAffinityMask(GetCurrentProcess(), &process, &machine) ? process : 0;
}

static int count_bits(DWORD_PTR mask) {
    int n = 0;
    for (; mask != 0; mask &= mask - 1) n++;
    return n;
}

void attni_thread_pin(attni_thread *thread, int index) {
    DWORD_PTR mask = allowed_cpus();
    if (mask == 0) return;
    for (int rank = index % count_bits(mask); rank > 0; rank--) mask &= mask - 1;
    SetThreadAffinityMask(thread->handle, mask & (~mask + 1));
}

void attni_thread_yield(void) { SwitchToThread(); }

void attni_mutex_init(attni_mutex *mutex) { InitializeSRWLock((SRWLOCK *)mutex); }
void attni_mutex_destroy(attni_mutex *mutex) { (void)mutex; }
void attni_mutex_lock(attni_mutex *mutex) { AcquireSRWLockExclusive((SRWLOCK *)mutex); }
void attni_mutex_unlock(attni_mutex *mutex) { ReleaseSRWLockExclusive((SRWLOCK *)mutex); }

void attni_condition_init(attni_condition *condition) {
    InitializeConditionVariable((CONDITION_VARIABLE *)condition);
}
void attni_condition_destroy(attni_condition *condition) { (void)condition; }
void attni_condition_wait(attni_condition *condition, attni_mutex *mutex) {
    SleepConditionVariableSRW((CONDITION_VARIABLE *)condition, (SRWLOCK *)mutex, INFINITE, 0);
}
bool attni_condition_wait_for(attni_condition *condition, attni_mutex *mutex, int milliseconds) {
    return SleepConditionVariableSRW((CONDITION_VARIABLE *)condition, (SRWLOCK *)mutex,
                                     (DWORD)milliseconds, 0);
}
void attni_condition_signal(attni_condition *condition) {
    WakeConditionVariable((CONDITION_VARIABLE *)condition);
}
void attni_condition_broadcast(attni_condition *condition) {
    WakeAllConditionVariable((CONDITION_VARIABLE *)condition);
}

void *attni_memory_alloc(size_t size, size_t align) {
    if (size > PTRDIFF_MAX) return NULL; /* _aligned_malloc() may overflow */
    return _aligned_malloc(size > 0 ? size : 1, align);
}
void attni_memory_free(void *memory) { _aligned_free(memory); }

int attni_cpu_count(void) {
    const DWORD_PTR mask = allowed_cpus();
    const int n = mask ? count_bits(mask) : (int)GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
    return n > 0 ? n : 1;
}

int64_t attni_process_id(void) { return 0; }

#else
/* ----------------------------------------------------------------------- memory outside Windows */

#ifdef __linux__
#include <sys/mman.h>
/* Large blocks are read in large strides (caches of keys and values), where the address translation
 * of small pages costs as much as the memory itself. */
enum { HUGE_PAGE = 2 << 20, LARGE_BLOCK = 4 * HUGE_PAGE };

static void *ask_for_huge_pages(void *memory, size_t size) {
    if (memory && size >= LARGE_BLOCK) madvise(memory, size, MADV_HUGEPAGE); /* a hint: may fail */
    return memory;
}
#else
enum { HUGE_PAGE = 1, LARGE_BLOCK = 1 };
static void *ask_for_huge_pages(void *memory, size_t size) { return (void)size, memory; }
#endif

void *attni_memory_alloc(size_t size, size_t align) {
    size_t rounded; /* aligned_alloc() takes multiples only, and may give NULL for none */
    if (size >= LARGE_BLOCK && align < HUGE_PAGE) align = HUGE_PAGE;
    if (!attni_add(size > 0 ? size : 1, align - 1, &rounded)) return NULL;
    rounded = rounded / align * align;
    return ask_for_huge_pages(aligned_alloc(align, rounded), rounded);
}

void attni_memory_free(void *memory) { free(memory); }

#if ATTNI_HAVE_THREADS
/* --------------------------------------------------------------------------------------- POSIX */
#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

static void *run_thread(void *arg) {
    const attni_thread *thread = arg;
    thread->main(thread->arg);
    return NULL;
}

/* A new thread inherits the signal mask: with everything blocked while it is created, no handler of
 * the caller ever runs on it. */
int attni_thread_start(attni_thread *thread, void (*main)(void *arg), void *arg) {
    sigset_t all, before;
    thread->main = main;
    thread->arg = arg;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int code = pthread_create(&thread->handle, NULL, run_thread, thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code;
}

void attni_thread_join(attni_thread *thread) { pthread_join(thread->handle, NULL); }
void attni_thread_yield(void) { sched_yield(); }

void attni_mutex_init(attni_mutex *mutex) { pthread_mutex_init(mutex, NULL); }
void attni_mutex_destroy(attni_mutex *mutex) { pthread_mutex_destroy(mutex); }
void attni_mutex_lock(attni_mutex *mutex) { pthread_mutex_lock(mutex); }
void attni_mutex_unlock(attni_mutex *mutex) { pthread_mutex_unlock(mutex); }

#if defined(__APPLE__)
void attni_condition_init(attni_condition *condition) { pthread_cond_init(condition, NULL); }
bool attni_condition_wait_for(attni_condition *condition, attni_mutex *mutex, int milliseconds) {
    const struct timespec time = {.tv_nsec = milliseconds * 1000000L};
    return pthread_cond_timedwait_relative_np(condition, mutex, &time) == 0;
}
#else
/* Waits on the monotonic clock, which nobody can set. */
void attni_condition_init(attni_condition *condition) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}
bool attni_condition_wait_for(attni_condition *condition, attni_mutex *mutex, int milliseconds) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += milliseconds * 1000000L;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    return pthread_cond_timedwait(condition, mutex, &until) == 0;
}
#endif
void attni_condition_destroy(attni_condition *condition) { pthread_cond_destroy(condition); }
void attni_condition_wait(attni_condition *condition, attni_mutex *mutex) {
    pthread_cond_wait(condition, mutex);
}
void attni_condition_signal(attni_condition *condition) { pthread_cond_signal(condition); }
void attni_condition_broadcast(attni_condition *condition) { pthread_cond_broadcast(condition); }

static int online_cpus(void) {
    const long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (int)n : 1;
}

#if defined(__linux__)
#include "core/quota.h"

void attni_thread_pin(attni_thread *thread, int index) {
    cpu_set_t allowed, one;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
    int rank = index % CPU_COUNT(&allowed);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &allowed) || rank-- > 0) continue;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        pthread_setaffinity_np(thread->handle, sizeof one, &one);
        return;
    }
}

int attni_cpu_count(void) {
    cpu_set_t set;
    const int allowed =
        sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : online_cpus();
    const int quota = attni_quota_cpus("");
    return quota > 0 && quota < allowed ? quota : allowed;
}

/* The number of calls of fork() between the process that loaded the library and this one. Only a
 * child writes it, while it has a single thread. */
static int n_forks;

static void count_fork(void) { n_forks++; }
static void count_forks(void) { pthread_atfork(NULL, NULL, count_fork); }

/* A process id is reused after its process has ended; the count is not. The id is there for
 * children of _Fork() and clone(), which call no handler. */
int64_t attni_process_id(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, count_forks);
    return (int64_t)n_forks << 32 | getpid();
}
#else
void attni_thread_pin(attni_thread *thread, int index) { (void)thread, (void)index; }
int attni_cpu_count(void) { return online_cpus(); }
/* No count of forks here: a library that is unloaded may leave its handlers behind. */
int64_t attni_process_id(void) { return getpid(); }
#endif

#else
/* --------------------------------------------------------------------------- a single thread */
#include <errno.h>

int attni_thread_start(attni_thread *thread, void (*main)(void *arg), void *arg) {
    (void)thread, (void)main, (void)arg;
    return ENOSYS;
}
void attni_thread_join(attni_thread *thread) { (void)thread; }
void attni_thread_pin(attni_thread *thread, int index) { (void)thread, (void)index; }
void attni_thread_yield(void) {}

void attni_mutex_init(attni_mutex *mutex) { (void)mutex; }
void attni_mutex_destroy(attni_mutex *mutex) { (void)mutex; }
void attni_mutex_lock(attni_mutex *mutex) { (void)mutex; }
void attni_mutex_unlock(attni_mutex *mutex) { (void)mutex; }

void attni_condition_init(attni_condition *condition) { (void)condition; }
void attni_condition_destroy(attni_condition *condition) { (void)condition; }
void attni_condition_wait(attni_condition *condition, attni_mutex *mutex) {
    (void)condition, (void)mutex;
}
bool attni_condition_wait_for(attni_condition *condition, attni_mutex *mutex, int milliseconds) {
    (void)condition, (void)mutex, (void)milliseconds;
    return true;
}
void attni_condition_signal(attni_condition *condition) { (void)condition; }
void attni_condition_broadcast(attni_condition *condition) { (void)condition; }

int attni_cpu_count(void) { return 1; }
int64_t attni_process_id(void) { return 0; }
#endif
#endif
