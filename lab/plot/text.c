/* SPDX-License-Identifier: Apache-2.0 */
/* text.c - words on paper: measured first, wrapped to a width, shrunk to a height. All text is
 * Pango markup; what does not parse as markup is drawn as it is. Touches: the canvas. Tests:
 * tests/lab/test_plot_text.py */
#include "ink.h"

#include <math.h>
#include <string.h>

static const double smallest = 2.5; /* points; below that nothing is drawn */

static void set_words(PangoLayout *layout, const char *text) {
    if (pango_parse_markup(text, -1, 0, NULL, NULL, NULL, NULL)) {
        pango_layout_set_markup(layout, text, -1);
    } else {
        pango_layout_set_text(layout, text, -1);
    }
}

/* Figures of equal width, so that columns of numbers stand straight. */
static void set_figures(PangoLayout *layout) {
    PangoAttrList *list = pango_layout_get_attributes(layout);
    list = list ? pango_attr_list_copy(list) : pango_attr_list_new();
    pango_attr_list_insert_before(list, pango_attr_font_features_new("tnum=1"));
    pango_layout_set_attributes(layout, list);
    pango_attr_list_unref(list);
}

/* Distance of lines as a multiple of the size, whatever the font's own line height is. */
static void set_spacing(PangoLayout *layout, const PangoFontDescription *font,
                        const plot_style *style, double size) {
    PangoFontMetrics *metrics =
        pango_context_get_metrics(pango_layout_get_context(layout), font, NULL);
    const double height = pango_font_metrics_get_height(metrics) / (double)PANGO_SCALE;
    const double wanted = size * (style->spacing > 0 ? style->spacing : 1.35);
    if (height > 0) pango_layout_set_line_spacing(layout, (float)(wanted / height));
    pango_font_metrics_unref(metrics);
}

/* width < 0: one line however long. Sizes are cut to tenths, because every other one would stay in
 * the cache of fonts. */
static PangoLayout *lay_out(plot_canvas *canvas, const plot_style *style, const char *text,
                            double size, double width) {
    static const PangoAlignment align[] = {PANGO_ALIGN_LEFT, PANGO_ALIGN_CENTER, PANGO_ALIGN_RIGHT};
    PangoLayout *layout = pango_layout_new(canvas->pango);
    PangoFontDescription *font = pango_font_description_from_string(
        style->mono ? "DejaVu Sans Mono,monospace" : "Inter,sans-serif");
    pango_font_description_set_size(font, (int)lround(floor(size * 10) / 10 * PANGO_SCALE));
    if (style->bold) pango_font_description_set_weight(font, PANGO_WEIGHT_BOLD);
    if (style->italic) pango_font_description_set_style(font, PANGO_STYLE_ITALIC);
    pango_layout_set_font_description(layout, font);
    pango_layout_set_wrap(layout, PANGO_WRAP_WORD);
    pango_layout_set_alignment(layout, align[style->align]);
    if (width >= 0) pango_layout_set_width(layout, (int)ceil(width * PANGO_SCALE));
    set_spacing(layout, font, style, size);
    set_words(layout, text);
    set_figures(layout);
    pango_font_description_free(font);
    return layout;
}

/* What the text covers: ink and line boxes together, from the origin of the layout. */
static plot_rect extents(PangoLayout *layout) {
    PangoRectangle ink, box;
    pango_layout_get_extents(layout, &ink, &box);
    const double unit = PANGO_SCALE;
    const double left = fmin(ink.x, box.x) / unit, top = fmin(ink.y, box.y) / unit;
    const double right = fmax(ink.x + ink.width, box.x + box.width) / unit;
    const double bottom = fmax(ink.y + ink.height, box.y + box.height) / unit;
    return (plot_rect){left, top, right - left, bottom - top};
}

static bool fits(plot_rect box, double width, double height) {
    const double rounding = 0.02;
    return box.width <= width + rounding && box.height <= height + rounding;
}

/* How far to move a layout so that slanted letters do not hang out of its width. */
static double shift(plot_rect box, double width) {
    return box.x < 0 ? -box.x : fmin(width - box.x - box.width, 0);
}

/* The largest setting of text that fits area: first only smaller, then, when that would be tiny,
 * words broken anywhere. NULL if nothing readable fits. */
static PangoLayout *fit(plot_canvas *canvas, plot_rect area, const plot_style *style,
                        const char *text) {
    for (int broken = 0; broken < 2; broken++) {
        const double least = broken ? smallest : fmax(smallest, 0.7 * style->size);
        for (double size = style->size; size >= least; size *= 0.96) {
            PangoLayout *layout = lay_out(canvas, style, text, size, area.width);
            if (broken) pango_layout_set_wrap(layout, PANGO_WRAP_WORD_CHAR);
            if (fits(extents(layout), area.width, area.height)) return layout;
            g_object_unref(layout);
        }
    }
    return NULL;
}

/* Into a PNG as outlines: cairo would move each letter to a whole pixel and spoil its spacing. */
void plot_show_layout(plot_canvas *canvas, PangoLayout *layout, double x, double y) {
    cairo_move_to(canvas->cr, x, y);
    if (canvas->format != PLOT_PNG) {
        pango_cairo_show_layout(canvas->cr, layout);
        return;
    }
    pango_cairo_layout_path(canvas->cr, layout);
    cairo_fill(canvas->cr);
}

static void show(plot_canvas *canvas, PangoLayout *layout, double x, double y, plot_rgb color) {
    plot_set_rgb(canvas, color);
    plot_show_layout(canvas, layout, x, y);
}

/* In area, `drop` (0 top, 0.5 middle) of the free height above it; the height used. */
static double text_at(plot_canvas *canvas, plot_rect area, const plot_style *style,
                      const char *text, double drop) {
    PangoLayout *layout = fit(canvas, area, style, text);
    if (layout == NULL) return 0;
    const plot_rect box = extents(layout);
    show(canvas, layout, area.x + shift(box, area.width),
         area.y - box.y + drop * fmax(area.height - box.height, 0),
         plot_text_rgb(canvas->theme, style->color));
    g_object_unref(layout);
    return box.height;
}

double plot_text(plot_canvas *canvas, plot_rect area, const plot_style *style, const char *markup) {
    return text_at(canvas, area, style, markup, 0);
}

double plot_text_height(plot_canvas *canvas, double width, const plot_style *style,
                        const char *markup) {
    PangoLayout *layout = lay_out(canvas, style, markup, style->size, width);
    pango_layout_set_wrap(layout, PANGO_WRAP_WORD_CHAR);
    const double height = extents(layout).height;
    g_object_unref(layout);
    return height;
}

void plot_text_middle(plot_canvas *canvas, plot_rect area, const plot_style *style,
                      const char *text) {
    text_at(canvas, area, style, text, 0.5);
}

void plot_text_upwards(plot_canvas *canvas, plot_rect area, const plot_style *style,
                       const char *text) {
    cairo_save(canvas->cr);
    cairo_translate(canvas->cr, area.x, area.y + area.height);
    cairo_rotate(canvas->cr, -G_PI / 2);
    plot_text_middle(canvas, (plot_rect){0, 0, area.height, area.width}, style, text);
    cairo_restore(canvas->cr);
}

plot_size plot_measure(plot_canvas *canvas, const plot_style *style, const char *text) {
    PangoLayout *layout = lay_out(canvas, style, text, style->size, -1);
    const plot_rect box = extents(layout);
    g_object_unref(layout);
    return (plot_size){box.width, box.height};
}

typedef struct layout_origin {
    double x, y;
} layout_origin;

/* The origin of a layout whose left, middle or right is to be at x, its middle at y. */
static layout_origin place(PangoLayout *layout, double x, double y, plot_align align) {
    const plot_rect box = extents(layout);
    const double share = align == PLOT_LEFT ? 0 : align == PLOT_CENTER ? 0.5 : 1;
    return (layout_origin){x - box.x - share * box.width, y - box.y - box.height / 2};
}

void plot_label_rgb(plot_canvas *canvas, double x, double y, const plot_style *style,
                    const char *text, plot_rgb color) {
    PangoLayout *layout = lay_out(canvas, style, text, style->size, -1);
    const layout_origin origin = place(layout, x, y, style->align);
    show(canvas, layout, origin.x, origin.y, color);
    g_object_unref(layout);
}

void plot_label(plot_canvas *canvas, double x, double y, const plot_style *style,
                const char *text) {
    plot_label_rgb(canvas, x, y, style, text, plot_text_rgb(canvas->theme, style->color));
}

void plot_label_over(plot_canvas *canvas, double x, double y, const plot_style *style,
                     const char *text) {
    PangoLayout *layout = lay_out(canvas, style, text, style->size, -1);
    const layout_origin origin = place(layout, x, y, style->align);
    cairo_move_to(canvas->cr, origin.x, origin.y);
    pango_cairo_layout_path(canvas->cr, layout);
    plot_set_rgb(canvas, plot_paper(canvas->theme));
    cairo_set_line_width(canvas->cr, 2.5);
    cairo_set_line_join(canvas->cr, CAIRO_LINE_JOIN_ROUND);
    cairo_stroke(canvas->cr);
    show(canvas, layout, origin.x, origin.y, plot_text_rgb(canvas->theme, style->color));
    g_object_unref(layout);
}

/* ---- what pictures have in common ---- */

plot_words plot_number(const char *format, double value) {
    char plain[36];
    plot_words words;
    snprintf(plain, sizeof plain, format, value);
    const bool is_negative = plain[0] == '-';
    const char *digits = plain + is_negative;
    const bool is_zero = strpbrk(digits, "123456789naif") == NULL;
    snprintf(words.c, sizeof words.c, "%s%s", is_negative && !is_zero ? "−" : "", digits);
    return words;
}

plot_type plot_type_for(plot_rect area) {
    if (area.width >= 230 && area.height >= 170) return (plot_type){11, 9, 8};
    if (area.width >= 120 && area.height >= 100) return (plot_type){9.5, 8, 7};
    return (plot_type){8, 7, 6};
}

bool plot_is_cramped(plot_rect area) { return area.width < 110 || area.height < 100; }

double plot_label_height(plot_canvas *canvas, double width, const plot_style *style,
                         const char *text) {
    if (text == NULL || text[0] == 0) return 0;
    const double one = plot_measure(canvas, style, "x").height;
    return fmin(plot_text_height(canvas, width, style, text), 2.2 * one);
}

double plot_name_size(double size, double width, double slot) {
    const double air = 5, least = 0.75;
    const double share = fmin((slot - air) / fmax(width, 1e-9), 1);
    return share >= least ? share * size : 0;
}

static const double title_gap = 5;

double plot_title_height(plot_canvas *canvas, plot_rect area, const plot_style *style,
                         const char *title) {
    const double height = plot_label_height(canvas, area.width, style, title);
    return height == 0 || height > area.height / 3 ? 0 : height + title_gap;
}

plot_rect plot_title(plot_canvas *canvas, plot_rect area, const plot_style *style,
                     const char *title) {
    const double height = plot_title_height(canvas, area, style, title);
    if (height == 0) return area;
    plot_text(canvas, (plot_rect){area.x, area.y, area.width, height - title_gap}, style, title);
    return plot_inset(area, 0, height, 0, 0);
}
