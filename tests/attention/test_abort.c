/* SPDX-License-Identifier: Apache-2.0 */
/* test_abort.c - the abort callback of a context: when it is called, what the call does then, and
 * that the context remains usable. */
#include "attention/context.h"
#include "check.h"
#include "core/os.h"
#include "long_call.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static long_call call, expected; /* static: too large for small stacks */

typedef attn_status entry(attn_ctx *ctx, long_call *c, attn_error *err);
static entry *const entries[] = {call_forward, call_backward, call_inspect};
static const char *const names[] = {"forward", "backward", "inspect"};
enum { N_ENTRIES = 3 };

static _Thread_local char here; /* its address tells threads apart */

/* Says stop at the time `after`; counts. */
typedef struct stopper {
    int after; /* -1: never */
    atomic_int asked, inside;
    const char *thread; /* where it must be asked, NULL: anywhere */
    bool elsewhere, at_once;
} stopper;

static int stop(void *user) {
    stopper *s = user;
    s->elsewhere = s->elsewhere || (s->thread && s->thread != &here);
    if (atomic_fetch_add(&s->inside, 1) != 0) s->at_once = true;
    /* lets others in, seldom: on a busy machine it costs the time slices of everybody else */
    if (!s->thread && s->asked % 64 == 1) attni_thread_yield();
    atomic_fetch_sub(&s->inside, 1);
    return atomic_fetch_add(&s->asked, 1) == s->after;
}

static long n_allocs;

static void *counted_alloc(void *user, size_t size, size_t align) {
    (void)user;
    n_allocs++;
    return attni_memory_alloc(size, align);
}

static void counted_free(void *user, void *ptr) {
    (void)user;
    attni_memory_free(ptr);
}

static attn_ctx *ctx_with(int threads, attn_pool pool, stopper *s) {
    attn_ctx_options o;
    attn_ctx *ctx = NULL;
    attn_ctx_options_init(&o);
    o.threads = threads;
    o.pool = pool;
    o.alloc = (attn_alloc){.alloc = counted_alloc, .free = counted_free};
    o.abort = s ? stop : NULL;
    o.abort_user = s;
    if (attn_ctx_create(&o, &ctx, NULL) != ATTN_OK) abort();
    return ctx;
}

/* What every entry gives without a callback, in `expected`. */
static void expect_results(void) {
    attn_ctx *ctx = ctx_with(1, (attn_pool){0}, NULL);
    long_call_fill(&expected);
    for (int e = 0; e < N_ENTRIES; e++) {
        if (entries[e](ctx, &expected, NULL) != ATTN_OK) abort();
    }
    attn_ctx_destroy(ctx);
    call = expected;
}

/* What the entry will write. */
static void spoil(int e) {
    if (e == 0) memset(call.result.out, 0x55, sizeof call.result.out);
    if (e == 1) memset(call.result.dq, 0x55, sizeof call.result.dq);
    if (e == 2) memset(call.result.received, 0x55, sizeof call.result.received);
}

/* Stops the entry at every time it is asked, and runs it to the end afterwards. */
static void check_entry(int e, attn_ctx *ctx, stopper *s) {
    for (s->after = 0;; s->after = 2 * s->after + 1) {
        attn_error err = {""};
        s->asked = 0;
        const attn_status status = entries[e](ctx, &call, &err);
        if (s->asked <= s->after) { /* it was not asked that often */
            CHECK_INT(status, ATTN_OK);
            break;
        }
        CHECK_MSG(status == ATTN_E_ABORTED, "%s stopped at %d: %s", names[e], s->after,
                  attn_status_name(status));
        CHECK_MSG(strstr(err.message, "abort"), "%s", err.message);
        const long before = n_allocs;
        s->after = s->after + 1000000;
        spoil(e);
        CHECK_INT(entries[e](ctx, &call, &err), ATTN_OK);
        s->after -= 1000000;
        CHECK_MSG(n_allocs == before, "%s allocates after it was stopped", names[e]);
        CHECK_MSG(memcmp(&call.result, &expected.result, sizeof call.result) == 0,
                  "%s differs after it was stopped at %d", names[e], s->after);
    }
    CHECK_MSG(s->after > 0, "%s never asks", names[e]);
    CHECK(!s->elsewhere && !s->at_once);
}

TEST(calls_stop_when_the_callback_says_so_and_work_again_afterwards) {
    expect_results();
    for (int threads = 1; threads <= (ATTNI_HAVE_THREADS ? 4 : 1); threads++) {
        stopper s = {.thread = &here};
        attn_ctx *ctx = ctx_with(threads, (attn_pool){0}, &s);
        for (int e = 0; e < N_ENTRIES && !check_has_failed(); e++) check_entry(e, ctx, &s);
        attn_ctx_destroy(ctx);
    }
}

TEST(callback_that_says_go_on_changes_nothing) {
    expect_results();
    stopper s = {.after = -1, .thread = &here};
    attn_ctx *ctx = ctx_with(ATTNI_HAVE_THREADS ? 3 : 1, (attn_pool){0}, &s);
    memset(&call.result, 0x55, sizeof call.result);
    for (int e = 0; e < N_ENTRIES; e++) CHECK_INT(entries[e](ctx, &call, NULL), ATTN_OK);
    attn_ctx_destroy(ctx);
    CHECK(s.asked > 3);
    CHECK(memcmp(&call.result, &expected.result, sizeof call.result) == 0);
}

#if ATTNI_HAVE_THREADS
/* Two tasks that begin together. That of the calling thread ends at once; the other one goes on
 * until it is told to stop, as a long task of backward does. */
typedef struct vigil {
    attn_ctx *ctx;
    atomic_int begun, asked_when_idle;
    atomic_bool is_idle;
    bool in_vain;
    const char *thread;
} vigil;

static int stop_when_idle(void *user) {
    vigil *v = user;
    if (!v->is_idle || v->thread != &here) return 0;
    return atomic_fetch_add(&v->asked_when_idle, 1) == 2;
}

static void keep_vigil(void *arg, int64_t task, int worker) {
    vigil *v = arg;
    (void)task;
    v->begun++;
    while (v->begun < 2) attni_thread_yield();
    if (worker == 0) v->is_idle = true;
    for (int64_t n = 0; worker != 0 && !attni_ctx_aborts(v->ctx, worker); n++) {
        if (n == 20000000) v->in_vain = true;
        if (v->in_vain) return;
        attni_thread_yield();
    }
}

TEST(waiting_caller_goes_on_asking_and_stops_its_workers) {
    vigil v = {.thread = &here};
    attn_ctx_options o;
    attn_ctx_options_init(&o);
    o.threads = 2;
    o.abort = stop_when_idle;
    o.abort_user = &v;
    CHECK_INT(attn_ctx_create(&o, &v.ctx, NULL), ATTN_OK);
    const attn_status status = attni_ctx_run(v.ctx, 2, 2, keep_vigil, &v, NULL);
    attn_ctx_destroy(v.ctx);
    CHECK(!v.in_vain);
    CHECK_INT(status, ATTN_E_ABORTED);
    CHECK_INT(v.asked_when_idle, 3);
}
#endif

/* ------------------------------------------------------------------------ threads of the caller */

static void run_backwards(void *user, int n_workers, void (*work)(void *arg, int worker),
                          void *arg) {
    (void)user;
    for (int w = n_workers - 1; w >= 0; w--) work(arg, w);
}

TEST(callback_is_asked_when_the_last_worker_does_all_tasks) {
    expect_results();
    stopper s = {0};
    attn_ctx *ctx = ctx_with(4, (attn_pool){.run = run_backwards}, &s);
    for (int e = 0; e < N_ENTRIES && !check_has_failed(); e++) check_entry(e, ctx, &s);
    attn_ctx_destroy(ctx);
}

#if ATTNI_HAVE_THREADS
typedef struct hired {
    void (*work)(void *arg, int worker);
    void *arg;
    int worker;
} hired;

static void hired_main(void *arg) {
    const hired *h = arg;
    h->work(h->arg, h->worker);
}

static void run_on_new_threads(void *user, int n_workers, void (*work)(void *arg, int worker),
                               void *arg) {
    attni_thread threads[4];
    hired h[4];
    (void)user;
    for (int w = 0; w < n_workers; w++) {
        h[w] = (hired){work, arg, w};
        if (attni_thread_start(&threads[w], hired_main, &h[w]) != 0) abort();
    }
    for (int w = 0; w < n_workers; w++) attni_thread_join(&threads[w]);
}

TEST(threads_of_the_caller_never_ask_at_once) {
    expect_results();
    stopper s = {0};
    attn_ctx *ctx = ctx_with(4, (attn_pool){.run = run_on_new_threads}, &s);
    for (int e = 0; e < N_ENTRIES && !check_has_failed(); e++) check_entry(e, ctx, &s);
    attn_ctx_destroy(ctx);
}
#endif
