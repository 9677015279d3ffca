/* SPDX-License-Identifier: Apache-2.0 */
/* work.h - counts for several claims: FLOP and pairs by attn_cost(), sparse patterns, a recurrent
 * network, the shapes of Linformer.
 * Tests: tests/lab/test_claims.c */
#ifndef LAB_WORK_H
#define LAB_WORK_H

#include "attn/attn.h"

#include <stdbool.h>

typedef struct lab_work_shape {
    int64_t n, d, heads;
} lab_work_shape;

/* Self-attention of that shape in float32, counted by the engine. */
attn_status lab_work(attn_ctx *ctx, const lab_work_shape *shape, attn_cost_info *cost,
                     attn_error *err);

/* FLOP of GPT-3's attention in 96 layers, in several readings: 96 heads of 128 at 16,384; 8 of 64 at 16,384;
 * 96 of 128 at 2,048; all its weights at 2,048. */
enum { LAB_GPT3_READINGS = 4 };
attn_status lab_gpt3_flops(attn_ctx *ctx, double flops[LAB_GPT3_READINGS], attn_error *err);
/* True if one of them, as FLOP or as multiply-adds, is within 15 % of the stated number. */
bool lab_gpt3_reading(const double flops[LAB_GPT3_READINGS], double stated);

/* Pairs of Longformer at n: 256 keys on each side, 64 global tokens. */
typedef struct lab_longformer_pairs {
    double visible;
    double parts; /* window plus global tokens: a pair that is in both counts twice */
} lab_longformer_pairs;
attn_status lab_longformer_count(int64_t n, lab_longformer_pairs *pairs, attn_error *err);

/* Multiplications of n steps of h = tanh(W h + U x), counted one by one. */
double lab_rnn_multiplies(int64_t n, int64_t d);

/* Linformer at n = 512, k = 256, d = 64: whether E (n, k) times K (n, d) is defined, the status of
 * the engine for k keys and n values, and whether it accepts k of both. */
typedef struct lab_linformer_shapes {
    bool product_fits;
    attn_status only_keys;
    bool projected_values;
} lab_linformer_shapes;
attn_status lab_linformer_check(attn_ctx *ctx, lab_linformer_shapes *shapes, attn_error *err);

#endif
