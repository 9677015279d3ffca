/* SPDX-License-Identifier: Apache-2.0 */
/* args_scene.h - one valid problem with all the memory it touches, for tests of what the public
 * functions accept and reject. A case changes some fields; after a rejected call every byte of the
 * scene must be unchanged. */
#ifndef ARGS_SCENE_H
#define ARGS_SCENE_H

#include "check.h"

#include <attn/attn.h>

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof((array)[0])))

enum { B = 2, H = 4, H_KV = 2, N_Q = 3, N_K = 5, D_K = 8, D_V = 6, K = 2 };
enum { PAIRS = B * H * N_Q * N_K, ROWS = B * H * N_Q, WORKSPACE_ROOM = 1 << 20 };

typedef struct scene {
    /* what the functions get; a case may take a pointer away */
    attn_ctx *ctx;
    attn_args *p_args;
    attn_tensor *p_out, *p_lse;
    attn_inspection *p_what;
    attn_cost_info *p_cost;
    size_t *p_bytes;
    char *p_text;
    attn_partial *p_a, *p_b, *p_result;
    double *p_slopes;
    attn_ctx_options *p_options;

    attn_args args;
    attn_tensor out, lse, mask_view, bias_view;
    attn_inspection what;
    attn_cost_info cost;
    size_t bytes, needed;
    char text[600];
    attn_partial a, b, result; /* of attn_merge() */
    int64_t slopes_H;
    attn_ctx_options options;
    attn_pattern *pattern, *other_pattern;

    _Alignas(64) float q[B * H * N_Q * D_K];
    float k[B * H_KV * N_K * D_K], v[B * H_KV * N_K * D_V];
    float o[2 * B * H * N_Q * D_V], l[4 * ROWS]; /* room for strides and f64 */
    uint8_t mask[2 * PAIRS];
    float bias[2 * PAIRS];
    double raw[PAIRS], capped[PAIRS], biased[PAIRS], weights[PAIRS], entropy[ROWS];
    double top_weight[ROWS * K], received[B * H * N_K], slopes[H];
    int64_t top_key[ROWS * K];
    float a_out[B * H * N_Q * D_V], b_out[B * H * N_Q * D_V], a_lse[ROWS], b_lse[ROWS];
    int64_t lengths[B], cu_q[3], cu_k[3];
    double per_head[H];
} scene;

/* now is what a case changes, before its copy; scene_reset() makes the others on first use. */
extern scene now, before;
extern attn_ctx *ctx;

/* The right problem; every byte that is no input holds a pattern. */
void scene_reset(scene *s);

enum {
    FORWARD = 1 << 0,
    WORKSPACE = 1 << 1,
    REFERENCE = 1 << 2,
    INSPECT = 1 << 3,
    COST = 1 << 4,
    EXPLAIN = 1 << 5,
    MERGE = 1 << 6,
    SLOPES = 1 << 7,
    CREATE = 1 << 8,
    FUNCTIONS = 9,
    ALL = FORWARD | WORKSPACE | REFERENCE | INSPECT | COST | EXPLAIN, /* that take attn_args */
    READ = FORWARD | REFERENCE | INSPECT,                             /* and need data */
    WRITE = FORWARD | REFERENCE                                       /* and have out and lse */
};

const char *function_name(int function);
attn_status call(scene *s, int function, attn_error *err);

/* One field of the scene gets another value. */
typedef struct change {
    size_t at;
    enum { END, TO_I64, TO_F64, TO_I32, TO_ADDRESS, TO_FIELD, TO_TENSOR, TO_NULL } kind;
    int64_t integer;
    double number;
    size_t from; /* where the address points to, or the field to copy */
} change;

#define I64(field, x)       {.at = offsetof(scene, field), .kind = TO_I64, .integer = (x)}
#define F64(field, x)       {.at = offsetof(scene, field), .kind = TO_F64, .number = (x)}
#define I32(field, x)       {.at = offsetof(scene, field), .kind = TO_I32, .integer = (x)}
#define NONE(field)         {.at = offsetof(scene, field), .kind = TO_NULL}
#define COPY(field, source) {offsetof(scene, field), TO_FIELD, 0, 0, offsetof(scene, source)}
#define AT(field, target, bytes)                                                                   \
    {offsetof(scene, field), TO_ADDRESS, 0, 0, offsetof(scene, target) + (size_t)(bytes)}

enum { CHANGES = 10 };

void apply_all(scene *s, const change changes[CHANGES]);

typedef struct wrong {
    int by; /* the functions that must refuse it */
    attn_status status;
    const char *name;  /* what the message begins with */
    const char *value; /* what it contains; NULL if there is no value to tell */
    change changes[CHANGES];
} wrong;

/* Every function of `by` refuses the case, says why, and writes nothing. */
void check_all_refused(const wrong *table, int n);

#define CHECK_REFUSED(table) check_all_refused(table, COUNT_OF(table))

#define MAX_I64             INT64_MAX
#define VIEW(field, source) {offsetof(scene, field), TO_TENSOR, 0, 0, offsetof(scene, source)}
#define WITH_MASK           VIEW(args.mask, mask_view)
#define WITH_BIAS           VIEW(args.bias, bias_view)
#define PACKED                                                                                     \
    I64(args.q.shape[0], 1), I64(args.k.shape[0], 1), I64(args.v.shape[0], 1),                     \
        AT(args.cu_q, cu_q, 0), AT(args.cu_k, cu_k, 0), I64(args.n_seqs, 2)

#define ALIBI AT(args.alibi, per_head, 0)
#define SINKS AT(args.sinks, per_head, 0)
#define LEN_Q AT(args.len_q, lengths, 0)
#define LEN_K AT(args.len_k, lengths, 0)

#endif
