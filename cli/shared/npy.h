/* SPDX-License-Identifier: Apache-2.0 */
/* npy.h - reads and writes .npy arrays, from memory or a stream. Trusts nothing in a file: sizes
 * are checked for overflow and against what is really there before anything is allocated. Called
 * by: the subcommands and the fuzzers. Tests: tests/cli/test_npy.c, tests/fuzz/fuzz_npy.c */
#ifndef CLI_NPY_H
#define CLI_NPY_H

#include "attn/attn.h"

#include <stdbool.h>
#include <stdio.h>

enum { NPY_MAX_RANK = 8, NPY_MAX_HEADER = 65536, NPY_TEXT = 192 };

/* An array in C order and in the byte order of this machine. */
typedef struct npy_array {
    char kind;                   /* 'b' bool, 'i' signed, 'u' unsigned, 'f' float, as in NumPy */
    int item_size;               /* bytes of one element: 1, 2, 4, 8 */
    int rank;                    /* 0 .. NPY_MAX_RANK */
    int64_t shape[NPY_MAX_RANK]; /* only the first `rank` count */
    size_t count;                /* elements: the product of the shape */
    void *data;                  /* count * item_size bytes; never NULL in an array that was read */
} npy_array;

/* Reads one array that fills the n bytes exactly. On failure *out is empty and msg says what was
 * found and what was expected. Free with npy_free(). */
bool npy_parse(const void *bytes, size_t n, npy_array *out, char *msg, size_t msg_size);

/* Reads one array from a stream. A regular file must hold nothing else; a pipe is left at the first
 * byte after the array, so that several arrays may follow one another. */
bool npy_read(FILE *stream, npy_array *out, char *msg, size_t msg_size);

/* Where the bytes of an array come from. */
typedef struct npy_source {
    size_t (*read)(void *from, void *to, size_t n); /* fewer than n: there are no more */
    void *from;
    bool sized;   /* `left` bytes are still to come, by what is known or was promised */
    bool trusted; /* they are there: memory for them may be taken at once */
    size_t left;
} npy_source;

/* Reads one array from any source; with `alone`, nothing may follow it. */
bool npy_read_source(npy_source *source, bool alone, npy_array *out, char *msg, size_t msg_size);

/* Reads a file, or standard input for "-": .npy, .npy.gz, .npz with one array in it, or one array of
 * it as FILE.npz:NAME. An exit code, after a message of that command. */
int npy_load(const char *command, const char *path, npy_array *out);

/* Whether a text looks like the name of such a file. */
bool npy_is_file_name(const char *text);

/* Writes the array as version 1.0; false when the stream does not take it (errno says why). */
bool npy_write(FILE *stream, const npy_array *array);

/* Frees the data and empties the array. */
void npy_free(npy_array *array);

/* "f4 (2, 3)". */
void npy_describe(const npy_array *array, char *text, size_t size);
/* "(2, 3)", "(3,)", "()": as Python prints a tuple. */
void npy_shape_text(const int64_t *shape, int rank, char *text, size_t size);

/* One element as a number; i < count. npy_int_at() is for kinds 'b', 'i', 'u' and holds unsigned
 * values above INT64_MAX at INT64_MAX. */
double npy_real_at(const npy_array *array, size_t i);
int64_t npy_int_at(const npy_array *array, size_t i);

/* The elements as a fresh array of a float dtype, floats rounded once, to nearest even.
 * *became_infinite counts finite elements that are too large for it. NULL when out of memory; free
 * with free(). */
void *npy_to_dtype(const npy_array *array, attn_dtype dtype, size_t *became_infinite);

#endif
