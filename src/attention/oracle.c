/* SPDX-License-Identifier: Apache-2.0 */
/* oracle.c - attn_reference() and attn_reference_backward(): the whole problem row by row through
 * src/ref. Touches: the results. Allocates one row forward; backward some rows, the gradients of
 * one key/value head, and dbias in double.
 * Tests: tests/golden/, tests/engine/test_gradient_oracle.c */
#include "attention/args.h"
#include "ref/gradient.h"

#include <stdlib.h>

/* ------------------------------------------------------------------------------------- forward */

/* One row of scores (n_k) followed by one row of output (d_v), or NULL. */
static double *rows_alloc(const attn_args *a) {
    size_t count, bytes;
    if (!attni_add((size_t)a->k.shape[2], (size_t)a->v.shape[3], &count)) return NULL;
    if (!attni_add(count, 1, &count)) return NULL; /* malloc(0) may give NULL */
    if (!attni_mul(count, sizeof(double), &bytes)) return NULL;
    return malloc(bytes);
}

/* Row `row` of head h of batch b; rows is what rows_alloc() gave. */
static void reference_row(const attn_args *a, const int64_t at[3], double *rows,
                          const attn_tensor *out, const attn_tensor *lse) {
    const int64_t batch = attni_ref_sequence_of_row(a, at[0], at[2]);
    const int64_t i = at[2] - attni_ref_sequence_at(a, batch).row0;
    double *scores = rows, *values = rows + a->k.shape[2], log_sum;
    attni_ref_row(a, batch, at[1], i, NULL, values, &log_sum, scores, NULL);
    for (int64_t d = 0; d < out->shape[3]; d++) {
        attni_ref_store(out, (int64_t[]){at[0], at[1], at[2], d}, values[d]);
    }
    if (lse && lse->data) attni_ref_store(lse, (int64_t[]){at[0], at[1], at[2], 0}, log_sum);
}

attn_status attn_reference(const attn_args *args, const attn_tensor *out, const attn_tensor *lse,
                           attn_error *err) {
    attn_args full;
    ATTN_TRY(attni_args_check(args, &full, err));
    ATTN_TRY(attni_output_check(&full, out, lse, true, err));
    double *rows = rows_alloc(&full);
    if (!rows) {
        return attni_fail(err, ATTN_E_MEMORY, "one row of n_k=%lld + d_v=%lld doubles",
                          (long long)full.k.shape[2], (long long)full.v.shape[3]);
    }
    for (int64_t b = 0; b < full.q.shape[0]; b++) {
        for (int64_t h = 0; h < full.q.shape[1]; h++) {
            for (int64_t row = 0; row < full.q.shape[2]; row++) {
                reference_row(&full, (int64_t[]){b, h, row}, rows, out, lse);
            }
        }
    }
    free(rows);
    return ATTN_OK;
}

/* ------------------------------------------------------------------------------------ backward */

/* Everything one backward pass needs. */
typedef struct backward {
    const attn_args *a;
    const attn_tensor *dout;
    const attn_gradients *wanted;
    attni_ref_flow flow;
    attni_ref_sums sums;
    double *dout_row;  /* (d_v) */
    size_t n_dk, n_dv; /* elements of sums.dk and sums.dv: n_k d_k and n_k d_v */
    int64_t bias_low;  /* <= 0: the element of dbias that lies lowest in memory */
} backward;

/* Elements from the lowest to the highest one that a view reaches; *low is the lowest. */
static size_t span_of(const attn_tensor *t, int64_t *low) {
    int64_t high = 0;
    *low = 0;
    if (!t->data || attni_tensor_is_empty(t)) return 0;
    for (int k = 0; k < 4; k++) {
        const int64_t reach = t->stride[k] * (t->shape[k] - 1);
        *(reach < 0 ? low : &high) += reach;
    }
    return (size_t)(high - *low) + 1;
}

/* The memory, all 0: flow (7 n_k) | dout row (d_v) | dq row (d_k) | dk (n_k d_k) | dv (n_k d_v) |
 * dbias (its span). NULL when it does not fit or is not there. */
static double *backward_alloc(backward *w) {
    const attn_args *a = w->a;
    const size_t n_k = (size_t)a->k.shape[2], d_k = (size_t)a->k.shape[3],
                 d_v = (size_t)a->v.shape[3];
    size_t flow, total;
    if (!attni_mul(n_k, ATTNI_REF_FLOW_ARRAYS, &flow) || !attni_mul(n_k, d_k, &w->n_dk) ||
        !attni_mul(n_k, d_v, &w->n_dv)) {
        return NULL;
    }
    const size_t parts[5] = {d_v, d_k, w->n_dk, w->n_dv, span_of(&w->wanted->dbias, &w->bias_low)};
    total = flow;
    for (int x = 0; x < 5; x++) {
        if (!attni_add(total, parts[x], &total)) return NULL;
    }
    double *memory = calloc(total, sizeof *memory);
    if (!memory) return NULL;
    w->flow = attni_ref_flow_in(memory, a->k.shape[2]);
    w->dout_row = memory + flow;
    w->sums.dq = w->dout_row + d_v;
    w->sums.dk = w->sums.dq + d_k;
    w->sums.dv = w->sums.dk + w->n_dk;
    w->sums.dbias = w->wanted->dbias;
    w->sums.dbias.dtype = ATTN_F64;
    if (w->sums.dbias.data) w->sums.dbias.data = w->sums.dv + w->n_dv - w->bias_low;
    return memory;
}

static void store_row(const attn_tensor *t, const int64_t at[3], const double *x) {
    if (!t->data) return;
    for (int64_t d = 0; d < t->shape[3]; d++) {
        attni_ref_store(t, (int64_t[]){at[0], at[1], at[2], d}, x[d]);
    }
}

/* Row i of head h: adds to the sums and stores dq. */
static void backward_row(backward *w, const attni_ref_sequence *s, int64_t h, int64_t i) {
    const int64_t d_k = w->a->q.shape[3], d_v = w->a->v.shape[3];
    const int64_t at[3] = {s->tensor_batch, h, s->row0 + i};
    for (int64_t d = 0; d < d_k; d++) w->sums.dq[d] = 0;
    for (int64_t d = 0; d < d_v; d++) {
        w->dout_row[d] = attni_ref_load(w->dout, at[0], at[1], at[2], d);
    }
    const attni_ref_row_at r = {.a = w->a, .batch = s->batch, .h = h, .i = i, .dout = w->dout_row};
    attni_ref_row_backward(&r, &w->flow);
    attni_ref_row_add(&r, &w->flow, &w->sums);
    store_row(&w->wanted->dq, at, w->sums.dq);
}

/* All rows that read one key/value head of a sequence, padding rows among them: these get 0, as
 * keys in padding do. */
static void backward_head(backward *w, const attni_ref_sequence *s, int64_t h_kv) {
    const attn_args *a = w->a;
    const int64_t group = a->q.shape[1] / a->k.shape[1];
    const int64_t rows = a->cu_q ? s->len_q : a->q.shape[2];
    const int64_t keys = a->cu_k ? s->len_k : a->k.shape[2];
    for (size_t e = 0; e < w->n_dk; e++) w->sums.dk[e] = 0;
    for (size_t e = 0; e < w->n_dv; e++) w->sums.dv[e] = 0;
    for (int64_t h = h_kv * group; h < (h_kv + 1) * group; h++) {
        for (int64_t i = 0; i < rows; i++) backward_row(w, s, h, i);
    }
    for (int64_t j = 0; j < keys; j++) {
        const int64_t at[3] = {s->tensor_batch, h_kv, s->key0 + j};
        store_row(&w->wanted->dk, at, w->sums.dk + j * a->k.shape[3]);
        store_row(&w->wanted->dv, at, w->sums.dv + j * a->v.shape[3]);
    }
}

/* Elements that share memory are written more than once, each time with their common sum. */
static void store_bias(const attn_tensor *dbias, const attn_tensor *sums) {
    if (!dbias->data) return;
    int64_t at[4];
    for (at[0] = 0; at[0] < dbias->shape[0]; at[0]++) {
        for (at[1] = 0; at[1] < dbias->shape[1]; at[1]++) {
            for (at[2] = 0; at[2] < dbias->shape[2]; at[2]++) {
                for (at[3] = 0; at[3] < dbias->shape[3]; at[3]++) {
                    attni_ref_store(dbias, at, attni_ref_load(sums, at[0], at[1], at[2], at[3]));
                }
            }
        }
    }
}

static void backward_run(backward *w) {
    const attn_args *a = w->a;
    for (int64_t h = 0; w->sums.dsinks && h < a->q.shape[1]; h++) w->sums.dsinks[h] = 0;
    if (w->sums.dscale) *w->sums.dscale = 0;
    for (int64_t batch = 0; batch < attni_ref_sequence_count(a); batch++) {
        const attni_ref_sequence s = attni_ref_sequence_at(a, batch);
        for (int64_t h_kv = 0; h_kv < a->k.shape[1]; h_kv++) backward_head(w, &s, h_kv);
    }
    store_bias(&w->wanted->dbias, &w->sums.dbias);
}

attn_status attn_reference_backward(const attn_args *args, const attn_results *results,
                                    const attn_gradients *gradients, attn_error *err) {
    attn_args full;
    attn_results from;
    attn_gradients to;
    ATTN_TRY(attni_args_check(args, &full, err));
    ATTN_TRY(attni_results_check(&full, results, false, &from, err));
    ATTN_TRY(attni_gradients_check(&full, &from, gradients, true, &to, err));
    backward w = {.a = &full,
                  .dout = &from.dout,
                  .wanted = &to,
                  .sums = {.dsinks = to.dsinks, .dscale = to.dscale}};
    double *memory = backward_alloc(&w);
    if (!memory) {
        return attni_fail(err, ATTN_E_MEMORY, "gradients of n_k=%lld keys in double",
                          (long long)full.k.shape[2]);
    }
    backward_run(&w);
    free(memory);
    return ATTN_OK;
}
