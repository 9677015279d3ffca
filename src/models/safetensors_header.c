/* SPDX-License-Identifier: Apache-2.0 */
/* safetensors_header.c - a strict parser for the subset of JSON that safetensors headers use: one
 * object of name -> {dtype, shape, data_offsets}, and "__metadata__" with strings. No recursion,
 * integers only, no unknown or repeated keys; strings are valid UTF-8 without zero bytes. Tests:
 * tests/models/test_safetensors.c, tests/fuzz/fuzz_safetensors.c */
#include "models/safetensors_header.h"

#include <stdlib.h>

typedef struct parser {
    const attni_st_source *source;
    const char *at, *end;
    char *text; /* where the next decoded string goes; decoding never makes it longer */
    attni_safetensors *file;
    size_t tensor_room, pair_room;
    attn_error *err;
} parser;

static attn_status wrong(const parser *p, const char *expected) {
    return attni_fail(p->err, ATTN_E_VALUE, "safetensors: header byte %zu: expected %s",
                      (size_t)(p->at - p->source->header), expected);
}

static void skip_space(parser *p) {
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\n' || *p->at == '\r' || *p->at == '\t'))
        p->at++;
}

/* Consumes the next character if it is this one; returns whether it was. */
static bool take(parser *p, char sign) {
    skip_space(p);
    if (p->at == p->end || *p->at != sign) return false;
    p->at++;
    return true;
}

/* ------------------------------------------------------------------------------------- strings */

static bool take_hex(parser *p, uint32_t *code) {
    *code = 0;
    for (int i = 0; i < 4; i++, p->at++) {
        if (p->at == p->end) return false;
        const char c = *p->at, lower = (char)(c | 0x20);
        if (c >= '0' && c <= '9')
            *code = *code << 4 | (uint32_t)(c - '0');
        else if (lower >= 'a' && lower <= 'f')
            *code = *code << 4 | (uint32_t)(lower - 'a' + 10);
        else
            return false;
    }
    return true;
}

/* The code point of \uXXXX, or of two of them that form a surrogate pair. */
static bool take_unicode(parser *p, uint32_t *code) {
    uint32_t low;
    if (!take_hex(p, code)) return false;
    if (*code < 0xd800 || *code > 0xdfff) return *code != 0;
    if (*code > 0xdbff || p->end - p->at < 6 || p->at[0] != '\\' || p->at[1] != 'u') return false;
    p->at += 2;
    if (!take_hex(p, &low) || low < 0xdc00 || low > 0xdfff) return false;
    *code = 0x10000 + ((*code - 0xd800) << 10) + (low - 0xdc00);
    return true;
}

static void put_utf8(parser *p, uint32_t code) {
    if (code < 0x80) {
        *p->text++ = (char)code;
        return;
    }
    const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const unsigned char lead[] = {0, 0xc0, 0xe0, 0xf0};
    *p->text++ = (char)(lead[more] | code >> 6 * more);
    for (int i = more - 1; i >= 0; i--) *p->text++ = (char)(0x80 | (code >> 6 * i & 0x3f));
}

static bool take_escape(parser *p) {
    static const char signs[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    if (p->at == p->end) return false;
    const char c = *p->at++;
    const char *found = c ? strchr(signs, c) : NULL;
    uint32_t code;
    if (found) {
        *p->text++ = meant[found - signs];
        return true;
    }
    if (c != 'u' || !take_unicode(p, &code)) return false;
    put_utf8(p, code);
    return true;
}

/* Copies one multi-byte character: shortest form, no surrogate, not above U+10FFFF. */
static bool take_wide(parser *p) {
    const unsigned char lead = (unsigned char)*p->at;
    const int more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    uint32_t code = lead & (0x3fu >> more);
    if (lead < 0xc2 || lead > 0xf4 || p->end - p->at <= more) return false;
    for (int i = 1; i <= more; i++) {
        const unsigned char next = (unsigned char)p->at[i];
        if ((next & 0xc0) != 0x80) return false;
        code = code << 6 | (next & 0x3f);
    }
    if (code < least[more] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return false;
    memcpy(p->text, p->at, (size_t)more + 1);
    p->text += more + 1;
    p->at += more + 1;
    return true;
}

static attn_status take_string(parser *p, const char **string) {
    if (!take(p, '"')) return wrong(p, "a string");
    *string = p->text;
    while (p->at < p->end && *p->at != '"') {
        const unsigned char c = (unsigned char)*p->at;
        if (c < 0x20) return wrong(p, "no control character in a string");
        if (c == '\\') {
            p->at++;
            if (!take_escape(p)) return wrong(p, "an escape sequence of JSON, other than zero");
        } else if (c >= 0x80) {
            if (!take_wide(p)) return wrong(p, "UTF-8");
        } else {
            *p->text++ = *p->at++;
        }
    }
    if (p->at == p->end) return wrong(p, "the end of the string");
    p->at++;
    *p->text++ = 0; /* the closing quote leaves room for it */
    return ATTN_OK;
}

/* ------------------------------------------------------------------------------ numbers, lists */

static attn_status take_size(parser *p, size_t *value) {
    skip_space(p);
    const char *first = p->at;
    *value = 0;
    for (; p->at < p->end && *p->at >= '0' && *p->at <= '9'; p->at++)
        if (!attni_mul(*value, 10, value) || !attni_add(*value, (size_t)(*p->at - '0'), value))
            return wrong(p, "a number that fits the address space");
    if (p->at == first || (*first == '0' && p->at - first > 1))
        return wrong(p, "a whole number that is not negative");
    return ATTN_OK;
}

/* [n, n, ...] of at most max numbers. */
static attn_status take_sizes(parser *p, size_t *values, int max, int *n) {
    *n = 0;
    if (!take(p, '[')) return wrong(p, "[");
    if (take(p, ']')) return ATTN_OK;
    do {
        if (*n == max) return wrong(p, "no more numbers in this list");
        ATTN_TRY(take_size(p, &values[(*n)++]));
    } while (take(p, ','));
    return take(p, ']') ? ATTN_OK : wrong(p, ", or ]");
}

/* Makes room for one more element of `size` bytes; false if memory is out. */
static bool grow(void **list, size_t n, size_t *room, size_t size) {
    size_t bytes;
    if (n < *room) return true;
    const size_t wanted = *room ? 2 * *room : 16;
    if (!attni_mul(wanted, size, &bytes)) return false;
    void *larger = realloc(*list, bytes);
    if (!larger) return false;
    *list = larger;
    *room = wanted;
    return true;
}

static attn_status no_memory(const parser *p) {
    return attni_fail(p->err, ATTN_E_MEMORY, "safetensors: out of memory for the header");
}

/* ------------------------------------------------------------------------------------- entries */

static attn_status take_dtype(parser *p, attni_st_tensor *tensor) {
    const char *word;
    ATTN_TRY(take_string(p, &word));
    for (int d = 0; d < ATTNI_ST_N_DTYPES; d++) {
        tensor->dtype = (attni_st_dtype)d;
        if (strcmp(word, attni_st_dtype_name(tensor->dtype)) == 0) return ATTN_OK;
    }
    return attni_fail(p->err, ATTN_E_VALUE, "safetensors: %.80s: dtype \"%.20s\" is not known",
                      tensor->name, word);
}

static attn_status take_place(parser *p, attni_st_tensor *tensor) {
    size_t place[2];
    int n;
    ATTN_TRY(take_sizes(p, place, 2, &n));
    if (n != 2 || place[0] > place[1] || place[1] > p->source->data_size)
        return attni_fail(p->err, ATTN_E_VALUE,
                          "safetensors: %.80s: data_offsets, expected [begin, end] within the %zu "
                          "bytes of data",
                          tensor->name, p->source->data_size);
    tensor->data = p->source->data + place[0];
    tensor->size = place[1] - place[0];
    return ATTN_OK;
}

enum { HAS_DTYPE = 1, HAS_SHAPE = 2, HAS_PLACE = 4, HAS_ALL = 7 };

static attn_status take_field(parser *p, attni_st_tensor *tensor, int *has) {
    const char *key;
    char *text = p->text; /* keys are not kept */
    ATTN_TRY(take_string(p, &key));
    const int which = strcmp(key, "dtype") == 0          ? HAS_DTYPE
                      : strcmp(key, "shape") == 0        ? HAS_SHAPE
                      : strcmp(key, "data_offsets") == 0 ? HAS_PLACE
                                                         : 0;
    p->text = text;
    if (which == 0 || *has & which) return wrong(p, "dtype, shape and data_offsets, each once");
    if (!take(p, ':')) return wrong(p, ":");
    *has |= which;
    if (which == HAS_DTYPE) return take_dtype(p, tensor);
    if (which == HAS_PLACE) return take_place(p, tensor);
    return take_sizes(p, tensor->shape, ATTNI_ST_MAX_RANK, &tensor->rank);
}

static attn_status take_tensor(parser *p, const char *name) {
    attni_st_tensor tensor = {.name = name};
    int has = 0;
    if (!take(p, '{')) return wrong(p, "{");
    do ATTN_TRY(take_field(p, &tensor, &has));
    while (take(p, ','));
    if (!take(p, '}')) return wrong(p, ", or }");
    if (has != HAS_ALL) return wrong(p, "dtype, shape and data_offsets before this");
    void *list = p->file->tensor;
    if (!grow(&list, p->file->n_tensors, &p->tensor_room, sizeof tensor)) return no_memory(p);
    p->file->tensor = list;
    p->file->tensor[p->file->n_tensors++] = tensor;
    return ATTN_OK;
}

static attn_status take_pair(parser *p) {
    attni_st_pair pair;
    ATTN_TRY(take_string(p, &pair.key));
    if (!take(p, ':')) return wrong(p, ":");
    ATTN_TRY(take_string(p, &pair.value));
    void *list = p->file->metadata;
    if (!grow(&list, p->file->n_metadata, &p->pair_room, sizeof pair)) return no_memory(p);
    p->file->metadata = list;
    p->file->metadata[p->file->n_metadata++] = pair;
    return ATTN_OK;
}

static attn_status take_metadata(parser *p) {
    if (!take(p, '{')) return wrong(p, "{");
    if (take(p, '}')) return ATTN_OK;
    do ATTN_TRY(take_pair(p));
    while (take(p, ','));
    return take(p, '}') ? ATTN_OK : wrong(p, ", or }");
}

static attn_status take_entries(parser *p) {
    bool has_metadata = false;
    if (take(p, '}')) return ATTN_OK;
    do {
        const char *name;
        ATTN_TRY(take_string(p, &name));
        if (!take(p, ':')) return wrong(p, ":");
        if (strcmp(name, "__metadata__") != 0) {
            ATTN_TRY(take_tensor(p, name));
        } else {
            if (has_metadata) return wrong(p, "__metadata__ only once");
            has_metadata = true;
            ATTN_TRY(take_metadata(p));
        }
    } while (take(p, ','));
    return take(p, '}') ? ATTN_OK : wrong(p, ", or }");
}

attn_status attni_safetensors_header(const attni_st_source *source, attni_safetensors *file,
                                     attn_error *err) {
    parser p = {.source = source,
                .at = source->header,
                .end = source->header + source->header_size,
                .file = file,
                .err = err};
    if (source->header_size == 0 || *source->header != '{') return wrong(&p, "{");
    file->text = malloc(source->header_size);
    if (!file->text) return no_memory(&p);
    p.text = file->text;
    p.at++;
    ATTN_TRY(take_entries(&p));
    skip_space(&p);
    return p.at == p.end ? ATTN_OK : wrong(&p, "nothing after the last }");
}
