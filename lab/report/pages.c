/* SPDX-License-Identifier: Apache-2.0 */
/* pages.c - how the PDF looks: cover, abstract and contents, tables, one page per figure, and a page
 * about documents, method and references. What it says comes from content.c. See pages.h. */
#include "report/pages.h"

#include "report/book.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const plot_style heading = {.size = 20, .bold = true};
static const plot_style section = {.size = 12.5, .bold = true};
static const plot_style small = {.size = 9};
static const plot_style faint = {.size = 8.2, .color = PLOT_FAINT};

/* ---- pages and places ---- */

plot_rect lab_book_inside(const lab_book *b) {
    return plot_inset(plot_page(b->canvas), lab_margin, lab_margin - 8, lab_margin, lab_margin);
}

plot_rect lab_take(plot_rect *left, double height) {
    const plot_rect top = {left->x, left->y, left->width, height};
    left->y += height;
    left->height -= height;
    return top;
}

void lab_put(const lab_book *b, plot_rect *left, const plot_style *style, double after,
             const char *markup) {
    lab_take(left, plot_text(b->canvas, *left, style, markup) + after);
}

plot_color lab_color_of(lab_verdict verdict) {
    static const plot_color colors[] = {PLOT_GREEN, PLOT_ORANGE, PLOT_RED, PLOT_BLUE};
    return colors[verdict];
}

/* Notes a place in the draft; the second pass finds it there. */
static void mark_place(lab_book *b, plot_rect area, const char *name, const char *title,
                       bool is_figure) {
    if (b->is_draft && b->n_places < LAB_MAX_PLACES) {
        lab_place *place = &b->place[b->n_places++];
        *place = (lab_place){.page = b->page, .is_figure = is_figure};
        snprintf(place->name, sizeof place->name, "%s", name);
        snprintf(place->title, sizeof place->title, "%s", title);
    }
    if (is_figure && b->figures == 0) b->figures = plot_bookmark(b->canvas, 0, "Figures");
    plot_bookmark(b->canvas, is_figure ? b->figures : 0, title);
    plot_target(b->canvas, area, name);
}

static void put_footer(const lab_book *b) {
    const plot_rect page = plot_page(b->canvas);
    const plot_rect line = {lab_margin, page.height - 34, page.width - 2 * lab_margin, 14};
    plot_style style = {.size = 8, .color = PLOT_FAINT};
    char text[120];
    snprintf(text, sizeof text, "%s · seed %u", lab_content_subtitle, (unsigned)b->options->seed);
    plot_text(b->canvas, line, &style, text);
    plot_link(b->canvas, (plot_rect){line.x, line.y, 200, line.height}, "contents");
    style.align = PLOT_RIGHT;
    snprintf(text, sizeof text, "%d", b->page);
    plot_text(b->canvas, line, &style, text);
}

static void begin_page(lab_book *b) {
    if (b->page > 0) plot_next_page(b->canvas);
    b->page++;
}

static plot_rect open_page_of(lab_book *b, const char *name, const char *title,
                              const char *subtitle, bool is_figure) {
    begin_page(b);
    put_footer(b);
    plot_rect left = lab_book_inside(b);
    if (name) mark_place(b, left, name, title, is_figure);
    char *title_markup = lab_typeset(title), *subtitle_markup = lab_typeset(subtitle);
    lab_put(b, &left, &heading, 2, title_markup);
    lab_put(b, &left, &(plot_style){.size = 10.5, .color = PLOT_FAINT}, lab_gap, subtitle_markup);
    g_free(title_markup);
    g_free(subtitle_markup);
    return left;
}

plot_rect lab_open_page(lab_book *b, const char *name, const char *title, const char *subtitle) {
    return open_page_of(b, name, title, subtitle, false);
}

void lab_put_section(lab_book *b, plot_rect *left, const char *name, const char *title) {
    mark_place(b, *left, name, title, false);
    lab_put(b, left, &section, 6, title);
}

/* ---- cover ---- */

/* The weights of F1 without any words, as an ornament. */
static void put_ornament(const lab_book *b, plot_rect area) {
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

/* Texts have the height of the page, so that none is lost on paper that is lower or narrower. */
static void draw_cover(lab_book *b) {
    const double side = 64, column = 400, box_width = 370;
    begin_page(b);
    const plot_rect page = plot_page(b->canvas);
    mark_place(b, page, "cover", lab_content_title, false);
    const double square = fmin(page.width - 3 * side - column + 36, page.height - 2 * side);
    const double top = (page.height - 270) / 2;
    plot_rect left = {side, top, column, page.height - top};
    char *identity = lab_content_identity(b->options);
    char seed[40];
    snprintf(seed, sizeof seed, "SEED = %u", (unsigned)b->options->seed);
    lab_put(b, &left, &(plot_style){.size = 42, .bold = true}, 4, lab_content_title);
    lab_put(b, &left, &(plot_style){.size = 18}, 6, lab_content_subtitle);
    lab_put(b, &left, &(plot_style){.size = 11, .color = PLOT_FAINT}, 22, lab_content_topics);
    plot_rect box = lab_take(&left, 84);
    box.width = box_width;
    plot_box(b->canvas, box, PLOT_BLUE, false);
    plot_formula(b->canvas, plot_inset(box, 10, 4, 10, 4), 19);
    lab_take(&left, 20);
    lab_put(b, &left, &(plot_style){.size = 12, .bold = true}, 4, seed);
    lab_put(b, &left, &(plot_style){.size = 10}, 0, identity);
    put_ornament(
        b, (plot_rect){page.width - side - square, (page.height - square) / 2, square, square});
    plot_text(b->canvas, (plot_rect){side, page.height - 48, page.width - 2 * side, 14}, &faint,
              "The attention series · attn computed every number when this file was written");
    g_free(identity);
}

/* ---- abstract and contents ---- */

static void put_contents_line(const lab_book *b, plot_rect line, const lab_place *place) {
    const plot_style style = {.size = 9.5}, number = {.size = 9.5, .align = PLOT_RIGHT};
    const double indent = place->is_figure ? 12 : 0;
    char page[12];
    char *title = lab_typeset(place->title);
    snprintf(page, sizeof page, "%d", place->page);
    plot_text(b->canvas, plot_inset(line, indent, 0, 26, 0), &style, title);
    plot_text(b->canvas, line, &number, page);
    plot_link(b->canvas, line, place->name);
    g_free(title);
}

static void put_contents(lab_book *b, plot_rect left) {
    const double height = fmin(18, (left.height - 24) / (double)(b->n_places + 1));
    lab_put(b, &left, &section, 6, "Contents");
    for (size_t i = 0; i < b->n_places; i++) {
        if (strcmp(b->place[i].name, "cover") == 0) continue;
        put_contents_line(b, lab_take(&left, height), &b->place[i]);
    }
}

static void put_entries(const lab_book *b, plot_rect *left, double name_width, double air,
                        lab_entries entries) {
    const plot_style bold = {.size = small.size, .bold = true};
    for (size_t i = 0; i < entries.n; i++) {
        const plot_rect name = {left->x, left->y, name_width - 6, left->height};
        const plot_rect text = plot_inset(*left, name_width, 0, 0, 0);
        const double used = plot_text(b->canvas, name, &bold, entries.entry[i].name);
        lab_take(left, fmax(used, plot_text(b->canvas, text, &small, entries.entry[i].text)) + air);
    }
    lab_entries_free(&entries);
}

static void put_main_results(const lab_book *b, plot_rect *left) {
    const lab_main_results main = lab_content_main_results(b->report);
    if (main.result[0]) lab_put(b, left, &section, 4, "Main results");
    for (size_t i = 0; main.result[i]; i++) {
        const char *id = main.result[i]->experiment->id;
        const plot_rect name = {left->x, left->y, 28, 14};
        plot_rect text = plot_inset(*left, 32, 0, 0, 0);
        char *headline = lab_typeset(main.result[i]->finding.headline);
        plot_text(b->canvas, name, &(plot_style){.size = small.size, .color = PLOT_BLUE}, id);
        plot_link(b->canvas, name, id);
        lab_take(left, plot_text(b->canvas, text, &small, headline) + 4);
        g_free(headline);
    }
    lab_take(left, 8);
}

static void draw_front(lab_book *b) {
    plot_rect left = open_page_of(b, "contents", "Abstract", "", false);
    const double column = left.width * 0.56;
    put_contents(b, plot_inset(left, column + 28, 0, 0, 0));
    plot_rect text = plot_inset(left, 0, 0, left.width - column, 0);
    char *abstract = lab_content_abstract(b->options, b->report);
    lab_put(b, &text, &(plot_style){.size = 10, .spacing = 1.4}, 12, abstract);
    g_free(abstract);
    put_main_results(b, &text);
    lab_put(b, &text, &section, 5, "The documents");
    put_entries(b, &text, 32, 2, lab_content_documents());
}

/* ---- figures ---- */

/* The two texts under a figure: what it shows, and how it was made. */
typedef struct notes {
    char *shows, *how; /* markup */
    double width_shows, width_how, height;
} notes;

static const plot_style shows_style = {.size = 9.3};

static char *write_how(const lab_book *b, const lab_experiment *e) {
    char *method = lab_typeset_markup(e->method), *command = g_markup_escape_text(e->command, -1);
    char *tested = lab_content_tested(b->report, e), *cited = lab_content_citations(e);
    char *text = g_strdup_printf("<b>Method.</b> %s\n<tt>%s</tt>%s\n%s%s%s", method, command,
                                 e->timed ? " (timed)" : "", tested, tested[0] ? " " : "", cited);
    g_free(method);
    g_free(command);
    g_free(tested);
    g_free(cited);
    return text;
}

static notes write_notes(const lab_book *b, const lab_result *result, double width) {
    char *headline = lab_typeset(result->finding.headline);
    char *text = lab_typeset_markup(result->finding.text);
    notes n = {.shows = g_strdup_printf("<b>%s</b> %s", headline, text),
               .how = write_how(b, result->experiment),
               .width_shows = width * 0.56,
               .width_how = width * 0.41};
    n.height = fmax(plot_text_height(b->canvas, n.width_shows, &shows_style, n.shows),
                    plot_text_height(b->canvas, n.width_how, &faint, n.how));
    g_free(headline);
    g_free(text);
    return n;
}

/* The figure takes what the notes leave. */
static void draw_figure_page(lab_book *b, const lab_result *result) {
    const lab_experiment *e = result->experiment;
    char title[200];
    snprintf(title, sizeof title, "%s  %s", e->id, e->title);
    plot_rect left = open_page_of(b, e->id, title, e->question, true);
    notes n = write_notes(b, result, left.width);
    const plot_rect figure = lab_take(&left, left.height - n.height - lab_gap);
    if (!b->is_draft) e->draw(&result->data, b->canvas, figure);
    lab_take(&left, lab_gap);
    const plot_rect how = {left.x + left.width - n.width_how, left.y, n.width_how, left.height};
    plot_text(b->canvas, (plot_rect){left.x, left.y, n.width_shows, left.height}, &shows_style,
              n.shows);
    plot_text(b->canvas, how, &faint, n.how);
    plot_link(b->canvas, how, strstr(n.how, "References") ? "references" : "method");
    g_free(n.shows);
    g_free(n.how);
}

void lab_figure_draw(const lab_result *result, plot_canvas *canvas) {
    const lab_book b = {.canvas = canvas};
    plot_rect left = plot_inset(plot_page(canvas), 20, 16, 20, 14);
    char *title = lab_typeset(result->experiment->title);
    lab_put(&b, &left, &(plot_style){.size = 13, .bold = true}, 8, title);
    result->experiment->draw(&result->data, canvas, left);
    g_free(title);
}

/* ---- method, references ---- */

static const char terms_title[] = "How to read verdicts and identifiers";

void lab_put_terms(lab_book *b, plot_rect left) {
    const double half = (left.width - 28) / 2;
    lab_put_section(b, &left, "terms", terms_title);
    plot_rect verdicts = plot_inset(left, 0, 0, half + 28, 0);
    plot_rect ids = plot_inset(left, half + 28, 0, 0, 0);
    put_entries(b, &verdicts, 128, 4, lab_content_verdicts());
    put_entries(b, &ids, 46, 4, lab_content_identifiers());
    b->has_terms = true;
}

/* What is left below them. */
static plot_rect put_references(lab_book *b, plot_rect left) {
    for (int i = 0; lab_references[i].text; i++) {
        char number[16];
        snprintf(number, sizeof number, "[%d]", i + 1);
        const plot_rect text = plot_inset(left, 26, 0, 0, 0);
        plot_text(b->canvas, (plot_rect){left.x, left.y, 24, 14}, &small, number);
        const double height = plot_text(b->canvas, text, &small, lab_references[i].text);
        plot_link(b->canvas, lab_take(&left, height), lab_references[i].address);
        lab_take(&left, 4);
    }
    return left;
}

/* What prints the numbers of a figure, or varies them. */
static void put_commands(const lab_book *b, plot_rect left) {
    const plot_style mono = {.size = 7.8, .mono = true};
    lab_take(&left, 8);
    lab_put(b, &left, &section, 5, "Commands");
    for (size_t i = 0; i < b->report->n; i++) {
        const lab_experiment *e = b->report->result[i].experiment;
        char line[200];
        snprintf(line, sizeof line, "%s%s", e->command, e->timed ? "  (timed)" : "");
        char *escaped = g_markup_escape_text(line, -1);
        plot_text(b->canvas, (plot_rect){left.x, left.y, 24, 12}, &small, e->id);
        plot_link(b->canvas, (plot_rect){left.x, left.y, 24, 12}, e->id);
        lab_put(b, &(plot_rect){left.x + 26, left.y, left.width - 26, 12}, &mono, 0, escaped);
        lab_take(&left, 12.5);
        g_free(escaped);
    }
}

static void draw_method(lab_book *b) {
    plot_rect left = lab_open_page(b, "method", "Method and references", "");
    const double half = (left.width - 28) / 2;
    plot_rect method = plot_inset(left, 0, 0, half + 28, 0);
    plot_rect right = plot_inset(left, half + 28, 0, 0, 0);
    lab_put(b, &method, &section, 5, "Method");
    put_entries(b, &method, 84, 4, lab_content_method(b->options));
    put_commands(b, method);
    lab_put_section(b, &right, "references", "References");
    right = put_references(b, right);
    if (b->has_terms) return;
    lab_take(&right, 8);
    lab_put_section(b, &right, "terms", terms_title);
    put_entries(b, &right, 128, 3, lab_content_verdicts());
    put_entries(b, &right, 128, 3, lab_content_identifiers());
}

/* ---- the whole ---- */

static void draw_all(lab_book *b) {
    draw_cover(b);
    draw_front(b);
    lab_draw_findings(b);
    for (size_t i = 0; i < b->report->n; i++) draw_figure_page(b, &b->report->result[i]);
    lab_draw_statements(b);
    draw_method(b);
}

/* The contents come before the pages they count, so the pages are laid out twice. */
attn_status lab_pages_draw(const lab_report_options *options, const lab_report *report,
                           plot_canvas *canvas, attn_error *err) {
    const plot_rect page = plot_page(canvas);
    char *text = NULL;
    const plot_output output = {
        .format = PLOT_SVG, .width = page.width, .height = page.height, .text = &text};
    lab_book *b = calloc(1, sizeof *b);
    plot_canvas *draft = NULL;
    attn_status status = b ? plot_open(&output, &draft, err) : ATTN_E_MEMORY;
    if (status == ATTN_OK) {
        *b = (lab_book){.options = options, .report = report, .canvas = draft, .is_draft = true};
        draw_all(b);
        plot_close(draft, NULL); /* says that SVG has one page only; nothing of it is used */
        b->canvas = canvas;
        b->is_draft = b->has_terms = false;
        b->page = b->figures = 0;
        draw_all(b);
    }
    free(text);
    free(b);
    return status;
}
