/* SPDX-License-Identifier: Apache-2.0 */
/* backward_block.h - the state of a running task of the backward pass, and its current block of
 * queries: rows, their statistics, their packed operands. Writes only to the task's scratch. */
#ifndef ATTNI_BACKWARD_BLOCK_H
#define ATTNI_BACKWARD_BLOCK_H

#include "attention/backward_tasks.h"
#include "attention/panel.h"

/* A panel of the current block. The arrays are of the real type and follow it in the scratch. */
typedef struct attni_back_panel {
    attni_panel base;
    int column;   /* of the block: its first lane */
    bool started; /* dq_t holds something of the current group of tiles */
    bool folded;  /* dq_total holds earlier groups */
    int64_t next; /* tile of ATTNI_KEY_TILE keys before which it sees nothing */
    void *do_t, *dq_t, *dq_total, *dq_lost;
    void *whole, *inverse, *delta;                      /* (lanes) */
    double top[ATTNI_MAX_LANES], rest[ATTNI_MAX_LANES]; /* log-sum-exp in base 2: top + rest */
    double dot[ATTNI_MAX_LANES];                        /* dout . out */
    bool blind[ATTNI_MAX_LANES]; /* the row sees no key: its contents do not matter */
    bool far[ATTNI_MAX_LANES];   /* its log-sum-exp comes from job->stats (far_rows.h) */
} attni_back_panel;

/* Running sums of dk or dv, as reals. The total is in the result itself, or in scratch for half
 * types. With more than one group of blocks, each group after the first is summed separately and
 * then added to the total. */
typedef struct attni_key_sums {
    const attn_tensor *result; /* data NULL: not requested */
    char *data;                /* of the range's first key: the total, or the current group */
    ptrdiff_t row;             /* elements from key to key */
    char *total;
    ptrdiff_t total_row;
    char *group, *lost; /* (keys of the range, d): later groups; what rounding took from total */
    int64_t d;
    double factor; /* the final sums are multiplied by it */
} attni_key_sums;

/* The state of a running task: one head and one range of its keys. */
typedef struct attni_back_task {
    const attni_backward_job *job;
    const attni_backward_plan *plan;
    int worker;
    char *scratch;
    attni_view *view;
    attni_sequence seq;
    int64_t head, kv_head; /* head counts (sequence, kv_head) pairs */
    int64_t range, lo, hi; /* keys lo .. hi - 1 */
    attni_key_sums dk, dv;
    int n_panels, n_rows; /* of the block */
    bool far_keys;        /* keys of the range are so large that a score may leave the range */
    bool scores_mask;     /* keys or queries of the block are: a score of -inf may mask a pair */
    bool use_saved;       /* the weights that forward saved hold for the block */
    bool guarded;         /* rows of the block hold Inf or NaN, and pairs may be masked */
} attni_back_task;

static inline attni_back_panel *attni_back_panel_at(const attni_back_task *s, int p) {
    const attni_backward_layout *l = &s->plan->layout;
    return (attni_back_panel *)(s->scratch + l->panels + (size_t)p * l->panel_bytes);
}

static inline attni_row_scratch attni_back_row_scratch(const attni_back_task *s) {
    const attni_backward_layout *l = &s->plan->layout;
    return (attni_row_scratch){
        .rows = s->scratch + l->rows, .row_size = l->row_size, .bias = s->scratch + l->bias};
}

static inline int attni_back_lanes(const attni_back_task *s, const attni_back_panel *p) {
    return attni_panel_lanes(&s->plan->forward, &p->base);
}

/* Makes panels of the group's rows from `first` on; returns whether some row may see a key of the
 * range, namely keys lo .. hi - 1. */
bool attni_back_block_begin(attni_back_task *task, int64_t first, int64_t *lo, int64_t *hi);
/* Are the keys of the range, or the packed queries of a panel, too small to give a score of
 * -inf? */
bool attni_back_keys_are_modest(const attni_back_task *task);
bool attni_back_panel_is_modest(const attni_back_task *task, const attni_back_panel *panel);
/* Are the packed operands of the block finite? */
bool attni_back_block_is_finite(const attni_back_task *task);

/* Reads lse and computes dout . out of every row. Blind rows are hidden. */
void attni_back_panel_read(const attni_back_task *task, attni_back_panel *panel);
/* Is a row of the panel blind? */
static inline bool attni_back_panel_hides(const attni_back_panel *panel) {
    for (int x = 0; x < panel->base.rows.n; x++)
        if (panel->blind[x]) return true;
    return false;
}
/* Fills the statistics, q_t, do_t and the panel's part of the block's packed operands. */
void attni_back_panel_pack(const attni_back_task *task, attni_back_panel *panel);
/* The rows of the panel as reals; blind ones and lanes without a row are zeros. */
void attni_back_panel_rows(const attni_back_task *task, const attni_back_panel *panel,
                           const attn_tensor *t, void **rows);
/* The weights that forward saved for this panel and tile, or NULL; if not NULL, inverse refers to
 * the maximum they are relative to. */
const void *attni_back_panel_stored(const attni_back_task *task, attni_back_panel *panel,
                                    int64_t first);

#endif
