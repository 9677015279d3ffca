/* SPDX-License-Identifier: Apache-2.0 */
/* isas.h - the instruction sets as test subjects. Called by the programs of tests/kernels/. */
#ifndef ISAS_H
#define ISAS_H

#include "check.h"
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

/* A context with this instruction set and these threads; NULL and a failed test if there is
 * none. */
static inline attn_ctx *isa_context(attn_isa isa, int threads) {
    attn_ctx_options options;
    attn_error err = {""};
    attn_ctx *ctx;
    attn_ctx_options_init(&options);
    options.isa = isa;
    options.threads = threads;
    if (attn_ctx_create(&options, &ctx, &err) != ATTN_OK) {
        check_failed(__FILE__, __LINE__, "%s: %s", attn_isa_name(isa), err.message);
    }
    return ctx;
}

#endif
