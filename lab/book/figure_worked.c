/* SPDX-License-Identifier: Apache-2.0 */
/* figure_worked.c - the example of document 001 from queries, keys and values to the output, every
 * number in its cell. */
#include "book/figure.h"
#include "core/base.h"
#include "plot/diagram.h"
#include "steps/examples.h"

enum { PANELS = 6, COLUMNS = 3 };

/* What is shown, in two rows. */
static const struct panel {
    lab_part part;
    const char *title, *format;
    plot_map map;
    double limit;
} panels[PANELS] = {
    {LAB_Q, "Q, queries", "%g", PLOT_SIGNED, 3},
    {LAB_K, "K, keys", "%g", PLOT_SIGNED, 3},
    {LAB_V, "V, values", "%g", PLOT_SIGNED, 3},
    {LAB_SCALED, "scores QK<sup>T</sup>/√2", "%.3f", PLOT_SIGNED, 3},
    {LAB_WEIGHTS, "weights", "%.3f", PLOT_CIVIDIS, 0.5},
    {LAB_OUTPUT, "output", "%.3f", PLOT_SIGNED, 3},
};

static attn_status measure(const lab_settings *settings, lab_data *data, attn_error *err) {
    const lab_example *example = lab_example_named("001");
    lab_steps steps;
    attn_status status = lab_steps_compute(settings->ctx, &example->problem, &steps, err);
    for (int i = 0; i < PANELS && status == ATTN_OK; i++) {
        const lab_step *step = &steps.step[panels[i].part];
        lab_table *table =
            lab_table_add(data, step->name, (size_t)step->rows, (size_t)step->columns, NULL);
        if (!table) status = attni_fail(err, ATTN_E_MEMORY, "worked: no memory");
        for (int64_t c = 0; table && c < step->rows * step->columns; c++)
            table->cell[c] = lab_step_at(step, 0, c / step->columns, c % step->columns);
    }
    lab_steps_free(&steps);
    return status;
}

static void draw_panel(const lab_data *data, const struct panel *panel, plot_canvas *canvas,
                       plot_rect area) {
    static const char *const query[] = {"q 0", "q 1"}, *const key[] = {"k 0", "k 1", "k 2"},
                             *const dim[] = {"dim 0", "dim 1"};
    const lab_table *table = lab_table_named(data, lab_part_name(panel->part));
    plot_heatmap_draw(canvas, area,
                      &(plot_heatmap){.title = panel->title,
                                      .rows = table->rows,
                                      .columns = table->columns,
                                      .cell = table->cell,
                                      .row_name = table->rows == 2 ? query : key,
                                      .column_name = table->columns == 2 ? dim : key,
                                      .map = panel->map,
                                      .min = panel->map == PLOT_SIGNED ? -panel->limit : 0,
                                      .max = panel->limit,
                                      .number = panel->format});
}

static void draw(const lab_data *data, plot_canvas *canvas, plot_rect area) {
    static const char *const between[2] = {"softmax", "times V"};
    const double gap = 34;
    const plot_rect above = plot_inset(area, 0, 0, 0, area.height - 112),
                    below = plot_inset(area, 0, 128, 0, 0);
    for (int i = 0; i < PANELS; i++) {
        const plot_rect row = i < COLUMNS ? above : below;
        draw_panel(data, &panels[i], canvas, plot_grid(row, 1, COLUMNS, (size_t)i % COLUMNS, gap));
    }
    const plot_style style = {.size = 7.5, .align = PLOT_CENTER, .color = PLOT_FAINT};
    const double y = below.y + below.height / 2 + 2;
    for (int i = 0; i < 2; i++) {
        const plot_rect cell = plot_grid(below, 1, COLUMNS, (size_t)i, gap);
        const double x = cell.x + cell.width;
        plot_arrow(canvas, x + 4, y, x + gap - 3, y, PLOT_BLUE, 1.2);
        plot_word(canvas, x + gap / 2, y - 9, &style, between[i]);
    }
}

const lab_book_figure lab_book_worked = {"worked", 232, measure, draw};
