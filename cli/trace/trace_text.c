/* SPDX-License-Identifier: Apache-2.0 */
/* trace_text.c - steps of attention as text for a terminal: words, tables, and what the documents
 * say of them. Tests: tests/cli/test_trace.py */
#include "lab/support/system.h"
#include "trace/trace.h"

#include <stdlib.h>

enum { MOST_READ = 6 };

static const char *look(out_look which) { return out_begin(stdout, which); }

/* A paragraph, every line `indent` in. */
void trace_print_wrapped(const char *text, int indent) {
    printf("%*s", indent, "");
    text_wrap(stdout, text, (text_box){indent, indent, trace_width()});
}

/* --------------------------------------------------------------------------- what documents say */

/* The numbers of the document, as printed. */
static void put_stated(FILE *to, const trace_verdict *v, int width) {
    const char *text = v->statement->stated;
    for (int j = 0; j < v->n; j++) {
        fprintf(to, " %*.*s", width, v->stated[j].length, text);
        text += v->stated[j].length + 1;
    }
}

static void put_truth(FILE *to, const trace_verdict *v, int width) {
    char text[OUT_NUMBER];
    for (int j = 0; j < v->n; j++)
        fprintf(to, " %s%*s%s", look(v->holds[j] ? OUT_PLAIN : OUT_BAD), width,
                trace_truth(v, j, text), look(OUT_PLAIN));
    fprintf(to, "  %s%d wrong%s", look(OUT_BAD), v->wrong, look(OUT_PLAIN));
}

enum { SAYS = 22, NAME = TRACE_LABEL - 3, STATED_NUMBER = 8, WRONG = 9 };

/* Both rows, number below number. */
static void print_verdict_table(const trace_verdict *v, const char *document, const char *name) {
    printf("  %-12s says   ", document);
    text_put(stdout, name, NAME, false);
    put_stated(stdout, v, STATED_NUMBER);
    printf("\n%15sit is  %*s", "", NAME, "");
    put_truth(stdout, v, STATED_NUMBER);
    printf("\n");
}

/* Both rows as sentences, where the terminal is too narrow for the table. */
static void print_verdict_lines(const trace_verdict *v, const char *document, const char *name) {
    system_text text;
    if (!system_text_begin(&text)) return;
    fprintf(text.stream, "%s%ssays %s:", document, *document ? " " : "", name);
    put_stated(text.stream, v, 0);
    if (!system_text_end(&text)) return;
    trace_print_wrapped(text.text, 2);
    free(text.text);
    if (!system_text_begin(&text)) return;
    fprintf(text.stream, "it is:");
    put_truth(text.stream, v, 0);
    if (!system_text_end(&text)) return;
    trace_print_wrapped(text.text, 4);
    free(text.text);
}

static void print_verdict(const trace_job *job, lab_part part, const trace_verdict *v, bool first) {
    char number[OUT_NUMBER], room[TEXT_ROOM], document[OUT_NUMBER] = "";
    const char *name = trace_name(trace_row_names(job, part), v->statement->row, number);
    if (first) snprintf(document, sizeof document, "document %.3s", job->example->name);
    if (SAYS + NAME + v->n * (STATED_NUMBER + 1) + WRONG <= trace_width())
        print_verdict_table(v, document, name);
    else
        print_verdict_lines(v, document, text_short(name, TRACE_LABEL, room));
}

/* Rows that are stated wrongly, both ways; the others in one line. */
static void print_statements(const trace_job *job, lab_part part) {
    trace_verdict v;
    int right = 0, wrong = 0;
    for (size_t i = 0; job->example && i < job->example->n_statements; i++) {
        if (!trace_judge(job, part, i, &v)) continue;
        if (right + wrong == 0) printf("\n");
        if (v.wrong > 0) print_verdict(job, part, &v, wrong == 0);
        right += v.wrong == 0;
        wrong += v.wrong > 0;
    }
    if (right == 0) return;
    char text[TRACE_TEXT];
    snprintf(text, sizeof text, "%sdocument %.3s is right about %s%s%s", look(OUT_GOOD),
             job->example->name, trace_titles[part], wrong ? " in the other rows" : "",
             look(OUT_PLAIN));
    trace_print_wrapped(text, 2);
}

/* ---------------------------------------------------------------------------------------- pages */

static int64_t largest_in_row(const lab_step *step, int64_t head, int64_t i) {
    int64_t best = 0;
    for (int64_t j = 1; j < step->columns; j++)
        if (lab_step_at(step, head, i, j) > lab_step_at(step, head, i, best)) best = j;
    return best;
}

/* What the weights say, in words. */
static void print_reading(const trace_job *job) {
    const lab_step *step = &job->steps.step[LAB_WEIGHTS];
    const int64_t head = job->o->head ? job->o->head - 1 : 0;
    system_text text;
    if (!system_text_begin(&text)) return;
    FILE *to = text.stream;
    fprintf(to, "Where most of the weight goes");
    if (step->heads > 1) fprintf(to, " in head %lld", (long long)head + 1);
    for (int64_t i = 0; i < step->rows && i < MOST_READ; i++) {
        const int64_t j = largest_in_row(step, head, i);
        char query[TEXT_ROOM], key[TEXT_ROOM];
        fprintf(to, "%s %s to %s (%.1f%%)", i ? "," : ":",
                text_short(job->query[i], TRACE_LABEL, query),
                text_short(job->key[j], TRACE_LABEL, key), 100 * lab_step_at(step, head, i, j));
    }
    fprintf(to, "%s", step->rows > MOST_READ ? ", ..." : ".");
    if (!system_text_end(&text)) return;
    printf("\n");
    trace_print_wrapped(text.text, 2);
    free(text.text);
}

/* Prints a part of a heading after three spaces, or on the next line if it does not fit there;
 * returns the column after it. */
static int put_heading_part(int column, out_look which, const char *text) {
    const int columns = text_width(text);
    const bool fits = column + 3 + columns <= trace_width();
    printf("%s%s%s%s", fits ? "   " : "\n   ", look(which), text, look(OUT_PLAIN));
    return (fits ? column : 0) + 3 + columns;
}

/* "3  keys   K = X W_K   (4, 4) (4, 2) -> (4, 2)   64 flops" */
static void print_heading(const trace_job *job, int number) {
    const trace_page *page = &job->page[number];
    const lab_step *step = &job->steps.step[page->part[page->n - 1]];
    char text[OUT_NUMBER + 8], count[OUT_NUMBER];
    int column = (int)strlen(page->title) + snprintf(NULL, 0, "%d  ", number + 1);
    printf("%s%d  %s%s", look(OUT_BOLD), number + 1, page->title, look(OUT_PLAIN));
    if (page->n < 3) {
        column = put_heading_part(column, OUT_ACCENT, step->formula);
        trace_shape(step, text);
        column = put_heading_part(column, OUT_DIM, text);
    }
    if (step->flops > 0) {
        snprintf(text, sizeof text, "%s flops", out_grouped(step->flops, count));
        put_heading_part(column, OUT_DIM, text);
    }
    printf("\n");
}

void trace_print_page(const trace_job *job, int number) {
    const trace_page *page = &job->page[number];
    print_heading(job, number);
    trace_print_wrapped(trace_sentence(job, page), 2);
    printf("\n");
    trace_print_parts(job, page);
    for (int i = 0; i < page->n; i++) {
        print_statements(job, page->part[i]);
        if (page->part[i] == LAB_WEIGHTS) print_reading(job);
    }
}

void trace_print_title(const trace_job *job) {
    char sizes[TRACE_TEXT];
    trace_sizes(job, sizes);
    printf("%s", look(OUT_BOLD));
    trace_print_wrapped(job->title, 0);
    printf("%s", look(OUT_PLAIN));
    if (*job->about) trace_print_wrapped(job->about, 0);
    printf("%s", look(OUT_DIM));
    trace_print_wrapped(sizes, 0);
    printf("%s", look(OUT_PLAIN));
}

static void print_end(const trace_job *job) {
    char count[OUT_NUMBER], text[TRACE_TEXT];
    double flops = 0;
    for (int part = 0; part < LAB_N_PARTS; part++) flops += job->steps.step[part].flops;
    if (job->as_documented && job->example->lesson) {
        printf("\n");
        trace_print_wrapped(job->example->lesson, 0);
    }
    snprintf(text, sizeof text,
             "%s flops in total; try --causal, --temperature 0.2, --pick 1,2, --interactive",
             out_grouped(flops, count));
    printf("\n%s", look(OUT_DIM));
    trace_print_wrapped(text, 0);
    printf("%s", look(OUT_PLAIN));
}

int trace_text(const trace_job *job, int only) {
    trace_print_title(job);
    for (int page = 0; page < job->n_pages; page++) {
        if (only >= 0 && page != only) continue;
        printf("\n");
        trace_print_page(job, page);
    }
    if (only < 0) print_end(job);
    return CLI_OK;
}
