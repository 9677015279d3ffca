/* SPDX-License-Identifier: Apache-2.0 */
/* test_pattern_memory.c - patterns take their memory from the caller's allocator, and each of
 * their allocations fails once. The linker option --wrap puts this file between the library and
 * the heap. */
#include "pattern_grid.h"

#include <stdlib.h>

/* What the last call gave; make_failing() puts rubbish there first. */
static attn_pattern *out;
static attn_error err;

static struct {
    bool watching;
    int64_t calls, fail_at; /* allocations seen; the one to fail, -1 = none */
    int64_t live;           /* blocks given and not freed */
    int64_t bypassed;       /* blocks taken from the heap instead */
    bool odd_request;       /* a size of 0, an alignment that is no power of two, another user */
} heap;

/* The heap itself, which the library must not ask while the caller's allocator is in use. */
void *__real_malloc(size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_realloc(void *old, size_t size);

void *__wrap_malloc(size_t size) {
    heap.bypassed += heap.watching;
    return __real_malloc(size);
}

void *__wrap_realloc(void *old, size_t size) {
    heap.bypassed += heap.watching;
    return __real_realloc(old, size);
}

#if !defined(_WIN32)
void *__real_aligned_alloc(size_t align, size_t size);
void *__wrap_aligned_alloc(size_t align, size_t size);

void *__wrap_aligned_alloc(size_t align, size_t size) {
    heap.bypassed += heap.watching;
    return __real_aligned_alloc(align, size);
}
#endif

static void *watched_alloc(void *user, size_t size, size_t align) {
    if (heap.watching && heap.calls++ == heap.fail_at) return NULL;
    heap.odd_request = heap.odd_request || user != &heap || size == 0 || (align & (align - 1)) != 0;
    void *block = __real_malloc(size);
    heap.live += heap.watching && block;
    return block;
}

static void watched_free(void *user, void *block) {
    heap.odd_request = heap.odd_request || user != &heap || !block;
    heap.live -= heap.watching;
    free(block);
}

static const attn_alloc watched = {.alloc = watched_alloc, .free = watched_free, .user = &heap};

typedef attn_status make_pattern(attn_pattern **pattern, attn_error *error);

/* Sizes that make the list of runs grow more than once. */
static const shape large = {30, 34};

static grid scattered(uint64_t seed) {
    random_stream random = random_begin(seed, 0);
    return grid_random(large, 50, &random);
}

static attn_status make_causal(attn_pattern **pattern, attn_error *error) {
    return attn_pattern_causal(60, 60, 0, &watched, pattern, error);
}
static attn_status make_strided(attn_pattern **pattern, attn_error *error) {
    return attn_pattern_strided(60, 60, 0, 2, &watched, pattern, error);
}
static attn_status make_document(attn_pattern **pattern, attn_error *error) {
    int64_t ids[60];
    for (int t = 0; t < 60; t++) ids[t] = t % 3;
    return attn_pattern_document(60, 60, ids, ids, &watched, pattern, error);
}
static attn_status make_random(attn_pattern **pattern, attn_error *error) {
    return attn_pattern_random_blocks(60, 60, 3, 5, 1, &watched, pattern, error);
}
static attn_status make_dense(attn_pattern **pattern, attn_error *error) {
    const grid g = scattered(4);
    return attn_pattern_dense(g.n_q, g.n_k, g.allow, &watched, pattern, error);
}
static attn_status make_longformer(attn_pattern **pattern, attn_error *error) {
    return attn_pattern_longformer(60, 2, 1, &watched, pattern, error);
}
static attn_status make_bigbird(attn_pattern **pattern, attn_error *error) {
    return attn_pattern_bigbird(60, 3, 3, 1, 2, 1, &watched, pattern, error);
}
static attn_status make_empty(attn_pattern **pattern, attn_error *error) {
    return attn_pattern_prefix(4, 4, 0, &watched, pattern, error);
}

/* Operands are made and destroyed unwatched: only the operation itself is under test. */
static attn_status watch_pair(attn_status (*apply)(const attn_pattern *, const attn_pattern *,
                                                   const attn_alloc *, attn_pattern **,
                                                   attn_error *),
                              attn_pattern **pattern, attn_error *error) {
    const bool watching = heap.watching;
    const grid g = scattered(5), h = scattered(6);
    heap.watching = false;
    attn_pattern *a = pattern_of(&g), *b = pattern_of(&h);
    heap.watching = watching;
    const attn_status status = apply(a, b, &watched, pattern, error);
    heap.watching = false;
    attn_pattern_destroy(a);
    attn_pattern_destroy(b);
    heap.watching = watching;
    return status;
}
static attn_status make_union(attn_pattern **pattern, attn_error *error) {
    return watch_pair(attn_pattern_union, pattern, error);
}
static attn_status make_intersect(attn_pattern **pattern, attn_error *error) {
    return watch_pair(attn_pattern_intersect, pattern, error);
}
static attn_status apply_complement(const attn_pattern *a, const attn_pattern *b,
                                    const attn_alloc *alloc, attn_pattern **pattern,
                                    attn_error *error) {
    (void)b;
    return attn_pattern_complement(a, alloc, pattern, error);
}
static attn_status make_complement(attn_pattern **pattern, attn_error *error) {
    return watch_pair(apply_complement, pattern, error);
}
static attn_status make_csr(attn_pattern **pattern, attn_error *error) {
    int64_t row_ptr[61], col[60 * 2];
    for (int i = 0; i <= 60; i++) row_ptr[i] = 2 * i;
    for (int t = 0; t < 120; t++) col[t] = t % 2 * 3;
    return attn_pattern_from_csr(60, 60, row_ptr, col, &watched, pattern, error);
}

/* Calls make with allocation number fail_at failing. */
static attn_status make_failing(make_pattern *make, int64_t fail_at) {
    static attn_pattern rubbish;
    out = &rubbish;
    err.message[0] = '\0';
    heap.watching = true;
    heap.calls = heap.live = heap.bypassed = 0;
    heap.fail_at = fail_at;
    const attn_status status = make(&out, &err);
    heap.watching = false;
    return status;
}

/* One failure: either reported with nothing left behind, or harmless (a failed trim). */
static void check_failure(attn_status status, const attn_pattern *whole) {
    CHECK_INT(heap.bypassed, 0);
    CHECK(!heap.odd_request);
    if (status == ATTN_OK) {
        CHECK(same_patterns(out, whole));
        attn_pattern_destroy(out);
        return;
    }
    CHECK_INT(status, ATTN_E_MEMORY);
    CHECK(out == NULL);
    CHECK_INT(heap.live, 0);
    CHECK(strstr(err.message, "no memory") != NULL);
}

/* Fails each allocation of make in turn until none is left to fail. */
static void check_all_failures(make_pattern *make) {
    attn_pattern *whole = NULL;
    CHECK_INT(make(&whole, NULL), ATTN_OK);
    int64_t failures = 0;
    for (int64_t fail_at = 0;; fail_at++) {
        const attn_status status = make_failing(make, fail_at);
        const bool all_done = heap.calls <= fail_at;
        failures += status == ATTN_E_MEMORY;
        check_failure(status, whole);
        if (all_done || check_has_failed()) break;
    }
    CHECK(failures >= 2); /* at least the pattern and its rows */
    attn_pattern_destroy(whole);
}

TEST(every_failing_allocation_is_reported_and_leaks_nothing) {
    make_pattern *const all[] = {make_causal,     make_strided, make_document,   make_random,
                                 make_dense,      make_empty,   make_union,      make_intersect,
                                 make_complement, make_csr,     make_longformer, make_bigbird};
    for (int t = 0; t < COUNT_OF(all) && !check_has_failed(); t++) check_all_failures(all[t]);
}

/* 3 blocks: the pattern, its rows and its runs, however it was composed. */
TEST(a_pattern_keeps_three_blocks_and_destroy_frees_them) {
    CHECK_INT(make_failing(make_bigbird, -1), ATTN_OK);
    CHECK_INT(heap.live, 3);
    heap.watching = true;
    attn_pattern_destroy(out);
    heap.watching = false;
    CHECK_INT(heap.live, 0);
    CHECK(!heap.odd_request);
}

TEST(allocators_without_both_callbacks_are_refused) {
    const attn_alloc no_alloc = {.free = watched_free}, no_free = {.alloc = watched_alloc};
    out = NULL;
    CHECK_INT(attn_pattern_causal(4, 4, 0, &no_alloc, &out, &err), ATTN_E_NULL);
    CHECK(strstr(err.message, "alloc: alloc is NULL") == err.message);
    CHECK_INT(attn_pattern_prefix(4, 4, 1, &no_free, &out, &err), ATTN_E_NULL);
    CHECK(strstr(err.message, "alloc: free is NULL") == err.message);
    CHECK(out == NULL);
}
