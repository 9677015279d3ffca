/* SPDX-License-Identifier: Apache-2.0 */
/* abi_user.c - a program that uses every struct that may grow. It is compiled with today's header
 * and with the next one (make_next.py), and both programs run with both libraries: with a library
 * at least as new everything works; with an older one every struct is rejected with ATTN_E_STRUCT.
 * Nothing is ever written beyond the end of a struct. The variable LIBRARY_VERSION says which
 * library should be loaded. */
#include "check.h"

#include <attn/attn.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BEHIND = 256 };

/* A struct and the caller's memory behind it. */
#define GUARDED(type, name)                                                                        \
    struct {                                                                                       \
        type it;                                                                                   \
        unsigned char behind[BEHIND];                                                              \
    } name;                                                                                        \
    memset(&(name), 0x5a, sizeof(name))

#define IS_INTACT(name) is_intact((name).behind)

static bool is_intact(const unsigned char behind[BEHIND]) {
    for (int at = 0; at < BEHIND; at++) {
        if (behind[at] != 0x5a) return false;
    }
    return true;
}

static bool library_is_older(void) { return attn_version_number() < ATTN_VERSION_NUMBER; }

/* What a call with structs of this program must return, and whether its message explains it. */
static bool is_as_expected(attn_status status, const attn_error *err) {
    if (!library_is_older()) return status == ATTN_OK;
    return status == ATTN_E_STRUCT && strstr(err->message, "struct_size is ") &&
           strstr(err->message, "_init() first");
}

#define CHECK_CALL(call)                                                                           \
    do {                                                                                           \
        attn_error err = {""};                                                                     \
        const attn_status status_ = (call);                                                        \
        CHECK_MSG(is_as_expected(status_, &err), "%s: %s %s", #call, attn_status_name(status_),    \
                  err.message);                                                                    \
    } while (0)

TEST(the_intended_library_is_loaded) {
    const char *wanted = getenv("LIBRARY_VERSION");
    CHECK(wanted != NULL);
    CHECK_INT(attn_version_number(), atoi(wanted));
}

/* Two keys that score alike: the result is the mean of their values. */
static const float q[2] = {0, 0}, k[4] = {1, 2, 3, 4}, v[4] = {1, 10, 3, 30};

static void set_inputs(attn_args *args) {
    args->q = attn_tensor_bhsd(q, ATTN_F32, 1, 1, 1, 2);
    args->k = attn_tensor_bhsd(k, ATTN_F32, 1, 1, 2, 2);
    args->v = attn_tensor_bhsd(v, ATTN_F32, 1, 1, 2, 2);
}

static attn_ctx *plain_ctx(void) {
    attn_ctx *ctx = NULL;
    if (attn_ctx_create(NULL, &ctx, NULL) != ATTN_OK) abort();
    return ctx;
}

TEST(init_sets_the_defaults_and_nothing_behind) {
    GUARDED(attn_args, args);
    GUARDED(attn_ctx_options, options);
    attn_args_init(&args.it);
    attn_ctx_options_init(&options.it);
    CHECK_INT(args.it.struct_size, sizeof args.it);
    CHECK_NEAR(args.it.temperature, 1, 0);
    CHECK(args.it.scale == ATTN_SCALE_AUTO && args.it.offset == ATTN_OFFSET_BOTTOM_RIGHT);
    CHECK(args.it.window_left == -1 && args.it.saved == NULL && args.it.q.data == NULL);
    CHECK_INT(options.it.threads, 1);
    CHECK(options.it.alloc.alloc && options.it.alloc.free && !options.it.pool.run);
    CHECK(IS_INTACT(args) && IS_INTACT(options));
}

TEST(context_takes_the_options) {
    GUARDED(attn_ctx_options, options);
    attn_ctx *ctx = NULL;
    attn_ctx_options_init(&options.it);
    options.it.isa = ATTN_ISA_SCALAR;
    CHECK_CALL(attn_ctx_create(&options.it, &ctx, &err));
    CHECK((ctx == NULL) == library_is_older());
    if (ctx) CHECK_INT(attn_ctx_isa(ctx), ATTN_ISA_SCALAR);
    CHECK(IS_INTACT(options));
    attn_ctx_destroy(ctx);
}

TEST(forward_and_backward_give_the_known_numbers) {
    GUARDED(attn_args, args);
    GUARDED(attn_results, results);
    GUARDED(attn_gradients, gradients);
    attn_ctx *ctx = plain_ctx();
    float o[2] = {-1, -1}, dv[4] = {-1, -1, -1, -1}, dout[2] = {4, 6};
    double lse[1];
    attn_args_init(&args.it);
    attn_results_init(&results.it);
    attn_gradients_init(&gradients.it);
    set_inputs(&args.it);
    results.it.out = attn_tensor_bhsd(o, ATTN_F32, 1, 1, 1, 2);
    results.it.lse = attn_tensor_bhsd(lse, ATTN_F64, 1, 1, 1, 1);
    results.it.dout = attn_tensor_bhsd(dout, ATTN_F32, 1, 1, 1, 2);
    gradients.it.dv = attn_tensor_bhsd(dv, ATTN_F32, 1, 1, 2, 2);
    CHECK_CALL(attn_forward(ctx, &args.it, &results.it.out, &results.it.lse, &err));
    CHECK_CALL(attn_backward(ctx, &args.it, &results.it, &gradients.it, &err));
    CHECK_CALL(attn_reference_backward(&args.it, &results.it, &gradients.it, &err));
    CHECK_NEAR((double)o[0], library_is_older() ? -1 : 2, 1e-6);
    CHECK_NEAR((double)o[1], library_is_older() ? -1 : 20, 1e-5);
    CHECK_NEAR((double)dv[3], library_is_older() ? -1 : 3, 1e-6);
    CHECK(IS_INTACT(args) && IS_INTACT(results) && IS_INTACT(gradients));
    attn_ctx_destroy(ctx);
}

TEST(inspection_gives_the_known_weights) {
    GUARDED(attn_args, args);
    GUARDED(attn_inspection, what);
    attn_ctx *ctx = plain_ctx();
    double weights[2] = {-1, -1};
    attn_args_init(&args.it);
    attn_inspection_init(&what.it);
    set_inputs(&args.it);
    what.it.weights = attn_tensor_bhsd(weights, ATTN_F64, 1, 1, 1, 2);
    CHECK_CALL(attn_inspect(ctx, &args.it, &what.it, &err));
    CHECK_NEAR(weights[1], library_is_older() ? -1 : 0.5, 1e-15);
    CHECK(IS_INTACT(args) && IS_INTACT(what));
    attn_ctx_destroy(ctx);
}

TEST(merge_takes_partial_results) {
    GUARDED(attn_partial, a);
    GUARDED(attn_partial, b);
    double out[2] = {1, 3}, lse[2] = {0, 0};
    attn_partial_init(&a.it);
    attn_partial_init(&b.it);
    a.it.out = attn_tensor_bhsd(&out[0], ATTN_F64, 1, 1, 1, 1);
    b.it.out = attn_tensor_bhsd(&out[1], ATTN_F64, 1, 1, 1, 1);
    a.it.lse = attn_tensor_bhsd(&lse[0], ATTN_F64, 1, 1, 1, 1);
    b.it.lse = attn_tensor_bhsd(&lse[1], ATTN_F64, 1, 1, 1, 1);
    const attn_partial *const parts[2] = {&a.it, &b.it};
    CHECK_CALL(attn_merge(parts, 2, &a.it, &err));
    CHECK_NEAR(out[0], library_is_older() ? 1 : 2, 1e-15);
    CHECK(IS_INTACT(a) && IS_INTACT(b));
}

TEST(what_the_library_writes_ends_with_the_struct) {
    GUARDED(attn_args, args);
    GUARDED(attn_cost_info, cost);
    GUARDED(attn_cpu, cpu);
    attn_ctx *ctx = plain_ctx();
    attn_args_init(&args.it);
    attn_cost_info_init(&cost.it);
    attn_cpu_init(&cpu.it);
    set_inputs(&args.it);
    CHECK_CALL(attn_cost(ctx, &args.it, &cost.it, &err));
    CHECK_CALL(attn_cpu_info(&cpu.it, &err));
    CHECK_NEAR(cost.it.pairs, library_is_older() ? 0 : 2, 0);
    CHECK((cpu.it.cpus >= 1) != library_is_older());
    CHECK_INT(cost.it.struct_size, sizeof cost.it);
    CHECK_INT(cpu.it.struct_size, sizeof cpu.it);
    CHECK(IS_INTACT(cost) && IS_INTACT(cpu));
    attn_ctx_destroy(ctx);
}

/* Enums only grow: every value of this header has a name unless the library is older. */
TEST(values_of_the_enums_keep_their_names) {
    CHECK_STR(attn_status_name(ATTN_E_STRUCT), "ATTN_E_STRUCT");
    CHECK_STR(attn_status_name(ATTN_E_SELFTEST), "ATTN_E_SELFTEST");
    CHECK_STR(attn_isa_name(ATTN_ISA_SIMD128), "simd128");
    for (int isa = 0; isa < attn_isa_count(); isa++)
        CHECK(strcmp(attn_isa_name((attn_isa)isa), "?") != 0);
    CHECK_STR(attn_isa_name((attn_isa)attn_isa_count()), "?");
}
