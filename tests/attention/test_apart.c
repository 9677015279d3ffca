/* SPDX-License-Identifier: Apache-2.0 */
/* test_apart.c - outputs, gradients and workspaces that overlap an array the call reads are
 * rejected before anything is written: offsets, lengths, starts of packed sequences, slopes,
 * sinks. */
#include "check.h"

#include <attn/attn.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { B = 2, N = 4, D = 8 };

/* Everything in one block, so that an array can be put anywhere in it. */
typedef struct scene {
    attn_ctx *ctx;
    attn_args args;
    attn_tensor out, lse;
    attn_results results;
    attn_gradients gradients;
    _Alignas(64) double q[B * N * D], k[B * N * D], v[B * N * D], o[B * N * D], l[B * N];
    double dout[B * N * D], dq[B * N * D], dk[B * N * D], dv[B * N * D];
    double dsinks[1], dscale[1], slope[1], sink[1];
    int64_t lengths[B], starts[3];
    _Alignas(64) unsigned char workspace[1 << 20];
} scene;

static bool begin(scene *s) {
    memset(s, 0, sizeof *s);
    attn_args_init(&s->args);
    s->args.q = attn_tensor_bhsd(s->q, ATTN_F64, B, 1, N, D);
    s->args.k = attn_tensor_bhsd(s->k, ATTN_F64, B, 1, N, D);
    s->args.v = attn_tensor_bhsd(s->v, ATTN_F64, B, 1, N, D);
    s->out = attn_tensor_bhsd(s->o, ATTN_F64, B, 1, N, D);
    s->lse = attn_tensor_bhsd(s->l, ATTN_F64, B, 1, N, 1);
    s->results = (attn_results){.struct_size = sizeof(attn_results),
                                .out = s->out,
                                .lse = s->lse,
                                .dout = attn_tensor_bhsd(s->dout, ATTN_F64, B, 1, N, D)};
    attn_gradients_init(&s->gradients);
    s->gradients.dq = attn_tensor_bhsd(s->dq, ATTN_F64, B, 1, N, D);
    s->gradients.dk = attn_tensor_bhsd(s->dk, ATTN_F64, B, 1, N, D);
    s->gradients.dv = attn_tensor_bhsd(s->dv, ATTN_F64, B, 1, N, D);
    s->args.sinks = s->sink;
    s->gradients.dsinks = s->dsinks;
    s->gradients.dscale = s->dscale;
    s->args.workspace = s->workspace;
    s->args.workspace_size = sizeof s->workspace;
    if (attn_ctx_create(NULL, &s->ctx, NULL) == ATTN_OK) return true;
    check_failed(__FILE__, __LINE__, "no context");
    return false;
}

/* One block of rows instead of B. */
static void pack(scene *s) {
    attn_tensor *all[] = {&s->args.q,       &s->args.k,       &s->args.v,      &s->out,
                          &s->lse,          &s->results.out,  &s->results.lse, &s->results.dout,
                          &s->gradients.dq, &s->gradients.dk, &s->gradients.dv};
    for (size_t x = 0; x < sizeof all / sizeof *all; x++) {
        all[x]->shape[0] = 1;
        all[x]->shape[2] = B * N;
    }
    s->starts[1] = N;
    s->starts[2] = B * N;
    s->args.n_seqs = 2;
    s->args.cu_q = s->args.cu_k = s->starts;
}

static attn_status forward(scene *s, attn_error *err) {
    return attn_forward(s->ctx, &s->args, &s->out, &s->lse, err);
}

static attn_status backward(scene *s, attn_error *err) {
    return attn_backward(s->ctx, &s->args, &s->results, &s->gradients, err);
}

static void expect_overlap(attn_status status, const attn_error *err, const char *name) {
    CHECK_STR(attn_status_name(status), "ATTN_E_OVERLAP");
    CHECK_MSG(strstr(err->message, name) != NULL, "\"%s\" does not name %s", err->message, name);
}

/* The array `name`, which is all zeros but for what `fill` puts there, lies in each place that one
 * of the passes writes. */
static void expect_all_overlaps(scene *s, const char *name, const void **array, const void *from,
                                size_t bytes) {
    void *const of_forward[] = {s->o, s->l, s->workspace};
    void *const of_backward[] = {s->dq, s->dk, s->dv, s->workspace};
    attn_error err;
    *array = from;
    CHECK_INT(forward(s, NULL), ATTN_OK);
    CHECK_INT(backward(s, NULL), ATTN_OK);
    for (int x = 0; x < 3; x++) {
        memcpy(of_forward[x], from, bytes);
        *array = of_forward[x];
        expect_overlap(forward(s, &err), &err, name);
        CHECK(memcmp(of_forward[x], from, bytes) == 0);
        if (x < 2) expect_overlap(attn_reference(&s->args, &s->out, &s->lse, &err), &err, name);
    }
    for (int x = 0; x < 4; x++) {
        memcpy(of_backward[x], from, bytes);
        *array = of_backward[x];
        expect_overlap(backward(s, &err), &err, name);
        CHECK(memcmp(of_backward[x], from, bytes) == 0);
    }
    *array = NULL;
}

TEST(results_over_an_array_of_the_arguments_are_refused) {
    static scene s;
    if (!begin(&s)) return;
    const double slope = 0.5, sink = 1;
    const int64_t lengths[B] = {2, 3};
    expect_all_overlaps(&s, "offsets", (const void **)&s.args.offsets, lengths, sizeof lengths);
    expect_all_overlaps(&s, "len_q", (const void **)&s.args.len_q, lengths, sizeof lengths);
    expect_all_overlaps(&s, "len_k", (const void **)&s.args.len_k, lengths, sizeof lengths);
    expect_all_overlaps(&s, "alibi", (const void **)&s.args.alibi, &slope, sizeof slope);
    expect_all_overlaps(&s, "sinks", (const void **)&s.args.sinks, &sink, sizeof sink);
    attn_ctx_destroy(s.ctx);
}

TEST(results_over_the_starts_of_packed_sequences_are_refused) {
    static scene s;
    if (!begin(&s)) return;
    pack(&s);
    const int64_t starts[3] = {0, N, B * N};
    expect_all_overlaps(&s, "cu_q", (const void **)&s.args.cu_q, starts, sizeof starts);
    pack(&s);
    expect_all_overlaps(&s, "cu_k", (const void **)&s.args.cu_k, starts, sizeof starts);
    attn_ctx_destroy(s.ctx);
}

/* Gradients that are numbers have places of their own too. */
TEST(numbers_over_inputs_results_and_each_other_are_refused) {
    static scene s;
    if (!begin(&s)) return;
    double *const taken[] = {s.q, s.v, s.sink, s.o, s.l, s.dout, s.dq, s.dv, (double *)s.workspace};
    static const char *const names[] = {"q",    "v",  "sinks", "out",      "lse",
                                        "dout", "dq", "dv",    "workspace"};
    attn_error err;
    for (int x = 0; x < 9; x++) {
        s.gradients.dsinks = taken[x];
        expect_overlap(backward(&s, &err), &err, names[x]);
        s.gradients.dsinks = s.dsinks;
        s.gradients.dscale = taken[x];
        expect_overlap(backward(&s, &err), &err, names[x]);
        s.gradients.dscale = s.dscale;
    }
    s.gradients.dscale = s.dsinks;
    expect_overlap(backward(&s, &err), &err, "dsinks");
    s.gradients.dscale = s.dscale;
    CHECK_INT(backward(&s, NULL), ATTN_OK);
    attn_ctx_destroy(s.ctx);
}
