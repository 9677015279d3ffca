/* SPDX-License-Identifier: Apache-2.0 */
/* run_compute.c - lets the library work: forward, inspect, backward. A long forward pass goes in
 * slices of rows so that progress can be shown; the engine promises the same bits for any split of
 * the queries. Tests: tests/cli/test_run.py (progress_does_not_change_a_bit) */
#include "core/base.h"
#include "run/run.h"
#include "shared/terminal.h"

#include <stdlib.h>

enum {
    SLICE_ROWS = 192, /* slices are multiples of this, so that the engine's tiles stay full */
    SLICES = 50
};

static int make_context(run_job *job) {
    attn_ctx_options wish;
    attn_error error = {""};
    attn_ctx_options_init(&wish);
    wish.threads = (int)job->o->threads; /* 0 = one per CPU */
    if (job->o->isa && !cli_isa_named(job->o->isa, &wish.isa)) {
        out_error("run", "--isa %s: no such instruction set; `attn info` lists them", job->o->isa);
        return CLI_USAGE;
    }
    const attn_status status = attn_ctx_create(&wish, &job->ctx, &error);
    return status == ATTN_OK ? CLI_OK : run_library_error(job, status, &error);
}

static int explain(run_job *job) {
    attn_error error = {""};
    size_t size = 0;
    attn_status status = attn_plan_explain(job->ctx, &job->args, NULL, 0, &size, &error);
    if (status == ATTN_OK) {
        job->explanation = calloc(size + 1, 1);
        if (!job->explanation) return run_out_of_memory();
        status = attn_plan_explain(job->ctx, &job->args, job->explanation, size, NULL, &error);
    }
    if (status != ATTN_OK) return run_library_error(job, status, &error);
    if (!job->o->common.json) {
        const size_t length = strlen(job->explanation);
        const bool ended = length && job->explanation[length - 1] == '\n';
        fprintf(stderr, "%s%s", job->explanation, ended ? "" : "\n");
    }
    return CLI_OK;
}

/* ------------------------------------------------------------------------------------- slices */

/* Rows first .. first + rows - 1 of one batch entry, as a problem of its own. */
typedef struct slice {
    attn_args args;
    attn_tensor out, lse;
    int64_t len_q;
} slice;

static attn_tensor cut(attn_tensor t, int64_t batch, int64_t first, int64_t rows) {
    const int64_t size = (int64_t)attn_dtype_size(t.dtype);
    if (!t.data) return t;
    char *data = t.data;
    if (t.shape[0] > 1) data += batch * t.stride[0] * size;
    t.shape[0] = 1;
    if (t.shape[2] > 1 && rows >= 0) { /* one row for all stays as it is */
        data += first * t.stride[2] * size;
        t.shape[2] = rows;
    }
    t.data = data;
    return t;
}

static void cut_job(const run_job *job, int64_t batch, int64_t first, int64_t rows, slice *s) {
    enum { ALL = -1 };
    const attn_args *whole = &job->args;
    s->args = *whole;
    s->args.q = cut(whole->q, batch, first, rows);
    s->args.k = cut(whole->k, batch, 0, ALL);
    s->args.v = cut(whole->v, batch, 0, ALL);
    s->args.mask = cut(whole->mask, batch, first, rows);
    s->args.bias = cut(whole->bias, batch, first, rows);
    s->args.offsets = NULL;
    s->args.offset = attni_add_sat(run_offset(job, batch), first);
    if (whole->len_k) s->args.len_k = whole->len_k + batch;
    if (whole->len_q) {
        s->len_q = attni_clamp(whole->len_q[batch] - first, 0, rows);
        s->args.len_q = &s->len_q;
    }
    s->out = cut(job->view[VIEW_OUT].tensor, batch, first, rows);
    s->lse = cut(job->view[VIEW_LSE].tensor, batch, first, rows);
}

/* Dropout, patterns and packed sequences count rows and batches from the start, so such a problem
 * stays whole. */
static bool can_slice(const run_job *job) {
    const attn_args *a = &job->args;
    return a->dropout == 0 && !a->pattern && !a->cu_q && a->q.shape[0] > 0 && a->q.shape[2] > 0;
}

static attn_status forward(const run_job *job, const attn_args *args, const attn_tensor *out,
                           const attn_tensor *lse, attn_error *error) {
    if (job->o->reference) return attn_reference(args, out, lse, error);
    return attn_forward(job->ctx, args, out, lse, error);
}

static attn_status forward_sliced(const run_job *job, attn_error *error) {
    const int64_t B = job->args.q.shape[0], n_q = job->args.q.shape[2];
    const int64_t step = attni_ceil_div(attni_ceil_div(B * n_q, SLICES), SLICE_ROWS) * SLICE_ROWS;
    out_progress progress;
    attn_status status = ATTN_OK;
    out_progress_begin(&progress, job->o->reference ? "reference" : "forward", job->cost.flops,
                       job->o->progress);
    for (int64_t b = 0; b < B && status == ATTN_OK; b++) {
        for (int64_t first = 0; first < n_q && status == ATTN_OK; first += step) {
            slice s;
            const int64_t rows = attni_min(step, n_q - first);
            cut_job(job, b, first, rows, &s);
            status = forward(job, &s.args, &s.out, s.lse.data ? &s.lse : NULL, error);
            const double done = (double)(b * n_q + first + rows) / (double)(B * n_q);
            out_progress_step(&progress, job->cost.flops * done);
        }
    }
    out_progress_end(&progress);
    return status;
}

/* Slicing costs a little, so only work that may take a second or so is cut. */
bool run_worth_progress(const run_job *job, double flops) {
    const double flops_a_second = job->o->reference ? 1e8 : 5e9;
    if (job->o->progress == 1) return true;
    return job->o->progress == 0 && terminal_is(stderr) && flops > flops_a_second;
}

/* ---------------------------------------------------------------------------------------- steps */

static int run_forward(run_job *job) {
    attn_error error = {""};
    const attn_tensor *lse = job->view[VIEW_LSE].wanted ? &job->view[VIEW_LSE].tensor : NULL;
    const double begin = out_clock();
    const attn_status status =
        can_slice(job) && run_worth_progress(job, job->cost.flops)
            ? forward_sliced(job, &error)
            : forward(job, &job->args, &job->view[VIEW_OUT].tensor, lse, &error);
    job->seconds = out_clock() - begin;
    return status == ATTN_OK ? CLI_OK : run_library_error(job, status, &error);
}

static int run_inspect(run_job *job) {
    attn_inspection what;
    attn_error error = {""};
    bool any = false;
    attn_inspection_init(&what);
    attn_tensor *const views[VIEW_RECEIVED + 1] = {
        NULL,          NULL,          &what.raw,        &what.capped,  &what.biased,
        &what.weights, &what.entropy, &what.top_weight, &what.top_key, &what.received};
    for (int v = VIEW_RAW; v <= VIEW_RECEIVED; v++) {
        if (!job->view[v].wanted) continue;
        *views[v] = job->view[v].tensor;
        any = true;
    }
    if (!any) return CLI_OK;
    const attn_status status = attn_inspect(job->ctx, &job->args, &what, &error);
    return status == ATTN_OK ? CLI_OK : run_library_error(job, status, &error);
}

int run_compute(run_job *job) {
    attn_error error = {""};
    int code = make_context(job);
    if (code != CLI_OK) return code;
    attn_cost_info_init(&job->cost);
    const attn_status status = attn_cost(job->ctx, &job->args, &job->cost, &error);
    if (status != ATTN_OK) return run_library_error(job, status, &error);
    if (job->o->explain) code = explain(job);
    if (code == CLI_OK) code = run_forward(job);
    if (code == CLI_OK) code = run_inspect(job);
    if (code == CLI_OK) code = run_gradients(job);
    return code;
}
