/* SPDX-License-Identifier: Apache-2.0 */
/* test_steady.c - once a context has seen a shape, calls allocate nothing; with a workspace of the
 * caller they never do; and scratch stays small however long the sequence is. Memory is observed
 * twice: by the allocator of the context and between the library and malloc (heap.h). */
#include "check.h"
#include "heap.h"
#include "scene.h"

#include <stdlib.h>
#include <string.h>

#if defined(__wasm__)
enum { THREADS = 1 };
#else
enum { THREADS = 3 };
#endif

/* ------------------------------------------------------------------ the allocator of the caller */

typedef struct arena {
    long n_allocs;
    size_t live, peak; /* bytes */
    _Alignas(64) char memory[64 << 20];
    size_t used;
} arena;

static arena the_arena; /* static memory: nothing of it comes from malloc */

/* Each block is preceded by 64 bytes that hold its size; blocks are never reused. */
static void *arena_alloc(void *user, size_t size, size_t align) {
    arena *a = user;
    const size_t taken = 64 + (size + 63) / 64 * 64;
    if (align > 64 || taken > sizeof a->memory - a->used) return NULL;
    char *block = a->memory + a->used;
    a->used += taken;
    memcpy(block, &size, sizeof size);
    a->n_allocs++;
    a->live += size;
    if (a->live > a->peak) a->peak = a->live;
    return block + 64;
}

static void arena_free(void *user, void *ptr) {
    size_t size;
    memcpy(&size, (char *)ptr - 64, sizeof size);
    ((arena *)user)->live -= size;
}

static attn_ctx *current; /* in the arena; a failed test leaves it, with its threads */

static void end_ctx(void) {
    attn_ctx_destroy(current);
    current = NULL;
}

static attn_ctx *new_ctx(int threads) {
    attn_ctx_options o;
    attn_ctx_options_init(&o);
    end_ctx();
    the_arena.n_allocs = 0;
    the_arena.live = the_arena.peak = the_arena.used = 0;
    o.threads = threads;
    o.alloc = (attn_alloc){.alloc = arena_alloc, .free = arena_free, .user = &the_arena};
    if (attn_ctx_create(&o, &current, NULL) != ATTN_OK) abort();
    return current;
}

/* Allocations of both kinds since the last call of watch(). */
static void watch(void) {
    heap_watch(HEAP_NEVER, HEAP_NEVER);
    the_arena.n_allocs = 0;
}
static long allocations(void) { return heap_allocs() + the_arena.n_allocs; }

static scene s;

static attn_status forward(attn_ctx *ctx) {
    return attn_forward(ctx, &s.args, &s.out, &s.lse, NULL);
}

/* And the gradients of everything that the scene has. */
static attn_status forward_and_backward(attn_ctx *ctx) {
    static double dq[SCENE_ELEMENTS], dk[SCENE_ELEMENTS], dv[SCENE_ELEMENTS]; /* any dtype */
    static double dbias[SCENE_N * SCENE_N], dsinks[SCENE_H], dscale;
    const attn_results results = {
        .struct_size = sizeof(attn_results), .out = s.out, .lse = s.lse, .dout = s.args.q};
    attn_gradients g;
    attn_gradients_init(&g);
    g.dq = s.args.q;
    g.dq.data = dq;
    g.dk = s.args.k;
    g.dk.data = dk;
    g.dv = s.args.v;
    g.dv.data = dv;
    g.dbias = s.args.bias;
    g.dbias.dtype = ATTN_F64;
    if (s.args.bias.data) g.dbias.data = dbias;
    g.dsinks = s.args.sinks ? dsinks : NULL;
    g.dscale = &dscale;
    const attn_status status = forward(ctx);
    if (status != ATTN_OK) return status;
    return attn_backward(ctx, &s.args, &results, &g, NULL);
}

/* ------------------------------------------------------------------------------------ the facts */

static void check_second_call(attn_status (*call)(attn_ctx *), int threads) {
    attn_pattern *pattern = NULL;
    CHECK_INT(attn_pattern_longformer(SCENE_N, 9, 2, NULL, &pattern, NULL), ATTN_OK);
    for (int kind = 0; kind < SCENE_KINDS; kind++) {
        attn_ctx *ctx = new_ctx(threads);
        scene_begin(&s, kind, pattern);
        watch();
        CHECK_INT(call(ctx), ATTN_OK);
        CHECK(allocations() > 0); /* the first call takes scratch */
        watch();
        CHECK_INT(call(ctx), ATTN_OK);
        CHECK_MSG(allocations() == 0, "kind %d: %ld allocations", kind, allocations());
        end_ctx();
    }
    attn_pattern_destroy(pattern);
}

TEST(second_call_allocates_nothing) { check_second_call(forward, 1); }
TEST(second_call_on_threads_allocates_nothing) { check_second_call(forward, THREADS); }
TEST(second_backward_allocates_nothing) { check_second_call(forward_and_backward, 1); }
TEST(second_backward_on_threads_allocates_nothing) {
    check_second_call(forward_and_backward, THREADS);
}

enum dimension { ROWS, ROWS_OF_ONE_HEAD, KEYS, HEADS, BATCHES, COLUMNS };

static void set_rows(int64_t n) { s.args.q.shape[2] = s.out.shape[2] = s.lse.shape[2] = n; }
static void set_keys(int64_t n) { s.args.k.shape[2] = s.args.v.shape[2] = n; }
static void set_heads(int64_t H, int64_t H_kv) {
    s.args.q.shape[1] = s.out.shape[1] = s.lse.shape[1] = H;
    s.args.k.shape[1] = s.args.v.shape[1] = H_kv;
}
static void set_batches(int64_t n) {
    s.args.q.shape[0] = s.args.k.shape[0] = s.args.v.shape[0] = n;
    s.out.shape[0] = s.lse.shape[0] = n;
}

/* Kind 0 with n of something; its data is in place already. */
static void cut(enum dimension what, int64_t n) {
    set_rows(SCENE_N);
    set_keys(SCENE_N);
    set_heads(SCENE_H, SCENE_H_KV);
    set_batches(SCENE_B);
    switch (what) {
    case ROWS: set_rows(n); break;
    case ROWS_OF_ONE_HEAD:
        set_rows(n);
        set_heads(1, 1);
        set_batches(1);
        break;
    case KEYS: set_keys(n); break;
    case HEADS: set_heads(2 * n, n); break;
    case BATCHES: set_batches(n); break;
    case COLUMNS: s.args.q.shape[3] = s.args.k.shape[3] = n; break;
    }
}

static void check_smaller(enum dimension what, int64_t most, int64_t step) {
    for (int threads = 1; threads <= THREADS; threads += 2) {
        attn_ctx *ctx = new_ctx(threads);
        scene_begin(&s, 0, NULL);
        cut(what, most);
        CHECK_INT(forward(ctx), ATTN_OK);
        watch();
        for (int64_t n = most; n >= 1; n -= step) {
            cut(what, n);
            CHECK_INT(forward(ctx), ATTN_OK);
            CHECK_MSG(allocations() == 0, "%d threads: %lld allocates after %lld", threads,
                      (long long)n, (long long)most);
        }
        end_ctx();
    }
}

TEST(call_with_fewer_rows_allocates_nothing) {
    check_smaller(ROWS, SCENE_N, 23);
    for (int64_t most = 8; most < SCENE_N && !check_has_failed(); most += 16)
        check_smaller(ROWS_OF_ONE_HEAD, most, 7);
}
TEST(call_with_fewer_keys_allocates_nothing) { check_smaller(KEYS, SCENE_N, 29); }
TEST(call_with_fewer_heads_allocates_nothing) { check_smaller(HEADS, SCENE_H_KV, 1); }
TEST(call_with_fewer_batches_allocates_nothing) { check_smaller(BATCHES, SCENE_B, 1); }
TEST(call_with_fewer_columns_allocates_nothing) { check_smaller(COLUMNS, SCENE_D, 3); }

TEST(second_inspection_allocates_nothing) {
    attn_ctx *ctx = new_ctx(THREADS);
    scene_begin(&s, 0, NULL);
    CHECK_INT(attn_inspect(ctx, &s.args, &s.what, NULL), ATTN_OK);
    CHECK_INT(forward(ctx), ATTN_OK);
    watch();
    CHECK_INT(attn_inspect(ctx, &s.args, &s.what, NULL), ATTN_OK);
    CHECK_INT(forward(ctx), ATTN_OK);
    CHECK_INT(allocations(), 0);
    end_ctx();
}

TEST(context_with_an_allocator_never_calls_malloc) {
    heap_watch(HEAP_NEVER, HEAP_NEVER);
    attn_ctx *ctx = new_ctx(THREADS);
    scene_begin(&s, 4, NULL);
    CHECK_INT(forward(ctx), ATTN_OK);
    CHECK_INT(attn_inspect(ctx, &s.args, &s.what, NULL), ATTN_OK);
    end_ctx();
    CHECK_INT(heap_allocs(), 0);
    CHECK_INT(the_arena.live, 0);
}

TEST(forward_in_a_workspace_never_allocates) {
    static _Alignas(64) char workspace[4 << 20];
    attn_pattern *pattern = NULL;
    CHECK_INT(attn_pattern_longformer(SCENE_N, 9, 2, NULL, &pattern, NULL), ATTN_OK);
    for (int kind = 0; kind < SCENE_KINDS; kind++) {
        attn_ctx *ctx = new_ctx(THREADS);
        size_t bytes = 0;
        scene_begin(&s, kind, pattern);
        CHECK_INT(attn_forward_workspace(ctx, &s.args, &bytes, NULL), ATTN_OK);
        CHECK_MSG(bytes <= sizeof workspace - 64, "%zu bytes", bytes);
        memset(workspace, 0x5a, sizeof workspace);
        s.args.workspace = workspace;
        s.args.workspace_size = bytes;
        watch();
        CHECK_INT(forward(ctx), ATTN_OK);
        CHECK_INT(allocations(), 0);
        for (size_t e = bytes; e < bytes + 64; e++) CHECK_INT(workspace[e], 0x5a);
        end_ctx();
    }
    attn_pattern_destroy(pattern);
}

/* ------------------------------------------------------------------------------------ long rows */

enum { LONG = 65536, D = 64, MIB = 1 << 20 };

static attn_args long_problem(const float *x, int64_t n) {
    attn_args a;
    attn_args_init(&a);
    a.q = a.k = a.v = attn_tensor_bhsd(x, ATTN_F32, 1, 1, n, D);
    a.causal = 1;
    return a;
}

TEST(scratch_of_a_long_dense_problem_is_below_16_mib) {
    attn_ctx *ctx = new_ctx(1);
    const attn_args a = long_problem(NULL, LONG);
    attn_cost_info cost = {.struct_size = sizeof cost};
    CHECK_INT(attn_cost(ctx, &a, &cost, NULL), ATTN_OK);
    CHECK_MSG(cost.bytes_scratch > 0 && cost.bytes_scratch < 16 * MIB, "%.0f bytes",
              cost.bytes_scratch);
    end_ctx();
}

TEST(scratch_does_not_grow_with_the_length) {
    attn_ctx *ctx = new_ctx(1);
    const attn_args a = long_problem(NULL, LONG / 16), b = long_problem(NULL, 4 * LONG);
    attn_cost_info costs[2];
    attn_cost_info_init(&costs[0]);
    attn_cost_info_init(&costs[1]);
    CHECK_INT(attn_cost(ctx, &a, &costs[0], NULL), ATTN_OK);
    CHECK_INT(attn_cost(ctx, &b, &costs[1], NULL), ATTN_OK);
    CHECK_NEAR(costs[0].bytes_scratch, costs[1].bytes_scratch, 0);
    end_ctx();
}

/* A window makes it quick; the scratch is that of the dense problem. */
TEST(long_forward_stays_below_16_mib) {
    float *x = calloc((size_t)LONG * D, sizeof *x), *o = calloc((size_t)LONG * D, sizeof *o);
    if (!x || !o) SKIP("no memory");
    attn_ctx *ctx = new_ctx(1);
    attn_args a = long_problem(x, LONG);
    const attn_tensor out = attn_tensor_bhsd(o, ATTN_F32, 1, 1, LONG, D);
    a.window_left = 64;
    for (int e = 0; e < LONG * D; e += 7) x[e] = 1;
    watch();
    CHECK_INT(attn_forward(ctx, &a, &out, NULL, NULL), ATTN_OK);
    CHECK_INT(heap_allocs(), 0);
    CHECK_MSG(the_arena.peak < 16 * MIB, "%zu bytes", the_arena.peak);
    for (int e = 0; e < LONG * D; e += 997) CHECK(o[e] >= 0 && o[e] <= 1);
    end_ctx();
    free(x);
    free(o);
}
