/* SPDX-License-Identifier: Apache-2.0 */
/* pages.c - how the document looks: cover, findings, one page a figure, corrections, method. Every
 * number on a page comes from the report. See pages.h. */
#include "report/pages.h"

#include <cairo.h>
#include <pango/pango.h>

#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double margin = 48, gap = 12; /* points */

typedef struct book {
    const lab_report_options *options;
    const lab_report *report;
    plot_canvas *canvas;
    int page; /* the one being drawn, from 1 */
} book;

static const plot_style heading = {.size = 20, .bold = true};
static const plot_style body = {.size = 11.5};
static const plot_style small = {.size = 8.5};
static const plot_style faint = {.size = 8.5, .color = PLOT_FAINT};

static plot_rect inside(const book *b) {
    return plot_inset(plot_page(b->canvas), margin, margin - 8, margin, margin);
}

/* Takes `height` from the top of what is left of an area. */
static plot_rect take(plot_rect *left, double height) {
    const plot_rect top = {left->x, left->y, left->width, height};
    left->y += height;
    left->height -= height;
    return top;
}

/* Text at the top of what is left, and `after` points of air below it. */
static void put(const book *b, plot_rect *left, const plot_style *style, double after,
                const char *markup) {
    take(left, plot_text(b->canvas, *left, style, markup) + after);
}

/* Markup with subscripts: "d_k", "W_Q". The caller frees it with g_free(). */
static char *with_subscripts(const char *markup) {
    GRegex *index = g_regex_new("\\b([A-Za-z])_(k|v|Q|K|V|O|model)\\b", 0, 0, NULL);
    char *text = g_regex_replace(index, markup, -1, 0, "\\1<sub>\\2</sub>", 0, NULL);
    g_regex_unref(index);
    return text;
}

/* Plain text as Pango markup. The caller frees it with g_free(). */
static char *typeset(const char *plain) {
    char *escaped = g_markup_escape_text(plain, -1);
    char *markup = with_subscripts(escaped);
    g_free(escaped);
    return markup;
}

/* Plain text at the top of what is left. */
static void put_plain(const book *b, plot_rect *left, const plot_style *style, double after,
                      const char *plain) {
    char *markup = typeset(plain);
    put(b, left, style, after, markup);
    g_free(markup);
}

static void begin_page(book *b, const char *title) {
    if (b->page > 0) plot_next_page(b->canvas);
    b->page++;
    plot_bookmark(b->canvas, title);
}

static void put_footer(const book *b) {
    const plot_rect page = plot_page(b->canvas);
    const plot_rect line = {margin, page.height - 34, page.width - 2 * margin, 14};
    plot_style style = {.size = 8, .color = PLOT_FAINT};
    char text[80];
    snprintf(text, sizeof text, "Scaled Dot-Product Attention Analysis · seed %u",
             (unsigned)b->options->seed);
    plot_text(b->canvas, line, &style, text);
    style.align = PLOT_RIGHT;
    snprintf(text, sizeof text, "%d", b->page);
    plot_text(b->canvas, line, &style, text);
}

/* A new page with a title; what is left of it. */
static plot_rect open_page(book *b, const char *title, const char *subtitle) {
    begin_page(b, title);
    put_footer(b);
    plot_rect left = inside(b);
    put_plain(b, &left, &heading, 2, title);
    put_plain(b, &left, &(plot_style){.size = 10.5, .color = PLOT_FAINT}, gap, subtitle);
    return left;
}

/* ---- cover ---- */

/* The weights of F1 without any words: what the whole document is about, as an ornament. */
static void put_ornament(const book *b, plot_rect area) {
    const lab_result *f1 = lab_report_find(b->report, "F1");
    static const char *const unnamed[] = {"", "", "", "", "", "", "", ""};
    const lab_table *weights = f1 ? lab_table_named(&f1->data, "weights") : NULL;
    if (weights == NULL || weights->rows > sizeof unnamed / sizeof *unnamed) return;
    const plot_heatmap map = {.rows = weights->rows,
                              .columns = weights->columns,
                              .cell = weights->cell,
                              .row_name = unnamed,
                              .column_name = unnamed};
    plot_heatmap_draw(b->canvas, area, &map);
}

static void put_colophon(const book *b, plot_rect area) {
    char line[160];
    snprintf(line, sizeof line,
             "The attention series · every number in it was computed by attn %s when the file was "
             "written",
             attn_version());
    plot_text(b->canvas, area, &faint, line);
}

static void draw_cover(book *b) {
    const double side = 72, column = 380;
    begin_page(b, "Self-Attention");
    const plot_rect page = plot_page(b->canvas);
    const double square = fmin(page.width - 3 * side - column + 24, page.height - 2 * side);
    plot_rect left = {side, (page.height - square) / 2, column, square};
    char seed[40];
    snprintf(seed, sizeof seed, "SEED = %u", (unsigned)b->options->seed);
    put(b, &left, &(plot_style){.size = 42, .bold = true}, 4, "Self-Attention");
    put(b, &left, &(plot_style){.size = 18}, 6, "Scaled Dot-Product Attention Analysis");
    put(b, &left, &(plot_style){.size = 11, .color = PLOT_FAINT}, 24,
        "Visualizations, Scaling Analysis, and Gradient Flow");
    const plot_rect box = take(&left, 84);
    plot_box(b->canvas, (plot_rect){box.x, box.y, 330, box.height}, PLOT_BLUE, false);
    plot_formula(b->canvas, (plot_rect){box.x, box.y, 330, box.height}, 21);
    take(&left, 22);
    put(b, &left, &(plot_style){.size = 12, .bold = true}, 0, seed);
    put_ornament(
        b, (plot_rect){page.width - side - square, (page.height - square) / 2, square, square});
    put_colophon(b, (plot_rect){side, page.height - 48, page.width - 2 * side, 14});
}

/* ---- findings ---- */

static plot_color color_of(lab_verdict verdict) {
    static const plot_color colors[] = {PLOT_GREEN, PLOT_ORANGE, PLOT_RED, PLOT_BLUE};
    return colors[verdict];
}

/* A verdict, a sentence, and where to see it. */
static void put_finding(const book *b, plot_rect *left, const char *number,
                        const lab_result *result) {
    const double number_width = 34, verdict_width = 84, where_width = 34, air = 18;
    const plot_style big = {.size = 17, .bold = true, .color = PLOT_FAINT};
    const plot_style verdict = {
        .size = 11.5, .bold = true, .color = color_of(result->finding.verdict)};
    const plot_style where = {.size = 9, .color = PLOT_FAINT, .align = PLOT_RIGHT};
    const double width = left->width - number_width - verdict_width - where_width - gap;
    char *headline = typeset(result->finding.headline);
    const double height = plot_text_height(b->canvas, width, &body, headline);
    const plot_rect row = take(left, height + air);
    plot_text(b->canvas, (plot_rect){row.x, row.y - 4, number_width, 24}, &big, number);
    plot_text(b->canvas, (plot_rect){row.x + number_width, row.y, verdict_width, 16}, &verdict,
              lab_verdict_name(result->finding.verdict));
    plot_text(b->canvas,
              (plot_rect){row.x + number_width + verdict_width, row.y, width, height + 1}, &body,
              headline);
    plot_text(b->canvas, (plot_rect){row.x + row.width - where_width, row.y, where_width, 16},
              &where, result->experiment->id);
    plot_line(b->canvas, row.x, row.y + row.height - air / 2, row.x + row.width,
              row.y + row.height - air / 2, PLOT_FAINT, 0.2);
    g_free(headline);
}

static bool is_numbered(const lab_result *result) {
    for (int i = 0; i < LAB_FINDINGS; i++) {
        if (strcmp(lab_finding_ids[i], result->experiment->id) == 0) return true;
    }
    return false;
}

static size_t count_numbered(const lab_report *report) {
    size_t n = 0;
    for (size_t i = 0; i < report->n; i++) n += is_numbered(&report->result[i]);
    return n;
}

static void draw_summary(book *b) {
    if (count_numbered(b->report) == 0) return;
    plot_rect left =
        open_page(b, "Summary of Findings",
                  "The seven findings of document 000, with the numbers measured here. "
                  "Right: the page that shows it.");
    for (int i = 0; i < LAB_FINDINGS; i++) {
        const lab_result *result = lab_report_find(b->report, lab_finding_ids[i]);
        char number[12];
        snprintf(number, sizeof number, "%d", i + 1);
        if (result) put_finding(b, &left, number, result);
    }
}

static void draw_further(book *b) {
    if (count_numbered(b->report) == b->report->n) return;
    plot_rect left =
        open_page(b, "Further findings", "What the figures beyond document 000's list show.");
    for (size_t i = 0; i < b->report->n; i++) {
        const lab_result *result = &b->report->result[i];
        if (!is_numbered(result)) put_finding(b, &left, "", result);
    }
}

/* ---- figures ---- */

/* The two texts under a figure: what to see, and how it was made. */
typedef struct notes {
    char see[2 * LAB_TEXT], how[2 * LAB_TEXT]; /* Pango markup */
    double width_see, width_how, height;
} notes;

static const plot_style see_style = {.size = 9.5};

static void write_notes(const book *b, const lab_result *result, double width, notes *n) {
    const lab_experiment *e = result->experiment;
    char *text = with_subscripts(result->finding.text), *method = with_subscripts(e->method);
    char *command = g_markup_escape_text(e->command, -1);
    snprintf(n->see, sizeof n->see, "<b>What to see.</b> %s", text);
    snprintf(n->how, sizeof n->how, "<b>Method.</b> %s\n<tt>%s</tt>", method, command);
    g_free(text);
    g_free(method);
    g_free(command);
    n->width_see = width * 0.57;
    n->width_how = width * 0.40;
    n->height = fmax(plot_text_height(b->canvas, n->width_see, &see_style, n->see),
                     plot_text_height(b->canvas, n->width_how, &faint, n->how));
}

/* The figure takes what the notes leave. */
static void draw_figure_page(book *b, const lab_result *result) {
    const lab_experiment *e = result->experiment;
    char title[200];
    notes n;
    snprintf(title, sizeof title, "%s  %s", e->id, e->title);
    plot_rect left = open_page(b, title, e->question);
    write_notes(b, result, left.width, &n);
    e->draw(&result->data, b->canvas, take(&left, left.height - n.height - gap));
    take(&left, gap);
    plot_rect how = {left.x + left.width - n.width_how, left.y, n.width_how, left.height};
    plot_text(b->canvas, (plot_rect){left.x, left.y, n.width_see, left.height}, &see_style, n.see);
    plot_text(b->canvas, how, &faint, n.how);
}

void lab_figure_draw(const lab_result *result, plot_canvas *canvas) {
    const book b = {.canvas = canvas};
    plot_rect left = plot_inset(plot_page(canvas), 20, 16, 20, 14);
    put_plain(&b, &left, &(plot_style){.size = 13, .bold = true}, 8, result->experiment->title);
    result->experiment->draw(&result->data, canvas, left);
}

/* ---- corrections ---- */

enum { CELLS = 5 };
static const double share[CELLS] = {0.08, 0.21, 0.22, 0.22, 0.27}; /* of the width */

static double row_height(const book *b, double width, const char *const cell[CELLS]) {
    double height = 0;
    for (int c = 0; c < CELLS; c++) {
        height = fmax(height, plot_text_height(b->canvas, width * share[c] - 8, &small, cell[c]));
    }
    return height;
}

static void put_row(const book *b, plot_rect row, const plot_style *style,
                    const char *const cell[CELLS]) {
    double x = row.x;
    for (int c = 0; c < CELLS; c++) {
        const double width = row.width * share[c];
        plot_text(b->canvas, (plot_rect){x, row.y, width - 8, row.height}, style, cell[c]);
        x += width;
    }
    plot_line(b->canvas, row.x, row.y + row.height + 2, row.x + row.width, row.y + row.height + 2,
              PLOT_FAINT, 0.3);
}

static plot_rect open_corrections(book *b, bool first) {
    static const char *const titles[CELLS] = {"Id", "Subject", "Stated", "Computed", "Why"};
    const plot_style style = {.size = 8.5, .bold = true};
    plot_rect left = open_page(b, first ? "Corrections to the documents" : "Corrections, continued",
                               "What they state and what the computation gives. `attn verify` "
                               "prints every statement, also those that hold.");
    put_row(b, take(&left, 14), &style, titles);
    take(&left, 5);
    return left;
}

static void draw_corrections(book *b) {
    plot_rect left = {0};
    for (size_t i = 0; i < b->report->n_corrections; i++) {
        const lab_correction *c = &b->report->correction[i];
        char *cell[CELLS];
        const char *const raw[CELLS] = {c->claim->id, c->claim->subject, c->claim->stated,
                                        c->outcome.computed, c->outcome.why};
        for (int k = 0; k < CELLS; k++) cell[k] = typeset(raw[k]);
        const char *const *text = (const char *const *)cell;
        const double width = inside(b).width, height = row_height(b, width, text);
        if (left.height < height + 8) left = open_corrections(b, i == 0);
        put_row(b, take(&left, height), &small, text);
        take(&left, 5);
        for (int k = 0; k < CELLS; k++) g_free(cell[k]);
    }
}

/* ---- method ---- */

/* A name in bold and what belongs to it. */
static void put_fact(const book *b, plot_rect *left, const char *name, const char *text) {
    const double name_width = 96;
    const plot_style bold = {.size = 9.5, .bold = true};
    const plot_style plain = {.size = 9.5};
    char *escaped = typeset(text);
    const plot_rect cell = {left->x + name_width, left->y, left->width - name_width, left->height};
    plot_text(b->canvas, (plot_rect){left->x, left->y, name_width, 16}, &bold, name);
    take(left, plot_text(b->canvas, cell, &plain, escaped) + 5);
    g_free(escaped);
}

static void put_machine(const book *b, plot_rect *left) {
    attn_cpu cpu = {.struct_size = sizeof cpu};
    char text[400];
    attn_cpu_info(&cpu, NULL);
    snprintf(text, sizeof text, "%s, instruction set %s, %d threads",
             cpu.name[0] ? cpu.name : "unknown CPU", attn_isa_name(cpu.best), b->options->threads);
    put_fact(b, left, "Machine", text);
    snprintf(text, sizeof text, "attn %s, cairo %s, pango %s, compiler %s", attn_version(),
             cairo_version_string(), pango_version_string(), __VERSION__);
    put_fact(b, left, "Versions", text);
}

static void put_commands(const book *b, plot_rect left) {
    const plot_style mono = {.size = 8, .mono = true};
    for (size_t i = 0; i < b->report->n; i++) {
        const lab_experiment *e = b->report->result[i].experiment;
        const plot_rect cell = plot_grid(left, (b->report->n + 1) / 2, 2, i, 6);
        char line[200];
        snprintf(line, sizeof line, "%-3s %s%s", e->id, e->command, e->timed ? "   (timed)" : "");
        char *escaped = g_markup_escape_text(line, -1);
        plot_text(b->canvas, cell, &mono, escaped);
        g_free(escaped);
    }
}

static void draw_method(book *b) {
    char text[200];
    plot_rect left = open_page(b, "Method", "How to get the same pages again.");
    snprintf(
        text, sizeof text,
        "%u; NumPy's legacy stream (MT19937, polar normals), so that the draws can be repeated "
        "in Python",
        (unsigned)b->options->seed);
    put_fact(b, &left, "Seed", text);
    put_machine(b, &left);
    put_fact(b, &left, "Precision",
             "Figures are computed in double precision by the engine of this package: the same "
             "attention that runs in single precision in programs. Numbers of F1 to F7 agree with "
             "NumPy to 1e-9.");
    put_fact(b, &left, "Again",
             "The same seed gives the same bytes on the same machine, except on pages that measure "
             "time, which are marked (timed) below.");
    put_fact(
        b, &left, "Data",
        "Each figure stands in figures/ as SVG and PNG; the numbers behind it stand in data/ as "
        "CSV and JSON.");
    put_fact(b, &left, "Commands", "What prints the numbers of a page, or varies them:");
    left.height = fmin(left.height, 16.0 * (double)((b->report->n + 1) / 2));
    put_commands(b, left);
}

int lab_pages_draw(const lab_report_options *options, const lab_report *report,
                   plot_canvas *canvas) {
    book b = {.options = options, .report = report, .canvas = canvas};
    draw_cover(&b);
    draw_summary(&b);
    draw_further(&b);
    for (size_t i = 0; i < report->n; i++) draw_figure_page(&b, &report->result[i]);
    draw_corrections(&b);
    draw_method(&b);
    return b.page;
}
