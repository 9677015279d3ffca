/* SPDX-License-Identifier: Apache-2.0 */
/* test_golden.c - every attention case of golden.json (60-digit arithmetic, rounded once) against
 * the oracle, the engine and attn_inspect(). Each case runs as given (mask and bias as matrices)
 * and, where attn_args can say the same natively (causal, window, lengths, ALiBi, temperature,
 * patterns), a second time so. Tolerances: f64 1e-13 of max(1, |x|); f32 2e-6 of max(1, |row|). */
#include "check.h"
#include "ref/reference.h"

#include <jansson.h>
#include <stdlib.h>

enum { CASES = 46, LAYER_CASES = 2, NATIVE_CASES = 21, MAX_BUFFERS = 32 };

/* --------------------------------------------------------------------------------------- cases */

typedef struct golden {
    const json_t *json, *expected;
    const char *name;
    int64_t H, H_kv, n_q, n_k, d_k, d_v;
} golden;

typedef enum way { AS_GIVEN, NATIVE } way;

/* One case as a problem in one dtype, with room for the answers. */
typedef struct problem {
    attn_args args;
    attn_tensor out, lse;
    attn_dtype dtype;
    double tau;     /* golden scores are divided by it, scores of args are not */
    uint8_t *allow; /* (H, n_q, n_k) the pairs that are visible, or NULL: all */
    int64_t len_k;  /* storage for args.len_k */
    double slope;   /* storage for args.alibi */
    attn_mask *pattern;
    void *buffers[MAX_BUFFERS];
    int n_buffers;
} problem;

static const json_t *golden_file(void) {
    static json_t *root;
    json_error_t error;
    if (!root) root = json_load_file(GOLDEN_FILE, 0, &error);
    if (!root) check_failed(__FILE__, __LINE__, "%s: %s", GOLDEN_FILE, error.text);
    return root;
}

static int64_t integer(const json_t *json, const char *key, int64_t otherwise) {
    const json_t *value = json_object_get(json, key);
    return json_is_integer(value) ? json_integer_value(value) : otherwise;
}

static golden golden_at(size_t n) {
    golden g = {.json = json_array_get(json_object_get(golden_file(), "cases"), n)};
    g.expected = json_object_get(g.json, "expected");
    g.name = json_string_value(json_object_get(g.json, "name"));
    g.H = integer(g.json, "Hq", 1);
    g.H_kv = integer(g.json, "Hkv", 1);
    g.n_q = integer(g.json, "n_q", 0);
    g.n_k = integer(g.json, "n_k", 0);
    g.d_k = integer(g.json, "d_k", 0);
    g.d_v = integer(g.json, "d_v", 0);
    return g;
}

static bool is_layer(const golden *g) { return json_object_get(g->json, "W") != NULL; }

static void *keep(problem *p, void *buffer) {
    if (p->n_buffers == MAX_BUFFERS || !buffer) abort();
    return p->buffers[p->n_buffers++] = buffer;
}

static size_t flatten(const json_t *value, double *to) {
    if (!json_is_array(value)) {
        if (to) *to = json_is_null(value) ? -INFINITY : json_number_value(value);
        return 1;
    }
    size_t n = 0;
    for (size_t i = 0; i < json_array_size(value); i++) {
        n += flatten(json_array_get(value, i), to ? to + n : NULL);
    }
    return n;
}

/* All numbers of a nested array, or NULL if the key is absent. */
static double *numbers(problem *p, const json_t *json, const char *key) {
    const json_t *value = json_object_get(json, key);
    if (!json_is_array(value)) return NULL;
    double *x = keep(p, malloc(flatten(value, NULL) * sizeof *x));
    flatten(value, x);
    return x;
}

/* The same numbers in the dtype of the problem. */
static attn_tensor tensor(problem *p, const json_t *json, const char *key, const int64_t shape[3]) {
    double *x = numbers(p, json, key);
    if (!x) return (attn_tensor){0};
    const int64_t n = shape[0] * shape[1] * shape[2];
    if (p->dtype == ATTN_F32) {
        float *f = keep(p, malloc((size_t)n * sizeof *f));
        for (int64_t i = 0; i < n; i++) f[i] = (float)x[i];
        return attn_tensor_bhsd(f, ATTN_F32, 1, shape[0], shape[1], shape[2]);
    }
    return attn_tensor_bhsd(x, ATTN_F64, 1, shape[0], shape[1], shape[2]);
}

static attn_tensor room(problem *p, int64_t H, int64_t n, int64_t d) {
    void *data = keep(p, calloc((size_t)(H * n * d), sizeof(double)));
    return attn_tensor_bhsd(data, p->dtype, 1, H, n, d);
}

/* --------------------------------------------------------------------- from case to problem */

/* The visible pairs, from the file or, for the one grouped case that only names its rule, by it. */
static void set_allow(problem *p, const golden *g) {
    const double *given = numbers(p, g->json, "allow");
    const bool bottom_right = json_is_string(json_object_get(g->json, "causal"));
    if (!given && !bottom_right) return;
    p->allow = keep(p, malloc((size_t)(g->H * g->n_q * g->n_k)));
    for (int64_t e = 0; e < g->H * g->n_q * g->n_k; e++) {
        const int64_t j = e % g->n_k, i = e / g->n_k % g->n_q;
        p->allow[e] = given ? given[i * g->n_k + j] != 0 : j <= i + g->n_k - g->n_q;
    }
}

static bool named(const golden *g, const char *part) { return strstr(g->name, part) != NULL; }

static void set_native_position(problem *p, const golden *g) {
    attn_args *a = &p->args;
    a->causal = named(g, "causal");
    if (named(g, "topleft") || named(g, "padding")) a->offset = ATTN_OFFSET_TOP_LEFT;
    if (named(g, "sliding_window_causal")) a->window_left = integer(g->json, "window", 0) - 1;
    if (named(g, "sliding_window_sym")) {
        a->window_left = a->window_right = integer(g->json, "radius", 0);
    }
    if (named(g, "padding_len3")) {
        p->len_k = 3;
        a->len_k = &p->len_k;
    }
    if (named(g, "left_padding")) { /* one row of mask for all rows: what the last row sees */
        a->mask = attn_tensor_bhsd(p->allow + (g->n_q - 1) * g->n_k, ATTN_BOOL, 1, 1, 1, g->n_k);
    }
}

static attn_status set_native_pattern(problem *p, const golden *g) {
    if (named(g, "local_global")) ATTN_TRY(attn_mask_longformer(g->n_q, 1, 1, &p->pattern, NULL));
    if (named(g, "prefix_lm")) {
        attn_mask *causal = NULL, *prefix = NULL;
        ATTN_TRY(attn_mask_causal(g->n_q, g->n_k, 0, &causal, NULL));
        ATTN_TRY(attn_mask_prefix(g->n_q, g->n_k, 2, &prefix, NULL));
        ATTN_TRY(attn_mask_union(causal, prefix, &p->pattern, NULL));
        attn_mask_destroy(causal);
        attn_mask_destroy(prefix);
    }
    p->args.pattern = p->pattern;
    return ATTN_OK;
}

/* Says the case by options instead of matrices; false if there is nothing to say so. */
static bool set_native(problem *p, const golden *g) {
    const json_t *tau = json_object_get(g->json, "tau");
    const json_t *slope = json_object_get(g->json, "alibi_slope");
    if (!p->allow && !tau && !slope) return false;
    if (p->allow && named(g, "bool_mask")) return false;
    set_native_position(p, g);
    if (set_native_pattern(p, g) != ATTN_OK) abort();
    if (tau) {
        p->tau = p->args.temperature = json_number_value(tau);
        p->args.scale *= p->tau;
    }
    if (slope) {
        p->slope = json_number_value(slope);
        p->args.alibi = &p->slope;
        p->args.bias = (attn_tensor){0};
    }
    return true;
}

static bool problem_begin(problem *p, const golden *g, attn_dtype dtype, way how) {
    *p = (problem){.dtype = dtype, .tau = 1};
    attn_args_init(&p->args);
    p->args.scale = json_number_value(json_object_get(g->json, "scale"));
    p->args.q = tensor(p, g->json, "Q", (int64_t[]){g->H, g->n_q, g->d_k});
    p->args.k = tensor(p, g->json, "K", (int64_t[]){g->H_kv, g->n_k, g->d_k});
    p->args.v = tensor(p, g->json, "V", (int64_t[]){g->H_kv, g->n_k, g->d_v});
    p->args.bias = tensor(p, g->json, "bias", (int64_t[]){1, g->n_q, g->n_k});
    p->out = room(p, g->H, g->n_q, g->d_v);
    p->lse = room(p, g->H, g->n_q, 1);
    set_allow(p, g);
    if (how == NATIVE) return set_native(p, g);
    if (p->allow) p->args.mask = attn_tensor_bhsd(p->allow, ATTN_BOOL, 1, g->H, g->n_q, g->n_k);
    return true;
}

static void problem_end(problem *p) {
    attn_mask_destroy(p->pattern);
    while (p->n_buffers > 0) free(p->buffers[--p->n_buffers]);
}

/* ------------------------------------------------------------------------------------ comparing */

static double tolerance(attn_dtype dtype, const double *row, int64_t columns, int64_t j) {
    if (dtype == ATTN_F64) return 1e-13 * fmax(1, fabs(row[j]));
    double scale = 1;
    for (int64_t c = 0; c < columns; c++) {
        if (isfinite(row[c])) scale = fmax(scale, fabs(row[c]));
    }
    return 2e-6 * scale;
}

static void compare(const golden *g, const char *what, const attn_tensor *t, const double *want) {
    const int64_t columns = t->shape[3];
    for (int64_t r = 0; r < t->shape[1] * t->shape[2]; r++) {
        const double *row = want + r * columns;
        for (int64_t j = 0; j < columns; j++) {
            const int64_t h = r / t->shape[2], i = r % t->shape[2];
            const double x = attni_ref_load(t, 0, h, i, j),
                         allowed = tolerance(t->dtype, row, columns, j);
            if (check_is_near(x, row[j], allowed)) continue;
            check_failed(__FILE__, __LINE__, "%s: %s[%d][%d][%d] is %.17g, expected %.17g +- %.2g",
                         g->name, what, (int)h, (int)i, (int)j, x, row[j], allowed);
            return;
        }
    }
}

static bool is_allowed(const problem *p, int64_t e) { return !p->allow || p->allow[e]; }

/* The file gives no LSE for grouped cases: ln of the sum of exp of its allowed scores. */
static double *expected_lse(problem *p, const golden *g) {
    double *given = numbers(p, g->expected, "lse");
    if (given) return given;
    const double *scores = numbers(p, g->expected, "scores");
    double *lse = keep(p, malloc((size_t)(g->H * g->n_q) * sizeof *lse));
    for (int64_t r = 0; r < g->H * g->n_q; r++) {
        long double sum = 0;
        for (int64_t e = r * g->n_k; e < (r + 1) * g->n_k; e++) {
            if (is_allowed(p, e)) sum += expl((long double)scores[e]);
        }
        lse[r] = (double)logl(sum);
    }
    return lse;
}

static void compare_result(problem *p, const golden *g) {
    compare(g, "lse", &p->lse, expected_lse(p, g));
    if (json_object_get(g->json, "dropout_multiplier")) return; /* its output: a test of its own */
    compare(g, "output", &p->out, numbers(p, g->expected, "output"));
}

typedef attn_status engine(attn_ctx *ctx, problem *p, attn_error *err);

static attn_status by_reference(attn_ctx *ctx, problem *p, attn_error *err) {
    (void)ctx;
    return attn_reference(&p->args, &p->out, &p->lse, err);
}

static attn_status by_forward(attn_ctx *ctx, problem *p, attn_error *err) {
    return attn_forward(ctx, &p->args, &p->out, &p->lse, err);
}

typedef void examine(attn_ctx *ctx, problem *p, const golden *g, engine *run);

/* Calls look() for every case that applies and checks their number. */
static void for_every_case(examine *look, engine *run, attn_dtype dtype, way how) {
    attn_ctx *ctx = NULL;
    int seen = 0;
    CHECK(golden_file() != NULL);
    CHECK_INT(attn_ctx_create(NULL, &ctx, NULL), ATTN_OK);
    for (size_t n = 0; n < CASES; n++) {
        const golden g = golden_at(n);
        problem p;
        if (is_layer(&g)) continue;
        if (problem_begin(&p, &g, dtype, how)) {
            look(ctx, &p, &g, run);
            seen++;
        }
        problem_end(&p);
    }
    attn_ctx_destroy(ctx);
    CHECK_INT(seen, how == NATIVE ? NATIVE_CASES : CASES - LAYER_CASES);
}

static void examine_result(attn_ctx *ctx, problem *p, const golden *g, engine *run) {
    attn_error err = {0};
    const attn_status status = run(ctx, p, &err);
    if (status != ATTN_OK) {
        check_failed(__FILE__, __LINE__, "%s: %s", g->name, err.message);
        return;
    }
    compare_result(p, g);
}

/* Golden scores stand before masking, divided by tau; biased scores are -inf where masked. */
static void compare_scores(problem *p, const golden *g, const attn_inspection *what) {
    double *scores = numbers(p, g->expected, "scores");
    for (int64_t e = 0; e < g->H * g->n_q * g->n_k; e++) scores[e] *= p->tau;
    const bool is_raw = !json_object_get(g->json, "bias");
    for (int64_t e = 0; p->args.len_k && e < g->H * g->n_q * g->n_k; e++) {
        if (e % g->n_k >= p->len_k) scores[e] = -INFINITY; /* padding is never read */
    }
    if (is_raw) compare(g, "raw", &what->raw, scores);
    if (is_raw) compare(g, "capped", &what->capped, scores);
    for (int64_t e = 0; e < g->H * g->n_q * g->n_k; e++) {
        if (!is_allowed(p, e)) scores[e] = -INFINITY;
    }
    compare(g, "biased", &what->biased, scores);
}

static void examine_stages(attn_ctx *ctx, problem *p, const golden *g, engine *run) {
    (void)run;
    attn_inspection what;
    attn_error err = {0};
    attn_inspection_init(&what);
    what.raw = room(p, g->H, g->n_q, g->n_k);
    what.capped = room(p, g->H, g->n_q, g->n_k);
    what.biased = room(p, g->H, g->n_q, g->n_k);
    what.weights = room(p, g->H, g->n_q, g->n_k);
    if (attn_inspect(ctx, &p->args, &what, &err) != ATTN_OK) {
        check_failed(__FILE__, __LINE__, "%s: %s", g->name, err.message);
        return;
    }
    compare(g, "weights", &what.weights, numbers(p, g->expected, "weights"));
    compare_scores(p, g, &what);
}

/* --------------------------------------------------------------------------------------- facts */

TEST(file_holds_44_attention_cases_and_2_layer_cases_that_do_not_apply_here) {
    int layers = 0;
    CHECK(golden_file() != NULL);
    CHECK_INT(json_array_size(json_object_get(golden_file(), "cases")), CASES);
    for (size_t n = 0; n < CASES; n++) {
        const golden g = golden_at(n);
        layers += is_layer(&g);
    }
    CHECK_INT(layers, LAYER_CASES);
}

TEST(reference_f64_matches_every_case_as_given) {
    for_every_case(examine_result, by_reference, ATTN_F64, AS_GIVEN);
}

TEST(reference_f64_matches_every_case_said_by_options) {
    for_every_case(examine_result, by_reference, ATTN_F64, NATIVE);
}

TEST(reference_f32_matches_every_case_as_given) {
    for_every_case(examine_result, by_reference, ATTN_F32, AS_GIVEN);
}

TEST(forward_f64_matches_every_case_as_given) {
    for_every_case(examine_result, by_forward, ATTN_F64, AS_GIVEN);
}

TEST(forward_f64_matches_every_case_said_by_options) {
    for_every_case(examine_result, by_forward, ATTN_F64, NATIVE);
}

TEST(forward_f32_matches_every_case_as_given) {
    for_every_case(examine_result, by_forward, ATTN_F32, AS_GIVEN);
}

TEST(forward_f32_matches_every_case_said_by_options) {
    for_every_case(examine_result, by_forward, ATTN_F32, NATIVE);
}

TEST(inspect_f64_shows_the_scores_and_weights_of_every_case_as_given) {
    for_every_case(examine_stages, NULL, ATTN_F64, AS_GIVEN);
}

TEST(inspect_f64_shows_the_scores_and_weights_of_every_case_said_by_options) {
    for_every_case(examine_stages, NULL, ATTN_F64, NATIVE);
}

TEST(inspect_f32_shows_the_scores_and_weights_of_every_case_as_given) {
    for_every_case(examine_stages, NULL, ATTN_F32, AS_GIVEN);
}

/* The file brings its own dropout mask, so only the row function can be asked. */
static void examine_dropout(attn_ctx *ctx, problem *p, const golden *g, engine *run) {
    (void)ctx, (void)run;
    const double *multiplier = numbers(p, g->json, "dropout_multiplier");
    if (!multiplier) return;
    double *out = keep(p, malloc((size_t)g->d_v * sizeof *out));
    double *scratch = keep(p, malloc((size_t)g->n_k * sizeof *scratch));
    for (int64_t i = 0; i < g->n_q; i++) {
        attni_ref_row(&p->args, 0, 0, i, NULL, out, NULL, scratch, multiplier + i * g->n_k);
        for (int64_t d = 0; d < g->d_v; d++) {
            attni_ref_store(&p->out, (int64_t[]){0, 0, i, d}, out[d]);
        }
    }
    compare(g, "output", &p->out, numbers(p, g->expected, "output"));
}

TEST(reference_row_applies_the_dropout_multipliers_of_the_dropout_case) {
    for_every_case(examine_dropout, NULL, ATTN_F64, AS_GIVEN);
}

/* Softmax of x as attention: one query x, keys the unit vectors, scale 1. */
static void examine_softmax(attn_ctx *ctx, const json_t *json) {
    const golden g = {.name = json_string_value(json_object_get(json, "name"))};
    problem p = {.dtype = ATTN_F64};
    const int64_t n = (int64_t)json_array_size(json_object_get(json, "x"));
    attn_inspection what;
    attn_args_init(&p.args);
    attn_inspection_init(&what);
    p.args.scale = 1;
    p.args.q = tensor(&p, json, "x", (int64_t[]){1, 1, n});
    p.args.k = p.args.v = room(&p, 1, n, n);
    for (int64_t j = 0; j < n; j++) attni_ref_store(&p.args.k, (int64_t[]){0, 0, j, j}, 1);
    p.out = room(&p, 1, 1, n);
    p.lse = room(&p, 1, 1, 1);
    what.entropy = room(&p, 1, 1, 1);
    CHECK_INT(attn_reference(&p.args, &p.out, &p.lse, NULL), ATTN_OK);
    CHECK_INT(attn_inspect(ctx, &p.args, &what, NULL), ATTN_OK);
    const double lse = json_number_value(json_object_get(json, "lse"));
    const double entropy = json_number_value(json_object_get(json, "entropy"));
    compare(&g, "softmax", &p.out, numbers(&p, json, "softmax"));
    compare(&g, "lse", &p.lse, &lse);
    compare(&g, "entropy", &what.entropy, &entropy);
    problem_end(&p);
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
        CHECK_INT(flatten(want, expected), H);
        for (int64_t h = 0; h < H; h++) CHECK_NEAR(slopes[h], expected[h], 1e-15);
    }
}
