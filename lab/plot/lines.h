/* SPDX-License-Identifier: Apache-2.0 */
/* lines.h - series as bands, lines and marks between two sides, and the legend that names them.
 * Tests: tests/lab/test_plot_pictures.c */
#ifndef PLOT_LINES_H
#define PLOT_LINES_H

#include "axis.h"

typedef struct plot_field {
    plot_rect data; /* where points lie; nothing but half a mark leaves it */
    plot_side x, y;
} plot_field;

void plot_series_draw_band(plot_canvas *canvas, const plot_field *field, const plot_series *series);
void plot_series_draw(plot_canvas *canvas, const plot_field *field, const plot_series *series);
/* How much of the series lies in box, in pieces: 0 when box is free. */
size_t plot_series_hits(const plot_field *field, const plot_series *series, plot_rect box);
double plot_value_of(const double *value, size_t stride, size_t i);

/* What a legend names: lines, then bars; those without a name are left out. */
typedef struct plot_legend {
    const plot_series *series;
    size_t n_series;
    const plot_bar_series *bar;
    size_t n_bars;
    double size;     /* of its text */
    bool ends_named; /* lines that are to be named at their end are, and are left out */
} plot_legend;

plot_size plot_legend_column(plot_canvas *canvas, const plot_legend *legend); /* 0 x 0: empty */
void plot_legend_draw_column(plot_canvas *canvas, const plot_legend *legend, plot_rect box);
/* Side by side, in as many rows as the width asks for. */
double plot_legend_rows_height(plot_canvas *canvas, const plot_legend *legend, double width);
void plot_legend_draw_rows(plot_canvas *canvas, const plot_legend *legend, plot_rect box);

/* Names of lines at their ends: points they need right of the data, 0 if there are none. */
double plot_line_names_width(plot_canvas *canvas, const plot_chart *chart, double size);
void plot_line_names_draw(plot_canvas *canvas, const plot_field *field, const plot_chart *chart,
                          double size);

/* A bar: series i differs from its neighbours by pattern as well as colour. */
void plot_bar_fill(plot_canvas *canvas, plot_rect bar, plot_color color, size_t i);

#endif
