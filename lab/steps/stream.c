/* SPDX-License-Identifier: Apache-2.0 */
/* stream.c - MT19937 (Matsumoto and Nishimura, 1998) and the polar method (Marsaglia, 1964), in the
 * order in which NumPy's RandomState uses them. See stream.h. */
#include "steps/stream.h"

#include <math.h>

enum { WORDS = LAB_STREAM_WORDS, MIDDLE = 397 };

void lab_stream_seed(lab_stream *stream, uint32_t seed) {
    uint32_t *s = stream->state;
    s[0] = seed;
    for (uint32_t i = 1; i < WORDS; i++) s[i] = 1812433253u * (s[i - 1] ^ (s[i - 1] >> 30)) + i;
    stream->next = WORDS;
    stream->has_one = false;
}

/* The next 624 words from the last 624. */
static void refill(lab_stream *stream) {
    uint32_t *s = stream->state;
    for (int i = 0; i < WORDS; i++) {
        const uint32_t y = (s[i] & 0x80000000u) | (s[(i + 1) % WORDS] & 0x7fffffffu);
        s[i] = s[(i + MIDDLE) % WORDS] ^ (y >> 1) ^ (y & 1 ? 0x9908b0dfu : 0);
    }
    stream->next = 0;
}

uint32_t lab_stream_u32(lab_stream *stream) {
    if (stream->next == WORDS) refill(stream);
    uint32_t y = stream->state[stream->next++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
}

double lab_stream_uniform(lab_stream *stream) {
    const uint32_t high = lab_stream_u32(stream) >> 5, low = lab_stream_u32(stream) >> 6;
    return (high * 67108864.0 + low) / 9007199254740992.0;
}

double lab_stream_normal(lab_stream *stream) {
    if (stream->has_one) {
        stream->has_one = false;
        return stream->one;
    }
    double a, b, r2;
    do { /* a point in the unit circle, not its centre */
        a = 2 * lab_stream_uniform(stream) - 1;
        b = 2 * lab_stream_uniform(stream) - 1;
        r2 = a * a + b * b;
    } while (r2 >= 1 || r2 == 0);
    const double f = sqrt(-2 * log(r2) / r2);
    stream->one = f * a;
    stream->has_one = true;
    return f * b;
}

void lab_stream_normals(lab_stream *stream, size_t n, double factor, double *x) {
    for (size_t i = 0; i < n; i++) x[i] = factor * lab_stream_normal(stream);
}
