/* SPDX-License-Identifier: Apache-2.0 */
/* safetensors_header.h - the JSON header of a safetensors file. */
#ifndef ATTNI_SAFETENSORS_HEADER_H
#define ATTNI_SAFETENSORS_HEADER_H

#include "models/safetensors.h"

typedef struct attni_st_source {
    const char *header; /* (header_size) */
    size_t header_size;
    const uint8_t *data; /* (data_size) */
    size_t data_size;
} attni_st_source;

/* Fills *file; every tensor lies within the data. On failure the caller frees *file. */
attn_status attni_safetensors_header(const attni_st_source *source, attni_safetensors *file,
                                     attn_error *err);

#endif
