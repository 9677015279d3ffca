/* SPDX-License-Identifier: Apache-2.0 */
/* test_gradient_bits.c - every gradient is bit-identical however the same problem is posed:
 * threads, the caller's pool, scratch of the caller or the context, alone or together with other
 * gradients, batches, packed sequences, layouts, and every instruction set of a class. Results are
 * compared as bytes. Label: threads. */
#include "isas.h"
#include "problem.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------------------------------- results */

/* Dense copies of what came out; absent ones have no data. */
typedef struct results {
    attn_tensor t[GRADIENTS];
} results;

static void results_free(results *r) {
    for (int which = 0; which < GRADIENTS; which++) free(r->t[which].data);
    *r = (results){0};
}

static bool copy_tensor(attn_tensor *to, const attn_tensor *from) {
    const int64_t *n = from->shape;
    const size_t size = attn_dtype_size(from->dtype);
    int64_t at[4] = {0};
    *to = attn_tensor_bhsd(NULL, from->dtype, n[0], n[1], n[2], n[3]);
    if (!from->data) return true;
    to->data = malloc((size_t)(n[0] * n[1] * n[2] * n[3]) * size + 1);
    if (!to->data) check_failed(__FILE__, __LINE__, "no memory");
    if (!to->data || tensor_is_empty(n)) return to->data != NULL;
    do memcpy(tensor_at(to, at), tensor_at(from, at), size);
    while (tensor_next(n, at));
    return true;
}

/* Runs both passes of a problem in its own layout and copies what came out; false after a failure
 * (then nothing is to be freed). */
static bool run(attn_ctx *ctx, problem *p, results *r) {
    bool ok = problem_run(p, ctx) && problem_run_backward(p, ctx);
    *r = (results){0};
    for (int which = 0; ok && which < GRADIENTS; which++) {
        const attn_tensor t = problem_gradient(p, which);
        ok = copy_tensor(&r->t[which], &t);
    }
    if (!ok) results_free(r);
    return ok;
}

/* Is every element of part, bit for bit, the one of whole that lies `from` further? */
static bool same_elements(const char *name, const attn_tensor *part, const attn_tensor *whole,
                          const int64_t from[3], const char *text) {
    int64_t at[4] = {0};
    if (!part->data || !whole->data || tensor_is_empty(part->shape)) return true;
    do {
        const int64_t b[4] = {at[0] + from[0], at[1] + from[1], at[2] + from[2], at[3]};
        if (memcmp(tensor_at(part, at), tensor_at(whole, b), attn_dtype_size(part->dtype)) == 0)
            continue;
        check_failed(__FILE__, __LINE__,
                     "bits of %s differ in b=%" PRId64 " h=%" PRId64 " row=%" PRId64 " c=%" PRId64
                     ": %.17g and %.17g\n    %s",
                     name, b[0], b[1], b[2], b[3], tensor_get(part, at[0], at[1], at[2], at[3]),
                     tensor_get(whole, b[0], b[1], b[2], b[3]), text);
        return false;
    } while (tensor_next(part->shape, at));
    return true;
}

/* All gradients that both have. */
static bool same_results(const results *a, const results *b, const char *text) {
    for (int which = 0; which < GRADIENTS; which++) {
        if (!same_elements(gradient_names[which], &a->t[which], &b->t[which],
                           (const int64_t[3]){0, 0, 0}, text))
            return false;
    }
    return true;
}

/* ---------------------------------------------------------------------------------------- cases */

enum {
    SCORES = PROBLEM_ALIBI | PROBLEM_SINKS | PROBLEM_SOFTCAP | PROBLEM_TEMPERATURE | PROBLEM_BIAS,
    ALMOST_ALL = PROBLEM_EVERYTHING & ~PROBLEM_SCALE,
};

/* Blocks of 96 rows and tiles of 96 keys that end in the middle, groups of heads; or few heads and
 * many keys, which threads divide among themselves. Most rows see something. */
static const struct {
    uint64_t seed;
    unsigned features;
    bool is_long;
} cases[] = {
    {1, 0, false},
    {2, PROBLEM_CAUSAL, false},
    {3, PROBLEM_CAUSAL | SCORES | PROBLEM_DROPOUT, false},
    {2, PROBLEM_WINDOW | PROBLEM_MASK | PROBLEM_LENGTHS, false},
    {24, PROBLEM_PATTERN | PROBLEM_OFFSET | PROBLEM_CAUSAL | PROBLEM_BIAS | PROBLEM_DROPOUT, false},
    {2, PROBLEM_PACKED | PROBLEM_WINDOW | SCORES | PROBLEM_DROPOUT, false},
    {33, ALMOST_ALL & ~PROBLEM_PACKED, false},
    {33, ALMOST_ALL & ~PROBLEM_LENGTHS, false},
    {4, 0, true},
    {5, PROBLEM_CAUSAL, true},
    {6, PROBLEM_BIAS | PROBLEM_SINKS | PROBLEM_DROPOUT, true},
    {7, PROBLEM_WINDOW | PROBLEM_SINKS, true},
};
enum { CASES = sizeof cases / sizeof cases[0] };

static const attn_dtype all_dtypes[4] = {ATTN_F32, ATTN_F64, ATTN_F16, ATTN_BF16};

static problem_spec case_spec(int c, attn_dtype dtype, unsigned without) {
    const bool is_long = cases[c].is_long;
    return (problem_spec){.seed = cases[c].seed,
                          .dtype = dtype,
                          .B = is_long ? 1 : 3,
                          .H = is_long ? 2 : 4,
                          .H_kv = is_long ? 1 : 2,
                          .n_q = is_long ? 200 : 110,
                          .n_k = is_long ? 700 : 205,
                          .d_k = is_long ? 9 : 21,
                          .d_v = is_long ? 12 : 18,
                          .features = cases[c].features & ~without};
}

static bool make(problem *p, const problem_spec *spec, unsigned wanted) {
    if (problem_make(p, spec) && problem_make_backward(p, wanted)) return true;
    problem_free(p);
    return false;
}

/* A test over nothing proves nothing: some key must get a gradient. */
static bool is_something(const results *r, const char *text) {
    const attn_tensor *dv = &r->t[2];
    int64_t at[4] = {0}, found = 0, all = 0;
    do {
        all++;
        found += tensor_get(dv, at[0], at[1], at[2], at[3]) != 0;
    } while (tensor_next(dv->shape, at));
    if (found * 10 >= all) return true;
    check_failed(__FILE__, __LINE__, "only %" PRId64 " of %" PRId64 " in dv are not 0\n    %s",
                 found, all, text);
    return false;
}

/* Where time is short every case runs in one dtype only; emulated, every third case. */
static bool is_left_out(int c, int x, int n_dtypes) {
    const int rounds = test_rounds(100);
    return (rounds < 50 && x != c % n_dtypes) || (rounds <= 10 && c % 3 != 0);
}

/* Calls ask(ctx, p, whole) for every case, f32 and f64 (and the half types if asked for), with the
 * gradients of the whole problem on one thread. */
typedef void question(attn_ctx *ctx, problem *p, const results *whole);

static void ask_all(question *ask, unsigned without, int n_dtypes) {
    attn_ctx *ctx = context_with(ATTN_ISA_AUTO, 1);
    for (int c = 0; ctx && c < CASES; c++) {
        for (int x = 0; x < n_dtypes && !check_has_failed(); x++) {
            problem p;
            results whole;
            if (is_left_out(c, x, n_dtypes)) continue;
            const problem_spec spec = case_spec(c, all_dtypes[x], without);
            if (!make(&p, &spec, WANT_ALL)) break;
            if (run(ctx, &p, &whole)) {
                if (is_something(&whole, p.text)) ask(ctx, &p, &whole);
                results_free(&whole);
            }
            problem_free(&p);
        }
    }
    attn_ctx_destroy(ctx);
}

/* -------------------------------------------------------------------------------------- threads */

static void ask_threads(attn_ctx *unused, problem *p, const results *whole) {
    (void)unused;
    EACH_THREAD_COUNT(threads) {
        results r;
        attn_ctx *ctx = context_with(ATTN_ISA_AUTO, threads);
        if (ctx && run(ctx, p, &r)) {
            same_results(&r, whole, p->text);
            results_free(&r);
        }
        attn_ctx_destroy(ctx);
    }
}

TEST(threads_1_2_3_and_7_give_the_same_gradients) {
#ifdef __wasm__
    SKIP("no threads here");
#endif
    ask_all(ask_threads, 0, 4);
}

static void ask_reverse_pool(attn_ctx *unused, problem *p, const results *whole) {
    int workers = 0;
    results r;
    (void)unused;
    attn_ctx *ctx = context_in_reverse(5, &workers);
    if (!ctx) return;
    if (run(ctx, p, &r)) {
        same_results(&r, whole, p->text);
        results_free(&r);
    }
    attn_ctx_destroy(ctx);
    CHECK_MSG(workers >= 5, "the pool was asked for %d workers", workers);
}

TEST(a_pool_of_the_caller_that_runs_backwards_gives_the_same_gradients) {
    ask_all(ask_reverse_pool, 0, 2);
}

/* problem_run_backward() brings a workspace; without one the context has its own scratch. */
static void ask_scratch(attn_ctx *ctx, problem *p, const results *whole) {
    const attn_results given = {
        .struct_size = sizeof(attn_results), .out = p->out, .lse = p->lse, .dout = p->dout};
    CHECK_INT(attn_backward(ctx, &p->args, &given, &p->gradients, NULL), ATTN_OK);
    for (int which = 0; which < GRADIENTS; which++) {
        const attn_tensor t = problem_gradient(p, which);
        same_elements(gradient_names[which], &t, &whole->t[which], (const int64_t[3]){0, 0, 0},
                      p->text);
    }
}

TEST(own_workspace_and_scratch_of_the_context_give_the_same_gradients) {
    ask_all(ask_scratch, 0, 4);
}

/* ------------------------------------------------------------------------------ alone, together */

/* Each gradient alone, and each left out. */
static void ask_wanted(attn_ctx *ctx, problem *p, const results *whole) {
    for (int x = 0; x < 2 * GRADIENTS && !check_has_failed(); x++) {
        const unsigned one = 1u << x / 2;
        problem some;
        results r;
        if (!make(&some, &p->spec, x & 1 ? WANT_ALL & ~one : one)) return;
        if (run(ctx, &some, &r)) {
            same_results(&r, whole, some.text);
            results_free(&r);
        }
        problem_free(&some);
    }
}

/* dbias draws its strides from the same stream as the others, so it stays out where they do. */
TEST(a_gradient_has_the_same_bits_alone_and_with_others) { ask_all(ask_wanted, PROBLEM_BIAS, 4); }

/* ----------------------------------------------------------------------------- parts of a whole */

static attn_tensor slice(attn_tensor t, int dim, int64_t first, int64_t n) {
    if (!t.data) return t;
    t.data = (char *)t.data + first * t.stride[dim] * (int64_t)attn_dtype_size(t.dtype);
    t.shape[dim] = n;
    return t;
}

/* Of mask and bias, which may repeat along the dimension. */
static attn_tensor slice_scores(attn_tensor t, int dim, int64_t first, int64_t n) {
    return t.data && t.shape[dim] > 1 ? slice(t, dim, first, n) : t;
}

/* Gradients of a part of a problem, in fresh memory; false after a failure. */
static bool run_part(attn_ctx *ctx, const attn_args *a, const attn_results *given, results *r) {
    attn_gradients g;
    attn_error err = {""};
    attn_tensor *const to[3] = {&g.dq, &g.dk, &g.dv};
    const attn_tensor *const like[3] = {&a->q, &a->k, &a->v};
    attn_gradients_init(&g);
    *r = (results){0};
    for (int x = 0; x < 3; x++) {
        if (!copy_tensor(&r->t[x], like[x])) return false;
        *to[x] = r->t[x];
    }
    if (attn_backward(ctx, a, given, &g, &err) == ATTN_OK) return true;
    check_failed(__FILE__, __LINE__, "%s", err.message);
    results_free(r);
    return false;
}

static void compare_part(const results *part, const results *whole, const int64_t from_q[3],
                         const int64_t from_k[3], const char *text) {
    for (int which = 0; which < 3; which++) {
        same_elements(gradient_names[which], &part->t[which], &whole->t[which],
                      which == 0 ? from_q : from_k, text);
    }
}

/* Dropout counts batches from 0, so it is left out of the parts. */
static void ask_batches(attn_ctx *ctx, problem *p, const results *whole) {
    for (int64_t b = 0; !p->args.cu_q && b < p->spec.B && !check_has_failed(); b++) {
        attn_args a = p->args;
        results r;
        const attn_results given = {.struct_size = sizeof(attn_results),
                                    .out = slice(p->out, 0, b, 1),
                                    .lse = slice(p->lse, 0, b, 1),
                                    .dout = slice(p->dout, 0, b, 1)};
        const int64_t from[3] = {b, 0, 0};
        a.q = slice(a.q, 0, b, 1);
        a.k = slice(a.k, 0, b, 1);
        a.v = slice(a.v, 0, b, 1);
        a.mask = slice_scores(a.mask, 0, b, 1);
        a.bias = slice_scores(a.bias, 0, b, 1);
        if (a.offsets) a.offsets += b;
        if (a.len_q) a.len_q += b;
        if (a.len_k) a.len_k += b;
        if (!run_part(ctx, &a, &given, &r)) return;
        compare_part(&r, whole, from, from, p->text);
        results_free(&r);
    }
}

TEST(a_batch_entry_alone_has_the_gradients_it_has_in_the_batch) {
    ask_all(ask_batches, PROBLEM_DROPOUT, 4);
}

/* A packed sequence as a problem of its own; patterns would have to be cut. */
static void ask_sequences(attn_ctx *ctx, problem *p, const results *whole) {
    for (int64_t s = 0; p->args.cu_q && s < p->spec.B && !check_has_failed(); s++) {
        attn_args a = p->args;
        const int64_t rows = problem_rows(p, s), keys = problem_keys(p, s);
        const int64_t from_q[3] = {0, 0, p->cu_q[s]}, from_k[3] = {0, 0, p->cu_k[s]};
        results r;
        const attn_results given = {.struct_size = sizeof(attn_results),
                                    .out = slice(p->out, 2, from_q[2], rows),
                                    .lse = slice(p->lse, 2, from_q[2], rows),
                                    .dout = slice(p->dout, 2, from_q[2], rows)};
        a.cu_q = a.cu_k = NULL;
        a.q = slice(a.q, 2, from_q[2], rows);
        a.k = slice(a.k, 2, from_k[2], keys);
        a.v = slice(a.v, 2, from_k[2], keys);
        attn_tensor *const scores[2] = {&a.mask, &a.bias};
        for (int x = 0; x < 2; x++) {
            *scores[x] = slice_scores(slice_scores(*scores[x], 0, s, 1), 2, 0, rows);
            if (scores[x]->shape[3] > keys) *scores[x] = slice(*scores[x], 3, 0, keys);
        }
        if (a.offsets) a.offsets += s;
        if (!run_part(ctx, &a, &given, &r)) return;
        compare_part(&r, whole, from_q, from_k, p->text);
        results_free(&r);
    }
}

TEST(a_packed_sequence_has_the_gradients_it_has_alone) {
    ask_all(ask_sequences, PROBLEM_DROPOUT | PROBLEM_PATTERN, 4);
}

/* -------------------------------------------------------------------------------------- layouts */

static void ask_layouts(attn_ctx *ctx, problem *p, const results *whole) {
    const problem_layout layouts[] = {LAYOUT_BSHD, LAYOUT_PADDED, LAYOUT_REVERSED};
    for (size_t x = 0; x < sizeof layouts / sizeof layouts[0] && !check_has_failed(); x++) {
        problem_spec spec = p->spec;
        problem other;
        results r;
        spec.layout = layouts[x];
        if (!make(&other, &spec, WANT_ALL & ~WANT_DBIAS)) return;
        if (run(ctx, &other, &r)) {
            same_results(&r, whole, other.text);
            results_free(&r);
        }
        problem_free(&other);
    }
}

TEST(every_layout_gives_the_same_gradients) { ask_all(ask_layouts, 0, 4); }

/* Packed rows of q, k and v, and of dq, dk and dv, need n_q == n_k. */
TEST(packed_rows_of_q_k_v_give_the_gradients_of_separate_tensors) {
    attn_ctx *ctx = context_with(ATTN_ISA_AUTO, 1);
    for (int x = 0; x < 4 && ctx && !check_has_failed(); x++) {
        problem_spec spec = case_spec(2, all_dtypes[x], PROBLEM_BIAS);
        problem separate, packed;
        results a = {0}, b = {0};
        spec.n_k = spec.n_q;
        if (!make(&separate, &spec, WANT_ALL)) break;
        spec.layout = LAYOUT_QKV;
        if (make(&packed, &spec, WANT_ALL)) {
            if (run(ctx, &separate, &a) && run(ctx, &packed, &b)) same_results(&b, &a, packed.text);
            problem_free(&packed);
        }
        results_free(&a);
        results_free(&b);
        problem_free(&separate);
    }
    attn_ctx_destroy(ctx);
}

/* ---------------------------------------------------------------------------------------- dbias */

/* Bias shared over any of batch, head and row, and dbias as a matrix or as a sliding view: threads
 * must not race for an element, nor add to it in another order. */
static bool set_bias(problem *p, int kind, attn_tensor *memory) {
    const problem_spec *s = &p->spec;
    const int64_t n[4] = {kind & 1 ? s->B : 1, kind & 2 ? s->H : 1, kind & 4 ? s->n_q : 1, s->n_k};
    const int64_t room = n[0] * n[1] * n[2] * n[3] + s->n_q;
    float *data = calloc((size_t)(2 * room), sizeof *data);
    if (!data) {
        check_failed(__FILE__, __LINE__, "no memory");
        return false;
    }
    *memory = attn_tensor_bhsd(data, ATTN_F32, n[0], n[1], n[2], n[3]);
    p->args.bias = *memory;
    for (int64_t e = 0; e < n[0] * n[1] * n[2] * n[3]; e++) data[e] = (float)(e % 13) / 8;
    p->gradients.dbias = attn_tensor_bhsd(data + room + s->n_q, ATTN_F32, n[0], n[1], n[2], n[3]);
    if (kind & 8) p->gradients.dbias.stride[2] = -1;
    return true;
}

static void compare_biases(int kind, bool is_long) {
    problem_spec spec = case_spec(is_long ? 9 : 1, ATTN_F32, 0);
    problem p;
    attn_tensor memory = {0}, first = {0};
    if (!make(&p, &spec, WANT_DQ | WANT_DK | WANT_DV)) return;
    for (int threads = 1; threads <= 7 && !check_has_failed(); threads += 3) {
        attn_ctx *ctx = context_with(ATTN_ISA_AUTO, threads);
        free(memory.data);
        if (!ctx || !set_bias(&p, kind, &memory)) break;
        const attn_results given = {
            .struct_size = sizeof(attn_results), .out = p.out, .lse = p.lse, .dout = p.dout};
        CHECK_INT(attn_forward(ctx, &p.args, &p.out, &p.lse, NULL), ATTN_OK);
        CHECK_INT(attn_backward(ctx, &p.args, &given, &p.gradients, NULL), ATTN_OK);
        if (threads == 1) {
            copy_tensor(&first, &p.gradients.dbias);
        } else {
            same_elements("dbias", &p.gradients.dbias, &first, (const int64_t[3]){0, 0, 0}, p.text);
        }
        attn_ctx_destroy(ctx);
    }
    free(first.data);
    free(memory.data);
    problem_free(&p);
}

TEST(every_way_to_share_a_bias_gives_the_same_dbias_for_1_4_and_7_threads) {
#ifdef __wasm__
    SKIP("no threads here");
#endif
    for (int kind = 0; kind < 16 && !check_has_failed(); kind++) {
        compare_biases(kind, false);
        compare_biases(kind, true);
    }
}

/* ----------------------------------------------------------------------------- instruction sets */

static void compare_class(attn_isa isa, attn_isa with) {
    attn_ctx *one = context_with(isa, 1), *other = context_with(with, 1);
    for (int c = 0; one && other && c < CASES; c++) {
        for (int x = 0; x < 4 && !check_has_failed(); x++) {
            const problem_spec spec = case_spec(c, all_dtypes[x], 0);
            problem p;
            results a = {0}, b = {0};
            if (is_left_out(c, x, 4)) continue;
            if (!make(&p, &spec, WANT_ALL)) break;
            if (run(one, &p, &a) && run(other, &p, &b)) same_results(&a, &b, p.text);
            results_free(&a);
            results_free(&b);
            problem_free(&p);
        }
    }
    attn_ctx_destroy(one);
    attn_ctx_destroy(other);
}

static void same_as_class(attn_isa isa) {
    NEED_ISA(isa);
    const attn_isa with = isa_first_of_class(attni_kernels_get(isa, false)->fused);
    if (with == isa) SKIP("%s is the first of its class here", attn_isa_name(isa));
    compare_class(isa, with);
}

#define ISA_TESTS(isa, ISA)                                                                        \
    TEST(isa##_has_the_gradients_of_its_class) { same_as_class(ISA); }

ISA_LIST(ISA_TESTS)
