/* SPDX-License-Identifier: Apache-2.0 */
/* inspect.c - attn_inspect(): scores at every stage, weights, and statistics of rows and keys that
 * do not need the whole n_q x n_k matrix. Rows come from ref/reference.c. Touches: the requested
 * tensors, scratch of the context. Column sums are added by one task per head in ascending rows, so
 * no bit depends on the thread count. Tests: tests/attention/test_inspect.c */
#include "attention/args.h"
#include "attention/context.h"
#include "attention/structs.h"
#include "core/arena.h"
#include "ref/reference.h"

enum { ROWS_PER_TASK = 16 };

/* ---------------------------------------------------------------------------------- validation */

enum view { RAW, CAPPED, BIASED, WEIGHTS, ENTROPY, TOP_WEIGHT, TOP_KEY, RECEIVED, N_VIEWS };

static const char *const view_names[N_VIEWS] = {"raw",     "capped",     "biased",  "weights",
                                                "entropy", "top_weight", "top_key", "received"};

static const attn_tensor *view_of(const attn_inspection *what, int view) {
    const attn_tensor *const views[N_VIEWS] = {&what->raw,     &what->capped,  &what->biased,
                                               &what->weights, &what->entropy, &what->top_weight,
                                               &what->top_key, &what->received};
    return views[view];
}

static bool is_wanted(const attn_tensor *t) { return t->data != NULL; }

static bool is_any_wanted(const attn_inspection *what) {
    for (int view = 0; view < N_VIEWS; view++) {
        if (is_wanted(view_of(what, view))) return true;
    }
    return false;
}

/* The number of largest weights requested, 0 if none. */
static int64_t top_count(const attn_inspection *what) {
    if (is_wanted(&what->top_weight)) return what->top_weight.shape[3];
    return is_wanted(&what->top_key) ? what->top_key.shape[3] : 0;
}

static attn_status check_view(const attn_args *a, const attn_inspection *what, int view,
                              attn_error *err) {
    const bool top = view == TOP_WEIGHT || view == TOP_KEY;
    const int64_t columns = view == ENTROPY ? 1 : top ? top_count(what) : a->k.shape[2];
    const int64_t rows = view == RECEIVED ? 1 : a->q.shape[2];
    const int64_t shape[4] = {a->q.shape[0], a->q.shape[1], rows, columns};
    const unsigned dtypes = view == TOP_KEY ? 1u << ATTN_I64 : 1u << ATTN_F32 | 1u << ATTN_F64;
    if (top && columns < 1) {
        return attni_fail(err, ATTN_E_SHAPE, "%s: columns is %lld, expected K of 1 or more",
                          view_names[view], (long long)columns);
    }
    return attni_check_result(a, view_names[view], view_of(what, view), shape, dtypes, false, err);
}

static attn_status check_views(const attn_args *a, const attn_inspection *what, attn_error *err) {
    for (int view = 0; view < N_VIEWS; view++) {
        const attn_tensor *t = view_of(what, view);
        if (!is_wanted(t)) continue;
        ATTN_TRY(check_view(a, what, view, err));
        for (int other = 0; other < view; other++) {
            if (!attni_tensors_overlap(t, view_of(what, other))) continue;
            return attni_fail(err, ATTN_E_OVERLAP, "%s: overlaps %s; give it memory of its own",
                              view_names[view], view_names[other]);
        }
    }
    return ATTN_OK;
}

/* --------------------------------------------------------------------------------- top weights */

typedef struct ranked {
    double weight;
    int64_t key;
} ranked;

static bool ranks_before(ranked x, ranked y) {
    return x.weight > y.weight || (x.weight == y.weight && x.key < y.key);
}

/* Sifts the root of a heap of n entries down; the lowest-ranked entry stays on top. */
static void sift_down(ranked *heap, int64_t n) {
    for (int64_t at = 0, child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && ranks_before(heap[child], heap[child + 1])) child++;
        if (!ranks_before(heap[at], heap[child])) return;
        const ranked moved = heap[at];
        heap[at] = heap[child];
        heap[child] = moved;
    }
}

static void sift_up(ranked *heap, int64_t at) {
    for (int64_t parent; at > 0; at = parent) {
        parent = (at - 1) / 2;
        if (!ranks_before(heap[parent], heap[at])) return;
        const ranked moved = heap[at];
        heap[at] = heap[parent];
        heap[parent] = moved;
    }
}

/* Writes the best `room` visible keys of a row to top, best first; returns how many there are. */
static int64_t rank_keys(const attni_ref_stages *row, int64_t len_k, ranked *top, int64_t room) {
    int64_t n = 0;
    for (int64_t j = 0; j < len_k; j++) {
        const ranked entry = {row->weights[j], j};
        if (row->biased[j] == -INFINITY) continue;
        if (n < room) {
            top[n] = entry;
            sift_up(top, n++);
        } else if (ranks_before(entry, top[0])) {
            top[0] = entry;
            sift_down(top, n);
        }
    }
    for (int64_t end = n - 1; end > 0; end--) { /* the lowest-ranked entry goes to the end */
        const ranked last = top[0];
        top[0] = top[end];
        top[end] = last;
        sift_down(top, end);
    }
    return n;
}

/* ---------------------------------------------------------------------------------------- rows */

typedef struct job {
    attn_ctx *ctx;
    const attn_args *a;
    const attn_inspection *what;
    int64_t blocks;   /* tasks per head */
    int64_t rows;     /* rows per task */
    int64_t top_room; /* min(K, n_k), 0 if no top is requested */
    char *scratch;
    size_t worker_bytes;
} job;

/* The scratch of one worker; raw and capped only if they are wanted. A desk is never empty:
 *
 *     biased | weights | scores | received | top      | raw | capped
 *     n_k    | n_k     | n_k    | n_k      | top_room | n_k | n_k                               */
typedef struct desk {
    attni_ref_stages row;
    double *scores, *received;
    ranked *top;
} desk;

static desk lay_out(const job *w, attni_arena *arena) {
    const int64_t n_k = attni_max(1, w->a->k.shape[2]);
    desk d = {0};
    d.row.biased = attni_arena_take(arena, 1, &n_k, sizeof(double));
    d.row.weights = attni_arena_take(arena, 1, &n_k, sizeof(double));
    d.scores = attni_arena_take(arena, 1, &n_k, sizeof(double));
    d.received = attni_arena_take(arena, 1, &n_k, sizeof(double));
    d.top = attni_arena_take(arena, 1, &w->top_room, sizeof(ranked));
    if (is_wanted(&w->what->raw)) d.row.raw = attni_arena_take(arena, 1, &n_k, sizeof(double));
    if (is_wanted(&w->what->capped))
        d.row.capped = attni_arena_take(arena, 1, &n_k, sizeof(double));
    return d;
}

static desk desk_of(const job *w, int worker) {
    attni_arena arena = {.base = w->scratch + (size_t)worker * w->worker_bytes};
    return lay_out(w, &arena);
}

/* One row of a stage; keys outside the sequence get `outside`. */
ATTNI_INLINE void write_as(attn_dtype dtype, const attn_tensor *t, const int64_t at[3],
                           const double *row, const attni_ref_sequence *s, double outside) {
    void *to = attni_row_at(t, at[0], at[1], at[2]);
    for (int64_t j = 0; j < t->shape[3]; j++) {
        const bool inside = j >= s->key0 && j - s->key0 < s->len_k;
        attni_store_as(dtype, to, j * t->stride[3], inside ? row[j - s->key0] : outside);
    }
}

static void write_stage(const attn_tensor *t, const int64_t at[3], const double *row,
                        const attni_ref_sequence *s, double outside) {
    if (!is_wanted(t)) return;
    switch (t->dtype) {
    case ATTN_F32: write_as(ATTN_F32, t, at, row, s, outside); break;
    case ATTN_F64: write_as(ATTN_F64, t, at, row, s, outside); break;
    default: attni_assert(!"refused by check_view()");
    }
}

static void write_top(const job *w, const int64_t at[3], const desk *d,
                      const attni_ref_sequence *s) {
    const attn_tensor *weight = &w->what->top_weight, *key = &w->what->top_key;
    const int64_t n = rank_keys(&d->row, s->len_k, d->top, w->top_room);
    for (int64_t r = 0; r < top_count(w->what); r++) {
        const int64_t to[4] = {at[0], at[1], at[2], r};
        if (is_wanted(weight)) attni_ref_store(weight, to, r < n ? d->top[r].weight : 0);
        if (is_wanted(key))
            attni_ref_store(key, to, r < n ? (double)(s->key0 + d->top[r].key) : -1);
    }
}

static void inspect_row(const job *w, const int64_t at[3], const desk *d) {
    const attn_inspection *what = w->what;
    const int64_t batch = attni_ref_sequence_of_row(w->a, at[0], at[2]);
    const attni_ref_sequence s = attni_ref_sequence_at(w->a, batch);
    attni_ref_stages row = d->row;
    double entropy;
    row.entropy = &entropy;
    attni_ref_row(w->a, batch, at[1], at[2] - s.row0, &row, NULL, NULL, d->scores, NULL);
    write_stage(&what->raw, at, d->row.raw, &s, -INFINITY);
    write_stage(&what->capped, at, d->row.capped, &s, -INFINITY);
    write_stage(&what->biased, at, d->row.biased, &s, -INFINITY);
    write_stage(&what->weights, at, d->row.weights, &s, 0);
    if (is_wanted(&what->entropy)) {
        attni_ref_store(&what->entropy, (int64_t[]){at[0], at[1], at[2], 0}, entropy);
    }
    if (top_count(what) > 0) write_top(w, at, d, &s);
    for (int64_t j = 0; j < s.len_k; j++) d->received[s.key0 + j] += d->row.weights[j];
}

static void inspect_task(void *arg, int64_t task, int worker) {
    const job *w = arg;
    const int64_t H = w->a->q.shape[1], n_k = w->a->k.shape[2];
    const int64_t head = task / w->blocks, first = task % w->blocks * w->rows;
    const int64_t last = attni_min(first + w->rows, w->a->q.shape[2]);
    const desk d = desk_of(w, worker);
    for (int64_t j = 0; j < n_k; j++) d.received[j] = 0;
    for (int64_t row = first; row < last; row++) {
        if (attni_ctx_aborts(w->ctx, worker)) return;
        inspect_row(w, (int64_t[]){head / H, head % H, row}, &d);
    }
    if (!is_wanted(&w->what->received)) return;
    for (int64_t j = 0; j < n_k; j++) {
        attni_ref_store(&w->what->received, (int64_t[]){head / H, head % H, 0, j}, d.received[j]);
    }
}

/* ---------------------------------------------------------------------------------------- call */

/* The size of one desk in bytes. */
static bool desk_bytes(const job *w, size_t *bytes) {
    attni_arena measured = {0};
    lay_out(w, &measured);
    *bytes = measured.used;
    return attni_arena_fits(&measured);
}

/* B * H * blocks. */
static bool count_tasks(const job *w, int64_t *n) {
    return !__builtin_mul_overflow(w->a->q.shape[0], w->a->q.shape[1], n) &&
           !__builtin_mul_overflow(*n, w->blocks, n);
}

static attn_status run(job *w, attn_error *err) {
    const int64_t n_q = w->a->q.shape[2];
    const bool whole = is_wanted(&w->what->received);
    int64_t n_tasks;
    size_t bytes;
    w->rows = whole ? n_q : ROWS_PER_TASK;
    w->blocks = whole ? 1 : attni_ceil_div(n_q, ROWS_PER_TASK);
    w->top_room = attni_min(top_count(w->what), w->a->k.shape[2]);
    if (!count_tasks(w, &n_tasks) || !desk_bytes(w, &w->worker_bytes) ||
        !attni_mul(w->worker_bytes, (size_t)attni_ctx_workers(w->ctx, n_tasks), &bytes)) {
        return attni_fail(err, ATTN_E_OVERFLOW, "B=%lld H=%lld n_q=%lld n_k=%lld: too large",
                          (long long)w->a->q.shape[0], (long long)w->a->q.shape[1], (long long)n_q,
                          (long long)w->a->k.shape[2]);
    }
    if (n_tasks == 0 || !is_any_wanted(w->what)) return ATTN_OK;
    w->scratch = attni_ctx_scratch(w->ctx, bytes);
    if (!w->scratch) {
        return attni_fail(err, ATTN_E_MEMORY, "scratch: %zu bytes not available", bytes);
    }
    return attni_ctx_run(w->ctx, attn_ctx_threads(w->ctx), n_tasks, inspect_task, w, err);
}

attn_status attn_inspect(attn_ctx *ctx, const attn_args *args, const attn_inspection *what,
                         attn_error *err) {
    attn_args full;
    attn_inspection views;
    if (!ctx) return attni_fail(err, ATTN_E_NULL, "ctx: NULL, use attn_ctx_create()");
    ATTN_TRY(attni_struct_read(&attni_struct_inspection, "what", what, &views, err));
    ATTN_TRY(attni_args_check(args, &full, err));
    ATTN_TRY(check_views(&full, &views, err));
    job w = {.ctx = ctx, .a = &full, .what = &views};
    return run(&w, err);
}
