/* SPDX-License-Identifier: Apache-2.0 */
/* test_gradient_edge_sweep.c - gradients of random problems with every option whose numbers are
 * thrown to the ends of the range: huge and tiny values and output gradients, scores that overflow,
 * rows that see nothing, sinks of any size, Inf and NaN in hidden and in visible places. Every
 * instruction set must give what the oracle gives: finite numbers within the bound of
 * gradient_bound.c, exactly 0 where nothing is seen, and no finite number where it has none. Every
 * number of threads must give the same bits.
 * Not drawn:
 *  - results beyond the range of the type, and q . k beyond that of f64 in a finite score;
 *  - Inf or NaN in dout where out is 0: counts as 0 for dsinks, see ADR 0014. */
#include "core/os.h"
#include "gradient_bound.h"
#include "isas.h"
#include "poison.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PICK(r, ...)                                                                               \
    ((const double[]){__VA_ARGS__}[random_below(                                                   \
        r, (int64_t)(sizeof((const double[]){__VA_ARGS__}) / sizeof(double)))])

/* What is thrown; any of them together. */
enum { VALUES = 1, FAR_SCORES = 2, HIDDEN = 4, SEEN = 8, KINDS = 16 };

/* A problem whose bias and saved weights are not those of problem.h. */
typedef struct edge_problem {
    problem p;
    unsigned kind;
    double *bias;
} edge_problem;

/* --------------------------------------------------------------------------------------- numbers */

/* Products of two of these, times a far query or key, stay in the range. */
static double draw_size(random_stream *r, attn_dtype dtype, bool far) {
    if (dtype == ATTN_F64) return PICK(r, 1, far ? 1e40 : 1e140, 1e-140, 1e-160, 0);
    if (dtype == ATTN_F16) return PICK(r, 1, 1e2, 1e-3, 1e-6, 0);
    return PICK(r, 1, far ? 1e4 : 1e16, 1e-16, 1e-30, 1e-40, 0);
}

/* Rows of one size each, for v and dout. */
static void fill_values(const attn_tensor *t, random_stream *r, bool far) {
    int64_t at[4] = {0};
    double size = 1;
    if (tensor_is_empty(t->shape)) return;
    do {
        if (at[3] == 0) size = draw_size(r, t->dtype, far);
        tensor_set(t, at, size * random_between(r, -2, 2));
    } while (tensor_next(t->shape, at));
}

/* The first column: 0 in this share of the rows, else one of two numbers. */
static void fill_first(const attn_tensor *t, random_stream *r, double zeros, const double two[2]) {
    int64_t at[4] = {0};
    if (tensor_is_empty(t->shape)) return;
    do {
        if (at[3] == 0) tensor_set(t, at, random_chance(r, zeros) ? 0 : two[random_below(r, 2)]);
    } while (tensor_next(t->shape, at));
}

/* Inf and NaN in dout of the rows whose first element is x. */
static void poison_dout_of(const problem *p, random_stream *r, double x) {
    const attn_tensor *q = &p->args.q;
    int64_t at[4] = {0};
    if (tensor_is_empty(q->shape)) return;
    do {
        if (at[3] == 0 && tensor_get(q, at[0], at[1], at[2], 0) == x)
            poison_row(&p->dout, at, -1, (int)random_below(r, POISONS));
    } while (tensor_next(q->shape, at));
}

/* Products of the first elements of queries and keys are 0 or leave the range. Where no key has a 0, the rows that have none see nothing. */
static void throw_scores(problem *p, random_stream *r) {
    const attn_args *a = &p->args;
    const double far = p->spec.dtype == ATTN_F64 ? 1e200 : 0x1p83;
    const double down = a->scale < 0 && a->scale != ATTN_SCALE_AUTO ? far : -far;
    const bool only_down = random_chance(r, 0.4);
    const bool none_seen = only_down && a->softcap == 0 && random_chance(r, 0.5);
    if (p->spec.dtype == ATTN_F16) return;
    fill_first(&a->q, r, 0.8, (const double[2]){far, only_down ? far : -far});
    fill_first(&a->k, r, none_seen ? 0 : 0.8, (const double[2]){down, only_down ? down : -down});
    if (none_seen) poison_dout_of(p, r, far);
}

static void throw_options(edge_problem *e, random_stream *r) {
    attn_args *a = &e->p.args;
    const bool far = e->kind & FAR_SCORES;
    if (random_chance(r, 0.3))
        a->temperature = far ? 4 : a->bias.data ? PICK(r, 0.01, 4) : PICK(r, 0.01, 4, 1e30);
    if (random_chance(r, 0.3)) a->scale = far ? PICK(r, -1, 0.25, 100) : PICK(r, 0, -1, 1e-7, 100);
    if (a->softcap > 0) a->softcap = PICK(r, 1e-37, 1e-3, 3, 1e20) * a->temperature;
    if (far && a->scale == 0) a->scale = 0.25;
    if (far && e->p.spec.dtype == ATTN_F64) a->softcap = 0;
    for (int64_t h = 0; h < e->p.spec.H; h++) {
        e->p.sinks[h] = PICK(r, 0, -5, 5, -INFINITY, -1e30, 1e3, 1e6, 1.25e20);
        e->p.alibi[h] = PICK(r, 0, 0.05, -0.025, 1e-45);
    }
}

/* Ordinary, one that masks, or one that nearly does. */
static double draw_bias(random_stream *r) {
    if (random_chance(r, 0.7)) return random_between(r, -3, 3);
    return PICK(r, -3.4e38, -1e300, -1e30, -1e9, 1e3, 1e9, -INFINITY);
}

/* In a dtype of its own, so that conversions have something to do. */
static bool throw_bias(edge_problem *e, random_stream *r) {
    problem *p = &e->p;
    const int64_t *n = p->args.bias.shape, count = n[0] * n[1] * n[2] * n[3];
    if (!p->args.bias.data || count == 0) return true;
    e->bias = malloc((size_t)count * sizeof *e->bias);
    if (!e->bias) return false;
    for (int64_t x = 0; x < count; x++) e->bias[x] = draw_bias(r);
    if ((e->kind & SEEN) && random_chance(r, 0.3))
        e->bias[random_below(r, count)] = PICK(r, INFINITY, NAN);
    p->args.bias = attn_tensor_bhsd(e->bias, ATTN_F64, n[0], n[1], n[2], n[3]);
    if (p->spec.dtype == ATTN_F64 && p->gradients.dbias.dtype == ATTN_F32)
        p->gradients.dbias = (attn_tensor){0}; /* too narrow for what it would hold */
    return true;
}

/* ---------------------------------------------------------------------------------------- poison */

/* Does a row of the heads from .. to - 1 see key j, or any key if j is -1? */
static bool sees(const problem *p, int64_t s, const int64_t heads[2], const int64_t rows[2],
                 int64_t j) {
    const int64_t first = j < 0 ? 0 : j, end = j < 0 ? problem_keys(p, s) : j + 1;
    for (int64_t h = heads[0]; h < heads[1]; h++) {
        for (int64_t i = rows[0]; i < rows[1] && i < problem_rows(p, s); i++) {
            for (int64_t key = first; key < end && key < problem_keys(p, s); key++)
                if (problem_sees(p, s, h, i, key)) return true;
        }
    }
    return false;
}

static void poison_two(const attn_tensor *a, const attn_tensor *b, const int64_t at[3],
                       random_stream *r) {
    poison_row(a, at, -1, (int)random_below(r, POISONS));
    poison_row(b, at, -1, (int)random_below(r, POISONS));
}

/* Keys that nobody sees and rows that see nothing, of one sequence. */
static void poison_hidden(const problem *p, random_stream *r, int64_t s) {
    const attn_args *a = &p->args;
    const int64_t b = a->cu_q ? 0 : s, group = p->spec.H / p->spec.H_kv;
    const int64_t row0 = a->cu_q ? a->cu_q[s] : 0, key0 = a->cu_k ? a->cu_k[s] : 0;
    const int64_t rows = a->cu_q ? a->cu_q[s + 1] - row0 : a->q.shape[2],
                  keys = a->cu_k ? a->cu_k[s + 1] - key0 : a->k.shape[2];
    for (int64_t h = 0; h < p->spec.H_kv; h++) {
        const int64_t heads[2] = {h * group, (h + 1) * group}, all[2] = {0, rows};
        for (int64_t j = 0; j < keys; j++)
            if (!sees(p, s, heads, all, j))
                poison_two(&a->k, &a->v, (const int64_t[3]){b, h, key0 + j}, r);
    }
    for (int64_t h = 0; h < p->spec.H; h++) {
        const int64_t heads[2] = {h, h + 1};
        for (int64_t i = 0; i < rows; i++)
            if (!sees(p, s, heads, (const int64_t[2]){i, i + 1}, -1))
                poison_two(&a->q, &p->dout, (const int64_t[3]){b, h, row0 + i}, r);
    }
}

/* Up to three elements anywhere: NaN in q and k, whose infinities throw_scores() makes; NaN and Inf
 * in v and dout. */
static void poison_seen(const problem *p, random_stream *r) {
    const attn_tensor *const tensors[] = {&p->args.v, p->args.sinks ? &p->args.v : &p->dout,
                                          &p->args.q, &p->args.k};
    for (int64_t n = random_below(r, 3); n >= 0; n--) {
        const int64_t which = random_below(r, 4);
        const attn_tensor *t = tensors[which];
        int64_t at[4];
        if (tensor_is_empty(t->shape)) continue;
        for (int k = 0; k < 4; k++) at[k] = random_below(r, t->shape[k]);
        poison_element(t, at, (int)random_below(r, which < 2 ? POISONS : PLUS_INFINITY));
    }
}

/* --------------------------------------------------------------------------------------- problems */

/* One in ten has several ranges of keys for several threads, one in six nothing but a sink, so that
 * forward can keep the weights. */
static problem_spec draw(uint64_t seed, attn_dtype dtype) {
    random_stream r = random_begin(seed, 87);
    const bool large = random_chance(&r, 0.1), plain = random_chance(&r, 0.17);
    const unsigned some = (unsigned)(random_bits(&r) & random_bits(&r)) & PROBLEM_EVERYTHING,
                   sinks = random_chance(&r, 0.5) ? PROBLEM_SINKS : 0;
    const int64_t H_kv = large ? 1 : 1 + random_below(&r, 2);
    const int64_t short_keys = random_chance(&r, 0.2) ? 250 : 1 + random_below(&r, 60);
    return (problem_spec){.seed = seed,
                          .dtype = dtype,
                          .B = large ? 1 : 1 + random_below(&r, 2),
                          .H = H_kv * (1 + random_below(&r, 2)),
                          .H_kv = H_kv,
                          .n_q = large ? 100 + random_below(&r, 30) : 1 + random_below(&r, 40),
                          .n_k = large ? 800 : short_keys,
                          .d_k = large ? 7 : 1 + random_below(&r, 9),
                          .d_v = large ? 6 : 1 + random_below(&r, 20),
                          .features = plain ? sinks : some,
                          .wide_lse = true};
}

/* False after a failure; to be ended in any case. */
static bool begin(edge_problem *e, uint64_t seed, attn_dtype dtype) {
    const problem_spec spec = draw(seed, dtype);
    random_stream r = random_begin(seed, 88);
    problem *p = &e->p;
    memset(e, 0, sizeof *e);
    e->kind = (unsigned)random_below(&r, KINDS);
    if (!problem_make(p, &spec) || !problem_make_backward(p, WANT_ALL)) return false;
    throw_options(e, &r);
    if (e->kind & VALUES) fill_values(&p->args.v, &r, e->kind & FAR_SCORES);
    if (e->kind & VALUES) fill_values(&p->dout, &r, e->kind & FAR_SCORES);
    if (e->kind & FAR_SCORES) throw_scores(p, &r);
    if (!throw_bias(e, &r)) check_failed(__FILE__, __LINE__, "no memory for the bias");
    for (int64_t s = 0; (e->kind & HIDDEN) && s < spec.B; s++) poison_hidden(p, &r, s);
    if (e->kind & SEEN) poison_seen(p, &r);
    return !check_has_failed();
}

static void end(edge_problem *e) {
    problem_free(&e->p);
    free(e->bias);
}

/* Both passes, with weights that forward keeps where it can. */
static bool run(problem *p, attn_ctx *ctx) {
    bool ok = attn_saved_size(ctx, &p->args, &p->args.saved_size, NULL) == ATTN_OK;
    if (ok && p->args.saved_size > 0) p->args.saved = attni_memory_alloc(p->args.saved_size, 64);
    problem_remember(p);
    ok = ok && problem_run(p, ctx);
    problem_remember(p);
    ok = ok && problem_run_backward(p, ctx);
    attni_memory_free(p->args.saved);
    p->args.saved = NULL;
    p->args.saved_size = 0;
    if (!ok && !check_has_failed()) check_failed(__FILE__, __LINE__, "no size\n    %s", p->text);
    return ok;
}

/* ----------------------------------------------------------------------------------------- sweep */

/* After a run on one thread: the gradients of another run have the same bits. */
static void same_bits(problem *p, attn_ctx *ctx) {
    poison_copy one = {{NULL}};
    const bool ran = poison_copy_take(&one, p) && run(p, ctx);
    for (int b = BUFFER_DQ; ran && b < BUFFERS && !check_has_failed(); b++) {
        const guard *g = &p->buffer[b];
        if (g->size > 0 && memcmp(one.bytes[b], g->data, g->size) != 0)
            check_failed(__FILE__, __LINE__, "buffer %d differs on %d threads\n    %s", b,
                         attn_ctx_threads(ctx), p->text);
    }
    poison_copy_free(&one);
}

static void sweep_edges(attn_isa isa, attn_dtype dtype, int full) {
    NEED_ISA(isa);
    attn_ctx *contexts[8] = {NULL}; /* the first one has one thread */
    int n = 0;
    EACH_THREAD_COUNT(threads) contexts[n++] = context_with(isa, threads);
    const int rounds = test_rounds(full);
    for (int x = 0; x < rounds && !check_has_failed(); x++) {
        edge_problem e;
        const bool agrees = begin(&e, 31000 + (uint64_t)x, dtype) && run(&e.p, contexts[0]) &&
                            gradient_bound_check(&e.p, NULL);
        for (int t = 1; agrees && t < n && !check_has_failed(); t++) same_bits(&e.p, contexts[t]);
        end(&e);
    }
    for (int t = 0; t < n; t++) attn_ctx_destroy(contexts[t]);
}

#define ISA_TESTS(isa, ISA)                                                                        \
    TEST(isa##_f32_gradients_agree_with_the_oracle_at_the_ends_of_the_range) {                     \
        sweep_edges(ISA, ATTN_F32, 120);                                                           \
    }                                                                                              \
    TEST(isa##_f64_gradients_agree_with_the_oracle_at_the_ends_of_the_range) {                     \
        sweep_edges(ISA, ATTN_F64, 120);                                                           \
    }                                                                                              \
    TEST(isa##_f16_gradients_agree_with_the_oracle_at_the_ends_of_the_range) {                     \
        sweep_edges(ISA, ATTN_F16, 40);                                                            \
    }                                                                                              \
    TEST(isa##_bf16_gradients_agree_with_the_oracle_at_the_ends_of_the_range) {                    \
        sweep_edges(ISA, ATTN_BF16, 40);                                                           \
    }

ISA_LIST(ISA_TESTS)
