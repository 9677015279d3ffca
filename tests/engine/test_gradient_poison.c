/* SPDX-License-Identifier: Apache-2.0 */
/* test_gradient_poison.c - masked inputs cannot affect a gradient: NaN and infinities at every
 * position that no query sees, and in rows that see no key, change no bit; at a position that some
 * rows see, they reach these rows and the keys these rows see, and nothing else. For the oracle and
 * for every instruction set. problem_sees() says which pair is visible, one condition after
 * another. */
#include "isas.h"
#include "poison.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------- subjects */

/* Who computes the gradients: ctx NULL stands for the oracle. */
static bool run(problem *p, attn_ctx *ctx) {
    attn_error err = {""};
    problem_remember(p);
    if (ctx) return problem_run(p, ctx) && problem_run_backward(p, ctx);
    const attn_results results = {.struct_size = sizeof(attn_results), .dout = p->dout};
    if (attn_reference_backward(&p->args, &results, &p->gradients, &err) == ATTN_OK) return true;
    check_failed(__FILE__, __LINE__, "%s\n    %s", err.message, p->text);
    return false;
}

/* A problem, all bytes before it ran, and those of the gradients after it ran clean. */
typedef struct subject {
    problem p;
    attn_ctx *ctx;
    poison_copy input, clean;
} subject;

static void subject_end(subject *s) {
    problem_free(&s->p);
    poison_copy_free(&s->input);
    poison_copy_free(&s->clean);
}

/* False after a failure; then nothing is to be ended. */
static bool subject_begin(subject *s, attn_ctx *ctx, int c, attn_dtype dtype) {
    memset(s, 0, sizeof *s);
    s->ctx = ctx;
    if (!poison_case(&s->p, c, dtype, c % 5 ? 27 : 110)) return false; /* one block, or two */
    if (problem_make_backward(&s->p, WANT_ALL) && poison_copy_take(&s->input, &s->p) &&
        run(&s->p, ctx) && poison_copy_take(&s->clean, &s->p))
        return true;
    subject_end(s);
    return false;
}

/* All bytes as they were before the first run. */
static void heal(subject *s) { poison_copy_restore(&s->input, &s->p); }

/* ---------------------------------------------------------------------------------- comparisons */

/* Row (batch, head, row) of a gradient has the bits of the clean run. */
static bool is_row_clean(const subject *s, int which, const int64_t at[3]) {
    const attn_tensor t = problem_gradient(&s->p, which);
    const unsigned char *row = tensor_at(&t, (const int64_t[4]){at[0], at[1], at[2], 0});
    for (int buffer = BUFFER_DQ; buffer < BUFFERS; buffer++) {
        const guard *g = &s->p.buffer[buffer];
        if (g->size == 0 || row < g->data || row >= g->data + g->size) continue;
        return memcmp(row, s->clean.bytes[buffer] + (row - g->data),
                      (size_t)t.shape[3] * attn_dtype_size(t.dtype)) == 0;
    }
    return true;
}

static bool is_all_clean(const subject *s, const char *what) {
    static const char *const names[] = {"dq", "dk", "dv", "dbias", "dsinks", "dscale"};
    for (int buffer = BUFFER_DQ; buffer <= BUFFER_DSCALE; buffer++) {
        const guard *g = &s->p.buffer[buffer];
        if (g->size == 0 || memcmp(g->data, s->clean.bytes[buffer], g->size) == 0) continue;
        check_failed(__FILE__, __LINE__, "poison in %s changed %s\n    %s", what,
                     names[buffer - BUFFER_DQ], s->p.text);
        return false;
    }
    return true;
}

/* Where row i or key j of a sequence lies in its tensor. */
static int64_t batch_of(const problem *p, int64_t seq) { return p->args.cu_q ? 0 : seq; }
static int64_t row_of(const problem *p, int64_t seq, int64_t i) {
    return p->args.cu_q ? p->args.cu_q[seq] + i : i;
}
static int64_t key_of(const problem *p, int64_t seq, int64_t j) {
    return p->args.cu_k ? p->args.cu_k[seq] + j : j;
}
/* Rows and keys that a sequence has in the tensors, padding included. */
static int64_t all_rows(const problem *p, int64_t seq) {
    return p->args.cu_q ? problem_rows(p, seq) : p->spec.n_q;
}
static int64_t all_keys(const problem *p, int64_t seq) {
    return p->args.cu_k ? problem_keys(p, seq) : p->spec.n_k;
}

static bool sees_anything(const problem *p, const int64_t row[3]) {
    for (int64_t j = 0; j < problem_keys(p, row[0]); j++) {
        if (problem_sees(p, row[0], row[1], row[2], j)) return true;
    }
    return false;
}

/* key: sequence, key head, key. */
static bool sees_key(const problem *p, const int64_t row[3], const int64_t key[3]) {
    const int64_t group = p->spec.H / p->spec.H_kv;
    return row[0] == key[0] && row[1] / group == key[1] &&
           problem_sees(p, row[0], row[1], row[2], key[2]);
}

static bool is_seen_by_anyone(const problem *p, const int64_t key[3]) {
    int64_t row[3] = {key[0], 0, 0};
    for (; row[1] < p->spec.H; row[1]++) {
        for (row[2] = 0; row[2] < problem_rows(p, key[0]); row[2]++) {
            if (sees_key(p, row, key)) return true;
        }
    }
    return false;
}

/* Moves to the next (sequence, head, row or key); starts from {0, 0, -1}. */
typedef int64_t count_function(const problem *p, int64_t seq);

static bool next_place(const problem *p, int64_t heads, count_function *count, int64_t at[3]) {
    at[2]++;
    while (at[0] < p->spec.B && at[2] >= count(p, at[0])) {
        at[2] = 0;
        if (++at[1] < heads) continue;
        at[1] = 0;
        at[0]++;
    }
    return at[0] < p->spec.B;
}

/* ------------------------------------------------------------------------------- hidden places */

typedef int64_t fact(subject *s); /* how much there was to see */

/* Poison in k and v of every key that no query sees, padding beyond len_k among them. */
static int64_t hidden_keys(subject *s) {
    const problem *p = &s->p;
    int64_t placed = 0;
    for (int kind = 0; kind < POISONS && !check_has_failed(); kind++) {
        int64_t key[3] = {0, 0, -1};
        heal(s);
        while (next_place(p, p->spec.H_kv, all_keys, key)) {
            const int64_t at[3] = {batch_of(p, key[0]), key[1], key_of(p, key[0], key[2])};
            if (is_seen_by_anyone(p, key)) continue;
            poison_row(&p->args.k, at, -1, kind);
            poison_row(&p->args.v, at, -1, kind);
            placed++;
        }
        if (run(&s->p, s->ctx)) is_all_clean(s, "keys that nobody sees");
    }
    return placed;
}

/* Poison in q and dout of every row that sees nothing, padding beyond len_q among them. */
static int64_t blind_rows(subject *s) {
    const problem *p = &s->p;
    int64_t placed = 0;
    for (int kind = 0; kind < POISONS && !check_has_failed(); kind++) {
        int64_t row[3] = {0, 0, -1};
        heal(s);
        while (next_place(p, p->spec.H, all_rows, row)) {
            const int64_t at[3] = {batch_of(p, row[0]), row[1], row_of(p, row[0], row[2])};
            if (sees_anything(p, row)) continue;
            poison_row(&p->args.q, at, -1, kind);
            poison_row(&p->dout, at, -1, kind);
            placed++;
        }
        if (run(&s->p, s->ctx)) is_all_clean(s, "rows that see nothing");
    }
    return placed;
}

/* Poison in out of every row that sees nothing, and in lse of padding rows, after forward. A row
 * with a sink has a log-sum-exp, and only its output of 0 tells that it sees nothing. */
static int64_t blind_results(subject *s) {
    problem *p = &s->p;
    int64_t placed = 0;
    for (int kind = 0; kind < POISONS && !check_has_failed(); kind++) {
        int64_t row[3] = {0, 0, -1};
        heal(s);
        problem_remember(p);
        if (!problem_run(p, s->ctx)) break;
        while (next_place(p, p->spec.H, all_rows, row)) {
            const int64_t at[3] = {batch_of(p, row[0]), row[1], row_of(p, row[0], row[2])};
            const bool padding = row[2] >= problem_rows(p, row[0]);
            if (sees_anything(p, row) || (p->args.sinks && !padding)) continue;
            poison_row(&p->out, at, -1, kind);
            if (padding) poison_row(&p->lse, at, -1, kind);
            placed++;
        }
        problem_remember(p);
        if (problem_run_backward(p, s->ctx)) is_all_clean(s, "results of rows that see nothing");
    }
    return placed;
}

static int64_t hidden_bias(subject *s) {
    const problem *p = &s->p;
    const attn_tensor *bias = &p->args.bias;
    int64_t placed = 0;
    for (int kind = 0; bias->data && kind < 3 && !check_has_failed(); kind++) {
        int64_t e[4] = {0};
        heal(s);
        if (tensor_is_empty(bias->shape)) return 0;
        do {
            if (!poison_is_bias_hidden(p, e)) continue;
            poison_element(bias, e, kind);
            placed++;
        } while (tensor_next(bias->shape, e));
        if (run(&s->p, s->ctx)) is_all_clean(s, "bias that nobody sees");
    }
    return placed;
}

/* ------------------------------------------------------------------------------- spreading rows */

/* Is the row among those that the poison reaches directly? */
typedef bool spoils_function(const problem *p, const int64_t row[3], const int64_t place[3]);

static bool is_key_reached(const problem *p, spoils_function *spoils, const int64_t place[3],
                           const int64_t key[3]) {
    int64_t row[3] = {key[0], 0, 0};
    for (; row[1] < p->spec.H; row[1]++) {
        for (row[2] = 0; row[2] < problem_rows(p, key[0]); row[2]++) {
            if (sees_key(p, row, key) && spoils(p, row, place)) return true;
        }
    }
    return false;
}

static bool fail(const subject *s, const char *what, const int64_t at[3], const int64_t place[3]) {
    check_failed(__FILE__, __LINE__,
                 "poison at %" PRId64 ",%" PRId64 ",%" PRId64 ": %s at %" PRId64 ",%" PRId64
                 ",%" PRId64 "\n    %s",
                 place[0], place[1], place[2], what, at[0], at[1], at[2], s->p.text);
    return false;
}

/* Spoilt rows are NaN in dq, all others clean; keys that no spoilt row sees are clean. */
static bool spreads_as_it_must(const subject *s, spoils_function *spoils, const int64_t place[3]) {
    const problem *p = &s->p;
    int64_t row[3] = {0, 0, -1}, key[3] = {0, 0, -1};
    while (next_place(p, p->spec.H, all_rows, row)) {
        const int64_t at[3] = {batch_of(p, row[0]), row[1], row_of(p, row[0], row[2])};
        const bool spoilt = spoils(p, row, place) && sees_anything(p, row);
        const double x = tensor_get(&p->gradients.dq, at[0], at[1], at[2], 0);
        if (spoilt && !isnan(x)) return fail(s, "dq is not NaN", row, place);
        if (!spoilt && !is_row_clean(s, 0, at)) return fail(s, "dq changed", row, place);
    }
    while (next_place(p, p->spec.H_kv, all_keys, key)) {
        const int64_t at[3] = {batch_of(p, key[0]), key[1], key_of(p, key[0], key[2])};
        if (is_key_reached(p, spoils, place, key)) continue;
        if (!is_row_clean(s, 1, at)) return fail(s, "dk changed", key, place);
        if (!is_row_clean(s, 2, at)) return fail(s, "dv changed", key, place);
    }
    return true;
}

static bool is_own_row(const problem *p, const int64_t row[3], const int64_t place[3]) {
    (void)p;
    return row[0] == place[0] && row[1] == place[1] && row[2] == place[2];
}

/* NaN in q or dout of a few rows, one after another. */
static int64_t spoil_rows(subject *s, const attn_tensor *t) {
    const problem *p = &s->p;
    int64_t placed = 0;
    for (int64_t seq = 0; seq < p->spec.B; seq++) {
        for (int64_t i = all_rows(p, seq) - 1; i >= 0 && !check_has_failed(); i -= 19) {
            const int64_t place[3] = {seq, i % p->spec.H, i};
            heal(s);
            poison_row(t, (const int64_t[3]){batch_of(p, seq), place[1], row_of(p, seq, i)}, i % 5,
                       (int)(i % 2));
            if (run(&s->p, s->ctx)) spreads_as_it_must(s, is_own_row, place);
            placed += sees_anything(p, place);
        }
    }
    return placed;
}

static int64_t one_query(subject *s) { return spoil_rows(s, &s->p.args.q); }
static int64_t one_dout(subject *s) { return spoil_rows(s, &s->p.dout); }

/* NaN in k or v of a few keys, one after another. */
static int64_t spoil_keys(subject *s, const attn_tensor *t) {
    const problem *p = &s->p;
    int64_t placed = 0;
    for (int64_t seq = 0; seq < p->spec.B; seq++) {
        const int64_t n = problem_keys(p, seq);
        for (int64_t j = seq; j < n && !check_has_failed(); j += 1 + n / 2) {
            const int64_t place[3] = {seq, j % p->spec.H_kv, j};
            heal(s);
            poison_row(t, (const int64_t[3]){batch_of(p, seq), place[1], key_of(p, seq, j)}, j % 5,
                       (int)(j % 2));
            if (run(&s->p, s->ctx)) spreads_as_it_must(s, sees_key, place);
            placed += is_seen_by_anyone(p, place);
        }
    }
    return placed;
}

static int64_t one_key(subject *s) { return spoil_keys(s, &s->p.args.k); }
static int64_t one_value(subject *s) { return spoil_keys(s, &s->p.args.v); }

/* place: sequence, head, row of the bias; the key is the first one. */
static bool meets_bias(const problem *p, const int64_t row[3], const int64_t place[3]) {
    const int64_t *n = p->args.bias.shape;
    for (int k = 0; k < 3; k++) {
        if (n[k] > 1 && row[k] != place[k]) return false;
    }
    return problem_sees(p, row[0], row[1], row[2], 0);
}

/* A score of +inf: the row has no finite gradient. */
static int64_t infinite_score(subject *s) {
    const problem *p = &s->p;
    const attn_tensor *bias = &p->args.bias;
    int64_t placed = 0;
    if (!bias->data || tensor_is_empty(bias->shape)) return 0;
    for (int64_t i = 0; i < bias->shape[2] && !check_has_failed(); i += 9) {
        const int64_t place[3] = {bias->shape[0] - 1, bias->shape[1] - 1, i};
        int64_t row[3] = {0, 0, -1};
        heal(s);
        poison_element(bias, (const int64_t[4]){place[0], place[1], i, 0}, PLUS_INFINITY);
        if (run(&s->p, s->ctx)) spreads_as_it_must(s, meets_bias, place);
        while (next_place(p, p->spec.H, problem_rows, row)) placed += meets_bias(p, row, place);
    }
    return placed;
}

/* --------------------------------------------------------------------------------- exact zeros */

static bool is_zero_row(const attn_tensor *t, const int64_t at[3]) {
    for (int64_t d = 0; d < t->shape[3]; d++) {
        if (tensor_get(t, at[0], at[1], at[2], d) != 0) return false;
    }
    return true;
}

/* Rows that see nothing and keys that nobody sees. */
static int64_t zeros(subject *s) {
    const problem *p = &s->p;
    int64_t row[3] = {0, 0, -1}, key[3] = {0, 0, -1}, found = 0;
    while (next_place(p, p->spec.H, all_rows, row) && !check_has_failed()) {
        const int64_t at[3] = {batch_of(p, row[0]), row[1], row_of(p, row[0], row[2])};
        if (sees_anything(p, row)) continue;
        if (!is_zero_row(&p->gradients.dq, at)) fail(s, "dq is not 0", row, row);
        found++;
    }
    while (next_place(p, p->spec.H_kv, all_keys, key) && !check_has_failed()) {
        const int64_t at[3] = {batch_of(p, key[0]), key[1], key_of(p, key[0], key[2])};
        if (is_seen_by_anyone(p, key)) continue;
        if (!is_zero_row(&p->gradients.dk, at)) fail(s, "dk is not 0", key, key);
        if (!is_zero_row(&p->gradients.dv, at)) fail(s, "dv is not 0", key, key);
        found++;
    }
    return found;
}

/* Problems without keys or without queries: every gradient is 0. */
static void nothing_at_all(attn_ctx *ctx) {
    for (int x = 0; x < 12 && !check_has_failed(); x++) {
        const problem_spec spec = {.seed = 140 + (uint64_t)x,
                                   .dtype = (attn_dtype)(x % 4),
                                   .B = 2,
                                   .H = 2,
                                   .H_kv = 1,
                                   .n_q = x % 3 == 0 ? 0 : 19,
                                   .n_k = x % 3 == 1 ? 13 : 0,
                                   .d_k = 4,
                                   .d_v = 9,
                                   .features = PROBLEM_SINKS | PROBLEM_BIAS};
        problem p;
        int64_t none[PROBLEM_MAX_B] = {0};
        bool ok = problem_make(&p, &spec) && problem_make_backward(&p, WANT_ALL);
        if (ok && x % 3 == 1) p.args.len_k = none;
        ok = ok && run(&p, ctx);
        for (int which = 0; ok && which < GRADIENTS; which++) {
            const attn_tensor t = problem_gradient(&p, which);
            int64_t at[4] = {0};
            if (!t.data || tensor_is_empty(t.shape)) continue;
            do {
                if (tensor_get(&t, at[0], at[1], at[2], at[3]) == 0) continue;
                check_failed(__FILE__, __LINE__, "%s is not 0\n    %s", gradient_names[which],
                             p.text);
                ok = false;
            } while (ok && tensor_next(t.shape, at));
        }
        problem_free(&p);
    }
}

/* ---------------------------------------------------------------------------------------- tests */

/* Runs a fact over all cases and dtypes. The oracle takes f64 only: it computes in nothing else. */
static void over_all_cases(attn_ctx *ctx, fact *holds) {
    static const attn_dtype dtypes[4] = {ATTN_F64, ATTN_F32, ATTN_F16, ATTN_BF16};
    const int stride = test_rounds(100) < 50 ? 3 : 1; /* a third of them where time is short */
    int64_t placed = 0;
    for (int x = 0; x < 4 * POISON_CASES && !check_has_failed(); x += stride) {
        subject s;
        if (!ctx && x % 4 != 0) continue;
        if (!subject_begin(&s, ctx, x / 4, dtypes[x % 4])) break;
        placed += holds(&s);
        subject_end(&s);
    }
    if (!check_has_failed()) CHECK_MSG(placed > 0, "nothing was there to be seen");
}

static void on_isa(attn_isa isa, fact *holds) {
    NEED_ISA(isa);
    attn_ctx *ctx = context_with(isa, 1);
    if (ctx && holds) over_all_cases(ctx, holds);
    if (ctx && !holds) nothing_at_all(ctx);
    attn_ctx_destroy(ctx);
}

TEST(oracle_poison_in_keys_that_nobody_sees_changes_no_bit) { over_all_cases(NULL, hidden_keys); }
TEST(oracle_poison_in_rows_that_see_nothing_changes_no_bit) { over_all_cases(NULL, blind_rows); }
TEST(oracle_poison_in_hidden_bias_changes_no_bit) { over_all_cases(NULL, hidden_bias); }
TEST(oracle_nan_in_a_query_stays_with_its_row_and_its_keys) { over_all_cases(NULL, one_query); }
TEST(oracle_nan_in_dout_stays_with_its_row_and_its_keys) { over_all_cases(NULL, one_dout); }
TEST(oracle_nan_in_a_key_stays_with_the_rows_that_see_it) { over_all_cases(NULL, one_key); }
TEST(oracle_nan_in_a_value_stays_with_the_rows_that_see_it) { over_all_cases(NULL, one_value); }
TEST(oracle_infinite_scores_make_their_rows_nan) { over_all_cases(NULL, infinite_score); }
TEST(oracle_rows_and_keys_without_a_pair_have_gradient_zero) { over_all_cases(NULL, zeros); }
TEST(oracle_without_keys_or_queries_gradients_are_zero) { nothing_at_all(NULL); }

#define ISA_TESTS(isa, ISA)                                                                        \
    TEST(isa##_poison_in_keys_that_nobody_sees_changes_no_bit) { on_isa(ISA, hidden_keys); }       \
    TEST(isa##_poison_in_rows_that_see_nothing_changes_no_bit) { on_isa(ISA, blind_rows); }        \
    TEST(isa##_poison_in_results_of_blind_rows_changes_no_bit) { on_isa(ISA, blind_results); }     \
    TEST(isa##_poison_in_hidden_bias_changes_no_bit) { on_isa(ISA, hidden_bias); }                 \
    TEST(isa##_nan_in_a_query_stays_with_its_row_and_its_keys) { on_isa(ISA, one_query); }         \
    TEST(isa##_nan_in_dout_stays_with_its_row_and_its_keys) { on_isa(ISA, one_dout); }             \
    TEST(isa##_nan_in_a_key_stays_with_the_rows_that_see_it) { on_isa(ISA, one_key); }             \
    TEST(isa##_nan_in_a_value_stays_with_the_rows_that_see_it) { on_isa(ISA, one_value); }         \
    TEST(isa##_infinite_scores_make_their_rows_nan) { on_isa(ISA, infinite_score); }               \
    TEST(isa##_rows_and_keys_without_a_pair_have_gradient_zero) { on_isa(ISA, zeros); }            \
    TEST(isa##_without_keys_or_queries_gradients_are_zero) { on_isa(ISA, NULL); }

ISA_LIST(ISA_TESTS)
