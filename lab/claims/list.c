/* SPDX-License-Identifier: Apache-2.0 */
/* list.c - all worked numbers and all claims, each in the order of the ids: rows of the files
 * beside it, joined once and only read afterwards.
 * Tests: tests/lab/test_claims.c */
#include "worked.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ROWS = 128 };

typedef struct joined {
    lab_claim row[MAX_ROWS];
    size_t n;
} joined;

static joined worked, claims;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void append(joined *all, const lab_claim_list *list) {
    for (size_t i = 0; i < list->n && all->n < MAX_ROWS; i++) all->row[all->n++] = list->claim[i];
}

/* C-6b: by number, then by letter. */
static int by_number(const void *a, const void *b) {
    const char *x = ((const lab_claim *)a)->id + 2, *y = ((const lab_claim *)b)->id + 2;
    const int number_x = atoi(x), number_y = atoi(y);
    return number_x != number_y ? number_x - number_y : strcmp(x, y);
}

static void join(void) {
#define X(file) append(&worked, &lab_##file);
    LAB_WORKED_FILES(X)
#undef X
#define X(file) append(&claims, &lab_##file);
    LAB_CLAIM_FILES(X)
#undef X
    qsort(claims.row, claims.n, sizeof *claims.row, by_number);
}

lab_claim_list lab_worked_numbers(void) {
    pthread_once(&once, join);
    return (lab_claim_list){worked.row, worked.n};
}

lab_claim_list lab_claims(void) {
    pthread_once(&once, join);
    return (lab_claim_list){claims.row, claims.n};
}
