/* SPDX-License-Identifier: Apache-2.0 */
/* test_semantics.c - the rules of attn_args on problems small enough to solve by hand: head size 1,
 * scale 1 and q = 1, so that the scores of a row are the keys themselves. Every fact is checked for
 * the oracle and for the engine in f64; expected values are closed forms written in the test. */
#include "check.h"
#include "core/half.h"

#include <attn/attn.h>

#include <math.h>
#include <string.h>

enum { MOST = 16 };

typedef struct toy {
    attn_args args;
    double q[MOST], k[MOST], v[MOST];
    double out[MOST], lse[MOST];
} toy;

/* B batch entries of n_q queries at 1 and n_k keys at 0 with values 0, 1, 2, ... */
static void toy_init(toy *t, int64_t B, int64_t n_q, int64_t n_k) {
    memset(t, 0, sizeof *t);
    attn_args_init(&t->args);
    for (int e = 0; e < MOST; e++) {
        t->q[e] = 1;
        t->v[e] = n_k ? e % (int)n_k : 0;
    }
    t->args.q = attn_tensor_bhsd(t->q, ATTN_F64, B, 1, n_q, 1);
    t->args.k = attn_tensor_bhsd(t->k, ATTN_F64, B, 1, n_k, 1);
    t->args.v = attn_tensor_bhsd(t->v, ATTN_F64, B, 1, n_k, 1);
    t->args.scale = 1;
}

static attn_status toy_run(toy *t, bool engine) {
    const int64_t *n = t->args.q.shape;
    const attn_tensor out = attn_tensor_bhsd(t->out, ATTN_F64, n[0], n[1], n[2], 1);
    const attn_tensor lse = attn_tensor_bhsd(t->lse, ATTN_F64, n[0], n[1], n[2], 1);
    attn_ctx *ctx = NULL;
    for (int e = 0; e < MOST; e++) t->out[e] = t->lse[e] = -77;
    if (!engine) return attn_reference(&t->args, &out, &lse, NULL);
    if (attn_ctx_create(NULL, &ctx, NULL) != ATTN_OK) return ATTN_E_MEMORY;
    const attn_status status = attn_forward(ctx, &t->args, &out, &lse, NULL);
    attn_ctx_destroy(ctx);
    return status;
}

/* Both engines must give these outputs and log-sum-exps (either may be NULL), one per row. */
static void expect(toy *t, const double *out, const double *lse) {
    const int64_t rows = t->args.q.shape[0] * t->args.q.shape[1] * t->args.q.shape[2];
    for (int engine = 0; engine < 2; engine++) {
        const char *name = engine ? "attn_forward" : "attn_reference";
        const attn_status status = toy_run(t, engine);
        CHECK_MSG(status == ATTN_OK, "%s: %s", name, attn_status_name(status));
        for (int64_t r = 0; r < rows; r++) {
            CHECK_MSG(!out || check_is_near(t->out[r], out[r], 1e-14),
                      "%s: out[%d] is %.17g, expected %.17g", name, (int)r, t->out[r], out[r]);
            CHECK_MSG(!lse || check_is_near(t->lse[r], lse[r], 1e-14),
                      "%s: lse[%d] is %.17g, expected %.17g", name, (int)r, t->lse[r], lse[r]);
        }
    }
}

static void expect_row(toy *t, double out, double lse) { expect(t, &out, &lse); }

/* --------------------------------------------------------------------------- order of the steps */

TEST(equal_scores_give_the_mean_of_the_values) {
    toy t;
    toy_init(&t, 1, 1, 5);
    expect_row(&t, 2, log(5));
}

TEST(default_scale_is_one_over_the_root_of_d_k) {
    toy t;
    toy_init(&t, 1, 1, 2);
    const double q[4] = {1, 1, 1, 1}, k[8] = {0, 0, 0, 0, 0.5, 0.5, 0.5, 0.5}; /* q.k = 0, 2 */
    t.args.q = attn_tensor_bhsd(q, ATTN_F64, 1, 1, 1, 4);
    t.args.k = attn_tensor_bhsd(k, ATTN_F64, 1, 1, 2, 4);
    t.args.scale = ATTN_SCALE_AUTO;
    expect_row(&t, exp(1) / (1 + exp(1)), log(1 + exp(1)));
}

TEST(temperature_divides_the_biased_score) {
    toy t;
    toy_init(&t, 1, 1, 2);
    const double bias[2] = {0, 2 * log(3)};
    t.args.bias = attn_tensor_bhsd(bias, ATTN_F64, 1, 1, 1, 2);
    t.args.temperature = 2;
    expect_row(&t, 0.75, log(4));
}

TEST(small_temperature_lets_ties_share_equally) {
    toy t;
    toy_init(&t, 1, 1, 4);
    t.k[1] = t.k[3] = 1;
    t.args.temperature = 1e-6;
    expect(&t, (double[]){2}, NULL);
}

TEST(softcap_comes_before_bias) {
    toy t;
    toy_init(&t, 1, 1, 2);
    const double bias[2] = {-2, 0};
    t.k[0] = 1000; /* capped to 2, so the bias makes it equal to key 1 */
    t.args.softcap = 2;
    t.args.bias = attn_tensor_bhsd(bias, ATTN_F64, 1, 1, 1, 2);
    expect_row(&t, 0.5, log(2));
}

TEST(alibi_counts_from_the_position_of_the_query) {
    toy t;
    toy_init(&t, 1, 1, 3); /* bottom-right: the only query stands at key 2 */
    const double slope = log(2);
    t.args.alibi = &slope;
    expect_row(&t, (0 * 0.25 + 1 * 0.5 + 2 * 1.0) / 1.75, log(1.75));
}

TEST(alibi_is_symmetric_around_the_position) {
    toy t;
    toy_init(&t, 1, 1, 3);
    const double slope = log(2);
    t.args.alibi = &slope;
    t.args.offset = 1;
    expect_row(&t, 1, log(2));
}

/* --------------------------------------------------------------------------------------- sinks */

TEST(sink_joins_the_denominator_only) {
    toy t;
    toy_init(&t, 1, 1, 2);
    const double sink = log(2);
    t.args.sinks = &sink;
    expect_row(&t, 0.25, log(4));
}

TEST(sink_is_not_divided_by_temperature) {
    toy t;
    toy_init(&t, 1, 1, 2);
    const double sink = log(2);
    t.args.sinks = &sink;
    t.args.temperature = 5;
    expect_row(&t, 0.25, log(4));
}

TEST(sink_far_above_the_scores_takes_all) {
    toy t;
    toy_init(&t, 1, 1, 2);
    const double sink = 2000;
    t.args.sinks = &sink;
    expect_row(&t, 0, 2000);
}

TEST(sink_of_minus_infinity_is_no_sink) {
    toy t;
    toy_init(&t, 1, 1, 2);
    const double sink = -INFINITY;
    t.args.sinks = &sink;
    expect_row(&t, 0.5, log(2));
}

TEST(row_that_sees_nothing_is_zero_and_its_lse_the_sink) {
    toy t;
    toy_init(&t, 1, 1, 2);
    const uint8_t mask[2] = {0, 0};
    const double sink = 1;
    t.args.mask = attn_tensor_bhsd(mask, ATTN_BOOL, 1, 1, 1, 2);
    t.args.sinks = &sink;
    expect_row(&t, 0, sink);
}

TEST(no_keys_at_all_give_zero) {
    toy t;
    toy_init(&t, 1, 2, 0);
    expect(&t, (double[]){0, 0}, (double[]){-INFINITY, -INFINITY});
}

/* -------------------------------------------------------------------------------- infinities */

TEST(scores_at_plus_infinity_share_the_row_equally) {
    toy t;
    toy_init(&t, 1, 1, 4);
    const double bias[4] = {0, INFINITY, 5, INFINITY};
    t.args.bias = attn_tensor_bhsd(bias, ATTN_F64, 1, 1, 1, 4);
    expect_row(&t, 2, INFINITY);
}

TEST(plus_infinity_ignores_the_sink) {
    toy t;
    toy_init(&t, 1, 1, 4);
    const double bias[4] = {0, INFINITY, 5, INFINITY}, sink = 7;
    t.args.bias = attn_tensor_bhsd(bias, ATTN_F64, 1, 1, 1, 4);
    t.args.sinks = &sink;
    expect_row(&t, 2, INFINITY);
}

TEST(bias_of_minus_infinity_masks) {
    toy t;
    toy_init(&t, 1, 1, 3);
    const double bias[3] = {-INFINITY, 0, 0};
    t.args.bias = attn_tensor_bhsd(bias, ATTN_F64, 1, 1, 1, 3);
    expect_row(&t, 1.5, log(2));
}

/* Key 0 of three holds poison; args must hide it: keys 1 and 2 share. */
static void expect_no_poison(toy *t) {
    static const double poison[] = {NAN, INFINITY, -INFINITY};
    for (int p = 0; p < 3; p++) {
        t->k[0] = t->v[0] = poison[p];
        expect_row(t, 1.5, log(2));
    }
}

TEST(poison_behind_a_mask_stays_there) {
    toy t;
    toy_init(&t, 1, 1, 3);
    const uint8_t mask[3] = {0, 1, 1};
    t.args.mask = attn_tensor_bhsd(mask, ATTN_BOOL, 1, 1, 1, 3);
    expect_no_poison(&t);
}

TEST(poison_behind_a_bias_of_minus_infinity_stays_there) {
    toy t;
    toy_init(&t, 1, 1, 3);
    const double bias[3] = {-INFINITY, 0, 0};
    t.args.bias = attn_tensor_bhsd(bias, ATTN_F64, 1, 1, 1, 3);
    expect_no_poison(&t);
}

TEST(poison_outside_the_window_stays_there) {
    toy t;
    toy_init(&t, 1, 1, 3);
    t.args.window_left = 1;
    expect_no_poison(&t);
}

TEST(poison_outside_the_pattern_stays_there) {
    toy t;
    toy_init(&t, 1, 1, 3);
    const uint8_t allow[3] = {0, 1, 1};
    attn_pattern *pattern = NULL;
    CHECK_INT(attn_pattern_dense(1, 3, allow, NULL, &pattern, NULL), ATTN_OK);
    t.args.pattern = pattern;
    expect_no_poison(&t);
    attn_pattern_destroy(pattern);
}

TEST(poison_in_the_future_or_in_padding_stays_there) {
    toy t;
    toy_init(&t, 1, 2, 4);
    const int64_t len_k = 3;
    t.k[2] = t.v[2] = t.k[3] = t.v[3] = NAN;
    t.args.causal = 1;
    t.args.offset = ATTN_OFFSET_TOP_LEFT;
    t.args.len_k = &len_k;
    expect(&t, (double[]){0, 0.5}, (double[]){0, log(2)});
}

TEST(visible_nan_makes_its_row_nan_and_no_other) {
    toy t;
    toy_init(&t, 1, 2, 2);
    t.k[1] = NAN;
    t.args.causal = 1;
    for (int engine = 0; engine < 2; engine++) {
        CHECK_INT(toy_run(&t, engine), ATTN_OK);
        CHECK_NEAR(t.out[0], 0, 0);
        CHECK_NEAR(t.lse[0], 0, 0);
        CHECK(isnan(t.out[1]) && isnan(t.lse[1]));
    }
}

/* ---------------------------------------------------------------------------------- visibility */

TEST(window_counts_keys_on_each_side_of_the_position) {
    toy t;
    toy_init(&t, 1, 3, 6); /* positions 3, 4, 5 */
    t.args.window_left = 2;
    t.args.window_right = 1;
    expect(&t, (double[]){2.5, 3.5, 4}, (double[]){log(4), log(4), log(3)});
}

TEST(window_of_zero_sees_the_key_itself) {
    toy t;
    toy_init(&t, 1, 3, 3);
    t.args.window_left = t.args.window_right = 0;
    expect(&t, (double[]){0, 1, 2}, (double[]){0, 0, 0});
}

TEST(window_as_wide_as_numbers_go_is_open) {
    toy t;
    toy_init(&t, 1, 1, 3);
    t.args.window_left = t.args.window_right = INT64_MAX;
    expect_row(&t, 1, log(3));
}

TEST(mask_shorter_than_the_keys_masks_the_rest) {
    toy t;
    toy_init(&t, 1, 1, 5);
    const uint8_t mask[2] = {1, 1};
    t.args.mask = attn_tensor_bhsd(mask, ATTN_BOOL, 1, 1, 1, 2);
    expect_row(&t, 0.5, log(2));
}

TEST(bias_shorter_than_the_keys_masks_the_rest) {
    toy t;
    toy_init(&t, 1, 1, 5);
    const float bias[3] = {1, 1, 1};
    t.args.bias = attn_tensor_bhsd(bias, ATTN_F32, 1, 1, 1, 3);
    expect_row(&t, 1, 1 + log(3));
}

TEST(mask_may_repeat_one_element_for_all_keys) {
    toy t;
    toy_init(&t, 1, 2, 3);
    const uint8_t mask[2] = {0, 1}; /* row 0 sees nothing, row 1 everything */
    t.args.mask = attn_tensor_bhsd(mask, ATTN_BOOL, 1, 1, 2, 3);
    t.args.mask.stride[2] = 1;
    t.args.mask.stride[3] = 0;
    expect(&t, (double[]){0, 1}, (double[]){-INFINITY, log(3)});
}

TEST(bias_may_have_any_key_stride) {
    toy t;
    toy_init(&t, 1, 1, 3);
    const double bias[5] = {log(2), 99, 0, 99, log(5)}; /* read backwards: ln 5, 0, ln 2 */
    t.args.bias = attn_tensor_bhsd(bias + 4, ATTN_F64, 1, 1, 1, 3);
    t.args.bias.stride[3] = -2;
    expect_row(&t, (0 * 5 + 1 * 1 + 2 * 2) / 8.0, log(8));
}

TEST(every_part_must_allow_a_key) {
    toy t;
    toy_init(&t, 1, 1, 6);
    const uint8_t mask[6] = {1, 1, 0, 1, 1, 1};
    const double bias[6] = {0, 0, 0, -INFINITY, 0, 0};
    const int64_t len_k = 5;
    t.args.mask = attn_tensor_bhsd(mask, ATTN_BOOL, 1, 1, 1, 6);
    t.args.bias = attn_tensor_bhsd(bias, ATTN_F64, 1, 1, 1, 6);
    t.args.len_k = &len_k;
    t.args.window_left = 3; /* position 4: keys 1 .. 4; left over: 1 and 4 */
    expect_row(&t, 2.5, log(2));
}

TEST(bottom_right_offset_is_taken_from_the_lengths_of_each_batch) {
    toy t;
    toy_init(&t, 2, 2, 4);
    const int64_t len_k[2] = {4, 3}, len_q[2] = {2, 1};
    t.args.len_k = len_k;
    t.args.len_q = len_q;
    t.args.causal = 1; /* batch 0: offset 2; batch 1: offset 2, row 1 is padding */
    expect(&t, (double[]){1, 1.5, 1, 0}, (double[]){log(3), log(4), log(3), -INFINITY});
}

TEST(offsets_are_per_batch) {
    toy t;
    toy_init(&t, 2, 2, 3);
    const int64_t offsets[2] = {-1, 1};
    t.args.offsets = offsets;
    t.args.causal = 1;
    expect(&t, (double[]){0, 0, 0.5, 1}, (double[]){-INFINITY, 0, log(2), log(3)});
}

TEST(causal_with_more_queries_than_keys_leaves_the_first_rows_empty) {
    toy t;
    toy_init(&t, 1, 3, 2);
    t.args.causal = 1;
    expect(&t, (double[]){0, 0, 0.5}, (double[]){-INFINITY, 0, log(2)});
}

/* ------------------------------------------------------------------------------------- packed */

TEST(packed_sequences_see_themselves_only) {
    toy t;
    toy_init(&t, 1, 3, 6);
    const int64_t cu_q[4] = {0, 1, 1, 3}, cu_k[4] = {0, 2, 3, 6};
    t.args.cu_q = cu_q;
    t.args.cu_k = cu_k;
    t.args.n_seqs = 3;
    expect(&t, (double[]){0.5, 4, 4}, (double[]){log(2), log(3), log(3)});
}

TEST(packed_sequences_have_their_own_bottom_right_offset) {
    toy t;
    toy_init(&t, 1, 3, 6);
    const int64_t cu_q[3] = {0, 1, 3}, cu_k[3] = {0, 3, 6};
    t.args.cu_q = cu_q;
    t.args.cu_k = cu_k;
    t.args.n_seqs = 2;
    t.args.causal = 1; /* offsets 2 and 1 */
    expect(&t, (double[]){1, 3.5, 4}, (double[]){log(3), log(2), log(3)});
}

TEST(packed_sequences_index_mask_and_pattern_locally) {
    toy t;
    toy_init(&t, 1, 2, 6);
    const int64_t cu_q[3] = {0, 1, 2}, cu_k[3] = {0, 3, 6};
    const uint8_t mask[6] = {1, 1, 1, 1, 0, 1}, allow[3] = {0, 1, 1};
    attn_pattern *pattern = NULL;
    CHECK_INT(attn_pattern_dense(1, 3, allow, NULL, &pattern, NULL), ATTN_OK);
    t.args.cu_q = cu_q;
    t.args.cu_k = cu_k;
    t.args.n_seqs = 2;
    t.args.mask = attn_tensor_bhsd(mask, ATTN_BOOL, 2, 1, 1, 3);
    t.args.pattern = pattern;
    expect(&t, (double[]){1.5, 5}, (double[]){log(2), 0});
    attn_pattern_destroy(pattern);
}

/* ------------------------------------------------------------------------------------- dropout */

TEST(dropout_drops_and_rescales_what_attn_dropout_keep_says) {
    toy t;
    toy_init(&t, 2, 1, 8);
    double want[2] = {0, 0};
    t.args.dropout = 0.5;
    t.args.seed = 1234;
    for (int b = 0; b < 2; b++) {
        for (int j = 0; j < 8; j++) {
            want[b] += attn_dropout_keep(1234, 0.5, b, 0, 0, j) * 2 * (1 / 8.0) * j;
        }
    }
    expect(&t, want, (double[]){log(8), log(8)});
}

TEST(dropout_counts_batch_by_sequence_when_packed) {
    toy t;
    toy_init(&t, 1, 2, 16);
    const int64_t cu_q[3] = {0, 1, 2}, cu_k[3] = {0, 8, 16};
    double want[2] = {0, 0};
    t.args.cu_q = cu_q;
    t.args.cu_k = cu_k;
    t.args.n_seqs = 2;
    t.args.dropout = 0.5;
    t.args.seed = 99;
    for (int s = 0; s < 2; s++) {
        for (int j = 0; j < 8; j++) {
            want[s] += attn_dropout_keep(99, 0.5, s, 0, 0, j) * 2 * (1 / 8.0) * t.v[8 * s + j];
        }
    }
    expect(&t, want, NULL);
}

TEST(dropout_keeps_the_stated_share) {
    int kept = 0;
    for (int j = 0; j < 40000; j++) kept += attn_dropout_keep(7, 0.3, 1, 2, 3, j);
    /* mean 28000, standard deviation sqrt(40000 * 0.3 * 0.7) = 92 */
    CHECK_NEAR(kept, 28000, 5 * 92);
}

TEST(dropout_of_zero_keeps_all_and_of_one_keeps_none) {
    for (int j = 0; j < 100; j++) {
        CHECK_INT(attn_dropout_keep(7, 0, 0, 0, 0, j), 1);
        CHECK_INT(attn_dropout_keep(7, 1, 0, 0, 0, j), 0);
    }
}

/* -------------------------------------------------------------------------------- other things */

TEST(reference_reads_and_writes_f16_and_bf16) {
    const uint16_t one_f16 = attni_f32_to_f16(1), two_f16 = attni_f32_to_f16(2);
    const uint16_t one_bf16 = attni_f32_to_bf16(1), two_bf16 = attni_f32_to_bf16(2);
    for (int brain = 0; brain < 2; brain++) {
        const attn_dtype dtype = brain ? ATTN_BF16 : ATTN_F16;
        const uint16_t one = brain ? one_bf16 : one_f16, two = brain ? two_bf16 : two_f16;
        const uint16_t q[1] = {0}, k[2] = {one, two}, v[2] = {one, two};
        uint16_t out[1] = {0};
        attn_args args;
        attn_args_init(&args);
        args.q = attn_tensor_bhsd(q, dtype, 1, 1, 1, 1);
        args.k = attn_tensor_bhsd(k, dtype, 1, 1, 2, 1);
        args.v = attn_tensor_bhsd(v, dtype, 1, 1, 2, 1);
        const attn_tensor to = attn_tensor_bhsd(out, dtype, 1, 1, 1, 1);
        CHECK_INT(attn_reference(&args, &to, NULL, NULL), ATTN_OK);
        CHECK_NEAR(brain ? attni_bf16_to_f32(out[0]) : attni_f16_to_f32(out[0]), 1.5, 0);
    }
}

TEST(reference_writes_f64_for_f32_inputs) {
    const float q[1] = {1}, k[2] = {0, 1}, v[2] = {0, 1};
    double out = 0, lse = 0;
    attn_args args;
    attn_args_init(&args);
    args.q = attn_tensor_bhsd(q, ATTN_F32, 1, 1, 1, 1);
    args.k = attn_tensor_bhsd(k, ATTN_F32, 1, 1, 2, 1);
    args.v = attn_tensor_bhsd(v, ATTN_F32, 1, 1, 2, 1);
    const attn_tensor to = attn_tensor_bhsd(&out, ATTN_F64, 1, 1, 1, 1);
    const attn_tensor to_lse = attn_tensor_bhsd(&lse, ATTN_F64, 1, 1, 1, 1);
    CHECK_INT(attn_reference(&args, &to, &to_lse, NULL), ATTN_OK);
    CHECK_NEAR(out, exp(1) / (1 + exp(1)), 1e-15);
    CHECK_NEAR(lse, log(1 + exp(1)), 1e-15);
}

TEST(failed_call_leaves_the_outputs_untouched) {
    toy t;
    toy_init(&t, 1, 2, 2);
    t.args.temperature = 0;
    for (int engine = 0; engine < 2; engine++) {
        CHECK_INT(toy_run(&t, engine), ATTN_E_VALUE);
        for (int r = 0; r < 2; r++) {
            CHECK_NEAR(t.out[r], -77, 0);
            CHECK_NEAR(t.lse[r], -77, 0);
        }
    }
}

TEST(alibi_slopes_refuse_no_heads_and_no_room) {
    double slope;
    CHECK_INT(attn_alibi_slopes(0, &slope, NULL), ATTN_E_VALUE);
    CHECK_INT(attn_alibi_slopes(1, NULL, NULL), ATTN_E_NULL);
}
