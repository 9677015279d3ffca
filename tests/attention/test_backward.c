/* SPDX-License-Identifier: Apache-2.0 */
/* test_backward.c - the arguments of attn_backward(): every mistake is rejected, named, and leaves
 * gradients untouched; weights saved by forward give the same gradients as recomputed ones; memory
 * does not grow with n_q x n_k. */
#include "attn/attn.h"
#include "check.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { H = 4, H_KV = 2, N_Q = 5, N_K = 7, D_K = 3, D_V = 2, ROWS = H * N_Q };

/* A small problem with everything that has a gradient. */
typedef struct scene {
    attn_ctx *ctx;
    attn_args args;
    attn_results results;
    attn_gradients gradients;
    float q[ROWS * D_K], k[H_KV * N_K * D_K], v[H_KV * N_K * D_V], bias[N_Q * N_K];
    float out[ROWS * D_V], dout[ROWS * D_V];
    double lse[ROWS], sinks[H];
    struct {
        double dsinks[H], dscale;
        float dq[ROWS * D_K], dk[H_KV * N_K * D_K], dv[H_KV * N_K * D_V], dbias[N_Q * N_K];
    } to;
    _Alignas(64) char memory[1 << 20];
} scene;

static scene the_scene;

static void fill(float *x, int n, int seed) {
    for (int i = 0; i < n; i++) x[i] = (float)((i * 37 + seed * 11) % 23 - 11) / 8;
}

static scene *begin(void) {
    scene *s = &the_scene;
    if (!s->ctx && attn_ctx_create(NULL, &s->ctx, NULL) != ATTN_OK) abort();
    fill(s->q, ROWS * D_K, 1);
    fill(s->k, H_KV * N_K * D_K, 2);
    fill(s->v, H_KV * N_K * D_V, 3);
    fill(s->bias, N_Q * N_K, 4);
    fill(s->dout, ROWS * D_V, 5);
    attn_args *a = &s->args;
    attn_args_init(a);
    a->q = attn_tensor_bhsd(s->q, ATTN_F32, 1, H, N_Q, D_K);
    a->k = attn_tensor_bhsd(s->k, ATTN_F32, 1, H_KV, N_K, D_K);
    a->v = attn_tensor_bhsd(s->v, ATTN_F32, 1, H_KV, N_K, D_V);
    a->bias = attn_tensor_bhsd(s->bias, ATTN_F32, 1, 1, N_Q, N_K);
    a->sinks = s->sinks;
    attn_results_init(&s->results);
    s->results.out = attn_tensor_bhsd(s->out, ATTN_F32, 1, H, N_Q, D_V);
    s->results.dout = attn_tensor_bhsd(s->dout, ATTN_F32, 1, H, N_Q, D_V);
    s->results.lse = attn_tensor_bhsd(s->lse, ATTN_F64, 1, H, N_Q, 1);
    attn_gradients *g = &s->gradients;
    attn_gradients_init(g);
    g->dq = attn_tensor_bhsd(s->to.dq, ATTN_F32, 1, H, N_Q, D_K);
    g->dk = attn_tensor_bhsd(s->to.dk, ATTN_F32, 1, H_KV, N_K, D_K);
    g->dv = attn_tensor_bhsd(s->to.dv, ATTN_F32, 1, H_KV, N_K, D_V);
    g->dbias = attn_tensor_bhsd(s->to.dbias, ATTN_F32, 1, 1, N_Q, N_K);
    g->dsinks = s->to.dsinks;
    g->dscale = &s->to.dscale;
    memset(&s->to, 0x5a, sizeof s->to);
    if (attn_forward(s->ctx, a, &s->results.out, &s->results.lse, NULL) != ATTN_OK) abort();
    return s;
}

static bool is_untouched(const scene *s) {
    const unsigned char *bytes = (const unsigned char *)&s->to;
    for (size_t i = 0; i < sizeof s->to; i++) {
        if (bytes[i] != 0x5a) return false;
    }
    return true;
}

/* Expects a refusal whose message begins with `name` and has `part` in it. */
static void refused(scene *s, attn_status expected, const char *name, const char *part) {
    attn_error err = {""};
    const attn_status status = attn_backward(s->ctx, &s->args, &s->results, &s->gradients, &err);
    CHECK_MSG(status == expected, "%s: %s instead of %s: %s", name, attn_status_name(status),
              attn_status_name(expected), err.message);
    CHECK_MSG(strncmp(err.message, name, strlen(name)) == 0, "message \"%s\", expected %s",
              err.message, name);
    CHECK_MSG(strstr(err.message, part), "message \"%s\" lacks \"%s\"", err.message, part);
    CHECK_MSG(is_untouched(s), "%s: a gradient was written", name);
}

TEST(a_good_problem_is_accepted_and_all_gradients_are_written) {
    scene *s = begin();
    attn_error err = {""};
    const attn_status status = attn_backward(s->ctx, &s->args, &s->results, &s->gradients, &err);
    CHECK_MSG(status == ATTN_OK, "%s", err.message);
    const size_t end = offsetof(scene, to.dbias) - offsetof(scene, to) + sizeof s->to.dbias;
    for (size_t i = 0; i < end; i += sizeof(uint32_t)) {
        uint32_t bits;
        memcpy(&bits, (const char *)&s->to + i, sizeof bits);
        CHECK_MSG(bits != 0x5a5a5a5au, "byte %zu of the gradients was not written", i);
    }
}

TEST(results_that_are_absent_or_do_not_fit_are_refused) {
    scene *s = begin();
    attn_error err = {""};
    CHECK_INT(attn_backward(s->ctx, &s->args, NULL, &s->gradients, &err), ATTN_E_NULL);
    CHECK_INT(attn_backward(s->ctx, &s->args, &s->results, NULL, &err), ATTN_E_NULL);
    CHECK_INT(attn_backward(NULL, &s->args, &s->results, &s->gradients, &err), ATTN_E_NULL);
    s->results.dout.data = NULL;
    refused(s, ATTN_E_NULL, "dout", "NULL");
    s = begin();
    s->results.out.data = NULL;
    refused(s, ATTN_E_NULL, "out", "NULL");
    s = begin();
    s->results.lse.data = NULL;
    refused(s, ATTN_E_NULL, "lse", "NULL");
    s = begin();
    s->results.dout.shape[3] = D_V + 1;
    refused(s, ATTN_E_SHAPE, "dout", "columns is 3, expected 2");
    s = begin();
    s->results.lse.shape[2] = N_Q - 1;
    refused(s, ATTN_E_SHAPE, "lse", "rows is 4, expected 5");
    s = begin();
    s->results.dout.dtype = ATTN_F16;
    refused(s, ATTN_E_DTYPE, "dout", "f16");
    s = begin();
    s->results.out.stride[3] = 2;
    refused(s, ATTN_E_STRIDE, "out", "stride of the last dimension is 2");
}

TEST(gradients_of_a_wrong_shape_dtype_or_stride_are_refused) {
    scene *s = begin();
    s->gradients.struct_size = 1;
    refused(s, ATTN_E_STRUCT, "gradients", "attn_gradients_init");
    s = begin();
    s->gradients.dq.shape[2] = N_Q + 1;
    refused(s, ATTN_E_SHAPE, "dq", "rows is 6, expected 5");
    s = begin();
    s->gradients.dk.shape[1] = H;
    refused(s, ATTN_E_SHAPE, "dk", "heads is 4, expected 2");
    s = begin();
    s->gradients.dv.dtype = ATTN_F64;
    refused(s, ATTN_E_DTYPE, "dv", "f64");
    s = begin();
    s->gradients.dv.stride[2] = 1;
    refused(s, ATTN_E_STRIDE, "dv", "overwrite each other");
    s = begin();
    s->gradients.dbias.shape[1] = H;
    refused(s, ATTN_E_SHAPE, "dbias", "heads is 4, expected 1");
    s = begin();
    s->gradients.dbias.dtype = ATTN_BF16;
    refused(s, ATTN_E_DTYPE, "dbias", "bf16");
}

TEST(gradients_of_what_is_not_there_are_refused) {
    scene *s = begin();
    s->args.bias = (attn_tensor){0};
    refused(s, ATTN_E_NULL, "dbias", "bias is absent");
    s = begin();
    s->args.sinks = NULL;
    refused(s, ATTN_E_NULL, "dsinks", "sinks is NULL");
}

TEST(gradients_that_overlap_anything_are_refused) {
    scene *s = begin();
    s->gradients.dq.data = s->q;
    refused(s, ATTN_E_OVERLAP, "dq", "overlaps q");
    s = begin();
    s->gradients.dk.data = s->to.dq;
    refused(s, ATTN_E_OVERLAP, "dk", "overlaps dq");
    s = begin();
    s->gradients.dv.data = s->dout;
    refused(s, ATTN_E_OVERLAP, "dv", "overlaps dout");
    s = begin();
    s->gradients.dbias.data = s->bias;
    refused(s, ATTN_E_OVERLAP, "dbias", "overlaps bias");
}

TEST(memory_of_the_caller_that_is_too_small_or_shared_is_refused) {
    scene *s = begin();
    size_t bytes = 0;
    CHECK_INT(attn_backward_workspace(s->ctx, &s->args, &s->gradients, &bytes, NULL), ATTN_OK);
    CHECK(bytes > 64 && bytes <= sizeof s->memory);
    s->args.workspace = s->memory;
    s->args.workspace_size = bytes - 1;
    refused(s, ATTN_E_WORKSPACE, "workspace", "aligned");
    s->args.workspace = s->memory + 1;
    s->args.workspace_size = bytes;
    refused(s, ATTN_E_WORKSPACE, "workspace", "not 64-byte aligned");
    s->args.workspace = s->memory;
    s->args.saved = s->memory + 64;
    s->args.saved_size = sizeof s->memory - 64;
    refused(s, ATTN_E_OVERLAP, "saved", "overlaps workspace");
    s = begin();
    s->args.workspace = s->memory;
    s->args.workspace_size = sizeof s->memory;
    s->results.dout.data = s->memory + 128;
    refused(s, ATTN_E_OVERLAP, "workspace", "overlaps a tensor");
    s->args.workspace = NULL;
    CHECK_INT(attn_backward_workspace(s->ctx, &s->args, &s->gradients, NULL, NULL), ATTN_E_NULL);
}

/* ------------------------------------------------------------------------------------- saved */

enum { SAVED_N = 300, SAVED_D = 20, SAVED_H = 2, SAVED_SIZE = SAVED_H * SAVED_N * SAVED_D };

/* Forward and backward of one plain problem; gradients one after another in `to`. */
static attn_status both_passes(attn_ctx *ctx, const float *inputs, void *saved, size_t saved_size,
                               float *to) {
    static float out[SAVED_SIZE];
    static double lse[SAVED_H * SAVED_N];
    attn_args a;
    attn_tensor t[4];
    for (int i = 0; i < 4; i++)
        t[i] = attn_tensor_bhsd(inputs + i * SAVED_SIZE, ATTN_F32, 1, SAVED_H, SAVED_N, SAVED_D);
    attn_args_init(&a);
    a.q = t[0];
    a.k = t[1];
    a.v = t[2];
    a.saved = saved;
    a.saved_size = saved_size;
    attn_results r = {.struct_size = sizeof(attn_results),
                      .out = attn_tensor_bhsd(out, ATTN_F32, 1, SAVED_H, SAVED_N, SAVED_D),
                      .lse = attn_tensor_bhsd(lse, ATTN_F64, 1, SAVED_H, SAVED_N, 1),
                      .dout = t[3]};
    attn_gradients g;
    attn_gradients_init(&g);
    g.dq = attn_tensor_bhsd(to, ATTN_F32, 1, SAVED_H, SAVED_N, SAVED_D);
    g.dk = attn_tensor_bhsd(to + SAVED_SIZE, ATTN_F32, 1, SAVED_H, SAVED_N, SAVED_D);
    g.dv = attn_tensor_bhsd(to + 2 * SAVED_SIZE, ATTN_F32, 1, SAVED_H, SAVED_N, SAVED_D);
    const attn_status status = attn_forward(ctx, &a, &r.out, &r.lse, NULL);
    return status == ATTN_OK ? attn_backward(ctx, &a, &r, &g, NULL) : status;
}

TEST(kept_weights_give_the_gradients_of_recomputed_ones) {
    static float inputs[4 * SAVED_SIZE], recomputed[3 * SAVED_SIZE], kept[3 * SAVED_SIZE];
    static _Alignas(64) char memory[SAVED_H * (SAVED_N + 8) * 384 * sizeof(float)];
    scene *s = begin();
    for (int i = 0; i < 4; i++) fill(inputs + i * SAVED_SIZE, SAVED_SIZE, i);
    CHECK_INT(both_passes(s->ctx, inputs, NULL, 0, recomputed), ATTN_OK);
    memset(memory, 0xff, sizeof memory); /* NaN where forward does not write */
    CHECK_INT(both_passes(s->ctx, inputs, memory, sizeof memory, kept), ATTN_OK);
    for (int i = 0; i < 3 * SAVED_SIZE; i++) CHECK_NEAR(kept[i], recomputed[i], 4e-6);
    /* Backward really reads them. */
    float first;
    memcpy(&first, memory, sizeof first);
    CHECK_MSG(first >= 0 && first < 1.5f, "first kept weight is %g", (double)first);
}

TEST(only_short_plain_problems_have_weights_to_keep) {
    scene *s = begin();
    size_t bytes = 1;
    CHECK_INT(attn_saved_size(s->ctx, &s->args, &bytes, NULL), ATTN_OK);
    CHECK_INT(bytes, 0); /* a bias changes scores */
    s->args.bias = (attn_tensor){0};
    CHECK_INT(attn_saved_size(s->ctx, &s->args, &bytes, NULL), ATTN_OK);
    CHECK(bytes >= sizeof(float) * H * N_Q * N_K);
    s->args.causal = 1;
    CHECK_INT(attn_saved_size(s->ctx, &s->args, &bytes, NULL), ATTN_OK);
    CHECK_INT(bytes, 0);
    CHECK_INT(attn_saved_size(s->ctx, &s->args, NULL, NULL), ATTN_E_NULL);
}

/* ------------------------------------------------------------------------------------ memory */

/* An address that is not read, 256 MiB from the next. */
static void *somewhere(int n) { return (void *)((uintptr_t)n << 28); }

TEST(scratch_grows_with_n_not_with_its_square) {
    scene *s = begin();
    size_t bytes[2] = {0, 0};
    for (int i = 0; i < 2; i++) { /* nothing is read */
        const int64_t n = i == 0 ? 16384 : 65536;
        attn_args a;
        attn_gradients g;
        attn_args_init(&a);
        attn_gradients_init(&g);
        a.q = a.k = a.v = attn_tensor_bhsd(somewhere(1), ATTN_F32, 1, 1, n, 64);
        g.dq = attn_tensor_bhsd(somewhere(2), ATTN_F32, 1, 1, n, 64);
        g.dk = attn_tensor_bhsd(somewhere(3), ATTN_F32, 1, 1, n, 64);
        g.dv = attn_tensor_bhsd(somewhere(4), ATTN_F32, 1, 1, n, 64);
        CHECK_INT(attn_backward_workspace(s->ctx, &a, &g, &bytes[i], NULL), ATTN_OK);
    }
    /* Sums of dk and dv that do not drift take twice the room of the results. */
    const size_t sums = 2 * (size_t)65536 * (64 + 64) * sizeof(float);
    CHECK_MSG(bytes[1] <= sums + (2 << 20) && bytes[1] <= 5 * bytes[0], "%zu and %zu bytes",
              bytes[0], bytes[1]);
}

TEST(explain_says_how_backward_gets_its_weights) {
    scene *s = begin();
    char text[4000];
    CHECK_INT(attn_plan_explain(s->ctx, &s->args, text, sizeof text, NULL, NULL), ATTN_OK);
    CHECK_MSG(strstr(text, "recomputed from the log-sum-exp"), "%s", text);
    CHECK_MSG(!strstr(text, "args->saved"), "%s", text);
    s->args.bias = (attn_tensor){0};
    CHECK_INT(attn_plan_explain(s->ctx, &s->args, text, sizeof text, NULL, NULL), ATTN_OK);
    CHECK_MSG(strstr(text, "args->saved"), "%s", text);
}
