/* SPDX-License-Identifier: Apache-2.0 */
/* formula.c - Attention(Q, K, V) = softmax(Q K^T / sqrt(d_k)) V as a book sets it: the quotient
 * built up, the root and the parentheses drawn to its height. Lengths are in units of the size of
 * type.
 * Touches: the canvas. Tests: tests/lab/test_plot_text.py */
#include "ink.h"

#include <math.h>

static const double script = 0.68, thickness = 0.045;

/* One run of letters with its left end at x, on the baseline y; where it ends. Nothing is drawn
 * where `ink` is false. */
typedef struct setter {
    plot_canvas *canvas;
    double size;
    bool ink;
} setter;

static double set_letters(const setter *pen, double x, double y, const char *markup, double scale) {
    PangoLayout *layout = pango_layout_new(pen->canvas->pango);
    PangoFontDescription *font =
        pango_font_description_from_string("STIX,STIXGeneral,STIX Two Text,serif");
    pango_font_description_set_size(font, (int)lround(pen->size * scale * PANGO_SCALE));
    pango_layout_set_font_description(layout, font);
    pango_layout_set_markup(layout, markup, -1);
    PangoRectangle box;
    pango_layout_get_extents(layout, NULL, &box);
    if (pen->ink) {
        plot_show_layout(pen->canvas, layout, x,
                         y - pango_layout_get_baseline(layout) / (double)PANGO_SCALE);
    }
    pango_font_description_free(font);
    g_object_unref(layout);
    return x + box.width / (double)PANGO_SCALE;
}

/* Q K^T from x on baseline y; where it ends. */
static double set_numerator(const setter *pen, double x, double y) {
    x = set_letters(pen, x, y, "<i>QK</i>", 1) + 0.06 * pen->size;
    return set_letters(pen, x, y - 0.38 * pen->size, "<i>T</i>", script);
}

static void draw_root(const setter *pen, double x, double y, double end) {
    const double em = pen->size;
    cairo_t *cr = pen->canvas->cr;
    cairo_move_to(cr, x, y - 0.28 * em);
    cairo_line_to(cr, x + 0.12 * em, y - 0.36 * em);
    cairo_line_to(cr, x + 0.3 * em, y + 0.16 * em);
    cairo_line_to(cr, x + 0.5 * em, y - 0.82 * em);
    cairo_line_to(cr, end, y - 0.82 * em);
    cairo_set_line_width(cr, thickness * em);
    cairo_stroke(cr);
}

/* The root of d_k from x on baseline y; where it ends. */
static double set_denominator(const setter *pen, double x, double y) {
    const double em = pen->size;
    double end = set_letters(pen, x + 0.54 * em, y, "<i>d</i>", 1) + 0.02 * em;
    end = set_letters(pen, end, y + 0.18 * em, "<i>k</i>", script) + 0.06 * em;
    if (pen->ink) draw_root(pen, x, y, end);
    return end;
}

/* A parenthesis from top to bottom: two arcs, thicker in the middle. side +1: opening, -1. */
static void draw_parenthesis(const setter *pen, double x, double top, double bottom, double side) {
    const double em = pen->size, third = (bottom - top) / 3, bulge = 0.34 * em * side;
    const double inner = bulge - 0.09 * em * side;
    cairo_t *cr = pen->canvas->cr;
    if (!pen->ink) return;
    cairo_move_to(cr, x + bulge, top);
    cairo_curve_to(cr, x - bulge / 4, top + third, x - bulge / 4, bottom - third, x + bulge,
                   bottom);
    cairo_curve_to(cr, x + bulge - inner, bottom - third, x + bulge - inner, top + third, x + bulge,
                   top);
    cairo_fill(cr);
}

/* The whole formula from x, the axis of the fraction at y; where it ends. */
static double set_formula(const setter *pen, double x, double y) {
    const double em = pen->size, base = y + 0.25 * em, gap = 0.1 * em;
    const setter measure = {pen->canvas, em, false};
    const double top = y - 1.3 * em, bottom = y + 1.45 * em;
    const double upper = set_numerator(&measure, 0, 0), lower = set_denominator(&measure, 0, 0);
    const double bar = fmax(upper, lower) + 2 * gap;

    x = set_letters(pen, x, base, "Attention(<i>Q</i>, <i>K</i>, <i>V</i>) = softmax", 1);
    x += 0.12 * em;
    draw_parenthesis(pen, x, top, bottom, 1);
    x += 0.38 * em + gap;
    set_numerator(pen, x + (bar - upper) / 2, y - 0.38 * em);
    set_denominator(pen, x + (bar - lower) / 2, y + 1.08 * em);
    if (pen->ink) {
        cairo_rectangle(pen->canvas->cr, x, y - thickness * em / 2, bar, thickness * em);
        cairo_fill(pen->canvas->cr);
    }
    x += bar + gap + 0.38 * em;
    draw_parenthesis(pen, x, top, bottom, -1);
    return set_letters(pen, x + 0.16 * em, base, "<i>V</i>", 1) + 0.05 * em;
}

void plot_formula(plot_canvas *canvas, plot_rect area, double size) {
    const double height = 2.8; /* sizes of type */
    setter pen = {canvas, fmin(size, area.height / height), false};
    const double width = 1.06 * set_formula(&pen, 0, 0);
    if (width > area.width) pen.size *= area.width / width;
    if (!(pen.size >= 1)) return;
    const double set_width = set_formula(&pen, 0, 0);
    pen.ink = true;
    plot_set_rgb(canvas, plot_text_rgb(canvas->theme, PLOT_INK));
    set_formula(&pen, area.x + (area.width - set_width) / 2,
                area.y + area.height / 2 - 0.075 * pen.size);
}
