/* SPDX-License-Identifier: Apache-2.0 */
/* log2.h - the library's own logarithm, in plain double arithmetic, so that log-sum-exp has the
 * same bits on every platform (libm differs between them). Error below 1 ulp. Tests:
 * tests/core/test_core.c */
#ifndef ATTNI_LOG2_H
#define ATTNI_LOG2_H

#include <stdint.h>
#include <string.h>

#define ATTNI_LN2 0.69314718055994530942

/* ln x for a positive normal x: x = 2^e m with m in [sqrt 1/2, sqrt 2), ln m = 2
 * atanh((m-1)/(m+1)) as a series. */
static inline double attni_ln(double x, double *exponent) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const uint64_t sqrt_half = 0x3fe6a09e667f3bcdu;
    const int64_t e =
        ((int64_t)(bits - sqrt_half)) >> 52; /* floor: m lands in [sqrt 1/2, sqrt 2) */
    bits -= (uint64_t)e << 52;
    double m;
    memcpy(&m, &bits, sizeof m);
    const double f = m - 1, z = f / (2 + f), w = z * z, half = 0.5 * f * f; /* |z| <= 0.1716 */
    double series = 2.0 / 23;
    for (int k = 21; k >= 3; k -= 2) series = series * w + 2.0 / k;
    *exponent = (double)e;
    return f - (half - z * (half + w * series)); /* the large part f is exact */
}

/* ln(2^max * sum): the natural log-sum-exp of a row from its base-2 maximum and sum. */
static inline double attni_lse(double max, double sum) {
    if (sum != sum) return sum; /* NaN: the bit tricks below would hide it */
    double exponent;
    const double ln_m = attni_ln(sum, &exponent);
    return (max + exponent) * ATTNI_LN2 + ln_m;
}

#endif
