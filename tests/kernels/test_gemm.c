/* SPDX-License-Identifier: Apache-2.0 */
/* test_gemm.c - matrix products against sums in double: every instruction set, odd shapes,
 * transposed operands, adding, threads. */
#include "check.h"
#include "layers/gemm.h"

#include "attention/context.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 600 * 600 };
static double a[MOST], b[MOST], c[MOST], first[MOST]; /* hold floats or doubles */

static uint64_t state = 1;
static double next(void) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(int32_t)(state >> 33) / 1073741824.0 - 1;
}

static double get(const double *x, bool f64, int64_t at) {
    return f64 ? x[at] : (double)((const float *)x)[at];
}
static void set(double *x, bool f64, int64_t at, double value) {
    if (f64) {
        x[at] = value;
    } else {
        ((float *)x)[at] = (float)value;
    }
}

static void fill(double *x, bool f64) {
    for (int64_t i = 0; i < MOST; i++) set(x, f64, i, next());
}

/* Each product rounds, and each of the k sums; entries are below 1. */
static double allowed(const attni_gemm *g, bool f64) {
    return (double)(g->k + 2) * (f64 ? 0x1p-53 : 0x1p-24) * sqrt((double)g->k + 1);
}

static void check_product(const attni_gemm *g, bool f64, const double *before) {
    for (int64_t i = 0; i < g->m; i++) {
        for (int64_t j = 0; j < g->n; j++) {
            double sum = g->add ? get(before, f64, i * g->c_row + j) : 0;
            for (int64_t k = 0; k < g->k; k++) {
                sum += get(a, f64, i * g->a_row + k * g->a_column) *
                       get(b, f64, k * g->b_row + j * g->b_column);
            }
            CHECK_NEAR(get(c, f64, i * g->c_row + j), sum, allowed(g, f64));
        }
    }
}

static void run(attn_isa isa, int threads, bool f64, const attni_gemm *g) {
    attn_ctx_options options;
    attn_ctx_options_init(&options);
    options.isa = isa;
    options.threads = threads;
    attn_ctx *ctx;
    CHECK_INT(attn_ctx_create(&options, &ctx, NULL), ATTN_OK);
    void *scratch =
        aligned_alloc(64, attni_gemm_scratch(attni_ctx_kernels(ctx, f64), f64, g, threads));
    attni_gemm_run(attni_ctx_pool(ctx), attni_ctx_kernels(ctx, f64), f64, g, scratch);
    free(scratch);
    attn_ctx_destroy(ctx);
}

static attni_gemm make(int64_t m, int64_t n, int64_t k, bool a_transposed, bool b_transposed,
                       bool add) {
    return (attni_gemm){.m = m,
                        .n = n,
                        .k = k,
                        .add = add,
                        .a = a,
                        .a_row = (ptrdiff_t)(a_transposed ? 1 : k),
                        .a_column = (ptrdiff_t)(a_transposed ? m : 1),
                        .b = b,
                        .b_row = (ptrdiff_t)(b_transposed ? 1 : n),
                        .b_column = (ptrdiff_t)(b_transposed ? k : 1),
                        .c = c,
                        .c_row = (ptrdiff_t)n};
}

TEST(products_match_sums_in_double_on_every_instruction_set) {
    static const int64_t shapes[][3] = {{1, 1, 1},    {3, 5, 2},    {4, 24, 8},  {7, 25, 257},
                                        {17, 48, 31}, {13, 7, 300}, {64, 96, 0}, {33, 100, 513}};
    for (int isa = ATTN_ISA_SCALAR; isa < ATTN_ISA_COUNT; isa++) {
        if (!attni_kernels_get((attn_isa)isa, false)) continue;
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
            for (int bits = 0; bits < 16; bits++) {
                const bool f64 = bits & 8;
                const attni_gemm g =
                    make(shapes[s][0], shapes[s][1], shapes[s][2], bits & 1, bits & 2, bits & 4);
                fill(a, f64), fill(b, f64), fill(c, f64);
                memcpy(first, c, sizeof c);
                run((attn_isa)isa, 1, f64, &g);
                check_product(&g, f64, first);
                if (check_has_failed()) return;
            }
        }
    }
}

TEST(products_have_the_same_bits_for_any_thread_count) {
    const attni_gemm g = make(550, 101, 300, false, false, false);
    fill(a, false), fill(b, false);
    run(ATTN_ISA_AUTO, 1, false, &g);
    memcpy(first, c, sizeof c);
    for (int threads = 2; threads <= 3; threads++) {
#if defined(__wasm__)
        SKIP("no threads in this build");
#endif
        memset(c, 0, sizeof c);
        run(ATTN_ISA_AUTO, threads, false, &g);
        CHECK(memcmp(first, c, 550 * 101 * sizeof(float)) == 0);
    }
}

/* A context whose allocator can be switched off. */
typedef struct switched {
    attn_alloc heap;
    bool off;
} switched;

static void *switched_alloc(void *user, size_t size, size_t align) {
    const switched *s = user;
    return s->off ? NULL : s->heap.alloc(s->heap.user, size, align);
}

static void switched_free(void *user, void *ptr) {
    const switched *s = user;
    s->heap.free(s->heap.user, ptr);
}

TEST(a_context_without_memory_refuses_a_product_and_leaves_c_alone) {
    attn_ctx_options options;
    attn_ctx_options_init(&options);
    switched heap = {.heap = options.alloc};
    options.alloc = (attn_alloc){.user = &heap, .alloc = switched_alloc, .free = switched_free};
    attn_ctx *ctx;
    CHECK_INT(attn_ctx_create(&options, &ctx, NULL), ATTN_OK);
    const attni_gemm g = make(3, 5, 7, false, false, false);
    memset(c, 0, sizeof c);
    heap.off = true;
    attn_error err = {0};
    CHECK_INT(attni_gemm_on(ctx, false, &g, &err), ATTN_E_MEMORY);
    CHECK(strstr(err.message, "product") != NULL);
    CHECK(c[0] == 0);
    heap.off = false;
    CHECK_INT(attni_gemm_on(ctx, false, &g, &err), ATTN_OK);
    attn_ctx_destroy(ctx);
}

TEST(a_product_on_a_context_matches_sums_in_double) {
    attn_ctx *ctx;
    CHECK_INT(attn_ctx_create(NULL, &ctx, NULL), ATTN_OK);
    for (int f64 = 0; f64 < 2; f64++) {
        const attni_gemm g = make(33, 50, 70, false, true, true);
        fill(a, f64), fill(b, f64), fill(c, f64);
        memcpy(first, c, sizeof c);
        CHECK_INT(attni_gemm_on(ctx, f64, &g, NULL), ATTN_OK);
        check_product(&g, f64, first);
    }
    attn_ctx_destroy(ctx);
}
