/* SPDX-License-Identifier: Apache-2.0 */
/* random.c - see random.h: xorshift64*, started by a hash of seed and tag. */
#include "random.h"

random_stream random_begin(uint64_t seed, uint64_t tag) {
    uint64_t x = seed * 0x9e3779b97f4a7c15u + tag * 0xd1b54a32d192ed03u + 0x632be59bd9b4e019u;
    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u; /* near seeds must start far apart */
    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
    return (random_stream){x | 1}; /* xorshift must not start at 0 */
}

uint64_t random_bits(random_stream *r) {
    r->state ^= r->state << 13;
    r->state ^= r->state >> 7;
    r->state ^= r->state << 17;
    return r->state * 0x2545f4914f6cdd1du;
}

int64_t random_below(random_stream *r, int64_t n) {
    return (int64_t)((random_bits(r) >> 1) % (uint64_t)n);
}

double random_between(random_stream *r, double low, double high) {
    return low + (high - low) * ((double)(random_bits(r) >> 11) * 0x1p-53);
}

bool random_chance(random_stream *r, double probability) {
    return random_between(r, 0, 1) < probability;
}
