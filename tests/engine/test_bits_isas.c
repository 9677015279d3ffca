/* SPDX-License-Identifier: Apache-2.0 */
/* test_bits_isas.c - every instruction set sums in the order of the definition, and those of a
 * class give the same bits. Label: threads. */
#include "bits_case.h"
#include "fixed_case.h"
#include "isas.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* ---------------------------------------------------------------------------- order of the sums */

enum { TILE = 192 }; /* keys; part of the definition, so it is not taken from the kernels */

/* The definition of the bits, one operation at a time. Numbers are of the real type, kept in
 * double: one operation on two floats in double, rounded to float, is that operation in float. */
typedef struct model {
    const attni_kernels *kernels; /* for its exp2 */
    bool f64;
} model;

static double rounded(const model *m, double x) { return m->f64 ? x : (double)(float)x; }

static double model_fma(const model *m, double a, double b, double c) {
    if (!m->kernels->fused) return rounded(m, rounded(m, a * b) + c);
    return m->f64 ? fma(a, b, c) : (double)fmaf((float)a, (float)b, (float)c);
}

/* 2^(s - max) for whole max, as the kernel's polynomial has it: the whole part of s is split
 * off. */
static double model_weight(const model *m, double s, double max) {
    const double whole = rint(s);
    double x64[16] = {0}, y64[16];
    float x32[16] = {0}, y32[16];
    x64[0] = s - whole;
    x32[0] = (float)x64[0];
    m->kernels->exp2(m->kernels->vl, m->f64 ? (void *)x64 : (void *)x32,
                     m->f64 ? (void *)y64 : (void *)y32);
    return ldexp(m->f64 ? y64[0] : (double)y32[0], (int)(whole - max));
}

/* Row i of head h: scores of one tile and their maximum. */
static double model_scores(const model *m, const problem *p, const int64_t at[3], double *s) {
    const attn_args *a = &p->args;
    const int64_t h_kv = at[1] / (p->spec.H / p->spec.H_kv);
    const double factor = rounded(m, 1 / sqrt((double)p->spec.d_k) * 1.4426950408889634074);
    double max = -INFINITY;
    for (int64_t j = 0; j < TILE && at[2] + j < p->spec.n_k; j++) {
        s[j] = 0;
        for (int64_t d = 0; d < p->spec.d_k; d++) {
            const double q = rounded(m, tensor_get(&a->q, 0, at[1], at[0], d) * factor);
            s[j] = model_fma(m, tensor_get(&a->k, 0, h_kv, at[2] + j, d), q, s[j]);
        }
        max = fmax(max, s[j]);
    }
    return max;
}

/* out (d_v) of row i of head h: tiles of 192 keys from key 0, each summed from zero, merged in
 * ascending order; weights are measured from the maximum, rounded to a whole number. */
static void model_row(const model *m, const problem *p, int64_t i, int64_t h, double *out) {
    const int64_t n_k = p->spec.n_k, d_v = p->spec.d_v;
    double s[TILE], max = -INFINITY, total = 0;
    for (int64_t first = 0; first < n_k; first += TILE) {
        const int64_t n = n_k - first < TILE ? n_k - first : TILE;
        const double tile = rint(model_scores(m, p, (const int64_t[3]){i, h, first}, s));
        const double alpha = first == 0 || tile <= max ? 1 : exp2(max - tile);
        double sum = 0;
        max = fmax(max, tile);
        for (int64_t j = 0; j < n; j++) {
            s[j] = model_weight(m, s[j], max);
            sum = rounded(m, sum + s[j]);
        }
        total = first == 0 ? sum : rounded(m, rounded(m, total * alpha) + sum);
        for (int64_t d = 0; d < d_v; d++) {
            double o = 0;
            for (int64_t j = 0; j < n; j++) {
                const double v =
                    tensor_get(&p->args.v, 0, h / (p->spec.H / p->spec.H_kv), first + j, d);
                o = model_fma(m, v, s[j], o);
            }
            out[d] = first == 0 ? o : model_fma(m, out[d], alpha, o);
        }
    }
    const double inverse = rounded(m, 1 / total);
    for (int64_t d = 0; d < d_v; d++) out[d] = model_fma(m, out[d], inverse, 0);
}

static void compare_with_model(const model *m, const problem *p) {
    double out[16];
    for (int64_t h = 0; h < p->spec.H; h++) {
        for (int64_t i = 0; i < p->spec.n_q; i++) {
            model_row(m, p, i, h, out);
            for (int64_t d = 0; d < p->spec.d_v; d++) {
                const double actual = tensor_get(&p->out, 0, h, i, d);
                CHECK_MSG(actual == out[d],
                          "out[h=%" PRId64 " i=%" PRId64 " d=%" PRId64 "] is %a, the model has %a\n"
                          "    %s",
                          h, i, d, actual, out[d], p->text);
            }
        }
    }
}

static void order_of_sums(attn_isa isa) {
    NEED_ISA(isa);
    attn_ctx *ctx = context_with(isa, 1);
    for (int f64 = 0; f64 < 2 && ctx; f64++) {
        const model m = {attni_kernels_get(isa, f64), f64};
        const problem_spec spec = {.seed = 77,
                                   .dtype = f64 ? ATTN_F64 : ATTN_F32,
                                   .B = 1,
                                   .H = 2,
                                   .H_kv = 1,
                                   .n_q = 13,
                                   .n_k = 450,
                                   .d_k = 19,
                                   .d_v = 15};
        problem p;
        if (problem_make(&p, &spec) && problem_run(&p, ctx)) compare_with_model(&m, &p);
        problem_free(&p);
    }
    attn_ctx_destroy(ctx);
}

/* ----------------------------------------------------------------------------- instruction sets */

/* Results of a case on one instruction set; false after a failure. */
static bool run_on(attn_isa isa, problem *p, results *r) {
    attn_ctx *ctx = context_with(isa, 1);
    const bool ok = ctx && run_problem(ctx, p, r);
    attn_ctx_destroy(ctx);
    return ok;
}

static void compare_class(attn_isa isa, attn_isa with) {
    for (int c = 0; c < CASES; c++) {
        for (int x = 0; x < 4 && !check_has_failed(); x++) {
            problem p;
            results a, b;
            if (is_left_out(c, x, 4)) continue;
            if (!make_case(&p, c, all_dtypes[x], 0)) return;
            if (run_on(isa, &p, &a)) {
                if (run_on(with, &p, &b)) {
                    same_rows(&a, &b, origin, p.text);
                    results_free(&b);
                }
                results_free(&a);
            }
            problem_free(&p);
        }
    }
}

static void class_bits(attn_isa isa) {
    NEED_ISA(isa);
    const attn_isa first = isa_first_of_class(attni_kernels_get(isa, false)->fused);
    if (first == isa)
        SKIP("%s is the first of its class: nothing to compare with", attn_isa_name(isa));
    compare_class(isa, first);
}

/* Prints the hash: it must be the same on every machine of the class. */
static void fixed_case(attn_isa isa, attn_dtype dtype) {
    NEED_ISA(isa);
    const attn_isa first = isa_first_of_class(attni_kernels_get(isa, false)->fused);
    const attn_isa both[2] = {isa, first};
    uint64_t hash[2] = {0, 1};
    for (int x = 0; x < 2; x++) {
        attn_ctx *ctx = context_with(both[x], 1);
        const attn_status status = ctx ? fixed_case_hash(ctx, dtype, &hash[x]) : ATTN_E_ISA;
        attn_ctx_destroy(ctx);
        CHECK_MSG(status == ATTN_OK, "%s: %s", attn_isa_name(both[x]), attn_status_name(status));
    }
    CHECK_MSG(hash[0] == hash[1], "%s gives %016" PRIx64 ", %s %016" PRIx64, attn_isa_name(isa),
              hash[0], attn_isa_name(first), hash[1]);
    printf("(%016" PRIx64 ") ", hash[0]);
}

#define ISA_TESTS(isa, ISA)                                                                        \
    TEST(isa##_sums_in_the_order_of_the_definition) { order_of_sums(ISA); }                        \
    TEST(isa##_has_the_bits_of_its_class) { class_bits(ISA); }                                     \
    TEST(isa##_hash_of_the_fixed_case_in_f32_is_that_of_its_class) { fixed_case(ISA, ATTN_F32); }  \
    TEST(isa##_hash_of_the_fixed_case_in_f64_is_that_of_its_class) { fixed_case(ISA, ATTN_F64); }

ISA_LIST(ISA_TESTS)
