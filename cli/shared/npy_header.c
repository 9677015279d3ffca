/* SPDX-License-Identifier: Apache-2.0 */
/* npy_header.c - a strict little parser for the dictionary at the head of a .npy file. It knows
 * strings, True, False and tuples of sizes, nothing else of Python. Tests: tests/cli/test_npy.c
 * (table of hostile headers), tests/fuzz/fuzz_npy.c */
#include "shared/npy_header.h"

#include "core/base.h"

#include <ctype.h>
#include <stdarg.h>

typedef struct cursor {
    const char *at, *end;
    const npy_message *say;
} cursor;

bool npy_fail(const npy_message *say, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(say->text, say->size, format, list);
    va_end(list);
    return false;
}

static void skip_spaces(cursor *c) {
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\t' || *c->at == '\n')) c->at++;
}

/* Takes one character if it comes next, after spaces. */
static bool take(cursor *c, char wanted) {
    skip_spaces(c);
    if (c->at == c->end || *c->at != wanted) return false;
    c->at++;
    return true;
}

static bool expect(cursor *c, char wanted) {
    if (take(c, wanted)) return true;
    if (c->at == c->end) return npy_fail(c->say, "header ends where '%c' was expected", wanted);
    const unsigned char found = (unsigned char)*c->at;
    return npy_fail(c->say,
                    isprint(found) ? "header has '%c' where '%c' was expected"
                                   : "header has byte %d where '%c' was expected",
                    found, wanted);
}

/* A quoted string without escapes. */
static bool take_string(cursor *c, char *text, size_t size) {
    skip_spaces(c);
    if (c->at == c->end) return npy_fail(c->say, "header ends where a string was expected");
    const char quote = *c->at;
    if (quote != '\'' && quote != '"')
        return npy_fail(c->say, "header has no quoted string (structured types and Python objects "
                                "are not supported)");
    size_t n = 0;
    for (c->at++; c->at < c->end && *c->at != quote; c->at++) {
        if (n + 1 == size || *c->at == '\\' || !isprint((unsigned char)*c->at))
            return npy_fail(c->say, "header has a string that is too long or not plain text");
        text[n++] = *c->at;
    }
    text[n] = 0;
    return expect(c, quote);
}

/* '<f4': byte order, kind, bytes. */
static bool parse_descr(cursor *c, npy_header *header) {
    static const char *const known[] = {"b1", "i1", "i2", "i4", "i8", "u1",
                                        "u2", "u4", "u8", "f2", "f4", "f8"};
    char text[24];
    if (!take_string(c, text, sizeof text)) return false;
    for (size_t t = 0; t < sizeof known / sizeof *known; t++) {
        if (text[0] == 0 || strcmp(text + 1, known[t]) != 0) continue;
        header->array.kind = known[t][0];
        header->array.item_size = known[t][1] - '0';
        header->big_endian = text[0] == '>';
        if (text[0] == '<' || text[0] == '>') return true;
        if (text[0] == '|' && header->array.item_size == 1) return true;
    }
    return npy_fail(c->say,
                    "element type '%s', expected bool (b1), integers (i1 i2 i4 i8 u1 u2 u4 "
                    "u8) or floats (f2 f4 f8); convert with array.astype('float32')",
                    text);
}

static bool parse_bool(cursor *c, bool *value) {
    skip_spaces(c);
    const size_t left = (size_t)(c->end - c->at);
    *value = left >= 4 && memcmp(c->at, "True", 4) == 0;
    if (!*value && (left < 5 || memcmp(c->at, "False", 5) != 0))
        return npy_fail(c->say, "fortran_order is neither True nor False");
    c->at += *value ? 4 : 5;
    return true;
}

static bool parse_size(cursor *c, int64_t *value) {
    skip_spaces(c);
    if (c->at == c->end || !isdigit((unsigned char)*c->at))
        return npy_fail(c->say, "shape contains something other than sizes of 0 or more");
    *value = 0;
    for (; c->at < c->end && isdigit((unsigned char)*c->at); c->at++)
        if (__builtin_mul_overflow(*value, 10, value) ||
            __builtin_add_overflow(*value, *c->at - '0', value))
            return npy_fail(c->say, "shape contains a size that does not fit in 64 bits");
    if (c->at < c->end && *c->at == 'L') c->at++; /* files written by Python 2 */
    return true;
}

static bool parse_shape(cursor *c, npy_array *array) {
    if (!expect(c, '(')) return false;
    array->rank = 0;
    while (!take(c, ')')) {
        if (array->rank == NPY_MAX_RANK)
            return npy_fail(c->say, "more than %d dimensions", NPY_MAX_RANK);
        if (!parse_size(c, &array->shape[array->rank++])) return false;
        const bool comma = take(c, ',');
        if (!comma && array->rank == 1) /* "(3)" is no tuple in Python */
            return npy_fail(c->say, "shape is not a tuple: ',' missing after the first size");
        if (!comma) return expect(c, ')');
    }
    return true;
}

/* The product of the sizes; sizes of 0 count as 1 on the way, so that strides fit too. */
static bool count_elements(npy_array *array, const npy_message *say) {
    size_t product = (size_t)array->item_size;
    bool empty = false;
    for (int r = 0; r < array->rank; r++) {
        empty |= array->shape[r] == 0;
        if (array->shape[r] > 0 && !attni_mul(product, (size_t)array->shape[r], &product))
            product = SIZE_MAX;
        if (product > PTRDIFF_MAX)
            return npy_fail(say, "shape has more elements than memory can address");
    }
    array->count = empty ? 0 : product / (size_t)array->item_size;
    return true;
}

enum { SEEN_DESCR = 1, SEEN_ORDER = 2, SEEN_SHAPE = 4, SEEN_ALL = 7 };

/* One "key: value" pair; its bit is added to *seen. */
static bool parse_pair(cursor *c, npy_header *header, int *seen) {
    char key[24];
    if (!take_string(c, key, sizeof key) || !expect(c, ':')) return false;
    const int bit = strcmp(key, "descr") == 0           ? SEEN_DESCR
                    : strcmp(key, "fortran_order") == 0 ? SEEN_ORDER
                    : strcmp(key, "shape") == 0         ? SEEN_SHAPE
                                                        : 0;
    if (!bit) return npy_fail(c->say, "header has the unknown key '%s'", key);
    if (*seen & bit) return npy_fail(c->say, "header has the key '%s' twice", key);
    *seen |= bit;
    if (bit == SEEN_DESCR) return parse_descr(c, header);
    if (bit == SEEN_ORDER) return parse_bool(c, &header->fortran_order);
    return parse_shape(c, &header->array);
}

bool npy_header_parse(const char *text, size_t length, npy_header *header, const npy_message *say) {
    cursor c = {text, text + length, say};
    int seen = 0;
    memset(header, 0, sizeof *header);
    if (!expect(&c, '{')) return false;
    while (!take(&c, '}')) {
        if (!parse_pair(&c, header, &seen)) return false;
        if (take(&c, ',')) continue;
        if (!expect(&c, '}')) return false;
        break;
    }
    if (seen != SEEN_ALL)
        return npy_fail(say, "header lacks the key '%s'",
                        !(seen & SEEN_DESCR)   ? "descr"
                        : !(seen & SEEN_ORDER) ? "fortran_order"
                                               : "shape");
    skip_spaces(&c);
    if (c.at != c.end) return npy_fail(say, "header continues after its closing '}'");
    return count_elements(&header->array, say);
}
