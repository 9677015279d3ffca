/* SPDX-License-Identifier: Apache-2.0 */
/* context.h - the internals of attn_ctx: selected kernels, threads, scratch that only grows. */
#ifndef ATTNI_CONTEXT_H
#define ATTNI_CONTEXT_H

#include "core/pool.h"
#include "kernels/kernels.h"

/* The memory callbacks used if the caller passes none. */
void *attni_default_alloc(void *user, size_t size, size_t align);
void attni_default_free(void *user, void *ptr);

/* Kernels for f64 or f32 arithmetic. */
const attni_kernels *attni_ctx_kernels(const attn_ctx *ctx, bool f64);
attni_pool *attni_ctx_pool(attn_ctx *ctx);
/* At least `bytes` of memory, 64-byte aligned, valid until the next call; NULL if out of memory. */
void *attni_ctx_scratch(attn_ctx *ctx, size_t bytes);
/* The workspace of a call that needs this many bytes: the caller's if there is one, else
 * scratch. */
attn_status attni_ctx_workspace(attn_ctx *ctx, const attn_args *args, size_t needed,
                                char **workspace, attn_error *err);

/* The maximum number of threads that this many tasks can use, at least 1. */
int attni_ctx_workers(const attn_ctx *ctx, int64_t n_tasks);
/* Runs all tasks of a call on at most `workers` threads (attni_parallel()). Calls the abort
 * callback before each, and while the calling thread waits for the others. Returns ATTN_E_ABORTED
 * if the callback asked for it; some tasks have then not been run. */
attn_status attni_ctx_run(attn_ctx *ctx, int workers, int64_t n_tasks, attni_task *task, void *arg,
                          attn_error *err);
/* For use in a long task of `worker`: whether it should return early. Calls the callback. */
bool attni_ctx_aborts(attn_ctx *ctx, int worker);
/* What attni_ctx_aborts() found in the current run. */
const atomic_bool *attni_ctx_aborted(const attn_ctx *ctx);

#endif
