/* SPDX-License-Identifier: Apache-2.0 */
/* check.h - the test harness: TEST(fact) { CHECK(...); }, one program per file, link with check.c
 * for main(). Small and without setjmp, so that the same suites run natively, under qemu and as
 * wasm in node. Exit status: 0 all passed, 1 a test failed, 77 nothing ran because everything was
 * skipped (ctest shows SKIP). */
#ifndef CHECK_H
#define CHECK_H

#include <stdbool.h>
#include <stddef.h>

typedef void check_fn(void);

/* One fact, one test; the name says the fact. */
#define TEST(name)                                                                                 \
    static void test_##name(void);                                                                 \
    __attribute__((constructor)) static void register_##name(void) {                               \
        check_register(#name, test_##name);                                                        \
    }                                                                                              \
    static void test_##name(void)

/* CHECK and friends end the test at the first failure. */
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            check_failed(__FILE__, __LINE__, "%s", #condition);                                    \
            return;                                                                                \
        }                                                                                          \
    } while (0)

/* CHECK_MSG(condition, "format", ...) prints the values that explain the failure. */
#define CHECK_MSG(condition, ...)                                                                  \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            check_failed(__FILE__, __LINE__, __VA_ARGS__);                                         \
            return;                                                                                \
        }                                                                                          \
    } while (0)

#define CHECK_INT(actual, expected)                                                                \
    do {                                                                                           \
        const long long actual_ = (long long)(actual), expected_ = (long long)(expected);          \
        CHECK_MSG(actual_ == expected_, "%s is %lld, expected %lld", #actual, actual_, expected_); \
    } while (0)

#define CHECK_STR(actual, expected)                                                                \
    CHECK_MSG(check_same_string(actual, expected), "%s is \"%s\", expected \"%s\"", #actual,       \
              actual, expected)

/* |actual - expected| <= tolerance; two equal infinities are near, NaN never is. */
#define CHECK_NEAR(actual, expected, tolerance)                                                    \
    do {                                                                                           \
        const double actual_ = (actual), expected_ = (expected);                                   \
        CHECK_MSG(check_is_near(actual_, expected_, tolerance),                                    \
                  "%s is %.17g, expected %.17g (off by %.3g, allowed %.3g)", #actual, actual_,     \
                  expected_, actual_ - expected_, (double)(tolerance));                            \
    } while (0)

/* True if the running test has failed already: lets helpers that contain checks stop their callers.
 */
bool check_has_failed(void);

#define SKIP(...)                                                                                  \
    do {                                                                                           \
        check_skipped(__VA_ARGS__);                                                                \
        return;                                                                                    \
    } while (0)

#if defined(__GNUC__) && !defined(__clang__) /* the formats of C99 on every system */
#define CHECK_PRINTF(format_at, first_at) __attribute__((format(gnu_printf, format_at, first_at)))
#else
#define CHECK_PRINTF(format_at, first_at) __attribute__((format(printf, format_at, first_at)))
#endif

void check_register(const char *name, check_fn *fn);
void check_failed(const char *file, int line, const char *format, ...) CHECK_PRINTF(3, 4);
void check_skipped(const char *format, ...) CHECK_PRINTF(1, 2);
bool check_same_string(const char *a, const char *b);
bool check_is_near(double actual, double expected, double tolerance);

#endif
