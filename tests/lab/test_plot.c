/* SPDX-License-Identifier: Apache-2.0 */
/* test_plot.c - files of pictures: the same bytes each time, whole or not there at all. */
#define _GNU_SOURCE /* memmem */
#include "check.h"
#include "plot_gallery.h"
#include "plot_sheet.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *format_name(plot_format format) {
    static const char *const name[] = {"PDF", "SVG", "PNG"};
    return name[format];
}

/* Draws each picture of the gallery twice. */
static void check_same_bytes(plot_format format) {
    for (size_t i = 0; i < gallery_length; i++) {
        const plot_output page = {.width = gallery[i].width, .height = gallery[i].height};
        size_t size[2];
        unsigned char *bytes[2];
        for (int k = 0; k < 2; k++) {
            const char *path = sheet_write(format, &page, 0, gallery[i].draw);
            bytes[k] = sheet_bytes(path, &size[k]);
            if (path) remove(path);
        }
        const bool same =
            bytes[0] && bytes[1] && size[0] == size[1] && memcmp(bytes[0], bytes[1], size[0]) == 0;
        free(bytes[0]);
        free(bytes[1]);
        CHECK_MSG(same, "%s as %s differs from itself", gallery[i].name, format_name(format));
    }
}

TEST(same_drawing_gives_the_same_pdf) { check_same_bytes(PLOT_PDF); }
TEST(same_drawing_gives_the_same_svg) { check_same_bytes(PLOT_SVG); }
TEST(same_drawing_gives_the_same_png) { check_same_bytes(PLOT_PNG); }

static void draw_nothing(plot_canvas *canvas, plot_rect area) {
    (void)canvas;
    (void)area;
}

static bool contains(const unsigned char *bytes, size_t size, const char *word) {
    return bytes && memmem(bytes, size, word, strlen(word)) != NULL;
}

static void draw_linked(plot_canvas *canvas, plot_rect area) {
    const int parent = plot_bookmark(canvas, 0, "Above");
    plot_bookmark(canvas, parent, "Below");
    plot_target(canvas, area, "here");
    plot_link(canvas, area, "here");
    plot_link(canvas, area, "https://example.org/");
}

TEST(pdf_holds_outline_targets_and_links) {
    static const char *const words[] = {"/Title (Above)", "/Title (Below)",        "/Outlines",
                                        "/Subtype /Link", "/Dest (here)",          "(here)",
                                        "/S /URI",        "(https://example.org/)"};
    const plot_output page = {.width = 100, .height = 100};
    size_t size;
    const char *path = sheet_write(PLOT_PDF, &page, 0, draw_linked);
    unsigned char *bytes = sheet_bytes(path, &size);
    const char *missing = NULL;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!contains(bytes, size, words[i])) missing = words[i];
    }
    free(bytes);
    remove(path);
    CHECK_MSG(missing == NULL, "no %s", missing ? missing : "");
}

/* The drawing as text, or NULL. */
static char *text_of(const gallery_item *item) {
    char *text = NULL;
    const plot_output output = {
        .format = PLOT_SVG, .width = item->width, .height = item->height, .text = &text};
    plot_canvas *canvas;
    if (plot_open(&output, &canvas, NULL) != ATTN_OK) return NULL;
    item->draw(canvas, plot_page(canvas));
    return plot_close(canvas, NULL) == ATTN_OK ? text : NULL;
}

TEST(svg_can_be_text_and_be_embedded) {
    char *svg = text_of(&gallery[0]);
    CHECK(svg && strncmp(svg, "<?xml", 5) == 0);
    char *embedded = plot_embed_svg(svg, "F4-w", "class=\"wide\"");
    free(svg);
    CHECK(embedded != NULL);
    static const char root[] = "<svg class=\"wide\" viewBox=\"0 0 375 300\">";
    const bool begins = strncmp(embedded, root, strlen(root)) == 0;
    const bool own_ids = strstr(embedded, "id=\"glyph") == NULL &&
                         strstr(embedded, "id=\"F4-w-glyph") != NULL &&
                         strstr(embedded, "href=\"#F4-w-glyph") != NULL;
    const bool themed = strstr(embedded, "rgb(") == NULL && strstr(embedded, "var(--p0)") != NULL;
    free(embedded);
    CHECK(begins);
    CHECK(own_ids);
    CHECK(themed);
}

TEST(embedded_colors_are_those_of_the_theme) {
    char *light = plot_embed_colors(PLOT_LIGHT), *dark = plot_embed_colors(PLOT_DARK);
    const bool papers = light && dark && strncmp(light, "--p0:#ffffff;", 13) == 0 &&
                        strncmp(dark, "--p0:#16181c;", 13) == 0;
    free(light);
    free(dark);
    CHECK(papers);
}

TEST(only_svg_is_text) {
    char *text = NULL;
    plot_canvas *canvas;
    const plot_output output = {.format = PLOT_PDF, .width = 9, .height = 9, .text = &text};
    CHECK_INT(plot_open(&output, &canvas, NULL), ATTN_E_VALUE);
}

TEST(pdf_holds_no_date_but_its_title) {
    const plot_output page = {.width = 100, .height = 100};
    size_t size;
    const char *path = sheet_write(PLOT_PDF, &page, 0, draw_nothing);
    unsigned char *bytes = sheet_bytes(path, &size);
    const bool dated = contains(bytes, size, "Date");
    const bool titled = contains(bytes, size, "/Title (A sheet)");
    free(bytes);
    remove(path);
    CHECK(titled && !dated);
}

TEST(png_has_two_pixels_a_point) {
    const plot_output page = {.width = 100, .height = 50.5};
    plot_sheet sheet = sheet_render(&page, 0, draw_nothing);
    CHECK_INT(sheet.width, 200);
    CHECK_INT(sheet.height, 101);
    sheet_free(&sheet);
}

TEST(page_has_the_colour_of_its_theme) {
    const plot_output page = {.width = 10, .height = 10, .theme = PLOT_DARK};
    plot_sheet sheet = sheet_render(&page, 0, draw_nothing);
    CHECK_INT(sheet_count(&sheet, (plot_rect){0, 0, 10, 10}, plot_paper(PLOT_DARK), 0.003), 400);
    sheet_free(&sheet);
}

/* ---- what goes wrong ---- */

static attn_status open_at(const char *path, attn_error *err) {
    const plot_output output = {.path = path, .width = 100, .height = 100};
    plot_canvas *canvas;
    const attn_status status = plot_open(&output, &canvas, err);
    if (status != ATTN_OK && canvas != NULL) check_failed(__FILE__, __LINE__, "canvas not NULL");
    plot_close(canvas, NULL);
    return status;
}

TEST(missing_folder_is_named) {
    attn_error err = {.message = ""};
    CHECK_INT(open_at("no_such_folder/a.pdf", &err), ATTN_E_VALUE);
    CHECK_MSG(strstr(err.message, "no_such_folder/a.pdf") && strstr(err.message, "No such file"),
              "message: %s", err.message);
}

TEST(a_folder_is_no_picture) {
    attn_error err = {.message = ""};
    CHECK_INT(open_at(".", &err), ATTN_E_VALUE);
    CHECK_MSG(strstr(err.message, "directory"), "message: %s", err.message);
}

static size_t files_in(const char *folder) {
    size_t n = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));) n += entry->d_name[0] != '.';
    if (dir) closedir(dir);
    return n;
}

TEST(read_only_folder_is_refused) {
    char folder[] = "plot_read_only_XXXXXX", path[64];
    attn_error err = {.message = ""};
    if (geteuid() == 0) SKIP("root may write everywhere");
    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/a.png", folder);
    chmod(folder, 0500);
    const attn_status status = open_at(path, &err);
    chmod(folder, 0700);
    rmdir(folder);
    CHECK_INT(status, ATTN_E_VALUE);
    CHECK_MSG(strstr(err.message, "Permission"), "message: %s", err.message);
}

TEST(second_page_of_a_png_is_an_error_and_leaves_no_file) {
    char folder[] = "plot_pages_XXXXXX", path[64];
    attn_error err = {.message = ""};
    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/a.png", folder);
    const plot_output output = {.format = PLOT_PNG, .path = path, .width = 9, .height = 9};
    plot_canvas *canvas;
    CHECK_INT(plot_open(&output, &canvas, &err), ATTN_OK);
    plot_next_page(canvas);
    const attn_status status = plot_close(canvas, &err);
    const size_t left = files_in(folder);
    rmdir(folder);
    CHECK_INT(status, ATTN_E_VALUE);
    CHECK_INT(left, 0);
}

TEST(full_disk_is_reported) {
    attn_error err = {.message = ""};
    if (access("/dev/full", W_OK) != 0) SKIP("no /dev/full");
    const plot_output output = {
        .format = PLOT_SVG, .path = "/dev/full", .width = 100, .height = 100};
    plot_canvas *canvas;
    CHECK_INT(plot_open(&output, &canvas, &err), ATTN_OK);
    CHECK_INT(plot_close(canvas, &err), ATTN_E_VALUE);
    CHECK_MSG(strstr(err.message, "No space"), "message: %s", err.message);
}

TEST(pages_without_size_are_refused) {
    const plot_output output = {.path = "a.pdf", .width = 0, .height = 100};
    attn_error err = {.message = ""};
    plot_canvas *canvas;
    CHECK_INT(plot_open(&output, &canvas, &err), ATTN_E_VALUE);
    CHECK_MSG(strstr(err.message, "page: 0 x 100"), "message: %s", err.message);
}

/* ---- areas ---- */

TEST(grid_cells_fill_the_area_row_by_row) {
    const plot_rect area = {10, 20, 210, 100};
    const plot_rect first = plot_grid(area, 2, 4, 0, 10), last = plot_grid(area, 2, 4, 7, 10);
    CHECK_NEAR(first.x, 10, 0);
    CHECK_NEAR(first.width, 45, 1e-12);
    CHECK_NEAR(first.height, 45, 1e-12);
    CHECK_NEAR(last.x + last.width, 220, 1e-12);
    CHECK_NEAR(last.y + last.height, 120, 1e-12);
    CHECK_NEAR(plot_grid(area, 2, 4, 4, 10).x, 10, 0);
}
