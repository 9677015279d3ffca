/* SPDX-License-Identifier: Apache-2.0 */
/* web_text.c - see web_text.h. Converts between decimal and binary with 128-bit integers: a number
 * is m 2^e, and 10^q is 5^q 2^q, so that one product or quotient, rounded once, is the answer. */
#include "web_text.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef unsigned __int128 wide;

static wide power_of_5(int n) {
    wide p = 1;
    while (n-- > 0) p *= 5;
    return p;
}

/* num / den and the remainder, bit by bit: compilers would call a function of 750 bytes instead.
 * den is below 2^127. */
static wide divide(wide num, wide den, wide *rest) {
    wide quotient = 0;
    *rest = 0;
    for (int i = 0; i < 128; i++) {
        *rest = *rest << 1 | num >> 127;
        num <<= 1;
        quotient <<= 1;
        if (*rest < den) continue;
        *rest -= den;
        quotient |= 1;
    }
    return quotient;
}

/* --------------------------------------------------------------------------------------- output */

typedef struct sink {
    char *to;
    size_t size, n; /* n may exceed size: it counts the full length */
} sink;

static void put(sink *s, char c) {
    if (s->n + 1 < s->size) s->to[s->n] = c;
    s->n++;
}

static void put_text(sink *s, const char *text, size_t most) {
    for (size_t i = 0; i < most && text[i]; i++) put(s, text[i]);
}

static void put_whole(sink *s, uint64_t x, bool negative) {
    char digits[24];
    int n = 0;
    do digits[n++] = (char)('0' + x % 10);
    while (x /= 10);
    if (negative) put(s, '-');
    while (n > 0) put(s, digits[--n]);
}

/* num / den rounded to the nearest whole number, ties to even. */
static uint64_t nearest(wide num, wide den) {
    wide rest;
    const wide quotient = divide(num, den, &rest);
    const bool up = rest > den - rest || (rest == den - rest && (quotient & 1));
    return (uint64_t)quotient + up;
}

/* x 10^q, rounded. The result must be below 2^60. */
static uint64_t scaled(double x, int q) {
    int e;
    const wide m = (uint64_t)(frexp(x, &e) * 0x1p53);
    const int shift = e - 53 + q;
    const wide num = q >= 0 ? m * power_of_5(q) : m, den = q >= 0 ? 1 : power_of_5(-q);
    return shift >= 0 ? nearest(num << shift, den) : nearest(num, den << -shift);
}

/* The first `precision` digits of x > 0, and the power of ten of the first digit. */
static uint64_t digits_of(double x, int precision, int *exponent) {
    int moved = 0, k;
    uint64_t least = 1, digits;
    for (; x < 1e-15; moved -= 20) x *= 1e20;
    for (; x > 1e44; moved += 20) x /= 1e20;
    frexp(x, &k);
    k = (int)floor((k - 1) * 0.30102999566398120);
    for (int i = 1; i < precision; i++) least *= 10;
    digits = scaled(x, precision - 1 - k);
    if (digits >= 10 * least) digits = scaled(x, precision - 1 - ++k);
    if (digits >= 10 * least) digits /= 10, k++; /* 9.9996 with four digits */
    *exponent = k + moved;
    return digits;
}

static void put_exponent(sink *s, int k) {
    put(s, 'e');
    put(s, k < 0 ? '-' : '+');
    const int size = k < 0 ? -k : k;
    if (size < 10) put(s, '0');
    put_whole(s, (uint64_t)size, false);
}

/* %g: the shorter of fixed and exponential notation, without trailing zeros. */
static void put_real(sink *s, double x, int precision) {
    if (isnan(x)) return put_text(s, "nan", 3);
    if (signbit(x)) put(s, '-');
    x = fabs(x);
    if (isinf(x)) return put_text(s, "inf", 3);
    if (x == 0) return put(s, '0');
    char text[20];
    int k, n = precision;
    uint64_t digits = digits_of(x, precision, &k);
    for (int i = n - 1; i >= 0; i--, digits /= 10) text[i] = (char)('0' + digits % 10);
    while (n > 1 && text[n - 1] == '0') n--;
    const bool fixed = k >= -4 && k < precision;
    const int point = fixed ? k : 0; /* number of digits before the point, minus one */
    if (point < 0) put_text(s, "0.", 2);
    for (int i = -1; i > point; i--) put(s, '0');
    for (int i = 0; i < n || i <= point; i++) {
        put(s, i < n ? text[i] : '0');
        if (i == point && i + 1 < n) put(s, '.');
    }
    if (!fixed) put_exponent(s, k);
}

/* -------------------------------------------------------------------------------------- formats */

static void put_signed(sink *s, long long x) {
    put_whole(s, x < 0 ? 0 - (uint64_t)x : (uint64_t)x, x < 0);
}

/* A length of 0, 1 or 2 times l, or z, which is as long as l. */
static long long next_signed(int length, va_list *list) {
    return length == 2 ? va_arg(*list, long long)
           : length    ? va_arg(*list, long)
                       : va_arg(*list, int);
}

static unsigned long long next_unsigned(int length, va_list *list) {
    return length == 2 ? va_arg(*list, unsigned long long)
           : length    ? va_arg(*list, unsigned long)
                       : va_arg(*list, unsigned);
}

/* Writes one item after its %; returns the rest of the format. */
static const char *put_item(sink *s, const char *f, va_list *list) {
    int precision = -1, length = 0;
    if (*f == '.')
        for (precision = 0, f++; *f >= '0' && *f <= '9'; f++)
            precision = 10 * precision + (*f - '0');
    for (; *f == 'l' || *f == 'z'; f++) length++;
    switch (*f) {
    case 'd': put_signed(s, next_signed(length, list)); break;
    case 'u': put_whole(s, next_unsigned(length, list), false); break;
    case 'c': put(s, (char)va_arg(*list, int)); break;
    case 's': put_text(s, va_arg(*list, const char *), (size_t)precision); break;
    case 'g': put_real(s, va_arg(*list, double), precision < 0 ? 6 : precision); break;
    default: put(s, *f); break;
    }
    return f + 1;
}

int web_vsnprintf(char *to, size_t size, const char *format, va_list list) {
    sink s = {to, size, 0};
    va_list copy;
    va_copy(copy, list);
    while (*format) {
        if (*format != '%')
            put(&s, *format++);
        else
            format = put_item(&s, format + 1, &copy);
    }
    va_end(copy);
    if (size) to[s.n < size ? s.n : size - 1] = 0;
    return (int)s.n;
}

int web_snprintf(char *to, size_t size, const char *format, ...) {
    va_list list;
    va_start(list, format);
    const int n = web_vsnprintf(to, size, format, list);
    va_end(list);
    return n;
}

/* ---------------------------------------------------------------------------------------- input */

/* x 2^e; x below 2^127 */
static double round_wide(wide x, int e) {
    const int shift = x >> 64 ? 64 - __builtin_clzll((uint64_t)(x >> 64)) : 0;
    const bool rest = x & (((wide)1 << shift) - 1); /* only that there is one matters */
    return ldexp((double)((uint64_t)(x >> shift) | rest), e + shift);
}

/* m 10^q */
static double compose(uint64_t m, int q) {
    double factor = 1;
    if (m == 0) return 0;
    for (; q > 27; q--) factor *= 10;
    for (; q < -27; q++) factor /= 10;
    if (q >= 0) return factor * round_wide(m * power_of_5(q), q);
    const int top = __builtin_clzll(m);
    wide rest;
    const wide quotient = divide((wide)(m << top) << 64, power_of_5(-q), &rest);
    return factor * round_wide(quotient | (rest != 0), q - 64 - top);
}

/* Reads digits into *m, which holds 19; *q counts the digits that do not fit. */
static const char *take_digits(const char *text, uint64_t *m, int *q, bool fraction) {
    for (; *text >= '0' && *text <= '9'; text++) {
        const bool fits = *m < 1000000000000000000u;
        if (fits) *m = *m * 10 + (uint64_t)(*text - '0');
        *q += (fits ? 0 : 1) - fraction;
    }
    return text;
}

double web_strtod(const char *text, char **end) {
    const bool negative = *text == '-';
    const char *at = text + (*text == '-' || *text == '+'), *first = at;
    uint64_t m = 0;
    int q = 0;
    at = take_digits(at, &m, &q, false);
    if (*at == '.') at = take_digits(at + 1, &m, &q, true);
    if (at == first || (at == first + 1 && *first == '.')) {
        if (end) *end = (char *)text;
        return 0;
    }
    if (*at == 'e' || *at == 'E') {
        char *after;
        const long long power = web_strtoll(at + 1, &after, 10);
        if (after != at + 1) q += power > 999 ? 999 : power < -999 ? -999 : (int)power, at = after;
    }
    if (end) *end = (char *)at;
    return negative ? -compose(m, q) : compose(m, q);
}

long long web_strtoll(const char *text, char **end, int base) {
    const bool negative = *text == '-';
    const char *first = text + (*text == '-' || *text == '+');
    uint64_t m = 0;
    int q = 0;
    (void)base;
    const char *at = take_digits(first, &m, &q, false);
    if (end) *end = (char *)(at == first ? text : at);
    return negative ? -(long long)m : (long long)m;
}

#ifdef __wasm__
/* ------------------------------------------------------------------------- in the place of libc */
int vsnprintf(char *to, size_t size, const char *format, va_list list)
    __attribute__((alias("web_vsnprintf")));
int snprintf(char *to, size_t size, const char *format, ...) __attribute__((alias("web_snprintf")));
double strtod(const char *text, char **end) __attribute__((alias("web_strtod")));
long long strtoll(const char *text, char **end, int base) __attribute__((alias("web_strtoll")));
char *getenv(const char *name);
char *getenv(const char *name) { /* there is no environment */
    (void)name;
    return NULL;
}
#endif
