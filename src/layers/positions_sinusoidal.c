/* SPDX-License-Identifier: Apache-2.0 */
/* positions_sinusoidal.c - sines and cosines of the position, added to the embedding. Compiled per
 * real type. Tests: tests/layers/test_sinusoidal.c, tests/models/test_transformer.c */
#include "layers/add.h"
#include "layers/position_kind.h"
#include "layers/sinusoidal.h"

static attn_status check(const attni_positions *how, const attni_positions_shape *shape,
                         attn_error *err) {
    (void)shape;
    if (how->base > 0 && isfinite(how->base)) return ATTN_OK;
    return attni_fail(err, ATTN_E_VALUE, "positions: base is %g, expected more than 0", how->base);
}

static size_t count(const attni_positions *how, const attni_positions_shape *shape) {
    (void)how;
    return (size_t)(shape->length * shape->d);
}

static attn_status prepare(const attni_position_plan *plan, attn_error *err) {
    (void)err;
    R(sinusoidal_table)
    (plan->shape.length, plan->shape.d, plan->how.base, plan->how.interleaved, plan->constants);
    return ATTN_OK;
}

static void embed(const attni_position_plan *plan, int64_t rows, int64_t n, const real *parameter,
                  real *x) {
    const int64_t d = plan->shape.d;
    (void)parameter;
    for (int64_t i = 0; i < rows; i++) R(add_to)(d, plan->constants + i % n * d, x + i * d);
}

const attni_position_kind R(positions_sinusoidal) = {
    .name = "sinusoidal",
    .about = "sines and cosines of the position, added to the embedding",
    .defaults = {.base = 10000, .interleaved = true},
    .check = check,
    .count = count,
    .prepare = prepare,
    .embed = embed,
};
