/* SPDX-License-Identifier: Apache-2.0 */
/* panels.h - where the panels of a figure go: beside each other on a page, below each other in an
 * area that is taller than wide, as on a phone. Tests: tests/lab/test_experiments.c */
#ifndef LAB_PANELS_H
#define LAB_PANELS_H

#include "plot/plot.h"

static inline bool lab_is_tall(plot_rect area) { return area.height > 1.1 * area.width; }

/* Panel i of a figure of rows x columns panels. */
static inline plot_rect lab_panel(plot_rect area, size_t rows, size_t columns, size_t i) {
    const bool tall = lab_is_tall(area);
    return plot_grid(area, tall ? rows * columns : rows, tall ? 1 : columns, i, tall ? 22 : 20);
}

#endif
