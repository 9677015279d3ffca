/* SPDX-License-Identifier: Apache-2.0 */
/* arrays.h - what the per-real tests of layers share: random arrays identified by a seed,
 * comparison with an oracle in double precision. Compiled per real type, like the layers. */
#ifndef ARRAYS_H
#define ARRAYS_H

#include "contexts.h"
#include "core/rng.h"
#include "layers/real.h"

/* Half the distance from 1 to the next number: one rounding's relative error. */
#define UNIT (REAL_IS_F64 ? 0x1p-53 : 0x1p-24)

/* Uniform in [-1, 1), 23 bits: exact in both reals. */
static inline double random_at(uint64_t seed, int64_t i) {
    const attni_philox r = attni_philox4x32(seed, (uint32_t)i, 0, 0, 0);
    return (double)(r.word[0] >> 9) * 0x1p-22 - 1;
}

static inline void fill_random(uint64_t seed, int64_t n, real *x) {
    for (int64_t i = 0; i < n; i++) x[i] = (real)random_at(seed, i);
}

static inline void fill_with(int64_t n, double value, real *x) {
    for (int64_t i = 0; i < n; i++) x[i] = (real)value;
}

/* x (n) is near want (n, double) everywhere. */
#define CHECK_ARRAY(n, x, want, tolerance)                                                         \
    do {                                                                                           \
        for (int64_t at_ = 0; at_ < (n); at_++) {                                                  \
            const double is_ = (double)(x)[at_], want_ = (double)(want)[at_];                      \
            CHECK_MSG(check_is_near(is_, want_, tolerance),                                        \
                      "%s[%lld] is %.17g, expected %.17g (off by %.3g, allowed %.3g)", #x,         \
                      (long long)at_, is_, want_, is_ - want_, (double)(tolerance));               \
        }                                                                                          \
    } while (0)

#define CHECK_SAME_BITS(n, x, y) CHECK(memcmp(x, y, (size_t)(n) * sizeof *(x)) == 0)

#endif
