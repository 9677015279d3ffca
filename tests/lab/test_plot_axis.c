/* SPDX-License-Identifier: Apache-2.0 */
/* test_plot_axis.c - ranges are rounded outwards, ticks are round and never touch. */
#include "check.h"
#include "plot/axis.h"
#include "plot_sheet.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static plot_range range_of(plot_scale scale, double low, double high) {
    const plot_axis axis = {.scale = scale};
    return plot_range_find(&axis, low, high);
}

TEST(linear_range_is_rounded_outwards) {
    const plot_range range = range_of(PLOT_LINEAR, 0.13, 2.41);
    CHECK_NEAR(range.min, 0, 1e-12);
    CHECK_NEAR(range.max, 2.5, 1e-12);
}

TEST(log2_range_ends_at_powers_of_two) {
    const plot_range range = range_of(PLOT_LOG2, 5, 1000);
    CHECK_NEAR(range.min, 4, 1e-12);
    CHECK_NEAR(range.max, 1024, 1e-9);
}

TEST(given_range_is_kept) {
    const plot_axis axis = {.min = 0, .max = 105};
    const plot_range range = plot_range_find(&axis, 3, 7);
    CHECK_NEAR(range.min, 0, 0);
    CHECK_NEAR(range.max, 105, 0);
}

/* Whatever the data, a range has room and holds them, to a part in 1e9 of its size. */
static void check_range(plot_scale scale, double low, double high) {
    const plot_range range = range_of(scale, low, high);
    const double slack = scale == PLOT_LINEAR ? 1e-9 * fmax(fabs(range.min), fabs(range.max)) : 0;
    CHECK_MSG(isfinite(range.max - range.min) && range.min < range.max,
              "scale %d, %g .. %g: %g .. %g", scale, low, high, range.min, range.max);
    CHECK_MSG(range.min - slack <= low && high <= range.max + slack, "scale %d, %g .. %g: %g .. %g",
              scale, low, high, range.min, range.max);
}

TEST(every_range_holds_its_data) {
    static const double value[] = {-1e300, -7, -1e-12, 0, 1e-300, 1e-9, 0.3, 1, 64, 1e300};
    const size_t n = sizeof value / sizeof *value;
    for (int scale = PLOT_LINEAR; scale <= PLOT_LOG10; scale++) {
        for (size_t i = 0; i < n * n && !check_has_failed(); i++) {
            const double low = value[i / n], high = value[i % n];
            if (low <= high && (scale == PLOT_LINEAR || low > 0)) {
                check_range((plot_scale)scale, low, high);
            }
        }
    }
}

TEST(no_data_gives_a_range_all_the_same) {
    const plot_range range = range_of(PLOT_LOG10, INFINITY, -INFINITY);
    CHECK(range.min > 0 && range.min < range.max);
}

TEST(log_scale_has_no_place_for_zero) {
    const plot_range range = {PLOT_LOG2, 1, 1024};
    CHECK(isnan(plot_range_share(range, 0)));
    CHECK_NEAR(plot_range_share(range, 32), 0.5, 1e-12);
}

/* ---- ticks ---- */

static plot_canvas *open_canvas(void) {
    const plot_output output = {
        .format = PLOT_SVG, .path = "/dev/null", .width = 1000, .height = 1000};
    plot_canvas *canvas;
    return plot_open(&output, &canvas, NULL) == ATTN_OK ? canvas : NULL;
}

/* The labels of an axis, separated by spaces. */
static const char *labels(plot_range range, double length, bool vertical) {
    static char text[1024];
    plot_side side = {.range = range, .vertical = vertical, .size = 8};
    side.from = vertical ? length : 0;
    side.to = vertical ? 0 : length;
    plot_canvas *canvas = open_canvas();
    if (canvas == NULL) return "no canvas";
    plot_side_find_ticks(canvas, &side, NULL);
    text[0] = 0;
    for (size_t i = 0; i < side.n; i++) {
        const size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s", i > 0 ? " " : "", side.tick[i].label);
    }
    plot_close(canvas, NULL);
    return text;
}

TEST(linear_ticks_have_as_many_decimals_as_they_need) {
    CHECK_STR(labels((plot_range){PLOT_LINEAR, 0, 1}, 200, true), "0.0 0.2 0.4 0.6 0.8 1.0");
    CHECK_STR(labels((plot_range){PLOT_LINEAR, -50, 50}, 100, true), "−50 0 50");
}

TEST(log2_ticks_are_plain_numbers_where_short) {
    CHECK_STR(labels((plot_range){PLOT_LOG2, 32, 1024}, 300, false), "32 64 128 256 512 1024");
    CHECK_STR(labels((plot_range){PLOT_LOG2, 0.25, 4}, 300, false), "0.25 0.5 1 2 4");
}

TEST(log2_ticks_are_powers_where_long) {
    CHECK_STR(labels((plot_range){PLOT_LOG2, 1.0 / 256, 1024}, 100, true), "2⁻⁸ 2⁻⁴ 2⁰ 2⁴ 2⁸");
}

TEST(log10_ticks_are_powers_with_superscripts) {
    CHECK_STR(labels((plot_range){PLOT_LOG10, 1e-3, 1e2}, 200, true), "10⁻³ 10⁻² 10⁻¹ 10⁰ 10¹ 10²");
    CHECK_STR(labels((plot_range){PLOT_LOG10, 1e-300, 1e300}, 300, false),
              "10⁻³⁰⁰ 10⁻²⁰⁰ 10⁻¹⁰⁰ 10⁰ 10¹⁰⁰ 10²⁰⁰ 10³⁰⁰");
}

TEST(short_log10_axis_is_labelled_between_powers) {
    CHECK_STR(labels((plot_range){PLOT_LOG10, 0.1, 10}, 300, false), "0.1 0.2 0.5 1 2 5 10");
}

TEST(large_numbers_share_a_power_of_ten) {
    CHECK_STR(labels((plot_range){PLOT_LINEAR, 0, 3e6}, 100, true), "0 1×10⁶ 2×10⁶ 3×10⁶");
}

TEST(negative_zero_is_zero) {
    CHECK_STR(plot_number("%.2f", -0.001).c, "0.00");
    CHECK_STR(plot_number("%.2f", -0.01).c, "−0.01");
}

/* Any range on any length: neighbours keep apart. */
TEST(labels_at_ticks_never_touch) {
    static const double end[] = {1e-9, 0.7, 1, 3, 64, 12345, 1e6, 1e12};
    plot_canvas *canvas = open_canvas();
    CHECK(canvas != NULL);
    const plot_style style = {.size = 8};
    bool apart = true;
    for (int scale = PLOT_LINEAR; scale <= PLOT_LOG10; scale++) {
        for (size_t i = 0; i < 8 * 8; i++) {
            plot_side side = {.range = {(plot_scale)scale, end[i / 8], end[i % 8]}, .size = 8};
            if (i / 8 >= i % 8) continue;
            side.to = 20 + 5 * (double)i;
            plot_side_find_ticks(canvas, &side, NULL);
            for (size_t k = 0; k + 1 < side.n; k++) {
                const plot_tick *a = &side.tick[k], *b = &side.tick[k + 1];
                const double room = plot_side_at(&side, b->value) - plot_side_at(&side, a->value);
                const double need = plot_measure(canvas, &style, a->label).width / 2 +
                                    plot_measure(canvas, &style, b->label).width / 2;
                apart = apart && room > need + 2;
            }
        }
    }
    plot_close(canvas, NULL);
    CHECK(apart);
}
