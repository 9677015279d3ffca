/* SPDX-License-Identifier: Apache-2.0 */
/* figure_files.c - see figure.h: measures the figures and writes their files. */
#include "book/figure.h"
#include "core/base.h"
#include "support/system.h"

#include <errno.h>

enum { PATH = 1024, MARGIN = 6 };

attn_status lab_book_experiment(const char *id, const lab_settings *settings, lab_data *data,
                                attn_error *err) {
    for (size_t i = 0; lab_experiments[i]; i++) {
        if (strcmp(lab_experiments[i]->id, id) == 0)
            return lab_experiments[i]->measure(settings, data, err);
    }
    return attni_fail(err, ATTN_E_VALUE, "figures: there is no experiment %s", id);
}

attn_status lab_book_keep(lab_data *data, const char *name, size_t rows, size_t columns,
                          const double *cell, attn_error *err) {
    lab_table *table = lab_table_add(data, name, rows, columns, NULL);
    if (!table) return attni_fail(err, ATTN_E_MEMORY, "figures: no memory for table %s", name);
    memcpy(table->cell, cell, rows * columns * sizeof *cell);
    return ATTN_OK;
}

static attn_status write_theme(const char *folder, const lab_book_figure *figure,
                               const lab_data *data, plot_theme theme, attn_error *err) {
    char path[PATH];
    snprintf(path, sizeof path, "%s/%s%s.svg", folder, figure->name,
             theme == PLOT_DARK ? "-dark" : "");
    const plot_output output = {.format = PLOT_SVG,
                                .theme = theme,
                                .path = path,
                                .width = LAB_BOOK_WIDTH,
                                .height = figure->height};
    plot_canvas *canvas;
    ATTN_TRY(plot_open(&output, &canvas, err));
    figure->draw(
        data, canvas,
        (plot_rect){MARGIN, MARGIN, output.width - 2 * MARGIN, output.height - 2 * MARGIN});
    return plot_close(canvas, err);
}

static attn_status write_figure(const char *folder, const lab_book_figure *figure,
                                const lab_settings *settings, attn_error *err) {
    lab_data data = {.n = 0};
    attn_status status = figure->measure(settings, &data, err);
    if (status == ATTN_OK) status = write_theme(folder, figure, &data, PLOT_LIGHT, err);
    if (status == ATTN_OK) status = write_theme(folder, figure, &data, PLOT_DARK, err);
    lab_data_free(&data);
    return status;
}

attn_status lab_book_write(const char *folder, attn_error *err) {
    lab_settings settings = {.seed = 42, .threads = 1};
    if (strlen(folder) + 64 > PATH) {
        return attni_fail(err, ATTN_E_VALUE, "figures: the folder name has %zu bytes; at most %d",
                          strlen(folder), PATH - 64);
    }
    if (!system_make_folder(folder)) {
        return attni_fail(err, ATTN_E_VALUE,
                          "figures: folder %s cannot be made: %s; name one whose parent exists",
                          folder, strerror(errno));
    }
    attn_status status = attn_ctx_create(NULL, &settings.ctx, err);
    for (size_t i = 0; lab_book_figures[i] && status == ATTN_OK; i++) {
        status = write_figure(folder, lab_book_figures[i], &settings, err);
    }
    attn_ctx_destroy(settings.ctx);
    return status;
}
