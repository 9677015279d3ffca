/* SPDX-License-Identifier: Apache-2.0 */
/* attend.c - see attend.h. */
#include "steps/attend.h"

#include <math.h>
#include <stdlib.h>

static attn_tensor matrix(const double *data, int64_t rows, int64_t columns) {
    return attn_tensor_bhsd((void *)data, ATTN_F64, 1, 1, rows, columns);
}

void lab_head_args(const lab_head *head, attn_args *args) {
    attn_args_init(args);
    args->q = matrix(head->q, head->n_q, head->d_k);
    args->k = matrix(head->k, head->n_k, head->d_k);
    /* the engine requires values even if only weights are requested: any array of n_k rows does */
    args->v = head->v ? matrix(head->v, head->n_k, head->d_v) : args->k;
    if (head->scale != 0) args->scale = head->scale;
    if (head->temperature != 0) args->temperature = head->temperature;
    args->causal = head->causal;
}

attn_status lab_head_weights(attn_ctx *ctx, const lab_head *head, double *weights,
                             attn_error *err) {
    attn_args args;
    lab_head_args(head, &args);
    attn_inspection what;
    attn_inspection_init(&what);
    what.weights = matrix(weights, head->n_q, head->n_k);
    return attn_inspect(ctx, &args, &what, err);
}

attn_status lab_head_output(attn_ctx *ctx, const lab_head *head, double *out, attn_error *err) {
    attn_args args;
    lab_head_args(head, &args);
    attn_tensor o = matrix(out, head->n_q, head->d_v);
    return attn_forward(ctx, &args, &o, NULL, err);
}

double lab_entropy(const double *weight, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        if (weight[i] > 0) sum -= weight[i] * log(weight[i]);
    }
    return sum;
}

double lab_largest(const double *weight, int64_t n) {
    double largest = weight[0];
    for (int64_t i = 1; i < n; i++) largest = fmax(largest, weight[i]);
    return largest;
}

double lab_jacobian_norm(const double *weight, int64_t n) {
    double squares = 0;
    for (int64_t j = 0; j < n; j++) {
        for (int64_t k = 0; k < n; k++) {
            const double entry = weight[j] * ((j == k) - weight[k]);
            squares += entry * entry;
        }
    }
    return sqrt(squares);
}

double lab_mean(const double *x, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += x[i];
    return sum / (double)n;
}

double lab_deviation(const double *x, int64_t n) {
    const double mean = lab_mean(x, n);
    double squares = 0;
    for (int64_t i = 0; i < n; i++) squares += (x[i] - mean) * (x[i] - mean);
    return sqrt(squares / (double)n);
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double lab_median(double *x, int64_t n) {
    qsort(x, (size_t)n, sizeof *x, by_value);
    return (x[(n - 1) / 2] + x[n / 2]) / 2;
}

double lab_norm(const double *x, int64_t n) {
    double squares = 0;
    for (int64_t i = 0; i < n; i++) squares += x[i] * x[i];
    return sqrt(squares);
}
