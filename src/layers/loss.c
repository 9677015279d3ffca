/* SPDX-License-Identifier: Apache-2.0 */
/* loss.c - softmax and its logarithm row by row, relative to the row's maximum, with the kernels'
 * 2^x and our own logarithm. Compiled per real type. Test: tests/layers/test_loss.c */
#include "layers/loss.h"

#include "attention/context.h"
#include "core/log2.h"
#include "layers/chunk.h"

static attn_status check_targets(const attni_targets *targets, attn_error *err) {
    for (int64_t i = 0; i < targets->n; i++) {
        if (targets->ids[i] >= -1 && targets->ids[i] < targets->vocab) continue;
        return attni_fail(
            err, ATTN_E_VALUE,
            "targets: element %lld is %ld, expected 0 .. %lld, or -1 to ignore the row",
            (long long)i, (long)targets->ids[i], (long long)targets->vocab - 1);
    }
    return ATTN_OK;
}

static int64_t count_targets(const attni_targets *targets) {
    int64_t counted = 0;
    for (int64_t i = 0; i < targets->n; i++) counted += targets->ids[i] >= 0;
    return counted;
}

/* Sum of e^(x - max) over the row; the terms go to e (n), which may be x, unless it is NULL. */
static double exponentials(const attni_kernels *kernels, int64_t n, const real *x, real max,
                           real *e) {
    double sum = 0;
    real chunk[CHUNK];
    for (int64_t c = 0; c < n; c += CHUNK) {
        const int length = chunk_length(n, c);
        chunk_load(length, x + c, -(real)INFINITY, chunk); /* beyond the end: terms are 0 */
        for (int i = 0; i < CHUNK; i++) chunk[i] = (chunk[i] - max) * LOG2E;
        kernels->exp2(CHUNK, chunk, chunk);
        sum += (double)chunk_sum(chunk);
        if (e) memcpy(e + c, chunk, (size_t)length * sizeof *e);
    }
    return sum;
}

/* ln sum e^x - x[target]; dx (n), unless NULL, = (softmax - one-hot of the target) / divisor. */
static double row_loss(const attni_kernels *kernels, const attni_targets *targets, int64_t i,
                       const real *x, real *dx) {
    const int64_t n = targets->vocab, target = targets->ids[i];
    const real max = x[R(argmax)(n, x)], chosen = x[target];
    const double sum = exponentials(kernels, n, x, max, dx);
    if (dx) {
        const real factor = (real)(1 / (sum * (double)targets->divisor));
        for (int64_t c = 0; c < n; c++) dx[c] *= factor;
        dx[target] -= (real)(1 / (double)targets->divisor);
    }
    return attni_lse(0, sum) + ((double)max - (double)chosen);
}

attn_status R(cross_entropy)(const attn_ctx *ctx, const attni_targets *targets, const real *logits,
                             real *dlogits, double *loss, attn_error *err) {
    ATTN_TRY(check_targets(targets, err));
    attni_targets counted = *targets;
    if (counted.divisor <= 0) counted.divisor = attni_max(1, count_targets(targets));
    const attni_kernels *kernels = attni_ctx_kernels(ctx, REAL_IS_F64);
    double sum = 0;
    for (int64_t i = 0; i < counted.n; i++) {
        real *dx = dlogits ? dlogits + i * counted.vocab : NULL;
        if (counted.ids[i] >= 0) {
            sum += row_loss(kernels, &counted, i, logits + i * counted.vocab, dx);
        } else if (dx) {
            memset(dx, 0, (size_t)counted.vocab * sizeof *dx);
        }
    }
    *loss = sum / (double)counted.divisor;
    return ATTN_OK;
}

int64_t R(argmax)(int64_t n, const real *x) {
    int64_t best = 0;
    for (int64_t i = 1; i < n; i++) {
        if (x[i] > x[best] || (x[best] != x[best] && x[i] == x[i])) best = i;
    }
    return best;
}

int64_t R(count_correct)(const attni_targets *targets, const real *logits) {
    int64_t correct = 0;
    for (int64_t i = 0; i < targets->n; i++) {
        if (targets->ids[i] < 0) continue;
        correct += R(argmax)(targets->vocab, logits + i * targets->vocab) == targets->ids[i];
    }
    return correct;
}
