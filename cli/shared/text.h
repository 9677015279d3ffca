/* SPDX-License-Identifier: Apache-2.0 */
/* text.h - UTF-8 text in the columns of a terminal: its width, shortening, padding and wrapping.
 * Widths are those of the terminal: 2 for East Asian wide characters and emoji, 0 for combining
 * marks and for escape sequences. Tests: tests/cli/test_text.c, tests/cli/test_width.py */
#ifndef CLI_TEXT_H
#define CLI_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Columns that the text takes; text_span_width() reads `length` bytes of it. */
int text_width(const char *text);
int text_span_width(const char *text, size_t length);

/* Bytes of the longest beginning that takes at most that many columns. It never ends inside a
 * character or between a character and its combining marks. */
size_t text_fit(const char *text, int columns);

/* Bytes of the next line of a cell: as many words as fit, or as much of one long word as fits; at
 * least one character. Without the spaces that follow, unless these are all that is left. */
size_t text_line(const char *text, int columns);

/* Prints the text in exactly `columns` columns: padded with spaces, or shortened with "…". */
void text_put(FILE *to, const char *text, int columns, bool right);
/* The text itself if it takes at most `columns` columns (and fits the room), else a beginning of it
 * and "…" in `room`. */
enum { TEXT_ROOM = 256 };
const char *text_short(const char *text, int columns, char room[TEXT_ROOM]);
/* Prints the text in at most `columns` columns, shortened with "…"; returns the columns used. */
int text_put_short(FILE *to, const char *text, int columns);

/* Where a paragraph goes. */
typedef struct text_box {
    int column; /* where the cursor is */
    int indent; /* where the following lines begin */
    int width;  /* columns of a line */
} text_box;

/* Prints words, separated by spaces or newlines, broken into lines; ends with a newline. */
void text_wrap(FILE *to, const char *text, text_box box);

/* Prints prose and indented lines: lines that begin without a space are joined and wrapped; the
 * others are kept, and wrapped only if they are too long. Ends with a newline. */
void text_reflow(FILE *to, const char *text, int width);

#endif
