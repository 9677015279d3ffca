/* SPDX-License-Identifier: Apache-2.0 */
/* context.h - the inside of attn_ctx: chosen kernels, threads, scratch that only grows. */
#ifndef ATTNI_CONTEXT_H
#define ATTNI_CONTEXT_H

#include "core/pool.h"
#include "kernels/kernels.h"

/* Kernels for f64 or f32 arithmetic. */
const attni_kernels *attni_ctx_kernels(const attn_ctx *ctx, bool f64);
attni_pool *attni_ctx_pool(attn_ctx *ctx);
/* At least `bytes` of memory, 64-byte aligned, valid until the next call; NULL when there is
 * none. */
void *attni_ctx_scratch(attn_ctx *ctx, size_t bytes);
/* The workspace of a call that needs so many bytes: the caller's if there is one, else scratch. */
attn_status attni_ctx_workspace(attn_ctx *ctx, const attn_args *args, size_t needed,
                                char **workspace, attn_error *err);

#endif
