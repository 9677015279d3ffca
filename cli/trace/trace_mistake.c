/* SPDX-License-Identifier: Apache-2.0 */
/* trace_mistake.c - `attn trace --mistake`: weights and outputs of a common mistake beside the right
 * ones. Tests: tests/cli/test_trace.py */
#include "lab/steps/mistakes.h"

#include "trace/trace.h"

#include <math.h>

/* What each mistake is, in words. */
static const struct {
    const char *title, *right, *wrong, *lesson;
} text[LAB_MISTAKES] = {
    [LAB_MISTAKE_AXIS] =
        {"Mistake: softmax over the queries (axis 0)",
         "Right: softmax over the keys. Each row is a distribution.",
         "Wrong: softmax over the queries. Each column is a distribution, rows are "
         "not.",
         "Nothing fails, and the picture is plausible: check the row sums."},
    [LAB_MISTAKE_IN_PLACE] =
        {"Mistake: -inf written into the scores in place",
         "Right: the scores are left alone, and attention without a mask sees every key.",
         "Wrong: an earlier causal pass wrote -inf into the scores, and the same array is used "
         "again.",
         "The rows still sum to 1, so no check notices. The scores are lost, for another mask and "
         "for the backward pass; a row of -inf only gives NaN. Mask a copy, or let the engine "
         "mask: "
         "it never writes to its inputs, and a row that sees no key gives 0."},
};

int trace_check_mistake(const trace_options *o, lab_mistake *mistake) {
    *mistake = lab_mistake_named(o->mistake);
    if (*mistake == LAB_MISTAKES) {
        out_error("trace", "--mistake %s: expected axis or inplace", o->mistake);
        return CLI_USAGE;
    }
    if (!o->interactive && !o->markdown && !o->pick && !o->step) return CLI_OK;
    out_error("trace", "--mistake: cannot be combined with --interactive, --markdown, --pick or "
                       "--step");
    return CLI_USAGE;
}

/* --------------------------------------------------------------------------------------- print */

/* One matrix in place of a part of the job, so that it is shown with the same labels. */
static void print_matrix(const trace_job *job, lab_part part, const double *cell) {
    trace_options plain = *job->o;
    trace_job shown = *job;
    lab_step *step = &shown.steps.step[part];
    const trace_page page = {.title = "", .part = {part}, .n = 1};
    plain.head = 0;
    shown.o = &plain;
    shown.steps.H = 1;
    step->heads = 1;
    step->row_stride = step->columns;
    step->cell = cell;
    shown.steps.step[LAB_MASKED] = *step; /* no -inf there: every weight is printed */
    printf("\n");
    trace_print_parts(&shown, &page);
}

static int print_text(const trace_job *job, lab_mistake mistake, const lab_mistaken *found) {
    trace_print_title(job);
    printf("\n%s%s%s\n", out_begin(stdout, OUT_BOLD), text[mistake].title,
           out_begin(stdout, OUT_PLAIN));
    trace_print_wrapped(text[mistake].right, 2);
    print_matrix(job, LAB_WEIGHTS, found->right);
    print_matrix(job, LAB_OUTPUT, found->right_out);
    printf("\n");
    trace_print_wrapped(text[mistake].wrong, 2);
    print_matrix(job, LAB_WEIGHTS, found->wrong);
    print_matrix(job, LAB_OUTPUT, found->wrong_out);
    char line[TRACE_TEXT];
    snprintf(line, sizeof line,
             "Row sum farthest from 1: right %.4f, wrong %.4f. Largest difference between weights: "
             "%.4f. %s",
             found->right_sum, found->wrong_sum, found->largest, text[mistake].lesson);
    printf("\n");
    trace_print_wrapped(line, 0);
    return CLI_OK;
}

static json_t *rows_json(const double *cell, int64_t rows, int64_t columns) {
    json_t *list = json_array();
    for (int64_t i = 0; i < rows; i++) {
        json_t *row = json_array();
        for (int64_t j = 0; j < columns; j++)
            json_array_append_new(row, out_json_real(cell[i * columns + j]));
        json_array_append_new(list, row);
    }
    return list;
}

static int print_json(const trace_job *job, lab_mistake mistake, const lab_mistaken *found) {
    const lab_steps *s = &job->steps;
    return out_json(json_pack(
        "{s:s, s:{s:o, s:o, s:o}, s:{s:o, s:o, s:o}, s:o}", "mistake", lab_mistake_name(mistake),
        "right", "weights", rows_json(found->right, s->n_q, s->n_k), "output",
        rows_json(found->right_out, s->n_q, s->d_v), "row_sum", out_json_real(found->right_sum),
        "wrong", "weights", rows_json(found->wrong, s->n_q, s->n_k), "output",
        rows_json(found->wrong_out, s->n_q, s->d_v), "row_sum", out_json_real(found->wrong_sum),
        "largest_difference", out_json_real(found->largest)));
}

int trace_mistake(const trace_job *job, lab_mistake mistake) {
    const int64_t head = job->o->head ? job->o->head - 1 : 0;
    lab_mistaken found;
    attn_error err = {""};
    const attn_status status = lab_mistake_compute(&job->steps, mistake, head, &found, &err);
    int code = CLI_FAILED;
    if (status != ATTN_OK)
        out_error("trace", "%s", err.message);
    else
        code = job->o->common.json ? print_json(job, mistake, &found)
                                   : print_text(job, mistake, &found);
    lab_mistake_free(&found);
    return code;
}
