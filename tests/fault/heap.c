/* SPDX-License-Identifier: Apache-2.0 */
/* heap.c - see heap.h. The linker turns calls of malloc() into __wrap_malloc() and gives us the
 * real one as __real_malloc(); only objects of this program and of libattn are redirected. */
#include "heap.h"

#include "core/os.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

static atomic_long n_allocs, n_live, n_threads, n_creations;
static atomic_long failing_alloc = HEAP_NEVER, failing_thread = HEAP_NEVER;
static atomic_bool has_failed;

/* The first getenv() allocates in wasi-libc, and ends the program if it cannot. */
__attribute__((constructor)) static void settle(void) { getenv(""); }

void heap_watch(long memory, long thread) {
    n_allocs = n_creations = 0;
    has_failed = false;
    failing_alloc = memory;
    failing_thread = thread;
}

long heap_allocs(void) { return n_allocs; }
long heap_live(void) { return n_live; }
long heap_threads(void) { return n_threads; }
bool heap_failed(void) { return has_failed; }

/* Is it this allocation's turn to fail? */
static bool fails(void) {
    if (atomic_fetch_add(&n_allocs, 1) != failing_alloc) return false;
    has_failed = true;
    return true;
}

static void *counted(void *memory) {
    n_live += memory != NULL;
    return memory;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *memory, size_t size);
void __real_free(void *memory);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void __wrap_free(void *memory);

void *__wrap_malloc(size_t size) { return fails() ? NULL : counted(__real_malloc(size)); }

void *__wrap_calloc(size_t n, size_t size) {
    return fails() ? NULL : counted(__real_calloc(n, size));
}

void *__wrap_realloc(void *memory, size_t size) {
    if (fails()) return NULL;
    return memory ? __real_realloc(memory, size) : counted(__real_realloc(memory, size));
}

void __wrap_free(void *memory) {
    n_live -= memory != NULL;
    __real_free(memory);
}

#if defined(_WIN32) /* aligned memory has its own pair of functions there, not malloc's free() */
void *__real_attni_memory_alloc(size_t size, size_t align);
void __real_attni_memory_free(void *memory);
void *__wrap_attni_memory_alloc(size_t size, size_t align);
void __wrap_attni_memory_free(void *memory);

void *__wrap_attni_memory_alloc(size_t size, size_t align) {
    return fails() ? NULL : counted(__real_attni_memory_alloc(size, align));
}

void __wrap_attni_memory_free(void *memory) {
    n_live -= memory != NULL;
    __real_attni_memory_free(memory);
}
#else
void *__real_aligned_alloc(size_t align, size_t size);
void *__wrap_aligned_alloc(size_t align, size_t size);

void *__wrap_aligned_alloc(size_t align, size_t size) {
    return fails() ? NULL : counted(__real_aligned_alloc(align, size));
}
#endif

int __real_attni_thread_start(attni_thread *thread, void (*main)(void *arg), void *arg);
int __wrap_attni_thread_start(attni_thread *thread, void (*main)(void *arg), void *arg);
void __real_attni_thread_join(attni_thread *thread);
void __wrap_attni_thread_join(attni_thread *thread);

int __wrap_attni_thread_start(attni_thread *thread, void (*main)(void *arg), void *arg) {
    if (atomic_fetch_add(&n_creations, 1) == failing_thread) {
        has_failed = true;
        return EAGAIN;
    }
    n_threads++;
    return __real_attni_thread_start(thread, main, arg);
}

void __wrap_attni_thread_join(attni_thread *thread) {
    n_threads--;
    __real_attni_thread_join(thread);
}
