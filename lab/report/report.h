/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - the analysis as a document: runs the experiments, tests the statements of the
 * documents, and writes it as PDF or HTML, with figures (SVG, PNG) and their data (CSV, JSON).
 * Tests: tests/cli/test_report.py */
#ifndef LAB_REPORT_H
#define LAB_REPORT_H

#include "claim.h"
#include "experiment.h"

typedef struct lab_report_options {
    const char *folder; /* made if it does not exist; its parent must */
    const char *only;   /* ids, "F4" or "F1,E3", or "corrections"; NULL: all */
    uint32_t seed;
    int threads;
    bool pdf, html, svg, png;
    bool letter; /* paper; otherwise A4 */
    plot_theme theme;
    const char *date; /* of the report, "2026-11-18"; NULL: that of the source, if it is known */
    /* How far: seconds of expected work done and in all, and what is being done. NULL: not
     * asked. */
    void (*progress)(void *arg, double done, double total, const char *stage);
    void *progress_arg;
} lab_report_options;

typedef struct lab_result {
    const lab_experiment *experiment;
    lab_data data;
    lab_finding finding;
} lab_result;

/* A statement of the documents, and what the computation says about it. */
typedef struct lab_statement {
    const lab_claim *claim;
    lab_outcome outcome;
} lab_statement;

typedef struct lab_report {
    lab_result *result; /* (n) in the order of the registry */
    size_t n;
    lab_statement *statement; /* (n_statements) worked numbers first, then claims */
    size_t n_statements;
    lab_tally tally; /* of all statements; empty unless the corrections are wanted */
} lab_report;

/* Whether options->only names experiments that exist, each once. Errors: VALUE (the message lists
 * them). */
attn_status lab_report_check(const lab_report_options *options, attn_error *err);
/* Makes the folders, so that a place that cannot be written is found before the work. Errors: VALUE
 * (the message names the folder). */
attn_status lab_report_make_folders(const lab_report_options *options, attn_error *err);

/* Runs what options->only names. Errors: VALUE (no such experiment; the message lists them),
 * MEMORY, and those of the engine; *report is then empty. */
attn_status lab_report_measure(const lab_report_options *options, lab_report *report,
                               attn_error *err);

/* Writes FOLDER/attention.pdf, FOLDER/attention.html, FOLDER/figures/F1.svg and .png, FOLDER/data/F1.json and
 * F1-<table>.csv. Errors: VALUE (a file cannot be written; the message names it), MEMORY. Files
 * that were written stay; each appears complete or not at all. */
attn_status lab_report_write(const lab_report_options *options, const lab_report *report,
                             attn_error *err);
void lab_report_free(lab_report *report);

/* The result with that id, or NULL. */
const lab_result *lab_report_find(const lab_report *report, const char *id);
/* Whether a comma-separated list, which may be NULL, names an id, in either case. */
bool lab_list_names(const char *list, const char *id);
/* How many statements have this verdict. */
size_t lab_report_count(const lab_report *report, lab_verdict verdict);

/* The seven findings of document 000, in its order: the experiment that answers each. */
enum { LAB_FINDINGS = 7 };
extern const char *const lab_finding_ids[LAB_FINDINGS];

#endif
