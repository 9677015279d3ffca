/* SPDX-License-Identifier: Apache-2.0 */
/* recurrent.c - see recurrent.h. */
#include "support/recurrent.h"

#include "core/base.h"
#include "steps/attend.h"
#include "steps/stream.h"

#include <math.h>
#include <stdlib.h>

attn_status lab_recurrent_create(lab_recurrent *net, uint32_t seed, attn_error *err) {
    const size_t d = (size_t)net->d, n = (size_t)net->n;
    lab_stream stream;
    net->w = malloc((2 * d * d + 3 * n * d + 2 * d) * sizeof *net->w);
    if (!net->w) return attni_fail(err, ATTN_E_MEMORY, "a recurrent network of %zu units", d);
    net->u = net->w + d * d;
    net->x = net->u + d * d;
    net->h = net->x + n * d;
    net->dx = net->h + n * d;
    net->dh = net->dx + n * d;
    net->ds = net->dh + d;
    lab_stream_seed(&stream, seed);
    lab_stream_normals(&stream, 2 * d * d, 1 / sqrt((double)d), net->w);
    lab_stream_normals(&stream, n * d, 1, net->x);
    for (size_t i = 0; net->gain > 0 && i < d * d; i++) net->w[i] *= net->gain;
    return ATTN_OK;
}

void lab_recurrent_free(lab_recurrent *net) {
    free(net->w);
    net->w = NULL;
}

void lab_recurrent_forward(lab_recurrent *net) {
    const int64_t d = net->d;
    for (int64_t t = 0; t < net->n; t++) {
        const double *x = net->x + t * d, *before = t ? net->h + (t - 1) * d : NULL;
        for (int64_t row = 0; row < d; row++) {
            double s = 0;
            for (int64_t c = 0; c < d; c++) s += net->u[row * d + c] * x[c];
            for (int64_t c = 0; before && c < d; c++) s += net->w[row * d + c] * before[c];
            net->h[t * d + row] = tanh(s);
        }
    }
}

/* product (d) = m^T v */
static void transposed(int64_t d, const double *m, const double *v, double *product) {
    for (int64_t c = 0; c < d; c++) product[c] = 0;
    for (int64_t row = 0; row < d; row++) {
        for (int64_t c = 0; c < d; c++) product[c] += m[row * d + c] * v[row];
    }
}

void lab_recurrent_backward(lab_recurrent *net, const double *dout) {
    const int64_t d = net->d;
    memcpy(net->dh, dout, (size_t)d * sizeof *net->dh);
    for (int64_t t = net->n - 1; t >= 0; t--) {
        const double *h = net->h + t * d;
        for (int64_t row = 0; row < d; row++) net->ds[row] = net->dh[row] * (1 - h[row] * h[row]);
        transposed(d, net->u, net->ds, net->dx + t * d);
        transposed(d, net->w, net->ds, net->dh);
    }
}

attn_status lab_recurrent_norms(const lab_recurrent *like, uint32_t draws, uint32_t seed,
                                double *norm, attn_error *err) {
    const int64_t n = like->n, d = like->d;
    memset(norm, 0, (size_t)n * sizeof *norm);
    for (uint32_t draw = 0; draw < draws; draw++) {
        lab_recurrent net = {.n = n, .d = d, .gain = like->gain};
        ATTN_TRY(lab_recurrent_create(&net, seed + draw, err));
        lab_recurrent_forward(&net);
        lab_recurrent_backward(&net, net.x); /* x_0 as the gradient of a random loss */
        for (int64_t t = 0; t < n; t++) norm[t] += lab_norm(net.dx + t * d, d) / draws;
        lab_recurrent_free(&net);
    }
    return ATTN_OK;
}
