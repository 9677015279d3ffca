/* SPDX-License-Identifier: Apache-2.0 */
/* line_names.c - names of lines where the lines end: in a column right of the data, moved apart and
 * tied to their ends by thin lines, or inside the data where a line leaves it early.
 * Touches: the canvas. Tests: tests/lab/test_plot_pictures.c, test_plot_text.py */
#include "lines.h"

#include <math.h>

enum { MAX_NAMES = 16 };

static const double lead = 12; /* length of the thin lines */

typedef struct ending {
    const plot_series *series;
    double x, y;  /* the last point that is seen */
    double label; /* middle of the name, from top to bottom */
} ending;

static bool is_named(const plot_series *series) { return series->named_at_end && series->name; }

static plot_style style_of(const plot_series *series, double size) {
    return (plot_style){.size = size, .color = series->color};
}

double plot_line_names_width(plot_canvas *canvas, const plot_chart *chart, double size) {
    double width = 0;
    for (size_t i = 0; i < chart->n_series; i++) {
        if (!is_named(&chart->series[i])) continue;
        const plot_style style = style_of(&chart->series[i], size);
        width = fmax(width, lead + 2 + plot_measure(canvas, &style, chart->series[i].name).width);
    }
    return width;
}

/* False if no point of the series is seen. */
static bool find_ending(const plot_field *field, const plot_series *series, ending *end) {
    const plot_rect data = field->data;
    for (size_t i = series->n; i > 0; i--) {
        const double x = plot_side_at(&field->x, plot_value_of(series->x, series->stride, i - 1));
        const double y = plot_side_at(&field->y, plot_value_of(series->y, series->stride, i - 1));
        if (!(x >= data.x && x <= data.x + data.width)) continue;
        if (!(y >= data.y - 0.01 && y <= data.y + data.height + 0.01)) continue;
        *end = (ending){series, x, y, y};
        return true;
    }
    return false;
}

/* Where the last points of lines that are seen to their end lie. */
static bool ends_at_edge(const plot_field *field, const ending *end) {
    return end->x >= fmax(field->x.from, field->x.to) - 0.02 * field->data.width;
}

/* ---- beside the data ---- */

static void sort_downwards(ending *end, size_t n) {
    for (size_t i = 1; i < n; i++) {
        const ending moved = end[i];
        size_t j = i;
        for (; j > 0 && end[j - 1].y > moved.y; j--) end[j] = end[j - 1];
        end[j] = moved;
    }
}

/* Moves labels downwards until they stand apart, then upwards from the lower edge. */
static void move_apart(ending *end, size_t n, double distance, plot_rect data) {
    double lowest = data.y + data.height;
    for (size_t i = 1; i < n; i++) end[i].label = fmax(end[i].y, end[i - 1].label + distance);
    for (size_t i = n; i > 0; i--) {
        end[i - 1].label = fmin(end[i - 1].label, lowest);
        lowest = end[i - 1].label - distance;
    }
}

static void draw_beside(plot_canvas *canvas, const plot_field *field, const ending *end,
                        double size) {
    const plot_style style = style_of(end->series, size);
    const double x = field->data.x + field->data.width;
    plot_line(canvas, end->x + 3, end->y, x + 1, end->y, end->series->color, 0.5);
    plot_line(canvas, x + 1, end->y, x + lead - 2, end->label, end->series->color, 0.5);
    plot_label(canvas, x + lead, end->label, &style, end->series->name);
}

/* ---- inside the data ---- */

/* Left or right of the end, a little above it or level with it: where fewest lines are. */
static void draw_inside(plot_canvas *canvas, const plot_field *field, const plot_chart *chart,
                        const ending *end, double size) {
    const plot_style style = style_of(end->series, size);
    const plot_size need = plot_measure(canvas, &style, end->series->name);
    const double bottom = field->data.y + field->data.height - need.height - 1;
    plot_rect best = {.width = 0};
    size_t least = SIZE_MAX;
    for (int i = 0; i < 8; i++) {
        const double away = 4 + 5 * (double)(i / 2);
        const double x = i % 2 == 0 ? end->x - away - need.width : end->x + away;
        const plot_rect box = {x, fmin(end->y - need.height / 2, bottom), need.width, need.height};
        size_t hits = 0;
        if (box.x < field->data.x) continue;
        for (size_t s = 0; s < chart->n_series; s++) {
            hits += plot_series_hits(field, &chart->series[s], box);
        }
        if (hits >= least) continue;
        least = hits;
        best = box;
    }
    if (best.width == 0) return;
    plot_label_over(canvas, best.x, best.y + best.height / 2, &style, end->series->name);
}

void plot_line_names_draw(plot_canvas *canvas, const plot_field *field, const plot_chart *chart,
                          double size) {
    ending beside[MAX_NAMES], end;
    size_t n = 0;
    for (size_t i = 0; i < chart->n_series; i++) {
        if (!is_named(&chart->series[i]) || !find_ending(field, &chart->series[i], &end)) continue;
        if (!ends_at_edge(field, &end)) {
            draw_inside(canvas, field, chart, &end, size);
        } else if (n < MAX_NAMES) {
            beside[n++] = end;
        }
    }
    sort_downwards(beside, n);
    move_apart(beside, n, 1.2 * size, field->data);
    for (size_t i = 0; i < n; i++) draw_beside(canvas, field, &beside[i], size);
}
