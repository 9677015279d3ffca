/* SPDX-License-Identifier: Apache-2.0 */
/* rollout.h - attention rollout (Abnar and Zuidema, 2020): how much of each input token has reached
 * each position after some layers, assuming that a layer mixes tokens by its weights and that its
 * residual keeps half of every token. Written for `real`. Tests: tests/lab/test_beyond_structure.c,
 * tests/models/test_look.c */
#ifndef ATTNI_ROLLOUT_H
#define ATTNI_ROLLOUT_H

#include "layers/real.h"

/* next = (a + I) / 2 so_far, where a are the weights of one more layer. All are (n, n); next must
 * not overlap the others. so_far NULL: the identity, before the first layer. Errors: MEMORY. */
attn_status R(rollout_layer)(attn_ctx *ctx, int64_t n, const real *a, const real *so_far,
                             real *next, attn_error *err);

#endif
