/* SPDX-License-Identifier: Apache-2.0 */
/* subject.c - runs one problem with one version of the library. Compiled against the header and the
 * static library of that version. It exports only its two functions, so that two versions can be
 * loaded into one process. */
#include "subject.h"

#include "attn/attn.h"

#include <stdlib.h>

static attn_ctx *ctx;
static attn_args args;
static attn_tensor out;
static attn_results results; /* of forward, for backward */
static attn_gradients gradients;
static int is_backward;

/* Numbers between -1 and 1, the same for every version. */
static attn_tensor random_tensor(const problem *p, long columns, unsigned seed) {
    const size_t n = (size_t)(p->heads * p->n * columns);
    float *x = aligned_alloc(64, (n * sizeof *x + 63) / 64 * 64);
    if (!x) abort();
    for (size_t i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        x[i] = (float)(seed >> 8) / 8388608.0f - 1;
    }
    return attn_tensor_bhsd(x, ATTN_F32, 1, p->heads, p->n, columns);
}

static void make_gradients(const problem *p) {
    attn_gradients_init(&gradients);
    results.out = out;
    results.lse = random_tensor(p, 1, 5);
    results.dout = random_tensor(p, p->d, 6);
    gradients.dq = random_tensor(p, p->d, 7);
    gradients.dk = random_tensor(p, p->d, 8);
    gradients.dv = random_tensor(p, p->d, 9);
}

__attribute__((visibility("default"))) int subject_begin(const problem *p, int isa) {
    attn_ctx_options options;
    attn_ctx_options_init(&options);
    options.isa = (attn_isa)isa;
    if (attn_ctx_create(&options, &ctx, NULL) != ATTN_OK) return 1;
    is_backward = p->backward;
    attn_args_init(&args);
    args.q = random_tensor(p, p->d, 1);
    args.k = random_tensor(p, p->d, 2);
    args.v = random_tensor(p, p->d, 3);
    args.causal = p->causal;
    out = random_tensor(p, p->d, 4);
#ifdef ATTN_VERSION_NUMBER /* since 0.2.0 */
    attn_results_init(&results);
#endif
    if (p->backward) make_gradients(p);
    return attn_forward(ctx, &args, &out, p->backward ? &results.lse : NULL, NULL) != ATTN_OK;
}

__attribute__((visibility("default"))) int subject_run(void) {
    if (is_backward) return attn_backward(ctx, &args, &results, &gradients, NULL) != ATTN_OK;
    return attn_forward(ctx, &args, &out, NULL, NULL) != ATTN_OK;
}
