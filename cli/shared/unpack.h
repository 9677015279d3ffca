/* SPDX-License-Identifier: Apache-2.0 */
/* unpack.h - reads packed bytes of a stream as they were before: stored or deflated members of a zip
 * archive, and gzip files. Called by: npz.c. Tests: tests/cli/test_npz.py, tests/fuzz/fuzz_npz.c */
#ifndef CLI_UNPACK_H
#define CLI_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef enum unpack_method { UNPACK_STORED, UNPACK_DEFLATE, UNPACK_GZIP } unpack_method;

typedef struct unpack unpack;

/* Begins at the present position of the stream, which is borrowed, and reads at most `packed` bytes
 * of it. NULL when out of memory. */
unpack *unpack_create(FILE *stream, unpack_method method, uint64_t packed);

/* Up to n unpacked bytes; fewer at the end and after an error. `from` is an unpack. */
size_t unpack_read(void *from, void *to, size_t n);

/* After the last byte: whether the packed data ends here too. Otherwise unpack_problem() says what
 * is wrong. */
bool unpack_is_complete(unpack *u);

/* What is wrong with the packed data; NULL: nothing yet. */
const char *unpack_problem(const unpack *u);

/* The CRC-32 of all bytes that were read. */
uint32_t unpack_crc(const unpack *u);

void unpack_destroy(unpack *u); /* NULL is allowed */

#endif
