/* SPDX-License-Identifier: Apache-2.0 */
/* report.c - `attn report`: measures, writes the pages, and says in the terminal what was found.
 * Tests: tests/cli/test_report.py */
#include "lab/report/report.h"

#include "shared/options.h"
#include "shared/out.h"

#include <string.h>
#include <unistd.h>

typedef struct report_options {
    cli_common common;
    const char *out, *only, *format;
    uint64_t seed;
    int64_t threads; /* 0: all CPUs */
    int paper, theme;
    bool list;
} report_options;

#define AT(field) .at = offsetof(report_options, field)

static const cli_option options[] = {
    {.kind = CLI_SECTION, .name = "What"},
    {.kind = CLI_TEXT,
     .name = "only",
     AT(only),
     .value = "ID,...",
     .help = "these experiments, e.g. --only F4 or --only F1,E3; default: all"},
    {.kind = CLI_UINT, .name = "seed", AT(seed), .value = "N", .help = "of all draws; default 42"},
    {.kind = CLI_FLAG, .name = "list", AT(list), .help = "say which experiments there are"},
    {.kind = CLI_SECTION, .name = "Where and how"},
    {.kind = CLI_TEXT,
     .name = "out",
     .letter = 'o',
     AT(out),
     .value = "DIR",
     .help = "folder, made if missing; default attention-report"},
    {.kind = CLI_TEXT,
     .name = "format",
     AT(format),
     .value = "LIST",
     .help = "of pdf, svg, png; default all. Data (CSV, JSON) is always written"},
    {.kind = CLI_CHOICE,
     .name = "paper",
     AT(paper),
     .value = "a4|letter",
     .help = "of the PDF, landscape; default a4"},
    {.kind = CLI_CHOICE,
     .name = "theme",
     AT(theme),
     .value = "light|dark",
     .help = "light for print (default), dark for screens"},
    CLI_THREADS_OPTION(report_options, "default: all CPUs"),
    CLI_COMMON_OPTIONS,
};

static const cli_spec spec = {
    .command = "report",
    .usage = "report [--out DIR] [options]",
    .about = "Measures what attention does and writes it up: a PDF with a summary of findings,\n"
             "one page a figure, corrections to the documents and the method; every figure also\n"
             "as SVG and PNG, with its numbers as CSV and JSON. Takes about a minute.",
    .notes = {{"Examples", "  attn report\n"
                           "  attn report --only F4 --format png --out sharpness\n"
                           "  attn report --paper letter --theme dark --seed 7\n"}},
    .options = options,
    .n_options = sizeof options / sizeof *options,
};

/* ---- options ---- */

/* "pdf,svg" into the three switches; false on any other word. */
static bool parse_format(const char *list, lab_report_options *report) {
    static const char *const name[] = {"pdf", "svg", "png"};
    bool *const on[] = {&report->pdf, &report->svg, &report->png};
    for (const char *at = list;; at += strcspn(at, ",") + 1) {
        const size_t length = strcspn(at, ",");
        int i = 0;
        while (i < 3 && (length != 3 || strncmp(at, name[i], 3) != 0)) i++;
        if (i == 3) return false;
        *on[i] = true;
        if (at[length] == 0) return true;
    }
}

static int understand(const report_options *o, lab_report_options *report) {
    *report = (lab_report_options){.folder = o->out,
                                   .only = o->only,
                                   .seed = (uint32_t)o->seed,
                                   .threads = (int)o->threads,
                                   .letter = o->paper == 1,
                                   .theme = o->theme == 1 ? PLOT_DARK : PLOT_LIGHT};
    if (o->seed > UINT32_MAX) {
        out_error(spec.command,
                  "--seed %llu: expected at most 4294967295, as NumPy's legacy stream",
                  (unsigned long long)o->seed);
        return CLI_USAGE;
    }
    if (!parse_format(o->format, report)) {
        out_error(spec.command, "--format %s: expected some of pdf, svg, png with commas between",
                  o->format);
        return CLI_USAGE;
    }
    if (o->threads == 0) {
        attn_cpu cpu = {.struct_size = sizeof cpu};
        attn_cpu_info(&cpu, NULL);
        report->threads = cpu.cpus;
    }
    return CLI_GO;
}

/* ---- what is said ---- */

static int print_list(bool json) {
    json_t *list = json ? json_array() : NULL;
    for (size_t i = 0; lab_experiments[i]; i++) {
        const lab_experiment *e = lab_experiments[i];
        if (json) {
            json_array_append_new(list,
                                  json_pack("{s:s, s:s, s:s, s:s}", "id", e->id, "title", e->title,
                                            "question", e->question, "command", e->command));
        } else {
            printf("%s%-3s%s %-44s %s\n", out_begin(stdout, OUT_BOLD), e->id,
                   out_begin(stdout, OUT_PLAIN), e->title, e->question);
        }
    }
    return json ? out_json(list) : CLI_OK;
}

static int print_json(const lab_report_options *report_options_, const lab_report *report) {
    json_t *findings = json_array();
    for (size_t i = 0; i < report->n; i++) {
        const lab_result *r = &report->result[i];
        json_array_append_new(findings, json_pack("{s:s, s:s, s:s, s:s}", "id", r->experiment->id,
                                                  "title", r->experiment->title, "verdict",
                                                  lab_verdict_name(r->finding.verdict), "finding",
                                                  r->finding.headline));
    }
    return out_json(json_pack("{s:s, s:I, s:o, s:I}", "folder", report_options_->folder, "seed",
                              (json_int_t)report_options_->seed, "findings", findings,
                              "corrections", (json_int_t)report->n_corrections));
}

/* Words up to `width` columns, the lines after the first `indent` columns in. */
static void print_wrapped(const char *text, int indent, int width) {
    int column = indent;
    while (*text) {
        const int length = (int)strcspn(text, " ");
        if (column > indent && column + 1 + length > width) {
            printf("\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            putchar(' ');
            column++;
        }
        printf("%.*s", length, text);
        column += length;
        text += length;
        while (*text == ' ') text++;
    }
    putchar('\n');
}

static void print_finding(const lab_result *result) {
    static const out_look look[] = {OUT_GOOD, OUT_ACCENT, OUT_BAD, OUT_BOLD};
    const lab_verdict verdict = result->finding.verdict;
    printf("%-3s %s%-9s%s ", result->experiment->id, out_begin(stdout, look[verdict]),
           lab_verdict_name(verdict), out_begin(stdout, OUT_PLAIN));
    print_wrapped(result->finding.headline, 14, 96);
}

static void print_text(const lab_report_options *r, const lab_report *report, double seconds) {
    printf("%sFindings%s (seed %u)\n\n", out_begin(stdout, OUT_BOLD), out_begin(stdout, OUT_PLAIN),
           (unsigned)r->seed);
    for (size_t i = 0; i < report->n; i++) print_finding(&report->result[i]);
    if (report->n_corrections > 0) {
        printf("\n%zu statements of the documents are wrong; `attn verify` shows all of them.\n",
               report->n_corrections);
    }
    printf("\nWritten in %.1f s to %s:\n", seconds, r->folder);
    if (r->pdf) printf("  attention.pdf   the pages\n");
    if (r->svg || r->png) printf("  figures/        each figure\n");
    printf("  data/           the numbers behind each figure, CSV and JSON\n");
}

static void show_progress(void *arg, double done, double total, const char *stage) {
    out_progress *progress = arg;
    progress->total = total;
    progress->stage = stage;
    out_progress_step(progress, done);
}

/* Values were checked before: one that is refused now belongs to a file. */
static int refuse(attn_status status, const attn_error *err) {
    out_error(spec.command, "%s", err->message);
    return status == ATTN_E_VALUE ? CLI_FILE : cli_code_of(status);
}

static int write_report(const lab_report_options *wish, bool json) {
    lab_report_options r = *wish;
    lab_report report;
    attn_error err = {{0}};
    out_progress progress;
    const double begin = out_clock();
    out_progress_begin(&progress, "report", 1, 0);
    r.progress = show_progress;
    r.progress_arg = &progress;
    attn_status status = lab_report_measure(&r, &report, &err);
    if (status == ATTN_OK) status = lab_report_write(&r, &report, &err);
    out_progress_end(&progress);
    int code = CLI_OK;
    if (status != ATTN_OK) {
        code = refuse(status, &err);
    } else if (json) {
        code = print_json(&r, &report);
    } else {
        print_text(&r, &report, out_clock() - begin);
    }
    lab_report_free(&report);
    return code;
}

/* What can be known to be wrong before the work. */
static int prepare(const lab_report_options *wish) {
    attn_error err = {{0}};
    if (lab_report_check(wish, &err) != ATTN_OK) {
        out_error(spec.command, "--%s", err.message);
        return CLI_USAGE;
    }
    const attn_status status = lab_report_make_folders(wish, &err);
    return status == ATTN_OK ? CLI_GO : refuse(status, &err);
}

int cmd_report(int argc, char **argv) {
    report_options o = {.out = "attention-report", .format = "pdf,svg,png", .seed = 42};
    const int parsed = cli_parse(&spec, argc, argv, &o);
    if (parsed != CLI_GO) return parsed;
    lab_report_options wish;
    const int understood = understand(&o, &wish);
    if (understood != CLI_GO) return understood;
    if (o.list) return print_list(o.common.json);
    const int prepared = prepare(&wish);
    return prepared == CLI_GO ? write_report(&wish, o.common.json) : prepared;
}
