/* SPDX-License-Identifier: Apache-2.0 */
/* bits_case.c - see bits_case.h. */
#include "bits_case.h"

#include "contexts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void results_free(results *r) {
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
bool run_args(attn_ctx *ctx, const attn_args *a, results *r) {
    attn_error err = {""};
    if (!results_make(r, a)) return false;
    const attn_status status = attn_forward(ctx, a, &r->out, &r->lse, &err);
    if (status == ATTN_OK) return true;
    check_failed(__FILE__, __LINE__, "%s: %s", attn_status_name(status), err.message);
    results_free(r);
    return false;
}

/* Runs a problem in its own layout and copies what came out. */
bool run_problem(attn_ctx *ctx, problem *p, results *r) {
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
bool same_rows(const results *part, const results *whole, const int64_t from[3], const char *text) {
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

const int64_t origin[3] = {0, 0, 0};

/* ----------------------------------------------------------------------------- parts of a whole */

attn_tensor slice(attn_tensor t, int dim, int64_t first, int64_t n) {
    if (!t.data) return t;
    t.data = (char *)t.data + first * t.stride[dim] * (int64_t)attn_dtype_size(t.dtype);
    t.shape[dim] = n;
    return t;
}

/* Of mask and bias, which may repeat along the dimension. */
attn_tensor slice_scores(attn_tensor t, int dim, int64_t first, int64_t n) {
    return t.data && t.shape[dim] > 1 ? slice(t, dim, first, n) : t;
}

static int64_t offset_of(const problem *p, int64_t s) {
    const int64_t given = p->args.offsets ? p->args.offsets[s] : p->args.offset;
    return given == ATTN_OFFSET_BOTTOM_RIGHT ? problem_keys(p, s) - problem_rows(p, s) : given;
}

/* Rows row0 .. and the first keys of a pattern; *part is to be destroyed. False after a failure. */
bool cut_pattern(const attn_pattern *pattern, int64_t row0, const int64_t size[2],
                 attn_pattern **part) {
    *part = NULL;
    if (!pattern) return true;
    uint8_t *allow = malloc((size_t)(size[0] * size[1]) + 1);
    attn_status status = ATTN_E_MEMORY;
    for (int64_t e = 0; allow && e < size[0] * size[1]; e++)
        allow[e] = (uint8_t)attn_pattern_at(pattern, row0 + e / size[1], e % size[1]);
    if (allow) status = attn_pattern_dense(size[0], size[1], allow, NULL, part, NULL);
    free(allow);
    if (status != ATTN_OK) check_failed(__FILE__, __LINE__, "no part of a pattern");
    return status == ATTN_OK;
}

/* Queries row0 .. row0 + n - 1 as a problem of their own. */
bool same_piece(attn_ctx *ctx, const problem *p, const results *whole, int64_t row0, int64_t n) {
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
    bool ok = run_args(ctx, &a, &r);
    if (ok) {
        ok = same_rows(&r, whole, (const int64_t[3]){0, 0, row0}, p->text);
        results_free(&r);
    }
    attn_pattern_destroy(pattern);
    return ok;
}

/* ---------------------------------------------------------------------------------------- cases */

enum {
    SCORES = PROBLEM_ALIBI | PROBLEM_SINKS | PROBLEM_SOFTCAP | PROBLEM_TEMPERATURE | PROBLEM_BIAS,
    ALMOST_ALL = PROBLEM_EVERYTHING & ~PROBLEM_SCALE
};

static const unsigned case_features[CASES] = {
    0,
    PROBLEM_CAUSAL,
    PROBLEM_CAUSAL | SCORES | PROBLEM_DROPOUT,
    PROBLEM_WINDOW | PROBLEM_MASK | PROBLEM_LENGTHS,
    PROBLEM_PATTERN | PROBLEM_OFFSET | PROBLEM_CAUSAL | PROBLEM_BIAS | PROBLEM_DROPOUT,
    PROBLEM_PACKED | PROBLEM_WINDOW | SCORES | PROBLEM_DROPOUT,
    ALMOST_ALL & ~PROBLEM_PACKED,
    ALMOST_ALL & ~PROBLEM_LENGTHS,
};
static const uint64_t case_seeds[CASES] = {1, 2, 3, 2, 24, 2, 33, 33}; /* most rows see something */

/* Two key tiles, panels that end in the middle, groups of heads; enough work to wake the
 * threads. */
problem_spec case_spec(int c, attn_dtype dtype) {
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
bool make_case(problem *p, int c, attn_dtype dtype, unsigned without) {
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

const attn_dtype all_dtypes[4] = {ATTN_F32, ATTN_F64, ATTN_F16, ATTN_BF16};

/* Where time is short every case runs in one dtype only. */
bool is_left_out(int c, int x, int n_dtypes) { return test_rounds(100) < 50 && x != c % n_dtypes; }

void ask_all(question *ask, unsigned without, int n_dtypes) {
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
