/* SPDX-License-Identifier: Apache-2.0 */
/* plot.h - pictures for print and screen: charts, bars, heatmaps and text, described by structs and
 * drawn by the same code into a PDF page, an SVG or a PNG. Colours are safe for colour-blind
 * readers and every series also differs by mark and dash. Text never leaves its area: it wraps or
 * shrinks. Touches: cairo, pango, the file it is told. Tests: tests/lab */
#ifndef PLOT_PLOT_H
#define PLOT_PLOT_H

#include "attn/attn.h"

#include <stdbool.h>
#include <stddef.h>

/* False in a build without pictures (ATTN_WITH_PICTURES=OFF, report/no_pictures.c): plot_open()
 * then fails, and nothing else does anything. */
bool plot_is_built(void);

/* ---- canvas: something to draw on, in points (1/72 inch), y downwards ---- */

typedef struct plot_canvas plot_canvas;
typedef struct plot_rect {
    double x, y, width, height;
} plot_rect;

typedef enum plot_format { PLOT_PDF, PLOT_SVG, PLOT_PNG } plot_format;
typedef enum plot_theme { PLOT_LIGHT, PLOT_DARK } plot_theme;

typedef struct plot_output {
    plot_format format;
    plot_theme theme;
    const char *path;     /* written when the canvas is closed; nothing is left there on failure */
    double width, height; /* of a page */
    const char *title;    /* of the document: PDF metadata */
    const char *date;     /* of the document, "2026-11-18": PDF metadata; NULL: none */
    char **text;          /* SVG without a path: plot_close() puts the text here; free() it */
} plot_output;

/* PNGs have two pixels a point. The same drawing gives the same bytes: no date, no random name.
 * Errors: MEMORY, VALUE (the file cannot be written; the message says why). */
attn_status plot_open(const plot_output *output, plot_canvas **canvas, attn_error *err);
/* PDF: the next page. */
void plot_next_page(plot_canvas *canvas);
/* PDF: an entry of the outline that readers show beside the pages, for the current page; below the
 * entry `parent`, or at the top (0). Plain text. Returns the entry, to be a parent. */
int plot_bookmark(plot_canvas *canvas, int parent, const char *title);
/* PDF: names a place on the current page, for links. */
void plot_target(plot_canvas *canvas, plot_rect area, const char *name);
/* PDF: a click on area leads to the place of that name, which may be on any page, or opens an
 * address that begins with "https://". */
void plot_link(plot_canvas *canvas, plot_rect area, const char *where);
/* Finishes the file and frees the canvas (which may be NULL); reports what went wrong since
 * open. */
attn_status plot_close(plot_canvas *canvas, attn_error *err);
plot_rect plot_page(const plot_canvas *canvas); /* the whole page */

/* An SVG (light theme) for the inside of an HTML page: no XML header, ids that begin with `name`,
 * these attributes on its root, and the CSS variables of plot_embed_colors() in place of the colours
 * of the theme. free() both; NULL when memory runs out. */
char *plot_embed_svg(const char *svg, const char *name, const char *attributes);
/* "--p0:#ffffff;...": the values of these variables; 0 is the paper, 3 and up graphics, 12 and up
 * text, each in the order of plot_color. */
char *plot_embed_colors(plot_theme theme);

/* ---- areas ---- */

plot_rect plot_inset(plot_rect area, double left, double top, double right, double bottom);
/* Cell i (row by row) of a grid of small multiples, `gap` points apart. */
plot_rect plot_grid(plot_rect area, size_t rows, size_t columns, size_t i, double gap);

/* ---- colour ---- */

typedef enum plot_color {
    PLOT_INK,    /* text */
    PLOT_FAINT,  /* grid, secondary text */
    PLOT_BLUE,   /* scaled, non-causal, exact */
    PLOT_RED,    /* unscaled, causal (vermilion) */
    PLOT_GREEN,  /* half precision, projections */
    PLOT_ORANGE, /* shares */
    PLOT_PURPLE,
    PLOT_SKY,
    PLOT_BLACK,
    PLOT_COLORS
} plot_color;

typedef enum plot_map {
    PLOT_CIVIDIS, /* weights, 0 .. max */
    PLOT_SIGNED   /* orange - neutral - blue, symmetric about 0 */
} plot_map;

/* ---- text ---- */

typedef enum plot_align { PLOT_LEFT, PLOT_CENTER, PLOT_RIGHT } plot_align;

typedef struct plot_style {
    double size; /* points */
    bool bold, italic, mono;
    plot_color color;
    plot_align align;
    double spacing; /* of lines; 0: 1.35 */
} plot_style;

/* Pango markup, wrapped to the width of area and shrunk if it would be higher than it; the height
 * used. plot_text_height() measures only. */
double plot_text(plot_canvas *canvas, plot_rect area, const plot_style *style, const char *markup);
double plot_text_height(plot_canvas *canvas, double width, const plot_style *style,
                        const char *markup);
/* Attention(Q, K, V) = softmax(Q K^T / sqrt(d_k)) V, set as a formula in the middle of area. */
void plot_formula(plot_canvas *canvas, plot_rect area, double size);
void plot_line(plot_canvas *canvas, double x0, double y0, double x1, double y1, plot_color color,
               double width);
void plot_box(plot_canvas *canvas, plot_rect area, plot_color border, bool filled);

/* ---- charts ---- */

typedef enum plot_scale { PLOT_LINEAR, PLOT_LOG2, PLOT_LOG10 } plot_scale;

typedef struct plot_axis {
    const char *label;
    plot_scale scale;
    double min, max;    /* both 0: from the data, rounded outwards */
    const char *format; /* printf of a tick; NULL: short and exact */
} plot_axis;

typedef enum plot_mark {
    PLOT_NO_MARK,
    PLOT_DOT,
    PLOT_SQUARE,
    PLOT_TRIANGLE,
    PLOT_DIAMOND
} plot_mark;
typedef enum plot_dash { PLOT_SOLID, PLOT_DASHED, PLOT_DOTTED, PLOT_NO_LINE } plot_dash;

typedef struct plot_series {
    const char *name; /* in the legend; NULL: not there */
    plot_color color;
    plot_mark mark;
    plot_dash dash;
    size_t n, stride;   /* points; doubles from one to the next, 0: 1 */
    const double *x;    /* (n) */
    const double *y;    /* (n) NaN: a gap */
    const double *low;  /* (n) a band around the line, or NULL */
    const double *high; /* (n) */
    bool
        named_at_end; /* the name stands where the line ends, if there is room, not in the legend */
} plot_series;

/* A dotted line across the chart with words at its end. */
typedef struct plot_rule {
    double at;
    bool vertical;
    const char *label;
} plot_rule;

typedef struct plot_chart {
    const char *title;
    plot_axis x, y;
    const plot_series *series;
    size_t n_series;
    const plot_rule *rule;
    size_t n_rules;
} plot_chart;

void plot_chart_draw(plot_canvas *canvas, plot_rect area, const plot_chart *chart);

typedef struct plot_bar_series {
    const char *name;
    plot_color color;
    const double *value; /* (n_groups) */
    size_t stride;       /* 0: 1 */
} plot_bar_series;

typedef struct plot_bars {
    const char *title;
    const char *group_label;  /* of the axis of groups */
    const char *const *group; /* (n_groups) */
    size_t n_groups;
    plot_axis value;
    const plot_bar_series *series;
    size_t n_series;
    bool stacked, horizontal;
    const char *number;       /* printf of the value written at each bar; NULL: none */
    const plot_series *lines; /* over the bars, x = group number; vertical bars only */
    size_t n_lines;
} plot_bars;

void plot_bars_draw(plot_canvas *canvas, plot_rect area, const plot_bars *bars);

typedef struct plot_heatmap {
    const char *title;
    plot_color title_color;
    const char *x_label, *y_label;
    size_t rows, columns;
    const double *cell;             /* (rows, columns); row 0 on top */
    const unsigned char *hidden;    /* (rows, columns) nonzero: masked, hatched; NULL: none */
    const char *const *row_name;    /* (rows); NULL: numbers where there is room */
    const char *const *column_name; /* (columns) */
    plot_map map;
    double min, max;       /* both 0: 0 .. largest, or symmetric */
    const char *number;    /* printf of each cell, black or white by luminance; NULL: none */
    double number_from;    /* cells whose size is smaller carry no number */
    const char *bar_label; /* of the colour bar; "": a bar without words; NULL: no bar */
    const char *note;      /* a line under it, e.g. "entropy 1.34" */
} plot_heatmap;

void plot_heatmap_draw(plot_canvas *canvas, plot_rect area, const plot_heatmap *map);

#endif
