/* SPDX-License-Identifier: Apache-2.0 */
/* scene.c - see scene.h. */
#include "scene.h"

#include <string.h>

enum { WIPED = 0x5a };

static void fill(scene *s, attn_dtype dtype) {
    for (int e = 0; e < 3 * SCENE_ELEMENTS; e++) {
        const int at = e % SCENE_ELEMENTS, x = e * 7919 % 1009;
        void *tensor = s->data[e / SCENE_ELEMENTS];
        if (dtype == ATTN_F32) ((float *)tensor)[at] = (float)x / 512 - 1;
        if (dtype == ATTN_F64) ((double *)tensor)[at] = (double)x / 512 - 1;
        if (dtype == ATTN_F16) ((uint16_t *)tensor)[at] = (uint16_t)(0x3000 + 2 * x);
        if (dtype == ATTN_BF16) ((uint16_t *)tensor)[at] = (uint16_t)(0x3e80 + x % 256);
    }
    for (int e = 0; e < SCENE_N * SCENE_N; e++) {
        s->bias[e] = (float)(e % 31) / 16;
        s->mask[e] = e % 3 != 0;
    }
    for (int h = 0; h < SCENE_H; h++) s->per_head[h] = 0.125 * (h + 1);
    for (int b = 0; b < SCENE_B; b++) s->lengths[b] = SCENE_N - 20 * b;
    for (int n = 0; n < 4; n++) s->starts[n] = n == 3 ? SCENE_N : 50 * n;
}

static void set_tensors(scene *s, attn_dtype dtype, int64_t B) {
    const attn_dtype lse = dtype == ATTN_F64 ? ATTN_F64 : ATTN_F32;
    attn_args *a = &s->args;
    a->q = attn_tensor_bhsd(s->data[0], dtype, B, SCENE_H, SCENE_N, SCENE_D);
    a->k = attn_tensor_bhsd(s->data[1], dtype, B, SCENE_H_KV, SCENE_N, SCENE_D);
    a->v = attn_tensor_bhsd(s->data[2], dtype, B, SCENE_H_KV, SCENE_N, SCENE_D);
    s->out = attn_tensor_bhsd(s->o, dtype, B, SCENE_H, SCENE_N, SCENE_D);
    s->lse = attn_tensor_bhsd(s->l, lse, B, SCENE_H, SCENE_N, 1);
    attn_inspection_init(&s->what);
    s->what.entropy = attn_tensor_bhsd(s->entropy, ATTN_F64, B, SCENE_H, SCENE_N, 1);
    s->what.top_weight = attn_tensor_bhsd(s->top, ATTN_F64, B, SCENE_H, SCENE_N, SCENE_TOP);
    s->what.received = attn_tensor_bhsd(s->received, ATTN_F64, B, SCENE_H, 1, SCENE_N);
}

static void set_everything(scene *s) {
    attn_args *a = &s->args;
    a->causal = 1;
    a->window_left = 150;
    a->softcap = 20;
    a->temperature = 1.25;
    a->mask = attn_tensor_bhsd(s->mask, ATTN_BOOL, 1, 1, SCENE_N, SCENE_N);
    a->bias = attn_tensor_bhsd(s->bias, ATTN_F32, 1, 1, SCENE_N, SCENE_N);
    a->len_q = a->len_k = s->lengths;
    a->alibi = a->sinks = s->per_head;
    a->dropout = 0.25;
    a->seed = 11;
}

void scene_begin(scene *s, int kind, const attn_pattern *pattern) {
    static const attn_dtype dtypes[SCENE_KINDS] = {ATTN_F32,  ATTN_F64, ATTN_F16,
                                                   ATTN_BF16, ATTN_F32, ATTN_F32};
    attn_args *a = &s->args;
    memset(s, 0, sizeof *s);
    attn_args_init(a);
    fill(s, dtypes[kind]);
    set_tensors(s, dtypes[kind], kind == 5 ? 1 : SCENE_B);
    if (kind == 2) a->bias = attn_tensor_bhsd(s->bias, ATTN_F32, 1, 1, SCENE_N, SCENE_N);
    if (kind == 3) {
        a->mask = attn_tensor_bhsd(s->mask, ATTN_BOOL, 1, 1, SCENE_N, SCENE_N);
        a->window_left = a->window_right = 40;
    }
    if (kind == 4) set_everything(s);
    if (kind == 5) {
        a->cu_q = a->cu_k = s->starts;
        a->n_seqs = 3;
        a->pattern = pattern;
    }
    scene_wipe(s);
}

void scene_wipe(scene *s) {
    memset(s->o, WIPED, sizeof s->o);
    memset(s->l, WIPED, sizeof s->l);
    memset(s->entropy, WIPED, sizeof s->entropy);
    memset(s->top, WIPED, sizeof s->top);
    memset(s->received, WIPED, sizeof s->received);
}

static bool is_wiped(const void *memory, size_t size) {
    const unsigned char *bytes = memory;
    for (size_t e = 0; e < size; e++) {
        if (bytes[e] != WIPED) return false;
    }
    return true;
}

bool scene_is_wiped(const scene *s) {
    return is_wiped(s->o, sizeof s->o) && is_wiped(s->l, sizeof s->l) &&
           is_wiped(s->entropy, sizeof s->entropy) && is_wiped(s->top, sizeof s->top) &&
           is_wiped(s->received, sizeof s->received);
}

bool scene_same(const scene *a, const scene *b) {
    return memcmp(a->o, b->o, sizeof a->o) == 0 && memcmp(a->l, b->l, sizeof a->l) == 0;
}
