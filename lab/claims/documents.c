/* SPDX-License-Identifier: Apache-2.0 */
/* documents.c - see documents.h. */
#define ATTNI_REAL_f64
#include "documents.h"

#include "core/base.h"
#include "layers/linear.h"

#include <stdlib.h>

static const double q_001[] = {1, 0, 0, 1}, k_001[] = {1, 0, 1, 1, 0, 1};
static const double v_001[] = {1, 0, 0, 2, 1, 1}, qkv_003[] = {1, 0, 2, 0, 3, 0};

const lab_head lab_example_001 = {
    .n_q = 2, .n_k = 3, .d_k = 2, .d_v = 2, .q = q_001, .k = k_001, .v = v_001};
const lab_head lab_example_003 = {.n_q = 3,
                                  .n_k = 3,
                                  .d_k = 2,
                                  .d_v = 2,
                                  .q = qkv_003,
                                  .k = qkv_003,
                                  .v = qkv_003,
                                  .causal = true};

const double lab_x_002[12] = {-1.00, 0.74, 0.37, -0.98, -0.34, -0.63,
                              -0.87, 0.06, 0.83, 0.02,  0.14,  0.47};

/* clang-format off */
const double lab_x_004[16] = {1.0, 0.5, 0.2, 0.1,  0.9, 1.1, 0.1, 0.0,
                              0.1, 0.2, 1.0, 0.5,  0.0, 0.1, 0.4, 1.2};
const double lab_w_q_004[8] = {1, 0,  0, 1,  1, 0,  0, 1};
const double lab_w_k_004[8] = {1, 0,  0, 1,  0, 1,  1, 0};
const double lab_w_v_004[8] = {1, 0,  0, 1,  1, 1,  0, 1};
const double lab_stated_q_004[8] = {1.2, 0.6,  1.0, 1.1,  1.1, 0.7,  0.4, 1.3};
const double lab_stated_k_004[8] = {1.2, 0.6,  0.9, 1.1,  0.7, 0.7,  1.3, 0.3};
const double lab_stated_v_004[8] = {1.2, 0.6,  0.9, 1.1,  1.1, 1.2,  1.3, 1.3};
const double lab_stated_scores_004[16] = {1.80, 1.74, 1.26, 1.74,  1.86, 2.11, 1.47, 1.96,
                                          1.74, 1.76, 1.26, 1.64,  1.26, 1.79, 1.19, 1.91};
const double lab_stated_weights_004[16] = {0.278, 0.266, 0.190, 0.266,  0.248, 0.296, 0.189, 0.267,
                                           0.273, 0.277, 0.195, 0.255,  0.200, 0.292, 0.191, 0.317};
/* clang-format on */

attn_status lab_product(attn_ctx *ctx, lab_matrix a, lab_matrix b, double *product,
                        attn_error *err) {
    const attni_linear layer = {.n_in = b.rows, .n_out = b.columns, .w = b.cell};
    return attni_linear_forward_f64(ctx, &layer, a.rows, a.cell, product, err);
}

attn_status lab_project_004(attn_ctx *ctx, lab_document_004 *document, attn_error *err) {
    const lab_matrix x = {4, 4, lab_x_004};
    ATTN_TRY(lab_product(ctx, x, (lab_matrix){4, 2, lab_w_q_004}, document->q, err));
    ATTN_TRY(lab_product(ctx, x, (lab_matrix){4, 2, lab_w_k_004}, document->k, err));
    ATTN_TRY(lab_product(ctx, x, (lab_matrix){4, 2, lab_w_v_004}, document->v, err));
    document->head = (lab_head){.n_q = 4,
                                .n_k = 4,
                                .d_k = 2,
                                .d_v = 2,
                                .q = document->q,
                                .k = document->k,
                                .v = document->v};
    return ATTN_OK;
}

attn_status lab_head_scores(attn_ctx *ctx, const lab_head *head, double *scores, attn_error *err) {
    attn_args args;
    attn_inspection what;
    lab_head_args(head, &args);
    attn_inspection_init(&what);
    what.raw = attn_tensor_bhsd(scores, ATTN_F64, 1, 1, head->n_q, head->n_k);
    return attn_inspect(ctx, &args, &what, err);
}

attn_status lab_softmax(attn_ctx *ctx, const double *score, int64_t n, double temperature,
                        double *weights, attn_error *err) {
    double *units = calloc((size_t)(n * n), sizeof *units);
    if (!units) return attni_fail(err, ATTN_E_MEMORY, "softmax of %lld scores", (long long)n);
    for (int64_t i = 0; i < n; i++) units[i * n + i] = 1;
    const lab_head head = {.n_q = 1,
                           .n_k = n,
                           .d_k = n,
                           .q = score,
                           .k = units,
                           .scale = 1,
                           .temperature = temperature};
    const attn_status status = lab_head_weights(ctx, &head, weights, err);
    free(units);
    return status;
}
