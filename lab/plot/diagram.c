/* SPDX-License-Identifier: Apache-2.0 */
/* diagram.c - see diagram.h. Touches: the canvas. */
#include "plot/diagram.h"

#include "ink.h"

#include <math.h>

static const double tint = 0.16;

void plot_arrow(plot_canvas *canvas, double x0, double y0, double x1, double y1, plot_color color,
                double width) {
    const double length = hypot(x1 - x0, y1 - y0), head = fmin(3.2 + 2 * width, length);
    if (!(length > 0)) return;
    const double ux = (x1 - x0) / length, uy = (y1 - y0) / length, half = 0.42 * head;
    const double bx = x1 - head * ux, by = y1 - head * uy;
    plot_line(canvas, x0, y0, bx + 0.3 * head * ux, by + 0.3 * head * uy, color, width);
    cairo_move_to(canvas->cr, x1, y1);
    cairo_line_to(canvas->cr, bx - half * uy, by + half * ux);
    cairo_line_to(canvas->cr, bx + half * uy, by - half * ux);
    cairo_close_path(canvas->cr);
    cairo_fill(canvas->cr);
}

static void trace_pill(cairo_t *cr, plot_rect r, double corner) {
    const double right = r.x + r.width, bottom = r.y + r.height;
    cairo_new_sub_path(cr);
    cairo_arc(cr, right - corner, r.y + corner, corner, -G_PI / 2, 0);
    cairo_arc(cr, right - corner, bottom - corner, corner, 0, G_PI / 2);
    cairo_arc(cr, r.x + corner, bottom - corner, corner, G_PI / 2, G_PI);
    cairo_arc(cr, r.x + corner, r.y + corner, corner, G_PI, 1.5 * G_PI);
    cairo_close_path(cr);
}

void plot_pill(plot_canvas *canvas, plot_rect area, plot_color border, plot_dash dash) {
    static const double dashes[] = {3, 2.5};
    const plot_rgb rgb = plot_graphic_rgb(canvas->theme, border);
    cairo_save(canvas->cr);
    trace_pill(canvas->cr, plot_inset(area, 0.5, 0.5, 0.5, 0.5), fmin(6, area.height / 2 - 0.5));
    plot_set_rgb(canvas, plot_blend(plot_paper(canvas->theme), rgb, tint / 2));
    cairo_fill_preserve(canvas->cr);
    plot_set_rgb(canvas, rgb);
    cairo_set_line_width(canvas->cr, 0.9);
    if (dash != PLOT_SOLID) cairo_set_dash(canvas->cr, dashes, 2, 0);
    cairo_stroke(canvas->cr);
    cairo_restore(canvas->cr);
}

void plot_region(plot_canvas *canvas, plot_rect area, plot_color color) {
    const plot_rgb rgb = plot_graphic_rgb(canvas->theme, color);
    if (!(area.width > 0 && area.height > 0)) return;
    cairo_save(canvas->cr);
    cairo_translate(canvas->cr, area.x + area.width / 2, area.y + area.height / 2);
    cairo_scale(canvas->cr, area.width / 2, area.height / 2);
    cairo_arc(canvas->cr, 0, 0, 1, 0, 2 * G_PI);
    cairo_restore(canvas->cr);
    plot_set_rgb(canvas, plot_blend(plot_paper(canvas->theme), rgb, tint));
    cairo_fill(canvas->cr);
}

void plot_dot(plot_canvas *canvas, double x, double y, double radius, plot_color color) {
    plot_set_rgb(canvas, plot_graphic_rgb(canvas->theme, color));
    cairo_new_sub_path(canvas->cr);
    cairo_arc(canvas->cr, x, y, radius, 0, 2 * G_PI);
    cairo_fill(canvas->cr);
}

void plot_badge(plot_canvas *canvas, double x, double y, double radius, plot_color color,
                const char *letter) {
    const plot_style style = {.size = 1.3 * radius, .bold = true, .align = PLOT_CENTER};
    const plot_rgb ground = plot_graphic_rgb(canvas->theme, color);
    plot_dot(canvas, x, y, radius, color);
    plot_label_rgb(canvas, x, y, &style, letter, plot_numeral_rgb(ground));
}

void plot_word(plot_canvas *canvas, double x, double y, const plot_style *style,
               const char *markup) {
    plot_label(canvas, x, y, style, markup);
}

void plot_icon_draw(plot_canvas *canvas, plot_rect area, const plot_icon *icon) {
    const double width = area.width / (double)icon->columns,
                 height = area.height / (double)icon->rows, gap = 0.5;
    for (size_t i = 0; i < icon->rows * icon->columns; i++) {
        const double share = icon->cell[i] / icon->limit;
        const size_t row = i / icon->columns, column = i % icon->columns;
        plot_set_rgb(canvas, plot_map_rgb(canvas->theme, icon->map,
                                          icon->map == PLOT_SIGNED ? (share + 1) / 2 : share));
        cairo_rectangle(canvas->cr, area.x + (double)column * width, area.y + (double)row * height,
                        width - gap, height - gap);
        cairo_fill(canvas->cr);
    }
}

/* Runs of neighbours become one rectangle, all rectangles one shape: a small file. */
static void trace_set(cairo_t *cr, plot_rect area, size_t n, const double *cell) {
    const double side = area.width / (double)n;
    for (size_t row = 0; row < n; row++) {
        for (size_t j = 0, end; j < n; j = end + 1) {
            for (end = j; end < n && cell[row * n + end] > 0; end++) {}
            if (end == j) continue;
            cairo_rectangle(cr, area.x + (double)j * side, area.y + (double)row * side,
                            (double)(end - j) * side, side);
        }
    }
}

void plot_set_draw(plot_canvas *canvas, plot_rect area, size_t n, const double *cell,
                   plot_color color) {
    const double side = area.width / (double)n;
    trace_set(canvas->cr, area, n, cell);
    plot_set_rgb(canvas, plot_graphic_rgb(canvas->theme, color));
    cairo_fill(canvas->cr);
    for (size_t i = 0; i <= n; i++) {
        const double at = (double)i * side;
        cairo_move_to(canvas->cr, area.x + at, area.y);
        cairo_rel_line_to(canvas->cr, 0, area.width);
        cairo_move_to(canvas->cr, area.x, area.y + at);
        cairo_rel_line_to(canvas->cr, area.width, 0);
    }
    plot_set_rgb(canvas, plot_grid_rgb(canvas->theme));
    cairo_set_line_width(canvas->cr, 0.5);
    cairo_stroke(canvas->cr);
}
