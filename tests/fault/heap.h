/* SPDX-License-Identifier: Apache-2.0 */
/* heap.h - stands between the library and malloc and pthread_create: counts them, and lets one of
 * them fail. Programs link with heap.c and the --wrap options of CMakeLists.txt beside it. */
#ifndef HEAP_H
#define HEAP_H

#include <stdbool.h>

enum { HEAP_NEVER = -1 };

/* From now on: counts begin at 0, and allocation number `memory` and thread number `thread` (from 0,
 * HEAP_NEVER for none) fail once. */
void heap_watch(long memory, long thread);

long heap_allocs(void);  /* allocations since heap_watch(), the failed one included */
long heap_balance(void); /* allocations minus frees since heap_watch(), failures left out */
long heap_threads(void); /* threads started since heap_watch() and not joined */
bool heap_failed(void);  /* did the failure happen? */

#endif
