/* SPDX-License-Identifier: Apache-2.0 */
/* trace_set.c - `attn trace --set`: single numbers of what is given, changed as the page changes
 * them.
 * Tests: tests/cli/test_trace.py */
#include "trace/trace.h"

#include <math.h>
#include <stdlib.h>

enum { LONGEST_NAME = 8 };

typedef struct change {
    char name[LONGEST_NAME]; /* "w_q" */
    long long row, column;   /* from 1 */
    double value;
} change;

/* "w_q:1,2=0.5" at the beginning of text; where it ends, or NULL. */
static const char *read_change(const char *text, change *c) {
    int length = 0;
    if (sscanf(text, "%7[a-z_]:%lld,%lld=%n", c->name, &c->row, &c->column, &length) != 3 ||
        length == 0)
        return NULL;
    char *end;
    c->value = strtod(text + length, &end);
    const bool is_number = end > text + length && isfinite(c->value);
    return is_number && (*end == ';' || *end == '\0') ? end : NULL;
}

/* Examples are constants: a changed matrix is a copy that the job owns. */
static double *own_copy(trace_job *job, lab_part part) {
    lab_matrix *m = &job->problem.given[part];
    const size_t size = (size_t)(m->rows * m->columns) * sizeof *m->cell;
    if (!job->changed[part]) {
        job->changed[part] = malloc(size);
        if (!job->changed[part]) return NULL;
        memcpy(job->changed[part], m->cell, size);
        m->cell = job->changed[part];
    }
    return job->changed[part];
}

static int apply(trace_job *job, const change *c) {
    const lab_part part = lab_part_named(c->name);
    const lab_matrix *m = part < LAB_N_PARTS ? &job->problem.given[part] : NULL;
    if (!m || !m->cell) {
        out_error("trace", "--set %s: not an input matrix of this trace", c->name);
        return CLI_USAGE;
    }
    if (c->row < 1 || c->row > m->rows || c->column < 1 || c->column > m->columns) {
        out_error("trace", "--set %s:%lld,%lld: the matrix is (%lld, %lld), counted from 1",
                  c->name, c->row, c->column, (long long)m->rows, (long long)m->columns);
        return CLI_USAGE;
    }
    double *cell = own_copy(job, part);
    if (!cell) {
        out_error("trace", "out of memory");
        return CLI_FAILED;
    }
    cell[(c->row - 1) * m->columns + c->column - 1] = c->value;
    return CLI_OK;
}

int trace_set(trace_job *job) {
    change c;
    for (const char *at = job->o->set; *at;) {
        const char *end = read_change(at, &c);
        if (!end) {
            out_error("trace", "--set %s: expected NAME:ROW,COLUMN=NUMBER, separated by ;", at);
            return CLI_USAGE;
        }
        const int code = apply(job, &c);
        if (code != CLI_OK) return code;
        at = end + (*end == ';');
    }
    job->as_documented = false;
    const size_t length = strlen(job->about);
    snprintf(job->about + length, sizeof job->about - length, "%sChanged by hand: %s",
             length ? " " : "", job->o->set);
    return CLI_OK;
}
