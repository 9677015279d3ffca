/* SPDX-License-Identifier: Apache-2.0 */
/* test_traps.c - a caller may let floating-point divisions by zero trap (feenableexcept): no part
 * of the library divides by zero, even for rows that see no key. A trap would end this program. */
#define _GNU_SOURCE
#include "isas.h"
#include "problem.h"

#include <fenv.h>
#include <math.h>

#ifdef __GLIBC__
static bool begin_traps(void) {
    return feenableexcept(FE_DIVBYZERO) != -1 && (fegetexcept() & FE_DIVBYZERO);
}
static void end_traps(void) { fedisableexcept(FE_DIVBYZERO); }
#else
static bool begin_traps(void) { return false; }
static void end_traps(void) {}
#endif

/* Ends the test as skipped where there are no traps. */
#define NEED_TRAPS()                                                                               \
    do {                                                                                           \
        if (!begin_traps()) SKIP("this machine or C library does not trap");                       \
    } while (0)

static const unsigned features[] = {
    PROBLEM_CAUSAL | PROBLEM_OFFSET, PROBLEM_MASK,
    PROBLEM_BIAS | PROBLEM_SINKS,    PROBLEM_PATTERN | PROBLEM_LENGTHS,
    PROBLEM_PACKED | PROBLEM_WINDOW, PROBLEM_EVERYTHING & ~PROBLEM_PACKED};

/* Forward and backward of problems with empty rows, empty panels and no keys at all. */
static void both_passes(attn_isa isa) {
    NEED_ISA(isa);
    NEED_TRAPS();
    attn_ctx *ctx = context_with(isa, 2);
    for (int x = 0; x < 4 * 6 * 2 && ctx && !check_has_failed(); x++) {
        const problem_spec spec = {.seed = 700 + (uint64_t)x,
                                   .dtype = (attn_dtype)(x % 4),
                                   .B = 2,
                                   .H = 2,
                                   .H_kv = 1,
                                   .n_q = 50,
                                   .n_k = x < 24 ? 37 : 0,
                                   .d_k = 5,
                                   .d_v = 9,
                                   .features = features[x / 4 % 6]};
        problem p;
        if (problem_make(&p, &spec) && problem_make_backward(&p, WANT_ALL) &&
            problem_run(&p, ctx)) {
            problem_remember(&p);
            problem_run_backward(&p, ctx);
        }
        problem_free(&p);
    }
    attn_ctx_destroy(ctx);
    end_traps();
}

/* One row that sees nothing and one that sees one key, through everything else. */
TEST(oracle_inspection_and_merge_divide_by_no_zero) {
    NEED_TRAPS();
    float q[2] = {1, 1}, k[2] = {1, 2}, v[2] = {3, 4}, out[2], lse[2], grad[6];
    double weights[4], entropy[2];
    const uint8_t mask[4] = {0, 0, 0, 1};
    attn_args args;
    attn_args_init(&args);
    args.q = attn_tensor_bhsd(q, ATTN_F32, 1, 1, 2, 1);
    args.k = attn_tensor_bhsd(k, ATTN_F32, 1, 1, 2, 1);
    args.v = attn_tensor_bhsd(v, ATTN_F32, 1, 1, 2, 1);
    args.mask = attn_tensor_bhsd(mask, ATTN_BOOL, 1, 1, 2, 2);
    args.scale = 0;
    const attn_partial part = {.struct_size = sizeof(attn_partial),
                               .out = attn_tensor_bhsd(out, ATTN_F32, 1, 1, 2, 1),
                               .lse = attn_tensor_bhsd(lse, ATTN_F32, 1, 1, 2, 1)};
    CHECK_INT(attn_reference(&args, &part.out, &part.lse, NULL), ATTN_OK);
    CHECK(out[0] == 0 && lse[0] == -INFINITY && out[1] == 4);
    const attn_results results = {
        .struct_size = sizeof results, .out = part.out, .lse = part.lse, .dout = part.out};
    attn_gradients g;
    attn_gradients_init(&g);
    g.dq = attn_tensor_bhsd(grad, ATTN_F32, 1, 1, 2, 1);
    g.dk = attn_tensor_bhsd(grad + 2, ATTN_F32, 1, 1, 2, 1);
    g.dv = attn_tensor_bhsd(grad + 4, ATTN_F32, 1, 1, 2, 1);
    CHECK_INT(attn_reference_backward(&args, &results, &g, NULL), ATTN_OK);
    attn_ctx *ctx = context_with(ATTN_ISA_AUTO, 1);
    attn_inspection what;
    attn_inspection_init(&what);
    what.weights = attn_tensor_bhsd(weights, ATTN_F64, 1, 1, 2, 2);
    what.entropy = attn_tensor_bhsd(entropy, ATTN_F64, 1, 1, 2, 1);
    CHECK_INT(attn_inspect(ctx, &args, &what, NULL), ATTN_OK);
    attn_ctx_destroy(ctx);
    const attn_partial *const parts[2] = {&part, &part};
    CHECK_INT(attn_merge(parts, 2, &part, NULL), ATTN_OK);
    CHECK(out[0] == 0 && lse[0] == -INFINITY);
    end_traps();
}

TEST(the_self_test_divides_by_no_zero) {
    NEED_TRAPS();
    attn_error err = {""};
    const attn_status status = attn_selftest(NULL, NULL, &err);
    end_traps();
    CHECK_MSG(status == ATTN_OK, "%s", err.message);
}

#define ISA_TESTS(isa, ISA)                                                                        \
    TEST(isa##_no_division_by_zero_in_forward_and_backward) { both_passes(ISA); }

ISA_LIST(ISA_TESTS)
