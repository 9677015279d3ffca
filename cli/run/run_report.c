/* SPDX-License-Identifier: Apache-2.0 */
/* run_report.c - says what `attn run` did: the output as tables, a summary in JSON, or one line
 * on a terminal when files were written. Tests: tests/cli/test_run.py, tests/cli/test_cli.py */
#include "core/hash.h"
#include "run/run.h"
#include "shared/table.h"
#include "shared/terminal.h"

#include <string.h>

enum { MOST_HEADS = 8 };

/* FNV-1a over the element bytes of out as a file has them: equal checksums, equal bits. */
static void checksum(const run_job *job, char text[32]) {
    const npy_array *out = &job->view[VIEW_OUT].array;
    const size_t bytes = out->count * (size_t)out->item_size;
    const uint64_t hash = attni_fnv1a(ATTNI_FNV1A_BEGIN, out->data, bytes);
    snprintf(text, 32, "fnv1a64:%016llx", (unsigned long long)hash);
}

/* ---------------------------------------------------------------------------------------- JSON */

static json_t *shape_json(const int64_t *shape, int rank) {
    json_t *list = json_array();
    for (int r = 0; r < rank; r++) json_array_append_new(list, json_integer(shape[r]));
    return list;
}

/* The elements as nested lists, as NumPy's tolist(). */
static json_t *values_json(const npy_array *array, int dimension, size_t *next) {
    if (dimension == array->rank) return out_json_real(npy_real_at(array, (*next)++));
    json_t *list = json_array();
    for (int64_t i = 0; i < array->shape[dimension]; i++)
        json_array_append_new(list, values_json(array, dimension + 1, next));
    return list;
}

static json_t *inputs_json(const run_job *job) {
    static const char *const roles[N_INPUTS] = {"q", "k", "v", "mask", "bias", "sinks", "dout"};
    json_t *inputs = json_object();
    for (int i = 0; i < N_INPUTS; i++) {
        const npy_array *a = &job->input[i];
        if (!a->data) continue;
        const char *name = run_input_name(job, i);
        json_object_set_new(inputs, roles[i],
                            json_pack("{s:s, s:o}", "file", job->o->demo ? "demo" : name, "shape",
                                      shape_json(a->shape, a->rank)));
    }
    return inputs;
}

static json_t *files_json(const run_job *job) {
    json_t *files = json_array();
    for (int v = 0; v < N_VIEWS; v++) {
        const npy_array *a = &job->view[v].array;
        char descr[] = {a->kind, (char)('0' + a->item_size), 0};
        for (int p = 0; p < MAX_PATHS; p++)
            if (job->view[v].path[p])
                json_array_append_new(files,
                                      json_pack("{s:s, s:s, s:s, s:o}", "result", run_view_names[v],
                                                "file", job->view[v].path[p], "dtype", descr,
                                                "shape", shape_json(a->shape, a->rank)));
    }
    return files;
}

/* One number if all sequences agree. */
static json_t *offset_json(const run_job *job) {
    json_t *list = json_array();
    bool same = true;
    for (int64_t s = 0; s < job->n_sequences; s++) {
        same &= run_offset(job, s) == run_offset(job, 0);
        json_array_append_new(list, json_integer(run_offset(job, s)));
    }
    if (!same || job->n_sequences == 0) return list;
    json_decref(list);
    return json_integer(run_offset(job, 0));
}

static json_t *sizes_json(const run_job *job) {
    const attn_args *a = &job->args;
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "B", (json_int_t)a->q.shape[0], "H",
                     (json_int_t)a->q.shape[1], "H_kv", (json_int_t)a->k.shape[1], "n_q",
                     (json_int_t)a->q.shape[2], "n_k", (json_int_t)a->k.shape[2], "d_k",
                     (json_int_t)a->q.shape[3], "d_v", (json_int_t)a->v.shape[3]);
}

static int report_json(const run_job *job) {
    char sum[32];
    const npy_array *out = &job->view[VIEW_OUT].array;
    checksum(job, sum);
    json_t *root = json_pack(
        "{s:s, s:o, s:o, s:s, s:s, s:s, s:i, s:o, s:o, s:o, s:o, s:f, s:s, s:o}", "version",
        attn_version(), "sizes", sizes_json(job), "inputs", inputs_json(job), "dtype",
        attn_dtype_name(job->args.q.dtype), "engine", job->o->reference ? "reference" : "forward",
        "isa", attn_isa_name(attn_ctx_isa(job->ctx)), "threads", attn_ctx_threads(job->ctx),
        "offset", offset_json(job), "pairs", out_json_count(job->cost.pairs), "visible_pairs",
        out_json_count(job->cost.visible_pairs), "flops", out_json_count(job->cost.flops),
        "seconds", job->seconds, "checksum", sum, "files", files_json(job));
    if (!job->view[VIEW_OUT].path[0] && run_is_small(job)) {
        size_t next = 0;
        json_object_set_new(root, "out", values_json(out, 0, &next));
    }
    if (run_wants_gradients(job->o)) {
        json_object_set_new(root, "gradients", run_gradients_json(job));
        json_object_set_new(root, "flops_backward", out_json_count(job->cost.flops_backward));
        json_object_set_new(root, "seconds_backward", json_real(job->seconds_backward));
    }
    if (job->explanation) json_object_set_new(root, "explain", json_string(job->explanation));
    return out_json(root);
}

/* ---------------------------------------------------------------------------------------- text */

static void print_out(const run_job *job) {
    char shape[NPY_TEXT];
    const attn_tensor *out = &job->view[VIEW_OUT].tensor;
    const npy_array *array = &job->view[VIEW_OUT].array;
    const int64_t H = out->shape[1], heads = out->shape[0] * H;
    npy_shape_text(array->shape, array->rank, shape, sizeof shape);
    printf("%sout%s %s %s\n", out_begin(stdout, OUT_BOLD), out_begin(stdout, OUT_PLAIN), shape,
           attn_dtype_name(out->dtype));
    for (int64_t i = 0; i < heads && i < MOST_HEADS; i++) {
        const table t = {.tensor = out, .batch = i / H, .head = i % H, .row_name = "query"};
        if (out->shape[0] > 1)
            printf("\nbatch %lld, head %lld\n", (long long)(i / H), (long long)(i % H));
        else if (heads > 1)
            printf("\nhead %lld\n", (long long)i);
        table_print(&t);
    }
    if (heads > MOST_HEADS)
        printf("\n... and %lld more heads; -o FILE writes them all\n",
               (long long)(heads - MOST_HEADS));
}

static double rate_of(double flops, double seconds) {
    return flops / (seconds > 0 ? seconds : 1e-9);
}

static void print_backward(const run_job *job) {
    char time[OUT_NUMBER], rate[OUT_NUMBER];
    fprintf(stderr, "%sbackward   %s, %sFLOP/s%s\n", out_begin(stderr, OUT_DIM),
            out_seconds(job->seconds_backward, time),
            out_human(rate_of(job->cost.flops_backward, job->seconds_backward), rate),
            out_begin(stderr, OUT_PLAIN));
}

/* One line for the person at the terminal who had files written. */
static void print_summary(const run_job *job) {
    char time[OUT_NUMBER], rate[OUT_NUMBER], shape[NPY_TEXT];
    const run_view *out = &job->view[VIEW_OUT];
    if (!terminal_is(stderr)) return;
    npy_shape_text(out->array.shape, out->array.rank, shape, sizeof shape);
    fprintf(stderr, "%sout %s %s   %s, %sFLOP/s   %s%s, %d thread%s%s\n",
            out_begin(stderr, OUT_DIM), shape, attn_dtype_name(out->tensor.dtype),
            out_seconds(job->seconds, time),
            out_human(rate_of(job->cost.flops, job->seconds), rate),
            job->o->reference ? "reference, " : "", attn_isa_name(attn_ctx_isa(job->ctx)),
            attn_ctx_threads(job->ctx), attn_ctx_threads(job->ctx) == 1 ? "" : "s",
            out_begin(stderr, OUT_PLAIN));
    if (run_wants_gradients(job->o)) print_backward(job);
}

int run_report(run_job *job) {
    if (job->o->common.json) return report_json(job);
    if (run_writes_stdout(job)) return CLI_OK;
    const bool shown = terminal_is(stdout) || run_is_small(job);
    if (job->o->demo)
        run_demo_report(job);
    else if (!job->view[VIEW_OUT].path[0] && shown)
        print_out(job);
    if (job->o->dscale) printf("dscale %.12g\n", job->dscale);
    if (!job->o->demo) print_summary(job);
    return CLI_OK;
}
