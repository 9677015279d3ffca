/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_npz.c - any bytes as a .npz archive or a .npy.gz file: the reader must refuse with a message
 * or give an array that can be read. The first letter of a name inside is "q" in most of the corpus,
 * so that both ways of choosing an array are taken. */
#include "fuzz.h"

#include "shared/npz.h"

#include <stdlib.h>

static void check(int condition) {
    if (!condition) abort();
}

static void read_as(const uint8_t *data, size_t size, const char *name) {
    char msg[600] = "";
    npy_array array;
    FILE *stream = fmemopen((void *)data, size, "rb");
    if (!stream) return;
    if (npz_read(stream, name, &array, msg, sizeof msg)) {
        volatile double sum = 0;
        for (size_t i = 0; i < array.count; i++) sum += npy_real_at(&array, i);
        npy_free(&array);
    } else {
        check(msg[0] && !array.data);
    }
    fclose(stream);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0; /* fmemopen() refuses it */
    read_as(data, size, NULL);
    read_as(data, size, "q");
    return 0;
}
