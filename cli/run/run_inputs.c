/* SPDX-License-Identifier: Apache-2.0 */
/* run_inputs.c - reads the arrays of `attn run`, converts them and checks that they fit
 * together, by name of file and with a remedy, before the library sees them. Then run_args.c
 * fills the rest. Tests: tests/cli/test_files.py */
#include "core/base.h"
#include "run/run.h"
#include "run/run_args.h"

#include <stdlib.h>

static const char *const input_roles[N_INPUTS] = {"q", "k", "v", "mask", "bias", "sinks", "dout"};
static const attn_dtype dtypes[] = {ATTN_F32, ATTN_F64, ATTN_F16, ATTN_BF16};

static const char *input_path(const run_options *o, int which) {
    const char *const paths[N_INPUTS] = {o->q, o->k, o->v, o->mask, o->bias, o->sinks, o->dout};
    return paths[which];
}

const char *run_input_name(const run_job *job, int which) {
    const char *path = input_path(job->o, which);
    return !path ? input_roles[which] : strcmp(path, "-") == 0 ? "standard input" : path;
}

int run_out_of_memory(void) {
    out_error("run", "out of memory");
    return CLI_FAILED;
}

/* ------------------------------------------------------------------------------------- reading */

static int read_inputs(run_job *job) {
    if (job->o->demo) {
        const int code = run_demo_inputs(job);
        if (code != CLI_OK) return code;
    }
    for (int i = 0; i < N_INPUTS; i++) {
        const char *path = input_path(job->o, i);
        const int code = path ? npy_load("run", path, &job->input[i]) : CLI_OK;
        if (code != CLI_OK) return code;
        npy_describe(&job->input[i], job->text[i], sizeof job->text[i]);
    }
    return CLI_OK;
}

/* ------------------------------------------------------------------------------------ checking */

/* An input that does not fit: what was found, what was expected, what to do. */
static int misfit(const run_job *job, int which, const char *expected) {
    out_error("run", "%s: %s, expected %s", run_input_name(job, which), job->text[which], expected);
    return CLI_FILE;
}

static int check_rank(const run_job *job, int which, int least, int most) {
    char expected[160];
    const int rank = job->input[which].rank;
    if (rank >= least && rank <= most) return CLI_OK;
    snprintf(expected, sizeof expected,
             "rank %d to %d, found rank %d; reshape it, for example with array.reshape(...)", least,
             most, rank);
    return misfit(job, which, expected);
}

/* Compares one dimension of two tensors. */
typedef struct agreement {
    int first, second; /* inputs: the second must be as the first */
    int dimension;     /* 0 batch, 1 heads, 2 rows, 3 columns */
    const char *name;
} agreement;

static const attn_tensor *tensor_of(const attn_args *args, int which) {
    return which == IN_Q ? &args->q : which == IN_K ? &args->k : &args->v;
}

static int check_agreement(const run_job *job, const agreement *must) {
    const int64_t wanted = tensor_of(&job->args, must->first)->shape[must->dimension];
    const int64_t found = tensor_of(&job->args, must->second)->shape[must->dimension];
    if (wanted == found) return CLI_OK;
    out_error("run", "%s: %s has %s %lld, expected %lld as in %s: %s",
              run_input_name(job, must->second), job->text[must->second], must->name,
              (long long)found, (long long)wanted, run_input_name(job, must->first),
              job->text[must->first]);
    out_hint("layout %s reads (%s); --layout changes it",
             job->o->layout == RUN_BSHD ? "bshd" : "bhsd",
             job->o->layout == RUN_BSHD ? "batch, rows, heads, d" : "batch, heads, rows, d");
    return CLI_FILE;
}

static int check_shapes(const run_job *job) {
    static const agreement must[] = {
        {IN_Q, IN_K, 3, "head size"},  {IN_Q, IN_K, 0, "batch size"}, {IN_K, IN_V, 0, "batch size"},
        {IN_K, IN_V, 1, "head count"}, {IN_K, IN_V, 2, "row count"},
    };
    for (size_t i = 0; i < sizeof must / sizeof *must; i++) {
        const int code = check_agreement(job, &must[i]);
        if (code != CLI_OK) return code;
    }
    const int64_t H = job->args.q.shape[1], H_kv = job->args.k.shape[1];
    if (H_kv > 0 && H % H_kv == 0) return CLI_OK;
    out_error("run", "%s: %lld key heads in %s do not divide the %lld query heads in %s",
              run_input_name(job, IN_K), (long long)H_kv, job->text[IN_K], (long long)H,
              job->text[IN_Q]);
    out_hint("grouped-query attention needs H %% H_kv == 0; --layout sets which dimension holds "
             "the heads");
    return CLI_FILE;
}

/* ---------------------------------------------------------------------------------- converting */

static attn_dtype float_dtype(int item_size) {
    return item_size == 2 ? ATTN_F16 : item_size == 4 ? ATTN_F32 : ATTN_F64;
}

/* Converts q, k, v or dout to the type of the computation. */
static int convert(run_job *job, int which, attn_dtype dtype) {
    npy_array *array = &job->input[which];
    const bool chosen = job->o->dtype >= 0, is_float = array->kind == 'f';
    if (!is_float && !chosen)
        return misfit(job, which, "floats (f2, f4 or f8); --dtype f32 converts integers");
    if (is_float && float_dtype(array->item_size) == dtype) return CLI_OK;
    if (!chosen)
        out_note("run", "%s: %s converted to %s, the type of q; --dtype chooses another",
                 run_input_name(job, which), job->text[which], attn_dtype_name(dtype));
    size_t became_infinite;
    void *data = npy_to_dtype(array, dtype, &became_infinite);
    if (!data) return run_out_of_memory();
    if (became_infinite)
        out_note("run", "%s: %zu values are too large for %s and became infinite",
                 run_input_name(job, which), became_infinite, attn_dtype_name(dtype));
    free(array->data);
    array->data = data;
    array->kind = 'f';
    array->item_size = (int)attn_dtype_size(dtype);
    return CLI_OK;
}

/* (rows, d), (heads, rows, d) or (batch, heads, rows, d), or with rows before heads. */
static attn_tensor as_tensor(const run_job *job, int which, attn_dtype dtype) {
    const npy_array *a = &job->input[which];
    int64_t shape[4] = {1, 1, 1, 1};
    for (int r = 0; r < a->rank; r++) shape[4 - a->rank + r] = a->shape[r];
    if (a->rank > 2 && job->o->layout == RUN_BSHD)
        return attn_tensor_bshd(a->data, dtype, shape[0], shape[2], shape[1], shape[3]);
    return attn_tensor_bhsd(a->data, dtype, shape[0], shape[1], shape[2], shape[3]);
}

static int take_qkv(run_job *job) {
    attn_tensor *const tensors[] = {&job->args.q, &job->args.k, &job->args.v};
    const npy_array *q = &job->input[IN_Q];
    const attn_dtype dtype = job->o->dtype >= 0 ? dtypes[job->o->dtype] : float_dtype(q->item_size);
    for (int which = IN_Q; which <= IN_V; which++) {
        int code = check_rank(job, which, 2, 4);
        if (code == CLI_OK) code = convert(job, which, dtype);
        if (code != CLI_OK) return code;
        *tensors[which] = as_tensor(job, which, dtype);
    }
    return check_shapes(job);
}

/* Right-aligned, as NumPy broadcasts: (keys), (rows, keys), (heads, rows, keys) or all four. */
static attn_tensor as_broadcast(const npy_array *a, attn_dtype dtype) {
    int64_t shape[4] = {1, 1, 1, 1};
    for (int r = 0; r < a->rank; r++) shape[4 - a->rank + r] = a->shape[r];
    return attn_tensor_bhsd(a->data, dtype, shape[0], shape[1], shape[2], shape[3]);
}

static int take_mask(run_job *job) {
    npy_array *a = &job->input[IN_MASK];
    if (!a->data) return CLI_OK;
    const int code = check_rank(job, IN_MASK, 1, 4);
    if (code != CLI_OK) return code;
    if (a->kind == 'f')
        return misfit(job, IN_MASK, "bool or integers 0 and 1; numbers to add belong to --bias");
    uint8_t *allow = malloc(a->count ? a->count : 1);
    if (!allow) return run_out_of_memory();
    for (size_t i = 0; i < a->count; i++) {
        const int64_t value = npy_int_at(a, i);
        allow[i] = value != 0;
        if (value == 0 || value == 1) continue;
        free(allow);
        out_error("run", "%s: value %lld at element %zu, expected 0 or 1 (1 = may attend)",
                  run_input_name(job, IN_MASK), (long long)value, i);
        return CLI_FILE;
    }
    free(a->data);
    a->data = allow;
    a->item_size = 1;
    job->args.mask = as_broadcast(a, ATTN_BOOL);
    return CLI_OK;
}

static int take_bias(run_job *job) {
    const npy_array *a = &job->input[IN_BIAS];
    if (!a->data) return CLI_OK;
    const int code = check_rank(job, IN_BIAS, 1, 4);
    if (code != CLI_OK) return code;
    if (a->kind != 'f')
        return misfit(job, IN_BIAS, "floats (f2, f4 or f8); a mask of 0 and 1 belongs to --mask");
    job->args.bias = as_broadcast(a, float_dtype(a->item_size));
    return CLI_OK;
}

/* One logit per head. */
static int take_sinks(run_job *job) {
    char expected[80];
    const npy_array *a = &job->input[IN_SINKS];
    const int64_t H = job->args.q.shape[1];
    if (!a->data) return CLI_OK;
    if (a->kind != 'f' || a->rank > 1 || (int64_t)a->count != H) {
        snprintf(expected, sizeof expected, "floats (%lld,): one for each query head",
                 (long long)H);
        return misfit(job, IN_SINKS, expected);
    }
    size_t became_infinite;
    job->sinks = npy_to_dtype(a, ATTN_F64, &became_infinite);
    job->args.sinks = job->sinks;
    return job->sinks ? CLI_OK : run_out_of_memory();
}

/* In the shape of the output: that of q, with the columns of v. */
static int take_dout(run_job *job) {
    char shape[NPY_TEXT], expected[NPY_TEXT + 40];
    const npy_array *q = &job->input[IN_Q], *a = &job->input[IN_DOUT];
    if (!a->data) return CLI_OK;
    npy_array out = *q;
    out.shape[q->rank - 1] = job->args.v.shape[3];
    bool same = a->rank == out.rank;
    for (int r = 0; same && r < out.rank; r++) same = a->shape[r] == out.shape[r];
    if (!same) {
        npy_shape_text(out.shape, out.rank, shape, sizeof shape);
        snprintf(expected, sizeof expected, "the shape of the output, %s", shape);
        return misfit(job, IN_DOUT, expected);
    }
    const int code = convert(job, IN_DOUT, job->args.q.dtype);
    if (code == CLI_OK) job->dout = as_tensor(job, IN_DOUT, job->args.q.dtype);
    return code;
}

int run_load(run_job *job) {
    static int (*const steps[])(run_job *) = {read_inputs, take_qkv,  take_mask,       take_bias,
                                              take_sinks,  take_dout, run_take_options};
    attn_args_init(&job->args);
    int code = CLI_OK;
    for (size_t step = 0; step < sizeof steps / sizeof *steps && code == CLI_OK; step++)
        code = steps[step](job);
    return code;
}
