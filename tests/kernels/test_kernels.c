/* SPDX-License-Identifier: Apache-2.0 */
/* test_kernels.c - every instruction set of this build that runs here, against the oracle, under
 * the bound of bound.c. All buffers lie between guard pages, the workspace is exactly as large
 * as asked for, and no byte outside out and lse may change. */
#include "bound.h"
#include "isas.h"

#include <stdio.h>

/* Runs one problem and compares; false after a failure. */
static bool passes(attn_ctx *ctx, const problem_spec *spec, double *worst) {
    problem p;
    const bool ok = problem_make(&p, spec) && problem_run(&p, ctx) && bound_check(&p, worst);
    problem_free(&p);
    return ok;
}

static int lanes_of(attn_isa isa, attn_dtype dtype) {
    const attni_kernels *kernels = attni_kernels_get(isa, dtype == ATTN_F64);
    return kernels->vl * kernels->max_vecs;
}

static int vector_of(attn_isa isa, attn_dtype dtype) {
    return attni_kernels_get(isa, dtype == ATTN_F64)->vl;
}

static void report(double worst) { printf("(worst %.2f of the bound) ", worst); }

/* ------------------------------------------------------------------------------ random problems */

static void random_problems(attn_isa isa, attn_dtype dtype) {
    NEED_ISA(isa);
    attn_ctx *ctx = isa_context(isa, 1);
    double worst = 0;
    const int rounds = test_rounds(220);
    bool ok = ctx != NULL;
    for (int round = 0; ok && round < rounds; round++) {
        const uint64_t seed = (uint64_t)round * 8 + (uint64_t)dtype;
        const problem_spec spec =
            problem_draw(seed, dtype, vector_of(isa, dtype), lanes_of(isa, dtype));
        ok = passes(ctx, &spec, &worst);
    }
    attn_ctx_destroy(ctx);
    if (ok) report(worst);
}

/* --------------------------------------------------------------------------------------- sweeps */

static const int64_t head_sizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33, 40, 64, 72, 100, 129};
enum { HEAD_SIZES = sizeof head_sizes / sizeof head_sizes[0] };

static void every_head_size(attn_isa isa, attn_dtype dtype) {
    NEED_ISA(isa);
    attn_ctx *ctx = isa_context(isa, 1);
    double worst = 0;
    bool ok = ctx != NULL;
    for (int x = 0; ok && x < 2 * HEAD_SIZES; x++) {
        const int64_t d = head_sizes[x / 2], other = head_sizes[(x / 2 * 7 + 3) % HEAD_SIZES];
        const problem_spec spec = {.seed = 5000 + (uint64_t)x,
                                   .dtype = dtype,
                                   .B = 1,
                                   .H = 2,
                                   .H_kv = 1,
                                   .n_q = lanes_of(isa, dtype) / 2 + 1,
                                   .n_k = 23,
                                   .d_k = x & 1 ? other : d,
                                   .d_v = d,
                                   .features = x & 2 ? PROBLEM_CAUSAL : 0,
                                   .layout = (problem_layout)(x % LAYOUT_COUNT)};
        ok = passes(ctx, &spec, &worst);
    }
    attn_ctx_destroy(ctx);
    if (ok) report(worst);
}

/* Lengths where vectors, panels, blocks of panels and key tiles begin and end. */
static int collect_lengths(int64_t vl, int64_t lanes, int64_t *lengths) {
    const int64_t around[] = {1, vl, 2 * vl, 3 * vl, lanes, 2 * lanes, 8 * lanes, 192, 384};
    int n = 0;
    lengths[n++] = 0;
    for (size_t x = 0; x < sizeof around / sizeof around[0]; x++) {
        for (int64_t length = around[x] - 1; length <= around[x] + 1; length++) {
            if (length > 0) lengths[n++] = length;
        }
    }
    return n;
}

static void every_length(attn_isa isa, attn_dtype dtype) {
    NEED_ISA(isa);
    attn_ctx *ctx = isa_context(isa, 1);
    double worst = 0;
    int64_t lengths[32];
    const int n = collect_lengths(vector_of(isa, dtype), lanes_of(isa, dtype), lengths);
    bool ok = ctx != NULL;
    for (int x = 0; ok && x < 2 * n; x++) {
        const problem_spec spec = {.seed = 6000 + (uint64_t)x,
                                   .dtype = dtype,
                                   .B = 1,
                                   .H = 1,
                                   .H_kv = 1,
                                   .n_q = x & 1 ? 5 : lengths[x / 2],
                                   .n_k = x & 1 ? lengths[x / 2] : 9,
                                   .d_k = 6,
                                   .d_v = 3,
                                   .features = x % 3 == 0 ? PROBLEM_CAUSAL : 0};
        ok = passes(ctx, &spec, &worst);
    }
    attn_ctx_destroy(ctx);
    if (ok) report(worst);
}

/* n_q and the heads of a group together fill a panel, one row less, one row more. */
static void every_group(attn_isa isa, attn_dtype dtype) {
    NEED_ISA(isa);
    attn_ctx *ctx = isa_context(isa, 1);
    double worst = 0;
    bool ok = ctx != NULL;
    for (int64_t group = 1; ok && group <= 8; group++) {
        const int64_t full = lanes_of(isa, dtype) / group;
        for (int64_t n_q = full > 1 ? full - 1 : 1; ok && n_q <= full + 2; n_q++) {
            const problem_spec spec = {.seed = 7000 + (uint64_t)(group * 64 + n_q),
                                       .dtype = dtype,
                                       .B = 1,
                                       .H = 2 * group,
                                       .H_kv = 2,
                                       .n_q = n_q,
                                       .n_k = 21,
                                       .d_k = 8,
                                       .d_v = 5,
                                       .features = PROBLEM_CAUSAL | PROBLEM_ALIBI | PROBLEM_SINKS};
            ok = passes(ctx, &spec, &worst);
        }
    }
    attn_ctx_destroy(ctx);
    if (ok) report(worst);
}

/* ----------------------------------------------------------------------------- layouts, padding */

static const unsigned single_features[] = {PROBLEM_CAUSAL,
                                           PROBLEM_WINDOW,
                                           PROBLEM_MASK,
                                           PROBLEM_BIAS,
                                           PROBLEM_PATTERN,
                                           PROBLEM_LENGTHS,
                                           PROBLEM_PACKED,
                                           PROBLEM_OFFSET | PROBLEM_CAUSAL,
                                           PROBLEM_ALIBI,
                                           PROBLEM_SINKS,
                                           PROBLEM_SOFTCAP,
                                           PROBLEM_TEMPERATURE,
                                           PROBLEM_SCALE,
                                           PROBLEM_DROPOUT,
                                           PROBLEM_EVERYTHING & ~PROBLEM_PACKED,
                                           PROBLEM_EVERYTHING & ~PROBLEM_LENGTHS};

/* Each feature alone and all together, across a tile border, in every layout in turn. */
static void every_feature(attn_isa isa, attn_dtype dtype) {
    NEED_ISA(isa);
    attn_ctx *ctx = isa_context(isa, 1);
    double worst = 0;
    bool ok = ctx != NULL;
    const int n = (int)(sizeof single_features / sizeof single_features[0]);
    for (int x = 0; ok && x < 3 * n; x++) {
        const problem_spec spec = {.seed = 8000 + (uint64_t)x,
                                   .dtype = dtype,
                                   .B = 2,
                                   .H = 2,
                                   .H_kv = 1 + x / n % 2,
                                   .n_q = 30,
                                   .n_k = 210,
                                   .d_k = 8,
                                   .d_v = 8,
                                   .features = single_features[x % n],
                                   .layout = (problem_layout)((x + x / n) % LAYOUT_COUNT)};
        ok = passes(ctx, &spec, &worst);
    }
    attn_ctx_destroy(ctx);
    if (ok) report(worst);
}

/* One row of mask (all true) or bias (all 1) for every query, with a guard page right behind it. */
static bool give_row(problem *p, bool mask, guard *memory) {
    const attn_dtype dtype = mask ? ATTN_BOOL : ATTN_F32;
    const size_t n = (size_t)p->spec.n_k;
    if (!guard_alloc(memory, n * attn_dtype_size(dtype), GUARD_AFTER)) {
        check_failed(__FILE__, __LINE__, "no memory");
        return false;
    }
    attn_tensor *row = mask ? &p->args.mask : &p->args.bias;
    *row = attn_tensor_bhsd(memory->data, dtype, 1, 1, 1, (int64_t)n);
    for (int64_t j = 0; j < (int64_t)n; j++) tensor_set(row, (const int64_t[4]){0, 0, 0, j}, 1);
    return true;
}

/* Late rows look for keys beyond the last one, in a panel with rows that see some: nothing behind
 * the mask or bias may be read for them. */
static void windows_beyond(attn_isa isa, attn_dtype dtype) {
    NEED_ISA(isa);
    attn_ctx *ctx = isa_context(isa, 1);
    bool ok = ctx != NULL;
    for (int x = 0; ok && x < 16; x++) {
        const problem_spec spec = {.seed = 8500 + (uint64_t)x,
                                   .dtype = dtype,
                                   .B = 1,
                                   .H = 2,
                                   .H_kv = 1,
                                   .n_q = 101, /* the second head begins in the middle of a panel */
                                   .n_k = 17 + x,
                                   .d_k = 3,
                                   .d_v = 4};
        problem p;
        guard row = {0};
        ok = problem_make(&p, &spec) && give_row(&p, x & 1, &row);
        p.args.offset = 0;
        p.args.window_left = 1;
        ok = ok && problem_run(&p, ctx) && bound_check(&p, NULL);
        guard_free(&row);
        problem_free(&p);
    }
    attn_ctx_destroy(ctx);
}

/* problem_run() compares every byte that is no element of out or lse with what it was before. */
static void padding(attn_isa isa, attn_dtype dtype) {
    NEED_ISA(isa);
    attn_ctx *ctx = isa_context(isa, 1);
    bool ok = ctx != NULL;
    for (int x = 0; ok && x < HEAD_SIZES; x++) {
        const problem_layout layouts[3] = {LAYOUT_PADDED, LAYOUT_REVERSED, LAYOUT_QKV};
        const problem_spec spec = {.seed = 9000 + (uint64_t)x,
                                   .dtype = dtype,
                                   .B = 2,
                                   .H = 3,
                                   .H_kv = 3,
                                   .n_q = lanes_of(isa, dtype) + 3,
                                   .n_k = lanes_of(isa, dtype) + 3,
                                   .d_k = 4,
                                   .d_v = head_sizes[x],
                                   .layout = layouts[x % 3]};
        problem p;
        ok = problem_make(&p, &spec) && problem_run(&p, ctx);
        problem_free(&p);
    }
    attn_ctx_destroy(ctx);
}

/* ---------------------------------------------------------------------------------------- tests */

#define DTYPE_TESTS(isa, ISA, dtype, DTYPE)                                                        \
    TEST(isa##_##dtype##_random_problems_match_the_oracle) { random_problems(ISA, DTYPE); }        \
    TEST(isa##_##dtype##_every_head_size_matches_the_oracle) { every_head_size(ISA, DTYPE); }      \
    TEST(isa##_##dtype##_every_length_matches_the_oracle) { every_length(ISA, DTYPE); }            \
    TEST(isa##_##dtype##_every_group_size_matches_the_oracle) { every_group(ISA, DTYPE); }         \
    TEST(isa##_##dtype##_every_feature_matches_the_oracle) { every_feature(ISA, DTYPE); }          \
    TEST(isa##_##dtype##_windows_beyond_the_keys_match_the_oracle) { windows_beyond(ISA, DTYPE); } \
    TEST(isa##_##dtype##_bytes_outside_the_outputs_stay) { padding(ISA, DTYPE); }

#define ISA_TESTS(isa, ISA)                                                                        \
    DTYPE_TESTS(isa, ISA, f32, ATTN_F32)                                                           \
    DTYPE_TESTS(isa, ISA, f64, ATTN_F64)                                                           \
    DTYPE_TESTS(isa, ISA, f16, ATTN_F16)                                                           \
    DTYPE_TESTS(isa, ISA, bf16, ATTN_BF16)

ISA_LIST(ISA_TESTS)
