/* SPDX-License-Identifier: Apache-2.0 */
/* test_process.c - contexts in a process that forks, receives signals and sets floating-point
 * modes. */
#include "check.h"
#include "core/cpu.h"
#include "core/os.h"
#include "long_call.h"

#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_THREAD__)
#define TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TSAN 1
#endif
#endif

static long_call calls[2]; /* static: too large for small stacks */

static attn_ctx *ctx_with(int threads) {
    attn_ctx_options o;
    attn_ctx *ctx = NULL;
    attn_ctx_options_init(&o);
    o.threads = threads;
    if (attn_ctx_create(&o, &ctx, NULL) != ATTN_OK) abort();
    return ctx;
}

/* Everything on a context, into results that were cleared. */
static bool run_all(attn_ctx *ctx, long_call *c) {
    memset(&c->result, 0, sizeof c->result);
    return call_forward(ctx, c, NULL) == ATTN_OK && call_backward(ctx, c, NULL) == ATTN_OK &&
           call_inspect(ctx, c, NULL) == ATTN_OK;
}

static bool same_bits(const long_call *a, const long_call *b) {
    return memcmp(&a->result, &b->result, sizeof a->result) == 0;
}

/* ------------------------------------------------------------------------ floating-point modes */

typedef struct mode {
    const char *name;
    uint64_t control; /* bits to set */
} mode;

static const mode modes[] = {
#if defined(__x86_64__)
    {"flush to zero, subnormals are zero", 0x8040},
    {"round toward zero", 0x6000},
    {"round up, flush to zero", 0xc000},
#elif defined(__aarch64__)
    {"flush to zero", UINT64_C(1) << 24},
    {"round toward zero", UINT64_C(3) << 22},
    {"round up, flush to zero", UINT64_C(1) << 22 | UINT64_C(1) << 24},
#else
    {"none", 0},
#endif
};

/* One thread in the default mode, then each number of threads in this mode. */
static void check_mode(const mode *m) {
    const uint64_t before = attni_cpu_float_control();
    for (int threads = 1; threads <= (ATTNI_HAVE_THREADS ? 3 : 1); threads++) {
        attn_ctx *ctx = ctx_with(threads); /* workers start in the default mode */
        long_call *c = &calls[threads > 1];
        if (threads == 1 && !run_all(ctx, &calls[1])) abort();
        for (int n = 0; n < (threads > 1 ? 5 : 1); n++) {
            attni_cpu_set_float_control(before | m->control);
            const uint64_t set = attni_cpu_float_control();
            const bool ran = run_all(ctx, c);
            const uint64_t after = attni_cpu_float_control();
            attni_cpu_set_float_control(before);
            CHECK(ran);
            CHECK_MSG((set & ~UINT64_C(0x3f)) == (after & ~UINT64_C(0x3f)), "%s: changed to %llx",
                      m->name, (unsigned long long)after);
            if (threads == 1)
                CHECK_MSG(!same_bits(&calls[0], &calls[1]), "%s changes nothing here", m->name);
            else
                CHECK_MSG(same_bits(&calls[0], &calls[1]), "%s: %d threads differ from one",
                          m->name, threads);
        }
        attn_ctx_destroy(ctx);
    }
}

TEST(threads_agree_in_every_floating_point_mode) {
    if (modes[0].control == 0) SKIP("no control register of floating-point arithmetic");
    for (int c = 0; c < 2; c++) long_call_fill(&calls[c]);
    for (size_t m = 0; m < sizeof modes / sizeof *modes && !check_has_failed(); m++)
        check_mode(&modes[m]);
}

/* ------------------------------------------------------------------------------ fork, signals */

#if ATTNI_HAVE_THREADS && !defined(_WIN32)
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t n_handled;

static void count_signal(int number) {
    (void)number;
    n_handled++;
}

/* The calling thread blocks the signal: only a worker could handle it. */
TEST(signals_are_never_handled_on_workers) {
    struct sigaction count = {.sa_handler = count_signal}, before;
    sigset_t usr1;
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    long_call_fill(&calls[0]);
    sigaction(SIGUSR1, &count, &before);
    attn_ctx *ctx = ctx_with(3);
    pthread_sigmask(SIG_BLOCK, &usr1, NULL);
    n_handled = 0;
    kill(getpid(), SIGUSR1);
    const bool ran = run_all(ctx, &calls[0]);
    const int on_workers = n_handled;
    pthread_sigmask(SIG_UNBLOCK, &usr1, NULL);
    const int in_all = n_handled;
    attn_ctx_destroy(ctx);
    sigaction(SIGUSR1, &before, NULL);
    CHECK(ran);
    CHECK_INT(on_workers, 0);
    CHECK_INT(in_all, 1);
}

/* Runs check(ctx) in a child; its exit status, or -1 when it hung for 60 seconds or crashed. */
static int in_child(bool (*check)(attn_ctx *ctx), attn_ctx *ctx) {
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        _exit(check(ctx) ? 0 : 1);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* calls[0] holds the parent's results. */
static bool runs_and_agrees(attn_ctx *ctx) {
    const bool same =
        run_all(ctx, &calls[1]) && run_all(ctx, &calls[1]) && same_bits(&calls[0], &calls[1]);
    attn_ctx_destroy(ctx);
    return same;
}

static bool only_destroys(attn_ctx *ctx) {
    attn_ctx_destroy(ctx);
    return true;
}

static bool forks_again(attn_ctx *ctx) {
    return run_all(ctx, &calls[1]) && in_child(runs_and_agrees, ctx) == 0 && runs_and_agrees(ctx);
}

TEST(a_forked_child_uses_and_destroys_contexts_of_its_parent) {
#ifdef TSAN
    SKIP("TSan does not let a forked child start threads");
#endif
#ifdef EMULATED
    SKIP("qemu's user mode does not let a forked child start threads");
#endif
    for (int c = 0; c < 2; c++) long_call_fill(&calls[c]);
    for (int used = 0; used < 2; used++) {
        attn_ctx *ctx = ctx_with(3);
        if (used) CHECK(run_all(ctx, &calls[0]));
        if (used) CHECK_INT(in_child(runs_and_agrees, ctx), 0);
        if (used) CHECK_INT(in_child(forks_again, ctx), 0);
        CHECK_INT(in_child(only_destroys, ctx), 0);
        CHECK(run_all(ctx, &calls[0])); /* the parent goes on as before */
        attn_ctx_destroy(ctx);
    }
}
#endif
