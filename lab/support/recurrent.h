/* SPDX-License-Identifier: Apache-2.0 */
/* recurrent.h - a small recurrent network, h_t = tanh(W h_(t-1) + U x_t), forward and backward in
 * plain loops, for comparison with attention. Used by: E11. Tests: tests/lab/test_claims.c,
 * test_flips_and_distance.c */
#ifndef LAB_RECURRENT_H
#define LAB_RECURRENT_H

#include "attn/attn.h"

/* One network and one sequence. */
typedef struct lab_recurrent {
    int64_t n, d;
    double gain;   /* of W: its entries are N(0, gain^2 / d); 0: 1 */
    double *w, *u; /* (d, d) each */
    double *x;     /* (n, d) */
    double *h;     /* (n, d) set by forward */
    double *dx;    /* (n, d) set by backward */
    double *dh;    /* (d) scratch */
    double *ds;    /* (d) scratch */
} lab_recurrent;

/* W, U ~ N(0, 1/d), W times the gain, x ~ N(0, 1). Errors: MEMORY. */
attn_status lab_recurrent_create(lab_recurrent *net, uint32_t seed, attn_error *err);
void lab_recurrent_free(lab_recurrent *net);
void lab_recurrent_forward(lab_recurrent *net);
/* dx of the loss sum(dout * h_(n-1)); dout (d). */
void lab_recurrent_backward(lab_recurrent *net, const double *dout);

/* norm (n): norm of the gradient of each x for a random loss on the last state, mean over `draws`
 * networks of the size and gain of `like`, with seeds from `seed` on. */
attn_status lab_recurrent_norms(const lab_recurrent *like, uint32_t draws, uint32_t seed,
                                double *norm, attn_error *err);

#endif
