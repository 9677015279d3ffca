/* SPDX-License-Identifier: Apache-2.0 */
/* trace.h - `attn trace`: the steps of the command and what they share. Inputs become a problem
 * (trace_inputs.c), the lab computes every step, pages say what is shown together (trace_pages.c),
 * and text, Markdown, JSON or a dialogue show them. */
#ifndef CLI_TRACE_H
#define CLI_TRACE_H

#include "lab/steps/examples.h"
#include "lab/steps/mistakes.h"
#include "lab/steps/sentence.h"
#include "shared/npy.h"
#include "shared/out.h"
#include "shared/scale_option.h"
#include "shared/text.h"

#include <string.h>

/* Matrices that may come from files. */
enum { TRACE_X, TRACE_WQ, TRACE_WK, TRACE_WV, TRACE_WO, TRACE_Q, TRACE_K, TRACE_V, TRACE_FILES };

typedef struct trace_options {
    cli_common common;
    const char *example;
    const char *file[TRACE_FILES];
    int64_t heads, d_model, d_k; /* 0: not given */
    int64_t seed;                /* -1: not given */
    bool causal, no_scale;
    int scale; /* lab_scaling */
    double temperature;
    const char *set, *pick, *step, *mistake;
    int64_t head; /* from 1; 0: all */
    bool markdown, interactive;
} trace_options;

/* What is shown together; the last part is the result. */
typedef struct trace_page {
    const char *title;
    lab_part part[3];
    int n;
} trace_page;

/* One cell of the scores, from 0. */
typedef struct trace_pick {
    int64_t head, i, j;
} trace_pick;

enum { TRACE_MOST_PAGES = 12, TRACE_TEXT = 512, TRACE_LABEL = 12, TRACE_HEADS = 8 };

typedef struct trace_job {
    const trace_options *o;
    const char *sentence;       /* or NULL */
    const lab_example *example; /* or NULL */
    bool as_documented;         /* the example with its own options: statements apply */
    bool is_random;             /* a sentence of one's own: numbers drawn from this seed */
    uint32_t seed;
    char title[TRACE_TEXT], about[TRACE_TEXT];
    lab_problem problem;
    lab_steps steps;
    const char *const *query, *const *key; /* (n_q), (n_k) labels */
    trace_page page[TRACE_MOST_PAGES];
    int n_pages;
    trace_pick pick; /* only with o->pick */
    /* what the job owns */
    lab_words words, made_query, made_key;
    double *memory;
    double *file[TRACE_FILES];
    double *changed[LAB_N_PARTS]; /* by --set */
} trace_job;

/* trace_inputs.c: fills the problem, the labels and the words about them; an exit code after a
 * message. */
int trace_load(trace_job *job);
void trace_free(trace_job *job);

/* trace_set.c: applies --set; an exit code after a message. */
int trace_set(trace_job *job);

/* trace_pages.c */
void trace_make_pages(trace_job *job);
/* "4 tokens, d_model 4, 1 head of d_k = d_v = 2, scale 1/sqrt(2), causal". */
void trace_sizes(const trace_job *job, char text[TRACE_TEXT]);
/* The page (from 0) that a number from 1 or the name of a matrix means, or -1. */
int trace_page_of(const trace_job *job, const char *text);
/* "(4, 2)", or "2 x (4, 2)" for two heads. */
void trace_shape(const lab_step *step, char text[OUT_NUMBER]);
/* The page's main sentence. */
const char *trace_sentence(const trace_job *job, const trace_page *page);

/* Whether head h of this step is shown: the one asked for, or the first TRACE_HEADS. */
bool trace_shows(const trace_job *job, const lab_step *step, int64_t h);
/* How many heads are not, unless one is asked for. */
int64_t trace_hidden_heads(const trace_job *job);

/* Names of rows and columns; NULL: numbers from 1. */
const char *const *trace_row_names(const trace_job *job, lab_part part);
const char *const *trace_column_names(const trace_job *job, lab_part part);
/* The name, or the number i + 1 in text. */
const char *trace_name(const char *const *names, int64_t i, char text[OUT_NUMBER]);

/* Cells of one matrix, all in one form. */
typedef struct trace_form {
    int decimals;
    bool exponent;
    double largest; /* of the absolute values that are not masked */
} trace_form;
trace_form trace_form_of(const trace_job *job, lab_part part);
bool trace_is_masked(const trace_job *job, lab_part part, int64_t head, int64_t i, int64_t j);
/* One cell as text; "-" where masked. */
const char *trace_cell(const trace_job *job, lab_part part, const trace_form *form,
                       const int64_t at[3], char text[OUT_NUMBER]);

/* What of a long range is shown: its ends. */
typedef struct trace_range {
    int64_t n, first, last; /* first + last < n: the rest is left out */
} trace_range;
trace_range trace_range_of(int64_t n, int64_t most);
static inline bool trace_is_cut(const trace_range *r, int64_t i) {
    return r->first + r->last < r->n && i == r->first - 1;
}
static inline int64_t trace_next(const trace_range *r, int64_t i) {
    return trace_is_cut(r, i) ? r->n - r->last : i + 1;
}

/* What the document says of one row, beside the truth. */
typedef struct trace_verdict {
    const lab_statement *statement;
    lab_stated stated[LAB_MOST_STATED];
    double truth[LAB_MOST_STATED];
    bool holds[LAB_MOST_STATED];
    int n, wrong;
} trace_verdict;
/* Statement i of the example; false if it is not about this part and these options. */
bool trace_judge(const trace_job *job, lab_part part, size_t i, trace_verdict *verdict);
/* True number j as text, with as many decimals as the row needs, at most 6. */
const char *trace_truth(const trace_verdict *verdict, int j, char text[OUT_NUMBER]);

/* Fills job->pick from --pick and --head; an exit code after a message. */
int trace_take_pick(trace_job *job);

/* Columns to use, as out_columns(). */
int trace_width(void);

/* trace_grid.c: the matrices of a page as tables, side by side where they fit. */
void trace_print_parts(const trace_job *job, const trace_page *page);
extern const char *const trace_titles[LAB_N_PARTS];

/* The ways to show it; exit codes. only: one page, or -1 for all. */
int trace_text(const trace_job *job, int only);
int trace_markdown(const trace_job *job, int only);
int trace_json(const trace_job *job, int only);
int trace_browse(const trace_job *job);
int trace_pick_text(const trace_job *job);
int trace_pick_markdown(const trace_job *job);
/* trace_mistake.c: which mistake --mistake names, an exit code after a message; and shows it. */
int trace_check_mistake(const trace_options *o, lab_mistake *mistake);
int trace_mistake(const trace_job *job, lab_mistake mistake);
/* Prints text in lines of at most trace_width() columns, each indented. */
void trace_print_wrapped(const char *text, int indent);
/* One page, and the lines above and below all pages. */
void trace_print_page(const trace_job *job, int page);
void trace_print_title(const trace_job *job);

#endif
