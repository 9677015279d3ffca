/* SPDX-License-Identifier: Apache-2.0 */
/* test_golden.c - every attention case of golden.json against the oracle, the engine and
 * attn_inspect(), as given and expressed by options. Tolerances: f64 1e-13 of max(1, |x|); f32 2e-6
 * of max(1, |row|). */
#include "check.h"
#include "golden_case.h"
#include "ref/reference.h"

#include <stdlib.h>

enum { LAYER_CASES = 2, NATIVE_CASES = 21 };

static void compare(const golden *g, const char *what, const attn_tensor *t, const double *want) {
    golden_compare(g, what, t, want, t->dtype == ATTN_F64 ? 1e-13 : 2e-6);
}

/* The file gives no LSE for grouped cases: ln of the sum of exp of its allowed scores. */
static double *expected_lse(golden_problem *p, const golden *g) {
    double *given = golden_numbers(p, g->expected, "lse");
    if (given) return given;
    const double *scores = golden_numbers(p, g->expected, "scores");
    double *lse = golden_keep(p, malloc((size_t)(g->H * g->n_q) * sizeof *lse));
    for (int64_t r = 0; r < g->H * g->n_q; r++) {
        long double sum = 0;
        for (int64_t e = r * g->n_k; e < (r + 1) * g->n_k; e++) {
            if (golden_is_allowed(p, e)) sum += expl((long double)scores[e]);
        }
        lse[r] = (double)logl(sum);
    }
    return lse;
}

static void compare_result(golden_problem *p, const golden *g) {
    compare(g, "lse", &p->lse, expected_lse(p, g));
    if (json_object_get(g->json, "dropout_multiplier")) return; /* its output: a test of its own */
    compare(g, "output", &p->out, golden_numbers(p, g->expected, "output"));
}

static attn_status by_reference(attn_ctx *ctx, golden_problem *p, attn_error *err) {
    (void)ctx;
    return attn_reference(&p->args, &p->out, &p->lse, err);
}

static attn_status by_forward(attn_ctx *ctx, golden_problem *p, attn_error *err) {
    return attn_forward(ctx, &p->args, &p->out, &p->lse, err);
}

static void look_at_all(golden_examine *look, golden_engine *run, attn_dtype dtype,
                        golden_way how) {
    const int seen = golden_for_every_case(look, run, dtype, how, "output");
    CHECK_INT(seen, how == NATIVE ? NATIVE_CASES : GOLDEN_CASES - LAYER_CASES);
}

static void examine_result(attn_ctx *ctx, golden_problem *p, const golden *g, golden_engine *run) {
    attn_error err = {0};
    const attn_status status = run(ctx, p, &err);
    if (status != ATTN_OK) {
        check_failed(__FILE__, __LINE__, "%s: %s", g->name, err.message);
        return;
    }
    compare_result(p, g);
}

/* Golden scores stand before masking, divided by tau; biased scores are -inf where masked. */
static void compare_scores(golden_problem *p, const golden *g, const attn_inspection *what) {
    double *scores = golden_numbers(p, g->expected, "scores");
    for (int64_t e = 0; e < g->H * g->n_q * g->n_k; e++) scores[e] *= p->tau;
    const bool is_raw = !json_object_get(g->json, "bias");
    for (int64_t e = 0; p->args.len_k && e < g->H * g->n_q * g->n_k; e++) {
        if (e % g->n_k >= p->len_k) scores[e] = -INFINITY; /* padding is never read */
    }
    if (is_raw) compare(g, "raw", &what->raw, scores);
    if (is_raw) compare(g, "capped", &what->capped, scores);
    for (int64_t e = 0; e < g->H * g->n_q * g->n_k; e++) {
        if (!golden_is_allowed(p, e)) scores[e] = -INFINITY;
    }
    compare(g, "biased", &what->biased, scores);
}

static void examine_stages(attn_ctx *ctx, golden_problem *p, const golden *g, golden_engine *run) {
    (void)run;
    attn_inspection what;
    attn_error err = {0};
    attn_inspection_init(&what);
    what.raw = golden_room(p, g->H, g->n_q, g->n_k);
    what.capped = golden_room(p, g->H, g->n_q, g->n_k);
    what.biased = golden_room(p, g->H, g->n_q, g->n_k);
    what.weights = golden_room(p, g->H, g->n_q, g->n_k);
    if (attn_inspect(ctx, &p->args, &what, &err) != ATTN_OK) {
        check_failed(__FILE__, __LINE__, "%s: %s", g->name, err.message);
        return;
    }
    compare(g, "weights", &what.weights, golden_numbers(p, g->expected, "weights"));
    compare_scores(p, g, &what);
}

/* --------------------------------------------------------------------------------------- facts */

TEST(file_holds_44_attention_cases_and_2_layer_cases_that_do_not_apply_here) {
    int layers = 0;
    CHECK(golden_file() != NULL);
    CHECK_INT(json_array_size(json_object_get(golden_file(), "cases")), GOLDEN_CASES);
    for (size_t n = 0; n < GOLDEN_CASES; n++) {
        const golden g = golden_at(n);
        layers += golden_is_layer(&g);
    }
    CHECK_INT(layers, LAYER_CASES);
}

TEST(reference_f64_matches_every_case_as_given) {
    look_at_all(examine_result, by_reference, ATTN_F64, AS_GIVEN);
}

TEST(reference_f64_matches_every_case_said_by_options) {
    look_at_all(examine_result, by_reference, ATTN_F64, NATIVE);
}

TEST(reference_f32_matches_every_case_as_given) {
    look_at_all(examine_result, by_reference, ATTN_F32, AS_GIVEN);
}

TEST(forward_f64_matches_every_case_as_given) {
    look_at_all(examine_result, by_forward, ATTN_F64, AS_GIVEN);
}

TEST(forward_f64_matches_every_case_said_by_options) {
    look_at_all(examine_result, by_forward, ATTN_F64, NATIVE);
}

TEST(forward_f32_matches_every_case_as_given) {
    look_at_all(examine_result, by_forward, ATTN_F32, AS_GIVEN);
}

TEST(forward_f32_matches_every_case_said_by_options) {
    look_at_all(examine_result, by_forward, ATTN_F32, NATIVE);
}

TEST(inspect_f64_shows_the_scores_and_weights_of_every_case_as_given) {
    look_at_all(examine_stages, NULL, ATTN_F64, AS_GIVEN);
}

TEST(inspect_f64_shows_the_scores_and_weights_of_every_case_said_by_options) {
    look_at_all(examine_stages, NULL, ATTN_F64, NATIVE);
}

TEST(inspect_f32_shows_the_scores_and_weights_of_every_case_as_given) {
    look_at_all(examine_stages, NULL, ATTN_F32, AS_GIVEN);
}

/* The file brings its own dropout mask, so only the row function can be asked. */
static void examine_dropout(attn_ctx *ctx, golden_problem *p, const golden *g, golden_engine *run) {
    (void)ctx, (void)run;
    const double *multiplier = golden_numbers(p, g->json, "dropout_multiplier");
    if (!multiplier) return;
    double *out = golden_keep(p, malloc((size_t)g->d_v * sizeof *out));
    double *scratch = golden_keep(p, malloc((size_t)g->n_k * sizeof *scratch));
    for (int64_t i = 0; i < g->n_q; i++) {
        attni_ref_row(&p->args, 0, 0, i, NULL, out, NULL, scratch, multiplier + i * g->n_k);
        for (int64_t d = 0; d < g->d_v; d++) {
            attni_ref_store(&p->out, (int64_t[]){0, 0, i, d}, out[d]);
        }
    }
    compare(g, "output", &p->out, golden_numbers(p, g->expected, "output"));
}

TEST(reference_row_applies_the_dropout_multipliers_of_the_dropout_case) {
    look_at_all(examine_dropout, NULL, ATTN_F64, AS_GIVEN);
}

/* Softmax of x as attention: one query x, keys the unit vectors, scale 1. */
static void examine_softmax(attn_ctx *ctx, const json_t *json) {
    const golden g = {.name = json_string_value(json_object_get(json, "name"))};
    golden_problem p = {.dtype = ATTN_F64};
    const int64_t n = (int64_t)json_array_size(json_object_get(json, "x"));
    attn_inspection what;
    attn_args_init(&p.args);
    attn_inspection_init(&what);
    p.args.scale = 1;
    p.args.q = golden_tensor(&p, json, "x", (int64_t[]){1, 1, n});
    p.args.k = p.args.v = golden_room(&p, 1, n, n);
    for (int64_t j = 0; j < n; j++) attni_ref_store(&p.args.k, (int64_t[]){0, 0, j, j}, 1);
    p.out = golden_room(&p, 1, 1, n);
    p.lse = golden_room(&p, 1, 1, 1);
    what.entropy = golden_room(&p, 1, 1, 1);
    CHECK_INT(attn_reference(&p.args, &p.out, &p.lse, NULL), ATTN_OK);
    CHECK_INT(attn_inspect(ctx, &p.args, &what, NULL), ATTN_OK);
    const double lse = json_number_value(json_object_get(json, "lse"));
    const double entropy = json_number_value(json_object_get(json, "entropy"));
    compare(&g, "softmax", &p.out, golden_numbers(&p, json, "softmax"));
    compare(&g, "lse", &p.lse, &lse);
    compare(&g, "entropy", &what.entropy, &entropy);
    golden_end(&p);
}

TEST(softmax_lse_and_entropy_match_the_softmax_cases) {
    attn_ctx *ctx = NULL;
    const json_t *cases = json_object_get(golden_file(), "softmax");
    CHECK_INT(json_array_size(cases), 11);
    CHECK_INT(attn_ctx_create(NULL, &ctx, NULL), ATTN_OK);
    for (size_t n = 0; n < json_array_size(cases); n++) {
        examine_softmax(ctx, json_array_get(cases, n));
    }
    attn_ctx_destroy(ctx);
}

TEST(alibi_slopes_match_the_file_for_every_head_count) {
    json_t *all = json_object_get(golden_file(), "alibi_slopes"), *want;
    const char *heads;
    CHECK_INT(json_object_size(all), 8);
    json_object_foreach(all, heads, want) {
        double slopes[16], expected[16];
        const int64_t H = atoi(heads);
        CHECK_INT(attn_alibi_slopes(H, slopes, NULL), ATTN_OK);
        CHECK_INT(golden_flatten(want, expected), H);
        for (int64_t h = 0; h < H; h++) CHECK_NEAR(slopes[h], expected[h], 1e-15);
    }
}
