/* SPDX-License-Identifier: Apache-2.0 */
/* positions_rope.c - rotary positions: queries and keys are rotated by angles that grow with the
 * position (LLaMA; GPT-NeoX and Phi rotate only the first columns of a head). Compiled per real
 * type. Tests: tests/layers/test_rope.c, tests/layers/test_mha.c,
 * tests/models/test_transformer.c */
#include "layers/position_kind.h"
#include "layers/rope.h"

/* The number of rotated columns: by default all, except the last of an odd number. */
static int64_t turning(const attni_positions *how, const attni_positions_shape *shape) {
    return how->rotary ? how->rotary : shape->d_k / 2 * 2;
}

static attn_status check(const attni_positions *how, const attni_positions_shape *shape,
                         attn_error *err) {
    if (how->rotary < 0 || how->rotary % 2 != 0 || how->rotary > shape->d_k)
        return attni_fail(err, ATTN_E_VALUE,
                          "positions: rotary is %lld, expected an even number up to d_k = %lld, or "
                          "0 for all columns",
                          (long long)how->rotary, (long long)shape->d_k);
    if (!(how->base > 0 && isfinite(how->base) && how->factor > 0 && isfinite(how->factor)))
        return attni_fail(err, ATTN_E_VALUE,
                          "positions: base is %g and factor is %g, expected more than 0", how->base,
                          how->factor);
    return ATTN_OK;
}

static size_t count(const attni_positions *how, const attni_positions_shape *shape) {
    return (size_t)(shape->length * turning(how, shape)); /* cosines and sines */
}

static attni_rope rope_of(const attni_position_plan *plan) {
    const int64_t dim = turning(&plan->how, &plan->shape), length = plan->shape.length;
    return (attni_rope){.dim = dim,
                        .interleaved = plan->how.interleaved,
                        .n_positions = length,
                        .cosines = plan->constants,
                        .sines = plan->constants + length * (dim / 2)};
}

static attn_status prepare(const attni_position_plan *plan, attn_error *err) {
    const attni_rope rope = rope_of(plan);
    (void)err;
    R(rope_table)
    (rope.n_positions, rope.dim, plan->how.base, plan->how.factor, (real *)rope.cosines,
     (real *)rope.sines);
    return ATTN_OK;
}

static attn_status turn(const attni_position_plan *plan, int64_t first, const attn_tensor *x,
                        attn_error *err) {
    const attni_rope rope = rope_of(plan);
    return R(rope_forward)(&rope, &(attni_rope_rows){.first = first}, x, err);
}

static attn_status turn_backward(const attni_position_plan *plan, int64_t first,
                                 const attn_tensor *dx, attn_error *err) {
    const attni_rope rope = rope_of(plan);
    return R(rope_backward)(&rope, &(attni_rope_rows){.first = first}, dx, err);
}

const attni_position_kind R(positions_rope) = {
    .name = "rope",
    .about = "queries and keys turn by angles that grow with the position",
    .defaults = {.base = 10000, .factor = 1},
    .check = check,
    .count = count,
    .prepare = prepare,
    .turn = turn,
    .turn_backward = turn_backward,
};
