/* SPDX-License-Identifier: Apache-2.0 */
/* edge_case.h - one row of attention over numbers at the ends of the range, computed by an engine
 * and by the oracle. */
#ifndef EDGE_CASE_H
#define EDGE_CASE_H

#include "check.h"
#include "element.h"

#include <attn/attn.h>

enum { EDGE_KEYS = 400 };

typedef struct edge_case {
    attn_args args;
    attn_tensor out, lse;                                /* of the engine */
    double expected, expected_lse;                       /* of the oracle */
    double q[1], k[EDGE_KEYS], v[EDGE_KEYS], o[1], l[1]; /* of any dtype */
    double bias[EDGE_KEYS];
    double sink;
} edge_case;

/* A query of 1 at scale 1, so that scores are keys: n keys of 0 with values of 1. */
static inline void edge_begin(edge_case *e, attn_dtype dtype, int64_t n) {
    *e = (edge_case){.args = {0}};
    attn_args_init(&e->args);
    e->args.q = attn_tensor_bhsd(e->q, dtype, 1, 1, 1, 1);
    e->args.k = attn_tensor_bhsd(e->k, dtype, 1, 1, n, 1);
    e->args.v = attn_tensor_bhsd(e->v, dtype, 1, 1, n, 1);
    e->args.scale = 1;
    e->out = attn_tensor_bhsd(e->o, dtype, 1, 1, 1, 1);
    e->lse = attn_tensor_bhsd(e->l, ATTN_F64, 1, 1, 1, 1);
    tensor_set(&e->args.q, (const int64_t[4]){0}, 1);
    for (int64_t j = 0; j < n; j++) tensor_set(&e->args.v, (const int64_t[4]){0, 0, j, 0}, 1);
}

static inline void edge_key(edge_case *e, int64_t j, double score, double value) {
    tensor_set(&e->args.k, (const int64_t[4]){0, 0, j, 0}, score);
    tensor_set(&e->args.v, (const int64_t[4]){0, 0, j, 0}, value);
}

static inline double edge_out(const edge_case *e) { return tensor_get(&e->out, 0, 0, 0, 0); }
static inline double edge_lse(const edge_case *e) { return e->l[0]; }

/* Runs both; false and a failed test if one of them does not return ATTN_OK. */
static inline bool edge_run(edge_case *e, attn_ctx *ctx) {
    attn_error err = {""};
    const attn_tensor out = attn_tensor_bhsd(&e->expected, ATTN_F64, 1, 1, 1, 1),
                      lse = attn_tensor_bhsd(&e->expected_lse, ATTN_F64, 1, 1, 1, 1);
    if (attn_forward(ctx, &e->args, &e->out, &e->lse, &err) == ATTN_OK &&
        attn_reference(&e->args, &out, &lse, &err) == ATTN_OK)
        return true;
    check_failed(__FILE__, __LINE__, "%s", err.message);
    return false;
}

#endif
