/* SPDX-License-Identifier: Apache-2.0 */
/* product.h - multiplies rows of A by a packed panel of B, with the micro-kernel of attention, and
 * packs such panels. Accesses only its arguments. Tests: tests/engine/test_gemm.c */
#ifndef ATTNI_PRODUCT_H
#define ATTNI_PRODUCT_H

#include "kernels/kernels.h"
#include "kernels/multiply.h"

/* Fewer columns than a vector has. A separate function, because few calls need it. */
static __attribute__((noinline)) void put_few(real *c, vr x, int n_columns, bool add) {
    real few[VL];
    v_store(few, x);
    for (int i = 0; i < n_columns; i++) c[i] = add ? c[i] + few[i] : few[i];
}

/* Sets the columns of C that exist to x, or adds x to them. */
INLINE void put_columns(real *c, vr x, int n_columns, bool add) {
    if (n_columns < VL) {
        put_few(c, x, n_columns, add);
    } else {
        v_store(c, add ? v_load(c) + x : x);
    }
}

INLINE void product_strip(const int n_i, const int n_v, const attni_product *p, int64_t row) {
    vr sums[ACCUMULATORS];
    UNROLL for (int x = 0; x < n_i * n_v; x++) sums[x] = v_zero();
    multiply(n_i, n_v, p->k, (const real *)p->a + row * p->a_row, p->a_row, p->a_step, p->b,
             LANES(n_v), sums);
    UNROLL for (int i = 0; i < n_i; i++) {
        UNROLL for (int v = 0; v < n_v; v++) {
            real *c = (real *)p->c + (row + i) * p->c_row + v * VL;
            put_columns(c, sums[i * n_v + v], p->n_columns - v * VL, p->add);
        }
    }
}

INLINE void product(const int n_v, const attni_product *p) {
    int64_t row = 0;
    for (; row + ROWS(n_v) <= p->m; row += ROWS(n_v)) product_strip(ROWS(n_v), n_v, p, row);
    if (ROWS(n_v) > 2) {
        for (; row + 2 <= p->m; row += 2) product_strip(2, n_v, p, row);
    }
    if (row < p->m) product_strip(1, n_v, p, row);
}

static __attribute__((noinline)) void product_2(const attni_product *p) { product(2, p); }
#if MAX_VECS >= 3
static __attribute__((noinline)) void product_3(const attni_product *p) { product(3, p); }
#endif

static void product_any(const attni_product *p) {
    static void (*const products[MAX_VECS + 1])(const attni_product *) = {
        NULL,
        NULL,
        product_2,
#if MAX_VECS >= 3
        product_3,
#endif
    };
    attni_assert(p->vecs >= 2 && p->vecs <= MAX_VECS);
    products[p->vecs](p);
}

/* -------------------------------------------------------------------- panels of B */

/* Contiguous rows that reach into the last vector, which is read from the end of the row: it may
 * overlap the one before. */
INLINE void copy_rows(const int n_v, const attni_pack *p) {
    const real *from = p->from;
    real *to = p->to;
    const int last = p->n_columns - VL;
    const bool missing = p->n_columns < LANES(n_v);
    for (int64_t r = 0; r < p->n_rows; r++, from += p->row, to += LANES(n_v)) {
        if (missing) v_store(to + LANES(n_v - 1), v_zero());
        UNROLL for (int v = 0; v < n_v - 1; v++) v_store(to + v * VL, v_load(from + v * VL));
        v_store(to + last, v_load(from + last));
    }
}

/* Columns first .. end - 1, one element at a time; columns missing in `from` are zero. */
static void copy_elements(const attni_pack *p, int first, int end, int64_t first_row) {
    for (int64_t r = first_row; r < p->n_rows; r++) {
        real *to = (real *)p->to + r * LANES(p->vecs);
        const real *from = (const real *)p->from + r * p->row;
        for (int x = first; x < end; x++) to[x] = x < p->n_columns ? from[x * p->column] : 0;
    }
}

/* Contiguous columns, transposed in squares. */
static void copy_columns(const attni_pack *p) {
    int x = 0;
    for (; x + VL <= p->n_columns; x += VL) {
        int64_t r = 0;
        for (; r + VL <= p->n_rows; r += VL) {
            vr square[VL];
            const real *from = (const real *)p->from + r + x * p->column;
            real *to = (real *)p->to + r * LANES(p->vecs) + x;
            UNROLL for (int i = 0; i < VL; i++) square[i] = v_load(from + i * p->column);
            v_transpose(square);
            UNROLL for (int i = 0; i < VL; i++) v_store(to + i * LANES(p->vecs), square[i]);
        }
        copy_elements(p, x, x + VL, r);
    }
    copy_elements(p, x, LANES(p->vecs), 0);
}

static void pack_panel(const attni_pack *p) {
    attni_assert(p->vecs >= 2 && p->vecs <= MAX_VECS && p->n_columns <= LANES(p->vecs));
    const bool rows = p->column == 1 && p->n_columns > LANES(p->vecs - 1);
    if (rows && p->vecs == 2) {
        copy_rows(2, p);
#if MAX_VECS >= 3
    } else if (rows) {
        copy_rows(3, p);
#endif
    } else if (p->row == 1) {
        copy_columns(p);
    } else {
        copy_elements(p, 0, LANES(p->vecs), 0);
    }
}

#endif
