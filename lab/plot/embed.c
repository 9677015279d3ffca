/* SPDX-License-Identifier: Apache-2.0 */
/* embed.c - an SVG as part of an HTML page: ids of its own, coordinates to a hundredth, and colours
 * as CSS variables, so that one drawing serves a light and a dark page.
 * Touches: nothing. Tests: tests/lab/test_plot.c, tests/cli/test_report.py */
#include "ink.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- colours of the theme ---- */

enum { PAPER, GRID, HATCH, FIRST_GRAPHIC, FIRST_TEXT = FIRST_GRAPHIC + PLOT_COLORS };
enum { VARIABLES = FIRST_TEXT + PLOT_COLORS };

static plot_rgb variable_rgb(plot_theme theme, int i) {
    if (i == PAPER) return plot_paper(theme);
    if (i == GRID) return plot_grid_rgb(theme);
    if (i == HATCH) return plot_hatch_rgb(theme);
    if (i < FIRST_TEXT) return plot_graphic_rgb(theme, (plot_color)(i - FIRST_GRAPHIC));
    return plot_text_rgb(theme, (plot_color)(i - FIRST_TEXT));
}

static void append_hex(GString *text, plot_rgb rgb) {
    g_string_append_printf(text, "#%02x%02x%02x", (unsigned)lround(255 * rgb.r),
                           (unsigned)lround(255 * rgb.g), (unsigned)lround(255 * rgb.b));
}

char *plot_embed_colors(plot_theme theme) {
    GString *text = g_string_new(NULL);
    for (int i = 0; i < VARIABLES; i++) {
        g_string_append_printf(text, "--p%d:", i);
        append_hex(text, variable_rgb(theme, i));
        g_string_append_c(text, ';');
    }
    char *copy = strdup(text->str);
    g_string_free(text, TRUE);
    return copy;
}

static bool is_near(plot_rgb a, plot_rgb b) {
    const double rounding = 1e-5; /* of the percents that cairo writes */
    return fabs(a.r - b.r) < rounding && fabs(a.g - b.g) < rounding && fabs(a.b - b.b) < rounding;
}

static double channel(const GMatchInfo *match, int i) {
    char *digits = g_match_info_fetch(match, i);
    const double value = g_ascii_strtod(digits, NULL) / 100;
    g_free(digits);
    return value;
}

static gboolean replace_color(const GMatchInfo *match, GString *text, gpointer unused) {
    (void)unused;
    const plot_rgb rgb = {channel(match, 1), channel(match, 2), channel(match, 3)};
    for (int i = 0; i < VARIABLES; i++) {
        if (!is_near(rgb, variable_rgb(PLOT_LIGHT, i))) continue;
        g_string_append_printf(text, "var(--p%d)", i);
        return FALSE;
    }
    append_hex(text, rgb);
    return FALSE;
}

static char *with_variables(const char *svg) {
    GRegex *color =
        g_regex_new("rgb\\(([0-9.]+)%,([0-9.]+)%,([0-9.]+)%\\)", G_REGEX_OPTIMIZE, 0, NULL);
    char *text = g_regex_replace_eval(color, svg, -1, 0, 0, replace_color, NULL, NULL);
    g_regex_unref(color);
    return text;
}

/* ---- the whole ---- */

static char *replaced(char *text, const char *pattern, const char *with) {
    GRegex *regex = g_regex_new(pattern, G_REGEX_OPTIMIZE, 0, NULL);
    char *next = g_regex_replace(regex, text, -1, 0, with, 0, NULL);
    g_regex_unref(regex);
    g_free(text);
    return next;
}

char *plot_embed_svg(const char *svg, const char *name, const char *attributes) {
    const char *begin = strstr(svg, "<svg");
    char *text = with_variables(begin ? begin : svg);
    char *id = g_strdup_printf("id=\"%s-\\1\"", name);
    char *href = g_strdup_printf("href=\"#%s-", name), *url = g_strdup_printf("url(#%s-", name);
    char *root = g_strdup_printf("<svg %s \\1>", attributes);
    text = replaced(text, "(\\d\\.\\d\\d)\\d+", "\\1");
    text = replaced(text, "id=\"([^\"]+)\"", id);
    text = replaced(text, "xlink:href=\"#", href);
    text = replaced(text, "url\\(#", url);
    text = replaced(text, "<svg [^>]*(viewBox=\"[^\"]*\")[^>]*>", root);
    char *copy = strdup(text);
    g_free(text);
    g_free(id);
    g_free(href);
    g_free(url);
    g_free(root);
    return copy;
}
