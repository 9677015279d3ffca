/* SPDX-License-Identifier: Apache-2.0 */
/* test_range.c - numbers that the arithmetic type cannot hold are rejected by every function that
 * takes attn_args, with a message that names the argument, its value and the usable range; numbers
 * just inside the range are accepted and give the oracle's result. */
#include "check.h"

#include <attn/attn.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 3, D = 2 };

#define LOG2E 1.4426950408889634

typedef struct scene {
    attn_ctx *ctx;
    attn_args args;
    attn_tensor out, expected;
    double q[N * D], k[N * D], v[N * D], o[N * D], oracle[N * D]; /* f32 in the f32 scene */
    double slope, sink;
} scene;

static void put(void *array, attn_dtype dtype, int e, double x) {
    if (dtype == ATTN_F64) {
        ((double *)array)[e] = x;
    } else {
        ((float *)array)[e] = (float)x;
    }
}

static double get(const void *array, attn_dtype dtype, int e) {
    return dtype == ATTN_F64 ? ((const double *)array)[e] : (double)((const float *)array)[e];
}

/* Scores of q.k in {-1, 0, 1}; `unit` multiplies the queries. */
static bool begin(scene *s, attn_dtype dtype, double unit) {
    static const double pattern[N * D] = {1, 0, 0, 1, -1, 0};
    memset(s, 0, sizeof *s);
    for (int e = 0; e < N * D; e++) {
        put(s->q, dtype, e, unit * pattern[e]);
        put(s->k, dtype, e, pattern[e]);
        put(s->v, dtype, e, e + 1);
    }
    attn_args_init(&s->args);
    s->args.q = attn_tensor_bhsd(s->q, dtype, 1, 1, N, D);
    s->args.k = attn_tensor_bhsd(s->k, dtype, 1, 1, N, D);
    s->args.v = attn_tensor_bhsd(s->v, dtype, 1, 1, N, D);
    s->args.scale = 1;
    s->out = attn_tensor_bhsd(s->o, dtype, 1, 1, N, D);
    s->expected = attn_tensor_bhsd(s->oracle, ATTN_F64, 1, 1, N, D);
    if (attn_ctx_create(NULL, &s->ctx, NULL) == ATTN_OK) return true;
    check_failed(__FILE__, __LINE__, "no context");
    return false;
}

static void check_message(const attn_error *err, const char *name, const char *value) {
    CHECK_MSG(strncmp(err->message, name, strlen(name)) == 0, "\"%s\" does not begin with \"%s\"",
              err->message, name);
    CHECK_MSG(strstr(err->message, value) != NULL, "\"%s\" does not say %s", err->message, value);
    CHECK_MSG(strstr(err->message, "expected") != NULL, "\"%s\" does not say what is expected",
              err->message);
}

/* Every function refuses the arguments as they are. */
static void expect_refusal(scene *s, const char *name, const char *value) {
    attn_error err = {""};
    attn_inspection what;
    attn_cost_info cost;
    attn_cost_info_init(&cost);
    attn_gradients gradients;
    char text[100];
    attn_inspection_init(&what);
    attn_gradients_init(&gradients);
    put(s->o, s->out.dtype, 0, -77);
    CHECK_INT(attn_forward(s->ctx, &s->args, &s->out, NULL, &err), ATTN_E_VALUE);
    check_message(&err, name, value);
    CHECK_NEAR(get(s->o, s->out.dtype, 0), -77, 0);
    CHECK_INT(attn_reference(&s->args, &s->expected, NULL, &err), ATTN_E_VALUE);
    check_message(&err, name, value);
    const attn_results results = {.struct_size = sizeof(attn_results), .dout = s->out};
    CHECK_INT(attn_backward(s->ctx, &s->args, &results, &gradients, NULL), ATTN_E_VALUE);
    CHECK_INT(attn_reference_backward(&s->args, &results, &gradients, NULL), ATTN_E_VALUE);
    CHECK_INT(attn_inspect(s->ctx, &s->args, &what, NULL), ATTN_E_VALUE);
    CHECK_INT(attn_cost(s->ctx, &s->args, &cost, NULL), ATTN_E_VALUE);
    CHECK_INT(attn_plan_explain(s->ctx, &s->args, text, sizeof text, NULL, NULL), ATTN_E_VALUE);
}

/* Accepted, and equal to the oracle. */
static void expect_agreement(scene *s) {
    attn_error err = {""};
    CHECK_INT(attn_reference(&s->args, &s->expected, NULL, &err), ATTN_OK);
    CHECK_STR(err.message, "");
    CHECK_INT(attn_forward(s->ctx, &s->args, &s->out, NULL, &err), ATTN_OK);
    CHECK_STR(err.message, "");
    for (int e = 0; e < N * D; e++) CHECK_NEAR(get(s->o, s->out.dtype, e), s->oracle[e], 2e-5);
}

/* ------------------------------------------------------------------------------------- refusals */

TEST(scale_beyond_f32_is_refused) {
    scene s;
    if (!begin(&s, ATTN_F32, 1)) return;
    s.args.scale = 1e39;
    expect_refusal(&s, "scale: 1e+39", "2.36e+38");
    s.args.scale = -1e300;
    expect_refusal(&s, "scale: -1e+300", "2.36e+38");
    s.args.scale = 1e-39;
    expect_refusal(&s, "scale: 1e-39", "8.15e-39");
    s.args.scale = 1e38;
    s.args.temperature = 0.1;
    expect_refusal(&s, "scale: 1e+38", "2.36e+37");
    attn_ctx_destroy(s.ctx);
}

TEST(temperature_beyond_f32_is_refused) {
    scene s;
    if (!begin(&s, ATTN_F32, 1)) return;
    s.args.temperature = 1e-39;
    expect_refusal(&s, "temperature: 1e-39", "4.24e-39");
    s.args.temperature = 1e39;
    expect_refusal(&s, "temperature: 1e+39", "1.23e+38");
    attn_ctx_destroy(s.ctx);
}

TEST(softcap_beyond_f32_is_refused) {
    static const double caps[] = {1e-40, 1e39, 1e300, 2e38};
    static const char *const names[] = {"softcap: 1e-40", "softcap: 1e+39", "softcap: 1e+300",
                                        "softcap: 2e+38"};
    scene s;
    if (!begin(&s, ATTN_F32, 1)) return;
    for (int x = 0; x < 4; x++) {
        s.args.softcap = caps[x];
        expect_refusal(&s, names[x], "5.9e+37");
    }
    attn_ctx_destroy(s.ctx);
}

TEST(slopes_and_sinks_beyond_f32_are_refused) {
    scene s;
    if (!begin(&s, ATTN_F32, 1)) return;
    s.args.alibi = &s.slope;
    s.slope = -1e39;
    expect_refusal(&s, "alibi[0]: -1e+39", "2.36e+38");
    s.slope = 0.5;
    s.args.sinks = &s.sink;
    s.sink = 1e39;
    expect_refusal(&s, "sinks[0]: 1e+39", "2.36e+38");
    s.sink = -1e39;
    expect_refusal(&s, "sinks[0]: -1e+39", "-inf");
    attn_ctx_destroy(s.ctx);
}

TEST(f64_has_its_own_range) {
    scene s;
    if (!begin(&s, ATTN_F64, 1)) return;
    s.args.temperature = 1e-300;
    s.args.scale = 1e10;
    expect_refusal(&s, "scale: 1e+10", "1.25e+08");
    s.args.scale = 1e-300;
    expect_agreement(&s);
    s.args.temperature = 1e39;
    s.args.scale = 1e39;
    expect_agreement(&s);
    s.args.softcap = 1e-310;
    expect_refusal(&s, "softcap: 1e-310", "f64");
    attn_ctx_destroy(s.ctx);
}

/* ------------------------------------------------------------------------------- the ends of f32 */

/* scale at both ends, with queries that bring scores back to size 1. */
TEST(the_largest_and_the_smallest_scale_agree_with_the_oracle) {
    const double ends[2] = {(double)FLT_MAX / LOG2E * 0.999, (double)FLT_MIN / LOG2E * 1.001};
    for (int x = 0; x < 2; x++) {
        scene s;
        if (!begin(&s, ATTN_F32, 1 / ends[x])) return;
        s.args.scale = ends[x];
        expect_agreement(&s);
        attn_ctx_destroy(s.ctx);
    }
}

TEST(the_largest_and_the_smallest_temperature_agree_with_the_oracle) {
    const double ends[2] = {LOG2E / (double)FLT_MAX * 1.001, LOG2E / (double)FLT_MIN * 0.999};
    for (int x = 0; x < 2; x++) {
        scene s;
        if (!begin(&s, ATTN_F32, ends[x])) return;
        s.args.temperature = ends[x];
        expect_agreement(&s);
        attn_ctx_destroy(s.ctx);
    }
}

/* A cap as large as the scores, in scores of any size; the temperature makes them of size 1. */
TEST(caps_of_any_usable_size_agree_with_the_oracle) {
    static const double sizes[] = {1e-37, 1e-30, 1e-10, 1, 1e10, 1e30, 5e37};
    for (size_t x = 0; x < sizeof sizes / sizeof *sizes; x++) {
        scene s;
        if (!begin(&s, ATTN_F32, sizes[x])) return;
        s.args.temperature = sizes[x];
        s.args.softcap = sizes[x];
        expect_agreement(&s);
        s.args.temperature = 1; /* scores far below or far above 1 */
        expect_agreement(&s);
        attn_ctx_destroy(s.ctx);
    }
}

TEST(slopes_of_any_usable_size_agree_with_the_oracle) {
    static const double slopes[] = {1e-45, 1e-38, -1e-30, 2e38, -2e38};
    for (size_t x = 0; x < sizeof slopes / sizeof *slopes; x++) {
        scene s;
        if (!begin(&s, ATTN_F32, 1)) return;
        s.slope = slopes[x];
        s.args.alibi = &s.slope;
        expect_agreement(&s);
        attn_ctx_destroy(s.ctx);
    }
}
