/* SPDX-License-Identifier: Apache-2.0 */
/* pattern.c - life cycle, queries, set algebra and CSR form of patterns, and the builder behind all
 * of them. Touches: memory of the pattern's allocator; no other pattern file allocates. Cost:
 * linear in intervals, CSR linear in pairs. Tests: tests/attention/test_pattern*.c */
#include "attention/pattern.h"

#include "attention/context.h"

#include <inttypes.h>

/* ----------------------------------------------------------------------------------- memory */

static attn_status fail_overflow(attn_error *err, int64_t n, size_t item) {
    return attni_fail(err, ATTN_E_OVERFLOW,
                      "pattern: %" PRId64
                      " items of %zu bytes, expected at most PTRDIFF_MAX bytes; "
                      "use a smaller pattern",
                      n, item);
}

static attn_status fail_memory(attn_error *err, size_t bytes) {
    return attni_fail(err, ATTN_E_MEMORY,
                      "pattern: no memory for %zu bytes; use a smaller or less scattered pattern",
                      bytes);
}

/* Sizes above PTRDIFF_MAX are rejected here: no allocator can serve them, and some abort when
 * asked. */
static bool bytes_of(int64_t n, size_t item, size_t *bytes) {
    attni_assert(n >= 0);
    return (uint64_t)n <= (uint64_t)PTRDIFF_MAX && attni_mul((size_t)n, item, bytes) &&
           *bytes <= (size_t)PTRDIFF_MAX;
}

static bool row_ptr_fits(int64_t n_q) {
    size_t bytes;
    return n_q < INT64_MAX && bytes_of(n_q + 1, sizeof(int64_t), &bytes);
}

static const attn_alloc default_memory = {.alloc = attni_default_alloc, .free = attni_default_free};

attn_status attni_pattern_alloc(const attn_alloc *alloc, int64_t n, size_t item, void **out,
                                attn_error *err) {
    const attn_alloc *from = alloc ? alloc : &default_memory;
    size_t bytes;
    if (!bytes_of(n, item, &bytes)) return fail_overflow(err, n, item);
    *out = from->alloc(from->user, bytes > 0 ? bytes : 1, _Alignof(max_align_t));
    return *out ? ATTN_OK : fail_memory(err, bytes);
}

void attni_pattern_free(const attn_alloc *alloc, void *memory) {
    const attn_alloc *from = alloc ? alloc : &default_memory;
    if (memory) from->free(from->user, memory);
}

void attn_pattern_destroy(attn_pattern *pattern) {
    if (!pattern) return;
    const attn_alloc alloc = pattern->alloc;
    attni_pattern_free(&alloc, pattern->runs);
    attni_pattern_free(&alloc, pattern->row_ptr);
    attni_pattern_free(&alloc, pattern);
}

/* ---------------------------------------------------------------------------------- builder */

attn_status attni_pattern_door(int64_t n_q, int64_t n_k, const attn_alloc *alloc,
                               attn_pattern **pattern, attn_error *err) {
    if (!pattern)
        return attni_fail(err, ATTN_E_NULL, "pattern: NULL, expected a place for the result");
    *pattern = NULL;
    if (alloc && (!alloc->alloc || !alloc->free))
        return attni_fail(err, ATTN_E_NULL,
                          "alloc: %s is NULL; give both callbacks, or no alloc for malloc",
                          alloc->alloc ? "free" : "alloc");
    if (n_q < 0)
        return attni_fail(err, ATTN_E_VALUE, "n_q: value %" PRId64 ", expected 0 or more rows",
                          n_q);
    if (n_k < 0)
        return attni_fail(err, ATTN_E_VALUE, "n_k: value %" PRId64 ", expected 0 or more keys",
                          n_k);
    return ATTN_OK;
}

attn_status attni_pattern_begin(attni_pattern_builder *b, int64_t n_q, int64_t n_k,
                                const attn_alloc *alloc, attn_error *err) {
    void *pattern = NULL, *row_ptr = NULL;
    if (!row_ptr_fits(n_q)) return fail_overflow(err, n_q, sizeof(int64_t));
    ATTN_TRY(attni_pattern_alloc(alloc, n_q + 1, sizeof(int64_t), &row_ptr, err));
    const attn_status status = attni_pattern_alloc(alloc, 1, sizeof(attn_pattern), &pattern, err);
    if (status != ATTN_OK) {
        attni_pattern_free(alloc, row_ptr);
        return status;
    }
    *b = (attni_pattern_builder){.pattern = pattern, .status = ATTN_OK, .err = err};
    *b->pattern = (attn_pattern){
        .n_q = n_q, .n_k = n_k, .row_ptr = row_ptr, .alloc = alloc ? *alloc : default_memory};
    b->pattern->row_ptr[0] = 0;
    return ATTN_OK;
}

/* Moves the runs to memory for `capacity` of them, which is at least their number. */
static attn_status resize(attni_pattern_builder *b, int64_t capacity, attn_error *err) {
    attn_pattern *m = b->pattern;
    void *runs = NULL;
    if (capacity > 0)
        ATTN_TRY(attni_pattern_alloc(&m->alloc, capacity, sizeof *m->runs, &runs, err));
    if (b->n_runs > 0) memcpy(runs, m->runs, (size_t)b->n_runs * sizeof *m->runs);
    attni_pattern_free(&m->alloc, m->runs);
    m->runs = runs;
    b->capacity = capacity;
    return ATTN_OK;
}

static bool grow(attni_pattern_builder *b) {
    /* cannot overflow: an allocation of more than INT64_MAX bytes has failed long before */
    b->status = resize(b, b->capacity < 16 ? 16 : 2 * b->capacity, b->err);
    return b->status == ATTN_OK;
}

bool attni_pattern_add(attni_pattern_builder *b, int64_t lo, int64_t hi) {
    if (b->status != ATTN_OK) return false;
    if (hi <= lo) return true;
    attni_assert(lo >= 0 && hi <= b->pattern->n_k);
    if (b->n_runs > b->pattern->row_ptr[b->row]) {
        attni_run *last = &b->pattern->runs[b->n_runs - 1];
        attni_assert(lo >= last->lo);
        if (lo <= last->hi) {
            last->hi = attni_max(last->hi, hi);
            return true;
        }
    }
    if (b->n_runs == b->capacity && !grow(b)) return false;
    b->pattern->runs[b->n_runs++] = (attni_run){lo, hi};
    return true;
}

bool attni_pattern_add_row(attni_pattern_builder *b, const attn_pattern *src, int64_t i) {
    /* By index, not by pointer: if src is b->pattern, adding may move the runs. */
    for (int64_t r = src->row_ptr[i]; r < src->row_ptr[i + 1]; r++) {
        const attni_run run = src->runs[r];
        if (!attni_pattern_add(b, run.lo, run.hi)) return false;
    }
    return true;
}

bool attni_pattern_end_row(attni_pattern_builder *b) {
    if (b->status != ATTN_OK) return false;
    attn_pattern *m = b->pattern;
    attni_assert(b->row < m->n_q);
    for (int64_t r = m->row_ptr[b->row]; r < b->n_runs; r++) {
        if (__builtin_add_overflow(m->count, m->runs[r].hi - m->runs[r].lo, &m->count)) {
            b->status = attni_fail(b->err, ATTN_E_OVERFLOW,
                                   "pattern: more than INT64_MAX visible pairs in %" PRId64
                                   " x %" PRId64 "; use a smaller pattern",
                                   m->n_q, m->n_k);
            return false;
        }
    }
    m->row_ptr[++b->row] = b->n_runs;
    return true;
}

attn_status attni_pattern_finish(attni_pattern_builder *b, attn_pattern **pattern) {
    if (b->status != ATTN_OK) {
        attn_pattern_destroy(b->pattern);
        return b->status;
    }
    attni_assert(b->row == b->pattern->n_q);
    /* Gives back the excess of growth; a failure to shrink only costs memory. */
    if (b->n_runs < b->capacity) (void)resize(b, b->n_runs, NULL);
    *pattern = b->pattern;
    return ATTN_OK;
}

/* ---------------------------------------------------------------------------------- queries */

int64_t attn_pattern_rows(const attn_pattern *pattern) { return pattern ? pattern->n_q : 0; }

int64_t attn_pattern_keys(const attn_pattern *pattern) { return pattern ? pattern->n_k : 0; }

int64_t attn_pattern_count(const attn_pattern *pattern) { return pattern ? pattern->count : 0; }

int64_t attn_pattern_intervals(const attn_pattern *pattern) {
    return pattern ? pattern->row_ptr[pattern->n_q] : 0;
}

int attn_pattern_at(const attn_pattern *pattern, int64_t i, int64_t j) {
    if (!pattern || i < 0 || i >= pattern->n_q || j < 0 || j >= pattern->n_k) return 0;
    int64_t first = pattern->row_ptr[i], end = pattern->row_ptr[i + 1];
    while (first < end) { /* the first run that ends after j */
        const int64_t middle = first + (end - first) / 2;
        if (pattern->runs[middle].hi <= j) {
            first = middle + 1;
        } else {
            end = middle;
        }
    }
    return first < pattern->row_ptr[i + 1] && pattern->runs[first].lo <= j;
}

/* ---------------------------------------------------------------------------------- algebra */

static attn_status check_operand(const attn_pattern *m, const char *name, attn_error *err) {
    return m ? ATTN_OK : attni_fail(err, ATTN_E_NULL, "%s: NULL, expected a pattern", name);
}

static attn_status check_operands(const attn_pattern *a, const attn_pattern *b, attn_error *err) {
    ATTN_TRY(check_operand(a, "a", err));
    ATTN_TRY(check_operand(b, "b", err));
    if (a->n_q != b->n_q || a->n_k != b->n_k)
        return attni_fail(err, ATTN_E_SHAPE,
                          "b: %" PRId64 " x %" PRId64 ", expected %" PRId64 " x %" PRId64
                          " as a; make both for the same lengths",
                          b->n_q, b->n_k, a->n_q, a->n_k);
    return ATTN_OK;
}

static void add_intersection(attni_pattern_builder *out, const attn_pattern *a,
                             const attn_pattern *b, int64_t i) {
    int64_t n_a, n_b, s = 0, t = 0;
    const attni_run *x = attni_pattern_row(a, i, &n_a), *y = attni_pattern_row(b, i, &n_b);
    while (s < n_a && t < n_b) {
        if (!attni_pattern_add(out, attni_max(x[s].lo, y[t].lo), attni_min(x[s].hi, y[t].hi)))
            return;
        if (x[s].hi < y[t].hi) {
            s++;
        } else {
            t++;
        }
    }
}

/* Merges by lower end; the builder joins runs that touch or overlap. */
static void add_union(attni_pattern_builder *out, const attn_pattern *a, const attn_pattern *b,
                      int64_t i) {
    int64_t n_a, n_b, s = 0, t = 0;
    const attni_run *x = attni_pattern_row(a, i, &n_a), *y = attni_pattern_row(b, i, &n_b);
    while (s < n_a || t < n_b) {
        const bool take_a = t == n_b || (s < n_a && x[s].lo <= y[t].lo);
        const attni_run run = take_a ? x[s++] : y[t++];
        if (!attni_pattern_add(out, run.lo, run.hi)) return;
    }
}

typedef void combine_rows(attni_pattern_builder *out, const attn_pattern *a, const attn_pattern *b,
                          int64_t i);

static attn_status combine(const attn_pattern *a, const attn_pattern *b, combine_rows *rows,
                           const attn_alloc *alloc, attn_pattern **pattern, attn_error *err) {
    ATTN_TRY(attni_pattern_door(0, 0, alloc, pattern, err));
    ATTN_TRY(check_operands(a, b, err));
    attni_pattern_builder out;
    ATTN_TRY(attni_pattern_begin(&out, a->n_q, a->n_k, alloc, err));
    for (int64_t i = 0; i < a->n_q; i++) {
        rows(&out, a, b, i);
        if (!attni_pattern_end_row(&out)) break;
    }
    return attni_pattern_finish(&out, pattern);
}

attn_status attn_pattern_intersect(const attn_pattern *a, const attn_pattern *b,
                                   const attn_alloc *alloc, attn_pattern **pattern,
                                   attn_error *err) {
    return combine(a, b, add_intersection, alloc, pattern, err);
}

attn_status attn_pattern_union(const attn_pattern *a, const attn_pattern *b,
                               const attn_alloc *alloc, attn_pattern **pattern, attn_error *err) {
    return combine(a, b, add_union, alloc, pattern, err);
}

static void add_gaps(attni_pattern_builder *out, const attn_pattern *a, int64_t i) {
    int64_t n, from = 0;
    const attni_run *x = attni_pattern_row(a, i, &n);
    for (int64_t s = 0; s < n; s++) {
        if (!attni_pattern_add(out, from, x[s].lo)) return;
        from = x[s].hi;
    }
    attni_pattern_add(out, from, a->n_k);
}

attn_status attn_pattern_complement(const attn_pattern *a, const attn_alloc *alloc,
                                    attn_pattern **pattern, attn_error *err) {
    ATTN_TRY(attni_pattern_door(0, 0, alloc, pattern, err));
    ATTN_TRY(check_operand(a, "a", err));
    attni_pattern_builder out;
    ATTN_TRY(attni_pattern_begin(&out, a->n_q, a->n_k, alloc, err));
    for (int64_t i = 0; i < a->n_q; i++) {
        add_gaps(&out, a, i);
        if (!attni_pattern_end_row(&out)) break;
    }
    return attni_pattern_finish(&out, pattern);
}

/* -------------------------------------------------------------------------------------- CSR */

static attn_status check_row_ptr(int64_t n_q, const int64_t *row_ptr, attn_error *err) {
    if (!row_ptr) return attni_fail(err, ATTN_E_NULL, "row_ptr: NULL, expected n_q + 1 indices");
    if (!row_ptr_fits(n_q)) return fail_overflow(err, n_q, sizeof(int64_t));
    if (row_ptr[0] < 0)
        return attni_fail(err, ATTN_E_VALUE, "row_ptr: value %" PRId64 " at 0, expected 0 or more",
                          row_ptr[0]);
    for (int64_t i = 0; i < n_q; i++) {
        if (row_ptr[i + 1] < row_ptr[i])
            return attni_fail(err, ATTN_E_VALUE,
                              "row_ptr: value %" PRId64 " at %" PRId64
                              ", expected at least %" PRId64 "; indices must not decrease",
                              row_ptr[i + 1], i + 1, row_ptr[i]);
    }
    return ATTN_OK;
}

/* col (n) of row i: inside 0 .. n_k-1 and strictly ascending. */
static attn_status check_columns(int64_t i, int64_t n, const int64_t *col, int64_t n_k,
                                 attn_error *err) {
    for (int64_t t = 0; t < n; t++) {
        if (col[t] < 0 || col[t] >= n_k)
            return attni_fail(err, ATTN_E_VALUE,
                              "col: value %" PRId64 " in row %" PRId64 ", expected 0 or more and "
                              "below n_k=%" PRId64,
                              col[t], i, n_k);
        if (t > 0 && col[t] <= col[t - 1])
            return attni_fail(err, ATTN_E_VALUE,
                              "col: value %" PRId64 " after %" PRId64 " in row %" PRId64
                              ", expected strictly ascending; sort and drop repeats",
                              col[t], col[t - 1], i);
    }
    return ATTN_OK;
}

static attn_status check_csr(int64_t n_q, int64_t n_k, const int64_t *row_ptr, const int64_t *col,
                             attn_error *err) {
    ATTN_TRY(check_row_ptr(n_q, row_ptr, err));
    if (!col && row_ptr[n_q] > row_ptr[0])
        return attni_fail(err, ATTN_E_NULL, "col: NULL, expected %" PRId64 " columns",
                          row_ptr[n_q]);
    for (int64_t i = 0; i < n_q; i++) {
        const int64_t n = row_ptr[i + 1] - row_ptr[i];
        if (n > 0) ATTN_TRY(check_columns(i, n, col + row_ptr[i], n_k, err));
    }
    return ATTN_OK;
}

attn_status attn_pattern_from_csr(int64_t n_q, int64_t n_k, const int64_t *row_ptr,
                                  const int64_t *col, const attn_alloc *alloc,
                                  attn_pattern **pattern, attn_error *err) {
    ATTN_TRY(attni_pattern_door(n_q, n_k, alloc, pattern, err));
    ATTN_TRY(check_csr(n_q, n_k, row_ptr, col, err));
    attni_pattern_builder out;
    ATTN_TRY(attni_pattern_begin(&out, n_q, n_k, alloc, err));
    for (int64_t i = 0; i < n_q; i++) {
        for (int64_t t = row_ptr[i]; t < row_ptr[i + 1]; t++) {
            if (!attni_pattern_add(&out, col[t], col[t] + 1)) break;
        }
        if (!attni_pattern_end_row(&out)) break;
    }
    return attni_pattern_finish(&out, pattern);
}

attn_status attn_pattern_to_csr(const attn_pattern *pattern, int64_t *row_ptr, int64_t *col,
                                attn_error *err) {
    ATTN_TRY(check_operand(pattern, "pattern", err));
    if (!row_ptr) return attni_fail(err, ATTN_E_NULL, "row_ptr: NULL, expected n_q + 1 places");
    if (!col && pattern->count > 0)
        return attni_fail(err, ATTN_E_NULL, "col: NULL, expected %" PRId64 " places",
                          pattern->count);
    int64_t written = 0;
    row_ptr[0] = 0;
    for (int64_t i = 0; i < pattern->n_q; i++) {
        int64_t n;
        const attni_run *x = attni_pattern_row(pattern, i, &n);
        for (int64_t s = 0; s < n; s++) {
            for (int64_t j = x[s].lo; j < x[s].hi; j++) col[written++] = j;
        }
        row_ptr[i + 1] = written;
    }
    return ATTN_OK;
}
