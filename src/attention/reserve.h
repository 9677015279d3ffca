/* SPDX-License-Identifier: Apache-2.0 */
/* reserve.h - lays out a workspace: counts bytes, each part 64-byte aligned; the first overflow
 * sticks. */
#ifndef ATTNI_RESERVE_H
#define ATTNI_RESERVE_H

#include "core/base.h"

typedef struct attni_counter {
    size_t used;
    bool overflow;
} attni_counter;

/* Reserves a (rows, columns) matrix and returns where it begins. */
static inline size_t attni_reserve(attni_counter *c, size_t rows, size_t columns, size_t size) {
    const size_t at = c->used;
    size_t bytes;
    if (!attni_mul(rows, columns, &bytes) || !attni_mul(bytes, size, &bytes) ||
        !attni_add(bytes, 63, &bytes) || !attni_add(at, bytes / 64 * 64, &c->used)) {
        c->overflow = true;
    }
    return at;
}

#endif
