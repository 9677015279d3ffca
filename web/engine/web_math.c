/* SPDX-License-Identifier: Apache-2.0 */
/* web_math.c - see web_math.h. Series without tables, after reducing the argument. */
#include "web_math.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* ln 2 in two parts: the first has so few digits that its product with a whole number is exact. */
static const double ln2_high = 0x1.62e42fee00000p-1, ln2_low = 0x1.a39ef35793c76p-33;

/* c[0] + c[1] x + ... + c[n - 1] x^(n - 1) */
static double polynomial(const double *c, int n, double x) {
    double sum = c[--n];
    while (n-- > 0) sum = sum * x + c[n];
    return sum;
}

/* e^r - 1 - r for |r| <= ln 2 / 2, from r coth(r / 2) = 2 + r^2 / 6 - r^4 / 360 + ..., of which
 * six terms are enough: e^r = 1 + 2 r / (r coth(r / 2) - r). */
static double exp_rest(double r) {
    static const double c[] = {1 / 6.0,       -1 / 360.0,     1 / 15120.0,
                               -1 / 604800.0, 1 / 23950080.0, -691 / 653837184000.0};
    const double r2 = r * r, rest = r - r2 * polynomial(c, 6, r2);
    return r * rest / (2 - rest);
}

/* 2^n for -1022 <= n <= 1023 */
static double power_of_2(int n) {
    const uint64_t bits = (uint64_t)(n + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

/* e^x = 2^n e^r; r has a low part, which e^r takes over as it is. */
double web_exp(double x) {
    if (x != x) return x;
    if (x > 709.79) return INFINITY;
    if (x < -745.14) return 0;
    const double n = rint(x * 0x1.71547652b82fep+0);
    const double high = x - n * ln2_high, low = n * ln2_low, r = high - low;
    const double missing = (high - r) - low; /* of r */
    const int half = (int)n / 2; /* two factors: the results reach beyond the range of one */
    return (1 + (r + (exp_rest(r) + missing))) * power_of_2(half) * power_of_2((int)n - half);
}

/* (e^2x - 1) / (e^2x + 1) */
double web_tanh(double x) {
    const double twice = 2 * fmin(fabs(x), 20); /* beyond that it rounds to 1 */
    const double expm1 = twice < 0.34 ? twice + exp_rest(twice) : web_exp(twice) - 1;
    return x != x ? x : copysign(expm1 / (expm1 + 2), x);
}

/* ln(2^k (1 + f)) with s = f / (2 + f):  f - f^2/2 + s (f^2/2 + 2 s^2/3 + 2 s^4/5 + ...) */
double web_log(double x) {
    static const double c[] = {2 / 3.0,  2 / 5.0,  2 / 7.0,  2 / 9.0,  2 / 11.0, 2 / 13.0,
                               2 / 15.0, 2 / 17.0, 2 / 19.0, 2 / 21.0, 2 / 23.0};
    int k;
    if (!(x > 0)) return x == 0 ? -INFINITY : NAN;
    if (isinf(x)) return x;
    double m = frexp(x, &k);
    if (m < 0x1.6a09e667f3bcdp-1) { /* sqrt 1/2 */
        m *= 2;
        k--;
    }
    const double f = m - 1, s = f / (2 + f), s2 = s * s, half = 0.5 * f * f;
    const double rest = s * (half + s2 * polynomial(c, 11, s2));
    return k * ln2_high + (f - (half - (rest + k * ln2_low)));
}

/* --------------------------------------------------------------------------------------- powers */

/* high + low, of which low is the rounding error of high. */
typedef struct pair {
    double high, low;
} pair;

static double upper(double x) { /* its first 26 digits */
    const double c = x * 134217729.0;
    return c - (c - x);
}

static pair times(pair a, pair b) {
    const double product = a.high * b.high;
    const double a1 = upper(a.high), a2 = a.high - a1, b1 = upper(b.high), b2 = b.high - b1;
    const double error = ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2;
    const double low = error + (a.high * b.low + a.low * b.high);
    const double high = product + low;
    return (pair){high, low - (high - product)};
}

static double whole_power(double x, uint32_t n) {
    pair power = {1, 0}, square = {x, 0};
    for (; n; n >>= 1) {
        if (n & 1) power = times(power, square);
        if (n > 1) square = times(square, square);
    }
    return power.high + power.low;
}

double web_pow(double x, double y) {
    const bool whole = y == rint(y) && fabs(y) < 2147483648.0;
    if (!whole) return x > 0 ? web_exp(y * web_log(x)) : x == 0 && y > 0 ? 0 : NAN;
    const double power = whole_power(x, (uint32_t)fabs(y));
    return y < 0 ? 1 / power : power;
}

/* --------------------------------------------------------------------------------------- cosine */

/* sum of (-1)^n x^(2n) / (2n + odd)! */
static double wave(double x2, int odd) {
    double sum = 0;
    for (int n = 20 + odd; n > 1; n -= 2) sum = (1 - sum) * x2 / (n * (n - 1));
    return 1 - sum;
}

double web_cos(double x) {
    static const double half_pi = 0x1.921fb54442d18p+0, its_rest = 0x1.1a62633145c07p-54;
    const double a = fabs(x);
    if (!(a <= 4)) return NAN;
    const int quarter = (int)(a / half_pi + 0.5); /* 0, 1, 2, 3 */
    const double r = (a - quarter * half_pi) - quarter * its_rest;
    if (quarter == 0) return wave(r * r, 0);
    if (quarter == 2) return -wave(r * r, 0);
    return (quarter == 1 ? -r : r) * wave(r * r, 1);
}

#ifdef __wasm__
double exp(double x) __attribute__((alias("web_exp")));
double log(double x) __attribute__((alias("web_log")));
double tanh(double x) __attribute__((alias("web_tanh")));
double pow(double x, double y) __attribute__((alias("web_pow")));
double cos(double x) __attribute__((alias("web_cos")));
#endif
