/* SPDX-License-Identifier: Apache-2.0 */
/* text.c - see text.h. The widths of characters come from utf8proc: wcwidth() depends on the locale
 * of the user and does not exist on Windows. */
#include "shared/text.h"

#include <ctype.h>
#include <string.h>
#include <utf8proc.h>

static const char ellipsis[] = "\u2026";

/* --------------------------------------------------------------------------------------- widths */

/* Bytes of the character or escape sequence at text, of which `left` bytes (not 0) are there, and
 * its width. A byte that is not UTF-8 is shown as one sign. */
static size_t next_character(const char *text, size_t left, int *width) {
    *width = 0;
    if (*text == '\033') { /* up to the letter that ends a colour */
        size_t n = 1;
        while (n < left && !isalpha((unsigned char)text[n])) n++;
        return n < left ? n + 1 : n;
    }
    utf8proc_int32_t character;
    const utf8proc_ssize_t n =
        utf8proc_iterate((const utf8proc_uint8_t *)text, (utf8proc_ssize_t)left, &character);
    *width = n > 0 ? utf8proc_charwidth(character) : 1;
    return n > 0 ? (size_t)n : 1;
}

int text_span_width(const char *text, size_t length) {
    int columns = 0, width;
    for (size_t at = 0; at < length; columns += width)
        at += next_character(text + at, length - at, &width);
    return columns;
}

int text_width(const char *text) { return text_span_width(text, strlen(text)); }

size_t text_fit(const char *text, int columns) {
    const size_t length = strlen(text);
    size_t at = 0;
    while (at < length) {
        int width;
        const size_t n = next_character(text + at, length - at, &width);
        if (width > columns) break;
        columns -= width;
        at += n;
    }
    return at;
}

/* As text_fit(), but at least one character, so that whoever repeats it comes to an end. */
static size_t fit_some(const char *text, int columns) {
    const size_t n = text_fit(text, columns);
    int width;
    return n || !*text ? n : next_character(text, strlen(text), &width);
}

/* --------------------------------------------------------------------------------------- cells */

size_t text_line(const char *text, int columns) {
    const size_t fitting = fit_some(text, columns);
    size_t end = fitting;
    if (!text[fitting]) return fitting;
    while (end > 0 && text[end] != ' ') end--;
    while (end > 0 && text[end - 1] == ' ') end--;
    return end > 0 ? end : fitting; /* one word alone is too long */
}

/* The last place at or before `bytes` where a character begins. */
static size_t whole_characters(const char *text, size_t bytes) {
    while (bytes > 0 && ((unsigned char)text[bytes] & 0xC0) == 0x80) bytes--;
    return bytes;
}

const char *text_short(const char *text, int columns, char room[TEXT_ROOM]) {
    const size_t most = TEXT_ROOM - sizeof ellipsis;
    room[0] = 0;
    if (columns <= 0) return room;
    if (strlen(text) <= most && text_width(text) <= columns) return text;
    size_t n = text_fit(text, columns - 1);
    if (n > most) n = whole_characters(text, most);
    snprintf(room, TEXT_ROOM, "%.*s%s", (int)n, text, ellipsis);
    return room;
}

int text_put_short(FILE *to, const char *text, int columns) {
    char room[TEXT_ROOM];
    const char *shown = text_short(text, columns, room);
    fputs(shown, to);
    return text_width(shown);
}

void text_put(FILE *to, const char *text, int columns, bool right) {
    char room[TEXT_ROOM];
    const char *shown = text_short(text, columns, room);
    const int missing = columns > 0 ? columns - text_width(shown) : 0;
    fprintf(to, "%*s%s%*s", right ? missing : 0, "", shown, right ? 0 : missing, "");
}

/* -------------------------------------------------------------------------------------- wrapping */

static void begin_line(FILE *to, text_box *box) {
    fprintf(to, "\n%*s", box->indent, "");
    box->column = box->indent;
}

/* Bytes of a long word that fit, up to a | if there is one: a list of choices has no spaces. */
static size_t fit_piece(const char *word, size_t length, int columns) {
    const size_t fitting = fit_some(word, columns);
    if (fitting >= length) return length;
    for (size_t n = fitting; n > 0; n--)
        if (word[n - 1] == '|') return n;
    return fitting;
}

/* Prints one word, in pieces if it is longer than a line. */
static void put_word(FILE *to, const char *word, size_t length, text_box *box) {
    while (length > 0) {
        const size_t n = fit_piece(word, length, box->width - box->column);
        box->column += text_span_width(word, n);
        fprintf(to, "%.*s", (int)n, word);
        word += n;
        length -= n;
        if (length > 0) begin_line(to, box);
    }
}

/* Prints the words of a span from box->column on. */
static void wrap_span(FILE *to, const char *text, size_t length, text_box *box) {
    const char *const end = text + length;
    bool begun = false;
    while (text < end) {
        size_t n = 0;
        while (text + n < end && text[n] != ' ' && text[n] != '\n') n++;
        const int gap = begun ? 1 : 0;
        if (n > 0) {
            const bool fits = box->column + gap + text_span_width(text, n) <= box->width;
            if (!fits && box->column > box->indent)
                begin_line(to, box);
            else if (begun)
                box->column += fprintf(to, " ");
            put_word(to, text, n, box);
            begun = true;
        }
        text += n;
        while (text < end && (*text == ' ' || *text == '\n')) text++;
    }
    fputc('\n', to);
}

void text_wrap(FILE *to, const char *text, text_box box) {
    wrap_span(to, text, strlen(text), &box);
}

/* Where the second column of a line such as "  name   meaning" begins; 0 if there is none. */
static size_t second_column(const char *line, size_t length) {
    size_t at = strspn(line, " ");
    while (at + 2 < length && memcmp(line + at, "  ", 2) != 0) at++;
    if (at + 2 >= length) return 0;
    return at + strspn(line + at, " ");
}

/* Bytes of the lines that continue a line below its second column. */
static size_t continuation(const char *text, size_t split) {
    size_t n = 0;
    while (split && text[n] == '\n' && strspn(text + n + 1, " ") == split)
        n += 1 + strcspn(text + n + 1, "\n");
    return n;
}

/* Prints a line that begins with spaces as it is, or wrapped if it is too long or continued; returns
 * its bytes. */
static size_t put_indented(FILE *to, const char *line, int width) {
    const size_t length = strcspn(line, "\n"), margin = strspn(line, " ");
    const size_t split = second_column(line, length);
    const size_t whole = length + continuation(line + length, split);
    if (whole == length && text_span_width(line, length) <= width) {
        fprintf(to, "%.*s\n", (int)length, line);
        return length;
    }
    text_box box = {(int)margin, (int)margin + 2, width};
    size_t begin = margin;
    fprintf(to, "%*s", (int)margin, "");
    if (split && text_span_width(line, split) <= width / 2) { /* the second column stays one */
        fprintf(to, "%.*s", (int)(split - margin), line + margin);
        box.column = box.indent = text_span_width(line, split);
        begin = split;
    } else if (split) { /* it goes below the first */
        wrap_span(to, line + margin, split - margin, &box);
        begin = split;
        box.column = box.indent = (int)margin + 4;
        fprintf(to, "%*s", box.indent, "");
    }
    wrap_span(to, line + begin, whole - begin, &box);
    return whole;
}

/* Prints the lines up to an indented or empty one as one paragraph; returns their bytes. */
static size_t put_paragraph(FILE *to, const char *text, int width) {
    size_t n = strcspn(text, "\n");
    while (text[n] == '\n' && text[n + 1] && text[n + 1] != ' ' && text[n + 1] != '\n')
        n += 1 + strcspn(text + n + 1, "\n");
    wrap_span(to, text, n, &(text_box){0, 0, width});
    return n;
}

void text_reflow(FILE *to, const char *text, int width) {
    while (*text) {
        const bool kept = *text == ' ' || *text == '\n';
        text += kept ? put_indented(to, text, width) : put_paragraph(to, text, width);
        text += *text == '\n';
    }
}
