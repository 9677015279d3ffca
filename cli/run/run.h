/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - `attn run` in its steps: options -> inputs (run_inputs.c) -> results (run_views.c,
 * run_compute.c, run_gradients.c) -> files, tables, JSON (run_report.c, run_demo.c). */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include "lab/support/outfile.h"
#include "shared/npy.h"
#include "shared/options.h"
#include "shared/out.h"

/* ------------------------------------------------------------------------------------- options */

typedef struct run_options {
    cli_common common;
    const char *q, *k, *v, *out;
    bool demo;
    int layout; /* RUN_BHSD, RUN_BSHD */
    int dtype;  /* index into RUN_DTYPES; -1 = that of q */

    bool causal, alibi;
    const char *offset, *window, *mask, *bias, *pattern;
    const char *lengths, *lengths_q, *cu_q, *cu_k;
    double scale, temperature, softcap;
    const char *sinks;
    double dropout;
    uint64_t seed;

    const char *lse, *weights, *entropy, *received, *topk;
    cli_texts scores;

    const char *dout, *dq, *dk, *dv, *dbias, *dsinks;
    bool dscale;

    bool reference, explain;
    int64_t threads;
    const char *isa;
    int progress; /* auto, always, never */
} run_options;

enum { RUN_BHSD, RUN_BSHD };

/* ------------------------------------------------------------------------------------- results */

enum {
    VIEW_OUT,
    VIEW_LSE,
    VIEW_RAW,
    VIEW_CAPPED,
    VIEW_BIASED,
    VIEW_WEIGHTS,
    VIEW_ENTROPY,
    VIEW_TOP_WEIGHT,
    VIEW_TOP_KEY,
    VIEW_RECEIVED,
    VIEW_DQ,
    VIEW_DK,
    VIEW_DV,
    VIEW_DBIAS,
    VIEW_DSINKS,
    N_VIEWS
};

enum { MAX_PATHS = 2 }; /* --weights and --scores softmax: may both be given */

/* One result: its memory, how the engine sees it and how it stands in a file. */
typedef struct run_view {
    bool wanted;
    char *path[MAX_PATHS]; /* owned */
    outfile file[MAX_PATHS];
    attn_tensor tensor; /* shape (B, H, rows, columns); data owned */
    npy_array array; /* as the file has it: in the rank and layout of q, usually the same memory */
} run_view;

extern const char *const run_view_names[N_VIEWS];

/* ----------------------------------------------------------------------------------------- job */

enum { IN_Q, IN_K, IN_V, IN_MASK, IN_BIAS, IN_SINKS, IN_DOUT, N_INPUTS };
enum { LIST_OFFSET, LIST_LEN_Q, LIST_LEN_K, LIST_CU_Q, LIST_CU_K, N_LISTS };

typedef struct run_job {
    const run_options *o;
    npy_array input[N_INPUTS];
    char text[N_INPUTS][NPY_TEXT + 8]; /* "f4 (2, 3)", as found in the file */
    int64_t *list[N_LISTS];
    int64_t list_n[N_LISTS];
    double *alibi, *sinks; /* (H) */
    attn_tensor dout;      /* (B, H, n_q, d_v) */
    attn_pattern *pattern;
    attn_args args;
    int64_t n_sequences; /* B, or n_seqs when packed */
    attn_ctx *ctx;
    attn_cost_info cost;
    run_view view[N_VIEWS];
    int64_t top_k;
    char *explanation; /* of the plan, if asked for */
    double seconds;    /* of the forward pass */
    double seconds_backward;
    double dscale;
} run_job;

/* Each step prints what is wrong and returns an exit code; CLI_OK to go on. */
int run_load(run_job *job);           /* files and options -> args */
int run_views_wish(run_job *job);     /* which results go where; refuses contradictions */
int run_views_allocate(run_job *job); /* memory and temporary files */
int run_views_write(run_job *job);    /* all files complete, then all renamed */
int run_compute(run_job *job);        /* context, cost, forward or reference, inspect, gradients */
int run_report(run_job *job);         /* table, JSON, summary */
void run_demo_report(const run_job *job); /* every step of the worked example as tables */
int run_demo_inputs(run_job *job);        /* the worked example as q, k, v */
int run_gradients_wish(run_job *job);     /* refuses a gradient of what is not there */
int run_gradients(run_job *job);          /* backward, or its reference */
void run_views_free(run_job *job);

/* True if nothing was asked of the example that document 001 does not do. */
bool run_demo_is_plain(const run_options *o);
/* True if out fits on a screen. */
bool run_is_small(const run_job *job);
/* True if a result goes to standard output as a .npy array. */
bool run_writes_stdout(const run_job *job);
/* The offset in force for one sequence. */
int64_t run_offset(const run_job *job, int64_t sequence);
/* The name to use for an input in messages: its path. */
const char *run_input_name(const run_job *job, int which);
/* Says what the library said, with the inputs' shapes where these are to blame. */
int run_library_error(const run_job *job, attn_status status, const attn_error *error);

/* True if work of this size deserves to be cut into slices, so that progress can be shown. */
bool run_worth_progress(const run_job *job, double flops);
/* True if a gradient was asked for. */
bool run_wants_gradients(const run_options *o);
/* Norms of the gradients. */
json_t *run_gradients_json(const run_job *job);

int run_out_of_memory(void);

#endif
