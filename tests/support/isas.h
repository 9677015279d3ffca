/* SPDX-License-Identifier: Apache-2.0 */
/* isas.h - instruction sets and thread counts as test subjects: the loops over all of them. */
#ifndef ISAS_H
#define ISAS_H

#include "contexts.h"
#include "kernels/kernels.h"

/* One entry per instruction set; a test list expands it. */
#define ISA_LIST(X)                                                                                \
    X(scalar, ATTN_ISA_SCALAR)                                                                     \
    X(sse2, ATTN_ISA_SSE2)                                                                         \
    X(avx2, ATTN_ISA_AVX2)                                                                         \
    X(avx512, ATTN_ISA_AVX512)                                                                     \
    X(neon, ATTN_ISA_NEON)                                                                         \
    X(simd128, ATTN_ISA_SIMD128)

/* Ends the test as skipped, never as passed, where the instruction set cannot run. */
#define NEED_ISA(isa)                                                                              \
    do {                                                                                           \
        if (!attni_kernels_built(isa)) SKIP("%s is not in this build", attn_isa_name(isa));        \
        if (!attni_kernels_get(isa, false)) {                                                      \
            SKIP("%s does not run on this machine", attn_isa_name(isa));                           \
        }                                                                                          \
    } while (0)

/* The next instruction set that runs here, from ATTN_ISA_AUTO on; ATTNI_ISA_COUNT after the last. */
static inline attn_isa isa_after(attn_isa isa) {
    int next = isa + 1;
    while (next < ATTNI_ISA_COUNT && !attni_kernels_get((attn_isa)next, false)) next++;
    return (attn_isa)next;
}

#define EACH_ISA(isa)                                                                              \
    for (attn_isa isa = isa_after(ATTN_ISA_AUTO); (int)isa != ATTNI_ISA_COUNT; isa = isa_after(isa))

/* The first instruction set of a class that runs here: the one to compare the others with. */
static inline attn_isa isa_first_of_class(bool fused) {
    EACH_ISA(isa) {
        if (attni_kernels_get(isa, false)->fused == fused) return isa;
    }
    return ATTN_ISA_AUTO;
}

/* 1, 2, 3, 7 threads, or 1 where there are none; 0 after the last. */
static inline int threads_after(int threads) {
#ifdef __wasm__
    return threads < 1;
#else
    return threads < 3 ? threads + 1 : threads == 3 ? 7 : 0;
#endif
}

#define EACH_THREAD_COUNT(threads)                                                                 \
    for (int threads = threads_after(0); threads != 0; threads = threads_after(threads))

#endif
