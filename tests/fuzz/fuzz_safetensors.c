/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_safetensors.c - arbitrary bytes for the safetensors parser and the model reader: they must
 * reject them with a message, or give something that can be read, written and read again with the
 * same content. */
#include "fuzz.h"

#include "models/model.h"
#include "models/safetensors.h"

#include <stdlib.h>
#include <string.h>

static void check(int condition) {
    if (!condition) abort();
}

/* Written and read again, the file has the same tensors and texts. */
static void check_round_trip(const attni_safetensors *file) {
    attni_safetensors again;
    size_t size = 0;
    check(attni_safetensors_size(file, &size, NULL) == ATTN_OK);
    char *bytes = malloc(size);
    if (!bytes) return;
    attni_safetensors_write(file, bytes);
    check(attni_safetensors_parse(bytes, size, &again, NULL) == ATTN_OK);
    check(again.n_tensors == file->n_tensors && again.n_metadata == file->n_metadata);
    for (size_t i = 0; i < file->n_tensors; i++) {
        const attni_st_tensor *a = &file->tensor[i];
        const attni_st_tensor *b = attni_safetensors_find(&again, a->name);
        check(b && b->size == a->size && b->rank == a->rank && b->dtype == a->dtype);
        check(a->size == 0 || memcmp(a->data, b->data, a->size) == 0);
    }
    for (size_t i = 0; i < file->n_metadata; i++) {
        const char *value = attni_safetensors_metadata(&again, file->metadata[i].key);
        check(value && strcmp(value, file->metadata[i].value) == 0);
    }
    attni_safetensors_free(&again);
    free(bytes);
}

static volatile unsigned sum; /* of all bytes: reading them is what the sanitizers watch */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    attni_safetensors file;
    attni_model model;
    attn_error error = {""};
    uint8_t *exact = malloc(size ? size : 1); /* so that one byte too far is seen */
    if (!exact) return 0;
    if (size) memcpy(exact, data, size);
    if (attni_safetensors_parse(exact, size, &file, &error) == ATTN_OK) {
        for (size_t i = 0; i < file.n_tensors; i++)
            for (size_t b = 0; b < file.tensor[i].size; b++)
                sum += ((const uint8_t *)file.tensor[i].data)[b];
        check_round_trip(&file);
    } else {
        check(error.message[0] && !file.tensor && !file.text);
    }
    attni_safetensors_free(&file);
    if (attni_model_unpack(exact, size, &model, &error) == ATTN_OK) attni_model_free(&model);
    free(exact);
    return 0;
}
