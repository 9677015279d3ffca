/* SPDX-License-Identifier: Apache-2.0 */
/* learn_render.c - see learn_render.h. A page is read line by line; each kind of block has a
 * function that takes its lines and prints them. */
#include "learn/learn_render.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { CODE_INDENT = 2, MAX_INDENT = 12, PICTURE_WORDS = 80 };

int learn_width(void) { return out_columns(LEARN_LEAST_WIDTH, LEARN_MOST_WIDTH); }

bool learn_next_line(learn_lines *lines, learn_line *line) {
    if (lines->at >= lines->end) return false;
    const size_t left = (size_t)(lines->end - lines->at);
    const char *newline = memchr(lines->at, '\n', left);
    *line = (learn_line){lines->at, newline ? (size_t)(newline - lines->at) : left};
    lines->at += line->n + (newline != NULL);
    return true;
}

typedef struct page {
    learn_lines lines;
    learn_text text; /* of the current block */
    int width;
    FILE *out;
} page;

/* ------------------------------------------------------------------------------- kinds of lines */

static bool line_starts(learn_line line, const char *with) {
    const size_t n = strlen(with);
    return line.n >= n && memcmp(line.at, with, n) == 0;
}

static size_t indent_of(learn_line line) {
    size_t n = 0;
    while (n < line.n && line.at[n] == ' ') n++;
    return n;
}

static bool is_blank(learn_line line) { return indent_of(line) == line.n; }

/* Length of "  - " or "12. " with the spaces around, 0 if the line does not begin a list item. */
static size_t marker_length(learn_line line) {
    size_t i = indent_of(line);
    const size_t begin = i;
    while (i < line.n && isdigit((unsigned char)line.at[i])) i++;
    if (i == begin ? i < line.n && line.at[i] == '-' : i < line.n && line.at[i] == '.')
        i++;
    else
        return 0;
    return i < line.n && line.at[i] == ' ' ? i + 1 : 0;
}

static size_t heading_level(learn_line line) {
    size_t n = 0;
    while (n < line.n && line.at[n] == '#') n++;
    return n > 0 && n < line.n && line.at[n] == ' ' ? n : 0;
}

/* A number at the beginning of a line in a paragraph does not begin a list, unless it is 1. */
static bool begins_list(learn_line line) {
    return marker_length(line) && (line.at[indent_of(line)] == '-' || line_starts(line, "1. "));
}

static bool begins_block(learn_line line) {
    return is_blank(line) || line_starts(line, "```") || line_starts(line, "|") ||
           line_starts(line, ">") || line_starts(line, "<!--") || line_starts(line, "<picture>") ||
           heading_level(line) > 0;
}

/* --------------------------------------------------------------------------------------- blocks */

/* Collects the text of the current block: from `begin` on, with the lines that continue it. */
static void take_text(page *p, const char *begin, bool in_list) {
    learn_line line;
    learn_lines ahead = p->lines;
    while (learn_next_line(&ahead, &line) && !begins_block(line) &&
           !(in_list ? marker_length(line) > 0 : begins_list(line)))
        p->lines = ahead;
    learn_text_add(&p->text, begin, (size_t)(p->lines.at - begin), OUT_PLAIN);
}

/* Prints the collected text with `first` (n bytes) before its first line and n spaces before the
 * others, or with `first` before every line. */
static void print_text(page *p, const char *first, int n, bool repeat) {
    size_t at = 0;
    learn_span line;
    for (int i = 0; learn_text_line(&p->text, &at, p->width - n, &line); i++) {
        if (i == 0 || repeat)
            fwrite(first, 1, (size_t)n, p->out);
        else
            fprintf(p->out, "%*s", n, "");
        learn_text_print(&p->text, line, p->out);
        fputc('\n', p->out);
    }
    p->text.n = 0;
}

static void print_heading(page *p, learn_line line) {
    const size_t level = heading_level(line);
    learn_text_add(&p->text, line.at + level, line.n - level, OUT_BOLD);
    int columns = learn_text_columns(&p->text, (learn_span){0, p->text.n});
    if (columns > p->width) columns = p->width;
    print_text(p, "", 0, false);
    if (level > 2) return;
    for (int i = 0; i < columns; i++) fputc(level == 1 ? '=' : '-', p->out);
    fputc('\n', p->out);
}

static void print_paragraph(page *p, learn_line line) {
    take_text(p, line.at, false);
    print_text(p, "", 0, false);
}

static void print_item(page *p, learn_line line) {
    const size_t n = marker_length(line);
    take_text(p, line.at + n, true);
    print_text(p, line.at, (int)(n < MAX_INDENT ? n : MAX_INDENT), false);
}

static void print_quote(page *p, learn_line line) {
    do {
        learn_text_add(&p->text, line.at + 1, line.n - 1, OUT_PLAIN);
        learn_text_add(&p->text, "\n", 1, OUT_PLAIN);
    } while (p->lines.at < p->lines.end && *p->lines.at == '>' &&
             learn_next_line(&p->lines, &line));
    print_text(p, "| ", 2, true);
}

/* How much of a line of code fits into `room` bytes: up to a space in its second half, if any. */
static size_t code_that_fits(learn_line line, size_t room) {
    if (line.n <= room) return line.n;
    for (size_t n = room; n > room / 2; n--)
        if (line.at[n] == ' ' && line.at[n - 1] != ' ') return n;
    size_t n = room;
    while (n > 1 && !out_begins_character(line.at[n])) n--; /* not inside a character */
    return n;
}

/* Prints a line of code unchanged; what is too wide for the terminal continues on the next line. */
static void print_code_line(page *p, learn_line line, int indent) {
    const bool typed = line_starts(line, "$ ");
    do {
        const size_t n = code_that_fits(line, (size_t)(p->width - indent));
        if (n)
            fprintf(p->out, "%*s%s%.*s%s", indent, "", typed ? out_begin(stdout, OUT_BOLD) : "",
                    (int)n, line.at, typed ? out_begin(stdout, OUT_PLAIN) : "");
        fputc('\n', p->out);
        line = (learn_line){line.at + n, line.n - n};
    } while (line.n);
}

/* A block that fits only without an indent is not indented. */
static int indent_of_code(const page *p) {
    learn_lines ahead = p->lines;
    learn_line line;
    size_t widest = 0;
    while (learn_next_line(&ahead, &line) && !line_starts(line, "```"))
        if (line.n > widest) widest = line.n;
    const size_t width = (size_t)p->width;
    return widest <= width && widest + CODE_INDENT > width ? 0 : CODE_INDENT;
}

static void print_code(page *p) {
    learn_line line;
    const int indent = indent_of_code(p);
    while (learn_next_line(&p->lines, &line) && !line_starts(line, "```"))
        print_code_line(p, line, indent);
}

/* The value of an attribute in a piece of HTML; empty if it has none. */
static learn_line attribute(learn_line html, const char *opening) {
    const size_t n = strlen(opening);
    for (const char *c = html.at, *end = html.at + html.n; c + n < end; c++) {
        if (memcmp(c, opening, n) != 0) continue;
        const char *close = memchr(c + n, '"', (size_t)(end - c) - n);
        return (learn_line){c + n, close ? (size_t)(close - c) - n : 0};
    }
    return (learn_line){html.at, 0};
}

/* A terminal cannot show a picture: prints its description and the command that draws it. */
static void print_picture(page *p, learn_line line) {
    static const char figure[] = "Figure: ", how[] = " To see it: `attn learn --figures DIR` draws "
                                                     "it as DIR/";
    const char *begin = line.at;
    while (!line_starts(line, "</picture>") && learn_next_line(&p->lines, &line)) {}
    const learn_line html = {begin, (size_t)(p->lines.at - begin)};
    const learn_line alt = attribute(html, "alt=\""), file = attribute(html, "src=\"img/");
    learn_text_add(&p->text, figure, sizeof figure - 1, OUT_BOLD);
    learn_text_add(&p->text, alt.at, alt.n, OUT_PLAIN);
    learn_text_add(&p->text, how, sizeof how - 1, OUT_PLAIN);
    learn_text_add(&p->text, file.at, file.n, OUT_PLAIN);
    print_text(p, "| ", 2, true);
}

/* Skips an HTML comment, which ends with a line that ends in its closing mark. */
static void skip_comment(page *p, learn_line line) {
    while ((line.n < 3 || memcmp(line.at + line.n - 3, "-->", 3) != 0) &&
           learn_next_line(&p->lines, &line)) {}
}

static bool print_block(page *p, learn_line line) {
    if (line_starts(line, "```")) {
        print_code(p);
    } else if (line_starts(line, "|")) {
        p->lines.at = line.at;
        return learn_render_table(&p->lines, p->width, p->out);
    } else if (line_starts(line, "<picture>")) {
        print_picture(p, line);
    } else if (line_starts(line, ">")) {
        print_quote(p, line);
    } else if (heading_level(line)) {
        print_heading(p, line);
    } else if (marker_length(line)) {
        print_item(p, line);
    } else {
        print_paragraph(p, line);
    }
    return true;
}

bool learn_render(const char *markdown, size_t n, int width, FILE *out) {
    page p = {.lines = {markdown, markdown + n}, .width = width, .out = out};
    learn_line line;
    bool gap = false, any = false, ok = learn_text_init(&p.text, n + PICTURE_WORDS);
    while (ok && learn_next_line(&p.lines, &line)) {
        if (is_blank(line)) {
            gap = any;
            continue;
        }
        if (line_starts(line, "<!--")) {
            skip_comment(&p, line);
            continue;
        }
        if (gap) fputc('\n', out);
        gap = false;
        any = true;
        ok = print_block(&p, line);
    }
    learn_text_free(&p.text);
    return ok;
}
