/* SPDX-License-Identifier: Apache-2.0 */
/* whole_number.c - see whole_number.h. Computes in integers: 0.1e1 is exactly 1. */
#include "shared/whole_number.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool cli_parse_int(const char *text, int64_t *value) {
    char *end;
    if (!isdigit((unsigned char)*text) && *text != '-') return false; /* strtoll skips spaces */
    errno = 0;
    const long long number = strtoll(text, &end, 10);
    if (errno || end == text || *end) return false;
    *value = number;
    return true;
}

static const char not_whole[] = "", too_large[] = "does not fit in 64 bits";

/* digits * 10^tens * 2^twos */
typedef struct parsed_number {
    int64_t digits;
    int64_t tens;
    int twos;
} parsed_number;

static bool append_digit(int64_t *number, char digit) {
    return !__builtin_mul_overflow(*number, 10, number) &&
           !__builtin_add_overflow(*number, digit - '0', number);
}

/* Digits before and after the point; *at moves behind them. */
static const char *parse_digits(const char **at, parsed_number *n) {
    bool any = false, in_fraction = false;
    int64_t zeros = 0; /* of the fraction, not yet known to count */
    for (; isdigit((unsigned char)**at) || (**at == '.' && !in_fraction); (*at)++) {
        if (**at == '.') {
            in_fraction = true;
            continue;
        }
        any = true;
        if (in_fraction && **at == '0') {
            zeros++;
            continue;
        }
        for (; zeros > 0; zeros--, n->tens--)
            if (!append_digit(&n->digits, '0')) return too_large;
        if (!append_digit(&n->digits, **at)) return too_large;
        n->tens -= in_fraction;
    }
    return any ? NULL : not_whole;
}

/* "e6": a power of ten of 0 or more. */
static const char *parse_exponent(const char **at, parsed_number *n) {
    int64_t exponent = 0;
    (*at)++;
    if (**at == '+') (*at)++;
    if (!isdigit((unsigned char)**at)) return not_whole;
    for (; isdigit((unsigned char)**at); (*at)++)
        if (!append_digit(&exponent, **at)) return too_large;
    n->tens += exponent;
    return NULL;
}

static int suffix_twos(char suffix) {
    switch (suffix) {
    case 'k':
    case 'K': return 10;
    case 'M': return 20;
    case 'G': return 30;
    default: return 0;
    }
}

static const char *evaluate(parsed_number n, int64_t *value) {
    *value = 0;
    if (n.digits == 0) return NULL;
    if (__builtin_mul_overflow(n.digits, (int64_t)1 << n.twos, value)) return too_large;
    for (; n.tens > 0; n.tens--)
        if (__builtin_mul_overflow(*value, 10, value)) return too_large;
    for (; n.tens < 0; n.tens++) {
        if (*value % 10 != 0) return not_whole;
        *value /= 10;
    }
    return NULL;
}

const char *cli_parse_size(const char *text, int64_t *value) {
    parsed_number n = {0};
    const bool negative = *text == '-';
    const char *at = text + negative;
    const bool has_point = strchr(at, '.') != NULL;
    const char *wrong = parse_digits(&at, &n);
    if (wrong) return wrong;
    const bool has_exponent = *at == 'e' || *at == 'E';
    if (has_exponent && (wrong = parse_exponent(&at, &n))) return wrong;
    n.twos = suffix_twos(*at);
    if (n.twos) at++;
    if (n.twos && has_exponent && !*at) return "has both an exponent and a suffix";
    if (*at || (has_point && !has_exponent && !n.twos)) return not_whole;
    int64_t number;
    if ((wrong = evaluate(n, &number))) return wrong;
    *value = negative ? -number : number;
    return NULL;
}

int64_t cli_parse_sizes(const char *text, int64_t *values, int64_t max) {
    int64_t n = 0;
    for (;;) {
        char one[32];
        const size_t length = strcspn(text, ",");
        if (n == max || length >= sizeof one) return -1;
        memcpy(one, text, length);
        one[length] = 0;
        if (cli_parse_size(one, &values[n++])) return -1;
        if (text[length] == 0) return n;
        text += length + 1;
    }
}
