/* SPDX-License-Identifier: Apache-2.0 */
/* figure_list.c - the figures of the book, in its order. To add one: write its file, add a line
 * here. Tests: tests/book/test_pictures.py */
#include "book/figure.h"

#define FIGURES(X)                                                                                 \
    X(block)                                                                                       \
    X(worked)                                                                                      \
    X(masks)                                                                                       \
    X(saturation)                                                                                  \
    X(sharpness)                                                                                   \
    X(gradients)                                                                                   \
    X(cost)                                                                                        \
    X(patterns)                                                                                    \
    X(walk)                                                                                        \
    X(mistakes)                                                                                    \
    X(shift)                                                                                       \
    X(temperature)

#define X(name) extern const lab_book_figure lab_book_##name;
FIGURES(X)
#undef X

#define X(name) &lab_book_##name,
const lab_book_figure *const lab_book_figures[] = {FIGURES(X) NULL};
#undef X
