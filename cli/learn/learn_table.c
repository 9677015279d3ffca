/* SPDX-License-Identifier: Apache-2.0 */
/* learn_table.c - tables of a page. Columns are as wide as their cells; if a table is too wide for
 * the terminal, its widest columns shrink and their cells continue on further lines. */
#include "learn/learn_render.h"

#include <string.h>

enum { MAX_COLUMNS = 12, GAP = 2, LEAST = 1 };

typedef struct layout {
    size_t n;
    int width[MAX_COLUMNS];
    int word[MAX_COLUMNS];   /* columns of the longest word */
    bool right[MAX_COLUMNS]; /* |---:| */
} layout;

typedef struct cell {
    const char *at;
    size_t n;
} cell;

/* A backslash keeps a bar inside a cell. */
static size_t cell_length(const char *at, const char *end) {
    const char *c = at;
    while (c < end && *c != '|') c += *c == '\\' && c + 1 < end ? 2 : 1;
    return (size_t)(c - at);
}

/* "| a | b |" -> "a", "b"; returns the number of cells. */
static size_t split(learn_line row, cell *cells) {
    const char *c = row.at + 1, *end = row.at + row.n;
    size_t n = 0;
    while (end > c && end[-1] == ' ') end--;
    if (end > c && end[-1] == '|' && (end - 1 == c || end[-2] != '\\')) end--;
    while (c <= end && n < MAX_COLUMNS) {
        cell found = {c, cell_length(c, end)};
        c += found.n + 1;
        while (found.n && *found.at == ' ') found = (cell){found.at + 1, found.n - 1};
        while (found.n && found.at[found.n - 1] == ' ') found.n--;
        cells[n++] = found;
    }
    return n;
}

static bool is_rule(learn_line row) {
    size_t dashes = 0;
    for (size_t i = 0; i < row.n; i++) {
        if (!strchr("|-: ", row.at[i])) return false;
        dashes += row.at[i] == '-';
    }
    return dashes > 0;
}

static int longest_word(const learn_text *text) {
    int longest = 0;
    for (size_t begin = 0, end; begin < text->n; begin = end + 1) {
        for (end = begin; end < text->n && text->byte[end] != ' '; end++) {}
        const int columns = learn_text_columns(text, (learn_span){begin, end});
        if (columns > longest) longest = columns;
    }
    return longest;
}

static int larger(int a, int b) { return a > b ? a : b; }

static void read_alignment(learn_line rule, layout *l) {
    cell cells[MAX_COLUMNS];
    const size_t n = split(rule, cells);
    for (size_t j = 0; j < n; j++) l->right[j] = cells[j].n && cells[j].at[cells[j].n - 1] == ':';
}

static bool next_row(learn_lines *lines, learn_line *row) {
    return lines->at < lines->end && *lines->at == '|' && learn_next_line(lines, row);
}

/* Finds the widths that the cells need; scratch is any text with enough room. */
static void measure(learn_lines lines, learn_text *scratch, layout *l) {
    learn_line row;
    cell cells[MAX_COLUMNS];
    while (next_row(&lines, &row)) {
        if (is_rule(row)) {
            read_alignment(row, l);
            continue;
        }
        const size_t n = split(row, cells);
        if (n > l->n) l->n = n;
        for (size_t j = 0; j < n; j++) {
            scratch->n = 0;
            learn_text_add(scratch, cells[j].at, cells[j].n, OUT_PLAIN);
            const learn_span all = {0, scratch->n};
            l->width[j] = larger(l->width[j], learn_text_columns(scratch, all));
            l->word[j] = larger(l->word[j], longest_word(scratch));
        }
    }
}

/* Takes columns from the widest until all fit; words are broken only if nothing else helps. */
static void shrink(layout *l, int width) {
    int total = GAP * ((int)l->n - 1);
    for (size_t j = 0; j < l->n; j++) total += l->width[j];
    for (bool break_words = false; total > width;) {
        size_t widest = MAX_COLUMNS;
        for (size_t j = 0; j < l->n; j++)
            if (l->width[j] > (break_words ? LEAST : l->word[j]) &&
                (widest == MAX_COLUMNS || l->width[j] > l->width[widest]))
                widest = j;
        if (widest == MAX_COLUMNS && break_words) return;
        break_words = break_words || widest == MAX_COLUMNS;
        if (widest == MAX_COLUMNS) continue;
        l->width[widest]--;
        total--;
    }
}

/* Prints one line of a row; false when no cell has text left. Trailing spaces are not printed. */
static bool print_line(const layout *l, const learn_text *texts, size_t *at, FILE *out) {
    int spaces = 0;
    bool any = false;
    for (size_t j = 0; j < l->n; j++) {
        learn_span span = {0, 0};
        const bool has = learn_text_line(&texts[j], &at[j], l->width[j], &span);
        const int left = l->width[j] - (has ? learn_text_columns(&texts[j], span) : 0);
        if (has) {
            fprintf(out, "%*s", spaces + (l->right[j] ? left : 0), "");
            learn_text_print(&texts[j], span, out);
            spaces = 0;
        }
        spaces += GAP + (has && l->right[j] ? 0 : left);
        any = any || has;
    }
    if (any) fputc('\n', out);
    return any;
}

static void print_row(const layout *l, learn_line row, out_look look, learn_text *texts,
                      FILE *out) {
    cell cells[MAX_COLUMNS];
    size_t at[MAX_COLUMNS] = {0};
    const size_t n = split(row, cells);
    for (size_t j = 0; j < l->n; j++) {
        texts[j].n = 0;
        if (j < n) learn_text_add(&texts[j], cells[j].at, cells[j].n, look);
    }
    while (print_line(l, texts, at, out)) {}
}

static void print_rule(const layout *l, FILE *out) {
    for (size_t j = 0; j < l->n; j++) {
        if (j) fprintf(out, "%*s", GAP, "");
        for (int c = 0; c < l->width[j]; c++) fputc('-', out);
    }
    fputc('\n', out);
}

static void print_rows(learn_lines *lines, const layout *l, learn_text *texts, FILE *out) {
    learn_line row;
    bool head = true;
    while (next_row(lines, &row)) {
        if (is_rule(row)) {
            print_rule(l, out);
            head = false;
        } else {
            print_row(l, row, head ? OUT_BOLD : OUT_PLAIN, texts, out);
        }
    }
}

bool learn_render_table(learn_lines *lines, int width, FILE *out) {
    learn_text texts[MAX_COLUMNS] = {{0}};
    layout l = {0};
    bool ok = true;
    const size_t room = (size_t)(lines->end - lines->at);
    for (size_t j = 0; j < MAX_COLUMNS && ok; j++) ok = learn_text_init(&texts[j], room);
    if (ok) {
        measure(*lines, &texts[0], &l);
        shrink(&l, width);
        print_rows(lines, &l, texts, out);
    }
    for (size_t j = 0; j < MAX_COLUMNS; j++) learn_text_free(&texts[j]);
    return ok;
}
