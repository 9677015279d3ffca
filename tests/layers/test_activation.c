/* SPDX-License-Identifier: Apache-2.0 */
/* test_activation.c - the nonlinear functions against libm in double precision, against finite
 * differences, and on every instruction set. */
#include "arrays.h"
#include "attention/context.h"
#include "differences.h"
#include "isas.h"
#include "layers/activation.h"

#include <math.h>

enum { N = 1001 }; /* no multiple of a vector, several chunks */
static real x[N], y[N], again[N], dy[N], dx[N];

#define PI 3.14159265358979323846

static double normal(double at) { return 0.5 * erfc(-at * sqrt(0.5)); }
static double bell(double at) { return exp(-0.5 * at * at) / sqrt(2 * PI); }
static double tanh_argument(double at) { return sqrt(2 / PI) * (at + 0.044715 * at * at * at); }

static double value(attni_activation f, double at) {
    switch (f) {
    case ATTNI_RELU: return at > 0 ? at : 0;
    case ATTNI_GELU: return at * normal(at);
    case ATTNI_GELU_TANH: return 0.5 * at * (1 + tanh(tanh_argument(at)));
    case ATTNI_SILU: return at / (1 + exp(-at));
    }
    return NAN;
}

static double slope(attni_activation f, double at) {
    const double t = tanh(tanh_argument(at)), s = 1 / (1 + exp(-at));
    switch (f) {
    case ATTNI_RELU: return at > 0;
    case ATTNI_GELU: return normal(at) + at * bell(at);
    case ATTNI_GELU_TANH:
        return 0.5 * (1 + t) + 0.5 * at * (1 - t * t) * sqrt(2 / PI) * (1 + 3 * 0.044715 * at * at);
    case ATTNI_SILU: return s + at * s * (1 - s);
    }
    return NAN;
}

/* From -12 to 12, 0 included. */
static void fill_line(void) {
    for (int64_t i = 0; i < N; i++) x[i] = (real)((double)(i - N / 2) * (24.0 / (double)N));
    fill_random(1, N, dy);
}

/* The exponent of 2^x is rounded within 3 |x| units and enters times x e^-|x|, which stays below 1;
 * 2^x itself, the fits and the last products take some 6 units more of a value at most |x|. */
static double allowed(double at) { return 10 * UNIT * fmax(1, fabs(at)); }

static void check_function(attni_activation f) {
    attn_ctx *ctx = context_with(ATTN_ISA_AUTO, 1);
    fill_line();
    R(activation_forward)(ctx, f, N, x, y);
    R(activation_backward)(ctx, f, N, x, dy, dx);
    for (int64_t i = 0; i < N; i++) {
        const double at = (double)x[i];
        CHECK_NEAR((double)y[i], value(f, at), allowed(at));
        CHECK_NEAR((double)dx[i], (double)dy[i] * slope(f, at), allowed(at));
    }
    attn_ctx_destroy(ctx);
}

TEST(relu_is_the_positive_part) { check_function(ATTNI_RELU); }
TEST(gelu_is_x_times_the_normal_distribution) { check_function(ATTNI_GELU); }
TEST(gelu_tanh_is_its_formula) { check_function(ATTNI_GELU_TANH); }
TEST(silu_is_x_times_the_sigmoid) { check_function(ATTNI_SILU); }

/* No cancellation where the functions are small: a relative error of 10 units, and up to 6 of the
 * exponent, which is below 0.7 at^2 + 2 |at| for all of them. */
static double allowed_relative(double at) {
    return (10 + 6 * (0.7 * at * at + 2 * fabs(at))) * UNIT;
}

TEST(small_values_on_the_negative_side_keep_their_digits) {
    attn_ctx *ctx = context_with(ATTN_ISA_AUTO, 1);
    for (attni_activation f = ATTNI_GELU; f <= ATTNI_SILU; f++) {
        for (int64_t i = 0; i < 64; i++) x[i] = (real)((double)(i - 64) / 16);
        R(activation_forward)(ctx, f, 64, x, y);
        for (int64_t i = 0; i < 64; i++) {
            const double at = (double)x[i], want = value(f, at);
            /* 1 + tanh cancels in the oracle: at most 4 * 2^-53 off */
            CHECK_NEAR((double)y[i], want, allowed_relative(at) * fabs(want) + 0x1p-51);
        }
    }
    attn_ctx_destroy(ctx);
}

TEST(very_large_arguments_stay_finite) {
    attn_ctx *ctx = context_with(ATTN_ISA_AUTO, 1);
    x[0] = (real)1e4, x[1] = (real)-1e4;
    fill_with(N, 1, dy);
    for (attni_activation f = ATTNI_RELU; f <= ATTNI_SILU; f++) {
        R(activation_forward)(ctx, f, 2, x, y);
        R(activation_backward)(ctx, f, 2, x, dy, dx);
        CHECK(y[0] == x[0] && y[1] == 0);
        CHECK(dx[0] == 1 && dx[1] == 0);
    }
    attn_ctx_destroy(ctx);
}

TEST(nan_stays_nan) {
    attn_ctx *ctx = context_with(ATTN_ISA_AUTO, 1);
    x[0] = (real)NAN;
    for (attni_activation f = ATTNI_RELU; f <= ATTNI_SILU; f++) {
        R(activation_forward)(ctx, f, 1, x, y);
        CHECK(isnan(y[0]));
    }
    attn_ctx_destroy(ctx);
}

TEST(output_may_be_the_input) {
    attn_ctx *ctx = context_with(ATTN_ISA_AUTO, 1);
    fill_line();
    R(activation_forward)(ctx, ATTNI_GELU, N, x, y);
    memcpy(again, x, sizeof again);
    R(activation_forward)(ctx, ATTNI_GELU, N, again, again);
    CHECK_SAME_BITS(N, y, again);
    R(activation_backward)(ctx, ATTNI_GELU, N, x, dy, dx);
    memcpy(again, dy, sizeof again);
    R(activation_backward)(ctx, ATTNI_GELU, N, x, again, again);
    CHECK_SAME_BITS(N, dx, again);
    attn_ctx_destroy(ctx);
}

TEST(short_arrays_get_the_bits_of_long_ones_and_not_one_element_more) {
    attn_ctx *ctx = context_with(ATTN_ISA_AUTO, 1);
    fill_line();
    R(activation_forward)(ctx, ATTNI_GELU, N, x, y);
    for (int64_t n = 0; n <= 66; n++) {
        fill_with(N, 99, again);
        R(activation_forward)(ctx, ATTNI_GELU, n, x, again);
        CHECK_SAME_BITS(n, y, again);
        CHECK(again[n] == 99);
    }
    attn_ctx_destroy(ctx);
}

/* Runs f on an instruction set if it is of this class; returns whether it ran. */
static bool run_on(attn_isa isa, bool fused, attni_activation f, real *to) {
    const attni_kernels *kernels = attni_kernels_get(isa, REAL_IS_F64);
    if (kernels->fused != fused) return false;
    attn_ctx *ctx = context_with(isa, 1);
    R(activation_forward)(ctx, f, N, x, to);
    attn_ctx_destroy(ctx);
    return true;
}

static void check_class(bool fused, attni_activation f) {
    bool is_first = true;
    EACH_ISA(isa) {
        if (!run_on(isa, fused, f, is_first ? y : again)) continue;
        if (!is_first) CHECK_SAME_BITS(N, y, again);
        is_first = false;
    }
}

TEST(instruction_sets_of_a_class_give_the_same_bits) {
    fill_line();
    for (attni_activation f = ATTNI_GELU; f <= ATTNI_SILU; f++) {
        check_class(true, f);
        check_class(false, f);
    }
}

#if REAL_IS_F64
typedef struct scene {
    attn_ctx *ctx;
    attni_activation f;
} scene;

static double loss(void *arg) {
    const scene *s = arg;
    double sum = 0;
    R(activation_forward)(s->ctx, s->f, 101, x, y);
    for (int64_t i = 0; i < 101; i++) sum += dy[i] * y[i];
    return sum;
}

TEST(gradients_are_slopes) {
    scene s = {.ctx = context_with(ATTN_ISA_AUTO, 1)};
    fill_random(1, N, dy);
    for (s.f = ATTNI_RELU; s.f <= ATTNI_SILU; s.f++) {
        for (int64_t i = 0; i < 101; i++) x[i] = ((double)i - 50.5) / 10; /* 0.05 off the kink */
        R(activation_backward)(s.ctx, s.f, 101, x, dy, dx);
        CHECK_GRADIENT(loss, &s, 101, x, dx);
    }
    attn_ctx_destroy(s.ctx);
}
#endif
