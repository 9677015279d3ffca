/* SPDX-License-Identifier: Apache-2.0 */
/* long_call.h - forward, backward and inspect on one problem that is large enough for several
 * threads, with results that can be compared bit by bit. */
#ifndef LONG_CALL_H
#define LONG_CALL_H

#include <attn/attn.h>

enum { CALL_H = 2, CALL_N = 400, CALL_D = 24, CALL_SIZE = CALL_H * CALL_N * CALL_D };

typedef struct long_call {
    attn_args args;
    float q[CALL_SIZE], k[CALL_SIZE], v[CALL_SIZE], dout[CALL_SIZE];
    struct {
        float out[CALL_SIZE], dq[CALL_SIZE], dk[CALL_SIZE], dv[CALL_SIZE];
        double lse[CALL_H * CALL_N], entropy[CALL_H * CALL_N], received[CALL_H * CALL_N];
    } result;
} long_call;

static inline attn_tensor call_tensor(const void *data, attn_dtype dtype, int64_t n, int64_t d) {
    return attn_tensor_bhsd(data, dtype, 1, CALL_H, n, d);
}

/* Values of v and dout go down to subnormal numbers. */
static inline void long_call_fill(long_call *c) {
    static const float sizes[4] = {1, 1e-3f, 1e-38f, 1e-40f};
    for (int e = 0; e < CALL_SIZE; e++) {
        c->q[e] = (float)(e * 7919 % 1009) / 256 - 2;
        c->k[e] = (float)(e * 7907 % 1013) / 256 - 2;
        c->v[e] = ((float)(e * 7901 % 1019) / 512 - 1) * sizes[e % CALL_D % 4];
        c->dout[e] = ((float)(e * 7883 % 1021) / 512 - 1) * sizes[e % CALL_D % 4];
    }
    attn_args_init(&c->args);
    c->args.q = call_tensor(c->q, ATTN_F32, CALL_N, CALL_D);
    c->args.k = call_tensor(c->k, ATTN_F32, CALL_N, CALL_D);
    c->args.v = call_tensor(c->v, ATTN_F32, CALL_N, CALL_D);
    c->args.causal = 1;
}

static inline attn_status call_forward(attn_ctx *ctx, long_call *c, attn_error *err) {
    const attn_tensor out = call_tensor(c->result.out, ATTN_F32, CALL_N, CALL_D),
                      lse = call_tensor(c->result.lse, ATTN_F64, CALL_N, 1);
    return attn_forward(ctx, &c->args, &out, &lse, err);
}

/* After call_forward(). */
static inline attn_status call_backward(attn_ctx *ctx, long_call *c, attn_error *err) {
    attn_gradients g;
    attn_results r = {.struct_size = sizeof r};
    attn_gradients_init(&g);
    r.out = call_tensor(c->result.out, ATTN_F32, CALL_N, CALL_D);
    r.lse = call_tensor(c->result.lse, ATTN_F64, CALL_N, 1);
    r.dout = call_tensor(c->dout, ATTN_F32, CALL_N, CALL_D);
    g.dq = call_tensor(c->result.dq, ATTN_F32, CALL_N, CALL_D);
    g.dk = call_tensor(c->result.dk, ATTN_F32, CALL_N, CALL_D);
    g.dv = call_tensor(c->result.dv, ATTN_F32, CALL_N, CALL_D);
    return attn_backward(ctx, &c->args, &r, &g, err);
}

static inline attn_status call_inspect(attn_ctx *ctx, long_call *c, attn_error *err) {
    attn_inspection what;
    attn_inspection_init(&what);
    what.entropy = call_tensor(c->result.entropy, ATTN_F64, CALL_N, 1);
    what.received = call_tensor(c->result.received, ATTN_F64, 1, CALL_N);
    return attn_inspect(ctx, &c->args, &what, err);
}

#endif
