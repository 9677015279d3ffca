/* SPDX-License-Identifier: Apache-2.0 */
/* test_args_accepted.c - the corner cases that are legal: nothing to compute, odd strides, numbers
 * at the ends of their ranges, results that are not requested. */
#include "args_scene.h"

typedef struct legal {
    int by;
    const char *what;
    change changes[CHANGES];
} legal;

static void check_all_accepted(const legal *table, int n) {
    for (int c = 0; c < n; c++) {
        for (int f = 0; f < FUNCTIONS; f++) {
            attn_error err = {"untouched"};
            if (!(table[c].by & 1 << f)) continue;
            scene_reset(&now);
            apply_all(&now, table[c].changes);
            const attn_status status = call(&now, 1 << f, &err);
            CHECK_MSG(status == ATTN_OK, "%s, %s: %s", table[c].what, function_name(1 << f),
                      err.message);
            CHECK_STR(err.message, "untouched");
        }
    }
}

#define CHECK_ACCEPTED(table) check_all_accepted(table, COUNT_OF(table))
#define NO_VIEWS              (ALL & ~INSPECT) /* whose shapes would have to change too */

TEST(empty_problems_are_accepted) {
    static const legal table[] = {
        {NO_VIEWS,
         "no batch",
         {I64(args.q.shape[0], 0), I64(args.k.shape[0], 0), I64(args.v.shape[0], 0),
          I64(out.shape[0], 0), I64(lse.shape[0], 0)}},
        {NO_VIEWS,
         "no batch and no data",
         {I64(args.q.shape[0], 0), I64(args.k.shape[0], 0), I64(args.v.shape[0], 0),
          I64(out.shape[0], 0), NONE(args.q.data), NONE(args.k.data), NONE(args.v.data),
          NONE(out.data), NONE(p_lse)}},
        {NO_VIEWS,
         "no query",
         {I64(args.q.shape[2], 0), I64(out.shape[2], 0), I64(lse.shape[2], 0)}},
        {NO_VIEWS,
         "no query and no data of q and out",
         {I64(args.q.shape[2], 0), I64(out.shape[2], 0), NONE(p_lse), NONE(args.q.data),
          NONE(out.data)}},
        {NO_VIEWS, "no key", {I64(args.k.shape[2], 0), I64(args.v.shape[2], 0)}},
        {NO_VIEWS,
         "no key and no data of k and v",
         {I64(args.k.shape[2], 0), I64(args.v.shape[2], 0), NONE(args.k.data), NONE(args.v.data)}},
        {NO_VIEWS,
         "no query, no key",
         {I64(args.q.shape[2], 0), I64(out.shape[2], 0), I64(lse.shape[2], 0),
          I64(args.k.shape[2], 0), I64(args.v.shape[2], 0)}},
        {NO_VIEWS,
         "no key, any strides",
         {I64(args.k.shape[2], 0), I64(args.v.shape[2], 0), I64(args.k.stride[3], 5),
          I64(args.v.stride[3], -MAX_I64), I64(args.k.stride[0], MAX_I64)}},
        {NO_VIEWS,
         "no query, any strides",
         {I64(args.q.shape[2], 0), I64(out.shape[2], 0), I64(lse.shape[2], 0),
          I64(args.q.stride[3], 0), I64(out.stride[3], 2), I64(out.stride[1], MAX_I64)}},
        {ALL, "mask without columns", {WITH_MASK, I64(args.mask.shape[3], 0)}},
        {ALL, "bias without columns", {WITH_BIAS, I64(args.bias.shape[3], 0)}},
        {ALL, "no real rows and keys", {LEN_Q, LEN_K, I64(lengths[0], 0), I64(lengths[1], 0)}},
        {MERGE,
         "partial results without rows",
         {I64(a.out.shape[2], 0), I64(a.lse.shape[2], 0), I64(b.out.shape[2], 0),
          I64(b.lse.shape[2], 0), I64(result.out.shape[2], 0), I64(result.lse.shape[2], 0),
          NONE(a.out.data), NONE(b.lse.data), I64(b.out.stride[3], 7),
          I64(result.out.stride[1], 0)}},
    };
    CHECK_ACCEPTED(table);
}

TEST(problem_without_keys_gives_zero_and_minus_infinity) {
    scene_reset(&now);
    now.args.k.shape[2] = now.args.v.shape[2] = 0;
    now.args.k.data = now.args.v.data = NULL;
    CHECK_INT(call(&now, FORWARD, NULL), ATTN_OK);
    for (int e = 0; e < ROWS * D_V; e++) CHECK_NEAR(now.o[e], 0, 0);
    for (int r = 0; r < ROWS; r++) CHECK_NEAR(now.l[r], -INFINITY, 0);
}

TEST(shapes_without_data_are_accepted_where_nothing_is_computed) {
    static const legal table[] = {
        {COST | EXPLAIN, "no data", {NONE(args.q.data), NONE(args.k.data), NONE(args.v.data)}},
        {COST | EXPLAIN, "half the data", {NONE(args.k.data)}},
    };
    CHECK_ACCEPTED(table);
}

TEST(inputs_may_repeat_walk_backwards_and_have_gaps) {
    static const legal table[] = {
        {ALL, "one batch for all", {I64(args.q.stride[0], 0), I64(args.k.stride[0], 0)}},
        {ALL, "one head for all", {I64(args.k.stride[1], 0), I64(args.v.stride[1], 0)}},
        {ALL, "one row for all", {I64(args.q.stride[2], 0), I64(args.v.stride[2], 0)}},
        {ALL,
         "rows backwards",
         {AT(args.q.data, q, (N_Q - 1) * D_K * sizeof(float)), I64(args.q.stride[2], -D_K)}},
        {ALL,
         "mask repeats one element",
         {WITH_MASK, I64(args.mask.stride[3], 0), I64(args.mask.stride[2], 0)}},
        {ALL,
         "mask with gaps",
         {WITH_MASK, I64(args.mask.stride[3], 2), I64(args.mask.stride[1], 7)}},
        {ALL,
         "bias with gaps",
         {WITH_BIAS, I64(args.bias.stride[3], 2), I64(args.bias.stride[1], 3)}},
        {ALL,
         "out with gaps",
         {I64(out.stride[2], D_V + 1), I64(out.stride[1], N_Q * (D_V + 1)),
          I64(out.stride[0], H * N_Q * (D_V + 1))}},
    };
    CHECK_ACCEPTED(table);
}

TEST(strides_of_dimensions_of_one_do_not_matter) {
    static const legal table[] = {
        {NO_VIEWS,
         "one batch",
         {I64(args.q.shape[0], 1), I64(args.k.shape[0], 1), I64(args.v.shape[0], 1),
          I64(out.shape[0], 1), I64(lse.shape[0], 1), I64(args.q.stride[0], MAX_I64),
          I64(args.k.stride[0], INT64_MIN), I64(out.stride[0], 0)}},
        {ALL,
         "one column",
         {I64(args.q.shape[3], 1), I64(args.k.shape[3], 1), I64(args.q.stride[3], 9),
          I64(args.k.stride[3], 0)}},
        {WRITE, "lse of one column", {I64(lse.stride[3], 77)}},
    };
    CHECK_ACCEPTED(table);
}

TEST(broadcast_masks_and_biases_of_any_float_are_accepted) {
    static const legal table[] = {
        {ALL, "full mask", {WITH_MASK}},
        {ALL,
         "one row of mask",
         {WITH_MASK, I64(args.mask.shape[0], 1), I64(args.mask.shape[1], 1),
          I64(args.mask.shape[2], 1)}},
        {ALL, "short mask", {WITH_MASK, I64(args.mask.shape[3], 2)}},
        {ALL, "one head of bias", {WITH_BIAS, I64(args.bias.shape[1], 1)}},
        {ALL, "f16 bias", {WITH_BIAS, I32(args.bias.dtype, ATTN_F16)}},
        {ALL, "bf16 bias", {WITH_BIAS, I32(args.bias.dtype, ATTN_BF16)}},
        {ALL, "f64 bias", {WITH_BIAS, I32(args.bias.dtype, ATTN_F64)}},
        {ALL, "pattern", {COPY(args.pattern, pattern)}},
        {NO_VIEWS, /* longest sequences are 2 x 3 */
         "packed, larger mask and pattern",
         {PACKED, WITH_MASK, COPY(args.pattern, pattern), I64(out.shape[0], 1),
          I64(lse.shape[0], 1)}},
    };
    CHECK_ACCEPTED(table);
}

TEST(numbers_at_the_ends_of_their_range_are_accepted) {
    static const legal table[] = {
        {ALL, "scale 0", {F64(args.scale, 0)}},
        {ALL, "negative scale", {F64(args.scale, -2)}},
        {ALL, "tiny temperature", {F64(args.temperature, 4.3e-39)}},
        {ALL, "huge temperature", {F64(args.temperature, 1e37)}},
        {ALL, "tiny softcap", {F64(args.softcap, 1e-38)}},
        {ALL, "almost everything dropped", {F64(args.dropout, 0.9999999)}},
        {ALL, "window of 0", {I64(args.window_left, 0), I64(args.window_right, 0)}},
        {ALL, "endless window", {I64(args.window_left, MAX_I64), I64(args.window_right, MAX_I64)}},
        {ALL, "endless offset", {I32(args.causal, 1), I64(args.offset, MAX_I64)}},
        {ALL, "endless offset back", {I32(args.causal, 1), I64(args.offset, INT64_MIN + 1)}},
        {ALL, "offsets per batch", {I32(args.causal, -3), AT(args.offsets, lengths, 0)}},
        {ALL, "sink of minus infinity", {SINKS, F64(per_head[1], -INFINITY)}},
        {ALL, "negative and zero slopes", {ALIBI, F64(per_head[0], -1), F64(per_head[1], 0)}},
        {ALL, "full lengths", {LEN_Q, LEN_K, I64(lengths[0], N_Q), I64(lengths[1], N_Q)}},
        {SLOPES, "one head", {I64(slopes_H, 1)}},
        {SLOPES, "three heads", {I64(slopes_H, 3)}},
        {CREATE, "no options", {NONE(p_options)}},
    };
    CHECK_ACCEPTED(table);
}

TEST(outputs_that_are_not_wanted_may_be_absent) {
    static const legal table[] = {
        {WRITE, "no lse", {NONE(p_lse)}},
        {WRITE, "lse without data", {NONE(lse.data)}},
        {WRITE,
         "lse with strides",
         {I64(lse.stride[2], 3), I64(lse.stride[1], -3 * N_Q),
          AT(lse.data, l, 3 * 3 * N_Q * sizeof(float)), I64(lse.stride[0], 1)}},
        {REFERENCE, "oracle in f64", {I32(out.dtype, ATTN_F64), I32(lse.dtype, ATTN_F64)}},
        {INSPECT, "no raw, no top", {NONE(what.raw.data), NONE(what.top_key.data)}},
        {INSPECT, "keys of the top alone", {NONE(what.top_weight.data)}},
    };
    CHECK_ACCEPTED(table);
}

/* ---------------------------------------------------------------------- the ends of the numbers */

enum { LONG = 300 }; /* more than one tile of keys */

/* Queries and keys of zero: every score is 0, and exp(lse) is the number of visible keys. */
typedef struct counting {
    attn_args args;
    attn_tensor out, lse;
    double zeros[LONG], o[LONG], l[LONG];
} counting;

static counting counted;

static void counting_begin(counting *c) {
    memset(c, 0, sizeof *c);
    attn_args_init(&c->args);
    c->args.q = c->args.k = c->args.v = attn_tensor_bhsd(c->zeros, ATTN_F64, 1, 1, LONG, 1);
    c->out = attn_tensor_bhsd(c->o, ATTN_F64, 1, 1, LONG, 1);
    c->lse = attn_tensor_bhsd(c->l, ATTN_F64, 1, 1, LONG, 1);
    scene_reset(&now); /* makes the context */
}

static attn_status counting_call(counting *c, bool oracle) {
    return oracle ? attn_reference(&c->args, &c->out, &c->lse, NULL)
                  : attn_forward(ctx, &c->args, &c->out, &c->lse, NULL);
}

/* j >= i + offset - window_left is j >= i. */
TEST(offset_and_window_at_the_end_of_the_numbers_cancel) {
    for (int oracle = 0; oracle < 2; oracle++) {
        counting_begin(&counted);
        counted.args.offset = MAX_I64;
        counted.args.window_left = MAX_I64;
        CHECK_INT(counting_call(&counted, oracle), ATTN_OK);
        for (int i = 0; i < LONG; i++) CHECK_NEAR(counted.l[i], log(LONG - i), 1e-12);
    }
}

TEST(alibi_from_the_end_of_the_numbers_stays_finite) {
    const double slope[1] = {0.5};
    for (int oracle = 0; oracle < 2; oracle++) {
        counting_begin(&counted);
        counted.args.offset = INT64_MIN + 1;
        counted.args.alibi = slope;
        CHECK_INT(counting_call(&counted, oracle), ATTN_OK);
        for (int i = 0; i < LONG; i++) CHECK(isfinite(counted.l[i]) && counted.o[i] == 0);
    }
}
