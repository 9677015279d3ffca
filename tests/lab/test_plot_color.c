/* SPDX-License-Identifier: Apache-2.0 */
/* test_plot_color.c - colours that everybody can read and tell apart. */
#include "check.h"
#include "plot/ink.h"

#include <math.h>

static const plot_theme theme[] = {PLOT_LIGHT, PLOT_DARK};

TEST(luminance_and_contrast_agree_with_wcag) {
    const plot_rgb black = {0, 0, 0}, white = {1, 1, 1},
                   grey = {119 / 255.0, 119 / 255.0, 119 / 255.0};
    CHECK_NEAR(plot_contrast(black, white), 21, 1e-9);
    CHECK_NEAR(plot_contrast(grey, white), 4.48, 0.005); /* the well-known #777 on white */
}

TEST(graphics_have_contrast_three_on_paper) {
    for (int t = 0; t < 2; t++) {
        for (int c = 0; c < PLOT_COLORS; c++) {
            const double ratio =
                plot_contrast(plot_graphic_rgb(theme[t], (plot_color)c), plot_paper(theme[t]));
            CHECK_MSG(ratio >= 3, "theme %d colour %d: contrast %.2f", t, c, ratio);
        }
    }
}

TEST(text_has_contrast_four_and_a_half_on_paper) {
    for (int t = 0; t < 2; t++) {
        for (int c = 0; c < PLOT_COLORS; c++) {
            const double ratio =
                plot_contrast(plot_text_rgb(theme[t], (plot_color)c), plot_paper(theme[t]));
            CHECK_MSG(ratio >= 4.5, "theme %d colour %d: contrast %.2f", t, c, ratio);
        }
    }
}

TEST(numerals_have_contrast_four_and_a_half_on_every_cell) {
    for (int t = 0; t < 2; t++) {
        for (int map = 0; map < 2; map++) {
            for (int i = 0; i <= 1000; i++) {
                const plot_rgb cell = plot_map_rgb(theme[t], (plot_map)map, i / 1000.0);
                const double ratio = plot_contrast(cell, plot_numeral_rgb(cell));
                CHECK_MSG(ratio >= 4.5, "map %d at %d: contrast %.2f", map, i, ratio);
            }
        }
    }
}

/* Read in grey, or by eyes without red or green: larger is lighter. */
TEST(cividis_grows_lighter_all_the_way) {
    double last = -1;
    for (int i = 0; i <= 1000; i++) {
        const double now = plot_luminance(plot_map_rgb(PLOT_LIGHT, PLOT_CIVIDIS, i / 1000.0));
        CHECK_MSG(now > last, "at %d: luminance %.5f after %.5f", i, now, last);
        last = now;
    }
}

TEST(signed_scale_is_as_strong_on_both_sides) {
    for (int t = 0; t < 2; t++) {
        const double zero = plot_luminance(plot_map_rgb(theme[t], PLOT_SIGNED, 0.5));
        for (int i = 0; i < 500; i += 50) {
            const double low = plot_luminance(plot_map_rgb(theme[t], PLOT_SIGNED, i / 1000.0));
            const double high = plot_luminance(plot_map_rgb(theme[t], PLOT_SIGNED, 1 - i / 1000.0));
            CHECK_MSG((low - zero) * (high - zero) > 0, "theme %d at %d", t, i);
            CHECK_NEAR(low, high, 0.12);
        }
    }
}

TEST(hatching_is_a_colour_off_both_scales) {
    for (int t = 0; t < 2; t++) {
        const plot_rgb hatch = plot_hatch_rgb(theme[t]);
        for (int i = 0; i <= 2000; i++) {
            const plot_rgb cell = plot_map_rgb(theme[t], (plot_map)(i % 2), i / 2000.0);
            const double distance =
                fmax(fabs(hatch.r - cell.r), fmax(fabs(hatch.g - cell.g), fabs(hatch.b - cell.b)));
            CHECK_MSG(distance > 0.05, "theme %d at %d: %.3f", t, i, distance);
        }
    }
}

TEST(values_beyond_the_scale_take_its_ends) {
    const plot_rgb end = plot_map_rgb(PLOT_LIGHT, PLOT_CIVIDIS, 1);
    const plot_rgb beyond = plot_map_rgb(PLOT_LIGHT, PLOT_CIVIDIS, 7);
    CHECK_NEAR(beyond.r, end.r, 0);
    CHECK_NEAR(plot_map_rgb(PLOT_LIGHT, PLOT_CIVIDIS, -1).b,
               plot_map_rgb(PLOT_LIGHT, PLOT_CIVIDIS, 0).b, 0);
}
