/* SPDX-License-Identifier: Apache-2.0 */
/* reference.h - attention by its definition: one row at a time, one pair at a time, in double
 * precision. Touches: only its arguments, which are already validated, with the defaults of
 * attn_args filled in (scale is a number). Tests: tests/golden/ */
#ifndef ATTNI_REFERENCE_H
#define ATTNI_REFERENCE_H

#include "core/base.h"

/* A sequence attends to itself only: one batch entry, or one of the packed sequences. */
typedef struct attni_ref_sequence {
    int64_t batch;        /* its number: index of offsets, mask, bias and dropout */
    int64_t tensor_batch; /* its batch index in q, k, v: the number itself, or 0 if packed */
    int64_t row0, key0;   /* index of its first row in q and of its first key in k and v */
    int64_t len_q, len_k; /* real rows and keys; everything beyond is padding */
    int64_t offset;       /* position of query 0 among the keys */
} attni_ref_sequence;

int64_t attni_ref_sequence_count(const attn_args *a);
attni_ref_sequence attni_ref_sequence_at(const attn_args *a, int64_t batch);
/* The number of the sequence that owns row `row` of batch `tensor_batch` of q. */
int64_t attni_ref_sequence_of_row(const attn_args *a, int64_t tensor_batch, int64_t row);

/* One row of each stage of the scores, (len_k of the sequence), or NULL if not requested. raw and
 * capped hold every pair, masked or not; biased is -inf and weights are 0 exactly where masked. */
typedef struct attni_ref_stages {
    double *raw, *capped, *biased, *weights;
    double *sink;    /* one number: the weight of the sink, 0 without sink or visible key */
    double *entropy; /* one number: -sum w ln w over the keys, 0 without a visible key */
} attni_ref_stages;

/* Computes row i (counted inside the sequence) of head h of a sequence. rows, out (d_v) and lse may
 * be NULL. scratch (len_k) must not overlap the others. multiplier (len_k), unless NULL, replaces
 * the dropout of the arguments by explicit factors. Masked keys and values do not affect the
 * result; an Inf or NaN in the value of a visible key reaches it whatever the weight. A row from
 * len_q on sees no key; its raw and capped are -inf. */
void attni_ref_row(const attn_args *a, int64_t batch, int64_t h, int64_t i,
                   const attni_ref_stages *rows, double *out, double *lse, double *scratch,
                   const double *multiplier);

/* One element of a tensor of any dtype as a double, and back (rounded to nearest even; f16 and bf16
 * via f32). */
double attni_ref_load(const attn_tensor *t, int64_t b, int64_t h, int64_t i, int64_t j);
void attni_ref_store(const attn_tensor *t, const int64_t at[4], double x);

#endif
