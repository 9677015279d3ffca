/* SPDX-License-Identifier: Apache-2.0 */
/* consumer.c - a program outside the project. A zero query scores all keys alike, so its output
 * must be the mean of the values. Built by tests/install/check_install. */
#include <attn/attn.h>

#include <math.h>
#include <stdio.h>

int main(void) {
    const float q[2] = {0, 0}, k[4] = {1, 2, 3, 4}, v[4] = {1, 10, 3, 30};
    float o[2] = {0, 0};
    attn_error error;
    attn_ctx *ctx = NULL;
    attn_status status = attn_ctx_create(NULL, &ctx, &error);
    if (status == ATTN_OK) {
        attn_args args;
        attn_args_init(&args);
        args.q = attn_tensor_bhsd(q, ATTN_F32, 1, 1, 1, 2);
        args.k = attn_tensor_bhsd(k, ATTN_F32, 1, 1, 2, 2);
        args.v = attn_tensor_bhsd(v, ATTN_F32, 1, 1, 2, 2);
        const attn_tensor out = attn_tensor_bhsd(o, ATTN_F32, 1, 1, 1, 2);
        status = attn_forward(ctx, &args, &out, NULL, &error);
        attn_ctx_destroy(ctx);
    }
    if (status != ATTN_OK) {
        printf("%s: %s\n", attn_strerror(status), error.message);
        return 1;
    }
    printf("attn %s: %g %g, expected 2 20\n", attn_version(), (double)o[0], (double)o[1]);
    return fabsf(o[0] - 2) < 1e-6f && fabsf(o[1] - 20) < 1e-5f ? 0 : 1;
}
