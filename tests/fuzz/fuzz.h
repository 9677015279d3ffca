/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz.h - a fuzz target is one function, which libFuzzer calls with arbitrary bytes. corpus/NAME
 * holds the initial inputs of target NAME; fuzz_driver.c runs a target without libFuzzer, so that
 * it works with every compiler and in ctest. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
