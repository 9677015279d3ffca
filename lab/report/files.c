/* SPDX-License-Identifier: Apache-2.0 */
/* files.c - writes a report: folders, data, figures, pages. See report.h. */
#include "report/report.h"

#include "core/base.h"
#include "report/pages.h"
#include "support/outfile.h"
#include "support/system.h"

#include <errno.h>
#include <stdlib.h>

enum { PATH = 1024 }; /* longer names of folders are refused */

static attn_status make_folder(const char *path, attn_error *err) {
    if (outfile_make_folder(path)) return ATTN_OK;
    return attni_fail(err, ATTN_E_VALUE,
                      "out: folder %s cannot be made: %s; name one whose parent exists", path,
                      strerror(errno));
}

attn_status lab_report_make_folders(const lab_report_options *options, attn_error *err) {
    static const char *const inside[] = {"data", "figures"};
    const size_t n_inside = options->svg || options->png ? 2 : 1;
    const char *folder = options->folder;
    char path[PATH];
    if (strlen(folder) + 64 > sizeof path) {
        return attni_fail(err, ATTN_E_VALUE,
                          "out: the name of the folder has %zu letters; at most %d", strlen(folder),
                          PATH - 64);
    }
    ATTN_TRY(make_folder(folder, err));
    for (size_t i = 0; i < n_inside; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, inside[i]);
        ATTN_TRY(make_folder(path, err));
    }
    return ATTN_OK;
}

/* ---- data ---- */

typedef int (*writer)(const void *what, FILE *stream); /* 0, or -1 */

static attn_status write_file(const char *path, writer write, const void *what, attn_error *err) {
    outfile file;
    char why[200] = "";
    if (!outfile_open(&file, path, why, sizeof why)) {
        return attni_fail(err, ATTN_E_VALUE, "%s %s", path, why);
    }
    bool ok = write(what, file.stream) == 0;
    ok = outfile_close(&file, why, sizeof why) && ok;
    ok = ok && outfile_commit(&file, why, sizeof why);
    outfile_discard(&file);
    return ok ? ATTN_OK : attni_fail(err, ATTN_E_VALUE, "%s %s", path, why);
}

static int put_csv(const void *what, FILE *stream) { return lab_table_csv(what, stream); }

static json_t *result_json(const lab_result *result) {
    const lab_experiment *e = result->experiment;
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:b, s:o}", "id", e->id, "title",
                     e->title, "question", e->question, "verdict",
                     lab_verdict_name(result->finding.verdict), "condition",
                     result->finding.condition, "finding", result->finding.headline, "command",
                     e->command, "timed", e->timed, "tables", lab_data_json(&result->data));
}

static int put_json(const void *what, FILE *stream) {
    json_t *root = result_json(what);
    if (root == NULL) return -1;
    int failed = json_dumpf(root, stream, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
    if (fputc('\n', stream) == EOF) failed = -1;
    json_decref(root);
    return failed;
}

static attn_status write_data(const char *folder, const lab_result *result, attn_error *err) {
    char path[PATH];
    snprintf(path, sizeof path, "%s/data/%s.json", folder, result->experiment->id);
    ATTN_TRY(write_file(path, put_json, result, err));
    for (size_t i = 0; i < result->data.n; i++) {
        const lab_table *table = &result->data.table[i];
        snprintf(path, sizeof path, "%s/data/%s-%s.csv", folder, result->experiment->id,
                 table->name);
        ATTN_TRY(write_file(path, put_csv, table, err));
    }
    return ATTN_OK;
}

/* ---- pictures ---- */

static attn_status write_figure(const lab_report_options *options, const lab_result *result,
                                plot_format format, attn_error *err) {
    char path[PATH];
    snprintf(path, sizeof path, "%s/figures/%s.%s", options->folder, result->experiment->id,
             format == PLOT_SVG ? "svg" : "png");
    const plot_output output = {.format = format,
                                .theme = options->theme,
                                .path = path,
                                .width = LAB_FIGURE_WIDTH,
                                .height = LAB_FIGURE_HEIGHT,
                                .title = result->experiment->title};
    plot_canvas *canvas;
    ATTN_TRY(plot_open(&output, &canvas, err));
    lab_figure_draw(result, canvas);
    return plot_close(canvas, err);
}

static attn_status write_pages(const lab_report_options *options, const lab_report *report,
                               attn_error *err) {
    char path[PATH];
    snprintf(path, sizeof path, "%s/attention.pdf", options->folder);
    const plot_output output = {.format = PLOT_PDF,
                                .theme = options->theme,
                                .path = path,
                                .width = options->letter ? 792 : 841.89,
                                .height = options->letter ? 612 : 595.276,
                                .title = "Scaled Dot-Product Attention Analysis",
                                .date = options->date};
    plot_canvas *canvas;
    ATTN_TRY(plot_open(&output, &canvas, err));
    const attn_status status = lab_pages_draw(options, report, canvas, err);
    const attn_status closed = plot_close(canvas, status == ATTN_OK ? err : NULL);
    return status == ATTN_OK ? closed : status;
}

typedef struct html_report {
    const lab_report_options *options;
    const lab_report *report;
    attn_status status;
    attn_error *err;
} html_report;

static int put_html(const void *what, FILE *stream) {
    html_report *html = *(html_report *const *)what;
    html->status = lab_html_write(html->options, html->report, stream, html->err);
    return html->status == ATTN_OK ? 0 : -1;
}

static attn_status write_html(const lab_report_options *options, const lab_report *report,
                              attn_error *err) {
    attn_error drawing = {{0}}; /* more to the point than that the file was not written */
    html_report html = {options, report, ATTN_OK, &drawing}, *what = &html;
    char path[PATH];
    snprintf(path, sizeof path, "%s/attention.html", options->folder);
    const attn_status status = write_file(path, put_html, &what, err);
    if (html.status == ATTN_OK) return status;
    return attni_fail(err, html.status, "%s", drawing.message);
}

attn_status lab_report_write(const lab_report_options *options, const lab_report *report,
                             attn_error *err) {
    ATTN_TRY(lab_report_make_folders(options, err));
    for (size_t i = 0; i < report->n; i++) {
        const lab_result *result = &report->result[i];
        ATTN_TRY(write_data(options->folder, result, err));
        if (options->svg) ATTN_TRY(write_figure(options, result, PLOT_SVG, err));
        if (options->png) ATTN_TRY(write_figure(options, result, PLOT_PNG, err));
    }
    if (options->html) ATTN_TRY(write_html(options, report, err));
    return options->pdf ? write_pages(options, report, err) : ATTN_OK;
}
