/* SPDX-License-Identifier: Apache-2.0 */
/* dots.c - see dots.h. */
#include "dots.h"

#include "core/base.h"
#include "documents.h"
#include "steps/attend.h"

#include <math.h>
#include <stdlib.h>

static double component(lab_stream *stream, lab_vectors kind) {
    switch (kind) {
    case LAB_UNIFORM: return sqrt(12) * (lab_stream_uniform(stream) - 0.5);
    case LAB_SIGNS: return lab_stream_uniform(stream) < 0.5 ? -1 : 1;
    default: return lab_stream_normal(stream);
    }
}

void lab_vectors_draw(lab_stream *stream, lab_vectors kind, int64_t rows, int64_t d, double *x) {
    for (int64_t i = 0; i < rows * d; i++) x[i] = component(stream, kind);
    for (int64_t r = 0; kind == LAB_UNIT && r < rows; r++) {
        double *row = x + r * d;
        const double norm = lab_norm(row, d);
        for (int64_t c = 0; c < d; c++) row[c] /= norm;
    }
}

attn_status lab_dots(const lab_settings *settings, lab_vectors kind, int64_t d, int64_t blocks,
                     double *dot, attn_error *err) {
    lab_stream stream;
    double *q = malloc((size_t)(2 * LAB_DOTS_SIDE * d) * sizeof *q);
    if (!q) return attni_fail(err, ATTN_E_MEMORY, "vectors of %lld components", (long long)d);
    attn_status status = ATTN_OK;
    const lab_head head = {.n_q = LAB_DOTS_SIDE,
                           .n_k = LAB_DOTS_SIDE,
                           .d_k = d,
                           .q = q,
                           .k = q + LAB_DOTS_SIDE * d,
                           .scale = 1};
    lab_stream_seed(&stream, settings->seed);
    for (int64_t b = 0; b < blocks && status == ATTN_OK; b++) {
        lab_vectors_draw(&stream, kind, 2 * LAB_DOTS_SIDE, d, q);
        status = lab_head_scores(settings->ctx, &head, dot + b * LAB_DOTS_BLOCK, err);
    }
    free(q);
    return status;
}

static lab_moments moments_of(const double *x, int64_t n) {
    const double mean = lab_mean(x, n);
    lab_moments m = {0};
    double fourth = 0;
    for (int64_t i = 0; i < n; i++) {
        const double square = (x[i] - mean) * (x[i] - mean);
        m.variance += square / (double)n;
        fourth += square * square / (double)n;
        m.mean_absolute += fabs(x[i]) / (double)n;
        m.largest = fmax(m.largest, fabs(x[i]));
    }
    m.excess_kurtosis = fourth / (m.variance * m.variance) - 3;
    return m;
}

static double *room_for(int64_t blocks, attn_error *err) {
    double *dot = malloc((size_t)(blocks * LAB_DOTS_BLOCK) * sizeof *dot);
    if (!dot) attni_fail(err, ATTN_E_MEMORY, "%lld blocks of dot products", (long long)blocks);
    return dot;
}

attn_status lab_dots_moments(const lab_settings *settings, lab_vectors kind, int64_t d,
                             int64_t blocks, lab_moments *moments, attn_error *err) {
    double *dot = room_for(blocks, err);
    if (!dot) return ATTN_E_MEMORY;
    const attn_status status = lab_dots(settings, kind, d, blocks, dot, err);
    if (status == ATTN_OK) *moments = moments_of(dot, blocks * LAB_DOTS_BLOCK);
    free(dot);
    return status;
}

attn_status lab_dots_within(const lab_settings *settings, int64_t d, double scale, double bound,
                            double *share, attn_error *err) {
    const int64_t blocks = lab_dots_blocks(d), n = blocks * LAB_DOTS_BLOCK;
    double *dot = room_for(blocks, err);
    if (!dot) return ATTN_E_MEMORY;
    const attn_status status = lab_dots(settings, LAB_NORMAL, d, blocks, dot, err);
    int64_t inside = 0;
    for (int64_t i = 0; i < n && status == ATTN_OK; i++) inside += fabs(scale * dot[i]) <= bound;
    if (status == ATTN_OK) *share = (double)inside / (double)n;
    free(dot);
    return status;
}

int64_t lab_dots_blocks(int64_t d) { return d <= 64 ? 32 : d <= 256 ? 8 : 4; }
