/* SPDX-License-Identifier: Apache-2.0 */
/* content.h - what the report says, apart from how it looks: the PDF (pages.c) and the HTML (html.c)
 * take their texts and rows from here. Text is Pango markup, of which HTML understands every tag but
 * <tt>. Tests: tests/cli/test_report.py */
#ifndef LAB_CONTENT_H
#define LAB_CONTENT_H

#include "report/report.h"

#include <glib.h>

/* ---- text ---- */

/* Plain text as markup: subscripts (d_k), powers (n^2), roots (sqrt(d_k)), code between backticks.
 * Free with g_free(). */
char *lab_typeset(const char *plain);
/* The same of text that is markup already. */
char *lab_typeset_markup(const char *markup);

/* ---- findings ---- */

/* One row of the table "stated, measured, verdict": a claim, or a figure without one. */
typedef struct lab_row {
    int finding;              /* of document 000, from 1; 0: not one of its findings */
    const lab_result *result; /* the figure that shows it */
    const lab_claim *claim;   /* NULL: the documents state nothing about it */
    lab_verdict verdict;
    char *stated, *measured, *reason; /* markup; the reason of the verdict, or its condition */
} lab_row;

typedef struct lab_rows {
    lab_row *row;
    size_t n;
} lab_rows;

/* The findings of document 000 in its order, then the others in the order of the registry. */
lab_rows lab_content_findings(const lab_report *report);
/* All statements with this verdict, in their order; `result` is NULL where no figure shows it. */
lab_rows lab_content_statements(const lab_report *report, lab_verdict verdict);
void lab_rows_free(lab_rows *rows);

/* ---- sections; each text is freed with g_free() ---- */

extern const char lab_content_title[], lab_content_subtitle[], lab_content_topics[];

/* "seed 42 · 2026-11-18 · attn 0.2.0 · commit 1aa10e7c" */
char *lab_content_identity(const lab_report_options *options);
char *lab_content_abstract(const lab_report_options *options, const lab_report *report);
/* The results that change what the documents say, as far as they were measured; ends with NULL. */
enum { LAB_MAIN_RESULTS = 5 };
typedef struct lab_main_results {
    const lab_result *result[LAB_MAIN_RESULTS + 1];
} lab_main_results;
lab_main_results lab_content_main_results(const lab_report *report);
/* "Statements tested: C-3a holds; C-3b holds." of a figure, or "". */
char *lab_content_tested(const lab_report *report, const lab_experiment *experiment);
/* "C-3a · documents 000, 001" */
char *lab_content_source(const lab_claim *claim);

typedef struct lab_entry {
    const char *name; /* "000", "Seed" */
    char *text;
} lab_entry;

enum { LAB_DOCUMENTS = 5, LAB_MAX_ENTRIES = 16 };
typedef struct lab_entries {
    lab_entry entry[LAB_MAX_ENTRIES];
    size_t n;
} lab_entries;

lab_entries lab_content_documents(void);   /* what the five documents are */
lab_entries lab_content_verdicts(void);    /* what they mean */
lab_entries lab_content_identifiers(void); /* what they mean */
lab_entries lab_content_method(const lab_report_options *options);
void lab_entries_free(lab_entries *entries);

typedef struct lab_reference {
    const char *figures; /* ids of the figures it belongs to */
    const char *text;    /* markup */
    const char *address; /* https:// */
} lab_reference;

extern const lab_reference lab_references[]; /* ends with .text NULL */
/* "References: [1], [4]." of a figure, or "". */
char *lab_content_citations(const lab_experiment *experiment);

#endif
