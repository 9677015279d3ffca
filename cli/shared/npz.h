/* SPDX-License-Identifier: Apache-2.0 */
/* npz.h - arrays in packed files: .npz archives of numpy.savez(), and .npy.gz. Called by: npy_load.c
 * and the fuzzer. Tests: tests/cli/test_npz.py, tests/fuzz/fuzz_npz.c */
#ifndef CLI_NPZ_H
#define CLI_NPZ_H

#include "shared/npy.h"

/* Reads one array from a stream that begins like a zip archive, a gzip file or a .npy file. `name`
 * chooses an array of an archive; NULL: the only one. On failure *out is empty and msg says what is
 * wrong. */
bool npz_read(FILE *stream, const char *name, npy_array *out, char *msg, size_t msg_size);

#endif
