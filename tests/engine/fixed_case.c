/* SPDX-License-Identifier: Apache-2.0 */
/* fixed_case.c - see fixed_case.h. Inputs are multiples of 1/64 in [-2, 2), the first word of
 * Philox with the key of the tensor (q 1, k 2, v 3, bias 4) and the index as counter: no library
 * function and no rounding takes part in them. */
#include "fixed_case.h"

#include "core/hash.h"
#include "core/rng.h"

#include <stdlib.h>

enum { B = 2, H = 4, H_KV = 2, N_Q = 203, N_K = 317, D_K = 40, D_V = 33 };

static size_t count(const attn_tensor *t) {
    return (size_t)(t->shape[0] * t->shape[1] * t->shape[2] * t->shape[3]);
}

/* A dense tensor with memory of its own. */
static attn_tensor make(attn_dtype dtype, int64_t batch, int64_t heads, int64_t rows,
                        int64_t columns) {
    attn_tensor t = attn_tensor_bhsd(NULL, dtype, batch, heads, rows, columns);
    t.data = malloc(count(&t) * attn_dtype_size(dtype));
    return t;
}

static void fill(const attn_tensor *t, uint64_t key) {
    for (size_t e = 0; t->data && e < count(t); e++) {
        const uint32_t word = attni_philox4x32(key, (uint32_t)e, 0, 0, 0).word[0];
        const double x = ((double)(word >> 24) - 128) / 64;
        if (t->dtype == ATTN_F64) {
            ((double *)t->data)[e] = x;
        } else {
            ((float *)t->data)[e] = (float)x;
        }
    }
}

static uint64_t hash_tensor(uint64_t hash, const attn_tensor *t) {
    return attni_fnv1a(hash, t->data, count(t) * attn_dtype_size(t->dtype));
}

attn_status fixed_case_hash(attn_ctx *ctx, attn_dtype dtype, uint64_t *hash) {
    static const double slopes[H] = {0.25, 0.125, 0.0625, 0.03125}, sinks[H] = {0, 0.5, 1, 1.5};
    attn_args a;
    attn_args_init(&a);
    a.q = make(dtype, B, H, N_Q, D_K);
    a.k = make(dtype, B, H_KV, N_K, D_K);
    a.v = make(dtype, B, H_KV, N_K, D_V);
    a.bias = make(dtype, 1, H, N_Q, N_K);
    attn_tensor out = make(dtype, B, H, N_Q, D_V), lse = make(dtype, B, H, N_Q, 1);
    attn_tensor *const all[6] = {&a.q, &a.k, &a.v, &a.bias, &out, &lse};
    attn_status status = ATTN_OK;
    for (int x = 0; x < 6; x++) {
        if (!all[x]->data) status = ATTN_E_MEMORY;
        if (x < 4) fill(all[x], (uint64_t)x + 1);
    }
    a.causal = 1;
    a.softcap = 5;
    a.temperature = 0.75;
    a.alibi = slopes;
    a.sinks = sinks;
    a.dropout = 0.25;
    a.seed = 7;
    if (status == ATTN_OK) status = attn_forward(ctx, &a, &out, &lse, NULL);
    if (status == ATTN_OK) *hash = hash_tensor(hash_tensor(ATTNI_FNV1A_BEGIN, &out), &lse);
    for (int x = 0; x < 6; x++) free(all[x]->data);
    return status;
}
