/* SPDX-License-Identifier: Apache-2.0 */
/* safetensors.h - weight files: eight bytes of header length, a JSON header, then the tensors one
 * after another, little-endian like all machines this is built for. Works on memory; reading and
 * writing files is up to the caller. The reader trusts nothing: a file with gaps, overlaps,
 * duplicates, sizes that do not fit or anything else the format does not allow is rejected with a
 * message. Tests: tests/models/test_safetensors.c, tests/fuzz */
#ifndef ATTNI_SAFETENSORS_H
#define ATTNI_SAFETENSORS_H

#include "core/base.h"

enum { ATTNI_ST_MAX_RANK = 8, ATTNI_ST_MAX_HEADER = 100000000 };

/* name, bits per element */
#define ATTNI_ST_DTYPES(X)                                                                         \
    X(F32, 32)                                                                                     \
    X(F64, 64)                                                                                     \
    X(F16, 16)                                                                                     \
    X(BF16, 16)                                                                                    \
    X(F8_E4M3, 8)                                                                                  \
    X(F8_E5M2, 8)                                                                                  \
    X(I64, 64)                                                                                     \
    X(I32, 32)                                                                                     \
    X(I16, 16)                                                                                     \
    X(I8, 8)                                                                                       \
    X(U64, 64)                                                                                     \
    X(U32, 32)                                                                                     \
    X(U16, 16)                                                                                     \
    X(U8, 8)                                                                                       \
    X(BOOL, 8)

typedef enum attni_st_dtype {
#define X(name, bits) ATTNI_ST_##name,
    ATTNI_ST_DTYPES(X)
#undef X
        ATTNI_ST_N_DTYPES
} attni_st_dtype;

size_t attni_st_dtype_size(attni_st_dtype dtype); /* bytes per element */
const char *attni_st_dtype_name(attni_st_dtype dtype);

typedef struct attni_st_tensor {
    const char *name; /* UTF-8 */
    attni_st_dtype dtype;
    int rank;
    size_t shape[ATTNI_ST_MAX_RANK];
    const void *data; /* not necessarily aligned to the element */
    size_t size;      /* bytes */
} attni_st_tensor;

typedef struct attni_st_pair {
    const char *key, *value;
} attni_st_pair;

/* A file that was read, or one to be written. */
typedef struct attni_safetensors {
    attni_st_tensor *tensor; /* (n_tensors) in the order of their data */
    size_t n_tensors;
    attni_st_pair *metadata; /* (n_metadata) */
    size_t n_metadata;
    char *text; /* names, keys and values of a file that was read */
} attni_safetensors;

/* Parses the header and points into bytes, which must outlive *file. Errors: VALUE (the message
 * says what and where), MEMORY; *file is then empty. Release it with attni_safetensors_free(). */
attn_status attni_safetensors_parse(const void *bytes, size_t size, attni_safetensors *file,
                                    attn_error *err);
/* Frees only what parse allocated. A zeroed struct is allowed. */
void attni_safetensors_free(attni_safetensors *file);

/* The tensor or the metadata of that name, or NULL. */
const attni_st_tensor *attni_safetensors_find(const attni_safetensors *file, const char *name);
const char *attni_safetensors_metadata(const attni_safetensors *file, const char *key);

/* The size in bytes of the file that attni_safetensors_write() makes. Errors: VALUE (the size of a
 * tensor does not match its shape and type), OVERFLOW. */
attn_status attni_safetensors_size(const attni_safetensors *file, size_t *size, attn_error *err);
/* Writes exactly attni_safetensors_size() bytes. Names are written unchanged, as UTF-8. */
void attni_safetensors_write(const attni_safetensors *file, void *bytes);

#endif
