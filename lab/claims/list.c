/* SPDX-License-Identifier: Apache-2.0 */
/* list.c - all worked numbers and all claims, each in the order of the ids: the rows of the files
 * in this folder, joined once and only read afterwards. Tests: tests/lab/test_claims.c */
#include "core/os.h"
#include "worked.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ROWS = 128 };

typedef struct joined {
    lab_claim row[MAX_ROWS];
    size_t n;
} joined;

static joined worked, claims;
static atomic_int progress; /* 0 not started, 1 a thread is joining them, 2 done */

static void append(joined *all, const lab_claim_list *list) {
    for (size_t i = 0; i < list->n && all->n < MAX_ROWS; i++) all->row[all->n++] = list->claim[i];
}

/* By number, then by letter: C-6b follows C-6a. */
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

static void join_once(void) {
    int begun = 0;
    if (atomic_compare_exchange_strong(&progress, &begun, 1)) {
        join();
        atomic_store(&progress, 2);
    }
    while (atomic_load(&progress) != 2) attni_thread_yield();
}

lab_claim_list lab_worked_numbers(void) {
    join_once();
    return (lab_claim_list){worked.row, worked.n};
}

lab_claim_list lab_claims(void) {
    join_once();
    return (lab_claim_list){claims.row, claims.n};
}

/* ------------------------------------------------------------------------------------------ ids */

/* Whether the comma-separated list contains the word. */
static bool lists(const char *list, const char *word) {
    const size_t length = strlen(word);
    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        if (*at == ',') at++;
        if (strncmp(at, word, length) == 0 && (at[length] == ',' || at[length] == 0)) return true;
    }
    return false;
}

bool lab_claim_has_id(const lab_claim *claim, const char *id) {
    return strcmp(claim->id, id) == 0 || (claim->also && *id && lists(claim->also, id));
}

const char *lab_claim_stated(const lab_claim *claim) {
    return claim->stated ? claim->stated : "not stated";
}

const char *lab_claim_not_computed(const char *id) {
    static const struct {
        const char *id, *why;
    } remark[] = {
        {"001-21", "the code listing of document 001 does not run as printed: a string is broken "
                   "across lines, and it imports a module that is not given"},
        {"003-19", "the quiz of document 003 has seven items whose answers are letters without "
                   "content; `attn learn quiz` has questions with content"},
    };
    for (size_t i = 0; i < sizeof remark / sizeof *remark; i++) {
        if (strcmp(id, remark[i].id) == 0) return remark[i].why;
    }
    return NULL;
}
