/* SPDX-License-Identifier: Apache-2.0 */
/* position_kind.h - what a kind of positions does: one table row per kind, in positions_<kind>.c.
 * The list of kinds is in CMakeLists.txt in the same directory. Written for `real`; allocates
 * nothing. Tests: tests/layers/test_position_kinds.c, tests/layers/test_mha.c,
 * tests/models/test_transformer.c */
#ifndef ATTNI_POSITION_KIND_H
#define ATTNI_POSITION_KIND_H

#include "layers/positions.h"
#include "layers/relative.h"

/* Positions prepared for one model: the settings, and the constants that the kind computes once
 * (angles, slopes). */
typedef struct attni_position_plan {
    attni_positions how;
    attni_positions_shape shape;
    real *constants; /* (R(position_constants)()), 8-byte aligned */
} attni_position_plan;

/* A function that is NULL does nothing. Backward ADDS to the gradient of the parameter. */
typedef struct attni_position_kind {
    const char *name, *about;
    attni_positions defaults;
    attn_status (*check)(const attni_positions *how, const attni_positions_shape *shape,
                         attn_error *err);
    attni_positions_parameter (*learns)(const attni_positions *how,
                                        const attni_positions_shape *shape);

    /* The number of constants, in reals, and their values. */
    size_t (*count)(const attni_positions *how, const attni_positions_shape *shape);
    attn_status (*prepare)(const attni_position_plan *plan, attn_error *err);

    /* Embeddings: x (rows, d) += the encoding of position i % n, for row i. */
    void (*embed)(const attni_position_plan *plan, int64_t rows, int64_t n, const real *parameter,
                  real *x);
    void (*embed_backward)(const attni_position_plan *plan, int64_t rows, int64_t n, const real *dx,
                           real *dparameter);

    /* Queries or keys (B, heads, n, d_k), in place; row i has position first + i. Backward turns
     * the gradient of the result into that of the input. */
    attn_status (*turn)(const attni_position_plan *plan, int64_t first, const attn_tensor *x,
                        attn_error *err);
    attn_status (*turn_backward)(const attni_position_plan *plan, int64_t first,
                                 const attn_tensor *dx, attn_error *err);

    /* Scores: (H) slopes, as in attn_args.alibi, and a bias by distance, laid out as in
     * relative.h. */
    const double *(*slopes)(const attni_position_plan *plan);
    attn_status (*bias)(const attni_position_plan *plan, const attni_relative_shape *shape,
                        const real *parameter, real *by_distance, attn_error *err);
    attn_status (*bias_backward)(const attni_position_plan *plan, const attni_relative_shape *shape,
                                 const real *dby_distance, real *dparameter, attn_error *err);
} attni_position_kind;

extern const int R(position_kinds);
const attni_position_kind *R(position_kind)(int kind);

/* The number of reals in plan.constants. `how` must have passed attni_positions_check(). */
size_t R(position_constants)(const attni_positions *how, const attni_positions_shape *shape);
/* Fills plan->constants. Errors: VALUE. */
attn_status R(position_prepare)(const attni_position_plan *plan, attn_error *err);

#endif
