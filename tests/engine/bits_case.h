/* SPDX-License-Identifier: Apache-2.0 */
/* bits_case.h - problems whose results are compared bit by bit, as bytes. */
#ifndef BITS_CASE_H
#define BITS_CASE_H

#include "problem.h"

/* Dense copies of what came out. */
typedef struct results {
    attn_tensor out, lse;
} results;

void results_free(results *r);
/* Runs args into fresh results; false after a failure (then nothing is to be freed). */
bool run_args(attn_ctx *ctx, const attn_args *a, results *r);
/* Runs a problem in its own layout and copies what came out. */
bool run_problem(attn_ctx *ctx, problem *p, results *r);

/* Is every row of part, bit for bit, the row of whole that lies `from` (batch, head, row)
 * further? */
bool same_rows(const results *part, const results *whole, const int64_t from[3], const char *text);
extern const int64_t origin[3];

/* Indices first .. first + n - 1 of a dimension; of mask and bias only if they do not repeat along
 * it. */
attn_tensor slice(attn_tensor t, int dim, int64_t first, int64_t n);
attn_tensor slice_scores(attn_tensor t, int dim, int64_t first, int64_t n);
/* Rows row0 .. and the first keys of a pattern, size (rows, keys); *part is to be destroyed. False
 * after a failure. */
bool cut_pattern(const attn_pattern *pattern, int64_t row0, const int64_t size[2],
                 attn_pattern **part);
/* Have queries row0 .. row0 + n - 1, as a problem of their own, the bits that they have in the
 * whole? Without dropout, which counts rows from 0. */
bool same_piece(attn_ctx *ctx, const problem *p, const results *whole, int64_t row0, int64_t n);

enum { CASES = 8 };
extern const attn_dtype all_dtypes[4];
problem_spec case_spec(int c, attn_dtype dtype);
/* Huge offsets are kept out: pieces of the queries add to them. */
bool make_case(problem *p, int c, attn_dtype dtype, unsigned without);
/* Where time is short every case runs in one dtype only. */
bool is_left_out(int c, int x, int n_dtypes);

/* Calls ask(ctx, p, whole) for every case, f32 and f64 (and the half types if asked for), with the
 * results of the whole problem on one thread. */
typedef void question(attn_ctx *ctx, problem *p, const results *whole);
void ask_all(question *ask, unsigned without, int n_dtypes);

#endif
