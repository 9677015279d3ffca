/* SPDX-License-Identifier: Apache-2.0 */
/* panel.h - a panel of queries on its way to the kernels: which rows its lanes are, where they lie,
 * what changes their scores. Shared by tasks.c (forward) and backward_tasks.c. Touches the scratch
 * it is given. Tests: those of both passes. */
#ifndef ATTNI_PANEL_H
#define ATTNI_PANEL_H

#include "attention/plan.h"
#include "attention/visible.h"

/* Room for rows that are not reals in memory yet, and for the bias of a visit. */
typedef struct attni_row_scratch {
    char *rows;      /* (lanes, row_size) reals */
    size_t row_size; /* at least d_k, d_v and ATTNI_KEY_TILE */
    char *bias;      /* (ATTNI_KEY_TILE, lanes) reals, if there is a bias */
} attni_row_scratch;

/* Lanes first .. first + n - 1 of all rows of a key/value head: head after head of its group, row r
 * is query r % seq->rows of head r / seq->rows. */
void attni_rows_begin_group(attni_rows *rows, const attni_plan *plan, const attni_sequence *seq,
                            int64_t kv_head, int64_t first, int n);

/* Row x of the panel in a tensor shaped like q or out. */
void *attni_lane_row(const attni_rows *rows, int x, const attn_tensor *t);
/* Pointers to the rows of all lanes. */
void attni_lane_rows(const attni_rows *rows, const attn_tensor *t, void **to);
/* The same as reals: half types are widened into the scratch. */
void attni_lane_reals(const attni_plan *plan, const attni_rows *rows, const attn_tensor *t,
                      const attni_row_scratch *scratch, const void **to);

/* What changes the scores of one visit; points into itself. */
typedef struct attni_changes {
    attni_modify modify;
    attni_dropout dropout;
    bool modified, dropped;
    double slope[ATTNI_MAX_LANES], position[ATTNI_MAX_LANES]; /* of the real type */
    uint32_t row[ATTNI_MAX_LANES], head[ATTNI_MAX_LANES];
} attni_changes;

/* A panel sees a tile. */
typedef struct attni_meeting {
    const attni_plan *plan;
    const attni_rows *rows;
    int vecs;
    int64_t first; /* key of the tile */
    const attni_view *view;
    attni_row_scratch scratch;
} attni_meeting;

void attni_changes_fill(attni_changes *changes, const attni_meeting *meeting);

/* A key tile: where its keys and values lie, in the real type. */
typedef struct attni_tile {
    int64_t first; /* key */
    const void *k, *v;
    ptrdiff_t k_stride, v_stride;
} attni_tile;

/* The keys and values of one head. Half types are widened into k and v, (keys of a tile, d_k) and
 * (keys of a tile, d_v). */
typedef struct attni_key_source {
    const attni_plan *plan;
    const attni_sequence *seq;
    int64_t kv_head;
    char *k, *v;
} attni_key_source;

/* The tile from key `first` on, of which keys lo .. hi - 1 may be read. */
attni_tile attni_tile_at(const attni_key_source *from, int64_t first, int64_t lo, int64_t hi);

static inline void attni_store_real(void *array, size_t real_size, int64_t x, double value) {
    if (real_size == sizeof(double)) {
        ((double *)array)[x] = value;
    } else {
        ((float *)array)[x] = (float)value;
    }
}

static inline double attni_load_real(const void *array, size_t real_size, int64_t x) {
    return real_size == sizeof(double) ? ((const double *)array)[x]
                                       : (double)((const float *)array)[x];
}

#endif
