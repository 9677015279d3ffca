/* SPDX-License-Identifier: Apache-2.0 */
/* ink.h - what the files of lab/plot share: the canvas, colours as numbers, short labels that are
 * measured before they are placed. Nobody else includes it. Tests: tests/lab/test_plot*.c */
#ifndef PLOT_INK_H
#define PLOT_INK_H

#include "plot.h"
#include "support/outfile.h"

#include <pango/pangocairo.h>

struct plot_canvas {
    cairo_t *cr;
    cairo_surface_t *surface;
    PangoContext *pango;
    plot_format format;
    plot_theme theme;
    double width, height;
    int pages; /* begun */
    outfile file;
    GString *svg;          /* of a file that is not finished, else NULL */
    char **text;           /* where the SVG goes instead of a file, or NULL */
    int write_errno;       /* of the first write that failed, or 0 */
    bool page_not_allowed; /* a second page was asked of a format that has one */
};

/* ---- colour ---- */

typedef struct plot_rgb {
    double r, g, b; /* sRGB, 0 .. 1 */
} plot_rgb;

plot_rgb plot_paper(plot_theme theme);
plot_rgb plot_graphic_rgb(plot_theme theme, plot_color color); /* contrast >= 3 with the paper */
plot_rgb plot_text_rgb(plot_theme theme, plot_color color);    /* contrast >= 4.5 */
plot_rgb plot_grid_rgb(plot_theme theme);
plot_rgb plot_hatch_rgb(plot_theme theme);                           /* lines over hidden cells */
plot_rgb plot_map_rgb(plot_theme theme, plot_map map, double share); /* share 0 .. 1 */
plot_rgb plot_numeral_rgb(plot_rgb ground);                          /* black or white */
plot_rgb plot_blend(plot_rgb from, plot_rgb to, double share);
double plot_luminance(plot_rgb color);
double plot_contrast(plot_rgb a, plot_rgb b);
void plot_set_rgb(plot_canvas *canvas, plot_rgb color);

/* ---- text ---- */

/* Sizes of type for a picture in this area: 11, 9 and 8 points, less for small multiples. */
typedef struct plot_type {
    double title, label, tick;
} plot_type;

plot_type plot_type_for(plot_rect area);
/* Too small for data and words: then labels, legend and notes are left out. */
bool plot_is_cramped(plot_rect area);

typedef struct plot_size {
    double width, height;
} plot_size;

void plot_show_layout(plot_canvas *canvas, PangoLayout *layout, double x, double y);
/* One line, not wrapped; text that is no valid markup is taken as it is. */
plot_size plot_measure(plot_canvas *canvas, const plot_style *style, const char *text);
/* In the middle of area from top to bottom, shrunk until it fits; nothing if it cannot. */
void plot_text_middle(plot_canvas *canvas, plot_rect area, const plot_style *style,
                      const char *text);
/* Reads upwards, in the middle of area. */
void plot_text_upwards(plot_canvas *canvas, plot_rect area, const plot_style *style,
                       const char *text);
/* A single line whose left, middle or right (style->align) is at x, its middle at y. */
void plot_label(plot_canvas *canvas, double x, double y, const plot_style *style, const char *text);
/* As plot_label, in a colour of its own, e.g. on a cell. */
void plot_label_rgb(plot_canvas *canvas, double x, double y, const plot_style *style,
                    const char *text, plot_rgb color);
/* As plot_label, with paper around the letters, for words over lines. */
void plot_label_over(plot_canvas *canvas, double x, double y, const plot_style *style,
                     const char *text);

typedef struct plot_words {
    char c[40];
} plot_words;

/* A value as its format writes it, with a true minus sign and no negative zero. */
plot_words plot_number(const char *format, double value);

/* Room for a title over area, one or two lines; 0 if there is none, or if it would take a third. */
double plot_title_height(plot_canvas *canvas, plot_rect area, const plot_style *style,
                         const char *title);
/* Draws it at the top; returns what is left of area below it. */
plot_rect plot_title(plot_canvas *canvas, plot_rect area, const plot_style *style,
                     const char *title);
/* Height of a label that may take two lines of this width; 0 for NULL or "". */
double plot_label_height(plot_canvas *canvas, double width, const plot_style *style,
                         const char *text);
/* The size of type at which names of this width (measured at `size`) fit a slot; 0: turn them. */
double plot_name_size(double size, double width, double slot);

#endif
