/* SPDX-License-Identifier: Apache-2.0 */
/* test_bits_isas.c - every instruction set sums in the defined order, and those of a class are
 * bit-identical. Label: threads. */
#include "bits_case.h"
#include "fixed_case.h"
#include "isas.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* ---------------------------------------------------------------------------- order of the sums */

/* Keys; part of the definition, so they are not taken from the kernels. */
enum { TILE = 192, GROUP = 8 * TILE, WEIGHT_CHUNK = 24, VALUE_CHUNK = 96 };

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

/* Sums of a row over some of its keys: maximum, weights, weighted values. */
typedef struct sums {
    double max, total, out[16];
} sums;

/* The weights of a tile, added up in chunks. */
static double model_total(const model *m, const double *weights, int64_t n) {
    double total = 0;
    for (int64_t chunk = 0; chunk < n; chunk += WEIGHT_CHUNK) {
        double part = 0;
        for (int64_t j = chunk; j < n && j < chunk + WEIGHT_CHUNK; j++)
            part = rounded(m, part + weights[j]);
        total = rounded(m, total + part);
    }
    return total;
}

/* Column d of the tile's values, added to o chunk by chunk; the first chunk rescales o. */
static double model_values(const model *m, const problem *p, const int64_t at[4],
                           const double *weights, int64_t n, double alpha, double o) {
    const int64_t h_kv = at[1] / (p->spec.H / p->spec.H_kv);
    for (int64_t chunk = 0; chunk < n; chunk += VALUE_CHUNK) {
        double part = 0;
        for (int64_t j = chunk; j < n && j < chunk + VALUE_CHUNK; j++)
            part =
                model_fma(m, tensor_get(&p->args.v, 0, h_kv, at[2] + j, at[3]), weights[j], part);
        o = chunk == 0 ? model_fma(m, o, alpha, part) : rounded(m, o + part);
    }
    return o;
}

/* One group of tiles, each summed from zero and merged in ascending order; weights are measured
 * from the maximum, rounded to a whole number. */
static sums model_group(const model *m, const problem *p, int64_t i, int64_t h, int64_t group) {
    const int64_t n_k = p->spec.n_k;
    sums g = {.max = -INFINITY};
    double s[TILE];
    for (int64_t first = group; first < n_k && first < group + GROUP; first += TILE) {
        const int64_t n = n_k - first < TILE ? n_k - first : TILE;
        const double tile = rint(model_scores(m, p, (const int64_t[3]){i, h, first}, s));
        const double alpha = tile <= g.max ? 1 : exp2(g.max - tile);
        g.max = fmax(g.max, tile);
        for (int64_t j = 0; j < n; j++) s[j] = model_weight(m, s[j], g.max);
        g.total = rounded(m, rounded(m, g.total * alpha) + model_total(m, s, n));
        for (int64_t d = 0; d < p->spec.d_v; d++)
            g.out[d] =
                model_values(m, p, (const int64_t[4]){i, h, first, d}, s, n, alpha, g.out[d]);
    }
    return g;
}

/* x + y rounded; what rounding took away joins lost. */
static double model_add(const model *m, double x, double y, double *lost) {
    const double sum = rounded(m, x + y), error = m->f64 ? 0 : (x + y) - sum;
    const double added = sum - x, error64 = (x - (sum - added)) + (y - added);
    *lost = rounded(m, *lost + (m->f64 ? error64 : error));
    return sum;
}

/* out (d_v) of row i of head h: groups merge by sums that keep what rounding takes away. */
static void model_row(const model *m, const problem *p, int64_t i, int64_t h, double *out) {
    sums all = model_group(m, p, i, h, 0), lost = {0};
    for (int64_t group = GROUP; group < p->spec.n_k; group += GROUP) {
        const sums g = model_group(m, p, i, h, group);
        const double max = fmax(all.max, g.max), before = exp2(all.max - max),
                     now = exp2(g.max - max);
        lost.total *= before;
        all.total = model_add(m, all.total * before, g.total * now, &lost.total);
        for (int64_t d = 0; d < p->spec.d_v; d++) {
            lost.out[d] *= before;
            all.out[d] = model_add(m, all.out[d] * before, g.out[d] * now, &lost.out[d]);
        }
        all.max = max;
    }
    const double inverse = rounded(m, 1 / rounded(m, all.total + lost.total));
    for (int64_t d = 0; d < p->spec.d_v; d++)
        out[d] = model_fma(m, rounded(m, all.out[d] + lost.out[d]), inverse, 0);
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
                                   .n_q = 7,
                                   .n_k = 2 * GROUP + 450,
                                   .d_k = 9,
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
