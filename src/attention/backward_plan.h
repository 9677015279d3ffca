/* SPDX-License-Identifier: Apache-2.0 */
/* backward_plan.h - how a backward pass will run: what is computed, how it is split, scratch.
 * Depends on shapes, options and requested gradients; results do not depend on it. Made by
 * backward_plan.c; read by backward.c, backward_tasks.c, explain.c. Tests:
 * tests/attention/test_backward.c */
#ifndef ATTNI_BACKWARD_PLAN_H
#define ATTNI_BACKWARD_PLAN_H

#include "attention/plan.h"

/* The layout of one worker's scratch: offsets in bytes, all 64-byte aligned. */
typedef struct attni_backward_layout {
    size_t panels;                         /* (panels of a block) parts of panel_bytes */
    size_t q_t, do_t;                      /* in each part: (d_k, lanes), (d_v, lanes) */
    size_t dq_t, dq_total, dq_lost, stats; /* (d_k, lanes) three times, (3, lanes) */
    size_t panel_bytes;
    size_t p, ds;           /* (BACKWARD_KEYS, BLOCK_ROWS) each */
    size_t q_rows, do_rows; /* (BLOCK_ROWS, d) in column panels: packed operands */
    size_t dk, dv;          /* (keys of a range, d): totals, if half */
    size_t dk_group, dv_group, dk_lost, dv_lost; /* the same size, with more than one group */
    size_t view;                                 /* an attni_view */
    size_t bias, dz, keep;                       /* (KEY_TILE, lanes), where needed */
    size_t rows, row_size; /* (lanes, row_size) converted rows and a row of zeros */
    size_t k, v;           /* (BACKWARD_KEYS, d) widened tile, if half */
    size_t bytes;          /* of all */
} attni_backward_layout;

typedef struct attni_backward_plan {
    attni_plan forward;                  /* kernels, real type, factors, groups */
    attn_args stats_args;                /* the same problem without values and dropout */
    attni_plan stats;                    /* forward of it, where rows are far (far_rows.h) */
    const attni_kernels *double_kernels; /* for the few numbers that are always doubles */
    bool want_dq;                        /* for dq itself or for dscale */
    bool want_dk, want_dv, want_dbias;
    bool own_sums;                /* several ranges sum dq, and the result cannot hold the sum */
    bool grouped;                 /* more than one group of blocks adds to dk and dv */
    int64_t columns_k, columns_v; /* d_k and d_v padded to whole panels */
    int64_t heads;                /* pairs of (sequence, key/value head) */
    /* A strand is a set of heads that one task processes one after another, because their gradients
     * are added to the same elements of dbias. The keys of a strand are split into ranges; a block
     * of queries goes through the ranges in order, and each adds to its dq. */
    int64_t strands, heads_per_strand, ranges, range_tiles;
    bool sequences_share, heads_share;
    int64_t n_tasks;
    int workers; /* number of threads used, each with its own scratch */
    attni_backward_layout layout;
    /* Shared scratch, before the workers' parts: */
    size_t progress;   /* (heads, ranges) blocks done */
    size_t sink_sums;  /* (sequences, H) doubles */
    size_t scale_sums; /* (heads) doubles */
    size_t dq_sums;    /* (B, H, n_q, d_k) reals, if own_sums */
    size_t dq_lost;    /* the same, if several ranges sum dq */
    size_t row_stats;  /* (B, H, n_q, 2) doubles, where rows are far */
    size_t shared_bytes;
    size_t workspace; /* total */
} attni_backward_plan;

attn_status attni_backward_plan_make(attn_ctx *ctx, const attn_args *full,
                                     const attn_gradients *gradients, attni_backward_plan *plan,
                                     attn_error *err);

/* The number of vectors of the next column panel if `columns` are left. */
int attni_column_vecs(const attni_kernels *kernels, int64_t columns);

#endif
