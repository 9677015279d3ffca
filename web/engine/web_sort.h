/* SPDX-License-Identifier: Apache-2.0 */
/* web_sort.h - qsort() in a few bytes: a heap sort, n log n for any input. Tests:
 * tests/web/test_web_libc.c */
#ifndef WEB_SORT_H
#define WEB_SORT_H

#include <stddef.h>

void web_qsort(void *list, size_t n, size_t size, int (*compare)(const void *, const void *));

#endif
