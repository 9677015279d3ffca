/* SPDX-License-Identifier: Apache-2.0 */
/* axis.c - ranges rounded outwards, ticks at round values, and how they are written. Candidates go
 * from fine to coarse until no two labels touch. Tests: tests/lab/test_plot_axis.c */
#include "axis.h"

#include "core/base.h"

#include <math.h>
#include <string.h>

static const double largest = 1e300; /* so that differences stay finite */

/* ---- ranges ---- */

/* 1, 2 or 5 times a power of ten: the first that is at least x. */
static double round_step(double x) {
    const double power = pow(10, floor(log10(x)));
    const double lead = x / power, slack = 1e-9;
    return power * (lead <= 1 + slack ? 1 : lead <= 2 + slack ? 2 : lead <= 5 + slack ? 5 : 10);
}

static plot_range round_linear(double low, double high) {
    const double size = fmax(fabs(low), fabs(high)), steps = 8, slack = 1e-9;
    if (size < 1e-290) return (plot_range){PLOT_LINEAR, 0, 1};
    if (high - low < 1e-9 * size) { /* all values equal: in the middle, zero at one end */
        low = fmin(2 * low, 0);
        high = fmax(2 * high, 0);
    }
    const double step = round_step((high - low) / steps);
    return (plot_range){PLOT_LINEAR, step * floor(low / step + slack),
                        step * ceil(high / step - slack) + 0.0};
}

static plot_range round_log(plot_scale scale, double low, double high) {
    const double base = scale == PLOT_LOG2 ? 2 : 10, slack = 1e-9;
    const double limit = scale == PLOT_LOG2 ? 1020 : 307;
    double first = floor(log(low) / log(base) + slack), last = ceil(log(high) / log(base) - slack);
    if (first >= last) {
        first -= 1;
        last = first + 2;
    }
    return (plot_range){scale, pow(base, fmax(first, -limit)), pow(base, fmin(last, limit))};
}

plot_range plot_range_find(const plot_axis *axis, double low, double high) {
    const bool linear = axis->scale == PLOT_LINEAR;
    if (isfinite(axis->min) && isfinite(axis->max) && axis->min < axis->max &&
        (linear || axis->min > 0)) {
        return (plot_range){axis->scale, axis->min, axis->max};
    }
    if (!(low <= high)) {
        low = linear ? 0 : 1;
        high = 1;
    }
    low = fmax(low, linear ? -largest : 1 / largest);
    high = fmin(fmax(high, low), largest);
    return linear ? round_linear(low, high) : round_log(axis->scale, low, high);
}

double plot_range_share(plot_range range, double value) {
    if (range.scale == PLOT_LINEAR) return (value - range.min) / (range.max - range.min);
    if (!(value > 0)) return NAN;
    return (log(value) - log(range.min)) / (log(range.max) - log(range.min));
}

void plot_range_hold(plot_scale scale, double value, double *low, double *high) {
    if (!isfinite(value) || (scale != PLOT_LINEAR && value <= 0)) return;
    *low = fmin(*low, value);
    *high = fmax(*high, value);
}

/* ---- numbers as text ---- */

typedef struct notation {
    const char *format; /* of the user, or NULL */
    double base;        /* 2 or 10: written as a power of it; 0: as a number */
    int decimals;
    int exponent; /* of ten, common to all; 0: none */
} notation;

static void append_exponent(char *text, size_t size, int exponent) {
    static const char *const digit[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    char plain[16];
    snprintf(plain, sizeof plain, "%d", exponent);
    for (const char *c = plain; *c; c++) {
        const size_t used = strlen(text);
        snprintf(text + used, size - used, "%s", *c == '-' ? "⁻" : digit[*c - '0']);
    }
}

static void put_plain(char *text, size_t size, double value, int decimals) {
    snprintf(text, size, "%s%.*f", value < 0 ? "−" : "", decimals, fabs(value));
}

static void put_number(char *text, size_t size, double value, const notation *how) {
    if (how->format) {
        snprintf(text, size, "%s", plot_number(how->format, value).c);
    } else if (how->base > 0) {
        snprintf(text, size, "%g", how->base);
        append_exponent(text, size, (int)lround(log(value) / log(how->base)));
    } else if (how->exponent != 0 && value != 0) {
        put_plain(text, size, value / pow(10, how->exponent), how->decimals);
        const size_t used = strlen(text);
        snprintf(text + used, size - used, "×10");
        append_exponent(text, size, how->exponent);
    } else {
        put_plain(text, size, value, value == 0 && how->exponent != 0 ? 0 : how->decimals);
    }
}

/* As many decimals as the step has; very large or small numbers with a common power of ten. */
static notation linear_notation(plot_range range, double step) {
    const double size = fmax(fabs(range.min), fabs(range.max));
    notation how = {.base = 0};
    if (size >= 1e6 || size < 1e-3) {
        how.exponent = (int)floor(log10(size) + 1e-9);
        step /= pow(10, how.exponent);
    }
    while (how.decimals < 12 && fabs(step - round(step)) > 1e-6 * step) {
        step *= 10;
        how.decimals++;
    }
    return how;
}

/* ---- ticks ---- */

static void add_tick(plot_side *side, double value, const notation *how) {
    const double share = plot_range_share(side->range, value), slack = 1e-9;
    if (side->n == PLOT_MAX_TICKS || !(share >= -slack && share <= 1 + slack)) return;
    plot_tick *tick = &side->tick[side->n++];
    tick->value = value;
    put_number(tick->label, sizeof tick->label, value, how);
}

static void linear_ticks(plot_side *side, double step, const char *format) {
    notation how = linear_notation(side->range, step);
    how.format = format;
    const double first = ceil(side->range.min / step - 1e-9);
    side->n = 0;
    for (int i = 0; i < PLOT_MAX_TICKS; i++) {
        const double value = (first + i) * step;
        add_tick(side, fabs(value) < step / 2 ? 0 : value, &how);
    }
}

/* Powers of the base, `step` apart, at exponents that are multiples of it. */
static void power_ticks(plot_side *side, int step, const char *format) {
    const double base = side->range.scale == PLOT_LOG2 ? 2 : 10;
    const double low = log(side->range.min) / log(base), high = log(side->range.max) / log(base);
    const bool plain = base == 2 && low > -3.5 && high < 20.5;
    notation how = {.format = format, .base = plain ? 0 : base};
    side->n = 0;
    for (double e = step * ceil((low - 1e-9) / step); e <= high + 1e-9; e += step) {
        how.decimals = plain && e < 0 ? (int)-e : 0;
        add_tick(side, pow(base, e), &how);
    }
}

/* 1, 2, 5, 10, 20, ... between few decades. */
static void decade_ticks(plot_side *side, const char *format) {
    static const double lead[] = {1, 2, 5};
    const double first = floor(log10(side->range.min) + 1e-9);
    side->n = 0;
    for (int i = 0; i < PLOT_MAX_TICKS; i++) {
        const double value = lead[i % 3] * pow(10, first + i / 3);
        notation how = linear_notation(side->range, fmin(value, 1));
        how.format = format;
        if (how.exponent != 0) {
            how.exponent = (int)first + i / 3;
            how.decimals = 0;
        }
        add_tick(side, value, &how);
    }
}

static bool is_log(const plot_side *side) { return side->range.scale != PLOT_LINEAR; }

/* Two powers of its base at least? A shorter stretch of a logarithmic axis has round numbers. */
static bool spans_powers(plot_range range) {
    const double base = range.scale == PLOT_LOG2 ? 2 : 10, slack = 1e-9;
    if (range.scale == PLOT_LINEAR) return false;
    return floor(log(range.max) / log(base) + slack) > ceil(log(range.min) / log(base) - slack);
}

/* Candidate number i, fine to coarse. */
static void propose(plot_side *side, int i, const char *format) {
    static const int lead[] = {1, 2, 5};
    if (!spans_powers(side->range)) {
        double step = round_step((side->range.max - side->range.min) / (double)PLOT_MAX_TICKS);
        for (int k = 0; k < i; k++) step = round_step(1.5 * step);
        linear_ticks(side, step, format);
    } else if (side->range.scale == PLOT_LOG2) {
        power_ticks(side, 1 << i, format);
    } else if (i == 0 && side->range.max < 300 * side->range.min) {
        decade_ticks(side, format);
    } else {
        power_ticks(side, lead[i % 3] * (int)pow(10, i / 3), format);
    }
}

static plot_style tick_style(const plot_side *side) {
    return (plot_style){
        .size = side->size, .color = PLOT_INK, .align = side->vertical ? PLOT_RIGHT : PLOT_CENTER};
}

/* Do labels i and i + 1 stand apart, and ticks far enough for a quiet axis? */
static bool stand_apart(plot_canvas *canvas, const plot_side *side, size_t i) {
    const plot_style style = tick_style(side);
    const plot_size a = plot_measure(canvas, &style, side->tick[i].label);
    const plot_size b = plot_measure(canvas, &style, side->tick[i + 1].label);
    const double distance =
        fabs(plot_side_at(side, side->tick[i + 1].value) - plot_side_at(side, side->tick[i].value));
    const double length = fabs(side->to - side->from), slack = 1e-9;
    if (distance < length / (is_log(side) ? 12 : 8) - slack) return false;
    if (side->vertical) return distance >= (is_log(side) ? 1.6 : 2.2) * b.height;
    return distance >= (a.width + b.width) / 2 + (is_log(side) ? 5 : 14);
}

static bool all_stand_apart(plot_canvas *canvas, const plot_side *side) {
    for (size_t i = 0; i + 1 < side->n; i++) {
        if (!stand_apart(canvas, side, i)) return false;
    }
    return side->n < PLOT_MAX_TICKS;
}

void plot_side_find_ticks(plot_canvas *canvas, plot_side *side, const char *format) {
    const int coarsest = 12;
    for (int i = 0; i < coarsest; i++) {
        const size_t before = i > 0 ? side->n : PLOT_MAX_TICKS;
        propose(side, i, format);
        if (all_stand_apart(canvas, side)) return;
        if (side->n < 2 && before >= 2) break;
    }
    if (side->n > 1) side->n = 1; /* no room for two */
}

/* ---- drawing ---- */

double plot_side_at(const plot_side *side, double value) {
    return side->from + plot_range_share(side->range, value) * (side->to - side->from);
}

double plot_side_label_width(plot_canvas *canvas, const plot_side *side) {
    const plot_style style = tick_style(side);
    double width = 0;
    for (size_t i = 0; i < side->n; i++) {
        width = fmax(width, plot_measure(canvas, &style, side->tick[i].label).width);
    }
    return width;
}

double plot_side_last_label_end(plot_canvas *canvas, const plot_side *side) {
    if (side->n == 0) return side->to;
    const plot_tick *last = &side->tick[side->n - 1];
    const plot_style style = tick_style(side);
    return plot_side_at(side, last->value) + plot_measure(canvas, &style, last->label).width / 2;
}

void plot_side_draw_grid(plot_canvas *canvas, const plot_side *side, plot_rect data) {
    plot_set_rgb(canvas, plot_grid_rgb(canvas->theme));
    cairo_set_line_width(canvas->cr, 0.5);
    for (size_t i = 0; i < side->n; i++) {
        const double at = plot_side_at(side, side->tick[i].value);
        cairo_move_to(canvas->cr, side->vertical ? data.x : at, side->vertical ? at : data.y);
        cairo_line_to(canvas->cr, side->vertical ? data.x + data.width : at,
                      side->vertical ? at : data.y + data.height);
    }
    cairo_stroke(canvas->cr);
}

static void draw_tick(plot_canvas *canvas, const plot_side *side, plot_rect data, double value,
                      double length) {
    const double at = plot_side_at(side, value), bottom = data.y + data.height;
    cairo_move_to(canvas->cr, side->vertical ? data.x : at, side->vertical ? at : bottom);
    cairo_rel_line_to(canvas->cr, side->vertical ? -length : 0, side->vertical ? 0 : length);
}

/* Short ticks at 2 .. 9 times a power of ten tell a logarithmic axis at first sight. */
static void draw_minor_ticks(plot_canvas *canvas, const plot_side *side, plot_rect data) {
    const double first = floor(log10(side->range.min) + 1e-9), last = log10(side->range.max);
    if (side->range.scale != PLOT_LOG10 || last - first > 8) return;
    for (double e = first; e <= last; e++) {
        for (int lead = 2; lead <= 9; lead++) {
            const double value = lead * pow(10, e), share = plot_range_share(side->range, value);
            if (share >= 0 && share <= 1) draw_tick(canvas, side, data, value, 1.5);
        }
    }
}

void plot_side_draw(plot_canvas *canvas, const plot_side *side, plot_rect data) {
    const plot_style style = tick_style(side);
    const double bottom = data.y + data.height, away = plot_tick_length + plot_tick_gap;
    plot_set_rgb(canvas, plot_graphic_rgb(canvas->theme, PLOT_FAINT));
    cairo_set_line_width(canvas->cr, 0.6);
    cairo_move_to(canvas->cr, data.x, side->vertical ? data.y : bottom);
    cairo_line_to(canvas->cr, side->vertical ? data.x : data.x + data.width, bottom);
    for (size_t i = 0; i < side->n; i++) {
        draw_tick(canvas, side, data, side->tick[i].value, plot_tick_length);
    }
    draw_minor_ticks(canvas, side, data);
    cairo_stroke(canvas->cr);
    for (size_t i = 0; i < side->n; i++) {
        const double at = plot_side_at(side, side->tick[i].value);
        const double height = plot_measure(canvas, &style, side->tick[i].label).height;
        plot_label(canvas, side->vertical ? data.x - away : at,
                   side->vertical ? at : bottom + away + height / 2, &style, side->tick[i].label);
    }
}
