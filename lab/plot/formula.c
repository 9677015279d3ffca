/* SPDX-License-Identifier: Apache-2.0 */
#include "ink.h"
void plot_formula(plot_canvas *canvas, plot_rect area, double size) {
    const plot_style style = {.size = size, .align = PLOT_CENTER};
    plot_text_middle(canvas, area, &style, "softmax(Q K<sup>T</sup> / √d<sub>k</sub>) V");
}
