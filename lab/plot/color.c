/* SPDX-License-Identifier: Apache-2.0 */
/* color.c - the palette (after Okabe and Ito, safe for colour-blind readers), moved towards black
 * or white until it stands out from the paper, and the two colour scales of heatmaps.
 * Touches: nothing. Tests: tests/lab/test_plot_color.c */
#include "ink.h"

#include "core/base.h"

#include <math.h>

static plot_rgb rgb_of(unsigned hex) {
    return (plot_rgb){(double)(hex >> 16 & 255) / 255, (double)(hex >> 8 & 255) / 255,
                      (double)(hex & 255) / 255};
}

plot_rgb plot_paper(plot_theme theme) { return rgb_of(theme == PLOT_DARK ? 0x16181c : 0xffffff); }

plot_rgb plot_blend(plot_rgb from, plot_rgb to, double share) {
    return (plot_rgb){from.r + share * (to.r - from.r), from.g + share * (to.g - from.g),
                      from.b + share * (to.b - from.b)};
}

static double linear_light(double channel) {
    return channel <= 0.04045 ? channel / 12.92 : pow((channel + 0.055) / 1.055, 2.4);
}

/* Relative luminance and contrast as WCAG 2 defines them. */
double plot_luminance(plot_rgb color) {
    return 0.2126 * linear_light(color.r) + 0.7152 * linear_light(color.g) +
           0.0722 * linear_light(color.b);
}

double plot_contrast(plot_rgb a, plot_rgb b) {
    const double la = plot_luminance(a), lb = plot_luminance(b);
    return (fmax(la, lb) + 0.05) / (fmin(la, lb) + 0.05);
}

static plot_rgb readable(plot_rgb color, plot_theme theme, double contrast) {
    const plot_rgb paper = plot_paper(theme);
    const plot_rgb far = theme == PLOT_DARK ? (plot_rgb){1, 1, 1} : (plot_rgb){0, 0, 0};
    double share = 0;
    while (share < 1 && plot_contrast(plot_blend(color, far, share), paper) < contrast) {
        share += 1.0 / 64;
    }
    return plot_blend(color, far, share);
}

static plot_rgb base_rgb(plot_theme theme, plot_color color) {
    static const unsigned light[PLOT_COLORS] = {0x1a1a1a, 0x666666, 0x0072b2, 0xd55e00, 0x009e73,
                                                0xe69f00, 0xcc79a7, 0x56b4e9, 0x000000};
    static const unsigned dark[PLOT_COLORS] = {0xe8e6e3, 0x9a9a9a, 0x3d9bdc, 0xf0743a, 0x1dbf8e,
                                               0xf0b429, 0xdb8fba, 0x8accf2, 0xffffff};
    attni_assert(color < PLOT_COLORS);
    return rgb_of(theme == PLOT_DARK ? dark[color] : light[color]);
}

plot_rgb plot_graphic_rgb(plot_theme theme, plot_color color) {
    return readable(base_rgb(theme, color), theme, 3);
}

plot_rgb plot_text_rgb(plot_theme theme, plot_color color) {
    return readable(base_rgb(theme, color), theme, 4.5);
}

plot_rgb plot_grid_rgb(plot_theme theme) {
    return rgb_of(theme == PLOT_DARK ? 0x33363c : 0xe4e4e4);
}

plot_rgb plot_hatch_rgb(plot_theme theme) {
    return rgb_of(theme == PLOT_DARK ? 0x8a7f96 : 0xaaa6b0);
}

/* Between equally spaced control points, straight in sRGB. */
static plot_rgb between(const unsigned *point, size_t n, double share) {
    const double at = fmin(fmax(share, 0), 1) * (double)(n - 1);
    const size_t i = at >= (double)(n - 1) ? n - 2 : (size_t)at;
    return plot_blend(rgb_of(point[i]), rgb_of(point[i + 1]), at - (double)i);
}

/* Zero is the paper's side of the scale: near white in print, near black on a dark screen. */
plot_rgb plot_map_rgb(plot_theme theme, plot_map map, double share) {
    static const unsigned cividis[] = {0x00224e, 0x123570, 0x3b496c, 0x575d6d, 0x707173,
                                       0x8a8678, 0xa59c74, 0xc3b369, 0xe1cc55, 0xfee838};
    static const unsigned light[] = {0x8a4200, 0xd9761a, 0xf5c48e, 0xf5f4f1,
                                     0xa9cfe8, 0x3b8bc4, 0x0b4a84};
    static const unsigned dark[] = {0xffc98a, 0xd9822b, 0x7a4a18, 0x262626,
                                    0x1c4a70, 0x2f86c6, 0x9ad6ff};
    if (map == PLOT_CIVIDIS) return between(cividis, sizeof cividis / sizeof *cividis, share);
    return between(theme == PLOT_DARK ? dark : light, sizeof light / sizeof *light, share);
}

plot_rgb plot_numeral_rgb(plot_rgb ground) {
    /* not the colours of the paper or of ink, which change with the theme (embed.c) */
    const plot_rgb black = {0.004, 0.004, 0.004}, white = {0.996, 0.996, 0.996};
    return plot_contrast(ground, black) >= plot_contrast(ground, white) ? black : white;
}

void plot_set_rgb(plot_canvas *canvas, plot_rgb color) {
    cairo_set_source_rgb(canvas->cr, color.r, color.g, color.b);
}
