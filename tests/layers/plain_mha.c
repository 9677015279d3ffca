/* SPDX-License-Identifier: Apache-2.0 */
/* plain_mha.c - see plain_mha.h. */
#define ATTNI_REAL_f64
#include "plain_mha.h"

#include "arrays.h"
#include "differences.h"
#include "layers/relative.h"

#include <stdlib.h>

/* ------------------------------------------------------------------------------------- arrays */

static double *numbers(uint64_t seed, uint64_t tag, int64_t n) {
    double *x = malloc((size_t)(n + 1) * sizeof *x);
    fill_random(seed << 8 | tag, n, x);
    return x;
}

static void set_counts(scene *s) {
    int64_t *n = s->count;
    n[SCENE_X] = s->B * s->n_q * s->d_model;
    n[SCENE_MEMORY] = s->cross ? s->B * s->n_k * s->d_model : 0;
    n[SCENE_W_Q] = s->d_model * s->H * s->d_k;
    n[SCENE_W_K] = s->d_model * s->H_kv * s->d_k;
    n[SCENE_W_V] = s->d_model * s->H_kv * s->d_v;
    n[SCENE_W_O] = s->H * s->d_v * s->d_model;
    n[SCENE_B_Q] = s->bias ? s->H * s->d_k : 0;
    n[SCENE_B_K] = s->bias ? s->H_kv * s->d_k : 0;
    n[SCENE_B_V] = s->bias ? s->H_kv * s->d_v : 0;
    n[SCENE_B_O] = s->bias ? s->d_model : 0;
    n[SCENE_TABLE] = s->relative ? NUM_BUCKETS * s->H : 0;
}

void scene_begin(scene *s) {
    set_counts(s);
    for (int a = 0; a < SCENE_ARRAYS; a++) {
        const bool is_present = s->count[a] || a == SCENE_X || (a == SCENE_MEMORY && s->cross);
        s->value[a] = is_present ? numbers(s->seed, (uint64_t)a, s->count[a]) : NULL;
    }
    s->dy = numbers(s->seed, SCENE_ARRAYS, s->count[SCENE_X]);
    for (int64_t b = 0; b < s->B; b++) s->len_k[b] = s->n_k - 1 - b; /* one entry has few keys */
    for (int64_t h = 0; h < s->H; h++) s->slopes[h] = exp2(-8.0 * (double)(h + 1) / (double)s->H);
}

void scene_end(scene *s) {
    for (int a = 0; a < SCENE_ARRAYS; a++) free(s->value[a]);
    free(s->dy);
}

/* ------------------------------------------------------------------------------------- forward */

/* y (n, n_out) = x (n, n_in) w (n_in, n_out) + b; allocated. */
static double *project(const double *x, const double *w, const double *b, const int64_t shape[3]) {
    const int64_t n = shape[0], n_in = shape[1], n_out = shape[2];
    double *y = malloc((size_t)(n * n_out + 1) * sizeof *y);
    for (int64_t r = 0; r < n; r++) {
        for (int64_t c = 0; c < n_out; c++) {
            double sum = b ? b[c] : 0;
            for (int64_t k = 0; k < n_in; k++) sum += x[r * n_in + k] * w[k * n_out + c];
            y[r * n_out + c] = sum;
        }
    }
    return y;
}

/* rows (B, n, heads, d_k): each head turned by its row's position, which begins at `start`. */
static void rotate(const scene *s, double *rows, int64_t n, int64_t heads, int64_t start) {
    const int64_t half = s->rope_dim / 2;
    for (int64_t r = 0; r < s->B * n * heads; r++) {
        const double position = (double)(start + r / heads % n);
        for (int64_t p = 0; p < half; p++) {
            const double angle = position * pow(ROPE_BASE, -2.0 * (double)p / (double)s->rope_dim);
            double *first = rows + r * s->d_k + (s->interleaved ? 2 * p : p);
            double *second = rows + r * s->d_k + (s->interleaved ? 2 * p + 1 : p + half);
            const double a = *first, b = *second;
            *first = a * cos(angle) - b * sin(angle);
            *second = a * sin(angle) + b * cos(angle);
        }
    }
}

/* Of a query at position i. */
static double bias(const scene *s, int64_t h, int64_t i, int64_t j) {
    const attni_relative relative = {!s->causal_buckets, NUM_BUCKETS, MAX_DISTANCE};
    double sum = 0;
    if (s->alibi) sum -= s->slopes[h] * (double)llabs((long long)(i - j));
    if (s->relative) {
        sum += s->value[SCENE_TABLE][R(relative_bucket)(&relative, j - i) * s->H + h];
    }
    return sum;
}

/* out (d_v) of one query of one head: q (d_k), k and v the first rows of their head. */
static void attend(const scene *s, const int64_t at[3], const double *q, const double *k,
                   const double *v, double *out) {
    const int64_t b = at[0], h = at[1], i = at[2], position = s->first_query + i;
    const int64_t keys = s->padded ? s->len_k[b] : s->n_k,
                  end = s->causal && position < keys ? position + 1 : keys;
    const double scale = s->scale != 0 ? s->scale : 1 / sqrt((double)s->d_k);
    double sum = 0;
    for (int64_t c = 0; c < s->d_v; c++) out[c] = 0;
    for (int64_t j = 0; j < end; j++) {
        double score = 0;
        for (int64_t c = 0; c < s->d_k; c++) score += q[c] * k[j * s->H_kv * s->d_k + c];
        const double weight = exp((scale * score + bias(s, h, position, j)) / s->temperature);
        const double kept = attn_dropout_keep(s->seed, s->dropout, b, h, i, j) / (1 - s->dropout);
        sum += weight;
        for (int64_t c = 0; c < s->d_v; c++) out[c] += weight * kept * v[j * s->H_kv * s->d_v + c];
    }
    for (int64_t c = 0; c < s->d_v && end > 0; c++) out[c] /= sum;
}

void scene_output(const scene *s, double *y) {
    const int64_t rows = s->B * s->n_q, memory_rows = s->B * s->n_k, d = s->d_model;
    const double *memory = s->cross ? s->value[SCENE_MEMORY] : s->value[SCENE_X];
    double *q = project(s->value[SCENE_X], s->value[SCENE_W_Q], s->value[SCENE_B_Q],
                        (int64_t[]){rows, d, s->H * s->d_k});
    double *k = project(memory, s->value[SCENE_W_K], s->value[SCENE_B_K],
                        (int64_t[]){memory_rows, d, s->H_kv * s->d_k});
    double *v = project(memory, s->value[SCENE_W_V], s->value[SCENE_B_V],
                        (int64_t[]){memory_rows, d, s->H_kv * s->d_v});
    double *concat = malloc((size_t)(rows * s->H * s->d_v + 1) * sizeof *concat);
    if (s->rope_dim) rotate(s, q, s->n_q, s->H, s->first_query);
    if (s->rope_dim) rotate(s, k, s->n_k, s->H_kv, 0);
    for (int64_t e = 0; e < rows * s->H; e++) { /* e counts (B, n_q, H) */
        const int64_t at[3] = {e / s->H / s->n_q, e % s->H, e / s->H % s->n_q};
        const int64_t head = at[1] / (s->H / s->H_kv), first = at[0] * s->n_k * s->H_kv + head;
        attend(s, at, q + e * s->d_k, k + first * s->d_k, v + first * s->d_v, concat + e * s->d_v);
    }
    double *result = project(concat, s->value[SCENE_W_O], s->value[SCENE_B_O],
                             (int64_t[]){rows, s->H * s->d_v, d});
    memcpy(y, result, (size_t)(rows * d) * sizeof *y);
    free(q), free(k), free(v), free(concat), free(result);
}

/* ----------------------------------------------------------------------------------- gradients */

static double loss(void *of) {
    const scene *s = of;
    const int64_t n = s->count[SCENE_X];
    double *y = malloc((size_t)(n + 1) * sizeof *y), sum = 0;
    scene_output(s, y);
    for (int64_t i = 0; i < n; i++) sum += y[i] * s->dy[i];
    free(y);
    return sum;
}

double scene_slope(scene *s, scene_array array, int64_t i) {
    return differences_slope(loss, s, &s->value[array][i]);
}
