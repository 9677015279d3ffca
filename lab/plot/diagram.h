/* SPDX-License-Identifier: Apache-2.0 */
/* diagram.h - the parts of a diagram: arrows, rounded boxes, dots, regions, words, and matrices as
 * small grids of colour. Positions are given by the caller; nothing is measured or moved.
 * Tests: tests/book/test_pictures.py */
#ifndef PLOT_DIAGRAM_H
#define PLOT_DIAGRAM_H

#include "plot/plot.h"

/* A line with a head at its second end. */
void plot_arrow(plot_canvas *canvas, double x0, double y0, double x1, double y1, plot_color color,
                double width);
/* A box with round corners, filled with a tint of its border. */
void plot_pill(plot_canvas *canvas, plot_rect area, plot_color border, plot_dash dash);
/* The ellipse inside area as a tint, without a border. */
void plot_region(plot_canvas *canvas, plot_rect area, plot_color color);
void plot_dot(plot_canvas *canvas, double x, double y, double radius, plot_color color);
/* A dot with a number or letter on it. */
void plot_badge(plot_canvas *canvas, double x, double y, double radius, plot_color color,
                const char *letter);
/* One line of Pango markup whose left, middle or right (style->align) is at x, its middle at y. */
void plot_word(plot_canvas *canvas, double x, double y, const plot_style *style,
               const char *markup);

/* A matrix as a picture of its shape: (rows, columns) squares that fill area, -limit .. limit
 * (PLOT_SIGNED) or 0 .. limit (PLOT_CIVIDIS). */
typedef struct plot_icon {
    size_t rows, columns;
    const double *cell; /* (rows, columns) */
    plot_map map;
    double limit;
} plot_icon;
void plot_icon_draw(plot_canvas *canvas, plot_rect area, const plot_icon *icon);

/* The cells (n, n) above 0 as filled squares on squared paper; area is a square. */
void plot_set_draw(plot_canvas *canvas, plot_rect area, size_t n, const double *cell,
                   plot_color color);

#endif
