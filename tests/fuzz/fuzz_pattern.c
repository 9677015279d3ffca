/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_pattern.c - arbitrary text for the parser of --pattern, with a shape given by the first two
 * bytes: it must reject the text with a message, or give a pattern of that shape. */
#include "fuzz.h"

#include "run/pattern_option.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_TEXT = 200 };

static void check(int condition) {
    if (!condition) abort();
}

/* The runs of a row lie inside the keys, and together they are what attn_pattern_count() says. */
static void check_pattern(const attn_pattern *pattern, const pattern_shape *shape) {
    int64_t seen = 0;
    check(attn_pattern_rows(pattern) == shape->n_q && attn_pattern_keys(pattern) == shape->n_k);
    for (int64_t i = 0; i < shape->n_q; i++)
        for (int64_t j = 0; j < shape->n_k; j++) seen += attn_pattern_at(pattern, i, j);
    check(seen == attn_pattern_count(pattern));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char text[MOST_TEXT + 1];
    attn_pattern *pattern = NULL;
    attn_error err = {""};
    if (size < 2 || size - 2 > MOST_TEXT) return 0;
    const pattern_shape shape = {.n_q = data[0] % 32,
                                 .n_k = data[1] % 64 < 32 ? data[0] % 32 : data[1] % 32,
                                 .offset = data[1] / 64,
                                 .one_offset = data[0] < 128};
    memcpy(text, data + 2, size - 2);
    text[size - 2] = 0;
    const attn_status status = pattern_build(text, &shape, &pattern, &err);
    if (status == ATTN_OK) {
        check_pattern(pattern, &shape);
        attn_pattern_destroy(pattern);
    } else {
        check(!pattern && err.message[0]);
    }
    return 0;
}
