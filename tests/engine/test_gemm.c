/* SPDX-License-Identifier: Apache-2.0 */
/* test_gemm.c - matrix products against sums in double precision: every instruction set, odd
 * shapes, transposed operands, accumulation, threads. */
#include "attention/context.h"
#include "core/os.h"
#include "guard.h"
#include "isas.h"
#include "layers/gemm.h"
#include "random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 600 * 600 };
static double a[MOST], b[MOST], c[MOST], first[MOST]; /* hold floats or doubles */

static random_stream numbers;

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
    if (!numbers.state) numbers = random_begin(1, 0);
    for (int64_t i = 0; i < MOST; i++) set(x, f64, i, random_between(&numbers, -1, 1));
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
    attn_ctx *ctx = context_with(isa, threads);
    if (!ctx) return;
    void *scratch =
        attni_memory_alloc(attni_gemm_scratch(attni_ctx_kernels(ctx, f64), f64, g, threads), 64);
    attni_gemm_run(attni_ctx_pool(ctx), attni_ctx_kernels(ctx, f64), f64, g, scratch);
    attni_memory_free(scratch);
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
    static const int64_t shapes[][3] = {{1, 1, 1},    {3, 5, 2},    {4, 24, 8},   {7, 25, 257},
                                        {17, 48, 31}, {13, 7, 300}, {64, 96, 0},  {0, 9, 4},
                                        {6, 0, 4},    {131, 32, 3}, {9, 535, 19}, {33, 100, 513}};
    EACH_ISA(isa) {
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
            for (int bits = 0; bits < 16; bits++) {
                const bool f64 = bits & 8;
                const attni_gemm g =
                    make(shapes[s][0], shapes[s][1], shapes[s][2], bits & 1, bits & 2, bits & 4);
                fill(a, f64), fill(b, f64), fill(c, f64);
                memcpy(first, c, sizeof c);
                run(isa, 1, f64, &g);
                check_product(&g, f64, first);
                if (check_has_failed()) return;
            }
        }
    }
}

TEST(packed_panels_have_zeros_where_columns_are_missing) {
    EACH_ISA(isa) {
        const attni_kernels *kernels = attni_kernels_get(isa, false);
        const int lanes = 2 * kernels->vl;
        float panel[3 * ATTNI_MAX_LANES];
        fill(a, false);
        for (int columns = 1; columns <= lanes; columns++) {
            for (int transposed = 0; transposed < 2; transposed++) {
                memset(panel, 0xff, sizeof panel);
                const attni_pack p = {.vecs = 2,
                                      .n_columns = columns,
                                      .n_rows = 3,
                                      .from = a,
                                      .row = transposed ? 1 : columns,
                                      .column = transposed ? 3 : 1,
                                      .to = panel};
                kernels->pack_panel(&p);
                for (int i = 0; i < 3 * lanes; i++) {
                    const int r = i / lanes, x = i % lanes;
                    CHECK(panel[i] ==
                          (x < columns ? ((float *)a)[r * p.row + x * p.column] : 0.0f));
                }
            }
        }
    }
}

TEST(operands_may_be_strided_both_ways) {
    for (int f64 = 0; f64 < 2; f64++) {
        attni_gemm g = make(21, 37, 29, false, false, true);
        g.a_row = 70, g.a_column = 2;
        g.b_row = 120, g.b_column = 3;
        g.c_row = 41;
        fill(a, f64), fill(b, f64), fill(c, f64);
        memcpy(first, c, sizeof c);
        run(ATTN_ISA_AUTO, 1, f64, &g);
        check_product(&g, f64, first);
        for (int64_t i = 0; i < g.m; i++) {
            for (int64_t j = g.n; j < g.c_row; j++) {
                CHECK(get(c, f64, i * g.c_row + j) == get(first, f64, i * g.c_row + j));
            }
        }
    }
}

static void multiply_guarded(attn_isa isa, bool a_transposed, bool b_transposed, guard_side side) {
    const int64_t m = 5, n = 21, k = 11;
    guard blocks[3]; /* a, b, c */
    const int64_t sizes[3] = {m * k, k * n, m * n};
    for (int i = 0; i < 3; i++) {
        CHECK(guard_alloc(&blocks[i], (size_t)sizes[i] * sizeof(float), side));
        memset(blocks[i].data, 0, blocks[i].size);
    }
    attni_gemm g = make(m, n, k, a_transposed, b_transposed, true);
    g.a = blocks[0].data, g.b = blocks[1].data, g.c = blocks[2].data;
    run(isa, 1, false, &g);
    for (int i = 0; i < 3; i++) {
        CHECK(guard_intact(&blocks[i]));
        guard_free(&blocks[i]);
    }
}

TEST(products_touch_nothing_beside_their_operands) {
    guard_explain("a product left its operands");
    EACH_ISA(isa) {
        for (int bits = 0; bits < 8; bits++) {
            multiply_guarded(isa, bits & 1, bits & 2, bits & 4 ? GUARD_BEFORE : GUARD_AFTER);
        }
    }
}

TEST(instruction_sets_of_a_class_agree_in_every_bit) {
    const attni_gemm g = make(70, 101, 300, false, true, false);
    for (int f64 = 0; f64 < 2; f64++) {
        bool seen[2] = {false, false};
        static double results[2][70 * 101];
        fill(a, f64), fill(b, f64);
        EACH_ISA(isa) {
            const attni_kernels *kernels = attni_kernels_get(isa, f64);
            run(isa, 1, f64, &g);
            double *result = results[kernels->fused];
            const size_t bytes = 70 * 101 * (f64 ? sizeof(double) : sizeof(float));
            if (!seen[kernels->fused]) memcpy(result, c, bytes);
            CHECK_MSG(memcmp(result, c, bytes) == 0, "%s differs", kernels->name);
            seen[kernels->fused] = true;
        }
    }
}

TEST(products_have_the_same_bits_for_any_thread_count) {
#if defined(__wasm__)
    SKIP("no threads in this build");
#endif
    static const int64_t shapes[][3] = {{550, 101, 300}, {20, 550, 300}, {300, 590, 40}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        const attni_gemm g = make(shapes[s][0], shapes[s][1], shapes[s][2], false, false, false);
        fill(a, false), fill(b, false);
        run(ATTN_ISA_AUTO, 1, false, &g);
        memcpy(first, c, sizeof c);
        EACH_THREAD_COUNT(threads) {
            memset(c, 0, sizeof c);
            run(ATTN_ISA_AUTO, threads, false, &g);
            CHECK(memcmp(first, c, (size_t)(g.m * g.n) * sizeof(float)) == 0);
        }
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
