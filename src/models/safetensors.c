/* SPDX-License-Identifier: Apache-2.0 */
/* safetensors.c - the table that reading and writing share, the conditions that a whole file must
 * meet, and the writer. The strict parser of the header is safetensors_header.c. Tests:
 * tests/models/test_safetensors.c */
#include "models/safetensors.h"

#include "models/safetensors_header.h"

#include <stdlib.h>

static const struct {
    const char *name;
    size_t size;
} dtypes[] = {
#define X(name, bits) {#name, (bits) / 8},
    ATTNI_ST_DTYPES(X)
#undef X
};

size_t attni_st_dtype_size(attni_st_dtype dtype) { return dtypes[dtype].size; }

const char *attni_st_dtype_name(attni_st_dtype dtype) { return dtypes[dtype].name; }

const attni_st_tensor *attni_safetensors_find(const attni_safetensors *file, const char *name) {
    for (size_t i = 0; i < file->n_tensors; i++)
        if (strcmp(file->tensor[i].name, name) == 0) return &file->tensor[i];
    return NULL;
}

const char *attni_safetensors_metadata(const attni_safetensors *file, const char *key) {
    for (size_t i = 0; i < file->n_metadata; i++)
        if (strcmp(file->metadata[i].key, key) == 0) return file->metadata[i].value;
    return NULL;
}

void attni_safetensors_free(attni_safetensors *file) {
    free(file->tensor);
    free(file->metadata);
    free(file->text);
    memset(file, 0, sizeof *file);
}

/* The size of a tensor in bytes, from its shape; false if it overflows. */
static bool size_of(const attni_st_tensor *t, size_t *size) {
    *size = attni_st_dtype_size(t->dtype);
    for (int i = 0; i < t->rank; i++)
        if (!attni_mul(*size, t->shape[i], size)) return false;
    return true;
}

/* --------------------------------------------------------------------------------- whole files */

static int by_name(const void *a, const void *b) {
    return strcmp(((const attni_st_tensor *)a)->name, ((const attni_st_tensor *)b)->name);
}

static int by_key(const void *a, const void *b) {
    return strcmp(((const attni_st_pair *)a)->key, ((const attni_st_pair *)b)->key);
}

/* Empty tensors come first, so that they may share an offset with the next one. */
static int by_place(const void *a, const void *b) {
    const attni_st_tensor *x = a, *y = b;
    const uintptr_t at_x = (uintptr_t)x->data, at_y = (uintptr_t)y->data;
    if (at_x != at_y) return at_x < at_y ? -1 : 1;
    return (x->size > y->size) - (x->size < y->size);
}

static attn_status check_duplicates(attni_safetensors *file, attn_error *err) {
    if (file->n_tensors) qsort(file->tensor, file->n_tensors, sizeof *file->tensor, by_name);
    for (size_t i = 1; i < file->n_tensors; i++)
        if (by_name(&file->tensor[i - 1], &file->tensor[i]) == 0)
            return attni_fail(err, ATTN_E_VALUE, "safetensors: two tensors are named \"%.80s\"",
                              file->tensor[i].name);
    if (file->n_metadata) qsort(file->metadata, file->n_metadata, sizeof *file->metadata, by_key);
    for (size_t i = 1; i < file->n_metadata; i++)
        if (by_key(&file->metadata[i - 1], &file->metadata[i]) == 0)
            return attni_fail(err, ATTN_E_VALUE, "safetensors: metadata \"%.80s\" stands twice",
                              file->metadata[i].key);
    return ATTN_OK;
}

/* The tensors must fill the data from its first byte to its last, each with the size its shape
 * requires. */
static attn_status check_places(attni_safetensors *file, const uint8_t *data, size_t data_size,
                                attn_error *err) {
    size_t at = 0;
    if (file->n_tensors) qsort(file->tensor, file->n_tensors, sizeof *file->tensor, by_place);
    for (size_t i = 0; i < file->n_tensors; i++) {
        const attni_st_tensor *t = &file->tensor[i];
        const size_t begin = (size_t)((const uint8_t *)t->data - data);
        size_t expected;
        if (!size_of(t, &expected) || expected != t->size)
            return attni_fail(err, ATTN_E_VALUE,
                              "safetensors: %.80s: %zu bytes of data, expected as many as its "
                              "shape and dtype say",
                              t->name, t->size);
        if (begin != at)
            return attni_fail(err, ATTN_E_VALUE,
                              "safetensors: %.80s: begins at byte %zu of the data, expected %zu: "
                              "tensors must neither overlap nor leave gaps",
                              t->name, begin, at);
        at = begin + t->size;
    }
    if (at != data_size)
        return attni_fail(err, ATTN_E_VALUE,
                          "safetensors: %zu bytes of data, but the tensors end at byte %zu: the "
                          "file is cut or has a tail",
                          data_size, at);
    return ATTN_OK;
}

static uint64_t read_u64(const uint8_t *bytes) {
    uint64_t value = 0;
    for (int i = 7; i >= 0; i--) value = value << 8 | bytes[i];
    return value;
}

attn_status attni_safetensors_parse(const void *bytes, size_t size, attni_safetensors *file,
                                    attn_error *err) {
    const uint8_t *at = bytes;
    memset(file, 0, sizeof *file);
    if (size < 8)
        return attni_fail(err, ATTN_E_VALUE,
                          "safetensors: a file of %zu bytes, expected at least 8", size);
    const uint64_t length = read_u64(at);
    if (length > size - 8 || length > ATTNI_ST_MAX_HEADER)
        return attni_fail(err, ATTN_E_VALUE,
                          "safetensors: a header of %llu bytes in a file of %zu, expected at most "
                          "%d and no more than there is: not a safetensors file?",
                          (unsigned long long)length, size, ATTNI_ST_MAX_HEADER);
    const uint8_t *data = at + 8 + length;
    const size_t data_size = size - 8 - (size_t)length;
    const attni_st_source source = {(const char *)at + 8, (size_t)length, data, data_size};
    attn_status status = attni_safetensors_header(&source, file, err);
    if (status == ATTN_OK) status = check_duplicates(file, err);
    if (status == ATTN_OK) status = check_places(file, data, data_size, err);
    if (status != ATTN_OK) attni_safetensors_free(file);
    return status;
}

/* -------------------------------------------------------------------------------------- writer */

/* Only counts if `to` is NULL, so that the size query and the writer cannot disagree. */
typedef struct sink {
    char *to;
    size_t n;
} sink;

static void put(sink *s, const char *text, size_t n) {
    if (s->to) memcpy(s->to + s->n, text, n);
    s->n += n;
}

static void put_text(sink *s, const char *text) { put(s, text, strlen(text)); }

static void put_string(sink *s, const char *text) {
    put_text(s, "\"");
    for (; *text; text++) {
        static const char digits[] = "0123456789abcdef";
        const unsigned char c = (unsigned char)*text;
        const char escaped[] = {'\\', 'u', '0', '0', digits[c >> 4], digits[c & 15]};
        if (c < 0x20)
            put(s, escaped, sizeof escaped);
        else if (c == '"' || c == '\\')
            put(s, (const char[]){'\\', (char)c}, 2);
        else
            put(s, text, 1);
    }
    put_text(s, "\"");
}

static void put_number(sink *s, size_t value) {
    char digits[24];
    size_t at = sizeof digits;
    do digits[--at] = (char)('0' + value % 10);
    while (value /= 10);
    put(s, digits + at, sizeof digits - at);
}

static void put_tensor(sink *s, const attni_st_tensor *t, size_t begin) {
    put_string(s, t->name);
    put_text(s, ":{\"dtype\":\"");
    put_text(s, attni_st_dtype_name(t->dtype));
    put_text(s, "\",\"shape\":[");
    for (int i = 0; i < t->rank; i++) {
        if (i) put_text(s, ",");
        put_number(s, t->shape[i]);
    }
    put_text(s, "],\"data_offsets\":[");
    put_number(s, begin);
    put_text(s, ",");
    put_number(s, begin + t->size);
    put_text(s, "]}");
}

static void put_header(sink *s, const attni_safetensors *file) {
    size_t begin = 0;
    put_text(s, "{");
    if (file->n_metadata) put_text(s, "\"__metadata__\":{");
    for (size_t i = 0; i < file->n_metadata; i++) {
        if (i) put_text(s, ",");
        put_string(s, file->metadata[i].key);
        put_text(s, ":");
        put_string(s, file->metadata[i].value);
    }
    if (file->n_metadata) put_text(s, "}");
    for (size_t i = 0; i < file->n_tensors; i++) {
        if (i || file->n_metadata) put_text(s, ",");
        put_tensor(s, &file->tensor[i], begin);
        begin += file->tensor[i].size;
    }
    put_text(s, "}");
    while (s->n % 8) put_text(s, " "); /* so that the data begins aligned */
}

attn_status attni_safetensors_size(const attni_safetensors *file, size_t *size, attn_error *err) {
    sink count = {NULL, 0};
    size_t data = 0;
    for (size_t i = 0; i < file->n_tensors; i++) {
        size_t expected;
        const attni_st_tensor *t = &file->tensor[i];
        if (!size_of(t, &expected) || expected != t->size)
            return attni_fail(err, ATTN_E_VALUE,
                              "tensor %.80s: %zu bytes, expected its shape times its dtype",
                              t->name, t->size);
        if (!attni_add(data, t->size, &data))
            return attni_fail(err, ATTN_E_OVERFLOW, "tensors: sizes overflow the address space");
    }
    put_header(&count, file);
    if (!attni_add(data, count.n + 8, size))
        return attni_fail(err, ATTN_E_OVERFLOW, "tensors: sizes overflow the address space");
    return ATTN_OK;
}

void attni_safetensors_write(const attni_safetensors *file, void *bytes) {
    uint8_t *length = bytes;
    sink s = {(char *)bytes + 8, 0};
    put_header(&s, file);
    for (int i = 0; i < 8; i++) length[i] = (uint8_t)((uint64_t)s.n >> 8 * i);
    for (size_t i = 0; i < file->n_tensors; i++)
        if (file->tensor[i].size) put(&s, file->tensor[i].data, file->tensor[i].size);
}
