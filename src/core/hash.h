/* SPDX-License-Identifier: Apache-2.0 */
/* hash.h - FNV-1a, a short fingerprint of the bits of a result. Not meant for hostile input. Pass
 * an earlier hash to hash several arrays as one. Tests: tests/core/test_core.c */
#ifndef ATTNI_HASH_H
#define ATTNI_HASH_H

#include <stddef.h>
#include <stdint.h>

#define ATTNI_FNV1A_BEGIN    0xcbf29ce484222325u
#define ATTNI_FNV1A_32_BEGIN 2166136261u

static inline uint64_t attni_fnv1a(uint64_t hash, const void *data, size_t n) {
    const unsigned char *bytes = data;
    for (size_t i = 0; i < n; i++) hash = (hash ^ bytes[i]) * 0x100000001b3u;
    return hash;
}

static inline uint32_t attni_fnv1a_32(uint32_t hash, const void *data, size_t n) {
    const unsigned char *bytes = data;
    for (size_t i = 0; i < n; i++) hash = (hash ^ bytes[i]) * 16777619u;
    return hash;
}

#endif
