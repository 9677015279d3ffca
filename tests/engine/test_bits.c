/* SPDX-License-Identifier: Apache-2.0 */
/* test_bits.c - the same question gives the same bits of out and lse however it is asked:
 * threads, the caller's pool, batches, pieces of the queries, shared or repeated heads, layouts,
 * packing, and every instruction set of a class. Bits are compared as bytes. Label: threads. */
#include "fixed_case.h"
#include "isas.h"
#include "problem.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __wasm__
enum { SOME_THREADS = 1 };
#else
enum { SOME_THREADS = 2 };
#endif

/* -------------------------------------------------------------------------------------- results */

/* Dense copies of what came out. */
typedef struct results {
    attn_tensor out, lse;
} results;

static void results_free(results *r) {
    free(r->out.data);
    free(r->lse.data);
    *r = (results){0};
}

static bool results_make(results *r, const attn_args *a) {
    const int64_t *q = a->q.shape, d_v = a->v.shape[3];
    const attn_dtype lse_dtype = a->q.dtype == ATTN_F64 ? ATTN_F64 : ATTN_F32;
    const size_t rows = (size_t)(q[0] * q[1] * q[2]);
    void *out = calloc(rows * (size_t)d_v + 1, attn_dtype_size(a->q.dtype));
    void *lse = calloc(rows + 1, attn_dtype_size(lse_dtype));
    r->out = attn_tensor_bhsd(out, a->q.dtype, q[0], q[1], q[2], d_v);
    r->lse = attn_tensor_bhsd(lse, lse_dtype, q[0], q[1], q[2], 1);
    if (out && lse) return true;
    check_failed(__FILE__, __LINE__, "no memory");
    results_free(r);
    return false;
}

/* Runs args into fresh results; false after a failure (then nothing is to be freed). */
static bool run(attn_ctx *ctx, const attn_args *a, results *r) {
    attn_error err = {""};
    if (!results_make(r, a)) return false;
    const attn_status status = attn_forward(ctx, a, &r->out, &r->lse, &err);
    if (status == ATTN_OK) return true;
    check_failed(__FILE__, __LINE__, "%s: %s", attn_status_name(status), err.message);
    results_free(r);
    return false;
}

/* Runs a problem in its own layout and copies what came out. */
static bool run_problem(attn_ctx *ctx, problem *p, results *r) {
    if (!results_make(r, &p->args)) return false;
    if (!problem_run(p, ctx)) {
        results_free(r);
        return false;
    }
    const int64_t *n = p->out.shape;
    for (int64_t row = 0; row < n[0] * n[1] * n[2]; row++) {
        const int64_t at[4] = {row / n[2] / n[1], row / n[2] % n[1], row % n[2], 0};
        memcpy(tensor_at(&r->out, at), tensor_at(&p->out, at),
               (size_t)n[3] * attn_dtype_size(p->out.dtype));
        memcpy(tensor_at(&r->lse, at), tensor_at(&p->lse, at), attn_dtype_size(p->lse.dtype));
    }
    return true;
}

/* Is every row of part, bit for bit, the row of whole that lies `from` (batch, head, row)
 * further? */
static bool same_rows(const results *part, const results *whole, const int64_t from[3],
                      const char *text) {
    const int64_t *n = part->out.shape;
    const size_t out_bytes = (size_t)n[3] * attn_dtype_size(part->out.dtype);
    for (int64_t row = 0; row < n[0] * n[1] * n[2]; row++) {
        const int64_t a[4] = {row / n[2] / n[1], row / n[2] % n[1], row % n[2], 0};
        const int64_t b[4] = {a[0] + from[0], a[1] + from[1], a[2] + from[2], 0};
        if (memcmp(tensor_at(&part->out, a), tensor_at(&whole->out, b), out_bytes) == 0 &&
            memcmp(tensor_at(&part->lse, a), tensor_at(&whole->lse, b),
                   attn_dtype_size(part->lse.dtype)) == 0)
            continue;
        check_failed(__FILE__, __LINE__,
                     "bits differ in b=%" PRId64 " h=%" PRId64 " row=%" PRId64
                     ": out[0] %.17g and %.17g, lse %.17g and %.17g\n    %s",
                     b[0], b[1], b[2], tensor_get(&part->out, a[0], a[1], a[2], 0),
                     tensor_get(&whole->out, b[0], b[1], b[2], 0),
                     tensor_get(&part->lse, a[0], a[1], a[2], 0),
                     tensor_get(&whole->lse, b[0], b[1], b[2], 0), text);
        return false;
    }
    return true;
}

static const int64_t origin[3] = {0, 0, 0};

/* ---------------------------------------------------------------------------------------- cases */

enum {
    SCORES = PROBLEM_ALIBI | PROBLEM_SINKS | PROBLEM_SOFTCAP | PROBLEM_TEMPERATURE | PROBLEM_BIAS,
    ALMOST_ALL = PROBLEM_EVERYTHING & ~PROBLEM_SCALE
};

static const unsigned case_features[] = {
    0,
    PROBLEM_CAUSAL,
    PROBLEM_CAUSAL | SCORES | PROBLEM_DROPOUT,
    PROBLEM_WINDOW | PROBLEM_MASK | PROBLEM_LENGTHS,
    PROBLEM_PATTERN | PROBLEM_OFFSET | PROBLEM_CAUSAL | PROBLEM_BIAS | PROBLEM_DROPOUT,
    PROBLEM_PACKED | PROBLEM_WINDOW | SCORES | PROBLEM_DROPOUT,
    ALMOST_ALL & ~PROBLEM_PACKED,
    ALMOST_ALL & ~PROBLEM_LENGTHS,
};
enum { CASES = sizeof case_features / sizeof case_features[0] };
static const uint64_t case_seeds[CASES] = {1, 2, 3, 2, 24, 2, 33, 33}; /* most rows see something */

/* Two key tiles, panels that end in the middle, groups of heads; enough work to wake the
 * threads. */
static problem_spec case_spec(int c, attn_dtype dtype) {
    return (problem_spec){.seed = case_seeds[c],
                          .dtype = dtype,
                          .B = 3,
                          .H = 4,
                          .H_kv = 2,
                          .n_q = 110,
                          .n_k = 205,
                          .d_k = 21,
                          .d_v = 18,
                          .features = case_features[c]};
}

/* Huge offsets are kept out: pieces of the queries add to them. */
static bool make_case(problem *p, int c, attn_dtype dtype, unsigned without) {
    problem_spec spec = case_spec(c, dtype);
    spec.features &= ~without;
    if (!problem_make(p, &spec)) {
        problem_free(p);
        return false;
    }
    for (int64_t b = 0; b < spec.B; b++) {
        if (p->offsets[b] > spec.n_k) p->offsets[b] = b;
    }
    if (p->args.offset > spec.n_k) p->args.offset = p->offsets[0];
    return true;
}

/* A test over nothing proves nothing. */
static bool sees_enough(const results *r, const char *text) {
    const int64_t *n = r->lse.shape;
    int64_t seen = 0, rows = n[0] * n[1] * n[2];
    for (int64_t row = 0; row < rows; row++)
        seen +=
            tensor_get(&r->lse, row / n[2] / n[1], row / n[2] % n[1], row % n[2], 0) > -INFINITY;
    if (seen * 5 >= rows) return true;
    check_failed(__FILE__, __LINE__, "only %" PRId64 " of %" PRId64 " rows see a key\n    %s", seen,
                 rows, text);
    return false;
}

static const attn_dtype all_dtypes[4] = {ATTN_F32, ATTN_F64, ATTN_F16, ATTN_BF16};

/* Where time is short every case runs in one dtype only. */
static bool is_left_out(int c, int x, int n_dtypes) {
    return test_rounds(100) < 50 && x != c % n_dtypes;
}

/* Calls ask(ctx, p, whole) for every case, f32 and f64 (and the half types if asked for), with the
 * results of the whole problem on one thread. */
typedef void question(attn_ctx *ctx, problem *p, const results *whole);

static void ask_all(question *ask, unsigned without, int n_dtypes) {
    attn_ctx *ctx = context_with(ATTN_ISA_AUTO, 1);
    for (int c = 0; ctx && c < CASES; c++) {
        for (int x = 0; x < n_dtypes && !check_has_failed(); x++) {
            problem p;
            results whole;
            if (is_left_out(c, x, n_dtypes)) continue;
            if (!make_case(&p, c, all_dtypes[x], without)) break;
            if (run_problem(ctx, &p, &whole)) {
                if (sees_enough(&whole, p.text)) ask(ctx, &p, &whole);
                results_free(&whole);
            }
            problem_free(&p);
        }
    }
    attn_ctx_destroy(ctx);
}

/* -------------------------------------------------------------------------------------- threads */

static void ask_threads(attn_ctx *unused, problem *p, const results *whole) {
    static const int counts[3] = {2, 3, 7};
    (void)unused;
    for (int x = 0; x < 3; x++) {
        results r;
        attn_ctx *ctx = context_with(ATTN_ISA_AUTO, counts[x]);
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

/* problem_run() brings a workspace; run() takes the scratch of the context. */
static void ask_scratch(attn_ctx *ctx, problem *p, const results *whole) {
    results r;
    if (!run(ctx, &p->args, &r)) return;
    same_rows(&r, whole, origin, p->text);
    results_free(&r);
}

TEST(own_workspace_and_scratch_of_the_context_give_the_same_bits) { ask_all(ask_scratch, 0, 4); }

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

static int64_t offset_of(const problem *p, int64_t s) {
    const int64_t given = p->args.offsets ? p->args.offsets[s] : p->args.offset;
    return given == ATTN_OFFSET_BOTTOM_RIGHT ? problem_keys(p, s) - problem_rows(p, s) : given;
}

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
        if (!run(ctx, &a, &r)) return;
        same_rows(&r, whole, (const int64_t[3]){b, 0, 0}, p->text);
        results_free(&r);
    }
}

TEST(a_batch_entry_alone_has_the_bits_it_has_in_the_batch) {
    ask_all(ask_batches, PROBLEM_DROPOUT, 4);
}

/* Rows row0 .. and the first keys of a pattern; *part is to be destroyed. False after a failure. */
static bool cut_pattern(const attn_pattern *pattern, int64_t row0, const int64_t size[2],
                        attn_pattern **part) {
    *part = NULL;
    if (!pattern) return true;
    uint8_t *allow = malloc((size_t)(size[0] * size[1]) + 1);
    attn_status status = ATTN_E_MEMORY;
    for (int64_t e = 0; allow && e < size[0] * size[1]; e++)
        allow[e] = (uint8_t)attn_pattern_at(pattern, row0 + e / size[1], e % size[1]);
    if (allow) status = attn_pattern_dense(size[0], size[1], allow, part, NULL);
    free(allow);
    if (status != ATTN_OK) check_failed(__FILE__, __LINE__, "no part of a pattern");
    return status == ATTN_OK;
}

/* Queries row0 .. row0 + n - 1 as a problem of their own. */
static bool ask_piece(attn_ctx *ctx, const problem *p, const results *whole, int64_t row0,
                      int64_t n) {
    attn_args a = p->args;
    int64_t offsets[PROBLEM_MAX_B], len_q[PROBLEM_MAX_B];
    attn_pattern *pattern;
    results r;
    a.q = slice(a.q, 2, row0, n);
    a.mask = slice_scores(a.mask, 2, row0, n);
    a.bias = slice_scores(a.bias, 2, row0, n);
    for (int64_t b = 0; b < p->spec.B; b++) {
        const int64_t left = problem_rows(p, b) - row0;
        offsets[b] = offset_of(p, b) + row0;
        len_q[b] = left < 0 ? 0 : left < n ? left : n;
    }
    a.offsets = offsets;
    a.len_q = len_q;
    if (!cut_pattern(a.pattern, row0, (const int64_t[2]){n, a.k.shape[2]}, &pattern)) return false;
    a.pattern = pattern;
    bool ok = run(ctx, &a, &r);
    if (ok) {
        ok = same_rows(&r, whole, (const int64_t[3]){0, 0, row0}, p->text);
        results_free(&r);
    }
    attn_pattern_destroy(pattern);
    return ok;
}

static void ask_pieces(attn_ctx *ctx, problem *p, const results *whole) {
    static const int64_t sizes[] = {1, 7, 8, 16, 24, 100};
    if (p->args.cu_q) return;
    for (size_t x = 0; x < sizeof sizes / sizeof sizes[0]; x++) {
        for (int64_t row = 0; row < p->spec.n_q; row += sizes[x]) {
            const int64_t left = p->spec.n_q - row;
            if (!ask_piece(ctx, p, whole, row, left < sizes[x] ? left : sizes[x])) return;
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
        if (run(ctx, &a, &r)) {
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
    if (a.k.data && a.v.data && run(ctx, &a, &r)) {
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

/* ---------------------------------------------------------------------------- order of the sums */

enum { TILE = 192 }; /* keys; part of the definition, so it is not taken from the kernels */

/* The definition of the bits, one operation at a time. Numbers are of the real type, kept in
 * double: one operation on two floats in double, rounded to float, is that operation in float. */
typedef struct model {
    const attni_kernels *kernels; /* for its exp2 */
    bool f64;
} model;

static double rounded(const model *m, double x) { return m->f64 ? x : (double)(float)x; }

static double model_fma(const model *m, double a, double b, double c) {
    if (!m->kernels->fused) return rounded(m, rounded(m, a * b) + c);
    return m->f64 ? fma(a, b, c) : (double)fmaf((float)a, (float)b, (float)c);
}

/* 2^(s - max) for whole max, as the kernel's polynomial has it: the whole part of s is split
 * off. */
static double model_weight(const model *m, double s, double max) {
    const double whole = rint(s);
    double x64[16] = {0}, y64[16];
    float x32[16] = {0}, y32[16];
    x64[0] = s - whole;
    x32[0] = (float)x64[0];
    m->kernels->exp2(m->kernels->vl, m->f64 ? (void *)x64 : (void *)x32,
                     m->f64 ? (void *)y64 : (void *)y32);
    return ldexp(m->f64 ? y64[0] : (double)y32[0], (int)(whole - max));
}

/* Row i of head h: scores of one tile and their maximum. */
static double model_scores(const model *m, const problem *p, const int64_t at[3], double *s) {
    const attn_args *a = &p->args;
    const int64_t h_kv = at[1] / (p->spec.H / p->spec.H_kv);
    const double factor = rounded(m, 1 / sqrt((double)p->spec.d_k) * 1.4426950408889634074);
    double max = -INFINITY;
    for (int64_t j = 0; j < TILE && at[2] + j < p->spec.n_k; j++) {
        s[j] = 0;
        for (int64_t d = 0; d < p->spec.d_k; d++) {
            const double q = rounded(m, tensor_get(&a->q, 0, at[1], at[0], d) * factor);
            s[j] = model_fma(m, tensor_get(&a->k, 0, h_kv, at[2] + j, d), q, s[j]);
        }
        max = fmax(max, s[j]);
    }
    return max;
}

/* out (d_v) of row i of head h: tiles of 192 keys from key 0, each summed from zero, merged in
 * ascending order; weights are measured from the maximum, rounded to a whole number. */
static void model_row(const model *m, const problem *p, int64_t i, int64_t h, double *out) {
    const int64_t n_k = p->spec.n_k, d_v = p->spec.d_v;
    double s[TILE], max = -INFINITY, total = 0;
    for (int64_t first = 0; first < n_k; first += TILE) {
        const int64_t n = n_k - first < TILE ? n_k - first : TILE;
        const double tile = rint(model_scores(m, p, (const int64_t[3]){i, h, first}, s));
        const double alpha = first == 0 || tile <= max ? 1 : exp2(max - tile);
        double sum = 0;
        max = fmax(max, tile);
        for (int64_t j = 0; j < n; j++) {
            s[j] = model_weight(m, s[j], max);
            sum = rounded(m, sum + s[j]);
        }
        total = first == 0 ? sum : rounded(m, rounded(m, total * alpha) + sum);
        for (int64_t d = 0; d < d_v; d++) {
            double o = 0;
            for (int64_t j = 0; j < n; j++) {
                const double v =
                    tensor_get(&p->args.v, 0, h / (p->spec.H / p->spec.H_kv), first + j, d);
                o = model_fma(m, v, s[j], o);
            }
            out[d] = first == 0 ? o : model_fma(m, out[d], alpha, o);
        }
    }
    const double inverse = rounded(m, 1 / total);
    for (int64_t d = 0; d < d_v; d++) out[d] = model_fma(m, out[d], inverse, 0);
}

static void compare_with_model(const model *m, const problem *p) {
    double out[16];
    for (int64_t h = 0; h < p->spec.H; h++) {
        for (int64_t i = 0; i < p->spec.n_q; i++) {
            model_row(m, p, i, h, out);
            for (int64_t d = 0; d < p->spec.d_v; d++) {
                const double actual = tensor_get(&p->out, 0, h, i, d);
                CHECK_MSG(actual == out[d],
                          "out[h=%" PRId64 " i=%" PRId64 " d=%" PRId64 "] is %a, the model has %a\n"
                          "    %s",
                          h, i, d, actual, out[d], p->text);
            }
        }
    }
}

static void order_of_sums(attn_isa isa) {
    NEED_ISA(isa);
    attn_ctx *ctx = context_with(isa, 1);
    for (int f64 = 0; f64 < 2 && ctx; f64++) {
        const model m = {attni_kernels_get(isa, f64), f64};
        const problem_spec spec = {.seed = 77,
                                   .dtype = f64 ? ATTN_F64 : ATTN_F32,
                                   .B = 1,
                                   .H = 2,
                                   .H_kv = 1,
                                   .n_q = 13,
                                   .n_k = 450,
                                   .d_k = 19,
                                   .d_v = 15};
        problem p;
        if (problem_make(&p, &spec) && problem_run(&p, ctx)) compare_with_model(&m, &p);
        problem_free(&p);
    }
    attn_ctx_destroy(ctx);
}

/* ----------------------------------------------------------------------------- instruction sets */

/* Results of a case on one instruction set; false after a failure. */
static bool run_on(attn_isa isa, problem *p, results *r) {
    attn_ctx *ctx = context_with(isa, 1);
    const bool ok = ctx && run_problem(ctx, p, r);
    attn_ctx_destroy(ctx);
    return ok;
}

/* The first instruction set of a class that runs here. */
static attn_isa first_of_class(bool fused) {
    for (int isa = ATTN_ISA_SCALAR; isa < ATTN_ISA_COUNT; isa++) {
        const attni_kernels *kernels = attni_kernels_get((attn_isa)isa, false);
        if (kernels && kernels->fused == fused) return (attn_isa)isa;
    }
    return ATTN_ISA_AUTO;
}

static void compare_class(attn_isa isa, attn_isa with) {
    for (int c = 0; c < CASES; c++) {
        for (int x = 0; x < 4 && !check_has_failed(); x++) {
            problem p;
            results a, b;
            if (is_left_out(c, x, 4)) continue;
            if (!make_case(&p, c, all_dtypes[x], 0)) return;
            if (run_on(isa, &p, &a)) {
                if (run_on(with, &p, &b)) {
                    same_rows(&a, &b, origin, p.text);
                    results_free(&b);
                }
                results_free(&a);
            }
            problem_free(&p);
        }
    }
}

static void class_bits(attn_isa isa) {
    NEED_ISA(isa);
    const attn_isa first = first_of_class(attni_kernels_get(isa, false)->fused);
    if (first == isa)
        SKIP("%s is the first of its class: nothing to compare with", attn_isa_name(isa));
    compare_class(isa, first);
}

/* Prints the hash: it must be the same on every machine of the class. */
static void fixed_case(attn_isa isa, attn_dtype dtype) {
    NEED_ISA(isa);
    const attn_isa first = first_of_class(attni_kernels_get(isa, false)->fused);
    const attn_isa both[2] = {isa, first};
    uint64_t hash[2] = {0, 1};
    for (int x = 0; x < 2; x++) {
        attn_ctx *ctx = context_with(both[x], 1);
        const attn_status status = ctx ? fixed_case_hash(ctx, dtype, &hash[x]) : ATTN_E_ISA;
        attn_ctx_destroy(ctx);
        CHECK_MSG(status == ATTN_OK, "%s: %s", attn_isa_name(both[x]), attn_status_name(status));
    }
    CHECK_MSG(hash[0] == hash[1], "%s gives %016" PRIx64 ", %s %016" PRIx64, attn_isa_name(isa),
              hash[0], attn_isa_name(first), hash[1]);
    printf("(%016" PRIx64 ") ", hash[0]);
}

#define ISA_TESTS(isa, ISA)                                                                        \
    TEST(isa##_sums_in_the_order_of_the_definition) { order_of_sums(ISA); }                        \
    TEST(isa##_has_the_bits_of_its_class) { class_bits(ISA); }                                     \
    TEST(isa##_hash_of_the_fixed_case_in_f32_is_that_of_its_class) { fixed_case(ISA, ATTN_F32); }  \
    TEST(isa##_hash_of_the_fixed_case_in_f64_is_that_of_its_class) { fixed_case(ISA, ATTN_F64); }

ISA_LIST(ISA_TESTS)
