/* SPDX-License-Identifier: Apache-2.0 */
/* gradcheck_attention.c - attn_backward() against finite differences of attn_forward(), one row for
 * each feature of attention, on small problems. To add one, add a row to grad_features. Tests:
 * tests/cli/test_cli_gradients.py */
#include "core/base.h"
#include "core/rng.h"
#include "gradcheck/gradcheck.h"

#include <math.h>

enum { B = 2 };

typedef enum bias_kind { NO_BIAS, FULL_BIAS, SHARED_BIAS, RELATIVE_BIAS } bias_kind;

/* How a feature differs from plain attention; a size of 0 means the default (see sized()). */
typedef struct feature {
    int64_t H, H_kv, n_q, n_k, d_k, d_v;
    bool causal, offsets, window, mask, pattern, lengths, packed, alibi, sinks, kept;
    bias_kind bias;
    double softcap, temperature, scale, dropout;
} feature;

/* A feature as a problem of the library. */
typedef struct attention {
    feature f; /* sizes filled in */
    grad_session *session;
    grad_problem problem;
    attn_args args;
    attn_tensor out, lse;
    attn_gradients gradients;
    attn_pattern *pattern;
    int64_t lists[3][B + 1];
} attention;

/* -------------------------------------------------------------------------------------- inputs */

static feature sized(feature f) {
    if (!f.H) f.H = 2;
    if (!f.H_kv) f.H_kv = f.H;
    if (!f.n_q) f.n_q = 6;
    if (!f.n_k) f.n_k = 7;
    if (!f.d_k) f.d_k = 4;
    if (!f.d_v) f.d_v = f.d_k;
    return f;
}

/* If packed, the sequences follow one another in a single batch entry. */
static attn_tensor tensor_of(const attention *a, const double *data, int64_t H, int64_t n,
                             int64_t d) {
    return a->f.packed ? attn_tensor_bhsd(data, ATTN_F64, 1, H, B * n, d)
                       : attn_tensor_bhsd(data, ATTN_F64, B, H, n, d);
}

static size_t size_of(int64_t H, int64_t n, int64_t d) { return (size_t)(B * H * n * d); }

/* q, k or v: its numbers and their gradients. */
static void set_input(attention *a, const char *name, attn_tensor *x, attn_tensor *dx,
                      const int64_t sizes[3]) {
    const grad_pair pair =
        grad_input(a->session, &a->problem, name, size_of(sizes[0], sizes[1], sizes[2]));
    *x = tensor_of(a, pair.x, sizes[0], sizes[1], sizes[2]);
    *dx = tensor_of(a, pair.dx, sizes[0], sizes[1], sizes[2]);
}

static void set_tensors(attention *a) {
    const feature *f = &a->f;
    set_input(a, "dq", &a->args.q, &a->gradients.dq, (int64_t[]){f->H, f->n_q, f->d_k});
    set_input(a, "dk", &a->args.k, &a->gradients.dk, (int64_t[]){f->H_kv, f->n_k, f->d_k});
    set_input(a, "dv", &a->args.v, &a->gradients.dv, (int64_t[]){f->H_kv, f->n_k, f->d_v});
    const double *out = grad_output(a->session, &a->problem, size_of(f->H, f->n_q, f->d_v));
    const double *lse = grad_blank(a->session, size_of(f->H, f->n_q, 1));
    a->out = tensor_of(a, out, f->H, f->n_q, f->d_v);
    a->lse = tensor_of(a, lse, f->H, f->n_q, 1);
}

/* The lists have entries for B sequences; packed sequences differ in length. */
static void set_positions(attention *a) {
    const feature *f = &a->f;
    enum { OFFSETS, QUERIES, KEYS };
    a->args.causal = f->causal;
    if (f->window) {
        a->args.window_left = f->n_k / 2 - 1;
        a->args.window_right = 1;
    }
    if (f->offsets) { /* if causal, the first two queries of the second sequence see no key */
        a->lists[OFFSETS][0] = 1;
        a->lists[OFFSETS][1] = -2;
        a->args.offsets = a->lists[OFFSETS];
    }
    if (f->lengths) {
        a->lists[QUERIES][0] = f->n_q, a->lists[QUERIES][1] = f->n_q - 2;
        a->lists[KEYS][0] = f->n_k - 3, a->lists[KEYS][1] = f->n_k;
        a->args.len_q = a->lists[QUERIES];
        a->args.len_k = a->lists[KEYS];
    }
    if (f->packed) {
        a->lists[QUERIES][1] = f->n_q - 1, a->lists[QUERIES][2] = B * f->n_q;
        a->lists[KEYS][1] = f->n_k + 1, a->lists[KEYS][2] = B * f->n_k;
        a->args.cu_q = a->lists[QUERIES];
        a->args.cu_k = a->lists[KEYS];
        a->args.n_seqs = B;
    }
}

/* The rows and keys of the longest sequence. */
static int64_t most_rows(const feature *f) { return f->packed ? f->n_q + 1 : f->n_q; }
static int64_t most_keys(const feature *f) { return f->packed ? f->n_k + 1 : f->n_k; }

/* Two thirds are visible; the first row of the first head sees no key. */
static void set_mask(attention *a) {
    const int64_t rows = most_rows(&a->f), keys = most_keys(&a->f), n = a->f.H * rows * keys;
    uint8_t *allow = grad_bytes(a->session, (size_t)n);
    for (int64_t i = 0; allow && i < n; i++)
        allow[i] =
            i >= keys && attni_philox4x32(a->session->seed, (uint32_t)i, 1, 0, 0).word[0] % 3;
    a->args.mask = attn_tensor_bhsd(allow, ATTN_BOOL, 1, a->f.H, rows, keys);
}

static attn_tensor bias_view(const attention *a, double *data) {
    const int64_t H = a->f.H, rows = most_rows(&a->f), keys = most_keys(&a->f);
    if (a->f.bias == FULL_BIAS) return attn_tensor_bhsd(data, ATTN_F64, B, H, rows, keys);
    if (a->f.bias == SHARED_BIAS) return attn_tensor_bhsd(data, ATTN_F64, 1, H, 1, keys - 1);
    /* Element (h, i, j) is number j - i of head h, counted from -(rows - 1). */
    attn_tensor t = attn_tensor_bhsd(data + (rows - 1), ATTN_F64, 1, H, rows, keys);
    t.stride[1] = rows + keys - 1;
    t.stride[2] = -1;
    return t;
}

/* Every fifth number of a full bias is -inf: it masks. */
static void set_bias(attention *a) {
    const int64_t H = a->f.H, rows = most_rows(&a->f), keys = most_keys(&a->f);
    const int64_t sizes[] = {0, B * H * rows * keys, H * (keys - 1), H * (rows + keys - 1)};
    const size_t n = (size_t)sizes[a->f.bias];
    const grad_pair bias = grad_input(a->session, &a->problem, "dbias", n);
    if (!bias.x || !bias.dx) return; /* grad_ready() reports it */
    if (a->f.bias == FULL_BIAS)
        for (size_t i = 0; i < n; i += 5) bias.x[i] = -INFINITY;
    a->args.bias = bias_view(a, bias.x);
    a->gradients.dbias = bias_view(a, bias.dx);
}

/* A band or every third key. */
static attn_status set_pattern(attention *a, attn_error *err) {
    const int64_t rows = most_rows(&a->f), keys = most_keys(&a->f);
    attn_pattern *band = NULL, *strided = NULL;
    attn_status status = attn_pattern_window(rows, keys, 0, 1, 0, NULL, &band, err);
    if (status == ATTN_OK) status = attn_pattern_strided(rows, keys, 0, 3, NULL, &strided, err);
    if (status == ATTN_OK) status = attn_pattern_union(band, strided, NULL, &a->pattern, err);
    attn_pattern_destroy(band);
    attn_pattern_destroy(strided);
    a->args.pattern = a->pattern;
    return status;
}

static attn_status set_scores(attention *a, attn_error *err) {
    const feature *f = &a->f;
    if (f->scale != 0) a->args.scale = f->scale;
    if (f->temperature != 0) a->args.temperature = f->temperature;
    a->args.softcap = f->softcap;
    a->args.dropout = f->dropout;
    a->args.seed = a->session->seed;
    a->gradients.dscale = grad_blank(a->session, 1);
    grad_add(&a->problem, "dscale", &a->args.scale, a->gradients.dscale, 1);
    if (f->sinks) {
        const grad_pair sinks = grad_input(a->session, &a->problem, "dsinks", (size_t)f->H);
        a->args.sinks = sinks.x;
        a->gradients.dsinks = sinks.dx;
    }
    double *slopes = grad_blank(a->session, (size_t)f->H);
    ATTN_TRY(grad_ready(a->session, err));
    if (f->alibi) a->args.alibi = slopes;
    return attn_alibi_slopes(f->H, slopes, err);
}

/* Memory for the weights between forward and backward. */
static attn_status set_kept(attention *a, attn_error *err) {
    ATTN_TRY(attn_saved_size(a->session->ctx, &a->args, &a->args.saved_size, err));
    if (a->args.saved_size == 0)
        return attni_fail(err, ATTN_E_VALUE, "forward keeps no weights of this problem");
    a->args.saved = grad_bytes(a->session, a->args.saved_size);
    return grad_ready(a->session, err);
}

static attn_status set_up(attention *a, attn_error *err) {
    attn_args_init(&a->args);
    attn_gradients_init(&a->gradients);
    set_tensors(a);
    set_positions(a);
    if (a->f.mask) set_mask(a);
    if (a->f.bias) set_bias(a);
    if (a->f.pattern) ATTN_TRY(set_pattern(a, err));
    ATTN_TRY(set_scores(a, err));
    return a->f.kept ? set_kept(a, err) : ATTN_OK;
}

/* ------------------------------------------------------------------------------------ the check */

static attn_status forward(void *arg, attn_error *err) {
    attention *a = arg;
    return attn_forward(a->session->ctx, &a->args, &a->out, NULL, err);
}

static attn_status backward(attention *a, attn_error *err) {
    attn_ctx *ctx = a->session->ctx;
    const attn_tensor dout = tensor_of(a, a->problem.dout, a->f.H, a->f.n_q, a->f.d_v);
    const attn_results results = {sizeof(attn_results), a->out, a->lse, dout};
    ATTN_TRY(attn_forward(ctx, &a->args, &a->out, &a->lse, err));
    return attn_backward(ctx, &a->args, &results, &a->gradients, err);
}

static attn_status check_attention(grad_session *session, const void *setting, grad_tally *tally,
                                   attn_error *err) {
    attention a = {.f = sized(*(const feature *)setting), .session = session};
    a.problem.forward = forward;
    a.problem.arg = &a;
    attn_status status = set_up(&a, err);
    if (status == ATTN_OK) status = backward(&a, err);
    /* Backward ran with the default scale; to be varied, it must be a number. */
    if (a.args.scale == ATTN_SCALE_AUTO) a.args.scale = 1 / sqrt((double)a.f.d_k);
    if (status == ATTN_OK) status = grad_compare(&a.problem, tally, err);
    attn_pattern_destroy(a.pattern);
    return status;
}

/* -------------------------------------------------------------------------------------- table */

#define FEATURE(name, about, ...)                                                                  \
    {                                                                                              \
        name, about, check_attention, &(const feature) { __VA_ARGS__ }                             \
    }

const grad_check grad_features[] = {
    FEATURE("plain", "every query sees every key", .H = 2),
    FEATURE("causal", "keys up to the query's own place", .causal = true),
    FEATURE("offset", "a place per sequence; some queries see nothing", .causal = true,
            .offsets = true),
    FEATURE("window", "a few keys on both sides of the query", .window = true),
    FEATURE("mask", "booleans per head; a row that sees nothing", .mask = true),
    FEATURE("bias", "added to each score; -inf masks", .bias = FULL_BIAS),
    FEATURE("shared-bias", "one row per head, shorter than the keys", .bias = SHARED_BIAS),
    FEATURE("relative-bias", "one number per distance: a sliding view", .bias = RELATIVE_BIAS),
    FEATURE("pattern", "a band or every third key", .pattern = true),
    FEATURE("lengths", "padded sequences", .lengths = true, .causal = true),
    FEATURE("packed", "sequences one after another", .packed = true, .causal = true),
    FEATURE("alibi", "slope times distance", .alibi = true, .causal = true),
    FEATURE("sinks", "a logit per head in the denominator", .sinks = true),
    FEATURE("softcap", "scores through tanh", .softcap = 0.7, .scale = 1.5),
    FEATURE("temperature", "scores divided before softmax", .temperature = 0.4),
    FEATURE("scale", "another than 1/sqrt(d_k)", .scale = -1.7),
    FEATURE("dropout", "weights dropped by a seed", .dropout = 0.3),
    FEATURE("gqa", "six query heads share two key heads", .H = 6, .H_kv = 2, .causal = true),
    FEATURE("mqa", "all query heads share one key head", .H = 3, .H_kv = 1),
    FEATURE("head-sizes", "d_k = 5, d_v = 3", .d_k = 5, .d_v = 3),
    FEATURE("one-query", "decoding: a single query", .n_q = 1, .n_k = 9, .causal = true),
    FEATURE("long", "several panels of queries and tiles of keys", .H = 1, .n_q = 29, .n_k = 201,
            .d_k = 3, .d_v = 2, .causal = true),
    FEATURE("kept", "backward from weights that forward kept", .kept = true, .H = 4, .H_kv = 2,
            .n_q = 27),
    FEATURE("everything", "all of the above at once, padded", .H = 4, .H_kv = 2, .n_q = 9,
            .n_k = 12, .d_k = 5, .d_v = 3, .causal = true, .offsets = true, .window = true,
            .mask = true, .pattern = true, .lengths = true, .alibi = true, .sinks = true,
            .bias = FULL_BIAS, .softcap = 0.9, .temperature = 0.6, .scale = 1.3, .dropout = 0.2),
    FEATURE("everything-packed", "the same for packed sequences", .H = 4, .H_kv = 2, .n_q = 9,
            .n_k = 12, .d_k = 5, .d_v = 3, .causal = true, .offsets = true, .window = true,
            .mask = true, .pattern = true, .packed = true, .alibi = true, .sinks = true,
            .bias = FULL_BIAS, .softcap = 0.9, .temperature = 0.6, .scale = 1.3, .dropout = 0.2),
};
const size_t grad_n_features = sizeof grad_features / sizeof *grad_features;
