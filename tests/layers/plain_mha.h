/* SPDX-License-Identifier: Apache-2.0 */
/* plain_mha.h - the multi-head attention layer by its definition, in double precision, one number
 * after another: the oracle of test_mha.c. A scene is a problem with all its arrays as doubles
 * (exact in float too, so that both real types start from the same numbers); gradients are finite
 * differences of the scene's loss. Uses nothing from src/layers except the bucket of a distance. */
#ifndef PLAIN_MHA_H
#define PLAIN_MHA_H

#include <stdbool.h>
#include <stdint.h>

typedef enum scene_array {
    SCENE_X,      /* (B, n_q, d_model) */
    SCENE_MEMORY, /* (B, n_k, d_model), only with cross */
    SCENE_W_Q,
    SCENE_W_K,
    SCENE_W_V,
    SCENE_W_O,
    SCENE_B_Q, /* biases: only with bias */
    SCENE_B_K,
    SCENE_B_V,
    SCENE_B_O,
    SCENE_TABLE, /* (num_buckets, H), only with relative */
    SCENE_ARRAYS
} scene_array;

enum { MAX_H = 8, MAX_B = 4 };

typedef struct scene {
    int64_t B, n_q, n_k, d_model, H, H_kv, d_k, d_v;
    int64_t first_query; /* the position of query 0; keys start at 0 */
    bool cross, bias, causal;
    double scale, temperature, dropout; /* scale 0: 1/sqrt(d_k) */
    uint64_t seed;
    bool padded, alibi, relative, causal_buckets;
    int64_t rope_dim; /* 0: none */
    bool interleaved;
    int64_t len_k[MAX_B];             /* only with padded */
    double slopes[MAX_H];             /* only with alibi, H a power of two */
    double *value[SCENE_ARRAYS], *dy; /* dy (B, n_q, d_model): the loss is sum of y * dy */
    int64_t count[SCENE_ARRAYS];      /* of value; an absent one is NULL */
} scene;

enum { NUM_BUCKETS = 6, MAX_DISTANCE = 5, ROPE_BASE = 100 };

/* Random numbers into arrays of the sizes that the scene asks for. */
void scene_begin(scene *s);
void scene_end(scene *s);
/* y (B, n_q, d_model) by definition. */
void scene_output(const scene *s, double *y);
/* d loss / d value[array][i] by a central difference. */
double scene_slope(scene *s, scene_array array, int64_t i);

#endif
