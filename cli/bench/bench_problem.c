/* SPDX-License-Identifier: Apache-2.0 */
/* bench_problem.c - see bench_problem.h. Tests: tests/cli/test_cli.py */
#include "bench/bench_problem.h"

#include "bench/blas.h"
#include "core/os.h"
#include "lab/support/uniform.h"

#include <math.h>
#include <stdlib.h>

attn_tensor bench_tensor(bench_setting *s, attn_dtype dtype, int64_t heads, int64_t n, int64_t d) {
    const int64_t count = heads * n * d;
    const size_t bytes = (size_t)count * attn_dtype_size(dtype);
    attni_assert(s->n_blocks < BENCH_MAX_BLOCKS);
    void *data = attni_memory_alloc(bytes, 64); /* as NumPy and PyTorch do */
    s->block[s->n_blocks++] = data;
    if (data) lab_uniform_fill(data, dtype, count, (uint64_t)s->n_blocks);
    return attn_tensor_bhsd(data, dtype, 1, heads, n, d);
}

static attn_status set_pattern(bench_setting *s) {
    const bench_problem *p = s->p;
    if (!p->pattern) return ATTN_OK;
    const attn_status status =
        p->pattern[0] == 'l'
            ? attn_pattern_longformer(p->n, 256, 64, NULL, &s->pattern, &s->error)
            : attn_pattern_bigbird(p->n, 64, 3, 2, 3, 1, NULL, &s->pattern, &s->error);
    s->args.pattern = s->pattern;
    return status;
}

static attn_status set_up(bench_setting *s, const bench_problem *p, const bench_options *o) {
    *s = (bench_setting){.p = p};
    const int64_t kv_heads = p->kv_heads ? p->kv_heads : p->heads;
    attn_ctx_options wish;
    attn_ctx_options_init(&wish);
    wish.isa = o->isa;
    wish.threads = p->threaded ? (int)o->threads : 1;
    ATTN_TRY(attn_ctx_create(&wish, &s->ctx, &s->error));
    attn_args_init(&s->args);
    s->args.q = bench_tensor(s, p->dtype, p->heads, p->n, p->d);
    s->args.k = bench_tensor(s, p->dtype, kv_heads, p->n, p->d);
    s->args.v = bench_tensor(s, p->dtype, kv_heads, p->n, p->d);
    s->out = bench_tensor(s, p->dtype, p->heads, p->n, p->d);
    s->args.causal = p->causal;
    if (p->window > 0) {
        s->args.causal = 1;
        s->args.window_left = p->window;
    }
    return set_pattern(s);
}

static attn_status check_memory(const bench_setting *s) {
    for (int i = 0; i < s->n_blocks; i++)
        if (!s->block[i]) return ATTN_E_MEMORY;
    return ATTN_OK;
}

static void tear_down(bench_setting *s) {
    for (int i = 0; i < s->n_blocks; i++) attni_memory_free(s->block[i]);
    for (int i = 0; i < 2; i++) free(s->dense[i]);
    attn_pattern_destroy(s->pattern);
    attn_ctx_destroy(s->ctx);
}

/* ------------------------------------------------------------------------------- peer */

float *bench_head(const attn_tensor *t, int64_t head) {
    return (float *)t->data + head * t->stride[1];
}

void bench_softmax(float *row, int64_t n, int64_t visible) {
    float max = row[0], sum = 0;
    for (int64_t j = 1; j < visible; j++) max = row[j] > max ? row[j] : max;
    for (int64_t j = 0; j < visible; j++) {
        row[j] = expf(row[j] - max);
        sum += row[j];
    }
    for (int64_t j = 0; j < visible; j++) row[j] /= sum;
    for (int64_t j = visible; j < n; j++) row[j] = 0;
}

/* True if the peer can take part; its matrices are then there. */
static bool set_peer(bench_setting *s, const bench_kind *kind, const bench_options *o) {
    const bench_problem *p = s->p;
    if (o->no_peers || p->dtype != ATTN_F32 || p->n > 8192 || p->pattern || p->window > 0 ||
        !blas_open(p->threaded ? (int)o->threads : 1))
        return false;
    for (int i = 0; i < kind->dense; i++) {
        s->dense[i] = malloc((size_t)(p->n * p->n) * sizeof(float));
        if (!s->dense[i]) return false;
    }
    return true;
}

/* ------------------------------------------------------------------------------- rows */

static void add_row(const bench_setting *s, double flops, const bench_times *times,
                    bench_table *table) {
    const bench_problem *p = s->p;
    bench_row row = {.dtype = attn_dtype_name(p->dtype),
                     .threads = attn_ctx_threads(s->ctx),
                     .work = flops,
                     .ours = times[0],
                     .peer = times[1],
                     .peak = bench_peak(table->options->isa, p->dtype == ATTN_F64)};
    snprintf(row.name, sizeof row.name, "%s", p->name);
    bench_table_add(table, &row);
}

static int measure(const bench_kind *kind, const bench_problem *p, bench_table *table) {
    const bench_options *o = table->options;
    bench_setting s;
    attn_cost_info cost = {.struct_size = sizeof cost};
    bench_times times[BENCH_CONTENDERS] = {{0}};
    bench_progress(o, p->name);
    attn_status status = set_up(&s, p, o);
    if (status == ATTN_OK && kind->prepare) status = kind->prepare(&s);
    if (status == ATTN_OK) status = check_memory(&s);
    if (status == ATTN_OK) status = attn_cost(s.ctx, &s.args, &cost, &s.error);
    const double flops = kind->flops(&cost, p);
    if (status == ATTN_OK) {
        const bool peer = set_peer(&s, kind, o);
        const bench_contender contenders[BENCH_CONTENDERS] = {{"attn", kind->run, &s, flops},
                                                              {"OpenBLAS", kind->peer, &s, flops}};
        bench_race(contenders, peer ? 2 : 1, o->seconds, p->threaded, o->isa, p->dtype == ATTN_F64,
                   times);
        status = s.status;
    }
    if (status == ATTN_OK)
        add_row(&s, flops, times, table);
    else
        out_error("bench", "%s: %s", p->name,
                  *s.error.message ? s.error.message : attn_strerror(status));
    tear_down(&s);
    return cli_code_of(status);
}

int bench_measure(const bench_kind *kind, const bench_problem *problems, size_t n,
                  bench_table *table) {
    for (size_t i = 0; i < n; i++) {
        if (!bench_wanted(table->options, problems[i].name)) continue;
        const int code = measure(kind, &problems[i], table);
        if (code != CLI_OK) return code;
    }
    return bench_table_end(table);
}
