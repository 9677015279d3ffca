/* SPDX-License-Identifier: Apache-2.0 */
/* trace_pages.c - what is shown together and how numbers look, the same in text and Markdown; what
 * the documents say, judged. Tests: tests/cli/test_trace.py */
#include "trace/trace.h"

#include <math.h>
#include <stdlib.h>

/* ---------------------------------------------------------------------------------------- pages */

static void add_page(trace_job *job, const char *title, const lab_part *part, int n) {
    trace_page *page = &job->page[job->n_pages];
    page->title = title;
    for (int i = 0; i < n; i++)
        if (job->steps.step[part[i]].cell) page->part[page->n++] = part[i];
    if (page->n > 0) job->n_pages++;
}

void trace_make_pages(trace_job *job) {
    const lab_steps *s = &job->steps;
    const bool projected = s->step[LAB_W_Q].cell;
    add_page(job, "tokens", (lab_part[]){LAB_X}, 1);
    if (projected) {
        add_page(job, "queries", (lab_part[]){LAB_W_Q, LAB_Q}, 2);
        add_page(job, "keys", (lab_part[]){LAB_W_K, LAB_K}, 2);
        add_page(job, "values", (lab_part[]){LAB_W_V, LAB_V}, 2);
    } else {
        add_page(job, "queries, keys, values", (lab_part[]){LAB_Q, LAB_K, LAB_V}, 3);
    }
    add_page(job, "scores", (lab_part[]){LAB_SCORES}, 1);
    add_page(job, "scaled", (lab_part[]){LAB_SCALED}, 1);
    if (s->causal) add_page(job, "masked", (lab_part[]){LAB_MASKED}, 1);
    add_page(job, "weights", (lab_part[]){LAB_WEIGHTS}, 1);
    add_page(job, "output", (lab_part[]){LAB_OUTPUT}, 1);
    if (s->H > 1) add_page(job, "concatenation", (lab_part[]){LAB_CONCAT}, 1);
    if (s->step[LAB_Y].cell) add_page(job, "result", (lab_part[]){LAB_W_O, LAB_Y}, 2);
}

int trace_page_of(const trace_job *job, const char *text) {
    int64_t number;
    if (cli_parse_int(text, &number))
        return number >= 1 && number <= job->n_pages ? (int)number - 1 : -1;
    const lab_part part = lab_part_named(text);
    for (int page = 0; page < job->n_pages; page++) {
        if (strcmp(job->page[page].title, text) == 0) return page;
        for (int i = 0; i < job->page[page].n; i++)
            if (job->page[page].part[i] == part) return page;
    }
    return -1;
}

const char *trace_sentence(const trace_job *job, const trace_page *page) {
    if (page->n == 3)
        return "What each query looks for, each key offers and each value hands over.";
    return job->steps.step[page->part[page->n - 1]].sentence;
}

bool trace_shows(const trace_job *job, const lab_step *step, int64_t h) {
    return !step->per_head || (job->o->head ? h == job->o->head - 1 : h < TRACE_HEADS);
}

int64_t trace_hidden_heads(const trace_job *job) {
    return job->o->head || job->steps.H <= TRACE_HEADS ? 0 : job->steps.H - TRACE_HEADS;
}

/* --------------------------------------------------------------------------------------- words */

void trace_sizes(const trace_job *job, char text[TRACE_TEXT]) {
    static const char *const scaled[LAB_SCALINGS] = {"not scaled", "scaled", "divided by d_k"};
    const lab_steps *s = &job->steps;
    const lab_step *x = &s->step[LAB_X];
    size_t at = 0;
    if (x->cell)
        at += (size_t)snprintf(text, TRACE_TEXT, "%lld token%s, d_model = %lld", (long long)s->n_q,
                               s->n_q == 1 ? "" : "s", (long long)x->columns);
    else
        at +=
            (size_t)snprintf(text, TRACE_TEXT, "%lld quer%s, %lld key%s", (long long)s->n_q,
                             s->n_q == 1 ? "y" : "ies", (long long)s->n_k, s->n_k == 1 ? "" : "s");
    at += (size_t)snprintf(text + at, TRACE_TEXT - at, ", %lld head%s of ", (long long)s->H,
                           s->H == 1 ? "" : "s");
    at += s->d_k == s->d_v
              ? (size_t)snprintf(text + at, TRACE_TEXT - at, "d_k = d_v = %lld", (long long)s->d_k)
              : (size_t)snprintf(text + at, TRACE_TEXT - at, "d_k = %lld, d_v = %lld",
                                 (long long)s->d_k, (long long)s->d_v);
    at += (size_t)snprintf(text + at, TRACE_TEXT - at, ", %s, %s", scaled[job->o->scale],
                           s->causal ? "causal" : "no mask");
    if (s->temperature != 1)
        snprintf(text + at, TRACE_TEXT - at, ", temperature %g", s->temperature);
}

void trace_shape(const lab_step *step, char text[OUT_NUMBER]) {
    if (step->heads > 1)
        snprintf(text, OUT_NUMBER, "%lld x (%lld, %lld)", (long long)step->heads,
                 (long long)step->rows, (long long)step->columns);
    else
        snprintf(text, OUT_NUMBER, "(%lld, %lld)", (long long)step->rows, (long long)step->columns);
}

/* --------------------------------------------------------------------------------------- labels */

const char *const *trace_row_names(const trace_job *job, lab_part part) {
    switch (part) {
    case LAB_W_Q:
    case LAB_W_K:
    case LAB_W_V:
    case LAB_W_O: return NULL;
    case LAB_K:
    case LAB_V: return job->key;
    default: return job->query;
    }
}

const char *const *trace_column_names(const trace_job *job, lab_part part) {
    return part >= LAB_SCORES && part <= LAB_WEIGHTS ? job->key : NULL;
}

const char *trace_name(const char *const *names, int64_t i, char text[OUT_NUMBER]) {
    if (names) return names[i];
    snprintf(text, OUT_NUMBER, "%lld", (long long)i + 1);
    return text;
}

/* ---------------------------------------------------------------------------------------- cells */

enum { MOST_DECIMALS = 4, TRUE_DECIMALS = 6 };

bool trace_is_masked(const trace_job *job, lab_part part, int64_t head, int64_t i, int64_t j) {
    return (part == LAB_MASKED || part == LAB_WEIGHTS) &&
           lab_step_at(&job->steps.step[LAB_MASKED], head, i, j) == -INFINITY;
}

/* Decimals that x needs, from least to most; rounding of double precision does not count. */
static int decimals_of(double x, int least, int most) {
    for (double tens = pow(10, least); least < most; least++, tens *= 10)
        if (fabs(x * tens - round(x * tens)) <= 1e-9 * fmax(1, fabs(x * tens))) break;
    return least;
}

trace_form trace_form_of(const trace_job *job, lab_part part) {
    const lab_step *step = &job->steps.step[part];
    trace_form form = {.decimals = part == LAB_WEIGHTS ? MOST_DECIMALS : 0};
    for (int64_t h = 0; h < step->heads; h++)
        for (int64_t i = 0; i < step->rows; i++)
            for (int64_t j = 0; j < step->columns; j++) {
                if (trace_is_masked(job, part, h, i, j)) continue;
                const double x = lab_step_at(step, h, i, j);
                form.decimals = decimals_of(x, form.decimals, MOST_DECIMALS);
                form.largest = fmax(form.largest, fabs(x));
            }
    form.exponent = form.largest >= 1e5 || (form.largest > 0 && form.largest < 1e-3);
    return form;
}

const char *trace_cell(const trace_job *job, lab_part part, const trace_form *form,
                       const int64_t at[3], char text[OUT_NUMBER]) {
    const double x = lab_step_at(&job->steps.step[part], at[0], at[1], at[2]);
    if (trace_is_masked(job, part, at[0], at[1], at[2]))
        snprintf(text, OUT_NUMBER, "-");
    else if (part == LAB_WEIGHTS && x > 0 && x < 0.5e-4) /* small, but not the 0 of a mask */
        snprintf(text, OUT_NUMBER, "%.0e", x);
    else if (form->exponent)
        snprintf(text, OUT_NUMBER, "%.3e", x);
    else /* no "-0.00" */
        snprintf(text, OUT_NUMBER, "%.*f", form->decimals,
                 fabs(x) < 0.5 * pow(10, -form->decimals) ? 0.0 : x);
    return text;
}

trace_range trace_range_of(int64_t n, int64_t most) {
    if (n <= most) return (trace_range){n, n, 0};
    const int64_t last = most / 3;
    return (trace_range){n, most - last, last};
}

/* -------------------------------------------------------------------------------------- verdict */

bool trace_judge(const trace_job *job, lab_part part, size_t i, trace_verdict *verdict) {
    if (!job->as_documented || i >= job->example->n_statements) return false;
    const lab_statement *statement = &job->example->statement[i];
    if (statement->part != part || statement->unscaled != (job->o->scale == LAB_SCALE_NONE))
        return false;
    *verdict = (trace_verdict){.statement = statement};
    verdict->n = lab_statement_read(statement, verdict->stated);
    for (int j = 0; j < verdict->n; j++) {
        verdict->truth[j] = lab_step_at(&job->steps.step[part], 0, statement->row, j);
        verdict->holds[j] = lab_stated_holds(&verdict->stated[j], verdict->truth[j]);
        verdict->wrong += !verdict->holds[j];
    }
    return true;
}

const char *trace_truth(const trace_verdict *verdict, int j, char text[OUT_NUMBER]) {
    const double x = verdict->truth[j];
    int decimals = 0;
    for (int i = 0; i < verdict->n; i++)
        decimals = decimals_of(verdict->truth[i], decimals, TRUE_DECIMALS);
    if (x != 0 && fabs(x) < 1e-4)
        snprintf(text, OUT_NUMBER, "%.3g", x);
    else
        snprintf(text, OUT_NUMBER, "%.*f", decimals, x);
    return text;
}

/* ------------------------------------------------------------------------------------- terminal */

int trace_width(void) { return out_columns(40, 240); }
