/* SPDX-License-Identifier: Apache-2.0 */
/* gemm.c - a panel of B is packed once per block of k and meets all rows of A. Sums run over k
 * in ascending order, in blocks of K_BLOCK that start from zero, whatever the split: that fixes
 * the bits. */
#include "layers/gemm.h"

enum { K_BLOCK = 256, ROW_BLOCK = 256 }; /* 256 x 24 floats of B stay in L1, 256 rows of A near */

/* Waking the other workers takes some microseconds: smaller products stay on the calling thread. */
static const double flops_worth_waking = 2e6;

typedef struct gemm_job {
    const attni_kernels *kernels;
    const attni_gemm *g;
    size_t real_size;
    int64_t panels, row_blocks;
    char *scratch;
} gemm_job;

static int max_lanes(const attni_kernels *kernels) { return kernels->vl * kernels->max_vecs; }

/* A panel and one row of zeros for the columns that B does not have. */
static size_t worker_bytes(const attni_kernels *kernels, size_t real_size) {
    return ((size_t)max_lanes(kernels) + 1) * K_BLOCK * real_size;
}

size_t attni_gemm_scratch(const attni_kernels *kernels, bool f64, int workers) {
    return worker_bytes(kernels, f64 ? sizeof(double) : sizeof(float)) * (size_t)workers;
}

/* Columns first .. first + n - 1 of rows k .. k + depth - 1 of B, as (depth, lanes), missing
 * columns zero. */
static void pack_rows(const gemm_job *job, int64_t k, int64_t depth, int64_t first, int n,
                      int lanes, char *panel) {
    const attni_gemm *g = job->g;
    const size_t real = job->real_size;
    for (int64_t c = 0; c < depth; c++, panel += (size_t)lanes * real) {
        const char *row =
            (const char *)g->b + ((k + c) * g->b_row + first * g->b_column) * (ptrdiff_t)real;
        if (g->b_column == 1) {
            memcpy(panel, row, (size_t)n * real);
        } else {
            for (int x = 0; x < n; x++) {
                memcpy(panel + (size_t)x * real, row + x * g->b_column * (ptrdiff_t)real, real);
            }
        }
        memset(panel + (size_t)n * real, 0, (size_t)(lanes - n) * real);
    }
}

/* The same when the columns of B are contiguous: they are rows of its transpose, packed like
 * queries. */
static void pack_columns(const gemm_job *job, int64_t k, int64_t depth, int64_t first, int n,
                         int vecs, char *panel) {
    const attni_gemm *g = job->g;
    const char *zeros = panel + (size_t)max_lanes(job->kernels) * K_BLOCK * job->real_size;
    const void *from[ATTNI_MAX_LANES];
    for (int x = 0; x < vecs * job->kernels->vl; x++) {
        from[x] =
            x < n ? (const char *)g->b + (k + (first + x) * g->b_column) * (ptrdiff_t)job->real_size
                  : zeros;
    }
    job->kernels->pack_queries(vecs, depth, from, 1, panel);
}

static void multiply_task(void *arg, int64_t task, int worker) {
    const gemm_job *job = arg;
    const attni_gemm *g = job->g;
    const int lanes_max = max_lanes(job->kernels);
    const int64_t first = task / job->row_blocks * lanes_max,
                  row = task % job->row_blocks * ROW_BLOCK;
    const int n = (int)attni_min(lanes_max, g->n - first);
    const int vecs = (int)attni_max(2, attni_ceil_div(n, job->kernels->vl)),
              lanes = vecs * job->kernels->vl;
    char *panel = job->scratch + worker_bytes(job->kernels, job->real_size) * (size_t)worker;
    memset(panel + (size_t)lanes_max * K_BLOCK * job->real_size, 0, K_BLOCK * job->real_size);
    for (int64_t k = 0; k < g->k || k == 0; k += K_BLOCK) {
        const int64_t depth = attni_min(K_BLOCK, g->k - k);
        if (g->b_row == 1 && g->b_column != 1) {
            pack_columns(job, k, depth, first, n, vecs, panel);
        } else {
            pack_rows(job, k, depth, first, n, lanes, panel);
        }
        const ptrdiff_t real = (ptrdiff_t)job->real_size;
        job->kernels->product(
            &(attni_product){.vecs = vecs,
                             .n_columns = n,
                             .add = g->add || k > 0,
                             .m = attni_min(ROW_BLOCK, g->m - row),
                             .k = depth,
                             .a = (const char *)g->a + (row * g->a_row + k * g->a_column) * real,
                             .a_row = g->a_row,
                             .a_step = g->a_column,
                             .b = panel,
                             .c = (char *)g->c + (row * g->c_row + first) * real,
                             .c_row = g->c_row});
    }
}

void attni_gemm_run(attni_pool *pool, const attni_kernels *kernels, bool f64, const attni_gemm *g,
                    void *scratch) {
    gemm_job job = {.kernels = kernels,
                    .g = g,
                    .real_size = f64 ? sizeof(double) : sizeof(float),
                    .panels = attni_ceil_div(g->n, max_lanes(kernels)),
                    .row_blocks = attni_ceil_div(g->m, ROW_BLOCK),
                    .scratch = scratch};
    const int64_t n_tasks = job.panels * job.row_blocks;
    if (2.0 * (double)g->m * (double)g->n * (double)g->k >= flops_worth_waking) {
        attni_parallel(pool, n_tasks, multiply_task, &job);
    } else {
        for (int64_t task = 0; task < n_tasks; task++) multiply_task(&job, task, 0);
    }
}

attn_status attni_gemm_on(attn_ctx *ctx, bool f64, const attni_gemm *g, attn_error *err) {
    const attni_kernels *kernels = attni_ctx_kernels(ctx, f64);
    const size_t bytes = attni_gemm_scratch(kernels, f64, attn_ctx_threads(ctx));
    void *scratch = attni_ctx_scratch(ctx, bytes);
    if (!scratch) {
        return attni_fail(err, ATTN_E_MEMORY, "product: no memory for %zu bytes of scratch", bytes);
    }
    attni_gemm_run(attni_ctx_pool(ctx), kernels, f64, g, scratch);
    return ATTN_OK;
}
