/* SPDX-License-Identifier: Apache-2.0 */
/* test_args_inputs.c - every public function that takes arguments rejects each invalid input
 * with the right status, a message that names the argument and its value, and nothing written
 * anywhere. */
#include "args_scene.h"

TEST(the_scene_itself_is_right) {
    for (int f = 0; f < FUNCTIONS; f++) {
        attn_error err = {"untouched"};
        scene_reset(&now);
        const attn_status status = call(&now, 1 << f, &err);
        CHECK_MSG(status == ATTN_OK, "%s: %s", function_name(1 << f), err.message);
        CHECK_STR(err.message, "untouched");
    }
}

TEST(missing_pointers_are_refused) {
    static const wrong table[] = {
        {ALL & ~REFERENCE, ATTN_E_NULL, "ctx", "NULL", {NONE(ctx)}},
        {ALL, ATTN_E_NULL, "args", "NULL", {NONE(p_args)}},
        {WRITE, ATTN_E_NULL, "out", "NULL", {NONE(p_out)}},
        {WORKSPACE, ATTN_E_NULL, "bytes", "NULL", {NONE(p_bytes)}},
        {INSPECT, ATTN_E_NULL, "what", "NULL", {NONE(p_what)}},
        {COST, ATTN_E_NULL, "cost", "NULL", {NONE(p_cost)}},
        {EXPLAIN, ATTN_E_NULL, "text", "NULL", {NONE(p_text)}},
        {MERGE, ATTN_E_NULL, "parts[0]", "NULL", {NONE(p_a)}},
        {MERGE, ATTN_E_NULL, "parts[1]", "NULL", {NONE(p_b)}},
        {MERGE, ATTN_E_NULL, "result", "NULL", {NONE(p_result)}},
        {SLOPES, ATTN_E_NULL, "slopes", "NULL", {NONE(p_slopes)}},
        {READ, ATTN_E_NULL, "q", "NULL", {NONE(args.q.data)}},
        {READ, ATTN_E_NULL, "k", "NULL", {NONE(args.k.data)}},
        {READ, ATTN_E_NULL, "v", "NULL", {NONE(args.v.data)}},
        {READ, ATTN_E_NULL, "mask", "NULL", {WITH_MASK, NONE(args.mask.data)}},
        {READ, ATTN_E_NULL, "bias", "NULL", {WITH_BIAS, NONE(args.bias.data)}},
        {WRITE, ATTN_E_NULL, "out", "NULL", {NONE(out.data)}},
        {MERGE, ATTN_E_NULL, "parts[0].out", "NULL", {NONE(a.out.data)}},
        {MERGE, ATTN_E_NULL, "parts[1].lse", "NULL", {NONE(b.lse.data)}},
        {MERGE, ATTN_E_NULL, "result.out", "NULL", {NONE(result.out.data)}},
        {CREATE, ATTN_E_NULL, "alloc", "NULL", {NONE(options.alloc.alloc)}},
        {CREATE, ATTN_E_NULL, "alloc", "free", {NONE(options.alloc.free)}},
    };
    CHECK_REFUSED(table);
}

TEST(context_needs_a_place) {
    attn_error err = {""};
    CHECK_INT(attn_ctx_create(NULL, NULL, &err), ATTN_E_NULL);
    CHECK_MSG(strncmp(err.message, "ctx:", 4) == 0, "%s", err.message);
    CHECK_INT(attn_ctx_create(NULL, NULL, NULL), ATTN_E_NULL);
}

/* No struct will ever have a size that is not a multiple of 4. */
TEST(structs_of_another_size_are_refused) {
    static const wrong table[] = {
        {ALL, ATTN_E_STRUCT, "args", " 0,", {I32(args.struct_size, 0)}},
        {ALL, ATTN_E_STRUCT, "args", " 8,", {I32(args.struct_size, 8)}},
        {ALL, ATTN_E_STRUCT, "args", NULL, {I32(args.struct_size, sizeof(attn_args) - 2)}},
        {ALL, ATTN_E_STRUCT, "args", NULL, {I32(args.struct_size, sizeof(attn_args) + 2)}},
        {ALL, ATTN_E_STRUCT, "args", "4294967295", {I32(args.struct_size, -1)}},
        {INSPECT, ATTN_E_STRUCT, "what", " 0,", {I32(what.struct_size, 0)}},
        {INSPECT, ATTN_E_STRUCT, "what", " 12,", {I32(what.struct_size, 12)}},
        {COST, ATTN_E_STRUCT, "cost", " 0,", {I32(cost.struct_size, 0)}},
        {COST, ATTN_E_STRUCT, "cost", NULL, {I32(cost.struct_size, sizeof(attn_cost_info) + 2)}},
        {MERGE, ATTN_E_STRUCT, "parts[0]", " 0,", {I32(a.struct_size, 0)}},
        {MERGE, ATTN_E_STRUCT, "parts[1]", " 3,", {I32(b.struct_size, 3)}},
        {MERGE, ATTN_E_STRUCT, "result", "4294967295", {I32(result.struct_size, -1)}},
        {CREATE, ATTN_E_STRUCT, "options", " 0,", {I32(options.struct_size, 0)}},
        {CREATE, ATTN_E_STRUCT, "options", " 4,", {I32(options.struct_size, 4)}},
    };
    CHECK_REFUSED(table);
}

/* ------------------------------------------------------------------------------------- q, k, v */

TEST(negative_and_zero_dimensions_are_refused) {
    static const wrong table[] = {
        {ALL, ATTN_E_SHAPE, "q", "batch is -1", {I64(args.q.shape[0], -1)}},
        {ALL, ATTN_E_SHAPE, "q", "heads is -4", {I64(args.q.shape[1], -4)}},
        {ALL, ATTN_E_SHAPE, "q", "rows is -2", {I64(args.q.shape[2], -2)}},
        {ALL, ATTN_E_SHAPE, "q", "columns is -8", {I64(args.q.shape[3], -8)}},
        {ALL, ATTN_E_SHAPE, "k", "-1", {I64(args.k.shape[0], -1)}},
        {ALL, ATTN_E_SHAPE, "k", "-1", {I64(args.k.shape[1], -1)}},
        {ALL, ATTN_E_SHAPE, "k", "-1", {I64(args.k.shape[2], -1)}},
        {ALL, ATTN_E_SHAPE, "k", "-1", {I64(args.k.shape[3], -1)}},
        {ALL, ATTN_E_SHAPE, "v", "-1", {I64(args.v.shape[0], -1)}},
        {ALL, ATTN_E_SHAPE, "v", "-1", {I64(args.v.shape[1], -1)}},
        {ALL, ATTN_E_SHAPE, "v", "-1", {I64(args.v.shape[2], -1)}},
        {ALL, ATTN_E_SHAPE, "v", "-9223372036854775808", {I64(args.v.shape[3], INT64_MIN)}},
        {ALL, ATTN_E_SHAPE, "q", "heads is 0", {I64(args.q.shape[1], 0)}},
        {ALL, ATTN_E_SHAPE, "q", "columns is 0", {I64(args.q.shape[3], 0)}},
        {ALL, ATTN_E_SHAPE, "k", "heads is 0", {I64(args.k.shape[1], 0)}},
        {ALL, ATTN_E_SHAPE, "k", "columns is 0", {I64(args.k.shape[3], 0)}},
        {ALL, ATTN_E_SHAPE, "v", "heads is 0", {I64(args.v.shape[1], 0)}},
        {ALL, ATTN_E_SHAPE, "v", "columns is 0", {I64(args.v.shape[3], 0)}},
    };
    CHECK_REFUSED(table);
}

TEST(shapes_that_do_not_match_are_refused) {
    static const wrong table[] = {
        {ALL, ATTN_E_SHAPE, "k", "batch is 1, expected 2", {I64(args.k.shape[0], 1)}},
        {ALL, ATTN_E_SHAPE, "k", "batch is 0, expected 2", {I64(args.k.shape[0], 0)}},
        {ALL, ATTN_E_SHAPE, "v", "batch is 3, expected 2", {I64(args.v.shape[0], 3)}},
        {ALL, ATTN_E_SHAPE, "k", "batch is 2, expected 1", {I64(args.q.shape[0], 1)}},
        {ALL, ATTN_E_SHAPE, "k", "columns is 7, expected 8", {I64(args.k.shape[3], 7)}},
        {ALL, ATTN_E_SHAPE, "k", "columns is 8, expected 5", {I64(args.q.shape[3], 5)}},
        {ALL, ATTN_E_SHAPE, "v", "heads is 1, expected 2", {I64(args.v.shape[1], 1)}},
        {ALL, ATTN_E_SHAPE, "v", "rows is 4, expected 5", {I64(args.v.shape[2], 4)}},
        {ALL, ATTN_E_SHAPE, "v", "rows is 0, expected 5", {I64(args.v.shape[2], 0)}},
        {ALL, ATTN_E_SHAPE, "v", "rows is 5, expected 6", {I64(args.k.shape[2], 6)}},
        {ALL, ATTN_E_SHAPE, "k", "2", {I64(args.q.shape[1], 3)}},
        {ALL, ATTN_E_SHAPE, "k", "2", {I64(args.q.shape[1], 1)}},
        {ALL, ATTN_E_SHAPE, "k", "3", {I64(args.k.shape[1], 3), I64(args.v.shape[1], 3)}},
        {ALL, ATTN_E_SHAPE, "k", "8", {I64(args.k.shape[1], 8), I64(args.v.shape[1], 8)}},
    };
    CHECK_REFUSED(table);
}

TEST(wrong_dtypes_are_refused) {
    static const wrong table[] = {
        {ALL, ATTN_E_DTYPE, "q", "77", {I32(args.q.dtype, 77)}},
        {ALL, ATTN_E_DTYPE, "k", "-1", {I32(args.k.dtype, -1)}},
        {ALL, ATTN_E_DTYPE, "v", "6", {I32(args.v.dtype, 6)}},
        {ALL, ATTN_E_DTYPE, "q", "bool", {I32(args.q.dtype, ATTN_BOOL)}},
        {ALL, ATTN_E_DTYPE, "q", "i64", {I32(args.q.dtype, ATTN_I64)}},
        {ALL, ATTN_E_DTYPE, "k", "bool", {I32(args.k.dtype, ATTN_BOOL)}},
        {ALL, ATTN_E_DTYPE, "v", "i64", {I32(args.v.dtype, ATTN_I64)}},
        {ALL, ATTN_E_DTYPE, "k", "f64", {I32(args.k.dtype, ATTN_F64)}},
        {ALL, ATTN_E_DTYPE, "v", "f16", {I32(args.v.dtype, ATTN_F16)}},
        {ALL, ATTN_E_DTYPE, "k", "f32", {I32(args.q.dtype, ATTN_BF16)}},
        {ALL, ATTN_E_DTYPE, "mask", "f32", {WITH_MASK, I32(args.mask.dtype, ATTN_F32)}},
        {ALL, ATTN_E_DTYPE, "mask", "i64", {WITH_MASK, I32(args.mask.dtype, ATTN_I64)}},
        {ALL, ATTN_E_DTYPE, "mask", "99", {WITH_MASK, I32(args.mask.dtype, 99)}},
        {ALL, ATTN_E_DTYPE, "bias", "bool", {WITH_BIAS, I32(args.bias.dtype, ATTN_BOOL)}},
        {ALL, ATTN_E_DTYPE, "bias", "i64", {WITH_BIAS, I32(args.bias.dtype, ATTN_I64)}},
        {ALL, ATTN_E_DTYPE, "bias", "-5", {WITH_BIAS, I32(args.bias.dtype, -5)}},
    };
    CHECK_REFUSED(table);
}

TEST(strided_columns_and_misaligned_data_are_refused) {
    static const wrong table[] = {
        {ALL, ATTN_E_STRIDE, "q", "2", {I64(args.q.stride[3], 2)}},
        {ALL, ATTN_E_STRIDE, "q", "0", {I64(args.q.stride[3], 0)}},
        {ALL, ATTN_E_STRIDE, "k", "-1", {I64(args.k.stride[3], -1)}},
        {ALL, ATTN_E_STRIDE, "v", "7", {I64(args.v.stride[3], 7)}},
        {ALL, ATTN_E_STRIDE, "q", "aligned", {AT(args.q.data, q, 1)}},
        {ALL, ATTN_E_STRIDE, "k", "aligned", {AT(args.k.data, k, 2)}},
        {ALL, ATTN_E_STRIDE, "v", "aligned", {AT(args.v.data, v, 3)}},
        {ALL, ATTN_E_STRIDE, "bias", "aligned", {WITH_BIAS, AT(args.bias.data, bias, 2)}},
    };
    CHECK_REFUSED(table);
}

TEST(sizes_beyond_the_address_space_are_refused) {
    static const wrong table[] = {
        {ALL, ATTN_E_OVERFLOW, "q", "4611686018427387904", {I64(args.q.shape[2], 1LL << 62)}},
        {ALL, ATTN_E_OVERFLOW, "q", "9223372036854775807", {I64(args.q.shape[3], MAX_I64)}},
        {ALL, ATTN_E_OVERFLOW, "k", "2305843009213693952", {I64(args.k.shape[0], 1LL << 61)}},
        {ALL, ATTN_E_OVERFLOW, "v", "9223372036854775807", {I64(args.v.shape[1], MAX_I64)}},
        {ALL, ATTN_E_OVERFLOW, "q", NULL, {I64(args.q.stride[0], MAX_I64)}},
        {ALL, ATTN_E_OVERFLOW, "k", NULL, {I64(args.k.stride[1], INT64_MIN)}},
        {ALL, ATTN_E_OVERFLOW, "v", NULL, {I64(args.v.stride[2], MAX_I64 / 4)}},
        {ALL, /* each fits, the sum does not */
         ATTN_E_OVERFLOW,
         "q",
         NULL,
         {I64(args.q.stride[0], MAX_I64 / 4), I64(args.q.stride[1], MAX_I64 / 16)}},
        {ALL, /* both ends fit, the distance between them does not */
         ATTN_E_OVERFLOW,
         "q",
         NULL,
         {I64(args.q.stride[0], MAX_I64 / 5), I64(args.q.stride[1], -MAX_I64 / 15)}},
        {ALL,
         ATTN_E_OVERFLOW,
         "mask",
         NULL,
         {WITH_MASK, I64(args.mask.stride[2], MAX_I64 / 2 + 1)}},
        {ALL, ATTN_E_OVERFLOW, "bias", NULL, {WITH_BIAS, I64(args.bias.stride[0], MAX_I64 / 2)}},
        {MERGE, ATTN_E_OVERFLOW, "parts[0].out", NULL, {I64(a.out.stride[0], MAX_I64 / 2)}},
        {MERGE, ATTN_E_OVERFLOW, "parts[1].lse", NULL, {I64(b.lse.stride[2], INT64_MIN)}},
        {MERGE, ATTN_E_OVERFLOW, "result.out", NULL, {I64(result.out.shape[2], 1LL << 62)}},
    };
    CHECK_REFUSED(table);
}

/* Shapes whose strides do not even fit int64_t. */
TEST(dense_views_of_absurd_shapes_are_refused) {
    const int64_t huge = 1LL << 40;
    const int64_t shapes[][4] = {{huge, huge, 1, 8},
                                 {1, huge, huge, 8},
                                 {huge, 4, huge, 8},
                                 {1, 4, huge, huge},
                                 {huge, huge, huge, huge}};
    for (int n = 0; n < COUNT_OF(shapes); n++) {
        for (int bshd = 0; bshd < 2; bshd++) {
            const int64_t *s = shapes[n];
            attn_error err = {""};
            scene_reset(&now);
            now.args.q = bshd ? attn_tensor_bshd(now.q, ATTN_F32, s[0], s[1], s[2], s[3])
                              : attn_tensor_bhsd(now.q, ATTN_F32, s[0], s[1], s[2], s[3]);
            CHECK_INT(call(&now, FORWARD, &err), ATTN_E_OVERFLOW);
            CHECK_MSG(strncmp(err.message, "q:", 2) == 0, "%s", err.message);
        }
    }
}

/* -------------------------------------------------------------------------------------- numbers */

TEST(numbers_out_of_range_are_refused) {
    static const wrong table[] = {
        {ALL, ATTN_E_VALUE, "scale", "nan", {F64(args.scale, NAN)}},
        {ALL, ATTN_E_VALUE, "scale", "inf", {F64(args.scale, INFINITY)}},
        {ALL, ATTN_E_VALUE, "temperature", " 0,", {F64(args.temperature, 0)}},
        {ALL, ATTN_E_VALUE, "temperature", "-1", {F64(args.temperature, -1)}},
        {ALL, ATTN_E_VALUE, "temperature", "nan", {F64(args.temperature, NAN)}},
        {ALL, ATTN_E_VALUE, "temperature", "inf", {F64(args.temperature, INFINITY)}},
        {ALL, ATTN_E_VALUE, "softcap", "-1", {F64(args.softcap, -1)}},
        {ALL, ATTN_E_VALUE, "softcap", "nan", {F64(args.softcap, NAN)}},
        {ALL, ATTN_E_VALUE, "softcap", "inf", {F64(args.softcap, INFINITY)}},
        {ALL, ATTN_E_VALUE, "dropout", "-0.1", {F64(args.dropout, -0.1)}},
        {ALL, ATTN_E_VALUE, "dropout", " 1,", {F64(args.dropout, 1)}},
        {ALL, ATTN_E_VALUE, "dropout", "1.5", {F64(args.dropout, 1.5)}},
        {ALL, ATTN_E_VALUE, "dropout", "nan", {F64(args.dropout, NAN)}},
        {ALL, ATTN_E_VALUE, "window_left", "-2", {I64(args.window_left, -2)}},
        {ALL, ATTN_E_VALUE, "window_right", "-2", {I64(args.window_right, -2)}},
        {ALL,
         ATTN_E_VALUE,
         "window_left",
         "-9223372036854775808",
         {I64(args.window_left, INT64_MIN)}},
        {SLOPES, ATTN_E_VALUE, "H", " 0,", {I64(slopes_H, 0)}},
        {SLOPES, ATTN_E_VALUE, "H", "-3", {I64(slopes_H, -3)}},
        {CREATE, ATTN_E_VALUE, "threads", "-1", {I32(options.threads, -1)}},
        {CREATE, ATTN_E_VALUE, "threads", "1025", {I32(options.threads, 1025)}},
        {CREATE, ATTN_E_VALUE, "isa", "99", {I32(options.isa, 99)}},
        {CREATE, ATTN_E_VALUE, "isa", "-1", {I32(options.isa, -1)}},
    };
    CHECK_REFUSED(table);
}

TEST(slopes_and_sinks_out_of_range_are_refused) {
    static const wrong table[] = {
        {ALL, ATTN_E_VALUE, "alibi[0]", "inf", {ALIBI, F64(per_head[0], INFINITY)}},
        {ALL, ATTN_E_VALUE, "alibi[3]", "-inf", {ALIBI, F64(per_head[3], -INFINITY)}},
        {ALL, ATTN_E_VALUE, "alibi[1]", "nan", {ALIBI, F64(per_head[1], NAN)}},
        {ALL, ATTN_E_VALUE, "sinks[2]", "inf", {SINKS, F64(per_head[2], INFINITY)}},
        {ALL, ATTN_E_VALUE, "sinks[3]", "nan", {SINKS, F64(per_head[3], NAN)}},
    };
    CHECK_REFUSED(table);
}

/* ------------------------------------------------------------------------------------ sequences */

TEST(lengths_out_of_range_are_refused) {
    static const wrong table[] = {
        {ALL, ATTN_E_VALUE, "len_q[0]", "-1", {LEN_Q, I64(lengths[0], -1)}},
        {ALL, ATTN_E_VALUE, "len_q[1]", "4", {LEN_Q, I64(lengths[1], N_Q + 1)}},
        {ALL, ATTN_E_VALUE, "len_k[0]", "6", {LEN_K, I64(lengths[0], N_K + 1)}},
        {ALL, ATTN_E_VALUE, "len_k[1]", "-7", {LEN_K, I64(lengths[1], -7)}},
    };
    CHECK_REFUSED(table);
}

TEST(wrong_packing_is_refused) {
    static const wrong table[] = {
        {ALL, ATTN_E_NULL, "cu_k", "NULL", {PACKED, NONE(args.cu_k)}},
        {ALL, ATTN_E_NULL, "cu_q", "NULL", {PACKED, NONE(args.cu_q)}},
        {ALL, ATTN_E_VALUE, "cu_q[0]", "1", {PACKED, I64(cu_q[0], 1)}},
        {ALL, ATTN_E_VALUE, "cu_k[0]", "-1", {PACKED, I64(cu_k[0], -1)}},
        {ALL, ATTN_E_VALUE, "cu_q[2]", "2", {PACKED, I64(cu_q[2], 2)}},
        {ALL, ATTN_E_VALUE, "cu_k[2]", "6", {PACKED, I64(cu_k[2], 6)}},
        {ALL, ATTN_E_VALUE, "cu_q[2]", "3", {PACKED, I64(cu_q[1], 4)}},
        {ALL, ATTN_E_VALUE, "cu_k[1]", "-2", {PACKED, I64(cu_k[1], -2)}},
        {ALL, ATTN_E_VALUE, "len_q", "cu_q", {PACKED, LEN_Q}},
        {ALL, ATTN_E_VALUE, "len_k", "cu_q", {PACKED, LEN_K}},
        {ALL, ATTN_E_VALUE, "n_seqs", " 0,", {PACKED, I64(args.n_seqs, 0)}},
        {ALL, ATTN_E_VALUE, "n_seqs", "-1", {PACKED, I64(args.n_seqs, -1)}},
        {ALL,
         ATTN_E_SHAPE,
         "q",
         "2",
         {AT(args.cu_q, cu_q, 0), AT(args.cu_k, cu_k, 0), I64(args.n_seqs, 2)}},
    };
    CHECK_REFUSED(table);
}

/* -------------------------------------------------------------------------------- mask and bias */

TEST(masks_and_biases_of_a_wrong_shape_are_refused) {
    static const wrong table[] = {
        {ALL, ATTN_E_SHAPE, "mask", "batch is 3", {WITH_MASK, I64(args.mask.shape[0], 3)}},
        {ALL, ATTN_E_SHAPE, "mask", "batch is 0", {WITH_MASK, I64(args.mask.shape[0], 0)}},
        {ALL, ATTN_E_SHAPE, "mask", "heads is 2", {WITH_MASK, I64(args.mask.shape[1], 2)}},
        {ALL, ATTN_E_SHAPE, "mask", "rows is 2", {WITH_MASK, I64(args.mask.shape[2], 2)}},
        {ALL, ATTN_E_SHAPE, "mask", "rows is 4", {WITH_MASK, I64(args.mask.shape[2], 4)}},
        {ALL, ATTN_E_SHAPE, "mask", "columns is 6", {WITH_MASK, I64(args.mask.shape[3], 6)}},
        {ALL, ATTN_E_SHAPE, "mask", "-1", {WITH_MASK, I64(args.mask.shape[3], -1)}},
        {ALL, ATTN_E_SHAPE, "bias", "batch is 3", {WITH_BIAS, I64(args.bias.shape[0], 3)}},
        {ALL, ATTN_E_SHAPE, "bias", "heads is 3", {WITH_BIAS, I64(args.bias.shape[1], 3)}},
        {ALL, ATTN_E_SHAPE, "bias", "rows is 2", {WITH_BIAS, I64(args.bias.shape[2], 2)}},
        {ALL, ATTN_E_SHAPE, "bias", "columns is 6", {WITH_BIAS, I64(args.bias.shape[3], 6)}},
        {ALL, ATTN_E_SHAPE, "bias", "-3", {WITH_BIAS, I64(args.bias.shape[2], -3)}},
        {ALL, ATTN_E_SHAPE, "pattern", "4 x 5", {COPY(args.pattern, other_pattern)}},
        /* packed: as many batches as sequences, rows and keys for the longest */
        {ALL, ATTN_E_SHAPE, "mask", "batch is 3", {PACKED, WITH_MASK, I64(args.mask.shape[0], 3)}},
        {ALL,
         ATTN_E_SHAPE,
         "mask",
         "rows is 2",
         {PACKED, I64(cu_q[1], 0), WITH_MASK, I64(args.mask.shape[2], 2)}},
        {ALL,
         ATTN_E_SHAPE,
         "pattern",
         "3 x 5",
         {PACKED, I64(cu_q[1], 4), I64(args.q.shape[2], 4), I64(cu_q[2], 4),
          COPY(args.pattern, pattern)}},
    };
    CHECK_REFUSED(table);
}
