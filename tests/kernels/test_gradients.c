/* SPDX-License-Identifier: Apache-2.0 */
/* test_gradients.c - attn_backward() on every instruction set of this build that runs here, against
 * the oracle, under the bound of gradient_bound.c. All buffers lie between guard pages, the
 * workspace is exactly as large as asked for, and no byte outside the gradients may change. */
#include "gradient_bound.h"
#include "isas.h"

#include <stdio.h>
#include <stdlib.h>

/* Runs one problem both ways and compares; false after a failure. */
static bool passes(attn_ctx *ctx, const problem_spec *spec, unsigned wanted, double *worst) {
    problem p;
    const bool ok = problem_make(&p, spec) && problem_make_backward(&p, wanted) &&
                    problem_run(&p, ctx) && problem_run_backward(&p, ctx) &&
                    gradient_bound_check(&p, worst);
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

/* As forward draws them, but also around the blocks of 96 queries and tiles of 96 keys; every
 * second time all gradients are wanted, else some. */
static problem_spec draw(attn_isa isa, attn_dtype dtype, uint64_t seed, unsigned *wanted) {
    static const int64_t around[] = {95, 96, 97, 191, 192, 193, 200};
    problem_spec spec = problem_draw(seed, dtype, vector_of(isa, dtype), lanes_of(isa, dtype));
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

static void random_problems(attn_isa isa, attn_dtype dtype) {
    NEED_ISA(isa);
    attn_ctx *ctx = isa_context(isa, 1);
    double worst = 0;
    const int rounds = test_rounds(100);
    bool ok = ctx != NULL;
    for (int round = 0; ok && round < rounds; round++) {
        unsigned wanted;
        const problem_spec spec =
            draw(isa, dtype, 20000 + (uint64_t)round * 8 + (uint64_t)dtype, &wanted);
        ok = passes(ctx, &spec, wanted, &worst);
    }
    attn_ctx_destroy(ctx);
    if (ok) report(worst);
}

/* --------------------------------------------------------------------------------------- sweeps */

/* Where time is short, a sweep takes every fourth problem, emulated every twelfth; which ones
 * differs between dtypes. */
static bool is_taken(int64_t x, attn_dtype dtype) {
    const int rounds = test_rounds(100), step = rounds >= 50 ? 1 : rounds > 10 ? 4 : 12;
    return (x + 3 * (int64_t)dtype) % step == 0;
}

static const int64_t head_sizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33, 40, 64, 72, 100, 129};
enum { HEAD_SIZES = sizeof head_sizes / sizeof head_sizes[0] };

static void every_head_size(attn_isa isa, attn_dtype dtype) {
    NEED_ISA(isa);
    attn_ctx *ctx = isa_context(isa, 1);
    double worst = 0;
    bool ok = ctx != NULL;
    for (int x = 0; ok && x < 2 * HEAD_SIZES; x++) {
        if (!is_taken(x, dtype)) continue;
        const int64_t d = head_sizes[x / 2], other = head_sizes[(x / 2 * 7 + 3) % HEAD_SIZES];
        const problem_spec spec = {.seed = 25000 + (uint64_t)x,
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
        ok = passes(ctx, &spec, WANT_ALL, &worst);
    }
    attn_ctx_destroy(ctx);
    if (ok) report(worst);
}

/* Lengths where vectors, panels, blocks of queries and key tiles begin and end. */
static int collect_lengths(int64_t vl, int64_t lanes, int64_t *lengths) {
    const int64_t around[] = {1, vl, 2 * vl, 3 * vl, lanes, 2 * lanes, 96, 192, 288};
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
        if (!is_taken(x, dtype)) continue;
        const problem_spec spec = {.seed = 26000 + (uint64_t)x,
                                   .dtype = dtype,
                                   .B = 1,
                                   .H = 1,
                                   .H_kv = 1,
                                   .n_q = x & 1 ? 5 : lengths[x / 2],
                                   .n_k = x & 1 ? lengths[x / 2] : 9,
                                   .d_k = 6,
                                   .d_v = 3,
                                   .features = x % 3 == 0 ? PROBLEM_CAUSAL : 0};
        ok = passes(ctx, &spec, WANT_ALL, &worst);
    }
    attn_ctx_destroy(ctx);
    if (ok) report(worst);
}

/* Several blocks of queries against several tiles of keys. */
static void many_blocks(attn_isa isa, attn_dtype dtype) {
    static const unsigned features[4] = {0, PROBLEM_CAUSAL, PROBLEM_WINDOW,
                                         PROBLEM_BIAS | PROBLEM_CAUSAL};
    NEED_ISA(isa);
    attn_ctx *ctx = isa_context(isa, 1);
    double worst = 0;
    bool ok = ctx != NULL;
    for (int x = 0; ok && x < 8; x++) {
        if (!is_taken(x, dtype)) continue;
        const problem_spec spec = {.seed = 26500 + (uint64_t)x,
                                   .dtype = dtype,
                                   .B = 1,
                                   .H = 1 + x / 4,
                                   .H_kv = 1,
                                   .n_q = 287 + x % 3,
                                   .n_k = 193 + x % 5 * 48,
                                   .d_k = 5,
                                   .d_v = 4,
                                   .features = features[x % 4]};
        ok = passes(ctx, &spec, WANT_ALL, &worst);
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
            if (!is_taken(group + n_q, dtype)) continue;
            const problem_spec spec = {.seed = 27000 + (uint64_t)(group * 64 + n_q),
                                       .dtype = dtype,
                                       .B = 1,
                                       .H = 2 * group,
                                       .H_kv = 2,
                                       .n_q = n_q,
                                       .n_k = 21,
                                       .d_k = 8,
                                       .d_v = 5,
                                       .features = PROBLEM_CAUSAL | PROBLEM_ALIBI | PROBLEM_SINKS};
            ok = passes(ctx, &spec, WANT_ALL, &worst);
        }
    }
    attn_ctx_destroy(ctx);
    if (ok) report(worst);
}

/* ------------------------------------------------------------------------------------- features */

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
                                           PROBLEM_BIAS | PROBLEM_SOFTCAP | PROBLEM_TEMPERATURE,
                                           PROBLEM_SINKS | PROBLEM_DROPOUT | PROBLEM_TEMPERATURE,
                                           PROBLEM_EVERYTHING & ~PROBLEM_PACKED,
                                           PROBLEM_EVERYTHING & ~PROBLEM_LENGTHS};
enum { FEATURES = sizeof single_features / sizeof single_features[0] };

/* Each feature alone and all together, across a tile border, in every layout in turn. */
static void every_feature(attn_isa isa, attn_dtype dtype) {
    NEED_ISA(isa);
    attn_ctx *ctx = isa_context(isa, 1);
    double worst = 0;
    bool ok = ctx != NULL;
    for (int x = 0; ok && x < 3 * FEATURES; x++) {
        if (!is_taken(x, dtype)) continue;
        const problem_spec spec = {.seed = 28000 + (uint64_t)x,
                                   .dtype = dtype,
                                   .B = 2,
                                   .H = 2,
                                   .H_kv = 1 + x / FEATURES % 2,
                                   .n_q = 30,
                                   .n_k = 110,
                                   .d_k = 8,
                                   .d_v = 8,
                                   .features = single_features[x % FEATURES],
                                   .layout = (problem_layout)((x + x / FEATURES) % LAYOUT_COUNT),
                                   .wide_lse = x & 1};
        ok = passes(ctx, &spec, WANT_ALL, &worst);
    }
    attn_ctx_destroy(ctx);
    if (ok) report(worst);
}

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

static void every_bias(attn_isa isa, attn_dtype dtype) {
    NEED_ISA(isa);
    attn_ctx *ctx = isa_context(isa, 1);
    double worst = 0;
    bool ok = ctx != NULL;
    for (int kind = 0; ok && kind < 16; kind++) {
        const problem_spec spec = {.seed = 29000 + (uint64_t)kind,
                                   .dtype = dtype,
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
        ok = problem_make(&p, &spec) && problem_make_backward(&p, WANT_DQ | WANT_DSCALE) &&
             give_bias(&p, kind, &memory) && problem_run(&p, ctx) &&
             problem_run_backward(&p, ctx) && gradient_bound_check(&p, &worst);
        free(memory);
        problem_free(&p);
    }
    attn_ctx_destroy(ctx);
    if (ok) report(worst);
}

/* ---------------------------------------------------------------------------------------- tests */

#define DTYPE_TESTS(isa, ISA, dtype, DTYPE)                                                        \
    TEST(isa##_##dtype##_random_gradients_match_the_oracle) { random_problems(ISA, DTYPE); }       \
    TEST(isa##_##dtype##_gradients_of_every_head_size_match) { every_head_size(ISA, DTYPE); }      \
    TEST(isa##_##dtype##_gradients_of_every_length_match) { every_length(ISA, DTYPE); }            \
    TEST(isa##_##dtype##_gradients_of_many_blocks_match) { many_blocks(ISA, DTYPE); }              \
    TEST(isa##_##dtype##_gradients_of_every_group_size_match) { every_group(ISA, DTYPE); }         \
    TEST(isa##_##dtype##_gradients_of_every_feature_match) { every_feature(ISA, DTYPE); }          \
    TEST(isa##_##dtype##_gradients_of_every_shared_bias_match) { every_bias(ISA, DTYPE); }

#define ISA_TESTS(isa, ISA)                                                                        \
    DTYPE_TESTS(isa, ISA, f32, ATTN_F32)                                                           \
    DTYPE_TESTS(isa, ISA, f64, ATTN_F64)                                                           \
    DTYPE_TESTS(isa, ISA, f16, ATTN_F16)                                                           \
    DTYPE_TESTS(isa, ISA, bf16, ATTN_BF16)

ISA_LIST(ISA_TESTS)
