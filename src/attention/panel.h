/* SPDX-License-Identifier: Apache-2.0 */
/* panel.h - prepares a panel of queries for the kernels: which rows its lanes hold, where those are
 * in memory, how their scores are edited. Shared by tasks.c (forward) and backward_tasks.c. Writes
 * only to the scratch it is given. Tests: those of both passes. */
#ifndef ATTNI_PANEL_H
#define ATTNI_PANEL_H

#include "attention/plan.h"
#include "attention/visible.h"

/* A panel of queries: the fields that forward and backward share. */
typedef struct attni_panel {
    attni_rows rows;
    int vecs;
    int64_t first_row; /* of all rows of the group of heads that share the key/value head */
    void *q_t;         /* (d_k, lanes) packed queries */
} attni_panel;

/* The panel of the next rows, if the group has `left` rows left from row `first` on. */
void attni_panel_begin(attni_panel *panel, const attni_plan *plan, const attni_sequence *seq,
                       int64_t kv_head, int64_t first, int64_t left);

static inline int attni_panel_lanes(const attni_plan *plan, const attni_panel *panel) {
    return panel->vecs * plan->kernels->vl;
}

/* Scratch for rows that have to be converted to reals, and for the bias of a visit. */
typedef struct attni_row_scratch {
    char *rows;      /* (lanes, row_size) reals */
    size_t row_size; /* at least d_k, d_v and ATTNI_KEY_TILE */
    char *bias;      /* (ATTNI_KEY_TILE, lanes) reals, if there is a bias */
} attni_row_scratch;

/* Row x of the panel in a tensor shaped like q or out. */
static inline void *attni_lane_row(const attni_rows *rows, int x, const attn_tensor *t) {
    return attni_row_at(t, rows->seq->batch, rows->head[x], rows->seq->q_row + rows->i[x]);
}

/* Pointers to the rows of all lanes. */
static inline void attni_lane_rows(const attni_rows *rows, const attn_tensor *t, void **to) {
    const int64_t step = t->stride[2] * attni_dtype_size(t->dtype);
    for (int x = 0; x < rows->n;) {
        char *row = attni_lane_row(rows, x, t);
        do { /* the rows of one head lie a stride apart */
            to[x++] = row;
            row += step;
        } while (x < rows->n && rows->i[x] > 0);
    }
}

/* Widens a row of half type into row x of the scratch and returns that. */
void *attni_widen_row(const attni_plan *plan, const attn_tensor *t, const void *row,
                      const attni_row_scratch *scratch, int x);
/* The same for the rows of all lanes. */
void attni_lane_rows_widen(const attni_plan *plan, const attni_rows *rows, const attn_tensor *t,
                           const attni_row_scratch *scratch, void **row);
/* Pointers to the rows of all lanes as reals. */
static inline void attni_lane_reals(const attni_plan *plan, const attni_rows *rows,
                                    const attn_tensor *t, const attni_row_scratch *scratch,
                                    void **to) {
    attni_lane_rows(rows, t, to);
    if (plan->half) attni_lane_rows_widen(plan, rows, t, scratch, to);
}

/* The edits of the scores of one visit: cap, bias, ALiBi, dropout. Points into itself. */
typedef struct attni_edits {
    attni_modify modify;
    attni_dropout dropout;
    bool modified, dropped;
    double slope[ATTNI_MAX_LANES], position[ATTNI_MAX_LANES]; /* of the real type */
    uint32_t row[ATTNI_MAX_LANES], head[ATTNI_MAX_LANES];
} attni_edits;

/* The inputs of a visit: a panel and a tile that it sees. */
typedef struct attni_visit_source {
    const attni_plan *plan;
    const attni_rows *rows;
    int vecs;
    int64_t first; /* key of the tile */
    const attni_view *view;
    attni_row_scratch scratch;
} attni_visit_source;

void attni_edits_fill(attni_edits *edits, const attni_visit_source *source);
/* The same for attni_few, whose bias is (lanes, KEY_TILE). */
void attni_edits_fill_few(attni_edits *edits, const attni_visit_source *source);

/* The same, inline: most problems have no edits, and small calls are frequent. */
static inline void attni_edits_begin(attni_edits *edits, const attni_visit_source *source) {
    const attn_args *a = source->plan->args;
    edits->modified = edits->dropped = false;
    if (a->softcap > 0 || a->bias.data || a->alibi || a->dropout > 0)
        attni_edits_fill(edits, source);
}

/* A key tile: the addresses of its keys and values, in the real type. */
typedef struct attni_tile {
    int64_t first; /* key */
    const void *k, *v;
    ptrdiff_t k_stride, v_stride;
    int64_t d_v; /* columns of v */
} attni_tile;

/* The keys and values of one head. Half types are widened into k and v, (keys of a tile, d_k) and
 * (keys of a tile, d_v). */
typedef struct attni_key_source {
    const attni_plan *plan;
    const attni_sequence *seq;
    int64_t kv_head;
    char *k, *v;
} attni_key_source;

/* Keys lo .. hi - 1 of the tile from key `first` on, widened. */
attni_tile attni_tile_widened(const attni_key_source *from, int64_t first, int64_t lo, int64_t hi);

/* The tile from key `first` on, of which keys lo .. hi - 1 may be read. */
static inline attni_tile attni_tile_at(const attni_key_source *from, int64_t first, int64_t lo,
                                       int64_t hi) {
    const attn_args *a = from->plan->args;
    const attni_sequence *seq = from->seq;
    if (from->plan->half) return attni_tile_widened(from, first, lo, hi);
    return (attni_tile){.first = first,
                        .k = attni_row_at(&a->k, seq->batch, from->kv_head, seq->k_row + first),
                        .v = attni_row_at(&a->v, seq->batch, from->kv_head, seq->k_row + first),
                        .k_stride = (ptrdiff_t)a->k.stride[2],
                        .v_stride = (ptrdiff_t)a->v.stride[2],
                        .d_v = a->v.shape[3]};
}

/* The addresses of keys lo .. hi - 1 (or of their values, by t) of the tile from key `first` on: to
 * (KEY_TILE). All others get the address of lo. */
void attni_tile_rows(const attni_key_source *from, const attn_tensor *t, int64_t first, int64_t lo,
                     int64_t hi, const void **to);

/* Fills the fields of a visit of tile t that forward and backward share; `edits` must come from the
 * same source. Assigns field by field, because gcc would copy a struct built here. */
static inline void attni_visit_fill(attni_visit *visit, const attni_visit_source *source,
                                    const attni_tile *t, const attni_edits *edits) {
    const attn_args *a = source->plan->args;
    const attni_view *view = source->view;
    visit->vecs = source->vecs;
    visit->n_segments = view->n_segments;
    visit->segments = view->segments;
    visit->n_keys = view->n_keys;
    visit->d_k = a->q.shape[3];
    visit->d_v = t->d_v;
    visit->k = t->k;
    visit->v = t->v;
    visit->k_stride = t->k_stride;
    visit->v_stride = t->v_stride;
    visit->allow = view->all ? NULL : view->allow;
    visit->modify = edits->modified ? &edits->modify : NULL;
    visit->dropout = edits->dropped ? &edits->dropout : NULL;
}

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
