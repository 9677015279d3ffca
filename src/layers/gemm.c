/* SPDX-License-Identifier: Apache-2.0 */
/* gemm.c - a task owns some rows and columns of C. For each block of k it packs its columns of B
 * once, in panels, and multiplies one block of rows of A after another with them. Sums run over k
 * in ascending order, in blocks of K_BLOCK that start from zero, however the work is split: this
 * fixes the bits. */
#include "layers/gemm.h"

#include "attention/plan.h"

/* 256 x 24 floats of B stay in L1, 128 x 256 of A in L2, 256 x 528 of B close by. */
enum { K_BLOCK = 256, ROW_BLOCK = 128, COLUMN_BLOCK = 528, FEW_COLUMNS = 96, CACHE_LINE = 64 };

/* Waking the other workers takes a few microseconds: smaller products stay on the calling
 * thread. */
static const double flops_worth_waking = 2e6;

typedef struct gemm_job {
    const attni_kernels *kernels;
    const attni_gemm *g;
    size_t real_size;
    int64_t task_rows, task_columns; /* of a task */
    int64_t row_tasks, n_tasks;
    int workers; /* threads that take part, each with its own scratch */
    char *scratch;
    size_t worker_bytes;
} gemm_job;

/* What a task works on: its part of C and the current block of k. */
typedef struct gemm_part {
    const gemm_job *job;
    int64_t row, rows, column, columns;
    int64_t k, depth;
    char *panels; /* columns of B: one panel after the other, each (depth, lanes) */
} gemm_part;

typedef struct gemm_panel {
    int vecs, lanes;
    int64_t column; /* of C */
    int n;          /* columns that C has, at most lanes */
    char *packed;   /* (depth, lanes) */
} gemm_panel;

/* ------------------------------------------------------------------------------ split */

static int64_t whole_vectors(const attni_kernels *kernels, int64_t columns) {
    return attni_ceil_div(columns, kernels->vl) * kernels->vl;
}

/* The last panel has two vectors even if one would be enough. */
static int64_t panel_columns(const attni_kernels *kernels, int64_t columns) {
    return whole_vectors(kernels, columns) + kernels->vl;
}

static size_t worker_bytes(const gemm_job *job) {
    const int64_t columns = panel_columns(job->kernels, job->task_columns);
    const size_t bytes = (size_t)columns * K_BLOCK * job->real_size;
    return (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

/* A single task with all rows packs B once. With more threads there are a few tasks per thread,
 * split by rows first, because every row task packs its own B. */
static gemm_job plan(const attni_kernels *kernels, bool f64, const attni_gemm *g, int threads) {
    gemm_job job = {.kernels = kernels, .g = g, .real_size = f64 ? sizeof(double) : sizeof(float)};
    const double flops = 2.0 * (double)g->m * (double)g->n * (double)g->k;
    const int most = flops < flops_worth_waking ? 1 : threads;
    const int64_t few = most == 1 ? 1 : 3 * most;
    int64_t row_tasks = 1, column_tasks = attni_max(1, attni_ceil_div(g->n, COLUMN_BLOCK));
    while (row_tasks * column_tasks < few && g->m / row_tasks > ROW_BLOCK) row_tasks *= 2;
    while (row_tasks * column_tasks < few && g->n / column_tasks > FEW_COLUMNS) column_tasks *= 2;
    job.task_rows = attni_max(1, attni_ceil_div(g->m, row_tasks));
    job.task_columns = attni_max(1, whole_vectors(kernels, attni_ceil_div(g->n, column_tasks)));
    job.row_tasks = attni_ceil_div(g->m, job.task_rows);
    job.n_tasks = job.row_tasks * attni_ceil_div(g->n, job.task_columns);
    job.workers = (int)attni_clamp(job.n_tasks, 1, most);
    job.worker_bytes = worker_bytes(&job);
    return job;
}

static gemm_part part_of(const gemm_job *job, int64_t task, int worker) {
    const attni_gemm *g = job->g;
    gemm_part part = {.job = job,
                      .row = task % job->row_tasks * job->task_rows,
                      .column = task / job->row_tasks * job->task_columns};
    part.rows = attni_min(job->task_rows, g->m - part.row);
    part.columns = attni_min(job->task_columns, g->n - part.column);
    part.panels = job->scratch + job->worker_bytes * (size_t)worker;
    return part;
}

/* The panel that begins x columns after the first column of the part. */
static gemm_panel panel_of(const gemm_part *part, int64_t x) {
    const attni_kernels *kernels = part->job->kernels;
    const int vecs = (int)attni_max(2, attni_panel_vecs(kernels, part->columns - x)),
              lanes = vecs * kernels->vl;
    return (gemm_panel){.vecs = vecs,
                        .lanes = lanes,
                        .column = part->column + x,
                        .n = (int)attni_min(lanes, part->columns - x),
                        .packed = part->panels + (size_t)(x * part->depth) * part->job->real_size};
}

/* ------------------------------------------------------------------------------- pack */

static const char *element(const void *matrix, int64_t index, size_t real_size) {
    return (const char *)matrix + index * (int64_t)real_size;
}

static void pack_panels(const gemm_part *part) {
    const attni_gemm *g = part->job->g;
    for (int64_t x = 0; x < part->columns;) {
        const gemm_panel panel = panel_of(part, x);
        part->job->kernels->pack_panel(
            &(attni_pack){.vecs = panel.vecs,
                          .n_columns = panel.n,
                          .n_rows = part->depth,
                          .from = element(g->b, part->k * g->b_row + panel.column * g->b_column,
                                          part->job->real_size),
                          .row = g->b_row,
                          .column = g->b_column,
                          .to = panel.packed});
        x += panel.lanes;
    }
}

/* --------------------------------------------------------------------------- multiply */

static void multiply_rows(const gemm_part *part, int64_t row, int64_t rows) {
    const attni_gemm *g = part->job->g;
    const size_t real = part->job->real_size;
    for (int64_t x = 0; x < part->columns;) {
        const gemm_panel panel = panel_of(part, x);
        part->job->kernels->product(
            &(attni_product){.vecs = panel.vecs,
                             .n_columns = panel.n,
                             .add = g->add || part->k > 0,
                             .m = rows,
                             .k = part->depth,
                             .a = element(g->a, row * g->a_row + part->k * g->a_column, real),
                             .a_row = g->a_row,
                             .a_step = g->a_column,
                             .b = panel.packed,
                             .c = (char *)g->c + (row * g->c_row + panel.column) * (int64_t)real,
                             .c_row = g->c_row});
        x += panel.lanes;
    }
}

static void multiply_task(void *arg, int64_t task, int worker) {
    const gemm_job *job = arg;
    gemm_part part = part_of(job, task, worker);
    do { /* also for k = 0, which writes zeros */
        part.depth = attni_min(K_BLOCK, job->g->k - part.k);
        pack_panels(&part);
        const int64_t end = part.row + part.rows;
        for (int64_t row = part.row; row < end; row += ROW_BLOCK) {
            multiply_rows(&part, row, attni_min(ROW_BLOCK, end - row));
        }
        part.k += K_BLOCK;
    } while (part.k < job->g->k);
}

size_t attni_gemm_scratch(const attni_kernels *kernels, bool f64, const attni_gemm *g,
                          int threads) {
    const gemm_job job = plan(kernels, f64, g, threads);
    return job.worker_bytes * (size_t)job.workers; /* below 2 MB for each of at most 1024 */
}

void attni_gemm_run(attni_pool *pool, const attni_kernels *kernels, bool f64, const attni_gemm *g,
                    void *scratch) {
    gemm_job job = plan(kernels, f64, g, attni_pool_threads(pool));
    job.scratch = scratch;
    attni_parallel(pool, job.workers, job.n_tasks, multiply_task, &job);
}

attn_status attni_gemm_on(attn_ctx *ctx, bool f64, const attni_gemm *g, attn_error *err) {
    const attni_kernels *kernels = attni_ctx_kernels(ctx, f64);
    const size_t bytes = attni_gemm_scratch(kernels, f64, g, attn_ctx_threads(ctx));
    void *scratch = attni_ctx_scratch(ctx, bytes);
    if (!scratch) {
        return attni_fail(err, ATTN_E_MEMORY, "product: no memory for %zu bytes of scratch", bytes);
    }
    attni_gemm_run(attni_ctx_pool(ctx), kernels, f64, g, scratch);
    return ATTN_OK;
}
