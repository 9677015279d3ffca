/* SPDX-License-Identifier: Apache-2.0 */
/* web_sort.c - see web_sort.h. */
#include "web_sort.h"

typedef int comparison(const void *, const void *);

static void swap(char *a, char *b, size_t size) {
    for (size_t i = 0; i < size; i++) {
        const char kept = a[i];
        a[i] = b[i];
        b[i] = kept;
    }
}

/* Sifts the element at `at` down until no child is larger. */
static void sift_down(char *list, size_t n, size_t size, size_t at, comparison *compare) {
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        char *larger = list + child * size;
        if (child + 1 < n && compare(larger, larger + size) < 0) {
            larger += size;
            child++;
        }
        if (compare(list + at * size, larger) >= 0) return;
        swap(list + at * size, larger, size);
    }
}

void web_qsort(void *list, size_t n, size_t size, comparison *compare) {
    for (size_t at = n / 2; at-- > 0;) sift_down(list, n, size, at, compare);
    for (size_t end = n; end-- > 1;) {
        swap(list, (char *)list + end * size, size);
        sift_down(list, end, size, 0, compare);
    }
}

#ifdef __wasm__
void qsort(void *list, size_t n, size_t size, comparison *compare)
    __attribute__((alias("web_qsort")));
#endif
