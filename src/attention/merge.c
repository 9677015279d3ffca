/* SPDX-License-Identifier: Apache-2.0 */
/* merge.c - attn_merge(): joins the attention over two disjoint sets of keys. Touches: the result.
 * No allocation.
 * Tests: tests/attention/test_merge.c */
#include "attention/args.h"
#include "attention/structs.h"
#include "ref/reference.h"

#include <stdio.h>

/* ---------------------------------------------------------------------------------- validation */

static const char *const names[3] = {"a", "b", "result"};

static const unsigned LSE_DTYPES = 1u << ATTN_F32 | 1u << ATTN_F64;
static const unsigned OUT_DTYPES =
    1u << ATTN_F32 | 1u << ATTN_F64 | 1u << ATTN_F16 | 1u << ATTN_BF16;

static bool same_shape(const attn_tensor *x, const attn_tensor *y) {
    return memcmp(x->shape, y->shape, sizeof x->shape) == 0;
}

/* lse belongs to out: one number per row. */
static attn_status check_partial(const attn_partial *p, const char *owner, attn_error *err) {
    const attn_tensor *out = &p->out, *lse = &p->lse;
    char out_name[16], lse_name[16];
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

static attn_status check_agreement(const attn_partial *p, const char *owner,
                                   const attn_partial *result, attn_error *err) {
    if (!same_shape(&p->out, &result->out)) {
        return attni_fail(err, ATTN_E_SHAPE, "%s.out: shape differs from result.out", owner);
    }
    if (p->out.dtype != result->out.dtype || p->lse.dtype != result->lse.dtype) {
        return attni_fail(err, ATTN_E_DTYPE, "%s: out %s and lse %s, but result has %s and %s",
                          owner, attn_dtype_name(p->out.dtype), attn_dtype_name(p->lse.dtype),
                          attn_dtype_name(result->out.dtype), attn_dtype_name(result->lse.dtype));
    }
    return ATTN_OK;
}

/* In place means element for element; any other overlap would destroy what is still to be read. */
static bool is_same_view(const attn_tensor *x, const attn_tensor *y) {
    for (int d = 0; d < 4; d++) {
        if (x->shape[d] > 1 && x->stride[d] != y->stride[d]) return false;
    }
    return x->data == y->data;
}

static attn_status check_overlap(const attn_partial *p, const char *owner,
                                 const attn_partial *result, attn_error *err) {
    const bool bad_out =
        attni_tensors_overlap(&p->out, &result->out) && !is_same_view(&p->out, &result->out);
    const bool bad_lse =
        attni_tensors_overlap(&p->lse, &result->lse) && !is_same_view(&p->lse, &result->lse);
    if (bad_out || bad_lse || attni_tensors_overlap(&p->out, &result->lse) ||
        attni_tensors_overlap(&p->lse, &result->out)) {
        return attni_fail(err, ATTN_E_OVERLAP,
                          "result: overlaps %s without being the same view; "
                          "pass %s itself or separate memory",
                          owner, owner);
    }
    return ATTN_OK;
}

static attn_status check_merge(const attn_partial *const p[3], attn_error *err) {
    for (int n = 0; n < 3; n++) {
        ATTN_TRY(check_partial(p[n], names[n], err));
    }
    ATTN_TRY(attni_check_distinct("result.out", &p[2]->out, err));
    ATTN_TRY(attni_check_distinct("result.lse", &p[2]->lse, err));
    for (int n = 0; n < 2; n++) {
        ATTN_TRY(check_agreement(p[n], names[n], p[2], err));
        ATTN_TRY(check_overlap(p[n], names[n], p[2], err));
    }
    if (attni_tensors_overlap(&p[2]->out, &p[2]->lse)) {
        return attni_fail(err, ATTN_E_OVERLAP, "result: out and lse overlap");
    }
    return ATTN_OK;
}

/* --------------------------------------------------------------------------------------- rows */

/* The share of each part in the merged row; they sum to 1, or both are 0. */
typedef struct shares {
    double a, b, lse;
} shares;

/* A part whose log-sum-exp is -inf saw no key: the other part stays as it is, to the bit. A part
 * at +inf outweighs any finite one; how many keys stand behind two of them is lost, so they count
 * equally. */
static shares shares_of(double lse_a, double lse_b) {
    if (isnan(lse_a) || isnan(lse_b)) return (shares){NAN, NAN, NAN};
    const double top = lse_a > lse_b ? lse_a : lse_b;
    if (top == -INFINITY) return (shares){0, 0, -INFINITY};
    const double a = lse_a == top ? 1 : exp(lse_a - top);
    const double b = lse_b == top ? 1 : exp(lse_b - top);
    return (shares){a / (a + b), b / (a + b), top + log(a + b)};
}

/* One element of the merged row. A part without share is not read: it may hold anything. */
static double mix(const shares *s, const attn_partial *const p[3], const int64_t at[4]) {
    if (s->a == 0 && s->b == 0) return 0;
    if (s->a == 0) return s->b * attni_ref_load(&p[1]->out, at[0], at[1], at[2], at[3]);
    if (s->b == 0) return s->a * attni_ref_load(&p[0]->out, at[0], at[1], at[2], at[3]);
    return s->a * attni_ref_load(&p[0]->out, at[0], at[1], at[2], at[3]) +
           s->b * attni_ref_load(&p[1]->out, at[0], at[1], at[2], at[3]);
}

static void merge_row(const attn_partial *const p[3], int64_t b, int64_t h, int64_t i) {
    const shares s =
        shares_of(attni_ref_load(&p[0]->lse, b, h, i, 0), attni_ref_load(&p[1]->lse, b, h, i, 0));
    for (int64_t d = 0; d < p[2]->out.shape[3]; d++) {
        const int64_t at[4] = {b, h, i, d};
        attni_ref_store(&p[2]->out, at, mix(&s, p, at));
    }
    attni_ref_store(&p[2]->lse, (int64_t[]){b, h, i, 0}, s.lse);
}

attn_status attn_merge(const attn_partial *a, const attn_partial *b, const attn_partial *result,
                       attn_error *err) {
    const attn_partial *const given[3] = {a, b, result};
    attn_partial full[3];
    for (int n = 0; n < 3; n++)
        ATTN_TRY(attni_struct_read(&attni_struct_partial, names[n], given[n], &full[n], err));
    const attn_partial *const p[3] = {&full[0], &full[1], &full[2]};
    ATTN_TRY(check_merge(p, err));
    const int64_t *shape = full[2].out.shape;
    for (int64_t batch = 0; batch < shape[0]; batch++) {
        for (int64_t h = 0; h < shape[1]; h++) {
            for (int64_t i = 0; i < shape[2]; i++) merge_row(p, batch, h, i);
        }
    }
    return ATTN_OK;
}
