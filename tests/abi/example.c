/* SPDX-License-Identifier: Apache-2.0 */
/* example.c - the ten lines at the top of attn.h, in a program that checks their result.
 * check_example.py in this directory compares the lines with the header. */
#include <attn/attn.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { HEADS = 8, ROWS = 1024, SIZE = 64, ELEMENTS = HEADS * ROWS * SIZE };

static void attend(const float *q, const float *k, const float *v, float *o) {
    attn_ctx *ctx;
    attn_ctx_create(NULL, &ctx, NULL); // one thread, best instruction set
    attn_args args;
    attn_args_init(&args);
    args.q = attn_tensor_bhsd(q, ATTN_F32, 1, 8, 1024, 64); // batch, heads, rows, head size
    args.k = attn_tensor_bhsd(k, ATTN_F32, 1, 8, 1024, 64);
    args.v = attn_tensor_bhsd(v, ATTN_F32, 1, 8, 1024, 64);
    args.causal = 1;
    attn_tensor out = attn_tensor_bhsd(o, ATTN_F32, 1, 8, 1024, 64);
    attn_forward(ctx, &args, &out, NULL, NULL); // softmax(q k^T / 8 + mask) v
    attn_ctx_destroy(ctx);
}

static void fill(float *x, unsigned seed) {
    for (int e = 0; e < ELEMENTS; e++) {
        seed = seed * 1664525u + 1013904223u;
        x[e] = (float)(seed >> 8) / 8388608.0f - 1;
    }
}

/* Causal: the first row of every head sees the first key only, so it is the first value, but for
 * three roundings of 2^-24: weight times value, one over the sum of weights, and their product. */
static int is_right(const float *v, const float *o) {
    for (int e = 0; e < ELEMENTS; e++) {
        const int in_first_row = e % (ROWS * SIZE) < SIZE;
        if (!isfinite(o[e])) return 0;
        if (in_first_row && fabsf(o[e] - v[e]) > 3.1f * 0x1p-24f * fabsf(v[e])) return 0;
    }
    return 1;
}

int main(void) {
    float *memory = malloc(4 * sizeof *memory * ELEMENTS);
    if (!memory) return 1;
    float *q = memory, *k = q + ELEMENTS, *v = k + ELEMENTS, *o = v + ELEMENTS;
    fill(q, 1);
    fill(k, 2);
    fill(v, 3);
    fill(o, 4); /* not the answer yet */
    attend(q, k, v, o);
    const int right = is_right(v, o);
    puts(right ? "ok" : "the first rows are not the first values");
    free(memory);
    return !right;
}
