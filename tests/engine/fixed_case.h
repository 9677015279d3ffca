/* SPDX-License-Identifier: Apache-2.0 */
/* fixed_case.h - one problem with every option on, identified by the hash of its result. It is the
 * problem that attn_selftest() prints, built here a second time from its description. */
#ifndef FIXED_CASE_H
#define FIXED_CASE_H

#include "attn/attn.h"

/* FNV-1a over the bytes of out, then of lse. dtype: ATTN_F32 or ATTN_F64. */
attn_status fixed_case_hash(attn_ctx *ctx, attn_dtype dtype, uint64_t *hash);

#endif
