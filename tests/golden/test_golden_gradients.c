/* SPDX-License-Identifier: Apache-2.0 */
/* test_golden_gradients.c - the gradients of every attention case of golden.json that has them
 * against the oracle and the engine, as given and expressed by options; dS and the Jacobians of
 * softmax through the rows of src/ref. Tolerances: f64 1e-12 of max(1, |x|); f32 5e-6 of max(1,
 * |row|). */
#include "check.h"
#include "golden_case.h"
#include "ref/gradient.h"

#include <stdlib.h>

enum { GRADIENT_CASES = 39, NATIVE_CASES = 21, SOFTMAX_CASES = 11 };

static double tolerance(const attn_tensor *t) { return t->dtype == ATTN_F64 ? 1e-12 : 5e-6; }

/* ------------------------------------------------------------------------------ whole problems */

static attn_status by_reference(attn_ctx *ctx, golden_problem *p, attn_error *err) {
    (void)ctx;
    return attn_reference_backward(
        &p->args, &(attn_results){.struct_size = sizeof(attn_results), .dout = p->dout},
        &p->gradients, err);
}

/* With a log-sum-exp in f64: f32 would round that of scores near 1e4 by 5e-4. */
static attn_status by_backward(attn_ctx *ctx, golden_problem *p, attn_error *err) {
    p->lse.dtype = ATTN_F64;
    attn_status status = attn_forward(ctx, &p->args, &p->out, &p->lse, err);
    if (status != ATTN_OK) return status;
    const attn_results results = {
        .struct_size = sizeof(attn_results), .out = p->out, .lse = p->lse, .dout = p->dout};
    return attn_backward(ctx, &p->args, &results, &p->gradients, err);
}

static void compare_gradients(golden_problem *p, const golden *g) {
    const attn_gradients *grads = &p->gradients;
    const double allowed = tolerance(&grads->dq);
    golden_compare(g, "dQ", &grads->dq, golden_numbers(p, g->expected, "dQ"), allowed);
    golden_compare(g, "dK", &grads->dk, golden_numbers(p, g->expected, "dK"), allowed);
    golden_compare(g, "dV", &grads->dv, golden_numbers(p, g->expected, "dV"), allowed);
    if (grads->dbias.data) {
        golden_compare(g, "dBias", &grads->dbias, golden_numbers(p, g->expected, "dBias"), allowed);
    }
}

static void examine_gradients(attn_ctx *ctx, golden_problem *p, const golden *g,
                              golden_engine *run) {
    attn_error err = {0};
    if (json_object_get(g->json, "dropout_multiplier")) return; /* a test of its own */
    const attn_status status = run(ctx, p, &err);
    if (status != ATTN_OK) {
        check_failed(__FILE__, __LINE__, "%s: %s", g->name, err.message);
        return;
    }
    compare_gradients(p, g);
}

static void look_at_all(golden_examine *look, golden_engine *run, attn_dtype dtype,
                        golden_way how) {
    const int seen = golden_for_every_case(look, run, dtype, how, "dQ");
    CHECK_INT(seen, how == NATIVE ? NATIVE_CASES : GRADIENT_CASES);
}

TEST(reference_f64_gradients_match_every_case_as_given) {
    look_at_all(examine_gradients, by_reference, ATTN_F64, AS_GIVEN);
}

TEST(reference_f64_gradients_match_every_case_said_by_options) {
    look_at_all(examine_gradients, by_reference, ATTN_F64, NATIVE);
}

TEST(reference_f32_gradients_match_every_case_as_given) {
    look_at_all(examine_gradients, by_reference, ATTN_F32, AS_GIVEN);
}

TEST(backward_f64_matches_every_case_as_given) {
    look_at_all(examine_gradients, by_backward, ATTN_F64, AS_GIVEN);
}

TEST(backward_f64_matches_every_case_said_by_options) {
    look_at_all(examine_gradients, by_backward, ATTN_F64, NATIVE);
}

TEST(backward_f32_matches_every_case_as_given) {
    look_at_all(examine_gradients, by_backward, ATTN_F32, AS_GIVEN);
}

TEST(backward_f32_matches_every_case_said_by_options) {
    look_at_all(examine_gradients, by_backward, ATTN_F32, NATIVE);
}

/* ---------------------------------------------------------------------------------------- rows */

/* Sums of one problem, and its rows' gradients of the scores. */
typedef struct row_results {
    attni_ref_sums sums; /* of the head at hand */
    attn_tensor ds;      /* (1, H, n_q, n_k) f64 */
} row_results;

/* Row i of head h with the multipliers of the case, if it has some. */
static void add_row(golden_problem *p, const golden *g, int64_t h, int64_t i, row_results *r) {
    const double *multiplier = golden_numbers(p, g->json, "dropout_multiplier");
    double *dout = golden_keep(p, malloc((size_t)g->d_v * sizeof *dout));
    double *memory = golden_keep(p, calloc((size_t)(ATTNI_REF_FLOW_ARRAYS * g->n_k), sizeof *dout));
    const attni_ref_row_at at = {.a = &p->args,
                                 .h = h,
                                 .i = i,
                                 .dout = dout,
                                 .multiplier = multiplier ? multiplier + i * g->n_k : NULL};
    attni_ref_flow flow = attni_ref_flow_in(memory, g->n_k);
    for (int64_t d = 0; d < g->d_v; d++) dout[d] = attni_ref_load(&p->dout, 0, h, i, d);
    attni_ref_row_backward(&at, &flow);
    attni_ref_row_add(&at, &flow, &r->sums);
    const int64_t len_k = p->args.len_k ? p->len_k : g->n_k;
    for (int64_t j = 0; j < len_k; j++) { /* golden scores are divided by tau, biased ones not */
        attni_ref_store(&r->ds, (int64_t[]){0, h, i, j}, flow.dbiased[j] * p->tau);
    }
}

static void examine_rows(attn_ctx *ctx, golden_problem *p, const golden *g, golden_engine *run) {
    (void)ctx, (void)run;
    if (!json_object_get(g->expected, "dS")) return; /* grouped cases have none */
    row_results r = {.sums = {.dk = p->gradients.dk.data, .dv = p->gradients.dv.data},
                     .ds = golden_room(p, 1, g->n_q, g->n_k)};
    for (int64_t i = 0; i < g->n_q; i++) {
        r.sums.dq = (double *)p->gradients.dq.data + i * g->d_k;
        add_row(p, g, 0, i, &r);
    }
    golden_compare(g, "dS", &r.ds, golden_numbers(p, g->expected, "dS"), tolerance(&r.ds));
    p->gradients.dbias.data = NULL;
    compare_gradients(p, g);
}

TEST(rows_give_dS_and_the_sums_of_every_case_as_given_also_with_dropout) {
    look_at_all(examine_rows, NULL, ATTN_F64, AS_GIVEN);
}

TEST(rows_give_dS_and_the_sums_of_every_case_said_by_options) {
    look_at_all(examine_rows, NULL, ATTN_F64, NATIVE);
}

/* ------------------------------------------------------------------------------------ Jacobians */

/* One query x, keys and values the unit vectors, scale 1: out = softmax(x), so dout = e_j makes
 * dq the j-th row of the Jacobian. */
static void examine_jacobian(const json_t *json) {
    const golden g = {.name = json_string_value(json_object_get(json, "name"))};
    golden_problem p = {.dtype = ATTN_F64};
    const int64_t n = (int64_t)json_array_size(json_object_get(json, "x"));
    attn_args_init(&p.args);
    p.args.scale = 1;
    p.args.q = golden_tensor(&p, json, "x", (int64_t[]){1, 1, n});
    p.args.k = p.args.v = golden_room(&p, 1, n, n);
    for (int64_t j = 0; j < n; j++) attni_ref_store(&p.args.k, (int64_t[]){0, 0, j, j}, 1);
    const attn_tensor jacobian = golden_room(&p, 1, n, n);
    for (int64_t j = 0; j < n; j++) {
        p.dout = golden_room(&p, 1, 1, n);
        attni_ref_store(&p.dout, (int64_t[]){0, 0, 0, j}, 1);
        attn_gradients_init(&p.gradients);
        p.gradients.dq = attn_tensor_bhsd((double *)jacobian.data + j * n, ATTN_F64, 1, 1, 1, n);
        CHECK_INT(by_reference(NULL, &p, NULL), ATTN_OK);
    }
    golden_compare(&g, "jacobian", &jacobian, golden_numbers(&p, json, "jacobian"),
                   tolerance(&jacobian));
    golden_end(&p);
}

TEST(gradients_of_unit_losses_are_the_jacobians_of_the_softmax_cases) {
    const json_t *cases = json_object_get(golden_file(), "softmax");
    CHECK_INT(json_array_size(cases), SOFTMAX_CASES);
    for (size_t n = 0; n < SOFTMAX_CASES; n++) examine_jacobian(json_array_get(cases, n));
}
