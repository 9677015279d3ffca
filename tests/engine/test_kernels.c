/* SPDX-License-Identifier: Apache-2.0 */
/* test_kernels.c - attn_forward() against the oracle, under the bound of bound.c, on every
 * instruction set of this build that runs here. All buffers lie between guard pages, the workspace
 * is exactly as large as requested, and no byte outside out and lse may change. */
#include "bound.h"
#include "sweeps.h"

/* Runs one problem and compares; false after a failure. */
static bool passes(attn_ctx *ctx, const problem_spec *spec, double *worst) {
    problem p;
    const bool ok = problem_make(&p, spec) && problem_run(&p, ctx) && bound_check(&p, worst);
    problem_free(&p);
    return ok;
}

static void random_problems(sweep *s) {
    const int rounds = test_rounds(220);
    for (int round = 0; s->ok && round < rounds; round++) {
        const uint64_t seed = (uint64_t)round * 8 + (uint64_t)s->dtype;
        const problem_spec spec = problem_draw(seed, s->dtype, sweep_vector(s), sweep_lanes(s));
        sweep_try(s, round, &spec);
    }
}

static void every_head_size(sweep *s) { sweep_head_sizes(s, 5000); }
/* Blocks of panels and key tiles. */
static void every_length(sweep *s) {
    sweep_lengths(s, 6000, (const int64_t[3]){8 * sweep_lanes(s), 192, 384});
}
static void every_group(sweep *s) { sweep_groups(s, 7000); }
static void every_feature(sweep *s) { sweep_features(s, 8000, 210); }

/* ----------------------------------------------------------------------------- windows, padding */

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
static void windows_beyond(sweep *s) {
    for (int x = 0; s->ok && x < 16; x++) {
        const problem_spec spec = {.seed = 8500 + (uint64_t)x,
                                   .dtype = s->dtype,
                                   .B = 1,
                                   .H = 2,
                                   .H_kv = 1,
                                   .n_q = 101, /* the second head begins in the middle of a panel */
                                   .n_k = 17 + x,
                                   .d_k = 3,
                                   .d_v = 4};
        problem p;
        guard row = {0};
        s->ok = problem_make(&p, &spec) && give_row(&p, x & 1, &row);
        p.args.offset = 0;
        p.args.window_left = 1;
        s->ok = s->ok && problem_run(&p, s->ctx) && bound_check(&p, &s->worst);
        guard_free(&row);
        problem_free(&p);
    }
}

/* problem_run() compares every byte that is no element of out or lse with what it was before. */
static void padding(sweep *s) {
    for (int x = 0; s->ok && x < HEAD_SIZES; x++) {
        const problem_layout layouts[3] = {LAYOUT_PADDED, LAYOUT_REVERSED, LAYOUT_QKV};
        const problem_spec spec = {.seed = 9000 + (uint64_t)x,
                                   .dtype = s->dtype,
                                   .B = 2,
                                   .H = 3,
                                   .H_kv = 3,
                                   .n_q = sweep_lanes(s) + 3,
                                   .n_k = sweep_lanes(s) + 3,
                                   .d_k = 4,
                                   .d_v = head_sizes[x],
                                   .layout = layouts[x % 3]};
        problem p;
        s->ok = problem_make(&p, &spec) && problem_run(&p, s->ctx);
        problem_free(&p);
    }
}

/* ---------------------------------------------------------------------------------------- tests */

static void run(attn_isa isa, attn_dtype dtype, void (*problems)(sweep *s)) {
    sweep_run((sweep){.isa = isa, .dtype = dtype, .passes = passes}, problems);
}

#define DTYPE_TESTS(isa, ISA, dtype, DTYPE)                                                        \
    TEST(isa##_##dtype##_random_problems_match_the_oracle) { run(ISA, DTYPE, random_problems); }   \
    TEST(isa##_##dtype##_every_head_size_matches_the_oracle) { run(ISA, DTYPE, every_head_size); } \
    TEST(isa##_##dtype##_every_length_matches_the_oracle) { run(ISA, DTYPE, every_length); }       \
    TEST(isa##_##dtype##_every_group_size_matches_the_oracle) { run(ISA, DTYPE, every_group); }    \
    TEST(isa##_##dtype##_every_feature_matches_the_oracle) { run(ISA, DTYPE, every_feature); }     \
    TEST(isa##_##dtype##_windows_beyond_the_keys_match_the_oracle) {                               \
        run(ISA, DTYPE, windows_beyond);                                                           \
    }                                                                                              \
    TEST(isa##_##dtype##_bytes_outside_the_outputs_stay) { run(ISA, DTYPE, padding); }

#define ISA_TESTS(isa, ISA)                                                                        \
    DTYPE_TESTS(isa, ISA, f32, ATTN_F32)                                                           \
    DTYPE_TESTS(isa, ISA, f64, ATTN_F64)                                                           \
    DTYPE_TESTS(isa, ISA, f16, ATTN_F16)                                                           \
    DTYPE_TESTS(isa, ISA, bf16, ATTN_BF16)

ISA_LIST(ISA_TESTS)
