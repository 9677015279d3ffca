/* SPDX-License-Identifier: Apache-2.0 */
/* figure.h - the figures of the book, docs/book/img. As in an experiment, measure() computes and
 * draw() reads only what measure() left in the tables. Tests: tests/book/test_pictures.py */
#ifndef LAB_BOOK_FIGURE_H
#define LAB_BOOK_FIGURE_H

#include "experiment.h"

/* Points. A narrow page keeps the letters readable on a phone. */
enum { LAB_BOOK_WIDTH = 340 };

typedef struct lab_book_figure {
    const char *name; /* of its files: "masks" for masks.svg and masks-dark.svg */
    double height;    /* points */
    attn_status (*measure)(const lab_settings *settings, lab_data *data, attn_error *err);
    void (*draw)(const lab_data *data, plot_canvas *canvas, plot_rect area);
} lab_book_figure;

/* In the order of the book; ends with NULL. Empty in a build without pictures. */
extern const lab_book_figure *const lab_book_figures[];

/* Writes NAME.svg and NAME-dark.svg of every figure into the folder, which is made if it does not
 * exist. Errors: VALUE (a file cannot be written; the message names it), MEMORY, and those of the
 * engine. Each file appears complete or not at all. */
attn_status lab_book_write(const char *folder, attn_error *err);

/* ---- shared by the figures ---- */

/* Measures what the experiment of the report with this id measures. */
attn_status lab_book_experiment(const char *id, const lab_settings *settings, lab_data *data,
                                attn_error *err);
/* Adds a table (rows, columns) that holds these cells. Errors: MEMORY. */
attn_status lab_book_keep(lab_data *data, const char *name, size_t rows, size_t columns,
                          const double *cell, attn_error *err);

#endif
