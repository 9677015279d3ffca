/* SPDX-License-Identifier: Apache-2.0 */
/* test_gradient_edges.c - gradients at the ends of the range: a key whose scores are -inf gives the
 * bits of a masked one, whatever it and its value hold; every NaN in a gradient has the same form;
 * and a bias that is the same for all keys of a row changes no gradient, however large it is. */
#include "core/os.h"
#include "isas.h"
#include "problem.h"

#include <math.h>
#include <string.h>

enum { N_Q = 100, N_K = 130, HIDDEN_STEP = 7 };

static const unsigned features[] = {0, PROBLEM_CAUSAL, PROBLEM_DROPOUT | PROBLEM_SINKS,
                                    PROBLEM_BIAS | PROBLEM_ALIBI,
                                    PROBLEM_WINDOW | PROBLEM_TEMPERATURE};
enum { FEATURES = sizeof features / sizeof *features };

static bool begin(problem *p, attn_dtype dtype, unsigned feature) {
    const problem_spec spec = {.seed = 600 + feature,
                               .dtype = dtype,
                               .B = 1,
                               .H = 2,
                               .H_kv = 1,
                               .n_q = N_Q,
                               .n_k = N_K,
                               .d_k = 3,
                               .d_v = 5,
                               .features = feature,
                               .wide_lse = true};
    return problem_make(p, &spec) && problem_make_backward(p, WANT_ALL);
}

static bool run(problem *p, attn_ctx *ctx) {
    problem_remember(p);
    if (!problem_run(p, ctx)) return false;
    problem_remember(p);
    return problem_run_backward(p, ctx);
}

static void set_all(const attn_tensor *t, int64_t row, double x) {
    for (int64_t d = 0; d < t->shape[3]; d++) tensor_set(t, (const int64_t[4]){0, 0, row, d}, x);
}

/* Queries above 0, so that a key of -inf has a score of -inf everywhere. */
static void make_positive(const problem *p) {
    int64_t at[4] = {0, 0, 0, 0};
    do {
        const double x = tensor_get(&p->args.q, at[0], at[1], at[2], at[3]);
        tensor_set(&p->args.q, at, 0.1 + fabs(x));
    } while (tensor_next(p->args.q.shape, at));
}

static bool same_gradients(const problem *a, const problem *b) {
    for (int which = 0; which < GRADIENTS; which++) {
        const attn_tensor x = problem_gradient(a, which), y = problem_gradient(b, which);
        int64_t at[4] = {0, 0, 0, 0};
        if (!x.data) continue;
        do {
            if (memcmp(tensor_at(&x, at), tensor_at(&y, at), attn_dtype_size(x.dtype)) == 0)
                continue;
            check_failed(__FILE__, __LINE__, "%s[%d,%d,%d,%d] is %.9g, masked %.9g\n    %s",
                         gradient_names[which], (int)at[0], (int)at[1], (int)at[2], (int)at[3],
                         tensor_get(&x, at[0], at[1], at[2], at[3]),
                         tensor_get(&y, at[0], at[1], at[2], at[3]), a->text);
            return false;
        } while (tensor_next(x.shape, at));
    }
    return true;
}

/* ------------------------------------------------------------------------------------------ facts */

typedef void fact(attn_ctx *ctx, attn_dtype dtype, unsigned feature);

static void over_all(attn_isa isa, fact *holds) {
    NEED_ISA(isa);
    attn_ctx *ctx = context_with(isa, ATTNI_HAVE_THREADS ? 2 : 1);
    for (int x = 0; x < 4 * FEATURES && ctx && !check_has_failed(); x++)
        holds(ctx, (attn_dtype)(x % 4), features[x / 4]);
    attn_ctx_destroy(ctx);
}

/* Keys of -inf with NaN and Inf as values, against the same keys masked. */
static void minus_infinite_keys(attn_ctx *ctx, attn_dtype dtype, unsigned feature) {
    static uint8_t mask[N_K];
    problem scored, masked;
    const bool scored_made = begin(&scored, dtype, feature),
               made = begin(&masked, dtype, feature) && scored_made;
    if (made) {
        make_positive(&scored);
        make_positive(&masked);
        for (int64_t j = 0; j < N_K; j++) {
            mask[j] = j % HIDDEN_STEP != 3;
            if (mask[j]) continue;
            set_all(&scored.args.k, j, -INFINITY);
            set_all(&scored.args.v, j, j % 2 ? NAN : INFINITY);
        }
        masked.args.mask = attn_tensor_bhsd(mask, ATTN_BOOL, 1, 1, 1, N_K);
        if (run(&scored, ctx) && run(&masked, ctx)) same_gradients(&scored, &masked);
    }
    problem_free(&scored);
    problem_free(&masked);
}

/* Counts the NaN of a gradient, which must all be plain. */
static int64_t count_nans(const problem *p, int which) {
    static const uint64_t plain[4] = {[ATTN_F32] = 0x7fc00000,
                                      [ATTN_F64] = 0x7ff8000000000000,
                                      [ATTN_F16] = 0x7e00,
                                      [ATTN_BF16] = 0x7fc0};
    const attn_tensor t = problem_gradient(p, which);
    int64_t at[4] = {0, 0, 0, 0}, found = 0;
    if (!t.data) return 0;
    do {
        uint64_t bits = 0;
        memcpy(&bits, tensor_at(&t, at), attn_dtype_size(t.dtype));
        if (!isnan(tensor_get(&t, at[0], at[1], at[2], at[3]))) continue;
        found++;
        if (bits != plain[t.dtype] && !check_has_failed())
            check_failed(__FILE__, __LINE__, "%s: NaN is %llx\n    %s", gradient_names[which],
                         (unsigned long long)bits, p->text);
    } while (tensor_next(t.shape, at));
    return found;
}

/* A NaN with sign and payload in dout comes out plain wherever it comes out. */
static void one_form_of_nan(attn_ctx *ctx, attn_dtype dtype, unsigned feature) {
    static const uint64_t wild[4] = {[ATTN_F32] = 0xffc12345,
                                     [ATTN_F64] = 0xfff8123456789abc,
                                     [ATTN_F16] = 0xfe12,
                                     [ATTN_BF16] = 0xffc5};
    problem p;
    if (begin(&p, dtype, feature)) {
        int64_t found = 0;
        for (int64_t i = 0; i < 3; i++)
            memcpy(tensor_at(&p.dout, (const int64_t[4]){0, 1, 40 + i, i}), &wild[dtype],
                   attn_dtype_size(dtype));
        set_all(&p.args.v, 5, INFINITY);
        const bool ran = run(&p, ctx);
        for (int which = 0; ran && which < GRADIENTS; which++) found += count_nans(&p, which);
        if (ran && found == 0) check_failed(__FILE__, __LINE__, "no NaN came out");
    }
    problem_free(&p);
}

/* ------------------------------------------------------------------------------------- far rows */

static void set_everything(const attn_tensor *t, double x) {
    int64_t at[4] = {0, 0, 0, 0};
    do {
        tensor_set(t, at, x);
    } while (tensor_next(t->shape, at));
}

/* All scores are 0, by the queries or by the keys, plus a bias for each row. */
static bool run_shifted(problem *p, attn_ctx *ctx, const double *bias, bool by_keys) {
    attn_args *a = &p->args;
    set_everything(by_keys ? &a->k : &a->q, 0);
    a->sinks = a->alibi = NULL;
    a->bias = (attn_tensor){.data = (void *)(uintptr_t)bias,
                            .dtype = ATTN_F64,
                            .shape = {1, 1, N_Q, N_K},
                            .stride = {0, 0, 1, 0}};
    p->gradients.dbias = (attn_tensor){0};
    p->gradients.dsinks = NULL;
    return run(p, ctx);
}

static double largest(const attn_tensor *t) {
    int64_t at[4] = {0, 0, 0, 0};
    double most = 0;
    do {
        most = fmax(most, fabs(tensor_get(t, at[0], at[1], at[2], at[3])));
    } while (tensor_next(t->shape, at));
    return most;
}

static void near_gradients(const problem *shifted, const problem *plain) {
    static const double tolerance[4] = {
        [ATTN_F32] = 1e-5, [ATTN_F64] = 1e-13, [ATTN_F16] = 0x1p-9, [ATTN_BF16] = 0x1p-6};
    for (int which = 0; which < GRADIENTS; which++) {
        const attn_tensor x = problem_gradient(shifted, which), y = problem_gradient(plain, which);
        int64_t at[4] = {0, 0, 0, 0};
        if (!x.data) continue;
        const double allowed = tolerance[shifted->spec.dtype] * largest(&y);
        do {
            const double is = tensor_get(&x, at[0], at[1], at[2], at[3]),
                         expected = tensor_get(&y, at[0], at[1], at[2], at[3]);
            if (fabs(is - expected) <= allowed) continue;
            check_failed(__FILE__, __LINE__, "%s[%d,%d,%d,%d] is %.9g, without bias %.9g\n    %s",
                         gradient_names[which], (int)at[0], (int)at[1], (int)at[2], (int)at[3], is,
                         expected, shifted->text);
            return;
        } while (tensor_next(x.shape, at));
    }
}

/* Weights do not change when all scores of a row move together. */
static void shifted_rows(attn_ctx *ctx, attn_dtype dtype, unsigned feature) {
    static const double sizes[] = {0,   900,  1100, -1e4,  1e6,  -1e7,   3e7,
                                   1e9, -1e9, 1e16, -1e25, 1e38, -3.4e38};
    static double bias[N_Q], zeros[N_Q];
    problem shifted, plain;
    const bool shifted_made = begin(&shifted, dtype, feature),
               made = begin(&plain, dtype, feature) && shifted_made;
    for (int i = 0; i < N_Q; i++) bias[i] = sizes[i % (int)(sizeof sizes / sizeof *sizes)];
    const bool by_keys = feature != 0, ran = made && run_shifted(&plain, ctx, zeros, by_keys) &&
                                             run_shifted(&shifted, ctx, bias, by_keys);
    if (ran) near_gradients(&shifted, &plain);
    problem_free(&shifted);
    problem_free(&plain);
}

#define ISA_TESTS(isa, ISA)                                                                        \
    TEST(isa##_keys_of_score_minus_infinity_give_the_bits_of_masked_ones) {                        \
        over_all(ISA, minus_infinite_keys);                                                        \
    }                                                                                              \
    TEST(isa##_nan_in_gradients_has_one_form) { over_all(ISA, one_form_of_nan); }                  \
    TEST(isa##_a_bias_for_whole_rows_changes_no_gradient) { over_all(ISA, shifted_rows); }

ISA_LIST(ISA_TESTS)
