/* SPDX-License-Identifier: Apache-2.0 */
/* web_memory.c - malloc and related functions in a tenth of libc's code. Blocks lie side by side
 * from the end of the program's data, each after a header of 64 bytes and a multiple of 64 long, so
 * that every block suits aligned_alloc(64). Free blocks form a list in the order of addresses; the
 * first that is large enough is taken, and neighbours are joined. There are few blocks at a time,
 * so the list is short. One thread. Tests: web/tests/engine.test.mjs (memory does not grow),
 * tests/web/test_web_libc.c */
#include "web_memory.h"

#include <stdint.h>
#include <string.h>

enum { UNIT = 64 };

typedef struct block {
    _Alignas(UNIT) size_t size; /* of the whole block, including the header */
    struct block *next;         /* the next free block, if this one is free */
} block;

static block *first_free;

/* New memory of at least size bytes, directly after that of the last call; NULL if there is
 * none. */
static block *more(size_t size);

static block *after(block *b) { return (block *)(void *)((char *)b + b->size); }

/* Adds a block to the free list and joins it with its neighbours. */
static void release(block *b) {
    block *before = NULL, *next = first_free;
    for (; next && next < b; next = next->next) before = next;
    b->next = next;
    if (before)
        before->next = b;
    else
        first_free = b;
    if (next && after(b) == next) {
        b->size += next->size;
        b->next = next->next;
    }
    if (before && after(before) == b) {
        before->size += b->size;
        before->next = b->next;
    }
}

/* Cuts the block to size; the rest becomes free. */
static void trim(block *b, size_t size) {
    if (b->size - size < 2 * UNIT) return;
    block *rest = (block *)(void *)((char *)b + size);
    rest->size = b->size - size;
    b->size = size;
    release(rest);
}

static block *take_free(size_t size) {
    for (block **at = &first_free; *at; at = &(*at)->next) {
        block *b = *at;
        if (b->size < size) continue;
        *at = b->next;
        return b;
    }
    return NULL;
}

/* The size of the block for that many bytes; 0 if it is too large. */
static size_t whole(size_t bytes) {
    return bytes > PTRDIFF_MAX - 2 * UNIT ? 0 : (bytes + 2 * UNIT - 1) / UNIT * UNIT;
}

void *web_malloc(size_t bytes) {
    const size_t size = whole(bytes);
    block *b = size ? take_free(size) : NULL;
    if (!b && size) {
        b = more(size);
        if (b) release(b); /* joins what is free before it */
        b = b ? take_free(size) : NULL;
    }
    if (!b) return NULL;
    trim(b, size);
    return b + 1;
}

void web_free(void *memory) {
    if (memory) release((block *)memory - 1);
}

void *web_calloc(size_t n, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes)) return NULL;
    void *memory = web_malloc(bytes);
    return memory ? memset(memory, 0, bytes) : NULL;
}

void *web_realloc(void *memory, size_t bytes) {
    void *larger = web_malloc(bytes);
    if (!memory || !larger) return larger;
    const size_t had = ((block *)memory - 1)->size - UNIT;
    memcpy(larger, memory, had < bytes ? had : bytes);
    web_free(memory);
    return larger;
}

void *web_aligned_alloc(size_t align, size_t bytes) {
    return align <= UNIT ? web_malloc(bytes) : NULL;
}

#ifdef __wasm__
/* ------------------------------------------------------------------------- in the place of libc */

enum { PAGE = 65536 };

static block *more(size_t size) {
    extern char __heap_base; /* set by the linker: where the program's data ends */
    static uintptr_t end;
    if (!end) { /* the rest of the first pages */
        const uintptr_t base = ((uintptr_t)&__heap_base + UNIT - 1) / UNIT * UNIT;
        end = __builtin_wasm_memory_size(0) * PAGE;
        if (end - base >= 2 * UNIT) {
            block *rest = (block *)base;
            rest->size = end - base;
            release(rest);
        }
    }
    const size_t pages = (size + PAGE - 1) / PAGE;
    if (__builtin_wasm_memory_grow(0, pages) == (size_t)-1) return NULL;
    block *b = (block *)end;
    b->size = pages * PAGE;
    end += b->size;
    return b;
}

void *malloc(size_t bytes) __attribute__((alias("web_malloc")));
void free(void *memory) __attribute__((alias("web_free")));
void *calloc(size_t n, size_t size) __attribute__((alias("web_calloc")));
void *realloc(void *memory, size_t bytes) __attribute__((alias("web_realloc")));
void *aligned_alloc(size_t align, size_t bytes) __attribute__((alias("web_aligned_alloc")));
#else

/* Native builds, for tests: one megabyte. */
static block *more(size_t size) {
    static _Alignas(UNIT) char room[1 << 20];
    static size_t used;
    if (size > sizeof room - used) return NULL;
    block *b = (block *)(void *)(room + used);
    b->size = size;
    used += size;
    return b;
}
#endif
