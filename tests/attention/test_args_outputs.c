/* SPDX-License-Identifier: Apache-2.0 */
/* test_args_outputs.c - invalid results and workspaces are rejected: shapes, strides, elements that
 * share memory, memory that overlaps something else. */
#include "args_scene.h"

TEST(outputs_of_a_wrong_shape_or_dtype_are_refused) {
    static const wrong table[] = {
        {WRITE, ATTN_E_SHAPE, "out", "batch is 1", {I64(out.shape[0], 1)}},
        {WRITE, ATTN_E_SHAPE, "out", "heads is 2", {I64(out.shape[1], 2)}},
        {WRITE, ATTN_E_SHAPE, "out", "rows is 5", {I64(out.shape[2], 5)}},
        {WRITE, ATTN_E_SHAPE, "out", "columns is 8", {I64(out.shape[3], 8)}},
        {WRITE, ATTN_E_SHAPE, "out", "columns is 0", {I64(out.shape[3], 0)}},
        {WRITE, ATTN_E_SHAPE, "out", "-2", {I64(out.shape[2], -2)}},
        {WRITE, ATTN_E_SHAPE, "lse", "batch is 1", {I64(lse.shape[0], 1)}},
        {WRITE, ATTN_E_SHAPE, "lse", "heads is 3", {I64(lse.shape[1], 3)}},
        {WRITE, ATTN_E_SHAPE, "lse", "rows is 2", {I64(lse.shape[2], 2)}},
        {WRITE, ATTN_E_SHAPE, "lse", "columns is 6", {I64(lse.shape[3], 6)}},
        {FORWARD, ATTN_E_DTYPE, "out", "f64", {I32(out.dtype, ATTN_F64)}},
        {WRITE, ATTN_E_DTYPE, "out", "f16", {I32(out.dtype, ATTN_F16)}},
        {WRITE, ATTN_E_DTYPE, "out", "bool", {I32(out.dtype, ATTN_BOOL)}},
        {WRITE, ATTN_E_DTYPE, "out", "1234", {I32(out.dtype, 1234)}},
        {WRITE, ATTN_E_DTYPE, "lse", "bf16", {I32(lse.dtype, ATTN_BF16)}},
        {WRITE, ATTN_E_DTYPE, "lse", "-1", {I32(lse.dtype, -1)}},
        {WRITE, ATTN_E_OVERFLOW, "out", NULL, {I64(out.stride[0], MAX_I64 / 2)}},
        {WRITE, ATTN_E_OVERFLOW, "lse", NULL, {I64(lse.stride[2], INT64_MIN)}},
    };
    CHECK_REFUSED(table);
}

TEST(outputs_whose_elements_cannot_be_told_apart_are_refused) {
    static const wrong table[] = {
        {WRITE, ATTN_E_STRIDE, "out", "batch is 0", {I64(out.stride[0], 0)}},
        {WRITE, ATTN_E_STRIDE, "out", "heads is 0", {I64(out.stride[1], 0)}},
        {WRITE, ATTN_E_STRIDE, "out", "rows is 0", {I64(out.stride[2], 0)}},
        {WRITE, ATTN_E_STRIDE, "out", "0", {I64(out.stride[3], 0)}},
        {WRITE, ATTN_E_STRIDE, "out", "2", {I64(out.stride[3], 2)}},
        {WRITE, ATTN_E_STRIDE, "out", "aligned", {AT(out.data, o, 1)}},
        {WRITE, ATTN_E_STRIDE, "lse", "batch is 0", {I64(lse.stride[0], 0)}},
        {WRITE, ATTN_E_STRIDE, "lse", "heads is 0", {I64(lse.stride[1], 0)}},
        {WRITE, ATTN_E_STRIDE, "lse", "rows is 0", {I64(lse.stride[2], 0)}},
        {WRITE, ATTN_E_STRIDE, "lse", "aligned", {AT(lse.data, l, 2)}},
    };
    CHECK_REFUSED(table);
}

#define LAST(array) (sizeof((scene *)0)->array - sizeof(float)) /* its last element */

TEST(outputs_that_overlap_something_are_refused) {
    static const wrong table[] = {
        {WRITE, ATTN_E_OVERLAP, "out", "q", {AT(out.data, q, 0)}},
        {WRITE, ATTN_E_OVERLAP, "out", "q", {AT(out.data, q, LAST(q))}},
        {WRITE, ATTN_E_OVERLAP, "out", "k", {AT(out.data, k, LAST(k))}},
        {WRITE, ATTN_E_OVERLAP, "out", "v", {AT(out.data, v, 0)}},
        {WRITE, ATTN_E_OVERLAP, "out", "q", {AT(args.q.data, o, 0)}},
        {WRITE, ATTN_E_OVERLAP, "out", "k", {AT(args.k.data, o, 8)}},
        {WRITE, ATTN_E_OVERLAP, "out", "mask", {WITH_MASK, AT(args.mask.data, o, 100)}},
        {WRITE, ATTN_E_OVERLAP, "out", "bias", {WITH_BIAS, AT(args.bias.data, o, 100)}},
        {WRITE, ATTN_E_OVERLAP, "lse", "q", {AT(lse.data, q, LAST(q))}},
        {WRITE, ATTN_E_OVERLAP, "lse", "k", {AT(lse.data, k, 0)}},
        {WRITE, ATTN_E_OVERLAP, "lse", "v", {AT(lse.data, v, 16)}},
        {WRITE, ATTN_E_OVERLAP, "lse", "mask", {WITH_MASK, AT(lse.data, mask, 0)}},
        {WRITE, ATTN_E_OVERLAP, "lse", "bias", {WITH_BIAS, AT(lse.data, bias, 0)}},
        {WRITE, ATTN_E_OVERLAP, "lse", "out", {AT(lse.data, o, 4)}},
        {WRITE, ATTN_E_OVERLAP, "lse", "out", {AT(out.data, l, 0)}},
    };
    CHECK_REFUSED(table);
}

TEST(wrong_inspections_are_refused) {
    static const wrong table[] = {
        {INSPECT, ATTN_E_SHAPE, "raw", "rows is 4", {I64(what.raw.shape[2], 4)}},
        {INSPECT, ATTN_E_SHAPE, "capped", "columns is 6", {I64(what.capped.shape[3], 6)}},
        {INSPECT, ATTN_E_SHAPE, "biased", "batch is 1", {I64(what.biased.shape[0], 1)}},
        {INSPECT, ATTN_E_SHAPE, "weights", "heads is 2", {I64(what.weights.shape[1], 2)}},
        {INSPECT, ATTN_E_SHAPE, "entropy", "columns is 5", {I64(what.entropy.shape[3], 5)}},
        {INSPECT, ATTN_E_SHAPE, "received", "rows is 3", {I64(what.received.shape[2], 3)}},
        {INSPECT, ATTN_E_SHAPE, "top_key", "columns is 3", {I64(what.top_key.shape[3], 3)}},
        {INSPECT, ATTN_E_SHAPE, "top_weight", " 0,", {I64(what.top_weight.shape[3], 0)}},
        {INSPECT, ATTN_E_SHAPE, "raw", "-3", {I64(what.raw.shape[2], -3)}},
        {INSPECT, ATTN_E_DTYPE, "raw", "f16", {I32(what.raw.dtype, ATTN_F16)}},
        {INSPECT, ATTN_E_DTYPE, "weights", "77", {I32(what.weights.dtype, 77)}},
        {INSPECT, ATTN_E_DTYPE, "entropy", "i64", {I32(what.entropy.dtype, ATTN_I64)}},
        {INSPECT, ATTN_E_DTYPE, "top_key", "f64", {I32(what.top_key.dtype, ATTN_F64)}},
        {INSPECT, ATTN_E_DTYPE, "top_weight", "i64", {I32(what.top_weight.dtype, ATTN_I64)}},
        {INSPECT, ATTN_E_STRIDE, "weights", "columns is 0", {I64(what.weights.stride[3], 0)}},
        {INSPECT, ATTN_E_STRIDE, "received", "heads is 0", {I64(what.received.stride[1], 0)}},
        {INSPECT, ATTN_E_STRIDE, "top_key", "aligned", {AT(what.top_key.data, top_key, 4)}},
        {INSPECT, ATTN_E_OVERFLOW, "raw", NULL, {I64(what.raw.stride[0], MAX_I64)}},
        {INSPECT, ATTN_E_OVERLAP, "raw", "q", {AT(what.raw.data, q, 0)}},
        {INSPECT, ATTN_E_OVERLAP, "received", "v", {AT(what.received.data, v, 0)}},
        {INSPECT, ATTN_E_OVERLAP, "capped", "raw", {AT(what.capped.data, raw, 0)}},
        {INSPECT, ATTN_E_OVERLAP, "received", "entropy", {AT(what.received.data, entropy, 8)}},
        {INSPECT, ATTN_E_OVERLAP, "top_key", "top_weight", {AT(what.top_key.data, top_weight, 0)}},
    };
    CHECK_REFUSED(table);
}

TEST(wrong_partial_results_are_refused) {
    static const wrong table[] = {
        {MERGE, ATTN_E_DTYPE, "parts[0].out", "i64", {I32(a.out.dtype, ATTN_I64)}},
        {MERGE, ATTN_E_DTYPE, "parts[1].lse", "f16", {I32(b.lse.dtype, ATTN_F16)}},
        {MERGE, ATTN_E_DTYPE, "result.out", "?", {I32(result.out.dtype, 55)}},
        {MERGE, ATTN_E_SHAPE, "parts[0].out", "-1", {I64(a.out.shape[1], -1)}},
        {MERGE, ATTN_E_SHAPE, "parts[1].lse", "-2", {I64(b.lse.shape[0], -2)}},
        {MERGE, ATTN_E_SHAPE, "parts[0].lse", NULL, {I64(a.lse.shape[3], 2)}},
        {MERGE, ATTN_E_SHAPE, "parts[0].lse", NULL, {I64(a.lse.shape[2], 2)}},
        {MERGE, ATTN_E_SHAPE, "parts[1].lse", NULL, {I64(b.out.shape[0], 1)}},
        {MERGE, ATTN_E_SHAPE, "parts[0].out", NULL, {I64(a.out.shape[3], 5)}},
        {MERGE, ATTN_E_STRIDE, "parts[1].out", "3", {I64(b.out.stride[3], 3)}},
        {MERGE, ATTN_E_STRIDE, "result.out", "0", {I64(result.out.stride[2], 0)}},
        {MERGE, ATTN_E_STRIDE, "result.lse", "0", {I64(result.lse.stride[0], 0)}},
        {MERGE, ATTN_E_STRIDE, "parts[0].out", "aligned", {AT(a.out.data, a_out, 2)}},
        {MERGE, ATTN_E_OVERLAP, "result", "parts[0]", {AT(result.out.data, a_out, 4)}},
        {MERGE, ATTN_E_OVERLAP, "result", "parts[1]", {AT(result.lse.data, b_lse, 4)}},
        {MERGE, ATTN_E_OVERLAP, "result", "parts[1]", {AT(result.lse.data, b_out, 0)}},
        {MERGE, ATTN_E_OVERLAP, "result", "lse", {AT(result.lse.data, o, 0)}},
    };
    CHECK_REFUSED(table);
}

/* ------------------------------------------------------------------------------------ workspace */

static _Alignas(64) char workspace[WORKSPACE_ROOM];

/* The scene with a workspace of `missing` bytes too few, `shift` bytes off its alignment. */
static attn_status forward_in_workspace(size_t missing, size_t shift, attn_error *err) {
    size_t bytes;
    scene_reset(&now);
    if (attn_forward_workspace(now.ctx, &now.args, &bytes, NULL) != ATTN_OK) return ATTN_E_SELFTEST;
    if (bytes + 64 > sizeof workspace) return ATTN_E_SELFTEST;
    now.args.workspace = workspace + shift;
    now.args.workspace_size = bytes - missing;
    memcpy(&before, &now, sizeof now);
    return call(&now, FORWARD, err);
}

TEST(workspace_that_holds_a_tensor_is_refused) {
    attn_error err = {""};
    scene_reset(&now);
    CHECK_INT(forward_in_workspace(0, 0, &err), ATTN_OK);
    now.out.data = workspace + 64;
    CHECK_INT(attn_forward(now.ctx, &now.args, &now.out, NULL, &err), ATTN_E_OVERLAP);
    CHECK_MSG(strncmp(err.message, "workspace:", 10) == 0, "%s", err.message);
    now.out.data = now.o;
    now.args.k.data = workspace + 64;
    CHECK_INT(attn_forward(now.ctx, &now.args, &now.out, NULL, &err), ATTN_E_OVERLAP);
}

TEST(workspace_too_small_or_misaligned_is_refused) {
    static const size_t shifts[] = {0, 1, 8, 32, 63};
    for (int s = 0; s < COUNT_OF(shifts); s++) {
        for (size_t missing = 0; missing < 2; missing++) {
            attn_error err = {""};
            const attn_status status = forward_in_workspace(missing, shifts[s], &err);
            if (missing == 0 && shifts[s] == 0) {
                CHECK_INT(status, ATTN_OK);
                continue;
            }
            char size[32];
            snprintf(size, sizeof size, " %zu bytes", now.args.workspace_size);
            CHECK_INT(status, ATTN_E_WORKSPACE);
            CHECK_MSG(strncmp(err.message, "workspace:", 10) == 0 && strstr(err.message, size),
                      "%s", err.message);
            CHECK(memcmp(&before, &now, sizeof now) == 0);
            CHECK_INT(forward_in_workspace(missing, shifts[s], NULL), ATTN_E_WORKSPACE);
        }
    }
}

TEST(workspace_of_size_zero_is_refused) {
    attn_error err = {""};
    scene_reset(&now);
    now.args.workspace = workspace;
    now.args.workspace_size = 0;
    CHECK_INT(call(&now, FORWARD, &err), ATTN_E_WORKSPACE);
    CHECK_MSG(strstr(err.message, " 0 bytes"), "%s", err.message);
}

TEST(oracle_ignores_the_workspace) {
    scene_reset(&now);
    now.args.workspace = workspace + 1;
    now.args.workspace_size = 3;
    CHECK_INT(call(&now, REFERENCE, NULL), ATTN_OK);
}

/* --------------------------------------------------------------------------- one buffer for all */

/* A row holds q, k, v and out of every head: [row][head][q|k|v|out][D]. */
enum { D = 4, SLOTS = 4 };

static attn_tensor slot(float *buffer, int at, int64_t heads) {
    attn_tensor t = attn_tensor_bhsd(buffer + at * D, ATTN_F32, 1, heads, N_K, D);
    t.stride[1] = SLOTS * D;
    t.stride[2] = heads * SLOTS * D;
    return t;
}

TEST(interleaved_q_k_v_and_out_do_not_overlap) {
    float buffer[N_K * H * SLOTS * D], apart[H * N_K * D];
    attn_args args;
    attn_args_init(&args);
    for (int e = 0; e < COUNT_OF(buffer); e++) buffer[e] = (float)(e * 37 % 101) / 50 - 1;
    args.q = slot(buffer, 0, H);
    args.k = slot(buffer, 1, H);
    args.v = slot(buffer, 2, H);
    const attn_tensor inside = slot(buffer, 3, H),
                      outside = attn_tensor_bhsd(apart, ATTN_F32, 1, H, N_K, D);
    scene_reset(&now);
    CHECK_INT(attn_forward(ctx, &args, &outside, NULL, NULL), ATTN_OK);
    CHECK_INT(attn_forward(ctx, &args, &inside, NULL, NULL), ATTN_OK);
    for (int h = 0; h < H; h++) {
        for (int i = 0; i < N_K; i++) {
            const float *row = buffer + (i * H + h) * SLOTS * D + 3 * D;
            CHECK(memcmp(row, apart + (h * N_K + i) * D, D * sizeof(float)) == 0);
        }
    }
}

/* The other usual order: [row][q|k|v|out][head][D]. */
TEST(q_k_v_and_out_side_by_side_in_a_row_do_not_overlap) {
    float buffer[N_K * SLOTS * H * D];
    attn_tensor t[SLOTS];
    attn_args args;
    attn_args_init(&args);
    for (int e = 0; e < COUNT_OF(buffer); e++) buffer[e] = 1;
    for (int s = 0; s < SLOTS; s++) {
        t[s] = attn_tensor_bhsd(buffer + s * H * D, ATTN_F32, 1, H, N_K, D);
        t[s].stride[1] = D;
        t[s].stride[2] = SLOTS * H * D;
    }
    args.q = t[0];
    args.k = t[1];
    args.v = t[2];
    scene_reset(&now);
    CHECK_INT(attn_forward(ctx, &args, &t[3], NULL, NULL), ATTN_OK);
    t[3].data = buffer + 3 * H * D - 1; /* one element into the last head of v */
    CHECK_INT(attn_forward(ctx, &args, &t[3], NULL, NULL), ATTN_E_OVERLAP);
}

TEST(results_that_would_overwrite_each_other_are_refused) {
    static const wrong table[] = {
        {WRITE, ATTN_E_STRIDE, "out", "5", {I64(out.stride[2], D_V - 1)}},
        {WRITE, ATTN_E_STRIDE, "out", "17", {I64(out.stride[1], N_Q * D_V - 1)}},
        {WRITE, ATTN_E_STRIDE, "out", "-71", {I64(out.stride[0], -(H * N_Q * D_V - 1))}},
    };
    CHECK_REFUSED(table);
}

TEST(interleaved_out_one_element_off_overlaps) {
    float buffer[N_K * H * SLOTS * D + 1];
    attn_args args;
    attn_error err = {""};
    attn_args_init(&args);
    for (int e = 0; e < COUNT_OF(buffer); e++) buffer[e] = 1;
    args.q = slot(buffer, 0, H);
    args.k = slot(buffer, 1, H);
    args.v = slot(buffer, 2, H);
    scene_reset(&now);
    for (int off = -1; off <= 1; off += 2) { /* into v of this row, or q of the next */
        const attn_tensor out = slot(buffer + off, 3, H);
        CHECK_INT(attn_forward(ctx, &args, &out, NULL, &err), ATTN_E_OVERLAP);
        CHECK_MSG(strstr(err.message, off < 0 ? "overlaps v" : "overlaps q"), "%s", err.message);
    }
}

/* ------------------------------------------------------------------------ the end of the memory */

/* The view fits int64_t, but counted from where the data lies it passes the last address. */
TEST(views_that_pass_the_last_address_are_refused) {
    static const wrong table[] = {
        {READ, ATTN_E_OVERFLOW, "q", NULL, {I64(args.q.stride[0], (MAX_I64 - 400) / 4)}},
        {READ, ATTN_E_OVERFLOW, "k", NULL, {I64(args.k.stride[0], (MAX_I64 - 400) / 4)}},
        {WRITE, ATTN_E_OVERFLOW, "out", NULL, {I64(out.stride[0], (MAX_I64 - 400) / 4)}},
    };
    CHECK_REFUSED(table);
}
