/* SPDX-License-Identifier: Apache-2.0 */
/* gradients.c - claims about gradients of one head: the effect of scaling on dL/dQ, the softmax
 * Jacobian, the formulas of the backward pass. Tests: tests/lab/test_claims.c */
#include "core/base.h"
#include "documents.h"
#include "drawn.h"
#include "measured.h"
#include "steps/stream.h"
#include "worked.h"

#include <math.h>
#include <stdlib.h>

/* ---------------------------------------------------------------------------- with and without */

static void judge_gradients(const lab_settings *settings, const lab_claim *claim,
                            const lab_data *data, lab_outcome *outcome) {
    const double total[] = {lab_measured(data, "gradient", 512, "unscaled_total"),
                            lab_measured(data, "gradient", 512, "scaled_total")},
                 row[] = {lab_measured(data, "gradient", 512, "unscaled_row"),
                          lab_measured(data, "gradient", 512, "scaled_row")};
    if (settings->seed == 42) {
        lab_expect(outcome, total[0], 273, 0.5);
        lab_expect(outcome, total[1], 27.3, 0.05);
        lab_expect(outcome, row[0], 1.52, 0.005);
        lab_expect(outcome, row[1], 6.09, 0.005);
    }
    lab_say(outcome->computed, "d_k = 512: |dQ| %.0f unscaled, %.1f scaled; median row %.2f, %.2f",
            total[0], total[1], row[0], row[1]);
    const bool total_falls = total[0] < total[1], row_falls = row[0] < row[1];
    lab_conclude(
        claim, outcome,
        total_falls ? LAB_HOLDS
        : row_falls ? LAB_HOLDS_IF
                    : LAB_WRONG,
        "holds if the median row is meant; the total is larger without the factor 1/sqrt(d_k)");
}

/* ------------------------------------------------------------------------------------- formulas */

static attn_status jacobian(const lab_settings *settings, const lab_claim *claim,
                            lab_outcome *outcome, attn_error *err) {
    enum { N = 6 };
    const double step = 1e-6;
    double s[N], w[N], up[N], down[N], worst = 0;
    lab_stream stream;
    lab_stream_seed(&stream, settings->seed);
    lab_stream_normals(&stream, N, 1, s);
    ATTN_TRY(lab_softmax(settings->ctx, s, N, 1, w, err));
    for (int k = 0; k < N; k++) {
        const double at = s[k];
        s[k] = at + step;
        ATTN_TRY(lab_softmax(settings->ctx, s, N, 1, up, err));
        s[k] = at - step;
        ATTN_TRY(lab_softmax(settings->ctx, s, N, 1, down, err));
        s[k] = at;
        for (int j = 0; j < N; j++)
            worst = fmax(worst, fabs((up[j] - down[j]) / (2 * step) - w[j] * ((j == k) - w[k])));
    }
    lab_say(outcome->computed, "formula against central differences: largest error %.1e", worst);
    lab_conclude(claim, outcome, worst < 1e-9 ? LAB_HOLDS : LAB_WRONG,
                 "central differences are accurate to about 1e-10");
    return ATTN_OK;
}

enum { ROWS = 5, KEYS = 7, D = 4 };

/* dq (ROWS, D) and dk (KEYS, D) from dS by the document's formulas. */
static void by_formula(const lab_drawn *drawn, const double *ds, double *dq, double *dk) {
    const double scale = 1 / sqrt(D);
    memset(dq, 0, ROWS * D * sizeof *dq);
    memset(dk, 0, KEYS * D * sizeof *dk);
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < KEYS; j++) {
            for (int c = 0; c < D; c++) {
                dq[i * D + c] += scale * ds[i * KEYS + j] * drawn->k[j * D + c];
                dk[j * D + c] += scale * ds[i * KEYS + j] * drawn->q[i * D + c];
            }
        }
    }
}

static attn_status loss_of(attn_ctx *ctx, const lab_drawn *drawn, double *loss, attn_error *err) {
    ATTN_TRY(lab_head_output(ctx, &drawn->head, drawn->other, err));
    *loss = 0;
    for (int i = 0; i < ROWS * D; i++) *loss += drawn->other[i] * drawn->dout[i];
    return ATTN_OK;
}

/* The largest error of dq (ROWS, D) against central differences of the loss. */
static attn_status by_differences(attn_ctx *ctx, lab_drawn *drawn, const double *dq, double *worst,
                                  attn_error *err) {
    const double step = 1e-5;
    *worst = 0;
    for (int i = 0; i < ROWS * D; i++) {
        const double at = drawn->q[i];
        double up, down;
        drawn->q[i] = at + step;
        ATTN_TRY(loss_of(ctx, drawn, &up, err));
        drawn->q[i] = at - step;
        ATTN_TRY(loss_of(ctx, drawn, &down, err));
        drawn->q[i] = at;
        *worst = fmax(*worst, fabs((up - down) / (2 * step) - dq[i]));
    }
    return ATTN_OK;
}

typedef struct formula_errors {
    double formula, differences;
} formula_errors;

static attn_status compare(attn_ctx *ctx, lab_drawn *drawn, formula_errors *found,
                           attn_error *err) {
    double dq[ROWS * D], dk[KEYS * D], ds[ROWS * KEYS], other_q[ROWS * D], other_k[KEYS * D];
    const lab_gradient wanted = {.dq = dq, .dk = dk, .dscores = ds};
    ATTN_TRY(lab_head_gradient(ctx, &drawn->head, drawn->dout, &wanted, err));
    by_formula(drawn, ds, other_q, other_k);
    found->formula = fmax(lab_largest_difference(dq, other_q, ROWS * D),
                          lab_largest_difference(dk, other_k, KEYS * D));
    return by_differences(ctx, drawn, dq, &found->differences, err);
}

static attn_status formulas(const lab_settings *settings, const lab_claim *claim,
                            lab_outcome *outcome, attn_error *err) {
    lab_drawn drawn = {.head = {.n_q = ROWS, .n_k = KEYS, .d_k = D, .d_v = D}};
    formula_errors found;
    attn_status status = lab_drawn_create(&drawn, settings->seed, err);
    if (status == ATTN_OK) status = compare(settings->ctx, &drawn, &found, err);
    lab_drawn_free(&drawn);
    if (status != ATTN_OK) return status;
    lab_say(outcome->computed,
            "errors: formulas against engine %.1e, engine against differences %.1e", found.formula,
            found.differences);
    const bool holds = found.formula < 1e-14 && found.differences < 1e-8;
    lab_conclude(claim, outcome, holds ? LAB_HOLDS : LAB_WRONG,
                 "`attn gradcheck` checks every gradient of every feature and layer");
    return ATTN_OK;
}

static const lab_claim rows[] = {
    {"C-3c", "000,001,002,003,004", "dL/dQ and dL/dK without scaling", "they vanish", 2.5,
     LAB_FROM(LAB_HOLDS_IF, "E3", judge_gradients)},
    {"C-18", "001", "the softmax Jacobian", "dA_ij/ds_ik = A_ij (delta_jk - A_ik)",
     .test = jacobian, .data = LAB_RECORDED(LAB_HOLDS)},
    {"C-19", "003", "the backward formulas", "dQ = dS K / sqrt(d_k), dK = dS^T Q / sqrt(d_k)",
     .test = formulas, .data = LAB_RECORDED(LAB_HOLDS)},
};
const lab_claim_list lab_gradients = LAB_ROWS(rows);
