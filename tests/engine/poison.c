/* SPDX-License-Identifier: Apache-2.0 */
/* poison.c - see poison.h. */
#include "poison.h"
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------------------------------- poison */

static uint64_t poison_bits(attn_dtype dtype, int kind) {
    static const uint64_t bits[4][POISONS] = {
        [ATTN_F32] = {0x7fc00000, 0x7fffffff, 0x7f800000, 0xff800000},
        [ATTN_F64] = {0x7ff8000000000000, 0x7fffffffffffffff, 0x7ff0000000000000,
                      0xfff0000000000000},
        [ATTN_F16] = {0x7e00, 0x7fff, 0x7c00, 0xfc00},
        [ATTN_BF16] = {0x7fc0, 0x7fff, 0x7f80, 0xff80}};
    return bits[dtype][kind];
}

static void set_bits(void *element, attn_dtype dtype, uint64_t bits) {
    const uint32_t half = (uint32_t)bits;
    const uint16_t quarter = (uint16_t)bits;
    switch (attn_dtype_size(dtype)) {
    case 8: memcpy(element, &bits, 8); break;
    case 4: memcpy(element, &half, 4); break;
    default: memcpy(element, &quarter, 2); break;
    }
}

void poison_element(const attn_tensor *t, const int64_t at[4], int kind) {
    set_bits(tensor_at(t, at), t->dtype, poison_bits(t->dtype, kind));
}

void poison_row(const attn_tensor *t, const int64_t at[3], int64_t column, int kind) {
    for (int64_t d = 0; d < t->shape[3]; d++) {
        if (column >= 0 && d != column) continue;
        poison_element(t, (const int64_t[4]){at[0], at[1], at[2], d}, kind);
    }
}

void poison_buffer(const guard *g, attn_dtype dtype, int kind) {
    const size_t size = attn_dtype_size(dtype);
    for (size_t e = 0; e < g->size; e += size) {
        set_bits(g->data + e, dtype, poison_bits(dtype, kind));
    }
}

/* ---------------------------------------------------------------------------------------- cases */

static const struct {
    uint64_t seed;
    unsigned features;
} cases[POISON_CASES] = {
    {1, PROBLEM_CAUSAL},
    {2, PROBLEM_CAUSAL | PROBLEM_OFFSET},
    {3, PROBLEM_WINDOW},
    {4, PROBLEM_MASK},
    {5, PROBLEM_BIAS},
    {6, PROBLEM_BIAS},
    {7, PROBLEM_PATTERN},
    {8, PROBLEM_PATTERN | PROBLEM_CAUSAL},
    {9, PROBLEM_LENGTHS},
    {10, PROBLEM_LENGTHS | PROBLEM_CAUSAL},
    {11, PROBLEM_PACKED | PROBLEM_WINDOW},
    {12, PROBLEM_MASK | PROBLEM_BIAS | PROBLEM_CAUSAL | PROBLEM_SINKS},
    {13, PROBLEM_EVERYTHING & ~PROBLEM_PACKED},
    {14, PROBLEM_EVERYTHING & ~PROBLEM_LENGTHS},
    {15, PROBLEM_MASK | PROBLEM_SOFTCAP | PROBLEM_ALIBI | PROBLEM_DROPOUT},
};

bool poison_case(problem *p, int c, attn_dtype dtype, int64_t n_q) {
    const problem_spec spec = {.seed = 40 + cases[c].seed,
                               .dtype = dtype,
                               .B = 2,
                               .H = 2,
                               .H_kv = 1 + c % 2,
                               .n_q = n_q,
                               .n_k = c % 3 == 0 ? 230 : 60,
                               .d_k = 5,
                               .d_v = 9,
                               .features = cases[c].features,
                               .layout = c % 2 ? LAYOUT_PADDED : LAYOUT_BHSD};
    if (problem_make(p, &spec)) return true;
    problem_free(p);
    return false;
}

bool poison_copy_take(poison_copy *copy, const problem *p) {
    bool ok = true;
    for (int which = 0; which < BUFFERS; which++) {
        const guard *g = &p->buffer[which];
        copy->bytes[which] = malloc(g->size + 1);
        if (copy->bytes[which] && g->size > 0) memcpy(copy->bytes[which], g->data, g->size);
        ok = ok && copy->bytes[which];
    }
    if (!ok) check_failed(__FILE__, __LINE__, "no memory");
    return ok;
}

void poison_copy_restore(const poison_copy *copy, problem *p) {
    for (int which = 0; which < BUFFERS; which++) {
        const guard *g = &p->buffer[which];
        if (g->size > 0) memcpy(g->data, copy->bytes[which], g->size);
    }
}

void poison_copy_free(poison_copy *copy) {
    for (int which = 0; which < BUFFERS; which++) free(copy->bytes[which]);
}

bool poison_is_hidden_anyway(const problem *p, const int64_t at[4]) {
    problem without = *p;
    without.args.bias = (attn_tensor){0};
    return !problem_sees(&without, at[0], at[1], at[2], at[3]);
}

/* An element of the bias stands for several pairs if it repeats; all of them must be hidden. */
bool poison_is_bias_hidden(const problem *p, const int64_t e[4]) {
    const int64_t *n = p->args.bias.shape;
    int64_t at[4] = {0, 0, 0, e[3]};
    for (at[0] = 0; at[0] < p->spec.B; at[0]++) {
        if (n[0] > 1 && at[0] != e[0]) continue;
        for (at[1] = 0; at[1] < p->spec.H; at[1]++) {
            if (n[1] > 1 && at[1] != e[1]) continue;
            for (at[2] = 0; at[2] < problem_rows(p, at[0]); at[2]++) {
                if ((n[2] <= 1 || at[2] == e[2]) && !poison_is_hidden_anyway(p, at)) return false;
            }
        }
    }
    return true;
}
