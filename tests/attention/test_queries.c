/* SPDX-License-Identifier: Apache-2.0 */
/* test_queries.c - functions that only count need no data: from shapes alone they give the same
 * answers, and the same errors, as with data. */
#include "check.h"

#include <attn/attn.h>

#include <stdlib.h>
#include <string.h>

enum { H = 4, H_KV = 2, N_Q = 130, N_K = 150, D = 40 };
enum { Q_SIZE = H * N_Q * D, K_SIZE = H_KV * N_K * D, PAIRS = H * N_Q * N_K };

typedef struct problem {
    attn_args args;
    attn_gradients gradients;
    uint64_t q[Q_SIZE], k[K_SIZE], v[K_SIZE], dq[Q_SIZE], dk[K_SIZE], dv[K_SIZE]; /* any dtype */
    float bias[PAIRS], dbias[PAIRS];
    uint8_t mask[PAIRS];
} problem;

enum { MASK = 1, BIAS = 2, DBIAS = 4, DQ = 8, CHOICES = 16 };

/* Everything with data; which optional tensors there are is said by the bits of choice. */
static problem *new_problem(attn_dtype dtype, int choice) {
    problem *p = calloc(1, sizeof *p);
    if (!p) abort();
    memset(p->mask, 1, sizeof p->mask);
    attn_args_init(&p->args);
    attn_gradients_init(&p->gradients);
    p->args.q = attn_tensor_bhsd(p->q, dtype, 1, H, N_Q, D);
    p->args.k = attn_tensor_bhsd(p->k, dtype, 1, H_KV, N_K, D);
    p->args.v = attn_tensor_bhsd(p->v, dtype, 1, H_KV, N_K, D);
    if (choice & MASK) p->args.mask = attn_tensor_bhsd(p->mask, ATTN_BOOL, 1, H, N_Q, N_K);
    if (choice & BIAS) p->args.bias = attn_tensor_bhsd(p->bias, ATTN_F32, 1, H, N_Q, N_K);
    if (choice & DQ) p->gradients.dq = attn_tensor_bhsd(p->dq, dtype, 1, H, N_Q, D);
    p->gradients.dk = attn_tensor_bhsd(p->dk, dtype, 1, H_KV, N_K, D);
    p->gradients.dv = attn_tensor_bhsd(p->dv, dtype, 1, H_KV, N_K, D);
    if (choice & BIAS && choice & DBIAS)
        p->gradients.dbias = attn_tensor_bhsd(p->dbias, ATTN_F32, 1, H, N_Q, N_K);
    return p;
}

static void take_data_away(problem *p) {
    attn_args *a = &p->args;
    attn_gradients *g = &p->gradients;
    a->q.data = a->k.data = a->v.data = a->mask.data = a->bias.data = NULL;
    g->dq.data = g->dk.data = g->dv.data = g->dbias.data = NULL;
}

typedef struct answers {
    size_t forward, backward, saved;
    attn_cost_info cost;
    char text[1200];
} answers;

static attn_status ask(attn_ctx *ctx, const problem *p, answers *a) {
    memset(a, 0, sizeof *a);
    attn_cost_info_init(&a->cost);
    attn_status status = attn_forward_workspace(ctx, &p->args, &a->forward, NULL);
    if (status == ATTN_OK)
        status = attn_backward_workspace(ctx, &p->args, &p->gradients, &a->backward, NULL);
    if (status == ATTN_OK) status = attn_saved_size(ctx, &p->args, &a->saved, NULL);
    if (status == ATTN_OK) status = attn_cost(ctx, &p->args, &a->cost, NULL);
    if (status == ATTN_OK)
        status = attn_plan_explain(ctx, &p->args, a->text, sizeof a->text, NULL, NULL);
    return status;
}

static attn_ctx *new_ctx(int threads) {
    attn_ctx_options o;
    attn_ctx *ctx = NULL;
    attn_ctx_options_init(&o);
    o.threads = threads;
    if (attn_ctx_create(&o, &ctx, NULL) != ATTN_OK) abort();
    return ctx;
}

TEST(answers_without_data_are_those_with_data) {
    static const attn_dtype dtypes[] = {ATTN_F32, ATTN_F64, ATTN_BF16};
    attn_ctx *ctx = new_ctx(1);
    for (int t = 0; t < 3; t++) {
        for (int choice = 0; choice < CHOICES && !check_has_failed(); choice++) {
            problem *p = new_problem(dtypes[t], choice);
            answers with, without;
            CHECK_INT(ask(ctx, p, &with), ATTN_OK);
            take_data_away(p);
            CHECK_INT(ask(ctx, p, &without), ATTN_OK);
            CHECK_INT(without.forward, with.forward);
            CHECK_INT(without.backward, with.backward);
            CHECK_INT(without.saved, with.saved);
            const size_t head = offsetof(attn_cost_info, pairs); /* what follows has no padding */
            CHECK(memcmp((char *)&without.cost + head, (char *)&with.cost + head,
                         sizeof with.cost - head) == 0);
            CHECK_STR(without.text, with.text);
            free(p);
        }
    }
    attn_ctx_destroy(ctx);
}

TEST(tensors_without_data_count_as_given) {
    attn_ctx *ctx = new_ctx(1);
    problem *none = new_problem(ATTN_F32, 0), *all = new_problem(ATTN_F32, CHOICES - 1);
    answers few, many;
    take_data_away(none);
    take_data_away(all);
    CHECK_INT(ask(ctx, none, &few), ATTN_OK);
    CHECK_INT(ask(ctx, all, &many), ATTN_OK);
    CHECK(many.forward > few.forward && many.backward > few.backward);
    CHECK(few.saved > 0 && many.saved == 0);
    CHECK(strstr(many.text, "bias f32") && strstr(many.text, " mask") && !strstr(few.text, "bias"));
    free(none);
    free(all);
    attn_ctx_destroy(ctx);
}

/* A workspace of the size that shapes alone gave is enough for the call. */
TEST(workspace_of_a_query_without_data_serves_the_call) {
    attn_ctx *ctx = new_ctx(1);
    problem *p = new_problem(ATTN_F32, CHOICES - 1), *shapes = new_problem(ATTN_F32, CHOICES - 1);
    answers a;
    take_data_away(shapes);
    CHECK_INT(ask(ctx, shapes, &a), ATTN_OK);
    const attn_tensor out = attn_tensor_bhsd(shapes->q, ATTN_F32, 1, H, N_Q, D);
    const attn_tensor lse = attn_tensor_bhsd(shapes->k, ATTN_F64, 1, H, N_Q, 1);
    const attn_results results = {
        .struct_size = sizeof results, .out = out, .lse = lse, .dout = p->args.q};
    attn_ctx_options o; /* for its aligned memory */
    attn_ctx_options_init(&o);
    void *workspace =
        o.alloc.alloc(o.alloc.user, a.forward > a.backward ? a.forward : a.backward, 64);
    p->args.workspace = workspace;
    p->args.workspace_size = a.forward;
    CHECK_INT(attn_forward(ctx, &p->args, &out, &lse, NULL), ATTN_OK);
    p->args.workspace_size = a.backward;
    CHECK_INT(attn_backward(ctx, &p->args, &results, &p->gradients, NULL), ATTN_OK);
    p->args.workspace_size = a.backward - 64;
    CHECK_INT(attn_backward(ctx, &p->args, &results, &p->gradients, NULL), ATTN_E_WORKSPACE);
    o.alloc.free(o.alloc.user, workspace);
    free(p);
    free(shapes);
    attn_ctx_destroy(ctx);
}

/* --------------------------------------------------------------------------------------- refusals */

typedef void spoil(problem *p);

static void spoil_q_stride(problem *p) { p->args.q.stride[3] = 2; }
static void spoil_k_rows(problem *p) { p->args.k.shape[2]--; }
static void spoil_mask_rows(problem *p) { p->args.mask.shape[2] = 2; }
static void spoil_mask_dtype(problem *p) { p->args.mask.dtype = ATTN_F32; }
static void spoil_bias_columns(problem *p) { p->args.bias.shape[3] = N_K + 1; }
static void spoil_bias_reach(problem *p) { p->args.bias.stride[1] = INT64_MAX / 4; }
static void spoil_dq_shape(problem *p) { p->gradients.dq.shape[3]--; }
static void spoil_dk_stride(problem *p) { p->gradients.dk.stride[2] = 0; }
static void spoil_dv_dtype(problem *p) { p->gradients.dv.dtype = ATTN_F64; }
static void spoil_dbias_heads(problem *p) { p->gradients.dbias.shape[1] = 1; }

TEST(shapes_without_data_are_validated_as_in_the_call) {
    static const struct {
        spoil *by;
        attn_status status;
        const char *name;
    } wrong[] = {
        {spoil_q_stride, ATTN_E_STRIDE, "q:"},       {spoil_k_rows, ATTN_E_SHAPE, "v:"},
        {spoil_mask_rows, ATTN_E_SHAPE, "mask:"},    {spoil_mask_dtype, ATTN_E_DTYPE, "mask:"},
        {spoil_bias_columns, ATTN_E_SHAPE, "bias:"}, {spoil_bias_reach, ATTN_E_OVERFLOW, "bias:"},
        {spoil_dq_shape, ATTN_E_SHAPE, "dq:"},       {spoil_dk_stride, ATTN_E_STRIDE, "dk:"},
        {spoil_dv_dtype, ATTN_E_DTYPE, "dv:"},       {spoil_dbias_heads, ATTN_E_SHAPE, "dbias:"},
    };
    attn_ctx *ctx = new_ctx(1);
    for (size_t n = 0; n < sizeof wrong / sizeof *wrong; n++) {
        problem *p = new_problem(ATTN_F32, CHOICES - 1);
        attn_error err = {""};
        size_t bytes = 77;
        take_data_away(p);
        wrong[n].by(p);
        CHECK_INT(attn_backward_workspace(ctx, &p->args, &p->gradients, &bytes, &err),
                  wrong[n].status);
        CHECK_MSG(strstr(err.message, wrong[n].name) == err.message, "%s", err.message);
        CHECK_INT(bytes, 77);
        free(p);
    }
    attn_ctx_destroy(ctx);
}
