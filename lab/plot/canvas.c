/* SPDX-License-Identifier: Apache-2.0 */
/* canvas.c - pages to draw on: PDF, SVG or PNG through one cairo context. Files appear whole or not
 * at all (outfile.h). Touches: cairo, the file it is told. Tests: tests/lab/test_plot.c */
#include "ink.h"

#include "core/base.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double pixels_per_point = 2;

bool plot_is_built(void) { return true; }

static cairo_status_t write_file(void *closure, const unsigned char *bytes, unsigned int n) {
    plot_canvas *canvas = closure;
    if (canvas->svg) {
        g_string_append_len(canvas->svg, (const char *)bytes, n);
        return CAIRO_STATUS_SUCCESS;
    }
    if (canvas->write_errno != 0) return CAIRO_STATUS_WRITE_ERROR;
    errno = 0;
    if (fwrite(bytes, 1, n, canvas->file.stream) == n) return CAIRO_STATUS_SUCCESS;
    canvas->write_errno = errno != 0 ? errno : EIO;
    return CAIRO_STATUS_WRITE_ERROR;
}

/* Cairo numbers its surfaces through the life of the process; a name that does not change keeps the
 * bytes the same. */
static void write_svg(plot_canvas *canvas) {
    static const char counted[] = "<g id=\"surface";
    GString *svg = canvas->svg;
    char *digits = strstr(svg->str, counted);
    if (digits) {
        digits += sizeof counted - 1;
        g_string_erase(svg, digits - svg->str, (gssize)strspn(digits, "0123456789"));
    }
    canvas->svg = NULL;
    if (canvas->text) {
        *canvas->text = strdup(svg->str);
    } else {
        write_file(canvas, (const unsigned char *)svg->str, (unsigned)svg->len);
    }
    g_string_free(svg, TRUE);
}

/* Cairo would write the time of day; an empty date leaves it out. */
static cairo_surface_t *create_pdf(plot_canvas *canvas, const plot_output *output) {
    char date[40] = "";
    if (output->date) snprintf(date, sizeof date, "%.10sT00:00:00Z", output->date);
    cairo_surface_t *pdf =
        cairo_pdf_surface_create_for_stream(write_file, canvas, canvas->width, canvas->height);
    cairo_pdf_surface_set_metadata(pdf, CAIRO_PDF_METADATA_CREATE_DATE, date);
    if (output->title) {
        cairo_pdf_surface_set_metadata(pdf, CAIRO_PDF_METADATA_TITLE, output->title);
    }
    return pdf;
}

static cairo_surface_t *create_surface(plot_canvas *canvas, const plot_output *output) {
    switch (canvas->format) {
    case PLOT_PDF: return create_pdf(canvas, output);
    case PLOT_SVG:
        canvas->svg = g_string_new(NULL);
        return cairo_svg_surface_create_for_stream(write_file, canvas, canvas->width,
                                                   canvas->height);
    default:
        return cairo_image_surface_create(CAIRO_FORMAT_RGB24,
                                          (int)ceil(canvas->width * pixels_per_point),
                                          (int)ceil(canvas->height * pixels_per_point));
    }
}

/* Text is laid out the same on every surface: no hinting, no pixel grid, 72 units an inch. */
static PangoContext *create_pango(cairo_t *cr) {
    PangoContext *pango = pango_cairo_create_context(cr);
    cairo_font_options_t *options = cairo_font_options_create();
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    pango_cairo_context_set_font_options(pango, options);
    cairo_font_options_destroy(options);
    pango_cairo_context_set_resolution(pango, 72);
    pango_context_set_round_glyph_positions(pango, FALSE);
    return pango;
}

static void paint_paper(plot_canvas *canvas) {
    plot_set_rgb(canvas, plot_paper(canvas->theme));
    cairo_paint(canvas->cr);
}

static void discard(plot_canvas *canvas) {
    if (canvas->pango) g_object_unref(canvas->pango);
    if (canvas->cr) cairo_destroy(canvas->cr);
    if (canvas->surface) cairo_surface_destroy(canvas->surface); /* may write: before its file */
    if (canvas->svg) g_string_free(canvas->svg, TRUE);
    outfile_discard(&canvas->file);
    free(canvas);
}

static attn_status check_output(const plot_output *output, attn_error *err) {
    const double largest = 14400; /* of PDF */
    if (output->text && output->format != PLOT_SVG) {
        return attni_fail(err, ATTN_E_VALUE, "text: only SVG is text");
    }
    if (!output->text && (output->path == NULL || output->path[0] == 0)) {
        return attni_fail(err, ATTN_E_VALUE, "path: empty, expected the name of a file");
    }
    if (!(output->width >= 1 && output->width <= largest) ||
        !(output->height >= 1 && output->height <= largest)) {
        return attni_fail(err, ATTN_E_VALUE, "page: %g x %g points, expected 1 .. %g each",
                          output->width, output->height, largest);
    }
    return ATTN_OK;
}

static attn_status open_file(plot_canvas *canvas, const char *path, attn_error *err) {
    char reason[160];
    if (canvas->text) return ATTN_OK;
    if (outfile_open(&canvas->file, path, reason, sizeof reason)) return ATTN_OK;
    return attni_fail(err, ATTN_E_VALUE, "path: '%.80s' %s", path, reason);
}

attn_status plot_open(const plot_output *output, plot_canvas **canvas, attn_error *err) {
    *canvas = NULL;
    ATTN_TRY(check_output(output, err));
    plot_canvas *c = calloc(1, sizeof *c);
    if (c == NULL) return attni_fail(err, ATTN_E_MEMORY, "canvas: no memory");
    c->format = output->format;
    c->theme = output->theme;
    c->width = output->width;
    c->height = output->height;
    c->text = output->text;
    attn_status status = open_file(c, output->path, err);
    if (status != ATTN_OK) goto done;

    c->surface = create_surface(c, output);
    c->cr = cairo_create(c->surface);
    if (cairo_status(c->cr) != CAIRO_STATUS_SUCCESS) {
        status = attni_fail(err, ATTN_E_MEMORY, "page: %g x %g points cannot be drawn on: %s",
                            c->width, c->height, cairo_status_to_string(cairo_status(c->cr)));
        goto done;
    }
    c->pango = create_pango(c->cr); /* before the scale, which would change how text is measured */
    if (c->format == PLOT_PNG) cairo_scale(c->cr, pixels_per_point, pixels_per_point);
    paint_paper(c);
    c->pages = 1;
    *canvas = c;
    return ATTN_OK;
done:
    discard(c);
    return status;
}

void plot_next_page(plot_canvas *canvas) {
    if (canvas->format != PLOT_PDF) {
        canvas->page_not_allowed = true;
        return;
    }
    cairo_show_page(canvas->cr);
    paint_paper(canvas);
    canvas->pages++;
}

int plot_bookmark(plot_canvas *canvas, int parent, const char *title) {
    char where[40];
    if (canvas->format != PLOT_PDF) return 0;
    snprintf(where, sizeof where, "page=%d", canvas->pages);
    return cairo_pdf_surface_add_outline(canvas->surface, parent, title, where, 0);
}

void plot_target(plot_canvas *canvas, plot_rect area, const char *name) {
    char what[120];
    if (canvas->format != PLOT_PDF) return;
    snprintf(what, sizeof what, "name='%s' x=%.2f y=%.2f", name, area.x, area.y);
    cairo_tag_begin(canvas->cr, CAIRO_TAG_DEST, what);
    cairo_tag_end(canvas->cr, CAIRO_TAG_DEST);
}

void plot_link(plot_canvas *canvas, plot_rect area, const char *where) {
    char what[300];
    if (canvas->format != PLOT_PDF) return;
    snprintf(what, sizeof what, "rect=[%.2f %.2f %.2f %.2f] %s='%s'", area.x, area.y, area.width,
             area.height, strncmp(where, "https://", 8) == 0 ? "uri" : "dest", where);
    cairo_tag_begin(canvas->cr, CAIRO_TAG_LINK, what);
    cairo_tag_end(canvas->cr, CAIRO_TAG_LINK);
}

/* Writes what is still in cairo's hands and gives the file its name. */
static attn_status finish_file(plot_canvas *canvas, attn_error *err) {
    char reason[160];
    if (canvas->format == PLOT_PNG) {
        cairo_surface_write_to_png_stream(canvas->surface, write_file, canvas);
    }
    cairo_surface_finish(canvas->surface);
    if (canvas->svg) write_svg(canvas);
    const cairo_status_t finished = cairo_surface_status(canvas->surface);
    if (canvas->write_errno != 0) {
        snprintf(reason, sizeof reason, "cannot be written: %s", strerror(canvas->write_errno));
    } else if (finished != CAIRO_STATUS_SUCCESS) {
        snprintf(reason, sizeof reason, "was not drawn: %s", cairo_status_to_string(finished));
    } else if (canvas->text) {
        if (*canvas->text) return ATTN_OK;
        return attni_fail(err, ATTN_E_MEMORY, "canvas: no memory for its text");
    } else if (outfile_close(&canvas->file, reason, sizeof reason) &&
               outfile_commit(&canvas->file, reason, sizeof reason)) {
        return ATTN_OK;
    }
    return attni_fail(err, ATTN_E_VALUE, "path: '%.80s' %s",
                      canvas->file.path ? canvas->file.path : "-", reason);
}

attn_status plot_close(plot_canvas *canvas, attn_error *err) {
    if (canvas == NULL) return ATTN_OK;
    attn_status status;
    const cairo_status_t drawn = cairo_status(canvas->cr);
    if (drawn != CAIRO_STATUS_SUCCESS && canvas->write_errno == 0) {
        status = attni_fail(err, ATTN_E_MEMORY, "canvas: the drawing failed: %s",
                            cairo_status_to_string(drawn));
    } else if (canvas->page_not_allowed) {
        status = attni_fail(err, ATTN_E_VALUE, "format: a second page, only PDF has several");
    } else {
        status = finish_file(canvas, err);
    }
    discard(canvas);
    return status;
}

plot_rect plot_page(const plot_canvas *canvas) {
    return (plot_rect){0, 0, canvas->width, canvas->height};
}

plot_rect plot_inset(plot_rect area, double left, double top, double right, double bottom) {
    return (plot_rect){area.x + left, area.y + top, fmax(area.width - left - right, 0),
                       fmax(area.height - top - bottom, 0)};
}

plot_rect plot_grid(plot_rect area, size_t rows, size_t columns, size_t i, double gap) {
    attni_assert(rows > 0 && columns > 0 && i < rows * columns);
    const double width = (area.width - gap * (double)(columns - 1)) / (double)columns;
    const double height = (area.height - gap * (double)(rows - 1)) / (double)rows;
    return (plot_rect){area.x + (double)(i % columns) * (width + gap),
                       area.y + (double)(i / columns) * (height + gap), fmax(width, 0),
                       fmax(height, 0)};
}

void plot_line(plot_canvas *canvas, double x0, double y0, double x1, double y1, plot_color color,
               double width) {
    plot_set_rgb(canvas, plot_graphic_rgb(canvas->theme, color));
    cairo_set_line_width(canvas->cr, width);
    cairo_move_to(canvas->cr, x0, y0);
    cairo_line_to(canvas->cr, x1, y1);
    cairo_stroke(canvas->cr);
}

/* A filled box is a tint of its border, so that text stays readable on it. */
void plot_box(plot_canvas *canvas, plot_rect area, plot_color border, bool filled) {
    const double line = 0.75, tint = 0.07;
    const plot_rgb rgb = plot_graphic_rgb(canvas->theme, border);
    const plot_rect inner = plot_inset(area, line / 2, line / 2, line / 2, line / 2);
    cairo_rectangle(canvas->cr, inner.x, inner.y, inner.width, inner.height);
    if (filled) {
        plot_set_rgb(canvas, plot_blend(plot_paper(canvas->theme), rgb, tint));
        cairo_fill_preserve(canvas->cr);
    }
    plot_set_rgb(canvas, rgb);
    cairo_set_line_width(canvas->cr, line);
    cairo_stroke(canvas->cr);
}
