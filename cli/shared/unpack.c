/* SPDX-License-Identifier: Apache-2.0 */
/* unpack.c - see unpack.h. zlib does the work and checks the CRC of gzip files by itself. */
#include "shared/unpack.h"

#include <stdlib.h>
#include <zlib.h>

enum { INPUT = 1 << 14, PIECE = 1 << 24, RAW = -MAX_WBITS, GZIP = 16 + MAX_WBITS };

struct unpack {
    FILE *stream;
    unpack_method method;
    uint64_t left; /* packed bytes that were not read yet */
    z_stream z;
    uLong crc;
    bool ended; /* the packed data says that it ends */
    const char *problem;
    unsigned char input[INPUT];
};

unpack *unpack_create(FILE *stream, unpack_method method, uint64_t packed) {
    unpack *u = calloc(1, sizeof *u);
    if (!u) return NULL;
    *u = (unpack){.stream = stream, .method = method, .left = packed, .crc = crc32(0, NULL, 0)};
    if (method == UNPACK_STORED) return u;
    if (inflateInit2(&u->z, method == UNPACK_GZIP ? GZIP : RAW) == Z_OK) return u;
    free(u);
    return NULL;
}

void unpack_destroy(unpack *u) {
    if (u && u->method != UNPACK_STORED) inflateEnd(&u->z);
    free(u);
}

/* Fills the input buffer; false: there is nothing more. */
static bool refill(unpack *u) {
    const size_t wanted = u->left < INPUT ? (size_t)u->left : INPUT;
    const size_t got = fread(u->input, 1, wanted, u->stream);
    u->left -= got;
    u->z.next_in = u->input;
    u->z.avail_in = (uInt)got;
    return got > 0;
}

static size_t read_stored(unpack *u, void *to, size_t n) {
    const size_t got = fread(to, 1, u->left < n ? (size_t)u->left : n, u->stream);
    u->left -= got;
    return got;
}

/* At most PIECE bytes, which fit in zlib's counters. */
static size_t inflate_piece(unpack *u, unsigned char *to, size_t n) {
    u->z.next_out = to;
    u->z.avail_out = (uInt)n;
    while (u->z.avail_out > 0 && !u->ended && !u->problem) {
        if (u->z.avail_in == 0 && !refill(u)) {
            u->problem = "truncated: the packed data ends early";
            break;
        }
        const int status = inflate(&u->z, Z_NO_FLUSH);
        if (status == Z_STREAM_END)
            u->ended = true;
        else if (status == Z_MEM_ERROR)
            u->problem = "out of memory";
        else if (status != Z_OK)
            u->problem = "damaged: the packed data cannot be unpacked";
    }
    return n - u->z.avail_out;
}

size_t unpack_read(void *from, void *to, size_t n) {
    unpack *u = from;
    unsigned char *at = to;
    size_t got = 0;
    while (got < n) {
        const size_t wanted = n - got < PIECE ? n - got : PIECE;
        const size_t piece = u->method == UNPACK_STORED ? read_stored(u, at + got, wanted)
                                                        : inflate_piece(u, at + got, wanted);
        u->crc = crc32(u->crc, at + got, (uInt)piece);
        got += piece;
        if (piece < wanted) break;
    }
    return got;
}

bool unpack_is_complete(unpack *u) {
    unsigned char more;
    const size_t got = unpack_read(u, &more, 1); /* also lets zlib see the end */
    if (u->problem) return false;
    if (got > 0)
        u->problem = "damaged: it unpacks to more bytes than the array has";
    else if (u->z.avail_in > 0 || refill(u))
        u->problem = "damaged: other bytes follow the packed data";
    return !u->problem;
}

const char *unpack_problem(const unpack *u) { return u->problem; }

uint32_t unpack_crc(const unpack *u) { return (uint32_t)u->crc; }
