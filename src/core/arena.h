/* SPDX-License-Identifier: Apache-2.0 */
/* arena.h - lays out one block of memory in consecutive parts, each 64-byte aligned. The same
 * sequence of calls first measures the block and then, once memory is allocated, returns its parts.
 * An overflow is recorded: check attni_arena_fits() at the end. Tests: tests/core/test_core.c
 *
 *     base                                                              used
 *     | part 0        |pad| part 1   |pad| part 2                    |pad|
 *     ^ 64-byte aligned   ^              ^                               ^                     */
#ifndef ATTNI_ARENA_H
#define ATTNI_ARENA_H

#include "core/base.h"

typedef struct attni_arena {
    char *base;  /* NULL while only measuring */
    size_t used; /* bytes, a multiple of 64 */
    bool overflow;
} attni_arena;

/* Reserves a (rows, columns) matrix and returns its offset from the base in bytes. */
static inline size_t attni_arena_place(attni_arena *arena, size_t rows, size_t columns,
                                       size_t size) {
    const size_t at = arena->used;
    size_t bytes;
    if (!attni_mul(rows, columns, &bytes) || !attni_mul(bytes, size, &bytes) ||
        !attni_add(bytes, 63, &bytes) || !attni_add(at, bytes / 64 * 64, &arena->used)) {
        arena->overflow = true;
    }
    return at;
}

/* Reserves an array of this shape (all dimensions >= 0) and returns its address, or NULL while only
 * measuring. */
static inline void *attni_arena_take(attni_arena *arena, int rank, const int64_t *shape,
                                     size_t size) {
    size_t n = 1;
    for (int d = 0; d < rank; d++) {
        if (shape[d] > PTRDIFF_MAX || !attni_mul(n, (size_t)shape[d], &n)) arena->overflow = true;
    }
    const size_t at = attni_arena_place(arena, n, 1, size);
    return arena->base ? arena->base + at : NULL;
}

/* Whether the block can be allocated: no size has overflowed. */
static inline bool attni_arena_fits(const attni_arena *arena) {
    return !arena->overflow && arena->used <= PTRDIFF_MAX;
}

#endif
