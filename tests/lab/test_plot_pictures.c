/* SPDX-License-Identifier: Apache-2.0 */
/* test_plot_pictures.c - pictures looked at by pixel: colours where they belong, none elsewhere. */
#include "check.h"
#include "plot_gallery.h"
#include "plot_sheet.h"

#include <math.h>

/* ---- areas are not left ---- */

static const double margin = 30;

/* Pixels of the border that are not paper. */
static size_t ink_outside(const plot_sheet *sheet, plot_rgb paper) {
    const plot_rect page = {0, 0, sheet->width / 2.0, sheet->height / 2.0};
    const plot_rect area = plot_inset(page, margin, margin, margin, margin);
    const size_t all = sheet_count(sheet, page, (plot_rgb){0.5, 0.5, 0.5}, 1);
    const size_t inside = sheet_count(sheet, area, (plot_rgb){0.5, 0.5, 0.5}, 1);
    return (all - inside) -
           (sheet_count(sheet, page, paper, 0.002) - sheet_count(sheet, area, paper, 0.002));
}

TEST(no_picture_draws_outside_its_area) {
    for (size_t i = 0; i < gallery_length; i++) {
        const plot_output page = {.width = gallery[i].width + 2 * margin,
                                  .height = gallery[i].height + 2 * margin};
        plot_sheet sheet = sheet_render(&page, margin, gallery[i].draw);
        CHECK(sheet.image != NULL);
        const size_t outside = ink_outside(&sheet, plot_paper(PLOT_LIGHT));
        sheet_free(&sheet);
        CHECK_MSG(outside == 0, "%s: %zu pixels", gallery[i].name, outside);
    }
}

static void draw_long_text(plot_canvas *canvas, plot_rect area) {
    const plot_style style = {.size = 12, .italic = true, .align = PLOT_CENTER};
    plot_text(canvas, area, &style,
              "far too many words, and incomprehensibilities, for so small a box");
    plot_formula(canvas, area, 24);
}

TEST(text_in_a_tiny_area_does_not_leave_it) {
    for (double side = 0; side < 60; side += 7) {
        const plot_output page = {.width = side + 2 * margin, .height = side / 2 + 2 * margin};
        plot_sheet sheet = sheet_render(&page, margin, draw_long_text);
        CHECK(sheet.image != NULL);
        const size_t outside = ink_outside(&sheet, plot_paper(PLOT_LIGHT));
        sheet_free(&sheet);
        CHECK_MSG(outside == 0, "%g points: %zu pixels", side, outside);
    }
}

static void draw_many_words(plot_canvas *canvas, plot_rect area) {
    const plot_style style = {.size = 12};
    plot_text(canvas, area, &style,
              "<b>words</b> and words and words and words and words and words");
}

TEST(text_too_long_for_its_area_is_shrunk_not_dropped) {
    const plot_output page = {.width = 60 + 2 * margin, .height = 30 + 2 * margin};
    plot_sheet sheet = sheet_render(&page, margin, draw_many_words);
    const size_t ink =
        sheet_count(&sheet, (plot_rect){margin, margin, 60, 30}, (plot_rgb){0, 0, 0}, 0.4);
    sheet_free(&sheet);
    CHECK_MSG(ink > 100, "%zu dark pixels", ink);
}

static double height_used, height_measured;

static void measure_text(plot_canvas *canvas, plot_rect area) {
    const plot_style style = {.size = 10};
    const char *words = "text that wraps to a few lines in an area of this width";
    height_measured = plot_text_height(canvas, area.width, &style, words);
    height_used = plot_text(canvas, area, &style, words);
}

TEST(measured_height_is_the_height_drawn) {
    const plot_output page = {.width = 120, .height = 200};
    plot_sheet sheet = sheet_render(&page, 10, measure_text);
    sheet_free(&sheet);
    CHECK_NEAR(height_used, height_measured, 1e-9);
    CHECK(height_used > 2 * 10 * 1.35);
}

/* ---- heatmaps ---- */

/* Without words or numerals, so that every pixel is a cell, a line or the bar. */
static void draw_plain_map(plot_canvas *canvas, plot_rect area) {
    static const double cell[] = {0, 0.5, 1, 0.25};
    static const unsigned char hidden[] = {0, 0, 0, 1};
    const plot_heatmap map = {
        .rows = 2, .columns = 2, .cell = cell, .hidden = hidden, .max = 1, .bar_label = "value"};
    plot_heatmap_draw(canvas, area, &map);
}

static plot_sheet plain_map(plot_theme theme) {
    const plot_output page = {.width = 300, .height = 200, .theme = theme};
    return sheet_render(&page, 10, draw_plain_map);
}

static const plot_rect whole_page = {0, 0, 300, 200};

TEST(masked_cells_are_hatched_and_not_coloured) {
    for (int t = PLOT_LIGHT; t <= PLOT_DARK; t++) {
        plot_sheet sheet = plain_map((plot_theme)t);
        CHECK(sheet.image != NULL);
        const plot_rgb hatch = plot_hatch_rgb((plot_theme)t);
        const plot_rgb masked = plot_map_rgb((plot_theme)t, PLOT_CIVIDIS, 0.25);
        const plot_rect cells = {10, 10, 200, 180}; /* left of the bar */
        const size_t hatched = sheet_count(&sheet, cells, hatch, 0.06);
        const size_t coloured = sheet_count(&sheet, cells, masked, 0.01);
        sheet_free(&sheet);
        CHECK_MSG(hatched > 300, "theme %d: %zu pixels of hatching", t, hatched);
        CHECK_MSG(coloured < 20, "theme %d: %zu pixels of the hidden value", t, coloured);
    }
}

TEST(cells_have_the_colours_of_their_values) {
    plot_sheet sheet = plain_map(PLOT_LIGHT);
    CHECK(sheet.image != NULL);
    const size_t zero =
        sheet_count(&sheet, whole_page, plot_map_rgb(PLOT_LIGHT, PLOT_CIVIDIS, 0), 0.004);
    const size_t half =
        sheet_count(&sheet, whole_page, plot_map_rgb(PLOT_LIGHT, PLOT_CIVIDIS, 0.5), 0.004);
    sheet_free(&sheet);
    CHECK_MSG(zero > 10000 && half > 10000, "%zu and %zu pixels", zero, half);
}

/* The right-most column of pixels that has colours of the scale crosses the colour bar. */
static int bar_column(const plot_sheet *sheet) {
    const plot_rgb top = plot_map_rgb(PLOT_LIGHT, PLOT_CIVIDIS, 1);
    for (int x = sheet->width - 1; x >= 0; x--) {
        const plot_rect column = {x / 2.0, 0, 0.5, 200};
        if (sheet_count(sheet, column, top, 0.03) > 0) return x - 4;
    }
    return -1;
}

static bool is_paper(plot_rgb rgb) { return rgb.r > 0.99 && rgb.g > 0.99 && rgb.b > 0.99; }

TEST(ends_of_the_colour_bar_are_the_ends_of_the_scale) {
    plot_sheet sheet = plain_map(PLOT_LIGHT);
    CHECK(sheet.image != NULL);
    const int x = bar_column(&sheet);
    CHECK(x > 0);
    int top = 0, bottom = sheet.height - 1;
    while (is_paper(sheet_pixel(&sheet, x, top))) top++;
    while (is_paper(sheet_pixel(&sheet, x, bottom))) bottom--;
    const plot_rgb high = sheet_pixel(&sheet, x, top + 1), low = sheet_pixel(&sheet, x, bottom - 1);
    const plot_rgb one = plot_map_rgb(PLOT_LIGHT, PLOT_CIVIDIS, 1);
    const plot_rgb zero = plot_map_rgb(PLOT_LIGHT, PLOT_CIVIDIS, 0);
    sheet_free(&sheet);
    CHECK_NEAR(high.r, one.r, 0.02);
    CHECK_NEAR(high.b, one.b, 0.02);
    CHECK_NEAR(low.r, zero.r, 0.02);
    CHECK_NEAR(low.b, zero.b, 0.02);
}

static void draw_poisoned_map(plot_canvas *canvas, plot_rect area) {
    static const double cell[] = {0, 0.5, 1, 1e300};
    static const unsigned char hidden[] = {0, 0, 0, 1};
    const plot_heatmap map = {.rows = 2, .columns = 2, .cell = cell, .hidden = hidden};
    plot_heatmap_draw(canvas, area, &map);
}

TEST(masked_values_do_not_stretch_the_scale) {
    const plot_output page = {.width = 300, .height = 200};
    plot_sheet sheet = sheet_render(&page, 10, draw_poisoned_map);
    CHECK(sheet.image != NULL);
    const plot_rgb one = plot_map_rgb(PLOT_LIGHT, PLOT_CIVIDIS, 1);
    const size_t bright = sheet_count(&sheet, whole_page, one, 0.004);
    sheet_free(&sheet);
    CHECK_MSG(bright > 10000, "%zu pixels of the largest value", bright);
}

/* ---- charts ---- */

static const plot_output chart_page = {.width = 300, .height = 200};

static void draw_line_with_gap(plot_canvas *canvas, plot_rect area) {
    const double x[] = {0, 1, 2, 3, 4}, y[] = {1, 1, NAN, 1, 1};
    const plot_series series[] = {
        {.color = PLOT_BLUE, .n = 5, .x = x, .y = y, .mark = PLOT_NO_MARK}};
    const plot_chart chart = {.y = {.min = 0, .max = 2}, .series = series, .n_series = 1};
    plot_chart_draw(canvas, area, &chart);
}

/* Half of four equal steps is a gap: half as much blue as without it. */
TEST(not_a_number_leaves_a_gap) {
    plot_sheet sheet = sheet_render(&chart_page, 10, draw_line_with_gap);
    CHECK(sheet.image != NULL);
    const plot_rgb blue = plot_graphic_rgb(PLOT_LIGHT, PLOT_BLUE);
    size_t columns = 0, first = 0, last = 0;
    for (int x = 0; x < sheet.width; x++) {
        if (sheet_count(&sheet, (plot_rect){x / 2.0, 0, 0.5, 200}, blue, 0.1) == 0) continue;
        if (columns++ == 0) first = (size_t)x;
        last = (size_t)x;
    }
    sheet_free(&sheet);
    CHECK_NEAR((double)columns / (double)(last - first + 1), 0.5, 0.02);
}

static void draw_bars_of_three(plot_canvas *canvas, plot_rect area) {
    static const char *const group[] = {"a", "b", "c"};
    static const double value[] = {1, 2, 0};
    const plot_bar_series series[] = {{NULL, PLOT_BLUE, value, 0}};
    const plot_bars bars = {
        .group = group, .n_groups = 3, .series = series, .n_series = 1, .number = "%g"};
    plot_bars_draw(canvas, area, &bars);
}

TEST(bars_cover_areas_like_their_values) {
    plot_sheet sheet = sheet_render(&chart_page, 10, draw_bars_of_three);
    CHECK(sheet.image != NULL);
    const plot_rgb blue = plot_graphic_rgb(PLOT_LIGHT, PLOT_BLUE);
    const plot_rect left = {0, 0, 115, 200}, middle = {115, 0, 90, 200}, right = {205, 0, 95, 200};
    const double one = (double)sheet_count(&sheet, left, blue, 0.02);
    const double two = (double)sheet_count(&sheet, middle, blue, 0.02);
    const size_t none = sheet_count(&sheet, right, blue, 0.02);
    sheet_free(&sheet);
    CHECK_NEAR(two / one, 2, 0.03);
    CHECK_INT(none, 0);
}

/* Under the third bar's place there is its name, above it its number: text, although no bar. */
TEST(zero_is_written_where_it_has_no_bar) {
    plot_sheet sheet = sheet_render(&chart_page, 10, draw_bars_of_three);
    CHECK(sheet.image != NULL);
    const plot_rect place = {205, 20, 80, 154};
    const size_t ink = sheet_count(&sheet, place, (plot_rgb){0.1, 0.1, 0.1}, 0.2);
    sheet_free(&sheet);
    CHECK_MSG(ink > 5, "%zu dark pixels", ink);
}

static void draw_band(plot_canvas *canvas, plot_rect area) {
    static const double x[] = {0, 1}, y[] = {5, 5}, low[] = {0, 0}, high[] = {10, 10};
    const plot_series series[] = {{.color = PLOT_RED,
                                   .dash = PLOT_NO_LINE,
                                   .n = 2,
                                   .x = x,
                                   .y = y,
                                   .low = low,
                                   .high = high}};
    const plot_chart chart = {.y = {.min = 0, .max = 20}, .series = series, .n_series = 1};
    plot_chart_draw(canvas, area, &chart);
}

TEST(band_is_a_tint_between_low_and_high) {
    plot_sheet sheet = sheet_render(&chart_page, 10, draw_band);
    CHECK(sheet.image != NULL);
    const plot_rgb tint =
        plot_blend(plot_paper(PLOT_LIGHT), plot_graphic_rgb(PLOT_LIGHT, PLOT_RED), 0.16);
    const size_t above = sheet_count(&sheet, (plot_rect){0, 0, 300, 90}, tint, 0.01);
    const size_t below = sheet_count(&sheet, (plot_rect){0, 90, 300, 110}, tint, 0.01);
    sheet_free(&sheet);
    CHECK_MSG(below > 40000 && above < 2000, "%zu above, %zu below", above, below);
}

/* The middle of the page of this chart is full of lines; its legend must not be among them. */
static void draw_diagonal(plot_canvas *canvas, plot_rect area) {
    static const double x[] = {0, 1}, y[] = {0, 1};
    const plot_series series[] = {{.name = "rising", .color = PLOT_GREEN, .n = 2, .x = x, .y = y}};
    const plot_chart chart = {.series = series, .n_series = 1};
    plot_chart_draw(canvas, area, &chart);
}

TEST(legend_goes_to_a_corner_without_data) {
    plot_sheet sheet = sheet_render(&chart_page, 10, draw_diagonal);
    CHECK(sheet.image != NULL);
    const plot_rgb green = plot_graphic_rgb(PLOT_LIGHT, PLOT_GREEN);
    /* The line rises from lower left to upper right: its sample is in one of the other corners. */
    const size_t upper_left = sheet_count(&sheet, (plot_rect){30, 10, 60, 40}, green, 0.1);
    const size_t lower_right = sheet_count(&sheet, (plot_rect){200, 130, 90, 40}, green, 0.1);
    sheet_free(&sheet);
    CHECK_MSG((upper_left > 20) != (lower_right > 20), "%zu and %zu", upper_left, lower_right);
}
