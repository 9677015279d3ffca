/* SPDX-License-Identifier: Apache-2.0 */
/* bars.c - bars, grouped or stacked, standing or lying, with a number at each: a value too small
 * for a visible bar is still read. The numbers' room is reserved beyond the longest bar.
 * Touches: the canvas. Tests: tests/lab/test_plot_pictures.c */
#include "lines.h"

#include "core/base.h"

#include <math.h>
#include <string.h>

typedef struct layout {
    plot_type type;
    plot_field field; /* standing: x counts groups; lying: y does, downwards */
    plot_rect names;  /* of the groups */
    plot_rect group_label, value_label;
    double slot, thick; /* of a group and of a bar, along the axis of groups */
    size_t name_step;   /* every how manieth group has its name */
    double name;        /* size of type of these */
    bool names_turned;
    double number; /* size of type, 0: none */
    bool numbers_turned;
} layout;

static const double gap = 3, number_gap = 2.5;

static double value_of(const plot_bars *bars, size_t series, size_t group) {
    return plot_value_of(bars->series[series].value, bars->series[series].stride, group);
}

/* An exact 0 is written so, to tell it from what is only rounded to 0.0. */
static plot_words number_of(const plot_bars *bars, double value) {
    const bool has_unit = bars->number[strcspn(bars->number, "efg")] == 0 ||
                          bars->number[strcspn(bars->number, "efg") + 1] != 0;
    return value == 0 && !has_unit ? plot_number("%g", 0) : plot_number(bars->number, value);
}

/* Where a bar starts: at 0, or on the bars of its sign below it. */
static double base_of(const plot_bars *bars, size_t series, size_t group) {
    double base = 0;
    for (size_t s = 0; bars->stacked && s < series; s++) {
        const double value = value_of(bars, s, group);
        if (isfinite(value) && (value < 0) == (value_of(bars, series, group) < 0)) base += value;
    }
    return base;
}

/* ---- ranges and sizes ---- */

static plot_range find_range(const plot_bars *bars) {
    const plot_scale scale = bars->value.scale;
    double low = INFINITY, high = -INFINITY;
    plot_range_hold(scale, 0, &low, &high);
    for (size_t s = 0; s < bars->n_series; s++) {
        for (size_t g = 0; g < bars->n_groups; g++) {
            plot_range_hold(scale, base_of(bars, s, g) + value_of(bars, s, g), &low, &high);
        }
    }
    for (size_t s = 0; s < bars->n_lines; s++) {
        const plot_series *line = &bars->lines[s];
        for (size_t i = 0; i < line->n; i++) {
            plot_range_hold(scale, plot_value_of(line->y, line->stride, i), &low, &high);
            if (line->low == NULL || line->high == NULL) continue;
            plot_range_hold(scale, plot_value_of(line->low, line->stride, i), &low, &high);
            plot_range_hold(scale, plot_value_of(line->high, line->stride, i), &low, &high);
        }
    }
    return plot_range_find(&bars->value, low, high);
}

static bool has_negative(const plot_bars *bars) {
    for (size_t s = 0; s < bars->n_series; s++) {
        for (size_t g = 0; g < bars->n_groups; g++) {
            if (value_of(bars, s, g) < 0) return true;
        }
    }
    return false;
}

static plot_size widest_number(plot_canvas *canvas, const plot_bars *bars, double size) {
    const plot_style style = {.size = size};
    plot_size most = {0, 0};
    for (size_t s = 0; s < bars->n_series; s++) {
        for (size_t g = 0; g < bars->n_groups; g++) {
            const plot_size one =
                plot_measure(canvas, &style, number_of(bars, value_of(bars, s, g)).c);
            most.width = fmax(most.width, one.width);
            most.height = fmax(most.height, one.height);
        }
    }
    return most;
}

static double widest_name(plot_canvas *canvas, const plot_bars *bars, const plot_style *style) {
    double width = 0;
    for (size_t g = 0; g < bars->n_groups; g++) {
        width = fmax(width, plot_measure(canvas, style, bars->group[g]).width);
    }
    return width;
}

/* Numbers lie flat over standing bars if they fit, else they are turned; lying bars need only
 * their height. Too small to read: none. */
static void find_numbers(plot_canvas *canvas, const plot_bars *bars, layout *at) {
    const double least = 5, most = at->type.tick, pitch = at->thick;
    if (bars->number == NULL || bars->n_series == 0) return;
    const plot_size size = widest_number(canvas, bars, most);
    const double across = bars->horizontal ? size.height : size.width + 2;
    at->number = fmin(most, most * pitch / across);
    at->numbers_turned = false;
    if (at->number >= least) return;
    at->number = bars->horizontal || bars->stacked ? 0 : fmin(most, most * pitch / size.height);
    at->numbers_turned = at->number >= least;
    if (!at->numbers_turned) at->number = 0;
}

/* Has a stack a last part too low to hold its number? */
static bool has_low_top(const plot_bars *bars) {
    const double low = 0.08;
    for (size_t g = 0; g < bars->n_groups; g++) {
        const double top = value_of(bars, bars->n_series - 1, g);
        if (top >= 0 && top < low * (base_of(bars, bars->n_series - 1, g) + top)) return true;
    }
    return false;
}

/* Points to keep free beyond the ends of bars. */
static double number_room(plot_canvas *canvas, const plot_bars *bars, const layout *at) {
    if (at->number == 0 || (bars->stacked && !has_low_top(bars))) return 0;
    const plot_size size = widest_number(canvas, bars, at->number);
    const bool lengthwise = bars->horizontal || at->numbers_turned;
    return (lengthwise ? size.width : size.height) + 2 * number_gap;
}

static void find_slots(const plot_bars *bars, layout *at, double length) {
    const double share = 0.8, thickest = 48;
    const double side_by_side = bars->stacked ? 1 : (double)bars->n_series;
    at->slot = length / (double)bars->n_groups;
    at->thick = fmin(share * at->slot / fmax(side_by_side, 1), thickest);
}

/* ---- layout ---- */

static plot_style name_style(const layout *at, plot_align align) {
    return (plot_style){.size = at->type.tick, .align = align};
}

static plot_style label_style(const layout *at) {
    return (plot_style){.size = at->type.label, .align = PLOT_CENTER};
}

/* The value axis between two points of the page, numbers' room taken off where bars end. */
static plot_side value_side(plot_canvas *canvas, const plot_bars *bars, const layout *at,
                            double from, double to) {
    const double sign = to > from ? 1 : -1, room = sign * number_room(canvas, bars, at);
    plot_side side = {.range = find_range(bars), .vertical = !bars->horizontal};
    side.size = at->type.tick;
    side.from = from + (has_negative(bars) ? room : 0);
    side.to = to - room;
    plot_side_find_ticks(canvas, &side, bars->value.format);
    return side;
}

/* Groups are counted from 0 in the middle of their slots. */
static plot_side group_side(const plot_bars *bars, double from, double to) {
    return (plot_side){.range = {PLOT_LINEAR, -0.5, (double)bars->n_groups - 0.5},
                       .vertical = bars->horizontal,
                       .from = from,
                       .to = to};
}

static double names_height(plot_canvas *canvas, const plot_bars *bars, plot_rect area, layout *at) {
    const plot_style style = name_style(at, PLOT_CENTER);
    const double line = 1.3 * at->type.tick, width = widest_name(canvas, bars, &style);
    at->name = plot_name_size(at->type.tick, width, at->slot);
    at->names_turned = at->name == 0;
    if (at->names_turned) at->name = at->type.tick;
    at->name_step = at->names_turned ? (size_t)ceil(line / at->slot) : 1;
    return at->names_turned ? fmin(width + 2, 0.35 * area.height) : line;
}

static void lay_out_standing(plot_canvas *canvas, const plot_bars *bars, plot_rect area,
                             layout *at) {
    const plot_style style = label_style(at);
    const double label = plot_label_height(canvas, 0.8 * area.width, &style, bars->group_label);
    find_slots(bars, at, 0.9 * area.width);
    const double names = names_height(canvas, bars, area, at);
    plot_rect data =
        plot_inset(area, 0, 0.6 * at->type.tick, 2, gap + names + (label > 0 ? gap + label : 0));
    find_numbers(canvas, bars, at);
    at->field.y = value_side(canvas, bars, at, data.y + data.height, data.y);
    const double value = plot_label_height(canvas, data.height, &style, bars->value.label);
    at->value_label = (plot_rect){area.x, data.y, value, data.height};
    const double ticks = plot_tick_length + plot_tick_gap;
    const double left = plot_side_label_width(canvas, &at->field.y) + ticks;
    data = plot_inset(data, left + (value > 0 ? value + gap : 0), 0, 0, 0);
    find_slots(bars, at, data.width);
    find_numbers(canvas, bars, at);
    at->field.x = group_side(bars, data.x, data.x + data.width);
    at->field.data = data;
    at->names = (plot_rect){data.x, data.y + data.height + gap, data.width, names};
    at->group_label = (plot_rect){data.x, area.y + area.height - label, data.width, label};
}

static void lay_out_lying(plot_canvas *canvas, const plot_bars *bars, plot_rect area, layout *at) {
    const plot_style style = label_style(at), name = name_style(at, PLOT_RIGHT);
    const double ticks = plot_tick_length + plot_tick_gap + 1.3 * at->type.tick;
    const double value = plot_label_height(canvas, 0.7 * area.width, &style, bars->value.label);
    const double label = plot_label_height(canvas, 0.8 * area.height, &style, bars->group_label);
    const double names = fmin(widest_name(canvas, bars, &name) + 1, 0.4 * area.width);
    const double left = (label > 0 ? label + gap : 0) + names + 2 * gap;
    const plot_rect data =
        plot_inset(area, left, 1, 0.02 * area.width, ticks + (value > 0 ? gap + value : 0));
    find_slots(bars, at, data.height);
    find_numbers(canvas, bars, at);
    at->name = at->type.tick;
    at->name_step = (size_t)ceil(1.2 * at->name / at->slot);
    at->field.x = value_side(canvas, bars, at, data.x, data.x + data.width);
    const double over = plot_side_last_label_end(canvas, &at->field.x) - (area.x + area.width);
    if (over > 0) {
        at->field.x = value_side(canvas, bars, at, data.x, data.x + data.width - over);
    }
    at->field.y = group_side(bars, data.y, data.y + data.height);
    at->field.data = data;
    at->names = (plot_rect){data.x - 2 * gap - names, data.y, names, data.height};
    at->group_label = (plot_rect){area.x, data.y, label, data.height};
    at->value_label = (plot_rect){data.x, area.y + area.height - value, data.width, value};
}

/* ---- bars ---- */

static const plot_side *value_axis(const plot_bars *bars, const layout *at) {
    return bars->horizontal ? &at->field.x : &at->field.y;
}

static double held(double at, double a, double b) { return fmin(fmax(at, fmin(a, b)), fmax(a, b)); }

/* Where a value lies; a logarithmic axis has its start for 0. */
static double end_at(const plot_side *side, double value) {
    const double at = plot_side_at(side, value);
    return isfinite(at) ? held(at, side->from, side->to) : side->from;
}

/* A bar that is not 0 is seen, if only as a line. */
static plot_rect bar_box(const plot_bars *bars, const layout *at, size_t series, size_t group) {
    const plot_side *side = value_axis(bars, at);
    const plot_side *groups = bars->horizontal ? &at->field.y : &at->field.x;
    const double base = base_of(bars, series, group), value = value_of(bars, series, group);
    const double a = end_at(side, base), b = end_at(side, base + value);
    const double length = value == 0 ? 0 : fmax(fabs(b - a), 0.5);
    const double beside = bars->stacked ? 1 : (double)bars->n_series;
    const double first = plot_side_at(groups, (double)group) - at->thick * beside / 2;
    const double along = first + (bars->stacked ? 0 : (double)series * at->thick);
    const double low = fmin(a, b), air = at->thick > 6 && !bars->stacked ? 0.5 : 0;
    if (bars->horizontal) return (plot_rect){low, along + air, length, at->thick - 2 * air};
    return (plot_rect){along + air, low + fabs(b - a) - length, at->thick - 2 * air, length};
}

static void draw_bars(plot_canvas *canvas, const plot_bars *bars, const layout *at) {
    for (size_t g = 0; g < bars->n_groups; g++) {
        for (size_t s = 0; s < bars->n_series; s++) {
            if (!isfinite(value_of(bars, s, g))) continue;
            plot_bar_fill(canvas, bar_box(bars, at, s, g), bars->series[s].color, s);
        }
    }
}

/* ---- numbers ---- */

/* Beyond the end of the bar, on the side it points to. */
static plot_rect number_beyond(const plot_bars *bars, const layout *at, plot_rect bar, double value,
                               plot_size size) {
    const bool lengthwise = bars->horizontal || at->numbers_turned;
    const double length = lengthwise ? size.width : size.height;
    const double across = lengthwise ? size.height : size.width;
    if (bars->horizontal) {
        const double x = value < 0 ? bar.x - number_gap - length : bar.x + bar.width + number_gap;
        return (plot_rect){x, bar.y + bar.height / 2 - across / 2, length, across};
    }
    const double y = value < 0 ? bar.y + bar.height + number_gap : bar.y - number_gap - length;
    return (plot_rect){bar.x + bar.width / 2 - across / 2, y, across, length};
}

/* On the bar, if it fits there, with the plain colour behind it; true if it did. */
static bool draw_number_inside(plot_canvas *canvas, const plot_style *style, const char *number,
                               plot_rect bar, plot_color color) {
    const plot_size size = plot_measure(canvas, style, number);
    const double x = bar.x + bar.width / 2, y = bar.y + bar.height / 2;
    const plot_rgb ground = plot_graphic_rgb(canvas->theme, color);
    if (size.width + 3 > bar.width || size.height + 2 > bar.height) return false;
    plot_set_rgb(canvas, ground);
    cairo_rectangle(canvas->cr, x - size.width / 2 - 1.5, y - size.height / 2, size.width + 3,
                    size.height);
    cairo_fill(canvas->cr);
    plot_label_rgb(canvas, x, y, style, number, plot_numeral_rgb(ground));
    return true;
}

static bool is_crossed(const plot_bars *bars, const layout *at, plot_rect box) {
    for (size_t i = 0; !bars->horizontal && i < bars->n_lines; i++) {
        if (plot_series_hits(&at->field, &bars->lines[i], box) > 0) return true;
    }
    return false;
}

/* A piece of a standing bar, as near to its end as no line crosses it, for a number of this
 * height; height 0: there is none. */
static plot_rect free_piece(const plot_bars *bars, const layout *at, plot_rect bar, double value,
                            double height) {
    const double length = height + 2;
    for (double down = 0; down + length <= bar.height; down += height / 2) {
        const double y = value < 0 ? bar.y + bar.height - length - down : bar.y + down;
        const plot_rect piece = {bar.x, y, bar.width, length};
        if (!is_crossed(bars, at, piece)) return piece;
    }
    return (plot_rect){.height = 0};
}

static void draw_number(plot_canvas *canvas, const plot_bars *bars, const layout *at, size_t s,
                        size_t g) {
    const plot_style style = {.size = at->number, .align = PLOT_CENTER};
    const double value = value_of(bars, s, g);
    const plot_words number = number_of(bars, value);
    const plot_rect bar = bar_box(bars, at, s, g);
    const plot_color color = bars->series[s].color;
    if (bars->stacked &&
        (draw_number_inside(canvas, &style, number.c, bar, color) || s + 1 < bars->n_series)) {
        return;
    }
    const plot_size size = plot_measure(canvas, &style, number.c);
    const plot_rect box = number_beyond(bars, at, bar, value, size);
    if (is_crossed(bars, at, box) &&
        draw_number_inside(canvas, &style, number.c, free_piece(bars, at, bar, value, size.height),
                           color)) {
        return;
    }
    if (at->numbers_turned) {
        plot_text_upwards(canvas, plot_inset(box, 0, -0.5, 0, -0.5), &style, number.c);
    } else {
        plot_label_over(canvas, box.x + box.width / 2, box.y + box.height / 2, &style, number.c);
    }
}

static void draw_numbers(plot_canvas *canvas, const plot_bars *bars, const layout *at) {
    for (size_t g = 0; at->number > 0 && g < bars->n_groups; g++) {
        for (size_t s = 0; s < bars->n_series; s++) {
            if (isfinite(value_of(bars, s, g))) draw_number(canvas, bars, at, s, g);
        }
    }
}

/* ---- the whole ---- */

static void draw_names(plot_canvas *canvas, const plot_bars *bars, const layout *at) {
    const bool flat = bars->horizontal || !at->names_turned;
    const plot_style style = {
        .size = at->name, .align = bars->horizontal || at->names_turned ? PLOT_RIGHT : PLOT_CENTER};
    const double room = at->slot * (double)at->name_step;
    for (size_t g = 0; g < bars->n_groups; g += at->name_step) {
        plot_rect box = at->names;
        const double middle = ((double)g + 0.5) * at->slot;
        if (bars->horizontal) {
            box.y += middle - room / 2;
            box.height = room;
        } else {
            box.x += middle - room / 2;
            box.width = room;
        }
        if (flat) plot_text_middle(canvas, box, &style, bars->group[g]);
        if (!flat) plot_text_upwards(canvas, box, &style, bars->group[g]);
    }
}

static void draw_label(plot_canvas *canvas, const layout *at, plot_rect box, const char *words,
                       bool upwards) {
    const plot_style style = label_style(at);
    if (words && upwards) plot_text_upwards(canvas, box, &style, words);
    if (words && !upwards) plot_text_middle(canvas, box, &style, words);
}

/* The line that bars stand on, where it is not the edge. */
static void draw_zero(plot_canvas *canvas, const plot_bars *bars, const layout *at) {
    const plot_rect data = at->field.data;
    const double zero = end_at(value_axis(bars, at), 0);
    if (bars->horizontal)
        plot_line(canvas, zero, data.y, zero, data.y + data.height, PLOT_FAINT, 0.6);
    if (!bars->horizontal)
        plot_line(canvas, data.x, zero, data.x + data.width, zero, PLOT_FAINT, 0.6);
}

static void draw_all(plot_canvas *canvas, const plot_bars *bars, const layout *at) {
    plot_side_draw_grid(canvas, value_axis(bars, at), at->field.data);
    draw_bars(canvas, bars, at);
    draw_zero(canvas, bars, at);
    plot_side_draw(canvas, value_axis(bars, at), at->field.data);
    for (size_t i = 0; !bars->horizontal && i < bars->n_lines; i++) {
        plot_series_draw_band(canvas, &at->field, &bars->lines[i]);
        plot_series_draw(canvas, &at->field, &bars->lines[i]);
    }
    draw_numbers(canvas, bars, at);
    draw_names(canvas, bars, at);
    draw_label(canvas, at, at->group_label, bars->group_label, bars->horizontal);
    draw_label(canvas, at, at->value_label, bars->value.label, !bars->horizontal);
}

static void draw_in(plot_canvas *canvas, plot_rect area, const plot_bars *bars) {
    layout at = {.type = plot_type_for(area)};
    const plot_style title = {.size = at.type.title, .bold = true};
    const plot_legend legend = {.series = bars->lines,
                                .n_series = bars->horizontal ? 0 : bars->n_lines,
                                .bar = bars->series,
                                .n_bars = bars->n_series,
                                .size = at.type.tick};
    plot_rect rest = plot_title(canvas, area, &title, bars->title);
    const double rows = plot_legend_rows_height(canvas, &legend, rest.width), air = 5;
    if (rows > 0 && !plot_is_cramped(area)) {
        const plot_rect box = {rest.x, rest.y + rest.height - rows, rest.width, rows};
        plot_legend_draw_rows(canvas, &legend, box);
        rest = plot_inset(rest, 0, 0, 0, rows + air);
    }
    if (bars->horizontal) lay_out_lying(canvas, bars, rest, &at);
    if (!bars->horizontal) lay_out_standing(canvas, bars, rest, &at);
    draw_all(canvas, bars, &at);
}

void plot_bars_draw(plot_canvas *canvas, plot_rect area, const plot_bars *bars) {
    plot_bars kept = *bars;
    attni_assert(bars->n_groups > 0);
    if (plot_is_cramped(area)) kept.group_label = kept.value.label = NULL;
    cairo_save(canvas->cr);
    cairo_rectangle(canvas->cr, area.x, area.y, area.width, area.height);
    cairo_clip(canvas->cr);
    draw_in(canvas, area, &kept);
    cairo_restore(canvas->cr);
}
