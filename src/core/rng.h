/* SPDX-License-Identifier: Apache-2.0 */
/* rng.h - Philox 4x32-10: random numbers as a pure function of (key, counter), so that tiles,
 * threads and a later backward pass agree on a dropout mask without storing it. Reference: Salmon
 * et al., "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011. Tests: tests/core/test_core.c */
#ifndef ATTNI_RNG_H
#define ATTNI_RNG_H

#include <stdint.h>

typedef struct attni_philox {
    uint32_t word[4];
} attni_philox;

static inline attni_philox attni_philox4x32(uint64_t key, uint32_t c0, uint32_t c1, uint32_t c2,
                                            uint32_t c3) {
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    for (int round = 0; round < 10; round++) {
        const uint64_t p0 = (uint64_t)0xD2511F53u * c0;
        const uint64_t p1 = (uint64_t)0xCD9E8D57u * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)p1;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return (attni_philox){{c0, c1, c2, c3}};
}

/* Dropout draws word j % 4 of counter (j / 4, i, head, batch) and keeps the weight iff the word is
 * >= this threshold. */
static inline uint32_t attni_dropout_threshold(double dropout) {
    return (uint32_t)(dropout * 4294967296.0);
}

static inline uint32_t attni_dropout_word(uint64_t seed, int64_t batch, int64_t head, int64_t i,
                                          int64_t j) {
    const attni_philox r =
        attni_philox4x32(seed, (uint32_t)(j >> 2), (uint32_t)i, (uint32_t)head, (uint32_t)batch);
    return r.word[j & 3];
}

#endif
