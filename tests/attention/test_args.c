/* SPDX-License-Identifier: Apache-2.0 */
/* test_args.c - every public function that takes arguments refuses each wrong one: with the right
 * status, a message that names the argument and its value, and nothing written anywhere. Then the
 * corner cases that are legal. A scene holds one right problem and all memory of it; a case changes
 * some fields; after a refused call the whole scene must be the same bytes. */
#include "check.h"

#include <attn/attn.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof((array)[0])))

enum { B = 2, H = 4, H_KV = 2, N_Q = 3, N_K = 5, D_K = 8, D_V = 6, K = 2 };
enum { PAIRS = B * H * N_Q * N_K, ROWS = B * H * N_Q, WORKSPACE_ROOM = 1 << 20 };

/* --------------------------------------------------------------------------------------- scene */

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
    attn_tensor out, lse;
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

static scene now, before;
static attn_ctx *ctx;
static attn_pattern *pattern, *other_pattern; /* one fits, one does not */

static void set_question(scene *s) {
    attn_args_init(&s->args);
    s->args.q = attn_tensor_bhsd(s->q, ATTN_F32, B, H, N_Q, D_K);
    s->args.k = attn_tensor_bhsd(s->k, ATTN_F32, B, H_KV, N_K, D_K);
    s->args.v = attn_tensor_bhsd(s->v, ATTN_F32, B, H_KV, N_K, D_V);
    s->args.mask = attn_tensor_bhsd(NULL, ATTN_BOOL, B, H, N_Q, N_K); /* absent until data is set */
    s->args.bias = attn_tensor_bhsd(NULL, ATTN_F32, B, H, N_Q, N_K);
    s->out = attn_tensor_bhsd(s->o, ATTN_F32, B, H, N_Q, D_V);
    s->lse = attn_tensor_bhsd(s->l, ATTN_F32, B, H, N_Q, 1);
    s->p_args = &s->args;
    s->p_out = &s->out;
    s->p_lse = &s->lse;
}

static void set_inspection(scene *s) {
    attn_inspection *w = &s->what;
    attn_inspection_init(w);
    w->raw = attn_tensor_bhsd(s->raw, ATTN_F64, B, H, N_Q, N_K);
    w->capped = attn_tensor_bhsd(s->capped, ATTN_F64, B, H, N_Q, N_K);
    w->biased = attn_tensor_bhsd(s->biased, ATTN_F64, B, H, N_Q, N_K);
    w->weights = attn_tensor_bhsd(s->weights, ATTN_F64, B, H, N_Q, N_K);
    w->entropy = attn_tensor_bhsd(s->entropy, ATTN_F64, B, H, N_Q, 1);
    w->top_weight = attn_tensor_bhsd(s->top_weight, ATTN_F64, B, H, N_Q, K);
    w->top_key = attn_tensor_bhsd(s->top_key, ATTN_I64, B, H, N_Q, K);
    w->received = attn_tensor_bhsd(s->received, ATTN_F64, B, H, 1, N_K);
    s->p_what = w;
}

static void set_partials(scene *s) {
    s->a.out = attn_tensor_bhsd(s->a_out, ATTN_F32, B, H, N_Q, D_V);
    s->b.out = attn_tensor_bhsd(s->b_out, ATTN_F32, B, H, N_Q, D_V);
    s->result.out = attn_tensor_bhsd(s->o, ATTN_F32, B, H, N_Q, D_V);
    s->a.lse = attn_tensor_bhsd(s->a_lse, ATTN_F32, B, H, N_Q, 1);
    s->b.lse = attn_tensor_bhsd(s->b_lse, ATTN_F32, B, H, N_Q, 1);
    s->result.lse = attn_tensor_bhsd(s->l, ATTN_F32, B, H, N_Q, 1);
    s->p_a = &s->a;
    s->p_b = &s->b;
    s->p_result = &s->result;
}

/* The right problem; every byte that is no input holds a pattern. */
static void scene_reset(scene *s) {
    if (!ctx && attn_ctx_create(NULL, &ctx, NULL) != ATTN_OK) abort();
    if (!pattern && attn_pattern_prefix(N_Q, N_K, 2, &pattern, NULL) != ATTN_OK) abort();
    if (!other_pattern && attn_pattern_prefix(N_Q + 1, N_K, 2, &other_pattern, NULL) != ATTN_OK)
        abort();
    memset(s, 0x5a, sizeof *s);
    for (int e = 0; e < COUNT_OF(s->q); e++) s->q[e] = (float)(e % 7) / 4;
    for (int e = 0; e < COUNT_OF(s->k); e++) s->k[e] = (float)(e % 5) / 4;
    for (int e = 0; e < COUNT_OF(s->v); e++) s->v[e] = (float)(e % 11) / 4;
    memset(s->mask, 1, sizeof s->mask);
    memset(s->bias, 0, sizeof s->bias);
    for (int h = 0; h < H; h++) s->per_head[h] = 0.25;
    for (int n = 0; n < 3; n++) {
        s->cu_q[n] = (int64_t[]){0, 1, N_Q}[n];
        s->cu_k[n] = (int64_t[]){0, 2, N_K}[n];
    }
    s->lengths[0] = 1;
    s->lengths[1] = N_Q;
    s->ctx = ctx;
    s->pattern = pattern;
    s->other_pattern = other_pattern;
    set_question(s);
    set_inspection(s);
    set_partials(s);
    s->p_cost = &s->cost;
    s->p_bytes = &s->bytes;
    s->p_text = s->text;
    s->p_slopes = s->slopes;
    s->slopes_H = H;
    attn_ctx_options_init(&s->options);
    s->p_options = &s->options;
}

/* -------------------------------------------------------------------------------- the functions */

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
    READ = FORWARD | WORKSPACE | REFERENCE | INSPECT,                 /* and need data */
    WRITE = FORWARD | REFERENCE                                       /* and have out and lse */
};

static const char *function_name(int function) {
    static const char *const names[FUNCTIONS] = {
        "attn_forward",   "attn_forward_workspace", "attn_reference", "attn_inspect",
        "attn_cost",      "attn_plan_explain",      "attn_merge",     "attn_alibi_slopes",
        "attn_ctx_create"};
    for (int f = 0; f < FUNCTIONS; f++) {
        if (function == 1 << f) return names[f];
    }
    return "?";
}

/* Besides the status, a context that could not be made must be NULL. */
static attn_status create(const scene *s, attn_error *err) {
    attn_ctx *made = (attn_ctx *)(uintptr_t)s;
    const attn_status status = attn_ctx_create(s->p_options, &made, err);
    if (status != ATTN_OK && made != NULL) check_failed(__FILE__, __LINE__, "*ctx is not NULL");
    if (status == ATTN_OK) attn_ctx_destroy(made);
    return status;
}

static attn_status call(scene *s, int function, attn_error *err) {
    switch (function) {
    case FORWARD: return attn_forward(s->ctx, s->p_args, s->p_out, s->p_lse, err);
    case WORKSPACE: return attn_forward_workspace(s->ctx, s->p_args, s->p_bytes, err);
    case REFERENCE: return attn_reference(s->p_args, s->p_out, s->p_lse, err);
    case INSPECT: return attn_inspect(s->ctx, s->p_args, s->p_what, err);
    case COST: return attn_cost(s->ctx, s->p_args, s->p_cost, err);
    case EXPLAIN:
        return attn_plan_explain(s->ctx, s->p_args, s->p_text, sizeof s->text, &s->needed, err);
    case MERGE: return attn_merge(s->p_a, s->p_b, s->p_result, err);
    case SLOPES: return attn_alibi_slopes(s->slopes_H, s->p_slopes, err);
    default: return create(s, err);
    }
}

/* -------------------------------------------------------------------------------------- changes */

/* One field of the scene gets another value. */
typedef struct change {
    size_t at;
    enum { END, TO_I64, TO_F64, TO_I32, TO_ADDRESS, TO_FIELD, TO_NULL } kind;
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

static void apply(scene *s, const change *c) {
    char *at = (char *)s + c->at, *address = (char *)s + c->from;
    const int32_t small = (int32_t)c->integer;
    const void *const null = NULL;
    switch (c->kind) {
    case TO_I64: memcpy(at, &c->integer, sizeof c->integer); break;
    case TO_F64: memcpy(at, &c->number, sizeof c->number); break;
    case TO_I32: memcpy(at, &small, sizeof small); break;
    case TO_ADDRESS: memcpy(at, &address, sizeof address); break;
    case TO_FIELD: memcpy(at, address, sizeof(void *)); break;
    case TO_NULL: memcpy(at, &null, sizeof null); break;
    default: break;
    }
}

enum { CHANGES = 10 };

static void apply_all(scene *s, const change changes[CHANGES]) {
    for (int c = 0; c < CHANGES && changes[c].kind != END; c++) apply(s, &changes[c]);
}

/* ---------------------------------------------------------------------------------- wrong cases */

typedef struct wrong {
    int by; /* the functions that must refuse it */
    attn_status status;
    const char *name;  /* what the message begins with */
    const char *value; /* what it contains; NULL if there is no value to tell */
    change changes[CHANGES];
} wrong;

/* The message begins with the name of the argument: "q: ..." or "len_q[1]: ...". */
static bool names_it(const char *message, const wrong *w) {
    const size_t n = strlen(w->name);
    return strncmp(message, w->name, n) == 0 && message[n] == ':' &&
           (!w->value || strstr(message + n, w->value));
}

static void check_refused(const wrong *w, int number, int function) {
    attn_error err = {"no message"};
    for (int with_error = 1; with_error >= 0; with_error--) {
        scene_reset(&now);
        apply_all(&now, w->changes);
        memcpy(&before, &now, sizeof now);
        const attn_status status = call(&now, function, with_error ? &err : NULL);
        CHECK_MSG(status == w->status, "case %d (%s %s), %s: %s instead of %s: %s", number, w->name,
                  w->value ? w->value : "", function_name(function), attn_status_name(status),
                  attn_status_name(w->status), err.message);
        CHECK_MSG(memcmp(&before, &now, sizeof now) == 0, "case %d (%s), %s: something was written",
                  number, w->name, function_name(function));
    }
    CHECK_MSG(names_it(err.message, w), "case %d, %s: expected \"%s: ... %s\", got \"%s\"", number,
              function_name(function), w->name, w->value ? w->value : "", err.message);
}

static void check_all_refused(const wrong *table, int n) {
    for (int w = 0; w < n; w++) {
        for (int f = 0; f < FUNCTIONS; f++) {
            if (table[w].by & 1 << f) check_refused(&table[w], w, 1 << f);
            if (check_has_failed()) return;
        }
    }
}

#define CHECK_REFUSED(table) check_all_refused(table, COUNT_OF(table))

#define MAX_I64   INT64_MAX
#define WITH_MASK AT(args.mask.data, mask, 0)
#define WITH_BIAS AT(args.bias.data, bias, 0)
#define PACKED                                                                                     \
    I64(args.q.shape[0], 1), I64(args.k.shape[0], 1), I64(args.v.shape[0], 1),                     \
        AT(args.cu_q, cu_q, 0), AT(args.cu_k, cu_k, 0), I64(args.n_seqs, 2)

TEST(the_scene_itself_is_right) {
    for (int f = 0; f < FUNCTIONS; f++) {
        attn_error err = {"untouched"};
        scene_reset(&now);
        const attn_status status = call(&now, 1 << f, &err);
        CHECK_MSG(status == ATTN_OK, "%s: %s", function_name(1 << f), err.message);
        CHECK_STR(err.message, "untouched");
    }
}

TEST(missing_pointers_are_refused) {
    static const wrong table[] = {
        {ALL & ~REFERENCE, ATTN_E_NULL, "ctx", "NULL", {NONE(ctx)}},
        {ALL, ATTN_E_NULL, "args", "NULL", {NONE(p_args)}},
        {WRITE, ATTN_E_NULL, "out", "NULL", {NONE(p_out)}},
        {WORKSPACE, ATTN_E_NULL, "bytes", "NULL", {NONE(p_bytes)}},
        {INSPECT, ATTN_E_NULL, "what", "NULL", {NONE(p_what)}},
        {COST, ATTN_E_NULL, "cost", "NULL", {NONE(p_cost)}},
        {EXPLAIN, ATTN_E_NULL, "text", "NULL", {NONE(p_text)}},
        {MERGE, ATTN_E_NULL, "a", "NULL", {NONE(p_a)}},
        {MERGE, ATTN_E_NULL, "b", "NULL", {NONE(p_b)}},
        {MERGE, ATTN_E_NULL, "result", "NULL", {NONE(p_result)}},
        {SLOPES, ATTN_E_NULL, "slopes", "NULL", {NONE(p_slopes)}},
        {READ, ATTN_E_NULL, "q", "NULL", {NONE(args.q.data)}},
        {READ, ATTN_E_NULL, "k", "NULL", {NONE(args.k.data)}},
        {READ, ATTN_E_NULL, "v", "NULL", {NONE(args.v.data)}},
        {WRITE, ATTN_E_NULL, "out", "NULL", {NONE(out.data)}},
        {MERGE, ATTN_E_NULL, "a.out", "NULL", {NONE(a.out.data)}},
        {MERGE, ATTN_E_NULL, "b.lse", "NULL", {NONE(b.lse.data)}},
        {MERGE, ATTN_E_NULL, "result.out", "NULL", {NONE(result.out.data)}},
        {CREATE, ATTN_E_NULL, "alloc", "NULL", {NONE(options.alloc.alloc)}},
        {CREATE, ATTN_E_NULL, "alloc", "free", {NONE(options.alloc.free)}},
    };
    CHECK_REFUSED(table);
}

TEST(context_needs_a_place) {
    attn_error err = {""};
    CHECK_INT(attn_ctx_create(NULL, NULL, &err), ATTN_E_NULL);
    CHECK_MSG(strncmp(err.message, "ctx:", 4) == 0, "%s", err.message);
    CHECK_INT(attn_ctx_create(NULL, NULL, NULL), ATTN_E_NULL);
}

TEST(structs_of_another_size_are_refused) {
    static const wrong table[] = {
        {ALL, ATTN_E_STRUCT, "args", " 0,", {I32(args.struct_size, 0)}},
        {ALL, ATTN_E_STRUCT, "args", " 8,", {I32(args.struct_size, 8)}},
        {ALL, ATTN_E_STRUCT, "args", NULL, {I32(args.struct_size, sizeof(attn_args) + 8)}},
        {ALL, ATTN_E_STRUCT, "args", "4294967295", {I32(args.struct_size, -1)}},
        {INSPECT, ATTN_E_STRUCT, "what", " 0,", {I32(what.struct_size, 0)}},
        {INSPECT, ATTN_E_STRUCT, "what", " 12,", {I32(what.struct_size, 12)}},
        {CREATE, ATTN_E_STRUCT, "options", " 0,", {I32(options.struct_size, 0)}},
        {CREATE, ATTN_E_STRUCT, "options", " 4,", {I32(options.struct_size, 4)}},
    };
    CHECK_REFUSED(table);
}

/* ------------------------------------------------------------------------------------- q, k, v */

TEST(negative_and_zero_dimensions_are_refused) {
    static const wrong table[] = {
        {ALL, ATTN_E_SHAPE, "q", "batch is -1", {I64(args.q.shape[0], -1)}},
        {ALL, ATTN_E_SHAPE, "q", "heads is -4", {I64(args.q.shape[1], -4)}},
        {ALL, ATTN_E_SHAPE, "q", "rows is -2", {I64(args.q.shape[2], -2)}},
        {ALL, ATTN_E_SHAPE, "q", "columns is -8", {I64(args.q.shape[3], -8)}},
        {ALL, ATTN_E_SHAPE, "k", "-1", {I64(args.k.shape[0], -1)}},
        {ALL, ATTN_E_SHAPE, "k", "-1", {I64(args.k.shape[1], -1)}},
        {ALL, ATTN_E_SHAPE, "k", "-1", {I64(args.k.shape[2], -1)}},
        {ALL, ATTN_E_SHAPE, "k", "-1", {I64(args.k.shape[3], -1)}},
        {ALL, ATTN_E_SHAPE, "v", "-1", {I64(args.v.shape[0], -1)}},
        {ALL, ATTN_E_SHAPE, "v", "-1", {I64(args.v.shape[1], -1)}},
        {ALL, ATTN_E_SHAPE, "v", "-1", {I64(args.v.shape[2], -1)}},
        {ALL, ATTN_E_SHAPE, "v", "-9223372036854775808", {I64(args.v.shape[3], INT64_MIN)}},
        {ALL, ATTN_E_SHAPE, "q", "heads is 0", {I64(args.q.shape[1], 0)}},
        {ALL, ATTN_E_SHAPE, "q", "columns is 0", {I64(args.q.shape[3], 0)}},
        {ALL, ATTN_E_SHAPE, "k", "heads is 0", {I64(args.k.shape[1], 0)}},
        {ALL, ATTN_E_SHAPE, "k", "columns is 0", {I64(args.k.shape[3], 0)}},
        {ALL, ATTN_E_SHAPE, "v", "heads is 0", {I64(args.v.shape[1], 0)}},
        {ALL, ATTN_E_SHAPE, "v", "columns is 0", {I64(args.v.shape[3], 0)}},
    };
    CHECK_REFUSED(table);
}

TEST(shapes_that_do_not_match_are_refused) {
    static const wrong table[] = {
        {ALL, ATTN_E_SHAPE, "k", "batch is 1, expected 2", {I64(args.k.shape[0], 1)}},
        {ALL, ATTN_E_SHAPE, "k", "batch is 0, expected 2", {I64(args.k.shape[0], 0)}},
        {ALL, ATTN_E_SHAPE, "v", "batch is 3, expected 2", {I64(args.v.shape[0], 3)}},
        {ALL, ATTN_E_SHAPE, "k", "batch is 2, expected 1", {I64(args.q.shape[0], 1)}},
        {ALL, ATTN_E_SHAPE, "k", "columns is 7, expected 8", {I64(args.k.shape[3], 7)}},
        {ALL, ATTN_E_SHAPE, "k", "columns is 8, expected 5", {I64(args.q.shape[3], 5)}},
        {ALL, ATTN_E_SHAPE, "v", "heads is 1, expected 2", {I64(args.v.shape[1], 1)}},
        {ALL, ATTN_E_SHAPE, "v", "rows is 4, expected 5", {I64(args.v.shape[2], 4)}},
        {ALL, ATTN_E_SHAPE, "v", "rows is 0, expected 5", {I64(args.v.shape[2], 0)}},
        {ALL, ATTN_E_SHAPE, "v", "rows is 5, expected 6", {I64(args.k.shape[2], 6)}},
        {ALL, ATTN_E_SHAPE, "k", "2", {I64(args.q.shape[1], 3)}},
        {ALL, ATTN_E_SHAPE, "k", "2", {I64(args.q.shape[1], 1)}},
        {ALL, ATTN_E_SHAPE, "k", "3", {I64(args.k.shape[1], 3), I64(args.v.shape[1], 3)}},
        {ALL, ATTN_E_SHAPE, "k", "8", {I64(args.k.shape[1], 8), I64(args.v.shape[1], 8)}},
    };
    CHECK_REFUSED(table);
}

TEST(wrong_dtypes_are_refused) {
    static const wrong table[] = {
        {ALL, ATTN_E_DTYPE, "q", "77", {I32(args.q.dtype, 77)}},
        {ALL, ATTN_E_DTYPE, "k", "-1", {I32(args.k.dtype, -1)}},
        {ALL, ATTN_E_DTYPE, "v", "6", {I32(args.v.dtype, 6)}},
        {ALL, ATTN_E_DTYPE, "q", "bool", {I32(args.q.dtype, ATTN_BOOL)}},
        {ALL, ATTN_E_DTYPE, "q", "i64", {I32(args.q.dtype, ATTN_I64)}},
        {ALL, ATTN_E_DTYPE, "k", "bool", {I32(args.k.dtype, ATTN_BOOL)}},
        {ALL, ATTN_E_DTYPE, "v", "i64", {I32(args.v.dtype, ATTN_I64)}},
        {ALL, ATTN_E_DTYPE, "k", "f64", {I32(args.k.dtype, ATTN_F64)}},
        {ALL, ATTN_E_DTYPE, "v", "f16", {I32(args.v.dtype, ATTN_F16)}},
        {ALL, ATTN_E_DTYPE, "k", "f32", {I32(args.q.dtype, ATTN_BF16)}},
        {ALL, ATTN_E_DTYPE, "mask", "f32", {WITH_MASK, I32(args.mask.dtype, ATTN_F32)}},
        {ALL, ATTN_E_DTYPE, "mask", "i64", {WITH_MASK, I32(args.mask.dtype, ATTN_I64)}},
        {ALL, ATTN_E_DTYPE, "mask", "99", {WITH_MASK, I32(args.mask.dtype, 99)}},
        {ALL, ATTN_E_DTYPE, "bias", "bool", {WITH_BIAS, I32(args.bias.dtype, ATTN_BOOL)}},
        {ALL, ATTN_E_DTYPE, "bias", "i64", {WITH_BIAS, I32(args.bias.dtype, ATTN_I64)}},
        {ALL, ATTN_E_DTYPE, "bias", "-5", {WITH_BIAS, I32(args.bias.dtype, -5)}},
    };
    CHECK_REFUSED(table);
}

TEST(strided_columns_and_misaligned_data_are_refused) {
    static const wrong table[] = {
        {ALL, ATTN_E_STRIDE, "q", "2", {I64(args.q.stride[3], 2)}},
        {ALL, ATTN_E_STRIDE, "q", "0", {I64(args.q.stride[3], 0)}},
        {ALL, ATTN_E_STRIDE, "k", "-1", {I64(args.k.stride[3], -1)}},
        {ALL, ATTN_E_STRIDE, "v", "7", {I64(args.v.stride[3], 7)}},
        {ALL, ATTN_E_STRIDE, "q", "aligned", {AT(args.q.data, q, 1)}},
        {ALL, ATTN_E_STRIDE, "k", "aligned", {AT(args.k.data, k, 2)}},
        {ALL, ATTN_E_STRIDE, "v", "aligned", {AT(args.v.data, v, 3)}},
        {ALL, ATTN_E_STRIDE, "bias", "aligned", {AT(args.bias.data, bias, 2)}},
    };
    CHECK_REFUSED(table);
}

TEST(sizes_beyond_the_address_space_are_refused) {
    static const wrong table[] = {
        {ALL, ATTN_E_OVERFLOW, "q", "4611686018427387904", {I64(args.q.shape[2], 1LL << 62)}},
        {ALL, ATTN_E_OVERFLOW, "q", "9223372036854775807", {I64(args.q.shape[3], MAX_I64)}},
        {ALL, ATTN_E_OVERFLOW, "k", "2305843009213693952", {I64(args.k.shape[0], 1LL << 61)}},
        {ALL, ATTN_E_OVERFLOW, "v", "9223372036854775807", {I64(args.v.shape[1], MAX_I64)}},
        {ALL, ATTN_E_OVERFLOW, "q", NULL, {I64(args.q.stride[0], MAX_I64)}},
        {ALL, ATTN_E_OVERFLOW, "k", NULL, {I64(args.k.stride[1], INT64_MIN)}},
        {ALL, ATTN_E_OVERFLOW, "v", NULL, {I64(args.v.stride[2], MAX_I64 / 4)}},
        {ALL, /* each fits, the sum does not */
         ATTN_E_OVERFLOW,
         "q",
         NULL,
         {I64(args.q.stride[0], MAX_I64 / 4), I64(args.q.stride[1], MAX_I64 / 16)}},
        {ALL, /* both ends fit, the distance between them does not */
         ATTN_E_OVERFLOW,
         "q",
         NULL,
         {I64(args.q.stride[0], MAX_I64 / 5), I64(args.q.stride[1], -MAX_I64 / 15)}},
        {ALL,
         ATTN_E_OVERFLOW,
         "mask",
         NULL,
         {WITH_MASK, I64(args.mask.stride[2], MAX_I64 / 2 + 1)}},
        {ALL, ATTN_E_OVERFLOW, "bias", NULL, {WITH_BIAS, I64(args.bias.stride[0], MAX_I64 / 2)}},
        {MERGE, ATTN_E_OVERFLOW, "a.out", NULL, {I64(a.out.stride[0], MAX_I64 / 2)}},
        {MERGE, ATTN_E_OVERFLOW, "b.lse", NULL, {I64(b.lse.stride[2], INT64_MIN)}},
        {MERGE, ATTN_E_OVERFLOW, "result.out", NULL, {I64(result.out.shape[2], 1LL << 62)}},
    };
    CHECK_REFUSED(table);
}

/* Shapes whose strides do not even fit int64_t. */
TEST(dense_views_of_absurd_shapes_are_refused) {
    const int64_t huge = 1LL << 40;
    const int64_t shapes[][4] = {{huge, huge, 1, 8},
                                 {1, huge, huge, 8},
                                 {huge, 4, huge, 8},
                                 {1, 4, huge, huge},
                                 {huge, huge, huge, huge}};
    for (int n = 0; n < COUNT_OF(shapes); n++) {
        for (int bshd = 0; bshd < 2; bshd++) {
            const int64_t *s = shapes[n];
            attn_error err = {""};
            scene_reset(&now);
            now.args.q = bshd ? attn_tensor_bshd(now.q, ATTN_F32, s[0], s[1], s[2], s[3])
                              : attn_tensor_bhsd(now.q, ATTN_F32, s[0], s[1], s[2], s[3]);
            CHECK_INT(call(&now, FORWARD, &err), ATTN_E_OVERFLOW);
            CHECK_MSG(strncmp(err.message, "q:", 2) == 0, "%s", err.message);
        }
    }
}

/* -------------------------------------------------------------------------------------- numbers */

TEST(numbers_out_of_range_are_refused) {
    static const wrong table[] = {
        {ALL, ATTN_E_VALUE, "scale", "nan", {F64(args.scale, NAN)}},
        {ALL, ATTN_E_VALUE, "scale", "inf", {F64(args.scale, INFINITY)}},
        {ALL, ATTN_E_VALUE, "temperature", " 0,", {F64(args.temperature, 0)}},
        {ALL, ATTN_E_VALUE, "temperature", "-1", {F64(args.temperature, -1)}},
        {ALL, ATTN_E_VALUE, "temperature", "nan", {F64(args.temperature, NAN)}},
        {ALL, ATTN_E_VALUE, "temperature", "inf", {F64(args.temperature, INFINITY)}},
        {ALL, ATTN_E_VALUE, "softcap", "-1", {F64(args.softcap, -1)}},
        {ALL, ATTN_E_VALUE, "softcap", "nan", {F64(args.softcap, NAN)}},
        {ALL, ATTN_E_VALUE, "softcap", "inf", {F64(args.softcap, INFINITY)}},
        {ALL, ATTN_E_VALUE, "dropout", "-0.1", {F64(args.dropout, -0.1)}},
        {ALL, ATTN_E_VALUE, "dropout", " 1,", {F64(args.dropout, 1)}},
        {ALL, ATTN_E_VALUE, "dropout", "1.5", {F64(args.dropout, 1.5)}},
        {ALL, ATTN_E_VALUE, "dropout", "nan", {F64(args.dropout, NAN)}},
        {ALL, ATTN_E_VALUE, "window_left", "-2", {I64(args.window_left, -2)}},
        {ALL, ATTN_E_VALUE, "window_right", "-2", {I64(args.window_right, -2)}},
        {ALL,
         ATTN_E_VALUE,
         "window_left",
         "-9223372036854775808",
         {I64(args.window_left, INT64_MIN)}},
        {SLOPES, ATTN_E_VALUE, "H", " 0,", {I64(slopes_H, 0)}},
        {SLOPES, ATTN_E_VALUE, "H", "-3", {I64(slopes_H, -3)}},
        {CREATE, ATTN_E_VALUE, "threads", "-1", {I32(options.threads, -1)}},
        {CREATE, ATTN_E_VALUE, "threads", "1025", {I32(options.threads, 1025)}},
        {CREATE, ATTN_E_VALUE, "isa", "99", {I32(options.isa, 99)}},
        {CREATE, ATTN_E_VALUE, "isa", "-1", {I32(options.isa, -1)}},
    };
    CHECK_REFUSED(table);
}

#define ALIBI AT(args.alibi, per_head, 0)
#define SINKS AT(args.sinks, per_head, 0)

TEST(slopes_and_sinks_out_of_range_are_refused) {
    static const wrong table[] = {
        {ALL, ATTN_E_VALUE, "alibi[0]", "inf", {ALIBI, F64(per_head[0], INFINITY)}},
        {ALL, ATTN_E_VALUE, "alibi[3]", "-inf", {ALIBI, F64(per_head[3], -INFINITY)}},
        {ALL, ATTN_E_VALUE, "alibi[1]", "nan", {ALIBI, F64(per_head[1], NAN)}},
        {ALL, ATTN_E_VALUE, "sinks[2]", "inf", {SINKS, F64(per_head[2], INFINITY)}},
        {ALL, ATTN_E_VALUE, "sinks[3]", "nan", {SINKS, F64(per_head[3], NAN)}},
    };
    CHECK_REFUSED(table);
}

/* ------------------------------------------------------------------------------------ sequences */

#define LEN_Q AT(args.len_q, lengths, 0)
#define LEN_K AT(args.len_k, lengths, 0)

TEST(lengths_out_of_range_are_refused) {
    static const wrong table[] = {
        {ALL, ATTN_E_VALUE, "len_q[0]", "-1", {LEN_Q, I64(lengths[0], -1)}},
        {ALL, ATTN_E_VALUE, "len_q[1]", "4", {LEN_Q, I64(lengths[1], N_Q + 1)}},
        {ALL, ATTN_E_VALUE, "len_k[0]", "6", {LEN_K, I64(lengths[0], N_K + 1)}},
        {ALL, ATTN_E_VALUE, "len_k[1]", "-7", {LEN_K, I64(lengths[1], -7)}},
    };
    CHECK_REFUSED(table);
}

TEST(wrong_packing_is_refused) {
    static const wrong table[] = {
        {ALL, ATTN_E_NULL, "cu_k", "NULL", {PACKED, NONE(args.cu_k)}},
        {ALL, ATTN_E_NULL, "cu_q", "NULL", {PACKED, NONE(args.cu_q)}},
        {ALL, ATTN_E_VALUE, "cu_q[0]", "1", {PACKED, I64(cu_q[0], 1)}},
        {ALL, ATTN_E_VALUE, "cu_k[0]", "-1", {PACKED, I64(cu_k[0], -1)}},
        {ALL, ATTN_E_VALUE, "cu_q[2]", "2", {PACKED, I64(cu_q[2], 2)}},
        {ALL, ATTN_E_VALUE, "cu_k[2]", "6", {PACKED, I64(cu_k[2], 6)}},
        {ALL, ATTN_E_VALUE, "cu_q[2]", "3", {PACKED, I64(cu_q[1], 4)}},
        {ALL, ATTN_E_VALUE, "cu_k[1]", "-2", {PACKED, I64(cu_k[1], -2)}},
        {ALL, ATTN_E_VALUE, "len_q", "cu_q", {PACKED, LEN_Q}},
        {ALL, ATTN_E_VALUE, "len_k", "cu_q", {PACKED, LEN_K}},
        {ALL, ATTN_E_VALUE, "n_seqs", " 0,", {PACKED, I64(args.n_seqs, 0)}},
        {ALL, ATTN_E_VALUE, "n_seqs", "-1", {PACKED, I64(args.n_seqs, -1)}},
        {ALL,
         ATTN_E_SHAPE,
         "q",
         "2",
         {AT(args.cu_q, cu_q, 0), AT(args.cu_k, cu_k, 0), I64(args.n_seqs, 2)}},
    };
    CHECK_REFUSED(table);
}

/* -------------------------------------------------------------------------------- mask and bias */

TEST(masks_and_biases_of_a_wrong_shape_are_refused) {
    static const wrong table[] = {
        {ALL, ATTN_E_SHAPE, "mask", "batch is 3", {WITH_MASK, I64(args.mask.shape[0], 3)}},
        {ALL, ATTN_E_SHAPE, "mask", "batch is 0", {WITH_MASK, I64(args.mask.shape[0], 0)}},
        {ALL, ATTN_E_SHAPE, "mask", "heads is 2", {WITH_MASK, I64(args.mask.shape[1], 2)}},
        {ALL, ATTN_E_SHAPE, "mask", "rows is 2", {WITH_MASK, I64(args.mask.shape[2], 2)}},
        {ALL, ATTN_E_SHAPE, "mask", "rows is 4", {WITH_MASK, I64(args.mask.shape[2], 4)}},
        {ALL, ATTN_E_SHAPE, "mask", "columns is 6", {WITH_MASK, I64(args.mask.shape[3], 6)}},
        {ALL, ATTN_E_SHAPE, "mask", "-1", {WITH_MASK, I64(args.mask.shape[3], -1)}},
        {ALL, ATTN_E_SHAPE, "bias", "batch is 3", {WITH_BIAS, I64(args.bias.shape[0], 3)}},
        {ALL, ATTN_E_SHAPE, "bias", "heads is 3", {WITH_BIAS, I64(args.bias.shape[1], 3)}},
        {ALL, ATTN_E_SHAPE, "bias", "rows is 2", {WITH_BIAS, I64(args.bias.shape[2], 2)}},
        {ALL, ATTN_E_SHAPE, "bias", "columns is 6", {WITH_BIAS, I64(args.bias.shape[3], 6)}},
        {ALL, ATTN_E_SHAPE, "bias", "-3", {WITH_BIAS, I64(args.bias.shape[2], -3)}},
        {ALL, ATTN_E_SHAPE, "pattern", "4 x 5", {COPY(args.pattern, other_pattern)}},
        /* packed: as many batches as sequences, rows and keys for the longest */
        {ALL, ATTN_E_SHAPE, "mask", "batch is 3", {PACKED, WITH_MASK, I64(args.mask.shape[0], 3)}},
        {ALL,
         ATTN_E_SHAPE,
         "mask",
         "rows is 2",
         {PACKED, I64(cu_q[1], 0), WITH_MASK, I64(args.mask.shape[2], 2)}},
        {ALL,
         ATTN_E_SHAPE,
         "pattern",
         "3 x 5",
         {PACKED, I64(cu_q[1], 4), I64(args.q.shape[2], 4), I64(cu_q[2], 4),
          COPY(args.pattern, pattern)}},
    };
    CHECK_REFUSED(table);
}

/* -------------------------------------------------------------------------------------- outputs */

TEST(outputs_of_a_wrong_shape_or_dtype_are_refused) {
    static const wrong table[] = {
        {WRITE, ATTN_E_SHAPE, "out", "batch is 1", {I64(out.shape[0], 1)}},
        {WRITE, ATTN_E_SHAPE, "out", "heads is 2", {I64(out.shape[1], 2)}},
        {WRITE, ATTN_E_SHAPE, "out", "rows is 5", {I64(out.shape[2], 5)}},
        {WRITE, ATTN_E_SHAPE, "out", "columns is 8", {I64(out.shape[3], 8)}},
        {WRITE, ATTN_E_SHAPE, "out", "columns is 0", {I64(out.shape[3], 0)}},
        {WRITE, ATTN_E_SHAPE, "out", "-2", {I64(out.shape[2], -2)}},
        {WRITE, ATTN_E_SHAPE, "lse", "batch is 1", {I64(lse.shape[0], 1)}},
        {WRITE, ATTN_E_SHAPE, "lse", "heads is 3", {I64(lse.shape[1], 3)}},
        {WRITE, ATTN_E_SHAPE, "lse", "rows is 2", {I64(lse.shape[2], 2)}},
        {WRITE, ATTN_E_SHAPE, "lse", "columns is 6", {I64(lse.shape[3], 6)}},
        {FORWARD, ATTN_E_DTYPE, "out", "f64", {I32(out.dtype, ATTN_F64)}},
        {WRITE, ATTN_E_DTYPE, "out", "f16", {I32(out.dtype, ATTN_F16)}},
        {WRITE, ATTN_E_DTYPE, "out", "bool", {I32(out.dtype, ATTN_BOOL)}},
        {WRITE, ATTN_E_DTYPE, "out", "1234", {I32(out.dtype, 1234)}},
        {WRITE, ATTN_E_DTYPE, "lse", "bf16", {I32(lse.dtype, ATTN_BF16)}},
        {WRITE, ATTN_E_DTYPE, "lse", "-1", {I32(lse.dtype, -1)}},
        {WRITE, ATTN_E_OVERFLOW, "out", NULL, {I64(out.stride[0], MAX_I64 / 2)}},
        {WRITE, ATTN_E_OVERFLOW, "lse", NULL, {I64(lse.stride[2], INT64_MIN)}},
    };
    CHECK_REFUSED(table);
}

TEST(outputs_whose_elements_cannot_be_told_apart_are_refused) {
    static const wrong table[] = {
        {WRITE, ATTN_E_STRIDE, "out", "batch is 0", {I64(out.stride[0], 0)}},
        {WRITE, ATTN_E_STRIDE, "out", "heads is 0", {I64(out.stride[1], 0)}},
        {WRITE, ATTN_E_STRIDE, "out", "rows is 0", {I64(out.stride[2], 0)}},
        {WRITE, ATTN_E_STRIDE, "out", "0", {I64(out.stride[3], 0)}},
        {WRITE, ATTN_E_STRIDE, "out", "2", {I64(out.stride[3], 2)}},
        {WRITE, ATTN_E_STRIDE, "out", "aligned", {AT(out.data, o, 1)}},
        {WRITE, ATTN_E_STRIDE, "lse", "batch is 0", {I64(lse.stride[0], 0)}},
        {WRITE, ATTN_E_STRIDE, "lse", "heads is 0", {I64(lse.stride[1], 0)}},
        {WRITE, ATTN_E_STRIDE, "lse", "rows is 0", {I64(lse.stride[2], 0)}},
        {WRITE, ATTN_E_STRIDE, "lse", "aligned", {AT(lse.data, l, 2)}},
    };
    CHECK_REFUSED(table);
}

#define LAST(array) (sizeof((scene *)0)->array - sizeof(float)) /* its last element */

TEST(outputs_that_overlap_something_are_refused) {
    static const wrong table[] = {
        {WRITE, ATTN_E_OVERLAP, "out", "q", {AT(out.data, q, 0)}},
        {WRITE, ATTN_E_OVERLAP, "out", "q", {AT(out.data, q, LAST(q))}},
        {WRITE, ATTN_E_OVERLAP, "out", "k", {AT(out.data, k, LAST(k))}},
        {WRITE, ATTN_E_OVERLAP, "out", "v", {AT(out.data, v, 0)}},
        {WRITE, ATTN_E_OVERLAP, "out", "q", {AT(args.q.data, o, 0)}},
        {WRITE, ATTN_E_OVERLAP, "out", "k", {AT(args.k.data, o, 8)}},
        {WRITE, ATTN_E_OVERLAP, "out", "mask", {AT(args.mask.data, o, 100)}},
        {WRITE, ATTN_E_OVERLAP, "out", "bias", {AT(args.bias.data, o, 100)}},
        {WRITE, ATTN_E_OVERLAP, "lse", "q", {AT(lse.data, q, LAST(q))}},
        {WRITE, ATTN_E_OVERLAP, "lse", "k", {AT(lse.data, k, 0)}},
        {WRITE, ATTN_E_OVERLAP, "lse", "v", {AT(lse.data, v, 16)}},
        {WRITE, ATTN_E_OVERLAP, "lse", "mask", {WITH_MASK, AT(lse.data, mask, 0)}},
        {WRITE, ATTN_E_OVERLAP, "lse", "bias", {WITH_BIAS, AT(lse.data, bias, 0)}},
        {WRITE, ATTN_E_OVERLAP, "lse", "out", {AT(lse.data, o, 4)}},
        {WRITE, ATTN_E_OVERLAP, "lse", "out", {AT(out.data, l, 0)}},
    };
    CHECK_REFUSED(table);
}

TEST(wrong_inspections_are_refused) {
    static const wrong table[] = {
        {INSPECT, ATTN_E_SHAPE, "raw", "rows is 4", {I64(what.raw.shape[2], 4)}},
        {INSPECT, ATTN_E_SHAPE, "capped", "columns is 6", {I64(what.capped.shape[3], 6)}},
        {INSPECT, ATTN_E_SHAPE, "biased", "batch is 1", {I64(what.biased.shape[0], 1)}},
        {INSPECT, ATTN_E_SHAPE, "weights", "heads is 2", {I64(what.weights.shape[1], 2)}},
        {INSPECT, ATTN_E_SHAPE, "entropy", "columns is 5", {I64(what.entropy.shape[3], 5)}},
        {INSPECT, ATTN_E_SHAPE, "received", "rows is 3", {I64(what.received.shape[2], 3)}},
        {INSPECT, ATTN_E_SHAPE, "top_key", "columns is 3", {I64(what.top_key.shape[3], 3)}},
        {INSPECT, ATTN_E_SHAPE, "top_weight", " 0,", {I64(what.top_weight.shape[3], 0)}},
        {INSPECT, ATTN_E_SHAPE, "raw", "-3", {I64(what.raw.shape[2], -3)}},
        {INSPECT, ATTN_E_DTYPE, "raw", "f16", {I32(what.raw.dtype, ATTN_F16)}},
        {INSPECT, ATTN_E_DTYPE, "weights", "77", {I32(what.weights.dtype, 77)}},
        {INSPECT, ATTN_E_DTYPE, "entropy", "i64", {I32(what.entropy.dtype, ATTN_I64)}},
        {INSPECT, ATTN_E_DTYPE, "top_key", "f64", {I32(what.top_key.dtype, ATTN_F64)}},
        {INSPECT, ATTN_E_DTYPE, "top_weight", "i64", {I32(what.top_weight.dtype, ATTN_I64)}},
        {INSPECT, ATTN_E_STRIDE, "weights", "columns is 0", {I64(what.weights.stride[3], 0)}},
        {INSPECT, ATTN_E_STRIDE, "received", "heads is 0", {I64(what.received.stride[1], 0)}},
        {INSPECT, ATTN_E_STRIDE, "top_key", "aligned", {AT(what.top_key.data, top_key, 4)}},
        {INSPECT, ATTN_E_OVERFLOW, "raw", NULL, {I64(what.raw.stride[0], MAX_I64)}},
        {INSPECT, ATTN_E_OVERLAP, "raw", "q", {AT(what.raw.data, q, 0)}},
        {INSPECT, ATTN_E_OVERLAP, "received", "v", {AT(what.received.data, v, 0)}},
        {INSPECT, ATTN_E_OVERLAP, "capped", "raw", {AT(what.capped.data, raw, 0)}},
        {INSPECT, ATTN_E_OVERLAP, "received", "entropy", {AT(what.received.data, entropy, 8)}},
        {INSPECT, ATTN_E_OVERLAP, "top_key", "top_weight", {AT(what.top_key.data, top_weight, 0)}},
    };
    CHECK_REFUSED(table);
}

TEST(wrong_partial_results_are_refused) {
    static const wrong table[] = {
        {MERGE, ATTN_E_DTYPE, "a.out", "i64", {I32(a.out.dtype, ATTN_I64)}},
        {MERGE, ATTN_E_DTYPE, "b.lse", "f16", {I32(b.lse.dtype, ATTN_F16)}},
        {MERGE, ATTN_E_DTYPE, "result.out", "?", {I32(result.out.dtype, 55)}},
        {MERGE, ATTN_E_DTYPE, "a", "f16", {I32(a.out.dtype, ATTN_F16)}},
        {MERGE, ATTN_E_SHAPE, "a.out", "-1", {I64(a.out.shape[1], -1)}},
        {MERGE, ATTN_E_SHAPE, "b.lse", "-2", {I64(b.lse.shape[0], -2)}},
        {MERGE, ATTN_E_SHAPE, "a.lse", NULL, {I64(a.lse.shape[3], 2)}},
        {MERGE, ATTN_E_SHAPE, "a.lse", NULL, {I64(a.lse.shape[2], 2)}},
        {MERGE, ATTN_E_SHAPE, "b.lse", NULL, {I64(b.out.shape[0], 1)}},
        {MERGE, ATTN_E_SHAPE, "a.out", NULL, {I64(a.out.shape[3], 5)}},
        {MERGE, ATTN_E_STRIDE, "b.out", "3", {I64(b.out.stride[3], 3)}},
        {MERGE, ATTN_E_STRIDE, "result.out", "0", {I64(result.out.stride[2], 0)}},
        {MERGE, ATTN_E_STRIDE, "result.lse", "0", {I64(result.lse.stride[0], 0)}},
        {MERGE, ATTN_E_STRIDE, "a.out", "aligned", {AT(a.out.data, a_out, 2)}},
        {MERGE, ATTN_E_OVERLAP, "result", "a", {AT(result.out.data, a_out, 4)}},
        {MERGE, ATTN_E_OVERLAP, "result", "b", {AT(result.lse.data, b_lse, 4)}},
        {MERGE, ATTN_E_OVERLAP, "result", "b", {AT(result.lse.data, b_out, 0)}},
        {MERGE, ATTN_E_OVERLAP, "result", "lse", {AT(result.lse.data, o, 0)}},
    };
    CHECK_REFUSED(table);
}

/* ------------------------------------------------------------------------------------ workspace */

static _Alignas(64) char workspace[WORKSPACE_ROOM];

/* The scene with a workspace of `missing` bytes too few, `shift` bytes off its alignment. */
static attn_status forward_in_workspace(size_t missing, size_t shift, attn_error *err) {
    size_t bytes;
    scene_reset(&now);
    if (attn_forward_workspace(now.ctx, &now.args, &bytes, NULL) != ATTN_OK) return ATTN_E_SELFTEST;
    if (bytes + 64 > sizeof workspace) return ATTN_E_SELFTEST;
    now.args.workspace = workspace + shift;
    now.args.workspace_size = bytes - missing;
    memcpy(&before, &now, sizeof now);
    return call(&now, FORWARD, err);
}

TEST(workspace_that_holds_a_tensor_is_refused) {
    attn_error err = {""};
    scene_reset(&now);
    CHECK_INT(forward_in_workspace(0, 0, &err), ATTN_OK);
    now.out.data = workspace + 64;
    CHECK_INT(attn_forward(now.ctx, &now.args, &now.out, NULL, &err), ATTN_E_OVERLAP);
    CHECK_MSG(strncmp(err.message, "workspace:", 10) == 0, "%s", err.message);
    now.out.data = now.o;
    now.args.k.data = workspace + 64;
    CHECK_INT(attn_forward(now.ctx, &now.args, &now.out, NULL, &err), ATTN_E_OVERLAP);
}

TEST(workspace_too_small_or_misaligned_is_refused) {
    static const size_t shifts[] = {0, 1, 8, 32, 63};
    for (int s = 0; s < COUNT_OF(shifts); s++) {
        for (size_t missing = 0; missing < 2; missing++) {
            attn_error err = {""};
            const attn_status status = forward_in_workspace(missing, shifts[s], &err);
            if (missing == 0 && shifts[s] == 0) {
                CHECK_INT(status, ATTN_OK);
                continue;
            }
            char size[32];
            snprintf(size, sizeof size, " %zu bytes", now.args.workspace_size);
            CHECK_INT(status, ATTN_E_WORKSPACE);
            CHECK_MSG(strncmp(err.message, "workspace:", 10) == 0 && strstr(err.message, size),
                      "%s", err.message);
            CHECK(memcmp(&before, &now, sizeof now) == 0);
            CHECK_INT(forward_in_workspace(missing, shifts[s], NULL), ATTN_E_WORKSPACE);
        }
    }
}

TEST(workspace_of_size_zero_is_refused) {
    attn_error err = {""};
    scene_reset(&now);
    now.args.workspace = workspace;
    now.args.workspace_size = 0;
    CHECK_INT(call(&now, FORWARD, &err), ATTN_E_WORKSPACE);
    CHECK_MSG(strstr(err.message, " 0 bytes"), "%s", err.message);
}

TEST(oracle_ignores_the_workspace) {
    scene_reset(&now);
    now.args.workspace = workspace + 1;
    now.args.workspace_size = 3;
    CHECK_INT(call(&now, REFERENCE, NULL), ATTN_OK);
}

/* ---------------------------------------------------------------------------------- legal cases */

typedef struct legal {
    int by;
    const char *what;
    change changes[CHANGES];
} legal;

static void check_all_accepted(const legal *table, int n) {
    for (int c = 0; c < n; c++) {
        for (int f = 0; f < FUNCTIONS; f++) {
            attn_error err = {"untouched"};
            if (!(table[c].by & 1 << f)) continue;
            scene_reset(&now);
            apply_all(&now, table[c].changes);
            const attn_status status = call(&now, 1 << f, &err);
            CHECK_MSG(status == ATTN_OK, "%s, %s: %s", table[c].what, function_name(1 << f),
                      err.message);
            CHECK_STR(err.message, "untouched");
        }
    }
}

#define CHECK_ACCEPTED(table) check_all_accepted(table, COUNT_OF(table))
#define NO_VIEWS              (ALL & ~INSPECT) /* whose shapes would have to change too */

TEST(empty_problems_are_accepted) {
    static const legal table[] = {
        {NO_VIEWS,
         "no batch",
         {I64(args.q.shape[0], 0), I64(args.k.shape[0], 0), I64(args.v.shape[0], 0),
          I64(out.shape[0], 0), I64(lse.shape[0], 0)}},
        {NO_VIEWS,
         "no batch and no data",
         {I64(args.q.shape[0], 0), I64(args.k.shape[0], 0), I64(args.v.shape[0], 0),
          I64(out.shape[0], 0), NONE(args.q.data), NONE(args.k.data), NONE(args.v.data),
          NONE(out.data), NONE(p_lse)}},
        {NO_VIEWS,
         "no query",
         {I64(args.q.shape[2], 0), I64(out.shape[2], 0), I64(lse.shape[2], 0)}},
        {NO_VIEWS,
         "no query and no data of q and out",
         {I64(args.q.shape[2], 0), I64(out.shape[2], 0), NONE(p_lse), NONE(args.q.data),
          NONE(out.data)}},
        {NO_VIEWS, "no key", {I64(args.k.shape[2], 0), I64(args.v.shape[2], 0)}},
        {NO_VIEWS,
         "no key and no data of k and v",
         {I64(args.k.shape[2], 0), I64(args.v.shape[2], 0), NONE(args.k.data), NONE(args.v.data)}},
        {NO_VIEWS,
         "no query, no key",
         {I64(args.q.shape[2], 0), I64(out.shape[2], 0), I64(lse.shape[2], 0),
          I64(args.k.shape[2], 0), I64(args.v.shape[2], 0)}},
        {ALL, "mask without columns", {WITH_MASK, I64(args.mask.shape[3], 0)}},
        {ALL, "bias without columns", {WITH_BIAS, I64(args.bias.shape[3], 0)}},
        {ALL, "no real rows and keys", {LEN_Q, LEN_K, I64(lengths[0], 0), I64(lengths[1], 0)}},
        {MERGE,
         "partial results without rows",
         {I64(a.out.shape[2], 0), I64(a.lse.shape[2], 0), I64(b.out.shape[2], 0),
          I64(b.lse.shape[2], 0), I64(result.out.shape[2], 0), I64(result.lse.shape[2], 0),
          NONE(a.out.data), NONE(b.lse.data)}},
    };
    CHECK_ACCEPTED(table);
}

TEST(problem_without_keys_gives_zero_and_minus_infinity) {
    scene_reset(&now);
    now.args.k.shape[2] = now.args.v.shape[2] = 0;
    now.args.k.data = now.args.v.data = NULL;
    CHECK_INT(call(&now, FORWARD, NULL), ATTN_OK);
    for (int e = 0; e < ROWS * D_V; e++) CHECK_NEAR(now.o[e], 0, 0);
    for (int r = 0; r < ROWS; r++) CHECK_NEAR(now.l[r], -INFINITY, 0);
}

TEST(shapes_without_data_are_accepted_where_nothing_is_computed) {
    static const legal table[] = {
        {COST | EXPLAIN, "no data", {NONE(args.q.data), NONE(args.k.data), NONE(args.v.data)}},
        {COST | EXPLAIN, "half the data", {NONE(args.k.data)}},
    };
    CHECK_ACCEPTED(table);
}

TEST(inputs_may_repeat_walk_backwards_and_have_gaps) {
    static const legal table[] = {
        {ALL, "one batch for all", {I64(args.q.stride[0], 0), I64(args.k.stride[0], 0)}},
        {ALL, "one head for all", {I64(args.k.stride[1], 0), I64(args.v.stride[1], 0)}},
        {ALL, "one row for all", {I64(args.q.stride[2], 0), I64(args.v.stride[2], 0)}},
        {ALL,
         "rows backwards",
         {AT(args.q.data, q, (N_Q - 1) * D_K * sizeof(float)), I64(args.q.stride[2], -D_K)}},
        {ALL,
         "mask repeats one element",
         {WITH_MASK, I64(args.mask.stride[3], 0), I64(args.mask.stride[2], 0)}},
        {ALL,
         "mask with gaps",
         {WITH_MASK, I64(args.mask.stride[3], 2), I64(args.mask.stride[1], 7)}},
        {ALL,
         "bias with gaps",
         {WITH_BIAS, I64(args.bias.stride[3], 2), I64(args.bias.stride[1], 3)}},
        {ALL,
         "out with gaps",
         {I64(out.stride[2], D_V + 1), I64(out.stride[1], N_Q * (D_V + 1)),
          I64(out.stride[0], H * N_Q * (D_V + 1))}},
    };
    CHECK_ACCEPTED(table);
}

TEST(strides_of_dimensions_of_one_do_not_matter) {
    static const legal table[] = {
        {NO_VIEWS,
         "one batch",
         {I64(args.q.shape[0], 1), I64(args.k.shape[0], 1), I64(args.v.shape[0], 1),
          I64(out.shape[0], 1), I64(lse.shape[0], 1), I64(args.q.stride[0], MAX_I64),
          I64(args.k.stride[0], INT64_MIN), I64(out.stride[0], 0)}},
        {ALL,
         "one column",
         {I64(args.q.shape[3], 1), I64(args.k.shape[3], 1), I64(args.q.stride[3], 9),
          I64(args.k.stride[3], 0)}},
        {WRITE, "lse of one column", {I64(lse.stride[3], 77)}},
    };
    CHECK_ACCEPTED(table);
}

TEST(broadcast_masks_and_biases_of_any_float_are_accepted) {
    static const legal table[] = {
        {ALL, "full mask", {WITH_MASK}},
        {ALL,
         "one row of mask",
         {WITH_MASK, I64(args.mask.shape[0], 1), I64(args.mask.shape[1], 1),
          I64(args.mask.shape[2], 1)}},
        {ALL, "short mask", {WITH_MASK, I64(args.mask.shape[3], 2)}},
        {ALL, "one head of bias", {WITH_BIAS, I64(args.bias.shape[1], 1)}},
        {ALL, "f16 bias", {WITH_BIAS, I32(args.bias.dtype, ATTN_F16)}},
        {ALL, "bf16 bias", {WITH_BIAS, I32(args.bias.dtype, ATTN_BF16)}},
        {ALL, "f64 bias", {WITH_BIAS, I32(args.bias.dtype, ATTN_F64)}},
        {ALL, "pattern", {COPY(args.pattern, pattern)}},
        {NO_VIEWS, /* longest sequences are 2 x 3 */
         "packed, larger mask and pattern",
         {PACKED, WITH_MASK, COPY(args.pattern, pattern), I64(out.shape[0], 1),
          I64(lse.shape[0], 1)}},
    };
    CHECK_ACCEPTED(table);
}

TEST(numbers_at_the_ends_of_their_range_are_accepted) {
    static const legal table[] = {
        {ALL, "scale 0", {F64(args.scale, 0)}},
        {ALL, "negative scale", {F64(args.scale, -2)}},
        {ALL, "tiny temperature", {F64(args.temperature, 1e-300)}},
        {ALL, "huge temperature", {F64(args.temperature, 1e300)}},
        {ALL, "tiny softcap", {F64(args.softcap, 1e-300)}},
        {ALL, "almost everything dropped", {F64(args.dropout, 0.9999999)}},
        {ALL, "window of 0", {I64(args.window_left, 0), I64(args.window_right, 0)}},
        {ALL, "endless window", {I64(args.window_left, MAX_I64), I64(args.window_right, MAX_I64)}},
        {ALL, "endless offset", {I32(args.causal, 1), I64(args.offset, MAX_I64)}},
        {ALL, "endless offset back", {I32(args.causal, 1), I64(args.offset, INT64_MIN + 1)}},
        {ALL, "offsets per batch", {I32(args.causal, -3), AT(args.offsets, lengths, 0)}},
        {ALL, "sink of minus infinity", {SINKS, F64(per_head[1], -INFINITY)}},
        {ALL, "negative and zero slopes", {ALIBI, F64(per_head[0], -1), F64(per_head[1], 0)}},
        {ALL, "full lengths", {LEN_Q, LEN_K, I64(lengths[0], N_Q), I64(lengths[1], N_Q)}},
        {SLOPES, "one head", {I64(slopes_H, 1)}},
        {SLOPES, "three heads", {I64(slopes_H, 3)}},
        {CREATE, "no options", {NONE(p_options)}},
    };
    CHECK_ACCEPTED(table);
}

TEST(outputs_that_are_not_wanted_may_be_absent) {
    static const legal table[] = {
        {WRITE, "no lse", {NONE(p_lse)}},
        {WRITE, "lse without data", {NONE(lse.data)}},
        {WRITE,
         "lse with strides",
         {I64(lse.stride[2], 3), I64(lse.stride[1], -3 * N_Q),
          AT(lse.data, l, 3 * 3 * N_Q * sizeof(float)), I64(lse.stride[0], 1)}},
        {REFERENCE, "oracle in f64", {I32(out.dtype, ATTN_F64), I32(lse.dtype, ATTN_F64)}},
        {INSPECT, "no raw, no top", {NONE(what.raw.data), NONE(what.top_key.data)}},
        {INSPECT, "keys of the top alone", {NONE(what.top_weight.data)}},
    };
    CHECK_ACCEPTED(table);
}

/* --------------------------------------------------------------------------- one buffer for all */

/* A row holds q, k, v and out of every head: [row][head][q|k|v|out][D]. */
enum { D = 4, SLOTS = 4 };

static attn_tensor slot(float *buffer, int at, int64_t heads) {
    attn_tensor t = attn_tensor_bhsd(buffer + at * D, ATTN_F32, 1, heads, N_K, D);
    t.stride[1] = SLOTS * D;
    t.stride[2] = heads * SLOTS * D;
    return t;
}

TEST(interleaved_q_k_v_and_out_do_not_overlap) {
    float buffer[N_K * H * SLOTS * D], apart[H * N_K * D];
    attn_args args;
    attn_args_init(&args);
    for (int e = 0; e < COUNT_OF(buffer); e++) buffer[e] = (float)(e * 37 % 101) / 50 - 1;
    args.q = slot(buffer, 0, H);
    args.k = slot(buffer, 1, H);
    args.v = slot(buffer, 2, H);
    const attn_tensor inside = slot(buffer, 3, H),
                      outside = attn_tensor_bhsd(apart, ATTN_F32, 1, H, N_K, D);
    scene_reset(&now);
    CHECK_INT(attn_forward(ctx, &args, &outside, NULL, NULL), ATTN_OK);
    CHECK_INT(attn_forward(ctx, &args, &inside, NULL, NULL), ATTN_OK);
    for (int h = 0; h < H; h++) {
        for (int i = 0; i < N_K; i++) {
            const float *row = buffer + (i * H + h) * SLOTS * D + 3 * D;
            CHECK(memcmp(row, apart + (h * N_K + i) * D, D * sizeof(float)) == 0);
        }
    }
}

/* The other usual order: [row][q|k|v|out][head][D]. */
TEST(q_k_v_and_out_side_by_side_in_a_row_do_not_overlap) {
    float buffer[N_K * SLOTS * H * D];
    attn_tensor t[SLOTS];
    attn_args args;
    attn_args_init(&args);
    for (int e = 0; e < COUNT_OF(buffer); e++) buffer[e] = 1;
    for (int s = 0; s < SLOTS; s++) {
        t[s] = attn_tensor_bhsd(buffer + s * H * D, ATTN_F32, 1, H, N_K, D);
        t[s].stride[1] = D;
        t[s].stride[2] = SLOTS * H * D;
    }
    args.q = t[0];
    args.k = t[1];
    args.v = t[2];
    scene_reset(&now);
    CHECK_INT(attn_forward(ctx, &args, &t[3], NULL, NULL), ATTN_OK);
    t[3].data = buffer + 3 * H * D - 1; /* one element into the last head of v */
    CHECK_INT(attn_forward(ctx, &args, &t[3], NULL, NULL), ATTN_E_OVERLAP);
}

TEST(results_that_would_overwrite_each_other_are_refused) {
    static const wrong table[] = {
        {WRITE, ATTN_E_STRIDE, "out", "5", {I64(out.stride[2], D_V - 1)}},
        {WRITE, ATTN_E_STRIDE, "out", "17", {I64(out.stride[1], N_Q * D_V - 1)}},
        {WRITE, ATTN_E_STRIDE, "out", "-71", {I64(out.stride[0], -(H * N_Q * D_V - 1))}},
    };
    CHECK_REFUSED(table);
}

TEST(interleaved_out_one_element_off_overlaps) {
    float buffer[N_K * H * SLOTS * D + 1];
    attn_args args;
    attn_error err = {""};
    attn_args_init(&args);
    for (int e = 0; e < COUNT_OF(buffer); e++) buffer[e] = 1;
    args.q = slot(buffer, 0, H);
    args.k = slot(buffer, 1, H);
    args.v = slot(buffer, 2, H);
    scene_reset(&now);
    for (int off = -1; off <= 1; off += 2) { /* into v of this row, or q of the next */
        const attn_tensor out = slot(buffer + off, 3, H);
        CHECK_INT(attn_forward(ctx, &args, &out, NULL, &err), ATTN_E_OVERLAP);
        CHECK_MSG(strstr(err.message, off < 0 ? "overlaps v" : "overlaps q"), "%s", err.message);
    }
}

/* ---------------------------------------------------------------------- the ends of the numbers */

enum { LONG = 300 }; /* more than one tile of keys */

/* Queries and keys of zero: every score is 0, and exp(lse) is the number of visible keys. */
typedef struct counting {
    attn_args args;
    attn_tensor out, lse;
    double zeros[LONG], o[LONG], l[LONG];
} counting;

static counting counted;

static void counting_begin(counting *c) {
    memset(c, 0, sizeof *c);
    attn_args_init(&c->args);
    c->args.q = c->args.k = c->args.v = attn_tensor_bhsd(c->zeros, ATTN_F64, 1, 1, LONG, 1);
    c->out = attn_tensor_bhsd(c->o, ATTN_F64, 1, 1, LONG, 1);
    c->lse = attn_tensor_bhsd(c->l, ATTN_F64, 1, 1, LONG, 1);
    scene_reset(&now); /* makes the context */
}

static attn_status counting_call(counting *c, bool oracle) {
    return oracle ? attn_reference(&c->args, &c->out, &c->lse, NULL)
                  : attn_forward(ctx, &c->args, &c->out, &c->lse, NULL);
}

/* j >= i + offset - window_left is j >= i. */
TEST(offset_and_window_at_the_end_of_the_numbers_cancel) {
    for (int oracle = 0; oracle < 2; oracle++) {
        counting_begin(&counted);
        counted.args.offset = MAX_I64;
        counted.args.window_left = MAX_I64;
        CHECK_INT(counting_call(&counted, oracle), ATTN_OK);
        for (int i = 0; i < LONG; i++) CHECK_NEAR(counted.l[i], log(LONG - i), 1e-12);
    }
}

TEST(alibi_from_the_end_of_the_numbers_stays_finite) {
    const double slope[1] = {0.5};
    for (int oracle = 0; oracle < 2; oracle++) {
        counting_begin(&counted);
        counted.args.offset = INT64_MIN + 1;
        counted.args.alibi = slope;
        CHECK_INT(counting_call(&counted, oracle), ATTN_OK);
        for (int i = 0; i < LONG; i++) CHECK(isfinite(counted.l[i]) && counted.o[i] == 0);
    }
}

/* ------------------------------------------------------------------------ the end of the memory */

/* The view fits int64_t, but counted from where the data lies it passes the last address. */
TEST(views_that_pass_the_last_address_are_refused) {
    static const wrong table[] = {
        {READ, ATTN_E_OVERFLOW, "q", NULL, {I64(args.q.stride[0], (MAX_I64 - 400) / 4)}},
        {READ, ATTN_E_OVERFLOW, "k", NULL, {I64(args.k.stride[0], (MAX_I64 - 400) / 4)}},
        {WRITE, ATTN_E_OVERFLOW, "out", NULL, {I64(out.stride[0], (MAX_I64 - 400) / 4)}},
    };
    CHECK_REFUSED(table);
}
