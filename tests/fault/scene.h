/* SPDX-License-Identifier: Apache-2.0 */
/* scene.h - problems for test_fault.c and test_steady.c: one per dtype and set of features, with
 * space for every output. Nothing here allocates. */
#ifndef FAULT_SCENE_H
#define FAULT_SCENE_H

#include "attn/attn.h"

#include <stdbool.h>

enum {
    SCENE_B = 2,
    SCENE_H = 4,
    SCENE_H_KV = 2,
    SCENE_N = 210, /* more than one tile of keys, and enough work for all threads */
    SCENE_D = 8,
    SCENE_TOP = 3,
    SCENE_ELEMENTS = SCENE_B * SCENE_H * SCENE_N * SCENE_D,
    SCENE_ROWS = SCENE_B * SCENE_H * SCENE_N,
    SCENE_KINDS = 6
};

/* The largest problem; tests cut n and the like out of it by the shapes. */
typedef struct scene {
    attn_args args;
    attn_tensor out, lse;
    attn_inspection what;
    double data[3][SCENE_ELEMENTS]; /* q, k, v in any dtype */
    double o[SCENE_ELEMENTS], l[SCENE_ROWS];
    double entropy[SCENE_ROWS], top[SCENE_ROWS * SCENE_TOP], received[SCENE_ROWS];
    float bias[SCENE_N * SCENE_N];
    uint8_t mask[SCENE_N * SCENE_N];
    int64_t starts[4], lengths[SCENE_B];
    double per_head[SCENE_H];
} scene;

/* kind: 0 plain f32, 1 plain f64, 2 f16 with bias, 3 bf16 with mask and window, 4 f32 with
 * everything but packing and pattern, 5 packed f32 with pattern (that must be for SCENE_N). */
void scene_begin(scene *s, int kind, const attn_pattern *pattern);
/* Outputs get a known byte, so that writing to them shows. */
void scene_wipe(scene *s);
bool scene_is_wiped(const scene *s);
/* Do the outputs of attn_forward() agree to the bit? */
bool scene_same(const scene *a, const scene *b);

#endif
