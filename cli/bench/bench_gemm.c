/* SPDX-License-Identifier: Apache-2.0 */
/* bench_gemm.c - `attn bench gemm`: C = A B by the attention micro-kernel against OpenBLAS
 * sgemm. */
#include "attention/context.h"
#include "bench/bench.h"
#include "bench/blas.h"
#include "core/os.h"
#include "lab/support/uniform.h"
#include "layers/gemm.h"

#include <stdlib.h>

typedef enum form { AB, ABT, ATB } form; /* A B, A B^T, A^T B: a layer and its two gradients */

typedef struct product {
    int64_t m, k, n;
    form form;
    bool threaded;
} product;

static const product products[] = {
    {512, 512, 512, AB, false},  {1024, 64, 1024, AB, false}, {4096, 512, 512, AB, false},
    {64, 512, 512, AB, false},   {777, 100, 333, AB, false},  {512, 512, 512, ABT, false},
    {512, 512, 512, ATB, false}, {768, 32, 32, AB, false},    {768, 32, 128, AB, false},
    {768, 128, 32, AB, false},   {768, 32, 128, ABT, false},  {768, 128, 32, ABT, false},
    {32, 768, 32, ATB, false},   {32, 768, 128, ATB, false},  {128, 768, 32, ATB, false},
    {2048, 64, 256, AB, false},  {2048, 256, 64, ABT, false}, {64, 2048, 256, ATB, false},
    {1024, 16, 96, AB, false},   {4096, 512, 512, AB, true},  {2048, 64, 256, AB, true},
    {64, 2048, 256, ATB, true},
};

static const char *const form_names[] = {"", " A B^T", " A^T B"};

typedef struct setting {
    attn_ctx *ctx;
    attni_gemm gemm;
    blas_sgemm_args blas;
    float *memory[3]; /* a, b, c */
    void *scratch;
    attn_isa isa;
} setting;

static void run_attn(void *arg) {
    const setting *s = arg;
    attni_gemm_run(attni_ctx_pool(s->ctx), attni_ctx_kernels(s->ctx, false), false, &s->gemm,
                   s->scratch);
}

static void run_peer(void *arg) { blas_sgemm(&((const setting *)arg)->blas); }

static bool set_up(setting *s, const product *p, const bench_options *o) {
    attn_ctx_options wish;
    attn_ctx_options_init(&wish);
    wish.isa = o->isa;
    wish.threads = p->threaded ? (int)o->threads : 1;
    *s = (setting){0};
    if (attn_ctx_create(&wish, &s->ctx, NULL) != ATTN_OK) return false;
    const int64_t sizes[3] = {p->m * p->k, p->k * p->n, p->m * p->n};
    for (int i = 0; i < 3; i++) {
        const size_t bytes = (size_t)sizes[i] * sizeof(float);
        s->memory[i] = attni_memory_alloc(bytes, 64); /* as tensors should be */
        if (!s->memory[i]) return false;
        lab_uniform_fill(s->memory[i], ATTN_F32, sizes[i], (uint64_t)i + 1);
    }
    s->gemm = (attni_gemm){.m = p->m,
                           .n = p->n,
                           .k = p->k,
                           .a = s->memory[0],
                           .a_row = p->form == ATB ? 1 : p->k,
                           .a_column = p->form == ATB ? p->m : 1,
                           .b = s->memory[1],
                           .b_row = p->form == ABT ? 1 : p->n,
                           .b_column = p->form == ABT ? p->k : 1,
                           .c = s->memory[2],
                           .c_row = p->n};
    s->scratch = attni_memory_alloc(
        attni_gemm_scratch(attni_ctx_kernels(s->ctx, false), false, &s->gemm, wish.threads), 64);
    s->blas = (blas_sgemm_args){.transpose_a = p->form == ATB,
                                .transpose_b = p->form == ABT,
                                .m = p->m,
                                .n = p->n,
                                .k = p->k,
                                .alpha = 1,
                                .a = s->memory[0],
                                .b = s->memory[1],
                                .c = s->memory[2]};
    return s->scratch != NULL;
}

static void tear_down(setting *s) {
    for (int i = 0; i < 3; i++) attni_memory_free(s->memory[i]);
    attni_memory_free(s->scratch);
    attn_ctx_destroy(s->ctx);
}

static int measure(const product *p, bench_table *table) {
    const bench_options *o = table->options;
    bench_row row = {.dtype = "f32", .work = 2.0 * (double)p->m * (double)p->n * (double)p->k};
    snprintf(row.name, sizeof row.name, "%lldx%lldx%lld%s%s", (long long)p->m, (long long)p->k,
             (long long)p->n, form_names[p->form], p->threaded ? " threads" : "");
    if (!bench_wanted(o, row.name)) return CLI_OK;
    bench_progress(o, row.name);
    setting s;
    bench_times times[BENCH_CONTENDERS] = {{0}};
    const bool ready = set_up(&s, p, o);
    if (ready) {
        const bool peer = !o->no_peers && blas_open(p->threaded ? (int)o->threads : 1);
        const bench_contender contenders[BENCH_CONTENDERS] = {{"attn", run_attn, &s, row.work},
                                                              {"OpenBLAS", run_peer, &s, row.work}};
        bench_race(contenders, peer ? 2 : 1, o->seconds, p->threaded, o->isa, false, times);
        row.threads = attn_ctx_threads(s.ctx);
        row.ours = times[0];
        row.peer = times[1];
        row.peak = bench_peak(o->isa, false);
        bench_table_add(table, &row);
    } else {
        out_error("bench", "%s: out of memory", row.name);
    }
    tear_down(&s);
    return ready ? CLI_OK : CLI_FAILED;
}

int bench_gemm(const bench_options *o) {
    bench_table table;
    bench_table_begin(&table, o, "gemm", "OpenBLAS", BENCH_FLOPS);
    for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
        const int code = measure(&products[i], &table);
        if (code != CLI_OK) return code;
    }
    return bench_table_end(&table);
}
