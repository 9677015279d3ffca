/* SPDX-License-Identifier: Apache-2.0 */
/* test_random_look.c - layers with random weights: weights and gradients against the same layers
 * written out in double, and finite differences of those; principal axes by hand. */
#include "check.h"
#include "core/base.h"
#include "steps/principal.h"
#include "steps/random_look.h"

#include <stdlib.h>

enum { N = 5, D = 8, HEADS = 2, D_K = D / HEADS, LAYERS = 2, ASKED = 2 };

static char *word[N] = {"time", "flies", "like", "an", "arrow"};
static const lab_words words = {N, word};
static const lab_random_layers layers = {LAYERS, {.H = HEADS, .d_model = D, .seed = 7}};

static attn_ctx *context(void) {
    static attn_ctx *ctx;
    if (!ctx) attn_ctx_create(NULL, &ctx, NULL);
    return ctx;
}

/* Layer l is drawn as the sentence of seed + l. */
typedef struct truth {
    lab_problem problem[LAYERS];
    double *memory[LAYERS];
    double x[N * D];                      /* what enters */
    double weights[LAYERS][HEADS][N * N]; /* found by forward() */
    double out[N * D];                    /* what leaves */
} truth;

static bool draw(truth *t) {
    for (uint32_t l = 0; l < LAYERS; l++) {
        lab_random how = layers.how;
        how.seed += l;
        if (lab_sentence_problem(&words, &how, &t->problem[l], &t->memory[l], NULL) != ATTN_OK)
            return false;
    }
    memcpy(t->x, t->problem[0].given[LAB_X].cell, sizeof t->x);
    return true;
}

static void release(truth *t) {
    for (int l = 0; l < LAYERS; l++) free(t->memory[l]);
}

static void times(const double *x, const double *w, double *y) { /* (N, D) (D, D) */
    for (int i = 0; i < N * D; i++) {
        y[i] = 0;
        for (int c = 0; c < D; c++) y[i] += x[i / D * D + c] * w[c * D + i % D];
    }
}

/* One head: weights (N, N) and its columns of concat. */
static void attend(const double *q, const double *k, const double *v, int head, double *weights,
                   double *concat) {
    for (int i = 0; i < N; i++) {
        double sum = 0;
        for (int j = 0; j < N; j++) {
            double dot = 0;
            for (int c = head * D_K; c < (head + 1) * D_K; c++) dot += q[i * D + c] * k[j * D + c];
            weights[i * N + j] = exp(dot / sqrt(D_K));
            sum += weights[i * N + j];
        }
        for (int j = 0; j < N; j++) weights[i * N + j] /= sum;
        for (int c = head * D_K; c < (head + 1) * D_K; c++) {
            concat[i * D + c] = 0;
            for (int j = 0; j < N; j++) concat[i * D + c] += weights[i * N + j] * v[j * D + c];
        }
    }
}

/* x += attention(x) in each layer; head `off` of the last one adds nothing, -1: all do. */
static void forward(truth *t, int off) {
    memcpy(t->out, t->x, sizeof t->x);
    for (int l = 0; l < LAYERS; l++) {
        const lab_matrix *given = t->problem[l].given;
        double q[N * D], k[N * D], v[N * D], concat[N * D], y[N * D];
        times(t->out, given[LAB_W_Q].cell, q);
        times(t->out, given[LAB_W_K].cell, k);
        times(t->out, given[LAB_W_V].cell, v);
        for (int h = 0; h < HEADS; h++) attend(q, k, v, h, t->weights[l][h], concat);
        for (int i = 0; i < N * D; i++)
            if (l + 1 == LAYERS && i % D / D_K == off) concat[i] = 0;
        times(concat, given[LAB_W_O].cell, y);
        for (int i = 0; i < N * D; i++) t->out[i] += y[i];
    }
}

static attni_look_input plain(void) {
    return (attni_look_input){
        .n = N, .window = -1, .scale = ATTN_SCALE_AUTO, .temperature = 1, .gradient_at = -1};
}

TEST(weights_and_states_are_those_written_out) {
    static const int32_t off[] = {1 * HEADS + 0};
    truth t;
    CHECK(draw(&t));
    for (int with = -1; with < 1; with++) { /* all heads; without the first of layer 2 */
        attni_look_input in = plain();
        attni_look look;
        in.off = off;
        in.n_off = with + 1;
        forward(&t, with);
        CHECK_INT(lab_random_look(context(), &words, &layers, &in, &look, NULL), ATTN_OK);
        for (int i = 0; i < LAYERS * HEADS * N * N; i++)
            CHECK_NEAR((double)look.weights[i], (&t.weights[0][0][0])[i], 2e-6);
        for (int i = 0; i < N * D; i++) {
            CHECK_NEAR((double)look.states[i], t.x[i], 1e-6);
            CHECK_NEAR((double)look.states[N * D + i], t.out[i], 1e-5);
        }
        attni_look_free(&look);
    }
    release(&t);
}

/* -|x|^2 / 2 of the asked row that leaves. */
static double loss_of(truth *t) {
    double sum = 0;
    forward(t, -1);
    for (int c = 0; c < D; c++) sum -= t->out[ASKED * D + c] * t->out[ASKED * D + c] / 2;
    return sum;
}

TEST(gradients_by_position_are_those_of_finite_differences) {
    truth t;
    attni_look_input in = plain();
    attni_look look;
    CHECK(draw(&t));
    in.gradient_at = ASKED;
    CHECK_INT(lab_random_look(context(), &words, &layers, &in, &look, NULL), ATTN_OK);
    for (int i = 0; i < N; i++) {
        double sum = 0;
        for (int c = 0; c < D; c++) {
            const double step = 1e-5, before = t.x[i * D + c];
            t.x[i * D + c] = before + step;
            const double above = loss_of(&t);
            t.x[i * D + c] = before - step;
            const double d = (above - loss_of(&t)) / (2 * step);
            t.x[i * D + c] = before;
            sum += d * d;
        }
        CHECK_NEAR((double)look.by_position[i], sqrt(sum), 1e-5 * sqrt(sum));
    }
    CHECK_INT(look.n_parameters, LAYERS * LAB_RANDOM_MATRICES);
    attni_look_free(&look);
    release(&t);
}

static void check_refused(lab_random_layers how, attni_look_input in, const char *says) {
    attni_look look;
    attn_error error = {""};
    CHECK_INT(lab_random_look(context(), &words, &how, &in, &look, &error), ATTN_E_VALUE);
    CHECK_MSG(strstr(error.message, says), "%s", error.message);
    CHECK(!look.memory);
}

TEST(sizes_that_make_no_sense_are_refused) {
    attni_look_input in = plain();
    check_refused((lab_random_layers){0, layers.how}, in, "layers: 0, expected 1 .. 12");
    check_refused((lab_random_layers){1, {.H = 3, .d_model = 8}}, in, "heads: 3, d_model: 8");
    in.gradient_at = N;
    check_refused(layers, in, "gradient at token 5 of 5");
    in.n = LAB_MOST_WORDS + 1;
    check_refused(layers, in, "text: 513 words, expected 1 .. 512");
}

/* Points on a line along (3, 4), and one off it by 1 across, (-4, 3) / 5. */
TEST(principal_axes_are_the_longest_first) {
    static const float rows[] = {3, 4, -3, -4, 6, 8, -6, -8, -0.8f, 0.6f, 0.8f, -0.6f};
    static const double along[] = {5, -5, 10, -10, 0, 0}, across[] = {0, 0, 0, 0, 1, -1};
    float points[12];
    CHECK_INT(lab_principal(6, 2, rows, points, NULL), ATTN_OK);
    const double sign = points[0] > 0 ? 1 : -1, other = points[9] > 0 ? 1 : -1;
    for (int i = 0; i < 6; i++) {
        CHECK_NEAR((double)points[2 * i] * sign, along[i], 1e-5);
        CHECK_NEAR((double)points[2 * i + 1] * other, across[i], 1e-5);
    }
    CHECK_INT(lab_principal(3, 2, (const float[]){1, 2, 1, 2, 1, 2}, points, NULL), ATTN_OK);
    for (int i = 0; i < 6; i++) CHECK(points[i] == 0);
}
