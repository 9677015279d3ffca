/* SPDX-License-Identifier: Apache-2.0 */
/* context.c - creates and destroys contexts. The only place that reads the environment. Test:
 * tests/attention/test_context.c */
#include "attention/context.h"

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
};

static void *default_alloc(void *user, size_t size, size_t align) {
    (void)user;
    return attni_memory_alloc(size, align);
}

static void default_free(void *user, void *ptr) {
    (void)user;
    attni_memory_free(ptr);
}

void attn_ctx_options_init(attn_ctx_options *options) {
    memset(options, 0, sizeof *options);
    options->struct_size = sizeof *options;
    options->threads = 1;
    options->isa = ATTN_ISA_AUTO;
    options->alloc = (attn_alloc){.alloc = default_alloc, .free = default_free};
}

static attn_status check_options(const attn_ctx_options *o, attn_error *err) {
    if (o->struct_size != sizeof *o) {
        return attni_fail(
            err, ATTN_E_STRUCT,
            "options: struct_size is %u, expected %zu; call attn_ctx_options_init() first",
            o->struct_size, sizeof *o);
    }
    if (o->threads < 0 || o->threads > MAX_THREADS) {
        return attni_fail(err, ATTN_E_VALUE, "threads: %d, expected 1 .. %d, or 0 for one per CPU",
                          o->threads, MAX_THREADS);
    }
    if ((unsigned)o->isa >= ATTN_ISA_COUNT) {
        return attni_fail(err, ATTN_E_VALUE, "isa: %d is not an attn_isa", (int)o->isa);
    }
    if (!o->alloc.alloc || !o->alloc.free) {
        return attni_fail(err, ATTN_E_NULL,
                          "alloc: %s is NULL; give both callbacks or keep the defaults",
                          o->alloc.alloc ? "free" : "alloc");
    }
    return ATTN_OK;
}

static attn_status isa_by_name(const char *name, attn_isa *isa, attn_error *err) {
    for (int i = 0; i < ATTN_ISA_COUNT; i++) {
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
    attn_ctx_options defaults;
    attn_ctx_options_init(&defaults);
    const attn_ctx_options *o = options ? options : &defaults;
    ATTN_TRY(check_options(o, err));
    attn_ctx *ctx = o->alloc.alloc(o->alloc.user, sizeof *ctx, SCRATCH_ALIGN);
    if (!ctx)
        return attni_fail(err, ATTN_E_MEMORY, "context: no memory for %zu bytes", sizeof *ctx);
    *ctx = (attn_ctx){.alloc = o->alloc};
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
    if (ctx->scratch) ctx->alloc.free(ctx->alloc.user, ctx->scratch);
    ctx->alloc.free(ctx->alloc.user, ctx);
}

attn_isa attn_ctx_isa(const attn_ctx *ctx) { return ctx->isa; }
int attn_ctx_threads(const attn_ctx *ctx) { return attni_pool_threads(ctx->pool); }
const attni_kernels *attni_ctx_kernels(const attn_ctx *ctx, bool f64) { return ctx->kernels[f64]; }
attni_pool *attni_ctx_pool(attn_ctx *ctx) { return ctx->pool; }

void *attni_ctx_scratch(attn_ctx *ctx, size_t bytes) {
    if (bytes <= ctx->scratch_size) return ctx->scratch;
    void *larger = ctx->alloc.alloc(ctx->alloc.user, bytes, SCRATCH_ALIGN);
    if (!larger) return NULL; /* the old scratch stays: a later, smaller call still works */
    if (ctx->scratch) ctx->alloc.free(ctx->alloc.user, ctx->scratch);
    ctx->scratch = larger;
    ctx->scratch_size = bytes;
    return larger;
}

void attn_cpu_info(attn_cpu *info) {
    memset(info, 0, sizeof *info);
    info->best = attni_kernels_best();
    info->cpus = attni_cpu_count();
    attni_cpu_name(info->name);
    for (int isa = ATTN_ISA_SCALAR; isa < ATTN_ISA_COUNT; isa++) {
        info->built[isa] = attni_kernels_built((attn_isa)isa);
        info->usable[isa] = attni_kernels_get((attn_isa)isa, false) != NULL;
    }
}

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
