/* SPDX-License-Identifier: Apache-2.0 */
/* learn_render.h - a page of the book for a terminal: headings, paragraphs, lists, quotes, code and
 * tables, wrapped to a width. Tests: tests/book/test_learn_render.c */
#ifndef CLI_LEARN_RENDER_H
#define CLI_LEARN_RENDER_H

#include "learn/learn_text.h"

enum { LEARN_LEAST_WIDTH = 40, LEARN_MOST_WIDTH = 100 };

/* The number of columns to use: out_columns() within the limits above. */
int learn_width(void);

/* Renders n bytes of markdown to out; no line is wider than `width`. Colours are those of standard
 * output. False when memory runs out. */
bool learn_render(const char *markdown, size_t n, int width, FILE *out);

/* Reads the line at `at`, without its newline, and moves `at` to the next. */
typedef struct learn_lines {
    const char *at, *end;
} learn_lines;
typedef struct learn_line {
    const char *at;
    size_t n;
} learn_line;
bool learn_next_line(learn_lines *lines, learn_line *line);

/* Renders the table at lines->at, up to the first line that does not start with a bar. */
bool learn_render_table(learn_lines *lines, int width, FILE *out);

#endif
