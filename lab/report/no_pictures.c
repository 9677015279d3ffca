/* SPDX-License-Identifier: Apache-2.0 */
/* no_pictures.c - stands in for plot/ and pages.c in a build without cairo and pango
 * (ATTN_WITH_PICTURES=OFF). No canvas can be opened, so no drawing function is ever called; they
 * are here because experiments name them. Tests: tests/cli/test_no_pictures.py */
#include "book/figure.h"
#include "core/base.h"
#include "report/pages.h"

bool plot_is_built(void) { return false; }

attn_status plot_open(const plot_output *output, plot_canvas **canvas, attn_error *err) {
    *canvas = NULL;
    return attni_fail(err, ATTN_E_VALUE,
                      "path: '%.80s' cannot be drawn: this build has no pictures", output->path);
}

attn_status plot_close(plot_canvas *canvas, attn_error *err) {
    (void)canvas, (void)err;
    return ATTN_OK;
}

plot_rect plot_inset(plot_rect area, double left, double top, double right, double bottom) {
    (void)left, (void)top, (void)right, (void)bottom;
    return area;
}

plot_rect plot_grid(plot_rect area, size_t rows, size_t columns, size_t i, double gap) {
    (void)rows, (void)columns, (void)i, (void)gap;
    return area;
}

double plot_text(plot_canvas *canvas, plot_rect area, const plot_style *style, const char *markup) {
    (void)canvas, (void)area, (void)style, (void)markup;
    return 0;
}

void plot_chart_draw(plot_canvas *canvas, plot_rect area, const plot_chart *chart) {
    (void)canvas, (void)area, (void)chart;
}

void plot_bars_draw(plot_canvas *canvas, plot_rect area, const plot_bars *bars) {
    (void)canvas, (void)area, (void)bars;
}

void plot_heatmap_draw(plot_canvas *canvas, plot_rect area, const plot_heatmap *map) {
    (void)canvas, (void)area, (void)map;
}

attn_status lab_pages_draw(const lab_report_options *options, const lab_report *report,
                           plot_canvas *canvas, attn_error *err) {
    (void)options, (void)report, (void)canvas, (void)err;
    return ATTN_OK;
}

attn_status lab_html_write(const lab_report_options *options, const lab_report *report,
                           FILE *stream, attn_error *err) {
    (void)options, (void)report, (void)stream, (void)err;
    return ATTN_OK;
}

void lab_figure_draw(const lab_result *result, plot_canvas *canvas) { (void)result, (void)canvas; }

const lab_book_figure *const lab_book_figures[] = {NULL};
