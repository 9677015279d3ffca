/* SPDX-License-Identifier: Apache-2.0 */
/* bench.h - what the benchmarks share: options, and a table that becomes text or JSON. Called
 * by: bench_*.c */
#ifndef CLI_BENCH_H
#define CLI_BENCH_H

#include "bench/bench_time.h"
#include "shared/options.h"
#include "shared/out.h"

typedef struct bench_options {
    cli_common common;
    const char *isa_name;
    int64_t threads; /* of the threaded rows */
    double seconds;  /* per row */
    const char *only;
    bool no_peers;
    attn_isa isa; /* resolved */
} bench_options;

/* One measured row. */
typedef struct bench_row {
    char name[48];
    const char *dtype;
    int threads;
    double work;            /* flops, or bytes */
    bench_times ours, peer; /* peer.n == 0: none */
    double peak;            /* of one core, in work per second */
    const char *remark;     /* or NULL */
} bench_row;

/* What the figures of a table are. */
typedef enum bench_unit {
    BENCH_FLOPS,   /* GFLOP/s, as fractions of the multiply-add limit */
    BENCH_LATENCY, /* times, as multiples of that limit */
    BENCH_BYTES    /* GB/s, as fractions of the rate of a plain read, which is the peer */
} bench_unit;

/* Collects rows; prints them as they come, or all of them as JSON at the end. */
typedef struct bench_table {
    const bench_options *options;
    const char *what, *peer;
    bench_unit unit;
    json_t *rows;
    int n;
} bench_table;

void bench_table_begin(bench_table *table, const bench_options *options, const char *what,
                       const char *peer, bench_unit unit);
void bench_table_add(bench_table *table, const bench_row *row);
int bench_table_end(bench_table *table);

/* Is the row asked for (--only)? */
bool bench_wanted(const bench_options *options, const char *name);
/* Called before each row: says on a terminal what is being measured. */
void bench_progress(const bench_options *options, const char *name);

int bench_forward(const bench_options *options);
int bench_backward(const bench_options *options);
int bench_small(const bench_options *options);
int bench_gemm(const bench_options *options);
int bench_decode(const bench_options *options);

#endif
