/* SPDX-License-Identifier: Apache-2.0 */
/* test_rows.c - the row functions of every instruction set: dot products have the bits of eight
 * partial sums written here in plain C, large numbers are found at every position of a row, and the
 * last factor leaves one form of NaN. */
#include "check.h"
#include "isas.h"
#include "random.h"

#include <math.h>
#include <string.h>

enum { LONGEST = 70 };

/* A row in both real types. */
typedef struct row {
    float f32[LONGEST];
    double f64[LONGEST];
} row;

static void put(row *r, int i, double x) {
    r->f32[i] = (float)x;
    r->f64[i] = (double)r->f32[i];
}

static const void *reals(const row *r, bool f64) { return f64 ? (const void *)r->f64 : r->f32; }

static row random_row(random_stream *random) {
    row r;
    for (int i = 0; i < LONGEST; i++)
        put(&r, i, random_chance(random, 0.1) ? 0 : random_between(random, -1, 1));
    return r;
}

static double eight_sums(int n, const row *dout, const row *out) {
    double sums[8] = {0};
    for (int c = 0; c < n; c++) sums[c % 8] += out->f64[c] == 0 ? 0 : dout->f64[c] * out->f64[c];
    for (int half = 4; half >= 1; half /= 2) {
        for (int i = 0; i < half; i++) sums[i] += sums[i + half];
    }
    return sums[0];
}

static void dot_has_the_bits_of_eight_sums(attn_isa isa) {
    NEED_ISA(isa);
    random_stream random = random_begin(1, 0);
    for (int n = 0; n <= LONGEST; n++) {
        const row dout = random_row(&random), out = random_row(&random);
        const double expected = eight_sums(n, &dout, &out);
        for (int f64 = 0; f64 < 2; f64++) {
            const double actual =
                attni_kernels_get(isa, f64)->dot(n, reals(&dout, f64), reals(&out, f64));
            CHECK_MSG(memcmp(&actual, &expected, sizeof actual) == 0,
                      "dot product of %d elements is %.17g, expected %.17g", n, actual, expected);
        }
    }
}

/* A row that sees no key has an output of 0 and may have anything in dout. */
static void dot_ignores_dout_where_out_is_zero(attn_isa isa) {
    NEED_ISA(isa);
    row dout = {0}, out = {0};
    for (int i = 0; i < LONGEST; i++) put(&dout, i, i % 2 == 0 ? NAN : INFINITY);
    put(&dout, 9, 2);
    put(&out, 9, 3);
    for (int f64 = 0; f64 < 2; f64++) {
        const attni_kernels *kernels = attni_kernels_get(isa, f64);
        CHECK_NEAR(kernels->dot(LONGEST, reals(&dout, f64), reals(&out, f64)), 6, 0);
    }
}

static void large_numbers_are_found_anywhere(attn_isa isa) {
    static const double large[] = {8, -8, 1e30, -INFINITY, INFINITY, NAN};
    NEED_ISA(isa);
    for (int n = 0; n <= LONGEST; n++) {
        for (int at = 0; at <= n; at++) { /* the last one lies behind the row */
            for (size_t x = 0; x < sizeof large / sizeof *large; x++) {
                row r = {0};
                for (int i = 0; i < n; i++) put(&r, i, i % 2 == 0 ? 7.5 : -7.5);
                if (at < LONGEST) put(&r, at, large[x]);
                for (int f64 = 0; f64 < 2; f64++) {
                    const bool below = attni_kernels_get(isa, f64)->are_below(n, reals(&r, f64), 8);
                    CHECK_MSG(below == (at >= n), "%g at %d of %d elements: below 8 is %d",
                              large[x], at, n, below);
                }
            }
        }
    }
}

static void scaled_rows_have_one_nan(attn_isa isa) {
    NEED_ISA(isa);
    const float one_nan = NAN;
    for (int n = 0; n < LONGEST; n++) {
        row r;
        for (int i = 0; i < LONGEST; i++) put(&r, i, i % 3 == 0 ? (double)-one_nan : i);
        attni_kernels_get(isa, false)->scale_row(n, 0.5, r.f32);
        for (int i = 0; i < LONGEST; i++) {
            const float expected = i >= n ? (i % 3 == 0 ? -one_nan : (float)i)
                                          : (i % 3 == 0 ? one_nan : 0.5F * (float)i);
            CHECK_MSG(memcmp(&r.f32[i], &expected, sizeof expected) == 0,
                      "element %d of %d is %g, expected %g", i, n, (double)r.f32[i],
                      (double)expected);
        }
    }
}

#define ROW_TESTS(name, isa)                                                                       \
    TEST(name##_dot_has_the_bits_of_eight_sums) { dot_has_the_bits_of_eight_sums(isa); }           \
    TEST(name##_dot_ignores_dout_where_out_is_zero) { dot_ignores_dout_where_out_is_zero(isa); }   \
    TEST(name##_large_numbers_are_found_anywhere) { large_numbers_are_found_anywhere(isa); }       \
    TEST(name##_scaled_rows_have_one_nan) { scaled_rows_have_one_nan(isa); }
ISA_LIST(ROW_TESTS)
