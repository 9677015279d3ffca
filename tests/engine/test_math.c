/* SPDX-License-Identifier: Apache-2.0 */
/* test_math.c - the small functions that results rest on, against libm in a wider type: the
 * kernels' own 2^x and tanh on every instruction set, the logarithm of core/log2.h,
 * half-precision rows. Measured with gcc on x86-64, in ulp, with / without fused multiply-add:
 * exp2 0.81 / 0.85 in f32 and 0.79 / 0.85 in f64, tanh 3.5 in f32 and 3.1 in f64, ln 0.83. */
#include "core/half.h"
#include "core/log2.h"
#include "isas.h"
#include "problem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Distance from a double to its neighbour that is further from zero. */
static double ulp64(double x) {
    int exponent;
    frexp(x, &exponent);
    return ldexp(1, exponent - 53 < -1074 ? -1074 : exponent - 53);
}

static double ulp32(double x) {
    int exponent;
    frexp(x, &exponent);
    return ldexp(1, exponent - 24 < -149 ? -149 : exponent - 24);
}

/* -------------------------------------------------------------------- functions of one argument */

enum { BATCH = 4096 };

typedef void array_function(int64_t n, const void *x, void *y);
typedef struct sampler {
    array_function *function;
    double (*exact32)(double);
    long double (*exact64)(long double);
    double worst, at; /* error in ulp, and where */
    int used;
    float x32[BATCH], y32[BATCH];
    double x64[BATCH], y64[BATCH];
} sampler;

static sampler the_sampler; /* too large for the stack */

static void note(sampler *s, double error, double x) {
    if (!(error <= s->worst)) { /* NaN counts as worst */
        s->worst = error;
        s->at = x;
    }
}

static void flush32(sampler *s) {
    for (int i = s->used; i < BATCH; i++) s->x32[i] = 0;
    s->function(BATCH, s->x32, s->y32);
    for (int i = 0; i < s->used; i++) {
        const double exact = s->exact32(s->x32[i]);
        const double error = fabs(s->y32[i] - exact);
        note(s, error == 0 ? 0 : error / ulp32(exact), s->x32[i]);
    }
    s->used = 0;
}

static void flush64(sampler *s) {
    for (int i = s->used; i < BATCH; i++) s->x64[i] = 0;
    s->function(BATCH, s->x64, s->y64);
    for (int i = 0; i < s->used; i++) {
        const long double exact = s->exact64(s->x64[i]);
        const long double error = fabsl((long double)s->y64[i] - exact);
        note(s, error == 0 ? 0 : (double)(error / (long double)ulp64((double)exact)), s->x64[i]);
    }
    s->used = 0;
}

static void sample32(sampler *s, float x) {
    s->x32[s->used++] = x;
    if (s->used == BATCH) flush32(s);
}

static void sample64(sampler *s, double x) {
    s->x64[s->used++] = x;
    if (s->used == BATCH) flush64(s);
}

static sampler *begin(array_function *function) {
    the_sampler = (sampler){.function = function, .exact32 = exp2, .exact64 = exp2l};
    return &the_sampler;
}

/* ----------------------------------------------------------------------------------------- exp2 */

/* The result before scaling is in [0.7, 1.42]. Worst where it is below 1: half an ulp from the last
 * addition, a quarter from rounding (2^f - 1) / f or f LN2, 0.1 from the rest of the polynomial.
 * Every float of -1/2 .. -2 and the last 65536 before -126, and every 61st of all others. */
static void exp2_f32_error(attn_isa isa) {
    NEED_ISA(isa);
    sampler *s = begin(attni_kernels_get(isa, false)->exp2);
    const uint32_t lowest = attni_bits_of(-126.0f), minus_zero = 0x80000000u;
    const uint32_t step = (uint32_t)(61 * 100 / test_rounds(100));
    for (uint32_t bits = minus_zero; bits <= lowest; bits += step)
        sample32(s, attni_float_of(bits));
    for (uint32_t bits = attni_bits_of(-0.5f); bits < attni_bits_of(-2.0f); bits++) {
        if (bits % (step / 61) == 0) sample32(s, attni_float_of(bits));
    }
    for (uint32_t bits = lowest - 0x10000; bits <= lowest; bits++)
        sample32(s, attni_float_of(bits));
    flush32(s);
    CHECK_MSG(s->worst <= 1, "exp2(%.9g) is off by %.4f ulp", s->at, s->worst);
    printf("(%.3f ulp) ", s->worst);
}

static void exp2_f64_error(attn_isa isa) {
    NEED_ISA(isa);
    sampler *s = begin(attni_kernels_get(isa, true)->exp2);
    random_stream r = random_begin(1, 1);
    const int n = test_rounds(400000);
    for (int i = 0; i < n; i++) {
        sample64(s, random_between(&r, -1022, 0));
        sample64(s, random_between(&r, -2, 0));
        sample64(s, -ldexp(random_between(&r, 1, 2), -(int)random_below(&r, 70)));
    }
    for (int i = 0; i <= 4 * 1022; i++) sample64(s, -i / 4.0);
    flush64(s);
    CHECK_MSG(s->worst <= 1, "exp2(%.17g) is off by %.4f ulp", s->at, s->worst);
    printf("(%.3f ulp) ", s->worst);
}

/* One value through a table's function; the other lanes hold something else. */
static double apply(attn_isa isa, bool f64, bool tanh_function, double x) {
    const attni_kernels *kernels = attni_kernels_get(isa, f64);
    array_function *function = tanh_function ? kernels->tanh : kernels->exp2;
    float x32[16], y32[16];
    double x64[16], y64[16];
    for (int i = 0; i < 16; i++) {
        x32[i] = i == kernels->vl - 1 ? (float)x : -1.5f;
        x64[i] = i == kernels->vl - 1 ? x : -1.5;
    }
    function(kernels->vl, f64 ? (void *)x64 : (void *)x32, f64 ? (void *)y64 : (void *)y32);
    return f64 ? y64[kernels->vl - 1] : (double)y32[kernels->vl - 1];
}

static void exp2_ends(attn_isa isa) {
    NEED_ISA(isa);
    for (int f64 = 0; f64 < 2; f64++) {
        const double last = f64 ? -1022 : -126; /* 2^last is the smallest normal number */
        const double lower[] = {last - 1, last - 1.25, last - 200, -1e9, -1e30, -3e38, -INFINITY};
        CHECK_MSG(apply(isa, f64, false, 0) == 1, "2^0 is not 1 (f64: %d)", f64);
        CHECK_MSG(apply(isa, f64, false, -0.0) == 1, "2^-0 is not 1 (f64: %d)", f64);
        CHECK_MSG(apply(isa, f64, false, last) == exp2(last), "2^%g (f64: %d)", last, f64);
        for (size_t i = 0; i < sizeof lower / sizeof lower[0]; i++) {
            const double y = apply(isa, f64, false, lower[i]);
            CHECK_MSG(y == 0 && !signbit(y), "2^%.17g is %g (f64: %d)", lower[i], y, f64);
        }
    }
}

/* On the way down to 0, one unit below the normal range, nothing jumps up. */
static void exp2_below_normal(attn_isa isa) {
    NEED_ISA(isa);
    for (int f64 = 0; f64 < 2; f64++) {
        const double last = f64 ? -1022 : -126;
        double before = exp2(last);
        for (double step = 1.0 / 256; step <= 1; step += 1.0 / 256) {
            const double y = apply(isa, f64, false, last - step);
            CHECK_MSG(y >= 0 && y <= before, "2^%.17g is %g (f64: %d)", last - step, y, f64);
            before = y;
        }
    }
}

/* Whole numbers give powers of two without error: equal scores then share exactly. */
static void exp2_of_integers(attn_isa isa) {
    NEED_ISA(isa);
    for (int n = 0; n <= 126; n++) {
        CHECK_MSG(apply(isa, false, false, -n) == ldexp(1, -n), "2^-%d in f32", n);
    }
    for (int n = 0; n <= 1022; n++) {
        CHECK_MSG(apply(isa, true, false, -n) == ldexp(1, -n), "2^-%d in f64", n);
    }
}

static const uint32_t nans32[] = {0x7fc00000, 0xffc00000, 0x7fffffff, 0xffffffff,
                                  0x7f800001, 0xff800001, 0x7fc0ffff, 0x7fa00000};
static const uint64_t nans64[] = {0x7ff8000000000000, 0xfff8000000000000, 0x7fffffffffffffff,
                                  0xffffffffffffffff, 0x7ff0000000000001, 0xfff0000000000001};

/* The NaNs go in by their bits, through memory: a conversion would change them. */
static void nan_stays(attn_isa isa, bool tanh_function) {
    NEED_ISA(isa);
    const attni_kernels *k32 = attni_kernels_get(isa, false), *k64 = attni_kernels_get(isa, true);
    for (size_t i = 0; i < sizeof nans32 / sizeof nans32[0]; i++) {
        uint32_t x[16];
        float y[16] = {0};
        for (int lane = 0; lane < 16; lane++) x[lane] = nans32[i];
        (tanh_function ? k32->tanh : k32->exp2)(k32->vl, x, y);
        CHECK_MSG(isnan(y[0]) && isnan(y[k32->vl - 1]), "NaN 0x%08x gives %g", nans32[i], y[0]);
    }
    for (size_t i = 0; i < sizeof nans64 / sizeof nans64[0]; i++) {
        uint64_t x[16];
        double y[16] = {0};
        for (int lane = 0; lane < 16; lane++) x[lane] = nans64[i];
        (tanh_function ? k64->tanh : k64->exp2)(k64->vl, x, y);
        CHECK_MSG(isnan(y[0]) && isnan(y[k64->vl - 1]), "NaN %zu gives %g", i, y[0]);
    }
}

/* ----------------------------------------------------------------------------------------- tanh */

static void tanh_f32_error(attn_isa isa) {
    NEED_ISA(isa);
    sampler *s = begin(attni_kernels_get(isa, false)->tanh);
    s->exact32 = tanh;
    const uint32_t step = (uint32_t)(173 * 100 / test_rounds(100));
    for (uint32_t bits = 0; bits < attni_bits_of(20.0f); bits += step) {
        sample32(s, attni_float_of(bits));
        sample32(s, -attni_float_of(bits));
    }
    flush32(s);
    CHECK_MSG(s->worst <= 4, "tanh(%.9g) is off by %.4f ulp", s->at, s->worst);
    printf("(%.3f ulp) ", s->worst);
}

static void tanh_f64_error(attn_isa isa) {
    NEED_ISA(isa);
    sampler *s = begin(attni_kernels_get(isa, true)->tanh);
    s->exact64 = tanhl;
    random_stream r = random_begin(2, 2);
    const int n = test_rounds(150000);
    for (int i = 0; i < n; i++) {
        sample64(s, random_between(&r, -3, 3));
        sample64(s, random_between(&r, -25, 25));
        sample64(s, ldexp(random_between(&r, -2, 2), -(int)random_below(&r, 1000)));
    }
    flush64(s);
    CHECK_MSG(s->worst <= 4, "tanh(%.17g) is off by %.4f ulp", s->at, s->worst);
    printf("(%.3f ulp) ", s->worst);
}

static void tanh_is_odd(attn_isa isa) {
    NEED_ISA(isa);
    random_stream r = random_begin(3, 3);
    for (int i = 0; i < 20000; i++) {
        const double x = (float)ldexp(random_between(&r, 1, 2), (int)random_below(&r, 60) - 50);
        for (int f64 = 0; f64 < 2; f64++) {
            const double up = apply(isa, f64, true, x), down = apply(isa, f64, true, -x);
            CHECK_MSG(up == -down, "tanh(+-%.17g): %.17g and %.17g", x, up, down);
        }
    }
    for (int f64 = 0; f64 < 2; f64++) {
        CHECK(apply(isa, f64, true, 0) == 0 && !signbit(apply(isa, f64, true, 0)));
        CHECK(apply(isa, f64, true, -0.0) == 0 && signbit(apply(isa, f64, true, -0.0)));
    }
}

static void tanh_saturates(attn_isa isa) {
    NEED_ISA(isa);
    const double large[] = {10, 20, 44, 89, 127, 711, 1e5, 1e30, INFINITY};
    for (size_t i = 0; i < sizeof large / sizeof large[0]; i++) {
        for (int f64 = large[i] < 20; f64 < 2; f64++) {
            const bool wide = f64 && large[i] >= 20;
            CHECK_MSG(apply(isa, wide, true, large[i]) == 1, "tanh(%g)", large[i]);
            CHECK_MSG(apply(isa, wide, true, -large[i]) == -1, "tanh(-%g)", large[i]);
        }
    }
}

/* ------------------------------------------------------------------------------- half precision */

static const attn_dtype halves[2] = {ATTN_F16, ATTN_BF16};

/* The value of a half by the definition of the format: (-1)^s 2^(e - bias) 1.m */
static double half_value(attn_dtype dtype, uint32_t h) {
    const int mantissa_bits = dtype == ATTN_F16 ? 10 : 7, bias = dtype == ATTN_F16 ? 15 : 127;
    const int top = dtype == ATTN_F16 ? 31 : 255, exponent = (int)(h >> mantissa_bits) & top;
    const double mantissa = (double)(h & ((1u << mantissa_bits) - 1)), sign = h >> 15 ? -1 : 1;
    if (exponent == top) return mantissa == 0 ? sign * INFINITY : NAN;
    const double one = exponent == 0 ? 0 : ldexp(1, mantissa_bits);
    return sign * ldexp(one + mantissa, (exponent == 0 ? 1 : exponent) - bias - mantissa_bits);
}

static bool same_number(double a, double b) {
    return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

/* All 65536 halves in one call, also against core/half.h. */
static void widen_all(attn_isa isa) {
    NEED_ISA(isa);
    const attni_kernels *kernels = attni_kernels_get(isa, false);
    uint16_t *from = malloc(65536 * sizeof *from);
    float *to = malloc(65536 * sizeof *to);
    int wrong = -1;
    for (int x = 0; from && to && x < 2 && wrong < 0; x++) {
        for (int h = 0; h < 65536; h++) from[h] = (uint16_t)h;
        kernels->widen(65536, halves[x], from, to);
        for (int h = 0; h < 65536 && wrong < 0; h++) {
            const float core = x == 0 ? attni_f16_to_f32(from[h]) : attni_bf16_to_f32(from[h]);
            if (!same_number(to[h], half_value(halves[x], from[h])) || !same_number(to[h], core))
                wrong = h + 65536 * x;
        }
    }
    free(from);
    free(to);
    CHECK_MSG(wrong < 0, "half 0x%05x (bf16 from 0x10000) is widened wrongly", (unsigned)wrong);
}

/* One float through narrow, in a row long enough for whole vectors. */
static uint16_t narrowed(const attni_kernels *kernels, attn_dtype dtype, float x) {
    float from[33];
    uint16_t to[33];
    for (int i = 0; i < 33; i++) from[i] = x;
    kernels->narrow(33, dtype, from, to);
    return to[0] == to[32] ? to[0] : (uint16_t)~to[0];
}

/* Halves survive the way there and back; halfway between two of them the even one wins, and a float
 * next to the middle goes to the nearer one. */
static void narrow_all(attn_isa isa) {
    NEED_ISA(isa);
    const attni_kernels *kernels = attni_kernels_get(isa, false);
    for (int x = 0; x < 2; x++) {
        const uint32_t infinity = x == 0 ? 0x7c00 : 0x7f80;
        const int stride = 100 / test_rounds(100);
        for (uint32_t h = 0; h < infinity; h += (uint32_t)stride) {
            const double below = half_value(halves[x], h);
            const double next = h + 1 == infinity ? 2 * below - half_value(halves[x], h - 1)
                                                  : half_value(halves[x], h + 1);
            const float middle = (float)((below + next) / 2);
            const uint16_t even = (uint16_t)(h & 1 ? h + 1 : h);
            CHECK_INT(narrowed(kernels, halves[x], (float)below), h);
            CHECK_INT(narrowed(kernels, halves[x], middle), even);
            CHECK_INT(narrowed(kernels, halves[x], -middle), even | 0x8000);
            CHECK_INT(narrowed(kernels, halves[x], nextafterf(middle, 0)), h);
            CHECK_INT(narrowed(kernels, halves[x], nextafterf(middle, INFINITY)), h + 1);
        }
        CHECK_INT(narrowed(kernels, halves[x], INFINITY), infinity);
        CHECK_INT(narrowed(kernels, halves[x], -INFINITY), infinity | 0x8000);
        for (size_t i = 0; i < sizeof nans32 / sizeof nans32[0]; i++) {
            const uint16_t h = narrowed(kernels, halves[x], attni_float_of(nans32[i]));
            CHECK_MSG(isnan(half_value(halves[x], h)), "NaN 0x%08x becomes 0x%04x", nans32[i], h);
        }
    }
}

/* Rows of every length up to three vectors, with no byte to spare on either side. */
static void half_rows(attn_isa isa) {
    NEED_ISA(isa);
    const attni_kernels *kernels = attni_kernels_get(isa, false);
    for (int64_t n = 0; n <= 3 * kernels->vl + 1; n++) {
        for (int x = 0; x < 4; x++) {
            const attn_dtype dtype = halves[x / 2];
            guard half, wide;
            CHECK(guard_alloc(&half, (size_t)n * 2, x & 1 ? GUARD_BEFORE : GUARD_AFTER));
            CHECK(guard_alloc(&wide, (size_t)n * 4, x & 1 ? GUARD_BEFORE : GUARD_AFTER));
            guard_explain("widen and narrow");
            for (int64_t i = 0; i < n; i++)
                ((uint16_t *)half.data)[i] = (uint16_t)(0x3c00 + 37 * i);
            kernels->widen(n, dtype, half.data, (float *)wide.data);
            memset(half.data, 0, half.size);
            kernels->narrow(n, dtype, (const float *)wide.data, half.data);
            for (int64_t i = 0; i < n; i++)
                CHECK_INT(((uint16_t *)half.data)[i], (uint16_t)(0x3c00 + 37 * i));
            CHECK(guard_intact(&half) && guard_intact(&wide));
            guard_free(&half);
            guard_free(&wide);
        }
    }
}

/* ------------------------------------------------------------------------------------ logarithm */

/* The large part of the result is exact: half an ulp from the last sum, less from the rest. */
TEST(ln_is_within_one_ulp_of_the_long_logarithm) {
    random_stream r = random_begin(4, 4);
    double worst = 0, at = 1;
    const int n = test_rounds(1000000);
    for (int i = 0; i < n; i++) {
        const double x = ldexp(random_between(&r, 1, 2), (int)random_below(&r, 2000) - 1000);
        double exponent;
        const double ln_m = attni_ln(x, &exponent);
        CHECK_MSG(fabs(ln_m) < 0.3466, "ln of the mantissa of %.17g is %.17g", x, ln_m);
        const long double exact = logl((long double)ldexp(x, -(int)exponent));
        const double error = (double)(fabsl(ln_m - exact) / (long double)ulp64((double)exact));
        if (error > worst) {
            worst = error;
            at = x;
        }
    }
    CHECK_MSG(worst <= 1, "ln of the mantissa of %.17g is off by %.3f ulp", at, worst);
    printf("(%.3f ulp) ", worst);
}

/* The error of lse is that of its largest part: ln 2 times the maximum, or 1. */
TEST(lse_is_the_natural_logarithm_of_a_base_2_sum) {
    random_stream r = random_begin(5, 5);
    const long double ln2 = logl(2);
    for (int i = 0; i < 200000; i++) {
        const double max = ldexp(random_between(&r, -1, 1), (int)random_below(&r, 40) - 10);
        const double sum = random_between(&r, 1, 3000);
        const long double exact = (long double)max * ln2 + logl((long double)sum);
        const double allowed = 3 * 0x1p-53 * (fabs(max) + 12);
        const double error = (double)fabsl(attni_lse(max, sum) - exact);
        CHECK_MSG(error <= allowed, "lse(%.17g, %.17g) is off by %g", max, sum, error);
    }
}

TEST(lse_of_one_key_is_its_score_and_of_infinity_infinite) {
    CHECK(attni_lse(0, 1) == 0);
    CHECK_NEAR(attni_lse(1, 1), ATTNI_LN2, 0);
    CHECK_NEAR(attni_lse(0, 4), 2 * ATTNI_LN2, 0);
    CHECK(attni_lse(INFINITY, 3) == INFINITY);
    CHECK(isnan(attni_lse(0, NAN)));
    CHECK(isnan(attni_lse(NAN, 1)));
}

/* ---------------------------------------------------------------------------------------- tests */

#define ISA_TESTS(isa, ISA)                                                                        \
    TEST(isa##_exp2_f32_is_within_one_ulp) { exp2_f32_error(ISA); }                                \
    TEST(isa##_exp2_f64_is_within_one_ulp) { exp2_f64_error(ISA); }                                \
    TEST(isa##_exp2_of_zero_is_one_and_far_below_it_zero) { exp2_ends(ISA); }                      \
    TEST(isa##_exp2_falls_to_zero_below_the_normal_range) { exp2_below_normal(ISA); }              \
    TEST(isa##_exp2_of_integers_is_exact) { exp2_of_integers(ISA); }                               \
    TEST(isa##_exp2_of_nan_is_nan) { nan_stays(ISA, false); }                                      \
    TEST(isa##_tanh_f32_is_within_four_ulp) { tanh_f32_error(ISA); }                               \
    TEST(isa##_tanh_f64_is_within_four_ulp) { tanh_f64_error(ISA); }                               \
    TEST(isa##_tanh_is_odd) { tanh_is_odd(ISA); }                                                  \
    TEST(isa##_tanh_reaches_one) { tanh_saturates(ISA); }                                          \
    TEST(isa##_tanh_of_nan_is_nan) { nan_stays(ISA, true); }                                       \
    TEST(isa##_widens_every_half) { widen_all(ISA); }                                              \
    TEST(isa##_narrows_to_the_nearest_half) { narrow_all(ISA); }                                   \
    TEST(isa##_half_rows_of_every_length_stay_inside) { half_rows(ISA); }

ISA_LIST(ISA_TESTS)
