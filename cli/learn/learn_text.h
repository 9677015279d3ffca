/* SPDX-License-Identifier: Apache-2.0 */
/* learn_text.h - text without its inline markup, with a style for every byte, broken into lines.
 * Tests: tests/book/test_learn_render.c */
#ifndef CLI_LEARN_TEXT_H
#define CLI_LEARN_TEXT_H

#include "shared/out.h"

typedef struct learn_text {
    char *byte;          /* (room) UTF-8 */
    unsigned char *look; /* (room) an out_look for each byte */
    size_t n, room;
} learn_text;

/* Bytes begin .. end-1 of a text. */
typedef struct learn_span {
    size_t begin, end;
} learn_span;

/* False when memory runs out. Text beyond `room` bytes is dropped. */
bool learn_text_init(learn_text *text, size_t room);
void learn_text_free(learn_text *text);

/* Appends n bytes of markdown: `code`, **bold**, *stress*, [title](link), \x for x itself. Runs of
 * white space become one space. `look` is the style of unmarked text. */
void learn_text_add(learn_text *text, const char *markdown, size_t n, out_look look);

/* The next line of at most `width` columns from *at on, broken between words where possible; false
 * at the end of the text. */
bool learn_text_line(const learn_text *text, size_t *at, int width, learn_span *line);

/* Columns on a terminal: code points. */
int learn_text_columns(const learn_text *text, learn_span span);
void learn_text_print(const learn_text *text, learn_span span, FILE *out);

#endif
