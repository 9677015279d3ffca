/* SPDX-License-Identifier: Apache-2.0 */
/* gradcheck_compare.c - compares the gradients of backward with central differences, number by
 * number, and owns the memory of a check. Tests: tests/lab/test_gradcheck.c */
#include "core/os.h"
#include "gradcheck/gradcheck.h"
#include "support/uniform.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Near the cube root of the rounding error of f64, where truncation and rounding balance. */
static const double STEP = 6e-6;

static attn_status no_memory(attn_error *err) {
    return attni_fail(err, ATTN_E_MEMORY, "no memory for a gradient check");
}

void grad_add(grad_problem *problem, const char *name, double *x, const double *dx, size_t n) {
    attni_assert(problem->n_parts < GRAD_MAX_PARTS);
    problem->part[problem->n_parts++] = (grad_part){name, x, dx, n};
}

static void count(grad_tally *tally, const grad_part *part, size_t i, double differences) {
    double error = fabs(part->dx[i] - differences) / fmax(1, fabs(differences));
    if (isnan(error)) error = INFINITY;
    tally->n++;
    tally->nonzero += differences != 0;
    if (tally->n > 1 && !(error > tally->largest)) return;
    tally->largest = error;
    snprintf(tally->part, sizeof tally->part, "%s", part->name);
    tally->element = i;
    tally->backward = part->dx[i];
    tally->differences = differences;
}

/* d loss / d x from moving x in both directions. Outputs are subtracted one by one, so that those
 * that do not depend on x cancel exactly. upper (n_out) is scratch. */
static attn_status difference(const grad_problem *p, double *x, double *upper, double *result,
                              attn_error *err) {
    const double middle = *x, h = STEP * fmax(1, fabs(middle));
    const volatile double above = middle + h, below = middle - h; /* as they are stored */
    *x = above;
    attn_status status = p->forward(p->arg, err);
    memcpy(upper, p->out, p->n_out * sizeof *upper);
    *x = below;
    if (status == ATTN_OK) status = p->forward(p->arg, err);
    *x = middle;
    double sum = 0;
    for (size_t i = 0; i < p->n_out; i++) sum += p->dout[i] * (upper[i] - p->out[i]);
    *result = sum / (above - below);
    return status;
}

attn_status grad_compare(const grad_problem *problem, grad_tally *tally, attn_error *err) {
    double *upper = malloc((problem->n_out + 1) * sizeof *upper);
    attn_status status = ATTN_OK;
    if (!upper) return no_memory(err);
    for (int p = 0; p < problem->n_parts && status == ATTN_OK; p++) {
        const grad_part *part = &problem->part[p];
        for (size_t i = 0; i < part->n && status == ATTN_OK; i++) {
            double differences = 0;
            if (isfinite(part->x[i]))
                status = difference(problem, &part->x[i], upper, &differences, err);
            if (status == ATTN_OK) count(tally, part, i, differences);
        }
    }
    free(upper);
    return status;
}

/* -------------------------------------------------------------------------------------- memory */

void *grad_bytes(grad_session *session, size_t bytes) {
    enum { ALIGNMENT = 64 };
    attni_assert(session->n_blocks < GRAD_MAX_BLOCKS);
    void *block = attni_memory_alloc(bytes, ALIGNMENT);
    session->block[session->n_blocks++] = block;
    session->short_of_memory |= !block;
    return block;
}

double *grad_blank(grad_session *session, size_t n) {
    size_t bytes;
    if (!attni_mul(n, sizeof(double), &bytes)) bytes = SIZE_MAX;
    double *numbers = grad_bytes(session, bytes);
    for (size_t i = 0; numbers && i < n; i++) numbers[i] = NAN;
    return numbers;
}

double *grad_random(grad_session *session, size_t n) {
    double *numbers = grad_blank(session, n);
    const uint64_t stream = (session->seed << 8) + (uint64_t)session->n_blocks;
    if (numbers) lab_uniform_fill(numbers, ATTN_F64, (int64_t)n, stream);
    return numbers;
}

attn_status grad_ready(const grad_session *session, attn_error *err) {
    return session->short_of_memory ? no_memory(err) : ATTN_OK;
}

grad_pair grad_input(grad_session *session, grad_problem *problem, const char *name, size_t n) {
    const grad_pair pair = {grad_random(session, n), grad_blank(session, n)};
    grad_add(problem, name, pair.x, pair.dx, n);
    return pair;
}

grad_pair grad_param(grad_session *session, grad_problem *problem, const char *name, size_t n) {
    const grad_pair pair = grad_input(session, problem, name, n);
    for (size_t i = 0; pair.dx && i < n; i++) pair.dx[i] = 0;
    return pair;
}

double *grad_output(grad_session *session, grad_problem *problem, size_t n) {
    double *out = grad_blank(session, n);
    problem->out = out;
    problem->dout = grad_random(session, n);
    problem->n_out = n;
    return out;
}

void grad_release(grad_session *session) {
    for (int i = 0; i < session->n_blocks; i++) attni_memory_free(session->block[i]);
    session->n_blocks = 0;
    session->short_of_memory = false;
}
