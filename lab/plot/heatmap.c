/* SPDX-License-Identifier: Apache-2.0 */
/* heatmap.c - a matrix as coloured squares, with numerals, names, hatching over masked cells and a
 * colour bar. Names that do not fit are turned or thinned, numerals shrink or are left out.
 * Touches: the canvas. Tests: tests/lab/test_plot_pictures.c */
#include "axis.h"

#include "core/base.h"

#include <math.h>

typedef struct layout {
    plot_type type;
    plot_range range;
    plot_rect grid; /* all cells */
    double cell;    /* side of one */
    double names;   /* height of the names of the columns */
    double name;    /* their size of type */
    bool turned;    /* they read upwards */
    double title, row_names, x_label, y_label, note;
    double numeral; /* size of type, 0: none */
    double bar;     /* width of the colour bar with its ticks and label, 0: none */
    plot_side side; /* of the colour bar */
} layout;

static const double gap = 4, bar_width = 9, bar_gap = 12;

/* ---- what is to be written ---- */

static plot_words cell_numeral(const plot_heatmap *map, size_t row, size_t column) {
    return plot_number(map->number, map->cell[row * map->columns + column]);
}

static plot_words position_name(size_t i) { return plot_number("%.0f", (double)i); }

static bool is_hidden(const plot_heatmap *map, size_t row, size_t column) {
    return map->hidden && map->hidden[row * map->columns + column] != 0;
}

/* Has the cell a value to show? */
static bool is_shown(const plot_heatmap *map, size_t row, size_t column) {
    return !is_hidden(map, row, column) && !isnan(map->cell[row * map->columns + column]);
}

static bool has_number(const plot_heatmap *map, size_t row, size_t column) {
    return is_shown(map, row, column) &&
           fabs(map->cell[row * map->columns + column]) >= map->number_from;
}

static plot_range find_range(const plot_heatmap *map) {
    double low = 0, high = 0;
    if (map->min < map->max) return (plot_range){PLOT_LINEAR, map->min, map->max};
    for (size_t r = 0; r < map->rows; r++) {
        for (size_t c = 0; c < map->columns; c++) {
            if (!is_shown(map, r, c)) continue;
            plot_range_hold(PLOT_LINEAR, map->cell[r * map->columns + c], &low, &high);
        }
    }
    const double size = fmin(fmax(-low, high), 1e300);
    if (size == 0) return (plot_range){PLOT_LINEAR, map->map == PLOT_SIGNED ? -1 : 0, 1};
    if (map->map == PLOT_SIGNED) return (plot_range){PLOT_LINEAR, -size, size};
    return (plot_range){PLOT_LINEAR, fmax(low, -1e300), fmax(high, 0)};
}

/* ---- layout ---- */

static plot_style name_style(const layout *at, plot_align align) {
    return (plot_style){.size = at->type.tick, .align = align};
}

/* The widest of n names; without names, of their numbers. */
static double widest(plot_canvas *canvas, const layout *at, const char *const *name, size_t n) {
    const plot_style style = name_style(at, PLOT_LEFT);
    if (name == NULL) return plot_measure(canvas, &style, position_name(n - 1).c).width;
    double width = 0;
    for (size_t i = 0; i < n; i++) {
        width = fmax(width, plot_measure(canvas, &style, name[i]).width);
    }
    return width;
}

/* The largest square cells in what the names and labels leave of room. */
static void find_cells(const plot_heatmap *map, plot_rect room, layout *at) {
    const double left = at->y_label + at->row_names + gap, right = at->bar;
    const double bottom = gap + at->names + at->x_label + at->note;
    const double width = fmax(room.width - left - right, 1);
    const double height = fmax(room.height - bottom, 1);
    at->cell = fmin(width / (double)map->columns, height / (double)map->rows);
    at->grid.width = at->cell * (double)map->columns;
    at->grid.height = at->cell * (double)map->rows;
    at->grid.x = room.x + left + (width - at->grid.width) / 2;
    at->grid.y = room.y + (height - at->grid.height) / 2;
}

/* Names of columns lie flat if they fit their cells, else they are turned; numbers are thinned. */
static void find_names(plot_canvas *canvas, const plot_heatmap *map, plot_rect room, layout *at) {
    const double line = 1.3 * at->type.tick;
    const double width = widest(canvas, at, map->column_name, map->columns);
    at->row_names = fmin(widest(canvas, at, map->row_name, map->rows), 0.35 * room.width);
    at->names = line;
    find_cells(map, room, at);
    at->name = plot_name_size(at->type.tick, width, at->cell);
    if (at->name > 0) return;
    at->name = at->type.tick;
    at->turned = map->column_name != NULL;
    if (!at->turned) return;
    at->names = fmin(width + 1, 0.3 * room.height);
    find_cells(map, room, at);
}

/* The size at which the widest numeral fits a cell; 0 if that would be too small to read. */
static double find_numeral(plot_canvas *canvas, const plot_heatmap *map, const layout *at) {
    const double least = 4.5, most = 10;
    const plot_style style = {.size = most};
    plot_size size = {0, 0};
    if (map->number == NULL || at->cell < least) return 0;
    for (size_t r = 0; r < map->rows; r++) {
        for (size_t c = 0; c < map->columns; c++) {
            if (!has_number(map, r, c)) continue;
            const plot_size one = plot_measure(canvas, &style, cell_numeral(map, r, c).c);
            size.width = fmax(size.width, one.width);
            size.height = fmax(size.height, one.height);
        }
    }
    if (size.width == 0) return 0;
    const double fit = fmin(0.84 * at->cell / size.width, 0.8 * at->cell / size.height);
    return most * fit < least ? 0 : fmin(most * fit, most);
}

static void find_bar(plot_canvas *canvas, const plot_heatmap *map, plot_rect room, layout *at) {
    const plot_style style = {.size = at->type.label};
    if (map->bar_label == NULL) return;
    at->side = (plot_side){.range = at->range, .vertical = true, .size = at->type.tick};
    at->side.from = room.y + room.height;
    at->side.to = room.y;
    plot_side_find_ticks(canvas, &at->side, NULL);
    at->bar = bar_gap + bar_width + plot_tick_length + plot_tick_gap +
              plot_side_label_width(canvas, &at->side) + gap +
              plot_label_height(canvas, room.height, &style, map->bar_label);
}

static plot_style title_style(const plot_heatmap *map, plot_type type) {
    return (plot_style){
        .size = type.title, .bold = true, .color = map->title_color, .align = PLOT_CENTER};
}

static layout lay_out(plot_canvas *canvas, plot_rect area, const plot_heatmap *map) {
    layout at = {.type = plot_type_for(area), .range = find_range(map)};
    const plot_style title = title_style(map, at.type);
    at.title = plot_title_height(canvas, area, &title, map->title);
    const plot_rect room = plot_inset(area, 1, at.title + 0.5 * at.type.tick, 1, 0);
    const plot_style style = {.size = at.type.label};
    const double x = plot_label_height(canvas, 0.8 * room.width, &style, map->x_label);
    const double y = plot_label_height(canvas, 0.8 * room.height, &style, map->y_label);
    const double note = plot_label_height(canvas, room.width, &style, map->note);
    at.x_label = x > 0 ? x + gap / 2 : 0;
    at.y_label = y > 0 ? y + gap : 0;
    at.note = note > 0 ? note + gap : 0;
    find_bar(canvas, map, room, &at);
    find_names(canvas, map, room, &at);
    at.numeral = find_numeral(canvas, map, &at);
    return at;
}

/* ---- cells ---- */

static plot_rect cell_box(const layout *at, size_t row, size_t column) {
    return (plot_rect){at->grid.x + (double)column * at->cell, at->grid.y + (double)row * at->cell,
                       at->cell, at->cell};
}

static plot_rgb cell_rgb(plot_canvas *canvas, const plot_heatmap *map, const layout *at,
                         double value) {
    return plot_map_rgb(canvas->theme, map->map, plot_range_share(at->range, value));
}

static void trace_box(plot_canvas *canvas, plot_rect box) {
    cairo_rectangle(canvas->cr, box.x, box.y, box.width, box.height);
}

/* Neighbours overlap a little, else viewers show seams of paper between them. */
static void draw_cells(plot_canvas *canvas, const plot_heatmap *map, const layout *at) {
    const double overlap = 0.2;
    cairo_save(canvas->cr);
    cairo_set_antialias(canvas->cr, CAIRO_ANTIALIAS_NONE);
    trace_box(canvas, at->grid);
    cairo_clip(canvas->cr);
    for (size_t r = 0; r < map->rows; r++) {
        for (size_t c = 0; c < map->columns; c++) {
            if (!is_shown(map, r, c)) continue;
            plot_set_rgb(canvas, cell_rgb(canvas, map, at, map->cell[r * map->columns + c]));
            trace_box(canvas, plot_inset(cell_box(at, r, c), 0, 0, -overlap, -overlap));
            cairo_fill(canvas->cr);
        }
    }
    cairo_restore(canvas->cr);
}

/* All masked cells are one shape, filled with paper and ruled with slanted lines. */
static void draw_hidden(plot_canvas *canvas, const plot_heatmap *map, const layout *at) {
    const double pitch = fmin(fmax(at->cell / 3, 2.2), 5);
    const plot_rect grid = at->grid;
    if (map->hidden == NULL) return;
    cairo_save(canvas->cr);
    for (size_t r = 0; r < map->rows; r++) {
        for (size_t c = 0; c < map->columns; c++) {
            if (is_hidden(map, r, c)) trace_box(canvas, cell_box(at, r, c));
        }
    }
    cairo_clip(canvas->cr);
    plot_set_rgb(canvas, plot_paper(canvas->theme));
    cairo_paint(canvas->cr);
    plot_set_rgb(canvas, plot_hatch_rgb(canvas->theme));
    cairo_set_line_width(canvas->cr, fmin(0.7, pitch / 4));
    for (double d = pitch / 2; d < grid.width + grid.height; d += pitch) {
        cairo_move_to(canvas->cr, grid.x + d, grid.y);
        cairo_rel_line_to(canvas->cr, -grid.height, grid.height);
    }
    cairo_stroke(canvas->cr);
    cairo_restore(canvas->cr);
}

/* Thin lines of paper between cells that are large enough, and a thin frame. */
static void draw_lines(plot_canvas *canvas, const plot_heatmap *map, const layout *at) {
    const plot_rect grid = at->grid;
    if (at->cell >= 10) {
        plot_set_rgb(canvas, plot_paper(canvas->theme));
        cairo_set_line_width(canvas->cr, 0.6);
        for (size_t r = 1; r < map->rows; r++) {
            cairo_move_to(canvas->cr, grid.x, grid.y + (double)r * at->cell);
            cairo_rel_line_to(canvas->cr, grid.width, 0);
        }
        for (size_t c = 1; c < map->columns; c++) {
            cairo_move_to(canvas->cr, grid.x + (double)c * at->cell, grid.y);
            cairo_rel_line_to(canvas->cr, 0, grid.height);
        }
        cairo_stroke(canvas->cr);
    }
    plot_set_rgb(canvas, plot_graphic_rgb(canvas->theme, PLOT_FAINT));
    cairo_set_line_width(canvas->cr, 0.5);
    trace_box(canvas, grid);
    cairo_stroke(canvas->cr);
}

static void draw_numerals(plot_canvas *canvas, const plot_heatmap *map, const layout *at) {
    const plot_style style = {.size = at->numeral, .align = PLOT_CENTER};
    for (size_t r = 0; at->numeral > 0 && r < map->rows; r++) {
        for (size_t c = 0; c < map->columns; c++) {
            if (!has_number(map, r, c)) continue;
            const plot_rect box = cell_box(at, r, c);
            const plot_rgb ground = cell_rgb(canvas, map, at, map->cell[r * map->columns + c]);
            plot_label_rgb(canvas, box.x + box.width / 2, box.y + box.height / 2, &style,
                           cell_numeral(map, r, c).c, plot_numeral_rgb(ground));
        }
    }
}

/* ---- names, labels, colour bar ---- */

/* Every how manieth name is written when each needs `need` points. */
static size_t thinning(double need, double cell) {
    static const size_t step[] = {1, 2, 4, 5, 8, 10, 16, 20, 32, 50, 64, 100, 128, 256, 512, 1024};
    for (size_t i = 0; i < sizeof step / sizeof *step; i++) {
        if ((double)step[i] * cell >= need) return step[i];
    }
    return (size_t)ceil(need / cell);
}

static void draw_row_names(plot_canvas *canvas, const plot_heatmap *map, const layout *at) {
    const plot_style style = name_style(at, PLOT_RIGHT);
    const double line = 1.25 * at->type.tick, height = fmax(line, at->cell);
    const double need = map->row_name ? line : 1.4 * line; /* numbers may be fewer */
    for (size_t r = 0; r < map->rows; r += thinning(need, at->cell)) {
        const double middle = at->grid.y + ((double)r + 0.5) * at->cell;
        const plot_rect box = {at->grid.x - gap - at->row_names - 1, middle - height / 2,
                               at->row_names + 1, height};
        plot_text_middle(canvas, box, &style,
                         map->row_name ? map->row_name[r] : position_name(r).c);
    }
}

static void draw_column_names(plot_canvas *canvas, const plot_heatmap *map, const layout *at) {
    const plot_style style = {.size = at->name, .align = at->turned ? PLOT_RIGHT : PLOT_CENTER};
    const double line = 1.25 * at->type.tick;
    const double widest_name =
        widest(canvas, at, map->column_name, map->columns) * at->name / at->type.tick;
    const double need = at->turned ? line : widest_name + 2.9;
    const size_t step = thinning(need, at->cell);
    const double width = fmax(need, at->cell), top = at->grid.y + at->grid.height + gap;
    for (size_t c = 0; c < map->columns; c += step) {
        const double middle = at->grid.x + ((double)c + 0.5) * at->cell;
        const char *name = map->column_name ? map->column_name[c] : NULL;
        const plot_rect box = {middle - width / 2, top, width, at->names};
        if (at->turned) {
            plot_text_upwards(canvas, box, &style, name);
        } else {
            plot_text_middle(canvas, box, &style, name ? name : position_name(c).c);
        }
    }
}

/* Words centred over or under the grid if they fit so, else in the whole width of the area. */
static void draw_centred(plot_canvas *canvas, plot_rect area, const layout *at, double top,
                         const plot_style *style, const char *words) {
    const double middle = at->grid.x + at->grid.width / 2;
    const double half = fmin(middle - area.x, area.x + area.width - middle);
    const double height = plot_label_height(canvas, area.width, style, words);
    plot_rect box = {area.x, top, area.width, height};
    if (plot_measure(canvas, style, words).width < 2 * half - 1) {
        box = (plot_rect){middle - half, top, 2 * half, height};
    }
    plot_text(canvas, box, style, words);
}

static void draw_labels(plot_canvas *canvas, const plot_heatmap *map, plot_rect area,
                        const layout *at) {
    const plot_style title = title_style(map, at->type);
    const plot_style style = {.size = at->type.label, .align = PLOT_CENTER};
    const plot_style note = {.size = at->type.label, .align = PLOT_CENTER, .color = PLOT_FAINT};
    const plot_rect grid = at->grid;
    const double top = grid.y - 0.5 * at->type.tick - at->title;
    const double names = grid.y + grid.height + gap + at->names, under = names + at->x_label;
    if (at->title > 0) draw_centred(canvas, area, at, top, &title, map->title);
    if (at->x_label > 0) draw_centred(canvas, area, at, names + gap / 2, &style, map->x_label);
    if (at->note > 0) draw_centred(canvas, area, at, under + gap, &note, map->note);
    if (at->y_label > 0) {
        const double end = under + at->note; /* what the picture covers from top to bottom */
        const double centre = grid.y + grid.height / 2, half = fmin(centre - top, end - centre);
        const plot_rect box = {grid.x - gap - at->row_names - at->y_label - 1, centre - half,
                               at->y_label - gap, 2 * half};
        plot_text_upwards(canvas, box, &style, map->y_label);
    }
}

static void fill_bar(plot_canvas *canvas, const plot_heatmap *map, plot_rect bar) {
    const int stops = 64;
    cairo_pattern_t *shade = cairo_pattern_create_linear(0, bar.y + bar.height, 0, bar.y);
    for (int i = 0; i <= stops; i++) {
        const double share = (double)i / stops;
        const plot_rgb rgb = plot_map_rgb(canvas->theme, map->map, share);
        cairo_pattern_add_color_stop_rgb(shade, share, rgb.r, rgb.g, rgb.b);
    }
    cairo_set_source(canvas->cr, shade);
    trace_box(canvas, bar);
    cairo_fill(canvas->cr);
    cairo_pattern_destroy(shade);
}

static void draw_bar(plot_canvas *canvas, const plot_heatmap *map, layout *at) {
    const plot_style tick = {.size = at->type.tick};
    const plot_style label = {.size = at->type.label, .align = PLOT_CENTER};
    const plot_rect bar = {at->grid.x + at->grid.width + bar_gap, at->grid.y, bar_width,
                           at->grid.height};
    plot_side *side = &at->side;
    const double end = bar.x + bar.width, away = plot_tick_length + plot_tick_gap;
    side->from = bar.y + bar.height;
    side->to = bar.y;
    plot_side_find_ticks(canvas, side, NULL);
    fill_bar(canvas, map, bar);
    plot_set_rgb(canvas, plot_graphic_rgb(canvas->theme, PLOT_FAINT));
    cairo_set_line_width(canvas->cr, 0.5);
    for (size_t i = 0; i < side->n; i++) {
        cairo_move_to(canvas->cr, end, plot_side_at(side, side->tick[i].value));
        cairo_rel_line_to(canvas->cr, plot_tick_length, 0);
    }
    cairo_stroke(canvas->cr);
    for (size_t i = 0; i < side->n; i++) {
        plot_label(canvas, end + away, plot_side_at(side, side->tick[i].value), &tick,
                   side->tick[i].label);
    }
    const double x = end + away + plot_side_label_width(canvas, side) + gap;
    const double width = at->bar - (x - at->grid.x - at->grid.width);
    plot_text_upwards(canvas, (plot_rect){x, bar.y, width, bar.height}, &label, map->bar_label);
}

static void draw_in(plot_canvas *canvas, plot_rect area, const plot_heatmap *map) {
    layout at = lay_out(canvas, area, map);
    draw_cells(canvas, map, &at);
    draw_hidden(canvas, map, &at);
    draw_lines(canvas, map, &at);
    draw_numerals(canvas, map, &at);
    draw_row_names(canvas, map, &at);
    draw_column_names(canvas, map, &at);
    draw_labels(canvas, map, area, &at);
    if (at.bar > 0) draw_bar(canvas, map, &at);
}

void plot_heatmap_draw(plot_canvas *canvas, plot_rect area, const plot_heatmap *map) {
    plot_heatmap kept = *map;
    attni_assert(map->rows > 0 && map->columns > 0);
    if (plot_is_cramped(area)) {
        kept.x_label = kept.y_label = kept.note = NULL;
        if (kept.bar_label && kept.bar_label[0]) kept.bar_label = NULL; /* one without words fits */
    }
    cairo_save(canvas->cr);
    trace_box(canvas, area);
    cairo_clip(canvas->cr);
    draw_in(canvas, area, &kept);
    cairo_restore(canvas->cr);
}
