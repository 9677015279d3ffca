/* SPDX-License-Identifier: Apache-2.0 */
/* test_bits.c - out and lse are bit-identical however the same problem is posed: threads, the
 * caller's pool, batches, pieces of the queries, shared or repeated heads, layouts, packing.
 * Results are compared as bytes. Label: threads. */
#include "bits_case.h"
#include "isas.h"

#include <stdlib.h>
#include <string.h>

#ifdef __wasm__
enum { SOME_THREADS = 1 };
#else
enum { SOME_THREADS = 2 };
#endif

/* -------------------------------------------------------------------------------------- threads */

static void ask_threads(attn_ctx *unused, problem *p, const results *whole) {
    (void)unused;
    EACH_THREAD_COUNT(threads) {
        results r;
        attn_ctx *ctx = context_with(ATTN_ISA_AUTO, threads);
        if (ctx && run_problem(ctx, p, &r)) {
            same_rows(&r, whole, origin, p->text);
            results_free(&r);
        }
        attn_ctx_destroy(ctx);
    }
}

TEST(threads_1_2_3_and_7_give_the_same_bits) {
#ifdef __wasm__
    SKIP("no threads here");
#endif
    ask_all(ask_threads, 0, 2);
}

static void ask_reverse_pool(attn_ctx *unused, problem *p, const results *whole) {
    int workers = 0;
    results r;
    (void)unused;
    attn_ctx *ctx = context_in_reverse(5, &workers);
    if (!ctx) return;
    if (run_problem(ctx, p, &r)) {
        same_rows(&r, whole, origin, p->text);
        results_free(&r);
    }
    attn_ctx_destroy(ctx);
    CHECK_MSG(workers == 5, "the pool was asked for %d workers, expected 5", workers);
}

TEST(a_pool_of_the_caller_that_runs_backwards_gives_the_same_bits) {
    ask_all(ask_reverse_pool, 0, 2);
}

/* problem_run() brings a workspace; run_args() takes the scratch of the context. */
static void ask_scratch(attn_ctx *ctx, problem *p, const results *whole) {
    results r;
    if (!run_args(ctx, &p->args, &r)) return;
    same_rows(&r, whole, origin, p->text);
    results_free(&r);
}

TEST(own_workspace_and_scratch_of_the_context_give_the_same_bits) { ask_all(ask_scratch, 0, 4); }

/* ----------------------------------------------------------------------------- parts of a whole */

/* Dropout counts batches, heads and rows from 0, so it is left out of the parts below. */
static void ask_batches(attn_ctx *ctx, problem *p, const results *whole) {
    if (p->args.cu_q) return;
    for (int64_t b = 0; b < p->spec.B && !check_has_failed(); b++) {
        attn_args a = p->args;
        results r;
        a.q = slice(a.q, 0, b, 1);
        a.k = slice(a.k, 0, b, 1);
        a.v = slice(a.v, 0, b, 1);
        a.mask = slice_scores(a.mask, 0, b, 1);
        a.bias = slice_scores(a.bias, 0, b, 1);
        if (a.offsets) a.offsets += b;
        if (a.len_q) a.len_q += b;
        if (a.len_k) a.len_k += b;
        if (!run_args(ctx, &a, &r)) return;
        same_rows(&r, whole, (const int64_t[3]){b, 0, 0}, p->text);
        results_free(&r);
    }
}

TEST(a_batch_entry_alone_has_the_bits_it_has_in_the_batch) {
    ask_all(ask_batches, PROBLEM_DROPOUT, 4);
}

static void ask_pieces(attn_ctx *ctx, problem *p, const results *whole) {
    static const int64_t sizes[] = {1, 7, 8, 16, 24, 100};
    if (p->args.cu_q) return;
    for (size_t x = 0; x < sizeof sizes / sizeof sizes[0]; x++) {
        for (int64_t row = 0; row < p->spec.n_q; row += sizes[x]) {
            const int64_t left = p->spec.n_q - row;
            if (!same_piece(ctx, p, whole, row, left < sizes[x] ? left : sizes[x])) return;
        }
    }
}

TEST(queries_in_pieces_have_the_bits_of_one_call) { ask_all(ask_pieces, PROBLEM_DROPOUT, 2); }

/* A packed sequence as a problem of its own. */
static void ask_sequences(attn_ctx *ctx, problem *p, const results *whole) {
    for (int64_t s = 0; p->args.cu_q && s < p->spec.B && !check_has_failed(); s++) {
        attn_args a = p->args;
        const int64_t rows = problem_rows(p, s), keys = problem_keys(p, s);
        attn_pattern *pattern;
        results r;
        a.cu_q = a.cu_k = NULL;
        a.q = slice(a.q, 2, p->cu_q[s], rows);
        a.k = slice(a.k, 2, p->cu_k[s], keys);
        a.v = slice(a.v, 2, p->cu_k[s], keys);
        attn_tensor *const scores[2] = {&a.mask, &a.bias};
        for (int x = 0; x < 2; x++) {
            *scores[x] = slice_scores(slice_scores(*scores[x], 0, s, 1), 2, 0, rows);
            if (scores[x]->shape[3] > keys) *scores[x] = slice(*scores[x], 3, 0, keys);
        }
        if (a.offsets) a.offsets += s;
        if (!cut_pattern(a.pattern, 0, (const int64_t[2]){rows, keys}, &pattern)) return;
        a.pattern = pattern;
        if (run_args(ctx, &a, &r)) {
            same_rows(&r, whole, (const int64_t[3]){0, 0, p->cu_q[s]}, p->text);
            results_free(&r);
        }
        attn_pattern_destroy(pattern);
    }
}

TEST(a_packed_sequence_has_the_bits_it_has_alone) { ask_all(ask_sequences, PROBLEM_DROPOUT, 4); }

/* ------------------------------------------------------------------------ same values elsewhere */

/* k or v with every head copied for each query head of its group. */
static attn_tensor expand_heads(const attn_tensor *t, int64_t H) {
    const int64_t *n = t->shape, group = H / n[1];
    const size_t bytes = (size_t)n[3] * attn_dtype_size(t->dtype);
    attn_tensor wide = attn_tensor_bhsd(calloc((size_t)(n[0] * H * n[2]) + 1, bytes), t->dtype,
                                        n[0], H, n[2], n[3]);
    for (int64_t row = 0; wide.data && row < n[0] * H * n[2]; row++) {
        const int64_t to[4] = {row / n[2] / H, row / n[2] % H, row % n[2], 0};
        const int64_t from[4] = {to[0], to[1] / group, to[2], 0};
        memcpy(tensor_at(&wide, to), tensor_at(t, from), bytes);
    }
    return wide;
}

static void ask_expanded(attn_ctx *ctx, problem *p, const results *whole) {
    attn_args a = p->args;
    results r;
    a.k = expand_heads(&a.k, p->spec.H);
    a.v = expand_heads(&a.v, p->spec.H);
    if (a.k.data && a.v.data && run_args(ctx, &a, &r)) {
        same_rows(&r, whole, origin, p->text);
        results_free(&r);
    }
    free(a.k.data);
    free(a.v.data);
}

TEST(heads_that_share_keys_have_the_bits_of_heads_with_copies) { ask_all(ask_expanded, 0, 4); }

static void ask_layouts(attn_ctx *ctx, problem *p, const results *whole) {
    const problem_layout layouts[] = {LAYOUT_BSHD, LAYOUT_QKV, LAYOUT_PADDED, LAYOUT_REVERSED};
    for (size_t x = 0; x < sizeof layouts / sizeof layouts[0] && !check_has_failed(); x++) {
        problem_spec spec = p->spec;
        problem other;
        results r;
        spec.layout = layouts[x];
        if (problem_make(&other, &spec)) {
            memcpy(other.offsets, p->offsets, sizeof other.offsets); /* as make_case() left them */
            other.args.offset = p->args.offset;
            if (run_problem(ctx, &other, &r)) {
                same_rows(&r, whole, origin, other.text);
                results_free(&r);
            }
        }
        problem_free(&other);
    }
}

TEST(every_layout_gives_the_same_bits) { ask_all(ask_layouts, 0, 4); }

/* Packed rows of q, k and v need n_q == n_k. */
TEST(packed_rows_of_q_k_v_give_the_bits_of_separate_tensors) {
    attn_ctx *ctx = context_with(ATTN_ISA_AUTO, 1);
    for (int x = 0; x < 4 && ctx; x++) {
        problem_spec spec = case_spec(2, all_dtypes[x]);
        problem separate, packed;
        results a, b;
        spec.n_k = spec.n_q;
        const bool ok = problem_make(&separate, &spec) && run_problem(ctx, &separate, &a);
        spec.layout = LAYOUT_QKV;
        if (problem_make(&packed, &spec) && ok) {
            if (run_problem(ctx, &packed, &b)) {
                same_rows(&b, &a, origin, packed.text);
                results_free(&b);
            }
            results_free(&a);
        }
        problem_free(&separate);
        problem_free(&packed);
    }
    attn_ctx_destroy(ctx);
}

/* One query, repeated: whatever lane, vector, panel or block a row falls into. */
TEST(equal_queries_have_equal_bits_wherever_they_stand) {
    attn_ctx *ctx = context_with(ATTN_ISA_AUTO, SOME_THREADS);
    for (int x = 0; x < 4 && ctx; x++) {
        problem_spec spec = case_spec(0, all_dtypes[x]);
        problem p;
        results r;
        spec.n_q = 500;
        if (problem_make(&p, &spec)) {
            p.args.q.stride[2] = 0;
            if (run_problem(ctx, &p, &r)) {
                results first = {slice(r.out, 2, 0, 1), slice(r.lse, 2, 0, 1)};
                for (int64_t row = 1; row < spec.n_q && !check_has_failed(); row++)
                    same_rows(&first, &r, (const int64_t[3]){0, 0, row}, p.text);
                results_free(&r);
            }
        }
        problem_free(&p);
    }
    attn_ctx_destroy(ctx);
}
