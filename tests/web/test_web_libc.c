/* SPDX-License-Identifier: Apache-2.0 */
/* test_web_libc.c - the functions that replace libc in the page's engine, against libc itself:
 * text, elementary functions, memory, sorting. Native; the module is tested in node. */
#include "web/engine/web_math.h"
#include "web/engine/web_memory.h"
#include "web/engine/web_sort.h"
#include "web/engine/web_text.h"

#include "check.h"
#include "core/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DRAWS = 200000, TEXT = 128 };

/* Uniform in [0, 1): the i-th number. */
static double uniform(uint32_t i) {
    const attni_philox r = attni_philox4x32(7, i, 0, 0, 0);
    return (r.word[0] + r.word[1] * 0x1p-32) * 0x1p-32;
}

/* Of either sign, of all sizes from 1e-15 to 1e40. */
static double number(uint32_t i) {
    return ldexp(1 + uniform(2 * i), (int)(182 * uniform(2 * i + 1)) - 49) * (i % 2 ? 1 : -1);
}

static double ulps(double found, double expected) {
    if (found == expected || (isnan(found) && isnan(expected))) return 0;
    return fabs(found - expected) / (nextafter(fabs(expected), INFINITY) - fabs(expected));
}

/* ----------------------------------------------------------------------------------------- text */

TEST(web_numbers_are_printed_as_libc_prints_them) {
    char found[TEXT], expected[TEXT];
    for (uint32_t i = 0; i < DRAWS; i++) {
        const double x = number(i);
        const long long n = (long long)(uniform(i) * 0x1p62) * (i % 2 ? 1 : -1);
        web_snprintf(found, TEXT, "%.17g %g %.6g %.3g %lld %d %zu", x, x, x, x, n, (int)n,
                     (size_t)n);
        snprintf(expected, TEXT, "%.17g %g %.6g %.3g %lld %d %zu", x, x, x, x, n, (int)n,
                 (size_t)n);
        CHECK_MSG(strcmp(found, expected) == 0, "%s, expected %s", found, expected);
    }
}

TEST(web_special_numbers_are_printed_as_libc_prints_them) {
    const double list[] = {0,    -0.0, 1,     -1,     10,     99999.95, 999999.5, 0.0001, 0.00001,
                           1e15, 1e16, 1e17,  0.1,    0.5,    0.25,     2.5,      1e22,   1e-15,
                           NAN,  123,  1e300, 1e-300, 9.5e-5, INFINITY, -INFINITY};
    char found[TEXT], expected[TEXT];
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        web_snprintf(found, TEXT, "%g|%.1g|%.2g", list[i], list[i], list[i]);
        snprintf(expected, TEXT, "%g|%.1g|%.2g", list[i], list[i], list[i]);
        CHECK_MSG(strcmp(found, expected) == 0, "%s, expected %s", found, expected);
    }
}

TEST(web_text_is_cut_as_libc_cuts_it) {
    for (size_t size = 0; size < 24; size++) {
        char found[TEXT] = "untouched", expected[TEXT] = "untouched";
        const int n = web_snprintf(found, size, "%s|%.3s|%c%%|%u", "a word", "longer", 'c', 42u);
        const int m = snprintf(expected, size, "%s|%.3s|%c%%|%u", "a word", "longer", 'c', 42u);
        CHECK_MSG(n == m && strcmp(found, expected) == 0, "%s, expected %s", found, expected);
    }
}

TEST(web_numbers_that_were_printed_read_back) {
    char text[TEXT], *end;
    for (uint32_t i = 0; i < DRAWS; i++) {
        const double x = ldexp(number(i), i % 3 ? 0 : -10);
        snprintf(text, TEXT, "%.17g", x);
        const double found = web_strtod(text, &end);
        CHECK_MSG(*end == 0, "%s: stopped at %s", text, end);
        CHECK_MSG(found == x || fabs(x) < 1e-10 || fabs(x) > 1e39, "%s: %.17g", text, found);
        CHECK_MSG(ulps(found, x) <= 32, "%s: %.17g", text, found);
    }
}

TEST(web_texts_are_read_as_libc_reads_them) {
    const char *const list[] = {"0",
                                "-0",
                                "1.5",
                                "0.278",
                                "1.12e-7",
                                ".5",
                                "5.",
                                "e5",
                                "",
                                "-",
                                ".",
                                "1e",
                                "1e+",
                                "12abc",
                                "+7",
                                "1e5",
                                "-.5e1",
                                "1e400",
                                "1e-400",
                                "0x",
                                "9007199254740993",
                                "123456789012345678901234567890"};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        char *found_end, *expected_end;
        const double expected = strtod(list[i], &expected_end),
                     found = web_strtod(list[i], &found_end);
        CHECK_MSG(found == expected && found_end == expected_end,
                  "\"%s\": %g and \"%s\", expected %g", list[i], found, found_end, expected);
    }
}

TEST(web_whole_numbers_are_read_as_libc_reads_them) {
    const char *const list[] = {"0", "17", "-3", "+4", "", "x", "12x", "999999999999999999"};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        char *found_end, *expected_end;
        const long long expected = strtoll(list[i], &expected_end, 10);
        CHECK_INT(web_strtoll(list[i], &found_end, 10), expected);
        CHECK(found_end == expected_end);
    }
}

/* ------------------------------------------------------------------------------------ functions */

typedef double real_function(double x);

/* The largest error over arguments from low to high. */
static double worst(real_function *ours, real_function *libm, double low, double high) {
    double most = 0;
    for (uint32_t i = 0; i < DRAWS; i++) {
        const double x = low + (high - low) * uniform(i);
        most = fmax(most, ulps(ours(x), libm(x)));
    }
    return most;
}

TEST(web_exp_is_within_1_ulp) {
    CHECK(worst(web_exp, exp, -700, 709) <= 1);
    CHECK(worst(web_exp, exp, -1, 1) <= 1);
    CHECK(web_exp(0) == 1 && web_exp(-INFINITY) == 0 && web_exp(INFINITY) == INFINITY);
    CHECK(isnan(web_exp(NAN)));
}

TEST(web_exp_of_tiny_results_is_within_1_ulp) { CHECK(worst(web_exp, exp, -745, -700) <= 1); }

TEST(web_log_is_within_1_ulp) {
    CHECK(worst(web_log, log, 0, 3) <= 1);
    CHECK(worst(web_log, log, 0.9, 1.1) <= 1);
    CHECK(worst(web_log, log, 0, 1e300) <= 1);
    CHECK(web_log(1) == 0 && web_log(0) == -INFINITY && web_log(INFINITY) == INFINITY);
    CHECK(isnan(web_log(-1)) && isnan(web_log(NAN)));
}

TEST(web_tanh_is_within_4_ulp) {
    CHECK(worst(web_tanh, tanh, -3, 3) <= 4);
    CHECK(web_tanh(0) == 0 && web_tanh(1000) == 1 && web_tanh(-INFINITY) == -1);
    CHECK(isnan(web_tanh(NAN)));
}

TEST(web_cos_is_right_where_the_schedule_asks) {
    for (int i = 0; i <= 2000; i++) {
        const double angle = 3.14159265358979323846 * i / 2000;
        CHECK(fabs(web_cos(angle) - cos(angle)) <= 0x1p-52);
    }
    CHECK(isnan(web_cos(5)));
}

TEST(web_powers_of_the_optimizer_are_those_of_libm) {
    const double base[] = {0.9, 0.999, 0.95, 0.98};
    for (int b = 0; b < 4; b++)
        for (int n = 1; n <= 4000; n++)
            CHECK_MSG(ulps(web_pow(base[b], n), pow(base[b], n)) <= 1, "%g^%d", base[b], n);
    CHECK(web_pow(10, -3) == 1e-3 && web_pow(10, 22) == 1e22 && web_pow(5, 0) == 1);
    CHECK(ulps(web_pow(2, 0.5), sqrt(2)) <= 2);
}

/* --------------------------------------------------------------------------------------- memory */

TEST(web_memory_is_aligned_and_does_not_overlap) {
    unsigned char *block[64];
    for (int i = 0; i < 64; i++) {
        block[i] = web_malloc((size_t)(1 + 37 * i));
        CHECK(block[i] && (uintptr_t)block[i] % 64 == 0);
        memset(block[i], i, (size_t)(1 + 37 * i));
    }
    for (int i = 0; i < 64; i++)
        for (int x = 0; x < 1 + 37 * i; x++) CHECK_INT(block[i][x], i);
    for (int i = 0; i < 64; i++) web_free(block[(i * 27) % 64]);
}

TEST(web_memory_that_was_freed_is_used_again_in_any_order) {
    for (int round = 0; round < 1000; round++) { /* of a megabyte in all */
        void *a = web_malloc(100000), *b = web_malloc(200000), *c = web_malloc(50);
        CHECK(a && b && c);
        web_free(round % 2 ? a : c);
        web_free(b);
        void *d = web_malloc(250000);
        CHECK(d);
        web_free(d);
        web_free(round % 2 ? c : a);
    }
    void *most = web_malloc(600000); /* the pieces were joined again */
    CHECK(most);
    web_free(most);
}

TEST(web_memory_that_is_not_there_is_refused) {
    CHECK(web_malloc(1 << 21) == NULL);
    CHECK(web_malloc(SIZE_MAX) == NULL && web_malloc(SIZE_MAX - 100) == NULL);
    CHECK(web_calloc(SIZE_MAX / 2, 3) == NULL);
    CHECK(web_aligned_alloc(128, 10) == NULL);
    web_free(NULL);
}

TEST(web_realloc_keeps_what_was_there_and_calloc_clears) {
    char *text = web_realloc(NULL, 6);
    CHECK(text);
    memcpy(text, "hello", 6);
    text = web_realloc(text, 10000);
    CHECK(text && strcmp(text, "hello") == 0);
    memset(text, 1, 10000);
    web_free(text);
    text = web_calloc(100, 100);
    for (int i = 0; i < 10000; i++) CHECK_INT(text[i], 0);
    web_free(text);
}

/* ----------------------------------------------------------------------------------------- sort */

static int by_first(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

TEST(web_sort_puts_lists_of_any_length_in_order) {
    double list[200][3];
    for (size_t n = 0; n <= 200; n++) {
        double sum = 0, sorted_sum = 0;
        for (size_t i = 0; i < n; i++) {
            list[i][0] = floor(50 * uniform((uint32_t)(n * 200 + i)));
            list[i][1] = list[i][2] = 3 * list[i][0];
            sum += list[i][0];
        }
        web_qsort(list, n, sizeof *list, by_first);
        for (size_t i = 0; i < n; i++) {
            CHECK(i == 0 || list[i - 1][0] <= list[i][0]);
            CHECK(list[i][1] == 3 * list[i][0] && list[i][2] == list[i][1]);
            sorted_sum += list[i][0];
        }
        CHECK(sum == sorted_sum);
    }
}
