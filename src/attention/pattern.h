/* SPDX-License-Identifier: Apache-2.0 */
/* pattern.h - a pattern as sorted key intervals per row, and the builder that maintains this
 * invariant. The engine reads rows through attni_pattern_row(); pattern.c and pattern_make.c build
 * patterns. Writes only to the memory of the pattern. Tests: tests/attention/test_pattern.c */
#ifndef ATTNI_PATTERN_H
#define ATTNI_PATTERN_H

#include "core/base.h"

typedef struct attni_run {
    int64_t lo, hi; /* keys lo .. hi-1 */
} attni_run;

/* Invariant: the runs of a row are non-empty, ascending and never touch, so that equal patterns
 * have equal runs. */
struct attn_pattern {
    int64_t n_q, n_k;
    int64_t count;    /* visible pairs */
    int64_t *row_ptr; /* (n_q + 1) row i has runs row_ptr[i] .. row_ptr[i+1]-1 */
    attni_run *runs;  /* (row_ptr[n_q]) or NULL if there are none */
    attn_alloc alloc; /* all of this memory comes from it */
};

/* The runs of row i; *n gets their number, which may be 0 (then do not read). */
static inline const attni_run *attni_pattern_row(const attn_pattern *m, int64_t i, int64_t *n) {
    attni_assert(i >= 0 && i < m->n_q);
    *n = m->row_ptr[i + 1] - m->row_ptr[i];
    return *n > 0 ? m->runs + m->row_ptr[i] : NULL;
}

/* Builds one pattern row by row: begin, then for each row add... and end_row, then finish. After a
 * failure later calls do nothing, and finish reports it. */
typedef struct attni_pattern_builder {
    attn_pattern *pattern; /* rows before `row` are complete */
    int64_t row;
    int64_t n_runs, capacity; /* used and allocated runs */
    attn_status status;
    attn_error *err;
} attni_pattern_builder;

/* Every constructor starts here: rejects a NULL pattern, an allocator without callbacks and
 * negative sizes, sets *pattern to NULL. alloc == NULL means the default allocator, here and
 * below. */
attn_status attni_pattern_door(int64_t n_q, int64_t n_k, const attn_alloc *alloc,
                               attn_pattern **pattern, attn_error *err);

/* If begin fails, there is nothing to free; otherwise finish must be called. */
attn_status attni_pattern_begin(attni_pattern_builder *b, int64_t n_q, int64_t n_k,
                                const attn_alloc *alloc, attn_error *err);
/* Adds keys lo .. hi-1 (none if hi <= lo) to the current row; lo must not be below the lo of the
 * previous run. Returns false once the build has failed, so that callers can stop early. */
bool attni_pattern_add(attni_pattern_builder *b, int64_t lo, int64_t hi);
/* Adds the runs of row i of src to the current row, which must be empty; src may be b->pattern. */
bool attni_pattern_add_row(attni_pattern_builder *b, const attn_pattern *src, int64_t i);
bool attni_pattern_end_row(attni_pattern_builder *b);
/* Gives the pattern, or frees everything and reports the first failure. */
attn_status attni_pattern_finish(attni_pattern_builder *b, attn_pattern **pattern);

/* n items of scratch, never NULL on success; OVERFLOW or MEMORY. Free with attni_pattern_free(). */
attn_status attni_pattern_alloc(const attn_alloc *alloc, int64_t n, size_t item, void **out,
                                attn_error *err);
void attni_pattern_free(const attn_alloc *alloc, void *memory);

#endif
