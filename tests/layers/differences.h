/* SPDX-License-Identifier: Apache-2.0 */
/* differences.h - gradients by central differences, in double precision: the reference for every
 * backward pass. */
#ifndef DIFFERENCES_H
#define DIFFERENCES_H

#include "check.h"

#include <stdint.h>

/* A loss, computed afresh from what scene points to. */
typedef double differences_loss(void *scene);

/* The step h. With four points the formula is wrong by h^4 / 30 times the fifth derivative, and by
 * 1.5 / h times the rounding error of the loss. */
#define DIFFERENCES_STEP 0x1p-10

/* Holds for losses that are sums of up to some hundred terms of size 1 (rounded within 5e-14: 8e-11
 * in the slope) with fifth derivatives below 500 (1.5e-11). */
#define DIFFERENCES_TOLERANCE 1e-10

/* d loss / d *x = (8 (L(x+h) - L(x-h)) - (L(x+2h) - L(x-2h))) / 12h; *x is restored. Functions with
 * a kink (ReLU) must stay 2h away from it. */
double differences_slope(differences_loss *loss, void *scene, double *x);

/* Every dx[i] is the slope of the loss in x[i], both (n). */
#define CHECK_GRADIENT(loss, scene, n, x, dx)                                                      \
    do {                                                                                           \
        for (int64_t index_ = 0; index_ < (n); index_++) {                                         \
            const double slope_ = differences_slope(loss, scene, (x) + index_);                    \
            const double given_ = (dx)[index_];                                                    \
            CHECK_MSG(check_is_near(given_, slope_, DIFFERENCES_TOLERANCE),                        \
                      "%s[%lld] is %.17g, differences give %.17g (off by %.3g)", #dx,              \
                      (long long)index_, given_, slope_, given_ - slope_);                         \
        }                                                                                          \
    } while (0)

#endif
