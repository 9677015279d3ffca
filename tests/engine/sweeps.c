/* SPDX-License-Identifier: Apache-2.0 */
/* sweeps.c - the problems of sweeps.h. */
#include "sweeps.h"

#include <stdio.h>

const int64_t head_sizes[HEAD_SIZES] = {1,  2,  3,  4,  5,  7,  8,   9,  15,
                                        16, 17, 33, 40, 64, 72, 100, 129};

const unsigned feature_sets[FEATURE_SETS] = {0,
                                             PROBLEM_CAUSAL,
                                             PROBLEM_WINDOW,
                                             PROBLEM_MASK,
                                             PROBLEM_BIAS,
                                             PROBLEM_PATTERN,
                                             PROBLEM_LENGTHS,
                                             PROBLEM_PACKED,
                                             PROBLEM_OFFSET | PROBLEM_CAUSAL,
                                             PROBLEM_ALIBI,
                                             PROBLEM_SINKS,
                                             PROBLEM_SOFTCAP,
                                             PROBLEM_TEMPERATURE,
                                             PROBLEM_SCALE,
                                             PROBLEM_DROPOUT,
                                             PROBLEM_SINKS | PROBLEM_TEMPERATURE,
                                             PROBLEM_BIAS | PROBLEM_SOFTCAP | PROBLEM_TEMPERATURE,
                                             PROBLEM_SINKS | PROBLEM_DROPOUT | PROBLEM_TEMPERATURE,
                                             PROBLEM_EVERYTHING & ~PROBLEM_PACKED,
                                             PROBLEM_EVERYTHING & ~PROBLEM_LENGTHS};

void sweep_run(sweep s, void (*problems)(sweep *s)) {
    NEED_ISA(s.isa);
    s.ctx = context_with(s.isa, 1);
    s.ok = s.ctx != NULL;
    problems(&s);
    attn_ctx_destroy(s.ctx);
    if (s.ok && s.worst > 0) printf("(worst %.2f of the bound) ", s.worst);
}

void sweep_try(sweep *s, int64_t x, const problem_spec *spec) {
    if (!s->ok || (s->is_taken && !s->is_taken(x, s->dtype))) return;
    s->ok = s->passes(s->ctx, spec, &s->worst);
}

int sweep_lanes(const sweep *s) {
    const attni_kernels *kernels = attni_kernels_get(s->isa, s->dtype == ATTN_F64);
    return kernels->vl * kernels->max_vecs;
}

int sweep_vector(const sweep *s) { return attni_kernels_get(s->isa, s->dtype == ATTN_F64)->vl; }

void sweep_head_sizes(sweep *s, uint64_t seed) {
    for (int x = 0; s->ok && x < 2 * HEAD_SIZES; x++) {
        const int64_t d = head_sizes[x / 2], other = head_sizes[(x / 2 * 7 + 3) % HEAD_SIZES];
        const problem_spec spec = {.seed = seed + (uint64_t)x,
                                   .dtype = s->dtype,
                                   .B = 1,
                                   .H = 2,
                                   .H_kv = 1,
                                   .n_q = sweep_lanes(s) / 2 + 1,
                                   .n_k = 23,
                                   .d_k = x & 1 ? other : d,
                                   .d_v = d,
                                   .features = x & 2 ? PROBLEM_CAUSAL : 0,
                                   .layout = (problem_layout)(x % LAYOUT_COUNT)};
        sweep_try(s, x, &spec);
    }
}

/* Lengths where something begins and ends; returns their number. */
static int collect_lengths(const sweep *s, const int64_t blocks[3], int64_t *lengths) {
    const int64_t vl = sweep_vector(s), lanes = sweep_lanes(s);
    const int64_t around[] = {1,         vl,        2 * vl,    3 * vl,   lanes,
                              2 * lanes, blocks[0], blocks[1], blocks[2]};
    int n = 0;
    lengths[n++] = 0;
    for (size_t x = 0; x < sizeof around / sizeof around[0]; x++) {
        for (int64_t length = around[x] - 1; length <= around[x] + 1; length++) {
            if (length > 0) lengths[n++] = length;
        }
    }
    return n;
}

void sweep_lengths(sweep *s, uint64_t seed, const int64_t blocks[3]) {
    int64_t lengths[32];
    const int n = collect_lengths(s, blocks, lengths);
    for (int x = 0; s->ok && x < 2 * n; x++) {
        const problem_spec spec = {.seed = seed + (uint64_t)x,
                                   .dtype = s->dtype,
                                   .B = 1,
                                   .H = 1,
                                   .H_kv = 1,
                                   .n_q = x & 1 ? 5 : lengths[x / 2],
                                   .n_k = x & 1 ? lengths[x / 2] : 9,
                                   .d_k = 6,
                                   .d_v = 3,
                                   .features = x % 3 == 0 ? PROBLEM_CAUSAL : 0};
        sweep_try(s, x, &spec);
    }
}

void sweep_groups(sweep *s, uint64_t seed) {
    for (int64_t group = 1; s->ok && group <= 8; group++) {
        const int64_t full = sweep_lanes(s) / group;
        for (int64_t n_q = full > 1 ? full - 1 : 1; s->ok && n_q <= full + 2; n_q++) {
            const problem_spec spec = {.seed = seed + (uint64_t)(group * 64 + n_q),
                                       .dtype = s->dtype,
                                       .B = 1,
                                       .H = 2 * group,
                                       .H_kv = 2,
                                       .n_q = n_q,
                                       .n_k = 21,
                                       .d_k = 8,
                                       .d_v = 5,
                                       .features = PROBLEM_CAUSAL | PROBLEM_ALIBI | PROBLEM_SINKS};
            sweep_try(s, group + n_q, &spec);
        }
    }
}

void sweep_features(sweep *s, uint64_t seed, int64_t n_k) {
    for (int x = 0; s->ok && x < 3 * FEATURE_SETS; x++) {
        const int turn = x / FEATURE_SETS;
        const problem_spec spec = {.seed = seed + (uint64_t)x,
                                   .dtype = s->dtype,
                                   .B = 2,
                                   .H = 2,
                                   .H_kv = 1 + turn % 2,
                                   .n_q = 30,
                                   .n_k = n_k,
                                   .d_k = 8,
                                   .d_v = 8,
                                   .features = feature_sets[x % FEATURE_SETS],
                                   .layout = (problem_layout)((x + turn) % LAYOUT_COUNT),
                                   .wide_lse = x & 1};
        sweep_try(s, x, &spec);
    }
}
