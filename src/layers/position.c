/* SPDX-License-Identifier: Apache-2.0 */
/* position.c - see position.h. Compiled per real type. Tests: tests/layers/test_position.c */
#include "layers/position.h"

void R(position_sinusoidal)(int64_t n, int64_t d, real *table) {
    for (int64_t c = 0; c < d; c++) {
        const double period = pow(10000, (double)(c - c % 2) / (double)d);
        for (int64_t t = 0; t < n; t++) {
            const double angle = (double)t / period;
            table[t * d + c] = (real)(c % 2 == 0 ? sin(angle) : cos(angle));
        }
    }
}
