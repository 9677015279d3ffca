/* SPDX-License-Identifier: Apache-2.0 */
/* test_context.c - attn_ctx_create() and what a context holds: instruction set, threads, memory.
 * The environment variable ATTN_ISA is set and removed here; its initial value is lost. */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* sched_setaffinity */
#endif
#include "check.h"
#include "core/os.h"

#include <attn/attn.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(_WIN32) /* as POSIX has them */
static void setenv(const char *name, const char *value, int overwrite) {
    (void)overwrite;
    _putenv_s(name, value);
}
static void unsetenv(const char *name) { _putenv_s(name, ""); }
#endif
#if defined(__linux__)
#include <sched.h>
#endif

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof((array)[0])))

static attn_status create(attn_isa isa, attn_ctx **ctx, attn_error *err) {
    attn_ctx_options options;
    attn_ctx_options_init(&options);
    options.isa = isa;
    return attn_ctx_create(&options, ctx, err);
}

static attn_cpu cpu_info(void) {
    attn_cpu cpu;
    memset(&cpu, 0x5a, sizeof cpu);
    cpu.struct_size = sizeof cpu;
    if (attn_cpu_info(&cpu, NULL) != ATTN_OK) abort();
    return cpu;
}

/* ----------------------------------------------------------------------------------- options */

TEST(options_begin_with_the_defaults_of_the_header) {
    attn_ctx_options o;
    memset(&o, 0x5a, sizeof o);
    attn_ctx_options_init(&o);
    CHECK_INT(o.struct_size, sizeof o);
    CHECK_INT(o.threads, 1);
    CHECK_INT(o.isa, ATTN_ISA_AUTO);
    CHECK_INT(o.pin, 0);
    CHECK(o.alloc.alloc != NULL && o.alloc.free != NULL);
    CHECK(o.pool.run == NULL);
}

TEST(default_memory_is_aligned_as_asked_and_refuses_what_overflows) {
    attn_ctx_options o;
    attn_ctx_options_init(&o);
    for (size_t align = 16; align <= 4096; align *= 2) {
        for (size_t size = 1; size < 300; size += 37) {
            char *memory = o.alloc.alloc(o.alloc.user, size, align);
            CHECK(memory != NULL && (uintptr_t)memory % align == 0);
            memset(memory, 1, size);
            o.alloc.free(o.alloc.user, memory);
        }
    }
    CHECK(o.alloc.alloc(o.alloc.user, SIZE_MAX, 64) == NULL);
}

TEST(no_options_mean_one_thread_and_the_best_instruction_set) {
    attn_ctx *ctx = NULL;
    unsetenv("ATTN_ISA");
    CHECK_INT(attn_ctx_create(NULL, &ctx, NULL), ATTN_OK);
    CHECK_INT(attn_ctx_threads(ctx), 1);
    CHECK_INT(attn_ctx_isa(ctx), cpu_info().best);
    attn_ctx_destroy(ctx);
}

TEST(destroy_accepts_null) { attn_ctx_destroy(NULL); }

#if defined(__linux__)

static int threads_of_zero(void) {
    attn_ctx_options o;
    attn_ctx *ctx = NULL;
    attn_ctx_options_init(&o);
    o.threads = 0;
    if (attn_ctx_create(&o, &ctx, NULL) != ATTN_OK) return -1;
    const int threads = attn_ctx_threads(ctx);
    attn_ctx_destroy(ctx);
    return threads;
}

TEST(zero_threads_mean_one_for_each_cpu_of_this_process) {
    cpu_set_t all, one;
    CPU_ZERO(&one);
    CHECK_INT(sched_getaffinity(0, sizeof all, &all), 0);
    CHECK_INT(threads_of_zero(), CPU_COUNT(&all));
    for (int cpu = 0; CPU_COUNT(&one) == 0; cpu++) {
        if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
    }
    if (sched_setaffinity(0, sizeof one, &one) != 0) SKIP("this system does not let us move");
    const int narrowed = threads_of_zero(), cpus = cpu_info().cpus;
    sched_setaffinity(0, sizeof all, &all);
    CHECK_INT(narrowed, 1);
    CHECK_INT(cpus, 1);
}

#endif

/* --------------------------------------------------------------------------- instruction sets */

TEST(cpu_info_agrees_with_itself) {
    const attn_cpu cpu = cpu_info();
    CHECK(cpu.cpus >= 1);
    CHECK(memchr(cpu.name, 0, sizeof cpu.name) != NULL);
    CHECK(attn_isa_usable(ATTN_ISA_SCALAR) && attn_isa_usable(cpu.best));
    CHECK(!attn_isa_usable(ATTN_ISA_AUTO) && !attn_isa_built(ATTN_ISA_AUTO));
    CHECK(!attn_isa_usable((attn_isa)-1) && !attn_isa_built((attn_isa)attn_isa_count()));
    for (int isa = 0; isa < attn_isa_count(); isa++) {
        CHECK_MSG(!attn_isa_usable((attn_isa)isa) || attn_isa_built((attn_isa)isa), "%s",
                  attn_isa_name((attn_isa)isa));
        CHECK(attn_isa_usable((attn_isa)isa) <= 1 && attn_isa_built((attn_isa)isa) <= 1);
    }
}

#if defined(__x86_64__) && !defined(__APPLE__) /* zig for macOS lacks what these builtins call */
TEST(usable_instruction_sets_are_those_the_compiler_finds) {
    __builtin_cpu_init();
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") &&
                        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                        __builtin_cpu_supports("avx512vl");
    CHECK_INT(attn_isa_usable(ATTN_ISA_SSE2), attn_isa_built(ATTN_ISA_SSE2));
    CHECK_INT(attn_isa_usable(ATTN_ISA_AVX2), attn_isa_built(ATTN_ISA_AVX2) && avx2);
    CHECK_INT(attn_isa_usable(ATTN_ISA_AVX512), attn_isa_built(ATTN_ISA_AVX512) && avx512);
    CHECK(!attn_isa_built(ATTN_ISA_NEON) && !attn_isa_built(ATTN_ISA_SIMD128));
}
#endif

TEST(best_is_not_below_any_usable_instruction_set) {
    static const int worth[] = {[ATTN_ISA_SCALAR] = 1, [ATTN_ISA_SSE2] = 2, [ATTN_ISA_SIMD128] = 2,
                                [ATTN_ISA_NEON] = 3,   [ATTN_ISA_AVX2] = 3, [ATTN_ISA_AVX512] = 4};
    const attn_cpu cpu = cpu_info();
    for (int isa = 0; isa < COUNT_OF(worth); isa++)
        CHECK(!attn_isa_usable((attn_isa)isa) || worth[isa] <= worth[cpu.best]);
}

TEST(usable_instruction_sets_are_taken_when_asked_for) {
    for (int isa = ATTN_ISA_SCALAR; isa < attn_isa_count(); isa++) {
        attn_ctx *ctx = NULL;
        if (!attn_isa_usable((attn_isa)isa)) continue;
        CHECK_INT(create((attn_isa)isa, &ctx, NULL), ATTN_OK);
        CHECK_INT(attn_ctx_isa(ctx), isa);
        attn_ctx_destroy(ctx);
    }
}

TEST(other_instruction_sets_are_refused_by_name) {
    int refused = 0;
    for (int isa = ATTN_ISA_SCALAR; isa < attn_isa_count(); isa++) {
        attn_ctx *ctx = (attn_ctx *)&refused;
        attn_error err = {""};
        if (attn_isa_usable((attn_isa)isa)) continue;
        refused++;
        CHECK_INT(create((attn_isa)isa, &ctx, &err), ATTN_E_ISA);
        CHECK(ctx == NULL);
        CHECK_MSG(strstr(err.message, attn_isa_name((attn_isa)isa)), "%s", err.message);
    }
    CHECK(refused > 0); /* no machine has them all */
}

TEST(variable_chooses_for_an_auto_context) {
    for (int isa = ATTN_ISA_SCALAR; isa < attn_isa_count(); isa++) {
        attn_ctx *ctx = NULL;
        attn_error err = {""};
        setenv("ATTN_ISA", attn_isa_name((attn_isa)isa), 1);
        const attn_status status = attn_ctx_create(NULL, &ctx, &err);
        unsetenv("ATTN_ISA");
        CHECK_INT(status, attn_isa_usable((attn_isa)isa) ? ATTN_OK : ATTN_E_ISA);
        if (status == ATTN_OK) {
            CHECK_INT(attn_ctx_isa(ctx), isa);
        } else {
            CHECK(ctx == NULL && strstr(err.message, attn_isa_name((attn_isa)isa)));
        }
        attn_ctx_destroy(ctx);
    }
}

TEST(empty_variable_and_auto_choose_the_best) {
    static const char *const values[] = {"", "auto"};
    for (int n = 0; n < 2; n++) {
        attn_ctx *ctx = NULL;
        setenv("ATTN_ISA", values[n], 1);
        const attn_status status = attn_ctx_create(NULL, &ctx, NULL);
        unsetenv("ATTN_ISA");
        CHECK_INT(status, ATTN_OK);
        CHECK_INT(attn_ctx_isa(ctx), cpu_info().best);
        attn_ctx_destroy(ctx);
    }
}

TEST(wrong_variable_is_refused_and_named) {
    static const char *const values[] = {"warp9", "AVX2", " avx2", "avx2 ", "?", "0", "scalar\n"};
    for (size_t n = 0; n < sizeof values / sizeof *values; n++) {
        attn_ctx *ctx = (attn_ctx *)(uintptr_t)values;
        attn_error err = {""};
        setenv("ATTN_ISA", values[n], 1);
        const attn_status status = attn_ctx_create(NULL, &ctx, &err);
        unsetenv("ATTN_ISA");
        CHECK_INT(status, ATTN_E_ISA);
        CHECK(ctx == NULL);
        CHECK_MSG(strstr(err.message, "ATTN_ISA") && strstr(err.message, values[n]), "%s",
                  err.message);
    }
}

TEST(endless_variable_is_refused_within_the_message) {
    attn_ctx *ctx = NULL;
    attn_error err = {""};
    char value[5000];
    memset(value, 'x', sizeof value - 1);
    value[sizeof value - 1] = 0;
    setenv("ATTN_ISA", value, 1);
    const attn_status status = attn_ctx_create(NULL, &ctx, &err);
    unsetenv("ATTN_ISA");
    CHECK_INT(status, ATTN_E_ISA);
    CHECK(strstr(err.message, "expected") && strlen(err.message) < sizeof err.message);
}

TEST(explicit_choice_wins_over_the_variable) {
    static const char *const values[] = {"warp9", "avx2", "neon"};
    for (int n = 0; n < 3; n++) {
        attn_ctx *ctx = NULL;
        setenv("ATTN_ISA", values[n], 1);
        const attn_status status = create(ATTN_ISA_SCALAR, &ctx, NULL);
        unsetenv("ATTN_ISA");
        CHECK_INT(status, ATTN_OK);
        CHECK_INT(attn_ctx_isa(ctx), ATTN_ISA_SCALAR);
        attn_ctx_destroy(ctx);
    }
}

/* ------------------------------------------------------------------------------------ memory */

enum { H = 4, N = 130, D = 40, ELEMENTS = H * N * D };

/* Memory of the caller: filled with a byte, aligned as asked and no better. */
typedef struct heap {
    long n_allocs, n_frees;
    size_t most; /* largest request */
    int filling;
    bool odd_request; /* a size of 0 or an alignment that is no power of two */
} heap;

static void *heap_alloc(void *user, size_t size, size_t align) {
    heap *h = user;
    h->n_allocs++;
    if (size > h->most) h->most = size;
    h->odd_request = h->odd_request || size == 0 || align == 0 || (align & (align - 1)) != 0;
    const size_t head = align > sizeof(void *) ? align : sizeof(void *);
    char *base = attni_memory_alloc(size + head, 2 * head);
    if (!base) return NULL;
    memset(base, h->filling, size + head);
    memcpy(base + head - sizeof base, &base, sizeof base); /* what free needs, just before */
    return base + head;
}

static void heap_free(void *user, void *ptr) {
    heap *h = user;
    char *base;
    if (!ptr) return;
    h->n_frees++;
    memcpy(&base, (char *)ptr - sizeof base, sizeof base);
    attni_memory_free(base);
}

static attn_ctx *ctx_on(heap *h, int threads, attn_pool pool) {
    attn_ctx_options o;
    attn_ctx *ctx = NULL;
    attn_ctx_options_init(&o);
    o.threads = threads;
    o.alloc = (attn_alloc){.alloc = heap_alloc, .free = heap_free, .user = h};
    o.pool = pool;
    if (attn_ctx_create(&o, &ctx, NULL) != ATTN_OK) abort();
    return ctx;
}

/* A problem that needs every kind of scratch, in f32 or f16. */
typedef struct problem {
    attn_args args;
    attn_tensor out, lse;
    uint64_t data[3][ELEMENTS / 2]; /* room for 4 bytes an element */
    float o[ELEMENTS], l[H * N], bias[N * N];
} problem;

static problem *new_problem(attn_dtype dtype) {
    problem *p = calloc(1, sizeof *p);
    if (!p) abort();
    attn_args_init(&p->args);
    for (int e = 0; e < 3 * ELEMENTS; e++) {
        const float x = (float)(e * 7919 % 1009) / 512 - 1;
        char *at = (char *)p->data[e / ELEMENTS];
        if (dtype == ATTN_F32) ((float *)at)[e % ELEMENTS] = x;
        if (dtype == ATTN_F16) ((uint16_t *)at)[e % ELEMENTS] = (uint16_t)(0x3000 + e % 4096);
    }
    for (int e = 0; e < N * N; e++) p->bias[e] = (float)(e % 31) / 16;
    p->args.q = attn_tensor_bhsd(p->data[0], dtype, 1, H, N, D);
    p->args.k = attn_tensor_bhsd(p->data[1], dtype, 1, H, N, D);
    p->args.v = attn_tensor_bhsd(p->data[2], dtype, 1, H, N, D);
    p->args.bias = attn_tensor_bhsd(p->bias, ATTN_F32, 1, 1, N, N);
    p->args.causal = 1;
    p->out = attn_tensor_bhsd(p->o, dtype, 1, H, N, D);
    p->lse = attn_tensor_bhsd(p->l, ATTN_F32, 1, H, N, 1);
    return p;
}

static bool same_results(const problem *a, const problem *b) {
    return memcmp(a->o, b->o, sizeof a->o) == 0 && memcmp(a->l, b->l, sizeof a->l) == 0;
}

TEST(everything_comes_from_the_allocator_of_the_caller_and_goes_back) {
    heap h = {0};
    attn_ctx *ctx = ctx_on(&h, 1, (attn_pool){0});
    problem *p = new_problem(ATTN_F32);
    const long created = h.n_allocs;
    size_t bytes = 0;
    CHECK(created > 0);
    CHECK_INT(attn_forward_workspace(ctx, &p->args, &bytes, NULL), ATTN_OK);
    CHECK_INT(attn_forward(ctx, &p->args, &p->out, &p->lse, NULL), ATTN_OK);
    CHECK(h.n_allocs > created && h.most >= bytes);
    CHECK(!h.odd_request);
    attn_ctx_destroy(ctx);
    CHECK_INT(h.n_frees, h.n_allocs);
    free(p);
}

TEST(results_do_not_depend_on_what_memory_held) {
    for (int half = 0; half < 2; half++) {
        problem *p[2];
        for (int n = 0; n < 2; n++) {
            heap h = {.filling = n ? 0xff : 0}; /* 0xff..: NaN in every type */
            attn_ctx *ctx = ctx_on(&h, 1, (attn_pool){0});
            p[n] = new_problem(half ? ATTN_F16 : ATTN_F32);
            CHECK_INT(attn_forward(ctx, &p[n]->args, &p[n]->out, &p[n]->lse, NULL), ATTN_OK);
            attn_ctx_destroy(ctx);
        }
        CHECK(same_results(p[0], p[1]));
        free(p[0]);
        free(p[1]);
    }
}

TEST(trim_frees_the_scratch_and_the_next_call_takes_new) {
    heap h = {0};
    attn_ctx *ctx = ctx_on(&h, 1, (attn_pool){0});
    problem *p = new_problem(ATTN_F32), *again = new_problem(ATTN_F32);
    attn_ctx_trim(NULL);
    attn_ctx_trim(ctx); /* there is none yet */
    CHECK_INT(h.n_frees, 0);
    CHECK_INT(attn_forward(ctx, &p->args, &p->out, &p->lse, NULL), ATTN_OK);
    const long before = h.n_allocs;
    attn_ctx_trim(ctx);
    attn_ctx_trim(ctx);
    CHECK_INT(h.n_frees, 1);
    CHECK_INT(attn_forward(ctx, &again->args, &again->out, &again->lse, NULL), ATTN_OK);
    CHECK_INT(h.n_allocs, before + 1);
    CHECK(same_results(p, again));
    attn_ctx_destroy(ctx);
    CHECK_INT(h.n_frees, h.n_allocs);
    free(p);
    free(again);
}

/* ------------------------------------------------------------------------ threads of the caller */

typedef struct asked {
    int calls, n_workers;
    attn_ctx *also; /* a context to be used meanwhile, or NULL */
    problem *on;
} asked;

static void run_serially(void *user, int n_workers, void (*work)(void *arg, int worker),
                         void *arg) {
    asked *a = user;
    a->calls++;
    a->n_workers = n_workers;
    for (int w = n_workers - 1; w >= 0; w--) {
        if (a->also) attn_forward(a->also, &a->on->args, &a->on->out, &a->on->lse, NULL);
        work(arg, w);
    }
}

TEST(threads_of_the_caller_give_the_bits_of_one_thread) {
    heap h = {0};
    asked a = {0};
    attn_ctx *alone = ctx_on(&h, 1, (attn_pool){0});
    attn_ctx *with_pool = ctx_on(&h, 6, (attn_pool){.run = run_serially, .user = &a});
    problem *p = new_problem(ATTN_F32), *q = new_problem(ATTN_F32);
    CHECK_INT(attn_ctx_threads(with_pool), 6);
    CHECK_INT(attn_forward(alone, &p->args, &p->out, &p->lse, NULL), ATTN_OK);
    CHECK_INT(attn_forward(with_pool, &q->args, &q->out, &q->lse, NULL), ATTN_OK);
    CHECK_INT(a.calls, 1);
    CHECK_INT(a.n_workers, 6);
    CHECK(same_results(p, q));
    attn_ctx_destroy(alone);
    attn_ctx_destroy(with_pool);
    free(p);
    free(q);
    CHECK_INT(h.n_frees, h.n_allocs);
}

TEST(pool_that_one_worker_would_never_call_is_refused) {
    asked a = {0};
    attn_ctx_options o;
    attn_ctx *ctx = NULL;
    attn_error err = {""};
    attn_ctx_options_init(&o); /* threads = 1 */
    o.pool = (attn_pool){.run = run_serially, .user = &a};
    CHECK_INT(attn_ctx_create(&o, &ctx, &err), ATTN_E_VALUE);
    CHECK(ctx == NULL);
    CHECK_MSG(strstr(err.message, "threads: 1, but pool.run is given") == err.message, "%s",
              err.message);
    o.threads = 0; /* one worker per CPU */
    CHECK_INT(attn_ctx_create(&o, &ctx, &err), ATTN_OK);
    CHECK_INT(attn_ctx_threads(ctx), cpu_info().cpus);
    attn_ctx_destroy(ctx);
}

TEST(pool_of_the_caller_may_use_another_context_meanwhile) {
    heap h = {0};
    problem *p = new_problem(ATTN_F32), *q = new_problem(ATTN_F32);
    asked a = {.also = ctx_on(&h, 1, (attn_pool){0}), .on = p};
    attn_ctx *outer = ctx_on(&h, 3, (attn_pool){.run = run_serially, .user = &a});
    CHECK_INT(attn_forward(outer, &q->args, &q->out, &q->lse, NULL), ATTN_OK);
    CHECK_INT(a.calls, 1);
    CHECK(same_results(p, q));
    attn_ctx_destroy(outer);
    attn_ctx_destroy(a.also);
    free(p);
    free(q);
}
