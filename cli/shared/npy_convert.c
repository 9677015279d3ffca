/* SPDX-License-Identifier: Apache-2.0 */
/* npy_convert.c - elements of a .npy array as numbers and as the float types of the engine, and
 * arrays described in words. Tests: tests/cli/test_npy.c */
#include "shared/npy.h"

#include "core/base.h"
#include "core/half.h"

#include <stdlib.h>

/* The element in the widest type of its kind. */
static int64_t signed_at(const npy_array *array, size_t i) {
    const char *at = (const char *)array->data + i * (size_t)array->item_size;
    int16_t two;
    int32_t four;
    int64_t eight;
    switch (array->item_size) {
    case 1: return *(const signed char *)at;
    case 2: return memcpy(&two, at, 2), two;
    case 4: return memcpy(&four, at, 4), four;
    default: return memcpy(&eight, at, 8), eight;
    }
}

static uint64_t unsigned_at(const npy_array *array, size_t i) {
    const char *at = (const char *)array->data + i * (size_t)array->item_size;
    uint16_t two;
    uint32_t four;
    uint64_t eight;
    switch (array->item_size) {
    case 1: return *(const unsigned char *)at;
    case 2: return memcpy(&two, at, 2), two;
    case 4: return memcpy(&four, at, 4), four;
    default: return memcpy(&eight, at, 8), eight;
    }
}

static double float_at(const npy_array *array, size_t i) {
    const char *at = (const char *)array->data + i * (size_t)array->item_size;
    uint16_t half;
    float single;
    double full;
    switch (array->item_size) {
    case 2: return memcpy(&half, at, 2), (double)attni_f16_to_f32(half);
    case 4: return memcpy(&single, at, 4), (double)single;
    default: return memcpy(&full, at, 8), full;
    }
}

int64_t npy_int_at(const npy_array *array, size_t i) {
    if (array->kind == 'i') return signed_at(array, i);
    const uint64_t value = unsigned_at(array, i);
    return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

double npy_real_at(const npy_array *array, size_t i) {
    if (array->kind == 'f') return float_at(array, i);
    if (array->kind == 'i') return (double)signed_at(array, i);
    return (double)unsigned_at(array, i);
}

/* f64 to f32, rounded to odd: an inexact result gets its last bit set. Rounding that to a type
 * with at least two bits less gives what one rounding of x would give (Boldo and Melquiond,
 * "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd", 2008). */
static float round_to_odd(double x) {
    float y = (float)x;
    if (isnan(x) || (double)y == x) return y;
    uint32_t bits = attni_bits_of(y);
    if (fabs((double)y) > fabs(x)) bits--; /* back towards zero; from Inf to the largest float */
    return attni_float_of(bits | 1u);
}

void *npy_to_dtype(const npy_array *array, attn_dtype dtype, size_t *became_infinite) {
    size_t bytes;
    *became_infinite = 0;
    if (!attni_mul(array->count ? array->count : 1, attn_dtype_size(dtype), &bytes)) return NULL;
    void *data = malloc(bytes);
    for (size_t i = 0; data && i < array->count; i++) {
        const double x = npy_real_at(array, i);
        double stored = x;
        if (dtype == ATTN_F64) {
            ((double *)data)[i] = x;
        } else if (dtype == ATTN_F32) {
            stored = (double)(((float *)data)[i] = (float)x);
        } else if (dtype == ATTN_F16) {
            ((uint16_t *)data)[i] = attni_f32_to_f16(round_to_odd(x));
            stored = (double)attni_f16_to_f32(((uint16_t *)data)[i]);
        } else {
            ((uint16_t *)data)[i] = attni_f32_to_bf16(round_to_odd(x));
            stored = (double)attni_bf16_to_f32(((uint16_t *)data)[i]);
        }
        *became_infinite += isinf(stored) && !isinf(x);
    }
    return data;
}

void npy_shape_text(const int64_t *shape, int rank, char *text, size_t size) {
    size_t n = 0;
    for (int r = 0; r < rank && n < size; r++)
        n += (size_t)snprintf(text + n, size - n, "%s%lld", r ? ", " : "(", (long long)shape[r]);
    if (n < size) snprintf(text + n, size - n, rank == 0 ? "()" : rank == 1 ? ",)" : ")");
}

void npy_describe(const npy_array *array, char *text, size_t size) {
    char shape[NPY_TEXT];
    npy_shape_text(array->shape, array->rank, shape, sizeof shape);
    snprintf(text, size, "%c%d %s", array->kind, array->item_size, shape);
}
