/* SPDX-License-Identifier: Apache-2.0 */
/* relative.c - see relative.h. Compiled per real type. Tests: tests/layers/test_relative.c */
#include "layers/relative.h"

/* The number of buckets for one direction. */
static int64_t side_buckets(const attni_relative *relative) {
    return relative->bidirectional ? relative->num_buckets / 2 : relative->num_buckets;
}

attn_status R(relative_check)(const attni_relative *relative, attn_error *err) {
    const int64_t buckets = side_buckets(relative);
    if (buckets < 2 || (relative->bidirectional && relative->num_buckets % 2 != 0)) {
        return attni_fail(err, ATTN_E_VALUE, "relative: num_buckets %lld, expected %s",
                          (long long)relative->num_buckets,
                          relative->bidirectional ? "an even number from 4 on" : "at least 2");
    }
    if (relative->max_distance <= buckets / 2) {
        return attni_fail(err, ATTN_E_VALUE, "relative: max_distance %lld, expected over %lld",
                          (long long)relative->max_distance, (long long)(buckets / 2));
    }
    return ATTN_OK;
}

int64_t R(relative_bucket)(const attni_relative *relative, int64_t distance) {
    const int64_t buckets = side_buckets(relative), exact = buckets / 2;
    const int64_t side = relative->bidirectional && distance > 0 ? buckets : 0;
    const int64_t back = relative->bidirectional && distance > 0 ? distance : -distance;
    if (back < exact) return side + attni_max(back, 0);
    const double range = log((double)relative->max_distance / (double)exact);
    const double share = log((double)back / (double)exact) / range;
    /* A distance on the boundary of a bucket belongs to the upper one, however log() rounds. */
    const double place = share * (double)(buckets - exact) + 1e-9;
    return side + exact + (int64_t)fmin(place, (double)(buckets - exact - 1));
}

static int64_t n_distances(const attni_relative_shape *shape) {
    return shape->n_q + shape->n_k - 1;
}

/* The bucket of the distance that entry r stands for. */
static int64_t bucket_of(const attni_relative *relative, const attni_relative_shape *shape,
                         int64_t r) {
    return R(relative_bucket)(relative, r - (shape->n_q - 1) - shape->first);
}

attn_status R(relative_forward)(const attni_relative *relative, const attni_relative_shape *shape,
                                const real *table, real *by_distance, attn_error *err) {
    const int64_t n = n_distances(shape);
    ATTN_TRY(R(relative_check)(relative, err));
    for (int64_t r = 0; r < n; r++) {
        const real *row = table + bucket_of(relative, shape, r) * shape->H;
        for (int64_t h = 0; h < shape->H; h++) by_distance[h * n + r] = row[h];
    }
    return ATTN_OK;
}

attn_tensor R(relative_view)(const attni_relative_shape *shape, const real *by_distance) {
    attn_tensor view = attn_tensor_bhsd(by_distance + (shape->n_q - 1), REAL_DTYPE, 1, shape->H,
                                        shape->n_q, shape->n_k);
    view.stride[1] = n_distances(shape);
    view.stride[2] = -1; /* one query further is one distance less */
    return view;
}

attn_status R(relative_backward)(const attni_relative *relative, const attni_relative_shape *shape,
                                 const real *dby_distance, real *dtable, attn_error *err) {
    const int64_t n = n_distances(shape);
    ATTN_TRY(R(relative_check)(relative, err));
    for (int64_t r = 0; r < n; r++) { /* by_distance[h][r] = table[bucket(r)][h] */
        real *row = dtable + bucket_of(relative, shape, r) * shape->H;
        for (int64_t h = 0; h < shape->H; h++) row[h] += dby_distance[h * n + r];
    }
    return ATTN_OK;
}
