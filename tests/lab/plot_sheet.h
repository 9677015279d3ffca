/* SPDX-License-Identifier: Apache-2.0 */
/* plot_sheet.h - reads drawings back: the bytes of a file, the pixels of a PNG; and ends cleanly,
 * leaving nothing of fonts in memory. For the tests of lab/plot. */
#ifndef PLOT_SHEET_H
#define PLOT_SHEET_H

#include "plot/ink.h"

typedef void sheet_draw_fn(plot_canvas *canvas, plot_rect area);

typedef struct plot_sheet {
    cairo_surface_t *image; /* two pixels a point */
    int width, height;      /* pixels */
} plot_sheet;

/* A page of this format with `margin` points of paper around a drawing; the path of the file, NULL
 * if it was not written. The caller removes it. */
const char *sheet_write(plot_format format, const plot_output *page, double margin,
                        sheet_draw_fn *draw);
/* The whole file, NULL if there is none; the caller frees it. */
unsigned char *sheet_bytes(const char *path, size_t *size);

/* The same as pixels; image is NULL on failure. */
plot_sheet sheet_render(const plot_output *page, double margin, sheet_draw_fn *draw);
void sheet_free(plot_sheet *sheet);
plot_rgb sheet_pixel(const plot_sheet *sheet, int x, int y);
/* Pixels in a rectangle of points that are this colour, to `within` of 1 a channel. */
size_t sheet_count(const plot_sheet *sheet, plot_rect area, plot_rgb color, double within);

#endif
