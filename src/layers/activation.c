/* SPDX-License-Identifier: Apache-2.0 */
/* activation.c - each activation is a curve that gives value and slope for a chunk. Only the
 * exponential is not plain arithmetic; it is the kernels' 2^x. Compiled per real type. Test:
 * tests/layers/test_activation.c */
#include "layers/activation.h"

#include "attention/context.h"
#include "layers/chunk.h"

typedef void curve_fn(const attni_kernels *kernels, const real x[CHUNK], real value[CHUNK],
                      real slope[CHUNK]);

static void relu(const attni_kernels *kernels, const real x[CHUNK], real value[CHUNK],
                 real slope[CHUNK]) {
    (void)kernels;
    for (int i = 0; i < CHUNK; i++) {
        value[i] = x[i] < 0 ? 0 : x[i]; /* NaN stays NaN */
        slope[i] = x[i] > 0 ? 1 : 0;
    }
}

/* s = 1 / (1 + e^-z) and rest = 1 - s, both computed from e^-|z| to avoid cancellation. */
static void sigmoid(const attni_kernels *kernels, const real z[CHUNK], real s[CHUNK],
                    real rest[CHUNK]) {
    real e[CHUNK];
    for (int i = 0; i < CHUNK; i++) e[i] = (z[i] < 0 ? z[i] : -z[i]) * LOG2E;
    kernels->exp2(CHUNK, e, e);
    for (int i = 0; i < CHUNK; i++) {
        const real large = 1 / (1 + e[i]), small = e[i] * large;
        s[i] = z[i] < 0 ? small : large;
        rest[i] = z[i] < 0 ? large : small;
    }
}

static void silu(const attni_kernels *kernels, const real x[CHUNK], real value[CHUNK],
                 real slope[CHUNK]) {
    real s[CHUNK], rest[CHUNK];
    sigmoid(kernels, x, s, rest);
    for (int i = 0; i < CHUNK; i++) {
        value[i] = x[i] * s[i];
        slope[i] = s[i] * (1 + x[i] * rest[i]);
    }
}

/* (1 + tanh u) / 2 is the sigmoid of 2u, which preserves small values where 1 + tanh u cancels. */
static void gelu_tanh(const attni_kernels *kernels, const real x[CHUNK], real value[CHUNK],
                      real slope[CHUNK]) {
    const real twice = (real)1.5957691216057307117 /* 2 sqrt(2 / pi) */, cubic = (real)0.044715;
    real z[CHUNK], s[CHUNK], rest[CHUNK];
    for (int i = 0; i < CHUNK; i++) z[i] = twice * (x[i] + cubic * x[i] * x[i] * x[i]);
    sigmoid(kernels, z, s, rest);
    for (int i = 0; i < CHUNK; i++) {
        const real dz = twice * (1 + 3 * cubic * x[i] * x[i]);
        value[i] = x[i] * s[i];
        slope[i] = s[i] * (1 + x[i] * rest[i] * dz);
    }
}

/* (1 + 2u) e^(u^2) erfc(u) for u >= 0 as a polynomial in t = 1 - 6 / (u + 3), highest power first.
 * The form is that of Shepherd and Laframboise, Mathematics of Computation 36 (1981); Chebyshev
 * fits on [-1, 1], absolute error 6.9e-9 (f32) and 1.4e-17 (f64), of values between 1 and 1.3. */
#if REAL_IS_F64
static const real erfc_curve[] = {
    0x1.e750cac4778d3p-31, 0x1.0fbd1ff90e1c8p-30, -0x1.24124a7979a5cp-27, -0x1.c9e3f1cd92f5bp-27,
    0x1.67206d83c9b4dp-25, 0x1.b58741910ab39p-24, -0x1.3015c7bf14f85p-23, -0x1.4b0fad3f74c42p-21,
    0x1.7f26fd7caec6cp-22, 0x1.d20f41dbcb1c9p-19, -0x1.88ba0a324beaap-21, -0x1.513b482a54a1dp-16,
    0x1.4c2781340ddffp-18, 0x1.065a34115a389p-13, -0x1.b91279aaf4f8dp-14, -0x1.98db50d72f6fdp-11,
    0x1.ef1bdd4ca47a3p-10, 0x1.4b884e41eebcbp-9,  -0x1.8574c40bd189cp-6,  0x1.17ca2877f2532p-4,
    -0x1.e88b803a49228p-4, 0x1.098366a5b466cp-3,  -0x1.85a15c58aa5e6p-5,  -0x1.15c084bb9e8f2p-3,
    0x1.40c522d7e4987p+0};
#else
static const real erfc_curve[] = {0x1.4fdb64p-14f, -0x1.842196p-14f, -0x1.80ded4p-11f,
                                  0x1.eb892ap-10f, 0x1.489188p-9f,   -0x1.855798p-6f,
                                  0x1.17cf94p-4f,  -0x1.e88d32p-4f,  0x1.09832cp-3f,
                                  -0x1.85a112p-5f, -0x1.15c084p-3f,  0x1.40c522p+0f};
#endif
enum { ERFC_TERMS = sizeof erfc_curve / sizeof erfc_curve[0] };

/* bell = e^(-x^2 / 2) and tail = Phi(-|x|) = erfc(|x| / sqrt 2) / 2. */
static void normal_tail(const attni_kernels *kernels, const real x[CHUNK], real bell[CHUNK],
                        real tail[CHUNK]) {
    real u[CHUNK], t[CHUNK];
    for (int i = 0; i < CHUNK; i++) {
        bell[i] = x[i] * x[i] * (LOG2E * (real)-0.5);
        u[i] = (x[i] < 0 ? -x[i] : x[i]) * (real)0.70710678118654752440;
        t[i] = 1 - 6 / (u[i] + 3);
        tail[i] = erfc_curve[0];
    }
    kernels->exp2(CHUNK, bell, bell);
    for (int k = 1; k < ERFC_TERMS; k++) {
        for (int i = 0; i < CHUNK; i++) tail[i] = tail[i] * t[i] + erfc_curve[k];
    }
    for (int i = 0; i < CHUNK; i++) tail[i] *= bell[i] / (2 + 4 * u[i]);
}

/* d/dx of x Phi(x) is Phi(x) + x phi(x), with phi(x) = e^(-x^2 / 2) / sqrt(2 pi). */
static void gelu(const attni_kernels *kernels, const real x[CHUNK], real value[CHUNK],
                 real slope[CHUNK]) {
    real bell[CHUNK], tail[CHUNK];
    normal_tail(kernels, x, bell, tail);
    for (int i = 0; i < CHUNK; i++) {
        const real phi = x[i] < 0 ? tail[i] : 1 - tail[i];
        value[i] = x[i] * phi;
        slope[i] = phi + x[i] * bell[i] * (real)0.39894228040143267794;
    }
}

static curve_fn *const curves[] = {
    [ATTNI_RELU] = relu, [ATTNI_GELU] = gelu, [ATTNI_GELU_TANH] = gelu_tanh, [ATTNI_SILU] = silu};

void R(activation_forward)(const attn_ctx *ctx, attni_activation f, int64_t n, const real *x,
                           real *y) {
    const attni_kernels *kernels = attni_ctx_kernels(ctx, REAL_IS_F64);
    real from[CHUNK], value[CHUNK], slope[CHUNK];
    for (int64_t i = 0; i < n; i += CHUNK) {
        const int length = chunk_length(n, i);
        chunk_load(length, x + i, 0, from);
        curves[f](kernels, from, value, slope);
        memcpy(y + i, value, (size_t)length * sizeof *y);
    }
}

void R(activation_backward)(const attn_ctx *ctx, attni_activation f, int64_t n, const real *x,
                            const real *dy, real *dx) {
    const attni_kernels *kernels = attni_ctx_kernels(ctx, REAL_IS_F64);
    real from[CHUNK], value[CHUNK], slope[CHUNK];
    for (int64_t i = 0; i < n; i += CHUNK) {
        const int length = chunk_length(n, i);
        chunk_load(length, x + i, 0, from);
        curves[f](kernels, from, value, slope);
        for (int l = 0; l < length; l++) dx[i + l] = dy[i + l] * slope[l];
    }
}
