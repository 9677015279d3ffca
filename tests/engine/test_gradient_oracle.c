/* SPDX-License-Identifier: Apache-2.0 */
/* test_gradient_oracle.c - checks that attn_reference_backward() is the derivative of
 * attn_reference(). Every element of every input is varied slightly, in f64, for every feature
 * alone and all together; masked, empty, shared and infinite inputs behave as attn.h says. */
#include "ref/gradient.h"
#include "sweeps.h"

#include <inttypes.h>
#include <stdlib.h>

/* --------------------------------------------------------------------------------- differences */

enum { ROUNDS = 6 };

/* loss = sum of dout * out, of the finite rows; size is the sum of magnitudes. */
static double loss(const problem *p, double *size) {
    double sum = 0, magnitude = 0;
    int64_t at[4] = {0};
    if (attn_reference(&p->args, &p->out, &p->lse, NULL) != ATTN_OK) return NAN;
    if (tensor_is_empty(p->out.shape)) return 0;
    do {
        const double x = tensor_get(&p->out, at[0], at[1], at[2], at[3]) *
                         tensor_get(&p->dout, at[0], at[1], at[2], at[3]);
        sum += x;
        magnitude += fabs(x);
    } while (tensor_next(p->out.shape, at));
    if (size) *size = magnitude;
    return sum;
}

/* d loss / d x by four points: (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12h, error h^4 f'''''/30. */
static double difference(problem *p, double *x) {
    static const double h = 0x1p-12, steps[4] = {1, -1, 2, -2}, factors[4] = {8, -8, -1, 1};
    const double before = *x;
    double sum = 0;
    for (int point = 0; point < 4; point++) {
        *x = before + steps[point] * h;
        sum += factors[point] * loss(p, NULL);
    }
    *x = before;
    return sum / (12 * h);
}

static bool agrees(const problem *p, const char *name, double gradient, double expected,
                   double allowed) {
    if (fabs(gradient - expected) <= allowed) return true;
    check_failed(__FILE__, __LINE__,
                 "%s is %.15g, differences give %.15g: off by %.3g, allowed %.3g\n    %s", name,
                 gradient, expected, fabs(gradient - expected), allowed, p->text);
    return false;
}

/* Every element of an input against its gradient. */
static bool tensor_agrees(problem *p, const char *name, const attn_tensor *input,
                          const attn_tensor *gradient, double allowed) {
    int64_t at[4] = {0};
    if (!gradient->data || tensor_is_empty(input->shape)) return true;
    do {
        double *x = tensor_at(input, at);
        const double actual = tensor_get(gradient, at[0], at[1], at[2], at[3]);
        if (!agrees(p, name, actual, difference(p, x), allowed)) return false;
    } while (tensor_next(input->shape, at));
    return true;
}

static bool numbers_agree(problem *p, double allowed) {
    const attn_gradients *g = &p->gradients;
    if (p->args.scale == ATTN_SCALE_AUTO) p->args.scale = 1 / sqrt((double)p->spec.d_k);
    if (!agrees(p, "dscale", *g->dscale, difference(p, &p->args.scale), allowed)) return false;
    for (int64_t h = 0; g->dsinks && h < p->spec.H; h++) {
        if (!agrees(p, "dsinks", g->dsinks[h], difference(p, &p->sinks[h]), allowed)) return false;
    }
    return true;
}

/* Rounding of the loss by 2^-53 of its parts, divided by h, is below 1e-11 of the size of the
 * loss; the rest is the fifth derivative, largest for steep softmaxes. */
static bool all_agree(problem *p) {
    const attn_gradients *g = &p->gradients;
    double size;
    loss(p, &size);
    const double allowed = 1e-8 * fmax(1, size);
    return tensor_agrees(p, "dq", &p->args.q, &g->dq, allowed) &&
           tensor_agrees(p, "dk", &p->args.k, &g->dk, allowed) &&
           tensor_agrees(p, "dv", &p->args.v, &g->dv, allowed) &&
           tensor_agrees(p, "dbias", &p->args.bias, &g->dbias, allowed) &&
           numbers_agree(p, allowed);
}

/* ---------------------------------------------------------------------------------------- cases */

/* Bias and its gradient as plain f64 matrices, so that single elements can be moved. The memory is
 * to be freed; NULL without bias or after a failure. */
static double *widen_bias(problem *p) {
    attn_tensor *bias = &p->args.bias;
    if (!bias->data) return NULL;
    const int64_t *n = bias->shape, count = n[0] * n[1] * n[2] * n[3];
    double *memory = malloc((size_t)(2 * count + 1) * sizeof *memory);
    if (!memory) {
        check_failed(__FILE__, __LINE__, "no memory");
        return NULL;
    }
    const attn_tensor wide = attn_tensor_bhsd(memory, ATTN_F64, n[0], n[1], n[2], n[3]);
    int64_t at[4] = {0};
    if (count > 0) {
        do tensor_set(&wide, at, tensor_get(bias, at[0], at[1], at[2], at[3]));
        while (tensor_next(n, at));
    }
    p->gradients.dbias = attn_tensor_bhsd(memory + count, ATTN_F64, n[0], n[1], n[2], n[3]);
    *bias = wide;
    return memory;
}

/* Offsets so large that ALiBi drowns the scores have no differences to measure. */
static void tame_offsets(problem *p) {
    for (int64_t b = 0; b < p->spec.B; b++) {
        if (p->offsets[b] > 100) p->offsets[b] = b;
    }
    if (p->args.offset > 100) p->args.offset = p->offsets[0];
}

static bool run_reference(problem *p) {
    attn_error err = {""};
    const attn_results results = {.struct_size = sizeof(attn_results), .dout = p->dout};
    if (attn_reference_backward(&p->args, &results, &p->gradients, &err) == ATTN_OK) return true;
    check_failed(__FILE__, __LINE__, "%s\n    %s", err.message, p->text);
    return false;
}

static bool case_agrees(int feature, int round) {
    const problem_spec spec = {.seed = 300 + (uint64_t)(feature * ROUNDS + round),
                               .dtype = ATTN_F64,
                               .B = 2,
                               .H = 4,
                               .H_kv = round % 2 ? 2 : 1,
                               .n_q = round % 3 ? 4 : 7,
                               .n_k = round % 3 ? 7 : 5,
                               .d_k = 1 + round % 4,
                               .d_v = 3,
                               .features = feature_sets[feature],
                               .layout = round % 2 ? LAYOUT_PADDED : LAYOUT_BHSD};
    problem p;
    double *bias = NULL;
    bool ok = problem_make(&p, &spec) && problem_make_backward(&p, WANT_ALL);
    if (ok) {
        tame_offsets(&p);
        bias = widen_bias(&p);
        ok = run_reference(&p) && all_agree(&p);
    }
    free(bias);
    problem_free(&p);
    return ok;
}

TEST(gradients_are_the_differences_of_the_loss_for_every_feature_and_all_together) {
    for (int feature = 0; feature < FEATURE_SETS; feature++) {
        for (int round = 0; round < ROUNDS; round++) {
            if (!case_agrees(feature, round)) return;
        }
    }
}

/* ----------------------------------------------------------------------------------- dbias sums */

enum { B = 2, H = 4, N_Q = 9, N_K = 11, PAIRS = B * H * N_Q * N_K };

/* A problem with a bias whose elements stand for one pair or many. */
typedef struct bias_case {
    problem p;
    double bias[PAIRS], small[PAIRS], full[PAIRS], summed[PAIRS];
} bias_case;

static bool bias_begin(bias_case *c) {
    const problem_spec spec = {.seed = 900,
                               .dtype = ATTN_F64,
                               .B = B,
                               .H = H,
                               .H_kv = 2,
                               .n_q = N_Q,
                               .n_k = N_K,
                               .d_k = 3,
                               .d_v = 4,
                               .features = PROBLEM_CAUSAL | PROBLEM_SOFTCAP | PROBLEM_TEMPERATURE};
    random_stream r = random_begin(901, 0);
    for (int e = 0; e < PAIRS; e++) c->bias[e] = random_between(&r, -2, 2);
    return problem_make(&c->p, &spec) && problem_make_backward(&c->p, 0);
}

/* dbias in the shape and strides of the bias, and in one element per pair for the same bias. */
static bool both_agree(bias_case *c, const attn_tensor *bias) {
    problem *p = &c->p;
    attn_tensor small = *bias, summed = *bias, wide = *bias;
    const ptrdiff_t first = (double *)bias->data - c->bias;
    int64_t at[4] = {0};
    const int64_t shape[4] = {B, H, N_Q, N_K};
    small.data = c->small + first;
    summed.data = c->summed + first;
    for (int e = 0; e < PAIRS; e++) c->summed[e] = 0;
    for (int k = 0; k < 4; k++) {
        wide.stride[k] = bias->shape[k] == 1 ? 0 : bias->stride[k];
        wide.shape[k] = shape[k];
    }
    p->args.bias = *bias;
    p->gradients.dbias = small;
    if (!run_reference(p)) return false;
    p->args.bias = wide;
    p->gradients.dbias = attn_tensor_bhsd(c->full, ATTN_F64, B, H, N_Q, N_K);
    if (!run_reference(p)) return false;
    summed.stride[0] = wide.stride[0];
    summed.stride[1] = wide.stride[1];
    summed.stride[2] = wide.stride[2];
    do {
        const double x = tensor_get(&p->gradients.dbias, at[0], at[1], at[2], at[3]);
        tensor_set(&summed, at, tensor_get(&summed, at[0], at[1], at[2], at[3]) + x);
    } while (tensor_next(shape, at));
    do {
        const double x = tensor_get(&small, at[0], at[1], at[2], at[3]);
        const double sum = tensor_get(&summed, at[0], at[1], at[2], at[3]);
        if (!agrees(p, "dbias", x, sum, 1e-13 * fmax(1, fabs(sum)))) return false;
    } while (tensor_next(bias->shape, at));
    return true;
}

TEST(dbias_of_a_bias_shared_over_batch_heads_or_rows_is_the_sum_over_them) {
    static bias_case c;
    bool ok = bias_begin(&c);
    for (int kind = 0; ok && kind < 8; kind++) {
        const attn_tensor bias = attn_tensor_bhsd(c.bias, ATTN_F64, kind & 1 ? B : 1,
                                                  kind & 2 ? H : 1, kind & 4 ? N_Q : 1, N_K);
        ok = both_agree(&c, &bias);
    }
    problem_free(&c.p);
}

/* Element (i, j) lies at j - i: one number per distance, as in relative position biases. */
TEST(dbias_as_a_sliding_view_is_the_sum_over_the_diagonals) {
    static bias_case c;
    attn_tensor bias = attn_tensor_bhsd(c.bias + N_Q - 1, ATTN_F64, 1, 1, N_Q, N_K);
    bias.stride[2] = -1;
    if (bias_begin(&c)) both_agree(&c, &bias);
    problem_free(&c.p);
}

TEST(dbias_in_f32_is_the_one_in_f64_rounded_once) {
    static bias_case c;
    float narrow[N_K];
    const attn_tensor bias = attn_tensor_bhsd(c.bias, ATTN_F64, 1, 1, 1, N_K);
    if (bias_begin(&c) && both_agree(&c, &bias)) {
        c.p.args.bias = bias;
        c.p.gradients.dbias = attn_tensor_bhsd(narrow, ATTN_F32, 1, 1, 1, N_K);
        for (int j = 0; run_reference(&c.p) && j < N_K; j++) {
            if (narrow[j] == (float)c.small[j]) continue;
            check_failed(__FILE__, __LINE__, "%.9g, expected %.9g", (double)narrow[j], c.small[j]);
        }
    }
    problem_free(&c.p);
}
