/* SPDX-License-Identifier: Apache-2.0 */
/* sinusoidal.c - see sinusoidal.h. Compiled per real type. Tests: tests/layers/test_sinusoidal.c */
#include "layers/sinusoidal.h"

void R(sinusoidal_table)(int64_t n, int64_t d, double base, bool interleaved, real *table) {
    const int64_t sines = (d + 1) / 2;
    for (int64_t c = 0; c < d; c++) {
        const bool is_sine = interleaved ? c % 2 == 0 : c < sines;
        const int64_t pair = interleaved ? c / 2 : c % attni_max(sines, 1);
        const double period = pow(base, (double)(2 * pair) / (double)d);
        for (int64_t t = 0; t < n; t++) {
            const double angle = (double)t / period;
            table[t * d + c] = (real)(is_sine ? sin(angle) : cos(angle));
        }
    }
}
