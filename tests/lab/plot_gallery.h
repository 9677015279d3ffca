/* SPDX-License-Identifier: Apache-2.0 */
/* plot_gallery.h - one drawing of every kind of picture, most of them from hostile input. Drawn by
 * the tests of lab/plot, and by the program plot_gallery for people to look at. */
#ifndef PLOT_GALLERY_H
#define PLOT_GALLERY_H

#include "plot/plot.h"

typedef struct gallery_item {
    const char *name;
    double width, height; /* of the area it is made for */
    void (*draw)(plot_canvas *canvas, plot_rect area);
} gallery_item;

extern const gallery_item gallery[];
extern const size_t gallery_length;

#endif
