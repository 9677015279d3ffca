/* SPDX-License-Identifier: Apache-2.0 */
/* context.c - creates and destroys contexts. Only this file reads the environment. Test:
 * tests/attention/test_context.c */
#include "attention/context.h"

#include "attention/structs.h"
#include "core/cpu.h"
#include "core/os.h"

#include <stdlib.h>

enum { MAX_THREADS = 1024, SCRATCH_ALIGN = 64 };

struct attn_ctx {
    attn_isa isa;
    const attni_kernels *kernels[2]; /* f32, f64 */
    attni_pool *pool;
    attn_alloc alloc;
    void *scratch;
    size_t scratch_size;
    int (*abort)(void *user);
    void *abort_user;
    bool own_threads;
    atomic_bool aborted;
    atomic_flag asking;
};

void *attni_default_alloc(void *user, size_t size, size_t align) {
    (void)user;
    return attni_memory_alloc(size, align);
}

void attni_default_free(void *user, void *ptr) {
    (void)user;
    attni_memory_free(ptr);
}

static attn_status check_options(const attn_ctx_options *o, attn_error *err) {
    if (o->threads < 0 || o->threads > MAX_THREADS) {
        return attni_fail(err, ATTN_E_VALUE, "threads: %d, expected 1 .. %d, or 0 for one per CPU",
                          o->threads, MAX_THREADS);
    }
    if ((unsigned)o->isa >= ATTNI_ISA_COUNT) {
        return attni_fail(err, ATTN_E_VALUE, "isa: %d is not an attn_isa", (int)o->isa);
    }
    if (!o->alloc.alloc || !o->alloc.free) {
        return attni_fail(err, ATTN_E_NULL,
                          "alloc: %s is NULL; give both callbacks or keep the defaults",
                          o->alloc.alloc ? "free" : "alloc");
    }
    if (o->pool.run && o->threads == 1) {
        return attni_fail(
            err, ATTN_E_VALUE,
            "threads: 1, but pool.run is given; set threads to the pool's workers, or "
            "leave pool out");
    }
    return ATTN_OK;
}

static attn_status isa_by_name(const char *name, attn_isa *isa, attn_error *err) {
    for (int i = 0; i < ATTNI_ISA_COUNT; i++) {
        if (strcmp(name, attn_isa_name((attn_isa)i)) == 0) {
            *isa = (attn_isa)i;
            return ATTN_OK;
        }
    }
    return attni_fail(err, ATTN_E_ISA,
                      "ATTN_ISA: \"%.32s\" is no instruction set; expected auto, scalar, sse2, "
                      "avx2, avx512, neon or simd128",
                      name);
}

static attn_status choose_kernels(attn_ctx *ctx, attn_isa isa, attn_error *err) {
    const char *name = getenv("ATTN_ISA");
    if (isa == ATTN_ISA_AUTO && name && *name) ATTN_TRY(isa_by_name(name, &isa, err));
    if (isa == ATTN_ISA_AUTO) isa = attni_kernels_best();
    ctx->isa = isa;
    ctx->kernels[0] = attni_kernels_get(isa, false);
    ctx->kernels[1] = attni_kernels_get(isa, true);
    if (ctx->kernels[0]) return ATTN_OK;
    return attni_fail(err, ATTN_E_ISA, "isa: %s %s; use auto or a lower one (attn info lists them)",
                      attn_isa_name(isa),
                      attni_kernels_built(isa) ? "does not run on this machine"
                                               : "is not in this build");
}

attn_status attn_ctx_create(const attn_ctx_options *options, attn_ctx **out, attn_error *err) {
    if (!out) return attni_fail(err, ATTN_E_NULL, "ctx: NULL, expected where to put the context");
    *out = NULL;
    attn_ctx_options full;
    attn_ctx_options_init(&full);
    if (options)
        ATTN_TRY(attni_struct_read(&attni_struct_ctx_options, "options", options, &full, err));
    const attn_ctx_options *o = &full;
    ATTN_TRY(check_options(o, err));
    attn_ctx *ctx = o->alloc.alloc(o->alloc.user, sizeof *ctx, SCRATCH_ALIGN);
    if (!ctx)
        return attni_fail(err, ATTN_E_MEMORY, "context: no memory for %zu bytes", sizeof *ctx);
    *ctx = (attn_ctx){.alloc = o->alloc,
                      .abort = o->abort,
                      .abort_user = o->abort_user,
                      .own_threads = !o->pool.run};
    atomic_flag_clear(&ctx->asking);
    const int threads = o->threads > 0 ? o->threads : attni_cpu_count();
    attn_status status = choose_kernels(ctx, o->isa, err);
    if (status == ATTN_OK)
        status = attni_pool_create(threads, o->pin != 0, o->pool, o->alloc, &ctx->pool, err);
    if (status != ATTN_OK) {
        attn_ctx_destroy(ctx);
        return status;
    }
    *out = ctx;
    return ATTN_OK;
}

void attn_ctx_destroy(attn_ctx *ctx) {
    if (!ctx) return;
    attni_pool_destroy(ctx->pool);
    attn_ctx_trim(ctx);
    ctx->alloc.free(ctx->alloc.user, ctx);
}

attn_isa attn_ctx_isa(const attn_ctx *ctx) { return ctx ? ctx->isa : ATTN_ISA_AUTO; }
int attn_ctx_threads(const attn_ctx *ctx) { return ctx ? attni_pool_threads(ctx->pool) : 0; }
const attni_kernels *attni_ctx_kernels(const attn_ctx *ctx, bool f64) { return ctx->kernels[f64]; }
attni_pool *attni_ctx_pool(attn_ctx *ctx) { return ctx->pool; }

void attn_ctx_trim(attn_ctx *ctx) {
    if (!ctx || !ctx->scratch) return;
    ctx->alloc.free(ctx->alloc.user, ctx->scratch);
    ctx->scratch = NULL;
    ctx->scratch_size = 0;
}

void *attni_ctx_scratch(attn_ctx *ctx, size_t bytes) {
    if (bytes <= ctx->scratch_size) return ctx->scratch;
    if (ATTNI_JOIN_GROUPS) { /* text generation needs a little more every few calls */
        const size_t ahead = ctx->scratch_size + ctx->scratch_size / 4;
        if (bytes < ahead) bytes = ahead;
    }
    void *larger = ctx->alloc.alloc(ctx->alloc.user, bytes, SCRATCH_ALIGN);
    if (!larger) return NULL; /* the old scratch is kept: a later, smaller call still works */
    attn_ctx_trim(ctx);
    ctx->scratch = larger;
    ctx->scratch_size = bytes;
    return larger;
}

attn_status attn_cpu_info(attn_cpu *info, attn_error *err) {
    ATTN_TRY(attni_struct_check(&attni_struct_cpu, "info", info, err));
    attn_cpu full = {.best = attni_kernels_best(), .cpus = attni_cpu_count()};
    attni_cpu_name(full.name);
    attni_struct_write(&full, info);
    return ATTN_OK;
}

int attn_isa_built(attn_isa isa) { return attni_kernels_built(isa); }
int attn_isa_usable(attn_isa isa) { return attni_kernels_get(isa, false) != NULL; }

attn_status attni_ctx_workspace(attn_ctx *ctx, const attn_args *a, size_t needed, char **workspace,
                                attn_error *err) {
    if (!a->workspace) {
        *workspace = attni_ctx_scratch(ctx, needed);
        if (*workspace || needed == 0) return ATTN_OK;
        return attni_fail(err, ATTN_E_MEMORY, "context: no memory for %zu bytes of scratch",
                          needed);
    }
    if (a->workspace_size < needed || (uintptr_t)a->workspace % 64 != 0) {
        return attni_fail(
            err, ATTN_E_WORKSPACE,
            "workspace: %zu bytes at an address %s 64-byte aligned, expected %zu bytes, aligned",
            a->workspace_size, (uintptr_t)a->workspace % 64 ? "not" : "that is", needed);
    }
    *workspace = a->workspace;
    return ATTN_OK;
}

/* --------------------------------------------------------------------------------- running tasks */

/* Worker 0 is the thread that made the call, unless the caller's pool runs the workers. In that
 * case any of them may call abort(), but only one at a time. */
bool attni_ctx_aborts(attn_ctx *ctx, int worker) {
    if (atomic_load_explicit(&ctx->aborted, memory_order_relaxed)) return true;
    if (!ctx->abort || (ctx->own_threads && worker != 0)) return false;
    if (atomic_flag_test_and_set(&ctx->asking)) return false;
    const bool now = ctx->abort(ctx->abort_user) != 0;
    if (now) atomic_store(&ctx->aborted, true);
    atomic_flag_clear(&ctx->asking);
    return now;
}

const atomic_bool *attni_ctx_aborted(const attn_ctx *ctx) { return &ctx->aborted; }

int attni_ctx_workers(const attn_ctx *ctx, int64_t n_tasks) {
    return (int)attni_clamp(n_tasks, 1, attn_ctx_threads(ctx));
}

typedef struct abortable {
    attn_ctx *ctx;
    attni_task *task;
    void *arg;
} abortable;

static void run_unless_aborted(void *arg, int64_t task, int worker) {
    const abortable *a = arg;
    if (!attni_ctx_aborts(a->ctx, worker)) a->task(a->arg, task, worker);
}

static void ask_while_waiting(void *arg) { attni_ctx_aborts(((const abortable *)arg)->ctx, 0); }

attn_status attni_ctx_run(attn_ctx *ctx, int workers, int64_t n_tasks, attni_task *task, void *arg,
                          attn_error *err) {
    abortable all = {.ctx = ctx, .task = task, .arg = arg};
    atomic_store_explicit(&ctx->aborted, false, memory_order_relaxed);
    /* Also checked here: on a busy machine the workers may finish before this thread gets a
     * task. */
    if (!attni_ctx_aborts(ctx, 0))
        attni_parallel_asking(ctx->pool, workers, n_tasks, run_unless_aborted, &all,
                              ctx->abort ? ask_while_waiting : NULL);
    if (!atomic_load(&ctx->aborted)) return ATTN_OK;
    return attni_fail(err, ATTN_E_ABORTED,
                      "abort: the callback of the context said to stop; outputs are incomplete");
}
