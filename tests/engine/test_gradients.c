/* SPDX-License-Identifier: Apache-2.0 */
/* test_gradients.c - attn_backward() against the oracle, under the bound of gradient_bound.c, on
 * every instruction set of this build that runs here. All buffers lie between guard pages, the
 * workspace is exactly as large as requested, and no byte outside the gradients may change. */
#include "gradient_bound.h"
#include "sweeps.h"

#include <stdlib.h>

/* Runs one problem both ways and compares; false after a failure. */
static bool wanted_match(attn_ctx *ctx, const problem_spec *spec, unsigned wanted, double *worst) {
    problem p;
    const bool ok = problem_make(&p, spec) && problem_make_backward(&p, wanted) &&
                    problem_run(&p, ctx) && problem_run_backward(&p, ctx) &&
                    gradient_bound_check(&p, worst);
    problem_free(&p);
    return ok;
}

static bool passes(attn_ctx *ctx, const problem_spec *spec, double *worst) {
    return wanted_match(ctx, spec, WANT_ALL, worst);
}

/* ------------------------------------------------------------------------------ random problems */

/* As forward draws them, but also around the blocks of 96 queries and tiles of 96 keys; every
 * second time all gradients are wanted, else some. */
static problem_spec draw(const sweep *s, uint64_t seed, unsigned *wanted) {
    static const int64_t around[] = {95, 96, 97, 191, 192, 193, 200};
    problem_spec spec = problem_draw(seed, s->dtype, sweep_vector(s), sweep_lanes(s));
    random_stream r = random_begin(seed, 77);
    const int64_t length = around[random_below(&r, 7)];
    if (random_chance(&r, 0.3)) {
        const bool queries = random_chance(&r, 0.5);
        *(queries ? &spec.n_q : &spec.n_k) = length;
        if (*(queries ? &spec.n_k : &spec.n_q) > 40) spec.d_k = spec.d_v = 5;
    }
    while (spec.B * spec.H * spec.n_q * spec.n_k * (spec.d_k + spec.d_v) > 1000000) {
        if (spec.B > 1) {
            spec.B--;
        } else {
            spec.H = spec.H_kv = spec.H > 1 ? spec.H / 2 : 1;
            spec.d_k = 1 + spec.d_k / 2;
            spec.d_v = 1 + spec.d_v / 2;
        }
    }
    spec.wide_lse = random_chance(&r, 0.5);
    *wanted = random_chance(&r, 0.5) ? WANT_ALL : (unsigned)random_below(&r, WANT_ALL + 1);
    return spec;
}

static void random_problems(sweep *s) {
    const int rounds = test_rounds(100);
    for (int round = 0; s->ok && round < rounds; round++) {
        unsigned wanted;
        const problem_spec spec =
            draw(s, 20000 + (uint64_t)round * 8 + (uint64_t)s->dtype, &wanted);
        s->ok = wanted_match(s->ctx, &spec, wanted, &s->worst);
    }
}

/* --------------------------------------------------------------------------------------- sweeps */

/* Where time is short, a sweep takes every fourth problem, emulated every twelfth; which ones
 * differs between dtypes. */
static bool is_taken(int64_t x, attn_dtype dtype) {
    const int rounds = test_rounds(100), step = rounds >= 50 ? 1 : rounds > 10 ? 4 : 12;
    return (x + 3 * (int64_t)dtype) % step == 0;
}

static void every_head_size(sweep *s) { sweep_head_sizes(s, 25000); }
/* Blocks of queries and key tiles. */
static void every_length(sweep *s) { sweep_lengths(s, 26000, (const int64_t[3]){96, 192, 288}); }
static void every_group(sweep *s) { sweep_groups(s, 27000); }
static void every_feature(sweep *s) { sweep_features(s, 28000, 110); }

/* Several blocks of queries against several tiles of keys. */
static void many_blocks(sweep *s) {
    static const unsigned features[4] = {0, PROBLEM_CAUSAL, PROBLEM_WINDOW,
                                         PROBLEM_BIAS | PROBLEM_CAUSAL};
    for (int x = 0; s->ok && x < 8; x++) {
        const problem_spec spec = {.seed = 26500 + (uint64_t)x,
                                   .dtype = s->dtype,
                                   .B = 1,
                                   .H = 1 + x / 4,
                                   .H_kv = 1,
                                   .n_q = 287 + x % 3,
                                   .n_k = 193 + x % 5 * 48,
                                   .d_k = 5,
                                   .d_v = 4,
                                   .features = features[x % 4]};
        sweep_try(s, x, &spec);
    }
}

/* -------------------------------------------------------------------------------- shared biases */

/* Gives the problem a bias shared over any of batch, head and row, and a dbias of the same shape,
 * as an array or as a sliding view. *memory is to be freed. */
static bool give_bias(problem *p, int kind, void **memory) {
    const problem_spec *s = &p->spec;
    const int64_t n[4] = {kind & 1 ? s->B : 1, kind & 2 ? s->H : 1, kind & 4 ? s->n_q : 1, s->n_k};
    const int64_t size = n[0] * n[1] * n[2] * n[3] + s->n_q;
    double *data = calloc((size_t)(2 * size), sizeof *data);
    *memory = data;
    if (!data) {
        check_failed(__FILE__, __LINE__, "no memory");
        return false;
    }
    for (int64_t e = 0; e < size; e++) data[e] = (double)(e * 7 % 13) / 8;
    p->args.bias = attn_tensor_bhsd(data, ATTN_F64, n[0], n[1], n[2], n[3]);
    p->gradients.dbias = attn_tensor_bhsd(data + size + s->n_q, kind & 1 ? ATTN_F32 : ATTN_F64,
                                          n[0], n[1], n[2], n[3]);
    if (kind & 8) p->gradients.dbias.stride[2] = -1;
    return true;
}

static void every_bias(sweep *s) {
    for (int kind = 0; s->ok && kind < 16; kind++) {
        const problem_spec spec = {.seed = 29000 + (uint64_t)kind,
                                   .dtype = s->dtype,
                                   .B = 2,
                                   .H = 4,
                                   .H_kv = 2,
                                   .n_q = 50, /* the heads of a group share a block */
                                   .n_k = 101,
                                   .d_k = 6,
                                   .d_v = 5,
                                   .features = kind % 3 ? 0 : PROBLEM_CAUSAL | PROBLEM_TEMPERATURE};
        problem p;
        void *memory = NULL;
        s->ok = problem_make(&p, &spec) && problem_make_backward(&p, WANT_DQ | WANT_DSCALE) &&
                give_bias(&p, kind, &memory) && problem_run(&p, s->ctx) &&
                problem_run_backward(&p, s->ctx) && gradient_bound_check(&p, &s->worst);
        free(memory);
        problem_free(&p);
    }
}

/* ---------------------------------------------------------------------------------------- tests */

static void run(attn_isa isa, attn_dtype dtype, void (*problems)(sweep *s)) {
    sweep_run((sweep){.isa = isa, .dtype = dtype, .passes = passes, .is_taken = is_taken},
              problems);
}

#define DTYPE_TESTS(isa, ISA, dtype, DTYPE)                                                        \
    TEST(isa##_##dtype##_random_gradients_match_the_oracle) { run(ISA, DTYPE, random_problems); }  \
    TEST(isa##_##dtype##_gradients_of_every_head_size_match) { run(ISA, DTYPE, every_head_size); } \
    TEST(isa##_##dtype##_gradients_of_every_length_match) { run(ISA, DTYPE, every_length); }       \
    TEST(isa##_##dtype##_gradients_of_many_blocks_match) { run(ISA, DTYPE, many_blocks); }         \
    TEST(isa##_##dtype##_gradients_of_every_group_size_match) { run(ISA, DTYPE, every_group); }    \
    TEST(isa##_##dtype##_gradients_of_every_feature_match) { run(ISA, DTYPE, every_feature); }     \
    TEST(isa##_##dtype##_gradients_of_every_shared_bias_match) { run(ISA, DTYPE, every_bias); }

#define ISA_TESTS(isa, ISA)                                                                        \
    DTYPE_TESTS(isa, ISA, f32, ATTN_F32)                                                           \
    DTYPE_TESTS(isa, ISA, f64, ATTN_F64)                                                           \
    DTYPE_TESTS(isa, ISA, f16, ATTN_F16)                                                           \
    DTYPE_TESTS(isa, ISA, bf16, ATTN_BF16)

ISA_LIST(ISA_TESTS)
