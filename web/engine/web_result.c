/* SPDX-License-Identifier: Apache-2.0 */
/* web_result.c - see web_result.h. */
#include "engine.h"

#include <stdlib.h>

static const web_shape scalar;

static struct {
    web_result *list; /* (n) */
    int32_t n, room;
    bool is_full; /* memory has run out */
} results;

static const size_t size_of_kind[] = {sizeof(float), sizeof(double), sizeof(int32_t), 1, 1};

void web_begin(void) {
    for (int32_t i = 0; i < results.n; i++) free(results.list[i].owned);
    results.n = 0;
    results.is_full = false;
    web_error.message[0] = 0;
}

static bool grow(void) {
    if (results.n < results.room) return true;
    const int32_t room = results.room ? 2 * results.room : 32;
    web_result *list = realloc(results.list, (size_t)room * sizeof *list);
    if (!list) return false;
    results.list = list;
    results.room = room;
    return true;
}

static web_result *add(const char *name, web_kind kind, const web_shape *shape, const void *data) {
    if (!grow()) {
        results.is_full = true;
        return NULL;
    }
    web_result *result = &results.list[results.n++];
    *result = (web_result){.name = name, .kind = kind, .rank = shape->rank, .data = data};
    for (int i = 0; i < shape->rank; i++) result->shape[i] = (int32_t)shape->side[i];
    return result;
}

void web_put_view(const char *name, web_kind kind, const web_shape *shape, const void *data) {
    add(name, kind, shape, data);
}

/* Adds a result that owns its memory, which is released on failure; returns the memory, or NULL. */
static void *adopt(const char *name, web_kind kind, const web_shape *shape, void *memory) {
    web_result *result = memory ? add(name, kind, shape, memory) : NULL;
    if (result) return result->owned = memory;
    results.is_full = true;
    free(memory);
    return NULL;
}

void web_keep(void *memory) { adopt("", WEB_U8, &scalar, memory); }

static void *put_bytes(const char *name, web_kind kind, const web_shape *shape, size_t bytes) {
    return adopt(name, kind, shape, calloc(bytes ? bytes : 1, 1));
}

void *web_put(const char *name, web_kind kind, const web_shape *shape) {
    size_t bytes = size_of_kind[kind];
    for (int i = 0; i < shape->rank; i++)
        if (!attni_mul(bytes, (size_t)shape->side[i], &bytes) || bytes > PTRDIFF_MAX) {
            results.is_full = true;
            return NULL;
        }
    return put_bytes(name, kind, shape, bytes);
}

void *web_scratch(size_t n, size_t size) { return put_bytes("", WEB_U8, &scalar, n * size); }

void web_put_number(const char *name, double number) {
    double *cell = web_put(name, WEB_F64, &scalar);
    if (cell) *cell = number;
}

void web_put_texts(const char *name, const char *const *text, int64_t n) {
    size_t bytes = 0;
    for (int64_t i = 0; i < n; i++) bytes += strlen(text[i]) + 1;
    char *to = put_bytes(name, WEB_TEXT, WEB_SHAPE(n, (int64_t)bytes), bytes);
    for (int64_t i = 0; to && i < n; i++) {
        const size_t size = strlen(text[i]) + 1;
        memcpy(to, text[i], size);
        to += size;
    }
}

void web_put_text(const char *name, const char *text) { web_put_texts(name, &text, 1); }

attn_status web_result_status(void) {
    if (!results.is_full) return ATTN_OK;
    return attni_fail(&web_error, ATTN_E_MEMORY, "out of memory for the results; try less");
}

/* ------------------------------------------------------------------------------- for the page */

__attribute__((export_name("result_count"))) int32_t web_result_count(void) { return results.n; }
__attribute__((export_name("result_list"))) const web_result *web_result_list(void) {
    return results.list;
}
