/* SPDX-License-Identifier: Apache-2.0 */
/* approximations.c - see approximations.h. */
#include "approximations.h"

#include "core/base.h"
#include "documents.h"

#include <math.h>
#include <stdlib.h>

/* ---------------------------------------------------------------------------- features of a row */

typedef struct feature_map {
    const lab_performer *performer; /* NULL: elu(x) + 1 */
    int64_t d, size;                /* columns of x and of its features */
} feature_map;

/* phi (size) of x (d) */
static void performer_features(const feature_map *map, const double *x, double *phi) {
    const lab_performer *p = map->performer;
    const double shrink = pow((double)map->d, -0.25), root = sqrt((double)p->m);
    double half_square = 0;
    for (int64_t c = 0; c < map->d; c++) half_square += x[c] * shrink * x[c] * shrink / 2;
    for (int64_t r = 0; r < p->m; r++) {
        double projection = 0;
        for (int64_t c = 0; c < map->d; c++) projection += p->omega[r * map->d + c] * x[c] * shrink;
        if (p->features == LAB_POSITIVE) {
            phi[r] = exp(projection - half_square) / root;
        } else {
            phi[2 * r] = exp(half_square) * cos(projection) / root;
            phi[2 * r + 1] = exp(half_square) * sin(projection) / root;
        }
    }
}

static void features_of(const feature_map *map, const double *x, double *phi) {
    if (map->performer) {
        performer_features(map, x, phi);
        return;
    }
    for (int64_t c = 0; c < map->d; c++) phi[c] = x[c] > 0 ? x[c] + 1 : exp(x[c]);
}

/* ------------------------------------------------------------------------------ linear in n */

/* values (size, d_v) = sum over the keys of phi(k) v; keys (size) = sum of phi(k). */
static void sum_keys(const lab_head *head, const feature_map *map, double *phi, double *values,
                     double *keys) {
    for (int64_t j = 0; j < head->n_k; j++) {
        features_of(map, head->k + j * map->d, phi);
        for (int64_t r = 0; r < map->size; r++) {
            keys[r] += phi[r];
            for (int64_t c = 0; c < head->d_v; c++)
                values[r * head->d_v + c] += phi[r] * head->v[j * head->d_v + c];
        }
    }
}

static attn_status by_features(const lab_head *head, const feature_map *map, double *out,
                               attn_error *err) {
    double *phi = calloc((size_t)(map->size * (head->d_v + 2)), sizeof *phi);
    if (!phi) return attni_fail(err, ATTN_E_MEMORY, "%lld features", (long long)map->size);
    double *keys = phi + map->size, *values = keys + map->size;
    sum_keys(head, map, phi, values, keys);
    for (int64_t i = 0; i < head->n_q; i++) {
        double *row = out + i * head->d_v, below = 0;
        features_of(map, head->q + i * map->d, phi);
        for (int64_t c = 0; c < head->d_v; c++) row[c] = 0;
        for (int64_t r = 0; r < map->size; r++) {
            below += phi[r] * keys[r];
            for (int64_t c = 0; c < head->d_v; c++) row[c] += phi[r] * values[r * head->d_v + c];
        }
        for (int64_t c = 0; c < head->d_v; c++) row[c] /= below;
    }
    free(phi);
    return ATTN_OK;
}

attn_status lab_performer_output(const lab_head *head, const lab_performer *performer, double *out,
                                 attn_error *err) {
    const int64_t size = performer->features == LAB_TRIG ? 2 * performer->m : performer->m;
    const feature_map map = {.performer = performer, .d = head->d_k, .size = size};
    return by_features(head, &map, out, err);
}

attn_status lab_linear_output(const lab_head *head, double *out, attn_error *err) {
    const feature_map map = {.d = head->d_k, .size = head->d_k};
    return by_features(head, &map, out, err);
}

/* ------------------------------------------------------------------------------ fewer keys */

attn_status lab_linformer_output(attn_ctx *ctx, const lab_head *head,
                                 const lab_linformer *linformer, double *out, attn_error *err) {
    const int64_t rank = linformer->rank;
    double *k = malloc((size_t)(rank * (head->d_k + head->d_v)) * sizeof *k);
    if (!k) return attni_fail(err, ATTN_E_MEMORY, "%lld projected keys", (long long)rank);
    double *v = k + rank * head->d_k;
    const lab_matrix e = {rank, head->n_k, linformer->e}, f = {rank, head->n_k, linformer->f};
    attn_status status = lab_product(ctx, e, (lab_matrix){head->n_k, head->d_k, head->k}, k, err);
    if (status == ATTN_OK)
        status = lab_product(ctx, f, (lab_matrix){head->n_k, head->d_v, head->v}, v, err);
    lab_head fewer = *head;
    fewer.n_k = rank;
    fewer.k = k;
    fewer.v = v;
    if (status == ATTN_OK) status = lab_head_output(ctx, &fewer, out, err);
    free(k);
    return status;
}
