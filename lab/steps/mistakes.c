/* SPDX-License-Identifier: Apache-2.0 */
/* mistakes.c - see mistakes.h. Scores come from the engine; what is done with them wrongly is written
 * in plain loops, as in a program that has the mistake. */
#include "steps/mistakes.h"

#include "core/base.h"

#include <math.h>
#include <stdlib.h>

static const char *const names[LAB_MISTAKES] = {"axis", "inplace"};

const char *lab_mistake_name(lab_mistake mistake) { return names[mistake]; }

lab_mistake lab_mistake_named(const char *name) {
    int mistake = 0;
    while (mistake < LAB_MISTAKES && strcmp(name, names[mistake]) != 0) mistake++;
    return (lab_mistake)mistake;
}

/* ------------------------------------------------------------------------------------- softmax */

/* Softmax of n numbers, `stride` apart, in place. All of them -inf: NaN, as in most programs. */
static void softmax(double *x, int64_t n, int64_t stride) {
    double max = -INFINITY, sum = 0;
    for (int64_t i = 0; i < n; i++) max = fmax(max, x[i * stride]);
    for (int64_t i = 0; i < n; i++) {
        x[i * stride] = exp(x[i * stride] - max);
        sum += x[i * stride];
    }
    for (int64_t i = 0; i < n; i++) x[i * stride] = isnan(sum) ? NAN : x[i * stride] / sum;
}

static void softmax_rows(double *x, int64_t rows, int64_t columns) {
    for (int64_t i = 0; i < rows; i++) softmax(x + i * columns, columns, 1);
}

static void softmax_columns(double *x, int64_t rows, int64_t columns) {
    for (int64_t j = 0; j < columns; j++) softmax(x + j, rows, columns);
}

/* ------------------------------------------------------------------------------------ mistakes */

/* to (rows, columns): one head of a step, divided by the temperature. */
static void copy_head(const lab_steps *s, lab_part part, int64_t head, double divisor, double *to) {
    const lab_step *step = &s->step[part];
    for (int64_t i = 0; i < step->rows; i++)
        for (int64_t j = 0; j < step->columns; j++)
            to[i * step->columns + j] = lab_step_at(step, head, i, j) / divisor;
}

static void wrong_axis(const lab_steps *s, int64_t head, lab_mistaken *r) {
    copy_head(s, LAB_WEIGHTS, head, 1, r->right);
    copy_head(s, LAB_MASKED, head, s->temperature, r->wrong);
    softmax_columns(r->wrong, s->n_q, s->n_k);
}

/* S[mask] = -inf, and S is then used again, for attention that should see every key. */
static void in_place(const lab_steps *s, int64_t head, lab_mistaken *r) {
    copy_head(s, LAB_SCALED, head, s->temperature, r->right);
    copy_head(s, LAB_SCALED, head, s->temperature, r->wrong);
    for (int64_t i = 0; i < s->n_q; i++)
        for (int64_t j = i + s->n_k - s->n_q + 1; j < s->n_k; j++)
            if (j >= 0) r->wrong[i * s->n_k + j] = -INFINITY;
    softmax_rows(r->right, s->n_q, s->n_k);
    softmax_rows(r->wrong, s->n_q, s->n_k);
}

/* --------------------------------------------------------------------------------- comparison */

/* out (n_q, d_v) = weights (n_q, n_k) times the values of the head. */
static void weigh(const lab_steps *s, int64_t head, const double *weights, double *out) {
    const lab_step *v = &s->step[LAB_V];
    for (int64_t i = 0; i < s->n_q; i++)
        for (int64_t c = 0; c < s->d_v; c++) {
            double sum = 0;
            for (int64_t j = 0; j < s->n_k; j++)
                sum += weights[i * s->n_k + j] * lab_step_at(v, head, j, c);
            out[i * s->d_v + c] = isnan(sum) ? NAN : sum; /* without a sign, when printed */
        }
}

/* The row sum that is farthest from 1; NaN counts as farthest. */
static double farthest_sum(const double *weights, int64_t rows, int64_t columns) {
    double farthest = 1;
    for (int64_t i = 0; i < rows; i++) {
        double sum = 0;
        for (int64_t j = 0; j < columns; j++) sum += weights[i * columns + j];
        if (isnan(sum)) return NAN;
        if (fabs(sum - 1) > fabs(farthest - 1)) farthest = sum;
    }
    return farthest;
}

static double largest_difference(const double *a, const double *b, int64_t n) {
    double largest = 0;
    for (int64_t i = 0; i < n; i++) {
        if (isnan(a[i]) || isnan(b[i])) return NAN;
        largest = fmax(largest, fabs(a[i] - b[i]));
    }
    return largest;
}

attn_status lab_mistake_compute(const lab_steps *steps, lab_mistake mistake, int64_t head,
                                lab_mistaken *result, attn_error *err) {
    const int64_t pairs = steps->n_q * steps->n_k, outputs = steps->n_q * steps->d_v;
    *result = (lab_mistaken){.memory = malloc((size_t)(2 * (pairs + outputs)) * sizeof(double))};
    if (!result->memory) return attni_fail(err, ATTN_E_MEMORY, "no memory for the mistake");
    result->right = result->memory;
    result->wrong = result->right + pairs;
    result->right_out = result->wrong + pairs;
    result->wrong_out = result->right_out + outputs;
    if (mistake == LAB_MISTAKE_AXIS)
        wrong_axis(steps, head, result);
    else
        in_place(steps, head, result);
    weigh(steps, head, result->right, result->right_out);
    weigh(steps, head, result->wrong, result->wrong_out);
    result->right_sum = farthest_sum(result->right, steps->n_q, steps->n_k);
    result->wrong_sum = farthest_sum(result->wrong, steps->n_q, steps->n_k);
    result->largest = largest_difference(result->right, result->wrong, pairs);
    return ATTN_OK;
}

void lab_mistake_free(lab_mistaken *result) {
    free(result->memory);
    *result = (lab_mistaken){0};
}
