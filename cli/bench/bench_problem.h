/* SPDX-License-Identifier: Apache-2.0 */
/* bench_problem.h - an attention problem to measure, with its memory, and the race on it: what
 * bench_forward.c and bench_backward.c share. Each brings its rows and a bench_kind. */
#ifndef CLI_BENCH_PROBLEM_H
#define CLI_BENCH_PROBLEM_H

#include "bench/bench.h"

typedef struct bench_problem {
    const char *name;
    attn_dtype dtype;
    int64_t heads, n, d;
    int64_t kv_heads; /* 0 = heads */
    bool causal;
    int64_t window;      /* keys on the left, 0 = none */
    const char *pattern; /* "longformer", "bigbird" or NULL */
    bool threaded;       /* on all threads, by the wall clock */
    bool kept;           /* backward: forward and the peer kept the weights; one head */
} bench_problem;

enum { BENCH_MAX_BLOCKS = 12 };

/* A problem with its memory. */
typedef struct bench_setting {
    const bench_problem *p;
    attn_ctx *ctx;
    attn_args args;
    attn_tensor out;
    attn_results results;     /* backward only */
    attn_gradients gradients; /* backward only */
    attn_pattern *pattern;
    void *block[BENCH_MAX_BLOCKS];
    int n_blocks;
    float *dense[2]; /* (n, n) of the peer */
    bool peer_kept;  /* dense[0] holds the peer's weights */
    attn_error error;
    attn_status status;
} bench_setting;

/* What is measured. */
typedef struct bench_kind {
    attn_status (*prepare)(bench_setting *s); /* after the inputs are there; may be NULL */
    void (*run)(void *setting);
    void (*peer)(void *setting);
    int dense; /* matrices of the peer */
    double (*flops)(const attn_cost_info *cost, const bench_problem *p);
} bench_kind;

/* A tensor of the problem's type filled with random numbers, owned by the setting; data is NULL
 * when memory is short. */
attn_tensor bench_tensor(bench_setting *s, attn_dtype dtype, int64_t heads, int64_t n, int64_t d);

/* Measures the problems that are wanted, row by row, and ends the table. */
int bench_measure(const bench_kind *kind, const bench_problem *problems, size_t n,
                  bench_table *table);

/* Softmax of the first `visible` of n scores in plain C, 0 for the others, as the peers do it. */
void bench_softmax(float *row, int64_t n, int64_t visible);
/* The rows of one head of an f32 tensor. */
float *bench_head(const attn_tensor *t, int64_t head);

#endif
