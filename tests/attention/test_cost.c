/* SPDX-License-Identifier: Apache-2.0 */
/* test_cost.c - attn_cost(): pairs against counting them one by one, everything else against
 * formulas. */
#include "brute.h"
#include "check.h"

enum { CASES = 400 };

static attn_ctx *new_ctx(void) {
    attn_ctx *ctx = NULL;
    if (attn_ctx_create(NULL, &ctx, NULL) != ATTN_OK) abort();
    return ctx;
}

static double count_visible(const attn_args *a) {
    int64_t n = 0;
    for (int64_t s = 0; s < brute_count(a); s++) {
        const brute_sequence r = brute_sequence_at(a, s);
        for (int64_t h = 0; h < a->q.shape[1]; h++) {
            for (int64_t i = 0; i < r.n_q; i++) {
                for (int64_t j = 0; j < r.n_k; j++) n += brute_visible(a, s, h, i, j, true);
            }
        }
    }
    return (double)n;
}

TEST(visible_pairs_are_counted_one_by_one_for_any_masks) {
    attn_ctx *ctx = new_ctx();
    brute_case c;
    for (uint64_t seed = 0; seed < CASES && !check_has_failed(); seed++) {
        attn_cost_info cost = {.struct_size = sizeof cost};
        attn_error err = {""};
        brute_begin(&c, seed + 7000);
        const attn_status status = attn_cost(ctx, &c.args, &cost, &err);
        CHECK_MSG(status == ATTN_OK, "seed %llu: %s", (unsigned long long)seed, err.message);
        const double want = count_visible(&c.args);
        CHECK_MSG(cost.visible_pairs == want, "seed %llu: %.0f visible pairs, expected %.0f",
                  (unsigned long long)seed, cost.visible_pairs, want);
        brute_end(&c);
    }
    attn_ctx_destroy(ctx);
}

/* Padding counts as pairs, pairs of different packed sequences do not. */
static double count_pairs(const attn_args *a) {
    double n = 0;
    for (int64_t s = 0; s < brute_count(a); s++) {
        const brute_sequence r = brute_sequence_at(a, s);
        n += a->cu_q ? (double)(r.n_q * r.n_k) : (double)(a->q.shape[2] * a->k.shape[2]);
    }
    return n * (double)a->q.shape[1];
}

TEST(pairs_and_flops_follow_their_formulas) {
    attn_ctx *ctx = new_ctx();
    brute_case c;
    for (uint64_t seed = 0; seed < CASES && !check_has_failed(); seed++) {
        attn_cost_info cost = {.struct_size = sizeof cost};
        brute_begin(&c, seed);
        const double d_k = 5, d_v = 3; /* of every random problem */
        CHECK_INT(attn_cost(ctx, &c.args, &cost, NULL), ATTN_OK);
        CHECK_NEAR(cost.pairs, count_pairs(&c.args), 0);
        CHECK_NEAR(cost.flops, (2 * d_k + 2 * d_v) * cost.visible_pairs, 0);
        /* scores again, dP, dV, dQ, dK: one product each */
        CHECK_NEAR(cost.flops_backward, 2 * (d_k + d_v + d_v + d_k + d_k) * cost.visible_pairs, 0);
        brute_end(&c);
    }
    attn_ctx_destroy(ctx);
}

static attn_args problem(attn_dtype dtype, int64_t B, int64_t n_q, int64_t n_k) {
    attn_args a;
    attn_args_init(&a);
    a.q = attn_tensor_bhsd(NULL, dtype, B, 6, n_q, 40);
    a.k = attn_tensor_bhsd(NULL, dtype, B, 2, n_k, 40);
    a.v = attn_tensor_bhsd(NULL, dtype, B, 2, n_k, 24);
    return a;
}

TEST(bytes_are_those_of_the_tensors) {
    static const struct {
        attn_dtype dtype;
        double element, weight;
    } types[] = {{ATTN_F32, 4, 4}, {ATTN_F64, 8, 8}, {ATTN_F16, 2, 4}, {ATTN_BF16, 2, 4}};
    attn_ctx *ctx = new_ctx();
    for (int t = 0; t < 4; t++) {
        const attn_args a = problem(types[t].dtype, 3, 70, 90);
        attn_cost_info cost = {.struct_size = sizeof cost};
        CHECK_INT(attn_cost(ctx, &a, &cost, NULL), ATTN_OK);
        const double q = 3 * 6 * 70 * 40, k = 3 * 2 * 90 * 40, v = 3 * 2 * 90 * 24,
                     out = 3 * 6 * 70 * 24;
        CHECK_NEAR(cost.bytes_io, (q + k + v + out) * types[t].element, 0);
        CHECK_NEAR(cost.bytes_dense, 3. * 6 * 70 * 90 * types[t].weight, 0);
    }
    attn_ctx_destroy(ctx);
}

static void run_serially(void *user, int n_workers, void (*work)(void *arg, int worker),
                         void *arg) {
    (void)user;
    for (int w = 0; w < n_workers; w++) work(arg, w);
}

TEST(scratch_is_what_forward_asks_for) {
    attn_ctx *ctx = NULL;
    attn_ctx_options o;
    attn_ctx_options_init(&o);
    o.threads = 3;
    o.pool.run = run_serially;
    CHECK_INT(attn_ctx_create(&o, &ctx, NULL), ATTN_OK);
    for (int64_t n = 0; n < 300; n += 37) {
        static float data[6 * 300 * 40];
        attn_args a = problem(ATTN_F32, 1, n, 90);
        attn_cost_info cost = {.struct_size = sizeof cost};
        size_t bytes = 0;
        a.q.data = a.k.data = a.v.data = data;
        CHECK_INT(attn_forward_workspace(ctx, &a, &bytes, NULL), ATTN_OK);
        CHECK_INT(attn_cost(ctx, &a, &cost, NULL), ATTN_OK);
        CHECK_NEAR(cost.bytes_scratch, (double)bytes, 0);
    }
    attn_ctx_destroy(ctx);
}

TEST(problem_without_rows_or_keys_costs_nothing) {
    attn_ctx *ctx = new_ctx();
    static const int64_t shapes[][3] = {{0, 5, 5}, {2, 0, 5}, {2, 5, 0}, {0, 0, 0}};
    for (int n = 0; n < 4; n++) {
        attn_args a = problem(ATTN_F32, shapes[n][0], shapes[n][1], shapes[n][2]);
        attn_cost_info cost = {.struct_size = sizeof cost};
        a.causal = n % 2;
        CHECK_INT(attn_cost(ctx, &a, &cost, NULL), ATTN_OK);
        CHECK_NEAR(cost.pairs, 0, 0);
        CHECK_NEAR(cost.visible_pairs, 0, 0);
        CHECK_NEAR(cost.flops + cost.flops_backward + cost.bytes_dense, 0, 0);
    }
    attn_ctx_destroy(ctx);
}

TEST(long_causal_problem_is_counted_exactly) {
    attn_ctx *ctx = new_ctx();
    const double n = 300000;
    attn_args a = problem(ATTN_F32, 1, (int64_t)n, (int64_t)n);
    attn_cost_info cost = {.struct_size = sizeof cost};
    a.causal = 1;
    CHECK_INT(attn_cost(ctx, &a, &cost, NULL), ATTN_OK);
    CHECK_NEAR(cost.pairs, 6 * n * n, 0);
    CHECK_NEAR(cost.visible_pairs, 6 * n * (n + 1) / 2, 0);
    attn_ctx_destroy(ctx);
}
