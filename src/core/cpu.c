/* SPDX-License-Identifier: Apache-2.0 */
/* cpu.c - detects CPU features, with CPUID on x86-64 and by architecture elsewhere. Stateless. */
#include "core/cpu.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <xmmintrin.h>

/* The operating system must save the vector registers; the bits of XCR0 tell. */
enum { XCR0_AVX = 0x6, XCR0_AVX512 = 0xe6 };

static uint32_t xcr0(void) {
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

static bool has_all(uint32_t value, uint32_t bits) { return (value & bits) == bits; }

static bool runs_avx2(void) {
    uint32_t a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d)) return false;
    if (!has_all(c, bit_OSXSAVE | bit_AVX | bit_FMA | bit_F16C) || !has_all(xcr0(), XCR0_AVX))
        return false;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && has_all(b, bit_AVX2);
}

static bool runs_avx512(void) {
    uint32_t a, b, c, d;
    if (!runs_avx2() || !has_all(xcr0(), XCR0_AVX512)) return false;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) &&
           has_all(b, bit_AVX512F | bit_AVX512BW | bit_AVX512DQ | bit_AVX512VL);
}
#endif

bool attni_cpu_runs(attn_isa isa) {
    switch (isa) {
    case ATTN_ISA_SCALAR: return true;
#if defined(__x86_64__)
    case ATTN_ISA_SSE2: return true;
    case ATTN_ISA_AVX2: return runs_avx2();
    case ATTN_ISA_AVX512: return runs_avx512();
#elif defined(__aarch64__)
    case ATTN_ISA_NEON: return true;
#elif defined(__wasm__)
    case ATTN_ISA_SIMD128: return true; /* a module with these instructions loads nowhere else */
#endif
    default: return false;
    }
}

void attni_cpu_name(char name[64]) {
    memset(name, 0, 64);
#if defined(__x86_64__)
    uint32_t words[12];
    for (uint32_t leaf = 0; leaf < 3; leaf++) {
        uint32_t *w = words + 4 * leaf;
        if (!__get_cpuid(0x80000002u + leaf, &w[0], &w[1], &w[2], &w[3])) return;
    }
    memcpy(name, words, sizeof words);
#endif
}

uint64_t attni_cpu_float_control(void) {
#if defined(__x86_64__)
    uint16_t x87; /* mingw's libm computes with it, and Windows starts threads in another mode */
    __asm__ volatile("fnstcw %0" : "=m"(x87));
    return (uint64_t)x87 << 32 | _mm_getcsr();
#elif defined(__aarch64__)
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    return control;
#else
    return 0;
#endif
}

void attni_cpu_set_float_control(uint64_t control) {
#if defined(__x86_64__)
    const uint16_t x87 = (uint16_t)(control >> 32);
    __asm__ volatile("fldcw %0" : : "m"(x87));
    _mm_setcsr((uint32_t)control);
#elif defined(__aarch64__)
    __asm__ volatile("msr fpcr, %0" : : "r"(control));
#else
    (void)control;
#endif
}
