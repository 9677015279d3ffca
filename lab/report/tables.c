/* SPDX-License-Identifier: Apache-2.0 */
/* tables.c - the tables of the PDF: what the documents state beside what was measured, with verdicts
 * and links to the figures. A table goes on over as many pages as it needs. See book.h. */
#include "report/book.h"

#include <math.h>
#include <stdio.h>

enum { KEY, STATED, MEASURED, VERDICT, FIGURE, COLUMNS };

typedef struct table {
    const char *title;
    const char *heading[COLUMNS];
    double share[COLUMNS]; /* of the width */
    bool by_finding;       /* the key is the number of a finding, otherwise an id */
} table;

static const plot_style body = {.size = 8.5}, bold = {.size = 8.5, .bold = true};
static const plot_style faint = {.size = 7.4, .color = PLOT_FAINT};
static const double cell_gap = 10, row_gap = 6;

/* Two paragraphs of a cell: the first bold or plain, the second plain or faint. */
typedef struct cell {
    char *first, *second; /* markup; NULL: none */
    plot_style first_style, second_style;
} cell;

static void fill_cells(const lab_row *row, const table *t, cell cells[COLUMNS]) {
    for (int c = 0; c < COLUMNS; c++) cells[c] = (cell){NULL, NULL, body, body};
    cells[KEY].first_style = bold;
    cells[STATED].second_style = faint;
    if (t->by_finding) {
        if (row->finding) cells[KEY].first = g_strdup_printf("%d", row->finding);
        cells[STATED].second = row->claim ? lab_content_source(row->claim) : NULL;
        cells[VERDICT].first = g_strdup(lab_verdict_words(row->verdict));
        cells[VERDICT].first_style = bold;
        cells[VERDICT].first_style.color = lab_color_of(row->verdict);
        cells[VERDICT].second = g_strdup(row->reason);
    } else {
        cells[KEY].first = g_strdup(row->claim->id);
        cells[VERDICT].first = g_strdup(row->reason);
    }
    if (row->claim) {
        char *subject = lab_typeset(row->claim->subject);
        cells[STATED].first = g_strdup_printf("%s: <b>%s</b>", subject, row->stated);
        g_free(subject);
    } else {
        cells[STATED].first = lab_typeset(row->result->experiment->question);
        cells[STATED].second = g_strdup("not stated in the documents");
    }
    cells[MEASURED].first = g_strdup(row->measured);
    if (row->result) cells[FIGURE].first = g_strdup(row->result->experiment->id);
    cells[FIGURE].first_style.color = PLOT_BLUE;
}

static void free_cells(cell cells[COLUMNS]) {
    for (int c = 0; c < COLUMNS; c++) {
        g_free(cells[c].first);
        g_free(cells[c].second);
    }
}

static double paragraph_height(const lab_book *b, double width, const plot_style *style,
                               const char *markup) {
    return markup && markup[0] ? plot_text_height(b->canvas, width, style, markup) : 0;
}

static double row_height(const lab_book *b, double width, const table *t,
                         const cell cells[COLUMNS]) {
    double height = 0;
    for (int c = 0; c < COLUMNS; c++) {
        const double w = width * t->share[c] - cell_gap;
        height = fmax(height, paragraph_height(b, w, &cells[c].first_style, cells[c].first) +
                                  paragraph_height(b, w, &cells[c].second_style, cells[c].second));
    }
    return height;
}

static void put_cell(const lab_book *b, plot_rect area, const cell *c) {
    if (c->first && c->first[0]) {
        lab_put(b, &area, &c->first_style, 0, c->first);
    }
    if (c->second && c->second[0]) lab_put(b, &area, &c->second_style, 0, c->second);
}

static void put_rule(const lab_book *b, plot_rect row, double y, double width) {
    plot_line(b->canvas, row.x, y, row.x + row.width, y, PLOT_FAINT, width);
}

static void put_row(const lab_book *b, plot_rect row, const table *t, const lab_row *of,
                    const cell cells[COLUMNS]) {
    double x = row.x;
    for (int c = 0; c < COLUMNS; c++) {
        const double width = row.width * t->share[c];
        put_cell(b, (plot_rect){x, row.y, width - cell_gap, row.height + 2}, &cells[c]);
        x += width;
    }
    if (of->result) {
        const double width = row.width * t->share[FIGURE];
        plot_link(b->canvas, (plot_rect){row.x + row.width - width, row.y, width, row.height},
                  of->result->experiment->id);
    }
    put_rule(b, row, row.y + row.height + row_gap / 2, 0.25);
}

static void put_heading(const lab_book *b, plot_rect *left, const table *t) {
    const plot_rect row = lab_take(left, 13);
    double x = row.x;
    for (int c = 0; c < COLUMNS; c++) {
        plot_text(b->canvas, (plot_rect){x, row.y, row.width * t->share[c] - 2, 13}, &bold,
                  t->heading[c]);
        x += row.width * t->share[c];
    }
    put_rule(b, row, row.y + row.height + row_gap / 2, 0.8);
    lab_take(left, row_gap);
}

/* The cells of row i; a finding's number is given once. */
static void fill_row(const lab_rows *rows, size_t i, const table *t, cell cells[COLUMNS]) {
    fill_cells(&rows->row[i], t, cells);
    if (t->by_finding && i > 0 && rows->row[i].finding == rows->row[i - 1].finding)
        g_clear_pointer(&cells[KEY].first, g_free);
}

/* How much of a page the rows may fill, so that a table of several pages does not leave the last one
 * nearly empty: an equal share of its height, and no more than there is. */
static double fair_height(const lab_book *b, plot_rect page, const table *t, const lab_rows *rows) {
    double all = 0, highest = 0;
    for (size_t i = 0; i < rows->n; i++) {
        cell cells[COLUMNS];
        fill_row(rows, i, t, cells);
        const double height = row_height(b, page.width, t, cells) + row_gap;
        all += height;
        highest = fmax(highest, height);
        free_cells(cells);
    }
    const double pages = ceil(all / (page.height - highest));
    return fmin(page.height, all / pages + highest);
}

/* Draws the rows from *left on; what is left of the last page. balance: rows are spread evenly. */
static plot_rect put_table(lab_book *b, plot_rect left, const table *t, const lab_rows *rows,
                           bool balance) {
    put_heading(b, &left, t);
    const double most = balance ? fair_height(b, left, t, rows) : left.height;
    double used = 0;
    for (size_t i = 0; i < rows->n; i++) {
        cell cells[COLUMNS];
        fill_row(rows, i, t, cells);
        const double height = row_height(b, left.width, t, cells) + row_gap;
        if (left.height < height || (balance && used + height > most)) {
            char *title = g_strdup_printf("%s, continued", t->title);
            left = lab_open_page(b, NULL, title, "");
            put_heading(b, &left, t);
            g_free(title);
            used = 0;
        }
        used += height;
        put_row(b, lab_take(&left, height - row_gap), t, &rows->row[i], cells);
        lab_take(&left, row_gap);
        free_cells(cells);
    }
    return left;
}

void lab_draw_findings(lab_book *b) {
    const table t = {.title = "Summary of Findings",
                     .heading = {"", "Stated", "Measured", "Verdict", "Figure"},
                     .share = {0.03, 0.27, 0.34, 0.31, 0.05},
                     .by_finding = true};
    lab_rows rows = lab_content_findings(b->report);
    plot_rect left = lab_open_page(b, "findings", t.title,
                                   "The numbers at the left count the seven findings of document "
                                   "000; the other rows go beyond them.");
    put_table(b, left, &t, &rows, true);
    lab_rows_free(&rows);
}

void lab_draw_statements(lab_book *b) {
    table t = {.title = "Corrections to the documents",
               .heading = {"Id", "Stated", "Computed", "Why it is wrong", "Figure"},
               .share = {0.07, 0.28, 0.29, 0.29, 0.07}};
    lab_rows wrong = lab_content_statements(b->report, LAB_WRONG);
    lab_rows conditional = lab_content_statements(b->report, LAB_HOLDS_IF);
    plot_rect left = {.height = 0};
    if (wrong.n > 0 && b->report->tally.statements > 0) {
        left =
            lab_open_page(b, "corrections", t.title,
                          "Statements that the computation contradicts. `attn verify` prints all "
                          "statements, also those that hold.");
        left = put_table(b, left, &t, &wrong, false);
    }
    if (conditional.n > 0 && b->report->tally.statements > 0) {
        t.title = "Statements that hold with a condition";
        t.heading[VERDICT] = "Condition";
        if (left.height < 120) {
            left = lab_open_page(b, "conditions", t.title, "");
        } else {
            lab_take(&left, lab_gap);
            lab_put_section(b, &left, "conditions", t.title);
        }
        left = put_table(b, left, &t, &conditional, false);
    }
    lab_take(&left, lab_gap);
    if (left.height >= LAB_TERMS_HEIGHT) lab_put_terms(b, left);
    lab_rows_free(&wrong);
    lab_rows_free(&conditional);
}
