/* SPDX-License-Identifier: Apache-2.0 */
/* dispatch.c - selects the kernel table of an instruction set. Read-only tables. CMakeLists.txt
 * next to this file decides which ISAs are built (ATTNI_HAVE_*). Test:
 * tests/attention/test_context.c */
#include "kernels/kernels.h"

#include "core/cpu.h"

#define DECLARE(isa)                                                                               \
    extern const attni_kernels attni_kernels_##isa##_f32, attni_kernels_##isa##_f64;
#define TABLES(isa) {&attni_kernels_##isa##_f32, &attni_kernels_##isa##_f64}

#ifdef ATTNI_HAVE_SCALAR
DECLARE(scalar)
#endif
#ifdef ATTNI_HAVE_SSE2
DECLARE(sse2)
#endif
#ifdef ATTNI_HAVE_AVX2
DECLARE(avx2)
#endif
#ifdef ATTNI_HAVE_AVX512
DECLARE(avx512)
#endif
#ifdef ATTNI_HAVE_NEON
DECLARE(neon)
#endif
#ifdef ATTNI_HAVE_SIMD128
DECLARE(simd128)
#endif

static const attni_kernels *const tables[ATTNI_ISA_COUNT][2] = {
#ifdef ATTNI_HAVE_SCALAR
    [ATTN_ISA_SCALAR] = TABLES(scalar), /* everywhere except in the page */
#endif
#ifdef ATTNI_HAVE_SSE2
    [ATTN_ISA_SSE2] = TABLES(sse2), /* every x86-64 */
#endif
#ifdef ATTNI_HAVE_AVX2
    [ATTN_ISA_AVX2] = TABLES(avx2), /* Intel since Haswell 2013, AMD since Excavator 2015 */
#endif
#ifdef ATTNI_HAVE_AVX512
    [ATTN_ISA_AVX512] = TABLES(avx512), /* Intel servers since Skylake 2017, AMD since Zen 4 2022 */
#endif
#ifdef ATTNI_HAVE_NEON
    [ATTN_ISA_NEON] = TABLES(neon), /* every aarch64 */
#endif
#ifdef ATTNI_HAVE_SIMD128
    [ATTN_ISA_SIMD128] = TABLES(simd128), /* browsers and node since 2021 */
#endif
};

bool attni_kernels_built(attn_isa isa) {
    return (unsigned)isa < ATTNI_ISA_COUNT && tables[isa][0] != NULL;
}

const attni_kernels *attni_kernels_get(attn_isa isa, bool f64) {
    return attni_kernels_built(isa) && attni_cpu_runs(isa) ? tables[isa][f64] : NULL;
}

attn_isa attni_kernels_best(void) {
    static const attn_isa ladder[] = {ATTN_ISA_AVX512, ATTN_ISA_AVX2,    ATTN_ISA_NEON,
                                      ATTN_ISA_SSE2,   ATTN_ISA_SIMD128, ATTN_ISA_SCALAR};
    for (size_t rung = 0; rung < sizeof ladder / sizeof *ladder; rung++) {
        if (attni_kernels_get(ladder[rung], false)) return ladder[rung];
    }
    return ATTN_ISA_SCALAR;
}
