/* SPDX-License-Identifier: Apache-2.0 */
/* test_poison.c - masked inputs cannot matter: NaN and infinities at every position that no query
 * sees change no bit, and at a position that some queries see they reach exactly these queries.
 * problem_sees() says which pair is visible, one condition after another. Also rows that see no key
 * at all. */
#include "isas.h"
#include "poison.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------- cases */

static const attn_dtype dtypes[4] = {ATTN_F32, ATTN_F64, ATTN_F16, ATTN_BF16};

/* A problem, what came out of it clean, and its inputs as they were. */
typedef struct subject {
    problem p;
    attn_ctx *ctx;
    poison_copy input, clean; /* bytes before and after the clean run */
    bool *sees;               /* (B, H, rows, keys) */
    int64_t rows, keys;       /* of the longest sequence */
} subject;

static bool *visible(const subject *s, const int64_t at[4]) {
    const int64_t H = s->p.spec.H;
    return &s->sees[((at[0] * H + at[1]) * s->rows + at[2]) * s->keys + at[3]];
}

static void find_visible(subject *s) {
    const problem_spec *spec = &s->p.spec;
    s->rows = spec->n_q;
    s->keys = spec->n_k;
    s->sees = calloc((size_t)(spec->B * spec->H * s->rows * s->keys) + 1, sizeof *s->sees);
    if (!s->sees) return;
    int64_t at[4];
    for (at[0] = 0; at[0] < spec->B; at[0]++) {
        for (at[1] = 0; at[1] < spec->H; at[1]++) {
            for (at[2] = 0; at[2] < problem_rows(&s->p, at[0]); at[2]++) {
                for (at[3] = 0; at[3] < problem_keys(&s->p, at[0]); at[3]++)
                    *visible(s, at) = problem_sees(&s->p, at[0], at[1], at[2], at[3]);
            }
        }
    }
}

static void subject_end(subject *s) {
    problem_free(&s->p);
    free(s->sees);
    poison_copy_free(&s->input);
    poison_copy_free(&s->clean);
}

/* False after a failure; then nothing is to be ended. */
static bool subject_begin(subject *s, attn_ctx *ctx, int c, attn_dtype dtype) {
    memset(s, 0, sizeof *s);
    s->ctx = ctx;
    if (!poison_case(&s->p, c, dtype, 27)) return false;
    const bool ran = poison_copy_take(&s->input, &s->p) && problem_run(&s->p, ctx) &&
                     poison_copy_take(&s->clean, &s->p);
    find_visible(s);
    if (ran && s->sees) return true;
    if (!check_has_failed()) check_failed(__FILE__, __LINE__, "no memory");
    subject_end(s);
    return false;
}

/* Inputs as they were. */
static void heal(subject *s) { poison_copy_restore(&s->input, &s->p); }

static bool run_poisoned(subject *s) {
    problem_remember(&s->p);
    return problem_run(&s->p, s->ctx);
}

/* -------------------------------------------------------------------------------- what came out */

/* The element of the clean run that has the place of this one. */
static const void *clean(const subject *s, const attn_tensor *t, const int64_t at[4]) {
    const int which = t == &s->p.out ? BUFFER_OUT : BUFFER_LSE;
    const unsigned char *element = tensor_at(t, at);
    return s->clean.bytes[which] + (element - s->p.buffer[which].data);
}

static bool same_bits(const subject *s, const attn_tensor *t, const int64_t at[4]) {
    return memcmp(clean(s, t, at), tensor_at(t, at), attn_dtype_size(t->dtype)) == 0;
}

/* What is expected of one row. */
typedef enum fate { UNCHANGED, ALL_NAN, COLUMN_SPOILT } fate;

static bool row_has_fate(const subject *s, int64_t at[4], fate expected, int64_t column) {
    const problem *p = &s->p;
    for (int64_t d = 0; d < p->out.shape[3]; d++) {
        at[3] = d;
        const double x = tensor_get(&p->out, at[0], at[1], at[2], d);
        const bool as_before = same_bits(s, &p->out, at);
        const bool spoilt = expected == COLUMN_SPOILT && d == column;
        if (expected == ALL_NAN ? !isnan(x) : spoilt ? isfinite(x) : !as_before) return false;
    }
    at[3] = 0;
    if (expected != ALL_NAN) return same_bits(s, &p->lse, at);
    return isnan(tensor_get(&p->lse, at[0], at[1], at[2], 0));
}

/* Asks fate_of() about every row of every head. */
typedef fate fate_function(const subject *s, const int64_t at[3], const int64_t key[3]);

static bool rows_have_fates(const subject *s, fate_function *fate_of, const int64_t key[3],
                            int64_t column) {
    const problem *p = &s->p;
    for (int64_t seq = 0; seq < p->spec.B; seq++) {
        const int64_t rows = p->args.cu_q ? problem_rows(p, seq) : p->args.q.shape[2];
        const int64_t row0 = p->args.cu_q ? p->args.cu_q[seq] : 0;
        for (int64_t x = 0; x < p->spec.H * rows; x++) {
            const int64_t h = x / rows, i = x % rows;
            int64_t at[4] = {p->args.cu_q ? 0 : seq, h, row0 + i, 0};
            const fate expected = fate_of(s, (const int64_t[3]){seq, h, i}, key);
            if (row_has_fate(s, at, expected, column)) continue;
            check_failed(__FILE__, __LINE__,
                         "sequence %" PRId64 " head %" PRId64 " row %" PRId64 ", poison at %" PRId64
                         ",%" PRId64 ",%" PRId64 ": expected %s, out[0] is %.9g\n    %s",
                         seq, h, i, key[0], key[1], key[2],
                         expected == UNCHANGED ? "the clean bits"
                         : expected == ALL_NAN ? "NaN"
                                               : "one column spoilt",
                         tensor_get(&p->out, at[0], at[1], at[2], 0), p->text);
            return false;
        }
    }
    return true;
}

static fate nothing_changes(const subject *s, const int64_t at[3], const int64_t key[3]) {
    (void)s, (void)at, (void)key;
    return UNCHANGED;
}

/* key is (sequence, key head, key). */
static bool sees_key(const subject *s, const int64_t at[3], const int64_t key[3]) {
    const int64_t group = s->p.spec.H / s->p.spec.H_kv;
    return at[0] == key[0] && at[1] / group == key[1] && at[2] < problem_rows(&s->p, at[0]) &&
           *visible(s, (const int64_t[4]){at[0], at[1], at[2], key[2]});
}

static fate nan_if_seen(const subject *s, const int64_t at[3], const int64_t key[3]) {
    return sees_key(s, at, key) ? ALL_NAN : UNCHANGED;
}

static fate spoilt_if_seen(const subject *s, const int64_t at[3], const int64_t key[3]) {
    return sees_key(s, at, key) ? COLUMN_SPOILT : UNCHANGED;
}

/* ---------------------------------------------------------------------------------------- facts */

/* Runs a fact over all cases and dtypes on one instruction set. */
typedef int64_t fact(subject *s); /* how much poison it placed */

static void over_all_cases(attn_isa isa, fact *holds) {
    NEED_ISA(isa);
    attn_ctx *ctx = context_with(isa, 1);
    const int stride = test_rounds(100) < 50 ? 3 : 1; /* a third of them where time is short */
    int64_t placed = 0;
    for (int x = 0; ctx && x < 4 * POISON_CASES && !check_has_failed(); x += stride) {
        subject s;
        if (!subject_begin(&s, ctx, x / 4, dtypes[x % 4])) break;
        placed += holds(&s);
        subject_end(&s);
    }
    attn_ctx_destroy(ctx);
    if (!check_has_failed()) CHECK_MSG(placed > 0, "no place for poison was found");
}

static int64_t key_row(const subject *s, int64_t seq, int64_t j) {
    return s->p.args.cu_k ? s->p.args.cu_k[seq] + j : j;
}

static bool is_seen_by_anyone(const subject *s, const int64_t key[3]) {
    int64_t at[3] = {key[0], 0, 0};
    for (; at[1] < s->p.spec.H; at[1]++) {
        for (at[2] = 0; at[2] < s->rows; at[2]++) {
            if (sees_key(s, at, key)) return true;
        }
    }
    return false;
}

/* Poison in k and v of every key that no query sees, padding beyond len_k among them. */
static int64_t hidden_keys(subject *s) {
    const problem *p = &s->p;
    int64_t placed = 0, key[3];
    for (int kind = 0; kind < POISONS && !check_has_failed(); kind++) {
        heal(s);
        for (key[0] = 0; key[0] < p->spec.B; key[0]++) {
            const int64_t n = p->args.cu_k ? problem_keys(p, key[0]) : p->spec.n_k;
            for (int64_t x = 0; x < p->spec.H_kv * n; x++) {
                key[1] = x / n;
                key[2] = x % n;
                if (key[2] < problem_keys(p, key[0]) && is_seen_by_anyone(s, key)) continue;
                const int64_t at[3] = {p->args.cu_k ? 0 : key[0], key[1],
                                       key_row(s, key[0], key[2])};
                poison_row(&p->args.k, at, -1, kind);
                poison_row(&p->args.v, at, -1, kind);
                placed++;
            }
        }
        if (run_poisoned(s)) rows_have_fates(s, nothing_changes, (const int64_t[3]){0}, -1);
    }
    return placed;
}

/* A few keys of each sequence, one after another: calls place(s, key, kind) and runs. */
typedef int64_t place_function(subject *s, const int64_t key[3], int kind);

static int64_t over_some_keys(subject *s, place_function *place) {
    const problem *p = &s->p;
    int64_t placed = 0;
    for (int64_t seq = 0; seq < p->spec.B; seq++) {
        const int64_t n = problem_keys(p, seq);
        for (int64_t j = seq; j < n && !check_has_failed(); j += 1 + n / 5) {
            const int64_t key[3] = {seq, j % p->spec.H_kv, j};
            heal(s);
            placed += place(s, key, (int)((j + seq) % POISONS));
        }
    }
    return placed;
}

static int64_t nan_in_one_key(subject *s, const int64_t key[3], int kind) {
    const int64_t at[3] = {s->p.args.cu_k ? 0 : key[0], key[1], key_row(s, key[0], key[2])};
    poison_row(&s->p.args.k, at, -1, kind % 2 ? FULL_NAN : QUIET_NAN);
    if (run_poisoned(s)) rows_have_fates(s, nan_if_seen, key, -1);
    return is_seen_by_anyone(s, key);
}

static int64_t poison_in_one_value(subject *s, const int64_t key[3], int kind) {
    const int64_t at[3] = {s->p.args.cu_k ? 0 : key[0], key[1], key_row(s, key[0], key[2])};
    const int64_t column = key[2] % s->p.spec.d_v;
    poison_row(&s->p.args.v, at, column, kind);
    if (run_poisoned(s)) rows_have_fates(s, spoilt_if_seen, key, column);
    return is_seen_by_anyone(s, key);
}

static int64_t one_key(subject *s) { return over_some_keys(s, nan_in_one_key); }
static int64_t one_value(subject *s) { return over_some_keys(s, poison_in_one_value); }

/* key is (sequence, head, row) here. */
static fate nan_in_own_row(const subject *s, const int64_t at[3], const int64_t key[3]) {
    if (at[0] != key[0] || at[1] != key[1] || at[2] != key[2]) return UNCHANGED;
    for (int64_t j = 0; j < problem_keys(&s->p, at[0]); j++) {
        if (problem_sees(&s->p, at[0], at[1], at[2], j)) return ALL_NAN;
    }
    return UNCHANGED;
}

/* NaN in a query: its own row, if it sees anything; rows beyond len_q see nothing. */
static int64_t one_query(subject *s) {
    const problem *p = &s->p;
    int64_t placed = 0;
    for (int64_t seq = 0; seq < p->spec.B; seq++) {
        const int64_t n = p->args.cu_q ? problem_rows(p, seq) : p->spec.n_q;
        for (int64_t i = n - 1; i >= 0 && !check_has_failed(); i -= 5) {
            const int64_t key[3] = {seq, i % p->spec.H, i};
            const int64_t row = p->args.cu_q ? p->args.cu_q[seq] + i : i;
            heal(s);
            poison_row(&p->args.q, (const int64_t[3]){p->args.cu_q ? 0 : seq, key[1], row}, -1,
                       (int)(i % 2));
            if (run_poisoned(s)) rows_have_fates(s, nan_in_own_row, key, -1);
            placed++;
        }
    }
    return placed;
}

static int64_t hidden_bias(subject *s) {
    const problem *p = &s->p;
    const attn_tensor *bias = &p->args.bias;
    int64_t placed = 0, e[4];
    if (!bias->data) return 0;
    for (int kind = 0; kind < 3 && !check_has_failed(); kind++) {
        heal(s);
        for (e[0] = 0; e[0] < bias->shape[0]; e[0]++) {
            for (int64_t x = 0; x < bias->shape[1] * bias->shape[2] * bias->shape[3]; x++) {
                e[1] = x / bias->shape[3] / bias->shape[2];
                e[2] = x / bias->shape[3] % bias->shape[2];
                e[3] = x % bias->shape[3];
                if (!poison_is_bias_hidden(p, e)) continue;
                poison_element(bias, e, kind);
                placed++;
            }
        }
        if (run_poisoned(s)) rows_have_fates(s, nothing_changes, (const int64_t[3]){0}, -1);
    }
    return placed;
}

/* Bytes between the rows of q, k and v: the elements are put back after filling everything. */
static int64_t padding(subject *s) {
    const problem *p = &s->p;
    const attn_tensor *const tensors[3] = {&p->args.q, &p->args.k, &p->args.v};
    for (int kind = 0; kind < POISONS && !check_has_failed(); kind++) {
        for (int x = 0; x < 3; x++) {
            const attn_tensor *t = tensors[x];
            const guard *g = &p->buffer[BUFFER_Q + x];
            const size_t size = attn_dtype_size(t->dtype);
            poison_buffer(g, t->dtype, kind);
            for (int64_t row = 0; row < t->shape[0] * t->shape[1] * t->shape[2]; row++) {
                const int64_t at[4] = {row / t->shape[2] / t->shape[1],
                                       row / t->shape[2] % t->shape[1], row % t->shape[2], 0};
                unsigned char *to = tensor_at(t, at);
                memcpy(to, s->input.bytes[BUFFER_Q + x] + (to - g->data),
                       (size_t)t->shape[3] * size);
            }
        }
        if (run_poisoned(s)) rows_have_fates(s, nothing_changes, (const int64_t[3]){0}, -1);
    }
    return p->spec.layout == LAYOUT_PADDED;
}

/* ----------------------------------------------------------------------------------- empty rows */

/* Does a row of the sequence see anything? */
static bool sees_anything(const problem *p, int64_t s, int64_t h, int64_t i) {
    for (int64_t j = 0; j < problem_keys(p, s); j++) {
        if (problem_sees(p, s, h, i, j)) return true;
    }
    return false;
}

/* Of a row that sees nothing: -inf, or its sink as lse is stored. */
static bool is_empty_lse(const problem *p, int64_t h, double lse) {
    if (!p->args.sinks) return lse == -INFINITY;
    return lse == (p->lse.dtype == ATTN_F64 ? p->args.sinks[h] : (double)(float)p->args.sinks[h]);
}

static int64_t empty_rows(subject *s) {
    const problem *p = &s->p;
    int64_t empty = 0;
    for (int64_t seq = 0; seq < p->spec.B; seq++) {
        const int64_t n = p->args.cu_q ? problem_rows(p, seq) : p->spec.n_q;
        for (int64_t x = 0; x < p->spec.H * n && !check_has_failed(); x++) {
            const int64_t h = x / n, i = x % n, b = p->args.cu_q ? 0 : seq;
            const int64_t row = p->args.cu_q ? p->args.cu_q[seq] + i : i;
            const double lse = tensor_get(&p->lse, b, h, row, 0);
            double sum = 0;
            for (int64_t d = 0; d < p->spec.d_v; d++)
                sum += fabs(tensor_get(&p->out, b, h, row, d));
            const bool is_empty = !sees_anything(p, seq, h, i);
            empty += is_empty;
            if (is_empty ? is_empty_lse(p, h, lse) && sum == 0 : isfinite(lse) && isfinite(sum))
                continue;
            check_failed(__FILE__, __LINE__,
                         "sequence %" PRId64 " head %" PRId64 " row %" PRId64
                         " sees %s, yet lse is %g and |out| %g\n    %s",
                         seq, h, i, is_empty ? "nothing" : "a key", lse, sum, p->text);
        }
    }
    return empty;
}

/* n_k = 0 and n_q = 0, with and without sinks; no input has an element that may be read. */
static void no_keys(attn_isa isa) {
    NEED_ISA(isa);
    attn_ctx *ctx = context_with(isa, 1);
    for (int x = 0; x < 16 && ctx && !check_has_failed(); x++) {
        const problem_spec spec = {.seed = 90 + (uint64_t)x,
                                   .dtype = dtypes[x % 4],
                                   .B = 2,
                                   .H = 2,
                                   .H_kv = 1,
                                   .n_q = 19,
                                   .n_k = 0,
                                   .d_k = 4,
                                   .d_v = 9,
                                   .features = (x & 4 ? PROBLEM_SINKS : 0) |
                                               (x & 8 ? PROBLEM_CAUSAL | PROBLEM_ALIBI : 0)};
        problem p;
        const bool ok = problem_make(&p, &spec) && problem_run(&p, ctx);
        for (int64_t e = 0; ok && e < 2 * 2 * 19 * 9 && !check_has_failed(); e++) {
            const int64_t b = e / 9 / 19 / 2, h = e / 9 / 19 % 2, i = e / 9 % 19;
            const double out = tensor_get(&p.out, b, h, i, e % 9);
            if (out != 0 || signbit(out) || !is_empty_lse(&p, h, tensor_get(&p.lse, b, h, i, 0)))
                check_failed(__FILE__, __LINE__, "out is %g\n    %s", out, p.text);
        }
        problem_free(&p);
    }
    attn_ctx_destroy(ctx);
}

static void no_queries(attn_isa isa) {
    NEED_ISA(isa);
    attn_ctx *ctx = context_with(isa, 1);
    for (int x = 0; x < 8 && ctx && !check_has_failed(); x++) {
        const problem_spec spec = {.seed = 120 + (uint64_t)x,
                                   .dtype = dtypes[x % 4],
                                   .B = 2,
                                   .H = 2,
                                   .H_kv = 1,
                                   .n_q = 0,
                                   .n_k = x & 4 ? 0 : 30,
                                   .d_k = 4,
                                   .d_v = 9,
                                   .features = PROBLEM_CAUSAL};
        problem p;
        if (problem_make(&p, &spec)) problem_run(&p, ctx); /* fails if it touches anything */
        problem_free(&p);
    }
    attn_ctx_destroy(ctx);
}

/* ---------------------------------------------------------------------------------------- tests */

#define ISA_TESTS(isa, ISA)                                                                        \
    TEST(isa##_poison_in_keys_that_nobody_sees_changes_no_bit) {                                   \
        over_all_cases(ISA, hidden_keys);                                                          \
    }                                                                                              \
    TEST(isa##_nan_in_a_key_reaches_exactly_the_rows_that_see_it) {                                \
        over_all_cases(ISA, one_key);                                                              \
    }                                                                                              \
    TEST(isa##_poison_in_a_value_reaches_its_column_in_the_rows_that_see_it) {                     \
        over_all_cases(ISA, one_value);                                                            \
    }                                                                                              \
    TEST(isa##_nan_in_a_query_stays_in_its_row) { over_all_cases(ISA, one_query); }                \
    TEST(isa##_poison_in_hidden_bias_changes_no_bit) { over_all_cases(ISA, hidden_bias); }         \
    TEST(isa##_poison_in_padding_changes_no_bit) { over_all_cases(ISA, padding); }                 \
    TEST(isa##_rows_that_see_nothing_give_zero_and_the_sink_alone) {                               \
        over_all_cases(ISA, empty_rows);                                                           \
    }                                                                                              \
    TEST(isa##_without_keys_every_row_is_empty) { no_keys(ISA); }                                  \
    TEST(isa##_without_queries_nothing_is_touched) { no_queries(ISA); }

ISA_LIST(ISA_TESTS)
