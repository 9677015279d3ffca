/* SPDX-License-Identifier: Apache-2.0 */
/* plot_gallery_main.c - draws the gallery for people to look at. plot_gallery FOLDER [png|svg|pdf]
 * [light|dark] [SCALE]: one file a picture; SCALE makes the areas smaller, not the type. */
#include "plot_gallery.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static attn_status draw(const gallery_item *item, const plot_output *output, attn_error *err) {
    plot_canvas *canvas;
    const attn_status status = plot_open(output, &canvas, err);
    if (status != ATTN_OK) return status;
    item->draw(canvas, plot_inset(plot_page(canvas), 10, 10, 10, 10));
    return plot_close(canvas, err);
}

int main(int argc, char **argv) {
    static const char *const suffix[] = {"pdf", "svg", "png"};
    plot_output output = {.format = PLOT_PNG};
    double scale = 1;
    for (int i = 2; i < argc; i++) {
        for (int f = 0; f < 3; f++) {
            if (strcmp(argv[i], suffix[f]) == 0) output.format = (plot_format)f;
        }
        if (strcmp(argv[i], "dark") == 0) output.theme = PLOT_DARK;
        if (strtod(argv[i], NULL) > 0) scale = strtod(argv[i], NULL);
    }
    for (size_t i = 0; argc > 1 && i < gallery_length; i++) {
        char path[512];
        attn_error err;
        snprintf(path, sizeof path, "%s/%s.%s", argv[1], gallery[i].name, suffix[output.format]);
        output.path = path;
        output.width = scale * gallery[i].width + 20;
        output.height = scale * gallery[i].height + 20;
        if (draw(&gallery[i], &output, &err) == ATTN_OK) continue;
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    return argc > 1 ? 0 : 2;
}
