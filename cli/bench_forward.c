/* SPDX-License-Identifier: Apache-2.0 */
/* bench_forward.c - `attn bench forward` and `attn bench small`. The peer is what one writes
 * without this library: two calls of OpenBLAS and a softmax in C over a full n x n matrix. */
#include "bench.h"
#include "blas.h"
#include "core/base.h" /* ATTN_TRY */

#include <math.h>
#include <stdlib.h>

typedef struct problem {
    const char *name;
    attn_dtype dtype;
    int64_t heads, n, d;
    bool causal;
    int64_t window;      /* keys on the left, 0 = none */
    const char *pattern; /* "longformer", "bigbird" or NULL */
    bool threaded;       /* on all threads, by the wall clock */
} problem;

static const problem forward_problems[] = {
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

static const problem small_problems[] = {
    {"N=1", ATTN_F32, 8, 1, 64, .causal = false},
    {"N=4", ATTN_F32, 8, 4, 64, .causal = false},
    {"N=16", ATTN_F32, 8, 16, 64, .causal = false},
    {"N=64", ATTN_F32, 8, 64, 64, .causal = false},
    {"N=128", ATTN_F32, 8, 128, 64, .causal = false},
    {"N=16 causal", ATTN_F32, 8, 16, 64, .causal = true},
    {"N=64 causal", ATTN_F32, 8, 64, 64, .causal = true},
    {"N=128 causal", ATTN_F32, 8, 128, 64, .causal = true},
};

/* A problem with its memory. */
typedef struct setting {
    const problem *p;
    attn_ctx *ctx;
    attn_args args;
    attn_tensor out;
    attn_mask *mask;
    void *memory[4]; /* q, k, v, out */
    float *dense;    /* (n, n) of the peer */
    attn_error error;
    attn_status status;
} setting;

static bool set_memory(setting *s) {
    const problem *p = s->p;
    const int64_t n = p->heads * p->n * p->d;
    for (int i = 0; i < 4; i++) {
        const size_t bytes = (size_t)n * attn_dtype_size(p->dtype);
        s->memory[i] = aligned_alloc(64, (bytes + 63) / 64 * 64); /* as NumPy and PyTorch do */
        if (!s->memory[i]) return false;
        bench_fill(s->memory[i], p->dtype, n, (uint64_t)i + 1);
    }
    return true;
}

static attn_status set_mask(setting *s) {
    const problem *p = s->p;
    if (!p->pattern) return ATTN_OK;
    const attn_status status = p->pattern[0] == 'l'
                                   ? attn_mask_longformer(p->n, 256, 64, &s->mask, &s->error)
                                   : attn_mask_bigbird(p->n, 64, 3, 2, 3, 1, &s->mask, &s->error);
    s->args.pattern = s->mask;
    return status;
}

static attn_status set_up(setting *s, const problem *p, const bench_options *o) {
    *s = (setting){.p = p};
    attn_ctx_options wish;
    attn_ctx_options_init(&wish);
    wish.isa = o->isa;
    wish.threads = p->threaded ? (int)o->threads : 1;
    ATTN_TRY(attn_ctx_create(&wish, &s->ctx, &s->error));
    if (!set_memory(s)) return ATTN_E_MEMORY;
    attn_args_init(&s->args);
    s->args.q = attn_tensor_bhsd(s->memory[0], p->dtype, 1, p->heads, p->n, p->d);
    s->args.k = attn_tensor_bhsd(s->memory[1], p->dtype, 1, p->heads, p->n, p->d);
    s->args.v = attn_tensor_bhsd(s->memory[2], p->dtype, 1, p->heads, p->n, p->d);
    s->out = attn_tensor_bhsd(s->memory[3], p->dtype, 1, p->heads, p->n, p->d);
    s->args.causal = p->causal;
    if (p->window > 0) {
        s->args.causal = 1;
        s->args.window_left = p->window;
    }
    return set_mask(s);
}

static void tear_down(setting *s) {
    for (int i = 0; i < 4; i++) free(s->memory[i]);
    free(s->dense);
    attn_mask_destroy(s->mask);
    attn_ctx_destroy(s->ctx);
}

static void run_attn(void *arg) {
    setting *s = arg;
    s->status = attn_forward(s->ctx, &s->args, &s->out, NULL, &s->error);
}

/* ------------------------------------------------------------------------------- peer */

static void softmax_row(float *row, int64_t n, int64_t visible) {
    float max = row[0], sum = 0;
    for (int64_t j = 1; j < visible; j++) max = row[j] > max ? row[j] : max;
    for (int64_t j = 0; j < visible; j++) {
        row[j] = expf(row[j] - max);
        sum += row[j];
    }
    for (int64_t j = 0; j < visible; j++) row[j] /= sum;
    for (int64_t j = visible; j < n; j++) row[j] = 0;
}

static void run_peer(void *arg) {
    const setting *s = arg;
    const problem *p = s->p;
    for (int64_t h = 0; h < p->heads; h++) {
        const int64_t at = h * p->n * p->d;
        const float *q = (const float *)s->memory[0] + at, *k = (const float *)s->memory[1] + at;
        const float *v = (const float *)s->memory[2] + at;
        blas_sgemm(&(blas_sgemm_args){false, true, p->n, p->n, p->d, 1 / sqrtf((float)p->d), q, k,
                                      s->dense});
        for (int64_t i = 0; i < p->n; i++)
            softmax_row(s->dense + i * p->n, p->n, p->causal ? i + 1 : p->n);
        blas_sgemm(&(blas_sgemm_args){false, false, p->n, p->d, p->n, 1, s->dense, v,
                                      (float *)s->memory[3] + at});
    }
}

static bool has_peer(const problem *p, const bench_options *o) {
    return !o->no_peers && p->dtype == ATTN_F32 && p->n <= 8192 && !p->pattern && p->window == 0 &&
           blas_open(p->threaded ? (int)o->threads : 1);
}

/* ------------------------------------------------------------------------------- rows */

static int measure(const problem *p, bench_table *table) {
    const bench_options *o = table->options;
    setting s;
    attn_cost_info cost = {0};
    bench_times times[BENCH_CONTENDERS] = {{0}};
    bench_progress(o, p->name);
    attn_status status = set_up(&s, p, o);
    if (status == ATTN_OK) status = attn_cost(s.ctx, &s.args, &cost, &s.error);
    bool peer = status == ATTN_OK && has_peer(p, o);
    if (peer) s.dense = malloc((size_t)(p->n * p->n) * sizeof(float));
    peer = peer && s.dense;
    if (status == ATTN_OK) {
        const bench_contender contenders[BENCH_CONTENDERS] = {
            {"attn", run_attn, &s, cost.flops}, {"OpenBLAS", run_peer, &s, cost.flops}};
        bench_race(contenders, peer ? 2 : 1, o->seconds, p->threaded, o->isa, p->dtype == ATTN_F64,
                   times);
        status = s.status;
    }
    if (status == ATTN_OK) {
        bench_row row = {.dtype = attn_dtype_name(p->dtype),
                         .threads = attn_ctx_threads(s.ctx),
                         .flops = cost.flops,
                         .ours = times[0],
                         .peer = times[1],
                         .peak = bench_peak(o->isa, p->dtype == ATTN_F64)};
        snprintf(row.name, sizeof row.name, "%s", p->name);
        bench_table_add(table, &row);
    } else {
        out_error("bench", "%s: %s", p->name,
                  *s.error.message ? s.error.message : attn_strerror(status));
    }
    tear_down(&s);
    return cli_code_of(status);
}

static int measure_all(const problem *problems, size_t n, bench_table *table) {
    for (size_t i = 0; i < n; i++) {
        if (!bench_wanted(table->options, problems[i].name)) continue;
        const int code = measure(&problems[i], table);
        if (code != CLI_OK) return code;
    }
    return bench_table_end(table);
}

int bench_forward(const bench_options *o) {
    bench_table table;
    bench_table_begin(&table, o, "forward", "OpenBLAS", false);
    return measure_all(forward_problems, sizeof forward_problems / sizeof *forward_problems,
                       &table);
}

int bench_small(const bench_options *o) {
    bench_table table;
    bench_table_begin(&table, o, "small", "OpenBLAS", true);
    return measure_all(small_problems, sizeof small_problems / sizeof *small_problems, &table);
}
