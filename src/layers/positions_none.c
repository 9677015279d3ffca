/* SPDX-License-Identifier: Apache-2.0 */
/* positions_none.c - no positions: only a causal mask lets attention see an order. Compiled per
 * real. Tests: tests/layers/test_mha.c */
#include "layers/position_kind.h"

const attni_position_kind R(positions_none) = {
    .name = "none",
    .about = "nothing: only a causal mask shows an order",
};
