/* SPDX-License-Identifier: Apache-2.0 */
/* pattern_make.c - the pattern constructors: bands, prefixes, documents, strides, blocks, and the
 * Longformer and BigBird patterns composed from them. Touches: its arguments and memory through
 * pattern.h. Cost: linear in rows and intervals (dense: in pairs; document: plus sorting the keys).
 * Tests: tests/attention/test_pattern.c */
#include "attention/pattern.h"
#include "core/rng.h"

#include <inttypes.h>
#include <stdlib.h>

/* remedy: the end of the message, which says what the caller may pass instead. */
static attn_status check_min(const char *name, int64_t value, int64_t min, const char *remedy,
                             attn_error *err) {
    if (value >= min) return ATTN_OK;
    return attni_fail(err, ATTN_E_VALUE, "%s: value %" PRId64 ", expected at least %" PRId64 "; %s",
                      name, value, min, remedy);
}

/* An array of n items may be NULL only if n is 0. */
static attn_status check_array(const char *name, const void *array, int64_t n, attn_error *err) {
    if (array || n == 0) return ATTN_OK;
    return attni_fail(err, ATTN_E_NULL, "%s: NULL, expected %" PRId64 " items", name, n);
}

static int64_t resolve_offset(int64_t offset, int64_t n_q, int64_t n_k) {
    return offset == ATTN_OFFSET_BOTTOM_RIGHT ? n_k - n_q : offset;
}

/* ------------------------------------------------------------------------------------ bands */

typedef struct band {
    int64_t offset, left, right; /* as in attn_pattern_window() */
} band;

/* The sides are added to the offset before the row is: each sum then saturates only where the exact
 * value lies beyond every key, so that "infinite" offsets and windows cancel exactly. */
static attn_status make_window(int64_t n_q, int64_t n_k, band w, const attn_alloc *alloc,
                               attn_pattern **pattern, attn_error *err) {
    const int64_t start = resolve_offset(w.offset, n_q, n_k);
    const int64_t low = attni_add_sat(start, -w.left), high = attni_add_sat(start, w.right);
    attni_pattern_builder b;
    ATTN_TRY(attni_pattern_begin(&b, n_q, n_k, alloc, err));
    for (int64_t i = 0; i < n_q; i++) {
        const int64_t first = w.left < 0 ? 0 : attni_add_sat(i, low);
        const int64_t last = w.right < 0 ? n_k : attni_add_sat(i, high);
        attni_pattern_add(&b, attni_max(first, 0), attni_min(attni_add_sat(last, 1), n_k));
        if (!attni_pattern_end_row(&b)) break;
    }
    return attni_pattern_finish(&b, pattern);
}

attn_status attn_pattern_causal(int64_t n_q, int64_t n_k, int64_t offset, const attn_alloc *alloc,
                                attn_pattern **pattern, attn_error *err) {
    ATTN_TRY(attni_pattern_door(n_q, n_k, alloc, pattern, err));
    return make_window(n_q, n_k, (band){offset, -1, 0}, alloc, pattern, err);
}

attn_status attn_pattern_window(int64_t n_q, int64_t n_k, int64_t offset, int64_t left,
                                int64_t right, const attn_alloc *alloc, attn_pattern **pattern,
                                attn_error *err) {
    ATTN_TRY(attni_pattern_door(n_q, n_k, alloc, pattern, err));
    ATTN_TRY(check_min("left", left, -1, "-1 leaves the side open", err));
    ATTN_TRY(check_min("right", right, -1, "-1 leaves the side open", err));
    return make_window(n_q, n_k, (band){offset, left, right}, alloc, pattern, err);
}

/* Rows before all_rows see every key; the others see the first `keys`. */
static attn_status make_global(int64_t n_q, int64_t n_k, int64_t all_rows, int64_t keys,
                               const attn_alloc *alloc, attn_pattern **pattern, attn_error *err) {
    attni_pattern_builder b;
    ATTN_TRY(attni_pattern_begin(&b, n_q, n_k, alloc, err));
    for (int64_t i = 0; i < n_q; i++) {
        attni_pattern_add(&b, 0, i < all_rows ? n_k : attni_min(keys, n_k));
        if (!attni_pattern_end_row(&b)) break;
    }
    return attni_pattern_finish(&b, pattern);
}

attn_status attn_pattern_prefix(int64_t n_q, int64_t n_k, int64_t prefix, const attn_alloc *alloc,
                                attn_pattern **pattern, attn_error *err) {
    ATTN_TRY(attni_pattern_door(n_q, n_k, alloc, pattern, err));
    ATTN_TRY(check_min("prefix", prefix, 0, "0 shows no key", err));
    return make_global(n_q, n_k, 0, prefix, alloc, pattern, err);
}

attn_status attn_pattern_global(int64_t n_q, int64_t n_k, int64_t tokens, const attn_alloc *alloc,
                                attn_pattern **pattern, attn_error *err) {
    ATTN_TRY(attni_pattern_door(n_q, n_k, alloc, pattern, err));
    ATTN_TRY(check_min("tokens", tokens, 0, "0 makes no token global", err));
    return make_global(n_q, n_k, tokens, tokens, alloc, pattern, err);
}

/* -------------------------------------------------------------------------------- documents */

typedef struct doc_key {
    int64_t id, key;
} doc_key;

static int by_document(const void *left, const void *right) {
    const doc_key *a = left, *b = right;
    if (a->id != b->id) return a->id < b->id ? -1 : 1;
    return (a->key > b->key) - (a->key < b->key);
}

static bool ends_document(const doc_key *sorted, int64_t n_k, int64_t t) {
    return t + 1 == n_k || sorted[t + 1].id != sorted[t].id;
}

/* Gives a pattern with one row per distinct id, in the order of the ids. */
static attn_status make_document_rows(int64_t n_k, const doc_key *sorted, const attn_alloc *alloc,
                                      attn_pattern **documents, attn_error *err) {
    int64_t n_documents = 0;
    for (int64_t t = 0; t < n_k; t++) n_documents += ends_document(sorted, n_k, t);
    attni_pattern_builder b;
    ATTN_TRY(attni_pattern_begin(&b, n_documents, n_k, alloc, err));
    for (int64_t t = 0; t < n_k; t++) {
        if (!attni_pattern_add(&b, sorted[t].key, sorted[t].key + 1)) break;
        if (ends_document(sorted, n_k, t) && !attni_pattern_end_row(&b)) break;
    }
    return attni_pattern_finish(&b, documents);
}

/* Leaves the distinct ids, ascending, in the first entries. */
static void keep_distinct(int64_t n_k, doc_key *sorted) {
    int64_t kept = 0;
    for (int64_t t = 0; t < n_k; t++) {
        if (ends_document(sorted, n_k, t)) sorted[kept++] = sorted[t];
    }
}

/* The index of id among the distinct ids, or -1. */
static int64_t find_document(const doc_key *distinct, int64_t n, int64_t id) {
    int64_t first = 0, end = n;
    while (first < end) {
        const int64_t middle = first + (end - first) / 2;
        if (distinct[middle].id < id) {
            first = middle + 1;
        } else {
            end = middle;
        }
    }
    return first < n && distinct[first].id == id ? first : -1;
}

static attn_status spread_documents(int64_t n_q, const int64_t *doc_q, const doc_key *distinct,
                                    const attn_pattern *documents, const attn_alloc *alloc,
                                    attn_pattern **pattern, attn_error *err) {
    attni_pattern_builder b;
    ATTN_TRY(attni_pattern_begin(&b, n_q, documents->n_k, alloc, err));
    int64_t document = -1;
    for (int64_t i = 0; i < n_q; i++) {
        if (i == 0 || doc_q[i] != doc_q[i - 1])
            document = find_document(distinct, documents->n_q, doc_q[i]);
        if (document >= 0) attni_pattern_add_row(&b, documents, document);
        if (!attni_pattern_end_row(&b)) break;
    }
    return attni_pattern_finish(&b, pattern);
}

attn_status attn_pattern_document(int64_t n_q, int64_t n_k, const int64_t *doc_q,
                                  const int64_t *doc_k, const attn_alloc *alloc,
                                  attn_pattern **pattern, attn_error *err) {
    ATTN_TRY(attni_pattern_door(n_q, n_k, alloc, pattern, err));
    ATTN_TRY(check_array("doc_q", doc_q, n_q, err));
    ATTN_TRY(check_array("doc_k", doc_k, n_k, err));
    void *memory = NULL;
    ATTN_TRY(attni_pattern_alloc(alloc, n_k, sizeof(doc_key), &memory, err));
    doc_key *keys = memory; /* (n_k) */
    for (int64_t j = 0; j < n_k; j++) keys[j] = (doc_key){doc_k[j], j};
    qsort(keys, (size_t)n_k, sizeof *keys, by_document);

    attn_pattern *documents = NULL;
    attn_status status = make_document_rows(n_k, keys, alloc, &documents, err);
    if (status == ATTN_OK) {
        keep_distinct(n_k, keys);
        status = spread_documents(n_q, doc_q, keys, documents, alloc, pattern, err);
    }
    attn_pattern_destroy(documents);
    attni_pattern_free(alloc, memory);
    return status;
}

/* -------------------------------------------------------------------------- stride and dense */

/* (a + b) mod step for a, b in 0 .. step-1, without overflow. */
static int64_t add_mod(int64_t a, int64_t b, int64_t step) {
    return a >= step - b ? a - (step - b) : a + b;
}

static void add_strided_row(attni_pattern_builder *b, int64_t first, int64_t step) {
    const int64_t n_k = b->pattern->n_k;
    if (step == 1) {
        attni_pattern_add(b, 0, n_k);
        return;
    }
    for (int64_t j = first; j < n_k; j = attni_add_sat(j, step)) {
        if (!attni_pattern_add(b, j, j + 1)) return;
    }
}

attn_status attn_pattern_strided(int64_t n_q, int64_t n_k, int64_t offset, int64_t step,
                                 const attn_alloc *alloc, attn_pattern **pattern, attn_error *err) {
    ATTN_TRY(attni_pattern_door(n_q, n_k, alloc, pattern, err));
    ATTN_TRY(check_min("step", step, 1, "1 shows every key", err));
    const int64_t rest = resolve_offset(offset, n_q, n_k) % step;
    const int64_t start = rest < 0 ? rest + step : rest;
    attni_pattern_builder b;
    ATTN_TRY(attni_pattern_begin(&b, n_q, n_k, alloc, err));
    for (int64_t i = 0; i < n_q; i++) {
        add_strided_row(&b, add_mod(i % step, start, step), step);
        if (!attni_pattern_end_row(&b)) break;
    }
    return attni_pattern_finish(&b, pattern);
}

static void add_dense_row(attni_pattern_builder *b, const uint8_t *allow /* (n_k) */) {
    const int64_t n_k = b->pattern->n_k;
    for (int64_t lo = 0; lo < n_k;) {
        int64_t hi = lo;
        while (hi < n_k && allow[hi]) hi++;
        if (!attni_pattern_add(b, lo, hi)) return;
        lo = hi;
        while (lo < n_k && !allow[lo]) lo++;
    }
}

attn_status attn_pattern_dense(int64_t n_q, int64_t n_k, const uint8_t *allow,
                               const attn_alloc *alloc, attn_pattern **pattern, attn_error *err) {
    ATTN_TRY(attni_pattern_door(n_q, n_k, alloc, pattern, err));
    int64_t pairs;
    if (__builtin_mul_overflow(n_q, n_k, &pairs) || pairs > PTRDIFF_MAX)
        return attni_fail(err, ATTN_E_OVERFLOW,
                          "allow: %" PRId64 " x %" PRId64
                          " bytes, expected at most PTRDIFF_MAX; use intervals instead",
                          n_q, n_k);
    ATTN_TRY(check_array("allow", allow, pairs, err));
    attni_pattern_builder b;
    ATTN_TRY(attni_pattern_begin(&b, n_q, n_k, alloc, err));
    for (int64_t i = 0; i < n_q; i++) {
        if (n_k > 0) add_dense_row(&b, allow + i * n_k);
        if (!attni_pattern_end_row(&b)) break;
    }
    return attni_pattern_finish(&b, pattern);
}

/* ----------------------------------------------------------------------------------- blocks */

static int64_t blocks_in(int64_t n, int64_t block) { return n / block + (n % block != 0); }

/* The first key of a block; n for blocks that begin at or after the end. */
static int64_t block_start(int64_t index, int64_t block, int64_t n) {
    return index < blocks_in(n, block) ? index * block : n;
}

typedef struct block_draw {
    uint64_t seed;
    int64_t block, n_blocks; /* keys per block, key blocks */
    int64_t count;           /* to draw; <= n_blocks */
} block_draw;

/* Inserts value, or `last` if value is already there, into the ascending chosen[0 .. n-1]; last is
 * greater than all of them. */
static void insert_distinct(int64_t *chosen, int64_t n, int64_t value, int64_t last) {
    int64_t at = n;
    while (at > 0 && chosen[at - 1] >= value) at--;
    if (at < n && chosen[at] == value) {
        value = last;
        at = n;
    }
    memmove(chosen + at + 1, chosen + at, (size_t)(n - at) * sizeof *chosen);
    chosen[at] = value;
}

/* The recipe is fixed for ever (same seed, same pattern): draw s = 0 .. count-1 of a block of rows
 * takes the words of Philox(key = seed, counter = (s low, s high, row_block low, row_block high))
 * as u = word[1] * 2^32 + word[0] and t = u mod (last + 1) with last = n_blocks - count + s. It
 * chooses t, or last if t has been chosen already (Floyd's sampling: every set is equally likely).
 * The modulo favours no block by more than n_blocks / 2^64. */
static void draw_blocks(const block_draw *draw, int64_t row_block, int64_t *chosen /* (count) */) {
    for (int64_t s = 0; s < draw->count; s++) {
        const attni_philox r =
            attni_philox4x32(draw->seed, (uint32_t)s, (uint32_t)((uint64_t)s >> 32),
                             (uint32_t)row_block, (uint32_t)((uint64_t)row_block >> 32));
        const uint64_t u = (uint64_t)r.word[1] << 32 | r.word[0];
        const int64_t last = draw->n_blocks - draw->count + s;
        insert_distinct(chosen, s, (int64_t)(u % (uint64_t)(last + 1)), last);
    }
}

/* chosen (draw->count) is scratch. */
static void add_drawn_row(attni_pattern_builder *b, const block_draw *draw, int64_t *chosen) {
    const int64_t n_k = b->pattern->n_k;
    if (b->row % draw->block != 0) {
        attni_pattern_add_row(b, b->pattern, b->row - 1);
        return;
    }
    if (draw->count == draw->n_blocks) {
        attni_pattern_add(b, 0, n_k);
        return;
    }
    draw_blocks(draw, b->row / draw->block, chosen);
    for (int64_t s = 0; s < draw->count; s++) {
        const int64_t lo = block_start(chosen[s], draw->block, n_k);
        if (!attni_pattern_add(b, lo, block_start(chosen[s] + 1, draw->block, n_k))) return;
    }
}

attn_status attn_pattern_random_blocks(int64_t n_q, int64_t n_k, int64_t block, int64_t count,
                                       uint64_t seed, const attn_alloc *alloc,
                                       attn_pattern **pattern, attn_error *err) {
    ATTN_TRY(attni_pattern_door(n_q, n_k, alloc, pattern, err));
    ATTN_TRY(check_min("block", block, 1, "1 draws single keys", err));
    ATTN_TRY(check_min("count", count, 0, "0 draws none", err));
    const int64_t n_blocks = blocks_in(n_k, block);
    const block_draw draw = {seed, block, n_blocks, attni_min(count, n_blocks)};
    const int64_t n_drawn = draw.count < n_blocks ? draw.count : 0; /* all: nothing to draw */
    void *chosen = NULL;
    ATTN_TRY(attni_pattern_alloc(alloc, n_drawn, sizeof(int64_t), &chosen, err));
    attni_pattern_builder b;
    attn_status status = attni_pattern_begin(&b, n_q, n_k, alloc, err);
    if (status != ATTN_OK) goto done;
    for (int64_t i = 0; i < n_q; i++) {
        add_drawn_row(&b, &draw, chosen);
        if (!attni_pattern_end_row(&b)) break;
    }
    status = attni_pattern_finish(&b, pattern);
done:
    attni_pattern_free(alloc, chosen);
    return status;
}

/* ------------------------------------------------------------------------- composed patterns */

static attn_status check_length(int64_t n, const attn_alloc *alloc, attn_pattern **pattern,
                                attn_error *err) {
    ATTN_TRY(attni_pattern_door(0, 0, alloc, pattern, err));
    return check_min("n", n, 0, "0 gives an empty pattern", err);
}

/* sum becomes the union of sum and part; part is destroyed and set to NULL. */
static attn_status unite(attn_pattern **sum, attn_pattern **part, attn_error *err) {
    attn_pattern *both = NULL;
    const attn_status status = attn_pattern_union(*sum, *part, &(*sum)->alloc, &both, err);
    attn_pattern_destroy(*part);
    *part = NULL;
    if (status != ATTN_OK) return status;
    attn_pattern_destroy(*sum);
    *sum = both;
    return ATTN_OK;
}

attn_status attn_pattern_longformer(int64_t n, int64_t side, int64_t global,
                                    const attn_alloc *alloc, attn_pattern **pattern,
                                    attn_error *err) {
    ATTN_TRY(check_length(n, alloc, pattern, err));
    ATTN_TRY(check_min("side", side, 0, "0 shows the own key only", err));
    ATTN_TRY(check_min("global", global, 0, "0 makes no token global", err));
    attn_pattern *sum = NULL, *part = NULL;
    attn_status status = attn_pattern_window(n, n, 0, side, side, alloc, &sum, err);
    if (status == ATTN_OK) status = attn_pattern_global(n, n, global, alloc, &part, err);
    if (status == ATTN_OK) status = unite(&sum, &part, err);
    if (status == ATTN_OK) {
        *pattern = sum;
        return ATTN_OK;
    }
    attn_pattern_destroy(sum);
    return status;
}

/* Each block of rows sees `window` (odd, or 0) key blocks around its own. */
static attn_status make_block_band(int64_t n, int64_t block, int64_t window,
                                   const attn_alloc *alloc, attn_pattern **pattern,
                                   attn_error *err) {
    attni_pattern_builder b;
    ATTN_TRY(attni_pattern_begin(&b, n, n, alloc, err));
    for (int64_t i = 0; i < n; i++) {
        const int64_t first = i / block - window / 2;
        const int64_t end = attni_add_sat(first, window);
        attni_pattern_add(&b, block_start(attni_max(first, 0), block, n),
                          block_start(end, block, n));
        if (!attni_pattern_end_row(&b)) break;
    }
    return attni_pattern_finish(&b, pattern);
}

static attn_status check_bigbird(int64_t block, int64_t window, int64_t global, int64_t random,
                                 attn_error *err) {
    ATTN_TRY(check_min("block", block, 1, "1 works on single tokens", err));
    ATTN_TRY(check_min("window", window, 0, "0 leaves the band out", err));
    if (window != 0 && window % 2 == 0)
        return attni_fail(err, ATTN_E_VALUE,
                          "window: value %" PRId64
                          ", expected an odd number of blocks; pass %" PRId64 " or 0 for no band",
                          window, window - 1);
    ATTN_TRY(check_min("global", global, 0, "0 makes no block global", err));
    return check_min("random", random, 0, "0 draws none", err);
}

attn_status attn_pattern_bigbird(int64_t n, int64_t block, int64_t window, int64_t global,
                                 int64_t random, uint64_t seed, const attn_alloc *alloc,
                                 attn_pattern **pattern, attn_error *err) {
    ATTN_TRY(check_length(n, alloc, pattern, err));
    ATTN_TRY(check_bigbird(block, window, global, random, err));
    attn_pattern *sum = NULL, *part = NULL;
    attn_status status = make_block_band(n, block, window, alloc, &sum, err);
    if (status == ATTN_OK)
        status = attn_pattern_global(n, n, block_start(global, block, n), alloc, &part, err);
    if (status == ATTN_OK) status = unite(&sum, &part, err);
    if (status == ATTN_OK)
        status = attn_pattern_random_blocks(n, n, block, random, seed, alloc, &part, err);
    if (status == ATTN_OK) status = unite(&sum, &part, err);
    if (status == ATTN_OK) {
        *pattern = sum;
        return ATTN_OK;
    }
    attn_pattern_destroy(sum);
    return status;
}
