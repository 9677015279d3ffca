/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz.h - a fuzz target is one function, which libFuzzer calls with any bytes. corpus/NAME holds the
 * inputs that target NAME begins with; fuzz_driver.c runs a target without libFuzzer, so that every
 * compiler and ctest can. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
