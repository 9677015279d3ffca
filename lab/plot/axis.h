/* SPDX-License-Identifier: Apache-2.0 */
/* axis.h - ranges, ticks and the sides of a chart: from values to points on the page.
 * Tests: tests/lab/test_plot_axis.c */
#ifndef PLOT_AXIS_H
#define PLOT_AXIS_H

#include "ink.h"

typedef struct plot_range {
    plot_scale scale;
    double min, max; /* min < max; above 0 if logarithmic */
} plot_range;

/* The range of an axis: as given, or low .. high rounded outwards; low > high: no data. */
plot_range plot_range_find(const plot_axis *axis, double low, double high);
/* 0 at min, 1 at max; NaN where the scale has no place for the value. */
double plot_range_share(plot_range range, double value);
/* Widens low .. high to hold value, if a scale of this kind can show it. */
void plot_range_hold(plot_scale scale, double value, double *low, double *high);

enum { PLOT_MAX_TICKS = 24 };

typedef struct plot_tick {
    double value;
    char label[40];
} plot_tick;

/* One axis of a chart as it lies on the page. */
typedef struct plot_side {
    plot_range range;
    bool vertical;
    double from, to; /* where min and max lie: x, or y when vertical */
    double size;     /* of the labels at the ticks */
    size_t n;
    plot_tick tick[PLOT_MAX_TICKS];
} plot_side;

double plot_side_at(const plot_side *side, double value);
/* Fills in ticks whose labels do not touch; format as in plot_axis. */
void plot_side_find_ticks(plot_canvas *canvas, plot_side *side, const char *format);
double plot_side_label_width(plot_canvas *canvas, const plot_side *side); /* of the widest */
double plot_side_last_label_end(plot_canvas *canvas, const plot_side *side);
/* Light lines across data, and ticks with labels along its left or lower edge. */
void plot_side_draw_grid(plot_canvas *canvas, const plot_side *side, plot_rect data);
void plot_side_draw(plot_canvas *canvas, const plot_side *side, plot_rect data);

static const double plot_tick_length = 3, plot_tick_gap = 3;

#endif
