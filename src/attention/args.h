/* SPDX-License-Identifier: Apache-2.0 */
/* args.h - validation: everything a caller can get wrong is found here, once. Past this point the
 * arguments are complete and valid.
 * Tests: tests/attention/test_args_*.c */
#ifndef ATTNI_ARGS_H
#define ATTNI_ARGS_H

#include "attention/tensor.h"

/* Checks args and copies them to *full, with the automatic scale replaced by its value. */
attn_status attni_args_check(const attn_args *args, attn_args *full, attn_error *err);
/* The same for functions that only count: tensors need no data. In *full a mask or bias without
 * data counts as present (its data is not NULL, and must not be read). */
attn_status attni_args_check_shapes(const attn_args *args, attn_args *full, attn_error *err);

/* Checks that scale, temperature, softcap, slopes and sinks fit the arithmetic type; the scale must
 * already have its value. */
attn_status attni_check_range(const attn_args *full, attn_error *err);

/* Checks out (B, H, n_q, d_v) and lse (B, H, n_q, 1) or NULL against checked arguments. */
attn_status attni_output_check(const attn_args *full, const attn_tensor *out,
                               const attn_tensor *lse, bool allow_f64, attn_error *err);

/* Checks an output that must have this shape, a dtype in the set of bits 1 << dtype, and not
 * overlap an input; it need not have data. row_contiguous: the last dimension must have stride
 * 1. */
attn_status attni_check_result(const attn_args *full, const char *name, const attn_tensor *t,
                               const int64_t shape[4], unsigned dtypes, bool row_contiguous,
                               attn_error *err);

/* Checks that saved, if given, has this many bytes. */
attn_status attni_check_saved(const attn_args *full, size_t needed, attn_error *err);
/* Checks that a result overlaps no input. */
attn_status attni_check_apart(const attn_args *full, const char *name, const attn_tensor *t,
                              attn_error *err);
/* Checks that workspace and saved, where given, overlap no input, none of the results (some may be
 * NULL) and not each other. */
attn_status attni_check_spaces(const attn_args *full, const attn_tensor *const *results, size_t n,
                               attn_error *err);

/* Checks dout, and with `all` also out and lse, against checked arguments; copies to *results. */
attn_status attni_results_check(const attn_args *full, const attn_results *given, bool all,
                                attn_results *results, attn_error *err);
/* Checks the destinations of the gradients and copies them to *gradients; results must already be
 * checked. allow_f64: dq, dk, dv may be f64 whatever the dtype of q. */
attn_status attni_gradients_check(const attn_args *full, const attn_results *results,
                                  const attn_gradients *given, bool allow_f64,
                                  attn_gradients *gradients, attn_error *err);
/* The same for functions that only count: a gradient with elements counts as requested and needs no
 * data, as in attni_args_check_shapes(). */
attn_status attni_gradients_check_shapes(const attn_args *full, const attn_gradients *given,
                                         attn_gradients *gradients, attn_error *err);

/* One batch entry, or one packed sequence: the unit in which i and j are counted. */
typedef struct attni_sequence {
    int64_t index;        /* in mask, bias, offsets, dropout */
    int64_t batch;        /* in q, k, v, out */
    int64_t q_row, k_row; /* where it starts */
    int64_t rows;         /* output rows that belong to it, padding included */
    int64_t n_q, n_k;     /* real rows and keys */
    int64_t offset;       /* key position of query 0 */
} attni_sequence;

int64_t attni_sequence_count(const attn_args *full);
attni_sequence attni_sequence_at(const attn_args *full, int64_t index);
/* The maximum number of rows (padding included) and of keys of a sequence. */
void attni_sequence_longest(const attn_args *full, int64_t *rows, int64_t *keys);

#endif
