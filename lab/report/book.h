/* SPDX-License-Identifier: Apache-2.0 */
/* book.h - what pages.c and tables.c share: the PDF as it is being laid out. Nobody else includes
 * it. */
#ifndef LAB_BOOK_H
#define LAB_BOOK_H

#include "report/content.h"

enum { LAB_MAX_PLACES = 96, LAB_PLACE_NAME = 24 };

/* Where a link leads. */
typedef struct lab_place {
    char name[LAB_PLACE_NAME];
    char title[200];
    int page;
    bool is_figure;
} lab_place;

typedef struct lab_book {
    const lab_report_options *options;
    const lab_report *report;
    plot_canvas *canvas;
    int page;      /* the one being drawn, from 1 */
    bool is_draft; /* a first pass that finds the pages of all places; figures are not drawn */
    lab_place place[LAB_MAX_PLACES];
    size_t n_places;
    int figures;    /* entry of the outline above all figures; 0: none yet */
    bool has_terms; /* what verdicts and identifiers mean has been said */
} lab_book;

static const double lab_margin = 44, lab_gap = 12; /* points */

plot_rect lab_book_inside(const lab_book *b);
/* Takes `height` from the top of what is left of an area. */
plot_rect lab_take(plot_rect *left, double height);
/* Markup at the top of what is left, and `after` points of air below it. */
void lab_put(const lab_book *b, plot_rect *left, const plot_style *style, double after,
             const char *markup);
/* A new page with a title and a place of this name; what is left of it. name NULL: the page
 * continues the one before. */
plot_rect lab_open_page(lab_book *b, const char *name, const char *title, const char *subtitle);
/* A heading inside a page, with a place. */
void lab_put_section(lab_book *b, plot_rect *left, const char *name, const char *title);
/* What verdicts and identifiers mean, in about LAB_TERMS_HEIGHT points. */
enum { LAB_TERMS_HEIGHT = 130 };
void lab_put_terms(lab_book *b, plot_rect left);
plot_color lab_color_of(lab_verdict verdict);

/* tables.c: "stated, measured, verdict", and the statements that are wrong or have a condition. */
void lab_draw_findings(lab_book *b);
void lab_draw_statements(lab_book *b);

#endif
