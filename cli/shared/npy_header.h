/* SPDX-License-Identifier: Apache-2.0 */
/* npy_header.h - the dictionary at the head of a .npy file. */
#ifndef CLI_NPY_HEADER_H
#define CLI_NPY_HEADER_H

#include "core/base.h"
#include "shared/npy.h"

/* Where an explanation goes. */
typedef struct npy_message {
    char *text;
    size_t size;
} npy_message;

/* Writes the explanation and returns false. */
bool npy_fail(const npy_message *say, const char *format, ...) ATTNI_PRINTF(2, 3);

typedef struct npy_header {
    npy_array array; /* everything but the data; count * item_size fits in size_t and int64_t */
    bool big_endian;
    bool fortran_order;
} npy_header;

/* Reads "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }": these three keys, once each,
 * in any order, literals only. */
bool npy_header_parse(const char *text, size_t length, npy_header *header, const npy_message *say);

#endif
