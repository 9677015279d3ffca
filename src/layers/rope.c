/* SPDX-License-Identifier: Apache-2.0 */
/* rope.c - see rope.h. Compiled per real type. Plain loops: a rotation costs six flops per pair,
 * which is nothing compared with the products around it. Tests: tests/layers/test_rope.c */
#include "layers/rope.h"

void R(rope_table)(int64_t n_positions, int64_t dim, double base, double factor, real *cosines,
                   real *sines) {
    const int64_t pairs = dim / 2;
    for (int64_t p = 0; p < pairs; p++) {
        const double speed = pow(base, -2.0 * (double)p / (double)dim) / factor;
        for (int64_t t = 0; t < n_positions; t++) {
            const double angle = (double)t * speed;
            cosines[t * pairs + p] = (real)cos(angle);
            sines[t * pairs + p] = (real)sin(angle);
        }
    }
}

static int64_t position_of(const attni_rope_rows *rows, int64_t n, int64_t b, int64_t i) {
    return rows->positions ? rows->positions[b * n + i] : rows->first + i;
}

static attn_status check_positions(const attni_rope *rope, const attni_rope_rows *rows,
                                   const attn_tensor *x, attn_error *err) {
    const int64_t n = x->shape[2];
    for (int64_t b = 0; b < x->shape[0]; b++) {
        for (int64_t i = 0; i < n; i++) {
            const int64_t t = position_of(rows, n, b, i);
            if (t >= 0 && t < rope->n_positions) continue;
            return attni_fail(err, ATTN_E_VALUE,
                              "rope: position %lld, expected 0 .. %lld, make a longer table",
                              (long long)t, (long long)rope->n_positions - 1);
        }
    }
    return ATTN_OK;
}

static attn_status check(const attni_rope *rope, const attni_rope_rows *rows, const attn_tensor *x,
                         attn_error *err) {
    if (x->dtype != REAL_DTYPE) {
        return attni_fail(err, ATTN_E_DTYPE, "rope: x is %s, expected %s",
                          attn_dtype_name(x->dtype), attn_dtype_name(REAL_DTYPE));
    }
    if (x->stride[3] != 1) {
        return attni_fail(err, ATTN_E_STRIDE, "rope: x: last stride %lld, expected 1",
                          (long long)x->stride[3]);
    }
    if (rope->dim < 0 || rope->dim % 2 != 0 || rope->dim > x->shape[3]) {
        return attni_fail(err, ATTN_E_SHAPE,
                          "rope: dim %lld, expected an even number up to d = %lld",
                          (long long)rope->dim, (long long)x->shape[3]);
    }
    return check_positions(rope, rows, x, err);
}

/* One head of one row. direction: 1 rotates, -1 rotates back. */
static void turn(const attni_rope *rope, int64_t position, real direction, real *x) {
    const int64_t pairs = rope->dim / 2;
    const real *cosines = rope->cosines + position * pairs;
    const real *sines = rope->sines + position * pairs;
    const int64_t step = rope->interleaved ? 2 : 1, partner = rope->interleaved ? 1 : pairs;
    for (int64_t p = 0; p < pairs; p++) {
        real *pair = x + p * step;
        const real a = pair[0], b = pair[partner], c = cosines[p], s = direction * sines[p];
        pair[0] = a * c - b * s;
        pair[partner] = a * s + b * c;
    }
}

static attn_status turn_all(const attni_rope *rope, const attni_rope_rows *rows, real direction,
                            const attn_tensor *x, attn_error *err) {
    ATTN_TRY(check(rope, rows, x, err));
    const int64_t n = x->shape[2];
    for (int64_t b = 0; b < x->shape[0]; b++) {
        for (int64_t i = 0; i < n; i++) {
            const int64_t position = position_of(rows, n, b, i);
            for (int64_t h = 0; h < x->shape[1]; h++) {
                real *row = (real *)x->data + b * x->stride[0] + h * x->stride[1];
                turn(rope, position, direction, row + i * x->stride[2]);
            }
        }
    }
    return ATTN_OK;
}

attn_status R(rope_forward)(const attni_rope *rope, const attni_rope_rows *rows,
                            const attn_tensor *x, attn_error *err) {
    return turn_all(rope, rows, 1, x, err);
}

attn_status R(rope_backward)(const attni_rope *rope, const attni_rope_rows *rows,
                             const attn_tensor *dx, attn_error *err) {
    return turn_all(rope, rows, -1, dx, err); /* y = R x, so dx = R^T dy */
}
