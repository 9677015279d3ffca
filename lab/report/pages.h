/* SPDX-License-Identifier: Apache-2.0 */
/* pages.h - the pages of the PDF. */
#ifndef LAB_PAGES_H
#define LAB_PAGES_H

#include "report/report.h"

/* Draws the whole document on an open PDF canvas. Errors: MEMORY. */
attn_status lab_pages_draw(const lab_report_options *options, const lab_report *report,
                           plot_canvas *canvas, attn_error *err);
/* The whole document as one HTML file, written to stream. Errors: MEMORY, and those of drawing. */
attn_status lab_html_write(const lab_report_options *options, const lab_report *report,
                           FILE *stream, attn_error *err);

/* One figure with its title, for an SVG or a PNG. */
void lab_figure_draw(const lab_result *result, plot_canvas *canvas);
/* The size of such a picture, in points. */
enum { LAB_FIGURE_WIDTH = 800, LAB_FIGURE_HEIGHT = 470 };

#endif
