/* SPDX-License-Identifier: Apache-2.0 */
/* contexts.h - contexts for tests. */
#ifndef CONTEXTS_H
#define CONTEXTS_H

#include "check.h"

#include "attn/attn.h"

/* A context with these options; NULL and a failed test if there is none. */
static inline attn_ctx *context_of(const attn_ctx_options *options) {
    attn_error err = {""};
    attn_ctx *ctx;
    if (attn_ctx_create(options, &ctx, &err) != ATTN_OK) {
        check_failed(__FILE__, __LINE__, "%s: %s", attn_isa_name(options->isa), err.message);
    }
    return ctx;
}

static inline attn_ctx *context_with(attn_isa isa, int threads) {
    attn_ctx_options options;
    attn_ctx_options_init(&options);
    options.isa = isa;
    options.threads = threads;
    return context_of(&options);
}

/* The last worker runs first and alone: it takes every task. */
static inline void run_in_reverse(void *user, int n_workers, void (*work)(void *, int), void *arg) {
    *(int *)user += n_workers;
    for (int w = n_workers - 1; w >= 0; w--) work(arg, w);
}

/* A context on such a pool; *n_workers counts those that it was asked for. */
static inline attn_ctx *context_in_reverse(int threads, int *n_workers) {
    attn_ctx_options options;
    attn_ctx_options_init(&options);
    options.threads = threads;
    options.pool = (attn_pool){.run = run_in_reverse, .user = n_workers};
    return context_of(&options);
}

#endif
