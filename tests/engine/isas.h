/* SPDX-License-Identifier: Apache-2.0 */
/* isas.h - the instruction sets as test subjects. */
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

#endif
