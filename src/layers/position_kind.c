/* SPDX-License-Identifier: Apache-2.0 */
/* position_kind.c - the table of position kinds: none, then those of the list in CMakeLists.txt,
 * which turns it into ATTNI_POSITION_KINDS: X(learned) X(rope) ... Compiled per real type. Tests:
 * tests/layers/test_position_kinds.c */
#include "layers/position_kind.h"

static const attni_position_kind none = {
    .name = "none",
    .about = "nothing: only a causal mask shows an order",
};

#define X(kind) extern const attni_position_kind R(positions_##kind);
ATTNI_POSITION_KINDS
#undef X

#define X(kind) &R(positions_##kind),
static const attni_position_kind *const table[] = {&none, ATTNI_POSITION_KINDS};
#undef X

const int R(position_kinds) = sizeof table / sizeof *table;

const attni_position_kind *R(position_kind)(int kind) {
    attni_assert(kind >= 0 && kind < R(position_kinds));
    return table[kind];
}

size_t R(position_constants)(const attni_positions *how, const attni_positions_shape *shape) {
    const attni_position_kind *kind = R(position_kind)(how->kind);
    return kind->count ? kind->count(how, shape) : 0;
}

attn_status R(position_prepare)(const attni_position_plan *plan, attn_error *err) {
    const attni_position_kind *kind = R(position_kind)(plan->how.kind);
    return kind->prepare ? kind->prepare(plan, err) : ATTN_OK;
}
