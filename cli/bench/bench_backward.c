/* SPDX-License-Identifier: Apache-2.0 */
/* bench_backward.c - `attn bench backward`: dq, dk and dv of whole problems. The peer is what one
 * writes without this library: five calls of OpenBLAS and the softmax in C around two full n x n
 * matrices, the weights recomputed or kept as ours are. Tests: tests/cli/test_cli.py */
#include "bench/bench_problem.h"
#include "bench/blas.h"
#include "core/base.h" /* ATTN_TRY */

#include <math.h>

static const bench_problem problems[] = {
    {"n=512 d=64", ATTN_F32, 1, 512, 64, .causal = false},
    {"n=512 d=128", ATTN_F32, 1, 512, 128, .causal = false},
    {"n=1024 d=64", ATTN_F32, 1, 1024, 64, .causal = false},
    {"n=1024 d=128", ATTN_F32, 1, 1024, 128, .causal = false},
    {"n=4096 d=64", ATTN_F32, 1, 4096, 64, .causal = false},
    {"n=4096 d=128", ATTN_F32, 1, 4096, 128, .causal = false},
    {"n=512 d=64 causal", ATTN_F32, 1, 512, 64, .causal = true},
    {"n=512 d=128 causal", ATTN_F32, 1, 512, 128, .causal = true},
    {"n=1024 d=64 causal", ATTN_F32, 1, 1024, 64, .causal = true},
    {"n=1024 d=128 causal", ATTN_F32, 1, 1024, 128, .causal = true},
    {"n=4096 d=64 causal", ATTN_F32, 1, 4096, 64, .causal = true},
    {"n=4096 d=128 causal", ATTN_F32, 1, 4096, 128, .causal = true},
    {"odd n=1000 d=40", ATTN_F32, 1, 1000, 40, .causal = false},
    {"odd n=777 d=72", ATTN_F32, 1, 777, 72, .causal = false},
    {"odd n=1000 d=80", ATTN_F32, 1, 1000, 80, .causal = false},
    {"odd n=777 d=96", ATTN_F32, 1, 777, 96, .causal = false},
    {"odd n=1000 d=100", ATTN_F32, 1, 1000, 100, .causal = false},
    {"n=1024 d=64", ATTN_F64, 1, 1024, 64, .causal = false},
    {"n=1024 d=128", ATTN_F64, 1, 1024, 128, .causal = false},
    {"n=1024 d=64", ATTN_F16, 1, 1024, 64, .causal = false},
    {"n=1024 d=64", ATTN_BF16, 1, 1024, 64, .causal = false},
    {"n=1024 d=64 heads=8/2", ATTN_F32, 8, 1024, 64, .kv_heads = 2},
    {"n=1024 d=64 heads=8/2 causal", ATTN_F32, 8, 1024, 64, .kv_heads = 2, .causal = true},
    {"n=512 d=64 kept weights", ATTN_F32, 1, 512, 64, .kept = true},
    {"n=512 d=128 kept weights", ATTN_F32, 1, 512, 128, .kept = true},
    {"n=1024 d=64 kept weights", ATTN_F32, 1, 1024, 64, .kept = true},
    {"n=1024 d=128 kept weights", ATTN_F32, 1, 1024, 128, .kept = true},
    {"n=65536 d=64 window 256", ATTN_F32, 1, 65536, 64, .window = 256},
    {"n=4096 d=64 threads", ATTN_F32, 1, 4096, 64, .threaded = true},
    {"n=4096 d=64 causal threads", ATTN_F32, 1, 4096, 64, .causal = true, .threaded = true},
    {"n=1024 d=64 heads=8 threads", ATTN_F32, 8, 1024, 64, .threaded = true},
};

static attn_status keep_weights(bench_setting *s) {
    ATTN_TRY(attn_saved_size(s->ctx, &s->args, &s->args.saved_size, &s->error));
    s->args.saved = bench_tensor(s, ATTN_F32, 1, 1, (int64_t)(s->args.saved_size + 3) / 4).data;
    return s->args.saved ? ATTN_OK : ATTN_E_MEMORY;
}

/* The forward pass, whose results backward starts from, and memory for the gradients. */
static attn_status prepare(bench_setting *s) {
    const bench_problem *p = s->p;
    const int64_t kv_heads = s->args.k.shape[1];
    attn_results_init(&s->results);
    s->results.lse = bench_tensor(s, ATTN_F64, p->heads, p->n, 1);
    s->results.dout = bench_tensor(s, p->dtype, p->heads, p->n, p->d);
    attn_gradients_init(&s->gradients);
    s->gradients.dq = bench_tensor(s, p->dtype, p->heads, p->n, p->d);
    s->gradients.dk = bench_tensor(s, p->dtype, kv_heads, p->n, p->d);
    s->gradients.dv = bench_tensor(s, p->dtype, kv_heads, p->n, p->d);
    s->results.out = s->out;
    if (p->kept) ATTN_TRY(keep_weights(s));
    return attn_forward(s->ctx, &s->args, &s->out, &s->results.lse, &s->error);
}

static void run_attn(void *arg) {
    bench_setting *s = arg;
    s->status = attn_backward(s->ctx, &s->args, &s->results, &s->gradients, &s->error);
}

/* -------------------------------------------------------------------------------- peer */

static float dot(const float *a, const float *b, int64_t n) {
    float sum = 0;
    for (int64_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* dweights (n, n) becomes scale times the gradient of the scores:
 * scale * weights * (dweights - dout . out of the row). */
static void differentiate_softmax(const bench_setting *s, int64_t head) {
    const bench_problem *p = s->p;
    const float scale = 1 / sqrtf((float)p->d);
    const float *out = bench_head(&s->out, head), *dout = bench_head(&s->results.dout, head);
    for (int64_t i = 0; i < p->n; i++) {
        const float *weights = s->dense[0] + i * p->n;
        float *d = s->dense[1] + i * p->n;
        const float delta = dot(out + i * p->d, dout + i * p->d, p->d);
        for (int64_t j = 0; j < p->n; j++) d[j] = scale * weights[j] * (d[j] - delta);
    }
}

/* C (n, d) = A B or A^T B, with A (n, n) and B (n, d): the products that end in a gradient. */
static void gradient(const bench_problem *p, const float *a, const float *b, float *c,
                     bool transpose, bool add) {
    blas_sgemm(&(blas_sgemm_args){.m = p->n,
                                  .n = p->d,
                                  .k = p->n,
                                  .alpha = 1,
                                  .a = a,
                                  .b = b,
                                  .c = c,
                                  .transpose_a = transpose,
                                  .add = add});
}

/* C (n, n) = alpha A B^T, with A and B (n, d): the two that make a matrix. */
static void matrix(const bench_problem *p, float alpha, const float *a, const float *b, float *c) {
    blas_sgemm(&(blas_sgemm_args){.m = p->n,
                                  .n = p->n,
                                  .k = p->d,
                                  .alpha = alpha,
                                  .a = a,
                                  .b = b,
                                  .transpose_b = true,
                                  .c = c});
}

static void run_peer(void *arg) {
    bench_setting *s = arg;
    const bench_problem *p = s->p;
    const int64_t n = p->n, group = p->heads / s->args.k.shape[1];
    float *weights = s->dense[0], *scores = s->dense[1];
    for (int64_t h = 0; h < p->heads; h++) {
        const bool add = h % group > 0; /* query heads of a group share dk and dv */
        const float *q = bench_head(&s->args.q, h), *k = bench_head(&s->args.k, h / group);
        const float *v = bench_head(&s->args.v, h / group), *dout = bench_head(&s->results.dout, h);
        if (!s->peer_kept) {
            matrix(p, 1 / sqrtf((float)p->d), q, k, weights);
            for (int64_t i = 0; i < n; i++)
                bench_softmax(weights + i * n, n, p->causal ? i + 1 : n);
            s->peer_kept = p->kept;
        }
        gradient(p, weights, dout, bench_head(&s->gradients.dv, h / group), true, add);
        matrix(p, 1, dout, v, scores);
        differentiate_softmax(s, h);
        gradient(p, scores, k, bench_head(&s->gradients.dq, h), false, false);
        gradient(p, scores, q, bench_head(&s->gradients.dk, h / group), true, add);
    }
}

/* Kept weights save one of five products. */
static double flops_of(const attn_cost_info *cost, const bench_problem *p) {
    return p->kept ? cost->flops_backward * 4 / 5 : cost->flops_backward;
}

int bench_backward(const bench_options *o) {
    static const bench_kind kind = {
        .prepare = prepare, .run = run_attn, .peer = run_peer, .dense = 2, .flops = flops_of};
    bench_table table;
    bench_table_begin(&table, o, "backward", "OpenBLAS", BENCH_FLOPS);
    return bench_measure(&kind, problems, sizeof problems / sizeof *problems, &table);
}
