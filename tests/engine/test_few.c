/* SPDX-License-Identifier: Apache-2.0 */
/* test_few.c - text generation: a few queries at a time on many keys have the bits that they have
 * among many queries, although another kernel computes them and their keys may be split over
 * threads. Random problems with every option that may differ, on every instruction set. */
#include "bits_case.h"
#include "isas.h"

#include <math.h>
#include <string.h>

enum { ROWS = 30 }; /* more than a few, for every number of heads */

#ifdef __wasm__
enum { SOME_THREADS = 1 };
#else
enum { SOME_THREADS = 3 };
#endif

/* Around the sizes of tiles (192 keys) and of groups of tiles (1536), where something begins. */
static int64_t draw_keys(random_stream *r) {
    static const int64_t sizes[] = {32,  33,   95,   97,   191,  192, 193,
                                    500, 1535, 1536, 1537, 3100, 4700};
    return sizes[random_below(r, (int64_t)(sizeof sizes / sizeof *sizes))];
}

static problem_spec draw_spec(uint64_t seed, attn_dtype dtype) {
    random_stream r = random_begin(seed, 77);
    const int64_t group = (int64_t)1 << random_below(&r, 4), H_kv = 1 + random_below(&r, 2);
    problem_spec spec = {.seed = seed,
                         .dtype = dtype,
                         .B = 1 + random_below(&r, 2),
                         .H = group * H_kv,
                         .H_kv = H_kv,
                         .n_q = ROWS,
                         .n_k = draw_keys(&r),
                         .d_k = 1 + random_below(&r, 140),
                         .d_v = 1 + random_below(&r, 140)};
    if (random_chance(&r, 0.5)) spec.d_k = 64;
    if (random_chance(&r, 0.5)) spec.d_v = 128;
    spec.features = (unsigned)random_bits(&r) & PROBLEM_EVERYTHING &
                    ~(unsigned)(PROBLEM_DROPOUT | PROBLEM_PACKED | PROBLEM_OFFSET);
    if (random_chance(&r, 0.3)) spec.features &= PROBLEM_CAUSAL;
    return spec;
}

/* Asks for the rows a few at a time, the last ones first. */
static void check_pieces(attn_ctx *ctx, const problem *p, const results *whole, uint64_t seed) {
    random_stream r = random_begin(seed, 78);
    const int64_t group = p->spec.H / p->spec.H_kv, most = group < 8 ? 8 / group : 1;
    for (int64_t row = ROWS; row > 0 && !check_has_failed();) {
        const int64_t n = 1 + random_below(&r, most < row ? most : row);
        row -= n;
        if (!same_piece(ctx, p, whole, row, n)) return;
        row -= random_below(&r, row + 1 < 8 ? row + 1 : 8); /* some rows are left out */
    }
}

static void check_problem(attn_isa isa, const problem_spec *spec) {
    problem p;
    results whole;
    attn_ctx *one = context_with(isa, 1), *some = context_with(isa, SOME_THREADS);
    if (one && some && problem_make(&p, spec)) {
        if (run_problem(one, &p, &whole)) {
            check_pieces(one, &p, &whole, spec->seed);
            check_pieces(some, &p, &whole, spec->seed + 1);
            results_free(&whole);
        }
        problem_free(&p);
    }
    attn_ctx_destroy(one);
    attn_ctx_destroy(some);
}

static void check_isa(attn_isa isa, attn_dtype dtype) {
    NEED_ISA(isa);
    if (!attni_kernels_get(isa, dtype == ATTN_F64)->few) SKIP("no kernel for few queries");
    const int rounds = test_rounds(60);
    for (int i = 0; i < rounds && !check_has_failed(); i++) {
        const problem_spec spec = draw_spec((uint64_t)(1000 * dtype + i), dtype);
        check_problem(isa, &spec);
    }
}

#define EACH_DTYPE(name, isa)                                                                      \
    TEST(name##_few_queries_in_f32_have_the_bits_of_many) { check_isa(isa, ATTN_F32); }            \
    TEST(name##_few_queries_in_f64_have_the_bits_of_many) { check_isa(isa, ATTN_F64); }            \
    TEST(name##_few_queries_in_f16_have_the_bits_of_many) { check_isa(isa, ATTN_F16); }            \
    TEST(name##_few_queries_in_bf16_have_the_bits_of_many) { check_isa(isa, ATTN_BF16); }

ISA_LIST(EACH_DTYPE)

/* ------------------------------------------------------------------------------ one key/value head */

/* A query of one head on many keys is a single block: only its keys can be split over threads. */
static void check_split(attn_isa isa) {
    const problem_spec spec = {.seed = 5,
                               .dtype = ATTN_F32,
                               .B = 1,
                               .H = 4,
                               .H_kv = 1,
                               .n_q = 1,
                               .n_k = 20000,
                               .d_k = 64,
                               .d_v = 64};
    problem p;
    results whole, r;
    NEED_ISA(isa);
    attn_ctx *one = context_with(isa, 1);
    if (!one || !problem_make(&p, &spec)) return;
    if (run_problem(one, &p, &whole)) {
        EACH_THREAD_COUNT(threads) {
            attn_ctx *ctx = context_with(isa, threads);
            if (ctx && run_args(ctx, &p.args, &r)) {
                same_rows(&r, &whole, origin, p.text);
                results_free(&r);
            }
            attn_ctx_destroy(ctx);
        }
        results_free(&whole);
    }
    problem_free(&p);
    attn_ctx_destroy(one);
}

#define SPLIT_TEST(name, isa)                                                                      \
    TEST(name##_keys_split_over_threads_give_the_same_bits) { check_split(isa); }

ISA_LIST(SPLIT_TEST)
