/* SPDX-License-Identifier: Apache-2.0 */
/* html.c - the report as one HTML file without scripts or other files: figures are SVG inside it,
 * drawn wide for a desk and tall for a phone, and follow the light or dark theme of the reader. What
 * it says comes from content.c. See pages.h. */
#include "core/base.h"
#include "report/content.h"
#include "report/pages.h"

#include <stdlib.h>
#include <string.h>

enum { WIDE = 760, WIDE_HEIGHT = 420, TALL = 300, PANEL_HEIGHT = 222 }; /* points */

static const char style[] =
    "*{box-sizing:border-box}"
    "html{color-scheme:light dark;-webkit-text-size-adjust:100%}"
    "body{margin:0;background:var(--p0);color:var(--p12);"
    "font:17px/1.55 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif}"
    "header,nav,main,footer{max-width:62rem;margin:0 auto;padding:0 1rem}"
    "h1{font-size:2.4rem;line-height:1.15;margin:2.5rem 0 .3rem}"
    "h2{font-size:1.5rem;margin:3rem 0 .6rem;border-bottom:1px solid "
    "var(--p1);padding-bottom:.3rem}"
    "h3{font-size:1.2rem;margin:2.6rem 0 .2rem}"
    "li{overflow-wrap:anywhere}p{margin:.5rem 0}a{color:var(--p14)}sub,sup{line-height:0}"
    ".faint,figcaption,.question{color:var(--p13)}.question{margin-top:0}"
    "code{font:.88em ui-monospace,Menlo,Consolas,monospace;overflow-wrap:anywhere}"
    "math{font-size:1.35rem}.formula{border:1px solid var(--p5);padding:.8rem;overflow-x:auto;"
    "max-width:30rem;margin:1.4rem 0}"
    "nav ol{columns:2;column-gap:2rem;list-style:none;padding:0;margin:.5rem 0}"
    "nav li{break-inside:avoid;padding:.12rem 0}nav li li,nav .figure{padding-left:1rem}"
    "figure{margin:1rem 0}figure svg{display:block;width:100%;height:auto}svg.tall{display:none}"
    "table{border-collapse:collapse;width:100%;font-size:.88rem;line-height:1.45}"
    "th,td{text-align:left;vertical-align:top;padding:.5rem .7rem .5rem 0;"
    "border-bottom:1px solid var(--p1);overflow-wrap:anywhere}"
    "td.key,td:last-child,th{white-space:nowrap}td.key{font-weight:600}"
    ".stated b{font-weight:600}.source{display:block;color:var(--p13);font-size:.92em}"
    ".verdict{font-weight:700;display:block}"
    ".holds{color:var(--p16)}.condition{color:var(--p17)}.wrong{color:var(--p15)}"
    ".measured{color:var(--p14)}"
    "dl{display:grid;grid-template-columns:minmax(6rem,max-content) 1fr;gap:.3rem "
    "1rem;margin:.6rem 0}"
    "dt{font-weight:600;max-width:10rem}dd{margin:0}"
    ".method{font-size:.88rem;color:var(--p13)}"
    "footer{padding:3rem 1rem;color:var(--p13);font-size:.88rem}"
    "@media(max-width:45rem){math{font-size:1rem}body{font-size:16px}h1{font-size:2rem}nav "
    "ol{columns:1}"
    "svg.tall{display:block}svg.wide.twin{display:none}"
    ".scroll{overflow-x:auto}.scroll svg{min-width:44rem}"
    "thead{position:absolute;left:-200vw}table,tbody,tr,td{display:block}"
    "tr{border-bottom:1px solid var(--p1);padding:.6rem 0}td{border:0;padding:.15rem 0}"
    "td[data-name]::before{content:attr(data-name);display:block;color:var(--p13);"
    "font-size:.85em;margin-top:.3rem}td:empty{display:none}"
    "dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.5rem}}"
    "@media print{nav{display:none}h3,tr{break-inside:avoid}}";

/* Markup as HTML: <tt> is the one tag that HTML no longer has. */
static void put(FILE *to, const char *markup) {
    static const char *const tag[][2] = {{"<tt>", "<code>"}, {"</tt>", "</code>"}};
    while (*markup) {
        size_t i = 0;
        while (i < 2 && !g_str_has_prefix(markup, tag[i][0])) i++;
        if (i < 2) {
            fputs(tag[i][1], to);
            markup += strlen(tag[i][0]);
        } else {
            fputc(*markup++, to);
        }
    }
}

/* As printf, where every argument is markup that is given up and freed: %s only. */
static void put_freed(FILE *to, const char *before, char *markup, const char *after) {
    fputs(before, to);
    put(to, markup);
    fputs(after, to);
    g_free(markup);
}

/* ---- head ---- */

static const char formula[] =
    "<div class=\"formula\"><math display=\"block\"><mi>Attention</mi>"
    "<mo stretchy=\"false\">(</mo><mi>Q</mi><mo>,</mo><mi>K</mi><mo>,</mo><mi>V</mi>"
    "<mo stretchy=\"false\">)</mo><mo>=</mo><mi>softmax</mi><mrow><mo>(</mo><mfrac><mrow>"
    "<mi>Q</mi><msup><mi>K</mi><mi>T</mi></msup></mrow><msqrt><msub><mi>d</mi><mi>k</mi></msub>"
    "</msqrt></mfrac><mo>)</mo></mrow><mi>V</mi></math></div>\n";

static void put_colors(FILE *to, const char *before, plot_theme theme, const char *after) {
    char *colors = plot_embed_colors(theme);
    fprintf(to, "%s%s%s", before, colors ? colors : "", after);
    free(colors);
}

static void put_head(const lab_report_options *options, FILE *to) {
    fprintf(to,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
            "<title>%s: %s</title>\n<style>",
            lab_content_title, lab_content_subtitle);
    put_colors(to, ":root{", PLOT_LIGHT, "}");
    put_colors(to, "@media(prefers-color-scheme:dark){:root{", PLOT_DARK, "}}");
    fprintf(to, "%s</style>\n</head>\n<body>\n<header id=\"top\">\n<h1>%s</h1>\n", style,
            lab_content_title);
    fprintf(to, "<p>%s<br/><span class=\"faint\">%s</span></p>\n%s", lab_content_subtitle,
            lab_content_topics, formula);
    fprintf(to, "<p><b>SEED = %u</b><br/>", (unsigned)options->seed);
    put_freed(to, "", lab_content_identity(options), "</p>\n</header>\n");
}

static void put_contents(const lab_report *report, bool has_statements, FILE *to) {
    fputs("<nav aria-label=\"Contents\">\n<h2>Contents</h2>\n<ol>\n"
          "<li><a href=\"#abstract\">Abstract</a></li>\n"
          "<li><a href=\"#findings\">Summary of Findings</a></li>\n",
          to);
    for (size_t i = 0; i < report->n; i++) {
        const lab_experiment *e = report->result[i].experiment;
        fprintf(to, "<li class=\"figure\"><a href=\"#%s\">%s ", e->id, e->id);
        put_freed(to, "", lab_typeset(e->title), "</a></li>\n");
    }
    if (has_statements) {
        fputs("<li><a href=\"#corrections\">Corrections to the documents</a></li>\n"
              "<li><a href=\"#conditions\">Statements that hold with a condition</a></li>\n",
              to);
    }
    fputs("<li><a href=\"#method\">Method</a></li>\n"
          "<li><a href=\"#references\">References</a></li>\n</ol>\n</nav>\n",
          to);
}

static void put_entries(FILE *to, lab_entries entries) {
    fputs("<dl>\n", to);
    for (size_t i = 0; i < entries.n; i++) {
        fprintf(to, "<dt>%s</dt><dd>", entries.entry[i].name);
        put(to, entries.entry[i].text);
        fputs("</dd>\n", to);
    }
    fputs("</dl>\n", to);
    lab_entries_free(&entries);
}

static void put_main_results(const lab_report *report, FILE *to) {
    const lab_main_results main = lab_content_main_results(report);
    if (!main.result[0]) return;
    fputs("<h3>Main results</h3>\n<ul>\n", to);
    for (size_t i = 0; main.result[i]; i++) {
        const char *id = main.result[i]->experiment->id;
        put_freed(to, "<li>", lab_typeset(main.result[i]->finding.headline), " ");
        fprintf(to, "<a href=\"#%s\">Figure %s</a></li>\n", id, id);
    }
    fputs("</ul>\n", to);
}

/* ---- tables ---- */

static void put_stated(const lab_row *row, FILE *to) {
    fputs("<td class=\"stated\" data-name=\"Stated\">", to);
    if (row->claim) {
        put_freed(to, "", lab_typeset(row->claim->subject), ": <b>");
        put(to, row->stated);
        put_freed(to, "</b><span class=\"source\">", lab_content_source(row->claim),
                  "</span></td>");
    } else {
        put_freed(to, "", lab_typeset(row->result->experiment->question),
                  "<span class=\"source\">not stated in the documents</span></td>");
    }
}

static void put_figure_cell(const lab_row *row, FILE *to) {
    if (row->result) {
        const char *id = row->result->experiment->id;
        fprintf(to, "<td data-name=\"Figure\"><a href=\"#%s\">%s</a></td></tr>\n", id, id);
    } else {
        fputs("<td></td></tr>\n", to);
    }
}

static void put_row(const lab_row *row, const char *reason, FILE *to) {
    static const char *const kind[] = {"holds", "condition", "wrong", "measured"};
    put_stated(row, to);
    fputs("<td data-name=\"Measured\">", to);
    put(to, row->measured);
    fprintf(to, "</td><td data-name=\"%s\">", reason);
    fprintf(to, "<span class=\"verdict %s\">%s</span>", kind[row->verdict],
            lab_verdict_words(row->verdict));
    put(to, row->reason);
    fputs("</td>", to);
    put_figure_cell(row, to);
}

static void put_findings(const lab_report *report, FILE *to) {
    lab_rows rows = lab_content_findings(report);
    fputs("<section id=\"findings\">\n<h2>Summary of Findings</h2>\n<p class=\"faint\">The numbers "
          "count the seven findings of document 000; the other rows go beyond them.</p>\n<table>\n"
          "<thead><tr><th>No.</th><th>Stated</th><th>Measured</th><th>Verdict</th><th>Figure</th>"
          "</tr></thead>\n<tbody>\n",
          to);
    for (size_t i = 0; i < rows.n; i++) {
        const bool is_first = i == 0 || rows.row[i].finding != rows.row[i - 1].finding;
        fputs("<tr><td class=\"key\">", to);
        if (rows.row[i].finding && is_first) fprintf(to, "%d", rows.row[i].finding);
        fputs("</td>", to);
        put_row(&rows.row[i], "Verdict", to);
    }
    fputs("</tbody>\n</table>\n</section>\n", to);
    lab_rows_free(&rows);
}

static void put_statements(const lab_report *report, lab_verdict verdict, const char *name,
                           const char *title, FILE *to) {
    lab_rows rows = lab_content_statements(report, verdict);
    fprintf(to,
            "<section id=\"%s\">\n<h2>%s</h2>\n<table>\n<thead><tr><th>Id</th><th>Stated</th>"
            "<th>Measured</th><th>Verdict</th><th>Figure</th></tr></thead>\n<tbody>\n",
            name, title);
    for (size_t i = 0; i < rows.n; i++) {
        fprintf(to, "<tr><td class=\"key\">%s</td>", rows.row[i].claim->id);
        put_row(&rows.row[i], "Verdict", to);
    }
    fputs("</tbody>\n</table>\n</section>\n", to);
    lab_rows_free(&rows);
}

/* ---- figures ---- */

/* One drawing of a figure; `kind` is part of its class and of its ids. */
static attn_status put_svg(const lab_result *result, const char *kind, double width, double height,
                           FILE *to, attn_error *err) {
    const lab_experiment *e = result->experiment;
    char *svg = NULL;
    const plot_output output = {.format = PLOT_SVG, .width = width, .height = height, .text = &svg};
    plot_canvas *canvas;
    ATTN_TRY(plot_open(&output, &canvas, err));
    e->draw(&result->data, canvas, plot_inset(plot_page(canvas), 2, 2, 2, 2));
    ATTN_TRY(plot_close(canvas, err));
    char *title = g_markup_escape_text(e->title, -1);
    char *attributes =
        g_strdup_printf("class=\"%s\" role=\"img\" aria-label=\"%s: %s\"", kind, e->id, title);
    char *name = g_strdup_printf("%s-%c", e->id, kind[0]);
    char *embedded = plot_embed_svg(svg, name, attributes);
    if (embedded) fputs(embedded, to);
    g_free(title);
    g_free(attributes);
    g_free(name);
    free(svg);
    free(embedded);
    return embedded ? ATTN_OK : attni_fail(err, ATTN_E_MEMORY, "html: no memory for %s", e->id);
}

/* A figure that cannot be drawn tall scrolls sideways on a phone. */
static attn_status put_drawings(const lab_result *result, FILE *to, attn_error *err) {
    const int panels = result->experiment->panels;
    fprintf(to, "<figure%s>\n", panels > 0 ? "" : " class=\"scroll\"");
    ATTN_TRY(put_svg(result, panels > 0 ? "wide twin" : "wide", WIDE, WIDE_HEIGHT, to, err));
    if (panels > 0) ATTN_TRY(put_svg(result, "tall", TALL, PANEL_HEIGHT * panels, to, err));
    fputs("</figure>\n", to);
    return ATTN_OK;
}

static attn_status put_figure(const lab_report *report, const lab_result *result, FILE *to,
                              attn_error *err) {
    const lab_experiment *e = result->experiment;
    fprintf(to, "<section id=\"%s\">\n<h3>%s ", e->id, e->id);
    put_freed(to, "", lab_typeset(e->title), "</h3>\n");
    put_freed(to, "<p class=\"question\">", lab_typeset(e->question), "</p>\n");
    ATTN_TRY(put_drawings(result, to, err));
    put_freed(to, "<p><b>", lab_typeset(result->finding.headline), "</b> ");
    put_freed(to, "", lab_typeset_markup(result->finding.text), "</p>\n");
    put_freed(to, "<p class=\"method\"><b>Method.</b> ", lab_typeset_markup(e->method), "<br/>");
    put_freed(to, "<code>", g_markup_escape_text(e->command, -1), "</code>");
    put_freed(to, e->timed ? " (timed)<br/>" : "<br/>", lab_content_tested(report, e), " ");
    put_freed(to, "<a href=\"#references\">", lab_content_citations(e), "</a></p>\n</section>\n");
    return ATTN_OK;
}

/* ---- the whole ---- */

static void put_references(FILE *to) {
    fputs("<section id=\"references\">\n<h2>References</h2>\n<ol>\n", to);
    for (int i = 0; lab_references[i].text; i++) {
        fprintf(to, "<li>%s <a href=\"%s\">%s</a></li>\n", lab_references[i].text,
                lab_references[i].address, lab_references[i].address + strlen("https://"));
    }
    fputs("</ol>\n</section>\n", to);
}

static void put_about(const lab_report_options *options, FILE *to) {
    fputs("<section id=\"method\">\n<h2>Method</h2>\n", to);
    put_entries(to, lab_content_method(options));
    fputs("<h3>How to read verdicts and identifiers</h3>\n", to);
    put_entries(to, lab_content_verdicts());
    put_entries(to, lab_content_identifiers());
    fputs("</section>\n", to);
    put_references(to);
}

attn_status lab_html_write(const lab_report_options *options, const lab_report *report, FILE *to,
                           attn_error *err) {
    const bool has_statements = report->tally.statements > 0;
    put_head(options, to);
    put_contents(report, has_statements, to);
    fputs("<main>\n<section id=\"abstract\">\n<h2>Abstract</h2>\n", to);
    put_freed(to, "<p>", lab_content_abstract(options, report), "</p>\n");
    put_main_results(report, to);
    fputs("<h3>The documents</h3>\n", to);
    put_entries(to, lab_content_documents());
    fputs("</section>\n", to);
    put_findings(report, to);
    fputs("<section id=\"figures\">\n<h2>Figures</h2>\n", to);
    for (size_t i = 0; i < report->n; i++) {
        ATTN_TRY(put_figure(report, &report->result[i], to, err));
    }
    fputs("</section>\n", to);
    if (has_statements) {
        put_statements(report, LAB_WRONG, "corrections", "Corrections to the documents", to);
        put_statements(report, LAB_HOLDS_IF, "conditions", "Statements that hold with a condition",
                       to);
    }
    put_about(options, to);
    fprintf(to,
            "</main>\n<footer>The attention series. attn %s computed every number when this "
            "file was written. <a href=\"#top\">Back to the top</a></footer>\n</body>\n</html>\n",
            attn_version());
    return ATTN_OK;
}
