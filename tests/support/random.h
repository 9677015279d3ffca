/* SPDX-License-Identifier: Apache-2.0 */
/* random.h - the random numbers of the tests: the same on every machine, identified by seed and
 * tag. */
#ifndef RANDOM_H
#define RANDOM_H

#include <stdbool.h>
#include <stdint.h>

typedef struct random_stream {
    uint64_t state;
} random_stream;

/* Streams of one seed with different tags are independent. */
random_stream random_begin(uint64_t seed, uint64_t tag);
uint64_t random_bits(random_stream *r);
int64_t random_below(random_stream *r, int64_t n);                /* 0 .. n-1; n >= 1 */
double random_between(random_stream *r, double low, double high); /* uniform, a multiple of 2^-53 */
bool random_chance(random_stream *r, double probability);

#endif
