/* SPDX-License-Identifier: Apache-2.0 */
/* run_demo.c - `attn run --demo`: the worked example of document 001 (two queries, three keys),
 * every step as a table, and what the document states beside what is true. All numbers are
 * computed; only the inputs and the document's statements are data. Tests: tests/cli/test_cli.py */
#include "core/base.h"
#include "run/run.h"
#include "shared/table.h"

#include <stdlib.h>

static const double demo_q[] = {1, 0, 0, 1};
static const double demo_k[] = {1, 0, 1, 1, 0, 1};
static const double demo_v[] = {1, 0, 0, 2, 1, 1};

static bool take(npy_array *array, const double *values, int64_t rows) {
    const size_t bytes = (size_t)rows * 2 * sizeof *values;
    *array = (npy_array){.kind = 'f',
                         .item_size = 8,
                         .rank = 2,
                         .shape = {rows, 2},
                         .count = (size_t)rows * 2,
                         .data = malloc(bytes)};
    if (array->data) memcpy(array->data, values, bytes);
    return array->data != NULL;
}

int run_demo_inputs(run_job *job) {
    const bool ok = take(&job->input[IN_Q], demo_q, 2) && take(&job->input[IN_K], demo_k, 3) &&
                    take(&job->input[IN_V], demo_v, 3);
    return ok ? CLI_OK : run_out_of_memory();
}

bool run_demo_is_plain(const run_options *o) {
    const bool sees_all = !o->causal && !o->window && !o->mask && !o->pattern && !o->lengths &&
                          !o->lengths_q && !o->cu_q && !o->cu_k;
    const bool same_scores = o->scale == ATTN_SCALE_AUTO && o->temperature == 1 &&
                             o->softcap == 0 && !o->bias && !o->alibi && !o->sinks;
    return sees_all && same_scores && o->dropout == 0;
}

/* -------------------------------------------------------------------------------------- tables */

static const char *bold(void) { return out_begin(stdout, OUT_BOLD); }
static const char *plain(void) { return out_begin(stdout, OUT_PLAIN); }

static void print_inputs(const attn_args *a) {
    const attn_tensor *const tensors[] = {&a->q, &a->k, &a->v};
    static const char *const titles[] = {"Q  queries", "K  keys", "V  values"};
    for (int t = 0; t < 3; t++) printf("  %s%-*s%s", bold(), t < 2 ? 18 : 0, titles[t], plain());
    printf("\n");
    for (int64_t i = 0; i < a->k.shape[2]; i++) {
        for (int t = 0; t < 3; t++) {
            const bool there = i < tensors[t]->shape[2];
            for (int64_t j = 0; j < 2 && there; j++)
                printf("%5g", table_at(tensors[t], 0, 0, i, j));
            if (t < 2) printf("%*s", there ? 10 : 20, "");
        }
        printf("\n");
    }
}

static void print_step(const char *title, const char *formula) {
    printf("\n%s%s%s  %s\n", bold(), title, plain(), formula);
}

static void print_steps(const run_job *job) {
    const bool plain_demo = run_demo_is_plain(job->o);
    const table scores = {
        .tensor = &job->view[VIEW_BIASED].tensor, .row_name = "query", .column_name = "key"};
    const table weights = {.tensor = &job->view[VIEW_WEIGHTS].tensor,
                           .row_name = "query",
                           .column_name = "key",
                           .row_sums = true,
                           .shade = true};
    const table out = {
        .tensor = &job->view[VIEW_OUT].tensor, .row_name = "query", .column_name = "dim"};
    print_step("1  scores", plain_demo ? "S = Q K^T / sqrt(2): how well each query matches each key"
                                       : "S, with the options given; -inf = masked");
    table_print(&scores);
    print_step("2  weights", "A = softmax of each row of S: positive, and each row sums to 1");
    table_print(&weights);
    print_step("3  output", "O = A V: each row is a weighted mean of the rows of V");
    table_print(&out);
}

/* ---------------------------------------------------------------------- stated against computed */

typedef struct statement {
    const char *quantity;
    int view, row, n;
    double stated[3];
} statement;

/* What document 001 prints, to three decimals. */
static const statement statements[] = {
    {"S row 0", VIEW_BIASED, 0, 3, {0.707, 0.707, 0}},
    {"A row 0", VIEW_WEIGHTS, 0, 3, {0.382, 0.382, 0.236}},
    {"O row 0", VIEW_OUT, 0, 2, {0.618, 1.000, 0}},
};

static void print_statement(const run_job *job, const statement *s) {
    double worst = 0;
    int wrong = 0;
    printf("  %-9s", s->quantity);
    for (int j = 0; j < s->n; j++) printf("%7.3f", s->stated[j]);
    printf("%*s", 7 * (3 - s->n) + 3, "");
    for (int j = 0; j < s->n; j++) {
        const double truth = table_at(&job->view[s->view].tensor, 0, 0, s->row, j);
        const double error = fabs(truth - s->stated[j]);
        const bool off = error > 0.0005001; /* three decimals cannot say more */
        wrong += off;
        worst = off && error > worst ? error : worst;
        printf("%s%10.6f%s", out_begin(stdout, off ? OUT_BAD : OUT_GOOD), truth, plain());
    }
    printf("%*s", 10 * (3 - s->n) + 3, "");
    if (wrong)
        printf("%s%d of %d wrong%s, by up to %.3f\n", out_begin(stdout, OUT_BAD), wrong, s->n,
               plain(), worst);
    else
        printf("%sright%s\n", out_begin(stdout, OUT_GOOD), plain());
}

static void print_statements(const run_job *job) {
    printf("\n%sStated and computed%s  what document 001 says about this example\n", bold(),
           plain());
    printf("%s  %-9s%-24s%-33s%s%s\n", out_begin(stdout, OUT_DIM), "", "   stated", "    computed",
           "verdict", plain());
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
        print_statement(job, &statements[i]);
    double sums[2] = {0, 0};
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 2; i++)
            sums[i] += table_at(&job->view[VIEW_WEIGHTS].tensor, 0, 0, i, j);
    printf("  %-9s%7.3f%7.3f%10s%10.6f%10.6f%13s%s\n", "row sums", 1.0, 1.0, "", sums[0], sums[1],
           "", fabs(sums[0] - 1) + fabs(sums[1] - 1) < 1e-3 ? "right" : "wrong");
}

void run_demo_report(const run_job *job) {
    printf("%sattention(Q, K, V) = softmax(Q K^T / sqrt(d_k)) V%s   two queries, three keys, "
           "d_k = d_v = 2\n\n",
           bold(), plain());
    print_inputs(&job->args);
    print_steps(job);
    if (run_demo_is_plain(job->o)) print_statements(job);
    printf("\n%scomputed by %s in %s; try --causal, --temperature 0.1, --dtype f16, --json%s\n",
           out_begin(stdout, OUT_DIM), job->o->reference ? "the reference" : "the engine",
           attn_dtype_name(job->args.q.dtype), plain());
}
