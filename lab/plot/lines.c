/* SPDX-License-Identifier: Apache-2.0 */
/* lines.c - bands, lines and marks of a series; values that are not finite, or that a logarithmic
 * axis cannot show, leave a gap. Tests: tests/lab/test_plot_pictures.c */
#include "lines.h"

#include <math.h>

static const double line_width = 1.4, mark_radius = 2.6;

double plot_value_of(const double *value, size_t stride, size_t i) {
    return value[i * (stride ? stride : 1)];
}

typedef struct point {
    double x, y;
} point;

static point point_at(const plot_field *field, const plot_series *series, const double *y,
                      size_t i) {
    return (point){plot_side_at(&field->x, plot_value_of(series->x, series->stride, i)),
                   plot_side_at(&field->y, plot_value_of(y, series->stride, i))};
}

static bool is_drawable(point p) { return isfinite(p.x) && isfinite(p.y); }

static double held(double x, double low, double high) { return fmin(fmax(x, low), high); }

/* Far outside the data cairo's coordinates would overflow; a page beside it is far enough. */
static point held_near(const plot_field *field, point p) {
    const double away = 1e4;
    return (point){held(p.x, field->data.x - away, field->data.x + field->data.width + away),
                   held(p.y, field->data.y - away, field->data.y + field->data.height + away)};
}

static void clip_to(plot_canvas *canvas, plot_rect box) {
    cairo_rectangle(canvas->cr, box.x, box.y, box.width, box.height);
    cairo_clip(canvas->cr);
}

/* ---- bands ---- */

/* One edge of the band; what lies below a logarithmic axis is drawn at its end. */
static point edge_at(const plot_field *field, const plot_series *series, const double *edge,
                     size_t i) {
    point p = point_at(field, series, edge, i);
    if (plot_value_of(edge, series->stride, i) <= 0 && isnan(p.y)) p.y = field->y.from;
    return p;
}

static bool has_band(const plot_field *field, const plot_series *series, size_t i) {
    return is_drawable(edge_at(field, series, series->low, i)) &&
           is_drawable(edge_at(field, series, series->high, i));
}

static void edge_to(plot_canvas *canvas, const plot_field *field, const plot_series *series,
                    const double *edge, size_t i) {
    const point p = held_near(field, edge_at(field, series, edge, i));
    cairo_line_to(canvas->cr, p.x, p.y);
}

void plot_series_draw_band(plot_canvas *canvas, const plot_field *field,
                           const plot_series *series) {
    if (series->low == NULL || series->high == NULL) return;
    const plot_rgb rgb = plot_graphic_rgb(canvas->theme, series->color);
    cairo_save(canvas->cr);
    clip_to(canvas, field->data);
    cairo_set_source_rgba(canvas->cr, rgb.r, rgb.g, rgb.b, 0.16);
    for (size_t first = 0; first < series->n; first++) {
        size_t end = first;
        while (end < series->n && has_band(field, series, end)) end++;
        for (size_t i = first; i < end; i++) edge_to(canvas, field, series, series->high, i);
        for (size_t i = end; i > first; i--) edge_to(canvas, field, series, series->low, i - 1);
        cairo_close_path(canvas->cr);
        cairo_fill(canvas->cr);
        if (end > first) first = end;
    }
    cairo_restore(canvas->cr);
}

/* ---- lines and marks ---- */

static void set_dash(plot_canvas *canvas, plot_dash dash) {
    static const double dashed[] = {5, 2.5}, dotted[] = {1.2, 2.2};
    cairo_set_line_cap(canvas->cr, CAIRO_LINE_CAP_BUTT);
    cairo_set_line_join(canvas->cr, CAIRO_LINE_JOIN_ROUND);
    if (dash == PLOT_DASHED) cairo_set_dash(canvas->cr, dashed, 2, 0);
    if (dash == PLOT_DOTTED) cairo_set_dash(canvas->cr, dotted, 2, 0);
}

static void trace_polygon(cairo_t *cr, point centre, int corners, double turn, double radius) {
    for (int i = 0; i < corners; i++) {
        const double angle = turn + 2 * G_PI * i / corners;
        cairo_line_to(cr, centre.x + radius * sin(angle), centre.y - radius * cos(angle));
    }
    cairo_close_path(cr);
}

/* Filled, with a thin rim of paper so that marks stand out where lines cross. */
static void draw_mark(plot_canvas *canvas, point p, plot_mark mark, plot_rgb rgb) {
    cairo_t *cr = canvas->cr;
    cairo_new_path(cr);
    switch (mark) {
    case PLOT_SQUARE: trace_polygon(cr, p, 4, G_PI / 4, mark_radius * 1.3); break;
    case PLOT_TRIANGLE: trace_polygon(cr, p, 3, 0, mark_radius * 1.4); break;
    case PLOT_DIAMOND: trace_polygon(cr, p, 4, 0, mark_radius * 1.4); break;
    default: cairo_arc(cr, p.x, p.y, mark_radius, 0, 2 * G_PI); break;
    }
    plot_set_rgb(canvas, plot_paper(canvas->theme));
    cairo_set_line_width(cr, 1.2);
    cairo_set_line_join(cr, CAIRO_LINE_JOIN_MITER);
    cairo_stroke_preserve(cr);
    plot_set_rgb(canvas, rgb);
    cairo_fill(cr);
}

static void draw_line(plot_canvas *canvas, const plot_field *field, const plot_series *series) {
    bool is_on = false;
    cairo_save(canvas->cr);
    clip_to(canvas, plot_inset(field->data, 0, -line_width / 2, 0, -line_width / 2));
    set_dash(canvas, series->dash);
    cairo_set_line_width(canvas->cr, line_width);
    for (size_t i = 0; i < series->n; i++) {
        const point p = point_at(field, series, series->y, i);
        const point near = held_near(field, p);
        if (is_drawable(p) && is_on) cairo_line_to(canvas->cr, near.x, near.y);
        if (is_drawable(p) && !is_on) cairo_move_to(canvas->cr, near.x, near.y);
        is_on = is_drawable(p);
    }
    plot_set_rgb(canvas, plot_graphic_rgb(canvas->theme, series->color));
    cairo_stroke(canvas->cr);
    cairo_restore(canvas->cr);
}

static bool is_inside(plot_rect box, point p) {
    const double slack = 0.01;
    return p.x >= box.x - slack && p.x <= box.x + box.width + slack && p.y >= box.y - slack &&
           p.y <= box.y + box.height + slack;
}

/* A point between two gaps has no line to be seen by. */
static bool is_alone(const plot_field *field, const plot_series *series, size_t i) {
    const bool before = i > 0 && is_drawable(point_at(field, series, series->y, i - 1));
    const bool after = i + 1 < series->n && is_drawable(point_at(field, series, series->y, i + 1));
    return !before && !after;
}

/* Marks on a dense line keep a distance, so that the line is seen; without a line all are drawn. */
static void draw_marks(plot_canvas *canvas, const plot_field *field, const plot_series *series) {
    const double distance = series->dash == PLOT_NO_LINE ? 0 : 3 * mark_radius;
    point last = {-1e9, -1e9};
    for (size_t i = 0; i < series->n; i++) {
        const point p = point_at(field, series, series->y, i);
        if (!is_drawable(p) || !is_inside(field->data, p)) continue;
        if (series->mark == PLOT_NO_MARK && !is_alone(field, series, i)) continue;
        if (hypot(p.x - last.x, p.y - last.y) < distance) continue;
        draw_mark(canvas, p, series->mark, plot_graphic_rgb(canvas->theme, series->color));
        last = p;
    }
}

void plot_series_draw(plot_canvas *canvas, const plot_field *field, const plot_series *series) {
    if (series->dash != PLOT_NO_LINE) draw_line(canvas, field, series);
    draw_marks(canvas, field, series);
}

/* ---- what lies in a box ---- */

typedef struct extent {
    double low, high; /* y */
} extent;

/* The series between points i and j, at share t of the way. */
static extent extent_between(const plot_field *field, const plot_series *series, size_t i, size_t j,
                             double t) {
    const point a = point_at(field, series, series->y, i);
    const point b = point_at(field, series, series->y, j);
    extent e = {a.y + t * (b.y - a.y), a.y + t * (b.y - a.y)};
    if (series->low && series->high && has_band(field, series, i) && has_band(field, series, j)) {
        const point high0 = edge_at(field, series, series->high, i);
        const point high1 = edge_at(field, series, series->high, j);
        const point low0 = edge_at(field, series, series->low, i);
        const point low1 = edge_at(field, series, series->low, j);
        e.low = fmin(e.low, high0.y + t * (high1.y - high0.y)); /* y grows downwards */
        e.high = fmax(e.high, low0.y + t * (low1.y - low0.y));
    }
    return e;
}

static bool meets(plot_rect box, double x0, double x1, extent a, extent b) {
    return fmax(x0, x1) >= box.x && fmin(x0, x1) <= box.x + box.width &&
           fmax(a.high, b.high) >= box.y && fmin(a.low, b.low) <= box.y + box.height;
}

size_t plot_series_hits(const plot_field *field, const plot_series *series, plot_rect box) {
    const double margin = mark_radius + 1.5;
    const plot_rect wide = plot_inset(box, -margin, -margin, -margin, -margin);
    size_t hits = 0;
    for (size_t i = 0; i < series->n; i++) {
        const size_t j = i + 1 < series->n ? i + 1 : i;
        const point a = point_at(field, series, series->y, i);
        const point b = point_at(field, series, series->y, j);
        if (!is_drawable(a)) continue;
        if (!is_drawable(b) || series->dash == PLOT_NO_LINE) {
            hits += is_inside(wide, a);
            continue;
        }
        const int slices = fabs(b.x - a.x) > 8 ? 8 : 1;
        for (int k = 0; k < slices; k++) {
            const double t0 = (double)k / slices, t1 = (double)(k + 1) / slices;
            hits += meets(wide, a.x + t0 * (b.x - a.x), a.x + t1 * (b.x - a.x),
                          extent_between(field, series, i, j, t0),
                          extent_between(field, series, i, j, t1));
        }
    }
    return hits;
}

/* ---- samples ---- */

/* The series as its legend shows it: a short line from x, with a mark on its middle. */
static void draw_sample(plot_canvas *canvas, const plot_series *series, double x, double y,
                        double width) {
    const plot_rgb rgb = plot_graphic_rgb(canvas->theme, series->color);
    cairo_save(canvas->cr);
    plot_set_rgb(canvas, rgb);
    set_dash(canvas, series->dash);
    cairo_set_line_width(canvas->cr, line_width);
    cairo_move_to(canvas->cr, x, y);
    cairo_line_to(canvas->cr, x + width, y);
    if (series->dash != PLOT_NO_LINE) cairo_stroke(canvas->cr);
    cairo_restore(canvas->cr);
    if (series->mark != PLOT_NO_MARK) {
        draw_mark(canvas, (point){x + width / 2, y}, series->mark, rgb);
    }
}

/* Lines of paper over the colour: none, rising, falling, level, and so on. */
void plot_bar_fill(plot_canvas *canvas, plot_rect bar, plot_color color, size_t i) {
    const plot_rgb rgb = plot_graphic_rgb(canvas->theme, color);
    const plot_rgb paper = plot_paper(canvas->theme);
    const double pitch = 4, reach = bar.width + bar.height;
    cairo_save(canvas->cr);
    clip_to(canvas, bar);
    plot_set_rgb(canvas, rgb);
    cairo_paint(canvas->cr);
    cairo_set_source_rgba(canvas->cr, paper.r, paper.g, paper.b, 0.55);
    cairo_set_line_width(canvas->cr, 0.8);
    for (double at = pitch / 2; i % 4 != 0 && at < reach; at += pitch) {
        if (i % 4 == 1) cairo_move_to(canvas->cr, bar.x + at, bar.y);
        if (i % 4 == 1) cairo_rel_line_to(canvas->cr, -bar.height, bar.height);
        if (i % 4 == 2) cairo_move_to(canvas->cr, bar.x + bar.width - at, bar.y);
        if (i % 4 == 2) cairo_rel_line_to(canvas->cr, bar.height, bar.height);
        if (i % 4 == 3) cairo_move_to(canvas->cr, bar.x, bar.y + at);
        if (i % 4 == 3) cairo_rel_line_to(canvas->cr, bar.width, 0);
    }
    cairo_stroke(canvas->cr);
    cairo_restore(canvas->cr);
}

/* ---- legend ---- */

static const double sample_width = 20, sample_gap = 5, entry_gap = 14, padding = 5;

static size_t legend_length(const plot_legend *legend) { return legend->n_series + legend->n_bars; }

static const char *legend_name(const plot_legend *legend, size_t i) {
    if (i < legend->n_series) {
        const bool at_end = legend->ends_named && legend->series[i].named_at_end;
        return at_end ? NULL : legend->series[i].name;
    }
    return legend->bar[i - legend->n_series].name;
}

static plot_style legend_style(const plot_legend *legend) {
    return (plot_style){.size = legend->size};
}

static double row_height(const plot_legend *legend) { return 1.45 * legend->size; }

/* Width of entry i with its sample, a point more than measured so that rounding does not make it
 * wrap; 0 if it has no name. */
static double entry_width(plot_canvas *canvas, const plot_legend *legend, size_t i) {
    const plot_style style = legend_style(legend);
    if (legend_name(legend, i) == NULL) return 0;
    return sample_width + sample_gap + 1 +
           plot_measure(canvas, &style, legend_name(legend, i)).width;
}

static void draw_entry(plot_canvas *canvas, const plot_legend *legend, size_t i, plot_rect row) {
    const plot_style style = legend_style(legend);
    const double middle = row.y + row.height / 2, side = legend->size * 0.9;
    if (i < legend->n_series) {
        draw_sample(canvas, &legend->series[i], row.x, middle, sample_width);
    } else {
        const plot_rect sample = {row.x + sample_width - 1.6 * side, middle - side / 2, 1.6 * side,
                                  side};
        plot_bar_fill(canvas, sample, legend->bar[i - legend->n_series].color,
                      i - legend->n_series);
    }
    const plot_rect words = plot_inset(row, sample_width + sample_gap, 0, 0, 0);
    plot_text_middle(canvas, words, &style, legend_name(legend, i));
}

plot_size plot_legend_column(plot_canvas *canvas, const plot_legend *legend) {
    plot_size size = {0, 0};
    for (size_t i = 0; i < legend_length(legend); i++) {
        const double width = entry_width(canvas, legend, i);
        if (width == 0) continue;
        size.width = fmax(size.width, width + 2 * padding);
        size.height += row_height(legend);
    }
    if (size.height > 0) size.height += padding;
    return size;
}

void plot_legend_draw_column(plot_canvas *canvas, const plot_legend *legend, plot_rect box) {
    plot_set_rgb(canvas, plot_paper(canvas->theme));
    cairo_rectangle(canvas->cr, box.x, box.y, box.width, box.height);
    cairo_fill_preserve(canvas->cr);
    plot_set_rgb(canvas, plot_grid_rgb(canvas->theme));
    cairo_set_line_width(canvas->cr, 0.5);
    cairo_stroke(canvas->cr);
    double y = box.y + padding / 2;
    for (size_t i = 0; i < legend_length(legend); i++) {
        if (legend_name(legend, i) == NULL) continue;
        const plot_rect row = {box.x + padding, y, box.width - 2 * padding, row_height(legend)};
        draw_entry(canvas, legend, i, row);
        y += row.height;
    }
}

/* The end of the row that begins with entry `first`, and how wide it is. */
static size_t row_end(plot_canvas *canvas, const plot_legend *legend, size_t first, double limit,
                      double *width) {
    size_t i = first;
    *width = 0;
    for (; i < legend_length(legend); i++) {
        const double entry = entry_width(canvas, legend, i);
        if (entry == 0) continue;
        const double wider = *width > 0 ? *width + entry_gap + entry : entry;
        if (*width > 0 && wider > limit) break;
        *width = fmin(wider, limit);
    }
    return i;
}

double plot_legend_rows_height(plot_canvas *canvas, const plot_legend *legend, double width) {
    double height = 0, used;
    for (size_t i = 0; i < legend_length(legend);) {
        i = row_end(canvas, legend, i, width, &used);
        if (used > 0) height += row_height(legend);
    }
    return height;
}

void plot_legend_draw_rows(plot_canvas *canvas, const plot_legend *legend, plot_rect box) {
    double y = box.y, used;
    for (size_t first = 0; first < legend_length(legend);) {
        const size_t end = row_end(canvas, legend, first, box.width, &used);
        double x = box.x + fmax(box.width - used, 0) / 2;
        for (size_t i = first; i < end; i++) {
            const double width = fmin(entry_width(canvas, legend, i), box.width);
            if (width == 0) continue;
            draw_entry(canvas, legend, i, (plot_rect){x, y, width, row_height(legend)});
            x += width + entry_gap;
        }
        if (used > 0) y += row_height(legend);
        first = end;
    }
}
