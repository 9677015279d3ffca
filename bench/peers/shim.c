/* SPDX-License-Identifier: Apache-2.0 */
/* shim.c - attn for Python: flat functions around one problem, compiled against the public header
 * so that no struct has to be declared twice. Linked with the shared library of the release
 * build. */
#include "attn/attn.h"

#include <stdio.h>
#include <stdlib.h>

#define EXPORTED __attribute__((visibility("default")))

typedef struct shim {
    attn_ctx *ctx;
    attn_args args;
    attn_results results;
    attn_gradients gradients;
    int backward;
} shim;

/* Sizes and switches of one problem, as by_attn.py counts them. */
enum { THREADS, CAUSAL, BACKWARD, HEADS, HEADS_KV, N_Q, N_K, D };
/* The arrays, f32, [head][row][column]; lse f64. Those after lse are for backward only. */
enum { Q, K, V, OUT, LSE, DOUT, DQ, DK, DV };

static attn_tensor queries(const int64_t *p, void *data) {
    return attn_tensor_bhsd(data, ATTN_F32, 1, p[HEADS], p[N_Q], p[D]);
}

static attn_tensor keys(const int64_t *p, void *data) {
    return attn_tensor_bhsd(data, ATTN_F32, 1, p[HEADS_KV], p[N_K], p[D]);
}

static int forward(const shim *s) {
    const attn_tensor *lse = s->backward ? &s->results.lse : NULL;
    attn_error error;
    if (attn_forward(s->ctx, &s->args, &s->results.out, lse, &error) == ATTN_OK) return 0;
    fprintf(stderr, "shim: forward: %s\n", error.message);
    return 1;
}

/* Borrows the arrays until shim_end(). Backward's own forward call is made here. NULL on failure. */
EXPORTED shim *shim_begin(const int64_t *p, void **arrays) {
    shim *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    attn_ctx_options options;
    attn_ctx_options_init(&options);
    options.threads = (int)p[THREADS];
    attn_args_init(&s->args);
    attn_results_init(&s->results);
    attn_gradients_init(&s->gradients);
    s->args.q = queries(p, arrays[Q]);
    s->args.k = keys(p, arrays[K]);
    s->args.v = keys(p, arrays[V]);
    s->args.causal = (int)p[CAUSAL];
    s->backward = (int)p[BACKWARD];
    s->results.out = queries(p, arrays[OUT]);
    s->results.lse = attn_tensor_bhsd(arrays[LSE], ATTN_F64, 1, p[HEADS], p[N_Q], 1);
    if (s->backward) {
        s->results.dout = queries(p, arrays[DOUT]);
        s->gradients.dq = queries(p, arrays[DQ]);
        s->gradients.dk = keys(p, arrays[DK]);
        s->gradients.dv = keys(p, arrays[DV]);
    }
    if (attn_ctx_create(&options, &s->ctx, NULL) == ATTN_OK && forward(s) == 0) return s;
    attn_ctx_destroy(s->ctx);
    free(s);
    return NULL;
}

/* One call of attn_forward() or attn_backward(). 0 if it succeeded. */
EXPORTED int shim_run(const shim *s) {
    if (!s->backward) return forward(s);
    return attn_backward(s->ctx, &s->args, &s->results, &s->gradients, NULL) != ATTN_OK;
}

EXPORTED void shim_end(shim *s) {
    attn_ctx_destroy(s->ctx);
    free(s);
}

EXPORTED const char *shim_version(void) { return attn_version(); }
