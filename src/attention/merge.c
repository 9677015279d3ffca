/* SPDX-License-Identifier: Apache-2.0 */
/* merge.c - attn_merge(): combines attention over disjoint sets of keys. Touches: the result.
 * Allocates nothing. Tests: tests/attention/test_merge.c, test_merge_many.c */
#include "attention/args.h"
#include "attention/structs.h"
#include "ref/reference.h"

#include <float.h>
#include <stdio.h>

/* ---------------------------------------------------------------------------------- validation */

static const unsigned LSE_DTYPES = 1u << ATTN_F32 | 1u << ATTN_F64;
static const unsigned OUT_DTYPES =
    1u << ATTN_F32 | 1u << ATTN_F64 | 1u << ATTN_F16 | 1u << ATTN_BF16;

static bool same_shape(const attn_tensor *x, const attn_tensor *y) {
    return memcmp(x->shape, y->shape, sizeof x->shape) == 0;
}

/* lse belongs to out: one number per row. Every shipped size of attn_partial has both fields, so
 * the caller's struct can be read in place. */
static attn_status check_partial(const attn_partial *p, const char *owner, attn_error *err) {
    char out_name[40], lse_name[40];
    ATTN_TRY(attni_struct_check(&attni_struct_partial, owner, p, err));
    const attn_tensor *out = &p->out, *lse = &p->lse;
    snprintf(out_name, sizeof out_name, "%s.out", owner);
    snprintf(lse_name, sizeof lse_name, "%s.lse", owner);
    ATTN_TRY(attni_check_tensor(out_name, out, OUT_DTYPES, true, err));
    ATTN_TRY(attni_check_tensor(lse_name, lse, LSE_DTYPES, true, err));
    ATTN_TRY(attni_check_row_contiguous(out_name, out, err));
    if (memcmp(out->shape, lse->shape, 3 * sizeof out->shape[0]) != 0 || lse->shape[3] != 1) {
        return attni_fail(err, ATTN_E_SHAPE, "%s: expected (B, H, n_q, 1) with the B, H, n_q of %s",
                          lse_name, out_name);
    }
    return ATTN_OK;
}

/* In place means element for element; any other overlap would destroy data that is still to be
 * read. */
static bool is_same_view(const attn_tensor *x, const attn_tensor *y) {
    for (int d = 0; d < 4; d++) {
        if (x->shape[d] > 1 && x->stride[d] != y->stride[d]) return false;
    }
    return x->data == y->data && x->dtype == y->dtype;
}

static bool is_apart_or_same(const attn_tensor *x, const attn_tensor *y) {
    return !attni_tensors_overlap(x, y) || is_same_view(x, y);
}

static attn_status check_against_result(const attn_partial *p, const char *owner,
                                        const attn_partial *result, attn_error *err) {
    if (!same_shape(&p->out, &result->out)) {
        return attni_fail(err, ATTN_E_SHAPE, "%s.out: shape differs from result.out", owner);
    }
    if (is_apart_or_same(&p->out, &result->out) && is_apart_or_same(&p->lse, &result->lse) &&
        !attni_tensors_overlap(&p->out, &result->lse) &&
        !attni_tensors_overlap(&p->lse, &result->out)) {
        return ATTN_OK;
    }
    return attni_fail(err, ATTN_E_OVERLAP,
                      "result: overlaps %s without being the same view; pass %s itself or separate "
                      "memory",
                      owner, owner);
}

static attn_status check_merge(const attn_partial *const *parts, int64_t n_parts,
                               const attn_partial *result, attn_error *err) {
    if (n_parts < 0) {
        return attni_fail(err, ATTN_E_VALUE, "n_parts: %lld, expected 0 or more",
                          (long long)n_parts);
    }
    if (!parts && n_parts > 0) {
        return attni_fail(err, ATTN_E_NULL, "parts: NULL, expected %lld pointers",
                          (long long)n_parts);
    }
    ATTN_TRY(check_partial(result, "result", err));
    ATTN_TRY(attni_check_distinct("result.out", &result->out, err));
    ATTN_TRY(attni_check_distinct("result.lse", &result->lse, err));
    if (attni_tensors_overlap(&result->out, &result->lse)) {
        return attni_fail(err, ATTN_E_OVERLAP, "result: out and lse overlap");
    }
    for (int64_t n = 0; n < n_parts; n++) {
        char name[32];
        snprintf(name, sizeof name, "parts[%lld]", (long long)n);
        ATTN_TRY(check_partial(parts[n], name, err));
        ATTN_TRY(check_against_result(parts[n], name, result, err));
    }
    return ATTN_OK;
}

/* --------------------------------------------------------------------------------------- rows */

typedef struct merge {
    const attn_partial *const *parts;
    int64_t n_parts;
    const attn_partial *result;
} merge;

/* What the parts of a row share. */
typedef struct row_total {
    double top; /* largest log-sum-exp; -inf: no part has a denominator; NaN if one is NaN */
    double sum; /* sum of exp(lse - top) */
} row_total;

static double lse_at(const attn_partial *p, const int64_t at[3]) {
    return attni_ref_load(&p->lse, at[0], at[1], at[2], 0);
}

/* A part at +inf outweighs any finite one. If there are several, the number of keys behind each is
 * unknown, so they count equally. */
static double relative_weight(double lse, double top) { return lse == top ? 1 : exp(lse - top); }

static row_total total_of(const merge *m, const int64_t at[3]) {
    row_total t = {.top = -INFINITY};
    for (int64_t n = 0; n < m->n_parts; n++) {
        const double lse = lse_at(m->parts[n], at);
        if (lse > t.top || isnan(lse)) t.top = lse;
        if (isnan(lse)) return t;
    }
    for (int64_t n = 0; n < m->n_parts; n++) {
        const double lse = lse_at(m->parts[n], at);
        if (lse > -INFINITY) t.sum += relative_weight(lse, t.top);
    }
    return t;
}

/* As in reference.c: an Inf or NaN of a part counts in full whatever its share, and a mean of
 * finite numbers stays finite. */
static double add_share(double sum, double share, double x) {
    const double total = sum + (isfinite(x) ? share * x : x);
    return isinf(total) && isfinite(sum) && isfinite(x) ? copysign(DBL_MAX, total) : total;
}

enum { CHUNK = 64 }; /* columns that are summed at a time */

/* Columns first .. first + n - 1 of the row, the parts in ascending order. A part whose log-sum-exp
 * is -inf has neither key nor sink and is not read. */
static void merge_columns(const merge *m, const int64_t at[3], const row_total *t, int64_t first,
                          int64_t n) {
    double sums[CHUNK];
    for (int64_t c = 0; c < n; c++) sums[c] = -0.0; /* the neutral start: adding any x gives x */
    for (int64_t p = 0; p < m->n_parts && !isnan(t->top); p++) {
        const double lse = lse_at(m->parts[p], at);
        if (lse == -INFINITY) continue;
        const double share = relative_weight(lse, t->top) / t->sum;
        for (int64_t c = 0; c < n; c++) {
            const double x = attni_ref_load(&m->parts[p]->out, at[0], at[1], at[2], first + c);
            sums[c] = add_share(sums[c], share, x);
        }
    }
    for (int64_t c = 0; c < n; c++) {
        attni_ref_store(&m->result->out, (int64_t[]){at[0], at[1], at[2], first + c},
                        isnan(t->top)         ? NAN
                        : t->top == -INFINITY ? 0
                                              : sums[c]);
    }
}

/* The log-sum-exp is stored last, because the result may be one of the parts. */
static void merge_row(const merge *m, const int64_t at[3]) {
    const row_total t = total_of(m, at);
    const int64_t d_v = m->result->out.shape[3];
    for (int64_t c = 0; c < d_v; c += CHUNK) merge_columns(m, at, &t, c, attni_min(CHUNK, d_v - c));
    const double lse = t.top == -INFINITY ? -INFINITY : t.top + log(t.sum);
    attni_ref_store(&m->result->lse, (int64_t[]){at[0], at[1], at[2], 0},
                    isnan(t.top) ? t.top : lse);
}

attn_status attn_merge(const attn_partial *const *parts, int64_t n_parts,
                       const attn_partial *result, attn_error *err) {
    ATTN_TRY(check_merge(parts, n_parts, result, err));
    const merge m = {parts, n_parts, result};
    const int64_t *shape = result->out.shape;
    int64_t at[3];
    for (at[0] = 0; at[0] < shape[0]; at[0]++) {
        for (at[1] = 0; at[1] < shape[1]; at[1]++) {
            for (at[2] = 0; at[2] < shape[2]; at[2]++) merge_row(&m, at);
        }
    }
    return ATTN_OK;
}
