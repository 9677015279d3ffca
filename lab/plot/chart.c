/* SPDX-License-Identifier: Apache-2.0 */
/* chart.c - lines over two axes. Everything is measured first: labels take their room, the data get
 * the rest, the legend goes where no data are, or below the chart when there is no such place.
 * Touches: the canvas. Tests: tests/lab/test_plot_pictures.c */
#include "lines.h"

#include <math.h>

enum { MAX_WORDED_RULES = 16 };

typedef struct layout {
    plot_type type;
    plot_field field;
    plot_rect x_label, y_label;
    plot_rect legend; /* below the chart; height 0: inside it, or none */
    double end_names; /* width of the names at the ends of lines; 0: none */
    size_t n_words;
    plot_rect words[MAX_WORDED_RULES]; /* of rules; width 0: none */
} layout;

/* ---- ranges ---- */

typedef struct bounds {
    double x_low, x_high, y_low, y_high;
} bounds;

static void hold_series(const plot_chart *chart, const plot_series *series, bounds *b) {
    const size_t stride = series->stride;
    for (size_t i = 0; i < series->n; i++) {
        const double y = plot_value_of(series->y, stride, i);
        if (!isnan(y)) {
            plot_range_hold(chart->x.scale, plot_value_of(series->x, stride, i), &b->x_low,
                            &b->x_high);
        }
        plot_range_hold(chart->y.scale, y, &b->y_low, &b->y_high);
        if (series->low == NULL || series->high == NULL) continue;
        plot_range_hold(chart->y.scale, plot_value_of(series->low, stride, i), &b->y_low,
                        &b->y_high);
        plot_range_hold(chart->y.scale, plot_value_of(series->high, stride, i), &b->y_low,
                        &b->y_high);
    }
}

static void find_ranges(const plot_chart *chart, plot_field *field) {
    bounds b = {INFINITY, -INFINITY, INFINITY, -INFINITY};
    for (size_t i = 0; i < chart->n_series; i++) hold_series(chart, &chart->series[i], &b);
    for (size_t i = 0; i < chart->n_rules; i++) {
        const plot_rule *rule = &chart->rule[i];
        if (rule->vertical) plot_range_hold(chart->x.scale, rule->at, &b.x_low, &b.x_high);
        if (!rule->vertical) plot_range_hold(chart->y.scale, rule->at, &b.y_low, &b.y_high);
    }
    field->x.range = plot_range_find(&chart->x, b.x_low, b.x_high);
    field->y.range = plot_range_find(&chart->y, b.y_low, b.y_high);
}

/* ---- layout ---- */

static plot_style label_style(const layout *at) {
    return (plot_style){.size = at->type.label, .align = PLOT_CENTER};
}

/* Heights first: they do not depend on widths. Then the width of the labels at the left. */
static void lay_out_axes(plot_canvas *canvas, const plot_chart *chart, plot_rect area, layout *at) {
    const plot_style style = label_style(at);
    const double gap = 3, inner = 6, ticks = plot_tick_length + plot_tick_gap;
    const double x_label = plot_label_height(canvas, 0.8 * area.width, &style, chart->x.label);
    const double bottom = ticks + 1.3 * at->type.tick + (x_label > 0 ? gap + x_label : 0);
    const double top = 0.6 * at->type.tick;
    const double right = fmax(6, at->end_names);
    plot_side *x = &at->field.x, *y = &at->field.y;
    plot_rect data = plot_inset(area, 0, top, right, bottom);

    *y = (plot_side){.range = y->range, .vertical = true, .size = at->type.tick};
    y->from = data.y + data.height;
    y->to = data.y;
    plot_side_find_ticks(canvas, y, chart->y.format);
    const double y_label = plot_label_height(canvas, data.height, &style, chart->y.label);
    at->y_label = (plot_rect){area.x, data.y, y_label, data.height};
    data = plot_inset(data,
                      (y_label > 0 ? y_label + gap : 0) + plot_side_label_width(canvas, y) + ticks,
                      0, 0, 0);

    *x = (plot_side){.range = x->range, .size = at->type.tick};
    x->from = data.x + inner;
    x->to = data.x + data.width - inner;
    plot_side_find_ticks(canvas, x, chart->x.format);
    const double over = plot_side_last_label_end(canvas, x) - (area.x + area.width);
    if (over > 0) {
        data.width = fmax(data.width - over, 1);
        x->to -= over;
        plot_side_find_ticks(canvas, x, chart->x.format);
    }
    at->x_label = (plot_rect){data.x, area.y + area.height - x_label, data.width, x_label};
    at->field.data = data;
}

/* ---- words of rules ---- */

/* Boxes of text have some air above and below the letters, which may be shared. */
static bool overlap(plot_rect a, plot_rect b) {
    const double air = 1;
    return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height - air &&
           b.y < a.y + a.height - air;
}

static bool is_within(plot_rect outer, plot_rect box) {
    return box.x >= outer.x && box.y >= outer.y && box.x + box.width <= outer.x + outer.width &&
           box.y + box.height <= outer.y + outer.height;
}

static const size_t on_words = 1000000; /* worse than any data */

/* Pieces of data in box, and words of rules. */
static size_t crowd(const plot_chart *chart, const layout *at, plot_rect box) {
    size_t hits = 0;
    for (size_t i = 0; i < chart->n_series; i++) {
        hits += plot_series_hits(&at->field, &chart->series[i], box);
    }
    for (size_t i = 0; i < at->n_words; i++) {
        if (at->words[i].width > 0 && overlap(box, at->words[i])) hits += on_words;
    }
    return hits;
}

static bool is_visible(const layout *at, const plot_rule *rule) {
    const plot_range range = rule->vertical ? at->field.x.range : at->field.y.range;
    const double share = plot_range_share(range, rule->at);
    return share >= -1e-9 && share <= 1 + 1e-9;
}

/* Place number i of the words of a rule: on both sides of the line, from its end to its start. */
static plot_rect words_place(const layout *at, const plot_rule *rule, plot_size size, int i) {
    const plot_rect data = plot_inset(at->field.data, 4, 0, 4, 0);
    const double gap = 2.5, along = (double)(i / 2) / 4, side = i % 2;
    if (rule->vertical) {
        const double x = plot_side_at(&at->field.x, rule->at);
        return (plot_rect){side == 0 ? x + gap : x - gap - size.width,
                           data.y + along * (data.height - size.height), size.width, size.height};
    }
    const double y = plot_side_at(&at->field.y, rule->at);
    return (plot_rect){data.x + (1 - along) * (data.width - size.width),
                       side == 0 ? y - size.height : y + gap / 2, size.width, size.height};
}

static bool crosses_rule(const plot_chart *chart, const layout *at, plot_rect box) {
    for (size_t i = 0; i < chart->n_rules; i++) {
        const plot_rule *rule = &chart->rule[i];
        const plot_side *side = rule->vertical ? &at->field.x : &at->field.y;
        const double line = plot_side_at(side, rule->at), low = rule->vertical ? box.x : box.y;
        if (line > low && line < low + (rule->vertical ? box.width : box.height)) return true;
    }
    return false;
}

/* The best place for words of this size; width 0: none without other words. */
static plot_rect find_place(const plot_chart *chart, const layout *at, const plot_rule *rule,
                            plot_size size) {
    const int places = 10;
    plot_rect best = {.width = 0};
    size_t least = on_words;
    for (int i = 0; i < places; i++) {
        const plot_rect box = words_place(at, rule, size, i);
        if (!is_within(plot_inset(at->field.data, 0, -2, 0, 0), box)) continue;
        const size_t hits =
            crowd(chart, at, box) + (crosses_rule(chart, at, box) ? on_words / 10 : 0);
        if (hits >= least) continue;
        least = hits;
        best = box;
    }
    return best;
}

/* Words that find no place are tried smaller. */
static plot_rect find_words(plot_canvas *canvas, const plot_chart *chart, const layout *at,
                            const plot_rule *rule) {
    plot_rect box = {.width = 0};
    for (double size = at->type.tick; size >= 4.5 && box.width == 0; size *= 0.9) {
        const plot_style style = {.size = size};
        box = find_place(chart, at, rule, plot_measure(canvas, &style, rule->label));
    }
    return box;
}

static void lay_out_rules(plot_canvas *canvas, const plot_chart *chart, layout *at) {
    at->n_words = 0;
    for (size_t i = 0; i < chart->n_rules && i < MAX_WORDED_RULES; i++) {
        const plot_rule *rule = &chart->rule[i];
        const bool has_words = rule->label && rule->label[0] && is_visible(at, rule);
        const plot_rect none = {.width = 0};
        at->words[i] = has_words ? find_words(canvas, chart, at, rule) : none;
        at->n_words = i + 1;
    }
}

/* ---- legend ---- */

/* A free place for the legend inside the data; width 0 if there is none. */
static plot_rect find_corner(const plot_chart *chart, const layout *at, plot_size size) {
    static const double place[][2] = {{1, 0},  {0, 0},  {1, 1},  {0, 1},
                                      {1, .5}, {0, .5}, {.5, 0}, {.5, 1}};
    const plot_rect room = plot_inset(at->field.data, 6, 3, 3, 4), none = {.width = 0};
    if (size.width > 0.6 * room.width || size.height > 0.6 * room.height) return none;
    for (size_t i = 0; i < sizeof place / sizeof *place; i++) {
        const plot_rect box = {room.x + place[i][0] * (room.width - size.width),
                               room.y + place[i][1] * (room.height - size.height), size.width,
                               size.height};
        if (crowd(chart, at, box) == 0 && !crosses_rule(chart, at, box)) return box;
    }
    return none;
}

/* ---- drawing ---- */

static void draw_rules(plot_canvas *canvas, const plot_chart *chart, const layout *at) {
    static const double dots[] = {1, 2};
    const plot_rect data = at->field.data;
    cairo_save(canvas->cr);
    plot_set_rgb(canvas, plot_graphic_rgb(canvas->theme, PLOT_INK));
    cairo_set_line_width(canvas->cr, 0.8);
    cairo_set_dash(canvas->cr, dots, 2, 0);
    for (size_t i = 0; i < chart->n_rules; i++) {
        const plot_rule *rule = &chart->rule[i];
        if (!is_visible(at, rule)) continue;
        const double line = plot_side_at(rule->vertical ? &at->field.x : &at->field.y, rule->at);
        cairo_move_to(canvas->cr, rule->vertical ? line : data.x, rule->vertical ? data.y : line);
        cairo_line_to(canvas->cr, rule->vertical ? line : data.x + data.width,
                      rule->vertical ? data.y + data.height : line);
        cairo_stroke(canvas->cr);
    }
    cairo_restore(canvas->cr);
}

static void draw_words(plot_canvas *canvas, const plot_chart *chart, const layout *at) {
    for (size_t i = 0; i < at->n_words; i++) {
        const plot_rect box = at->words[i];
        if (box.width == 0) continue;
        plot_style style = {.size = at->type.tick};
        style.size *= box.width / plot_measure(canvas, &style, chart->rule[i].label).width;
        plot_label_over(canvas, box.x, box.y + box.height / 2, &style, chart->rule[i].label);
    }
}

static void draw_all(plot_canvas *canvas, const plot_chart *chart, const layout *at) {
    const plot_field *field = &at->field;
    const plot_style style = label_style(at);
    plot_side_draw_grid(canvas, &field->x, field->data);
    plot_side_draw_grid(canvas, &field->y, field->data);
    for (size_t i = 0; i < chart->n_series; i++) {
        plot_series_draw_band(canvas, field, &chart->series[i]);
    }
    draw_rules(canvas, chart, at);
    plot_side_draw(canvas, &field->x, field->data);
    plot_side_draw(canvas, &field->y, field->data);
    for (size_t i = 0; i < chart->n_series; i++) plot_series_draw(canvas, field, &chart->series[i]);
    draw_words(canvas, chart, at);
    if (at->end_names > 0) plot_line_names_draw(canvas, field, chart, at->type.tick);
    if (chart->x.label) plot_text_middle(canvas, at->x_label, &style, chart->x.label);
    if (chart->y.label) plot_text_upwards(canvas, at->y_label, &style, chart->y.label);
}

/* Draws inside area, whatever the input. */
static void draw_in(plot_canvas *canvas, plot_rect area, const plot_chart *chart) {
    layout at = {.type = plot_type_for(area)};
    const plot_style title = {.size = at.type.title, .bold = true};
    const double names = plot_line_names_width(canvas, chart, at.type.tick);
    at.end_names = plot_is_cramped(area) || names > 0.4 * area.width ? 0 : names;
    const plot_legend legend = {.series = chart->series,
                                .n_series = plot_is_cramped(area) ? 0 : chart->n_series,
                                .size = at.type.tick,
                                .ends_named = at.end_names > 0};
    const plot_size size = plot_legend_column(canvas, &legend);
    plot_rect corner = {.width = 0};

    plot_rect rest = plot_title(canvas, area, &title, chart->title);
    find_ranges(chart, &at.field);
    lay_out_axes(canvas, chart, rest, &at);
    lay_out_rules(canvas, chart, &at);
    if (size.width > 0) corner = find_corner(chart, &at, size);
    if (size.width > 0 && corner.width == 0) {
        const double rows = plot_legend_rows_height(canvas, &legend, rest.width), gap = 5;
        at.legend = (plot_rect){rest.x, rest.y + rest.height - rows, rest.width, rows};
        rest = plot_inset(rest, 0, 0, 0, rows + gap);
        lay_out_axes(canvas, chart, rest, &at);
        lay_out_rules(canvas, chart, &at);
    }
    draw_all(canvas, chart, &at);
    if (corner.width > 0) plot_legend_draw_column(canvas, &legend, corner);
    if (at.legend.height > 0) plot_legend_draw_rows(canvas, &legend, at.legend);
}

void plot_chart_draw(plot_canvas *canvas, plot_rect area, const plot_chart *chart) {
    plot_chart kept = *chart;
    if (plot_is_cramped(area)) kept.x.label = kept.y.label = NULL;
    cairo_save(canvas->cr);
    cairo_rectangle(canvas->cr, area.x, area.y, area.width, area.height);
    cairo_clip(canvas->cr);
    draw_in(canvas, area, &kept);
    cairo_restore(canvas->cr);
}
