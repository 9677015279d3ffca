/* SPDX-License-Identifier: Apache-2.0 */
/* rollout.c - see rollout.h. Compiled per real type. */
#include "models/rollout.h"

#include "layers/linear.h"

attn_status R(rollout_layer)(attn_ctx *ctx, int64_t n, const real *a, const real *so_far,
                             real *next, attn_error *err) {
    if (!so_far) {
        for (int64_t i = 0; i < n * n; i++) next[i] = (a[i] + (real)(i % (n + 1) == 0)) / 2;
        return ATTN_OK;
    }
    const attni_linear product = {.n_in = n, .n_out = n, .w = so_far};
    ATTN_TRY(R(linear_forward)(ctx, &product, n, a, next, err));
    for (int64_t i = 0; i < n * n; i++) next[i] = (next[i] + so_far[i]) / 2;
    return ATTN_OK;
}
