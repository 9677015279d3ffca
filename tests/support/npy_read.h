/* SPDX-License-Identifier: Apache-2.0 */
/* npy_read.h - reads the .npy files of the conformance vectors: format 1.0, little-endian, C order,
 * dtypes f4 f8 f2 b1 i8, up to four dimensions. Everything else is rejected. */
#ifndef NPY_READ_H
#define NPY_READ_H

#include "attn/attn.h"

#include <stdbool.h>

typedef struct npy_array {
    void *data; /* free with npy_free() */
    attn_dtype dtype;
    int rank;
    int64_t shape[4]; /* the last `rank` entries; ones before */
} npy_array;

bool npy_read(const char *path, npy_array *array);
void npy_free(npy_array *array);
int64_t npy_count(const npy_array *array);

#endif
