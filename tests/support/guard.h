/* SPDX-License-Identifier: Apache-2.0 */
/* guard.h - memory that detects accesses beyond its ends: an inaccessible page lies directly
 * before or directly after the buffer (and another one at the other side of its page), and the
 * rest of the page holds a known byte. Where pages cannot be protected (wasm), there are only
 * the known bytes. */
#ifndef GUARD_H
#define GUARD_H

#include <stdbool.h>
#include <stddef.h>

enum { GUARD_FILL = 0xa5 }; /* what every byte holds at first, in the buffer and around it */

typedef enum guard_side {
    GUARD_BEFORE, /* the byte before the buffer is inaccessible; data is page-aligned */
    GUARD_AFTER   /* the byte after the buffer is inaccessible; data is aligned as size is */
} guard_side;

typedef struct guard {
    unsigned char *data; /* (size) */
    size_t size;
    unsigned char *open; /* (open_size) the accessible bytes, the buffer among them */
    size_t open_size;
    void *map; /* (map_size) everything */
    size_t map_size;
} guard;

/* False when there is no memory. A size of 0 gives an address that must not be touched. */
bool guard_alloc(guard *g, size_t size, guard_side side);
void guard_free(guard *g);
/* True while nobody has written beside the buffer. */
bool guard_intact(const guard *g);

/* When a guard page is hit, the program dies after printing this text (kept, not copied). */
void guard_explain(const char *text);

#endif
