/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_npy.c - arbitrary bytes for the .npy parser: it must reject them with a message, or give an
 * array that can be read, written and read again with the same content. */
#include "fuzz.h"

#include "lab/support/system.h"
#include "shared/npy.h"

#include <stdlib.h>
#include <string.h>

static void check(int condition) {
    if (!condition) abort();
}

/* Written and read again, the array is the same. */
static void check_round_trip(const npy_array *array) {
    char msg[200];
    npy_array again;
    system_text text;
    check(system_text_begin(&text) && npy_write(text.stream, array) && system_text_end(&text));
    check(npy_parse(text.text, text.size, &again, msg, sizeof msg));
    check(again.rank == array->rank && again.count == array->count && again.kind == array->kind);
    check(memcmp(again.data, array->data, array->count * (size_t)array->item_size) == 0);
    npy_free(&again);
    free(text.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char msg[200] = "", text[NPY_TEXT + 8];
    npy_array array;
    uint8_t *exact = malloc(size ? size : 1); /* so that one byte too far is seen */
    if (!exact) return 0;
    if (size) memcpy(exact, data, size);
    const bool ok = npy_parse(exact, size, &array, msg, sizeof msg);
    free(exact);
    if (!ok) {
        check(msg[0] && !array.data);
        return 0;
    }
    volatile double sum = 0;
    for (size_t i = 0; i < array.count; i++) sum += npy_real_at(&array, i);
    npy_describe(&array, text, sizeof text);
    check_round_trip(&array);
    size_t became_infinite;
    for (int dtype = ATTN_F32; dtype <= ATTN_BF16; dtype++)
        free(npy_to_dtype(&array, (attn_dtype)dtype, &became_infinite));
    npy_free(&array);
    return 0;
}
