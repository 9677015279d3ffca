/* SPDX-License-Identifier: Apache-2.0 */
/* mask.c - life cycle, queries, set algebra and CSR form of masks; the builder behind all of them.
 * Called by: users (attn_mask_*), mask_make.c (builder). Touches: malloc memory; this is the only
 * mask file that allocates. Cost: linear in intervals, CSR linear in pairs.
 * Tests: tests/unit/test_mask.c (also fails every allocation once) */
#include "attention/mask.h"

#include <inttypes.h>
#include <stdlib.h>

/* ----------------------------------------------------------------------------------- memory */

static attn_status fail_overflow(attn_error *err, int64_t n, size_t item) {
    return attni_fail(err, ATTN_E_OVERFLOW,
                      "mask: %" PRId64 " items of %zu bytes, expected at most PTRDIFF_MAX bytes; "
                      "use a smaller mask",
                      n, item);
}

static attn_status fail_memory(attn_error *err, size_t bytes) {
    return attni_fail(err, ATTN_E_MEMORY,
                      "mask: no memory for %zu bytes; use a smaller or less scattered mask", bytes);
}

/* Larger than PTRDIFF_MAX is refused here: no allocator can serve it, and some abort when asked. */
static bool bytes_of(int64_t n, size_t item, size_t *bytes) {
    attni_assert(n >= 0);
    return (uint64_t)n <= (uint64_t)PTRDIFF_MAX && attni_mul((size_t)n, item, bytes) &&
           *bytes <= (size_t)PTRDIFF_MAX;
}

static bool row_ptr_fits(int64_t n_q) {
    size_t bytes;
    return n_q < INT64_MAX && bytes_of(n_q + 1, sizeof(int64_t), &bytes);
}

attn_status attni_mask_alloc(int64_t n, size_t item, void **out, attn_error *err) {
    size_t bytes;
    if (!bytes_of(n, item, &bytes)) return fail_overflow(err, n, item);
    *out = malloc(bytes > 0 ? bytes : 1);
    return *out ? ATTN_OK : fail_memory(err, bytes);
}

void attni_mask_free(void *memory) { free(memory); }

void attn_mask_destroy(attn_mask *mask) {
    if (!mask) return;
    free(mask->runs);
    free(mask->row_ptr);
    free(mask);
}

/* ---------------------------------------------------------------------------------- builder */

attn_status attni_mask_door(int64_t n_q, int64_t n_k, attn_mask **mask, attn_error *err) {
    if (!mask) return attni_fail(err, ATTN_E_NULL, "mask: NULL, expected a place for the result");
    *mask = NULL;
    if (n_q < 0)
        return attni_fail(err, ATTN_E_VALUE, "n_q: value %" PRId64 ", expected 0 or more rows",
                          n_q);
    if (n_k < 0)
        return attni_fail(err, ATTN_E_VALUE, "n_k: value %" PRId64 ", expected 0 or more keys",
                          n_k);
    return ATTN_OK;
}

attn_status attni_mask_begin(attni_mask_builder *b, int64_t n_q, int64_t n_k, attn_error *err) {
    void *mask = NULL, *row_ptr = NULL;
    if (!row_ptr_fits(n_q)) return fail_overflow(err, n_q, sizeof(int64_t));
    ATTN_TRY(attni_mask_alloc(n_q + 1, sizeof(int64_t), &row_ptr, err));
    const attn_status status = attni_mask_alloc(1, sizeof(attn_mask), &mask, err);
    if (status != ATTN_OK) {
        free(row_ptr);
        return status;
    }
    *b = (attni_mask_builder){.mask = mask, .status = ATTN_OK, .err = err};
    *b->mask = (attn_mask){.n_q = n_q, .n_k = n_k, .row_ptr = row_ptr};
    b->mask->row_ptr[0] = 0;
    return ATTN_OK;
}

static bool grow(attni_mask_builder *b) {
    const int64_t capacity = b->capacity < 16 ? 16 : 2 * b->capacity; /* bytes_of keeps it small */
    size_t bytes;
    if (!bytes_of(capacity, sizeof(attni_run), &bytes)) {
        b->status = fail_overflow(b->err, capacity, sizeof(attni_run));
        return false;
    }
    attni_run *runs = realloc(b->mask->runs, bytes);
    if (!runs) {
        b->status = fail_memory(b->err, bytes);
        return false;
    }
    b->mask->runs = runs;
    b->capacity = capacity;
    return true;
}

bool attni_mask_add(attni_mask_builder *b, int64_t lo, int64_t hi) {
    if (b->status != ATTN_OK) return false;
    if (hi <= lo) return true;
    attni_assert(lo >= 0 && hi <= b->mask->n_k);
    if (b->n_runs > b->mask->row_ptr[b->row]) {
        attni_run *last = &b->mask->runs[b->n_runs - 1];
        attni_assert(lo >= last->lo);
        if (lo <= last->hi) {
            last->hi = attni_max(last->hi, hi);
            return true;
        }
    }
    if (b->n_runs == b->capacity && !grow(b)) return false;
    b->mask->runs[b->n_runs++] = (attni_run){lo, hi};
    return true;
}

bool attni_mask_add_row(attni_mask_builder *b, const attn_mask *src, int64_t i) {
    /* By index, not by pointer: when src is b->mask, adding may move the runs. */
    for (int64_t r = src->row_ptr[i]; r < src->row_ptr[i + 1]; r++) {
        const attni_run run = src->runs[r];
        if (!attni_mask_add(b, run.lo, run.hi)) return false;
    }
    return true;
}

bool attni_mask_end_row(attni_mask_builder *b) {
    if (b->status != ATTN_OK) return false;
    attn_mask *m = b->mask;
    attni_assert(b->row < m->n_q);
    for (int64_t r = m->row_ptr[b->row]; r < b->n_runs; r++) {
        if (__builtin_add_overflow(m->count, m->runs[r].hi - m->runs[r].lo, &m->count)) {
            b->status = attni_fail(b->err, ATTN_E_OVERFLOW,
                                   "mask: more than INT64_MAX visible pairs in %" PRId64
                                   " x %" PRId64 "; use a smaller mask",
                                   m->n_q, m->n_k);
            return false;
        }
    }
    m->row_ptr[++b->row] = b->n_runs;
    return true;
}

/* Gives back what growth took too much; a failure to shrink only costs memory. */
static void trim(attni_mask_builder *b) {
    if (b->n_runs == b->capacity) return;
    if (b->n_runs == 0) {
        free(b->mask->runs);
        b->mask->runs = NULL;
        return;
    }
    attni_run *runs = realloc(b->mask->runs, (size_t)b->n_runs * sizeof(attni_run));
    if (runs) b->mask->runs = runs;
}

attn_status attni_mask_finish(attni_mask_builder *b, attn_mask **mask) {
    if (b->status != ATTN_OK) {
        attn_mask_destroy(b->mask);
        return b->status;
    }
    attni_assert(b->row == b->mask->n_q);
    trim(b);
    *mask = b->mask;
    return ATTN_OK;
}

/* ---------------------------------------------------------------------------------- queries */

int64_t attn_mask_rows(const attn_mask *mask) { return mask ? mask->n_q : 0; }

int64_t attn_mask_keys(const attn_mask *mask) { return mask ? mask->n_k : 0; }

int64_t attn_mask_count(const attn_mask *mask) { return mask ? mask->count : 0; }

int64_t attn_mask_intervals(const attn_mask *mask) { return mask ? mask->row_ptr[mask->n_q] : 0; }

int attn_mask_at(const attn_mask *mask, int64_t i, int64_t j) {
    if (!mask || i < 0 || i >= mask->n_q || j < 0 || j >= mask->n_k) return 0;
    int64_t first = mask->row_ptr[i], end = mask->row_ptr[i + 1];
    while (first < end) { /* the first run that ends after j */
        const int64_t middle = first + (end - first) / 2;
        if (mask->runs[middle].hi <= j) {
            first = middle + 1;
        } else {
            end = middle;
        }
    }
    return first < mask->row_ptr[i + 1] && mask->runs[first].lo <= j;
}

/* ---------------------------------------------------------------------------------- algebra */

static attn_status check_operand(const attn_mask *m, const char *name, attn_error *err) {
    return m ? ATTN_OK : attni_fail(err, ATTN_E_NULL, "%s: NULL, expected a mask", name);
}

static attn_status check_operands(const attn_mask *a, const attn_mask *b, attn_error *err) {
    ATTN_TRY(check_operand(a, "a", err));
    ATTN_TRY(check_operand(b, "b", err));
    if (a->n_q != b->n_q || a->n_k != b->n_k)
        return attni_fail(err, ATTN_E_SHAPE,
                          "b: %" PRId64 " x %" PRId64 ", expected %" PRId64 " x %" PRId64
                          " as a; make both for the same lengths",
                          b->n_q, b->n_k, a->n_q, a->n_k);
    return ATTN_OK;
}

static void add_intersection(attni_mask_builder *out, const attn_mask *a, const attn_mask *b,
                             int64_t i) {
    int64_t n_a, n_b, s = 0, t = 0;
    const attni_run *x = attni_mask_row(a, i, &n_a), *y = attni_mask_row(b, i, &n_b);
    while (s < n_a && t < n_b) {
        if (!attni_mask_add(out, attni_max(x[s].lo, y[t].lo), attni_min(x[s].hi, y[t].hi))) return;
        if (x[s].hi < y[t].hi) {
            s++;
        } else {
            t++;
        }
    }
}

/* Merges by lower end; the builder joins what touches or overlaps. */
static void add_union(attni_mask_builder *out, const attn_mask *a, const attn_mask *b, int64_t i) {
    int64_t n_a, n_b, s = 0, t = 0;
    const attni_run *x = attni_mask_row(a, i, &n_a), *y = attni_mask_row(b, i, &n_b);
    while (s < n_a || t < n_b) {
        const bool take_a = t == n_b || (s < n_a && x[s].lo <= y[t].lo);
        const attni_run run = take_a ? x[s++] : y[t++];
        if (!attni_mask_add(out, run.lo, run.hi)) return;
    }
}

typedef void combine_rows(attni_mask_builder *out, const attn_mask *a, const attn_mask *b,
                          int64_t i);

static attn_status combine(const attn_mask *a, const attn_mask *b, combine_rows *rows,
                           attn_mask **mask, attn_error *err) {
    ATTN_TRY(attni_mask_door(0, 0, mask, err));
    ATTN_TRY(check_operands(a, b, err));
    attni_mask_builder out;
    ATTN_TRY(attni_mask_begin(&out, a->n_q, a->n_k, err));
    for (int64_t i = 0; i < a->n_q; i++) {
        rows(&out, a, b, i);
        if (!attni_mask_end_row(&out)) break;
    }
    return attni_mask_finish(&out, mask);
}

attn_status attn_mask_intersect(const attn_mask *a, const attn_mask *b, attn_mask **mask,
                                attn_error *err) {
    return combine(a, b, add_intersection, mask, err);
}

attn_status attn_mask_union(const attn_mask *a, const attn_mask *b, attn_mask **mask,
                            attn_error *err) {
    return combine(a, b, add_union, mask, err);
}

static void add_gaps(attni_mask_builder *out, const attn_mask *a, int64_t i) {
    int64_t n, from = 0;
    const attni_run *x = attni_mask_row(a, i, &n);
    for (int64_t s = 0; s < n; s++) {
        if (!attni_mask_add(out, from, x[s].lo)) return;
        from = x[s].hi;
    }
    attni_mask_add(out, from, a->n_k);
}

attn_status attn_mask_complement(const attn_mask *a, attn_mask **mask, attn_error *err) {
    ATTN_TRY(attni_mask_door(0, 0, mask, err));
    ATTN_TRY(check_operand(a, "a", err));
    attni_mask_builder out;
    ATTN_TRY(attni_mask_begin(&out, a->n_q, a->n_k, err));
    for (int64_t i = 0; i < a->n_q; i++) {
        add_gaps(&out, a, i);
        if (!attni_mask_end_row(&out)) break;
    }
    return attni_mask_finish(&out, mask);
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

attn_status attn_mask_from_csr(int64_t n_q, int64_t n_k, const int64_t *row_ptr, const int64_t *col,
                               attn_mask **mask, attn_error *err) {
    ATTN_TRY(attni_mask_door(n_q, n_k, mask, err));
    ATTN_TRY(check_csr(n_q, n_k, row_ptr, col, err));
    attni_mask_builder out;
    ATTN_TRY(attni_mask_begin(&out, n_q, n_k, err));
    for (int64_t i = 0; i < n_q; i++) {
        for (int64_t t = row_ptr[i]; t < row_ptr[i + 1]; t++) {
            if (!attni_mask_add(&out, col[t], col[t] + 1)) break;
        }
        if (!attni_mask_end_row(&out)) break;
    }
    return attni_mask_finish(&out, mask);
}

attn_status attn_mask_to_csr(const attn_mask *mask, int64_t *row_ptr, int64_t *col,
                             attn_error *err) {
    ATTN_TRY(check_operand(mask, "mask", err));
    if (!row_ptr) return attni_fail(err, ATTN_E_NULL, "row_ptr: NULL, expected n_q + 1 places");
    if (!col && mask->count > 0)
        return attni_fail(err, ATTN_E_NULL, "col: NULL, expected %" PRId64 " places", mask->count);
    int64_t written = 0;
    row_ptr[0] = 0;
    for (int64_t i = 0; i < mask->n_q; i++) {
        int64_t n;
        const attni_run *x = attni_mask_row(mask, i, &n);
        for (int64_t s = 0; s < n; s++) {
            for (int64_t j = x[s].lo; j < x[s].hi; j++) col[written++] = j;
        }
        row_ptr[i + 1] = written;
    }
    return ATTN_OK;
}
