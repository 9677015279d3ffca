/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz.h - what a fuzz target provides: the entry point that libFuzzer calls, and seeds to begin
 * with. fuzz_driver.c runs a target without libFuzzer, so that every compiler and ctest can. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct fuzz_seed {
    const char *bytes;
    size_t size;
} fuzz_seed;

/* For a string literal, without its final 0. */
#define FUZZ_SEED(literal) {literal, sizeof(literal) - 1}

extern const fuzz_seed fuzz_seeds[];
extern const size_t fuzz_n_seeds;

#endif
