/* SPDX-License-Identifier: Apache-2.0 */
/* additive.c - see additive.h. Compiled per real type. Tests: tests/layers/test_additive.c */
#include "layers/additive.h"

#include "layers/linear.h"

static attni_linear linear_s(const attni_additive *layer) {
    return (attni_linear){layer->d_s, layer->d_a, layer->params.w_s, NULL};
}

static attni_linear linear_h(const attni_additive *layer) {
    return (attni_linear){layer->d_h, layer->d_a, layer->params.w_h, NULL};
}

static int64_t keys_of(const attni_additive *layer, int64_t b) {
    return layer->len_k ? attni_clamp(layer->len_k[b], 0, layer->n_k) : layer->n_k;
}

/* One row (b, i) of every array: pointers that both passes advance. */
typedef struct row {
    int64_t n;          /* keys that are not padding */
    const real *h;      /* (n_k, d_h) */
    const real *from_s; /* (d_a) */
    const real *from_h; /* (n_k, d_a) */
    real *weights;      /* (n_k) */
} row;

static row row_at(const attni_additive *layer, int64_t b, int64_t i) {
    const int64_t query = b * layer->n_q + i, first_key = b * layer->n_k;
    return (row){keys_of(layer, b), layer->h + first_key * layer->d_h,
                 layer->from_s + query * layer->d_a, layer->from_h + first_key * layer->d_a,
                 layer->weights + query * layer->n_k};
}

static real hidden(const attni_additive *layer, const row *r, int64_t j, int64_t c) {
    return (real)tanh((double)(r->from_s[c] + r->from_h[j * layer->d_a + c]));
}

/* weights = softmax over j of v . tanh(from_s + from_h) */
static void weigh(const attni_additive *layer, const row *r) {
    real greatest = -INFINITY, sum = 0;
    memset(r->weights, 0, (size_t)layer->n_k * sizeof(real));
    for (int64_t j = 0; j < r->n; j++) {
        for (int64_t c = 0; c < layer->d_a; c++) {
            r->weights[j] += layer->params.v[c] * hidden(layer, r, j, c);
        }
        if (r->weights[j] > greatest) greatest = r->weights[j];
    }
    for (int64_t j = 0; j < r->n; j++) {
        r->weights[j] = (real)exp((double)(r->weights[j] - greatest));
        sum += r->weights[j];
    }
    for (int64_t j = 0; j < r->n; j++) r->weights[j] /= sum;
}

attn_status R(additive_forward)(attn_ctx *ctx, const attni_additive *layer, real *context,
                                attn_error *err) {
    const attni_linear of_s = linear_s(layer), of_h = linear_h(layer);
    ATTN_TRY(R(linear_forward)(ctx, &of_s, layer->B * layer->n_q, layer->s, layer->from_s, err));
    ATTN_TRY(R(linear_forward)(ctx, &of_h, layer->B * layer->n_k, layer->h, layer->from_h, err));
    for (int64_t q = 0; q < layer->B * layer->n_q; q++) {
        const row r = row_at(layer, q / layer->n_q, q % layer->n_q);
        real *out = context + q * layer->d_h;
        weigh(layer, &r);
        memset(out, 0, (size_t)layer->d_h * sizeof(real));
        for (int64_t j = 0; j < r.n; j++) {
            for (int64_t c = 0; c < layer->d_h; c++) {
                out[c] += r.weights[j] * r.h[j * layer->d_h + c];
            }
        }
    }
    return ATTN_OK;
}

/* c_i = sum_j a_ij h_j: adds to dh (n_k, d_h), sets dweights; returns sum_j a_ij da_ij. */
static real backward_sum(const attni_additive *layer, const row *r, const real *dcontext, real *dh,
                         real *dweights) {
    real mean = 0;
    for (int64_t j = 0; j < r->n; j++) {
        dweights[j] = 0;
        for (int64_t c = 0; c < layer->d_h; c++) {
            dweights[j] += dcontext[c] * r->h[j * layer->d_h + c];
            dh[j * layer->d_h + c] += r->weights[j] * dcontext[c];
        }
        mean += r->weights[j] * dweights[j];
    }
    return mean;
}

/* e_ij = v . tanh(from_s + from_h): adds to dv, dfrom_s (d_a), dfrom_h (n_k, d_a). */
static void backward_score(const attni_additive *layer, const attni_additive_gradients *g,
                           const row *r, real mean, real *dfrom_s, real *dfrom_h) {
    for (int64_t j = 0; j < r->n; j++) {
        const real de = r->weights[j] * (g->dweights[j] - mean); /* softmax */
        for (int64_t c = 0; c < layer->d_a; c++) {
            const real t = hidden(layer, r, j, c);
            const real dsum = de * layer->params.v[c] * (1 - t * t);
            if (g->params.v) g->params.v[c] += de * t;
            dfrom_s[c] += dsum;
            dfrom_h[j * layer->d_a + c] += dsum;
        }
    }
}

static void backward_row(const attni_additive *layer, const attni_additive_gradients *g, int64_t b,
                         int64_t i) {
    const row r = row_at(layer, b, i);
    const int64_t query = b * layer->n_q + i, first_key = b * layer->n_k;
    const real mean = backward_sum(layer, &r, g->dcontext + query * layer->d_h,
                                   g->dh + first_key * layer->d_h, g->dweights);
    backward_score(layer, g, &r, mean, g->dfrom_s + query * layer->d_a,
                   g->dfrom_h + first_key * layer->d_a);
}

attn_status R(additive_backward)(attn_ctx *ctx, const attni_additive *layer,
                                 const attni_additive_gradients *g, attn_error *err) {
    const int64_t rows_s = layer->B * layer->n_q, rows_h = layer->B * layer->n_k;
    memset(g->dh, 0, (size_t)(rows_h * layer->d_h) * sizeof(real));
    memset(g->dfrom_s, 0, (size_t)(rows_s * layer->d_a) * sizeof(real));
    memset(g->dfrom_h, 0, (size_t)(rows_h * layer->d_a) * sizeof(real));
    for (int64_t q = 0; q < rows_s; q++) backward_row(layer, g, q / layer->n_q, q % layer->n_q);

    const attni_linear of_s = linear_s(layer), of_h = linear_h(layer);
    const attni_linear_grad ds = {
        .x = layer->s, .dy = g->dfrom_s, .dx = g->ds, .dw = g->params.w_s};
    const attni_linear_grad dh = {
        .x = layer->h, .dy = g->dfrom_h, .dx = g->dh, .add_dx = true, .dw = g->params.w_h};
    ATTN_TRY(R(linear_backward)(ctx, &of_s, rows_s, &ds, err));
    return R(linear_backward)(ctx, &of_h, rows_h, &dh, err);
}
