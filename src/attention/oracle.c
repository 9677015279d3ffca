/* SPDX-License-Identifier: Apache-2.0 */
/* oracle.c - attn_reference(): the whole problem row by row through ref/reference.c.
 * Called by: users, tests, attn_selftest(). Touches: out and lse. Allocates one row.
 * Tests: tests/golden/ */
#include "attention/args.h"
#include "ref/reference.h"

#include <stdlib.h>

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
