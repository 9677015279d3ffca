/* SPDX-License-Identifier: Apache-2.0 */
/* pattern.h - the little language of --pattern: "longformer:256,64&causal".
 * Tests: tests/cli/test_pattern_option.c, tests/fuzz/fuzz_cli.c */
#ifndef CLI_PATTERN_H
#define CLI_PATTERN_H

#include "attn/attn.h"

#include <stdbool.h>

typedef struct pattern_shape {
    int64_t n_q, n_k;
    int64_t offset; /* position of query 0 among the keys */
    bool
        one_offset; /* false: sequences differ in it, so only patterns that ignore it are allowed */
} pattern_shape;

/* Gives the pattern that text describes; destroy with attn_pattern_destroy(). Errors: VALUE when text is
 * not understood, SHAPE when a square pattern meets n_q != n_k, those of attn_pattern_*(). */
attn_status pattern_build(const char *text, const pattern_shape *shape, attn_pattern **pattern,
                          attn_error *err);

/* The grammar, for help texts. */
extern const char pattern_help[];

#endif
