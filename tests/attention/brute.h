/* SPDX-License-Identifier: Apache-2.0 */
/* brute.h - random problems with every kind of mask, and the visibility rule of attn.h written out
 * pair by pair in wide integers; no code of src/. Used by test_visible.c and test_cost.c. */
#ifndef BRUTE_H
#define BRUTE_H

#include "attn/attn.h"
#include "random.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { BRUTE_MAX_SEQS = 4, BRUTE_MAX_Q = 70, BRUTE_MAX_K = 620 };

/* A problem without data in q, k, v, and the memory behind its arguments. */
typedef struct brute_case {
    attn_args args;
    random_stream numbers;
    uint8_t mask_byte; /* the last one written */
    int mask_changes;  /* percent: how often the next one differs */
    void *mask_memory, *bias_memory;
    attn_pattern *pattern;
    int64_t len_q[BRUTE_MAX_SEQS], len_k[BRUTE_MAX_SEQS], offsets[BRUTE_MAX_SEQS];
    int64_t cu_q[BRUTE_MAX_SEQS + 1], cu_k[BRUTE_MAX_SEQS + 1];
} brute_case;

/* lo .. hi, both included. */
static inline int64_t brute_between(brute_case *c, int64_t lo, int64_t hi) {
    return lo + random_below(&c->numbers, hi - lo + 1);
}

static inline bool brute_chance(brute_case *c, int percent) {
    return brute_between(c, 1, 100) <= percent;
}

/* ------------------------------------------------------------------------------------- the rule */

typedef struct brute_sequence {
    int64_t n_q, n_k, offset;
} brute_sequence;

static inline int64_t brute_count(const attn_args *a) {
    return a->cu_q ? a->n_seqs : a->q.shape[0];
}

static inline brute_sequence brute_sequence_at(const attn_args *a, int64_t s) {
    brute_sequence r = {a->q.shape[2], a->k.shape[2], a->offsets ? a->offsets[s] : a->offset};
    if (a->len_q) r.n_q = a->len_q[s];
    if (a->len_k) r.n_k = a->len_k[s];
    if (a->cu_q) r.n_q = a->cu_q[s + 1] - a->cu_q[s];
    if (a->cu_k) r.n_k = a->cu_k[s + 1] - a->cu_k[s];
    if (r.offset == ATTN_OFFSET_BOTTOM_RIGHT) r.offset = r.n_k - r.n_q;
    return r;
}

/* Element number of (s, h, i, j) in a mask or bias, where a dimension of 1 is shared. */
static inline int64_t brute_at(const attn_tensor *t, int64_t s, int64_t h, int64_t i, int64_t j) {
    return (t->shape[0] == 1 ? 0 : s) * t->stride[0] + (t->shape[1] == 1 ? 0 : h) * t->stride[1] +
           (t->shape[2] == 1 ? 0 : i) * t->stride[2] + j * t->stride[3];
}

static inline bool brute_is_minus_inf(const attn_tensor *t, int64_t at) {
    switch (t->dtype) {
    case ATTN_F32: return ((const float *)t->data)[at] == -INFINITY;
    case ATTN_F64: return ((const double *)t->data)[at] == -INFINITY;
    case ATTN_F16: return ((const uint16_t *)t->data)[at] == 0xfc00;
    default: return ((const uint16_t *)t->data)[at] == 0xff80;
    }
}

/* Does query i of head h of sequence s see key j? with_bias: ask also whether the bias is -inf. */
static inline bool brute_visible(const attn_args *a, int64_t s, int64_t h, int64_t i, int64_t j,
                                 bool with_bias) {
    const brute_sequence r = brute_sequence_at(a, s);
    const __int128 position = (__int128)i + r.offset;
    const attn_tensor *mask = &a->mask, *bias = &a->bias;
    if (i >= r.n_q || j >= r.n_k) return false;
    if (a->causal && j > position) return false;
    if (a->window_left >= 0 && j < position - a->window_left) return false;
    if (a->window_right >= 0 && j > position + a->window_right) return false;
    if (mask->data && j >= mask->shape[3]) return false;
    if (bias->data && j >= bias->shape[3]) return false;
    if (mask->data && ((const uint8_t *)mask->data)[brute_at(mask, s, h, i, j)] == 0) return false;
    if (a->pattern && !attn_pattern_at(a->pattern, i, j)) return false;
    return !with_bias || !bias->data || !brute_is_minus_inf(bias, brute_at(bias, s, h, i, j));
}

/* ------------------------------------------------------------------------------ random problems */

/* A view with odd strides: padded, backwards, repeated. Elements are 0. */
static inline attn_tensor brute_view(brute_case *c, attn_dtype dtype, const int64_t shape[4],
                                     void **memory) {
    static const int column_steps[] = {1, 1, 1, 1, 2, -1, 0, 3};
    attn_tensor t = {.dtype = dtype};
    int64_t extent = 1, base = 0; /* elements spanned so far, and where element 0 lies in them */
    for (int d = 3; d >= 0; d--) {
        int64_t step =
            d == 3 ? column_steps[random_below(&c->numbers, 8)] : extent + brute_between(c, 0, 2);
        if (d < 3 && brute_chance(c, 15)) step = 0;
        if (d < 3 && brute_chance(c, 15)) step = -step;
        t.shape[d] = shape[d];
        t.stride[d] = step;
        const int64_t reach = (shape[d] > 0 ? shape[d] - 1 : 0) * step;
        if (reach < 0) base -= reach;
        extent += reach < 0 ? -reach : reach;
    }
    const size_t size = attn_dtype_size(dtype);
    *memory = calloc((size_t)extent, size);
    if (!*memory) abort();
    t.data = (char *)*memory + (size_t)base * size;
    return t;
}

/* Shape of a mask or bias: any dimension may be 1, the keys may be fewer (or more when packed). */
static inline void brute_score_shape(brute_case *c, int64_t shape[4]) {
    const attn_args *a = &c->args;
    const int64_t keys = a->k.shape[2];
    shape[0] = brute_chance(c, 50) ? 1 : brute_count(a);
    shape[1] = brute_chance(c, 50) ? 1 : a->q.shape[1];
    shape[2] = brute_chance(c, 25) ? 1 : a->q.shape[2];
    shape[3] = brute_chance(c, 70) ? keys : brute_between(c, 0, keys);
}

/* Calls fill for every element of a view. */
static inline void brute_fill(brute_case *c, const attn_tensor *t,
                              void (*fill)(brute_case *c, const attn_tensor *t, int64_t at)) {
    for (int64_t b = 0; b < t->shape[0]; b++) {
        for (int64_t h = 0; h < t->shape[1]; h++) {
            for (int64_t i = 0; i < t->shape[2]; i++) {
                for (int64_t j = 0; j < t->shape[3]; j++) fill(c, t, brute_at(t, b, h, i, j));
            }
        }
    }
}

/* True is any byte but 0. Runs of equal bytes, so that whole words are sometimes equal. */
static inline void brute_fill_mask(brute_case *c, const attn_tensor *t, int64_t at) {
    static const uint8_t bytes[] = {0, 0, 0, 0, 1, 1, 2, 0x10, 0x80, 0xff};
    if (brute_chance(c, c->mask_changes))
        c->mask_byte = bytes[random_below(&c->numbers, sizeof bytes)];
    ((uint8_t *)t->data)[at] = c->mask_byte;
}

static inline void brute_fill_bias(brute_case *c, const attn_tensor *t, int64_t at) {
    const bool masks = brute_chance(c, 20);
    switch (t->dtype) {
    case ATTN_F32: ((float *)t->data)[at] = masks ? -INFINITY : 1; break;
    case ATTN_F64: ((double *)t->data)[at] = masks ? -INFINITY : -1e300; break;
    case ATTN_F16: ((uint16_t *)t->data)[at] = masks ? 0xfc00 : 0xfbff; break;
    default: ((uint16_t *)t->data)[at] = masks ? 0xff80 : 0x7f80; break;
    }
}

static inline void brute_set_pattern(brute_case *c) {
    const int64_t n_q = c->args.q.shape[2], n_k = c->args.k.shape[2];
    attn_status status = ATTN_OK;
    switch (random_below(&c->numbers, 5)) {
    case 0:
        status = attn_pattern_random_blocks(n_q, n_k, brute_between(c, 1, 40), 2,
                                            random_bits(&c->numbers), NULL, &c->pattern, NULL);
        break;
    case 1:
        status =
            attn_pattern_strided(n_q, n_k, 3, brute_between(c, 1, 400), NULL, &c->pattern, NULL);
        break;
    case 2:
        status = attn_pattern_window(n_q, n_k, brute_between(c, -9, n_k), 5, 70, NULL, &c->pattern,
                                     NULL);
        break;
    case 3:
        status = attn_pattern_causal(n_q, n_k, brute_between(c, -9, n_k), NULL, &c->pattern, NULL);
        break;
    default: status = attn_pattern_global(n_q, n_k, 2, NULL, &c->pattern, NULL);
    }
    if (status != ATTN_OK) abort();
    c->args.pattern = c->pattern;
}

/* n + 1 ascending numbers from 0 to total. */
static inline void brute_starts(brute_case *c, int64_t *starts, int64_t n, int64_t total) {
    starts[0] = 0;
    for (int64_t s = 1; s < n; s++) starts[s] = brute_between(c, starts[s - 1], total);
    starts[n] = total;
}

static inline void brute_set_lengths(brute_case *c) {
    attn_args *a = &c->args;
    const int64_t B = a->q.shape[0];
    if (B == 1 && brute_chance(c, 40)) {
        a->n_seqs = brute_between(c, 1, BRUTE_MAX_SEQS);
        brute_starts(c, c->cu_q, a->n_seqs, a->q.shape[2]);
        brute_starts(c, c->cu_k, a->n_seqs, a->k.shape[2]);
        a->cu_q = c->cu_q;
        a->cu_k = c->cu_k;
        return;
    }
    for (int64_t b = 0; b < B; b++) {
        c->len_q[b] = brute_between(c, 0, a->q.shape[2]);
        c->len_k[b] = brute_between(c, 0, a->k.shape[2]);
    }
    if (brute_chance(c, 30)) a->len_q = c->len_q;
    if (brute_chance(c, 30)) a->len_k = c->len_k;
}

static inline int64_t brute_offset(brute_case *c) {
    switch (random_below(&c->numbers, 8)) {
    case 0: return INT64_MAX;
    case 1: return INT64_MIN + 1;
    case 2: return 0;
    case 3: return ATTN_OFFSET_BOTTOM_RIGHT;
    default: return brute_between(c, -BRUTE_MAX_Q, c->args.k.shape[2]);
    }
}

static inline int64_t brute_window(brute_case *c) {
    if (brute_chance(c, 60)) return -1;
    return brute_chance(c, 10) ? INT64_MAX : brute_between(c, 0, 300);
}

static inline void brute_set_ranges(brute_case *c) {
    attn_args *a = &c->args;
    a->causal = brute_chance(c, 40);
    a->window_left = brute_window(c);
    a->window_right = brute_window(c);
    if (brute_chance(c, 70)) a->offset = brute_offset(c);
    for (int s = 0; s < BRUTE_MAX_SEQS; s++) c->offsets[s] = brute_offset(c);
    if (brute_chance(c, 30)) a->offsets = c->offsets;
}

/* The problem number `seed`; every argument of visibility is given or not by chance. */
static inline void brute_begin(brute_case *c, uint64_t seed) {
    static const attn_dtype floats[] = {ATTN_F32, ATTN_F64, ATTN_F16, ATTN_BF16};
    int64_t shape[4];
    memset(c, 0, sizeof *c);
    c->numbers = random_begin(seed, 0);
    const int64_t B = brute_between(c, 1, 3), H_kv = brute_between(c, 1, 2),
                  H = H_kv * brute_between(c, 1, 2), n_q = brute_between(c, 1, BRUTE_MAX_Q),
                  n_k = brute_between(c, 1, brute_chance(c, 50) ? 40 : BRUTE_MAX_K);
    attn_args_init(&c->args);
    c->args.q = attn_tensor_bhsd(NULL, ATTN_F32, B, H, n_q, 5);
    c->args.k = attn_tensor_bhsd(NULL, ATTN_F32, B, H_kv, n_k, 5);
    c->args.v = attn_tensor_bhsd(NULL, ATTN_F32, B, H_kv, n_k, 3);
    brute_set_lengths(c);
    brute_set_ranges(c);
    if (brute_chance(c, 40)) {
        brute_score_shape(c, shape);
        c->mask_changes = brute_chance(c, 50) ? 30 : 1;
        c->args.mask = brute_view(c, ATTN_BOOL, shape, &c->mask_memory);
        brute_fill(c, &c->args.mask, brute_fill_mask);
    }
    if (brute_chance(c, 30)) {
        brute_score_shape(c, shape);
        c->args.bias = brute_view(c, floats[random_below(&c->numbers, 4)], shape, &c->bias_memory);
        brute_fill(c, &c->args.bias, brute_fill_bias);
    }
    if (brute_chance(c, 30)) brute_set_pattern(c);
}

static inline void brute_end(brute_case *c) {
    free(c->mask_memory);
    free(c->bias_memory);
    attn_pattern_destroy(c->pattern);
}

#endif
