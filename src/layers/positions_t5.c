/* SPDX-License-Identifier: Apache-2.0 */
/* positions_t5.c - T5's relative bias: one learned number per head and bucket of distances, added
 * to the score; all layers share the table. A causal model has buckets for one direction only.
 * Compiled per real type. Tests: tests/layers/test_relative.c, tests/models/test_transformer.c */
#include "layers/position_kind.h"

enum { MAX_BUCKETS = 65536 };

static attni_relative relative_of(const attni_positions *how, const attni_positions_shape *shape) {
    return (attni_relative){.bidirectional = !shape->causal,
                            .num_buckets = how->buckets,
                            .max_distance = how->max_distance};
}

static attn_status check(const attni_positions *how, const attni_positions_shape *shape,
                         attn_error *err) {
    const attni_relative relative = relative_of(how, shape);
    if (how->buckets > MAX_BUCKETS)
        return attni_fail(err, ATTN_E_VALUE, "positions: buckets is %lld, expected up to %d",
                          (long long)how->buckets, MAX_BUCKETS);
    return R(relative_check)(&relative, err);
}

static attni_positions_parameter learns(const attni_positions *how,
                                        const attni_positions_shape *shape) {
    return (attni_positions_parameter){
        .name = "attention.relative_bias", .rows = how->buckets, .columns = shape->H};
}

static attn_status bias(const attni_position_plan *plan, const attni_relative_shape *shape,
                        const real *parameter, real *by_distance, attn_error *err) {
    const attni_relative relative = relative_of(&plan->how, &plan->shape);
    return R(relative_forward)(&relative, shape, parameter, by_distance, err);
}

static attn_status bias_backward(const attni_position_plan *plan, const attni_relative_shape *shape,
                                 const real *dby_distance, real *dparameter, attn_error *err) {
    const attni_relative relative = relative_of(&plan->how, &plan->shape);
    return R(relative_backward)(&relative, shape, dby_distance, dparameter, err);
}

const attni_position_kind R(positions_t5) = {
    .name = "t5",
    .about = "a learned number for each distance and head, added to the score",
    .defaults = {.buckets = 32, .max_distance = 128},
    .check = check,
    .learns = learns,
    .bias = bias,
    .bias_backward = bias_backward,
};
