/* SPDX-License-Identifier: Apache-2.0 */
/* blas.c - see blas.h. The two functions used have the standard CBLAS interface. */
#include "bench/blas.h"

#include "lab/support/system.h"

enum { ROW_MAJOR = 101, NO_TRANSPOSE = 111, TRANSPOSE = 112 }; /* numbers of the CBLAS interface */

typedef void sgemm_function(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                            const float *a, int lda, const float *b, int ldb, float beta, float *c,
                            int ldc);
typedef void set_threads_function(int threads);

static sgemm_function *sgemm;

bool blas_open(int threads) {
    static void *library;
    for (size_t i = 0; !library && system_openblas_names[i]; i++)
        library = system_library_open(system_openblas_names[i]);
    if (!library) return false;
    sgemm = (sgemm_function *)system_library_function(library, "cblas_sgemm");
    set_threads_function *set_threads =
        (set_threads_function *)system_library_function(library, "openblas_set_num_threads");
    if (set_threads) set_threads(threads);
    return sgemm != NULL;
}

void blas_sgemm(const blas_sgemm_args *g) {
    sgemm(ROW_MAJOR, g->transpose_a ? TRANSPOSE : NO_TRANSPOSE,
          g->transpose_b ? TRANSPOSE : NO_TRANSPOSE, (int)g->m, (int)g->n, (int)g->k, g->alpha,
          g->a, (int)(g->transpose_a ? g->m : g->k), g->b, (int)(g->transpose_b ? g->k : g->n),
          g->add ? 1 : 0, g->c, (int)g->n);
}
