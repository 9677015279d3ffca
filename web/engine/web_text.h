/* SPDX-License-Identifier: Apache-2.0 */
/* web_text.h - the few text functions of the C library that the engine needs, in a tenth of the
 * size. In the wasm module they replace those of libc; native tests compare them with libc. Tests:
 * tests/web/test_web_libc.c */
#ifndef WEB_TEXT_H
#define WEB_TEXT_H

#include <stdarg.h>
#include <stddef.h>

/* %d %ld %lld %u %zu %llu %s %c %g %%, with a precision for %s and %g, nothing else. %g is exact up
 * to 17 digits from 1e-16 to 1e44; beyond that the last digits may be off. */
int web_vsnprintf(char *to, size_t size, const char *format, va_list list);
int web_snprintf(char *to, size_t size, const char *format, ...);

/* Decimal numbers, correctly rounded if they have at most 19 digits and a moderate size (10^-27 to
 * 10^27 times the digits); no hexadecimal, no names. */
double web_strtod(const char *text, char **end);
/* Whole decimal numbers that fit. */
long long web_strtoll(const char *text, char **end, int base);

#endif
