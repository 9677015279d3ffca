/* SPDX-License-Identifier: Apache-2.0 */
/* trace_inputs.c - what `attn trace` works on: a worked example, a sentence with random numbers, or
 * .npy files, as a problem of the lab with names for its rows. Tests: tests/cli/test_trace.py */
#include "trace/trace.h"

#include <math.h>
#include <stdlib.h>

enum { DEFAULT_SEED = 42, DEFAULT_D_MODEL = 8 };

static const lab_part file_part[TRACE_FILES] = {LAB_X,   LAB_W_Q, LAB_W_K, LAB_W_V,
                                                LAB_W_O, LAB_Q,   LAB_K,   LAB_V};

static int usage_error(const char *what, const char *message) {
    out_error("trace", "%s: %s", what, message);
    return CLI_USAGE;
}

/* Says what the library said, and gives the exit code that goes with it. */
static int failed(attn_status status, const attn_error *err) {
    out_error("trace", "%s", err->message);
    return cli_code_of(status);
}

/* --------------------------------------------------------------------------------------- labels */

static char *numbered(const char *prefix, int64_t number) {
    const int length = snprintf(NULL, 0, "%s%lld", prefix, (long long)number);
    char *text = malloc((size_t)length + 1);
    if (text) snprintf(text, (size_t)length + 1, "%s%lld", prefix, (long long)number);
    return text;
}

/* "q1", "q2", ...: for rows that have no words. */
static bool make_labels(lab_words *labels, const char *prefix, int64_t n) {
    labels->word = calloc((size_t)n, sizeof *labels->word);
    while (labels->word && labels->n < n) {
        char *text = numbered(prefix, labels->n + 1);
        if (!text) break;
        labels->word[labels->n++] = text;
    }
    return labels->n == n;
}

/* The words of the sentence, if there is one, or numbers. */
static int label_files(trace_job *job) {
    const lab_matrix *given = job->problem.given;
    const bool has_x = given[LAB_X].cell;
    const int64_t n_q = given[has_x ? LAB_X : LAB_Q].rows, n_k = given[has_x ? LAB_X : LAB_K].rows;
    if (job->sentence) {
        if (job->words.n != n_q || job->words.n != n_k) {
            out_error("trace",
                      "the sentence has %lld words, expected one for each of the %lld rows",
                      (long long)job->words.n, (long long)(job->words.n != n_q ? n_q : n_k));
            return CLI_USAGE;
        }
        return CLI_OK;
    }
    if (make_labels(&job->made_query, has_x ? "x" : "q", n_q) &&
        make_labels(&job->made_key, has_x ? "x" : "k", n_k))
        return CLI_OK;
    out_error("trace", "out of memory");
    return CLI_FAILED;
}

/* ---------------------------------------------------------------------------------------- files */

/* (heads, rows, d) to (rows, heads, d): the columns of all heads side by side. */
static void interleave(const npy_array *a, double *to) {
    const int64_t H = a->shape[0], n = a->shape[1], d = a->shape[2];
    for (int64_t h = 0; h < H; h++)
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < d; j++)
                to[(i * H + h) * d + j] = npy_real_at(a, (size_t)((h * n + i) * d + j));
}

/* --heads, or the first side of a file of rank 3; they must agree. */
static int take_heads(trace_job *job, const char *path, int64_t heads) {
    if (job->problem.H == 0 || job->problem.H == heads) {
        job->problem.H = heads;
        return CLI_OK;
    }
    out_error("trace", "%s: %lld heads, expected %lld as in --heads or the other files", path,
              (long long)heads, (long long)job->problem.H);
    return CLI_FILE;
}

static int check_file(int which, const char *path, const npy_array *a) {
    char text[NPY_TEXT];
    npy_describe(a, text, sizeof text);
    const int most = which >= TRACE_Q ? 3 : 2;
    if (a->rank < 2 || a->rank > most) {
        out_error("trace", "%s: %s, expected %s", path, text,
                  most == 3 ? "(rows, columns) or (heads, rows, columns)" : "(rows, columns)");
        return CLI_FILE;
    }
    if (a->count == 0) {
        out_error("trace", "%s: %s, expected at least one row and one column", path, text);
        return CLI_FILE;
    }
    for (size_t i = 0; i < a->count; i++)
        if (!isfinite(npy_real_at(a, i))) {
            out_error("trace", "%s: %g at element %zu, expected finite numbers", path,
                      npy_real_at(a, i), i);
            return CLI_FILE;
        }
    return CLI_OK;
}

static int take_file(trace_job *job, int which, const npy_array *a) {
    const char *path = job->o->file[which];
    int code = check_file(which, path, a);
    if (code == CLI_OK && a->rank == 3) code = take_heads(job, path, a->shape[0]);
    if (code != CLI_OK) return code;
    double *cell = malloc(a->count * sizeof *cell);
    job->file[which] = cell;
    if (!cell) {
        out_error("trace", "out of memory for %s", path);
        return CLI_FAILED;
    }
    lab_matrix *to = &job->problem.given[file_part[which]];
    if (a->rank == 3) {
        interleave(a, cell);
        *to = (lab_matrix){a->shape[1], a->shape[0] * a->shape[2], cell};
    } else {
        for (size_t i = 0; i < a->count; i++) cell[i] = npy_real_at(a, i);
        *to = (lab_matrix){a->shape[0], a->shape[1], cell};
    }
    return CLI_OK;
}

static int load_files(trace_job *job) {
    job->problem = lab_problem_defaults();
    job->problem.H = job->o->heads;
    for (int which = 0; which < TRACE_FILES; which++) {
        npy_array array = {0};
        if (!job->o->file[which]) continue;
        int code = npy_load("trace", job->o->file[which], &array);
        if (code == CLI_OK) code = take_file(job, which, &array);
        npy_free(&array);
        if (code != CLI_OK) return code;
    }
    if (job->problem.H == 0) job->problem.H = 1;
    snprintf(job->title, sizeof job->title, "%s", job->sentence ? job->sentence : "from files");
    return CLI_OK;
}

/* ------------------------------------------------------------------------- sentences, examples */

static int load_sentence(trace_job *job) {
    const trace_options *o = job->o;
    attn_error err = {""};
    lab_random how = {.d_model = o->d_model ? o->d_model : DEFAULT_D_MODEL, .d_k = o->d_k};
    how.H = o->heads ? o->heads : how.d_model % 2 ? 1 : 2;
    how.seed = (uint32_t)(o->seed < 0 ? DEFAULT_SEED : o->seed);
    const attn_status status =
        lab_sentence_problem(&job->words, &how, &job->problem, &job->memory, &err);
    if (status != ATTN_OK) return failed(status, &err);
    job->is_random = true;
    job->seed = how.seed;
    snprintf(job->title, sizeof job->title, "%s", job->sentence);
    snprintf(job->about, sizeof job->about,
             "random, seed %lu: shows the arithmetic, not meaning. The same word always gets the "
             "same row of X; numbers have two decimals, so that you can check them by hand.",
             (unsigned long)how.seed);
    return CLI_OK;
}

static const char *example_name(const void *arg, size_t i) {
    (void)arg;
    return lab_examples[i].name;
}

static int no_such_example(const char *name) {
    const char *meant = cli_nearest(name, lab_n_examples, example_name, NULL);
    if (meant)
        out_error("trace", "--example %s: unknown. Did you mean %s?", name, meant);
    else
        out_error("trace", "--example %s: unknown", name);
    fprintf(stderr, "  examples:");
    for (size_t i = 0; i < lab_n_examples; i++) fprintf(stderr, " %s", lab_examples[i].name);
    fprintf(stderr, "\n");
    return CLI_USAGE;
}

static int load_example(trace_job *job) {
    const trace_options *o = job->o;
    const char *name = o->example ? o->example : "004";
    job->example = lab_example_named(name);
    if (!job->example) return no_such_example(name);
    job->problem = job->example->problem;
    if (o->heads) job->problem.H = o->heads;
    job->as_documented = job->problem.H == job->example->problem.H && o->temperature == 1 &&
                         o->scale != LAB_SCALE_D_K && (!o->causal || job->problem.causal);
    snprintf(job->title, sizeof job->title, "%s", job->example->title);
    snprintf(job->about, sizeof job->about, "%s", job->example->about);
    return CLI_OK;
}

/* ------------------------------------------------------------------------------------- together */

static bool has_files(const trace_options *o) {
    for (int which = 0; which < TRACE_FILES; which++)
        if (o->file[which]) return true;
    return false;
}

/* Options that belong to one kind of input only. */
static int check_options(const trace_job *job) {
    const trace_options *o = job->o;
    const bool files = has_files(o);
    if (o->example && (job->sentence || files))
        return usage_error("--example", "has its own tokens and matrices; give nothing else");
    if (files || !job->sentence) {
        if (o->d_model) return usage_error("--d-model", "applies only to a sentence");
        if (o->d_k) return usage_error("--d-k", "applies only to a sentence");
        if (o->seed >= 0) return usage_error("--seed", "applies only to a sentence");
    }
    if (o->temperature <= 0) return usage_error("--temperature", "expected more than 0");
    return CLI_OK;
}

static int split_sentence(trace_job *job) {
    attn_error err = {""};
    if (!job->sentence) return CLI_OK;
    json_t *text = json_string(job->sentence); /* NULL unless it is UTF-8 */
    json_decref(text);
    if (!text) return usage_error("the sentence", "not valid UTF-8");
    const attn_status status = lab_words_split(job->sentence, &job->words, &err);
    return status == ATTN_OK ? CLI_OK : failed(status, &err);
}

static void set_labels(trace_job *job) {
    if (job->example) {
        job->key = job->example->key;
        job->query = job->example->query ? job->example->query : job->example->key;
        return;
    }
    const lab_words *query = job->sentence ? &job->words : &job->made_query;
    const lab_words *key = job->sentence ? &job->words : &job->made_key;
    job->query = (const char *const *)query->word;
    job->key = (const char *const *)key->word;
}

int trace_load(trace_job *job) {
    const trace_options *o = job->o;
    int code = check_options(job);
    if (code == CLI_OK) code = split_sentence(job);
    if (code != CLI_OK) return code;
    if (has_files(o))
        code = load_files(job);
    else
        code = job->sentence ? load_sentence(job) : load_example(job);
    if (code == CLI_OK && o->set) code = trace_set(job);
    if (code != CLI_OK) return code;
    if (o->causal) job->problem.causal = true;
    job->problem.scaling = (lab_scaling)o->scale;
    job->problem.temperature = o->temperature;
    attn_ctx *ctx = NULL;
    attn_error err = {""};
    attn_status status = attn_ctx_create(NULL, &ctx, &err);
    if (status == ATTN_OK) status = lab_steps_compute(ctx, &job->problem, &job->steps, &err);
    attn_ctx_destroy(ctx);
    if (status != ATTN_OK) return failed(status, &err);
    if (has_files(o)) code = label_files(job);
    set_labels(job);
    return code;
}

void trace_free(trace_job *job) {
    lab_steps_free(&job->steps);
    lab_words_free(&job->words);
    lab_words_free(&job->made_query);
    lab_words_free(&job->made_key);
    free(job->memory);
    for (int which = 0; which < TRACE_FILES; which++) free(job->file[which]);
    for (int part = 0; part < LAB_N_PARTS; part++) free(job->changed[part]);
}
