/* SPDX-License-Identifier: Apache-2.0 */
/* plot_sheet.c - see plot_sheet.h. */
#include "plot_sheet.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char *sheet_write(plot_format format, const plot_output *page, double margin,
                        sheet_draw_fn *draw) {
    static const char *const suffix[] = {"pdf", "svg", "png"};
    static char path[64];
    snprintf(path, sizeof path, "plot_sheet_%d.%s", (int)getpid(), suffix[format]);
    plot_output output = *page;
    output.format = format;
    output.path = path;
    output.title = "A sheet";
    plot_canvas *canvas;
    if (plot_open(&output, &canvas, NULL) != ATTN_OK) return NULL;
    draw(canvas, plot_inset(plot_page(canvas), margin, margin, margin, margin));
    return plot_close(canvas, NULL) == ATTN_OK ? path : NULL;
}

unsigned char *sheet_bytes(const char *path, size_t *size) {
    FILE *file = path ? fopen(path, "rb") : NULL;
    if (file == NULL) return NULL;
    fseek(file, 0, SEEK_END);
    const long end = ftell(file);
    rewind(file);
    unsigned char *bytes = end > 0 ? malloc((size_t)end) : NULL;
    *size = bytes ? fread(bytes, 1, (size_t)end, file) : 0;
    fclose(file);
    return bytes;
}

plot_sheet sheet_render(const plot_output *page, double margin, sheet_draw_fn *draw) {
    plot_sheet sheet = {.image = NULL};
    const char *path = sheet_write(PLOT_PNG, page, margin, draw);
    if (path == NULL) return sheet;
    sheet.image = cairo_image_surface_create_from_png(path);
    sheet.width = cairo_image_surface_get_width(sheet.image);
    sheet.height = cairo_image_surface_get_height(sheet.image);
    remove(path);
    return sheet;
}

void sheet_free(plot_sheet *sheet) {
    cairo_surface_destroy(sheet->image);
    sheet->image = NULL;
}

plot_rgb sheet_pixel(const plot_sheet *sheet, int x, int y) {
    const unsigned char *data = cairo_image_surface_get_data(sheet->image);
    const unsigned char *row = data + y * cairo_image_surface_get_stride(sheet->image);
    const uint32_t pixel = ((const uint32_t *)(const void *)row)[x];
    return (plot_rgb){(double)(pixel >> 16 & 255) / 255, (double)(pixel >> 8 & 255) / 255,
                      (double)(pixel & 255) / 255};
}

static bool is_near(plot_rgb a, plot_rgb b, double within) {
    return fabs(a.r - b.r) <= within && fabs(a.g - b.g) <= within && fabs(a.b - b.b) <= within;
}

size_t sheet_count(const plot_sheet *sheet, plot_rect area, plot_rgb color, double within) {
    const int left = (int)floor(2 * area.x), right = (int)ceil(2 * (area.x + area.width));
    const int top = (int)floor(2 * area.y), bottom = (int)ceil(2 * (area.y + area.height));
    size_t n = 0;
    for (int y = MAX(top, 0); y < MIN(bottom, sheet->height); y++) {
        for (int x = MAX(left, 0); x < MIN(right, sheet->width); x++) {
            n += is_near(sheet_pixel(sheet, x, y), color, within);
        }
    }
    return n;
}
