/* SPDX-License-Identifier: Apache-2.0 */
/* drawn.c - see drawn.h. */
#include "drawn.h"

#include "core/base.h"
#include "steps/stream.h"

#include <math.h>
#include <stdlib.h>

attn_status lab_drawn_create(lab_drawn *drawn, uint32_t seed, attn_error *err) {
    lab_head *head = &drawn->head;
    const size_t q = (size_t)(head->n_q * head->d_k), k = (size_t)(head->n_k * head->d_k),
                 v = (size_t)(head->n_k * head->d_v), o = (size_t)(head->n_q * head->d_v),
                 w = (size_t)(head->n_q * head->n_k);
    lab_stream stream;
    drawn->q = malloc((q + k + v + 3 * o + w) * sizeof *drawn->q);
    if (!drawn->q) return attni_fail(err, ATTN_E_MEMORY, "a random head");
    drawn->k = drawn->q + q;
    drawn->v = drawn->k + k;
    drawn->dout = drawn->v + v;
    drawn->out = drawn->dout + o;
    drawn->other = drawn->out + o;
    drawn->weights = drawn->other + o;
    lab_stream_seed(&stream, seed);
    lab_stream_normals(&stream, q + k + v + o, 1, drawn->q);
    head->q = drawn->q;
    head->k = drawn->k;
    head->v = drawn->v;
    return ATTN_OK;
}

void lab_drawn_free(lab_drawn *drawn) {
    free(drawn->q);
    drawn->q = NULL;
}

/* ------------------------------------------------------------------------- weights by forward */

static void put(void *to, attn_dtype dtype, size_t i, double value) {
    if (dtype == ATTN_F32)
        ((float *)to)[i] = (float)value;
    else
        ((double *)to)[i] = value;
}

/* One array of the dtype holds q, k, the unit vectors, the bias and the weights. */
typedef struct typed_head {
    char *q, *k, *units, *bias, *weights;
} typed_head;

static void fill(const typed_head *typed, const lab_head *head, attn_dtype dtype,
                 const double *bias) {
    const size_t n_q = (size_t)head->n_q, n_k = (size_t)head->n_k, d_k = (size_t)head->d_k;
    for (size_t i = 0; i < n_q * d_k; i++) put(typed->q, dtype, i, head->q[i]);
    for (size_t i = 0; i < n_k * d_k; i++) put(typed->k, dtype, i, head->k[i]);
    for (size_t i = 0; i < n_k * n_k; i++) put(typed->units, dtype, i, i % (n_k + 1) == 0);
    for (size_t i = 0; bias && i < n_q * n_k; i++) put(typed->bias, dtype, i, bias[i]);
}

attn_status lab_forward_weights(attn_ctx *ctx, const lab_head *head, attn_dtype dtype,
                                const double *bias, double *weights, attn_error *err) {
    const int64_t n_q = head->n_q, n_k = head->n_k, d_k = head->d_k;
    const size_t size = attn_dtype_size(dtype);
    const int64_t reals = (n_q + n_k) * d_k + n_k * n_k + 2 * n_q * n_k;
    typed_head typed = {.q = malloc((size_t)reals * size)};
    if (!typed.q) return attni_fail(err, ATTN_E_MEMORY, "weights of %lld rows", (long long)n_q);
    typed.k = typed.q + (size_t)(n_q * d_k) * size;
    typed.units = typed.k + (size_t)(n_k * d_k) * size;
    typed.bias = typed.units + (size_t)(n_k * n_k) * size;
    typed.weights = typed.bias + (size_t)(n_q * n_k) * size;
    fill(&typed, head, dtype, bias);
    attn_args args;
    lab_head_args(head, &args);
    args.q = attn_tensor_bhsd(typed.q, dtype, 1, 1, n_q, d_k);
    args.k = attn_tensor_bhsd(typed.k, dtype, 1, 1, n_k, d_k);
    args.v = attn_tensor_bhsd(typed.units, dtype, 1, 1, n_k, n_k);
    if (bias) args.bias = attn_tensor_bhsd(typed.bias, dtype, 1, 1, n_q, n_k);
    const attn_tensor out = attn_tensor_bhsd(typed.weights, dtype, 1, 1, n_q, n_k);
    const attn_status status = attn_forward(ctx, &args, &out, NULL, err);
    for (int64_t i = 0; i < n_q * n_k && status == ATTN_OK; i++)
        weights[i] = dtype == ATTN_F32 ? (double)((float *)(void *)typed.weights)[i]
                                       : ((double *)(void *)typed.weights)[i];
    free(typed.q);
    return status;
}

/* ------------------------------------------------------------------------------------ gradients */

static attn_tensor matrix(const double *data, int64_t rows, int64_t columns) {
    return attn_tensor_bhsd(data, ATTN_F64, 1, 1, rows, columns);
}

attn_status lab_head_gradient(attn_ctx *ctx, const lab_head *head, const double *dout,
                              const lab_gradient *gradient, attn_error *err) {
    const int64_t n_q = head->n_q, n_k = head->n_k;
    double *out = calloc((size_t)(n_q * (head->d_v + 1 + n_k)), sizeof *out);
    if (!out) return attni_fail(err, ATTN_E_MEMORY, "gradients of %lld rows", (long long)n_q);
    double *lse = out + n_q * head->d_v, *bias = lse + n_q; /* zeros: its gradient is dS */
    attn_args args;
    attn_gradients gradients;
    lab_head_args(head, &args);
    attn_gradients_init(&gradients);
    if (gradient->dq) gradients.dq = matrix(gradient->dq, n_q, head->d_k);
    if (gradient->dk) gradients.dk = matrix(gradient->dk, n_k, head->d_k);
    if (gradient->dv) gradients.dv = matrix(gradient->dv, n_k, head->d_v);
    if (gradient->dscores) {
        args.bias = matrix(bias, n_q, n_k);
        gradients.dbias = matrix(gradient->dscores, n_q, n_k);
    }
    const attn_results results = {.struct_size = sizeof(attn_results),
                                  .out = matrix(out, n_q, head->d_v),
                                  .lse = matrix(lse, n_q, 1),
                                  .dout = matrix(dout, n_q, head->d_v)};
    attn_status status = attn_forward(ctx, &args, &results.out, &results.lse, err);
    if (status == ATTN_OK) status = attn_backward(ctx, &args, &results, &gradients, err);
    free(out);
    return status;
}

double lab_largest_difference(const double *a, const double *b, int64_t n) {
    double largest = 0;
    for (int64_t i = 0; i < n; i++) largest = fmax(largest, fabs(a[i] - b[i]));
    return largest;
}
