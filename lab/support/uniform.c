/* SPDX-License-Identifier: Apache-2.0 */
/* uniform.c - see uniform.h. */
#include "support/uniform.h"

#include "core/dtype.h"
#include "core/rng.h"

void lab_uniform_fill(void *data, attn_dtype dtype, int64_t n, uint64_t seed) {
    for (int64_t i = 0; i < n; i++) {
        const attni_philox r = attni_philox4x32(seed, (uint32_t)i, (uint32_t)(i >> 32), 0, 0);
        attni_store_as(dtype, data, i, ((double)r.word[0] + 0.5) / 2147483648.0 - 1);
    }
}
