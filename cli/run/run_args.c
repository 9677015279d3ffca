/* SPDX-License-Identifier: Apache-2.0 */
/* run_args.c - the options of `attn run` that are numbers, lists and patterns become attn_args.
 * The library reads lists without knowing their length, so lengths are checked here.
 * Tests: tests/cli/test_run.py, tests/cli/test_files.py */
#include "run/run_args.h"

#include "core/base.h"
#include "run/pattern_option.h"

#include <stdlib.h>

/* --------------------------------------------------------------------------------------- lists */

static const char *const list_names[N_LISTS] = {"offset", "lengths-q", "lengths", "cu-q", "cu-k"};

static int usage_error(const char *option, const char *value, const char *expected) {
    out_error("run", "--%s %s: expected %s", option, value, expected);
    return CLI_USAGE;
}

static int list_from_file(run_job *job, int which, const char *path) {
    npy_array array;
    char found[NPY_TEXT + 8];
    const int code = npy_load("run", path, &array);
    if (code != CLI_OK) return code;
    if (array.rank <= 1 && array.kind != 'f') {
        job->list[which] = calloc(array.count + 1, sizeof(int64_t));
        job->list_n[which] = (int64_t)array.count;
        for (size_t i = 0; job->list[which] && i < array.count; i++)
            job->list[which][i] = npy_int_at(&array, i);
    } else {
        npy_describe(&array, found, sizeof found);
        out_error("run", "%s: %s, expected integers of rank 1 for --%s", path, found,
                  list_names[which]);
    }
    npy_free(&array);
    return job->list[which] ? CLI_OK : CLI_FILE;
}

static int list_from_text(run_job *job, int which, const char *text) {
    int64_t n = 1;
    for (const char *at = text; *at; at++) n += *at == ',';
    job->list[which] = calloc((size_t)n, sizeof(int64_t));
    if (!job->list[which]) return run_out_of_memory();
    job->list_n[which] = cli_parse_sizes(text, job->list[which], n);
    if (job->list_n[which] == n) return CLI_OK;
    return usage_error(list_names[which], text,
                       which == LIST_OFFSET
                           ? "whole numbers N[,N..], top-left, bottom-right or a .npy file"
                           : "whole numbers N[,N..] or a .npy file of integers");
}

static int take_list(run_job *job, int which, const char *text) {
    if (!text) return CLI_OK;
    return npy_is_file_name(text) ? list_from_file(job, which, text)
                                  : list_from_text(job, which, text);
}

static int check_count(const run_job *job, int which, const char *text) {
    if (!job->list[which] || job->list_n[which] == job->n_sequences) return CLI_OK;
    out_error("run", "--%s %s: %lld number%s, expected %lld, one for each sequence",
              list_names[which], text, (long long)job->list_n[which],
              job->list_n[which] == 1 ? "" : "s", (long long)job->n_sequences);
    return CLI_USAGE;
}

/* Where packed sequences begin: from 0 upwards to the number of rows. */
static int check_starts(const run_job *job, int which, int64_t rows) {
    const int64_t *starts = job->list[which], n = job->list_n[which];
    bool ascending = starts[0] == 0 && starts[n - 1] == rows;
    for (int64_t s = 1; s < n; s++) ascending &= starts[s - 1] <= starts[s];
    if (ascending) return CLI_OK;
    out_error("run", "--%s: expected numbers that ascend from 0 to %lld, the number of rows of %s",
              list_names[which], (long long)rows, which == LIST_CU_Q ? "q" : "k");
    return CLI_USAGE;
}

/* Packed sequences: --cu-k as --cu-q if it is not given. */
static int take_packing(run_job *job) {
    const run_options *o = job->o;
    job->n_sequences = job->args.q.shape[0];
    if (!o->cu_q && !o->cu_k) return CLI_OK;
    const char *cu_q = o->cu_q ? o->cu_q : o->cu_k, *cu_k = o->cu_k ? o->cu_k : o->cu_q;
    int code = take_list(job, LIST_CU_Q, cu_q);
    if (code == CLI_OK) code = take_list(job, LIST_CU_K, cu_k);
    if (code != CLI_OK) return code;
    if (job->list_n[LIST_CU_Q] < 2)
        return usage_error("cu-q", cu_q, "at least two numbers: 0 and the end");
    if (job->list_n[LIST_CU_K] != job->list_n[LIST_CU_Q])
        return usage_error("cu-k", cu_k, "as many numbers as --cu-q");
    code = check_starts(job, LIST_CU_Q, job->args.q.shape[2]);
    if (code == CLI_OK) code = check_starts(job, LIST_CU_K, job->args.k.shape[2]);
    if (code != CLI_OK) return code;
    job->n_sequences = job->list_n[LIST_CU_Q] - 1;
    job->args.cu_q = job->list[LIST_CU_Q];
    job->args.cu_k = job->list[LIST_CU_K];
    job->args.n_seqs = job->n_sequences;
    return CLI_OK;
}

static int take_lengths(run_job *job) {
    int code = take_list(job, LIST_LEN_K, job->o->lengths);
    if (code == CLI_OK) code = take_list(job, LIST_LEN_Q, job->o->lengths_q);
    if (code == CLI_OK) code = check_count(job, LIST_LEN_K, job->o->lengths);
    if (code == CLI_OK) code = check_count(job, LIST_LEN_Q, job->o->lengths_q);
    job->args.len_k = job->list[LIST_LEN_K];
    job->args.len_q = job->list[LIST_LEN_Q];
    return code;
}

static int take_offset(run_job *job) {
    const char *text = job->o->offset;
    if (!text || strcmp(text, "bottom-right") == 0) return CLI_OK; /* the library's default */
    if (strcmp(text, "top-left") == 0) {
        job->args.offset = ATTN_OFFSET_TOP_LEFT;
        return CLI_OK;
    }
    const int code = take_list(job, LIST_OFFSET, text);
    if (code != CLI_OK) return code;
    if (job->list_n[LIST_OFFSET] == 1) {
        job->args.offset = job->list[LIST_OFFSET][0];
        return CLI_OK;
    }
    job->args.offsets = job->list[LIST_OFFSET];
    return check_count(job, LIST_OFFSET, text);
}

int64_t run_offset(const run_job *job, int64_t sequence) {
    const attn_args *a = &job->args;
    if (a->offsets) return a->offsets[sequence];
    if (a->offset != ATTN_OFFSET_BOTTOM_RIGHT) return a->offset;
    if (a->cu_q)
        return (a->cu_k[sequence + 1] - a->cu_k[sequence]) -
               (a->cu_q[sequence + 1] - a->cu_q[sequence]);
    const int64_t n_q = a->len_q ? a->len_q[sequence] : a->q.shape[2];
    const int64_t n_k = a->len_k ? a->len_k[sequence] : a->k.shape[2];
    return attni_add_sat(n_k,
                         n_q == INT64_MIN ? INT64_MAX : -n_q); /* lengths are not checked yet */
}

/* -------------------------------------------------------------------------- numbers, patterns */

static int take_numbers(run_job *job) {
    const run_options *o = job->o;
    int64_t window[2];
    job->args.causal = o->causal;
    job->args.scale = o->scale;
    job->args.temperature = o->temperature;
    job->args.softcap = o->softcap;
    job->args.dropout = o->dropout;
    job->args.seed = o->seed;
    if (!o->window) return CLI_OK;
    if (cli_parse_sizes(o->window, window, 2) != 2)
        return usage_error("window", o->window, "two whole numbers L,R; -1 = no limit");
    job->args.window_left = window[0];
    job->args.window_right = window[1];
    return CLI_OK;
}

/* One mask serves all sequences: it is made for the longest, and for the offset they share. */
static pattern_shape shared_shape(const run_job *job) {
    const attn_args *a = &job->args;
    pattern_shape shape = {.n_q = a->q.shape[2], .n_k = a->k.shape[2], .one_offset = true};
    if (a->cu_q) shape.n_q = shape.n_k = 0;
    for (int64_t s = 0; s < job->n_sequences; s++) {
        if (a->cu_q) {
            shape.n_q = attni_max(shape.n_q, a->cu_q[s + 1] - a->cu_q[s]);
            shape.n_k = attni_max(shape.n_k, a->cu_k[s + 1] - a->cu_k[s]);
        }
        const int64_t offset = run_offset(job, s);
        if (s == 0) shape.offset = offset;
        shape.one_offset &= offset == shape.offset;
    }
    return shape;
}

static int take_pattern(run_job *job) {
    attn_error error = {""};
    if (!job->o->pattern) return CLI_OK;
    const pattern_shape shape = shared_shape(job);
    const attn_status status = pattern_build(job->o->pattern, &shape, &job->pattern, &error);
    if (status != ATTN_OK) return run_library_error(job, status, &error);
    job->args.pattern = job->pattern;
    return CLI_OK;
}

static int take_alibi(run_job *job) {
    attn_error error = {""};
    const int64_t H = job->args.q.shape[1];
    if (!job->o->alibi) return CLI_OK;
    job->alibi = calloc((size_t)H + 1, sizeof(double));
    if (!job->alibi) return run_out_of_memory();
    const attn_status status = attn_alibi_slopes(H, job->alibi, &error);
    if (status != ATTN_OK) return run_library_error(job, status, &error);
    job->args.alibi = job->alibi;
    return CLI_OK;
}

int run_take_options(run_job *job) {
    static int (*const steps[])(run_job *) = {take_numbers, take_packing, take_lengths,
                                              take_offset,  take_pattern, take_alibi};
    int code = CLI_OK;
    for (size_t step = 0; step < sizeof steps / sizeof *steps && code == CLI_OK; step++)
        code = steps[step](job);
    return code;
}

int run_library_error(const run_job *job, attn_status status, const attn_error *error) {
    out_error("run", "%s", error->message[0] ? error->message : attn_strerror(status));
    if (cli_code_of(status) == CLI_FILE)
        for (int i = 0; i < N_INPUTS; i++)
            if (job->input[i].data) out_hint("%s: %s", run_input_name(job, i), job->text[i]);
    return cli_code_of(status);
}
