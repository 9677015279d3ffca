/* SPDX-License-Identifier: Apache-2.0 */
/* test_null.c - NULL for every pointer of every public function: ATTN_E_NULL if there is a status,
 * otherwise nothing or the documented value. check_null.py in this directory checks that no
 * function is missing here. A NULL err is part of every call. */
#include "check.h"

#include <attn/attn.h>

#include <string.h>

enum { N = 2 };

static float data[4 * N];
static attn_args args;
static attn_tensor out;
static attn_results results;
static attn_gradients gradients;
static attn_inspection what;
static attn_cost_info cost;
static attn_partial partial;
static attn_pattern *pattern, *made;
static attn_ctx *ctx;

static void begin(void) {
    attn_args_init(&args);
    attn_results_init(&results);
    attn_gradients_init(&gradients);
    attn_inspection_init(&what);
    attn_cost_info_init(&cost);
    attn_partial_init(&partial);
    out = attn_tensor_bhsd(data, ATTN_F32, 1, 1, N, 1);
    args.q = args.k = args.v = attn_tensor_bhsd(data + N, ATTN_F32, 1, 1, N, 1);
    attn_ctx_create(NULL, &ctx, NULL);
    attn_pattern_causal(N, N, 0, NULL, &pattern, NULL);
}

static void end(void) {
    attn_pattern_destroy(pattern);
    attn_ctx_destroy(ctx);
    pattern = NULL;
    ctx = NULL;
}

#define REFUSES(call) CHECK_INT(call, ATTN_E_NULL)

TEST(inits_do_nothing_without_a_struct) {
    attn_args_init(NULL);
    attn_args_init_sized(NULL, 8);
    attn_ctx_options_init(NULL);
    attn_ctx_options_init_sized(NULL, 8);
    attn_cpu_init(NULL);
    attn_cpu_init_sized(NULL, 8);
    attn_gradients_init(NULL);
    attn_gradients_init_sized(NULL, 8);
    attn_results_init(NULL);
    attn_results_init_sized(NULL, 8);
    attn_inspection_init(NULL);
    attn_inspection_init_sized(NULL, 8);
    attn_partial_init(NULL);
    attn_partial_init_sized(NULL, 8);
    attn_cost_info_init(NULL);
    attn_cost_info_init_sized(NULL, 8);
}

TEST(functions_of_values_give_names_and_numbers) {
    CHECK(attn_version() != NULL && attn_version_number() > 0);
    CHECK(attn_strerror(ATTN_OK) && attn_status_name(ATTN_OK));
    CHECK(attn_dtype_size(ATTN_F32) == 4 && attn_dtype_name(ATTN_F32));
    CHECK(attn_isa_name(ATTN_ISA_AUTO) && attn_isa_count() > 0);
    CHECK(attn_isa_built(ATTN_ISA_SCALAR) >= attn_isa_usable(ATTN_ISA_SCALAR));
    CHECK_INT(attn_dropout_keep(1, 0, 0, 0, 0, 0), 1);
    CHECK(attn_tensor_bhsd(NULL, ATTN_F32, 1, 1, 1, 1).data == NULL);
    CHECK(attn_tensor_bshd(NULL, ATTN_F32, 1, 1, 1, 1).data == NULL);
}

TEST(context_functions) {
    REFUSES(attn_ctx_create(NULL, NULL, NULL));
    attn_ctx_destroy(NULL);
    attn_ctx_trim(NULL);
    CHECK_INT(attn_ctx_isa(NULL), ATTN_ISA_AUTO);
    CHECK_INT(attn_ctx_threads(NULL), 0);
    REFUSES(attn_cpu_info(NULL, NULL));
}

TEST(functions_that_compute) {
    begin();
    REFUSES(attn_forward(NULL, &args, &out, NULL, NULL));
    REFUSES(attn_forward(ctx, NULL, &out, NULL, NULL));
    REFUSES(attn_forward(ctx, &args, NULL, NULL, NULL));
    REFUSES(attn_backward(NULL, &args, &results, &gradients, NULL));
    REFUSES(attn_backward(ctx, NULL, &results, &gradients, NULL));
    REFUSES(attn_backward(ctx, &args, NULL, &gradients, NULL));
    results.out = results.dout = out;
    results.lse = attn_tensor_bhsd(data + 3 * N, ATTN_F32, 1, 1, N, 1);
    REFUSES(attn_backward(ctx, &args, &results, NULL, NULL));
    REFUSES(attn_inspect(NULL, &args, &what, NULL));
    REFUSES(attn_inspect(ctx, NULL, &what, NULL));
    REFUSES(attn_inspect(ctx, &args, NULL, NULL));
    REFUSES(attn_reference(NULL, &out, NULL, NULL));
    REFUSES(attn_reference(&args, NULL, NULL, NULL));
    REFUSES(attn_reference_backward(NULL, &results, &gradients, NULL));
    REFUSES(attn_reference_backward(&args, NULL, &gradients, NULL));
    REFUSES(attn_reference_backward(&args, &results, NULL, NULL));
    partial.out = out;
    partial.lse = results.lse;
    const attn_partial *const parts[2] = {&partial, NULL};
    REFUSES(attn_merge(NULL, 1, &partial, NULL));
    REFUSES(attn_merge(parts, 2, &partial, NULL));
    REFUSES(attn_merge(parts, 1, NULL, NULL));
    REFUSES(attn_alibi_slopes(4, NULL, NULL));
    end();
}

TEST(functions_that_count) {
    size_t bytes;
    char text[8];
    begin();
    REFUSES(attn_forward_workspace(NULL, &args, &bytes, NULL));
    REFUSES(attn_forward_workspace(ctx, NULL, &bytes, NULL));
    REFUSES(attn_forward_workspace(ctx, &args, NULL, NULL));
    REFUSES(attn_backward_workspace(NULL, &args, &gradients, &bytes, NULL));
    REFUSES(attn_backward_workspace(ctx, NULL, &gradients, &bytes, NULL));
    REFUSES(attn_backward_workspace(ctx, &args, NULL, &bytes, NULL));
    REFUSES(attn_backward_workspace(ctx, &args, &gradients, NULL, NULL));
    REFUSES(attn_saved_size(NULL, &args, &bytes, NULL));
    REFUSES(attn_saved_size(ctx, NULL, &bytes, NULL));
    REFUSES(attn_saved_size(ctx, &args, NULL, NULL));
    REFUSES(attn_cost(NULL, &args, &cost, NULL));
    REFUSES(attn_cost(ctx, NULL, &cost, NULL));
    REFUSES(attn_cost(ctx, &args, NULL, NULL));
    REFUSES(attn_plan_explain(NULL, &args, text, sizeof text, &bytes, NULL));
    REFUSES(attn_plan_explain(ctx, NULL, text, sizeof text, &bytes, NULL));
    REFUSES(attn_plan_explain(ctx, &args, NULL, sizeof text, &bytes, NULL));
    CHECK_INT(attn_plan_explain(ctx, &args, NULL, 0, NULL, NULL), ATTN_OK);
    end();
}

TEST(pattern_constructors_need_a_place_for_the_result) {
    const int64_t ids[N] = {0, 1}, row_ptr[N + 1] = {0, 1, 2}, col[N] = {0, 1};
    const uint8_t allow[N * N] = {1, 1, 1, 1};
    begin();
    REFUSES(attn_pattern_causal(N, N, 0, NULL, NULL, NULL));
    REFUSES(attn_pattern_window(N, N, 0, 1, 1, NULL, NULL, NULL));
    REFUSES(attn_pattern_prefix(N, N, 1, NULL, NULL, NULL));
    REFUSES(attn_pattern_document(N, N, ids, ids, NULL, NULL, NULL));
    REFUSES(attn_pattern_global(N, N, 1, NULL, NULL, NULL));
    REFUSES(attn_pattern_strided(N, N, 0, 1, NULL, NULL, NULL));
    REFUSES(attn_pattern_random_blocks(N, N, 1, 1, 1, NULL, NULL, NULL));
    REFUSES(attn_pattern_dense(N, N, allow, NULL, NULL, NULL));
    REFUSES(attn_pattern_from_csr(N, N, row_ptr, col, NULL, NULL, NULL));
    REFUSES(attn_pattern_intersect(pattern, pattern, NULL, NULL, NULL));
    REFUSES(attn_pattern_union(pattern, pattern, NULL, NULL, NULL));
    REFUSES(attn_pattern_complement(pattern, NULL, NULL, NULL));
    REFUSES(attn_pattern_longformer(N, 1, 1, NULL, NULL, NULL));
    REFUSES(attn_pattern_bigbird(N, 1, 1, 1, 1, 1, NULL, NULL, NULL));
    end();
}

TEST(pattern_constructors_need_their_inputs) {
    const int64_t ids[N] = {0, 1}, row_ptr[N + 1] = {0, 1, 2}, col[N] = {0, 1};
    begin();
    REFUSES(attn_pattern_document(N, N, NULL, ids, NULL, &made, NULL));
    REFUSES(attn_pattern_document(N, N, ids, NULL, NULL, &made, NULL));
    REFUSES(attn_pattern_dense(N, N, NULL, NULL, &made, NULL));
    REFUSES(attn_pattern_from_csr(N, N, NULL, col, NULL, &made, NULL));
    REFUSES(attn_pattern_from_csr(N, N, row_ptr, NULL, NULL, &made, NULL));
    REFUSES(attn_pattern_intersect(NULL, pattern, NULL, &made, NULL));
    REFUSES(attn_pattern_intersect(pattern, NULL, NULL, &made, NULL));
    REFUSES(attn_pattern_union(NULL, pattern, NULL, &made, NULL));
    REFUSES(attn_pattern_union(pattern, NULL, NULL, &made, NULL));
    REFUSES(attn_pattern_complement(NULL, NULL, &made, NULL));
    CHECK(made == NULL);
    end();
}

TEST(questions_about_no_pattern_give_zero) {
    int64_t row_ptr[N + 1], col[N * N];
    begin();
    attn_pattern_destroy(NULL);
    CHECK_INT(attn_pattern_rows(NULL), 0);
    CHECK_INT(attn_pattern_keys(NULL), 0);
    CHECK_INT(attn_pattern_at(NULL, 0, 0), 0);
    CHECK_INT(attn_pattern_count(NULL), 0);
    CHECK_INT(attn_pattern_intervals(NULL), 0);
    REFUSES(attn_pattern_to_csr(NULL, row_ptr, col, NULL));
    REFUSES(attn_pattern_to_csr(pattern, NULL, col, NULL));
    REFUSES(attn_pattern_to_csr(pattern, row_ptr, NULL, NULL));
    end();
}

TEST(selftest_needs_no_listener) { CHECK_INT(attn_selftest(NULL, NULL, NULL), ATTN_OK); }
