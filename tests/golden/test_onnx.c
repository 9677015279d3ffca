/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx.c - the 87 Attention cases of the ONNX conformance vectors (onnx.h) through
 * attn_forward(), attn_reference() and, for qk_matmul_output, attn_inspect(). How ONNX maps to
 * attn: past_key/past_value are prepended, offset = their length; nonpad_kv_seqlen = len_k, offset
 * = len_k - n_q; 3-d inputs are (B, n, H, d) views. Tolerances relative to max(1, |x|): f32 2e-6,
 * f16 1e-3. */
#include "onnx.h"
#include "ref/reference.h"

#include <stdlib.h>

enum { ATTENTION_CASES = 87, QK_CASES = 18 };

typedef struct attention_case {
    const json_t *json;
    const char *name;
    npy_array Q, K, V, mask, past_key, past_value, nonpad; /* inputs; data NULL if absent */
    npy_array Y, present_key, present_value, qk;           /* outputs; data NULL if absent */
    npy_array keys, values; /* past and new together, (B, H_kv, n_k, d) */
    attn_args args;
} attention_case;

static void read_arrays(attention_case *c) {
    onnx_read(c->json, "inputs", "Q", &c->Q);
    onnx_read(c->json, "inputs", "K", &c->K);
    onnx_read(c->json, "inputs", "V", &c->V);
    onnx_read(c->json, "inputs", "attn_mask", &c->mask);
    onnx_read(c->json, "inputs", "past_key", &c->past_key);
    onnx_read(c->json, "inputs", "past_value", &c->past_value);
    onnx_read(c->json, "inputs", "nonpad_kv_seqlen", &c->nonpad);
    onnx_read(c->json, "outputs", "Y", &c->Y);
    onnx_read(c->json, "outputs", "present_key", &c->present_key);
    onnx_read(c->json, "outputs", "present_value", &c->present_value);
    onnx_read(c->json, "outputs", "qk_matmul_output", &c->qk);
}

static void free_arrays(attention_case *c) {
    npy_array *const all[] = {
        &c->Q,          &c->K,      &c->V,     &c->mask,        &c->past_key,
        &c->past_value, &c->nonpad, &c->Y,     &c->present_key, &c->present_value,
        &c->qk,         &c->keys,   &c->values};
    for (size_t n = 0; n < sizeof all / sizeof all[0]; n++) npy_free(all[n]);
}

static double attribute(const attention_case *c, const char *key, double otherwise) {
    const json_t *value = onnx_attribute(c->json, key);
    return value ? json_number_value(value) : otherwise;
}

/* --------------------------------------------------------------------- from case to problem */

static void copy_rows(const attn_tensor *from, const attn_tensor *to, int64_t first) {
    for (int64_t b = 0; b < from->shape[0]; b++) {
        for (int64_t h = 0; h < from->shape[1]; h++) {
            for (int64_t i = 0; i < from->shape[2]; i++) {
                for (int64_t d = 0; d < from->shape[3]; d++) {
                    attni_ref_store(to, (int64_t[]){b, h, first + i, d},
                                    attni_ref_load(from, b, h, i, d));
                }
            }
        }
    }
}

/* past rows followed by new rows; the copy is exact in every dtype. */
static attn_tensor join(const npy_array *past, attn_tensor fresh, npy_array *joined) {
    if (!past->data) return fresh;
    const attn_tensor old = onnx_view(past, 0);
    const int64_t n = old.shape[2] + fresh.shape[2];
    const size_t count = (size_t)(fresh.shape[0] * fresh.shape[1] * n * fresh.shape[3]);
    joined->data = calloc(count, attn_dtype_size(fresh.dtype));
    const attn_tensor all = attn_tensor_bhsd(joined->data, fresh.dtype, fresh.shape[0],
                                             fresh.shape[1], n, fresh.shape[3]);
    copy_rows(&old, &all, 0);
    copy_rows(&fresh, &all, old.shape[2]);
    return all;
}

/* A Boolean mask allows, a float mask is added; either lines up with the scores from the right. */
static void set_mask(attention_case *c) {
    const npy_array *m = &c->mask;
    if (!m->data) return;
    const attn_tensor t =
        attn_tensor_bhsd(m->data, m->dtype, m->shape[0], m->shape[1], m->shape[2], m->shape[3]);
    if (m->dtype == ATTN_BOOL) {
        c->args.mask = t;
    } else {
        c->args.bias = t;
    }
}

static void set_args(attention_case *c) {
    const int64_t H = (int64_t)attribute(c, "q_num_heads", 1);
    const int64_t H_kv = (int64_t)attribute(c, "kv_num_heads", 1);
    attn_args *a = &c->args;
    attn_args_init(a);
    a->q = onnx_view(&c->Q, H);
    a->k = join(&c->past_key, onnx_view(&c->K, H_kv), &c->keys);
    a->v = join(&c->past_value, onnx_view(&c->V, H_kv), &c->values);
    a->scale = attribute(c, "scale", ATTN_SCALE_AUTO);
    a->softcap = attribute(c, "softcap", 0);
    a->causal = attribute(c, "is_causal", 0) != 0;
    a->window_left = (int64_t)attribute(c, "left_window_size", -1);
    a->window_right = (int64_t)attribute(c, "right_window_size", -1);
    a->len_k = c->nonpad.data;
    a->offset = c->nonpad.data     ? ATTN_OFFSET_BOTTOM_RIGHT
                : c->past_key.data ? c->past_key.shape[2]
                                   : 0;
    set_mask(c);
}

/* ----------------------------------------------------------------------------------- comparing */

static void compare(const attention_case *c, const char *what, const attn_tensor *x,
                    const attn_tensor *want) {
    const double gate = want->dtype == ATTN_F16 ? 1e-3 : 2e-6;
    for (int64_t e = 0; e < x->shape[0] * x->shape[1] * x->shape[2] * x->shape[3]; e++) {
        const int64_t j = e % x->shape[3], i = e / x->shape[3] % x->shape[2];
        const int64_t h = e / x->shape[3] / x->shape[2] % x->shape[1];
        const int64_t b = e / x->shape[3] / x->shape[2] / x->shape[1];
        const double actual = attni_ref_load(x, b, h, i, j);
        const double expected = attni_ref_load(want, b, h, i, j);
        if (check_is_near(actual, expected, gate * fmax(1, fabs(expected)))) continue;
        check_failed(__FILE__, __LINE__, "%s: %s[%d][%d][%d][%d] is %.9g, expected %.9g", c->name,
                     what, (int)b, (int)h, (int)i, (int)j, actual, expected);
        return;
    }
}

/* A tensor of the shape of t in fresh memory; free its data. */
static attn_tensor room(const attn_tensor *t, attn_dtype dtype) {
    const int64_t *n = t->shape;
    void *data = calloc((size_t)(n[0] * n[1] * n[2] * n[3]) + 1, sizeof(double));
    return attn_tensor_bhsd(data, dtype, n[0], n[1], n[2], n[3]);
}

typedef void examine(attn_ctx *ctx, attention_case *c);

static void examine_output(attn_ctx *ctx, attention_case *c) {
    const attn_tensor want = onnx_view(&c->Y, c->args.q.shape[1]);
    const attn_tensor out = room(&want, want.dtype);
    attn_error err = {0};
    const attn_status status = ctx ? attn_forward(ctx, &c->args, &out, NULL, &err)
                                   : attn_reference(&c->args, &out, NULL, &err);
    if (status != ATTN_OK) check_failed(__FILE__, __LINE__, "%s: %s", c->name, err.message);
    if (status == ATTN_OK) compare(c, "Y", &out, &want);
    free(out.data);
}

static void examine_qk(attn_ctx *ctx, attention_case *c) {
    const attn_tensor want = onnx_view(&c->qk, 0);
    const attn_tensor shown = room(&want, ATTN_F64);
    const int mode = (int)attribute(c, "qk_matmul_output_mode", 0);
    attn_inspection what;
    attn_error err = {0};
    attn_inspection_init(&what);
    *(mode == 0   ? &what.raw
      : mode == 1 ? &what.capped
      : mode == 2 ? &what.biased
                  : &what.weights) = shown;
    const attn_status status = attn_inspect(ctx, &c->args, &what, &err);
    if (status != ATTN_OK) check_failed(__FILE__, __LINE__, "%s: %s", c->name, err.message);
    if (status == ATTN_OK) compare(c, "qk_matmul_output", &shown, &want);
    free(shown.data);
}

static bool has_qk(const attention_case *c) { return c->qk.data != NULL; }
static bool is_any(const attention_case *c) { return c->Y.data != NULL; }

/* Calls look() for every Attention case that `applies` and returns their number. */
static int for_every_case(attn_ctx *ctx, examine *look, bool (*applies)(const attention_case *c)) {
    int seen = 0;
    for (size_t n = 0; n < json_array_size(onnx_cases()); n++) {
        const json_t *json = json_array_get(onnx_cases(), n);
        if (!onnx_is(json, "Attention")) continue;
        attention_case c = {.json = json, .name = onnx_name(json)};
        read_arrays(&c);
        if (applies(&c)) {
            set_args(&c);
            look(ctx, &c);
            seen++;
        }
        free_arrays(&c);
    }
    return seen;
}

/* --------------------------------------------------------------------------------------- facts */

TEST(reference_matches_87_onnx_attention_cases) {
    SKIP_WITHOUT_CASES();
    CHECK_INT(for_every_case(NULL, examine_output, is_any), ATTENTION_CASES);
}

TEST(forward_matches_87_onnx_attention_cases) {
    SKIP_WITHOUT_CASES();
    attn_ctx *ctx = NULL;
    CHECK_INT(attn_ctx_create(NULL, &ctx, NULL), ATTN_OK);
    const int seen = for_every_case(ctx, examine_output, is_any);
    attn_ctx_destroy(ctx);
    CHECK_INT(seen, ATTENTION_CASES);
}

TEST(inspect_matches_every_onnx_qk_matmul_output) {
    SKIP_WITHOUT_CASES();
    attn_ctx *ctx = NULL;
    CHECK_INT(attn_ctx_create(NULL, &ctx, NULL), ATTN_OK);
    const int seen = for_every_case(ctx, examine_qk, has_qk);
    attn_ctx_destroy(ctx);
    CHECK_INT(seen, QK_CASES);
}

static void examine_present(attn_ctx *ctx, attention_case *c) {
    (void)ctx;
    const attn_tensor keys = onnx_view(&c->present_key, 0),
                      values = onnx_view(&c->present_value, 0);
    compare(c, "present_key", &c->args.k, &keys);
    compare(c, "present_value", &c->args.v, &values);
}

static bool has_present(const attention_case *c) { return c->present_key.data != NULL; }

TEST(joined_past_and_new_keys_are_the_present_of_onnx) {
    SKIP_WITHOUT_CASES();
    CHECK(for_every_case(NULL, examine_present, has_present) > 0);
}
