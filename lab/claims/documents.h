/* SPDX-License-Identifier: Apache-2.0 */
/* documents.h - the inputs that the documents give, and their scores, softmax and projections,
 * computed by the engine.
 * Tests: tests/lab/test_claims.c */
#ifndef LAB_DOCUMENTS_H
#define LAB_DOCUMENTS_H

#include "steps/attend.h"
#include "steps/steps.h"

/* Document 001: two queries, three keys. */
extern const lab_head lab_example_001;
/* Document 002: "I love cats", three tokens of four numbers. */
extern const double lab_x_002[12]; /* (3, 4) */
/* Document 003, example 2: Q = K = V, causal. */
extern const lab_head lab_example_003;
/* Document 004: "I love apple phones". */
extern const double lab_x_004[16];                                         /* (4, 4) */
extern const double lab_w_q_004[8], lab_w_k_004[8], lab_w_v_004[8];        /* (4, 2) each */
extern const double lab_stated_q_004[8];                                   /* (4, 2) right */
extern const double lab_stated_k_004[8], lab_stated_v_004[8];              /* (4, 2) wrong */
extern const double lab_stated_scores_004[16], lab_stated_weights_004[16]; /* (4, 4) */

/* product (a.rows, b.columns) = a b, by the linear layer. */
attn_status lab_product(attn_ctx *ctx, lab_matrix a, lab_matrix b, double *product,
                        attn_error *err);
/* The head of document 004, projected from X; it borrows q, k, v (4, 2) of the struct. */
typedef struct lab_document_004 {
    double q[8], k[8], v[8];
    lab_head head;
} lab_document_004;
attn_status lab_project_004(attn_ctx *ctx, lab_document_004 *document, attn_error *err);

/* scores (n_q, n_k) = scale * q.k, before masks. */
attn_status lab_head_scores(attn_ctx *ctx, const lab_head *head, double *scores, attn_error *err);
/* weights (n) = softmax of score (n) / temperature, 1 <= n <= 64: one query whose products with the
 * unit vectors are the scores. */
attn_status lab_softmax(attn_ctx *ctx, const double *score, int64_t n, double temperature,
                        double *weights, attn_error *err);

#endif
