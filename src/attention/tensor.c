/* SPDX-License-Identifier: Apache-2.0 */
/* tensor.c - views of memory: creates and checks them, and tells whether two share elements.
 * Touches no element. Tests: tests/attention/test_args_*.c */
#include "attention/tensor.h"

#include <inttypes.h>
#include <stdlib.h>

const char *const attni_dim_name[4] = {"batch", "heads", "rows", "columns"};

static attn_tensor dense_view(const void *data, attn_dtype dtype, const int64_t shape[4]) {
    attn_tensor t = {.data = (void *)(uintptr_t)data, .dtype = dtype};
    memcpy(t.shape, shape, sizeof t.shape);
    t.stride[3] = 1;
    return t;
}

attn_tensor attn_tensor_bhsd(const void *data, attn_dtype dtype, int64_t B, int64_t H, int64_t n,
                             int64_t d) {
    attn_tensor t = dense_view(data, dtype, (const int64_t[4]){B, H, n, d});
    t.stride[2] = d;
    if (__builtin_mul_overflow(n, d, &t.stride[1]))
        t.stride[1] = INT64_MAX; /* rejected later as overflow */
    if (__builtin_mul_overflow(H, t.stride[1], &t.stride[0])) t.stride[0] = INT64_MAX;
    return t;
}

attn_tensor attn_tensor_bshd(const void *data, attn_dtype dtype, int64_t B, int64_t H, int64_t n,
                             int64_t d) {
    attn_tensor t = dense_view(data, dtype, (const int64_t[4]){B, H, n, d});
    t.stride[1] = d;
    if (__builtin_mul_overflow(H, d, &t.stride[2])) t.stride[2] = INT64_MAX;
    if (__builtin_mul_overflow(n, t.stride[2], &t.stride[0])) t.stride[0] = INT64_MAX;
    return t;
}

/* ------------------------------------------------------------------------------ checks */

/* Whether data + low .. data + high lies in the address space. With 64 bits, programs have its
 * lower half. A view without data lies nowhere. */
static bool is_addressable(const void *data, int64_t low, int64_t high) {
    const uint64_t at = (uintptr_t)data, end = sizeof(void *) == 8 ? INT64_MAX : UINTPTR_MAX;
    return !data || ((uint64_t)-low <= at && at <= end && (uint64_t)high <= end - at);
}

/* The first and one-past-last byte that the view can touch, relative to data; false on overflow. */
static bool byte_range(const attn_tensor *t, int64_t *low, int64_t *high) {
    const int64_t size = attni_dtype_size(t->dtype);
    *low = 0;
    *high = size;
    for (int k = 0; k < 4; k++) {
        int64_t reach;
        if (t->shape[k] <= 1) continue;
        if (__builtin_mul_overflow(t->stride[k], t->shape[k] - 1, &reach)) return false;
        if (__builtin_mul_overflow(reach, size, &reach)) return false;
        if (__builtin_add_overflow(reach < 0 ? *low : *high, reach, reach < 0 ? low : high))
            return false;
    }
    return *low >= -(int64_t)PTRDIFF_MAX && *high <= (int64_t)PTRDIFF_MAX + *low &&
           is_addressable(t->data, *low, *high);
}

attn_status attni_check_tensor(const char *name, const attn_tensor *t, unsigned dtypes,
                               bool need_data, attn_error *err) {
    const size_t size = attn_dtype_size(t->dtype);
    if (size == 0 || !(dtypes >> t->dtype & 1)) {
        return attni_fail(err, ATTN_E_DTYPE,
                          "%s: dtype %s (%d) is not allowed here; convert it first", name,
                          attn_dtype_name(t->dtype), (int)t->dtype);
    }
    for (int k = 0; k < 4; k++) {
        if (t->shape[k] < 0) {
            return attni_fail(err, ATTN_E_SHAPE, "%s: %s is %" PRId64 ", expected 0 or more", name,
                              attni_dim_name[k], t->shape[k]);
        }
    }
    int64_t low, high;
    for (int k = 0; k < 4; k++) {
        if (t->shape[k] > PTRDIFF_MAX) {
            return attni_fail(err, ATTN_E_OVERFLOW,
                              "%s: %s is %" PRId64 ", more than memory can hold", name,
                              attni_dim_name[k], t->shape[k]);
        }
    }
    if (attni_tensor_is_empty(t)) return ATTN_OK;
    if (need_data && !t->data) {
        return attni_fail(err, ATTN_E_NULL, "%s: data is NULL for a tensor with elements", name);
    }
    if (!byte_range(t, &low, &high)) {
        return attni_fail(err, ATTN_E_OVERFLOW,
                          "%s: (%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64
                          ") with its strides reaches beyond the address space",
                          name, t->shape[0], t->shape[1], t->shape[2], t->shape[3]);
    }
    if ((uintptr_t)t->data % size != 0) {
        return attni_fail(err, ATTN_E_STRIDE,
                          "%s: data is not aligned to its %zu-byte elements; copy it", name, size);
    }
    return ATTN_OK;
}

attn_status attni_check_row_contiguous(const char *name, const attn_tensor *t, attn_error *err) {
    if (t->shape[3] <= 1 || t->stride[3] == 1 || attni_tensor_is_empty(t)) return ATTN_OK;
    return attni_fail(err, ATTN_E_STRIDE,
                      "%s: stride of the last dimension is %" PRId64
                      ", expected 1; transpose or copy the data",
                      name, t->stride[3]);
}

/* Each dimension steps over all of the next: the usual case, decided quickly. */
static bool is_row_major(const attn_tensor *t) {
    return t->stride[3] == 1 && t->stride[2] >= t->shape[3] &&
           t->stride[1] >= t->stride[2] * t->shape[2] && t->stride[0] >= t->stride[1] * t->shape[1];
}

/* No two elements of a result may share memory: in order of size, each stride must step over
 * everything that the smaller ones reach. */
attn_status attni_check_distinct(const char *name, const attn_tensor *t, attn_error *err) {
    if (attni_tensor_is_empty(t) || is_row_major(t)) return ATTN_OK;
    bool done[4] = {false, false, false, false};
    int64_t reach = 0;
    for (int n = 0; n < 4; n++) {
        int least = -1;
        for (int k = 0; k < 4; k++) {
            if (!done[k] && (least < 0 || llabs(t->stride[k]) < llabs(t->stride[least]))) least = k;
        }
        done[least] = true;
        if (t->shape[least] <= 1) continue;
        if (llabs(t->stride[least]) <= reach) {
            return attni_fail(err, ATTN_E_STRIDE,
                              "%s: stride of %s is %" PRId64
                              ", so results would overwrite each other",
                              name, attni_dim_name[least], t->stride[least]);
        }
        reach += llabs(t->stride[least]) * (t->shape[least] - 1);
    }
    return ATTN_OK;
}

/* --------------------------------------------------------------------------- overlap */

static int64_t gcd(int64_t a, int64_t b) {
    while (b != 0) {
        const int64_t r = a % b;
        a = b;
        b = r;
    }
    return a < 0 ? -a : a;
}

/* A view as runs of contiguous bytes, and the distance between their beginnings. */
typedef struct runs {
    int64_t bytes; /* of one run */
    int64_t pitch; /* greatest common divisor of the steps between runs; 0 if there is only one */
} runs;

/* Dimensions that continue a run without a gap, such as adjacent heads, belong to it. */
static runs runs_of(const attn_tensor *t) {
    const int64_t size = attni_dtype_size(t->dtype);
    runs r = {.bytes = size};
    bool joined[4] = {false, false, false, false};
    for (int n = 0; n < 4; n++) {
        for (int k = 3; k >= 0; k--) {
            if (joined[k] || t->shape[k] <= 1 || t->stride[k] * size != r.bytes) continue;
            joined[k] = true;
            r.bytes *= t->shape[k];
        }
    }
    for (int k = 0; k < 4; k++) {
        if (!joined[k] && t->shape[k] > 1) r.pitch = gcd(r.pitch, t->stride[k] * size);
    }
    return r;
}

bool attni_tensors_overlap(const attn_tensor *a, const attn_tensor *b) {
    if (!a->data || !b->data || attni_tensor_is_empty(a) || attni_tensor_is_empty(b)) return false;
    int64_t a_low, a_high, b_low, b_high;
    if (!byte_range(a, &a_low, &a_high) || !byte_range(b, &b_low, &b_high)) return true;
    const int64_t distance = (int64_t)(uintptr_t)b->data - (int64_t)(uintptr_t)a->data;
    if (distance + b_low >= a_high || distance + b_high <= a_low) return false;
    /* The ranges intersect. If the runs of both begin at multiples of one pitch, they may still
     * fall into different parts of it. */
    const runs in_a = runs_of(a), in_b = runs_of(b);
    const int64_t pitch = gcd(in_a.pitch, in_b.pitch);
    if (pitch == 0) return true;
    const int64_t shift = ((distance % pitch) + pitch) % pitch;
    return !(shift >= in_a.bytes && shift + in_b.bytes <= pitch);
}
