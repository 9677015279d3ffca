/* SPDX-License-Identifier: Apache-2.0 */
/* test_fault.c - every allocation and every thread creation fails once: the call reports it, leaves
 * its outputs alone, leaks nothing, and the next call works. */
#include "check.h"
#include "heap.h"
#include "scene.h"

#include <string.h>

#if defined(__wasm__)
enum { HAVE_THREADS = 0 };
#else
enum { HAVE_THREADS = 1 };
#endif

static scene s, undisturbed;

static void let_all_succeed(void) { heap_watch(HEAP_NEVER, HEAP_NEVER); }

static attn_status create(int threads, attn_ctx **ctx, attn_error *err) {
    attn_ctx_options o;
    attn_ctx_options_init(&o);
    o.threads = threads;
    return attn_ctx_create(&o, ctx, err);
}

/* ------------------------------------------------------------------------------------- contexts */

static void check_context_at(int threads, long n, bool *again) {
    attn_ctx *ctx = (attn_ctx *)&s;
    attn_error err = {""};
    const long live = heap_live();
    heap_watch(n, HEAP_NEVER);
    const attn_status status = create(threads, &ctx, &err);
    *again = heap_failed();
    if (status == ATTN_OK) attn_ctx_destroy(ctx);
    CHECK_INT(status, *again ? ATTN_E_MEMORY : ATTN_OK);
    CHECK_INT(heap_live(), live);
    CHECK_INT(heap_threads(), 0);
    CHECK(!*again || (ctx == NULL && strstr(err.message, "memory")));
}

TEST(context_survives_every_failing_allocation) {
    for (int threads = 1; threads <= (HAVE_THREADS ? 4 : 1); threads += 3) {
        bool again = true;
        long n = 0;
        for (; again && !check_has_failed(); n++) check_context_at(threads, n, &again);
        CHECK(n >= (threads == 1 ? 3 : 4)); /* context, pool, workers, and once without failure */
    }
}

#ifndef __wasm__
TEST(context_survives_every_thread_that_does_not_start) {
    enum { THREADS = 5 };
    const long live = heap_live();
    for (long n = 0; n < THREADS - 1; n++) {
        attn_ctx *ctx = (attn_ctx *)&s;
        attn_error err = {""};
        heap_watch(HEAP_NEVER, n);
        CHECK_INT(create(THREADS, &ctx, &err), ATTN_E_THREADS);
        CHECK(ctx == NULL);
        CHECK_MSG(strncmp(err.message, "threads:", 8) == 0 && strstr(err.message, "5"), "%s",
                  err.message);
        CHECK_INT(heap_live(), live);
        CHECK_INT(heap_threads(), 0);
        CHECK_INT(create(THREADS, &ctx, NULL), ATTN_OK);
        attn_ctx_destroy(ctx);
        CHECK_INT(heap_live(), live);
        CHECK_INT(heap_threads(), 0);
    }
}

TEST(failing_thread_needs_nobody_to_listen) {
    attn_ctx *ctx = NULL;
    const long live = heap_live();
    heap_watch(HEAP_NEVER, 0);
    CHECK_INT(create(2, &ctx, NULL), ATTN_E_THREADS);
    CHECK_INT(heap_live(), live);
}
#endif

/* ---------------------------------------------------------------------------------------- calls */

enum { FORWARD, INSPECT, REFERENCE, CALLS };

static attn_status call(attn_ctx *ctx, int which, attn_error *err) {
    if (which == FORWARD) return attn_forward(ctx, &s.args, &s.out, &s.lse, err);
    if (which == INSPECT) return attn_inspect(ctx, &s.args, &s.what, err);
    return attn_reference(&s.args, &s.out, &s.lse, err);
}

/* Fails allocation n of one call on a fresh context, then calls again without failure. */
static void check_call_at(int which, int threads, long n, bool *again) {
    attn_ctx *ctx = NULL;
    attn_error err = {""};
    const long live = heap_live();
    let_all_succeed();
    CHECK_INT(create(threads, &ctx, NULL), ATTN_OK);
    const long created = heap_live();
    scene_wipe(&s);
    heap_watch(n, HEAP_NEVER);
    const attn_status status = call(ctx, which, &err);
    *again = heap_failed();
    CHECK_INT(status, *again ? ATTN_E_MEMORY : ATTN_OK);
    if (*again) {
        CHECK(strlen(err.message) > 0);
        CHECK(scene_is_wiped(&s));
        CHECK_INT(heap_live(), created);
        CHECK_INT(call(ctx, which, NULL), ATTN_OK);
    }
    CHECK(scene_same(&s, &undisturbed) || which == INSPECT);
    attn_ctx_destroy(ctx);
    CHECK_INT(heap_live(), live);
}

/* The call is repeated with failure at its first, second, ... allocation until none is left. */
static void check_call(int which, int threads) {
    attn_ctx *ctx = NULL;
    bool again = true;
    long n = 0;
    let_all_succeed();
    CHECK_INT(create(threads, &ctx, NULL), ATTN_OK);
    scene_wipe(&s);
    CHECK_INT(call(ctx, which, NULL), ATTN_OK);
    memcpy(&undisturbed, &s, sizeof s);
    attn_ctx_destroy(ctx);
    for (; again && !check_has_failed(); n++) check_call_at(which, threads, n, &again);
    CHECK(n >= 2); /* each of them takes scratch */
}

static void check_calls(int which, int threads) {
    attn_pattern *pattern = NULL;
    let_all_succeed();
    CHECK_INT(attn_pattern_longformer(SCENE_N, 9, 2, NULL, &pattern, NULL), ATTN_OK);
    for (int kind = 0; kind < SCENE_KINDS && !check_has_failed(); kind++) {
        scene_begin(&s, kind, pattern);
        check_call(which, threads);
    }
    attn_pattern_destroy(pattern);
}

TEST(forward_survives_every_failing_allocation) { check_calls(FORWARD, 1); }
TEST(forward_on_threads_survives_every_failing_allocation) {
    check_calls(FORWARD, HAVE_THREADS ? 3 : 1);
}

/* Kinds 0 and 5 are enough: the oracle and the inspection are slow and share their checks. */
static void check_slow_call(int which) {
    attn_pattern *pattern = NULL;
    let_all_succeed();
    CHECK_INT(attn_pattern_longformer(SCENE_N, 9, 2, NULL, &pattern, NULL), ATTN_OK);
    for (int kind = 0; kind < SCENE_KINDS && !check_has_failed(); kind += 5) {
        scene_begin(&s, kind, pattern);
        check_call(which, 1);
    }
    attn_pattern_destroy(pattern);
}

TEST(inspection_survives_every_failing_allocation) { check_slow_call(INSPECT); }
TEST(oracle_survives_every_failing_allocation) { check_slow_call(REFERENCE); }

/* The first shape is cut out of the second. */
TEST(context_keeps_its_scratch_when_it_cannot_grow) {
    attn_ctx *ctx = NULL;
    scene_begin(&s, 0, NULL);
    scene_begin(&undisturbed, 0, NULL);
    attn_tensor small_q = s.args.q, small_out = s.out, small_lse = s.lse;
    small_q.shape[2] = small_out.shape[2] = small_lse.shape[2] = 2;
    attn_args small = s.args;
    small.q = small_q;
    let_all_succeed();
    CHECK_INT(create(1, &ctx, NULL), ATTN_OK);
    CHECK_INT(attn_forward(ctx, &small, &small_out, &small_lse, NULL), ATTN_OK);
    scene_wipe(&s);
    heap_watch(0, HEAP_NEVER);
    CHECK_INT(attn_forward(ctx, &s.args, &s.out, &s.lse, NULL), ATTN_E_MEMORY);
    CHECK(scene_is_wiped(&s));
    heap_watch(0, HEAP_NEVER);
    CHECK_INT(attn_forward(ctx, &small, &small_out, &small_lse, NULL), ATTN_OK);
    CHECK(!heap_failed());
    let_all_succeed();
    CHECK_INT(attn_forward(ctx, &s.args, &s.out, &s.lse, NULL), ATTN_OK);
    CHECK_INT(attn_reference(&undisturbed.args, &undisturbed.out, &undisturbed.lse, NULL), ATTN_OK);
    for (int e = 0; e < 50; e++) CHECK_NEAR(((float *)s.o)[e], ((float *)undisturbed.o)[e], 1e-6);
    attn_ctx_destroy(ctx);
}

/* ------------------------------------------------------------------------- calls without memory */

/* With the first allocation failing they succeed, so they make none. */
TEST(planning_and_counting_take_no_memory) {
    attn_ctx *ctx = NULL;
    attn_pattern *pattern = NULL;
    let_all_succeed();
    CHECK_INT(attn_pattern_longformer(SCENE_N, 9, 2, NULL, &pattern, NULL), ATTN_OK);
    CHECK_INT(create(1, &ctx, NULL), ATTN_OK);
    for (int kind = 0; kind < SCENE_KINDS; kind++) {
        static char text[4000];
        attn_cost_info cost = {.struct_size = sizeof cost};
        size_t bytes;
        scene_begin(&s, kind, pattern);
        heap_watch(0, HEAP_NEVER);
        CHECK_INT(attn_plan_explain(ctx, &s.args, text, sizeof text, NULL, NULL), ATTN_OK);
        CHECK_INT(attn_cost(ctx, &s.args, &cost, NULL), ATTN_OK);
        CHECK_INT(attn_forward_workspace(ctx, &s.args, &bytes, NULL), ATTN_OK);
        CHECK_INT(heap_allocs(), 0);
    }
    attn_pattern_destroy(pattern);
    attn_ctx_destroy(ctx);
}

TEST(merging_and_slopes_take_no_memory) {
    double slopes[5];
    scene_begin(&s, 1, NULL);
    memset(s.o, 0, sizeof s.o);
    memset(s.l, 0, sizeof s.l);
    const attn_partial part = {.struct_size = sizeof(attn_partial), .out = s.out, .lse = s.lse};
    const attn_partial *const parts[2] = {&part, &part};
    heap_watch(0, HEAP_NEVER);
    CHECK_INT(attn_merge(parts, 2, &part, NULL), ATTN_OK);
    CHECK_INT(attn_alibi_slopes(5, slopes, NULL), ATTN_OK);
    CHECK_INT(heap_allocs(), 0);
}
