/* SPDX-License-Identifier: Apache-2.0 */
/* dropout.c - four elements per Philox counter. Compiled per real type. Test:
 * tests/layers/test_dropout.c */
#include "layers/dropout.h"

#include "core/rng.h"

/* The last word of the counter: attention's dropout has the batch index there, which never becomes
 * this large. */
#define LAYER_WORD 0xffffffffu

static attni_philox four_words(const attni_drop *drop, int64_t index) {
    const uint64_t block = (uint64_t)index >> 2;
    return attni_philox4x32(drop->seed, (uint32_t)block, (uint32_t)(block >> 32), drop->stream,
                            LAYER_WORD);
}

void R(dropout_apply)(const attni_drop *drop, int64_t n, const real *x, real *y) {
    attni_assert(drop->p >= 0 && drop->p < 1 && drop->first >= 0);
    const uint32_t threshold = attni_dropout_threshold(drop->p);
    const real factor = (real)(1 / (1 - drop->p));
    attni_philox words = four_words(drop, drop->first);
    for (int64_t i = 0; i < n; i++) {
        const int64_t index = drop->first + i;
        if ((index & 3) == 0) words = four_words(drop, index);
        y[i] = words.word[index & 3] >= threshold ? x[i] * factor : 0;
    }
}
