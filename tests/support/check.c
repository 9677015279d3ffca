/* SPDX-License-Identifier: Apache-2.0 */
/* check.c - runs the registered tests, all or those whose name contains the first argument. */
#include "check.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MAX_TESTS = 400 };
static struct {
    const char *name;
    check_fn *fn;
} tests[MAX_TESTS];
static int n_tests;

static bool failed, skipped;

void check_register(const char *name, check_fn *fn) {
    if (n_tests == MAX_TESTS) return;
    tests[n_tests].name = name;
    tests[n_tests++].fn = fn;
}

bool check_has_failed(void) { return failed; }

void check_failed(const char *file, int line, const char *format, ...) {
    va_list list;
    va_start(list, format);
    printf("\n    %s:%d: ", file, line);
    vprintf(format, list);
    printf("\n");
    va_end(list);
    failed = true;
}

void check_skipped(const char *format, ...) {
    va_list list;
    va_start(list, format);
    printf("SKIP: ");
    vprintf(format, list);
    printf("\n");
    va_end(list);
    skipped = true;
}

bool check_same_string(const char *a, const char *b) { return a && b && strcmp(a, b) == 0; }

bool check_is_near(double actual, double expected, double tolerance) {
    if (isinf(expected) || isinf(actual)) return actual == expected;
    return fabs(actual - expected) <= tolerance;
}

int main(int argc, char **argv) {
    int n_passed = 0, n_failed = 0, n_skipped = 0;
    for (int t = 0; t < n_tests; t++) {
        if (argc > 1 && !strstr(tests[t].name, argv[1])) continue;
        failed = skipped = false;
        printf("%s ... ", tests[t].name);
        fflush(stdout);
        tests[t].fn();
        if (failed) {
            printf("    FAILED: %s\n", tests[t].name);
            n_failed++;
        } else if (skipped) {
            n_skipped++;
        } else {
            printf("ok\n");
            n_passed++;
        }
    }
    printf("%d passed, %d failed, %d skipped\n", n_passed, n_failed, n_skipped);
    if (n_failed) return 1;
    return n_passed == 0 && n_skipped > 0 ? 77 : 0;
}
