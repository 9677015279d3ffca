/* SPDX-License-Identifier: Apache-2.0 */
/* oracle.c - attn_reference() and attn_reference_backward(): process the whole problem row by row
 * with the functions of src/ref. Touches: the results. Allocates one row in forward; in backward
 * some rows, the gradients of one key/value head, and dbias in double precision. Tests:
 * tests/golden/, tests/engine/test_gradient_oracle.c */
#include "attention/args.h"
#include "core/arena.h"
#include "core/os.h"
#include "ref/gradient.h"

static double *take(attni_arena *arena, int64_t rows, int64_t columns) {
    return attni_arena_take(arena, 2, (const int64_t[]){rows, columns}, sizeof(double));
}

/* Zeroed memory of the size that a walk has measured; NULL if the size overflows or memory is
 * out. */
static void *memory_of(const attni_arena *measured) {
    if (!attni_arena_fits(measured)) return NULL;
    void *memory = attni_memory_alloc(measured->used, 64);
    return memory ? memset(memory, 0, measured->used) : NULL;
}

/* ------------------------------------------------------------------------------------- forward */

/* The memory of a pass:  scores | values
 *                        n_k    | d_v     */
typedef struct forward_rows {
    double *scores, *values;
} forward_rows;

static forward_rows forward_lay_out(const attn_args *a, attni_arena *arena) {
    forward_rows rows;
    rows.scores = take(arena, a->k.shape[2], 1);
    rows.values = take(arena, a->v.shape[3], 1);
    return rows;
}

/* Row `row` of head h of batch b. */
static void reference_row(const attn_args *a, const int64_t at[3], const forward_rows *rows,
                          const attn_tensor *out, const attn_tensor *lse) {
    const int64_t batch = attni_ref_sequence_of_row(a, at[0], at[2]);
    const int64_t i = at[2] - attni_ref_sequence_at(a, batch).row0;
    double log_sum;
    attni_ref_row(a, batch, at[1], i, NULL, rows->values, &log_sum, rows->scores, NULL);
    for (int64_t d = 0; d < out->shape[3]; d++) {
        attni_ref_store(out, (int64_t[]){at[0], at[1], at[2], d}, rows->values[d]);
    }
    if (lse && lse->data) attni_ref_store(lse, (int64_t[]){at[0], at[1], at[2], 0}, log_sum);
}

attn_status attn_reference(const attn_args *args, const attn_tensor *out, const attn_tensor *lse,
                           attn_error *err) {
    attn_args full;
    ATTN_TRY(attni_args_check(args, &full, err));
    ATTN_TRY(attni_output_check(&full, out, lse, true, err));
    attni_arena arena = {0};
    forward_lay_out(&full, &arena);
    void *memory = memory_of(&arena);
    if (!memory) {
        return attni_fail(err, ATTN_E_MEMORY, "one row of n_k=%lld + d_v=%lld doubles",
                          (long long)full.k.shape[2], (long long)full.v.shape[3]);
    }
    arena = (attni_arena){.base = memory};
    const forward_rows rows = forward_lay_out(&full, &arena);
    for (int64_t b = 0; b < full.q.shape[0]; b++) {
        for (int64_t h = 0; h < full.q.shape[1]; h++) {
            for (int64_t row = 0; row < full.q.shape[2]; row++) {
                reference_row(&full, (int64_t[]){b, h, row}, &rows, out, lse);
            }
        }
    }
    attni_memory_free(memory);
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
    double *dout_row; /* (d_v) */
} backward;

/* The number of elements from the lowest to the highest that a view reaches; *low is the lowest. */
static int64_t span_of(const attn_tensor *t, int64_t *low) {
    int64_t high = 0;
    *low = 0;
    if (!t->data || attni_tensor_is_empty(t)) return 0;
    for (int k = 0; k < 4; k++) {
        const int64_t reach = t->stride[k] * (t->shape[k] - 1);
        *(reach < 0 ? low : &high) += reach;
    }
    return high - *low + 1;
}

/* The memory of a pass:  flow   | dout row | dq row | dk       | dv       | dbias
 *                        7, n_k | d_v      | d_k    | n_k, d_k | n_k, d_v | its span
 * bias_low is the element of dbias that lies lowest in memory, at most 0. */
static void backward_lay_out(backward *w, attni_arena *arena) {
    const int64_t n_k = w->a->k.shape[2], d_k = w->a->k.shape[3], d_v = w->a->v.shape[3];
    int64_t bias_low;
    const int64_t bias_span = span_of(&w->wanted->dbias, &bias_low);
    double *flow = take(arena, ATTNI_REF_FLOW_ARRAYS, n_k);
    w->dout_row = take(arena, d_v, 1);
    w->sums.dq = take(arena, d_k, 1);
    w->sums.dk = take(arena, n_k, d_k);
    w->sums.dv = take(arena, n_k, d_v);
    double *dbias = take(arena, bias_span, 1);
    if (!arena->base) return;
    w->flow = attni_ref_flow_in(flow, n_k);
    w->sums.dbias = w->wanted->dbias;
    w->sums.dbias.dtype = ATTN_F64;
    if (w->sums.dbias.data) w->sums.dbias.data = dbias - bias_low;
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

/* Processes all rows that read one key/value head of a sequence. Padding rows get 0, as padding
 * keys do. */
static void backward_head(backward *w, const attni_ref_sequence *s, int64_t h_kv) {
    const attn_args *a = w->a;
    const int64_t group = a->q.shape[1] / a->k.shape[1];
    const int64_t rows = a->cu_q ? s->len_q : a->q.shape[2];
    const int64_t keys = a->cu_k ? s->len_k : a->k.shape[2];
    for (int64_t e = 0; e < a->k.shape[2] * a->k.shape[3]; e++) w->sums.dk[e] = 0;
    for (int64_t e = 0; e < a->k.shape[2] * a->v.shape[3]; e++) w->sums.dv[e] = 0;
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
    attni_arena arena = {0};
    backward_lay_out(&w, &arena);
    void *memory = memory_of(&arena);
    if (!memory) {
        return attni_fail(err, ATTN_E_MEMORY, "gradients of n_k=%lld keys in double",
                          (long long)full.k.shape[2]);
    }
    arena = (attni_arena){.base = memory};
    backward_lay_out(&w, &arena);
    backward_run(&w);
    attni_memory_free(memory);
    return ATTN_OK;
}
