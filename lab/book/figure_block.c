/* SPDX-License-Identifier: Apache-2.0 */
/* figure_block.c - the attention block: seven operations from X to the output, with the matrices of
 * one small problem as pictures of their shapes. */
#include "book/figure.h"
#include "plot/diagram.h"
#include "steps/steps.h"
#include "steps/stream.h"

#include <math.h>

enum { N = 6, D_MODEL = 8, D = 4, SHOWN = 7 };

static const lab_part shown[SHOWN] = {LAB_X,      LAB_Q,       LAB_K,     LAB_V,
                                      LAB_SCORES, LAB_WEIGHTS, LAB_OUTPUT};

static attn_status keep_step(lab_data *data, const lab_step *step, attn_error *err) {
    double cell[N * D_MODEL];
    for (int64_t i = 0; i < step->rows; i++)
        for (int64_t j = 0; j < step->columns; j++)
            cell[i * step->columns + j] = lab_step_at(step, 0, i, j);
    return lab_book_keep(data, step->name, (size_t)step->rows, (size_t)step->columns, cell, err);
}

static attn_status measure(const lab_settings *settings, lab_data *data, attn_error *err) {
    double x[N * D_MODEL], w[3][D_MODEL * D];
    lab_stream stream;
    lab_steps steps;
    lab_stream_seed(&stream, settings->seed);
    lab_stream_normals(&stream, N * D_MODEL, 1, x);
    for (int i = 0; i < 3; i++) lab_stream_normals(&stream, D_MODEL * D, 1 / sqrt(D_MODEL), w[i]);
    lab_problem problem = lab_problem_defaults();
    problem.given[LAB_X] = (lab_matrix){N, D_MODEL, x};
    for (int i = 0; i < 3; i++) problem.given[LAB_W_Q + i] = (lab_matrix){D_MODEL, D, w[i]};
    attn_status status = lab_steps_compute(settings->ctx, &problem, &steps, err);
    for (int i = 0; i < SHOWN && status == ATTN_OK; i++)
        status = keep_step(data, &steps.step[shown[i]], err);
    lab_steps_free(&steps);
    return status;
}

/* ---- drawing: positions are in points on a page of 328 x 408 ---- */

static const double column[3] = {56, 160, 272}; /* middles of Q, K and V */
static const double step = 6.4;                 /* side of a cell */

/* The matrix of that part with its middle at x, y; half of its height. */
static double draw_matrix(const lab_data *data, plot_canvas *canvas, lab_part part, double x,
                          double y) {
    const lab_table *table = lab_table_named(data, lab_part_name(part));
    const double width = step * (double)table->columns, height = step * (double)table->rows;
    const bool weights = part == LAB_WEIGHTS;
    const plot_icon icon = {.rows = table->rows,
                            .columns = table->columns,
                            .cell = table->cell,
                            .map = weights ? PLOT_CIVIDIS : PLOT_SIGNED,
                            .limit = weights ? 0.6 : 3};
    plot_icon_draw(canvas, (plot_rect){x - width / 2, y - height / 2, width, height}, &icon);
    return height / 2;
}

static void word(plot_canvas *canvas, double x, double y, double size, bool bold,
                 const char *text) {
    const plot_style style = {.size = size, .bold = bold};
    plot_word(canvas, x, y, &style, text);
}

/* A name, and in faint letters under it a shape and a meaning. */
static void explain(plot_canvas *canvas, double x, double y, const char *name, const char *shape,
                    const char *meaning) {
    const plot_style faint = {.size = 8.5, .color = PLOT_FAINT};
    word(canvas, x, y - 11, 11, true, name);
    plot_word(canvas, x, y + 2, &faint, shape);
    plot_word(canvas, x, y + 13.5, &faint, meaning);
}

static void draw_projections(const lab_data *data, plot_canvas *canvas, double top) {
    static const char *const matrix[3] = {"W<sub>Q</sub>", "W<sub>K</sub>", "W<sub>V</sub>"};
    static const char *const letter[3] = {"Q", "K", "V"};
    static const char *const meaning[3] = {"looks for", "found by", "passes on"};
    static const char *const number[3] = {"1", "2", "3"};
    const double x_y = top + 24, row = top + 118, start = 160;
    const plot_style faint = {.size = 8.5, .color = PLOT_FAINT};
    draw_matrix(data, canvas, LAB_X, start, x_y);
    word(canvas, start + 34, x_y - 7, 11, true, "X");
    plot_word(canvas, start + 34, x_y + 6, &faint, "n × d<sub>model</sub>, a row for each token");
    for (int i = 0; i < 3; i++) {
        const double x = column[i], from = start + 0.16 * (x - start);
        const double y0 = x_y + 23, y1 = row - 22;
        plot_arrow(canvas, from, y0, x, y1, PLOT_FAINT, 1);
        plot_badge(canvas, from + 0.5 * (x - from), (y0 + y1) / 2, 6, PLOT_BLUE, number[i]);
        word(canvas, from + 0.5 * (x - from) + 10, (y0 + y1) / 2, 9.5, false, matrix[i]);
        draw_matrix(data, canvas, (lab_part)(LAB_Q + i), x, row);
        word(canvas, x + 18, row - 7, 11, true, letter[i]);
        plot_word(canvas, x + 18, row + 6, &faint, meaning[i]);
    }
}

/* The operations between scores and weights, each in a box. */
static void draw_boxes(plot_canvas *canvas, double x, double top) {
    static const char *const text[3] = {"÷ √d<sub>k</sub>", "mask", "softmax of each row"};
    static const double width[3] = {52, 52, 112};
    static const char *const number[3] = {"5", NULL, "6"};
    const double height = 19, pitch = 30;
    for (int i = 0; i < 3; i++) {
        const double y = top + pitch * i;
        const plot_style style = {.size = 9.5, .align = PLOT_CENTER};
        plot_arrow(canvas, x, y - pitch + height, x, y, PLOT_FAINT, 1);
        plot_pill(canvas, (plot_rect){x - width[i] / 2, y, width[i], height},
                  number[i] ? PLOT_BLUE : PLOT_FAINT, number[i] ? PLOT_SOLID : PLOT_DASHED);
        plot_text(canvas, (plot_rect){x - width[i] / 2, y + 3.2, width[i], height}, &style,
                  text[i]);
        if (number[i])
            plot_badge(canvas, x - width[i] / 2 - 10, y + height / 2, 6, PLOT_BLUE, number[i]);
    }
    const plot_style faint = {.size = 8.5, .color = PLOT_FAINT};
    plot_word(canvas, x + 34, top + pitch + height / 2, &faint, "optional");
    plot_arrow(canvas, x, top + 2 * pitch + height, x, top + 3 * pitch, PLOT_FAINT, 1);
}

static void draw(const lab_data *data, plot_canvas *canvas, plot_rect area) {
    const double top = area.y, scores = top + 193, boxes = top + 226, last = top + 338;
    const double left = 108, right = column[2];
    draw_projections(data, canvas, top);
    plot_arrow(canvas, column[0] + 4, top + 140, left - 18, scores - 21, PLOT_FAINT, 1);
    plot_arrow(canvas, column[1] - 4, top + 140, left + 18, scores - 21, PLOT_FAINT, 1);
    plot_badge(canvas, left, scores - 30, 6, PLOT_BLUE, "4");
    draw_matrix(data, canvas, LAB_SCORES, left, scores);
    explain(canvas, left + 28, scores, "Q K<sup>T</sup>", "n × n scores: how well",
            "each query matches each key");
    draw_boxes(canvas, left, boxes);
    draw_matrix(data, canvas, LAB_WEIGHTS, left, last);
    plot_arrow(canvas, right, top + 140, right, last - 22, PLOT_FAINT, 1);
    plot_arrow(canvas, left + 24, last, right - 16, last, PLOT_FAINT, 1);
    plot_badge(canvas, (left + right) / 2, last, 6, PLOT_BLUE, "7");
    draw_matrix(data, canvas, LAB_OUTPUT, right, last);
    explain(canvas, left - 18, last + 41, "A", "n × n weights:", "each row sums to 1");
    explain(canvas, right - 44, last + 41, "output A V", "n × d<sub>v</sub>: for each token,",
            "a mean of the values");
}

const lab_book_figure lab_book_block = {"block", 408, measure, draw};
