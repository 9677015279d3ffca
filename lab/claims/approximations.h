/* SPDX-License-Identifier: Apache-2.0 */
/* approximations.h - approximate attention in plain loops, for testing claims about it. The engine
 * does not use it. Reads q, k, v and the sizes of a head; ignores scale, temperature and mask. Tests: tests/lab/test_claims.c (golden values) */
#ifndef LAB_APPROXIMATIONS_H
#define LAB_APPROXIMATIONS_H

#include "steps/attend.h"

/* Performer: softmax(q k^T / sqrt(d)) v by m random features of x' = x d^(-1/4) that are linear in
 * n; omega (m, d). */
typedef enum lab_features {
    LAB_POSITIVE, /* exp(omega x' - |x'|^2 / 2) / sqrt(m) */
    LAB_TRIG      /* exp(|x'|^2 / 2) / sqrt(m) times cos and sin of omega x' */
} lab_features;
typedef struct lab_performer {
    lab_features features;
    int64_t m;
    const double *omega; /* (m, d_k) */
} lab_performer;
/* out (n_q, d_v). Errors: MEMORY. */
attn_status lab_performer_output(const lab_head *head, const lab_performer *performer, double *out,
                                 attn_error *err);

/* Linear attention: features elu(x) + 1 instead of softmax. */
attn_status lab_linear_output(const lab_head *head, double *out, attn_error *err);

/* Linformer: softmax(q (E k)^T / sqrt(d)) (F v), e and f (rank, n_k); the softmax by the engine. */
typedef struct lab_linformer {
    int64_t rank;
    const double *e, *f; /* (rank, n_k) */
} lab_linformer;
attn_status lab_linformer_output(attn_ctx *ctx, const lab_head *head,
                                 const lab_linformer *linformer, double *out, attn_error *err);

#endif
