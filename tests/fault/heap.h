/* SPDX-License-Identifier: Apache-2.0 */
/* heap.h - intercepts the library's calls of malloc and its thread creation: counts them, and makes
 * one of them fail. Programs link with heap.c and the --wrap options of CMakeLists.txt in this
 * directory. */
#ifndef HEAP_H
#define HEAP_H

#include <stdbool.h>

enum { HEAP_NEVER = -1 };

/* From now on heap_allocs() counts from 0; allocation number `memory` and thread number `thread`
 * (both from 0, HEAP_NEVER for none) fail, once. */
void heap_watch(long memory, long thread);

long heap_allocs(void);  /* allocations since heap_watch(), the failed one included */
bool heap_failed(void);  /* did the failure happen? */
long heap_live(void);    /* blocks that are allocated now */
long heap_threads(void); /* threads that are started and not joined now */

#endif
