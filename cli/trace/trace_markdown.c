/* SPDX-License-Identifier: Apache-2.0 */
/* trace_markdown.c - `attn trace --markdown`: a page of tables that can be pasted.
 * Tests: tests/cli/test_trace.py */
#include "trace/trace.h"

enum { MOST = 16 }; /* rows and columns of a table */

/* Characters that mean something in Markdown get a backslash. */
static void put_escaped(const char *text) {
    for (; *text; text++) {
        if (strchr("\\`*_<>|[]#", *text)) putchar('\\');
        putchar(*text);
    }
}

/* --------------------------------------------------------------------------------------- tables */

typedef struct sheet {
    const trace_job *job;
    lab_part part;
    int64_t head;
    trace_form form;
    trace_range rows, columns;
    bool sums;
} sheet;

static void print_head(const sheet *s) {
    char text[OUT_NUMBER];
    const char *const *names = trace_column_names(s->job, s->part);
    printf("| |");
    for (int64_t j = 0; j < s->columns.n; j = trace_next(&s->columns, j)) {
        printf(" ");
        put_escaped(trace_name(names, j, text));
        printf(trace_is_cut(&s->columns, j) ? " | ... |" : " |");
    }
    printf("%s\n|---|", s->sums ? " sum |" : "");
    for (int64_t j = 0; j < s->columns.n; j = trace_next(&s->columns, j))
        printf(trace_is_cut(&s->columns, j) ? "---:|---|" : "---:|");
    printf("%s\n", s->sums ? "---:|" : "");
}

static void print_row(const sheet *s, int64_t i) {
    char text[OUT_NUMBER];
    double sum = 0;
    printf("| ");
    put_escaped(trace_name(trace_row_names(s->job, s->part), i, text));
    printf(" |");
    for (int64_t j = 0; j < s->columns.n; j = trace_next(&s->columns, j)) {
        const int64_t at[3] = {s->head, i, j};
        printf(" %s |%s", trace_cell(s->job, s->part, &s->form, at, text),
               trace_is_cut(&s->columns, j) ? " ... |" : "");
    }
    for (int64_t j = 0; j < s->columns.n; j++)
        sum += lab_step_at(&s->job->steps.step[s->part], s->head, i, j);
    if (s->sums) printf(" %.*f |", s->form.decimals, sum);
    printf("\n");
}

static void print_matrix(const trace_job *job, lab_part part, int64_t head) {
    const lab_step *step = &job->steps.step[part];
    const sheet s = {.job = job,
                     .part = part,
                     .head = head,
                     .form = trace_form_of(job, part),
                     .rows = trace_range_of(step->rows, MOST),
                     .columns = trace_range_of(step->columns, MOST),
                     .sums = part == LAB_WEIGHTS};
    printf("\n`%s`", step->name);
    if (step->heads > 1) printf(", head %lld", (long long)head + 1);
    printf(":\n\n");
    print_head(&s);
    for (int64_t i = 0; i < step->rows; i = trace_next(&s.rows, i)) {
        print_row(&s, i);
        if (trace_is_cut(&s.rows, i)) printf("| ... |\n");
    }
}

/* --------------------------------------------------------------------------- what documents say */

static void print_statement(const trace_job *job, lab_part part, const trace_verdict *v) {
    char text[OUT_NUMBER];
    printf("| ");
    put_escaped(trace_name(trace_row_names(job, part), v->statement->row, text));
    printf(" | %s |", v->statement->stated);
    for (int j = 0; j < v->n; j++) printf(v->holds[j] ? " %s" : " **%s**", trace_truth(v, j, text));
    printf(" | %s |\n", v->wrong ? "wrong" : "right");
}

static void print_statements(const trace_job *job, lab_part part) {
    trace_verdict v;
    bool begun = false;
    for (size_t i = 0; job->example && i < job->example->n_statements; i++) {
        if (!trace_judge(job, part, i, &v)) continue;
        if (!begun)
            printf("\n| `%s` | document %.3s says | it is | |\n|---|---|---|---|\n",
                   lab_part_name(part), job->example->name);
        begun = true;
        print_statement(job, part, &v);
    }
}

/* ---------------------------------------------------------------------------------------- pages */

static void print_page(const trace_job *job, int number) {
    const trace_page *page = &job->page[number];
    const lab_step *result = &job->steps.step[page->part[page->n - 1]];
    char text[OUT_NUMBER];
    printf("\n## %d. %s\n\n", number + 1, page->title);
    trace_shape(result, text);
    if (page->n < 3) printf("`%s`, shape %s", result->formula, text);
    if (result->flops > 0) printf(", %s flops", out_grouped(result->flops, text));
    printf("%s%s\n", page->n < 3 ? ". " : "", trace_sentence(job, page));
    for (int i = 0; i < page->n; i++) {
        const lab_step *step = &job->steps.step[page->part[i]];
        for (int64_t h = 0; h < step->heads; h++)
            if (trace_shows(job, step, h)) print_matrix(job, page->part[i], h);
    }
    for (int i = 0; i < page->n; i++) print_statements(job, page->part[i]);
}

int trace_markdown(const trace_job *job, int only) {
    char sizes[TRACE_TEXT];
    trace_sizes(job, sizes);
    printf("# Attention, step by step: ");
    put_escaped(job->title);
    printf("\n\n");
    put_escaped(job->about);
    printf("%s", *job->about ? "\n\n" : "");
    put_escaped(sizes);
    printf(". A dash marks a masked cell.\n");
    if (trace_hidden_heads(job))
        printf("\nOnly the first %d of %lld heads are shown.\n", TRACE_HEADS,
               (long long)job->steps.H);
    for (int page = 0; page < job->n_pages; page++)
        if (only < 0 || page == only) print_page(job, page);
    if (only < 0 && job->as_documented && job->example->lesson) {
        printf("\n");
        put_escaped(job->example->lesson);
        printf("\n");
    }
    return CLI_OK;
}
