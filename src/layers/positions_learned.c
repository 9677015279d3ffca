/* SPDX-License-Identifier: Apache-2.0 */
/* positions_learned.c - a learned vector for each position, added to the embedding (GPT-2, BERT).
 * Compiled per real type. Tests: tests/models/test_transformer.c */
#include "layers/add.h"
#include "layers/position_kind.h"

enum { MAX_FIRST_ROW = 1024 };

static attn_status check(const attni_positions *how, const attni_positions_shape *shape,
                         attn_error *err) {
    (void)shape;
    if (how->first_row >= 0 && how->first_row <= MAX_FIRST_ROW) return ATTN_OK;
    return attni_fail(err, ATTN_E_VALUE, "positions: first_row is %lld, expected 0 .. %d",
                      (long long)how->first_row, MAX_FIRST_ROW);
}

static attni_positions_parameter learns(const attni_positions *how,
                                        const attni_positions_shape *shape) {
    return (attni_positions_parameter){.name = "embedding.positions",
                                       .rows = how->first_row + shape->length,
                                       .columns = shape->d,
                                       .starts_random = true};
}

/* Where the vector of row i begins in the table. */
static int64_t place(const attni_position_plan *plan, int64_t i, int64_t n) {
    return (plan->how.first_row + i % n) * plan->shape.d;
}

static void embed(const attni_position_plan *plan, int64_t rows, int64_t n, const real *parameter,
                  real *x) {
    const int64_t d = plan->shape.d;
    for (int64_t i = 0; i < rows; i++) R(add_to)(d, parameter + place(plan, i, n), x + i * d);
}

static void embed_backward(const attni_position_plan *plan, int64_t rows, int64_t n, const real *dx,
                           real *dparameter) {
    const int64_t d = plan->shape.d;
    for (int64_t i = 0; i < rows; i++) R(add_to)(d, dx + i * d, dparameter + place(plan, i, n));
}

const attni_position_kind R(positions_learned) = {
    .name = "learned",
    .about = "a learned vector for each position, added to the embedding",
    .check = check,
    .learns = learns,
    .embed = embed,
    .embed_backward = embed_backward,
};
