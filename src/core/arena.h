/* SPDX-License-Identifier: Apache-2.0 */
/* arena.h - lays out one block of memory: parts follow one another, each 64-byte aligned. The same
 * walk measures the block and, once there is memory, hands out its parts. An overflow is
 * remembered: check `overflow` after the walk. Tests: tests/core/test_core.c
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

/* Reserves a (rows, columns) matrix and returns where it begins, in bytes from the base. */
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

/* The same as a pointer; NULL while only measuring. */
static inline void *attni_arena_take(attni_arena *arena, size_t rows, size_t columns, size_t size) {
    const size_t at = attni_arena_place(arena, rows, columns, size);
    return arena->base ? arena->base + at : NULL;
}

#endif
