/* SPDX-License-Identifier: Apache-2.0 */
/* blas.c - see blas.h. The two functions used have the standard CBLAS interface. */
#include "bench/blas.h"

#include <dlfcn.h>
#include <string.h>

enum { ROW_MAJOR = 101, NO_TRANSPOSE = 111, TRANSPOSE = 112 }; /* numbers of the CBLAS interface */

typedef void sgemm_function(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                            const float *a, int lda, const float *b, int ldb, float beta, float *c,
                            int ldc);
typedef void set_threads_function(int threads);

static sgemm_function *sgemm;

/* dlsym() gives an object pointer where a function is meant; POSIX says the bits are the same. */
static void look_up(void *library, const char *name, void *function, size_t size) {
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, size);
}

bool blas_open(int threads) {
    static const char *const names[] = {"libopenblas.so.0", "libopenblas.so"};
    static void *library;
    for (size_t i = 0; !library && i < sizeof names / sizeof *names; i++)
        library = dlopen(names[i], RTLD_NOW);
    if (!library) return false;
    set_threads_function *set_threads = NULL;
    look_up(library, "cblas_sgemm", &sgemm, sizeof sgemm);
    look_up(library, "openblas_set_num_threads", &set_threads, sizeof set_threads);
    if (set_threads) set_threads(threads);
    return sgemm != NULL;
}

void blas_sgemm(const blas_sgemm_args *g) {
    sgemm(ROW_MAJOR, g->transpose_a ? TRANSPOSE : NO_TRANSPOSE,
          g->transpose_b ? TRANSPOSE : NO_TRANSPOSE, (int)g->m, (int)g->n, (int)g->k, g->alpha,
          g->a, (int)(g->transpose_a ? g->m : g->k), g->b, (int)(g->transpose_b ? g->k : g->n),
          g->add ? 1 : 0, g->c, (int)g->n);
}
