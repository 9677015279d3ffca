/* SPDX-License-Identifier: Apache-2.0 */
/* out.h - everything that is said: errors and notes on standard error, styles, numbers for people,
 * JSON and progress. Tests: tests/cli/test_cli.py */
#ifndef CLI_OUT_H
#define CLI_OUT_H

#include "core/base.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef enum out_look { OUT_PLAIN, OUT_BOLD, OUT_DIM, OUT_GOOD, OUT_BAD, OUT_ACCENT } out_look;

/* 0 auto (a terminal, NO_COLOR unset, TERM not dumb), 1 always, 2 never. */
void out_set_color(int choice);
/* The escape sequence that begins a look on this stream; "" without colour. OUT_PLAIN ends one. */
const char *out_begin(FILE *stream, out_look look);

/* Columns to use on standard output: COLUMNS if it is set, else what the terminal says, else 80; at least
 * `least` and at most `most`. */
int out_columns(int least, int most);
/* The same, with another width than 80 where standard output is no terminal. */
int out_columns_or(int otherwise, int least, int most);
/* Whether a byte of UTF-8 begins a character, and so a column, or continues one. */
static inline bool out_begins_character(char byte) { return ((unsigned char)byte & 0xC0) != 0x80; }

/* "attn run: message" on standard error. */
void out_error(const char *command, const char *format, ...) ATTNI_PRINTF(2, 3);
/* "attn run: note: message": something the user may not expect. */
void out_note(const char *command, const char *format, ...) ATTNI_PRINTF(2, 3);
/* An indented line under an error. */
void out_hint(const char *format, ...) ATTNI_PRINTF(1, 2);

enum { OUT_NUMBER = 40 };
/* 17184063488 -> "17.2 G"; the unit follows by the caller ("FLOP"). */
const char *out_human(double value, char text[OUT_NUMBER]);
/* 33554432 -> "32.0 MiB". */
const char *out_bytes(double bytes, char text[OUT_NUMBER]);
/* 17184063488 -> "17,184,063,488". */
const char *out_grouped(double value, char text[OUT_NUMBER]);
/* 0.0123 -> "12.3 ms". */
const char *out_seconds(double seconds, char text[OUT_NUMBER]);

/* Prints and releases root; an exit code. */
int out_json(json_t *root);
/* A number, or null where JSON has none (infinities, NaN). */
json_t *out_json_real(double value);
/* A count: an integer as long as it is exact. */
json_t *out_json_count(double value);

/* Seconds of a clock that only goes forward. */
double out_clock(void);

/* Draws a line on the terminal of standard error, over the one drawn before, cut to its width;
 * out_status_end() removes it. */
enum { OUT_STATUS = 256 };
void out_status(const char *text);
void out_status_end(void);

/* A line on standard error that says how far the work is, its rate and the time left. Shown after
 * one second, when standard error is a terminal (or always, if forced). */
typedef struct out_progress {
    const char *label;
    double total, begin, shown; /* flops (or any unit, with `stage`), seconds, seconds */
    const char *stage;          /* what is being done, shown in place of a rate; NULL: FLOP/s */
    bool on, forced, drawn;
} out_progress;

void out_progress_begin(out_progress *progress, const char *label, double total_flops, int choice);
void out_progress_step(out_progress *progress, double done_flops);
void out_progress_end(out_progress *progress);

#endif
