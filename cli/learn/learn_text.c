/* SPDX-License-Identifier: Apache-2.0 */
/* learn_text.c - see learn_text.h. */
#include "learn/learn_text.h"

#include <stdlib.h>
#include <string.h>

bool learn_text_init(learn_text *text, size_t room) {
    *text = (learn_text){.byte = malloc(room + 1), .look = malloc(room + 1), .room = room};
    if (text->byte && text->look) return true;
    learn_text_free(text);
    return false;
}

void learn_text_free(learn_text *text) {
    free(text->byte);
    free(text->look);
    *text = (learn_text){0};
}

/* -------------------------------------------------------------------------------- inline markup */

static bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

static void put(learn_text *t, char c, out_look look) {
    if (is_space(c)) {
        if (t->n == 0 || t->byte[t->n - 1] == ' ') return;
        c = ' ';
    }
    if (t->n == t->room) return;
    t->byte[t->n] = c;
    t->look[t->n++] = (unsigned char)look;
}

/* The state of reading inline markup: the rest of the text, and the open marks. */
typedef struct reader {
    const char *at, *end;
    char before; /* the byte before *at */
    bool bold, stress;
    out_look look;
} reader;

static out_look look_now(const reader *r) { return r->bold || r->stress ? OUT_BOLD : r->look; }

static bool starts(const reader *r, const char *mark) {
    const size_t n = strlen(mark);
    return (size_t)(r->end - r->at) >= n && memcmp(r->at, mark, n) == 0;
}

static void skip(reader *r, size_t n) {
    r->at += n;
    r->before = r->at[-1];
}

/* `code`: everything up to the next backtick, unchanged. */
static bool read_code(reader *r, learn_text *t) {
    if (*r->at != '`') return false;
    const char *close = memchr(r->at + 1, '`', (size_t)(r->end - r->at - 1));
    if (!close) return false;
    for (const char *c = r->at + 1; c < close; c++) put(t, *c, OUT_ACCENT);
    skip(r, (size_t)(close + 1 - r->at));
    return true;
}

/* [title](link): the title. Its own markup is read by the same rules. */
static bool read_link(reader *r, learn_text *t) {
    if (*r->at != '[') return false;
    const char *middle = memchr(r->at, ']', (size_t)(r->end - r->at));
    if (!middle || middle + 1 == r->end || middle[1] != '(') return false;
    const char *close = memchr(middle, ')', (size_t)(r->end - middle));
    if (!close) return false;
    learn_text_add(t, r->at + 1, (size_t)(middle - r->at - 1), look_now(r));
    skip(r, (size_t)(close + 1 - r->at));
    return true;
}

/* A mark opens before a letter and not after one; an open mark closes if no space precedes it. */
static bool read_mark(reader *r, const char *mark, bool *is_open) {
    const size_t n = strlen(mark);
    if (!starts(r, mark)) return false;
    const char after = r->at + n < r->end ? r->at[n] : ' ';
    const bool opens = !is_space(after) && (is_space(r->before) || strchr("(\"'-", r->before));
    if (*is_open ? is_space(r->before) : !opens) return false;
    *is_open = !*is_open;
    skip(r, n);
    return true;
}

void learn_text_add(learn_text *text, const char *markdown, size_t n, out_look look) {
    reader r = {.at = markdown, .end = markdown + n, .before = ' ', .look = look};
    while (r.at < r.end) {
        if (read_code(&r, text) || read_link(&r, text) || read_mark(&r, "**", &r.bold) ||
            read_mark(&r, "*", &r.stress))
            continue;
        if (*r.at == '\\' && r.at + 1 < r.end) skip(&r, 1);
        put(text, *r.at, look_now(&r));
        skip(&r, 1);
    }
}

/* ---------------------------------------------------------------------------------------- lines */

int learn_text_columns(const learn_text *text, learn_span span) {
    int columns = 0;
    for (size_t i = span.begin; i < span.end; i++) columns += out_begins_character(text->byte[i]);
    return columns;
}

bool learn_text_line(const learn_text *text, size_t *at, int width, learn_span *line) {
    while (*at < text->n && text->byte[*at] == ' ') (*at)++;
    if (*at >= text->n) return false;
    size_t i = *at, last_space = 0;
    for (int column = 0; i < text->n; i++) {
        if (text->byte[i] == ' ') last_space = i;
        if (!out_begins_character(text->byte[i])) continue;
        if (column == width) break;
        column++;
    }
    const bool broken = i < text->n;
    if (broken && last_space > *at)
        i = last_space; /* otherwise a word longer than the line is cut */
    *line = (learn_span){*at, i};
    while (line->end > line->begin && text->byte[line->end - 1] == ' ') line->end--;
    *at = i;
    return true;
}

void learn_text_print(const learn_text *text, learn_span span, FILE *out) {
    out_look now = OUT_PLAIN;
    for (size_t i = span.begin; i < span.end; i++) {
        const out_look look = (out_look)text->look[i];
        if (look != now) {
            if (now != OUT_PLAIN) fputs(out_begin(stdout, OUT_PLAIN), out);
            if (look != OUT_PLAIN) fputs(out_begin(stdout, look), out);
            now = look;
        }
        putc(text->byte[i], out);
    }
    if (now != OUT_PLAIN) fputs(out_begin(stdout, OUT_PLAIN), out);
}
