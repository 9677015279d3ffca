/* SPDX-License-Identifier: Apache-2.0 */
/* variants.c - claims about variants of attention: Linformer, Performer, the kernel view,
 * cross-attention. Tests: tests/lab/test_claims.c */
#include "approximations.h"
#include "core/base.h"
#include "drawn.h"
#include "outcome.h"
#include "steps/stream.h"
#include "work.h"
#include "worked.h"

#include <math.h>
#include <stdlib.h>

/* |a - b| / |b| over n numbers. */
static double relative_error(const double *a, const double *b, int64_t n) {
    double difference = 0;
    for (int64_t i = 0; i < n; i++) difference += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(difference) / lab_norm(b, n);
}

/* ------------------------------------------------------------------------------------ Linformer */

enum { LONG = 512, RANK = 256, HEAD = 64 };

/* Errors of untrained projections: random ones, and means of neighbours. */
static attn_status untrained(const lab_settings *settings, lab_drawn *drawn, double *e,
                             double error[2], attn_error *err) {
    const lab_linformer linformer = {.rank = RANK, .e = e, .f = e};
    lab_stream stream;
    ATTN_TRY(lab_head_output(settings->ctx, &drawn->head, drawn->out, err));
    for (int way = 0; way < 2; way++) {
        lab_stream_seed(&stream, settings->seed + 1);
        for (int i = 0; i < RANK * LONG; i++) {
            const bool own = i % LONG / (LONG / RANK) == i / LONG;
            e[i] =
                way ? own * (double)RANK / (double)LONG : lab_stream_normal(&stream) / sqrt(RANK);
        }
        ATTN_TRY(lab_linformer_output(settings->ctx, &drawn->head, &linformer, drawn->other, err));
        error[way] = relative_error(drawn->other, drawn->out, LONG * HEAD);
    }
    return ATTN_OK;
}

static attn_status linformer(const lab_settings *settings, const lab_claim *claim,
                             lab_outcome *outcome, attn_error *err) {
    lab_linformer_shapes shapes;
    double error[2], *e = malloc(RANK * LONG * sizeof *e);
    lab_drawn drawn = {.head = {.n_q = LONG, .n_k = LONG, .d_k = HEAD, .d_v = HEAD}};
    attn_status status = e ? lab_drawn_create(&drawn, settings->seed, err)
                           : attni_fail(err, ATTN_E_MEMORY, "a projection");
    if (status == ATTN_OK) status = lab_linformer_check(settings->ctx, &shapes, err);
    if (status == ATTN_OK) status = untrained(settings, &drawn, e, error, err);
    lab_drawn_free(&drawn);
    free(e);
    if (status != ATTN_OK) return status;
    lab_say(
        outcome->computed, "shapes: %s; correct form, untrained: error %.1f (random), %.2f (means)",
        shapes.only_keys == ATTN_OK ? "fit" : attn_strerror(shapes.only_keys), error[0], error[1]);
    const bool sound = shapes.product_fits && shapes.only_keys == ATTN_OK;
    lab_conclude(
        claim, outcome, sound ? LAB_HOLDS : LAB_WRONG,
        "correct: softmax(Q (E K)^T / sqrt(d)) (F V) with E, F k x n, which must be learned");
    return ATTN_OK;
}

/* ------------------------------------------------------------------------------------ Performer */

enum { REPEATS = 20, TOKENS = 64, WIDTH = 16, FEATURES = 256 };

/* Median relative error over several draws of q and k times `size`. */
static attn_status performer_error(const lab_settings *settings, lab_features features, double size,
                                   double *median, attn_error *err) {
    double error[REPEATS], *omega = malloc(FEATURES * WIDTH * sizeof *omega);
    if (!omega) return attni_fail(err, ATTN_E_MEMORY, "random features");
    const lab_performer performer = {features, FEATURES, omega};
    attn_status status = ATTN_OK;
    for (uint32_t r = 0; r < REPEATS && status == ATTN_OK; r++) {
        lab_drawn drawn = {.head = {.n_q = TOKENS, .n_k = TOKENS, .d_k = WIDTH, .d_v = WIDTH}};
        lab_stream stream;
        status = lab_drawn_create(&drawn, settings->seed + r, err);
        lab_stream_seed(&stream, settings->seed + 1000 + r);
        lab_stream_normals(&stream, FEATURES * WIDTH, 1, omega);
        for (int i = 0; i < 2 * TOKENS * WIDTH && status == ATTN_OK; i++) drawn.q[i] *= size;
        if (status == ATTN_OK) status = lab_head_output(settings->ctx, &drawn.head, drawn.out, err);
        if (status == ATTN_OK)
            status = lab_performer_output(&drawn.head, &performer, drawn.other, err);
        if (status == ATTN_OK) error[r] = relative_error(drawn.other, drawn.out, TOKENS * WIDTH);
        lab_drawn_free(&drawn);
    }
    free(omega);
    if (status == ATTN_OK) *median = lab_median(error, REPEATS);
    return status;
}

static attn_status performer(const lab_settings *settings, const lab_claim *claim,
                             lab_outcome *outcome, attn_error *err) {
    double full[2], halved[2];
    for (int f = LAB_POSITIVE; f <= LAB_TRIG; f++) {
        ATTN_TRY(performer_error(settings, (lab_features)f, 1, &full[f], err));
        ATTN_TRY(performer_error(settings, (lab_features)f, 0.5, &halved[f], err));
    }
    lab_say(outcome->computed,
            "error %.2f (positive), %.0f (trigonometric); q, k halved: %.3f, %.3f", full[0],
            full[1], halved[0], halved[1]);
    lab_require(outcome, full[1] > full[0], "trigonometric features are the less stable ones");
    lab_conclude(
        claim, outcome,
        full[0] < 0.2     ? LAB_HOLDS
        : halved[0] < 0.3 ? LAB_HOLDS_IF
                          : LAB_WRONG,
        "holds if norms are small; needs positive features, and the denominator it leaves out");
    return ATTN_OK;
}

/* ---------------------------------------------------------------------------------- kernel view */

static attn_status kernel(const lab_settings *settings, const lab_claim *claim,
                          lab_outcome *outcome, attn_error *err) {
    enum { N = 32, D = 16 };
    lab_drawn drawn = {.head = {.n_q = N, .n_k = N, .d_k = D, .d_v = 1}};
    const double root = sqrt(D);
    double worst = 0, bare = 0;
    const attn_status status = lab_drawn_create(&drawn, settings->seed, err);
    for (int i = 0; i < N * N && status == ATTN_OK; i++) {
        const double *q = drawn.q + i / N * D, *k = drawn.k + i % N * D;
        double product = 0, distance = 0;
        for (int c = 0; c < D; c++) {
            product += q[c] * k[c];
            distance += (q[c] - k[c]) * (q[c] - k[c]);
        }
        const double kappa = exp(product / root), gauss = exp(-distance / (2 * root)),
                     norms = exp((pow(lab_norm(q, D), 2) + pow(lab_norm(k, D), 2)) / (2 * root));
        worst = fmax(worst, fabs(gauss * norms / kappa - 1));
        bare = fmax(bare, fabs(gauss / kappa - 1));
    }
    lab_drawn_free(&drawn);
    if (status != ATTN_OK) return status;
    lab_say(outcome->computed, "relative error %.0e with the factors of |q| and |k|, %.2f without",
            worst, bare);
    lab_conclude(claim, outcome,
                 bare < 1e-12    ? LAB_HOLDS
                 : worst < 1e-13 ? LAB_HOLDS_IF
                                 : LAB_WRONG,
                 "holds if the factors exp(|q|^2 / 2 sqrt(d)), exp(|k|^2 / 2 sqrt(d)) are kept");
    return ATTN_OK;
}

/* ------------------------------------------------------------------------------ cross-attention */

static attn_status cross(const lab_settings *settings, const lab_claim *claim, lab_outcome *outcome,
                         attn_error *err) {
    lab_drawn drawn = {.head = {.n_q = 64, .n_k = 8, .d_k = 16, .d_v = 16}};
    attn_status status = lab_drawn_create(&drawn, settings->seed, err);
    if (status == ATTN_OK) status = lab_head_output(settings->ctx, &drawn.head, drawn.out, err);
    const bool works = status == ATTN_OK && isfinite(lab_norm(drawn.out, 64 * 16));
    lab_drawn_free(&drawn);
    if (status != ATTN_OK) return status;
    lab_say(outcome->computed, "64 image queries %s 8 text keys without an encoder or decoder",
            works ? "attend to" : "cannot attend to");
    lab_conclude(claim, outcome, works ? LAB_WRONG : LAB_HOLDS,
                 "document 001 itself names the U-Net of a diffusion model, which attends to text");
    return ATTN_OK;
}

static const lab_claim rows[] = {
    {"C-36", "001", "Linformer's formula", "Q K^T ~ Q (E K)^T + Q (F K)^T, E and F n x k", 0.1,
     linformer, .data = LAB_RECORDED(LAB_WRONG), .also = "001-18"},
    {"C-37", "001", "Performer with 256 random features", "approximates softmax", 0.3, performer,
     .data = LAB_RECORDED(LAB_HOLDS_IF)},
    {"C-38", "001", "attention as a kernel smoother", "kappa is a Gaussian kernel", .test = kernel,
     .data = LAB_RECORDED(LAB_HOLDS_IF)},
    {"C-46", "002", "where cross-attention is used", "only in encoder-decoder models",
     .test = cross, .data = LAB_RECORDED(LAB_WRONG)},
};
const lab_claim_list lab_variants = LAB_ROWS(rows);
