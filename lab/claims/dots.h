/* SPDX-License-Identifier: Apache-2.0 */
/* dots.h - dot products of random vectors, computed by the engine as raw scores. Tests:
 * tests/lab/test_claims.c */
#ifndef LAB_DOTS_H
#define LAB_DOTS_H

#include "experiment.h"
#include "steps/stream.h"

typedef enum lab_vectors {
    LAB_NORMAL,  /* components N(0, 1) */
    LAB_UNIFORM, /* components uniform with mean 0 and variance 1 */
    LAB_SIGNS,   /* components +1 or -1 */
    LAB_UNIT     /* length 1, uniform in direction */
} lab_vectors;

enum { LAB_DOTS_SIDE = 64, LAB_DOTS_BLOCK = LAB_DOTS_SIDE * LAB_DOTS_SIDE };

/* x (rows, d) */
void lab_vectors_draw(lab_stream *stream, lab_vectors kind, int64_t rows, int64_t d, double *x);

/* dot (blocks * LAB_DOTS_BLOCK): each block multiplies 64 new queries by 64 new keys of size d. */
attn_status lab_dots(const lab_settings *settings, lab_vectors kind, int64_t d, int64_t blocks,
                     double *dot, attn_error *err);

typedef struct lab_moments {
    double variance, excess_kurtosis; /* about the mean */
    double largest, mean_absolute;    /* of |x| */
} lab_moments;

/* Moments of such dot products, which are not stored. */
attn_status lab_dots_moments(const lab_settings *settings, lab_vectors kind, int64_t d,
                             int64_t blocks, lab_moments *moments, attn_error *err);
/* The share of dot products of normal vectors, times scale, with |x| <= bound. */
attn_status lab_dots_within(const lab_settings *settings, int64_t d, double scale, double bound,
                            double *share, attn_error *err);

/* A number of blocks that gives means accurate to about 1 % in about a tenth of a second. */
int64_t lab_dots_blocks(int64_t d);

#endif
