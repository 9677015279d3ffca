/* SPDX-License-Identifier: Apache-2.0 */
/* web_memory.h - see web_memory.c. Alignments up to 64. */
#ifndef WEB_MEMORY_H
#define WEB_MEMORY_H

#include <stddef.h>

void *web_malloc(size_t bytes);
void web_free(void *memory);
void *web_calloc(size_t n, size_t size);
void *web_realloc(void *memory, size_t bytes);
void *web_aligned_alloc(size_t align, size_t bytes);

#endif
