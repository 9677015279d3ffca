/* SPDX-License-Identifier: Apache-2.0 */
/* test_text.c - text in columns (cli/shared/text.h): widths, shortening, wrapping. Expected widths are
 * those of Unicode Standard Annex 11; tests/cli/test_width.py has them from Python. */
#include "shared/text.h"

#include "check.h"
#include "lab/support/system.h"

#include <stdlib.h>
#include <string.h>

TEST(letters_take_one_column_wide_ones_two_and_marks_none) {
    CHECK_INT(text_width("plain"), 5);
    CHECK_INT(text_width("\u00e9t\u00e9"), 3);              /* letters with accents */
    CHECK_INT(text_width("e\u0301te\u0301"), 3);            /* the same with combining marks */
    CHECK_INT(text_width("\u65e5\u672c\u8a9e"), 6);         /* CJK */
    CHECK_INT(text_width("\uff21"), 2);                     /* full width A */
    CHECK_INT(text_width("\U0001f44d"), 2);                 /* an emoji */
    CHECK_INT(text_width("\u0905\u0902"), 1);               /* Devanagari with a nasal mark */
    CHECK_INT(text_width("\033[1;38;5;200mred\033[0m"), 3); /* colours */
    CHECK_INT(text_width("\u221ad\u00b7k"), 4);
}

TEST(bytes_that_are_not_utf_8_take_one_column_each) {
    CHECK_INT(text_width("\xff\xfe"), 2);
    CHECK_INT(text_width("a\xe6\x97"), 3); /* a character that ends too early */
    CHECK_INT(text_width("\033["), 0);
    CHECK_INT((int)text_fit("\xff\xfe\xfd", 2), 2);
}

TEST(what_fits_ends_between_characters_and_keeps_marks) {
    CHECK_INT((int)text_fit("abc", 2), 2);
    CHECK_INT((int)text_fit("\u65e5\u672c", 3), 3); /* the second would take columns 3 and 4 */
    CHECK_INT((int)text_fit("e\u0301x", 1), 3);     /* the mark stays with its letter */
    CHECK_INT((int)text_fit("abc", 0), 0);
    CHECK_INT((int)text_fit("abc", 9), 3);
}

TEST(a_line_of_a_cell_ends_between_words) {
    CHECK_INT((int)text_line("one two three", 8), 7);
    CHECK_INT((int)text_line("one two three", 7), 7);
    CHECK_INT((int)text_line("one two three", 6), 3);
    CHECK_INT((int)text_line("abcdefgh", 3), 3); /* one long word */
    CHECK_INT((int)text_line("abc", 3), 3);
    CHECK_INT((int)text_line("\u65e5", 1), 3); /* at least one character */
    CHECK_INT((int)text_line("", 3), 0);
}

/* What a function prints, as text. */
static char printed[4096];

static FILE *capture(system_text *text) {
    if (!system_text_begin(text)) abort();
    return text->stream;
}

static const char *captured(system_text *text) {
    if (!system_text_end(text)) abort();
    snprintf(printed, sizeof printed, "%s", text->text);
    free(text->text);
    return printed;
}

static const char *put(const char *word, int columns, bool right) {
    system_text text;
    text_put(capture(&text), word, columns, right);
    return captured(&text);
}

TEST(a_cell_is_padded_or_shortened_with_an_ellipsis) {
    CHECK_STR(put("ab", 4, false), "ab  ");
    CHECK_STR(put("ab", 4, true), "  ab");
    CHECK_STR(put("abcd", 4, true), "abcd");
    CHECK_STR(put("abcde", 4, false), "abc\u2026");
    CHECK_STR(put("\u65e5\u672c\u8a9e", 4, false), "\u65e5\u2026 ");
    CHECK_STR(put("\u65e5\u672c\u8a9e", 4, true), " \u65e5\u2026");
    CHECK_STR(put("abc", 1, false), "\u2026");
    CHECK_STR(put("abc", 0, false), "");
}

TEST(a_text_with_many_marks_fits_the_room) {
    char many[2 * 1000 + 2] = "a", room[TEXT_ROOM];
    for (int i = 0; i < 1000; i++) strcat(many, "\u0301");
    const char *shown = text_short(many, 5, room);
    CHECK(shown == room && strlen(room) < TEXT_ROOM);
    CHECK_INT(text_width(shown), 2); /* a and the ellipsis */
}

static const char *wrap(const char *words, text_box box) {
    system_text text;
    text_wrap(capture(&text), words, box);
    return captured(&text);
}

TEST(paragraphs_are_broken_between_words) {
    CHECK_STR(wrap("one two three", (text_box){0, 2, 8}), "one two\n  three\n");
    CHECK_STR(wrap("one\ntwo", (text_box){0, 0, 20}), "one two\n");
    CHECK_STR(wrap("three", (text_box){6, 2, 8}), "\n  three\n"); /* no room after the cursor */
    CHECK_STR(wrap("abcdefgh ij", (text_box){0, 0, 5}), "abcde\nfgh\nij\n");
    CHECK_STR(wrap("aa|bb|cc", (text_box){0, 1, 5}), "aa|\n bb|\n cc\n");
    CHECK_STR(wrap("\u65e5\u672c \u8a9e", (text_box){0, 0, 6}), "\u65e5\u672c\n\u8a9e\n");
}

static const char *reflow(const char *paragraphs, int width) {
    system_text text;
    text_reflow(capture(&text), paragraphs, width);
    return captured(&text);
}

TEST(prose_is_joined_and_indented_lines_are_kept) {
    CHECK_STR(reflow("one\ntwo\n\nthree\n  kept  line\n", 20), "one two\n\nthree\n  kept  line\n");
    CHECK_STR(reflow("one\ntwo", 4), "one\ntwo\n");
}

TEST(indented_lines_wrap_below_their_second_column) {
    CHECK_STR(reflow("  a   one two three\n", 14), "  a   one two\n      three\n");
    CHECK_STR(reflow("  a   one\n      two\n  b   three\n", 14), "  a   one two\n  b   three\n");
    CHECK_STR(reflow("  a long command   what it does\n", 20),
              "  a long command\n      what it does\n");
    CHECK_STR(reflow("  word word word\n", 12), "  word word\n    word\n");
}
