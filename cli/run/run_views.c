/* SPDX-License-Identifier: Apache-2.0 */
/* run_views.c - the results of `attn run`: which are wanted, where they go, their memory and their
 * files. Files are opened before the computation, so that a bad name costs nothing, and renamed
 * after all of them are complete. Tests: tests/cli/test_files.py, tests/cli/test_run.py */
#include "core/base.h"
#include "core/half.h"
#include "lab/support/system.h"
#include "run/run.h"
#include "shared/terminal.h"

#include <errno.h>
#include <stdlib.h>

const char *const run_view_names[N_VIEWS] = {"out",     "lse",     "raw",  "capped",    "biased",
                                             "weights", "entropy", "topk", "topk_keys", "received",
                                             "dq",      "dk",      "dv",   "dbias",     "dsinks"};

enum { SMALL = 16, FEW_HEADS = 8 };

/* ------------------------------------------------------------------------------------- requests */

static int usage_error(const char *option, const char *value, const char *expected) {
    out_error("run", "--%s %s: expected %s", option, value, expected);
    return CLI_USAGE;
}

/* Sends a view to a path. */
static int send_to(run_job *job, int which, const char *path) {
    run_view *view = &job->view[which];
    if (!path) return CLI_OK;
    if (npy_is_file_name(path) && strcmp(path + strlen(path) - 4, ".npy") != 0) {
        out_error("run", "%s: results are written as .npy, not packed; use such a name", path);
        return CLI_USAGE;
    }
    int at = 0;
    while (at < MAX_PATHS && view->path[at]) at++;
    if (at == MAX_PATHS) return usage_error("scores", path, "each stage once");
    view->wanted = true;
    view->path[at] = strdup(path);
    return view->path[at] ? CLI_OK : run_out_of_memory();
}

/* STAGE:FILE */
static int request_scores(run_job *job, const char *text) {
    static const struct {
        const char *stage;
        int which;
    } stages[] = {{"raw:", VIEW_RAW},
                  {"capped:", VIEW_CAPPED},
                  {"biased:", VIEW_BIASED},
                  {"softmax:", VIEW_WEIGHTS}};
    for (size_t s = 0; s < sizeof stages / sizeof *stages; s++) {
        const size_t length = strlen(stages[s].stage);
        if (strncmp(text, stages[s].stage, length) == 0 && text[length])
            return send_to(job, stages[s].which, text + length);
    }
    return usage_error("scores", text, "STAGE:FILE, where STAGE is raw, capped, biased or softmax");
}

/* K:FILE; the keys go beside it, from top.npy to top.keys.npy. */
static int request_topk(run_job *job, const char *text) {
    char count[24] = "";
    const char *colon = text ? strchr(text, ':') : NULL;
    if (!text) return CLI_OK;
    if (colon && colon - text < (ptrdiff_t)sizeof count)
        snprintf(count, sizeof count, "%.*s", (int)(colon - text), text);
    if (cli_parse_size(count, &job->top_k) || job->top_k < 1 || !colon[1])
        return usage_error("topk", text, "K:FILE, where K is a whole number of 1 or more");
    const char *path = colon + 1;
    if (strcmp(path, "-") == 0) return usage_error("topk", text, "a file: two arrays are written");
    size_t length = strlen(path);
    char *keys = malloc(length + sizeof ".keys.npy");
    if (!keys) return run_out_of_memory();
    if (length > 4 && strcmp(path + length - 4, ".npy") == 0) length -= 4;
    memcpy(keys, path, length);
    strcpy(keys + length, ".keys.npy");
    int code = send_to(job, VIEW_TOP_WEIGHT, path);
    if (code == CLI_OK) code = send_to(job, VIEW_TOP_KEY, keys);
    free(keys);
    return code;
}

/* Calls fn for every path; stops at the first code other than CLI_OK. */
static int each_path(run_job *job, int (*fn)(run_job *job, int view, int path)) {
    for (int v = 0; v < N_VIEWS; v++) {
        for (int p = 0; p < MAX_PATHS; p++) {
            const int code = job->view[v].path[p] ? fn(job, v, p) : CLI_OK;
            if (code != CLI_OK) return code;
        }
    }
    return CLI_OK;
}

/* Refuses two results in one file, and a .npy array on a terminal or among JSON. */
static int check_path(run_job *job, int view, int path) {
    const char *name = job->view[view].path[path];
    for (int v = 0; v <= view; v++)
        for (int p = 0; p < (v == view ? path : MAX_PATHS); p++)
            if (job->view[v].path[p] && strcmp(job->view[v].path[p], name) == 0) {
                out_error("run",
                          "%s: both %s and %s would be written there; give each its own file", name,
                          run_view_names[v], run_view_names[view]);
                return CLI_USAGE;
            }
    if (strcmp(name, "-") != 0) return CLI_OK;
    if (job->o->common.json)
        return usage_error("json", "", "no array on standard output; write it to a file");
    if (terminal_is(stdout)) {
        out_error("run",
                  "%s would be written to the terminal as binary data; redirect it or name a file",
                  run_view_names[view]);
        return CLI_USAGE;
    }
    return CLI_OK;
}

static int check_inputs_given(const run_options *o) {
    const char *missing = !o->q ? "q" : !o->k ? "k" : !o->v ? "v" : NULL;
    const char *given = o->q ? "q" : o->k ? "k" : o->v ? "v" : NULL;
    if (o->demo && given) {
        out_error("run", "--%s: --demo has its own q, k and v; leave out one of the two", given);
        return CLI_USAGE;
    }
    if (o->demo || !missing) return CLI_OK;
    out_error("run", "--%s is missing: attn run --q q.npy --k k.npy --v v.npy -o out.npy", missing);
    out_hint("attn run --demo needs no files; attn run --help shows all options");
    return CLI_USAGE;
}

int run_views_wish(run_job *job) {
    const run_options *o = job->o;
    int code = check_inputs_given(o);
    const struct {
        int which;
        const char *path;
    } plain[] = {{VIEW_OUT, o->out},
                 {VIEW_LSE, o->lse},
                 {VIEW_WEIGHTS, o->weights},
                 {VIEW_ENTROPY, o->entropy},
                 {VIEW_RECEIVED, o->received},
                 {VIEW_DQ, o->dq},
                 {VIEW_DK, o->dk},
                 {VIEW_DV, o->dv},
                 {VIEW_DBIAS, o->dbias},
                 {VIEW_DSINKS, o->dsinks}};
    for (size_t i = 0; i < sizeof plain / sizeof *plain && code == CLI_OK; i++)
        code = send_to(job, plain[i].which, plain[i].path);
    for (int i = 0; i < o->scores.n && code == CLI_OK; i++)
        code = request_scores(job, o->scores.item[i]);
    if (code == CLI_OK) code = request_topk(job, o->topk);
    if (code == CLI_OK) code = run_gradients_wish(job);
    job->view[VIEW_OUT].wanted = true;
    if (o->demo) job->view[VIEW_BIASED].wanted = job->view[VIEW_WEIGHTS].wanted = true;
    return code == CLI_OK ? each_path(job, check_path) : code;
}

bool run_writes_stdout(const run_job *job) {
    for (int v = 0; v < N_VIEWS; v++)
        for (int p = 0; p < MAX_PATHS; p++)
            if (job->view[v].path[p] && strcmp(job->view[v].path[p], "-") == 0) return true;
    return false;
}

bool run_is_small(const run_job *job) {
    const int64_t *q = job->args.q.shape;
    return q[2] <= SMALL && job->args.v.shape[3] <= SMALL && q[0] <= FEW_HEADS &&
           q[0] * q[1] <= FEW_HEADS;
}

/* ------------------------------------------------------------------------------------- memory */

/* Rows and columns of a view, and whether a file keeps them as dimensions. */
typedef struct view_form {
    int64_t rows, columns;
    bool has_rows, has_columns;
    attn_dtype dtype;
} view_form;

static view_form form_of(const run_job *job, int which) {
    const attn_args *a = &job->args;
    const int64_t n_q = a->q.shape[2], n_k = a->k.shape[2];
    const attn_dtype real = a->q.dtype == ATTN_F64 ? ATTN_F64 : ATTN_F32;
    switch (which) {
    case VIEW_OUT: return (view_form){n_q, a->v.shape[3], true, true, a->q.dtype};
    case VIEW_LSE:
    case VIEW_ENTROPY: return (view_form){n_q, 1, true, false, real};
    case VIEW_TOP_WEIGHT: return (view_form){n_q, job->top_k, true, true, real};
    case VIEW_TOP_KEY: return (view_form){n_q, job->top_k, true, true, ATTN_I64};
    case VIEW_RECEIVED: return (view_form){1, n_k, false, true, real};
    default: return (view_form){n_q, n_k, true, true, real};
    }
}

/* Bytes of an element in a file: .npy has no bf16, f4 holds the same values. */
static int file_size(attn_dtype dtype) {
    return dtype == ATTN_BF16 ? 4 : (int)attn_dtype_size(dtype);
}

/* The shape in a file: the rank of q, and its layout if it is the output. */
static void describe(const run_job *job, int which, const view_form *form, npy_array *array) {
    const int rank = job->input[IN_Q].rank;
    const int64_t *q = job->args.q.shape;
    const bool rows_first = which == VIEW_OUT && job->o->layout == RUN_BSHD;
    array->rank = 0;
    if (rank == 4) array->shape[array->rank++] = q[0];
    if (rank >= 3 && !rows_first) array->shape[array->rank++] = q[1];
    if (form->has_rows) array->shape[array->rank++] = form->rows;
    if (rank >= 3 && rows_first) array->shape[array->rank++] = q[1];
    if (form->has_columns) array->shape[array->rank++] = form->columns;
    array->kind = form->dtype == ATTN_I64 ? 'i' : 'f';
    array->item_size = file_size(form->dtype);
}

static int too_large(int which, double bytes) {
    char need[OUT_NUMBER];
    out_error("run", "%s: needs %s, more than this machine's memory", run_view_names[which],
              out_bytes(bytes, need));
    out_hint("--topk, --entropy and --received examine weights without storing them all");
    return CLI_FAILED;
}

/* Takes memory for so many elements of the view's tensor. */
static int allocate(run_job *job, int which, double elements) {
    run_view *view = &job->view[which];
    const size_t size = attn_dtype_size(view->tensor.dtype);
    const double bytes = elements * (double)size;
    if (bytes > system_memory()) return too_large(which, bytes);
    view->array.count = (size_t)elements; /* exact: below the bytes of memory, so below 2^53 */
    view->tensor.data = calloc(view->array.count + 1, size);
    return view->tensor.data ? CLI_OK : too_large(which, bytes);
}

static int allocate_view(run_job *job, int which) {
    run_view *view = &job->view[which];
    const view_form form = form_of(job, which);
    const int64_t *q = job->args.q.shape;
    const double elements = (double)q[0] * (double)q[1] * (double)form.rows * (double)form.columns;
    /* Backward needs an exact LSE; the file has the same type with and without it. */
    const attn_dtype dtype = which == VIEW_LSE && job->o->dout ? ATTN_F64 : form.dtype;
    describe(job, which, &form, &view->array);
    view->tensor = which == VIEW_OUT && job->o->layout == RUN_BSHD && job->input[IN_Q].rank > 2
                       ? attn_tensor_bshd(NULL, dtype, q[0], q[1], form.rows, form.columns)
                       : attn_tensor_bhsd(NULL, dtype, q[0], q[1], form.rows, form.columns);
    return allocate(job, which, elements);
}

/* A gradient looks like the input it belongs to. */
static int allocate_gradient(run_job *job, int which) {
    static const int inputs[] = {IN_Q, IN_K, IN_V, IN_BIAS, IN_SINKS};
    const attn_args *a = &job->args;
    const attn_tensor sinks = attn_tensor_bhsd(NULL, ATTN_F64, 1, 1, 1, a->q.shape[1]);
    const attn_tensor *const tensors[] = {&a->q, &a->k, &a->v, &a->bias, &sinks};
    run_view *view = &job->view[which];
    const npy_array *input = &job->input[inputs[which - VIEW_DQ]];
    view->tensor = *tensors[which - VIEW_DQ];
    if (which == VIEW_DBIAS && a->bias.dtype != ATTN_F64)
        view->tensor.dtype = a->q.dtype == ATTN_F64 ? ATTN_F64 : ATTN_F32;
    view->tensor.data = NULL;
    view->array = *input;
    view->array.data = NULL;
    view->array.item_size = file_size(view->tensor.dtype);
    return allocate(job, which, (double)input->count);
}

static int open_file(run_job *job, int view, int path) {
    char message[300];
    run_view *v = &job->view[view];
    if (outfile_open(&v->file[path], v->path[path], message, sizeof message)) return CLI_OK;
    out_error("run", "%s: %s", v->path[path], message);
    return CLI_FILE;
}

/* Somebody must get the output: a file, a reader of JSON or a person. */
static int check_out_is_used(const run_job *job) {
    char shape[NPY_TEXT];
    bool files = false;
    for (int v = 0; v < N_VIEWS; v++) files |= job->view[v].path[0] != NULL;
    if (files || job->o->dscale || job->o->demo || job->o->common.json || run_is_small(job) ||
        terminal_is(stdout))
        return CLI_OK;
    npy_shape_text(job->view[VIEW_OUT].array.shape, job->view[VIEW_OUT].array.rank, shape,
                   sizeof shape);
    out_error("run",
              "the output %s is too large to print; write it with -o FILE, or -o - for a "
              "pipe",
              shape);
    return CLI_USAGE;
}

int run_views_allocate(run_job *job) {
    for (int v = 0; v < N_VIEWS; v++) {
        int code = CLI_OK;
        if (job->view[v].wanted)
            code = v >= VIEW_DQ ? allocate_gradient(job, v) : allocate_view(job, v);
        if (code != CLI_OK) return code;
    }
    const int code = check_out_is_used(job);
    return code == CLI_OK ? each_path(job, open_file) : code;
}

/* ------------------------------------------------------------------------------------- writing */

/* Gives the array its elements: those of the tensor, or a copy in f4 where the file has another
 * type: bf16 widens, and an LSE that was computed as f8 for backward goes back. */
static int take_elements(run_view *view) {
    const attn_dtype dtype = view->tensor.dtype;
    if ((size_t)view->array.item_size == attn_dtype_size(dtype)) {
        view->array.data = view->tensor.data;
        return CLI_OK;
    }
    float *to = malloc((view->array.count + 1) * sizeof *to);
    if (!to) return run_out_of_memory();
    for (size_t i = 0; i < view->array.count; i++)
        to[i] = dtype == ATTN_BF16 ? attni_bf16_to_f32(((const uint16_t *)view->tensor.data)[i])
                                   : (float)((const double *)view->tensor.data)[i];
    view->array.data = to;
    return CLI_OK;
}

static int write_error(const run_job *job, int view, int path, const char *message) {
    const char *name = job->view[view].path[path];
    out_error("run", "%s: %s", strcmp(name, "-") == 0 ? "standard output" : name, message);
    return CLI_FILE;
}

static int write_file(run_job *job, int view, int path) {
    char message[300];
    outfile *file = &job->view[view].file[path];
    if (!npy_write(file->stream, &job->view[view].array)) {
        snprintf(message, sizeof message, "cannot be written: %s", strerror(errno));
        return write_error(job, view, path, message);
    }
    if (outfile_close(file, message, sizeof message)) return CLI_OK;
    return write_error(job, view, path, message);
}

static int commit_file(run_job *job, int view, int path) {
    char message[300];
    if (outfile_commit(&job->view[view].file[path], message, sizeof message)) return CLI_OK;
    return write_error(job, view, path, message);
}

int run_views_write(run_job *job) {
    int code = CLI_OK;
    for (int v = 0; v < N_VIEWS && code == CLI_OK; v++)
        if (job->view[v].wanted) code = take_elements(&job->view[v]);
    if (code == CLI_OK) code = each_path(job, write_file);
    if (code == CLI_OK) code = each_path(job, commit_file);
    return code;
}

void run_views_free(run_job *job) {
    for (int v = 0; v < N_VIEWS; v++) {
        run_view *view = &job->view[v];
        for (int p = 0; p < MAX_PATHS; p++) {
            outfile_discard(&view->file[p]);
            free(view->path[p]);
        }
        if (view->array.data != view->tensor.data) free(view->array.data);
        free(view->tensor.data);
    }
}
