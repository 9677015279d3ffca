/* SPDX-License-Identifier: Apache-2.0 */
/* run_gradients.c - the gradients of `attn run`: which make sense, the backward pass, and their
 * norms. The files are views like all others (run_views.c). Tests:
 * tests/cli/test_cli_gradients.py */
#include "run/run.h"

#include <math.h>

bool run_wants_gradients(const run_options *o) {
    return o->dq || o->dk || o->dv || o->dbias || o->dsinks || o->dscale;
}

/* The first gradient that was asked for, as an option. */
static const char *first_wish(const run_options *o) {
    return o->dq       ? "--dq"
           : o->dk     ? "--dk"
           : o->dv     ? "--dv"
           : o->dbias  ? "--dbias"
           : o->dsinks ? "--dsinks"
                       : "--dscale";
}

int run_gradients_wish(run_job *job) {
    const run_options *o = job->o;
    if (run_wants_gradients(o) && !o->dout) {
        out_error("run",
                  "%s: a gradient needs --dout FILE, the gradient of the loss with respect "
                  "to the output",
                  first_wish(o));
        return CLI_USAGE;
    }
    if (o->dout && !run_wants_gradients(o)) {
        out_error("run", "--dout: which gradient? Add --dq FILE, --dk FILE, --dv FILE, --dbias "
                         "FILE, --dsinks FILE or --dscale");
        return CLI_USAGE;
    }
    if ((o->dbias && !o->bias) || (o->dsinks && !o->sinks)) {
        out_error("run", "%s: needs %s, the input to differentiate",
                  o->dbias && !o->bias ? "--dbias" : "--dsinks",
                  o->dbias && !o->bias ? "--bias FILE" : "--sinks FILE");
        return CLI_USAGE;
    }
    if (o->dscale && !o->common.json && run_writes_stdout(job)) {
        out_error("run", "--dscale: an array already goes to standard output; write it to a file");
        return CLI_USAGE;
    }
    /* Backward starts from what forward leaves. */
    if (o->dout) job->view[VIEW_LSE].wanted = true;
    return CLI_OK;
}

/* The gradients as the library takes them: the memory of the views that are wanted. */
static attn_gradients gradients_of(run_job *job) {
    attn_gradients to;
    attn_gradients_init(&to);
    if (job->view[VIEW_DQ].wanted) to.dq = job->view[VIEW_DQ].tensor;
    if (job->view[VIEW_DK].wanted) to.dk = job->view[VIEW_DK].tensor;
    if (job->view[VIEW_DV].wanted) to.dv = job->view[VIEW_DV].tensor;
    if (job->view[VIEW_DBIAS].wanted) to.dbias = job->view[VIEW_DBIAS].tensor;
    if (job->view[VIEW_DSINKS].wanted) to.dsinks = job->view[VIEW_DSINKS].tensor.data;
    if (job->o->dscale) to.dscale = &job->dscale;
    return to;
}

static attn_status backward(const run_job *job, const attn_args *args, const attn_results *from,
                            const attn_gradients *to, attn_error *error) {
    if (job->o->reference) return attn_reference_backward(args, from, to, error);
    return attn_backward(job->ctx, args, from, to, error);
}

/* ------------------------------------------------------------------------------------- slices */

/* Heads first .. first + n - 1; what is shared by all heads stays as it is. */
static attn_tensor cut(attn_tensor t, int64_t first, int64_t n) {
    if (!t.data || t.shape[1] == 1) return t;
    t.data = (char *)t.data + first * t.stride[1] * (int64_t)attn_dtype_size(t.dtype);
    t.shape[1] = n;
    return t;
}

/* One key head with its query heads, as a problem of its own. */
typedef struct slice {
    attn_args args;
    attn_results from;
    attn_gradients to;
} slice;

static void cut_head(slice *s, int64_t kv_head) {
    const int64_t n = s->args.q.shape[1] / s->args.k.shape[1], first = kv_head * n;
    attn_tensor *const by_head[] = {&s->args.q,   &s->args.mask, &s->args.bias, &s->from.out,
                                    &s->from.lse, &s->from.dout, &s->to.dq,     &s->to.dbias};
    attn_tensor *const by_kv_head[] = {&s->args.k, &s->args.v, &s->to.dk, &s->to.dv};
    for (size_t i = 0; i < sizeof by_head / sizeof *by_head; i++)
        *by_head[i] = cut(*by_head[i], first, n);
    for (size_t i = 0; i < sizeof by_kv_head / sizeof *by_kv_head; i++)
        *by_kv_head[i] = cut(*by_kv_head[i], kv_head, 1);
    if (s->args.alibi) s->args.alibi += first;
    if (s->args.sinks) s->args.sinks += first;
    if (s->to.dsinks) s->to.dsinks += first;
}

/* Heads are independent, unless dropout counts them, a bias is shared by them or a sum over
 * sequences and heads would change its order. */
static bool can_slice(const run_job *job) {
    const attn_args *a = &job->args;
    return a->dropout == 0 && a->k.shape[1] > 1 && !(job->o->dbias && a->bias.shape[1] == 1) &&
           !(job->o->dscale && job->n_sequences > 1);
}

static attn_status backward_sliced(run_job *job, const slice *whole, attn_error *error) {
    const int64_t H_kv = job->args.k.shape[1];
    out_progress progress;
    attn_status status = ATTN_OK;
    double dscale = 0;
    out_progress_begin(&progress, "backward", job->cost.flops_backward, job->o->progress);
    for (int64_t h = 0; h < H_kv && status == ATTN_OK; h++) {
        slice s = *whole;
        cut_head(&s, h);
        status = backward(job, &s.args, &s.from, &s.to, error);
        dscale += job->dscale;
        out_progress_step(&progress, job->cost.flops_backward * (double)(h + 1) / (double)H_kv);
    }
    job->dscale = dscale;
    out_progress_end(&progress);
    return status;
}

/* ------------------------------------------------------------------------------------ the step */

int run_gradients(run_job *job) {
    attn_error error = {""};
    if (!run_wants_gradients(job->o)) return CLI_OK;
    const slice whole = {.args = job->args,
                         .from = {sizeof(attn_results), job->view[VIEW_OUT].tensor,
                                  job->view[VIEW_LSE].tensor, job->dout},
                         .to = gradients_of(job)};
    const double begin = out_clock();
    const attn_status status = can_slice(job) && run_worth_progress(job, job->cost.flops_backward)
                                   ? backward_sliced(job, &whole, &error)
                                   : backward(job, &whole.args, &whole.from, &whole.to, &error);
    job->seconds_backward = out_clock() - begin;
    return status == ATTN_OK ? CLI_OK : run_library_error(job, status, &error);
}

/* ----------------------------------------------------------------------------------------- JSON */

/* Euclidean norm and largest magnitude of all elements, as the file has them. */
static json_t *norms_json(const npy_array *a) {
    double sum = 0, largest = 0;
    for (size_t i = 0; i < a->count; i++) {
        const double x = fabs(npy_real_at(a, i));
        sum += x * x;
        if (x > largest || isnan(x)) largest = x;
    }
    return json_pack("{s:o, s:o}", "norm", out_json_real(sqrt(sum)), "largest",
                     out_json_real(largest));
}

json_t *run_gradients_json(const run_job *job) {
    json_t *all = json_object();
    for (int v = VIEW_DQ; v <= VIEW_DSINKS; v++)
        if (job->view[v].wanted)
            json_object_set_new(all, run_view_names[v], norms_json(&job->view[v].array));
    if (job->o->dscale) json_object_set_new(all, "dscale", out_json_real(job->dscale));
    return all;
}
