/* SPDX-License-Identifier: Apache-2.0 */
/* test_additive.c - additive attention against its definition in double precision, one number after
 * another, and every gradient against finite differences of the definition. Built once per real
 * type. Tolerances relative to max(1, |x|): outputs f64 1e-14, f32 2e-6; gradients f64 as
 * differences.h says, f32 1e-5: sums of up to a hundred products of size 1. */
#include "arrays.h"
#include "differences.h"
#include "layers/additive.h"

enum { B = 2, N_Q = 3, N_K = 4, D_S = 3, D_H = 5, D_A = 6, MOST = B * N_K * D_A };

typedef enum input { S, ANNOTATIONS, W_S, W_H, V, INPUTS } input;

static const int64_t counts[INPUTS] = {B * N_Q * D_S, B *N_K *D_H, D_S *D_A, D_H *D_A, D_A};
static const double output_tolerance = REAL_IS_F64 ? 1e-14 : 2e-6;
static const double gradient_tolerance = REAL_IS_F64 ? DIFFERENCES_TOLERANCE : 1e-5;

/* Inputs as doubles (exact in float too), what the loss says about the context, and lengths. */
typedef struct problem {
    double value[INPUTS][MOST], dcontext[B * N_Q * D_H];
    int64_t len_k[B];
} problem;

/* The same in reals, with all that the layer writes. */
typedef struct run {
    real value[INPUTS][MOST], gradient[INPUTS][MOST], dcontext[B * N_Q * D_H];
    real context[B * N_Q * D_H], weights[B * N_Q * N_K], dweights[N_K];
    real from_s[B * N_Q * D_A], from_h[B * N_K * D_A];
    real dfrom_s[B * N_Q * D_A], dfrom_h[B * N_K * D_A];
    attni_additive layer;
    attni_additive_gradients gradients;
    attn_ctx *ctx;
} run;

/* ------------------------------------------------------------------------------ the definition */

static void fill(uint64_t seed, int64_t n, double *x) {
    for (int64_t i = 0; i < n; i++) x[i] = random_at(seed, i);
}

static void problem_init(problem *p, uint64_t seed) {
    for (int a = 0; a < INPUTS; a++) fill(8 * seed + (uint64_t)a, counts[a], p->value[a]);
    fill(8 * seed + INPUTS, B * N_Q * D_H, p->dcontext);
    p->len_k[0] = p->len_k[1] = N_K;
}

/* e = v . tanh(W_s s + W_h h) */
static double energy(const problem *p, const double *s, const double *h) {
    double e = 0;
    for (int c = 0; c < D_A; c++) {
        double sum = 0;
        for (int k = 0; k < D_S; k++) sum += s[k] * p->value[W_S][k * D_A + c];
        for (int k = 0; k < D_H; k++) sum += h[k] * p->value[W_H][k * D_A + c];
        e += p->value[V][c] * tanh(sum);
    }
    return e;
}

/* context (B, N_Q, D_H); weights (B, N_Q, N_K) */
static void define(const problem *p, double *context, double *weights) {
    for (int q = 0; q < B * N_Q; q++) {
        const double *s = p->value[S] + q * D_S, *h = p->value[ANNOTATIONS] + q / N_Q * N_K * D_H;
        const int64_t n = p->len_k[q / N_Q];
        double sum = 0;
        for (int c = 0; c < D_H; c++) context[q * D_H + c] = 0;
        for (int j = 0; j < N_K; j++) {
            weights[q * N_K + j] = j < n ? exp(energy(p, s, h + j * D_H)) : 0;
            sum += weights[q * N_K + j];
        }
        for (int j = 0; j < n; j++) {
            weights[q * N_K + j] /= sum;
            for (int c = 0; c < D_H; c++) {
                context[q * D_H + c] += weights[q * N_K + j] * h[j * D_H + c];
            }
        }
    }
}

static double loss(void *of) {
    const problem *p = of;
    double context[B * N_Q * D_H], weights[B * N_Q * N_K], sum = 0;
    define(p, context, weights);
    for (int i = 0; i < B * N_Q * D_H; i++) sum += context[i] * p->dcontext[i];
    return sum;
}

/* ------------------------------------------------------------------------------------ the layer */

static bool is_activation(int array) { return array == S || array == ANNOTATIONS; }

static void run_begin(run *r, const problem *p) {
    *r = (run){.ctx = NULL};
    for (int a = 0; a < INPUTS; a++) {
        for (int64_t i = 0; i < counts[a]; i++) {
            r->value[a][i] = (real)p->value[a][i];
            r->gradient[a][i] = is_activation(a) ? (real)NAN : 1; /* set, and added to */
        }
    }
    for (int i = 0; i < B * N_Q * D_H; i++) r->dcontext[i] = (real)p->dcontext[i];
    r->layer = (attni_additive){.B = B,
                                .n_q = N_Q,
                                .n_k = N_K,
                                .d_s = D_S,
                                .d_h = D_H,
                                .d_a = D_A,
                                .s = r->value[S],
                                .h = r->value[ANNOTATIONS],
                                .len_k = p->len_k,
                                .params = {r->value[W_S], r->value[W_H], r->value[V]},
                                .from_s = r->from_s,
                                .from_h = r->from_h,
                                .weights = r->weights};
    r->gradients =
        (attni_additive_gradients){.dcontext = r->dcontext,
                                   .ds = r->gradient[S],
                                   .dh = r->gradient[ANNOTATIONS],
                                   .params = {r->gradient[W_S], r->gradient[W_H], r->gradient[V]},
                                   .dfrom_s = r->dfrom_s,
                                   .dfrom_h = r->dfrom_h,
                                   .dweights = r->dweights};
    CHECK_INT(attn_ctx_create(NULL, &r->ctx, NULL), ATTN_OK);
}

static void compare(const char *what, const real *x, const double *want, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        CHECK_MSG(check_is_near((double)x[i], want[i], output_tolerance),
                  "%s[%lld] is %.17g, expected %.17g", what, (long long)i, (double)x[i], want[i]);
    }
}

static void compare_gradient(const run *r, problem *p, input array) {
    for (int64_t i = 0; i < counts[array]; i++) {
        const double want =
            differences_slope(loss, p, &p->value[array][i]) + (is_activation(array) ? 0 : 1);
        CHECK_MSG(check_is_near((double)r->gradient[array][i], want,
                                gradient_tolerance * fmax(1, fabs(want))),
                  "gradient of input %d: element %lld is %.17g, expected %.17g", array,
                  (long long)i, (double)r->gradient[array][i], want);
    }
}

static void examine(problem *p) {
    run r;
    double context[B * N_Q * D_H], weights[B * N_Q * N_K];
    run_begin(&r, p);
    define(p, context, weights);
    CHECK_INT(R(additive_forward)(r.ctx, &r.layer, r.context, NULL), ATTN_OK);
    compare("weights", r.weights, weights, B * N_Q * N_K);
    compare("context", r.context, context, B * N_Q * D_H);
    CHECK_INT(R(additive_backward)(r.ctx, &r.layer, &r.gradients, NULL), ATTN_OK);
    for (int a = 0; a < INPUTS && !check_has_failed(); a++) compare_gradient(&r, p, (input)a);
    attn_ctx_destroy(r.ctx);
}

/* --------------------------------------------------------------------------------------- facts */

TEST(additive_attention_is_right_both_ways) {
    problem p;
    problem_init(&p, 1);
    examine(&p);
}

TEST(padding_is_right_both_ways) {
    problem p;
    problem_init(&p, 2);
    p.len_k[0] = 3;
    p.len_k[1] = 1;
    examine(&p);
}

TEST(state_without_annotations_finds_nothing) {
    problem p;
    problem_init(&p, 3);
    p.len_k[1] = 0;
    examine(&p);
}

TEST(no_lengths_mean_all_annotations) {
    problem p;
    run r;
    double context[B * N_Q * D_H], weights[B * N_Q * N_K];
    problem_init(&p, 4);
    run_begin(&r, &p);
    r.layer.len_k = NULL;
    define(&p, context, weights);
    CHECK_INT(R(additive_forward)(r.ctx, &r.layer, r.context, NULL), ATTN_OK);
    compare("context", r.context, context, B * N_Q * D_H);
    attn_ctx_destroy(r.ctx);
}

TEST(large_energies_do_not_overflow) {
    problem p;
    run r;
    problem_init(&p, 5);
    run_begin(&r, &p);
    for (int c = 0; c < D_A; c++) r.value[V][c] = 10000;
    CHECK_INT(R(additive_forward)(r.ctx, &r.layer, r.context, NULL), ATTN_OK);
    for (int q = 0; q < B * N_Q; q++) {
        double sum = 0;
        for (int j = 0; j < N_K; j++) sum += (double)r.weights[q * N_K + j];
        CHECK_NEAR(sum, 1, 1e-6);
    }
    attn_ctx_destroy(r.ctx);
}

TEST(gradients_of_weights_that_are_not_wanted_are_left_out) {
    problem p;
    run r;
    problem_init(&p, 6);
    run_begin(&r, &p);
    r.gradients.params = (attni_additive_params){.w_h = r.gradient[W_H]};
    CHECK_INT(R(additive_forward)(r.ctx, &r.layer, r.context, NULL), ATTN_OK);
    CHECK_INT(R(additive_backward)(r.ctx, &r.layer, &r.gradients, NULL), ATTN_OK);
    compare_gradient(&r, &p, W_H);
    CHECK_NEAR((double)r.gradient[V][0], 1, 0);
    attn_ctx_destroy(r.ctx);
}
