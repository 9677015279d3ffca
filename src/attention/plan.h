/* SPDX-License-Identifier: Apache-2.0 */
/* plan.h - how a validated problem will run: kernels, blocks of panels, tasks, scratch. Depends
 * only on shapes and options. Made by plan.c; read by forward.c, explain.c, cost.c. Tests:
 * tests/attention/test_plan.c */
#ifndef ATTNI_PLAN_H
#define ATTNI_PLAN_H

#include "attention/args.h"
#include "attention/context.h"

#define ATTNI_LOG2E 1.4426950408889634074

enum {
    ATTNI_BLOCK_PANELS = 8, /* panels that share a key tile while it is in L2 */
    ATTNI_STRIP = 8         /* columns of a result that are repaired at a time */
};

/* The layout of one worker's scratch: offsets in bytes, all 64-byte aligned. */
typedef struct attni_layout {
    size_t panels;                   /* (block_panels) parts of panel_bytes */
    size_t q_t, o_t, stats;          /* in each part: (d_k, lanes), (d_v, lanes), (3, lanes) */
    size_t total, lost, total_stats; /* (d_v, lanes) twice, (3, lanes), for more than one group */
    size_t panel_bytes;
    size_t view;   /* an attni_view */
    size_t scores; /* (KEY_TILE, lanes) */
    size_t bias;   /* (KEY_TILE, lanes), if there is a bias */
    size_t rows;   /* (lanes, row_size) converted rows, if half or bias */
    size_t k, v;   /* (KEY_TILE, d_k), (KEY_TILE, d_v) widened tile, if half */
    size_t strip;  /* (KEY_TILE, STRIP) some columns of the values, for a repair */
    size_t spoilt; /* (STRIP, lanes) sums of Inf and NaN, likewise */
    size_t seen;   /* (KEY_TILE) bits of the lanes that see a key, likewise */
    size_t few;    /* (3, KEY_TILE) addresses of keys, values and next keys, for few queries */
    size_t few_sums, few_o; /* (FEW_ROWS, d_v) twice, likewise */
    size_t row_size;        /* max(d_k, d_v, KEY_TILE) */
    size_t bytes;           /* of all */
} attni_layout;

/* The weights that forward saves for backward. For each (sequence, key/value head): P^T, (n_k, row)
 * reals as computed in each tile, and the running maxima after each tile, (tiles, row) reals. */
typedef struct attni_saved {
    int64_t row;       /* query rows of the group, padded to whole blocks */
    size_t head_bytes; /* of one head */
    size_t maxima;     /* offset of the maxima in it */
    size_t bytes;      /* of all; 0: the weights of this problem are not saved */
} attni_saved;

/* The sums over groups of key tiles, if the keys of a block are split into ranges: for each block,
 * group and panel, o_t (d_v, lanes) and stats (2, lanes). */
typedef struct attni_partials {
    size_t offset;      /* in the workspace, after the scratch of all workers */
    int64_t groups;     /* of the longest sequence */
    size_t o_t, stats;  /* in each part */
    size_t panel_bytes; /* of a part */
    size_t visited;     /* offset of (blocks, groups, panels) bytes: has the panel seen a key? */
} attni_partials;

typedef struct attni_plan {
    const attn_args *args;
    const attni_kernels *kernels;
    size_t real_size;     /* 4 or 8 */
    bool half;            /* f16 or bf16: keys, values and rows are widened into scratch */
    int64_t group;        /* query heads per key/value head */
    int64_t block_panels; /* panels per task, at most ATTNI_BLOCK_PANELS */
    int64_t block_rows;   /* query rows per task */
    int64_t blocks;       /* per sequence and key/value head */
    int64_t ranges;       /* of keys that a block is split into, for more threads than blocks */
    int64_t n_tasks;      /* sequences x key/value heads x blocks x ranges */
    bool few;             /* attni_few may compute sequences of few queries. Its scratch is there
                            even if all have many, so that a smaller call needs no more */
    bool worth_waking;    /* enough work for more than one thread */
    int workers;          /* number of threads used, each with its own scratch */
    double query_factor;  /* queries are multiplied by it when packed, giving base-2 logits */
    double score_factor;  /* natural score -> base-2 logit: log2e / temperature */
    attni_layout layout;  /* scratch of one worker */
    attni_partials partials;
    size_t workspace;  /* total scratch */
    attni_saved saved; /* empty unless args->saved is set */
} attni_plan;

attn_status attni_plan_make(attn_ctx *ctx, const attn_args *full, attni_plan *plan,
                            attn_error *err);

/* Whether attni_few computes the queries of a sequence: so few that a panel would be mostly empty. */
bool attni_plan_is_few(const attni_plan *plan, const attni_sequence *seq);

/* Checks that this build has the kernels of the plan. Every build has, except the page's engine,
 * which has f64 kernels for products only. */
attn_status attni_plan_check_built(const attni_plan *plan, attn_error *err);

/* The layout of args->saved, whether it is set or not. */
attni_saved attni_plan_saved(const attni_plan *plan);

/* The number of query vectors of the next panel if `rows` rows are left: full panels, and a tail
 * that avoids a one-vector panel where two smaller panels do (16 vectors are 3,3,3,3,2,2), because
 * narrow panels run at a lower rate. */
int attni_panel_vecs(const attni_kernels *kernels, int64_t rows);

#endif
