/* SPDX-License-Identifier: Apache-2.0 */
/* npy.c - the .npy container: magic, version, a header that is a Python dictionary, raw elements.
 * The header goes through npy_header.c; this file moves bytes, orders and sizes.
 * Tests: tests/cli/test_npy.c, tests/fuzz/fuzz_npy.c */
#include "shared/npy.h"

#include "core/base.h"
#include "lab/support/system.h"
#include "shared/npy_header.h"

#include <stdlib.h>

enum { FIRST_PIECE = 1 << 20 }; /* bytes taken on trust from a stream of unknown length */

/* Bytes in memory. */
typedef struct memory {
    const unsigned char *bytes;
    size_t left;
} memory;

static size_t read_memory(void *from, void *to, size_t n) {
    memory *m = from;
    const size_t got = n < m->left ? n : m->left;
    if (got) memcpy(to, m->bytes, got);
    m->bytes += got;
    m->left -= got;
    return got;
}

static size_t read_stream(void *from, void *to, size_t n) { return fread(to, 1, n, from); }

static size_t source_read(npy_source *from, void *to, size_t n) {
    const size_t got = from->read(from->from, to, n);
    if (from->sized) from->left -= got < from->left ? got : from->left;
    return got;
}

static bool host_is_big_endian(void) {
    const uint16_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    return first == 0;
}

/* ------------------------------------------------------------------------------------- reading */

/* Reads magic, version, length and dictionary. */
static bool read_header(npy_source *from, npy_header *header, npy_message *say) {
    unsigned char head[12];
    size_t got = source_read(from, head, 10);
    if (got < 10 || memcmp(head, "\x93NUMPY", 6) != 0)
        return npy_fail(say, "not a .npy file: it does not begin with the bytes \\x93NUMPY "
                             "(numpy.save() writes such files)");
    const int major = head[6], minor = head[7];
    if (major < 1 || major > 3 || minor != 0)
        return npy_fail(say, "format version %d.%d, expected 1.0, 2.0 or 3.0", major, minor);
    size_t length = (size_t)head[8] | (size_t)head[9] << 8;
    if (major > 1) {
        if (source_read(from, head + 10, 2) < 2)
            return npy_fail(say, "truncated: the file ends inside the header");
        length |= (size_t)head[10] << 16 | (size_t)head[11] << 24;
    }
    if (length > NPY_MAX_HEADER)
        return npy_fail(say, "header of %zu bytes, expected at most %d", length, NPY_MAX_HEADER);
    if (from->sized && length > from->left)
        return npy_fail(say, "truncated: the header should have %zu bytes, %zu are present", length,
                        from->left);
    char *text = malloc(length + 1);
    if (!text) return npy_fail(say, "out of memory");
    got = source_read(from, text, length);
    bool ok = got == length ? npy_header_parse(text, length, header, say)
                            : npy_fail(say, "truncated: the file ends inside the header");
    free(text);
    return ok;
}

/* Reads exactly `bytes` bytes. A source that is not trusted gets memory only as data really arrives,
 * so that a lying header cannot ask for more than there is. */
static void *read_data(npy_source *from, size_t bytes, npy_message *say) {
    size_t room = from->trusted || bytes < FIRST_PIECE ? bytes : FIRST_PIECE;
    unsigned char *data = malloc(room ? room : 1);
    size_t have = 0;
    while (data) {
        have += source_read(from, data + have, room - have);
        if (have < room || room == bytes) break;
        room = room > bytes / 2 ? bytes : room * 2;
        unsigned char *larger = realloc(data, room);
        if (!larger) free(data);
        data = larger;
    }
    if (!data) {
        npy_fail(say, "out of memory for %zu bytes of elements", bytes);
    } else if (have < bytes) {
        npy_fail(say, "truncated: the header promises %zu bytes of elements, %zu are present",
                 bytes, have);
        free(data);
        data = NULL;
    }
    return data;
}

static void swap_bytes(unsigned char *data, size_t count, size_t item_size) {
    for (size_t i = 0; i < count; i++, data += item_size) {
        for (size_t low = 0, high = item_size - 1; low < high; low++, high--) {
            const unsigned char byte = data[low];
            data[low] = data[high];
            data[high] = byte;
        }
    }
}

/* Replaces Fortran order (first index fastest) by C order (last index fastest). */
static bool reorder(npy_array *array, npy_message *say) {
    const size_t size = (size_t)array->item_size;
    unsigned char *to = malloc(array->count ? array->count * size : 1);
    if (!to) return npy_fail(say, "out of memory for the copy in C order");
    const unsigned char *from = array->data;
    size_t stride[NPY_MAX_RANK] = {0}, index[NPY_MAX_RANK] = {0}, at = 0;
    for (int r = 0; r < array->rank; r++)
        stride[r] = r == 0 ? 1 : stride[r - 1] * (size_t)array->shape[r - 1];
    for (size_t i = 0; i < array->count; i++) {
        memcpy(to + i * size, from + at * size, size);
        for (int r = array->rank - 1; r >= 0; r--) { /* count up like a clock */
            at += stride[r];
            if (++index[r] < (size_t)array->shape[r]) break;
            at -= stride[r] * index[r];
            index[r] = 0;
        }
    }
    free(array->data);
    array->data = to;
    return true;
}

static bool finish(npy_array *array, const npy_header *header, npy_message *say) {
    unsigned char *bytes = array->data;
    if (array->item_size > 1 && header->big_endian != host_is_big_endian())
        swap_bytes(bytes, array->count, (size_t)array->item_size);
    if (array->kind == 'b')
        for (size_t i = 0; i < array->count; i++) bytes[i] = bytes[i] != 0;
    return !header->fortran_order || array->rank < 2 || reorder(array, say);
}

/* Whether the promised elements can be there, and alone, before memory is taken for them. */
static bool check_size(const npy_source *from, bool alone, size_t bytes, npy_message *say) {
    if (from->sized && bytes > from->left)
        return npy_fail(say,
                        "truncated: the header promises %zu bytes of elements, %zu are present",
                        bytes, from->left);
    if (alone && from->sized && bytes < from->left)
        return npy_fail(say, "%zu bytes follow the array that the header describes, expected none",
                        from->left - bytes);
    if (!from->trusted && (double)bytes > system_memory())
        return npy_fail(say, "an array of %zu bytes, more than the memory of this machine", bytes);
    return true;
}

bool npy_read_source(npy_source *from, bool alone, npy_array *out, char *msg, size_t msg_size) {
    npy_message say = {msg, msg_size};
    npy_header header;
    memset(out, 0, sizeof *out);
    if (!read_header(from, &header, &say)) return false;
    npy_array array = header.array;
    const size_t bytes = array.count * (size_t)array.item_size; /* checked by npy_header_parse() */
    if (!check_size(from, alone, bytes, &say)) return false;
    array.data = read_data(from, bytes, &say);
    if (!array.data) return false;
    if (!finish(&array, &header, &say)) {
        npy_free(&array);
        return false;
    }
    *out = array;
    return true;
}

bool npy_parse(const void *bytes, size_t n, npy_array *out, char *msg, size_t msg_size) {
    memory m = {bytes, n};
    npy_source from = {.read = read_memory, .from = &m, .sized = true, .trusted = true, .left = n};
    return npy_read_source(&from, true, out, msg, msg_size);
}

bool npy_read(FILE *stream, npy_array *out, char *msg, size_t msg_size) {
    npy_source from = {.read = read_stream, .from = stream};
    from.sized = from.trusted = system_bytes_left(stream, &from.left);
    return npy_read_source(&from, from.sized, out, msg, msg_size);
}

/* ------------------------------------------------------------------------------------- writing */

bool npy_write(FILE *stream, const npy_array *array) {
    char shape[NPY_TEXT], text[512];
    npy_shape_text(array->shape, array->rank, shape, sizeof shape);
    const char order = array->item_size == 1 ? '|' : host_is_big_endian() ? '>' : '<';
    int length =
        snprintf(text, sizeof text, "{'descr': '%c%c%d', 'fortran_order': False, 'shape': %s, }",
                 order, array->kind, array->item_size, shape);
    /* Spaces up to a multiple of 64 bytes with the 10 before, then a newline: elements are
     * aligned. */
    while ((length + 11) % 64 != 0) text[length++] = ' ';
    text[length++] = '\n';
    const unsigned char head[10] = {0x93,
                                    'N',
                                    'U',
                                    'M',
                                    'P',
                                    'Y',
                                    1,
                                    0,
                                    (unsigned char)(length & 255),
                                    (unsigned char)(length >> 8)};
    const size_t bytes = array->count * (size_t)array->item_size;
    return fwrite(head, 1, sizeof head, stream) == sizeof head &&
           fwrite(text, 1, (size_t)length, stream) == (size_t)length &&
           (bytes == 0 || fwrite(array->data, 1, bytes, stream) == bytes);
}

void npy_free(npy_array *array) {
    free(array->data);
    memset(array, 0, sizeof *array);
}
