/* SPDX-License-Identifier: Apache-2.0 */
#include "ink.h"
void plot_chart_draw(plot_canvas *canvas, plot_rect area, const plot_chart *what) {
    const plot_style style = {.size = PLOT_TITLE_SIZE, .bold = true};
    plot_box(canvas, area, PLOT_FAINT, false);
    if (what->title) plot_text(canvas, plot_inset(area, 4, 4, 4, 4), &style, what->title);
}
