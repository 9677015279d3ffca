/* SPDX-License-Identifier: Apache-2.0 */
/* bench_forward.c - `attn bench forward` and `attn bench small`. The peer is what one writes
 * without this library: two calls of OpenBLAS and a softmax in C over a full n x n matrix. */
#include "bench/bench_problem.h"
#include "bench/blas.h"

#include <math.h>

static const bench_problem forward_problems[] = {
    {"n=128 d=64", ATTN_F32, 8, 128, 64, .causal = false},
    {"n=128 d=128", ATTN_F32, 8, 128, 128, .causal = false},
    {"n=512 d=64", ATTN_F32, 1, 512, 64, .causal = false},
    {"n=512 d=128", ATTN_F32, 1, 512, 128, .causal = false},
    {"n=1024 d=64", ATTN_F32, 1, 1024, 64, .causal = false},
    {"n=1024 d=128", ATTN_F32, 1, 1024, 128, .causal = false},
    {"n=4096 d=64", ATTN_F32, 1, 4096, 64, .causal = false},
    {"n=4096 d=128", ATTN_F32, 1, 4096, 128, .causal = false},
    {"n=1024 d=64 causal", ATTN_F32, 1, 1024, 64, .causal = true},
    {"n=1024 d=128 causal", ATTN_F32, 1, 1024, 128, .causal = true},
    {"n=4096 d=64 causal", ATTN_F32, 1, 4096, 64, .causal = true},
    {"n=4096 d=128 causal", ATTN_F32, 1, 4096, 128, .causal = true},
    {"odd n=1000 d=40", ATTN_F32, 1, 1000, 40, .causal = false},
    {"odd n=777 d=40", ATTN_F32, 1, 777, 40, .causal = false},
    {"odd n=1000 d=72", ATTN_F32, 1, 1000, 72, .causal = false},
    {"odd n=777 d=72", ATTN_F32, 1, 777, 72, .causal = false},
    {"odd n=1000 d=80", ATTN_F32, 1, 1000, 80, .causal = false},
    {"odd n=777 d=80", ATTN_F32, 1, 777, 80, .causal = false},
    {"odd n=1000 d=96", ATTN_F32, 1, 1000, 96, .causal = false},
    {"odd n=777 d=96", ATTN_F32, 1, 777, 96, .causal = false},
    {"odd n=1000 d=100", ATTN_F32, 1, 1000, 100, .causal = false},
    {"odd n=777 d=100", ATTN_F32, 1, 777, 100, .causal = false},
    {"n=1024 d=64", ATTN_F64, 1, 1024, 64, .causal = false},
    {"n=1024 d=128", ATTN_F64, 1, 1024, 128, .causal = false},
    {"n=1024 d=64", ATTN_F16, 1, 1024, 64, .causal = false},
    {"n=1024 d=64", ATTN_BF16, 1, 1024, 64, .causal = false},
    {"n=65536 d=64 window 256", ATTN_F32, 1, 65536, 64, .window = 256},
    {"n=65536 d=64 longformer 256,64", ATTN_F32, 1, 65536, 64, .pattern = "longformer"},
    {"n=65536 d=64 bigbird 64,3,2,3", ATTN_F32, 1, 65536, 64, .pattern = "bigbird"},
    {"n=4096 d=64 threads", ATTN_F32, 1, 4096, 64, .threaded = true},
    {"n=4096 d=64 causal threads", ATTN_F32, 1, 4096, 64, .causal = true, .threaded = true},
    {"n=1024 d=64 heads=8 threads", ATTN_F32, 8, 1024, 64, .threaded = true},
};

static const bench_problem small_problems[] = {
    {"N=1", ATTN_F32, 8, 1, 64, .causal = false},
    {"N=4", ATTN_F32, 8, 4, 64, .causal = false},
    {"N=16", ATTN_F32, 8, 16, 64, .causal = false},
    {"N=64", ATTN_F32, 8, 64, 64, .causal = false},
    {"N=128", ATTN_F32, 8, 128, 64, .causal = false},
    {"N=16 causal", ATTN_F32, 8, 16, 64, .causal = true},
    {"N=64 causal", ATTN_F32, 8, 64, 64, .causal = true},
    {"N=128 causal", ATTN_F32, 8, 128, 64, .causal = true},
};

static void run_attn(void *arg) {
    bench_setting *s = arg;
    s->status = attn_forward(s->ctx, &s->args, &s->out, NULL, &s->error);
}

static void run_peer(void *arg) {
    bench_setting *s = arg;
    const bench_problem *p = s->p;
    float *weights = s->dense[0];
    for (int64_t h = 0; h < p->heads; h++) {
        blas_sgemm(&(blas_sgemm_args){.m = p->n,
                                      .n = p->n,
                                      .k = p->d,
                                      .alpha = 1 / sqrtf((float)p->d),
                                      .a = bench_head(&s->args.q, h),
                                      .b = bench_head(&s->args.k, h),
                                      .transpose_b = true,
                                      .c = weights});
        for (int64_t i = 0; i < p->n; i++)
            bench_softmax(weights + i * p->n, p->n, p->causal ? i + 1 : p->n);
        blas_sgemm(&(blas_sgemm_args){.m = p->n,
                                      .n = p->d,
                                      .k = p->n,
                                      .alpha = 1,
                                      .a = weights,
                                      .b = bench_head(&s->args.v, h),
                                      .c = bench_head(&s->out, h)});
    }
}

static double flops_of(const attn_cost_info *cost, const bench_problem *p) {
    (void)p;
    return cost->flops;
}

static const bench_kind forward_kind = {
    .run = run_attn, .peer = run_peer, .dense = 1, .flops = flops_of};

int bench_forward(const bench_options *o) {
    bench_table table;
    bench_table_begin(&table, o, "forward", "OpenBLAS", BENCH_FLOPS);
    return bench_measure(&forward_kind, forward_problems,
                         sizeof forward_problems / sizeof *forward_problems, &table);
}

int bench_small(const bench_options *o) {
    bench_table table;
    bench_table_begin(&table, o, "small", "OpenBLAS", BENCH_LATENCY);
    return bench_measure(&forward_kind, small_problems,
                         sizeof small_problems / sizeof *small_problems, &table);
}
