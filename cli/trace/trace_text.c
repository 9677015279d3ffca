/* SPDX-License-Identifier: Apache-2.0 */
/* trace_text.c - steps of attention as text for a terminal: words, tables, and what the documents
 * say of them. Tests: tests/cli/test_trace.py */
#include "trace/trace.h"

#include <stdlib.h>

enum { MOST_READ = 6 };

static const char *look(out_look which) { return out_begin(stdout, which); }

/* ---------------------------------------------------------------------------------------- words */

/* Broken between words, every line `indent` in. */
static void print_wrapped(const char *text, int indent, int width) {
    int column = printf("%*s", indent, "");
    while (*text) {
        char word[TRACE_TEXT];
        snprintf(word, sizeof word, "%.*s", (int)strcspn(text, " "), text);
        const int length = trace_columns(word);
        if (column > indent && column + 1 + length > width)
            column = printf("\n%*s", indent, "") - 1;
        else if (column > indent)
            column += printf(" ");
        printf("%s", word);
        column += length;
        text += strcspn(text, " ");
        text += strspn(text, " ");
    }
    printf("\n");
}

/* --------------------------------------------------------------------------- what documents say */

/* The numbers of the document, as printed. */
static void put_stated(const trace_verdict *v) {
    const char *text = v->statement->stated;
    for (int j = 0; j < v->n; j++) {
        printf("%10.*s", v->stated[j].length, text);
        text += v->stated[j].length + 1;
    }
}

static void put_truth(const trace_verdict *v) {
    char text[OUT_NUMBER];
    for (int j = 0; j < v->n; j++)
        printf("%s%10s%s", look(v->holds[j] ? OUT_PLAIN : OUT_BAD), trace_truth(v, j, text),
               look(OUT_PLAIN));
}

static void print_verdict(const trace_job *job, lab_part part, const trace_verdict *v, bool first) {
    char text[OUT_NUMBER], document[OUT_NUMBER] = "";
    if (first) snprintf(document, sizeof document, "document %.3s", job->example->name);
    printf("  %-12s says   ", document);
    trace_put(stdout, trace_name(trace_row_names(job, part), v->statement->row, text),
              TRACE_LABEL - 3, false);
    put_stated(v);
    printf("\n%15sit is  %*s", "", TRACE_LABEL - 3, "");
    put_truth(v);
    printf("  %s%d wrong%s\n", look(OUT_BAD), v->wrong, look(OUT_PLAIN));
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
    printf("  %sdocument %.3s is right about %s%s%s\n", look(OUT_GOOD), job->example->name,
           trace_titles[part], wrong ? " in the other rows" : "", look(OUT_PLAIN));
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
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    if (!to) return;
    fprintf(to, "Where most of the weight goes");
    if (step->heads > 1) fprintf(to, " in head %lld", (long long)head + 1);
    for (int64_t i = 0; i < step->rows && i < MOST_READ; i++) {
        const int64_t j = largest_in_row(step, head, i);
        const char *query = job->query[i], *key = job->key[j];
        fprintf(to, "%s %.*s to %.*s (%.1f%%)", i ? "," : ":", trace_clip(query, TRACE_LABEL),
                query, trace_clip(key, TRACE_LABEL), key, 100 * lab_step_at(step, head, i, j));
    }
    fprintf(to, "%s", step->rows > MOST_READ ? ", ..." : ".");
    fclose(to);
    printf("\n");
    print_wrapped(text, 2, trace_width());
    free(text);
}

/* "3  keys   K = X W_K   (4, 4) (4, 2) -> (4, 2)   64 flops" */
static void print_heading(const trace_job *job, int number) {
    const trace_page *page = &job->page[number];
    const lab_step *step = &job->steps.step[page->part[page->n - 1]];
    char shape[OUT_NUMBER], count[OUT_NUMBER];
    trace_shape(step, shape);
    printf("%s%d  %s%s", look(OUT_BOLD), number + 1, page->title, look(OUT_PLAIN));
    if (page->n < 3) printf("   %s%s%s", look(OUT_ACCENT), step->formula, look(OUT_PLAIN));
    if (page->n < 3) printf("   %s%s", look(OUT_DIM), shape);
    if (step->flops > 0) printf("   %s flops", out_grouped(step->flops, count));
    printf("%s\n", look(OUT_PLAIN));
}

void trace_print_page(const trace_job *job, int number) {
    const trace_page *page = &job->page[number];
    print_heading(job, number);
    print_wrapped(trace_sentence(job, page), 2, trace_width());
    printf("\n");
    trace_print_parts(job, page);
    for (int i = 0; i < page->n; i++) {
        print_statements(job, page->part[i]);
        if (page->part[i] == LAB_WEIGHTS) print_reading(job);
    }
}

void trace_print_title(const trace_job *job) {
    char sizes[TRACE_TEXT];
    const int width = trace_width();
    trace_sizes(job, sizes);
    printf("%s", look(OUT_BOLD));
    print_wrapped(job->title, 0, width);
    printf("%s", look(OUT_PLAIN));
    if (*job->about) print_wrapped(job->about, 0, width);
    printf("%s", look(OUT_DIM));
    print_wrapped(sizes, 0, width);
    printf("%s", look(OUT_PLAIN));
}

static void print_end(const trace_job *job) {
    char count[OUT_NUMBER], text[TRACE_TEXT];
    double flops = 0;
    for (int part = 0; part < LAB_N_PARTS; part++) flops += job->steps.step[part].flops;
    if (job->as_documented && job->example->lesson) {
        printf("\n");
        print_wrapped(job->example->lesson, 0, trace_width());
    }
    snprintf(text, sizeof text,
             "%s flops in all; try --causal, --temperature 0.2, --pick 1,2, --interactive",
             out_grouped(flops, count));
    printf("\n%s", look(OUT_DIM));
    print_wrapped(text, 0, trace_width());
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
