/* SPDX-License-Identifier: Apache-2.0 */
/* test_inspect.c - attn_inspect(): its statistics of rows and keys agree with the weights it
 * returns, for any thread count, and invalid requests are rejected. The weights and scores
 * themselves are checked against independent data in tests/golden/. */
#include "check.h"
#include "random.h"

#include <attn/attn.h>

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { B = 2, H = 4, H_KV = 2, N_Q = 37, N_K = 29, D = 5, TOP = 4 };
enum { PAIRS = B * H * N_Q * N_K, ROWS = B * H * N_Q, KEYS = B * H * N_K };

/* A problem with causal rule, mask, ALiBi, lengths and softcap, and room for every view. */
typedef struct scene {
    attn_ctx *ctx;
    attn_args args;
    attn_inspection what;
    double q[B * H * N_Q * D], k[B * H_KV * N_K * D], v[B * H_KV * N_K * D];
    uint8_t mask[N_Q * N_K];
    double slopes[H];
    int64_t len_q[B], len_k[B];
    double raw[PAIRS], capped[PAIRS], biased[PAIRS], weights[PAIRS];
    double entropy[ROWS], top_weight[ROWS * TOP], received[KEYS];
    int64_t top_key[ROWS * TOP];
} scene;

static void fill(double *x, size_t n, uint64_t seed) {
    random_stream r = random_begin(seed, 0);
    for (size_t i = 0; i < n; i++) x[i] = random_between(&r, -2, 2);
}

static void scene_views(scene *s) {
    attn_inspection *w = &s->what;
    attn_inspection_init(w);
    w->raw = attn_tensor_bhsd(s->raw, ATTN_F64, B, H, N_Q, N_K);
    w->capped = attn_tensor_bhsd(s->capped, ATTN_F64, B, H, N_Q, N_K);
    w->biased = attn_tensor_bhsd(s->biased, ATTN_F64, B, H, N_Q, N_K);
    w->weights = attn_tensor_bhsd(s->weights, ATTN_F64, B, H, N_Q, N_K);
    w->entropy = attn_tensor_bhsd(s->entropy, ATTN_F64, B, H, N_Q, 1);
    w->top_weight = attn_tensor_bhsd(s->top_weight, ATTN_F64, B, H, N_Q, TOP);
    w->top_key = attn_tensor_bhsd(s->top_key, ATTN_I64, B, H, N_Q, TOP);
    w->received = attn_tensor_bhsd(s->received, ATTN_F64, B, H, 1, N_K);
}

/* NULL if this machine has no threads to start. */
static scene *scene_begin(int threads) {
    scene *s = calloc(1, sizeof *s);
    attn_ctx_options options;
    attn_ctx_options_init(&options);
    options.threads = threads;
    const attn_status status = s ? attn_ctx_create(&options, &s->ctx, NULL) : ATTN_E_MEMORY;
    if (status == ATTN_E_THREADS && threads > 1) {
        free(s);
        return NULL;
    }
    if (status != ATTN_OK) abort();
    fill(s->q, B * H * N_Q * D, 1);
    fill(s->k, B * H_KV * N_K * D, 2);
    fill(s->v, B * H_KV * N_K * D, 3);
    for (int e = 0; e < N_Q * N_K; e++) s->mask[e] = e % 3 != 0;
    attn_args_init(&s->args);
    s->args.q = attn_tensor_bhsd(s->q, ATTN_F64, B, H, N_Q, D);
    s->args.k = attn_tensor_bhsd(s->k, ATTN_F64, B, H_KV, N_K, D);
    s->args.v = attn_tensor_bhsd(s->v, ATTN_F64, B, H_KV, N_K, D);
    s->args.mask = attn_tensor_bhsd(s->mask, ATTN_BOOL, 1, 1, N_Q, N_K);
    attn_alibi_slopes(H, s->slopes, NULL);
    s->args.alibi = s->slopes;
    s->args.causal = 1;
    s->args.softcap = 3;
    s->len_q[0] = N_Q, s->len_q[1] = N_Q - 4;
    s->len_k[0] = N_K, s->len_k[1] = N_K - 6;
    s->args.len_q = s->len_q;
    s->args.len_k = s->len_k;
    scene_views(s);
    return s;
}

static void scene_end(scene *s) {
    attn_ctx_destroy(s->ctx);
    free(s);
}

static attn_status scene_run(scene *s) { return attn_inspect(s->ctx, &s->args, &s->what, NULL); }

/* ----------------------------------------------------------------- facts about one inspection */

TEST(weights_of_a_row_sum_to_one_or_zero) {
    scene *s = scene_begin(1);
    int empty = 0;
    CHECK_INT(scene_run(s), ATTN_OK);
    for (int r = 0; r < ROWS; r++) {
        double sum = 0;
        for (int j = 0; j < N_K; j++) sum += s->weights[r * N_K + j];
        empty += sum == 0;
        if (sum != 0) CHECK_NEAR(sum, 1, 1e-14);
    }
    CHECK(empty > 0 && empty < ROWS / 2); /* the scene has both kinds */
    scene_end(s);
}

TEST(entropy_is_minus_the_sum_of_w_ln_w) {
    scene *s = scene_begin(1);
    CHECK_INT(scene_run(s), ATTN_OK);
    for (int r = 0; r < ROWS; r++) {
        long double want = 0;
        for (int j = 0; j < N_K; j++) {
            const long double w = (long double)s->weights[r * N_K + j];
            if (w > 0) want -= w * logl(w);
        }
        CHECK_NEAR(s->entropy[r], (double)want, 1e-14);
    }
    scene_end(s);
}

enum { EXTREME_KEYS = 4 };

/* The entropy of one row with these scores; weights (4). sink NULL: none. */
static double row_entropy(const double *scores, double temperature, const double *sink,
                          double *weights) {
    double q[1] = {1}, k[EXTREME_KEYS], v[EXTREME_KEYS] = {0}, entropy = NAN;
    attn_ctx *ctx = NULL;
    attn_args args;
    attn_inspection what;
    memcpy(k, scores, sizeof k);
    attn_args_init(&args);
    attn_inspection_init(&what);
    args.q = attn_tensor_bhsd(q, ATTN_F64, 1, 1, 1, 1);
    args.k = attn_tensor_bhsd(k, ATTN_F64, 1, 1, EXTREME_KEYS, 1);
    args.v = attn_tensor_bhsd(v, ATTN_F64, 1, 1, EXTREME_KEYS, 1);
    args.scale = 1;
    args.temperature = temperature;
    args.sinks = sink;
    what.weights = attn_tensor_bhsd(weights, ATTN_F64, 1, 1, 1, EXTREME_KEYS);
    what.entropy = attn_tensor_bhsd(&entropy, ATTN_F64, 1, 1, 1, 1);
    if (attn_ctx_create(NULL, &ctx, NULL) != ATTN_OK) abort();
    if (attn_inspect(ctx, &args, &what, NULL) != ATTN_OK) abort();
    attn_ctx_destroy(ctx);
    return entropy;
}

/* Against the sum of -w ln w. A weight is known to some 2^-52 of itself, so each term of the sum to
 * as much of w - w ln w: there is no room for a difference that cancels. */
static void expect_entropy(const double *scores, double temperature, const double *sink) {
    double w[EXTREME_KEYS], want = 0, room = 0;
    const double entropy = row_entropy(scores, temperature, sink, w);
    for (int j = 0; j < EXTREME_KEYS; j++) {
        if (w[j] == 0) continue;
        want -= w[j] * log(w[j]);
        room += 4 * 0x1p-52 * (w[j] - w[j] * log(w[j]));
    }
    CHECK_MSG(entropy >= 0 && fabs(entropy - want) <= room,
              "scores %g %g %g %g, temperature %g, sink %g: entropy %.17g, expected %.17g",
              scores[0], scores[1], scores[2], scores[3], temperature, sink ? *sink : -INFINITY,
              entropy, want);
}

TEST(entropy_of_extreme_rows_is_the_sum_and_never_below_zero) {
    const double inf = INFINITY;
    const double rows[][EXTREME_KEYS] = {{-inf, -inf, -inf, -inf},
                                         {5, -inf, -inf, -inf},
                                         {-inf, 1e308, -inf, -inf},
                                         {0, 0, 0, 0},
                                         {1, 2, 3, 4},
                                         {0, -20, -36, -37},
                                         {0, -36.7, -36.8, -40},
                                         {0, -700, -740, -750},
                                         {1e308, -1e308, 0, 1e308},
                                         {inf, 3, inf, -1e308},
                                         {inf, -inf, 1, 2},
                                         {-1e308, -1.7e308, -1e308, -1e307},
                                         {1e-300, 0, -1e-300, 2e-300},
                                         {0, -1e-9, -1e-9, -50},
                                         {-3, -3, -3, 700}};
    const double temperatures[] = {1, 0.5, 1e-300, 1e300, 1000};
    const double sinks[] = {-inf, -1e308, -40, 0, 3, 50, 800, 1e308};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        for (size_t t = 0; t < sizeof temperatures / sizeof *temperatures; t++) {
            expect_entropy(rows[r], temperatures[t], NULL);
            for (size_t k = 0; k < sizeof sinks / sizeof *sinks; k++)
                expect_entropy(rows[r], temperatures[t], &sinks[k]);
        }
    }
}

TEST(entropy_is_exact_where_the_row_is_simple) {
    const double inf = INFINITY;
    double w[EXTREME_KEYS];
    CHECK_NEAR(row_entropy((double[]){-inf, -inf, -inf, -inf}, 1, NULL, w), 0, 0);
    CHECK_NEAR(row_entropy((double[]){-inf, 7, -inf, -inf}, 1, NULL, w), 0, 0);
    CHECK_NEAR(row_entropy((double[]){-3, -1e308, 1e308, 0}, 1, NULL, w), 0, 0);
    CHECK_NEAR(row_entropy((double[]){inf, 3, inf, -inf}, 1, NULL, w), log(2), 0);
    CHECK_NEAR(row_entropy((double[]){-9, -9, -9, -9}, 1, NULL, w), log(4), 0);
    CHECK(isnan(row_entropy((double[]){1, NAN, 2, 3}, 1, NULL, w)));
}

/* Position of the largest not yet taken weight > -1 among visible keys, lowest key first, or -1. */
static int next_best(const scene *s, int row, const uint8_t *taken) {
    int best = -1;
    for (int j = 0; j < N_K; j++) {
        const int e = row * N_K + j;
        if (taken[j] || s->biased[e] == -INFINITY) continue;
        if (best < 0 || s->weights[e] > s->weights[row * N_K + best]) best = j;
    }
    return best;
}

TEST(top_is_a_sort_of_the_visible_weights_padded_with_minus_one) {
    scene *s = scene_begin(1);
    CHECK_INT(scene_run(s), ATTN_OK);
    for (int r = 0; r < ROWS; r++) {
        uint8_t taken[N_K] = {0};
        for (int t = 0; t < TOP; t++) {
            const int want = next_best(s, r, taken);
            CHECK_INT(s->top_key[r * TOP + t], want);
            CHECK_NEAR(s->top_weight[r * TOP + t], want < 0 ? 0 : s->weights[r * N_K + want], 0);
            if (want >= 0) taken[want] = 1;
        }
    }
    scene_end(s);
}

TEST(received_is_the_column_sum_of_the_weights) {
    scene *s = scene_begin(1);
    CHECK_INT(scene_run(s), ATTN_OK);
    for (int bh = 0; bh < B * H; bh++) {
        for (int j = 0; j < N_K; j++) {
            double sum = 0;
            for (int i = 0; i < N_Q; i++) sum += s->weights[(bh * N_Q + i) * N_K + j];
            CHECK_NEAR(s->received[bh * N_K + j], sum, 0);
        }
    }
    scene_end(s);
}

TEST(masked_pairs_show_raw_scores_but_no_weight) {
    scene *s = scene_begin(1);
    const int e = 36 * N_K + 0; /* batch 0, head 0, last row, key 0: 36 * 29 is divisible by 3 */
    double dot = 0;
    CHECK_INT(scene_run(s), ATTN_OK);
    for (int d = 0; d < D; d++) dot += s->q[36 * D + d] * s->k[d];
    CHECK_INT(s->mask[e], 0);
    CHECK_NEAR(s->raw[e], dot / sqrt(D), 1e-14);
    CHECK_NEAR(s->capped[e], 3 * tanh(dot / sqrt(D) / 3), 1e-14);
    CHECK_NEAR(s->biased[e], -INFINITY, 0);
    CHECK_NEAR(s->weights[e], 0, 0);
    scene_end(s);
}

TEST(padding_is_minus_infinity_in_every_stage_of_the_scores) {
    scene *s = scene_begin(1);
    for (int j = N_K - 6; j < N_K; j++) s->k[(H_KV * N_K + j) * D] = NAN; /* batch 1, padding */
    CHECK_INT(scene_run(s), ATTN_OK);
    for (int e = PAIRS / 2; e < PAIRS; e++) { /* batch 1 */
        const bool padded = e % N_K >= N_K - 6 || e / N_K % N_Q >= N_Q - 4;
        if (!padded) continue;
        CHECK_NEAR(s->raw[e], -INFINITY, 0);
        CHECK_NEAR(s->capped[e], -INFINITY, 0);
        CHECK_NEAR(s->biased[e], -INFINITY, 0);
        CHECK_NEAR(s->weights[e], 0, 0);
    }
    scene_end(s);
}

TEST(weights_are_before_dropout) {
    scene *s = scene_begin(1), *dropped = scene_begin(1);
    dropped->args.dropout = 0.5;
    CHECK_INT(scene_run(s), ATTN_OK);
    CHECK_INT(scene_run(dropped), ATTN_OK);
    CHECK(memcmp(s->weights, dropped->weights, sizeof s->weights) == 0);
    scene_end(dropped);
    scene_end(s);
}

/* -------------------------------------------------------------------------- bits and layouts */

/* With received the work is split by heads, without it by blocks of rows: both must not matter. */
static void expect_same_bits(int threads, bool with_received) {
    scene *many = scene_begin(threads);
    if (!many) SKIP("no threads on this machine");
    scene *one = scene_begin(1);
    if (!with_received) many->what.received.data = NULL;
    CHECK_INT(scene_run(one), ATTN_OK);
    CHECK_INT(scene_run(many), ATTN_OK);
    CHECK(memcmp(one->raw, many->raw, sizeof one->raw) == 0);
    CHECK(memcmp(one->capped, many->capped, sizeof one->capped) == 0);
    CHECK(memcmp(one->biased, many->biased, sizeof one->biased) == 0);
    CHECK(memcmp(one->weights, many->weights, sizeof one->weights) == 0);
    CHECK(memcmp(one->entropy, many->entropy, sizeof one->entropy) == 0);
    CHECK(memcmp(one->top_weight, many->top_weight, sizeof one->top_weight) == 0);
    CHECK(memcmp(one->top_key, many->top_key, sizeof one->top_key) == 0);
    if (with_received) CHECK(memcmp(one->received, many->received, sizeof one->received) == 0);
    scene_end(many);
    scene_end(one);
}

TEST(two_threads_give_the_bits_of_one) { expect_same_bits(2, true); }
TEST(three_threads_give_the_bits_of_one) { expect_same_bits(3, true); }
TEST(three_threads_by_rows_give_the_bits_of_one) { expect_same_bits(3, false); }

TEST(reduced_views_alone_equal_those_beside_the_weights) {
    scene *all = scene_begin(1), *few = scene_begin(1);
    few->what.raw.data = few->what.capped.data = NULL;
    few->what.biased.data = few->what.weights.data = NULL;
    CHECK_INT(scene_run(all), ATTN_OK);
    CHECK_INT(scene_run(few), ATTN_OK);
    CHECK(memcmp(all->entropy, few->entropy, sizeof all->entropy) == 0);
    CHECK(memcmp(all->top_key, few->top_key, sizeof all->top_key) == 0);
    CHECK(memcmp(all->received, few->received, sizeof all->received) == 0);
    scene_end(few);
    scene_end(all);
}

TEST(views_may_be_f32_with_any_strides) {
    scene *s = scene_begin(1);
    static float turned[PAIRS]; /* keys before rows */
    s->what.capped = attn_tensor_bhsd(turned, ATTN_F32, B, H, N_Q, N_K);
    s->what.capped.stride[2] = 1;
    s->what.capped.stride[3] = N_Q;
    CHECK_INT(scene_run(s), ATTN_OK);
    for (int e = 0; e < PAIRS; e++) {
        const int bh = e / (N_Q * N_K), i = e / N_K % N_Q, j = e % N_K;
        const double want = 3 * tanh(s->raw[e] / 3); /* -inf beyond the lengths */
        const float shown = turned[(bh * N_K + j) * N_Q + i];
        if (s->raw[e] == -INFINITY) {
            CHECK_NEAR(shown, -INFINITY, 0);
        } else {
            CHECK_NEAR(shown, want, 2e-7);
        }
    }
    scene_end(s);
}

TEST(more_top_places_than_keys_are_padded) {
    double q[1] = {1}, k[2] = {1, 2}, v[2] = {0, 0}, weight[4];
    int64_t key[4];
    attn_ctx *ctx = NULL;
    attn_args args;
    attn_inspection what;
    attn_args_init(&args);
    attn_inspection_init(&what);
    args.q = attn_tensor_bhsd(q, ATTN_F64, 1, 1, 1, 1);
    args.k = attn_tensor_bhsd(k, ATTN_F64, 1, 1, 2, 1);
    args.v = attn_tensor_bhsd(v, ATTN_F64, 1, 1, 2, 1);
    what.top_weight = attn_tensor_bhsd(weight, ATTN_F64, 1, 1, 1, 4);
    what.top_key = attn_tensor_bhsd(key, ATTN_I64, 1, 1, 1, 4);
    CHECK_INT(attn_ctx_create(NULL, &ctx, NULL), ATTN_OK);
    CHECK_INT(attn_inspect(ctx, &args, &what, NULL), ATTN_OK);
    attn_ctx_destroy(ctx);
    const int64_t want[4] = {1, 0, -1, -1};
    for (int t = 0; t < 4; t++) CHECK_INT(key[t], want[t]);
    CHECK_NEAR(weight[0], exp(1) / (1 + exp(1)), 1e-15);
    CHECK_NEAR(weight[1], 1 / (1 + exp(1)), 1e-15);
    CHECK_NEAR(weight[2], 0, 0);
    CHECK_NEAR(weight[3], 0, 0);
}

TEST(equal_weights_rank_by_lower_key) {
    scene *s = scene_begin(1);
    memset(s->q, 0, sizeof s->q);
    s->args.alibi = NULL;
    s->args.mask = (attn_tensor){0};
    s->args.offset = N_K; /* everything visible: keys 0, 1, 2, 3 lead in every row of batch 0 */
    CHECK_INT(scene_run(s), ATTN_OK);
    for (int e = 0; e < H * N_Q * TOP; e++) CHECK_INT(s->top_key[e], e % TOP);
    scene_end(s);
}

TEST(packed_keys_keep_their_packed_index) {
    double q[3] = {1, 1, 1}, k[5] = {0, 9, 9, 0, 9}, v[5] = {0}, weights[15], received[5];
    int64_t key[3];
    const int64_t cu_q[3] = {0, 1, 3}, cu_k[3] = {0, 2, 5};
    attn_ctx *ctx = NULL;
    attn_args args;
    attn_inspection what;
    attn_args_init(&args);
    attn_inspection_init(&what);
    args.q = attn_tensor_bhsd(q, ATTN_F64, 1, 1, 3, 1);
    args.k = attn_tensor_bhsd(k, ATTN_F64, 1, 1, 5, 1);
    args.v = attn_tensor_bhsd(v, ATTN_F64, 1, 1, 5, 1);
    args.cu_q = cu_q;
    args.cu_k = cu_k;
    args.n_seqs = 2;
    what.weights = attn_tensor_bhsd(weights, ATTN_F64, 1, 1, 3, 5);
    what.top_key = attn_tensor_bhsd(key, ATTN_I64, 1, 1, 3, 1);
    what.received = attn_tensor_bhsd(received, ATTN_F64, 1, 1, 1, 5);
    CHECK_INT(attn_ctx_create(NULL, &ctx, NULL), ATTN_OK);
    CHECK_INT(attn_inspect(ctx, &args, &what, NULL), ATTN_OK);
    attn_ctx_destroy(ctx);
    const double a = 1 / (1 + exp(9)), b = 1 / (2 * exp(9) + 1), c = exp(9) * b;
    const double want[15] = {a, 1 - a, 0, 0, 0, 0, 0, c, b, c, 0, 0, c, b, c};
    for (int e = 0; e < 15; e++) CHECK_NEAR(weights[e], want[e], 1e-15);
    for (int j = 0; j < 5; j++) {
        CHECK_NEAR(received[j], want[j] + want[5 + j] + want[10 + j], 1e-15);
    }
    CHECK_INT(key[0], 1);
    CHECK_INT(key[1], 2);
    CHECK_INT(key[2], 2);
}

/* --------------------------------------------------------------------------------- refusals */

/* The scene as it stands must be refused with this status, and weights stay untouched. */
static void expect_refusal(scene *s, attn_status want) {
    for (int e = 0; e < PAIRS; e++) s->weights[e] = 42;
    const attn_status status = scene_run(s);
    int changed = 0;
    for (int e = 0; e < PAIRS; e++) changed += s->weights[e] != 42;
    scene_end(s);
    CHECK_STR(attn_status_name(status), attn_status_name(want));
    CHECK_INT(changed, 0);
}

TEST(missing_pointers_are_refused) {
    scene *s = scene_begin(1);
    CHECK_INT(attn_inspect(NULL, &s->args, &s->what, NULL), ATTN_E_NULL);
    CHECK_INT(attn_inspect(s->ctx, NULL, &s->what, NULL), ATTN_E_NULL);
    CHECK_INT(attn_inspect(s->ctx, &s->args, NULL, NULL), ATTN_E_NULL);
    scene_end(s);
}

TEST(unknown_struct_size_is_refused) {
    scene *s = scene_begin(1);
    s->what.struct_size = 8;
    expect_refusal(s, ATTN_E_STRUCT);
}

TEST(wrong_shape_of_a_view_is_refused) {
    scene *s = scene_begin(1);
    s->what.received.shape[2] = N_Q;
    expect_refusal(s, ATTN_E_SHAPE);
}

TEST(different_top_counts_are_refused) {
    scene *s = scene_begin(1);
    s->what.top_key.shape[3] = TOP - 1;
    expect_refusal(s, ATTN_E_SHAPE);
}

TEST(top_of_zero_keys_is_refused) {
    scene *s = scene_begin(1);
    s->what.top_key.shape[3] = s->what.top_weight.shape[3] = 0;
    expect_refusal(s, ATTN_E_SHAPE);
}

TEST(half_precision_views_are_refused) {
    scene *s = scene_begin(1);
    s->what.raw.dtype = ATTN_F16;
    expect_refusal(s, ATTN_E_DTYPE);
}

TEST(top_keys_as_floats_are_refused) {
    scene *s = scene_begin(1);
    s->what.top_key.dtype = ATTN_F64;
    expect_refusal(s, ATTN_E_DTYPE);
}

TEST(rows_in_one_place_are_refused) {
    scene *s = scene_begin(1);
    s->what.entropy.stride[2] = 0;
    expect_refusal(s, ATTN_E_STRIDE);
}

TEST(views_over_inputs_are_refused) {
    scene *s = scene_begin(1);
    s->what.entropy.data = s->q;
    expect_refusal(s, ATTN_E_OVERLAP);
}

TEST(views_over_each_other_are_refused) {
    scene *s = scene_begin(1);
    s->what.raw.data = s->capped;
    expect_refusal(s, ATTN_E_OVERLAP);
}

TEST(nothing_wanted_is_fine) {
    scene *s = scene_begin(1);
    attn_inspection_init(&s->what);
    CHECK_INT(scene_run(s), ATTN_OK);
    scene_end(s);
}
