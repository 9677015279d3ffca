/* SPDX-License-Identifier: Apache-2.0 */
/* bench_decode.c - `attn bench decode`: one new query on many keys, as in text generation. The
 * limit is memory: figures are fractions of the rate at which the same bytes are merely read, by as
 * many threads, in the same run. */
#include "attention/context.h"
#include "bench/bench.h"
#include "core/os.h"
#include "lab/support/uniform.h"

#include <string.h>

typedef struct decode_problem {
    const char *name;
    attn_dtype dtype;
    int64_t batch, heads, kv_heads, n;
    bool
        token_major; /* (batch, row, head, column) in memory instead of (batch, head, row, column) */
    bool threaded;
} decode_problem;

enum { HEAD_SIZE = 128 };

static const decode_problem problems[] = {
    {"n=1024 H=32/8", ATTN_F32, 1, 32, 8, 1024, false, false},
    {"n=1024 H=32/8", ATTN_F16, 1, 32, 8, 1024, false, false},
    {"n=8192 H=32/8", ATTN_F32, 1, 32, 8, 8192, false, false},
    {"n=8192 H=32/8", ATTN_F16, 1, 32, 8, 8192, false, false},
    {"n=65536 H=32/8", ATTN_F32, 1, 32, 8, 65536, false, false},
    {"n=65536 H=32/8", ATTN_F16, 1, 32, 8, 65536, false, false},
    {"n=65536 H=32/8", ATTN_BF16, 1, 32, 8, 65536, false, false},
    {"n=65536 H=32/8 token-major", ATTN_F32, 1, 32, 8, 65536, true, false},
    {"n=65536 H=32/8 token-major", ATTN_F16, 1, 32, 8, 65536, true, false},
    {"n=65536 H=8/8", ATTN_F32, 1, 8, 8, 65536, false, false},
    {"n=65536 H=8/1", ATTN_F32, 1, 8, 1, 65536, false, false},
    {"batch 16, n=4096 H=32/8", ATTN_F32, 16, 32, 8, 4096, false, false},
    {"n=65536 H=32/8 threads", ATTN_F32, 1, 32, 8, 65536, false, true},
    {"n=65536 H=8/1 threads", ATTN_F32, 1, 8, 1, 65536, false, true},
    {"batch 16, n=4096 H=32/8 threads", ATTN_F32, 16, 32, 8, 4096, false, true},
};

typedef struct setting {
    attn_ctx *ctx;
    attn_args args;
    attn_tensor out;
    void *memory[4]; /* q, k, v, out */
    size_t bytes;    /* of k, and of v */
    attn_error error;
    attn_status status;
} setting;

static void run_attn(void *arg) {
    setting *s = arg;
    s->status = attn_forward(s->ctx, &s->args, &s->out, NULL, &s->error);
}

enum { READ_BLOCK = 1 << 20 };

static void read_block(void *arg, int64_t task, int worker) {
    const setting *s = arg;
    const size_t blocks = (s->bytes + READ_BLOCK - 1) / READ_BLOCK, block = (size_t)task % blocks,
                 first = block * READ_BLOCK;
    const size_t bytes = first + READ_BLOCK <= s->bytes ? READ_BLOCK : s->bytes - first;
    const char *from = (const char *)s->memory[(size_t)task < blocks ? 1 : 2] + first;
    (void)worker;
    attni_ctx_kernels(s->ctx, false)->read((int64_t)(bytes / sizeof(float)), from);
}

static void run_read(void *arg) {
    setting *s = arg;
    const int64_t blocks = (int64_t)((s->bytes + READ_BLOCK - 1) / READ_BLOCK);
    attni_parallel(attni_ctx_pool(s->ctx), attn_ctx_threads(s->ctx), 2 * blocks, read_block, s);
}

static attn_tensor make_tensor(setting *s, int which, const decode_problem *p, int64_t heads,
                               int64_t n) {
    const int64_t count = p->batch * heads * n * HEAD_SIZE;
    const size_t bytes = (size_t)count * attn_dtype_size(p->dtype);
    void *data = s->memory[which] = attni_memory_alloc(bytes, 64);
    if (!data) s->status = ATTN_E_MEMORY;
    if (data) lab_uniform_fill(data, p->dtype, count, (uint64_t)which + 1);
    return (p->token_major ? attn_tensor_bshd : attn_tensor_bhsd)(data, p->dtype, p->batch, heads,
                                                                  n, HEAD_SIZE);
}

static attn_status set_up(setting *s, const decode_problem *p, const bench_options *o) {
    attn_ctx_options wish;
    *s = (setting){.status = ATTN_OK};
    attn_ctx_options_init(&wish);
    wish.isa = o->isa;
    wish.threads = p->threaded ? (int)o->threads : 1;
    ATTN_TRY(attn_ctx_create(&wish, &s->ctx, &s->error));
    attn_args_init(&s->args);
    s->args.q = make_tensor(s, 0, p, p->heads, 1);
    s->args.k = make_tensor(s, 1, p, p->kv_heads, p->n);
    s->args.v = make_tensor(s, 2, p, p->kv_heads, p->n);
    s->out = make_tensor(s, 3, p, p->heads, 1);
    s->bytes = (size_t)(p->batch * p->kv_heads * p->n * HEAD_SIZE) * attn_dtype_size(p->dtype);
    return s->status;
}

static void tear_down(setting *s) {
    for (int i = 0; i < 4; i++) attni_memory_free(s->memory[i]);
    attn_ctx_destroy(s->ctx);
}

static int measure(const decode_problem *p, bench_table *table) {
    const bench_options *o = table->options;
    bench_row row = {.dtype = attn_dtype_name(p->dtype)};
    snprintf(row.name, sizeof row.name, "%s", p->name);
    if (!bench_wanted(o, row.name)) return CLI_OK;
    bench_progress(o, row.name);
    setting s;
    bench_times times[BENCH_CONTENDERS] = {{0}};
    attn_status status = set_up(&s, p, o);
    if (status == ATTN_OK) {
        row.work = 2 * (double)s.bytes;
        const bench_contender contenders[BENCH_CONTENDERS] = {{"attn", run_attn, &s, row.work},
                                                              {"read", run_read, &s, row.work}};
        bench_race(contenders, 2, o->seconds, p->threaded, o->isa, false, times);
        status = s.status;
    }
    if (status == ATTN_OK) {
        row.threads = attn_ctx_threads(s.ctx);
        row.ours = times[0];
        row.peer = times[1];
        row.peak = row.work / times[1].best / row.threads;
        bench_table_add(table, &row);
    } else {
        out_error("bench", "%s: %s", row.name,
                  *s.error.message ? s.error.message : attn_strerror(status));
    }
    tear_down(&s);
    return cli_code_of(status);
}

int bench_decode(const bench_options *o) {
    bench_table table;
    bench_table_begin(&table, o, "decode", "read", BENCH_BYTES);
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        const int code = measure(&problems[i], &table);
        if (code != CLI_OK) return code;
    }
    return bench_table_end(&table);
}
