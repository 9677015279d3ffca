/* SPDX-License-Identifier: Apache-2.0 */
/* positions_alibi.c - ALiBi: subtracts slope times distance from a score, with one fixed slope per
 * head (BLOOM). Compiled per real type. Tests: tests/layers/test_mha.c,
 * tests/models/test_transformer.c */
#include "layers/position_kind.h"

static size_t count(const attni_positions *how, const attni_positions_shape *shape) {
    (void)how;
    return (size_t)shape->H * (sizeof(double) / sizeof(real)); /* slopes are doubles */
}

static double *slopes_of(const attni_position_plan *plan) {
    return (double *)(void *)plan->constants;
}

static attn_status prepare(const attni_position_plan *plan, attn_error *err) {
    return attn_alibi_slopes(plan->shape.H, slopes_of(plan), err);
}

static const double *slopes(const attni_position_plan *plan) { return slopes_of(plan); }

const attni_position_kind R(positions_alibi) = {
    .name = "alibi",
    .about = "a score loses slope times distance, one fixed slope for each head",
    .count = count,
    .prepare = prepare,
    .slopes = slopes,
};
