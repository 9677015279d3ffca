/* SPDX-License-Identifier: Apache-2.0 */
/* report.c - `attn report`: measures, writes the pages, and says in the terminal what was found.
 * Tests: tests/cli/test_report.py */
#include "lab/report/report.h"

#include "lab/support/outfile.h"
#include "report_data.h"
#include "shared/options.h"
#include "shared/out.h"
#include "shared/text.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct report_options {
    cli_common common;
    const char *out, *only, *format, *date;
    uint64_t seed;
    int64_t threads; /* 0: all CPUs */
    int paper, theme;
    bool list, data;
} report_options;

#define AT(field) .at = offsetof(report_options, field)

static const cli_option options[] = {
    {.kind = CLI_SECTION, .name = "What to run"},
    {.kind = CLI_TEXT,
     .name = "only",
     AT(only),
     .value = "ID,...",
     .help = "run only these experiments, e.g. --only F4 or --only F1,E3,corrections (default: "
             "all)"},
    {.kind = CLI_UINT, .name = "seed", AT(seed), .value = "N", .help = "random seed (default 42)"},
    {.kind = CLI_FLAG, .name = "list", AT(list), .help = "list the experiments"},
    {.kind = CLI_FLAG,
     .name = "data",
     AT(data),
     .help = "print the numbers behind the figures of --only as CSV and write no files"},
    {.kind = CLI_SECTION, .name = "Output and threads"},
    {.kind = CLI_TEXT,
     .name = "out",
     .letter = 'o',
     AT(out),
     .value = "DIR",
     .help = "output folder, created if missing (default attention-report)"},
    {.kind = CLI_TEXT,
     .name = "format",
     AT(format),
     .value = "LIST",
     .help = "some of pdf, html, svg, png (default: all but html). Data (CSV, JSON) is always\n"
             "written"},
    {.kind = CLI_CHOICE,
     .name = "paper",
     AT(paper),
     .value = "a4|letter",
     .help = "paper size of the PDF, landscape (default a4)"},
    {.kind = CLI_CHOICE,
     .name = "theme",
     AT(theme),
     .value = "light|dark",
     .help = "light for print (default) or dark for screens; the HTML file follows its reader"},
    {.kind = CLI_TEXT,
     .name = "date",
     AT(date),
     .value = "YYYY-MM-DD",
     .help = "date printed in the report (default: SOURCE_DATE_EPOCH if it is set, otherwise\n"
             "the date of the source, so that the same build writes the same bytes)"},
    CLI_THREADS_OPTION(report_options, "number of threads (default: all CPUs)"),
    CLI_COMMON_OPTIONS,
};

static const cli_spec spec = {
    .command = "report",
    .usage = "report [--out DIR] [options]",
    .about = "Runs experiments on attention and writes a report: what the documents state\n"
             "beside what was measured, one page per figure, corrections and the method, as\n"
             "a PDF or as one HTML file. Each figure is also written as SVG and PNG, and its\n"
             "numbers as CSV and JSON. Takes about a minute.",
    .notes = {{"Examples", "  attn report\n"
                           "  attn report --format html\n"
                           "  attn report --only F4 --format png --out sharpness\n"
                           "  attn report --only F6 --data\n"
                           "  attn report --paper letter --theme dark --seed 7\n"}},
    .options = options,
    .n_options = sizeof options / sizeof *options,
};

/* ---- options ---- */

/* What a build without pictures says, as an error about --format or as a note. */
static const char no_pictures[] = "this build draws no pictures; to get them, build attn with "
                                  "cairo and pango (-DATTN_WITH_PICTURES=ON, docs/building.md)";

/* "pdf,svg" into the switches; false on any other word. */
static bool parse_format(const char *list, lab_report_options *report) {
    static const char *const name[] = {"pdf", "html", "svg", "png"};
    bool *const on[] = {&report->pdf, &report->html, &report->svg, &report->png};
    for (const char *at = list;; at += strcspn(at, ",") + 1) {
        const size_t length = strcspn(at, ",");
        int i = 0;
        while (i < 4 && (length != strlen(name[i]) || strncmp(at, name[i], length) != 0)) i++;
        if (i == 4) return false;
        *on[i] = true;
        if (at[length] == 0) return true;
    }
}

/* Without --format: all that this build draws. */
static int choose_formats(const char *list, lab_report_options *report) {
    if (!list && !plot_is_built()) return CLI_GO;
    if (!parse_format(list ? list : "pdf,svg,png", report)) {
        out_error(spec.command,
                  "--format %s: expected some of pdf, html, svg, png, separated by commas", list);
        return CLI_USAGE;
    }
    if (plot_is_built()) return CLI_GO;
    out_error(spec.command, "--format %s: %s", list, no_pictures);
    return CLI_USAGE;
}

enum { DATE = 11 }; /* characters of 2026-11-18, with the 0 */

static bool is_date(const char *text) {
    int month = 0, day = 0, end = 0;
    if (strlen(text) != DATE - 1 || strspn(text, "0123456789-") != DATE - 1) return false;
    if (text[4] != '-' || text[7] != '-') return false;
    sscanf(text, "%*4d-%2d-%2d%n", &month, &day, &end);
    return end == DATE - 1 && month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

/* From --date, or from SOURCE_DATE_EPOCH (seconds since 1970, UTC); "" without either. Never from
 * the clock: the same seed is to give the same bytes. */
static int choose_date(const char *given, char date[DATE]) {
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    date[0] = 0;
    if (given && !is_date(given)) {
        out_error(spec.command, "--date %s: expected a date such as 2026-11-18", given);
        return CLI_USAGE;
    }
    if (given) {
        memcpy(date, given, DATE);
    } else if (epoch && epoch[0]) {
        char *end;
        const time_t seconds = (time_t)strtoll(epoch, &end, 10);
        const struct tm *utc = *end == 0 ? gmtime(&seconds) : NULL;
        if (!utc || strftime(date, DATE, "%Y-%m-%d", utc) == 0) {
            out_error(spec.command, "SOURCE_DATE_EPOCH=%s: expected seconds since 1970-01-01",
                      epoch);
            return CLI_USAGE;
        }
    }
    return CLI_GO;
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
                  "--seed %llu: expected at most 4294967295, as in NumPy's legacy generator",
                  (unsigned long long)o->seed);
        return CLI_USAGE;
    }
    const int formats = choose_formats(o->format, report);
    if (formats != CLI_GO) return formats;
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
            const text_box box = {4, 4, out_columns(30, 100)};
            printf("%s%-3s%s ", out_begin(stdout, OUT_BOLD), e->id, out_begin(stdout, OUT_PLAIN));
            text_wrap(stdout, e->title, box);
            printf("    %s", out_begin(stdout, OUT_DIM));
            text_wrap(stdout, e->question, box);
            printf("%s", out_begin(stdout, OUT_PLAIN));
        }
    }
    return json ? out_json(list) : CLI_OK;
}

static int print_json(const lab_report_options *report_options_, const lab_report *report) {
    json_t *findings = json_array();
    for (size_t i = 0; i < report->n; i++) {
        const lab_result *r = &report->result[i];
        json_array_append_new(findings,
                              json_pack("{s:s, s:s, s:s, s:s, s:s}", "id", r->experiment->id,
                                        "title", r->experiment->title, "verdict",
                                        lab_verdict_name(r->finding.verdict), "condition",
                                        r->finding.condition, "finding", r->finding.headline));
    }
    return out_json(json_pack("{s:s, s:I, s:o, s:I}", "folder", report_options_->folder, "seed",
                              (json_int_t)report_options_->seed, "findings", findings,
                              "corrections", (json_int_t)lab_report_count(report, LAB_WRONG)));
}

/* The verdict, with its condition if there is one, and the finding below it. */
static void print_finding(const lab_result *result) {
    static const out_look look[] = {OUT_GOOD, OUT_ACCENT, OUT_BAD, OUT_BOLD};
    enum { INDENT = 4 };
    const lab_finding *finding = &result->finding;
    const char *words = lab_verdict_words(finding->verdict);
    const int width = out_columns_or(96, 30, 96);
    printf("%-3s %s%s%s", result->experiment->id, out_begin(stdout, look[finding->verdict]), words,
           out_begin(stdout, OUT_PLAIN));
    if (finding->verdict == LAB_HOLDS_IF) {
        printf(": ");
        text_wrap(stdout, finding->condition,
                  (text_box){INDENT + (int)strlen(words) + 2, INDENT, width});
    } else {
        putchar('\n');
    }
    printf("%*s", INDENT, "");
    text_wrap(stdout, finding->headline, (text_box){INDENT, INDENT, width});
}

static void print_text(const lab_report_options *r, const lab_report *report, double seconds) {
    printf("%sFindings%s (seed %u)\n\n", out_begin(stdout, OUT_BOLD), out_begin(stdout, OUT_PLAIN),
           (unsigned)r->seed);
    for (size_t i = 0; i < report->n; i++) print_finding(&report->result[i]);
    if (report->tally.statements > 0) {
        char count[LAB_TEXT];
        lab_tally_say(&report->tally, count);
        printf("\n%s\n`attn verify` shows all of them.\n", count);
    }
    printf("\nWritten in %.1f s to %s:\n", seconds, r->folder);
    if (r->pdf) printf("  attention.pdf   the report\n");
    if (r->html) printf("  attention.html  the report as one page, for a browser\n");
    if (r->svg || r->png) printf("  figures/        every figure\n");
    printf("  data/           the numbers behind every figure, as CSV and JSON\n");
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

/* Measures, and then prints the data or writes the report. */
static int make_report(const lab_report_options *wish, bool json, bool data) {
    lab_report_options r = *wish;
    lab_report report;
    attn_error err = {{0}};
    out_progress progress;
    const double begin = out_clock();
    out_progress_begin(&progress, "report", 1, 0);
    r.progress = show_progress;
    r.progress_arg = &progress;
    attn_status status = lab_report_measure(&r, &report, &err);
    if (status == ATTN_OK && !data) status = lab_report_write(&r, &report, &err);
    if (status != ATTN_OK)
        outfile_group_discard();
    else if (!outfile_group_commit(err.message, sizeof err.message))
        status = ATTN_E_VALUE;
    out_progress_end(&progress);
    int code = CLI_OK;
    if (status != ATTN_OK) {
        code = refuse(status, &err);
    } else if (data) {
        code = report_print_data(&report, json);
    } else if (json) {
        code = print_json(&r, &report);
    } else {
        print_text(&r, &report, out_clock() - begin);
    }
    lab_report_free(&report);
    return code;
}

/* Finds mistakes that can be found before the work. */
static int prepare(const lab_report_options *wish, bool data) {
    attn_error err = {{0}};
    if (lab_report_check(wish, &err) != ATTN_OK) {
        out_error(spec.command, "--%s", err.message);
        return CLI_USAGE;
    }
    if (data && !wish->only) {
        out_error(spec.command, "--data: choose experiments with --only, e.g. --only F6");
        return CLI_USAGE;
    }
    const attn_status status = data ? ATTN_OK : lab_report_make_folders(wish, &err);
    return status == ATTN_OK ? CLI_GO : refuse(status, &err);
}

int cmd_report(int argc, char **argv) {
    report_options o = {.out = "attention-report", .seed = 42};
    const int parsed = cli_parse(&spec, argc, argv, &o);
    if (parsed != CLI_GO) return parsed;
    lab_report_options wish;
    const int understood = understand(&o, &wish);
    if (understood != CLI_GO) return understood;
    char date[DATE];
    const int dated = choose_date(o.date, date);
    if (dated != CLI_GO) return dated;
    if (date[0]) wish.date = date;
    if (o.list) return print_list(o.common.json);
    outfile_group_begin(); /* the files appear together, or, after an error or Ctrl-C, none does */
    const int prepared = prepare(&wish, o.data);
    if (prepared != CLI_GO) outfile_group_discard();
    if (prepared == CLI_GO && !o.data && !plot_is_built())
        out_note(spec.command, "%s", no_pictures);
    return prepared == CLI_GO ? make_report(&wish, o.common.json, o.data) : prepared;
}
